//! What a server does to a connection byte by byte, below HTTP.
//!
//! A [`Web`](crate::Web) that wants to send what no well-formed answer holds hands over a [`Script`] with
//! [`Behaviour::Script`](crate::Behaviour::Script); the connection performs it. Scripts run on the server's clock, so
//! they are the same over sockets and on virtual time.
//!
//! Invariants: a script holds its parts and never the whole of what it sends, so that an endless body costs a block; it
//! ends when the peer leaves, when the peer takes nothing for a minute, and in any case after [`SCRIPT_MAX`].

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use mattock_env::Clock;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::connection::IDLE;
use crate::http::push_number;

/// No script goes on for longer than this, whatever its steps say.
const SCRIPT_MAX: Duration = Duration::from_secs(6 * 3600);
/// Repetitions without a pause are sent in blocks of about this size.
const BLOCK_BYTES: usize = 16 * 1024;

/// As often as it takes.
pub const ENDLESS: u64 = u64::MAX;

/// Steps to take after a request, and how to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// In this order.
    pub steps: Vec<Step>,
    /// And then.
    pub end: End,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send these bytes.
    Send(Cow<'static, [u8]>),
    /// Send these bytes again and again.
    Repeat {
        /// What.
        bytes: Cow<'static, [u8]>,
        /// How often; [`ENDLESS`] until the peer leaves.
        times: u64,
        /// How long to wait after each.
        pause: Duration,
    },
    /// Send `before`, a number that grows by one each time, and `after`, again and again without a pause.
    Numbered {
        /// What comes before the number.
        before: Cow<'static, str>,
        /// What comes after it.
        after: Cow<'static, str>,
        /// How often.
        times: u64,
    },
    /// Do nothing for a while.
    Wait(Duration),
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It goes on to the next request.
    Keep,
    /// It is closed in an orderly way.
    Close,
    /// It is reset.
    Reset,
    /// Nothing is sent and nothing is closed until the peer does it.
    Hang,
}

impl Script {
    /// Sends some bytes.
    pub fn send(bytes: impl Into<Cow<'static, [u8]>>, end: End) -> Script {
        Script { steps: vec![Step::Send(bytes.into())], end }
    }

    /// Performs the steps. An error says that there is nobody to go on for.
    pub(crate) async fn perform(
        &self,
        clock: &Clock,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    ) -> io::Result<()> {
        let steps = async {
            for step in &self.steps {
                perform(step, clock, stream).await?;
            }
            Ok(())
        };
        clock.timeout(SCRIPT_MAX, steps).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

async fn perform(
    step: &Step,
    clock: &Clock,
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> io::Result<()> {
    match step {
        Step::Send(bytes) => write(clock, stream, bytes).await,
        Step::Wait(time) => wait(clock, stream, *time).await,
        Step::Repeat { bytes, times, pause } if pause.is_zero() => {
            let each = (BLOCK_BYTES / bytes.len().max(1)).max(1) as u64;
            let block = bytes.repeat(each.min(*times) as usize);
            let mut left = *times;
            while left > 0 {
                let count = left.min(each);
                write(clock, stream, &block[..count as usize * bytes.len()]).await?;
                left -= count;
            }
            Ok(())
        }
        Step::Repeat { bytes, times, pause } => {
            for _ in 0..*times {
                write(clock, stream, bytes).await?;
                wait(clock, stream, *pause).await?;
            }
            Ok(())
        }
        Step::Numbered { before, after, times } => {
            let mut block = Vec::with_capacity(2 * BLOCK_BYTES);
            for number in 0..*times {
                block.extend_from_slice(before.as_bytes());
                push_number(&mut block, number);
                block.extend_from_slice(after.as_bytes());
                if block.len() >= BLOCK_BYTES || number + 1 == *times {
                    write(clock, stream, &block).await?;
                    block.clear();
                }
            }
            Ok(())
        }
    }
}

async fn write(clock: &Clock, stream: &mut (impl AsyncWrite + Unpin), mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = clock.timeout(IDLE, stream.write(bytes)).await.map_err(|_| io::ErrorKind::TimedOut)??;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[count..];
    }
    stream.flush().await
}

/// Waits, and notices when the peer leaves meanwhile. What the peer says is not listened to.
async fn wait(clock: &Clock, stream: &mut (impl AsyncRead + Unpin), time: Duration) -> io::Result<()> {
    let over = clock.sleep(time);
    tokio::pin!(over);
    let mut scrap = [0; 256];
    loop {
        tokio::select! {
            biased;
            () = &mut over => return Ok(()),
            read = stream.read(&mut scrap) => if read? == 0 {
                return Err(io::ErrorKind::BrokenPipe.into());
            },
        }
    }
}
