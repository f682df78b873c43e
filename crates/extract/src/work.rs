//! Counts the bytes that are looked at, in tests only: what shows that time is linear, without a clock.
//!
//! Every loop or search over input reports here how far it looked, also where it found nothing. Outside of tests the call is empty.

#[cfg(test)]
thread_local! {
    static BYTES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// So many bytes were looked at.
#[inline(always)]
pub(crate) fn count(bytes: usize) {
    #[cfg(test)]
    BYTES.with(|sum| sum.set(sum.get() + bytes as u64));
    #[cfg(not(test))]
    let _ = bytes;
}

/// The bytes that `action` looks at.
#[cfg(test)]
pub(crate) fn of(action: impl FnOnce()) -> u64 {
    let before = BYTES.with(std::cell::Cell::get);
    action();
    BYTES.with(std::cell::Cell::get) - before
}
