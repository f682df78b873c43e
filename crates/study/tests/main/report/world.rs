//! A small repository in memory, made of documents that a test names.

use std::path::{Path, PathBuf};

use mattock_env::{Files, Random, SimFiles, UnixTime};
use mattock_features::{BuildOptions, Builder};
use mattock_index::{Foreign, ImportOptions, IndexOptions, Snapshot, import};
use mattock_query::{Cancel, Options, Session};
use mattock_repository::{Page, Truncated, WarcWriter, WriterOptions};
use mattock_study::FEATURES;
use mattock_study::report::{CrawlFigures, DataSet, ReportError, ReportOptions, Subject, gather};
use mattock_weburl::WebUrl;

pub(crate) const ROOT: &str = "/data/some-crawl";
/// 2026-01-01T00:00:00Z.
pub(crate) const START: i64 = 1_767_225_600;

/// What a test says about one instance.
#[derive(Clone, Debug)]
pub(crate) struct Doc {
    pub(crate) url: String,
    pub(crate) second: i64,
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) body: String,
    pub(crate) truncated: bool,
    /// Further header fields, each with its line's end.
    pub(crate) fields: String,
}

impl Doc {
    pub(crate) fn page(url: &str, second: i64, body: &str) -> Doc {
        Doc {
            url: url.into(),
            second,
            status: 200,
            kind: "text/html; charset=utf-8".into(),
            body: format!("<!DOCTYPE html><html><body><p>{body}</p></body></html>"),
            truncated: false,
            fields: String::new(),
        }
    }

    pub(crate) fn answer(url: &str, second: i64, status: u16) -> Doc {
        Doc { status, kind: "text/plain".into(), body: status.to_string(), ..Doc::page(url, second, "") }
    }
}

pub(crate) struct World {
    pub(crate) files: Files,
    archives: u64,
}

impl World {
    pub(crate) fn new(docs: &[Doc]) -> World {
        let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
        files.create_dir_all(Path::new(ROOT)).unwrap();
        let mut world = World { files, archives: 0 };
        if !docs.is_empty() {
            world.add(docs);
        }
        world
    }

    /// Stores more, whose languages nobody looks up.
    pub(crate) fn add(&mut self, docs: &[Doc]) {
        self.add_with(docs, false);
    }

    /// The same; `languages`: somebody does.
    pub(crate) fn add_with(&mut self, docs: &[Doc], languages: bool) {
        self.archives += 1;
        let directory = PathBuf::from(format!("/archives/{}", self.archives));
        self.files.create_dir_all(&directory).unwrap();
        let options = WriterOptions { revisit_payloads: 100, ..WriterOptions::default() };
        let mut writer =
            WarcWriter::open(&self.files, &directory, options, Random::from_seed(self.archives)).unwrap();
        for doc in docs {
            let head = format!(
                "HTTP/1.1 {} Said\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}\r\n",
                doc.status,
                doc.kind,
                doc.body.len(),
                doc.fields
            );
            let page = Page {
                url: &doc.url,
                ip: None,
                date: UnixTime::from_micros((START + doc.second) * 1_000_000),
                request: b"",
                response_head: head.as_bytes(),
                body: doc.body.as_bytes(),
                truncated: doc.truncated.then_some(Truncated::Length),
                security: None,
                metadata: &[],
            };
            writer.write_page(&page).unwrap();
        }
        writer.finish().unwrap();
        let listed = self.files.list(&directory).unwrap();
        let foreign: Vec<Foreign> = listed
            .iter()
            .map(|entry| directory.join(&entry.name))
            .map(|path| Foreign { name: path.to_str().unwrap().to_owned(), path })
            .collect();
        // A day later.
        let second = START + 86_400 + i64::try_from(self.archives).unwrap();
        let inserted = UnixTime::from_micros(second * 1_000_000);
        let now = || inserted;
        let options = ImportOptions { languages, ..ImportOptions::named("test") };
        let imported = import(&self.files, Path::new(ROOT), &foreign, &options, &now, |_, _| {}).unwrap();
        assert_eq!(imported.instances, docs.len() as u64, "{imported:?}");
    }

    pub(crate) fn session(&self, threads: usize) -> Session {
        self.session_with(threads, None)
    }

    fn session_with(&self, threads: usize, as_of_ms: Option<i64>) -> Session {
        let snapshot = Snapshot::open(&self.files, Path::new(ROOT), &[], &IndexOptions::default()).unwrap();
        let mut options = Options::new(Random::from_seed(5));
        (options.threads, options.as_of_ms) = (threads, as_of_ms);
        Session::open(&self.files, snapshot, options).unwrap()
    }

