//! What a row keeps of an answer for the index, so that no query about columns has to open the archive.
//!
//! ```text
//! details: flags u8, [declared type] [detected type] [charset] [languages] [redirect]: counted, those that the flags name,
//!          [via u64], truncation u8 (0: whole), in-degree + 1 as varint (0: unknown), sketch u64 (0: none), revisit u8
//! ```
//!
//! Up to version 2 the flag of `via` stood for a text, and was never set. Who does not know the last flag, that languages were looked for and none
//! was found, reads the same without it.

use mattock_codec::{Reader, put_counted, put_varint};

use crate::record::Truncated;

/// What is known of an answer beside its outcome and its place. What is empty is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Details<'a> {
    /// The type that the server declared, without parameters, in lower case.
    pub mime: &'a str,
    /// The type that the content looks like.
    pub detected: &'a str,
    /// The name of the charset that the page was read in.
    pub charset: &'a str,
    /// Codes of ISO 639-3, separated by commas, the most used language first; `None` where nobody has looked for them.
    pub languages: Option<&'a str>,
    /// Where a redirect leads.
    pub redirect: &'a str,
    /// The fingerprint of the URL that the link was found on.
    pub via: Option<u64>,
    /// Why the body is not whole.
    pub truncated: Option<Truncated>,
    /// How many domains linked to this one when the page came, as far as the crawl remembered.
    pub domain_in_degree: Option<u64>,
    /// The simhash of the text.
    pub sketch: Option<u64>,
    /// Whether the record is a revisit: its payload is in an earlier one.
    pub revisit: bool,
}

const HAS_VIA: u8 = 1 << 5;
const NO_LANGUAGE: u8 = 1 << 6;

const TRUNCATED: [Truncated; 3] = [Truncated::Length, Truncated::Time, Truncated::Disconnect];

impl<'a> Details<'a> {
    fn texts(&self) -> [&'a str; 5] {
        [self.mime, self.detected, self.charset, self.languages.unwrap_or_default(), self.redirect]
    }

    /// Appends it as bytes.
    pub fn put(&self, out: &mut Vec<u8>) {
        let texts = self.texts();
        let flags = texts.iter().enumerate().map(|(bit, text)| u8::from(!text.is_empty()) << bit);
        let has_via = if self.via.is_some() { HAS_VIA } else { 0 };
        let no_language = if self.languages == Some("") { NO_LANGUAGE } else { 0 };
        out.push(flags.fold(has_via | no_language, |all, flag| all | flag));
        for text in texts.iter().filter(|text| !text.is_empty()) {
            put_counted(out, text.as_bytes());
        }
        out.extend(self.via.iter().flat_map(|via| via.to_le_bytes()));
        let kind = |truncated| TRUNCATED.iter().position(|kind| *kind == truncated).unwrap_or_default() + 1;
        out.push(self.truncated.map_or(0, kind) as u8);
        put_varint(out, self.domain_in_degree.map_or(0, |degree| degree.saturating_add(1)));
        out.extend_from_slice(&self.sketch.unwrap_or(0).to_le_bytes());
        out.push(u8::from(self.revisit));
    }

    /// Reads what [`put`](Details::put) wrote; `None` if it is something else.
    pub fn take(reader: &mut Reader<'a>) -> Option<Details<'a>> {
        let flags = *reader.take(1)?.first()?;
        let mut text = |bit: u8| match flags & (1 << bit) {
            0 => Some(""),
            _ => std::str::from_utf8(reader.counted()?).ok(),
        };
        let (mime, detected, charset) = (text(0)?, text(1)?, text(2)?);
        let (languages, redirect) = (text(3)?, text(4)?);
        let languages = Some(languages).filter(|text| !text.is_empty() || flags & NO_LANGUAGE != 0);
        let via = if flags & HAS_VIA != 0 { Some(reader.u64()?) } else { None };
        let truncated = match *reader.take(1)?.first()? {
            0 => None,
            kind => Some(*TRUNCATED.get(usize::from(kind) - 1)?),
        };
        let domain_in_degree = reader.varint()?.checked_sub(1);
        let sketch = Some(reader.u64()?).filter(|sketch| *sketch != 0);
        let revisit = *reader.take(1)?.first()? != 0;
        Some(Details {
            mime,
            detected,
            charset,
            languages,
            redirect,
            via,
            truncated,
            domain_in_degree,
            sketch,
            revisit,
        })
    }
}
