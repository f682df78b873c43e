//! What a module sees of a document: the parts that it imports a function for, and no other.
//!
//! Filled for each document before the module runs, so that nothing is computed or copied that no call can ask for. What a module imports
//! also says what its value depends on.

use mattock_analyze::{Document, Value, built_in};

/// What a module imports, by name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) url: bool,
    pub(crate) head: bool,
    pub(crate) body: bool,
    pub(crate) content: bool,
    pub(crate) text: bool,
    /// Status, time, whether it is whole.
    pub(crate) circumstances: bool,
}

impl Needs {
    /// Notes that the function `name` is imported.
    pub(crate) fn note(&mut self, name: &str) {
        match name {
            "url" => self.url = true,
            "head" | "header" => self.head = true,
            "body" => self.body = true,
            "content" => self.content = true,
            "text" => self.text = true,
            "status" | "time" | "truncated" => self.circumstances = true,
            _ => {}
        }
    }

    /// Only the payload decides about the value.
    pub(crate) fn only_payload(self) -> bool {
        !(self.url || self.head || self.circumstances)
    }

    /// What is computed for the module is a part of its version, too.
    pub(crate) fn versions(self) -> String {
        let used = [("content", self.content), ("text", self.text)];
        let used = used.into_iter().filter(|(_, needed)| *needed);
        let named = used.filter_map(|(name, _)| Some(format!("_{name}{}", built_in(name)?.version())));
        named.collect()
    }
}

/// The parts of one document.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) url: String,
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
    pub(crate) content: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) status: u16,
    pub(crate) time_us: i64,
    pub(crate) truncated: bool,
    /// The header field that was asked for last.
    pub(crate) header: Option<String>,
}

impl Parts {
    /// What is needed of a document.
    pub(crate) fn of(document: &Document<'_>, needs: Needs) -> Parts {
        let computed = |name: &str| match built_in(name)?.analyze(document) {
            Ok(Value::Text(text)) => Some(text),
            _ => None,
        };
        Parts {
            url: if needs.url { document.url.to_owned() } else { String::new() },
            head: if needs.head { document.head.to_vec() } else { Vec::new() },
            body: if needs.body { document.body.to_vec() } else { Vec::new() },
            content: if needs.content { computed("content") } else { None },
            text: if needs.text { computed("text") } else { None },
            status: document.status,
            time_us: document.time_us,
            truncated: document.truncated,
            header: None,
        }
    }

    /// The value of a header field, as `http_` columns have it.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let document = Document::new("", 0, 0, &self.head, b"", false);
        document.header(name).map(std::borrow::Cow::into_owned)
    }
}
