//! Name servers and addresses: answers that are missing, endless, forged, or lead inside.

use std::net::Ipv4Addr;

use super::reply::{html, page, response, spelled};
use super::{Ask, Hostility, NameAsk, PRIVATE, ordinary};
use crate::answer::{NameAnswer, NameData, NameRecord};
use crate::script::{End, Script};
use crate::world::Resolution;

/// Links from each page of the wildcard farm.
const FARM_LINKS: u64 = 20;
const SHARED_NAMES: u32 = 10_000;
const MISSING_NAMES: u32 = 500;
const ADDRESSES: u32 = 5_000;
const FORGED: u16 = 50;

pub(super) const TABLE: [Hostility; 15] = [
    Hostility::new(
        "D01",
        "odd spellings of addresses",
        "links to a private address in decimal, octal, hexadecimal, short and circled digits",
        "recognised and refused",
        &[
            "http://167772161/",
            "http://012.0.0.1/",
            "http://0xa.0.0.1/",
            "http://10.1/",
            "http://①⓪.⓪.⓪.①/",
        ],
        ordinary,
    ),
    Hostility::new(
        "D02",
        "IPv4 inside IPv6",
        "links to a private address as mapped, NAT64, 6to4 and Teredo address",
        "unwrapped and refused",
        &[
            "http://[::ffff:10.0.0.1]/",
            "http://[64:ff9b::a00:1]/",
            "http://[2002:a00:1::]/",
            "http://[2001:0:1:1:1:1:f5ff:fffe]/",
        ],
        ordinary,
    ),
    Hostility::new(
        "D03",
        "this machine",
        "links to localhost and the unspecified addresses",
        "refused",
        &["http://localhost./", "http://0.0.0.0/", "http://[::]/"],
        ordinary,
    ),
    Hostility::new(
        "D04",
        "special addresses",
        "links to link-local, shared, unique local and multicast addresses",
        "refused",
        &["http://169.254.169.254/", "http://100.64.0.1/", "http://[fc00::1]/", "http://224.0.0.1/"],
        ordinary,
    ),
    Hostility::new(
        "D05",
        "private answers",
        "a name has a private address, or one among others",
        "refused if any is private",
        &["http://private.{host}/", "http://mixed.{host}/"],
        ordinary,
    )
    .with_names(|ask| match ask.below {
        "private" => records(&[PRIVATE], 60),
        "mixed" => records(&[ask.address, PRIVATE], 60),
        _ => records(&[ask.address], 3600),
    }),
    Hostility::new(
        "D06",
        "rebinding",
        "a name has a public address for the first question and a private one for all others, with a TTL of 0",
        "connected to the address that was judged; later refused",
        &["/1"],
        chain_of_pages,
    )
    .with_names(|ask| records(&[if ask.asked == 0 { ask.address } else { PRIVATE }], 0)),
    Hostility::new(
        "D07",
        "our own doors",
        "links to ports of the crawler's own machine",
        "refused",
        &["http://127.0.0.1:7007/", "http://localhost:7007/"],
        ordinary,
    ),
    Hostility::new(
        "D08",
        "other services",
        "links to the ports of SSH, mail and Redis",
        "refused, no connection",
        &["http://{host}:22/", "http://{host}:25/", "http://{host}:6379/"],
        ordinary,
    ),
    Hostility::new(
        "D09",
        "wildcard farm",
        "every number below is a name, and its page links to the next twenty",
        "lookups per domain are budgeted",
        &["http://1.{host}/"],
        |ask| match (ask.below, ask.path) {
            ("", _) | (_, "/robots.txt") => None,
            (below, _) => {
                let number: u64 = below.parse().ok()?;
                let links: Vec<String> =
                    (1..=FARM_LINKS).map(|step| number.wrapping_add(step)).map(|name| format!("http://{name}.{}/", ask.host)).collect();
                html(page("a farm", &links))
            }
        },
    ),
    Hostility::new(
        "D10",
        "ten thousand names, one server",
        "all names below are at one address",
        "the server's delay holds",
        &[],
        |ask| match (ask.below, ask.path) {
            (_, "/robots.txt") => None,
            ("", "/") => {
                let links: Vec<String> =
                    (0..SHARED_NAMES).map(|name| format!("http://n{name}.{}/", ask.host)).collect();
                html(page("many names", &links))
            }
            _ => None,
        },
    )
    .with_names(|ask| records(&[ask.address], 3600)),
    Hostility::new(
        "D11",
        "name server out of order",
        "never answers, or answers SERVFAIL",
        "5 s and 2 tries, then again later",
        &["http://silent.{host}/", "http://failing.{host}/"],
        ordinary,
    )
    .with_names(|ask| match ask.below {
        "silent" => NameAnswer::Silence,
        "failing" => NameAnswer::Plain(Resolution::Failure),
        _ => records(&[ask.address], 3600),
    }),
    Hostility::new(
        "D12",
        "flood of missing names",
        "links to 500 names that do not exist",
        "each asked for once, remembered within bounds",
        &[],
        |ask| {
            (ask.path == "/").then(|| {
                let links: Vec<String> =
                    (0..MISSING_NAMES).map(|name| format!("http://missing{name}.{}/", ask.host)).collect();
                html(page("missing names", &links))
            })?
        },
    )
    .with_names(|ask| match ask.below {
        "" => records(&[ask.address], 3600),
        _ => NameAnswer::Plain(Resolution::NoSuchName),
    }),
    Hostility::new(
        "D13",
        "alias loops and chains",
        "an alias of itself in two steps, a chain of 20 aliases, and one of 3",
        "at most 8 followed",
        &["http://loop.{host}/", "http://deep.{host}/", "http://short.{host}/"],
        ordinary,
    )
    .with_names(aliases),
    Hostility::new(
        "D14",
        "thousands of addresses, forged ids",
        "a name has 5,000 addresses; for another, forged answers come before the true one",
        "at most 16 used; forged ones ignored",
        &["http://many.{host}/", "http://forged.{host}/"],
        ordinary,
    )
    .with_names(|ask| match ask.below {
        "many" => {
            let others = (0..ADDRESSES).map(one_of_many);
            let all: Vec<Ipv4Addr> = std::iter::once(ask.address).chain(others).take(ADDRESSES as usize).collect();
            records(&all, 3600)
        }
        "forged" => match records(&[ask.address], 3600) {
            NameAnswer::Records { records, .. } => NameAnswer::Records { records, forged: Some((FORGED, PRIVATE)) },
            other => other,
        },
        _ => records(&[ask.address], 3600),
    }),
    Hostility::new(
        "D15",
        "odd lifetimes",
        "answers hold for 0 seconds, or for 2^31",
        "clamped to between a minute and a day",
        &["http://zero.{host}/1", "http://long.{host}/1"],
        chain_of_pages,
    )
    .with_names(|ask| match ask.below {
        "zero" => records(&[ask.address], 0),
        "long" => records(&[ask.address], 1 << 31),
        _ => records(&[ask.address], 3600),
    }),
];

