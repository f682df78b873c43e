//! 64-bit fingerprints: the identity of a URL, host or domain wherever the text itself is too big to keep.
//!
//! XXH3-64 with seed 0 over the canonical text. They are written to disk and compared across crawls and machines,
//! so the function is fixed for ever; the tests hold constants. They are not secret: a farm can search for
//! collisions, and gains nothing by one but the loss of its own page.

use std::fmt;

/// The 64-bit hash of a canonical URL, host or domain. Displays as 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// The fingerprint of a text.
    #[inline]
    pub fn of(text: &str) -> Fingerprint {
        Fingerprint(xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WebUrl;

    #[test]
    fn the_empty_text_has_the_reference_value_of_xxh3() {
        assert_eq!(Fingerprint::of("").0, 0x2d06_8005_38d3_94c2);
    }

    #[test]
    fn fingerprints_never_change() {
        let url = WebUrl::parse("https://www.example.co.uk:8443/a/b?c=d").unwrap();
        let found = [url.fingerprint(), url.host_fingerprint(), url.domain_fingerprint()];
        assert_eq!(
            found.map(|print| print.to_string()),
            ["b2690874c975d098", "90bd17a50014b2b5", "efc1755c313df86b"]
        );
        // One per length class of the algorithm: 1-3, 4-8, 9-16, 17-128, 129-240 and more bytes.
        let lengths = [3, 8, 16, 100, 200, 1000];
        let text = "http://example.com/".repeat(60);
        let found = lengths.map(|length| Fingerprint::of(&text[..length]).to_string());
        assert_eq!(
            found,
            [
                "a0de79acafa884fb",
                "16bc8cabc36849d5",
                "02efe932831a4cf8",
                "63c478593ef4366d",
                "63fc562e4ceb0b69",
                "9f9f20135b1faf57"
            ]
        );
    }

    #[test]
    fn display_pads_with_zeros() {
        assert_eq!(Fingerprint(0xab).to_string(), "00000000000000ab");
    }
}
