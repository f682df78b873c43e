//! A stream that is not waited for without end: a client that takes nothing of an answer for a while loses its connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use mattock_env::Clock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How long a client may take nothing of what is there for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads and writes as the stream does; a write that is stuck for too long is an error.
pub(crate) struct Patient<S> {
    stream: S,
    clock: Clock,
    /// Runs out for the write that is stuck.
    patience: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

impl<S> Patient<S> {
    pub(crate) fn new(stream: S, clock: Clock) -> Patient<S> {
        Patient { stream, clock, patience: None }
    }

    /// What came of trying to write; an error if it is stuck for too long.
    fn judge<T>(&mut self, context: &mut Context<'_>, tried: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if tried.is_ready() {
            self.patience = None;
            return tried;
        }
        let clock = &self.clock;
        let patience = self.patience.get_or_insert_with(|| {
            let clock = clock.clone();
            Box::pin(async move { clock.sleep(PATIENCE).await })
        });
        match patience.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, tried)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let tried = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, tried)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let tried = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::sim::Simulation;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn who_takes_nothing_is_left_and_who_is_slow_is_not() {
        Simulation::new(1).run(|env| async move {
            let (ours, mut theirs) = tokio::io::duplex(64);
            let mut stream = Patient::new(ours, env.clock.clone());
            let clock = env.clock.clone();
            let slow = tokio::task::spawn_local(async move {
                for _ in 0..4 {
                    clock.sleep(Duration::from_secs(20)).await;
                    theirs.read_exact(&mut [0; 64]).await.unwrap();
                }
                theirs
            });
            let begun = env.clock.now();
            stream.write_all(&[7; 320]).await.unwrap();
            assert!(env.clock.now().since(begun) >= Duration::from_secs(80));
            let _theirs = slow.await.unwrap();
            let error = stream.write_all(&[7; 320]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        });
    }
}
