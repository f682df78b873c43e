//! First-in-first-out queues of byte records, far larger than RAM, in sealed segment files.
//!
//! A crawler has a hundred times more URLs waiting than it can hold: over budget (BEAST's Q1…Qj and QF), for their host's
//! robots.txt, in the ready bands. All of them wait in line. [`Queues`] holds such lines, any number of them in one directory,
//! with one memory and one writer; a [`Queue`] is a handle to one.
//!
//! # Flow
//!
//! ```text
//!                                   ┌── popped before it was written: never touches the disk ──┐
//! push ──► open block ──► full blocks in RAM ──► writer's lane ──► segment ──► reader's lane ──► pop
//!          (queue's tail)   oldest first, when      │                (one block ahead)
//!                           half the memory is full └── stays in RAM too while there is room ──┘
//! ```
//!
//! 1. **Push** (`queue`, `state`) appends to the queue's open block. A small queue is one small buffer. A full block waits in RAM.
//! 2. **Writing** (`room`, `shared`, `segment`). When blocks that are in RAM only take half of the memory, the longest queues have their
//!    oldest ones written, to the end of a segment file, past the page cache. When memory runs out, blocks that are written leave
//!    it, those first that will be popped last; if none is, the producer waits for the disk.
//! 3. **Pop** hands out records of the head block, from RAM or read from its segment, of which one block is read ahead. The
//!    sink may push, to other queues and to the tail of the same: a *pass* is popping [`Queue::len`] records. A sink may also
//!    refuse: what it refused stays.
//! 4. **Checkpoint** (`checkpoint`, `manifest`). [`Queues::capture`] takes the state of all queues at one moment without waiting
//!    for the disk; a lane makes it durable.
//!
//! # Format
//!
//! ```text
//! segment-n    a page with magic, version, number, queue │ blocks, each from a page's start on
//! block        sequence, queue, records, bytes, checksum (24 bytes) │ records with their lengths │ zeros to the page's end
//! tail-n       open blocks at checkpoint n
//! MANIFEST-n   all queues at checkpoint n: counts, cursor, segments with lengths, checksums of the tails; a checksum
//! *.copy       tail-n and MANIFEST-n once more, for the day on which one of them is damaged
//! ```
//!
//! Blocks have 64 to 256 KiB, segments 4 to 64 MiB ([`Sizes`]); both may be others at each opening. Blocks are not compressed:
//! the processor is what a crawl is short of, not the disk.
//!
//! # Invariants
//!
//! - A queue gives its records in the order in which they were pushed, each once.
//! - A push is taken, or it is an error and nothing was. A full disk refuses pushes once the memory is full too; when there is
//!   space again they go on. Nothing is lost in between, and popping never needs space.
//! - Everything on disk is written once: segments grow at their ends, all else appears complete. Checksums cover file, place and
//!   bytes. What fails them is an error that names file and offset, and is never served.
//! - Opening gives exactly the state of the newest checkpoint, or of the one asked for, again and again. A *sync* that fails
//!   poisons the queues until they are opened again, and no checkpoint that was under way is acknowledged.
//! - Checkpoints from a pinned one on stay ([`Queues::keep_from`]): who makes one state of many stores agrees on theirs later.
//! - Others may look at a checkpoint, and verify every byte of it, while its owner works on ([`View`]); they change nothing.
//! - A segment is removed once it is popped and no kept checkpoint needs it. A queue that fits in RAM makes no file until
//!   somebody takes a checkpoint.
//!
//! # Costs
//!
//! - **RAM**: [`Options::memory_bytes`], and on top at most two blocks for each pop under way and three for moving them. Queues
//!   whose open block has less than a page are not made to write it, so a thousand of them may hold a few MiB more.
//! - **Disk**: 1 byte per record shorter than 128 bytes, 2 otherwise; half a page and 24 bytes per block; what is popped of the
//!   first segment. Each record that does not fit in RAM is written once and read once.
//! - **Processor**: a lock and two copies per record; two more copies and two checksums in the lanes for those that go to disk.
//!   `cargo run --release -p mattock-queue --example speed` measures it.
//! - **Capturing** copies at most a quarter of a block per queue; the checkpoint writes what no earlier one has written.

mod block;
mod blocks;
mod checkpoint;
mod error;
mod kept;
mod manifest;
mod options;
mod queue;
mod queues;
mod room;
mod segment;
mod shared;
mod state;
mod twins;
mod verify;
mod view;
mod write;

pub use mattock_codec::Problem;

pub use blocks::Blocks;
pub use checkpoint::{Capture, Checkpoint};
pub use error::{QueueError, Result};
pub use options::{Options, RECORD_BYTES_MAX, Sizes, Stats};
pub use queue::Queue;
pub use queues::Queues;
pub use twins::each_twin;
pub use view::View;
