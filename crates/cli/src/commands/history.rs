//! `mattock history`: the instances of a URL, and what changed from one to the next.

use mattock_analyze::{Document, Value, built_in};
use mattock_weburl::WebUrl;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::args::repository::HistoryArgs;
use crate::exit::{Ended, Usage};
use crate::instances::{Instance, Records, instances};
use crate::output;
use crate::places::Places;
use crate::repository::{Repository, plain_options};

/// An instance next to the one before it.
#[derive(Serialize)]
struct Step<'a> {
    number: usize,
    time: String,
    #[serde(flatten)]
    instance: &'a Instance,
    /// Whether the payload is another one; `None` for the first.
    changed: Option<bool>,
    /// Bits of the text's sketch that are different: 0 the same text, up to 3 nearly the same, around 32 another one.
    sketch_distance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<Vec<String>>,
}

pub(crate) fn run(args: &HistoryArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::new();
    let url = WebUrl::parse(&args.url)?;
    let session = Repository::open(&env, &args.dir)?.session(plain_options())?;
    let all = instances(&session, &url)?;
    if all.is_empty() {
        return Err(Usage(format!("no instance of {} is stored", url.as_str())).into());
    }
    let mut records = Records::new(&env, &args.dir, &session);
    let mut text_before: Option<String> = None;
    for (index, instance) in all.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| &all[index]);
        let mut diff = None;
        if args.diff {
            let text = text(&mut records, &url, instance)?;
            diff = text_before.as_deref().map(|before| changes(before, &text));
            text_before = Some(text);
        }
        let step = Step {
            number: index + 1,
            time: instance.time(),
            instance,
            changed: before.map(|before| before.digest != instance.digest),
            sketch_distance: before.and_then(|before| Some((before.sketch? ^ instance.sketch?).count_ones())),
            diff,
        };
        if args.json {
            output::print_json(&step)?;
        } else {
            output::print(&told(&step))?;
        }
    }
    Ok(Ended::Done)
}

fn text(records: &mut Records<'_>, url: &WebUrl, instance: &Instance) -> anyhow::Result<String> {
    let response = records.response(instance)?;
    let (head, body) = (&response.head, &response.body);
    let document = Document::new(url.as_str(), instance.time_ms * 1000, instance.status, head, body, false);
    match built_in("text").expect("it is built in").analyze(&document)? {
        Value::Text(text) => Ok(text),
        _ => Ok(String::new()),
    }
}

/// Lines that went and that came.
fn changes(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    let changed = diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal);
    changed.map(|change| format!("{} {}", change.tag(), change.value().trim_end())).collect()
}

fn told(step: &Step<'_>) -> String {
    let change = match (step.changed, step.sketch_distance) {
        (None, _) => "first".to_owned(),
        (Some(false), _) => "unchanged".to_owned(),
        (Some(true), Some(distance)) => format!("changed, {distance} of 64 bits of its sketch"),
        (Some(true), None) => "changed".to_owned(),
    };
    let kind = step.instance.mime_type.as_deref().unwrap_or("-");
    let mut out = format!(
        "{:>3}  {}  {}  {:<9} {:>9} B  {kind}  {change}\n",
        step.number, step.time, step.instance.status, step.instance.record_type, step.instance.length
    );
    for line in step.diff.iter().flatten() {
        out += &format!("       {line}\n");
    }
    out
}
