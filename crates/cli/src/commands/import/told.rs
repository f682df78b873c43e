//! What is said of an import: what came in, then what is damaged, then for each other kind what was left out.

use std::fmt::Write as _;

use indicatif::{HumanBytes, HumanCount};
use mattock_index::{Imported, Left, Untaken};
use serde_json::{Value, json};

use super::FEW;
use crate::args::repository::ImportArgs;
use crate::output;

/// All of it.
pub(super) fn json(imported: &Imported) -> Value {
    let told = |one: &Untaken| json!({"kind": one.kind.as_str(), "file": one.file, "offset": one.offset, "why": one.why});
    let counts: serde_json::Map<String, Value> =
        imported.left.iter().map(|(kind, count)| (kind.as_str().to_owned(), json!(count))).collect();
    json!({
        "files": imported.files, "known": imported.known, "records": imported.records, "instances": imported.instances,
        "revisits": imported.revisits, "others": imported.others, "untaken": imported.untaken_count(),
        "untaken_by_kind": counts, "left_out": imported.untaken.iter().map(told).collect::<Vec<_>>(),
    })
}

/// For people.
pub(super) fn text(imported: &Imported, bytes: u64, args: &ImportArgs) -> String {
    let mut out = format!(
        "{} instances ({} revisits) of {} file(s), {}, are in {}\n",
        HumanCount(imported.instances),
        HumanCount(imported.revisits),
        imported.files,
        HumanBytes(bytes),
        args.dir.display()
    );
    if imported.known > 0 {
        let _ = writeln!(out, "{} file(s) were there already", imported.known);
    }
    for (kind, count) in &imported.left {
        // Each piece of damage, and of what is no damage the first one.
        let told = if kind.is_loss() { FEW } else { 1 };
        let first: Vec<&Untaken> =
            imported.untaken.iter().filter(|one| one.kind == *kind).take(told).collect();
        for one in &first {
            let warning = format!("{} at {}: {}", one.file, one.offset, one.why);
            let _ = writeln!(
                out,
                "{}: {}",
                if kind.is_loss() { "warning" } else { "left out" },
                output::line(&warning)
            );
        }
        let more = count.saturating_sub(first.len() as u64);
        if more > 0 {
            let _ = writeln!(out, "  and {} more: {}", HumanCount(more), what(*kind));
        }
    }
    if imported.instances > 0 {
        let _ = writeln!(out, "Ask them: mattock query {} 'select name, insertionDate'", args.dir.display());
    }
    out
}

/// What several of a kind are.
fn what(kind: Left) -> &'static str {
    match kind {
        Left::Damage => "damaged records",
        Left::File => "files that nothing was taken of",
        Left::TooLarge => "records that are too large",
        Left::Place => "documents that the index has no place for; --copy makes one",
        Left::Head => "documents without a URL of the Web, or without a date",
        Left::NotHttp => "responses that are not HTTP",
        Left::Dns => "names that were looked up",
        Left::Resource => "resources",
        Left::Conversion => "conversions",
        Left::Segment => "further segments",
        Left::UnknownType => "records of unknown types",
    }
}
