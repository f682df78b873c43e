//! `mattock terms`: what pages, hosts and the answers of queries are about, and which pages are about the same.

use std::io;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use indicatif::HumanCount;
use mattock_env::{Env, is_url};
use mattock_features::{Features, Hosts, Terms, Urls};
use mattock_graph::{Telling, TermSum, similar, sums_within, threads};
use mattock_query::Language;
use mattock_query::sink::Sink;
use mattock_study::FEATURES;
use mattock_weburl::WebUrl;

use super::duplicates::{no_content, rounded};
use super::query;
use crate::args::terms::TermsArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::Places;
use crate::progress;
use crate::repository::{Repository, options};
use crate::rows::{Cell, Kind, Rows};
use crate::signals::Patience;

/// What is open.
struct Opened {
    env: Env,
    /// Whose features they are.
    dir: PathBuf,
    features: Features,
    urls: Urls,
    terms: Terms,
}

pub(crate) fn run(args: &TermsArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } =
        Places::of([&args.dir].into_iter().chain(&args.features.dir).map(PathBuf::as_path));
    let dir = args.features.dir.as_ref().unwrap_or(&args.dir).clone();
    if is_url(&dir) {
        let message =
            "is a URL, and features are on this machine: say in which directory with --features DIR";
        return Err(Usage(format!("{} {message}", dir.display())).into());
    }
    let features = Features::open(&env.files, &dir.join(FEATURES))?;
    let urls = features.urls()?;
    let terms = features.terms()?.ok_or_else(|| no_content(&dir))?;
    let opened = Opened { env, dir, features, urls, terms };
    match (&args.place, &args.query, &args.similar) {
        (Some(place), ..) => place_terms(args, &opened, place),
        (_, Some(text), _) => query_terms(args, &opened, text),
        (_, _, Some(url)) => similar_pages(args, &opened, url),
        _ => Err(Usage("say whose terms: a URL, a host, --query or --similar".into()).into()),
    }
}

/// What a person means by a name.
enum Place {
    Page(WebUrl),
    /// One of these, as far as they are there.
    Hosts(Vec<WebUrl>),
}

/// A URL with a path is a page, anything shorter a host; without a scheme it is meant with either.
fn place_of(text: &str) -> anyhow::Result<Place> {
    let wrong = |error| Usage(format!("`{text}` is neither a URL nor a host: {error}"));
    let Some((_, rest)) = text.split_once("://") else {
        let both = ["http", "https"].map(|scheme| WebUrl::parse(&format!("{scheme}://{text}/")));
        let [http, https] = both.map(|url| url.map_err(wrong));
        let urls = vec![http?, https?];
        return match urls.iter().all(|url| url.path_and_query() == "/") {
            true => Ok(Place::Hosts(urls)),
            false => Err(Usage(format!("`{text}` has no scheme: write http://{text}")).into()),
        };
    };
    let url = WebUrl::parse(text).map_err(wrong)?;
    Ok(if rest.contains('/') { Place::Page(url) } else { Place::Hosts(vec![url]) })
}

fn place_terms(args: &TermsArgs, opened: &Opened, text: &str) -> anyhow::Result<Ended> {
    sums_within(1, opened.terms.vocabulary().len().into(), args.ask.engine.memory)?;
    let sum = match place_of(text)? {
        Place::Page(url) => TermSum::of_pages(&opened.terms, [known_page(args, opened, &url)?])?,
        Place::Hosts(urls) => {
            let hosts: Hosts = opened.features.hosts()?;
            let numbers: Vec<u64> = urls.iter().filter_map(|url| hosts.find(url)).collect();
            if numbers.is_empty() {
                return Err(
                    Usage(format!("{text} is no host of the features of {}", opened.dir.display())).into()
                );
            }
            let mut sum = TermSum::new(&opened.terms);
            for host in numbers {
                let ids = hosts.ids_of_host(host).unwrap_or_default();
                for page in opened.terms.scan(opened.terms.places(ids)) {
                    sum.add(&page?.1);
                }
            }
            sum
        }
    };
    if sum.pages() == 0 {
        return Err(Usage(format!(
            "no text is known of {text}: nothing was stored of it, or it has no words"
        ))
        .into());
    }
    term_rows(args, opened, &sum.best(args.count))?;
    if !args.quiet && sum.pages() > 1 {
        say!("{} pages", HumanCount(sum.pages()));
    }
    Ok(Ended::Done)
}

fn known_page(args: &TermsArgs, opened: &Opened, url: &WebUrl) -> anyhow::Result<u64> {
    let id = opened.urls.id(url)?;
    let unknown = || {
        let (features, dir) = (opened.dir.display(), args.dir.display());
        Usage(format!(
            "{} is not among the features of {features}: it was not stored when they were built; `mattock why {dir} URL` says where it is",
            url.as_str()
        ))
    };
    Ok(id.ok_or_else(unknown)?)
}

