//! What a route takes: declared once, and used to check requests as well as to describe the route.

use std::collections::BTreeMap;

use mattock_index::Asked;
use mattock_printable::{Layout, terminal};
use mattock_weburl::WebUrl;
use serde_json::{Map, Value, json};

use crate::answer::Problem;

/// The longest URL that is looked at.
const URL_BYTES_MAX: usize = 4096;

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Body,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Text without control characters, of one to so many characters.
    Text(usize),
    /// An http or https URL.
    Url,
    /// A list of one to so many URLs.
    Urls(usize),
    /// A whole number within bounds.
    Integer(i64, i64),
    /// A number within bounds, or null.
    NumberOrNull(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Text, a number or a truth value.
    Scalar,
}

/// One value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) about: &'static str,
}

impl Param {
    pub(crate) const fn path(name: &'static str, kind: Kind, about: &'static str) -> Param {
        Param { name, place: Place::Path, kind, required: true, about }
    }

    pub(crate) const fn query(name: &'static str, kind: Kind, about: &'static str) -> Param {
        Param { name, place: Place::Query, kind, required: false, about }
    }

    pub(crate) const fn body(name: &'static str, kind: Kind, about: &'static str) -> Param {
        Param { name, place: Place::Body, kind, required: false, about }
    }

    pub(crate) const fn required(self) -> Param {
        Param { required: true, ..self }
    }

