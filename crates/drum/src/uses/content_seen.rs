//! Content seen: digest of a payload → the first instance that had it. Later ones become revisits.

use super::{Drum, cover};
use crate::{Batch, Deliver, Outcome, Result, Value};

/// Where a content was stored first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstInstance {
    /// More bits of the digest: 64 alone would confuse contents too often when nothing may be lost.
    pub digest_rest: u64,
    /// The instance, as the caller numbers them.
    pub instance: u64,
}

impl Value for FirstInstance {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.digest_rest.to_le_bytes());
        out.extend_from_slice(&self.instance.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<FirstInstance> {
        let (digest_rest, instance) = bytes.split_first_chunk::<8>()?;
        let instance = u64::from_le_bytes(instance.try_into().ok()?);
        Some(FirstInstance { digest_rest: u64::from_le_bytes(*digest_rest), instance })
    }

    /// The first stays.
    fn update(stored: Option<FirstInstance>, update: FirstInstance) -> FirstInstance {
        stored.unwrap_or(update)
    }
}

/// Digest → first instance.
pub struct ContentSeen {
    drum: Drum<FirstInstance>,
}

cover!(ContentSeen, FirstInstance);

impl ContentSeen {
    const DELIVER: Deliver = Deliver::All;

    /// Submits stored instances with their digests (the first 16 bytes count).
    pub fn submit_contents<'a>(
        &mut self,
        contents: impl IntoIterator<Item = ([u8; 16], u64, &'a [u8])>,
    ) -> Result<()> {
        let mut batch = Batch::new();
        let mut tagged = Vec::new();
        for (digest, instance, aux) in contents {
            let digest = u128::from_be_bytes(digest);
            let (key, digest_rest) = ((digest >> 64) as u64, digest as u64);
            tagged.clear();
            tagged.extend_from_slice(&digest_rest.to_le_bytes());
            tagged.extend_from_slice(aux);
            batch.check_update(key, FirstInstance { digest_rest, instance }, &tagged);
        }
        self.drum.submit(&batch)
    }

    /// Hands out up to `limit` answers: the earlier instance with the same content, if there is one.
    pub fn answers(&mut self, limit: usize, mut sink: impl FnMut(&[u8], Option<u64>)) -> Result<usize> {
        self.drum.deliver(limit, |outcome| answer(&outcome, &mut sink))
    }

    /// The same, of what is there without waiting for the disk.
    pub fn answers_ready(&mut self, limit: usize, mut sink: impl FnMut(&[u8], Option<u64>)) -> Result<usize> {
        self.drum.deliver_ready(limit, |outcome| answer(&outcome, &mut sink))
    }
}

fn answer(outcome: &Outcome<'_, FirstInstance>, sink: &mut impl FnMut(&[u8], Option<u64>)) {
    let Some((digest_rest, aux)) = outcome.aux.split_first_chunk::<8>() else { return };
    let digest_rest = u64::from_le_bytes(*digest_rest);
    // Another content with the same 64 bits is not the same content.
    let first = outcome.value.filter(|first| first.digest_rest == digest_rest);
    sink(aux, first.map(|first| first.instance));
}

#[cfg(test)]
mod tests {
    use super::super::tests::simulate;
    use super::*;
    use crate::Options;
    use std::path::Path;

    #[test]
    fn the_first_instance_is_named_and_half_a_digest_is_not_enough() {
        simulate(|env| {
            let mut seen = ContentSeen::open(env, Path::new("/content"), Options::new(16 << 20)).unwrap();
            let digest = |last: u8| std::array::from_fn(|at| if at == 15 { last } else { 7 });
            let contents = [
                (digest(1), 10, &b"a"[..]),
                (digest(1), 11, b"b"),
                (digest(2), 12, b"c"),
                (digest(1), 13, b"d"),
            ];
            seen.submit_contents(contents).unwrap();
            let mut answers = Vec::new();
            seen.answers(9, |aux, first| answers.push((aux.to_vec(), first))).unwrap();
            let expected = [
                (b"a".to_vec(), None),
                (b"b".to_vec(), Some(10)),
                (b"c".to_vec(), None),
                (b"d".to_vec(), Some(10)),
            ];
            assert_eq!(answers, expected);
        });
    }
}
