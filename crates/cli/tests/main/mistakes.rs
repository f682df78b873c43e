//! Mistakes of the user: each gets an exit code, and a message that says what is wrong and what to do.

use std::net::SocketAddr;

use mattock_env::Env;

use crate::process::{MATTOCK, Scratch};

const SEED: &str = "http://example.com/";

#[test]
fn seeds() {
    let scratch = Scratch::new("seeds");
    scratch.snapshot("no_seed", &["crawl", "--out", "x"]);
    scratch.snapshot("seed_without_scheme", &["crawl", "--out", "x", "example.com"]);
    scratch.snapshot("seed_of_another_scheme", &["crawl", "--out", "x", "ftp://example.com/"]);
    assert!(!scratch.is_there("x"), "nothing is left behind");
}

#[test]
fn flags() {
    let scratch = Scratch::new("flags");
    scratch.snapshot("no_directory", &["crawl", SEED]);
    scratch.snapshot("delay_without_unit", &["crawl", "--out", "x", "--delay", "5", SEED]);
    scratch.snapshot("size_without_number", &["crawl", "--out", "x", "--body-max", "big", SEED]);
    scratch.snapshot("unknown_scope", &["crawl", "--out", "x", "--scope", "planet", SEED]);
    scratch.snapshot("name_server_by_name", &["crawl", "--out", "x", "--dns", "localhost", SEED]);
    scratch.snapshot("misspelt_flag", &["crawl", "--out", "x", "--max-page", "3", SEED]);
    scratch.snapshot("misspelt_command", &["crawll"]);
    assert!(!scratch.is_there("x"), "nothing is left behind");
}

#[test]
fn configuration_files() {
    let scratch = Scratch::new("configuration_files");
    scratch.write("slip.toml", "[politeness]\ndealy = \"1s\"\n");
    scratch.snapshot("unknown_key", &["crawl", "--out", "x", "--config", "slip.toml", SEED]);
    scratch.write("value.toml", "[politeness]\ndelay = \"soon\"\n");
    scratch.snapshot("wrong_value", &["crawl", "--out", "x", "--config", "value.toml", SEED]);
    scratch.write("broken.toml", "[politeness\n");
    scratch.snapshot("broken_configuration", &["crawl", "--out", "x", "--config", "broken.toml", SEED]);
    scratch.snapshot("missing_configuration", &["crawl", "--out", "x", "--config", "missing.toml", SEED]);
    assert!(!scratch.is_there("x"), "nothing is left behind");
}

#[test]
fn directories() {
    let scratch = Scratch::new("directories");
    scratch.write("photo.jpg", "not a directory");
    scratch.snapshot("directory_of_something_else", &["crawl", "--out", ".", SEED]);
    scratch.snapshot("file_as_directory", &["crawl", "--out", "photo.jpg", SEED]);
    scratch.snapshot("directory_below_a_file", &["crawl", "--out", "photo.jpg/x", SEED]);
    scratch.snapshot("demo_into_something_else", &["demo", "--seconds", "1", "--out", "."]);
    scratch.snapshot("demo_into_a_file", &["demo", "--seconds", "1", "--out", "photo.jpg"]);
}

#[test]
fn worlds() {
    let scratch = Scratch::new("worlds");
    scratch.snapshot("unknown_preset", &["simweb", "truth", "--preset", "enormous"]);
    scratch.snapshot("endless_world", &["simweb", "truth", "--preset", "spam"]);
    scratch.snapshot("too_large_world", &["simweb", "truth", "--limit", "10"]);
    scratch.write("slip.toml", "domainz = 3\n");
    scratch.snapshot("unknown_parameter", &["simweb", "truth", "--params", "slip.toml"]);
    scratch.write("broken.toml", "domains = [\n");
    scratch.snapshot("broken_parameters", &["simweb", "serve", "--params", "broken.toml"]);
    scratch.snapshot("missing_parameters", &["simweb", "serve", "--params", "missing.toml"]);
    scratch.snapshot("time_that_stands_still", &["simweb", "serve", "--time-scale", "0"]);
}

#[test]
fn logs() {
    let scratch = Scratch::new("logs");
    scratch.write("letter.txt", "Dear auditor,\n");
    scratch.snapshot("not_a_log", &["simweb", "audit", "letter.txt"]);
    scratch.snapshot("missing_log", &["simweb", "audit", "missing.log"]);
    scratch.snapshot("log_below_a_file", &["simweb", "serve", "--audit", "letter.txt/audit.log"]);
}

#[test]
fn ports_in_use() {
    let scratch = Scratch::new("ports_in_use");
    let env = Env::real();
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    let [http, dns] = mattock_env::run(async {
        let taken = env.net.listen_loopback(0).await.unwrap();
        let port = taken.address().unwrap().port().to_string();
        let http = scratch.transcript(&["simweb", "serve", "--http-port", &port]).replace(&port, "PORT");
        let taken = env.net.datagrams(loopback).await.unwrap();
        let port = taken.address().unwrap().port().to_string();
        let dns = scratch.transcript(&["simweb", "serve", "--dns-port", &port]).replace(&port, "PORT");
        [http, dns]
    });
    insta::assert_snapshot!("http_port_in_use", http);
    insta::assert_snapshot!("dns_port_in_use", dns);
}

#[test]
fn a_reader_that_has_had_enough_is_no_mistake() {
    let scratch = Scratch::new("closed_pipe");
    for words in ["config --example", "completions bash", "simweb truth --pages", "simweb params"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = scratch.command(MATTOCK).args(words.split(' ')).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words}");
        assert!(output.stderr.is_empty(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
