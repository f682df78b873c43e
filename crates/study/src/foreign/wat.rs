//! WAT files: for every response of an archive one JSON object with its head and, of HTML, its links. Common Crawl publishes them beside its
//! archives, at a tenth of the size.
//!
//! ```text
//! Envelope.WARC-Header-Metadata     WARC-Type, WARC-Target-URI, WARC-Date
//! Envelope.Payload-Metadata.HTTP-Response-Metadata
//!     Response-Message.Status       "200"
//!     Headers                       Location, of redirects
//!     HTML-Metadata.Head            Base; Link[].url and .rel
//!     HTML-Metadata.Links[]         path ("A@/href"), url
//! ```
//!
//! Links are those that the analyzer `links` gives: anchors, areas, frames, and what a head names as canonical, alternate, next or previous. The
//! text is not in these files, so there are no terms and no sketches.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mattock_env::Files;
use mattock_features::segment::{Instance, SegmentSorter, State};
use mattock_query::{Cancel, Failures};
use mattock_repository::{RecordType, RepositoryError, StoredRecord, WarcReader};
use mattock_weburl::{Base, WebUrl};
use serde::Deserialize;

use crate::build::{Built, Progress};
use crate::error::Result;
use crate::gather::Gathering;

/// Paths of links that lead to another page.
const PATHS: [&str; 4] = ["A@/href", "AREA@/href", "FRAME@/src", "IFRAME@/src"];
/// What a link in the head must be to lead to another page.
const RELATIONS: [&str; 5] = ["canonical", "next", "prev", "previous", "alternate"];
/// Records between two reports.
const REPORT_EVERY: u64 = 1024;

/// Reads WAT files into a segment; false if it was stopped.
pub(super) fn gather(
    files: &Files,
    paths: &[PathBuf],
    segment: &Path,
    memory: u64,
    built: &mut Built,
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<bool> {
    let scratch = segment.parent().unwrap_or(Path::new("."));
    let mut sorter = SegmentSorter::new(files, scratch, "wat", memory);
    let mut failures = Unread::default();
    for (number, path) in (1..).zip(paths) {
        let total = files.entry(path).ok().flatten().map(|entry| entry.len);
        let mut reader = WarcReader::open(files, path)?.go_on_behind_damage();
        loop {
            let record = match reader.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error @ RepositoryError::Io { .. }) => return Err(error.into()),
                Err(error) => {
                    failures.add(&error.to_string());
                    continue;
                }
            };
            match take(&record, &mut sorter) {
                Taken::Page(taken) => {
                    taken?;
                    built.documents += 1;
                }
                Taken::Nothing => {}
                Taken::Unread(why) => {
                    failures.add(&format!("{} at {}: {why}", path.display(), record.offset));
                }
            }
            if built.documents.is_multiple_of(REPORT_EVERY) {
                let (documents, bytes) = (built.documents, record.offset);
                let at =
                    Gathering { part: number, parts: paths.len(), documents, bytes, ..Gathering::default() };
                progress(Progress::Gathering(Gathering { bytes_total: total, ..at }));
                if cancel.is_cancelled() {
                    return Ok(false);
                }
            }
        }
        built.parts_read += 1;
    }
    built.parts = paths.len() as u64;
    sorter.finish(segment, "WAT files", failures.count)?;
    built.failures.extend(failures.told());
    Ok(true)
}

/// Records that could not be read.
#[derive(Default)]
struct Unread {
    count: u64,
    example: String,
}

impl Unread {
    fn add(&mut self, why: &str) {
        self.count += 1;
        if self.example.is_empty() {
            why.clone_into(&mut self.example);
        }
    }

    fn told(self) -> Option<Failures> {
        let Unread { count, example } = self;
        (count > 0).then(|| Failures { column: "record".to_owned(), count, example })
    }
}

/// What became of a record.
enum Taken {
    /// It tells of a page, or of what is none.
    Page(mattock_features::Result<()>),
    /// It is about something else.
    Nothing,
    /// It makes no sense.
    Unread(String),
}

fn take(record: &StoredRecord<'_>, sorter: &mut SegmentSorter) -> Taken {
    let is_json = record.fields.get("Content-Type").is_some_and(|kind| kind.starts_with("application/json"));
    if record.kind() != Some(RecordType::Metadata) || !is_json {
        return Taken::Nothing;
    }
    let wat: Wat<'_> = match serde_json::from_slice(record.block) {
        Ok(wat) => wat,
        Err(error) => return Taken::Unread(error.to_string()),
    };
    let (header, response) = (wat.envelope.header, wat.envelope.payload.response);
    let Some(response) = response.filter(|_| header.kind.as_deref() == Some("response")) else {
        return Taken::Nothing;
    };
    let Some(url) = header.target.as_deref().and_then(|url| WebUrl::parse(url).ok()) else {
        return Taken::Nothing;
    };
    let time = header.date.as_deref().and_then(|date| date.parse::<Timestamp>().ok());
    let (state, links) = response.found(&url);
    let instance = Instance {
        time_ms: time.map_or(0, |time| time.as_millisecond()),
        state,
        links: links.iter().map(WebUrl::as_str).collect(),
        ..Instance::default()
    };
    Taken::Page(sorter.push(&url, &instance))
}

