//! What can happen to queues, against a naive model.
#![expect(clippy::unwrap_used, reason = "tests")]

mod crash;
mod damage;
mod formats;
mod memory;
mod model;
mod pins;
mod space;
mod threads;
mod verify;
mod view;
mod world;
