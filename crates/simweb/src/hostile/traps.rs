//! Sites without end: each page is harmless, and there is always one more.

use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::reply::{WORDS, head, html, page, send};
use super::{Ask, Hostility};
use crate::script::{End, Script, Step};

const MIRRORS: u32 = 1_000;

pub(super) const TABLE: [Hostility; 9] = [
    Hostility::new(
        "S01",
        "calendar",
        "a calendar with a page for every day to the year 9999",
        "site budget",
        &["/calendar/2020/1/1"],
        calendar,
    ),
    Hostility::new(
        "S02",
        "session ids",
        "every page gives every visitor a new id in all links, in path and query",
        "duplicates recognised, site budget",
        &["/s/1/home", "/home?sid=1"],
        |ask| {
            let fresh = xxh3_64(ask.path.as_bytes());
            let known = ask.path.starts_with("/s/") || ask.path.starts_with("/home?sid=");
            let links = ["home", "about", "contact"].map(|name| format!("/s/{fresh:x}/{name}"));
            let more = [format!("/home?sid={fresh:x}")];
            if known { html(page("The same for everybody", &[&links[..], &more].concat())) } else { None }
        },
    ),
    Hostility::new(
        "S03",
        "growing paths",
        "relative links that make every path longer",
        "at most 2 repeats of a segment and 20 segments",
        &["/a/", "/deep/1/"],
        |ask| match ask.path {
            path if path.starts_with("/a/") => html(page("again", &["a/"])),
            path if path.starts_with("/deep/") => {
                let next = path.split('/').count();
                html(page("deeper", &[format!("{next}/")]))
            }
            _ => None,
        },
    ),
    Hostility::new(
        "S04",
        "endless hosts",
        "every host links to new hosts below it",
        "budget per domain",
        &["http://0.{host}/"],
        |ask| match (ask.below, ask.path) {
            ("", _) | (_, "/robots.txt") => None,
            (below, _) => {
                let number: u64 = below.parse().ok()?;
                let links = [1, 2].map(|step| format!("http://{}.{}/", number.wrapping_add(step), ask.host));
                html(page("a host", &links))
            }
        },
    ),
    Hostility::new(
        "S05",
        "facets",
        "a shop in which every page links to every combination of filters",
        "cap per prefix of the path",
        &["/shop?colour=0&size=0&brand=0"],
        |ask| {
            let query = ask.path.strip_prefix("/shop?")?;
            let number = xxh3_64(query.as_bytes());
            let links: Vec<String> = (0..50)
                .map(|link: u64| number.wrapping_mul(link + 1))
                .map(|hash| {
                    format!("/shop?colour={}&amp;size={}&amp;brand={}", hash % 97, hash % 89, hash % 83)
                })
                .collect();
            html(page("filtered", &links))
        },
    ),
    Hostility::new(
        "S06",
        "soft 404",
        "every path answers 200 with the same apology and fresh links",
        "near duplicates recognised",
        &["/missing"],
        |ask| match ask.path {
            "/" | "/robots.txt" => None,
            path => {
                let fresh = xxh3_64(path.as_bytes());
                html(page(
                    "Sorry, this page cannot be found",
                    &[format!("/{fresh:x}"), format!("/x/{fresh:x}")],
                ))
            }
        },
    ),
    Hostility::new(
        "S07",
        "mirror farm",
        "a thousand hosts with the same pages",
        "duplicates recognised, budget per domain",
        &[],
        |ask| match (ask.below, ask.path) {
            (_, "/robots.txt") => None,
            ("", "/") => {
                let links: Vec<String> =
                    (0..MIRRORS).map(|mirror| format!("http://m{mirror}.{}/", ask.host)).collect();
                html(page("mirrors", &links))
            }
            (_, "/") => html(page("The mirrored site", &["/1", "/2", "/3"])),
            _ => html("the same everywhere"),
        },
    ),
    Hostility::new(
        "S08",
        "tarpit",
        "slow pages of random words that link to more of them",
        "budget, which slow pages use up faster",
        &["/tar/1"],
        |ask| ask.path.starts_with("/tar/").then(|| tar(ask)),
    ),
    Hostility::new(
        "S09",
        "links that act",
        "links that put goods into a cart",
        "not followed",
        &["/shop?add_to_cart=1", "/shop/1"],
        |ask| match ask.path {
            "/" | "/robots.txt" => None,
            _ => html(page("Bottles", &["/shop?add_to_cart=2", "/shop?add_to_cart=3"])),
        },
    ),
];

fn calendar(ask: &Ask<'_>) -> Option<Script> {
    let mut parts = ask.path.strip_prefix("/calendar/")?.split('/').map(str::parse::<u32>);
    let (Some(Ok(year)), Some(Ok(month)), Some(Ok(day))) = (parts.next(), parts.next(), parts.next()) else {
        return None;
    };
    if year > 9999 {
        return None;
    }
    let (next_month, next_year) = if month < 12 { (month + 1, year) } else { (1, year + 1) };
    let next_day = if day < 28 { (year, month, day + 1) } else { (next_year, next_month, 1) };
    let links = [next_day, (next_year, next_month, day), (year + 1, month, day)]
        .map(|(year, month, day)| format!("/calendar/{year}/{month}/{day}"));
    html(page(&format!("{year}-{month}-{day}: nothing happens"), &links))
}

fn tar(ask: &Ask<'_>) -> Script {
    let seed = xxh3_64(ask.path.as_bytes());
    let mut words = String::from("<p>");
    for number in 0..200u64 {
        let hash = xxh3_64(&(seed ^ number).to_le_bytes());
        words.push_str(WORDS[hash as usize % WORDS.len()]);
        words.push(' ');
    }
    let links = page("words", &[format!("/tar/{seed:x}"), format!("/tar/{:x}", seed ^ 1)]);
    let pieces = words.into_bytes().chunks(100).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let mut steps = vec![send(head("200 OK", &["Content-Type: text/html", "Connection: close"]))];
    for piece in pieces {
        steps.extend([send(piece), Step::Wait(Duration::from_secs(1))]);
    }
    steps.push(send(links.into_bytes()));
    Script { steps, end: End::Close }
}
