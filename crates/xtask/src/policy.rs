//! What may be depended on, out of `deny.toml`: the file that cargo-deny reads too.

use anyhow::{Context, Result};
use toml::{Table, Value};

/// As far as it is checked here.
#[derive(Debug)]
pub(crate) struct Policy {
    /// The platforms whose packages are counted.
    pub(crate) targets: Vec<String>,
    pub(crate) licences: Vec<String>,
    pub(crate) exceptions: Vec<Exception>,
    /// Registries that packages may come from.
    pub(crate) registries: Vec<String>,
    pub(crate) skips: Vec<Skip>,
}

/// A package that may be used under other terms.
#[derive(Debug)]
pub(crate) struct Exception {
    pub(crate) package: String,
    pub(crate) licences: Vec<String>,
}

/// A version that may be there beside another one.
#[derive(Debug)]
pub(crate) struct Skip {
    pub(crate) package: String,
    /// The first numbers of its version.
    pub(crate) version: String,
    pub(crate) reason: String,
}

impl Skip {
    /// Whether it is about this package of this version.
    pub(crate) fn means(&self, package: &str, version: &str) -> bool {
        let rest = version.strip_prefix(&*self.version);
        self.package == package && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

impl Policy {
    pub(crate) fn parse(text: &str) -> Result<Policy> {
        let file: Table = text.parse().context("deny.toml is no TOML")?;
        Ok(Policy {
            targets: texts(&file, "graph", "targets")?,
            licences: texts(&file, "licenses", "allow")?,
            exceptions: list(&file, "licenses", "exceptions")?
                .iter()
                .map(exception)
                .collect::<Result<_>>()?,
            registries: texts(&file, "sources", "allow-registry")?,
            skips: list(&file, "bans", "skip")?.iter().map(skip).collect::<Result<_>>()?,
        })
    }
}

fn list<'a>(file: &'a Table, section: &str, key: &str) -> Result<&'a Vec<Value>> {
    let list = file.get(section).and_then(|section| section.get(key)).and_then(Value::as_array);
    list.with_context(|| format!("deny.toml has no list `{key}` in [{section}]"))
}

fn texts(file: &Table, section: &str, key: &str) -> Result<Vec<String>> {
    list(file, section, key)?.iter().map(|value| text(value, key)).collect()
}

fn text(value: &Value, key: &str) -> Result<String> {
    value
        .as_str()
        .map(str::to_owned)
        .with_context(|| format!("deny.toml: `{key}` holds something that is no text"))
}

/// A text in a table.
fn field(entry: &Value, key: &str) -> Result<String> {
    text(entry.get(key).with_context(|| format!("deny.toml: {entry} has no `{key}`"))?, key)
}

fn exception(entry: &Value) -> Result<Exception> {
    let allow =
        entry.get("allow").and_then(Value::as_array).with_context(|| format!("{entry} has no `allow`"))?;
    let licences = allow.iter().map(|value| text(value, "allow")).collect::<Result<_>>()?;
    Ok(Exception { package: field(entry, "crate")?, licences })
}

fn skip(entry: &Value) -> Result<Skip> {
    let named = field(entry, "crate")?;
    let (package, version) = named
        .split_once('@')
        .with_context(|| format!("deny.toml: `{named}` names no version, as in `NAME@1.2`"))?;
    Ok(Skip { package: package.into(), version: version.into(), reason: field(entry, "reason")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_in_the_root_is_read() {
        let policy = Policy::parse(include_str!("../../../deny.toml")).unwrap();
        assert!(policy.licences.iter().any(|licence| licence == "MIT"));
        assert_eq!(policy.registries, ["https://github.com/rust-lang/crates.io-index"]);
        assert!(policy.skips.iter().all(|skip| !skip.reason.is_empty()));
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = |text: &str| format!("{:#}", Policy::parse(text).unwrap_err());
        assert!(error("[graph]").contains("no list `targets` in [graph]"));
        let good = include_str!("../../../deny.toml");
        assert!(error(&good.replace("reason =", "because =")).contains("has no `reason`"));
        assert!(error(&good.replace("@0.22", "")).contains("`base64` names no version"));
    }

    #[test]
    fn a_skip_means_whole_numbers_of_a_version() {
        let skip = Skip { package: "a".into(), version: "0.1".into(), reason: "old".into() };
        assert!(skip.means("a", "0.1.7") && skip.means("a", "0.1"));
        assert!(!skip.means("a", "0.10.1") && !skip.means("b", "0.1.7"));
    }
}
