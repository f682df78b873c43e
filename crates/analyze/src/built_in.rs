//! The table of built-in analyzers.

use std::sync::Arc;

use crate::{AnalyzeError, Analyzer, Document, Kind, Value};
use crate::{address, page, sketch, words};

/// A column that is compiled in.
struct BuiltIn {
    name: &'static str,
    /// Raised with every change of what comes out.
    version: u32,
    kind: Kind,
    analyze: fn(&Document<'_>) -> Value,
}

const fn column(
    name: &'static str,
    version: u32,
    kind: Kind,
    analyze: fn(&Document<'_>) -> Value,
) -> BuiltIn {
    BuiltIn { name, version, kind, analyze }
}

/// The version of the main text, and so of all that is made of it.
const MAIN_TEXT: u32 = 14;
/// The version of what tells languages, of a main text or of what is visible.
const LANGUAGE: u32 = MAIN_TEXT + 2;

/// All of them, by name.
static BUILT_INS: [BuiltIn; 17] = [
    column("charset", 1, Kind::Text, page::charset),
    column("content", 2, Kind::Text, page::content),
    column("content_languages", LANGUAGE + 1, Kind::Text, page::content_languages),
    column("digest", 1, Kind::Text, sketch::digest),
    column("domain", 1, Kind::Text, address::domain),
    column("headings", 1, Kind::TextList, page::headings),
    column("language", LANGUAGE, Kind::Text, page::language),
    column("languages", LANGUAGE, Kind::TextList, page::languages),
    column("links", 1, Kind::TextList, page::links),
    column("mmlinks", 2, Kind::TextList, page::mmlinks),
    column("shingles", MAIN_TEXT, Kind::IntegerList, sketch::shingles),
    column("simhash", 1, Kind::Integer, sketch::simhash),
    column("surt", 1, Kind::Text, address::surt),
    column("term_counts", MAIN_TEXT, Kind::TextList, words::term_counts),
    column("term_vector", MAIN_TEXT, Kind::TextList, words::term_vector),
    column("text", MAIN_TEXT, Kind::Text, page::text),
    column("title", 1, Kind::Text, page::title),
];

impl Analyzer for &'static BuiltIn {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> String {
        self.version.to_string()
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn of_payload(&self) -> bool {
        // These read the URL.
        !["links", "mmlinks", "domain", "surt"].contains(&self.name)
    }

    fn analyze(&self, document: &Document<'_>) -> Result<Value, AnalyzeError> {
        Ok((self.analyze)(document))
    }
}

/// `http_<header>`: a header field of the response. Underscores stand for hyphens.
struct Header {
    name: String,
    field: String,
}

impl Analyzer for Header {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> String {
        "1".to_owned()
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn analyze(&self, document: &Document<'_>) -> Result<Value, AnalyzeError> {
        Ok(Value::text(document.header(&self.field)))
    }
}

/// The built-in analyzer of this name; also `http_` with the name of any header field, hyphens written as underscores:
/// `http_content_type`.
pub fn built_in(name: &str) -> Option<Arc<dyn Analyzer>> {
    if let Some(found) = BUILT_INS.iter().find(|built_in| built_in.name == name) {
        return Some(Arc::new(found));
    }
    let field = name.strip_prefix("http_").filter(|field| !field.is_empty())?;
    let is_name = field.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    is_name.then(|| {
        Arc::new(Header { name: name.to_owned(), field: field.replace('_', "-") }) as Arc<dyn Analyzer>
    })
}

/// All built-in analyzers that have fixed names, sorted by them.
pub fn built_ins() -> Vec<Arc<dyn Analyzer>> {
    BUILT_INS.iter().map(|built_in| Arc::new(built_in) as Arc<dyn Analyzer>).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_by_name() {
        assert!(BUILT_INS.is_sorted_by_key(|built_in| built_in.name));
        for analyzer in built_ins() {
            let found = built_in(analyzer.name()).unwrap();
            assert_eq!((found.kind(), found.version()), (analyzer.kind(), analyzer.version()));
        }
        assert_eq!(built_in("http_Content_Type").unwrap().name(), "http_Content_Type");
        for name in ["", "titles", "http_", "http_x y"] {
            assert!(built_in(name).is_none(), "{name}");
        }
    }
}
