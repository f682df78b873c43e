//! Guessing an encoding from the bytes alone, for [`crate::Options::detect`].

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

/// As much of a body as is looked at; a guess does not get better after that.
const BYTES_MAX: usize = 512 * 1024;

/// The encoding a body without a word about it is most likely in, by the frequencies of its characters. Never UTF-8, which needs no
/// guessing, and never one that could hide markup from a scanner.
pub fn detect_charset(body: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let head = &body[..body.len().min(BYTES_MAX)];
    detector.feed(head, head.len() == body.len());
    detector.guess(None, Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_KR, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

    use crate::{Options, detect_charset, extract};

    #[test]
    fn real_sentences() {
        let options = Options { detect: Some(detect_charset), ..Options::default() };
        for (encoding, sentence) in [
            (WINDOWS_1251, "Все люди рождаются свободными и равными в своем достоинстве и правах."),
            (
                SHIFT_JIS,
                "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
            ),
            (BIG5, "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神互相對待。"),
            (EUC_KR, "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."),
            (
                WINDOWS_1252,
                "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Schöne Grüße überall.",
            ),
        ] {
            let page = format!("<html><body><p>{sentence}</p><a href='/x'>");
            let (bytes, _, _) = encoding.encode(&page);
            let found = extract(&bytes, Some("text/html"), &options);
            assert_eq!(found.charset, encoding);
            assert_eq!(found.links[0].target, "/x");
        }
    }
}
