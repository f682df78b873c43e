//! What is wrong with a rule that somebody wrote.

/// A rule of the scope or of the blocklist that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Neither a URL nor a SURT prefix.
    #[error("{text:?} is no prefix; {}", instead.as_deref().unwrap_or("write a URL like https://example.com/docs/ or a SURT like com,example)/docs/"))]
    Prefix {
        /// What was written.
        text: String,
        /// How it may have been meant.
        instead: Option<String>,
    },
    /// Expressions that cannot be compiled, or are too large together.
    #[error("the expression cannot be used: {reason}")]
    Pattern {
        /// What the compiler of expressions says.
        reason: String,
    },
    /// Not a content type.
    #[error("{text:?} is no content type; write it like text/html, image/* or *")]
    ContentType {
        /// What was written.
        text: String,
    },
    /// Not the name of a host.
    #[error("{text:?} is no name of a host; write it like www.example.com")]
    Name {
        /// What was written.
        text: String,
    },
    /// Not a range of addresses.
    #[error("{text:?} is no range of addresses; write it like 192.0.2.0/24 or 2001:db8::/32")]
    Range {
        /// What was written.
        text: String,
    },
    /// A line of a file that is wrong in one of these ways.
    #[error("line {line}: {error}")]
    Line {
        /// Its number; the first is 1.
        line: usize,
        /// What is wrong with it.
        error: Box<RuleError>,
    },
}
