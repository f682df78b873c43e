//! Mistakes of the user: each gets a message that says what to do, and leaves nothing behind.

use std::path::Path;

use mattock_crawl::{Crawl, CrawlError, RawConfig};
use mattock_env::Env;
use mattock_env::sim::Simulation;

use crate::world::Scratch;

fn open(env: &Env, root: &str, config: &str) -> Result<Crawl, CrawlError> {
    Crawl::open(env, Path::new(root), RawConfig::parse(config, "test")?)
}

fn message(env: &Env, root: &str, config: &str) -> String {
    open(env, root, config).err().expect("a mistake").to_string()
}

const SEED: &str = "[crawl]\nseeds = ['http://example.com/']";

#[test]
fn they_are_told_and_nothing_is_written() {
    Simulation::new(1).run(|env| async move {
        let nothing_at = |path: &str| assert_eq!(env.files.entry(Path::new(path)).unwrap(), None);
        assert!(message(&env, "/new", "").contains("no seed"));
        nothing_at("/new");
        assert!(message(&env, "/new", "[crawl]\nseeds = ['example.com']").contains("http://example.com/"));
        nothing_at("/new");
        assert!(message(&env, "/new", "[crawl]\nseedz = []").contains("did you mean `crawl.seeds`?"));
        nothing_at("/new");
        let told = message(&env, "/new", "[crawl]\nmemory = '1MB'");
        assert!(told.contains("crawl.memory") && told.contains("64MiB"), "{told}");
        nothing_at("/new");
        let told = message(&env, "/new", &format!("{SEED}\n[links]\nblocklist = '/blocked'"));
        assert!(told.contains("/blocked"), "{told}");
        env.files.write_atomic(Path::new("/blocked"), b"example.org\naddress nowhere\n").unwrap();
        let told = message(&env, "/new", &format!("{SEED}\n[links]\nblocklist = '/blocked'"));
        assert!(told.contains("/blocked: line 2") && told.contains("192.0.2.0/24"), "{told}");
        nothing_at("/new");
        env.files.create_dir_all(Path::new("/empty")).unwrap();
        assert!(message(&env, "/empty", "").contains("no seed"));
        assert_eq!(env.files.list(Path::new("/empty")).unwrap(), []);

        env.files.create_dir_all(Path::new("/photos")).unwrap();
        env.files.write_atomic(Path::new("/photos/1.jpg"), b"x").unwrap();
        let told = message(&env, "/photos", SEED);
        assert!(told.contains("/photos is not a crawl") && told.contains("--out"), "{told}");
        assert!(message(&env, "/photos/1.jpg", SEED).contains("not a file"));

        open(&env, "/crawl", SEED).unwrap();
        env.files.write_atomic(Path::new("/crawl/state/frontier"), b"MATTOCKF\x02\0\0\0 old").unwrap();
        assert!(message(&env, "/crawl", "").contains("format version 2"));
        env.files.remove_file(Path::new("/crawl/state/frontier")).unwrap();
        env.files.create_dir_all(Path::new("/crawl/state/frontier/0")).unwrap();
        env.files.write_atomic(Path::new("/crawl/state/frontier/STATE"), b"MATTOCKF\x04\0\0\0 old").unwrap();
        assert!(message(&env, "/crawl", "").contains("format version 4"));
        env.files.write_atomic(Path::new("/crawl/state/frontier/0/STATE"), b"MATTOCKF garbage").unwrap();
        let damaged = message(&env, "/crawl", "");
        assert!(damaged.contains("/crawl/state/frontier/0/STATE"), "{damaged}");
        let told = message(&env, "/crawl", "[crawl]\npartitions = 0");
        assert!(told.contains("crawl.partitions") && told.contains("between 1 and 1024"), "{told}");
        let told = message(&env, "/crawl", "[crawl]\npartitions = 9\nmemory = '512MiB'");
        assert!(told.contains("64MiB for each"), "{told}");
        env.files.write_atomic(Path::new("/crawl/crawl.toml"), b"[crawl\n").unwrap();
        assert!(message(&env, "/crawl", "").contains("/crawl/crawl.toml"));
    });
}

#[test]
fn seeds_of_later_runs_are_added() {
    Simulation::new(1).run(|env| async move {
        open(&env, "/crawl", SEED).unwrap();
        let again = open(&env, "/crawl", "[crawl]\nseeds = ['http://example.org']\nmax_pages = 3").unwrap();
        let seeds: Vec<&str> = again.config().seeds.iter().map(|seed| seed.as_str()).collect();
        assert_eq!(seeds, ["http://example.com/", "http://example.org/"]);
        assert_eq!(open(&env, "/crawl", "").unwrap().config().max_pages, Some(3));
    });
}

#[test]
fn two_crawls_cannot_share_a_directory() {
    let scratch = Scratch::new();
    let root = scratch.0.join("crawl");
    let env = Env::real();
    let first = open(&env, root.to_str().unwrap(), SEED).unwrap();
    assert!(message(&env, root.to_str().unwrap(), SEED).contains("another process is crawling into"));
    drop(first);
    open(&env, root.to_str().unwrap(), SEED).unwrap();
}
