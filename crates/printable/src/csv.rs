//! Fields of CSV (RFC 4180).

/// What becomes of a text that a spreadsheet would take for a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// It stays as it is, for programs that read the very text.
    #[default]
    Kept,
    /// A `'` is put before it, by which spreadsheets know text; also behind a character at which some of them divide a line.
    Defused,
}

/// Characters at which a spreadsheet may divide lines, whatever the file says: it depends on the language that it is set to.
const DIVIDERS: [char; 3] = [';', '\t', '|'];

/// A text that begins with one of these is a formula to some spreadsheet; to some also where it is typed in full width.
const BEGINNINGS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Appends a field, in quotes where it must have them; an empty text has them too, which tells it from no value.
pub fn csv(text: &str, formulas: Formulas, out: &mut String) {
    let defused = (formulas == Formulas::Defused && text.contains(BEGINNINGS)).then(|| defused(text));
    let is_divided = formulas == Formulas::Defused && text.contains(DIVIDERS);
    let text = defused.as_deref().unwrap_or(text);
    if text.is_empty() || is_divided || text.contains([',', '"', '\n', '\r']) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}

/// The text with a `'` before all that a spreadsheet would compute.
fn defused(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut is_begun = true;
    for letter in text.chars() {
        if is_begun && BEGINNINGS.contains(&letter) {
            out.push('\'');
        }
        out.push(letter);
        is_begun = DIVIDERS.contains(&letter) || matches!(letter, ',' | '\n' | '\r');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str, formulas: Formulas) -> String {
        let mut out = String::new();
        csv(text, formulas, &mut out);
        out
    }

    #[test]
    fn quotes_stand_where_they_must() {
        for (text, wanted) in [
            ("plain", "plain"),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\r\nb", "\"a\r\nb\""),
            ("a;b", "a;b"),
        ] {
            assert_eq!(field(text, Formulas::Kept), wanted);
        }
    }

    #[test]
    fn formulas_are_text_if_they_are_to_be() {
        assert_eq!(field("=1+1", Formulas::Kept), "=1+1");
        for (text, wanted) in [
            ("=HYPERLINK(\"http://a/\",\"x\")", "\"'=HYPERLINK(\"\"http://a/\"\",\"\"x\"\")\""),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@x", "'@x"),
            ("\t=1", "\"'\t'=1\""),
            ("\r=1", "\"'\r'=1\""),
            ("a;=1+1", "\"a;'=1+1\""),
            ("x\t@y|+z", "\"x\t'@y|'+z\""),
            ("a,-b\n=c", "\"a,'-b\n'=c\""),
            ("a;b", "\"a;b\""),
            ("＝1", "'＝1"),
            ("1=1", "1=1"),
            ("", "\"\""),
        ] {
            assert_eq!(field(text, Formulas::Defused), wanted);
        }
    }
}
