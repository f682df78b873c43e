//! The languages of a page as the index has them, found while it is crawled or imported: of the beginning of its visible text.
//!
//! The analyzers in `page` read the main text, for which a page is taken apart into a tree. A crawler has no time for that; it has just
//! looked through the page for links, and the text that passes by on the way will do: navigation and the like are left out, and a few
//! kilobytes say as much as all of it.

use mattock_extract::{Extracted, Options, detect_charset, extract};

use crate::document::{Document, Form};
use crate::language;

/// As much of the text is looked at.
pub const LANGUAGE_TEXT_BYTES: usize = 1536;

/// And no more than so many pieces, if all of them are in one language.
const PIECES_ENOUGH: usize = 3;

/// The languages of a text as Common Crawl's index writes them: codes of ISO 639-3 with commas between them, the main one first; empty if it
/// is too little. `hint` is what the page says of itself, like `de-AT`.
pub fn languages_found(text: &str, hint: Option<&str>) -> String {
    let text = &text[..text.floor_char_boundary(LANGUAGE_TEXT_BYTES)];
    language::languages_of(text, hint, PIECES_ENOUGH).join(",")
}

/// The same for a document; empty for what is neither HTML nor text, and for all but successes (2xx).
pub fn index_languages(document: &Document<'_>) -> String {
    match document.form() {
        _ if !(200..300).contains(&document.status) => String::new(),
        Form::Html => {
            let options = Options {
                links_max: 0,
                text: true,
                text_bytes_max: LANGUAGE_TEXT_BYTES,
                detect: Some(detect_charset),
                ..Options::default()
            };
            let page = extract(document.body, document.content_type().as_deref(), &options);
            let Extracted { text, language, .. } = page;
            languages_found(&text.unwrap_or_default(), language.as_deref())
        }
        Form::Plain => {
            // A character may be cut in two at the end, and is one that is no letter then.
            let bytes = &document.body[..document.body.len().min(LANGUAGE_TEXT_BYTES)];
            let beginning = Document::new(document.url, 0, document.status, document.head, bytes, true);
            languages_found(&beginning.plain_charset().decode_with_bom_removal(bytes).0, None)
        }
        Form::Other => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: &str, body: &[u8]) -> String {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n");
        index_languages(&Document::new("http://a.org/", 0, 200, head.as_bytes(), body, false))
    }

    const GERMAN: &str = "Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller staatlichen Gewalt.";

    #[test]
    fn of_pages_and_texts() {
        let page = format!(
            "<html lang=en><nav>Home About Contact Imprint</nav><p>{GERMAN}<script>var the = of;</script>"
        );
        assert_eq!(found("text/html; charset=utf-8", page.as_bytes()), "deu");
        assert_eq!(found("text/plain; charset=utf-8", GERMAN.as_bytes()), "deu");
        let (latin1, ..) = encoding_rs::WINDOWS_1252.encode(GERMAN);
        assert_eq!(found("text/plain", &latin1), "deu");
        assert_eq!(found("text/html", b"<html lang=sk-SK>Bratislava info"), "slk");
        for (kind, body) in [("text/html", ""), ("image/png", GERMAN), ("text/plain", "12 34")] {
            assert_eq!(found(kind, body.as_bytes()), "", "{kind} {body}");
        }
    }

    #[test]
    fn of_the_beginning() {
        let french = "Tous les êtres humains naissent libres et égaux en dignité et en droits. ".repeat(60);
        let text = format!("{french}{}", GERMAN.repeat(600));
        assert_eq!(languages_found(&text, None), "fra");
        assert_eq!(found("text/plain; charset=utf-8", text.as_bytes()), "fra");
    }
}