fn records(addresses: &[Ipv4Addr], ttl_s: u32) -> NameAnswer {
    let record = |&address: &Ipv4Addr| NameRecord { name: None, ttl_s, data: NameData::A(address) };
    NameAnswer::Records { records: addresses.iter().map(record).collect(), forged: None }
}

/// The further addresses of a name that has very many.
fn one_of_many(number: u32) -> Ipv4Addr {
    Ipv4Addr::new(127, 201, (number >> 8) as u8, number as u8)
}

pub(super) fn is_one_of_many(address: Ipv4Addr) -> bool {
    address.octets()[..2] == [127, 201]
}

/// Fifty pages, each behind the last and over a connection of its own, so that the name is needed again and again.
fn chain_of_pages(ask: &Ask<'_>) -> Option<Script> {
    let number: u32 = ask.path.strip_prefix('/')?.parse().ok().filter(|number| *number <= 50)?;
    let title = format!("a chain: {}", spelled(&format!("{} {}", ask.below, ask.path)));
    let body = page(&title, &[format!("/{}", number + 1)]);
    let script = response("200 OK", &["Content-Type: text/html", "Connection: close"], body.as_bytes());
    Some(Script { end: End::Close, ..script })
}

fn aliases(ask: &NameAsk<'_>) -> NameAnswer {
    let name = |label: &str, step: u32| Some(format!("{label}{step}.{}", ask.host));
    let alias = |from: Option<String>, to: Option<String>| NameRecord {
        name: from,
        ttl_s: 300,
        data: NameData::Cname(to.unwrap_or_default()),
    };
    let chain = |label: &str, steps: u32| {
        let mut records = vec![alias(None, name(label, 1))];
        records.extend((1..steps).map(|step| alias(name(label, step), name(label, step + 1))));
        records.push(NameRecord { name: name(label, steps), ttl_s: 300, data: NameData::A(ask.address) });
        NameAnswer::Records { records, forged: None }
    };
    match ask.below {
        "loop" => {
            let there = name("loop", 1);
            let back = alias(there.clone(), Some(format!("loop.{}", ask.host)));
            NameAnswer::Records { records: vec![alias(None, there), back], forged: None }
        }
        "deep" => chain("deep", 20),
        "short" => chain("short", 3),
        _ => records(&[ask.address], 3600),
    }
}
