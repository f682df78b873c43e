//! Large pages: they wait in files until their turn comes, or in memory where the disk has no room to spare.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use mattock_crawl::{Control, Crawl, End, RawConfig};
use mattock_env::sim::Simulation;
use mattock_repository::{RecordType, WarcReader};
use mattock_simweb::{Answer, Request, Resolution, ServeOptions, Web, serve};

const HOSTS: u8 = 12;
const PAGE_BYTES: usize = 2_000_000;

/// Hosts with one page each, which is large and says who it is.
struct Large;

impl Web for Large {
    fn resolve(&self, name: &str) -> Resolution {
        let host = name.strip_suffix("-large.com").and_then(|host| host.parse::<u8>().ok());
        host.map_or(Resolution::NoSuchName, |host| Resolution::Address(Ipv4Addr::new(127, 9, 9, host)))
    }

    fn answer(&self, request: &Request<'_>, _: u64, body: &mut Vec<u8>) -> Answer {
        body.clear();
        if request.path_and_query != "/" {
            return Answer::new(404, "text/plain");
        }
        while body.len() < PAGE_BYTES {
            body.extend_from_slice(format!("<p>{} at {}\n", request.host, body.len()).as_bytes());
        }
        Answer::new(200, "text/html")
    }
}

/// Bodies by URL, and whether anything was spilled.
fn crawl(capacity: Option<u64>) -> (BTreeMap<String, Vec<u8>>, bool) {
    let mut simulation = Simulation::new(1);
    simulation.files().set_capacity(capacity);
    simulation.run(|env| async move {
        let server = serve(&env, Arc::new(Large), ServeOptions::default(), None).await.unwrap();
        let seeds: Vec<String> = (1..=HOSTS).map(|host| format!("http://{host}-large.com/")).collect();
        let config = format!(
            "[crawl]\nseeds = {seeds:?}\n[network]\ndns = ['{}']\nallow_address = ['127.0.0.0/8']\nconnect_port = ['80={}']\n[checkpoint]\ndisk_reserve = '0B'",
            server.dns_address(),
            server.http_port()
        );
        let config = RawConfig::parse(&config, "test").unwrap();
        let root = Path::new("/crawl");
        let summary = Crawl::open(&env, root, config).unwrap().run(Control::default()).await.unwrap();
        assert_eq!((summary.end, summary.pages), (End::Complete, u64::from(HOSTS)));
        let mut bodies = BTreeMap::new();
        for entry in env.files.list(&root.join("warc")).unwrap() {
            let mut reader = WarcReader::open(&env.files, &root.join("warc").join(&entry.name)).unwrap();
            while let Some(record) = reader.next_record().unwrap() {
                if matches!(record.kind(), Some(RecordType::Response | RecordType::Revisit)) && record.block.starts_with(b"HTTP/1.1 200") {
                    bodies.insert(record.target_uri().unwrap().to_owned(), record.block.to_vec());
                }
            }
        }
        let spill = root.join("state/frontier/0/spill");
        let spilled = env.files.entry(&spill).unwrap().is_some();
        assert!(!spilled || env.files.list(&spill).unwrap().is_empty(), "nothing is left behind");
        (bodies, spilled)
    })
}

#[test]
fn large_pages_are_archived_whole_whether_the_disk_has_room_to_wait_or_not() {
    let (roomy, spilled) = crawl(None);
    assert!(spilled);
    assert_eq!(roomy.len(), usize::from(HOSTS));
    assert!(roomy.values().all(|block| block.len() > PAGE_BYTES && block.ends_with(b"\n")));
    // Enough for the archive, but no more than is left free.
    let (full, spilled) = crawl(Some(200 << 20));
    assert!(!spilled);
    assert!(full == roomy);
}
