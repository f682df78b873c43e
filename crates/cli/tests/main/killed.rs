//! `kill -9` in the middle of a crawl: the same command goes on, and in the end every page is there once.

use std::process::{Command, Stdio};

use mattock_env::{Env, Files, Random};
use mattock_simweb::{AuditOptions, audit};

use crate::interrupt::pages;
use crate::process::{MATTOCK, Scratch};
use crate::served::{Served, world};

// Twenty of them, in four tests that run side by side.

#[test]
fn the_first_five_come_to_the_same_pages() {
    (0..5).for_each(killed);
}

#[test]
fn the_second_five_come_to_the_same_pages() {
    (5..10).for_each(killed);
}

#[test]
fn the_third_five_come_to_the_same_pages() {
    (10..15).for_each(killed);
}

#[test]
fn the_last_five_come_to_the_same_pages() {
    (15..20).for_each(killed);
}

fn killed(seed: u64) {
    let mut random = Random::from_seed(seed).fork("killed");
    let scratch = Scratch::new(&format!("killed-{seed}"));
    let compression = if seed.is_multiple_of(4) { "zstd" } else { "gzip" };
    scratch.write(
        "often.toml",
        &format!(
            "[checkpoint]\nevery = '{}ms'\npages = {}\n[archive]\ncompression = '{compression}'\n",
            100 + random.below(400),
            20 + random.below(200)
        ),
    );
    let log = scratch.path().join("audit.log");
    let served = Served::watched(seed, "10ms", 20 + random.below(600), Some(log.clone()));
    let crawl = || {
        let mut crawl = scratch.command(MATTOCK);
        crawl
            .args(&served.crawl)
            .args(["--config", "often.toml"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        crawl
    };
    let mut child = crawl().spawn().expect("the binary was built for this test");
    served.bell.recv().expect("the crawl asks for more than so many pages");
    child.kill().expect("it still runs");
    child.wait().expect("it is gone");
    let output = crawl().output().expect("the binary was built for this test");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "seed {seed}: {said}");

    let truth = world(seed).truth(100_000).expect("a tiny world has an end").pages;
    let warc = scratch.path().join("crawl/warc");
    let found = pages(&warc);
    assert!(found.keys().eq(truth.iter()), "seed {seed}: {} pages of {}: {said}", found.len(), truth.len());
    assert!(found.values().all(|times| *times == 1), "seed {seed}: each page is stored once");
    for file in Files::real().list(&warc).expect("the archive can be read") {
        if file.name.ends_with(".gz") {
            let test = Command::new("gzip").arg("-t").arg(warc.join(&file.name)).status();
            assert!(test.expect("there is gzip").success(), "seed {seed}: {}", file.name);
        }
    }
    if let Some(kept) = std::env::var_os("MATTOCK_KEPT_ARCHIVES") {
        // Others will look at it.
        let kept = std::path::Path::new(&kept).join(seed.to_string());
        Files::real().rename(&warc, &kept).expect("an archive can be moved within the target directory");
    }
    drop(served);
    let report = audit(&Env::real().files, &log, &AuditOptions::default()).expect("the log can be read");
    let wrong = (report.delay_violations, report.crawl_delay_violations, report.robots_violations);
    assert_eq!(wrong, (0, 0, 0), "seed {seed}: {report}");
}