    /// The same as JSON Schema.
    pub(crate) fn schema(&self) -> Value {
        let plain = "^[^\\u0000-\\u001f\\u007f]*$";
        match self.kind {
            Kind::Text(max) => {
                json!({ "type": "string", "minLength": 1, "maxLength": max, "pattern": plain })
            }
            Kind::Url => {
                json!({ "type": "string", "format": "uri", "minLength": 8, "maxLength": URL_BYTES_MAX })
            }
            Kind::Urls(max) => json!({
                "type": "array", "minItems": 1, "maxItems": max,
                "items": { "type": "string", "format": "uri", "minLength": 8, "maxLength": URL_BYTES_MAX },
            }),
            Kind::Integer(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Kind::NumberOrNull(min, max) => {
                json!({ "type": ["number", "null"], "minimum": min, "maximum": max })
            }
            Kind::Choice(words) => json!({ "type": "string", "enum": words }),
            Kind::Scalar => json!({ "type": ["string", "number", "boolean"], "maxLength": 1024 }),
        }
    }

    /// Checks a value as JSON has it.
    fn check(&self, value: &Value) -> Result<(), Problem> {
        let wrong = |what: String| Problem::invalid(format!("`{}` {what}", self.name));
        let is_text = |text: &str, max: usize| {
            !text.is_empty() && text.chars().count() <= max && !text.chars().any(|c| c.is_ascii_control())
        };
        match (self.kind, value) {
            (Kind::Text(max), Value::String(text)) if is_text(text, max) => Ok(()),
            (Kind::Text(max), _) => {
                Err(wrong(format!("must be text of 1 to {max} characters, none of them control characters")))
            }
            (Kind::Url, Value::String(text)) => parse_url(self.name, text).map(drop),
            (Kind::Url, _) => Err(wrong("must be a URL".into())),
            (Kind::Urls(max), Value::Array(list)) if (1..=max).contains(&list.len()) => {
                list.iter().try_for_each(|url| match url {
                    Value::String(text) => parse_url(self.name, text).map(drop),
                    _ => Err(wrong("must hold URLs".into())),
                })
            }
            (Kind::Urls(max), _) => Err(wrong(format!("must be a list of 1 to {max} URLs"))),
            (Kind::Integer(min, max), value) => match whole(value) {
                Some(number) if (min..=max).contains(&number) => Ok(()),
                _ => Err(wrong(format!("must be a whole number from {min} to {max}"))),
            },
            (Kind::NumberOrNull(..), Value::Null) => Ok(()),
            (Kind::NumberOrNull(min, max), value) => match value.as_f64() {
                Some(number) if (min..=max).contains(&number) => Ok(()),
                _ => Err(wrong(format!("must be a number from {min} to {max}, or null"))),
            },
            (Kind::Choice(words), value) => match value.as_str() {
                Some(word) if words.contains(&word) => Ok(()),
                _ => Err(wrong(format!("must be one of {}", words.join(", ")))),
            },
            (Kind::Scalar, Value::String(text)) if text.chars().count() <= 1024 => Ok(()),
            (Kind::Scalar, Value::Number(_) | Value::Bool(_)) => Ok(()),
            (Kind::Scalar, _) => Err(wrong("must be text, a number, true or false".into())),
        }
    }

    /// Reads a value that came as text.
    fn value_of(&self, text: &str) -> Value {
        let number = || serde_json::from_str::<serde_json::Number>(text).ok().map(Value::Number);
        match self.kind {
            Kind::Integer(..) | Kind::NumberOrNull(..) => number().unwrap_or(Value::String(text.to_owned())),
            _ => Value::String(text.to_owned()),
        }
    }
}

/// A whole number; JSON Schema takes 3.0 for one too.
fn whole(value: &Value) -> Option<i64> {
    let float = || value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
    value.as_i64().or_else(|| float().map(|number| number as i64))
}

fn parse_url(name: &str, text: &str) -> Result<WebUrl, Problem> {
    if text.len() > URL_BYTES_MAX {
        return Err(Problem::invalid(format!("`{name}` has a URL of more than {URL_BYTES_MAX} bytes")));
    }
    WebUrl::parse(text).map_err(|error| Problem::invalid(format!("`{name}` has no URL of the Web: {error}")))
}

/// The checked values of a request.
#[derive(Debug, Default)]
pub(crate) struct Input {
    values: BTreeMap<&'static str, Value>,
}

impl Input {
    /// Checks what came in a path, a query and a body.
    pub(crate) fn read(
        params: &[Param],
        path: &[(&'static str, String)],
        query: &str,
        body: Option<&Map<String, Value>>,
    ) -> Result<Input, Problem> {
        let mut input = Input::default();
        let find =
            |place: Place, name: &str| params.iter().find(|param| param.place == place && param.name == name);
        for (name, text) in path {
            let param = find(Place::Path, name).expect("routes declare what their paths have");
            input.take(param, param.value_of(text))?;
        }
        for (name, text) in pairs(query)? {
            let Some(param) = find(Place::Query, &name) else {
                return Err(Problem::invalid(format!("there is no parameter `{}`", shown(&name))));
            };
            input.take(param, param.value_of(&text))?;
        }
        for (name, value) in body.into_iter().flatten() {
            let Some(param) = find(Place::Body, name) else {
                return Err(Problem::invalid(format!("there is no field `{}`", shown(name))));
            };
            input.take(param, value.clone())?;
        }
        match params.iter().find(|param| param.required && !input.values.contains_key(param.name)) {
            Some(missing) => Err(Problem::invalid(format!("`{}` is missing", missing.name))),
            None => Ok(input),
        }
    }

    fn take(&mut self, param: &Param, value: Value) -> Result<(), Problem> {
        param.check(&value)?;
        match self.values.insert(param.name, value) {
            Some(_) => Err(Problem::invalid(format!("`{}` is there twice", param.name))),
            None => Ok(()),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    pub(crate) fn count(&self, name: &str, default: u64) -> u64 {
        self.get(name).and_then(whole).and_then(|number| u64::try_from(number).ok()).unwrap_or(default)
    }

    /// A URL that is required.
    pub(crate) fn url(&self, name: &str) -> Result<WebUrl, Problem> {
        parse_url(name, self.text(name).unwrap_or_default())
    }

    /// A URL that is required, as it was typed.
    pub(crate) fn asked(&self, name: &str) -> Result<Asked, Problem> {
        Asked::parse(self.text(name).unwrap_or_default())
            .map_err(|error| Problem::invalid(format!("`{name}` has no URL of the Web: {error}")))
    }

    /// URLs that are required.
    pub(crate) fn urls(&self, name: &str) -> Result<Vec<WebUrl>, Problem> {
        let list = self.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().map(|url| parse_url(name, url.as_str().unwrap_or_default())).collect()
    }
}

/// The beginning of a name that somebody sent.
fn shown(name: &str) -> String {
    let beginning: String = name.chars().take(40).collect();
    terminal(&beginning, Layout::Line).into_owned()
}

/// The pairs of a query string.
pub(crate) fn pairs(query: &str) -> Result<Vec<(String, String)>, Problem> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((decoded(name, true)?, decoded(value, true)?))
        })
        .collect()
}

/// Takes the percent signs out of a text.
pub(crate) fn decoded(text: &str, plus_is_blank: bool) -> Result<String, Problem> {
    let wrong = || Problem::invalid("the URL of the request is not percent-encoded UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
                let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
                (high * 16 + low) as u8
            }
            b'+' if plus_is_blank => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: [Param; 5] = [
        Param::path("host", Kind::Text(20), ""),
        Param::query("limit", Kind::Integer(1, 10), ""),
        Param::query("sort", Kind::Choice(&["pages", "errors"]), ""),
        Param::query("u", Kind::Url, ""),
        Param::body("pages_per_s", Kind::NumberOrNull(0.1, 100.0), ""),
    ];

    fn read(query: &str, body: &str) -> Result<Input, String> {
        let body: Option<Map<String, Value>> = serde_json::from_str(body).unwrap();
        let path = [("host", "a.com".to_owned())];
        Input::read(&PARAMS, &path, query, body.as_ref()).map_err(|problem| problem.detail)
    }

    #[test]
    fn what_is_declared_is_taken() {
        let input = read("limit=3&u=http%3A%2F%2Fa.com%2F%3Fb%3D%2525+", r#"{"pages_per_s":2.5}"#).unwrap();
        assert_eq!(input.count("limit", 7), 3);
        assert_eq!(input.count("offset", 7), 7);
        assert_eq!(input.url("u").unwrap().as_str(), "http://a.com/?b=%25");
        assert_eq!(input.get("pages_per_s"), Some(&json!(2.5)));
        assert_eq!(read("", r#"{"pages_per_s":null}"#).unwrap().get("pages_per_s"), Some(&Value::Null));
    }

    #[test]
    fn what_is_not_is_refused() {
        for (query, body, complaint) in [
            ("limit=0", "null", "`limit` must be a whole number from 1 to 10"),
            ("limit=1e400", "null", "`limit` must be"),
            ("limit=2.5", "null", "`limit` must be"),
            ("limit=1&limit=2", "null", "`limit` is there twice"),
            ("sort=age", "null", "`sort` must be one of pages, errors"),
            ("colour=red", "null", "no parameter `colour`"),
            ("u=ftp://a.com/", "null", "`u` has no URL of the Web"),
            ("u=%zz", "null", "not percent-encoded"),
            ("u=%ff", "null", "not percent-encoded"),
            ("", r#"{"pages_per_s":"2"}"#, "`pages_per_s` must be a number"),
            ("", r#"{"pages":2}"#, "no field `pages`"),
        ] {
            let error = read(query, body).unwrap_err();
            assert!(error.contains(complaint), "{query} {body}: {error}");
        }
        let long = "x".repeat(21);
        assert!(Input::read(&PARAMS, &[("host", long)], "", None).is_err());
        assert!(Input::read(&PARAMS, &[("host", "a\nb".into())], "", None).is_err());
        assert!(Input::read(&PARAMS, &[], "", None).unwrap_err().detail.contains("`host` is missing"));
    }
}
