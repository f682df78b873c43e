//! The same question gets the same answer, until time changes it.

use crate::client::{get, references};
use mattock_simweb::{Params, Preset, Request, World};
use mattock_weburl::WebUrl;
use std::collections::BTreeMap;

const DAY_S: u64 = 86_400;

fn request(url: &WebUrl) -> Request<'_> {
    Request { host: url.host_name(), path_and_query: url.path_and_query(), ..Request::default() }
}

#[test]
fn the_same_seed_url_and_time_give_the_same_bytes() {
    let (one, other) =
        (World::new(Params::preset(Preset::Tiny), 8), World::new(Params::preset(Preset::Tiny), 8));
    let different = World::new(Params::preset(Preset::Tiny), 9);
    let (mut first, mut second) = (Vec::new(), b"left over".to_vec());
    for text in &one.truth(100_000).unwrap().pages {
        let url = WebUrl::parse(text).unwrap();
        let answer = one.answer(&request(&url), 5 * DAY_S, &mut first);
        assert_eq!(answer, other.answer(&request(&url), 5 * DAY_S, &mut second));
        assert_eq!(first, second);
        assert_eq!(different.answer(&request(&url), 5 * DAY_S, &mut second).status, 404);
    }
}

#[test]
fn time_changes_text_but_not_links() {
    let world = World::new(Params::preset(Preset::Tiny), 4);
    let (mut then, mut now) = (Vec::new(), Vec::new());
    let (mut changed, mut same) = (0, 0);
    for text in &world.truth(100_000).unwrap().pages {
        let url = WebUrl::parse(text).unwrap();
        let before = world.answer(&request(&url), 0, &mut then);
        let after = world.answer(&request(&url), 10 * DAY_S, &mut now);
        assert_eq!(before.etag == after.etag, then == now, "{text}");
        *if then == now { &mut same } else { &mut changed } += 1;
        let validators = [
            Request { if_none_match: Some(&after.etag.unwrap().to_string()), ..request(&url) },
            Request { if_modified_since_s: after.last_modified_s, ..request(&url) },
        ];
        let links = |page: &[u8]| references(&String::from_utf8_lossy(page));
        if after.content_type.starts_with("text/html") {
            assert_eq!(links(&then), links(&now));
        }
        for validator in validators {
            assert_eq!(world.answer(&validator, 10 * DAY_S, &mut now).status, 304);
            assert!(now.is_empty());
            let stale = world.answer(&validator, 400 * DAY_S, &mut now);
            assert_eq!(stale.status == 304, stale.last_modified_s == after.last_modified_s);
        }
    }
    assert!(changed > 200 && same > 200, "{changed} changed, {same} did not");
}

#[test]
fn mirrors_are_the_same_bytes() {
    let world = World::new(Params { mirror_hosts: 0.6, ..Params::preset(Preset::Tiny) }, 2);
    let truth = world.truth(100_000).unwrap();
    let mut copies = BTreeMap::<Vec<u8>, Vec<&str>>::new();
    let mut body = Vec::new();
    for text in &truth.pages {
        get(&world, &WebUrl::parse(text).unwrap(), &mut body).expect("an allowed page answers");
        copies.entry(body.clone()).or_default().push(text);
    }
    let repeated = copies.values().map(|urls| urls.len() as u64 - 1).sum::<u64>();
    assert_eq!(repeated, truth.duplicates);
    assert!(repeated > 50, "{repeated}");
}

#[test]
fn near_duplicates_share_their_text() {
    let world = World::new(Params { near_duplicates: 0.4, ..Params::preset(Preset::Tiny) }, 2);
    let mut by_stretch = BTreeMap::<Vec<u8>, u32>::new();
    let mut body = Vec::new();
    let mut pages = 0;
    for text in &world.truth(100_000).unwrap().pages {
        let url = WebUrl::parse(text).unwrap();
        let answer = get(&world, &url, &mut body).expect("an allowed page answers");
        if answer.content_type.starts_with("text/html") {
            let page = String::from_utf8(body.clone()).unwrap();
            // The first stretch of running text, up to the first tag in it.
            let text = page.split_once("<div id=\"text\">").expect("every page has text").1;
            *by_stretch.entry(text.split(['<', '>']).nth(2).unwrap().as_bytes().to_vec()).or_default() += 1;
            pages += 1;
        }
    }
    let shared: u32 = by_stretch.values().filter(|&&count| count > 1).sum();
    assert!(shared * 5 > pages, "{shared} of {pages} share the beginning of their text");
}

#[test]
fn pages_of_a_host_share_their_navigation() {
    let world = World::new(Params::preset(Preset::Tiny), 6);
    let mut blocks = BTreeMap::<String, Vec<u8>>::new();
    let mut body = Vec::new();
    let mut shared = 0;
    for text in &world.truth(100_000).unwrap().pages {
        let url = WebUrl::parse(text).unwrap();
        get(&world, &url, &mut body).expect("an allowed page answers");
        let page = String::from_utf8_lossy(&body);
        let Some((_, rest)) = page.split_once("<ul class=\"navigation\">") else { continue };
        let block = rest.split_once("</ul>").expect("a list ends").0.as_bytes();
        assert!(block.len() > 100);
        if let Some(before) = blocks.insert(url.host_name().to_owned(), block.to_vec()) {
            assert_eq!(before, block, "{text}");
            shared += 1;
        }
    }
    assert!(shared > 500, "{shared}");
}
