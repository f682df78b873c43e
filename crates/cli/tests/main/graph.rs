//! `mattock graph`: each command on a small Web that is made here, and what it says to those who ask wrongly.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use mattock_env::Files;
use mattock_features::{BuildOptions, Builder, build_from_ids};
use mattock_weburl::WebUrl;
use serde_json::Value;

use crate::process::{MATTOCK, Scratch, interrupt, read};

/// Who links to whom. Two sites with a core of four pages, a page that leads to it, some that are reached from it, a way past it, and two
/// pages that nothing joins to the others.
const PAGES: [(&str, &[&str]); 9] = [
    (
        "http://www.a-sim.com/",
        &["http://www.a-sim.com/news", "http://www.a-sim.com/about", "http://b-sim.org/"],
    ),
    ("http://www.a-sim.com/news", &["http://www.a-sim.com/", "http://b-sim.org/list"]),
    ("http://www.a-sim.com/about", &["http://www.a-sim.com/", "http://shop.a-sim.com/"]),
    ("http://b-sim.org/", &["http://www.a-sim.com/", "http://c-sim.net/", "http://b-sim.org/list"]),
    ("http://b-sim.org/list", &["http://c-sim.net/", "http://c-sim.net/end", "http://b-sim.org/list"]),
    ("http://d-sim.de/", &["http://www.a-sim.com/", "http://d-sim.de/side"]),
    ("http://d-sim.de/side", &["http://c-sim.net/end"]),
    ("http://c-sim.net/", &[]),
    ("http://alone-sim.com/", &["http://alone-sim.com/too"]),
];

fn made(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let report = &mut |_| {};
    let dir = scratch.path().join("site/features");
    let mut builder = Builder::begin(&Files::real(), &dir, &BuildOptions::default(), report).unwrap();
    for (page, links) in PAGES {
        let links: Vec<WebUrl> = links.iter().map(|link| WebUrl::parse(link).unwrap()).collect();
        builder.page(&WebUrl::parse(page).unwrap(), &links).unwrap();
    }
    builder.finish().unwrap();
    let links = [(0, 1), (1, 2), (2, 0), (2, 3)].map(Ok);
    let dir = scratch.path().join("numbers/features");
    build_from_ids(&Files::real(), &dir, &BuildOptions::default(), Some(5), links, &mut |_| {}).unwrap();
    scratch
}

