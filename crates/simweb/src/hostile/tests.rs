//! Each behaviour is what the catalogue says, seen by a raw client on virtual time. None of them may go on for ever.

use std::collections::BTreeSet;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use mattock_env::Env;
use mattock_env::sim::Simulation;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::script::{ENDLESS, End, Step};
use crate::server::{ServeOptions, Server, serve};
use crate::web::Web;

const MIB: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Closed,
    Reset,
    /// The connection is still open after this many seconds of virtual time.
    Open,
    /// More came than was asked for.
    Full,
}

struct Seen {
    bytes: Vec<u8>,
    ended: Ended,
    seconds: u64,
}

impl Seen {
    fn head(&self) -> &str {
        let end = self
            .bytes
            .windows(4)
            .position(|bytes| bytes == b"\r\n\r\n")
            .map_or(self.bytes.len(), |at| at + 4);
        std::str::from_utf8(&self.bytes[..end]).unwrap_or("")
    }

    fn body(&self) -> &[u8] {
        &self.bytes[self.head().len()..]
    }

    fn has(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|bytes| bytes == text.as_bytes())
    }

    fn redirects_to(&self, to: &str) -> bool {
        self.head().starts_with("HTTP/1.1 302") && self.has(&format!("Location: {to}\r\n"))
    }
}

/// What a client sees that asks for `path` and reads at most so much for so long.
async fn probe(
    env: &Env,
    port: u16,
    address: Ipv4Addr,
    request: &[u8],
    bytes_max: usize,
    seconds_max: u64,
) -> Seen {
    let begun = env.clock.now();
    let mut stream = env.net.connect((address, port).into()).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut bytes = Vec::new();
    let read = async {
        loop {
            match stream.read_buf(&mut bytes).await {
                Ok(0) => return Ended::Closed,
                Ok(_) if bytes.len() > bytes_max => return Ended::Full,
                Ok(_) => {}
                Err(_) => return Ended::Reset,
            }
        }
    };
    let ended = env.clock.timeout(Duration::from_secs(seconds_max), read).await.unwrap_or(Ended::Open);
    Seen { bytes, ended, seconds: env.clock.now().since(begun).as_secs() }
}

struct Served {
    env: Env,
    server: Server,
    web: Arc<HostileWeb>,
}

impl Served {
    async fn new(env: &Env) -> Served {
        let web = Arc::new(HostileWeb::new(HealthyWeb::new(2, 3)));
        let server = serve(env, web.clone(), ServeOptions::default(), None).await.unwrap();
        Served { env: env.clone(), server, web }
    }

    async fn get(&self, host: &str, path: &str, bytes_max: usize, seconds_max: u64) -> Seen {
        let address = self.web.address(host).or_else(|| match self.web.resolve(host) {
            crate::Resolution::Address(address) => Some(address),
            _ => None,
        });
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let address = address.unwrap_or_else(|| panic!("{host} has no address"));
        probe(&self.env, self.server.http_port(), address, request.as_bytes(), bytes_max, seconds_max).await
    }

    /// Asks the name server; what comes first counts.
    async fn ask(&self, name: &str, with_tcp: bool) -> Option<Message> {
        let mut message = Message::new(77, MessageType::Query, OpCode::Query);
        message.add_query(Query::query(Name::from_ascii(format!("{name}.")).unwrap(), RecordType::A));
        let query = message.to_vec().unwrap();
        let to = self.server.dns_address();
        let exchange = async {
            if with_tcp {
                let mut stream = self.env.net.connect(to).await.unwrap();
                stream.write_all(&(query.len() as u16).to_be_bytes()).await.unwrap();
                stream.write_all(&query).await.unwrap();
                let mut answer = vec![0; usize::from(stream.read_u16().await.unwrap())];
                stream.read_exact(&mut answer).await.unwrap();
                return answer;
            }
            let from = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
            let socket = self.env.net.datagrams(from).await.unwrap();
            socket.send_to(&query, to).await.unwrap();
            let mut buffer = vec![0; 2048];
            let (count, _) = socket.receive_from(&mut buffer).await.unwrap();
            buffer.truncate(count);
            buffer
        };
        let answer = self.env.clock.timeout(Duration::from_secs(5), exchange).await.ok()?;
        Some(Message::from_vec(&answer).unwrap())
    }
}

