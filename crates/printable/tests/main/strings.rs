//! Nothing that does something is left, and programs read the text that was meant.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::io::Write as _;

use mattock_printable::{
    Formulas, Layout, TerminalWriter, csv, html, json, json_on_terminal, terminal, terminal_bytes,
};

use crate::hostile::Numbers;

const STRINGS: usize = 20_000;

/// What must not reach a terminal, spelt out once more, and differently: by its ranges.
fn is_dangerous(letter: char) -> bool {
    let code = letter as u32;
    code < 0x20
        || (0x7f..0xa0).contains(&code)
        || [0xad, 0x61c, 0x200b, 0x200e, 0x200f, 0xfeff].contains(&code)
        || (0x2028..=0x202e).contains(&code)
        || (0x2060..=0x206f).contains(&code)
        || (0xe000..=0xf8ff).contains(&code)
        || code >= 0xe_0000
}

fn each(mut test: impl FnMut(&[u8], &mut Numbers)) {
    let mut numbers = Numbers(27);
    for _ in 0..STRINGS {
        let bytes = numbers.string();
        test(&bytes, &mut numbers);
    }
}

#[test]
fn a_terminal_is_shown_what_does_nothing() {
    each(|bytes, numbers| {
        let text = String::from_utf8_lossy(bytes);
        for layout in [Layout::Line, Layout::Lines, Layout::Text] {
            let shown = terminal(&text, layout);
            let kept = |letter| match layout {
                Layout::Line => false,
                Layout::Lines => letter == '\n',
                Layout::Text => letter == '\n' || letter == '\t',
            };
            assert!(
                !shown.chars().any(|letter| is_dangerous(letter) && !kept(letter)),
                "{bytes:?}: {shown:?}"
            );
            assert_eq!(shown, terminal_bytes(bytes, layout));
            assert_eq!(terminal(&shown, layout), shown, "twice is as good as once");
            let mut out = Vec::new();
            let mut writer = TerminalWriter::new(&mut out, layout);
            let (first, rest) = bytes.split_at(numbers.below(bytes.len() + 1));
            writer.write_all(first).unwrap();
            writer.write_all(rest).unwrap();
            writer.finish().unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), shown, "in pieces: {bytes:?}");
        }
    });
}

#[test]
fn json_says_the_same_on_a_terminal() {
    each(|bytes, _| {
        let text = String::from_utf8_lossy(bytes);
        let mut exact = String::new();
        json(&text, &mut exact);
        let shown = json_on_terminal(&exact);
        assert!(!shown.chars().any(is_dangerous), "{shown:?}");
        assert_eq!(read_json(&exact), text);
        assert_eq!(read_json(&shown), text);
    });
}

#[test]
fn csv_says_what_was_meant() {
    each(|bytes, _| {
        let text = String::from_utf8_lossy(bytes);
        let mut line = String::new();
        csv(&text, Formulas::Kept, &mut line);
        assert_eq!(read_csv(&line), text);
        line.clear();
        csv(&text, Formulas::Defused, &mut line);
        let read = read_csv(&line);
        // Whatever a spreadsheet takes for the end of a field.
        let mut fields = read.split([',', ';', '\t', '|', '\n', '\r']);
        assert!(fields.all(|field| !field.starts_with(['=', '+', '-', '@'])), "{read:?}");
        assert_eq!(read.replace('\'', ""), text.replace('\'', ""));
    });
}

#[test]
fn html_has_no_markup_of_others() {
    each(|bytes, _| {
        let shown = html(&String::from_utf8_lossy(bytes)).into_owned();
        let soft = |letter| matches!(letter, '\n' | '\t' | '\u{ad}');
        assert!(!shown.contains(['<', '>', '"', '\'']));
        assert!(!shown.chars().any(|letter| is_dangerous(letter) && !soft(letter)), "{shown:?}");
        for part in shown.split('&').skip(1) {
            assert!(
                ["lt;", "gt;", "amp;", "quot;", "#39;"].iter().any(|name| part.starts_with(name)),
                "{shown}"
            );
        }
    });
}

/// A JSON string as RFC 8259 has it.
fn read_json(json: &str) -> String {
    let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap();
    let mut units = Vec::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        assert!(letter >= ' ' && letter != '"');
        if letter != '\\' {
            units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match letters.next().unwrap() {
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => u16::from_str_radix(&letters.by_ref().take(4).collect::<String>(), 16).unwrap(),
            other => other as u16,
        });
    }
    String::from_utf16(&units).unwrap()
}

/// A field as RFC 4180 has it.
fn read_csv(field: &str) -> String {
    match field.strip_prefix('"') {
        Some(rest) => {
            let inner = rest.strip_suffix('"').unwrap();
            assert!(!inner.replace("\"\"", "").contains('"'));
            inner.replace("\"\"", "\"")
        }
        None => {
            assert!(!field.contains([',', '"', '\n', '\r']));
            field.to_owned()
        }
    }
}
