//! A crawler without virtues: one page after the other, links by scanning the text, everything in RAM. It shares no
//! code with the truth.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use mattock_robots::{Access, Robots, access_for_status};
use mattock_simweb::{AGENT, Answer, Behaviour, Request, Resolution, World};
use mattock_weburl::WebUrl;

/// Answers a canonical URL, or `None` where there is no answer to be had.
pub(crate) fn get(world: &World, url: &WebUrl, body: &mut Vec<u8>) -> Option<Answer> {
    let Resolution::Address(_) = world.resolve(url.host_name()) else { return None };
    let request =
        Request { host: url.host_name(), path_and_query: url.path_and_query(), ..Request::default() };
    let answer = world.answer(&request, 0, body);
    (answer.behaviour == Behaviour::Respond).then_some(answer)
}

/// The rules of a URL's host; `None` where its robots.txt cannot be had.
pub(crate) fn robots(world: &World, url: &WebUrl) -> Option<Robots> {
    let mut at = url.join("/robots.txt").expect("a path");
    let mut body = Vec::new();
    for _ in 0..5 {
        let answer = get(world, &at, &mut body)?;
        if let Some(location) = answer.location {
            at = at.join(&location).expect("a location");
            continue;
        }
        return match access_for_status(answer.status) {
            Access::Rules => Some(Robots::parse(&body, AGENT)),
            Access::AllowAll => Some(Robots::allow_all()),
            _ => None,
        };
    }
    panic!("robots.txt of {} is behind too many redirects", url.as_str());
}

/// The URLs in the sitemaps that the robots.txt of a URL's host names.
pub(crate) fn sitemaps(world: &World, url: &WebUrl) -> Vec<String> {
    let Some(robots) = robots(world, url) else { return Vec::new() };
    let mut found = Vec::new();
    let mut waiting = robots.sitemaps().to_vec();
    let mut body = Vec::new();
    while let Some(text) = waiting.pop() {
        let url = WebUrl::parse(&text).expect("a sitemap's URL");
        let Some(answer) = get(world, &url, &mut body) else { continue };
        assert_eq!(answer.status, 200, "{text}");
        assert!(!world.forbidden(url.host_name(), url.path_and_query()), "{text}");
        let sitemap =
            mattock_robots::sitemap::parse(&body, None, &mattock_robots::sitemap::Limits::default());
        waiting.extend(sitemap.children);
        found.extend(sitemap.entries.into_iter().map(|entry| entry.url));
    }
    found
}

/// A text without its comments, or whatever stands between such marks.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut parts = text.split(open);
    let mut kept = parts.next().expect("split yields at least one part").to_owned();
    for part in parts {
        kept.push_str(part.split_once(close).expect("what opens closes").1);
    }
    kept
}

/// The values of `href` in the anchors of a page that may be followed.
pub(crate) fn references(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    if page.contains("content=\"nofollow\"") || page.contains("content=\"noindex, nofollow\"") {
        return found;
    }
    let page = &without(&without(page, "<!--", "-->"), "<script>", "</script>");
    let lower = page.to_ascii_lowercase();
    let mut at = 0;
    while let Some(offset) = lower[at..].find("<a ") {
        let start = at + offset;
        let end = start + lower[start..].find('>').expect("a tag ends");
        at = end;
        if lower[start..end].contains("rel=\"nofollow\"") {
            continue;
        }
        let value = start + lower[start..end].find("href=").expect("an anchor has a reference") + 5;
        let text = match page.as_bytes()[value] {
            quote @ (b'"' | b'\'') => {
                page[value + 1..end].split(char::from(quote)).next().expect("split yields at least one part")
            }
            _ => page[value..end].split(' ').next().expect("split yields at least one part"),
        };
        found.push(text.replace("&amp;", "&"));
    }
    found
}

/// What a naive crawl found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) pages: BTreeSet<String>,
    pub(crate) failures: BTreeSet<String>,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) forbidden: u64,
    pub(crate) unreachable: u64,
    pub(crate) links: u64,
}

/// Crawls a world to its end.
pub(crate) fn crawl(world: &World, obedient: bool) -> Found {
    let mut found = Found::default();
    let mut rules = BTreeMap::new();
    let mut seen: BTreeSet<String> = world.seeds().into_iter().collect();
    let mut queue: VecDeque<String> = seen.iter().cloned().collect();
    let mut body = Vec::new();
    let mut visited = BTreeSet::new();
    while let Some(text) = queue.pop_front() {
        let url = WebUrl::parse(&text).expect("what was found is a URL");
        assert_eq!(url.as_str(), text, "URLs of the world are canonical");
        if visited.insert(url.host_name().to_owned()) {
            for listed in sitemaps(world, &url) {
                if seen.insert(listed.clone()) {
                    queue.push_back(listed);
                }
            }
        }
        if obedient {
            let host = url.host_name().to_owned();
            let known = rules.entry(host).or_insert_with(|| robots(world, &url));
            let allowed = known.as_ref().map(|known| known.verdict(url.path_and_query()).allowed);
            let structural = world.forbidden(url.host_name(), url.path_and_query());
            match allowed {
                Some(allowed) => assert_eq!(!allowed, structural, "robots.txt and {text}"),
                None if structural => {}
                None => {
                    assert_eq!(
                        get(world, &url, &mut body),
                        None,
                        "without robots.txt, yet not forbidden: {text}"
                    );
                    found.unreachable += 1;
                    continue;
                }
            }
            if structural {
                // A host that is down forbids nothing that anybody could know of.
                let home = url.join("/").expect("a path");
                if get(world, &home, &mut body).is_some() {
                    found.forbidden += 1;
                } else {
                    found.unreachable += 1;
                }
                continue;
            }
        }
        let Some(answer) = get(world, &url, &mut body) else {
            found.unreachable += 1;
            continue;
        };
        *found.statuses.entry(answer.status).or_default() += 1;
        let list = if answer.status == 200 { &mut found.pages } else { &mut found.failures };
        assert!(list.insert(text.clone()));
        let references = match &answer.location {
            Some(location) => vec![location.clone()],
            None if answer.status == 200 && answer.content_type.starts_with("text/html") => {
                references(std::str::from_utf8(&body).expect("UTF-8"))
            }
            None => Vec::new(),
        };
        let mut canonical = Vec::new();
        for reference in references {
            let target =
                url.join(&reference).unwrap_or_else(|error| panic!("{reference} on {text}: {error}"));
            found.links += 1;
            if seen.insert(target.as_str().to_owned()) {
                queue.push_back(target.as_str().to_owned());
            }
            canonical.push(target.as_str().to_owned());
        }
        assert_eq!(world.links(&text, 0), canonical, "links of {text}");
    }
    found
}
