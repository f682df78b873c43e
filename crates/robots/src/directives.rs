//! Indexing directives of one page: `<meta name=robots content=…>` and the `X-Robots-Tag` header.

/// What a page asks of those who fetched it. The default asks nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Do not list the page in an index.
    pub noindex: bool,
    /// Do not follow the page's links.
    pub nofollow: bool,
    /// Do not show a stored copy.
    pub noarchive: bool,
}

/// Directives that carry a value after a colon; any other word before a colon names an agent.
const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

impl Directives {
    /// Reads the content of a robots `<meta>`: words apart by commas, semicolons or blanks, in any case, unknown ones skipped.
    pub fn parse(content: &str) -> Directives {
        let mut directives = Directives::default();
        for word in content.split(|c: char| c == ',' || c == ';' || c.is_ascii_whitespace()) {
            directives.add(word);
        }
        directives
    }

    /// Reads one `X-Robots-Tag` value. Words after `agent:` count only if `agent` is the product token (or `*`), until
    /// the next agent; words before any agent are for everyone.
    pub fn parse_header(value: &str, product_token: &str) -> Directives {
        let mut directives = Directives::default();
        let mut for_us = true;
        for part in value.split([',', ';']) {
            let mut words = part;
            if let Some((name, rest)) = part.split_once(':') {
                let name = name.trim();
                if WITH_VALUE.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                    continue;
                }
                // A date inside `unavailable_after` may hold commas and colons; a name with blanks or digits in front is no agent.
                if !name.is_empty()
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.*/".contains(&b))
                {
                    for_us = name == "*" || name.eq_ignore_ascii_case(product_token);
                    words = rest;
                }
            }
            if for_us {
                directives = directives.merge(Directives::parse(words));
            }
        }
        directives
    }

    /// Both together: a page that says something anywhere has said it.
    #[must_use]
    pub fn merge(self, other: Directives) -> Directives {
        Directives {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            noarchive: self.noarchive || other.noarchive,
        }
    }

    fn add(&mut self, word: &str) {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        self.noindex |= is("noindex") || is("none");
        self.nofollow |= is("nofollow") || is("none");
        self.noarchive |= is("noarchive") || is("nocache");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn directives(noindex: bool, nofollow: bool, noarchive: bool) -> Directives {
        Directives { noindex, nofollow, noarchive }
    }

    #[test]
    fn meta_content() {
        assert_eq!(Directives::parse(""), Directives::default());
        assert_eq!(Directives::parse("index, follow, all"), Directives::default());
        assert_eq!(Directives::parse("NoIndex,NOFOLLOW"), directives(true, true, false));
        assert_eq!(Directives::parse(" none "), directives(true, true, false));
        assert_eq!(Directives::parse("noarchive noindex"), directives(true, false, true));
        assert_eq!(Directives::parse("nocache;max-snippet:-1"), directives(false, false, true));
        assert_eq!(Directives::parse("xnoindex"), Directives::default());
    }

    #[test]
    fn header_with_and_without_agent() {
        let header = |value| Directives::parse_header(value, "Mattock");
        assert_eq!(header("noindex"), directives(true, false, false));
        assert_eq!(header("otherbot: noindex, nofollow"), Directives::default());
        assert_eq!(header("mattock: noindex, nofollow"), directives(true, true, false));
        assert_eq!(header("noarchive, otherbot: noindex, MATTOCK: nofollow"), directives(false, true, true));
        assert_eq!(header("*: noindex"), directives(true, false, false));
        assert_eq!(
            header("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"),
            directives(true, false, false)
        );
        assert_eq!(
            header("unavailable_after: Fri, 25 Jun 2010 15:00:00 PST, noindex"),
            directives(true, false, false)
        );
        assert_eq!(header("max-snippet: 20, nofollow"), directives(false, true, false));
    }

    #[test]
    fn merge_keeps_what_either_said() {
        let both = directives(true, false, false).merge(directives(false, false, true));
        assert_eq!(both, directives(true, false, true));
    }
}
