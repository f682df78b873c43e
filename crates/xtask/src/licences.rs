//! Licences, a part of the `deny` step: every package that the workspace can pull in, on any platform, must come under terms that allow
//! what our own licence promises.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::policy::Policy;
use crate::spdx;

pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: String,
    /// Where it comes from; empty if it lies here.
    pub(crate) source: String,
}

/// What cargo knows of.
pub(crate) fn packages(metadata: &Value) -> Result<Vec<Package>> {
    let list = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let read = |package: &Value| Package {
        name: text(package, "name"),
        version: text(package, "version"),
        licence: text(package, "license"),
        source: text(package, "source"),
    };
    Ok(list.iter().map(read).collect())
}

/// Packages whose terms are not accepted, and exceptions that are of no use.
pub(crate) fn complaints(packages: &[Package], policy: &Policy) -> Vec<String> {
    let mut complaints = Vec::new();
    for Package { name, version, licence, .. } in packages {
        let mut accepted: Vec<&str> = policy.licences.iter().map(String::as_str).collect();
        let exceptions = policy.exceptions.iter().filter(|known| known.package == *name);
        accepted.extend(exceptions.flat_map(|known| &known.licences).map(String::as_str));
        if licence.is_empty() {
            complaints.push(format!("{name} {version}: states no SPDX licence"));
            continue;
        }
        match spdx::satisfiable(licence, &accepted) {
            Ok(true) => {}
            Ok(false) => complaints.push(format!("{name} {version}: {licence}")),
            Err(error) => complaints.push(format!("{name} {version}: {licence}: {error}")),
        }
    }
    for exception in &policy.exceptions {
        if !packages.iter().any(|known| known.name == exception.package) {
            complaints
                .push(format!("{}: its exception in deny.toml is of no use: remove it", exception.package));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Exception;

    fn package(name: &str, licence: &str) -> Package {
        Package { name: name.into(), version: "1.0.0".into(), licence: licence.into(), source: String::new() }
    }

    fn policy(exceptions: Vec<Exception>) -> Policy {
        let licences = vec!["MIT".into(), "Zlib".into()];
        Policy { targets: vec![], licences, exceptions, registries: vec![], skips: vec![] }
    }

    #[test]
    fn metadata_is_read() {
        let metadata = serde_json::json!({"packages": [
            {"name": "a", "version": "1.2.3", "license": "MIT", "source": "registry+https://crates.example/index"},
            {"name": "b", "version": "0.1.0", "license": null, "license_file": "TERMS", "source": null},
        ]});
        let read = packages(&metadata).unwrap();
        assert_eq!(
            (read[0].name.as_str(), read[0].version.as_str(), read[0].licence.as_str()),
            ("a", "1.2.3", "MIT")
        );
        assert_eq!([&*read[0].source, &*read[1].source], ["registry+https://crates.example/index", ""]);
        assert_eq!(complaints(&read, &policy(vec![])), ["b 0.1.0: states no SPDX licence"]);
        assert!(packages(&serde_json::json!({})).is_err());
    }

    #[test]
    fn refused_and_malformed_terms_are_named() {
        let packages = [package("a", "GPL-3.0-only"), package("b", "MIT OR"), package("c", "MIT")];
        assert_eq!(
            complaints(&packages, &policy(vec![])),
            ["a 1.0.0: GPL-3.0-only", "b 1.0.0: MIT OR: the licence expression ends early"]
        );
    }

    #[test]
    fn an_exception_holds_for_the_terms_it_was_made_for() {
        let odd = || policy(vec![Exception { package: "a".into(), licences: vec!["Odd-1.0".into()] }]);
        assert!(complaints(&[package("a", "Odd-1.0")], &odd()).is_empty());
        let changed = complaints(&[package("a", "Odd-2.0"), package("b", "Odd-1.0")], &odd());
        assert_eq!(changed, ["a 1.0.0: Odd-2.0", "b 1.0.0: Odd-1.0"]);
        assert_eq!(complaints(&[], &odd()), ["a: its exception in deny.toml is of no use: remove it"]);
    }
}