type Check = fn(&Seen) -> bool;

fn ok(seen: &Seen) -> bool {
    seen.head().starts_with("HTTP/1.1 200 OK\r\n")
}

fn starts(seen: &Seen, text: &str) -> bool {
    seen.bytes.starts_with(text.as_bytes())
}

/// What is asked of each host: id, what stands below it, path, bytes and seconds to read, and what must be seen.
const PROBES: &[(&str, &str, &str, usize, u64, Check)] = &[
    // Before the world is an hour old.
    ("B13", "", "/robots.txt", MIB, 9, |seen| seen.has("Crawl-delay: 300")),
    ("T01", "", "/silent", 0, 3600, |seen| seen.ended == Ended::Open && seen.bytes.is_empty()),
    ("T03", "", "/reset", 0, 60, |seen| seen.ended == Ended::Reset && seen.bytes.is_empty()),
    ("T04", "", "/reset", MIB, 60, |seen| seen.ended == Ended::Reset && seen.body().len() == 5_000),
    ("T05", "", "/slow", 1000, 595, |seen| {
        seen.body().len() == 60 && seen.ended == Ended::Open && seen.seconds == 595
    }),
    ("T06", "", "/slow", 1000, 98, |seen| {
        seen.has("X-Slow: aaaa") && !seen.has("\r\n\r\n") && seen.bytes.len() == 45
    }),
    ("T07", "", "/close", 20 * MIB, 60, |seen| seen.ended == Ended::Full),
    ("T07", "", "/length", 20 * MIB, 60, |seen| {
        seen.ended == Ended::Full && seen.has("Content-Length: 4611")
    }),
    ("T07", "", "/chunked", 20 * MIB, 60, |seen| {
        seen.ended == Ended::Full && seen.has("chunked\r\n\r\n10\r\n")
    }),
    ("T08", "", "/head", MIB, 60, |seen| {
        seen.ended == Ended::Full && !seen.has("\r\n\r\n") && seen.has("X-600: y")
    }),
    ("T09", "", "/head", MIB, 60, |seen| {
        seen.bytes.len() > 300 * 1024 && seen.has("\r\n\r\nok") && seen.seconds == 60
    }),
    ("T10", "", "/head", MIB, 60, |seen| seen.bytes.len() > 300 * 1024 && seen.has("\r\n\r\nok")),
    ("T11", "", "/interim", MIB, 60, |seen| seen.ended == Ended::Full && starts(seen, "HTTP/1.1 100")),
    ("T12", "", "/old", MIB, 60, |seen| starts(seen, "<html>") && seen.ended == Ended::Closed),
    ("T12", "", "/status", MIB, 60, |seen| starts(seen, "HTTP/1.1 abc")),
    ("T12", "", "/ssh", MIB, 60, |seen| starts(seen, "SSH-") && seen.ended == Ended::Open),
    ("T13", "", "/short", MIB, 60, |seen| seen.body().len() == 1_000 && seen.ended == Ended::Closed),
    ("T14", "", "/long", MIB, 9, |seen| {
        seen.has("Length: 10\r\n") && seen.body().len() > 10 && seen.ended == Ended::Open
    }),
    ("T15", "", "/two", MIB, 9, |seen| seen.has("Length: 5\r\nContent-Length: 6")),
    ("T15", "", "/both", MIB, 9, |seen| seen.has("Length: 5\r\nTransfer-Encoding: chunked")),
    ("T16", "", "/word", MIB, 9, |seen| seen.body().starts_with(b"6\r\nprefix\r\nzebra\r\n")),
    ("T16", "", "/negative", MIB, 9, |seen| seen.body().starts_with(b"6\r\nprefix\r\n-5\r\n")),
    ("T16", "", "/huge", MIB, 9, |seen| seen.body().starts_with(b"6\r\nprefix\r\n10000000000000000\r\n")),
    ("T17", "", "/cut", MIB, 9, |seen| seen.body() == b"6\r\nprefix\r\n" && seen.ended == Ended::Closed),
    ("T17", "", "/trailers", MIB, 9, |seen| seen.has("\r\n0\r\nX-0: y\r\n") && seen.ended == Ended::Full),
    ("T18", "", "/first", MIB, 9, |seen| seen.body().ends_with(b"smuggled") && seen.ended == Ended::Open),
    ("T19", "", "/204", MIB, 9, |seen| starts(seen, "HTTP/1.1 204") && seen.body().ends_with(b"smuggled")),
    ("T23", "", "/tls", MIB, 9, |seen| starts(seen, "\u{15}\u{3}\u{1}") && seen.ended == Ended::Closed),
    ("C01", "", "/bomb", 4 * MIB, 60, |seen| {
        ok(seen) && unpacked(seen) > 16 * MIB && seen.ended == Ended::Closed
    }),
    ("C02", "", "/bomb", MIB, 9, |seen| seen.has("Encoding: br\r\n") && seen.body().len() == 54),
    ("C03", "", "/bomb", MIB, 9, |seen| seen.has("Encoding: zstd\r\n") && seen.body().len() < 40_000),
    ("C03", "", "/window", MIB, 9, |seen| seen.body()[4..6] == [0, 0xac]),
    ("C04", "", "/stack", MIB, 9, |seen| seen.head().matches("gzip").count() == 20),
    ("C05", "", "/file.gz", 4 * MIB, 60, |seen| !seen.has("Encoding") && unpacked(seen) > 16 * MIB),
    ("C06", "", "/false", MIB, 9, |seen| seen.has("gzip\r\n") && seen.body().starts_with(b"<!DOCTYPE")),
    ("C06", "", "/cut", MIB, 9, |seen| seen.body().starts_with(b"\x1f\x8b")),
    ("C07", "", "/members", MIB, 9, |seen| seen.body().starts_with(b"\x1f\x8b") && seen.has("garbage")),
    ("C08", "", "/unknown", MIB, 9, |seen| seen.has("Encoding: rot13\r\n")),
    ("R01", "", "/self", MIB, 9, |seen| seen.redirects_to("/self")),
    ("R01", "", "/b", MIB, 9, |seen| seen.redirects_to("/a")),
    ("R02", "", "/hop/11", MIB, 9, |seen| seen.redirects_to("/hop/12")),
    ("R02", "", "/hop/12", MIB, 9, ok),
    ("R02", "", "/endless/77777", MIB, 9, |seen| seen.redirects_to("/endless/77778")),
    ("R03", "", "/file", MIB, 9, |seen| seen.redirects_to("file:///etc/passwd")),
    ("R04", "", "/private", MIB, 9, |seen| seen.redirects_to("http://10.0.0.1/")),
    ("R05", "", "/absent", MIB, 9, |seen| starts(seen, "HTTP/1.1 302") && !seen.has("Location")),
    ("R05", "", "/long", MIB, 9, |seen| seen.bytes.len() > 100_000),
    ("R05", "", "/control", MIB, 9, |seen| seen.has("/never\rfollowed")),
    ("R05", "", "/encoding", MIB, 9, |seen| seen.bytes.contains(&0xff)),
    ("R06", "", "/moved", MIB, 9, |seen| seen.redirects_to("/never/page")),
    ("R07", "site7", "/", MIB, 9, |seen| seen.redirects_to("http://victim.r07-hostile-sim.com/site7")),
    ("R07", "victim", "/site7", MIB, 9, ok),
    ("R08", "", "/a", MIB, 9, |seen| seen.has("url=/b")),
    ("D06", "", "/1", MIB, 9, |seen| {
        seen.has("Connection: close") && seen.has("/2") && seen.ended == Ended::Closed
    }),
    ("D09", "77", "/", MIB, 9, |seen| seen.has("http://97.d09-hostile-sim.com/")),
    ("B01", "", "/robots.txt", 8 * MIB, 9, |seen| seen.has("Disallow: /never/") && seen.ended == Ended::Full),
    ("B02", "", "/robots.txt", MIB, 9, |seen| seen.body().len() > 600 * 1024 && seen.has("Disallow: /late/")),
    ("B03", "", "/robots.txt", 4 * MIB, 9, |seen| seen.has("gzip") && unpacked(seen) > 16 * MIB),
    ("B04", "s500", "/robots.txt", MIB, 9, |seen| starts(seen, "HTTP/1.1 500")),
    ("B04", "s503", "/robots.txt", MIB, 9, |seen| starts(seen, "HTTP/1.1 503")),
    ("B04", "silent", "/robots.txt", MIB, 900, |seen| seen.bytes.is_empty() && seen.ended == Ended::Open),
    ("B04", "s500", "/", MIB, 9, ok),
    ("B05", "s401", "/robots.txt", MIB, 9, |seen| starts(seen, "HTTP/1.1 401")),
    ("B05", "s410", "/robots.txt", MIB, 9, |seen| starts(seen, "HTTP/1.1 410")),
    ("B05", "s403", "/", MIB, 9, ok),
    ("B06", "s429", "/robots.txt", MIB, 9, |seen| starts(seen, "HTTP/1.1 429")),
    ("B07", "five", "/robots/4", MIB, 9, |seen| seen.redirects_to("/robots/5")),
    ("B07", "five", "/robots/5", MIB, 9, ok),
    ("B07", "six", "/robots/5", MIB, 9, |seen| seen.redirects_to("/robots/6")),
    ("B07", "loop", "/robots/1", MIB, 9, |seen| seen.redirects_to("/robots.txt")),
    ("B08", "here", "/robots.txt", MIB, 9, |seen| {
        seen.redirects_to("http://there.b08-hostile-sim.com/x/robots.txt")
    }),
    ("B09", "", "/robots.txt", MIB, 9, |seen| seen.has("/*a*a*a") && seen.has("*a*a*a$")),
    ("B10", "bom", "/robots.txt", MIB, 9, |seen| seen.body().starts_with(b"\xef\xbb\xbf")),
    ("B10", "cr", "/robots.txt", MIB, 9, |seen| !seen.body().contains(&b'\n')),
    ("B10", "nul", "/robots.txt", MIB, 9, |seen| seen.body().contains(&0)),
    ("B10", "utf16", "/robots.txt", MIB, 9, |seen| seen.body().starts_with(b"\xff\xfeU\0s\0")),
    ("B10", "html", "/robots.txt", MIB, 9, |seen| seen.body().starts_with(b"<!DOCTYPE")),
    ("B11", "", "/robots.txt", 4 * MIB, 9, |seen| {
        seen.has("Disallow: /r99999/*x\n") && seen.ended == Ended::Closed
    }),
    ("B12", "", "/robots.txt", MIB, 9, |seen| seen.has("MATTOCK")),
    ("B13", "", "/robots.txt", MIB, 9, |seen| seen.has("Disallow: /\n")),
    ("B14", "infinite", "/robots.txt", MIB, 9, |seen| seen.has("Crawl-delay: 1e309")),
    ("B15", "", "/robots.txt", MIB, 9, |seen| {
        seen.body().len() > 17_000 && seen.has("\nDisallow: /never/\n")
    }),
    ("S01", "", "/calendar/9998/12/28", MIB, 9, |seen| {
        seen.has("/calendar/9999/1/1") && seen.has("/9999/12/28")
    }),
    ("S01", "", "/calendar/10000/1/1", MIB, 9, |seen| starts(seen, "HTTP/1.1 404")),
    ("S02", "", "/s/1/home", MIB, 9, |seen| seen.has("/about") && !seen.has("/s/1/")),
    ("S03", "", "/a/a/a/", MIB, 9, |seen| seen.has("href=\"a/\"")),
    ("S04", "7", "/", MIB, 9, |seen| seen.has("http://9.s04-hostile-sim.com/")),
    ("S05", "", "/shop?colour=1", MIB, 9, |seen| seen.head().len() < 200 && seen.has("&amp;size=")),
    ("S06", "", "/anything", MIB, 9, |seen| ok(seen) && seen.has("cannot be found")),
    ("S07", "m999", "/1", MIB, 9, |seen| seen.has("the same everywhere")),
    ("S08", "", "/tar/1", MIB, 60, |seen| (10..20).contains(&seen.seconds) && seen.has("/tar/")),
    ("S09", "", "/shop/1", MIB, 9, |seen| seen.has("?add_to_cart=2")),
    ("P01", "", "/links", 60 * MIB, 9, |seen| seen.has("<a href=/l/1999999>") && seen.ended == Ended::Closed),
    ("P02", "", "/deep", 4 * MIB, 9, |seen| seen.body().len() > 2_500_000 && seen.has("href=/after")),
    ("P03", "", "/attribute", 5 * MIB, 9, |seen| seen.body().len() > 4_000_000 && seen.has("href=/after")),
    ("P03", "", "/comment", 5 * MIB, 9, |seen| seen.body().starts_with(b"<!--0") && seen.has("href=/after")),
    ("P03", "", "/script", 5 * MIB, 9, |seen| {
        seen.body().starts_with(b"<script>0") && seen.has("href=/after")
    }),
    ("P04", "", "/killers", MIB, 9, |seen| seen.has("url(url(url(") && seen.has("href=/after")),
    ("P05", "", "/text", MIB, 9, |seen| seen.has("iso-8859-1") && seen.has("shift_jis")),
    ("P06", "", "/control", MIB, 9, |seen| seen.bytes.contains(&0) && seen.bytes.contains(&0x1b)),
    ("P07", "", "/urls", MIB, 9, |seen| seen.body().len() > 100_000),
    ("P08", "", "/base", MIB, 9, |seen| seen.has("<base href='http://10.0.0.1/'>")),
    ("P09", "", "/data", 10 * MIB, 9, |seen| seen.body().len() > 8_000_000 && seen.ended == Ended::Closed),
    ("P10", "", "/camera", 100 * MIB, 60, |seen| {
        seen.ended == Ended::Open && seen.body().len() / 4096 == 600
    }),
    ("P11", "", "/sitemap.xml", MIB, 9, |seen| seen.has("file:///etc/passwd") && seen.has("/from-sitemap")),
    ("P12", "", "/sitemap.xml", 2 * MIB, 9, |seen| seen.has("ENTITY l9") && seen.has("a99999=")),
    ("P13", "", "/b.xml", MIB, 9, |seen| seen.has("/a.xml")),
    ("P14", "", "/cookies", 2 * MIB, 9, |seen| seen.bytes.len() > 1_000_000 && seen.has("c999=")),
    ("P15", "", "/past", MIB, 9, |seen| seen.has("1969")),
    ("P16", "", "/304", MIB, 9, |seen| starts(seen, "HTTP/1.1 304")),
    ("P17", "far", "/x", MIB, 9, |seen| seen.has("Retry-After: 1000000000000\r\n")),
    ("P18", "", "/forged", MIB, 9, |seen| seen.has("WARC-Type: request")),
    ("P19", "", "/title", MIB, 9, |seen| seen.has("script>alert")),
    ("P20", "", "/download", MIB, 9, |seen| seen.has("../../evil.sh")),
];

