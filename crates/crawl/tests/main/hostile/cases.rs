//! What is expected of the crawler, id by id.

use std::collections::BTreeMap;
use std::time::Duration;

use super::seen::Seen;

/// One behaviour and what must come of it.
pub(super) struct Case {
    pub(super) id: &'static str,
    pub(super) copy: u32,
    /// When the crawl is stopped if it is not over.
    pub(super) stop_s: u64,
    /// Whether it must be over by then; sites without end never are, without budgets.
    pub(super) ends: bool,
    pub(super) expected: &'static [Expect],
}

/// One thing that must hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expect {
    /// So many URLs came to this status or failure.
    Outcome(&'static str, u64),
    /// So many URLs were refused for this reason.
    Refused(&'static str, u64),
    /// The server was asked for this: a host's beginning and a path.
    Asked(&'static str, &'static str),
    /// It was never asked for a path that begins so.
    NotAsked(&'static str),
    /// It was asked for this path so often at most.
    AskedAtMost(&'static str, usize),
    /// It got so many requests at most.
    RequestsAtMost(usize),
    /// So many names were looked up at most.
    NamesAtMost(usize),
    /// No name was looked up more often.
    LookupsAtMost(u64),
    /// The response of this path is in the archive with this mark.
    Stored(&'static str, Option<&'static str>),
    /// The metadata record of this path says this.
    Noted(&'static str, &'static str),
    /// Its body has this many bytes at most.
    BodyAtMost(&'static str, usize),
    /// Its body is this.
    Body(&'static str, &'static [u8]),
    /// Nobody connected to where nobody may go.
    NoTrespass,
    /// Requests to the host that begins so are this many seconds apart at least.
    Gap(&'static str, u64),
    /// Requests to any one server are.
    ServerGap(u64),
    /// URLs that were seen in all.
    UrlsAtMost(u64),
    /// Nothing was asked for after so many seconds.
    NothingAfter(u64),
}

impl Expect {
    /// What is wrong, if anything.
    pub(super) fn unmet(self, seen: &Seen) -> Option<String> {
        let paths = |start: &str| seen.asked.iter().filter(|asked| asked.path.starts_with(start)).count();
        let body = |path: &str| {
            let found = seen.stored.iter().find(|stored| stored.url.ends_with(path));
            found.map(|stored| stored.body.as_slice())
        };
        let met = match self {
            Expect::Outcome(name, count) => seen.summary.outcomes.get(name) == Some(&count),
            Expect::Refused(name, count) => seen.summary.refused.get(name) == Some(&count),
            Expect::Asked(host, path) => {
                seen.asked.iter().any(|asked| asked.host.starts_with(host) && asked.path == path)
            }
            Expect::NotAsked(start) => paths(start) == 0,
            Expect::AskedAtMost(start, count) => (1..=count).contains(&paths(start)),
            Expect::RequestsAtMost(count) => hostile(seen) <= count,
            Expect::NamesAtMost(count) => seen.names_asked <= count,
            Expect::LookupsAtMost(count) => seen.lookups_most <= count,
            Expect::Stored(path, mark) => seen
                .stored
                .iter()
                .any(|stored| stored.url.ends_with(path) && stored.truncated.as_deref() == mark),
            Expect::Noted(path, line) => {
                let wanted = |noted: &(String, String)| {
                    noted.0.ends_with(path) && noted.1.lines().any(|said| said == line)
                };
                seen.notes.iter().any(wanted)
            }
            Expect::BodyAtMost(path, count) => body(path).is_some_and(|body| body.len() <= count),
            Expect::Body(path, bytes) => body(path) == Some(bytes),
            Expect::NoTrespass => seen.trespasses == 0,
            Expect::Gap(start, seconds) => {
                gaps(seen, |host, _| host.starts_with(start)) >= Duration::from_secs(seconds)
            }
            Expect::ServerGap(seconds) => gaps(seen, |_, _| true) >= Duration::from_secs(seconds),
            Expect::UrlsAtMost(count) => seen.summary.urls_seen <= count,
            Expect::NothingAfter(seconds) => {
                seen.asked.iter().all(|asked| asked.at <= Duration::from_secs(seconds))
            }
        };
        (!met).then(|| format!("{self:?}"))
    }
}

fn hostile(seen: &Seen) -> usize {
    seen.asked.iter().filter(|asked| asked.host.ends_with("hostile-sim.com")).count()
}

/// The shortest time between two requests to one server, among those that count.
fn gaps(seen: &Seen, counts: impl Fn(&str, &str) -> bool) -> Duration {
    let mut last: BTreeMap<&str, Duration> = BTreeMap::new();
    let mut shortest = Duration::MAX;
    for asked in seen.asked.iter().filter(|asked| counts(&asked.host, &asked.path)) {
        if let Some(before) = last.insert(&asked.server, asked.at) {
            shortest = shortest.min(asked.at - before);
        }
    }
    shortest
}

const fn case(id: &'static str, stop_s: u64, expected: &'static [Expect]) -> Case {
    Case { id, copy: 0, stop_s, ends: true, expected }
}

/// A site without end: it is watched for ten minutes.
const fn endless(id: &'static str, expected: &'static [Expect]) -> Case {
    Case { id, copy: 0, stop_s: 600, ends: false, expected }
}

const HOUR: u64 = 3600;
const MIB: usize = 1 << 20;
/// Requests that a site without end may get in ten minutes; without budgets it would be 300 per host.
const TRAP_REQUESTS_MAX: usize = 60;

use Expect::{
    Asked, AskedAtMost, Body, BodyAtMost, Gap, LookupsAtMost, NamesAtMost, NoTrespass, NotAsked, Noted,
    NothingAfter, Outcome, Refused, RequestsAtMost, ServerGap, Stored, UrlsAtMost,
};

pub(super) const CASES: &[Case] = &[
    case("T01", HOUR, &[Outcome("first-byte-timeout", 1), AskedAtMost("/silent", 3)]),
    case("T02", HOUR, &[Outcome("refused", 1)]),
    case("T03", HOUR, &[Outcome("disconnected", 1), AskedAtMost("/reset", 3)]),
    case("T04", HOUR, &[Stored("/reset", Some("disconnect")), BodyAtMost("/reset", 5_000)]),
    case("T05", HOUR, &[Stored("/slow", Some("time")), AskedAtMost("/slow", 1)]),
    case("T06", HOUR, &[Outcome("head-timeout", 1)]),
    case(
        "T07",
        HOUR,
        &[
            Stored("/close", Some("length")),
            Stored("/length", Some("length")),
            Stored("/chunked", Some("length")),
            BodyAtMost("/close", 10 * MIB),
        ],
    ),
    case("T08", HOUR, &[Outcome("head-too-large", 1)]),
    case("T09", HOUR, &[Outcome("head-too-large", 1)]),
    case("T10", HOUR, &[Outcome("head-too-large", 1)]),
    case("T11", HOUR, &[Outcome("protocol", 1)]),
    case("T12", HOUR, &[Outcome("protocol", 3)]),
    case("T13", HOUR, &[Stored("/short", Some("disconnect")), BodyAtMost("/short", 1_000)]),
    case("T14", HOUR, &[Body("/long", b"0123456789"), Body("/next", b"the true next page")]),
    case("T15", HOUR, &[Outcome("protocol", 2)]),
    case(
        "T16",
        HOUR,
        &[
            Stored("/word", Some("disconnect")),
            Stored("/negative", Some("disconnect")),
            Stored("/huge", Some("disconnect")),
            Body("/huge", b"prefix"),
        ],
    ),
    case("T17", HOUR, &[Stored("/cut", Some("disconnect")), Stored("/trailers", Some("disconnect"))]),
    case("T18", HOUR, &[Body("/first", b"the first page"), Body("/next", b"the true next page")]),
    case("T19", HOUR, &[Outcome("204", 1), Body("/next", b"the true next page")]),
    case("T20", HOUR, &[Outcome("protocol", 1), RequestsAtMost(5)]),
    Case { copy: 1, ..case("T20", HOUR, &[Outcome("protocol", 1), RequestsAtMost(5)]) },
    Case { copy: 2, ..case("T20", HOUR, &[Refused("robots-unreachable", 1), RequestsAtMost(5)]) },
    case("T21", HOUR, &[Stored("/secured", None), Noted("/secured", "tlsCertificateVerdict: expired")]),
    Case { copy: 1, ..case("T21", HOUR, &[Noted("/secured", "tlsCertificateVerdict: unknown-issuer")]) },
    Case { copy: 2, ..case("T21", HOUR, &[Noted("/secured", "tlsCertificateVerdict: wrong-name")]) },
    case("T22", HOUR, &[Outcome("tls-timeout", 1)]),
    Case { copy: 1, ..case("T22", HOUR, &[Outcome("tls", 1)]) },
    case("T23", HOUR, &[Outcome("protocol", 1), Outcome("tls", 1)]),
    // What was sent is archived; what is decoded from it is bounded in `fetch`.
    case("C01", HOUR, &[Stored("/bomb", Some("length"))]),
    case("C02", HOUR, &[Stored("/bomb", Some("length"))]),
    case("C03", HOUR, &[Stored("/bomb", Some("length")), Outcome("200", 12)]),
    case("C04", HOUR, &[Stored("/stack", None), NotAsked("/never-followed")]),
    case("C05", HOUR, &[Stored("/file.gz", None)]),
    case("C06", HOUR, &[Stored("/false", None), Stored("/cut", None), NotAsked("/never-followed")]),
    case("C07", HOUR, &[Stored("/members", None), Asked("c07", "/one"), NotAsked("/never-followed")]),
    case("C08", HOUR, &[Body("/unknown", b"<n uers='/arire-sbyybjrq'>yvax</n>"), NotAsked("/arire")]),
    case("R01", HOUR, &[AskedAtMost("/self", 1), AskedAtMost("/a", 1), AskedAtMost("/b", 1)]),
    case("R02", HOUR, &[AskedAtMost("/endless/", 11), AskedAtMost("/hop/", 11)]),
    case("R03", HOUR, &[Outcome("302", 3), NotAsked("/etc"), NotAsked("/never-followed")]),
    case("R04", HOUR, &[Outcome("302", 2), NoTrespass, Outcome("forbidden-address", 2)]),
    case("R05", HOUR, &[Outcome("302", 3), Outcome("protocol", 1), NotAsked("/never")]),
    case("R06", HOUR, &[NotAsked("/never/"), Refused("robots", 1)]),
    Case { stop_s: 2 * HOUR, ..endless("R07", &[Gap("victim", 2), Asked("victim", "/site999")]) },
    case("R08", HOUR, &[AskedAtMost("/a", 1), AskedAtMost("/b", 1)]),
    case("D01", HOUR, &[NoTrespass, Outcome("forbidden-address", 1)]),
    case("D02", HOUR, &[NoTrespass, Outcome("forbidden-address", 4)]),
    case("D03", HOUR, &[NoTrespass, Outcome("forbidden-address", 2), Outcome("no-such-name", 1)]),
    case("D04", HOUR, &[NoTrespass, Outcome("forbidden-address", 4)]),
    case("D05", HOUR, &[NoTrespass, Outcome("forbidden-address", 2)]),
    case("D06", HOUR, &[NoTrespass, Asked("d06", "/1"), Outcome("forbidden-address", 1)]),
    case("D07", HOUR, &[Outcome("no-such-name", 1), Outcome("refused", 1)]),
    case("D08", HOUR, &[NoTrespass, Outcome("forbidden-port", 3)]),
    endless("D09", &[NamesAtMost(100)]),
    endless("D10", &[ServerGap(1)]),
    case("D11", HOUR, &[Outcome("name-server", 1), Outcome("name-timeout", 1)]),
    case("D12", HOUR, &[Outcome("no-such-name", 500), LookupsAtMost(2)]),
    case("D13", HOUR, &[Outcome("name-server", 2), Asked("short", "/")]),
    case("D14", HOUR, &[Asked("many", "/"), Asked("forged", "/"), NoTrespass]),
    case("D15", HOUR, &[Asked("zero", "/50"), Asked("long", "/50"), LookupsAtMost(4)]),
    case("B01", HOUR, &[Asked("b01", "/page"), NotAsked("/never/")]),
    case("B02", HOUR, &[Asked("b02", "/page"), Asked("b02", "/late/page")]),
    case("B03", HOUR, &[Asked("b03", "/page"), NotAsked("/never/")]),
    case("B04", HOUR, &[Outcome("first-byte-timeout", 1), Refused("robots-unreachable", 2)]),
    case("B05", HOUR, &[Asked("s404", "/"), Asked("s410", "/"), Asked("s401", "/"), Asked("s403", "/")]),
    case("B06", HOUR, &[Refused("robots-unreachable", 1)]),
    case("B07", HOUR, &[Asked("five", "/"), NotAsked("/never/"), Asked("six", "/"), Asked("loop", "/")]),
    case("B08", HOUR, &[Asked("there", "/never/page"), AskedAtMost("/never/page", 1)]),
    case("B09", HOUR, &[AskedAtMost("/aaa", 1)]),
    case("B10", HOUR, &[NotAsked("/never/"), Asked("nul", "/"), Asked("utf16", "/"), Asked("html", "/")]),
    case("B11", HOUR, &[Asked("b11", "/page"), NotAsked("/never/")]),
    case("B12", HOUR, &[NotAsked("/a/"), NotAsked("/b/"), Asked("b12", "/c/page")]),
    case("B13", 48 * HOUR, &[NothingAfter(25 * HOUR), Asked("b13", "/page/100")]),
    case(
        "B14",
        HOUR,
        &[Gap("day", 300), Gap("negative", 2), Gap("nan", 2), Gap("infinite", 2), Asked("day", "/2")],
    ),
    case("B15", HOUR, &[Asked("b15", "/page"), NotAsked("/never/")]),
    endless("S01", &[RequestsAtMost(TRAP_REQUESTS_MAX)]),
    endless("S02", &[RequestsAtMost(TRAP_REQUESTS_MAX)]),
    endless(
        "S03",
        &[NotAsked("/a/a/a/a/"), NotAsked("/deep/1/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22")],
    ),
    endless("S04", &[RequestsAtMost(TRAP_REQUESTS_MAX)]),
    endless("S05", &[RequestsAtMost(TRAP_REQUESTS_MAX)]),
    endless("S06", &[RequestsAtMost(TRAP_REQUESTS_MAX)]),
    endless("S07", &[RequestsAtMost(TRAP_REQUESTS_MAX)]),
    endless("S08", &[RequestsAtMost(TRAP_REQUESTS_MAX / 2)]),
    case("S09", HOUR, &[Asked("s09", "/shop/1"), NotAsked("/shop?add_to_cart")]),
    endless("P01", &[UrlsAtMost(6_020)]),
    case("P02", HOUR, &[Asked("p02", "/after")]),
    case("P03", HOUR, &[Stored("/attribute", None), Stored("/script", None), Asked("p03", "/after")]),
    case("P04", HOUR, &[Asked("p04", "/after")]),
    case("P05", HOUR, &[Asked("p05", "/after")]),
    case("P06", HOUR, &[Asked("p06", "/after"), NotAsked("-"), Stored("/after", None)]),
    case("P07", HOUR, &[Asked("p07", "/after"), NotAsked("/giant/")]),
    case("P08", HOUR, &[NoTrespass, Outcome("forbidden-address", 1)]),
    case("P09", HOUR, &[Asked("p09", "/after"), Stored("/data", None)]),
    case("P10", HOUR, &[Stored("/camera", Some("time"))]),
    case("P11", HOUR, &[NoTrespass, Asked("p11", "/sitemap.xml"), Asked("p11", "/from-sitemap")]),
    case("P12", HOUR, &[Asked("p12", "/sitemap.xml")]),
    case("P13", HOUR, &[AskedAtMost("/a.xml", 1), Asked("p13", "/from-sitemap")]),
    case("P14", HOUR, &[Outcome("head-too-large", 1), Stored("/few", None)]),
    case("P15", HOUR, &[Stored("/past", None), Stored("/future", None), Stored("/junk", None)]),
    case("P16", HOUR, &[Outcome("unasked-not-modified", 1)]),
    case("P17", 72 * HOUR, &[Outcome("503", 3), Gap("far", 2)]),
    case("P18", HOUR, &[Stored("/forged", None)]),
    case("P19", HOUR, &[Stored("/title", None), Outcome("200", 12)]),
    case("P20", HOUR, &[Body("/download", b"#!/bin/sh\n")]),
];
