//! By what a kept value is found again: 128 bits made of all that the value depends on, as far as the index knows it.
//!
//! What a page says depends on its bytes and on what its server calls them: the same bytes are a page as `text/html` and nothing as
//! `image/png`, and read differently in another charset. So payload, type and charset make the key of an analyzer that reads no more than
//! these. The index has the charset that a header names for what was imported, and the one that a page was read in for what was crawled. The
//! latter does not tell a charset that was named from one that was guessed, and is only there for pages: where that leaves a doubt, the
//! value is the instance's own. So is that of an analyzer that also reads the URL, or header fields.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, FixedSizeBinaryBuilder, StringViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, ident, lit,
};
use mattock_analyze::Analyzer;
use xxhash_rust::xxh3::Xxh3Default;

use crate::sampling::INSTANCE;

/// The bytes of a key.
const KEY_BYTES: i32 = 16;

/// What decides about the value of an analyzer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// The payload, and what it is called.
    Payload,
    /// The instance as a whole.
    Instance,
}

/// The columns of the index that a key is made of, in the order of the function's arguments.
const OF_PAYLOAD: [&str; 5] = ["content_digest", "content_mime_type", "content_charset", "depth", INSTANCE];
/// Two captures of one URL within one second, which is all that most archives know, have one name: place and payload tell them apart.
const OF_INSTANCE: [&str; 3] = [INSTANCE, "content_digest", "warc_record_offset"];

impl Key {
    /// The key for the values of an analyzer.
    pub(crate) fn of(analyzer: &dyn Analyzer) -> Key {
        if analyzer.of_payload() { Key::Payload } else { Key::Instance }
    }

    /// The type of all keys.
    pub(crate) fn data_type() -> DataType {
        DataType::FixedSizeBinary(KEY_BYTES)
    }

    /// What the column is called beside those of the index. No query can name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Key::Payload => "__key_payload",
            Key::Instance => "__key_instance",
        }
    }

    fn parts(self) -> &'static [&'static str] {
        match self {
            Key::Payload => &OF_PAYLOAD,
            Key::Instance => &OF_INSTANCE,
        }
    }

    /// The columns of the index that it needs.
    pub(crate) fn needs(self, index: &Schema) -> impl Iterator<Item = &'static str> {
        self.parts().iter().copied().filter(|name| index.field_with_name(name).is_ok())
    }

    /// The key of a row; null if there is none.
    pub(crate) fn expression(self, index: &Schema) -> Expr {
        let part = |name: &&str| match index.field_with_name(name) {
            Ok(_) => ident(*name),
            Err(_) => lit(ScalarValue::Utf8View(None)),
        };
        let function = ScalarUDF::new_from_impl(KeyFunction {
            of_payload: self == Key::Payload,
            signature: Signature::any(self.parts().len(), Volatility::Immutable),
        });
        function.call(self.parts().iter().map(part).collect()).alias(self.name())
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct KeyFunction {
    of_payload: bool,
    signature: Signature,
}

impl ScalarUDFImpl for KeyFunction {
    fn name(&self) -> &str {
        if self.of_payload { "key_of_payload" } else { "key_of_instance" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(Key::data_type())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let columns =
            arguments.args.iter().map(|column| Ok(cast(&column.to_array(rows)?, &DataType::Utf8View)?));
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let texts: Vec<&StringViewArray> = columns.iter().map(|column| column.as_string_view()).collect();
        let mut keys = FixedSizeBinaryBuilder::with_capacity(rows, KEY_BYTES);
        for row in 0..rows {
            let text =
                |at: usize| texts.get(at).filter(|text| text.is_valid(row)).map(|text| text.value(row));
            let key = match (self.of_payload, texts.len()) {
                (true, 5) => of_payload([text(0), text(1), text(2), text(3), text(4)]),
                (false, 3) => text(0).map(|instance| hashed(&[Some(instance), text(1), text(2)])),
                _ => return plan_err!("a key is made of other columns"),
            };
            match key {
                Some(key) => keys.append_value(key.to_be_bytes())?,
                None => keys.append_null(),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(keys.finish())))
    }
}

fn of_payload([digest, kind, charset, depth, instance]: [Option<&str>; 5]) -> Option<u128> {
    let kind = kind.unwrap_or_default().trim().to_ascii_lowercase();
    let charset = charset.unwrap_or_default().trim().to_ascii_lowercase();
    // Every crawl knows depths, and few imports do. A crawl reads a page that names no charset, and is no UTF-8, as windows-1252, without a closer look.
    let in_doubt = depth.is_some() && is_read(&kind) && ["", "windows-1252"].contains(&charset.as_str());
    Some(hashed(&[Some(digest?), Some(&kind), Some(&charset), instance.filter(|_| in_doubt)]))
}

/// Whether something of this type may be read as text: then the charset counts.
fn is_read(kind: &str) -> bool {
    const MAY_BE_PAGES: [&str; 4] = ["", "application/octet-stream", "unknown/unknown", "*/*"];
    kind.starts_with("text/") || kind.contains("html") || MAY_BE_PAGES.contains(&kind)
}

fn hashed(parts: &[Option<&str>]) -> u128 {
    let mut hasher = Xxh3Default::new();
    for part in parts {
        let length = part.map_or(u64::MAX, |part| part.len() as u64);
        hasher.update(&length.to_le_bytes());
        hasher.update(part.unwrap_or_default().as_bytes());
    }
    hasher.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: &str, charset: &str, depth: Option<&str>, instance: &str) -> Option<u128> {
        let known = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        let [kind, charset] = [kind, charset].map(|text| known(String::leak(text.to_string())));
        of_payload([Some("ABC"), kind, charset, depth, Some(instance)])
    }

    #[test]
    fn what_bytes_are_called_is_a_part_of_the_key() {
        let html = key("text/html", "UTF-8", None, "1");
        assert_eq!(key(" Text/HTML", "utf-8", None, "2"), html);
        for (kind, charset) in
            [("text/plain", "utf-8"), ("text/html", "koi8-r"), ("text/html", ""), ("", "utf-8")]
        {
            assert_ne!(key(kind, charset, None, "1"), html, "{kind} {charset}");
        }
        assert_eq!(of_payload([None, Some("text/html"), None, None, Some("1")]), None);
    }

    #[test]
    fn where_a_crawl_leaves_a_doubt_values_are_not_shared() {
        let shared = |kind, charset, depth| key(kind, charset, depth, "1") == key(kind, charset, depth, "2");
        assert!(shared("text/html", "", None), "an import knows that nobody named a charset");
        assert!(shared("text/html", "Shift_JIS", Some("3")) && shared("image/png", "", Some("3")));
        for (kind, charset) in
            [("text/html", "windows-1252"), ("text/html", ""), ("text/plain", ""), ("", "")]
        {
            assert!(!shared(kind, charset, Some("3")), "{kind} {charset}");
        }
    }
}
