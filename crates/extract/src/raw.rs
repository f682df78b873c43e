//! Text that is not markup: where the content of `script`, `style`, `title` and their like ends.
//!
//! Every function takes the bytes and the position behind the start tag, and gives the position of the `</` that ends the content, or
//! the end of the input: text that is never closed swallows the rest, as in a browser.

use crate::names::{Tag, ends_tag_name};
use crate::work;

/// The name whose end tag closes the raw content of `tag`, if `tag` has raw content.
pub(crate) fn closing_name(tag: Tag) -> Option<&'static [u8]> {
    Some(match tag {
        Tag::Script => b"script",
        Tag::Style => b"style",
        Tag::Title => b"title",
        Tag::Textarea => b"textarea",
        Tag::Xmp => b"xmp",
        Tag::Iframe => b"iframe",
        Tag::Noembed => b"noembed",
        Tag::Noframes => b"noframes",
        _ => return None,
    })
}

/// Whether `name` stands at the start of `bytes`, in any case, with something behind it that ends a tag name.
fn is_named(bytes: &[u8], name: &[u8]) -> bool {
    bytes.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        && bytes.get(name.len()).is_some_and(|&b| ends_tag_name(b))
}

/// The end of RCDATA or RAWTEXT content.
pub(crate) fn text_end(bytes: &[u8], mut pos: usize, name: &[u8]) -> usize {
    while let Some(at) = memchr::memmem::find(&bytes[pos..], b"</") {
        work::count(at + 2);
        let open = pos + at;
        if is_named(&bytes[open + 2..], name) {
            return open;
        }
        pos = open + 2;
    }
    work::count(bytes.len() - pos);
    bytes.len()
}

/// The end of a script's content, with the states that let `<!-- <script> … </script> -->` stand inside a script.
pub(crate) fn script_end(bytes: &[u8], start: usize) -> usize {
    const NAME: &[u8] = b"script";
    let mut pos = start;
    'plain: while let Some(at) = memchr::memchr(b'<', &bytes[pos..]) {
        work::count(at + 1);
        let open = pos + at;
        let after = &bytes[open + 1..];
        if after.first() == Some(&b'/') && is_named(&after[1..], NAME) {
            return open;
        }
        pos = open + 1;
        if !after.starts_with(b"!--") {
            continue;
        }
        // Escaped: `-->` leads back, where the two dashes of the opening already count.
        let dashes = open + 2;
        pos = open + 4;
        let mut doubly = false;
        while let Some(at) = memchr::memchr2(b'<', b'>', &bytes[pos..]) {
            work::count(at + 1);
            let mark = pos + at;
            pos = mark + 1;
            if bytes[mark] == b'>' {
                if mark >= dashes + 2 && &bytes[mark - 2..mark] == b"--" {
                    continue 'plain;
                }
                continue;
            }
            let after = &bytes[mark + 1..];
            if after.first() == Some(&b'/') {
                if is_named(&after[1..], NAME) {
                    if !doubly {
                        return mark;
                    }
                    doubly = false;
                    pos = mark + 2 + NAME.len() + 1;
                }
            } else if !doubly && is_named(after, NAME) {
                doubly = true;
                pos = mark + 1 + NAME.len() + 1;
            }
        }
        work::count(bytes.len() - pos);
        return bytes.len();
    }
    work::count(bytes.len() - pos);
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_at_its_own_end_tag() {
        let end = |text: &str| text_end(text.as_bytes(), 0, b"title");
        assert_eq!(end("a</title>"), 1);
        assert_eq!(end("a</b></TiTle\n>"), 5);
        assert_eq!(end("a</titles></title/>"), 10);
        assert_eq!(end("</</title>"), 2);
        assert_eq!(end("a</title"), 8);
        assert_eq!(end("a"), 1);
    }

    #[test]
    fn scripts() {
        // Where the content ends, written as a bar.
        for marked in [
            "a<b|</script>",
            "'</scripts>'|</SCRIPT >",
            "<!-- x |</script>",
            "<!-- <script> </script> |</script>",
            "<!-- <script> </script> --> |</script>",
            "<!-- <script> --> |</script>",
            "<!-- <script> </script> <script/ </script\n |</script>",
            "<!--><script>|</script>",
            "<!---><script>|</script>",
            "<!-- <scripts> |</script>",
            "<!-- <script-->|</script>",
            "<!- <script> |</script>",
            "<!-- --> <script> |</script>",
            "<!-- <script> </scripts>|",
            "<!-- <script> |",
            "<!--|",
            "<|",
            "</|",
            "</script|",
        ] {
            let expected = marked.find('|').unwrap();
            assert_eq!(script_end(marked.replace('|', "").as_bytes(), 0), expected, "{marked}");
        }
    }
}
