//! Content types: what is kept of what servers send, and where links are looked for.
//!
//! Asked once per response, when its head is there and before its body is read. A type is judged without its parameters
//! and in any case. A response without a type counts as `unknown/unknown`, which can be listed like any other.

use super::RuleError;
use crate::Refusal;

const UNKNOWN: &str = "unknown/unknown";

/// `text/html`, `image/*` or `*`, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TypePattern {
    kind: Box<str>,
    /// `None` for every one of the kind.
    subtype: Option<Box<str>>,
}

/// Types that are taken, and exceptions from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentTypes {
    allowed: Vec<TypePattern>,
    denied: Vec<TypePattern>,
}

impl ContentTypes {
    /// All that `allowed` names, or all there are if it names none; without those that `denied` names.
    pub fn new(allowed: &[String], denied: &[String]) -> Result<ContentTypes, RuleError> {
        let parse = |texts: &[String]| -> Result<Vec<TypePattern>, RuleError> {
            texts.iter().map(|text| TypePattern::new(text)).collect()
        };
        Ok(ContentTypes { allowed: parse(allowed)?, denied: parse(denied)? })
    }

    /// Whether a response with this `Content-Type` is taken.
    pub fn takes(&self, content_type: Option<&str>) -> bool {
        let essence = content_type.and_then(|text| text.split([';', ',']).next()).unwrap_or_default().trim();
        let essence = if essence.is_empty() { UNKNOWN } else { essence };
        let named = |list: &[TypePattern]| list.iter().any(|pattern| pattern.matches(essence));
        (self.allowed.is_empty() || named(&self.allowed)) && !named(&self.denied)
    }

    /// The same as a refusal, with its reason.
    pub fn refuses(&self, content_type: Option<&str>) -> Option<Refusal> {
        (!self.takes(content_type)).then_some(Refusal::ContentType)
    }
}

impl TypePattern {
    fn new(text: &str) -> Result<TypePattern, RuleError> {
        let bad = || RuleError::ContentType { text: text.to_owned() };
        let lower = text.trim().to_ascii_lowercase();
        if lower == "*" || lower == "*/*" {
            return Ok(TypePattern { kind: "*".into(), subtype: None });
        }
        let token = |text: &str| {
            let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
            !text.is_empty() && text.bytes().all(valid)
        };
        match lower.split_once('/') {
            Some((kind, "*")) if token(kind) => Ok(TypePattern { kind: kind.into(), subtype: None }),
            Some((kind, subtype)) if token(kind) && token(subtype) => {
                Ok(TypePattern { kind: kind.into(), subtype: Some(subtype.into()) })
            }
            _ => Err(bad()),
        }
    }

    fn matches(&self, essence: &str) -> bool {
        let (kind, subtype) = essence.split_once('/').unwrap_or((essence, ""));
        let same = |own: &str, other: &str| own.eq_ignore_ascii_case(other.trim());
        &*self.kind == "*"
            || (same(&self.kind, kind) && self.subtype.as_deref().is_none_or(|own| same(own, subtype)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(allowed: &[&str], denied: &[&str]) -> ContentTypes {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        ContentTypes::new(&owned(allowed), &owned(denied)).unwrap()
    }

    #[test]
    fn types_are_taken_by_kind_and_subtype() {
        let pages = types(&["text/*", "application/xhtml+xml", "unknown/unknown"], &["text/css"]);
        for (content_type, taken) in [
            (Some("text/html"), true),
            (Some("Text/HTML; charset=utf-8"), true),
            (Some(" text/plain ;x"), true),
            (Some("application/xhtml+xml"), true),
            (Some("text/CSS;a"), false),
            (Some("image/png"), false),
            (Some("text"), true),
            (Some(""), true),
            (Some("; charset=utf-8"), true),
            (None, true),
        ] {
            assert_eq!(pages.takes(content_type), taken, "{content_type:?}");
            assert_eq!(pages.refuses(content_type).is_none(), taken);
        }
        assert!(ContentTypes::default().takes(Some("anything at all")));
        assert!(types(&["*"], &[]).takes(None) && !types(&["text/html"], &[]).takes(None));
        assert_eq!(types(&[], &["image/*"]).refuses(Some("image/gif")), Some(Refusal::ContentType));
    }

    #[test]
    fn what_is_no_type_is_refused() {
        for text in ["", "text", "/", "text/", "/html", "te xt/html", "*/html", "text/html; charset=utf-8"] {
            let error = ContentTypes::new(&[text.to_owned()], &[]).unwrap_err();
            assert_eq!(error, RuleError::ContentType { text: text.into() });
        }
    }
}
