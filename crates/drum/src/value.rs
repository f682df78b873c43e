//! What is stored with a key.

/// A value: how it is written, and what an update does to the one that is there.
///
/// The two laws that the repository relies on: `decode(encode(v)) == v`, and applying updates one by one gives the same
/// wherever batches end (which is so when [`update`](Value::update) depends on nothing but its arguments).
pub trait Value: Sized + Clone + Send + Sync + 'static {
    /// Whether there is nothing to store: then only keys are kept, and the front cache can answer.
    const NONE: bool = false;

    /// Appends the bytes of this value.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads them back; `None` if they cannot be such bytes.
    fn decode(bytes: &[u8]) -> Option<Self>;

    /// What is stored after an update. By default the new value takes the place of the old one.
    fn update(stored: Option<Self>, update: Self) -> Self {
        drop(stored);
        update
    }

    /// Whether the value has had its time by `now_s` (seconds since 1970): it then counts as absent, and the next merge
    /// leaves it out.
    fn expired(&self, _now_s: i64) -> bool {
        false
    }
}

/// Keys alone.
impl Value for () {
    const NONE: bool = true;
    fn encode(&self, _: &mut Vec<u8>) {}
    fn decode(bytes: &[u8]) -> Option<()> {
        bytes.is_empty().then_some(())
    }
}

/// A number that updates replace.
impl Value for u64 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn decode(bytes: &[u8]) -> Option<u64> {
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }
}

/// Bytes that updates replace.
impl Value for Vec<u8> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
        Some(bytes.to_vec())
    }
}