#[derive(Deserialize)]
struct Wat<'a> {
    #[serde(borrow, rename = "Envelope")]
    envelope: Envelope<'a>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, rename = "WARC-Header-Metadata")]
    header: Header<'a>,
    #[serde(borrow, default, rename = "Payload-Metadata")]
    payload: Payload<'a>,
}

#[derive(Default, Deserialize)]
struct Header<'a> {
    #[serde(borrow, rename = "WARC-Type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "WARC-Target-URI")]
    target: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "WARC-Date")]
    date: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
struct Payload<'a> {
    #[serde(borrow, rename = "HTTP-Response-Metadata")]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(default, rename = "Response-Message")]
    message: Message,
    #[serde(default, rename = "Headers")]
    headers: BTreeMap<String, serde_json::Value>,
    #[serde(borrow, default, rename = "HTML-Metadata")]
    html: Html<'a>,
}

#[derive(Default, Deserialize)]
struct Message {
    /// A text or a number.
    #[serde(default, rename = "Status")]
    status: serde_json::Value,
}

#[derive(Default, Deserialize)]
struct Html<'a> {
    #[serde(borrow, default, rename = "Head")]
    head: Head<'a>,
    #[serde(borrow, default, rename = "Links")]
    links: Vec<Link<'a>>,
}

#[derive(Default, Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "Base")]
    base: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "Link")]
    links: Vec<Link<'a>>,
}

#[derive(Deserialize)]
struct Link<'a> {
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow)]
    rel: Option<Cow<'a, str>>,
}

impl Response<'_> {
    /// What the page is, and where it leads.
    fn found(&self, url: &WebUrl) -> (State, Vec<WebUrl>) {
        let status = match &self.message.status {
            serde_json::Value::String(text) => text.trim().parse().ok(),
            number => number.as_u64(),
        };
        match status {
            None | Some(200) => (State::Page, self.links(url)),
            Some(300..400) => match self.location().and_then(|target| Base::new(url).join(target).ok()) {
                Some(target) => (State::Redirect, vec![target]),
                None => (State::Gone, Vec::new()),
            },
            Some(_) => (State::Gone, Vec::new()),
        }
    }

    fn location(&self) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
        // A field that is there twice is a list.
        value.as_str().or_else(|| value.get(0)?.as_str()).filter(|target| !target.is_empty())
    }

    fn links(&self, url: &WebUrl) -> Vec<WebUrl> {
        let base = match self.html.head.base.as_deref() {
            Some(href) => Base::with_href(url, href),
            None => Base::new(url),
        };
        let of_head = self.html.head.links.iter().filter(|link| {
            let mut words = link.rel.as_deref().unwrap_or_default().split_ascii_whitespace();
            words.any(|word| RELATIONS.iter().any(|known| known.eq_ignore_ascii_case(word)))
        });
        let of_body = self
            .html
            .links
            .iter()
            .filter(|link| link.path.as_deref().is_none_or(|path| PATHS.contains(&path)));
        of_head.chain(of_body).filter_map(|link| base.join(link.url.as_deref()?).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str) -> (State, Vec<String>) {
        let response: Response<'_> = serde_json::from_str(json).unwrap();
        let (state, links) = response.found(&WebUrl::parse("http://a.com/b/c").unwrap());
        (state, links.iter().map(|link| link.as_str().to_owned()).collect())
    }

    #[test]
    fn links_are_those_that_lead_to_pages() {
        let json = r#"{"Response-Message":{"Status":"200"},"HTML-Metadata":{"Head":{"Base":"/d/",
            "Link":[{"path":"LINK@/href","rel":"Canonical","url":"x"},{"rel":"stylesheet","url":"s.css"}]},
            "Links":[{"path":"A@/href","url":"e?f=\u0026g#h"},{"path":"IMG@/src","url":"i.png"},{"url":"//b.org"},
            {"path":"A@/href","url":"mailto:a@b.c"},{"path":"FRAME@/src"}]}}"#;
        assert_eq!(
            found(json),
            (
                State::Page,
                ["http://a.com/d/x", "http://a.com/d/e?f=&g", "http://b.org/"].map(String::from).into()
            )
        );
        assert_eq!(found("{}"), (State::Page, Vec::new()));
        assert_eq!(found(r#"{"Response-Message":{"Status":404}}"#), (State::Gone, Vec::new()));
        let moved = r#"{"Response-Message":{"Status":"301"},"Headers":{"location":"../x"}}"#;
        assert_eq!(found(moved), (State::Redirect, vec!["http://a.com/x".to_owned()]));
        assert_eq!(found(r#"{"Response-Message":{"Status":"302"}}"#), (State::Gone, Vec::new()));
    }
}
