//! One URL: what the crawl knows of it, what is stored of it, and the stored page itself.
//!
//! Instances have numbers: first those of the crawl's ledgers, then those of imported archives, which only the index knows. A directory of
//! imported archives without a crawl has only the latter.

use std::path::PathBuf;

use mattock_crawl::{CrawlError, Why, why};
use mattock_env::{UnixTime, located};
use mattock_index::{Asked, FoundInstance, Manifest, find_imported};
use mattock_weburl::WebUrl;
use serde_json::{Value, json};

use super::Desk;
use super::disk::failed;
use crate::answer::{Answer, Problem};
use crate::archive::StoredPage;
use crate::input::Input;
use crate::words;

/// What is stored of a URL under a number.
struct Stored {
    /// What is said of it.
    told: Value,
    /// When it was fetched.
    seconds: i64,
    /// As its record has it.
    url: String,
    /// File and offset, if there is a record.
    place: Option<(PathBuf, u64)>,
}

fn nothing() -> Problem {
    Problem::not_found("nothing is stored of this URL under that number")
}

/// An imported instance as those of a crawl are told.
fn told(instance: &FoundInstance) -> Value {
    json!({
        "outcome": instance.status.to_string(),
        "time": UnixTime::from_micros(instance.time_ms.saturating_mul(1000)).to_seconds_string(),
        "file": instance.file,
        "offset": instance.offset,
    })
}

impl Desk {
    /// Where a URL is, and why; and what was imported of it.
    pub(crate) fn url(&self, input: &Input) -> Result<Answer, Problem> {
        let url = input.url("u")?;
        let imported = self.imported(&input.asked("u")?)?;
        let (mut answer, sentence) = match self.why(&url)? {
            Some(why) => (json!(why), words::of(&why)),
            None if imported.is_empty() => return Err(nothing()),
            None => (
                json!({ "url": url.as_str(), "answer": "imported" }),
                "An archive that was imported has it.".to_owned(),
            ),
        };
        if !imported.is_empty() {
            let mut instances = answer["instances"].as_array().cloned().unwrap_or_default();
            instances.extend(imported.iter().map(told));
            answer["instances"] = json!(instances);
        }
        Ok(Answer::json(
            &json!({ "why": answer, "sentence": sentence, "host": url.host(), "domain": url.domain() }),
        ))
    }

    fn has_imports(&self) -> bool {
        Manifest::read(&self.env.files, &self.root).is_ok_and(|manifest| !manifest.parts.is_empty())
    }

    /// What the crawl knows of a URL, if there is one beside what was imported.
    fn why(&self, url: &WebUrl) -> Result<Option<Why>, Problem> {
        match why(&self.env, &self.root, std::slice::from_ref(url)) {
            Ok(why) => Ok(why.into_iter().next()),
            Err(CrawlError::NoCrawl { .. } | CrawlError::NotACrawl { .. }) if self.has_imports() => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// What of a URL is in archives of others.
    fn imported(&self, asked: &Asked) -> Result<Vec<FoundInstance>, Problem> {
        find_imported(&self.env.files, &self.root, asked)
            .map_err(|error| Problem::conflict(format!("the index cannot be read: {error}")))
    }

    fn stored(&self, input: &Input) -> Result<(Value, StoredPage), Problem> {
        let stored = self.instances(&input.asked("u")?)?;
        let (instance, page) = self.read(stored.get(input.count("n", 0) as usize))?;
        let Some(original) = page.repeats().and_then(|url| Asked::parse(url).ok()) else {
            return Ok((instance, page));
        };
        let others = self.instances(&original)?;
        // The visit that it names, or else one that brought the same; never another document's body.
        let is_it =
            |stored: &&Stored| page.repeats_time.is_some_and(|time| stored.seconds == time.as_seconds());
        let read = |stored: &Stored| self.read(Some(stored)).ok().map(|(_, found)| found);
        let named = others.iter().find(is_it).and_then(read).filter(|found| found.repeats().is_none());
        let same = || others.iter().filter_map(read).find(|found| page.is_repeated_by(found));
        Ok(match named.or_else(same) {
            Some(original) => (instance, page.with_body_of(original)),
            None => (instance, page),
        })
    }

    /// What is stored of a URL, by number: what the crawl's ledgers have, then what was imported.
    fn instances(&self, asked: &Asked) -> Result<Vec<Stored>, Problem> {
        let mut found = Vec::new();
        if let Some(url) = asked.crawled()
            && let Some(why) = self.why(url)?
            && let mattock_crawl::Answer::Fetched { instances } | mattock_crawl::Answer::Failed { instances } =
                &why.answer
        {
            let warc = self.saved()?.warc();
            found.extend(instances.iter().map(|instance| Stored {
                told: json!(instance),
                seconds: instance.time.as_seconds(),
                url: url.as_str().to_owned(),
                place: instance.file.as_ref().map(|file| warc.join(file)).zip(instance.offset),
            }));
        }
        found.extend(self.imported(asked)?.into_iter().map(|instance| Stored {
            told: told(&instance),
            seconds: instance.time_ms.div_euclid(1000),
            place: Some((located(&self.root, &instance.file), instance.offset)),
            url: instance.url,
        }));
        Ok(found)
    }

    /// Reads one of them.
    fn read(&self, stored: Option<&Stored>) -> Result<(Value, StoredPage), Problem> {
        let stored = stored.ok_or_else(nothing)?;
        let (path, offset) = stored.place.as_ref().ok_or_else(nothing)?;
        let time = UnixTime::from_micros(stored.seconds.saturating_mul(1_000_000));
        let page = StoredPage::read(&self.env.files, path, *offset, &stored.url, Some(time));
        Ok((stored.told.clone(), page.map_err(CrawlError::from).map_err(failed)?))
    }

    /// The heads of a stored page.
    pub(crate) fn page(&self, input: &Input) -> Result<Answer, Problem> {
        let (instance, page) = self.stored(input)?;
        let mut answer = serde_json::to_value(&page).expect("maps have text for keys");
        answer["url"] = json!(input.url("u")?.as_str());
        answer["instance"] = instance;
        Ok(Answer::json(&answer))
    }

    /// A stored page itself, for a frame.
    pub(crate) fn view(&self, input: &Input) -> Result<Answer, Problem> {
        let (kind, bytes) = self.stored(input)?.1.harmless();
        Ok(Answer::archived(kind, bytes))
    }
}