    /// Builds features of pages with their links.
    pub(crate) fn link(&self, pages: &[(&str, &[&str])]) {
        let url = |text: &&str| WebUrl::parse(text).unwrap();
        let report = &mut |_| {};
        let dir = Path::new(ROOT).join(FEATURES);
        let options = BuildOptions { memory: 1 << 22, ..BuildOptions::default() };
        let mut builder = Builder::begin(&self.files, &dir, &options, report).unwrap();
        for (page, links) in pages {
            let links: Vec<WebUrl> = links.iter().map(url).collect();
            builder.page(&url(page), &links).unwrap();
        }
        builder.finish().unwrap();
    }

    pub(crate) fn report(&self) -> DataSet {
        self.report_with(&ReportOptions::default(), None, &Cancel::new()).unwrap()
    }

    pub(crate) fn report_with(
        &self,
        options: &ReportOptions,
        crawl: Option<CrawlFigures>,
        cancel: &Cancel,
    ) -> Result<DataSet, ReportError> {
        let session = self.session(options.threads);
        let subject = subject(None, None);
        gather(&self.files, &session, &subject, crawl, options, &mut |_| {}, cancel)
    }

    /// A report as of so many seconds after the start, which a user writes as `shown`.
    pub(crate) fn report_as_of(&self, second: i64, shown: &str) -> DataSet {
        let session = self.session_with(1, Some((START + second) * 1000));
        let (options, cancel) = (ReportOptions::default(), Cancel::new());
        let flags = format!("--as-of {shown}");
        self.report_on(&session, None, Some(&flags), &options, &cancel).unwrap()
    }

    /// A report with the features of another directory, or as of a date that the session knows.
    pub(crate) fn report_on(
        &self,
        session: &Session,
        features: Option<(&Path, &str)>,
        dates: Option<&str>,
        options: &ReportOptions,
        cancel: &Cancel,
    ) -> Result<DataSet, ReportError> {
        let subject = subject(features, dates);
        gather(&self.files, session, &subject, None, options, &mut |_| {}, cancel)
    }
}

fn subject<'a>(features: Option<(&'a Path, &'a str)>, dates: Option<&'a str>) -> Subject<'a> {
    Subject {
        root: Path::new(ROOT),
        name: "some-crawl",
        shown: "some-crawl",
        features,
        dates,
        version: "0.0.0-test",
    }
}

pub(crate) const ENGLISH: &str = "The old bridge over the river was built by the people of the town, who had waited for it \
                                  for many years, and everybody who came to see it on the first day remembered the music.";
pub(crate) const GERMAN: &str = "Die alte Brücke über den Fluss wurde von den Leuten der Stadt gebaut, die viele Jahre darauf \
                                 gewartet hatten, und alle, die am ersten Tag kamen, erinnerten sich noch lange an die Musik.";

/// A few pages of all kinds.
pub(crate) fn small() -> Vec<Doc> {
    let aged = |mut doc: Doc| {
        doc.fields = "Last-Modified: Wed, 31 Dec 2025 23:00:00 GMT\r\n".into();
        doc
    };
    let mut image = Doc::page("https://img.example.com/logo.png", 50, "");
    image.kind = "image/png".into();
    image.body = "\u{89}PNG".into();
    let mut cut = Doc::page("https://img.example.com/long.html", 60, &format!("Long. {ENGLISH}"));
    cut.truncated = true;
    let mut moved = Doc::answer("http://www.example.org/old", 20, 301);
    moved.fields = "Location: http://www.example.org/new\r\n".into();
    vec![
        Doc::page("http://www.example.org/", 0, ENGLISH),
        aged(Doc::page("http://www.example.org/one.html", 10, &format!("One. {ENGLISH}"))),
        moved,
        Doc::answer("http://www.example.org/gone", 30, 404),
        aged(Doc::page("http://de.example.org:8080/eins.html", 40, &format!("Eins. {GERMAN}"))),
        image,
        cut,
        // The bytes of the first page, from another host.
        Doc::page("https://mirror.example.co.uk/", 70, ENGLISH),
        // Later: the first page as it was, and once more when it had changed.
        Doc::page("http://www.example.org/", 3600, ENGLISH),
        Doc::page("http://www.example.org/", 7200, &format!("New. {ENGLISH}")),
    ]
}
