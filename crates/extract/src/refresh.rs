//! `<meta http-equiv=refresh>`: the target of a page that sends its readers on.

/// The URL in a refresh value, by the standard's rules; `None` if it is malformed or reloads the page itself.
pub(crate) fn target(value: &str) -> Option<&str> {
    let blank = |c: char| c.is_ascii_whitespace();
    let value = value.trim_start_matches(blank);
    let rest = value.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == value.len() && !rest.starts_with('.') {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.starts_with(|c| blank(c) || c == ';' || c == ',') {
        return None;
    }
    let rest = rest.trim_start_matches(blank);
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start_matches(blank);
    let url = after_url_word(rest).unwrap_or(rest);
    let url = match url.chars().next()? {
        quote @ ('"' | '\'') => url[1..].split(quote).next()?,
        _ => url,
    };
    (!url.is_empty()).then_some(url)
}

/// What follows `url =`.
fn after_url_word(rest: &str) -> Option<&str> {
    let blank = |c: char| c.is_ascii_whitespace();
    let word = rest.get(..3).filter(|word| word.eq_ignore_ascii_case("url"))?;
    Some(rest[word.len()..].trim_start_matches(blank).strip_prefix('=')?.trim_start_matches(blank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        for (value, expected) in [
            ("5; url=/x", Some("/x")),
            ("0;URL='/x y'z", Some("/x y")),
            ("0,url = \"/x", Some("/x")),
            (" 1.5 /x", Some("/x")),
            (".5;/x", Some("/x")),
            ("0; urlx", Some("urlx")),
            ("0;ur", Some("ur")),
            ("0; url=", None),
            ("0", None),
            ("0;", None),
            ("x; url=/x", None),
            ("0x; url=/x", None),
            ("", None),
            ("0;ü=x", Some("ü=x")),
        ] {
            assert_eq!(target(value), expected, "{value:?}");
        }
    }
}
