//! `srcset`: the URLs of its candidates, without their widths and densities.

use crate::work;

/// The URLs in `value`, by the standard's rules: a URL runs to the next blank; trailing commas end the candidate;
/// otherwise its descriptors run to the next comma outside parentheses.
pub(crate) fn urls(value: &str) -> impl Iterator<Item = &str> {
    let blank = |c: char| c.is_ascii_whitespace();
    let mut rest = value;
    std::iter::from_fn(move || {
        let before = rest.len();
        rest = rest.trim_start_matches(|c| blank(c) || c == ',');
        if rest.is_empty() {
            work::count(before);
            return None;
        }
        let (url, after) = rest.split_at(rest.find(blank).unwrap_or(rest.len()));
        let bare = url.trim_end_matches(',');
        rest = after;
        if bare.len() == url.len() {
            let mut nested = false;
            let end = after.find(|c| {
                nested = (nested || c == '(') && c != ')';
                c == ',' && !nested
            });
            rest = end.map_or("", |end| &after[end + 1..]);
        }
        work::count(before - rest.len());
        Some(bare)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates() {
        for (value, expected) in [
            ("a.png", vec!["a.png"]),
            (" a.png 1x , b.png 2x", vec!["a.png", "b.png"]),
            ("a.png, b.png 2x,c.png", vec!["a.png", "b.png", "c.png"]),
            ("a,b.png 100w,\n c.png", vec!["a,b.png", "c.png"]),
            ("a (x, y) 1x, b", vec!["a", "b"]),
            ("a,,,, b", vec!["a", "b"]),
            (",,", vec![]),
            ("", vec![]),
            ("data:,x 1x, b", vec!["data:,x", "b"]),
        ] {
            assert_eq!(urls(value).collect::<Vec<_>>(), expected, "{value:?}");
        }
    }
}
