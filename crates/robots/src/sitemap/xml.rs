//! A pull scanner for XML as far as sitemaps and feeds need it: tags, text, CDATA; nothing is ever looked up.
//!
//! Filled with bytes in an ASCII-compatible encoding; emptied by `document`, one [`Event`] at a time. Declarations, comments and processing
//! instructions are passed over; a document type is passed over whole, so no entity can be defined and no file or address
//! named. What is not well-formed is read as well as it goes: end tags need not match, quotes may be missing, a `<` that
//! begins nothing is text.
//!
//! `pos` only grows, every search that fails ends the scan: the time is linear in the bytes.

/// What the scanner found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    Start(StartTag<'a>),
    End(Name<'a>),
    /// Text between tags, character references as they are written.
    Text(&'a [u8]),
    /// The inside of a CDATA section: no references.
    Literal(&'a [u8]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StartTag<'a> {
    pub(crate) name: Name<'a>,
    /// What stands between the name and the end of the tag.
    inside: &'a [u8],
    /// `<a/>`.
    pub(crate) empty: bool,
}

/// A name in its two parts; `prefix` is empty where there is no colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    pub(crate) prefix: &'a [u8],
    local: &'a [u8],
}

impl<'a> Name<'a> {
    fn new(name: &'a [u8]) -> Name<'a> {
        match memchr::memchr(b':', name) {
            Some(colon) => Name { prefix: &name[..colon], local: &name[colon + 1..] },
            None => Name { prefix: &[], local: name },
        }
    }

    /// XML tells cases apart; people do not.
    pub(crate) fn is(&self, local: &str) -> bool {
        self.local.eq_ignore_ascii_case(local.as_bytes())
    }
}

pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Scanner<'a> {
        Scanner { bytes, pos: 0 }
    }

    /// The next tag or piece of text; `None` at the end of the input, or where it ends inside a tag, comment or section.
    pub(crate) fn next_event(&mut self) -> Option<Event<'a>> {
        loop {
            let rest = &self.bytes[self.pos..];
            let open = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            if open > 0 {
                self.pos += open;
                return Some(Event::Text(&rest[..open]));
            }
            match rest.get(1)? {
                b'/' => {
                    let end = 2 + memchr::memchr2(b'>', b'<', &rest[2..])?;
                    // A `<` belongs to the next tag.
                    self.pos += end + usize::from(rest[end] == b'>');
                    return Some(Event::End(Name::new(rest[2..end].trim_ascii())));
                }
                b'?' => self.pass(2, b"?>")?,
                b'!' if rest.starts_with(b"<!--") => self.pass(4, b"-->")?,
                b'!' if rest.starts_with(b"<![CDATA[") => {
                    let length = memchr::memmem::find(&rest[9..], b"]]>")?;
                    self.pos += 9 + length + 3;
                    return Some(Event::Literal(&rest[9..9 + length]));
                }
                b'!' => self.pos += declaration_bytes(rest)?,
                byte if is_name_start(*byte) => return self.start_tag().map(Event::Start),
                _ => {
                    self.pos += 1;
                    return Some(Event::Text(&rest[..1]));
                }
            }
        }
    }

    /// Goes behind the first `end` that begins `from` bytes further on or later.
    fn pass(&mut self, from: usize, end: &[u8]) -> Option<()> {
        self.pos += from + memchr::memmem::find(&self.bytes[self.pos + from..], end)? + end.len();
        Some(())
    }

    fn start_tag(&mut self) -> Option<StartTag<'a>> {
        let rest = &self.bytes[self.pos + 1..];
        let name_bytes =
            rest.iter().position(|&b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>' | b'<'))?;
        let mut end = name_bytes;
        loop {
            end += rest[end..].iter().position(|b| matches!(b, b'>' | b'<' | b'"' | b'\''))?;
            match rest[end] {
                b'>' | b'<' => break,
                // A value may hold `>` but no `<`; a quote that is not closed before one was never meant as one.
                quote => end += 1 + memchr::memchr2(quote, b'<', &rest[end + 1..])?,
            }
            end += usize::from(rest[end] != b'<');
        }
        self.pos += 1 + end + usize::from(rest[end] == b'>');
        let inside = &rest[name_bytes..end];
        Some(StartTag { name: Name::new(&rest[..name_bytes]), inside, empty: inside.ends_with(b"/") })
    }

    #[cfg(test)]
    pub(crate) fn position(&self) -> usize {
        self.pos
    }
}

