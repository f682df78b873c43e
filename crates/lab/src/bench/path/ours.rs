//! What the crawler does with a page, on one thread.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use mattock_env::{Env, Files};
use mattock_extract::{Options, extract};
use mattock_fetch::{Client, ClientOptions, Exchange, FetchOutcome};
use mattock_repository::{Page, WarcWriter, WriterOptions};
use mattock_simweb::Request;
use mattock_weburl::{Base, WebUrl};

use super::{Connecting, Parts, PathError, ROUND_MAX, Target, cpu_us_per, lanes};
use crate::bench::pages::world;

/// What is done with a page once it is there.
struct Steps {
    options: Options,
    archive: WarcWriter,
    scratch: Scratch,
    fingerprints: u64,
}

/// A directory that is removed at the end.
struct Scratch {
    files: Files,
    path: PathBuf,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Under the system's directory for temporary files; if it cannot be removed the system will.
        let _ = self.files.remove_dir_all(&self.path);
    }
}

impl Steps {
    fn new(env: &Env) -> Result<Steps, PathError> {
        let name = format!("mattock-bench-{:016x}", mattock_env::Random::from_entropy().next_u64());
        let scratch = Scratch { files: env.files.clone(), path: std::env::temp_dir().join(name) };
        let archive =
            WarcWriter::open(&env.files, &scratch.path, WriterOptions::default(), env.random.fork("bench"))?;
        Ok(Steps {
            options: Options { embeds: false, ..Options::default() },
            archive,
            scratch,
            fingerprints: 0,
        })
    }

    fn links(&mut self, url: &WebUrl, content_type: Option<&str>, body: &[u8]) {
        let page = extract(body, content_type, &self.options);
        let base = Base::new(url);
        for link in &page.links {
            if let Ok(target) = base.join(&link.target) {
                self.fingerprints ^= target.fingerprint().0;
            }
        }
    }

    fn run(&mut self, url: &WebUrl, exchange: &Exchange) -> Result<(), PathError> {
        self.links(url, exchange.field("content-type"), exchange.body());
        self.archive.write_page(&Page {
            url: url.as_str(),
            ip: exchange.address,
            date: exchange.begun_unix,
            request: &exchange.request,
            response_head: exchange.head_bytes(),
            body: exchange.body(),
            truncated: None,
            security: None,
            metadata: &[],
        })?;
        Ok(())
    }

    fn finish(mut self) -> Result<(), PathError> {
        self.archive.finish()?;
        debug_assert!(self.scratch.files.entry(&self.scratch.path).is_ok());
        Ok(())
    }
}

/// Where pages are asked for, and how.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) options: ClientOptions,
    pub(super) connecting: Connecting,
    pub(super) secure: bool,
}

/// CPU µs per page, and the share of pages whose connection resumed a session.
pub(super) fn measure(
    env: &Env,
    way: &Way,
    targets: &[Target],
    pages: usize,
) -> Result<(f64, f64), PathError> {
    let steps = Rc::new(RefCell::new(Steps::new(env)?));
    let client = Rc::new(Client::new(env, way.options.clone()));
    let url = if way.secure { Target::secure_url } else { Target::url };
    let lanes = lanes(targets)
        .iter()
        .map(|lane| lane.iter().filter_map(|target| WebUrl::parse(&url(target)).ok()).collect())
        .collect();
    let resumed = Rc::new(Cell::new(0));
    let (time, result) = cpu_us_per(pages, || {
        mattock_env::run(async {
            let fetching = fetch_all(client, steps.clone(), lanes, pages, way.connecting, resumed.clone());
            match env.clock.timeout(ROUND_MAX, fetching).await {
                Ok(result) => result,
                Err(_) => Err(PathError::Fetch("the round took too long".into())),
            }
        })
    });
    result?;
    if let Ok(steps) = Rc::try_unwrap(steps) {
        steps.into_inner().finish()?;
    }
    Ok((time, resumed.get() as f64 / pages as f64))
}

async fn fetch_all(
    client: Rc<Client>,
    steps: Rc<RefCell<Steps>>,
    lanes: Vec<Vec<WebUrl>>,
    pages: usize,
    connecting: Connecting,
    resumed: Rc<Cell<usize>>,
) -> Result<(), PathError> {
    let left = Rc::new(Cell::new(pages));
    let mut tasks = tokio::task::JoinSet::new();
    for urls in lanes {
        let (client, steps, left) = (client.clone(), steps.clone(), left.clone());
        let resumed = resumed.clone();
        tasks.spawn_local(async move {
            let mut connection = None;
            for url in urls.iter().cycle() {
                if left.get() == 0 {
                    break;
                }
                left.set(left.get() - 1);
                let (exchange, kept) = client.fetch(url, connection.take()).await;
                if exchange.outcome != FetchOutcome::Answered(200) {
                    return Err(PathError::Fetch(format!("{} for {}", exchange.outcome, url.as_str())));
                }
                resumed
                    .set(resumed.get() + usize::from(exchange.tls.as_ref().is_some_and(|tls| tls.resumed)));
                steps.borrow_mut().run(url, &exchange)?;
                client.recycle(exchange);
                connection = kept.filter(|_| connecting == Connecting::KeepAlive);
            }
            Ok(())
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.expect("a lane does not panic")?;
    }
    Ok(())
}

/// The single steps over pages in memory.
pub(super) fn parts(env: &Env, targets: &[Target]) -> Result<Parts, PathError> {
    const PAGES: usize = 2000;
    let world = world();
    let pages: Vec<(WebUrl, Vec<u8>)> = targets
        .iter()
        .take(PAGES)
        .filter_map(|target| {
            let mut body = Vec::new();
            let request = Request { host: &target.host, path_and_query: &target.path, ..Request::default() };
            world.answer(&request, 0, &mut body);
            WebUrl::parse(&target.url()).ok().map(|url| (url, body))
        })
        .collect();
    let mut steps = Steps::new(env)?;
    let content_type = Some("text/html; charset=utf-8");
    let (extract_us, ()) = cpu_us_per(pages.len(), || {
        for (_, body) in &pages {
            std::hint::black_box(extract(body, content_type, &steps.options));
        }
    });
    let (both_us, ()) = cpu_us_per(pages.len(), || {
        for (url, body) in &pages {
            steps.links(url, content_type, body);
        }
    });
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
        super::super::pages::PAGE_BYTES
    );
    let (archive_us, written) = cpu_us_per(pages.len(), || {
        pages.iter().try_for_each(|(url, body)| {
            let page = Page {
                url: url.as_str(),
                ip: None,
                date: env.clock.unix(),
                request: b"GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: mattock\r\n\r\n",
                response_head: head.as_bytes(),
                body,
                truncated: None,
                security: None,
                metadata: &[],
            };
            steps.archive.write_page(&page).map(drop)
        })
    });
    written?;
    steps.finish()?;
    Ok(Parts { extract_us, links_us: (both_us - extract_us).max(0.0), archive_us })
}
