//! How much of an answer is taken: the range that was asked for, or what an answer of another kind can have.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use object_store::client::{HttpError, HttpResponseBody};

use super::refused::Refused;

/// The most that an answer without a range has: a listing, a token.
pub(super) const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// The most that all answers of one listing have together.
const LISTING_BYTES_MAX: u64 = 256 << 20;
/// Each of them counts as so much at least, so that a listing of nothing ends too.
const ANSWER_BYTES_MIN: u64 = 64 << 10;
/// So much is read of an answer that says what went wrong.
const ERROR_BYTES_MAX: u64 = 4 << 10;

tokio::task_local! {
    /// Bytes that are left for the answers to one question, however many they are.
    static LEFT: Arc<AtomicU64>;
}

/// Does something that may take many answers, a listing, within one limit for all of them.
pub(crate) async fn together<T>(listing: impl Future<Output = T>) -> T {
    LEFT.scope(Arc::new(AtomicU64::new(LISTING_BYTES_MAX)), listing).await
}

/// How it goes on behind the last byte that is taken.
#[derive(Clone, Copy, Debug)]
enum Behind {
    /// It is not read: all that was asked for is there.
    Left,
    /// It is an error: an answer of which a part is missing is none.
    Refused,
}

/// A body within its limit.
#[derive(Debug)]
pub(super) struct Capped {
    body: HttpResponseBody,
    left: u64,
    behind: Behind,
    /// Shared with the other answers to a question.
    together: Option<Arc<AtomicU64>>,
}

impl Capped {
    /// A range of so many bytes.
    pub(super) fn range(body: HttpResponseBody, bytes: u64) -> Capped {
        Capped { body, left: bytes, behind: Behind::Left, together: None }
    }

    /// An answer of another kind.
    pub(super) fn answer(body: HttpResponseBody) -> Result<Capped, HttpError> {
        let together = LEFT.try_with(Arc::clone).ok();
        charge(together.as_ref(), ANSWER_BYTES_MIN)?;
        Ok(Capped { body, left: ANSWER_BYTES_MAX, behind: Behind::Refused, together })
    }
}

fn charge(together: Option<&Arc<AtomicU64>>, bytes: u64) -> Result<(), HttpError> {
    let Some(left) = together else { return Ok(()) };
    let charged = left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
    charged.map(drop).map_err(|_| Refused::Long { limit: LISTING_BYTES_MAX }.into())
}

impl Body for Capped {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        if self.is_end_stream() {
            return Poll::Ready(None);
        }
        let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(context)).transpose()? else {
            return Poll::Ready(None);
        };
        let Ok(mut bytes) = frame.into_data() else {
            // Fields behind the body, which nobody asked for.
            return Poll::Ready(None);
        };
        let count = bytes.len() as u64;
        match self.behind {
            Behind::Left => bytes.truncate(usize::try_from(self.left).unwrap_or(usize::MAX)),
            Behind::Refused if count > self.left => {
                return Poll::Ready(Some(Err(Refused::Long { limit: ANSWER_BYTES_MAX }.into())));
            }
            Behind::Refused => charge(self.together.as_ref(), count)?,
        }
        self.left = self.left.saturating_sub(count);
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() || matches!(self.behind, Behind::Left) && self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        let said = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_upper(said.upper().map_or(self.left, |upper| upper.min(self.left)));
        hint.set_lower(said.lower().min(self.left));
        hint
    }
}

/// The beginning of an answer that says what went wrong, as text whatever it is.
pub(super) async fn words(body: HttpResponseBody) -> String {
    let mut body = Capped::range(body, ERROR_BYTES_MAX);
    let mut bytes = Vec::new();
    while let Some(Ok(frame)) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await
    {
        bytes.extend(frame.into_data().unwrap_or_default());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
