//! A simulated Web that is served and crawled, and what the server saw.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mattock_crawl::{Control, Crawl, RawConfig, Summary};
use mattock_env::Env;
use mattock_repository::{RecordType, WarcReader};
use mattock_simweb::{
    AuditHeader, AuditLog, AuditOptions, AuditReport, Params, ServeOptions, World, audit, serve,
};

/// Serves `world` and crawls it into `root` with the given changes to the configuration.
///
/// Returns what the crawler says and what the server saw.
pub(crate) async fn crawl(env: &Env, world: World, root: &Path, change: &str) -> (Summary, AuditReport) {
    crawl_until(env, world, root, change, Control::default()).await
}

pub(crate) async fn crawl_until(
    env: &Env,
    world: World,
    root: &Path,
    change: &str,
    control: Control,
) -> (Summary, AuditReport) {
    let asked = RawConfig::parse(change, "test").unwrap();
    let delay = asked.check().unwrap().politeness.delay;
    let log = root.with_extension("audit");
    let header = AuditHeader {
        seed: world.seed(),
        delay_ms: Some(delay.as_millis() as u64),
        params: world.params().clone(),
    };
    let seeds = world.seeds();
    let audit_log = AuditLog::create(env, &log, &header).unwrap();
    let server = serve(env, Arc::new(world), ServeOptions::default(), Some(audit_log)).await.unwrap();
    let network = format!(
        "[crawl]\nseeds = {seeds:?}\nscope = 'any'\n[network]\ndns = ['{}']\nallow_address = ['127.0.0.0/8']\nconnect_port = ['80={}']",
        server.dns_address(),
        server.http_port()
    );
    let config = asked.or(RawConfig::parse(&network, "network").unwrap());
    let summary = Crawl::open(env, root, config).unwrap().run(control).await.unwrap();
    server.stop().await.unwrap();
    let report = audit(&env.files, &log, &AuditOptions::default()).unwrap();
    (summary, report)
}

pub(crate) fn tiny(seed: u64) -> World {
    World::new(Params::preset(mattock_simweb::Preset::Tiny), seed)
}

/// What is archived beside pages: rules and sitemaps.
fn is_page(url: &str) -> bool {
    let file = url.rsplit('/').next().unwrap_or_default();
    !matches!(file, "robots.txt" | "robots-rules.txt" | "feed.xml") && !file.starts_with("sitemap")
}

/// The URLs of all archived pages with status 200; each must be there once.
pub(crate) fn archived(env: &Env, root: &Path) -> BTreeSet<String> {
    let mut urls = BTreeSet::new();
    let warc = root.join("warc");
    for entry in env.files.list(&warc).unwrap() {
        let mut reader = WarcReader::open(&env.files, &warc.join(&entry.name)).unwrap();
        while let Some(record) = reader.next_record().unwrap() {
            let answered = matches!(record.kind(), Some(RecordType::Response | RecordType::Revisit))
                && record.block.starts_with(b"HTTP/1.1 200");
            let url = record.target_uri().unwrap_or_default();
            if answered && is_page(url) {
                assert!(urls.insert(url.to_owned()), "{url} is in the archive twice");
            }
        }
    }
    urls
}

/// The requests of the last crawl into `root`, as the servers saw them: seconds and the host.
pub(crate) fn requests(env: &Env, root: &Path) -> Vec<(f64, String)> {
    let bytes = env.files.read(&root.with_extension("audit")).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let lines = text.lines().filter_map(|line| {
        let mut columns = line.split('\t');
        let (time, host) = (columns.next()?.parse::<u64>().ok()?, columns.nth(1)?);
        Some((time as f64 / 1e9, host.to_owned()))
    });
    lines.collect()
}

/// A directory under the system's temporary one, removed at the end.
pub(crate) struct Scratch(pub(crate) std::path::PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        let env = Env::real();
        let name = format!("mattock-crawl-{:016x}", env.random.clone().next_u64());
        let path = std::env::temp_dir().join(name);
        env.files.create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = Env::real().files.remove_dir_all(&self.0);
    }
}

/// Checks everything that must hold of any crawl, whatever its limits: manners and a sound archive.
pub(crate) fn assert_polite(report: &AuditReport, delay: Duration) {
    assert_eq!(report.robots_violations, 0, "{report}");
    assert_eq!(report.before_robots, 0, "{report}");
    assert_eq!(report.delay_violations, 0, "{report}");
    assert_eq!(report.crawl_delay_violations, 0, "{report}");
    assert_eq!(report.fetched_twice, 0, "{report}");
    if let Some(gap) = report.min_gap_host_ms {
        assert!(gap >= delay.as_secs_f64() * 1000.0, "{report}");
    }
}
