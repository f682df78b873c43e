//! Text made safe for HTML and SVG, in element content and in quoted attributes alike.
//!
//! Labels come from the Web (host names, titles), so they are hostile until escaped. Besides the five markup
//! characters, what XML forbids and what would reorder the text around it (bidirectional controls) is replaced.

/// Appends `text` to `out`, escaped.
pub(crate) fn push(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            '\r' => {}
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}')
            }
            _ if character.is_control() => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
}

/// `text`, escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    push(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(escaped("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
    }

    #[test]
    fn control_and_reordering_characters_are_replaced() {
        assert_eq!(escaped("a\0b\u{202e}c\r\n"), "a\u{fffd}b\u{fffd}c\n");
    }
}
