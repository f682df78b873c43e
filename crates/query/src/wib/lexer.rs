//! Text into tokens, each with its place. Filled by the parser's text, emptied by the parser.

use super::ast::Placed;
use crate::complaint::{Complaint, Span};

/// The smallest thing that means something.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or a word of the language.
    Word(String),
    /// `"…"`, with its backslashes undone.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a point or an exponent, or one too large for a whole number.
    Float(f64),
    /// One of the language's signs.
    Sign(&'static str),
    /// Behind the last one.
    End,
}

impl Token {
    /// What is found where it stands, for complaints.
    pub(super) fn described(&self) -> String {
        match self {
            Token::End => "the query ends".to_string(),
            Token::Word(word) => format!("here is `{word}`"),
            Token::Text(_) => "here is a string".to_string(),
            Token::Integer(_) | Token::Float(_) => "here is a number".to_string(),
            Token::Sign(sign) => format!("here is `{sign}`"),
        }
    }
}

/// Signs, longer ones first.
const SIGNS: [&str; 17] =
    ["&&", "||", "!=", "<=", ">=", "==", "=", "<", ">", "!", "(", ")", "[", "]", ",", ";", "&"];

/// All tokens of `text`; the last one is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Placed<Token>>, Complaint> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        if letter.is_whitespace() {
            at += letter.len_utf8();
        } else if letter == '#' || rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else {
            let (token, length) = token(text, at, letter)?;
            found.push(Placed::new(token, Span::new(at, at + length)));
            at += length;
        }
    }
    found.push(Placed::new(Token::End, Span::new(text.len(), text.len())));
    Ok(found)
}

/// The token that begins at `at` with `first`, and its length.
fn token(text: &str, at: usize, first: char) -> Result<(Token, usize), Complaint> {
    let rest = &text[at..];
    if first.is_alphabetic() || first == '_' {
        let length =
            rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        return Ok((Token::Word(rest[..length].to_string()), length));
    }
    if first == '"' {
        return string(text, at);
    }
    let second_is_number = rest.chars().nth(1).is_some_and(|letter| letter.is_ascii_digit() || letter == '.');
    if first.is_ascii_digit() || (first == '-' || first == '.') && second_is_number {
        return number(text, at);
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        let hint = match *sign {
            "&" => Some("`and` is written `&&`"),
            _ => None,
        };
        return match hint {
            Some(hint) => {
                Err(Complaint::at(text, Span::new(at, at + 1), "a single `&` means nothing").hint(hint))
            }
            None => Ok((Token::Sign(if *sign == "==" { "=" } else { sign }), sign.len())),
        };
    }
    let complaint =
        Complaint::at(text, Span::new(at, at + first.len_utf8()), format!("`{first}` means nothing here"));
    Err(match first {
        '\'' => complaint.hint("strings stand in double quotes: \"…\""),
        '|' => complaint.hint("`or` is written `||`"),
        '*' => complaint.hint("name the columns; `select *` is SQL"),
        _ => complaint,
    })
}

fn string(text: &str, at: usize) -> Result<(Token, usize), Complaint> {
    let mut value = String::new();
    let mut letters = text[at + 1..].char_indices();
    while let Some((offset, letter)) = letters.next() {
        match letter {
            '"' => return Ok((Token::Text(value), offset + 2)),
            '\\' => match letters.next() {
                Some((_, escaped @ ('"' | '\\' | '$'))) => value.push(escaped),
                Some((_, other)) => {
                    value.push('\\');
                    value.push(other);
                }
                None => break,
            },
            letter => value.push(letter),
        }
    }
    Err(Complaint::at(text, Span::new(at, at + 1), "this string does not end").hint("put a `\"` at its end"))
}

fn number(text: &str, at: usize) -> Result<(Token, usize), Complaint> {
    let bytes = text.as_bytes();
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end) {
        let sign_of_exponent = matches!(byte, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E');
        if !(byte.is_ascii_alphanumeric() || *byte == b'.' || *byte == b'_' || sign_of_exponent) {
            break;
        }
        end += 1;
    }
    let written = &text[at..end];
    if let Ok(integer) = written.parse::<i64>() {
        return Ok((Token::Integer(integer), end - at));
    }
    match written.parse::<f64>() {
        Ok(float) if float.is_finite() => Ok((Token::Float(float), end - at)),
        _ => Err(Complaint::at(text, Span::new(at, end), format!("`{written}` is not a number"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backslashes_keep_what_regular_expressions_want() {
        let found = tokens(r#" ".ram\$" "\.x\"\\" "#).unwrap();
        assert_eq!(found[0].value, Token::Text(".ram$".into()));
        assert_eq!(found[1].value, Token::Text(r#"\.x"\"#.into()));
        assert_eq!(found[0].span, Span::new(1, 9));
    }

    #[test]
    fn numbers_and_signs() {
        let found: Vec<_> =
            tokens("a<=-12&&b==.5e-3||!c // all\n;# more").unwrap().into_iter().map(|t| t.value).collect();
        let word = |text: &str| Token::Word(text.into());
        assert_eq!(
            found,
            [
                word("a"),
                Token::Sign("<="),
                Token::Integer(-12),
                Token::Sign("&&"),
                word("b"),
                Token::Sign("="),
                Token::Float(0.0005),
                Token::Sign("||"),
                Token::Sign("!"),
                word("c"),
                Token::Sign(";"),
                Token::End
            ]
        );
    }

    #[test]
    fn what_is_no_token_is_pointed_at() {
        for (text, start) in [
            ("a = 'x'", 4),
            ("a & b", 2),
            ("a | b", 2),
            ("x = 1z", 4),
            ("\"open", 0),
            ("\"\\", 0),
            ("é = -", 5),
        ] {
            assert_eq!(tokens(text).unwrap_err().span.unwrap().start, start, "{text}");
        }
    }
}
