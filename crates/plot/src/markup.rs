//! A tiny checker of markup, for the tests of whoever makes pages: tags balance, attributes are quoted and no coordinate is missing.

/// Elements that HTML never closes.
const VOID: [&str; 3] = ["meta", "link", "br"];

/// Panics unless every tag of `text` is closed in order and every attribute is well formed.
/// Returns the names of the elements, in order.
pub fn check(text: &str) -> Vec<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        assert!(
            !rest[..at].contains('>'),
            "a bare > in text before {:?}",
            &rest[at..].chars().take(60).collect::<String>()
        );
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if tag.starts_with('!') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closing tags match opening ones");
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "element name {name:?}");
        check_attributes(attributes);
        names.push(name.to_owned());
        if name == "style" {
            let close = rest.find("</style>").expect("a style ends");
            assert!(!rest[..close].contains('<'));
            rest = &rest[close..];
        }
        if !closed && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "unclosed: {open:?}");
    names
}

fn check_attributes(mut attributes: &str) {
    while !attributes.trim().is_empty() {
        let (name, rest) =
            attributes.trim_start().split_once("=\"").expect("an attribute has a quoted value");
        let (value, rest) = rest.split_once('"').expect("a quote closes");
        assert!(
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == ':'),
            "attribute name {name:?}"
        );
        assert!(!name.starts_with("on"), "no script");
        if ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "d", "viewBox"]
            .contains(&name)
        {
            let fine = |c: char| c.is_ascii_digit() || " .-MLHVZvhqQa".contains(c);
            assert!(value.chars().all(fine) && !value.is_empty(), "{name}={value:?}");
        }
        attributes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    #[should_panic(expected = "closing tags match")]
    fn crossed_tags_are_found() {
        check("<a><b></a></b>");
    }

    #[test]
    #[should_panic(expected = "x=\"NaN\"")]
    fn a_missing_coordinate_is_found() {
        check("<rect x=\"NaN\"/>");
    }
}
