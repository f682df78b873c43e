//! `mattock features info`.

use std::collections::BTreeMap;
use std::path::Path;

use indicatif::{HumanBytes, HumanCount};
use mattock_env::Files;
use mattock_features::{Direction, Features, Grain};
use mattock_study::FEATURES;
use serde_json::{Value, json};

use crate::args::features::InfoArgs;
use crate::exit::Ended;
use crate::output;
use crate::places;

/// What databases are called, by the names of their files.
const DATABASES: [(&str, &str); 12] = [
    ("urls", "URLs"),
    ("hosts", "hosts and domains"),
    ("crawled", "which were crawled"),
    ("out", "outlinks"),
    ("in", "inlinks"),
    ("hosts-out", "outlinks of hosts"),
    ("hosts-in", "inlinks of hosts"),
    ("domains-out", "outlinks of domains"),
    ("domains-in", "inlinks of domains"),
    ("vocabulary", "vocabulary"),
    ("terms", "terms"),
    ("shingles", "sketches"),
];

/// The graphs, by the names of their files.
const GRAPHS: [(&str, Grain, Direction); 6] = [
    ("out", Grain::Pages, Direction::Out),
    ("in", Grain::Pages, Direction::In),
    ("hosts-out", Grain::Hosts, Direction::Out),
    ("hosts-in", Grain::Hosts, Direction::In),
    ("domains-out", Grain::Domains, Direction::Out),
    ("domains-in", Grain::Domains, Direction::In),
];

pub(super) fn run(args: &InfoArgs) -> anyhow::Result<Ended> {
    let env = places::bound([args.dir.as_path()]);
    let home = args.dir.join(FEATURES);
    let info = Info::of(&env.files, &home)?;
    match args.json {
        true => output::print_json(&info.json())?,
        false => output::print(&info.text())?,
    }
    Ok(Ended::Done)
}

struct Info {
    features: Features,
    /// Bytes of the generation's files, by name without extension.
    databases: BTreeMap<String, u64>,
    columns: BTreeMap<String, u64>,
    /// Bytes of what was gathered.
    gathered: u64,
    /// Bits a link, by the names of the files.
    bits: BTreeMap<&'static str, f64>,
}

impl Info {
    fn of(files: &Files, home: &Path) -> anyhow::Result<Info> {
        let features = Features::open(files, home)?;
        let databases = sizes(files, features.dir())?;
        let columns = sizes(files, &features.dir().join("columns"))?;
        let gathered = sizes(files, &home.join("gathered"))?.values().sum();
        let mut bits = BTreeMap::new();
        for (name, grain, direction) in GRAPHS {
            if grain == Grain::Pages || features.has_urls() {
                let size = features.link_size(grain, direction)?;
                bits.insert(name, size.bits as f64 / size.arcs.max(1) as f64);
            }
        }
        Ok(Info { features, databases, columns, gathered, bits })
    }

    fn bytes_per_url(&self) -> Option<f64> {
        let bytes = self.databases.get("urls")?;
        Some(*bytes as f64 / self.features.counts().urls.max(1) as f64)
    }

    fn json(&self) -> Value {
        json!({
            "generation": self.features.generation(),
            "counts": self.features.counts(),
            "bytes": self.databases,
            "bytes_per_url": self.bytes_per_url(),
            "bits_per_link": self.bits,
            "columns": self.columns,
            "gathered_bytes": self.gathered,
            "built_from": self.features.origin(),
        })
    }

    fn text(&self) -> String {
        let (counts, origin) = (self.features.counts(), self.features.origin());
        let mut out =
            format!("generation {} in {}\n", self.features.generation(), self.features.dir().display());
        let bytes: u64 = origin.parts.iter().map(|part| part.bytes).sum();
        out += &match origin.how.as_str() {
            "" => "built from     not said\n".to_owned(),
            how => format!("built from     {} file(s) of {}: {how}\n", origin.parts.len(), HumanBytes(bytes)),
        };
        out += &format!(
            "{:15}{}",
            if self.features.has_urls() { "URLs" } else { "nodes" },
            HumanCount(counts.urls)
        );
        out += &match self.features.has_urls() {
            true => format!(", of which {} were crawled\n", HumanCount(counts.crawled)),
            false => "\n".to_owned(),
        };
        if self.features.has_urls() {
            out += &format!(
                "hosts          {} in {} domains\n",
                HumanCount(counts.hosts),
                HumanCount(counts.domains)
            );
        }
        out += &format!(
            "links          {} of {} given\n",
            HumanCount(counts.links),
            HumanCount(counts.links_given)
        );
        if counts.refused > 0 {
            out += &format!(
                "left out       {} references that name no page of the Web\n",
                HumanCount(counts.refused)
            );
        }
        out + "\n" + &self.table()
    }

    fn table(&self) -> String {
        let known = |name: &str| DATABASES.iter().position(|(known, _)| *known == name);
        let mut databases: Vec<(&String, &u64)> = self.databases.iter().collect();
        databases.sort_by_key(|(name, _)| known(name).unwrap_or(DATABASES.len()));
        let mut rows: Vec<(String, u64, String)> = Vec::new();
        for (name, bytes) in databases {
            let called = known(name).map_or(name.as_str(), |at| DATABASES[at].1);
            let each = match name.as_str() {
                "urls" => self.bytes_per_url().map(|bytes| format!("{bytes:.1} bytes a URL")),
                name => self.bits.get(name).map(|bits| format!("{bits:.2} bits a link")),
            };
            rows.push((called.to_owned(), *bytes, each.unwrap_or_default()));
        }
        rows.extend(
            self.columns.iter().map(|(name, bytes)| (format!("column {name}"), *bytes, String::new())),
        );
        if self.gathered > 0 {
            rows.push(("what was gathered".to_owned(), self.gathered, "for the next build".to_owned()));
        }
        let size = |bytes: u64| HumanBytes(bytes).to_string();
        let widths = rows.iter().fold((0, 0), |widths: (usize, usize), (name, bytes, _)| {
            (widths.0.max(name.len()), widths.1.max(size(*bytes).len()))
        });
        let line = |(name, bytes, each): &(String, u64, String)| {
            let line = format!("{name:w0$}  {:>w1$}  {each}", size(*bytes), w0 = widths.0, w1 = widths.1);
            format!("{}\n", line.trim_end())
        };
        rows.iter().map(line).collect()
    }
}

/// Bytes of the files in a directory, by name without extension; none if it is not there.
fn sizes(files: &Files, dir: &Path) -> anyhow::Result<BTreeMap<String, u64>> {
    let mut sizes = BTreeMap::new();
    if files.entry(dir)?.is_none() {
        return Ok(sizes);
    }
    for entry in files.list(dir)?.into_iter().filter(|entry| !entry.is_dir && entry.name != "LOCK") {
        let name = entry.name.split('.').next().unwrap_or_default();
        *sizes.entry(name.to_owned()).or_default() += entry.len;
    }
    Ok(sizes)
}
