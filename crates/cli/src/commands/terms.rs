//! `mattock terms`: what pages, hosts and the answers of queries are about, and which pages are about the same.

use std::io;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use indicatif::HumanCount;
use mattock_env::Env;
use mattock_features::{Features, Hosts, Terms, Urls};
use mattock_graph::{Telling, TermSum, similar, threads};
use mattock_query::sink::Sink;
use mattock_query::{Cancel, Language};
use mattock_study::FEATURES;
use mattock_weburl::WebUrl;

use super::duplicates::{no_content, rounded};
use super::query;
use crate::args::terms::TermsArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::repository::{Repository, options};
use crate::rows::{Cell, Kind, Rows};
use crate::signals;

/// What is open.
struct Opened {
    env: Env,
    features: Features,
    urls: Urls,
    terms: Terms,
}

pub(crate) fn run(args: &TermsArgs) -> anyhow::Result<Ended> {
    let env = Env::real();
    let features = Features::open(&env.files, &args.dir.join(FEATURES))?;
    let urls = features.urls()?;
    let terms = features.terms()?.ok_or_else(|| no_content(&args.dir))?;
    let opened = Opened { env, features, urls, terms };
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
    let sum = match place_of(text)? {
        Place::Page(url) => TermSum::of_pages(&opened.terms, [known_page(args, opened, &url)?])?,
        Place::Hosts(urls) => {
            let hosts: Hosts = opened.features.hosts()?;
            let numbers: Vec<u64> = urls.iter().filter_map(|url| hosts.find(url)).collect();
            if numbers.is_empty() {
                return Err(
                    Usage(format!("{text} is no host of the features of {}", args.dir.display())).into()
                );
            }
            let mut sum = TermSum::default();
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
        eprintln!("{} pages", HumanCount(sum.pages()));
    }
    Ok(Ended::Done)
}

fn known_page(args: &TermsArgs, opened: &Opened, url: &WebUrl) -> anyhow::Result<u64> {
    let id = opened.urls.id(url)?;
    let unknown = || {
        let dir = args.dir.display();
        Usage(format!(
            "{} is not among the features of {dir}: it was not stored when they were built; `mattock why {dir} URL` says where it is",
            url.as_str()
        ))
    };
    Ok(id.ok_or_else(unknown)?)
}

fn query_terms(args: &TermsArgs, opened: &Opened, text: &str) -> anyhow::Result<Ended> {
    let repository = Repository::open(&opened.env, &args.dir)?;
    let session = repository.session(options(&opened.env, &args.ask, &args.dir, text)?)?;
    let query = session.plan(text, if args.sql { Language::Sql } else { Language::Wib })?;
    let schema = query.schema();
    let column = schema.fields().iter().position(|field| ["name", "url"].contains(&field.name().as_str()));
    let column = column.ok_or_else(|| {
        Usage(format!(
            "the query does not say which pages: let it select `{}`",
            if args.sql { "url" } else { "name" }
        ))
    })?;
    let cancel = Cancel::new();
    let watched = cancel.clone();
    signals::when_interrupted(move || watched.cancel());
    let mut pages = Pages { urls: &opened.urls, column, ids: Vec::new(), unknown: 0 };
    let report = query.run(&mut pages, &mut |_| {}, &cancel)?;
    if report.cancelled {
        eprintln!("Stopped: the query was not answered.");
        return Ok(Ended::Interrupted);
    }
    let Pages { mut ids, unknown, .. } = pages;
    ids.sort_unstable();
    ids.dedup();
    let sum = TermSum::of_pages(&opened.terms, ids)?;
    let whole = TermSum::of_places(&opened.terms, 0..opened.terms.len())?;
    term_rows(args, opened, &sum.against(&whole, args.count))?;
    if !args.quiet {
        eprint!("{}", query::failures(&report));
        eprintln!(
            "{} pages with text in {} rows, against {} pages; {} rows are of pages that came after the features",
            HumanCount(sum.pages()),
            HumanCount(report.rows),
            HumanCount(whole.pages()),
            HumanCount(unknown)
        );
    }
    Ok(Ended::Done)
}

/// Takes the ids of the pages that a query finds.
struct Pages<'a> {
    urls: &'a Urls,
    column: usize,
    ids: Vec<u64>,
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
                Some(id) => self.ids.push(id),
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
    let mut rows = Rows::begin(&opened.env, &args.rows, &columns)?;
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
    let mut rows = Rows::begin(&opened.env, &args.rows, &[("cosine", Kind::Float), ("url", Kind::Text)])?;
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
