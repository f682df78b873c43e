//! The `deny` step: what we depend on comes under good terms, from where we think, and once. `deny.toml` says what may be.
//!
//! cargo-deny checks the same and the advisories, but takes minutes to compile; so what needs no database is checked here, in a
//! second, and cargo-deny is run where it is installed. Advisories need its database, which is fetched with `cargo deny fetch`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::policy::Policy;
use crate::workspace::Workspace;
use crate::{licences, process};

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let path = workspace.root().join("deny.toml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let policy = Policy::parse(&text)?;
    let packages = licences::packages(&workspace.metadata()?)?;
    let counted = counted(workspace, &policy)?;
    let complaints =
        [licences::complaints(&packages, &policy), foreign(&packages, &policy), doubles(&counted, &policy)]
            .concat();
    for complaint in &complaints {
        eprintln!("{complaint}");
    }
    if !complaints.is_empty() {
        bail!("{} things about {} packages are not as deny.toml says", complaints.len(), packages.len());
    }
    eprintln!("{} packages: licences, sources and versions are as deny.toml says", packages.len());
    others_judge(workspace)
}

/// Lets cargo-deny judge, as far as it can here.
fn others_judge(workspace: &Workspace) -> Result<()> {
    if !process::works(workspace.cargo(["deny", "--version"])) {
        eprintln!("advisories: skipped, cargo-deny is not installed (`cargo install cargo-deny --locked`)");
        return Ok(());
    }
    process::run(workspace.cargo(["deny", "--locked", "check", "bans", "licenses", "sources"]))?;
    match databases().filter(|place| holds_one(place)) {
        Some(_) => process::run(workspace.cargo(["deny", "--offline", "check", "advisories"])),
        None => {
            eprintln!(
                "advisories: skipped, there is no database (`cargo deny fetch db`, which needs github.com)"
            );
            Ok(())
        }
    }
}

/// Where cargo-deny keeps its databases.
fn databases() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    home.map(|home| home.join("advisory-dbs"))
}

/// Whether a database was fetched: each is a directory, beside files that lock them.
fn holds_one(place: &Path) -> bool {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.path().join("crates").is_dir())
}

/// Names and versions of what is compiled on the platforms that count.
fn counted(workspace: &Workspace, policy: &Policy) -> Result<Versions> {
    let mut versions = Versions::new();
    for target in &policy.targets {
        let mut tree = workspace.cargo(["tree", "--workspace", "--locked", "--edges", "normal,build,dev"]);
        tree.args(["--color", "never", "--prefix", "none", "--format", "{p}", "--target", target]);
        read_tree(&process::output(tree)?, &mut versions);
    }
    Ok(versions)
}

/// The versions of every package.
type Versions = BTreeMap<String, Vec<String>>;

/// Lines like `syn v2.0.1 (proc-macro)`.
fn read_tree(text: &str, versions: &mut Versions) {
    for line in text.lines() {
        let mut words = line.split(' ');
        let (Some(name), Some(version)) =
            (words.next(), words.next().and_then(|word| word.strip_prefix('v')))
        else {
            continue;
        };
        let known = versions.entry(name.to_owned()).or_default();
        if !known.iter().any(|known| known == version) {
            known.push(version.to_owned());
        }
    }
}

/// Packages from elsewhere.
fn foreign(packages: &[licences::Package], policy: &Policy) -> Vec<String> {
    let is_known = |source: &str| {
        let registry = source.strip_prefix("registry+").unwrap_or(source);
        source.is_empty() || policy.registries.iter().any(|known| known == registry)
    };
    let foreign = packages.iter().filter(|package| !is_known(&package.source));
    foreign
        .map(|package| format!("{} {}: comes from {}", package.name, package.version, package.source))
        .collect()
}

/// Packages that are there twice without a reason, and reasons without such a package.
fn doubles(versions: &Versions, policy: &Policy) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let is_left = |version: &&String| !policy.skips.iter().any(|skip| skip.means(name, version));
        let left: Vec<&str> = versions.iter().filter(is_left).map(String::as_str).collect();
        if left.len() > 1 {
            let left = left.join(", ");
            complaints.push(format!(
                "{name}: is there as {left}; update who asks for the older one, or give a reason in deny.toml"
            ));
        }
    }
    for skip in &policy.skips {
        if skip.reason.trim().is_empty() {
            complaints.push(format!("{}@{}: gives no reason in deny.toml", skip.package, skip.version));
        }
        let double = versions.get(&skip.package).filter(|versions| versions.len() > 1);
        if !double.is_some_and(|versions| versions.iter().any(|version| skip.means(&skip.package, version))) {
            let (package, version) = (&skip.package, &skip.version);
            complaints.push(format!(
                "{package}@{version}: the entry under `skip` in deny.toml is of no use: remove it"
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        Policy::parse(
            r#"
            graph.targets = []
            licenses = { allow = [], exceptions = [] }
            sources.allow-registry = ["https://crates.example/index"]
            bans.skip = [{ crate = "old@1", reason = "somebody asks for it" }]
            "#,
        )
        .unwrap()
    }

    #[test]
    fn two_versions_need_a_reason_and_a_reason_two_versions() {
        let found = |tree: &str| {
            let mut versions = Versions::new();
            read_tree(tree, &mut versions);
            doubles(&versions, &policy())
        };
        assert!(found("old v1.2.3\nold v2.0.0 (proc-macro)\nold v2.0.0 (*)\n\na v1.0.0 (/path)").is_empty());
        let twice = found("old v1.2.3\nold v2.0.0\na v1.0.0\na v1.1.0");
        assert!(twice.len() == 1 && twice[0].starts_with("a: is there as 1.0.0, 1.1.0; "), "{twice:?}");
        let (mut bare, mut versions) = (policy(), Versions::new());
        bare.skips[0].reason.clear();
        read_tree("old v1.2.3\nold v2.0.0", &mut versions);
        assert_eq!(doubles(&versions, &bare), ["old@1: gives no reason in deny.toml"]);
        for idle in ["old v1.2.3", "old v2.0.0", "old v10.0.0\nold v11.0.0", ""] {
            assert!(found(idle).iter().any(|line| line.contains("old@1: the entry under `skip`")), "{idle}");
        }
    }

    #[test]
    fn packages_come_from_the_registry_or_are_ours() {
        let package = |source: &str| licences::Package {
            name: "a".into(),
            version: "1.0.0".into(),
            licence: "MIT".into(),
            source: source.into(),
        };
        let all = [
            "",
            "registry+https://crates.example/index",
            "registry+https://other.example/index",
            "git+https://github.com/a/a#1",
        ];
        assert_eq!(
            foreign(&all.map(package), &policy()),
            [
                "a 1.0.0: comes from registry+https://other.example/index",
                "a 1.0.0: comes from git+https://github.com/a/a#1"
            ]
        );
    }
}