/// What a command prints, as JSON, line by line.
fn lines(scratch: &Scratch, words: &str) -> Vec<Value> {
    let words: Vec<&str> = words.split(' ').collect();
    let output = scratch.mattock(&words);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn snapshot(scratch: &Scratch, name: &str, words: &str) {
    scratch.snapshot(name, &words.split(' ').collect::<Vec<_>>());
}

#[test]
fn the_whole_graph() {
    let scratch = made("graph_whole");
    snapshot(&scratch, "graph_stats", "graph stats site");
    snapshot(&scratch, "graph_stats_json", "graph stats site --json");
    snapshot(&scratch, "graph_stats_hosts", "graph stats site --grain hosts");
    snapshot(&scratch, "graph_scc", "graph scc site --format table");
    snapshot(&scratch, "graph_scc_sizes", "graph scc site --sizes --format csv --quiet");
    snapshot(&scratch, "graph_bowtie", "graph bowtie site --svg bowtie.svg --format table");
    let svg = read(&scratch.path().join("bowtie.svg"));
    assert!(svg.starts_with("<svg ") && svg.contains("site, pages: 12 nodes"), "{svg}");
    for part in ["core: 4 ", "in: 1 ", "out: 4 ", "tubes: 1 ", "tendrils: 0 ", "disconnected: 2 "] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    snapshot(&scratch, "graph_degrees", "graph stats site --degrees in --format csv");
    let degrees = lines(&scratch, "graph stats site --degrees out --grain hosts");
    assert_eq!(degrees.iter().map(|row| row["nodes"].as_u64().unwrap()).sum::<u64>(), 6, "{degrees:?}");
    snapshot(&scratch, "graph_top", "graph top site -n 3 --format table");
    snapshot(
        &scratch,
        "graph_top_domains",
        "graph top site --by out-degree --grain domains -n 2 --format table",
    );
}

#[test]
fn ranks() {
    let scratch = made("graph_ranks");
    snapshot(&scratch, "graph_pagerank", "graph pagerank site --top 3 --format table --threads 1");
    let all = lines(&scratch, "graph pagerank site --tolerance 1e-12 --quiet");
    assert_eq!(all.len(), 12);
    let sum: f64 = all.iter().map(|row| row["pagerank"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    // The same by `top`, and for any number of threads.
    let best = lines(&scratch, "graph top site --by pagerank -n 12 --threads 3 --quiet");
    let of = |url: &Value| all.iter().find(|row| row["url"] == *url).unwrap()["pagerank"].as_f64().unwrap();
    for row in &best {
        assert!((row["pagerank"].as_f64().unwrap() - of(&row["url"])).abs() < 1e-6, "{row}");
    }
    assert!(best.is_sorted_by(|one, two| one["pagerank"].as_f64() >= two["pagerank"].as_f64()));
    let hosts = lines(&scratch, "graph pagerank site --grain hosts --quiet");
    assert_eq!(hosts.len(), 6);
    snapshot(&scratch, "graph_pagerank_stops", "graph pagerank site --iterations 2 --top 1 --no-keep");

    // A ranking against itself, turned round, and against a part of it.
    let file = |name: &str, sign: f64, skip: usize| {
        let line = |row: &Value| {
            format!("{}\t{:e}\n", row["url"].as_str().unwrap(), sign * row["pagerank"].as_f64().unwrap())
        };
        scratch.write(name, &all.iter().skip(skip).map(line).collect::<String>());
    };
    file("same.tsv", 1.0, 0);
    file("turned.tsv", -1.0, 0);
    file("part.tsv", 1.0, 4);
    let tau =
        |one: &str, other: &str| lines(&scratch, &format!("graph kendall site {one} {other}")).remove(0);
    assert_eq!(tau("pagerank", "same.tsv")["kendall_tau"], 1.0);
    assert_eq!(tau("same.tsv", "turned.tsv")["kendall_tau"], -1.0);
    let part = tau("pagerank", "part.tsv");
    assert_eq!((&part["in_both"], &part["only_a"], &part["only_b"]), (&8.into(), &4.into(), &0.into()));
    lines(&scratch, "graph scc site --quiet");
    let other = tau("pagerank", "component");
    assert!(other["in_both"] == 12 && other["kendall_tau"].as_f64().unwrap().abs() < 0.9, "{other}");
}

#[test]
fn what_was_computed_is_kept_before_rows_are_read() {
    let scratch = made("graph_unread");
    for (command, column) in [("pagerank", "pagerank"), ("scc", "component")] {
        let output = scratch.mattock_unread(&["graph", command, "site", "--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let path = format!("site/features/generation-1/columns/{column}.parquet");
        assert!(scratch.is_there(&path), "{command}");
    }
}

#[test]
fn ranks_that_are_not_good_enough_are_not_kept() {
    let scratch = made("graph_not_kept");
    snapshot(&scratch, "graph_pagerank_not_kept", "graph pagerank site --iterations 2 --top 1 --threads 1");
    let path = "site/features/generation-1/columns/pagerank.parquet";
    assert!(!scratch.is_there(path));
    lines(&scratch, "graph pagerank site --quiet");
    let kept = Files::real().read(&scratch.path().join(path)).unwrap();
    lines(&scratch, "graph pagerank site --quiet --iterations 1 --damping 0.5");
    assert_eq!(Files::real().read(&scratch.path().join(path)).unwrap(), kept);
    lines(&scratch, "graph pagerank site --quiet --damping 0.5");
    assert_ne!(Files::real().read(&scratch.path().join(path)).unwrap(), kept);
}

#[test]
fn around_a_page() {
    let scratch = made("graph_around");
    snapshot(&scratch, "graph_links", "graph links site http://b-sim.org/ --format table");
    snapshot(&scratch, "graph_links_in", "graph links site --in http://c-sim.net/end --format table");
    snapshot(&scratch, "graph_links_hosts", "graph links site www.a-sim.com --grain hosts --format csv");
    snapshot(&scratch, "graph_links_domains", "graph links site a-sim.com --grain domains --in --format csv");
    snapshot(&scratch, "graph_links_uncrawled", "graph links site http://c-sim.net/end");
    snapshot(&scratch, "graph_links_none", "graph links site http://c-sim.net/");
    snapshot(&scratch, "graph_hits", "graph hits site http://c-sim.net/ -n 3 --format table");
    snapshot(&scratch, "graph_related", "graph related site http://c-sim.net/ --format table");
    snapshot(
        &scratch,
        "graph_cocitation",
        "graph related site http://www.a-sim.com/ --by cocitation --format table",
    );
    snapshot(&scratch, "graph_related_none", "graph related site http://alone-sim.com/too --by cocitation");
    snapshot(
        &scratch,
        "graph_path",
        "graph path site http://d-sim.de/ http://shop.a-sim.com/ --format table",
    );
    snapshot(&scratch, "graph_no_path", "graph path site http://c-sim.net/ http://d-sim.de/");
}

#[test]
fn distances_and_samples() {
    let scratch = made("graph_distances");
    let found = lines(&scratch, "graph distances site --log2-registers 12 --json --quiet").remove(0);
    // The longest way is from a-sim.com/about to c-sim.net/end; in all there are 41 pairs, and 76 steps.
    assert_eq!(found["pairs_within"].as_array().unwrap().len(), 5, "{found}");
    assert!((found["average"].as_f64().unwrap() - 76.0 / 41.0).abs() < 0.05, "{found}");
    let rows = lines(&scratch, "graph distances site --log2-registers 12 --quiet");
    assert_eq!(rows.iter().map(|row| row["distance"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(rows[3]["share_within"], 1.0);

    // Those that nothing leads to are near to nobody; one link leads to the other page of the two alone.
    let near = lines(&scratch, "graph top site --by harmonic -n 12 --quiet --threads 2");
    assert!(
        near.len() == 12
            && near.is_sorted_by(|one, two| one["harmonic"].as_f64() >= two["harmonic"].as_f64())
    );
    let of = |url: &str| near.iter().find(|row| row["url"] == url).unwrap()["harmonic"].as_f64().unwrap();
    assert_eq!((of("http://d-sim.de/"), of("http://alone-sim.com/")), (0.0, 0.0));
    assert!((of("http://alone-sim.com/too") - 1.0).abs() < 0.1, "{near:?}");
    // Four pages link to it, and nothing else leads there.
    assert!((of("http://www.a-sim.com/") - 4.0).abs() < 0.4, "{near:?}");

    snapshot(&scratch, "graph_sample", "graph sample site -n 4 --seed 7 --format csv");
    let from = lines(&scratch, "graph sample site -n 40 --seed 7 --from http://alone-sim.com/ --quiet");
    assert_eq!(from.len(), 40);
    assert!(from.iter().all(|row| row["url"].as_str().unwrap().starts_with("http://alone-sim.com/")));
    let output = scratch.mattock(&["graph", "sample", "site", "-n", "1"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let seed = said.lines().find_map(|line| line.strip_prefix("sample: seed ")).unwrap();
    let again = scratch.mattock(&["graph", "sample", "site", "-n", "1", "--seed", seed]);
    assert_eq!(again.stdout, output.stdout);
}

#[test]
fn graphs_without_names_show_ids() {
    let scratch = made("graph_numbers");
    snapshot(&scratch, "graph_numbers_scc", "graph scc numbers --format table");
    snapshot(&scratch, "graph_numbers_links", "graph links numbers 2 --format csv");
    snapshot(&scratch, "graph_numbers_path", "graph path numbers 0 3 --format jsonl");
    snapshot(&scratch, "graph_numbers_no_node", "graph links numbers 5");
    snapshot(&scratch, "graph_numbers_hosts", "graph stats numbers --grain hosts");
    assert!(!scratch.is_there("numbers/features/generation-1/columns"), "ids are no columns of queries");
}

#[test]
fn rows_go_where_they_are_sent() {
    let scratch = made("graph_rows");
    let output =
        scratch.mattock(&["graph", "top", "site", "-n", "2", "--output", "top.csv", "--format", "csv"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(read(&scratch.path().join("top.csv")).starts_with("in_degree,url\r\n"));
    let output = scratch.mattock(&["graph", "scc", "site", "--output", "scc.parquet", "--format", "parquet"]);
    assert!(output.status.success(), "{output:?}");
    let bytes = Files::real().read(&scratch.path().join("scc.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let component = Path::new("site/features/generation-1/columns/component.parquet");
    assert!(scratch.is_there(component.to_str().unwrap()));
    assert!(!scratch.is_there("site/features/generation-1/columns/component.unfinished"));
}

#[test]
fn rounds_that_are_stopped_give_what_they_have() {
    let scratch = Scratch::new("graph_stopped");
    // Whoever follows links here is in the middle every second time: without rest, the ranks swing for ever.
    let links = [(0, 1), (0, 2), (1, 0), (2, 0)].map(Ok);
    let dir = scratch.path().join("star/features");
    build_from_ids(&Files::real(), &dir, &BuildOptions::default(), None, links, &mut |_| {}).unwrap();
    let words =
        "graph pagerank star --damping 0.9999999999 --tolerance 1e-300 --iterations 1000000000 --threads 1";
    let mut command = scratch.command(MATTOCK);
    command.args(words.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary was built for this test");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it speaks in text");
    assert!(line.starts_with("round   1: "), "{line}");
    interrupt(&child);
    said.read_to_string(&mut line).expect("it speaks in text");
    let output = child.wait_with_output().expect("it ends");
    let last = line.lines().last().unwrap();
    assert_eq!(output.status.code(), Some(130), "{last}");
    assert!(last.starts_with("Stopped after ") && last.contains("the ranks of 3 nodes"), "{last}");
    let rows = String::from_utf8(output.stdout).unwrap();
    let sum: f64 = rows
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).unwrap()["pagerank"].as_f64().unwrap())
        .sum();
    assert!(rows.lines().count() == 3 && (sum - 1.0).abs() < 1e-6, "{rows}");
}

#[test]
fn mistakes() {
    let scratch = made("graph_mistakes");
    snapshot(&scratch, "graph_no_directory", "graph stats nowhere");
    snapshot(&scratch, "graph_no_such_page", "graph links site http://www.a-sim.com/newz");
    snapshot(&scratch, "graph_no_such_host", "graph links site https://mail.a-sim.com/x");
    snapshot(&scratch, "graph_no_such_domain", "graph related site http://e-sim.com/");
    snapshot(&scratch, "graph_no_url", "graph hits site www.a-sim.com");
    snapshot(&scratch, "graph_host_of_no_name", "graph links site mail.a-sim.com --grain hosts");
    snapshot(&scratch, "graph_domain_by_host", "graph links site www.a-sim.com --grain domains");
    snapshot(&scratch, "graph_too_little_memory", "graph pagerank site --memory 100B");
    snapshot(&scratch, "graph_damping", "graph pagerank site --damping 1.5");
    snapshot(&scratch, "graph_stats_as_rows", "graph stats site --format csv");
    snapshot(&scratch, "graph_distances_as_both", "graph distances site --json --output distances.json");
    snapshot(&scratch, "graph_no_column", "graph kendall site pagerank nothing.tsv");
    scratch.write("bad.tsv", "http://www.a-sim.com/\t1\nhttp://b-sim.org/\tmany\n");
    scratch.write("twice.tsv", "http://b-sim.org/\t1\nhttp://c-sim.net/\t2\nhttp://b-sim.org/\t3\n");
    snapshot(&scratch, "graph_bad_value", "graph kendall site bad.tsv bad.tsv");
    snapshot(&scratch, "graph_twice", "graph kendall site twice.tsv bad.tsv");
    scratch.write("site/features/generation-1/out.graph", "damaged");
    snapshot(&scratch, "graph_damaged", "graph links site http://b-sim.org/");
}
