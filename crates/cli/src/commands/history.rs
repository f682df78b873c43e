//! `mattock history`: the instances of a URL, and what changed from one to the next.

use mattock_analyze::{Document, Value, built_in};
use mattock_extract::{Options, SIMHASH_BYTES_MAX, extract, simhash};
use mattock_index::Asked;
use mattock_repository::http::parse_response;
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
    let Places { env, .. } = Places::of([args.dir.as_path()]);
    let asked = Asked::parse(&args.url)?;
    let url = asked.url();
    let session = Repository::open(&env, &args.dir)?.session(plain_options())?;
    let all = instances(&session, &asked)?;
    if all.is_empty() {
        return Err(Usage(format!("no instance of {} is stored", url.as_str())).into());
    }
    let mut texts = Texts { records: Records::new(&env, &args.dir, &session), url, unread: 0 };
    // What was known last of each.
    let (mut digest, mut sketch, mut text): (Option<&str>, Option<u64>, Option<String>) = (None, None, None);
    for (index, instance) in all.iter().enumerate() {
        let changed = match (&instance.digest, digest) {
            _ if index == 0 => None,
            (Some(this), Some(before)) => Some(this != before),
            // It says only that it is the same.
            (None, _) if instance.record_type == "revisit" => Some(false),
            _ => None,
        };
        let mut now = None;
        // A payload that is the same has the same sketch; a text is only read where nobody has made one.
        let sketch_now = match changed {
            Some(false) => instance.sketch.or(sketch),
            _ if instance.sketch.is_some() => instance.sketch,
            _ if all.len() > 1 => {
                let document = texts.of(instance)?;
                let sketch = document.as_ref().and_then(|document| document.sketch);
                now = document.map(|document| document.text);
                sketch
            }
            _ => None,
        };
        let mut diff = None;
        if args.diff {
            if now.is_none() {
                now = texts.of(instance)?.map(|document| document.text);
            }
            diff = text.as_deref().zip(now.as_deref()).map(|(before, now)| changes(before, now));
        }
        let step = Step {
            number: index + 1,
            time: instance.time(),
            instance,
            changed,
            sketch_distance: sketch
                .filter(|_| index > 0)
                .zip(sketch_now)
                .map(|(one, two)| (one ^ two).count_ones()),
            diff,
        };
        if args.json {
            output::print_json(&step)?;
        } else {
            output::print(&told(&step))?;
        }
        digest = instance.digest.as_deref().or(digest);
        sketch = sketch_now.or(sketch);
        text = now.or(text);
    }
    Ok(if texts.unread > 0 { Ended::Failed } else { Ended::Done })
}

/// What instances say.
struct Texts<'a> {
    records: Records<'a>,
    url: &'a WebUrl,
    /// Instances that could not be read.
    unread: usize,
}

struct Said {
    text: String,
    sketch: Option<u64>,
}

impl Texts<'_> {
    /// The main text, and the sketch of all text as crawls have it; nothing, and a warning, if the instance cannot be read.
    fn of(&mut self, instance: &Instance) -> anyhow::Result<Option<Said>> {
        let response = match self.records.response(instance) {
            Ok(response) => response,
            Err(error) => {
                self.unread += 1;
                let error = format!("{error:#}");
                say!("warning: the instance of {} cannot be read: {}", instance.time(), output::line(&error));
                return Ok(None);
            }
        };
        let (head, body) = (&response.head, &response.body);
        let document =
            Document::new(self.url.as_str(), instance.time_ms * 1000, instance.status, head, body, false);
        let text = match built_in("text").expect("it is built in").analyze(&document)? {
            Value::Text(text) => text,
            _ => String::new(),
        };
        let options = Options { raw_text: true, raw_text_bytes_max: SIMHASH_BYTES_MAX, ..Options::default() };
        let kind = parse_response(head).and_then(|response| response.field("content-type"));
        let kind = kind.and_then(|kind| std::str::from_utf8(kind).ok());
        // As crawls make it; 0 is that of no text.
        let sketch = extract(body, kind, &options).raw_text.map(simhash).filter(|sketch| *sketch != 0);
        Ok(Some(Said { text, sketch }))
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
        (None, _) if step.number == 1 => "first".to_owned(),
        (None, _) => "nothing to compare".to_owned(),
        (Some(false), _) => "unchanged".to_owned(),
        (Some(true), Some(distance)) => format!("changed, {distance} of 64 bits of its sketch"),
        (Some(true), None) => "changed".to_owned(),
    };
    let kind = output::line(step.instance.mime_type.as_deref().unwrap_or("-"));
    let mut out = format!(
        "{:>3}  {}  {}  {:<9} {:>9} B  {kind}  {change}\n",
        step.number, step.time, step.instance.status, step.instance.record_type, step.instance.length
    );
    for line in step.diff.iter().flatten() {
        out += &format!("       {}\n", output::line(line));
    }
    out
}