/// Shown by links, names or handshakes, which have tests of their own.
const OTHERWISE: [&str; 18] = [
    "T02", "T22", "D01", "D02", "D03", "D04", "D05", "D07", "D08", "D10", "D11", "D12", "D13", "D14", "D15",
    "T20", "T21", "T23",
];

/// Bytes that come out of the first 16 MiB and a bit of a gzip body.
fn unpacked(seen: &Seen) -> usize {
    let mut decoder = flate2::read::GzDecoder::new(seen.body()).take(17 * MIB as u64);
    std::io::copy(&mut decoder, &mut std::io::sink()).map_or(0, |count| count as usize)
}

#[test]
fn everything_is_as_the_catalogue_says() {
    Simulation::new(1).run(|env| async move {
        let served = Served::new(&env).await;
        let mut wrong = Vec::new();
        for (id, below, path, bytes_max, seconds_max, check) in PROBES {
            let own = hostility(id).unwrap().host(0);
            let host = if below.is_empty() { own } else { format!("{below}.{own}") };
            let seen = served.get(&host, path, *bytes_max, *seconds_max).await;
            let beginning = String::from_utf8_lossy(&seen.bytes[..seen.bytes.len().min(300)]).into_owned();
            if !check(&seen) {
                let (ended, seconds, count) = (seen.ended, seen.seconds, seen.bytes.len());
                wrong.push(format!(
                    "{id} {host}{path}: {ended:?} after {seconds} s, {count} bytes: {beginning}"
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        served.server.stop().await.unwrap();
    });
}

#[test]
fn no_id_is_left_out() {
    let seen: BTreeSet<&str> = PROBES.iter().map(|probe| probe.0).chain(OTHERWISE).collect();
    let all: BTreeSet<&str> = catalogue().map(|entry| entry.id).collect();
    assert_eq!(seen, all);
    assert_eq!(all.len(), catalogue().count(), "an id stands twice");
}

#[test]
fn every_copy_has_its_home_its_rules_and_its_address() {
    Simulation::new(2).run(|env| async move {
        let served = Served::new(&env).await;
        let mut addresses = BTreeSet::new();
        for entry in catalogue() {
            for copy in [0, 3] {
                let host = entry.host(copy);
                assert!(addresses.insert(served.web.address(&host).unwrap()), "{host} shares its address");
                let robots = served.get(&host, "/robots.txt", MIB / 2, 1).await;
                assert!(ok(&robots), "{host}");
                let home = served.get(&host, "/", MIB, 1).await;
                assert!(ok(&home), "{host}");
                for link in entry.links {
                    assert!(home.has(&link.replace("{host}", &host)), "{host} does not link to {link}");
                }
                assert!(home.has("<a href=\"") || entry.id.starts_with('P'), "{host} links to nothing");
            }
        }
        assert!(served.web.address("t99-hostile-sim.com").is_none());
        assert!(served.web.address("t01-999-hostile-sim.com").is_none());
        let healthy = served.get("www1-healthy-sim.com", "/page/3", MIB, 1).await;
        assert!(ok(&healthy) && healthy.body().len() > 15_000);
    });
}

#[test]
fn handshakes_stall_go_on_for_ever_or_get_plain_text() {
    Simulation::new(3).run(|env| async move {
        let served = Served::new(&env).await;
        let hello = b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03";
        let greet = async |name: &str| {
            let address = served.web.address(name).unwrap();
            probe(&env, served.server.http_port(), address, hello, 20 * MIB, 600).await
        };
        let stalled = greet("t22-hostile-sim.com").await;
        assert_eq!((stalled.ended, stalled.bytes.len()), (Ended::Open, 0));
        let giant = greet("t22-1-hostile-sim.com").await;
        assert!(giant.ended == Ended::Full && giant.bytes.starts_with(&[0x16, 3, 3, 0, 42, 2]));
        let plain = greet("t23-hostile-sim.com").await;
        assert!(starts(&plain, "HTTP/1.1 400"));
    });
}

fn addresses(message: &Message) -> Vec<Ipv4Addr> {
    let address = |data: &RData| match data {
        RData::A(address) => Some(address.0),
        _ => None,
    };
    message.answers.iter().filter_map(|record| address(&record.data)).collect()
}

#[test]
fn the_name_server_is_as_hostile_as_it_says() {
    Simulation::new(4).run(|env| async move {
        let served = Served::new(&env).await;
        let own = |id: &str| served.web.address(&format!("{id}-hostile-sim.com")).unwrap();
        let first = async |name: &str| served.ask(&format!("{name}-hostile-sim.com"), false).await.unwrap();

        assert_eq!(addresses(&first("private.d05").await), [PRIVATE]);
        assert_eq!(addresses(&first("mixed.d05").await), [own("d05"), PRIVATE]);
        let rebound = first("d06").await;
        assert_eq!((addresses(&rebound), rebound.answers[0].ttl), (vec![own("d06")], 0));
        assert_eq!(addresses(&first("d06").await), [PRIVATE]);
        assert_eq!(addresses(&first("d06-1").await).len(), 1, "copies are asked for apart");
        assert_eq!(served.web.asked("d06-hostile-sim.com"), 2);
        assert_eq!(addresses(&first("n1.d10").await), addresses(&first("n2.d10").await));
        assert!(served.ask("silent.d11-hostile-sim.com", false).await.is_none());
        assert_eq!(first("failing.d11").await.metadata.response_code, ResponseCode::ServFail);
        assert_eq!(first("missing7.d12").await.metadata.response_code, ResponseCode::NXDomain);
        assert!(addresses(&first("loop.d13").await).is_empty());
        assert_eq!(first("loop.d13").await.answers.len(), 2);
        assert_eq!(addresses(&first("short.d13").await), [own("d13")]);
        let deep = served.ask("deep.d13-hostile-sim.com", true).await.unwrap();
        assert_eq!((deep.answers.len(), addresses(&deep)), (21, vec![own("d13")]));
        let zero = first("zero.d15").await;
        assert_eq!((zero.answers[0].ttl, first("long.d15").await.answers[0].ttl), (0, 1 << 31));

        let cut = first("many.d14").await;
        assert!(cut.metadata.truncation && (20..40).contains(&cut.answers.len()));
        let whole = served.ask("many.d14-hostile-sim.com", true).await.unwrap();
        assert!(whole.metadata.truncation, "5,000 addresses do not even fit in what TCP can carry");
        assert!((4_000..5_000).contains(&whole.answers.len()));
        assert!(whole.answers.len() == addresses(&whole).iter().collect::<BTreeSet<_>>().len());
    });
}

#[test]
fn forged_answers_come_with_other_ids() {
    Simulation::new(5).run(|env| async move {
        let served = Served::new(&env).await;
        let mut message = Message::new(77, MessageType::Query, OpCode::Query);
        let name = Name::from_ascii("forged.d14-hostile-sim.com.").unwrap();
        message.add_query(Query::query(name, RecordType::A));
        let socket = env.net.datagrams((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
        socket.send_to(&message.to_vec().unwrap(), served.server.dns_address()).await.unwrap();
        let (mut forged, mut buffer) = (0, [0; 2048]);
        for _ in 0..51 {
            let (count, _) = socket.receive_from(&mut buffer).await.unwrap();
            let answer = Message::from_vec(&buffer[..count]).unwrap();
            if answer.metadata.id == 77 {
                assert_eq!(addresses(&answer), [served.web.address("d14-hostile-sim.com").unwrap()]);
            } else {
                assert_eq!(addresses(&answer), [PRIVATE]);
                forged += 1;
            }
        }
        assert_eq!(forged, 50);
    });
}

/// Endless scripts must end with their peer, or a run of many would fill the machine.
#[test]
fn a_script_ends_when_its_peer_leaves() {
    Simulation::new(6).run(|env| async move {
        for step in [
            Step::Repeat { bytes: vec![b'x'; 100].into(), times: ENDLESS, pause: Duration::ZERO },
            Step::Repeat { bytes: b"x".into(), times: ENDLESS, pause: Duration::from_secs(1) },
            Step::Numbered { before: "".into(), after: "".into(), times: ENDLESS },
            Step::Wait(Duration::from_secs(1_000_000)),
        ] {
            let (mut ours, mut theirs) = mattock_env::Stream::pair(1000);
            let script = Script { steps: vec![step], end: End::Close };
            let clock = env.clock.clone();
            let task = tokio::task::spawn_local(async move { script.perform(&clock, &mut ours).await });
            let _ = env.clock.timeout(Duration::from_secs(5), theirs.read(&mut [0; 64])).await;
            drop(theirs);
            let begun = env.clock.now();
            task.await.unwrap().unwrap_err();
            assert!(env.clock.now().since(begun) <= Duration::from_secs(1));
        }
    });
}

/// A peer that stays and reads nothing is given up, too.
#[test]
fn a_script_does_not_wait_for_ever() {
    Simulation::new(7).run(|env| async move {
        let (mut ours, _theirs) = mattock_env::Stream::pair(1000);
        let flood = Step::Repeat { bytes: vec![b'x'; 100].into(), times: ENDLESS, pause: Duration::ZERO };
        let script = Script { steps: vec![flood], end: End::Close };
        script.perform(&env.clock, &mut ours).await.unwrap_err();
        assert_eq!(env.clock.now().as_nanos() / 1_000_000_000, 60);
        let (mut ours, _theirs) = mattock_env::Stream::pair(1000);
        let script = Script { steps: vec![Step::Wait(Duration::from_secs(1_000_000))], end: End::Close };
        script.perform(&env.clock, &mut ours).await.unwrap_err();
    });
}
