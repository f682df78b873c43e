//! The `licences` step: every package that the workspace can pull in, on any platform, in any feature set, must come
//! under terms that allow what our own licence promises.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::spdx;
use crate::workspace::Workspace;

/// Licences that ask for no more than notice, and MPL-2.0, whose copyleft ends at the files it covers.
const ACCEPTED: [&str; 16] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// A package that is used although its stated licence is not accepted.
struct Exception {
    package: &'static str,
    /// What it states, so that a change of terms is noticed; empty if it states nothing.
    licence: &'static str,
    /// Why it may be used all the same.
    reason: &'static str,
}

/// All exceptions. Keep it short: each is a promise to everyone who passes Mattock on.
const EXCEPTIONS: &[Exception] = &[];

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let packages = packages(&workspace.metadata()?)?;
    let complaints = complaints(&packages, EXCEPTIONS);
    for complaint in &complaints {
        eprintln!("{complaint}");
    }
    if !complaints.is_empty() {
        bail!("{} of {} packages have terms that we do not accept", complaints.len(), packages.len());
    }
    eprintln!("{} packages, all under accepted licences", packages.len());
    for exception in EXCEPTIONS {
        eprintln!("by exception: {}: {}", exception.package, exception.reason);
    }
    Ok(())
}

struct Package {
    name: String,
    version: String,
    licence: String,
}

fn packages(metadata: &Value) -> Result<Vec<Package>> {
    let list = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let read = |package: &Value| Package {
        name: text(package, "name"),
        version: text(package, "version"),
        licence: text(package, "license"),
    };
    Ok(list.iter().map(read).collect())
}

fn complaints(packages: &[Package], exceptions: &[Exception]) -> Vec<String> {
    let mut complaints = Vec::new();
    for Package { name, version, licence } in packages {
        if exceptions.iter().any(|known| known.package == name && known.licence == licence) {
            continue;
        }
        if licence.is_empty() {
            complaints.push(format!("{name} {version}: states no SPDX licence"));
            continue;
        }
        match spdx::satisfiable(licence, &ACCEPTED) {
            Ok(true) => {}
            Ok(false) => complaints.push(format!("{name} {version}: {licence}")),
            Err(error) => complaints.push(format!("{name} {version}: {licence}: {error}")),
        }
    }
    for Exception { package, licence, .. } in exceptions {
        if !packages.iter().any(|known| known.name == *package && known.licence == *licence) {
            complaints.push(format!("{package}: the exception for `{licence}` is of no use: remove it"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, licence: &str) -> Package {
        Package { name: name.into(), version: "1.0.0".into(), licence: licence.into() }
    }

    #[test]
    fn metadata_is_read() {
        let metadata = serde_json::json!({"packages": [
            {"name": "a", "version": "1.2.3", "license": "MIT"},
            {"name": "b", "version": "0.1.0", "license": null, "license_file": "TERMS"},
        ]});
        let read = packages(&metadata).unwrap();
        assert_eq!(
            (read[0].name.as_str(), read[0].version.as_str(), read[0].licence.as_str()),
            ("a", "1.2.3", "MIT")
        );
        assert_eq!(complaints(&read, &[]), ["b 0.1.0: states no SPDX licence"]);
        assert!(packages(&serde_json::json!({})).is_err());
    }

    #[test]
    fn refused_and_malformed_terms_are_named() {
        let found =
            complaints(&[package("a", "GPL-3.0-only"), package("b", "MIT OR"), package("c", "MIT")], &[]);
        assert_eq!(found, ["a 1.0.0: GPL-3.0-only", "b 1.0.0: MIT OR: the licence expression ends early"]);
    }

    #[test]
    fn an_exception_holds_for_the_terms_it_was_made_for() {
        let exceptions = [Exception { package: "a", licence: "Odd-1.0", reason: "asked its author" }];
        assert!(complaints(&[package("a", "Odd-1.0")], &exceptions).is_empty());
        let changed = complaints(&[package("a", "Odd-2.0")], &exceptions);
        assert_eq!(changed, ["a 1.0.0: Odd-2.0", "a: the exception for `Odd-1.0` is of no use: remove it"]);
    }
}