fn query_terms(args: &TermsArgs, opened: &Opened, text: &str) -> anyhow::Result<Ended> {
    let mut pages = PageSet::new(opened.urls.len());
    let left = args.ask.engine.memory.saturating_sub(pages.bytes());
    sums_within(2, opened.terms.vocabulary().len().into(), left)?;
    let repository = Repository::open(&opened.env, &args.dir)?.with_features(args.features.dir.as_deref())?;
    let mut options = options(&opened.env, &args.ask, &args.dir, text)?;
    options.memory_bytes = usize::try_from(left).unwrap_or(usize::MAX);
    let session = repository.session(options)?;
    let query = session.plan(text, if args.sql { Language::Sql } else { Language::Wib })?;
    let schema = query.schema();
    let column = schema.fields().iter().position(|field| ["name", "url"].contains(&field.name().as_str()));
    let column = column.ok_or_else(|| {
        Usage(format!(
            "the query does not say which pages: let it select `{}`",
            if args.sql { "url" } else { "name" }
        ))
    })?;
    let cancel = progress::interruptible(Patience::with([&args.dir]));
    let mut sink = Pages { urls: &opened.urls, column, found: &mut pages, unknown: 0 };
    let report = query.run(&mut sink, &mut |_| {}, &cancel)?;
    let unknown = sink.unknown;
    if report.cancelled {
        say!("Stopped: the query was not answered.");
        return Ok(Ended::Interrupted);
    }
    // What the query took is free again.
    drop(session);
    let sum = TermSum::of_pages(&opened.terms, pages.ids())?;
    let whole = TermSum::of_places(&opened.terms, 0..opened.terms.len())?;
    term_rows(args, opened, &sum.against(&whole, args.count))?;
    if !args.quiet {
        say_on!("{}", query::failures(&report));
        say!(
            "{} pages with text in {} rows, against {} pages; {} rows are of pages that came after the features",
            HumanCount(sum.pages()),
            HumanCount(report.rows),
            HumanCount(whole.pages()),
            HumanCount(unknown)
        );
    }
    Ok(Ended::Done)
}

/// Pages by id, a bit for each that there is.
struct PageSet {
    words: Vec<u64>,
}

impl PageSet {
    fn new(pages: u64) -> PageSet {
        PageSet { words: vec![0; pages.div_ceil(64) as usize] }
    }

    fn bytes(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64
    }

    fn insert(&mut self, id: u64) {
        self.words[(id / 64) as usize] |= 1 << (id % 64);
    }

    /// In order, each once.
    fn ids(&self) -> impl Iterator<Item = u64> {
        let of_word = |(at, word): (u64, u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        };
        (0..).zip(self.words.iter().copied()).filter(|(_, word)| *word != 0).flat_map(of_word)
    }
}

/// Takes the ids of the pages that a query finds.
struct Pages<'a> {
    urls: &'a Urls,
    column: usize,
    found: &'a mut PageSet,
    /// Rows of pages that have no id.
    unknown: u64,
}

impl Sink for Pages<'_> {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let names = batch.column(self.column);
        for row in 0..batch.num_rows() {
            let url = output::text(names, row).and_then(|name| WebUrl::parse(&name).ok());
            let id = url.map(|url| self.urls.id(&url)).transpose().map_err(io::Error::other)?.flatten();
            match id {
                Some(id) => self.found.insert(id),
                None => self.unknown += 1,
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn term_rows(args: &TermsArgs, opened: &Opened, telling: &[Telling]) -> anyhow::Result<()> {
    let columns = [
        ("term", Kind::Text),
        ("weight", Kind::Float),
        ("pages", Kind::Integer),
        ("documents", Kind::Integer),
    ];
    let mut rows = Rows::begin(&args.rows, &columns)?;
    for telling in telling {
        let (term, documents) = opened.terms.vocabulary().term(telling.term).unwrap_or_default();
        rows.push(&[
            Cell::Text(&term),
            Cell::Float(rounded(telling.weight)),
            Cell::count(telling.pages),
            Cell::count(documents),
        ])?;
    }
    rows.finish().map(drop)
}

fn similar_pages(args: &TermsArgs, opened: &Opened, text: &str) -> anyhow::Result<Ended> {
    let url = WebUrl::parse(text)?;
    let page = known_page(args, opened, &url)?;
    let vector = opened.terms.vector(page)?.filter(|vector| !vector.is_empty()).ok_or_else(|| {
        Usage(format!("no text is known of {text}: nothing was stored of it, or it has no words"))
    })?;
    let threads = args.ask.engine.threads.unwrap_or_else(threads).max(1);
    let found = similar(&opened.terms, &vector, Some(page), args.count, threads)?;
    let mut rows = Rows::begin(&args.rows, &[("cosine", Kind::Float), ("url", Kind::Text)])?;
    for similar in found {
        let url = opened.urls.url(similar.page)?.unwrap_or_default();
        rows.push(&[Cell::Float(rounded(similar.cosine)), Cell::Text(&url)])?;
    }
    rows.finish()?;
    Ok(Ended::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_in_a_set_once() {
        let mut pages = PageSet::new(200);
        for id in [199, 0, 63, 64, 63, 199, 128] {
            pages.insert(id);
        }
        assert_eq!(pages.ids().collect::<Vec<_>>(), [0, 63, 64, 128, 199]);
        assert_eq!(pages.bytes(), 32);
        assert_eq!(PageSet::new(0).ids().count(), 0);
    }

    #[test]
    fn pages_and_hosts_are_told_apart() {
        for (text, is_page) in [
            ("http://example.com/", true),
            ("https://example.com/a?b", true),
            ("http://example.com", false),
            ("example.com", false),
            ("example.com:8080", false),
        ] {
            let place = place_of(text).unwrap();
            assert_eq!(matches!(place, Place::Page(_)), is_page, "{text}");
        }
        for text in ["example.com/a", "ftp://example.com/", "http://", ""] {
            assert!(place_of(text).is_err(), "{text}");
        }
    }
}
