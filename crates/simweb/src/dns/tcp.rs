//! The name server over TCP, for answers that do not fit in a datagram: each message after its length.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Clock, Listener, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use super::{Replied, Scratch, reply};
use crate::web::Web;

const IDLE: Duration = Duration::from_secs(10);
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Accepts connections for ever.
pub(crate) async fn serve<W: Web + 'static>(mut listener: Listener, web: Arc<W>, clock: Clock, ttl_s: u32) {
    let clock = Rc::new(clock);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok(accepted) => {
                    let (web, clock) = (web.clone(), clock.clone());
                    connections.spawn_local(async move {
                        // A resolver that leaves or dawdles is no concern of ours.
                        let _ = converse(accepted.stream, &*web, &clock, ttl_s).await;
                    });
                }
                Err(error) => {
                    tracing::debug!(%error, "a DNS connection cannot be accepted");
                    clock.sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
}

async fn converse(mut stream: Stream, web: &impl Web, clock: &Clock, ttl_s: u32) -> io::Result<()> {
    let mut scratch = Scratch::default();
    loop {
        let exchange = async {
            let length = stream.read_u16().await?;
            let mut query = vec![0; usize::from(length)];
            stream.read_exact(&mut query).await?;
            if !matches!(reply(&query, web, ttl_s, usize::from(u16::MAX), &mut scratch), Replied::Silence) {
                let length = scratch.answer.len() as u16;
                stream.write_all(&length.to_be_bytes()).await?;
                stream.write_all(&scratch.answer).await?;
            }
            Ok::<(), io::Error>(())
        };
        clock.timeout(IDLE, exchange).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
    }
}