impl<'a> StartTag<'a> {
    /// The raw value of the first attribute with this local name.
    pub(crate) fn attribute(&self, wanted: &str) -> Option<&'a [u8]> {
        let mut rest = self.inside;
        loop {
            rest = rest.trim_ascii_start();
            let name_bytes = rest.iter().position(|&b| b == b'=' || b.is_ascii_whitespace())?;
            let name = Name::new(&rest[..name_bytes]);
            rest = rest[name_bytes..].trim_ascii_start();
            let Some(after) = rest.strip_prefix(b"=") else { continue };
            let after = after.trim_ascii_start();
            let value;
            match after.first()? {
                quote @ (b'"' | b'\'') => {
                    let end = memchr::memchr(*quote, &after[1..])?;
                    value = &after[1..1 + end];
                    rest = &after[end + 2..];
                }
                _ => {
                    let end = after.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(after.len());
                    value = &after[..end];
                    rest = &after[end..];
                }
            }
            if name.is(wanted) {
                return Some(value);
            }
        }
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// The bytes of `<!…>` at the start of `rest`, with an internal subset in brackets, its quoted values and comments.
fn declaration_bytes(rest: &[u8]) -> Option<usize> {
    let mut pos = 2;
    let mut subset = false;
    loop {
        pos += rest[pos..].iter().position(|b| matches!(b, b'>' | b'[' | b']' | b'"' | b'\'' | b'<'))?;
        let byte = rest[pos];
        pos += 1;
        match byte {
            b'>' if !subset => return Some(pos),
            b'[' => subset = true,
            b']' => subset = false,
            quote @ (b'"' | b'\'') => pos += memchr::memchr(quote, &rest[pos..])? + 1,
            b'<' if rest[pos..].starts_with(b"!--") => {
                pos += 3 + memchr::memmem::find(&rest[pos + 3..], b"-->")? + 3;
            }
            b'<' if rest[pos..].starts_with(b"?") => pos += memchr::memmem::find(&rest[pos..], b"?>")? + 2,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<String> {
        let mut scanner = Scanner::new(text.as_bytes());
        let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        std::iter::from_fn(|| scanner.next_event())
            .map(|event| match event {
                Event::Start(tag) => {
                    format!(
                        "<{}|{}{}",
                        show(tag.name.prefix),
                        show(tag.name.local),
                        ["", "/"][usize::from(tag.empty)]
                    )
                }
                Event::End(name) => format!("/{}|{}", show(name.prefix), show(name.local)),
                Event::Text(text) => show(text),
                Event::Literal(text) => format!("={}", show(text)),
            })
            .collect()
    }

    #[test]
    fn events() {
        assert_eq!(read("<?xml version='1.0'?><a:b c='>'>x</a:b >"), ["<a|b", "x", "/a|b"]);
        assert_eq!(read("<a/><b\n/>"), ["<|a/", "<|b/"]);
        assert_eq!(read("x<!-- <a> -->y<![CDATA[<b>]] >]]>z"), ["x", "y", "=<b>]] >", "z"]);
        assert_eq!(read("1 < 2 <a>"), ["1 ", "<", " 2 ", "<|a"]);
        assert_eq!(read("<a<b></c<d>"), ["<|a", "<|b", "/|c", "<|d"]);
        assert_eq!(read("<a b='x<c>"), ["<|a", "<|c"]);
        for open in ["<", "<a", "<a b='", "</", "<!--", "<![CDATA[", "<!DOCTYPE", "<?"] {
            assert_eq!(read(open), [""; 0], "{open}");
        }
    }

    #[test]
    fn a_document_type_is_passed_over_whole() {
        for declaration in [
            "<!DOCTYPE a>",
            "<!DOCTYPE a SYSTEM 'file:///etc/passwd>'>",
            "<!DOCTYPE a [<!ENTITY x \"]><b>\"> <!-- it's ]> --> <?p ]> ' ?> <!ENTITY y SYSTEM '/z'> ] >",
        ] {
            assert_eq!(read(&format!("{declaration}<a>")), ["<|a"], "{declaration}");
        }
    }

    #[test]
    fn attributes() {
        let mut scanner = Scanner::new(b"<l a = 'x>y' x:href=\"1&amp;2\" bare c=d href=2>");
        let Some(Event::Start(tag)) = scanner.next_event() else { panic!("a start tag") };
        let get = |name| tag.attribute(name).map(|value| std::str::from_utf8(value).unwrap());
        assert_eq!(
            (get("a"), get("HREF"), get("c"), get("bare"), get("z")),
            (Some("x>y"), Some("1&amp;2"), Some("d"), None, None)
        );
    }

    proptest! {
        /// Linear: every event moves on, so there are no more of them than bytes.
        #[test]
        fn the_position_only_grows(text in "(<|>|/|!|--|a|\\[CDATA\\[|\\]\\]|\"|'|=| |\\?|<!DOCTYPE|\\[|\\]|x:y){0,60}") {
            let mut scanner = Scanner::new(text.as_bytes());
            let mut last = 0;
            while let Some(event) = scanner.next_event() {
                if let Event::Start(tag) = event {
                    let _ = tag.attribute("a");
                }
                prop_assert!(scanner.position() > last && scanner.position() <= text.len());
                last = scanner.position();
            }
        }
    }
}
