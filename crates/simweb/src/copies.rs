//! What is a copy of what: the truth about texts that several URLs show, for whoever looks for near-duplicates and mirrors.

use crate::mix::{Tag, mix};
use crate::pages::PageKind;
use crate::place::{Resource, Site};
use crate::world::World;

impl World {
    /// A number for the text that a URL shows; `None` for what is no page with text.
    ///
    /// Pages with the same number have the same text but for their titles and the words of their links: near-duplicates, and
    /// the same page on a mirror.
    pub fn text_of(&self, url: &str) -> Option<u64> {
        let rest = url.strip_prefix("http://")?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let place = self.place(self.site_of(host)?, path)?;
        let (domain, index) = match (place.site, place.resource) {
            (Site::Host { domain, index }, _) => self.content_host(domain, index),
            (Site::Farm { domain, label }, Resource::Page(page)) => {
                return Some(self.farm_key(domain, label, page));
            }
            _ => return None,
        };
        let host = self.host(domain, index);
        let kind = self.kind(&host, place.resource);
        let key = self.text_key(&host, place.resource, kind);
        match kind {
            // Without links the text is not cut into pieces: it is another one.
            PageKind::Html { .. } if matches!(place.resource, Resource::Print(_)) => {
                Some(mix(key, Tag::Print, 1, 0))
            }
            PageKind::Html { .. } => Some(key),
            PageKind::Plain => Some(mix(key, Tag::Text, 0, 1)),
            _ => None,
        }
    }

    /// The host whose pages a host shows: itself, unless it is a mirror. `None` for names that only redirect, farms, and what is no host.
    pub fn original_of(&self, host: &str) -> Option<String> {
        let Site::Host { domain, index } = self.site_of(host)? else { return None };
        let (domain, index) = self.content_host(domain, index);
        let mut name = Vec::new();
        self.write_site(Site::Host { domain, index }, &mut name);
        String::from_utf8(name).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Params, Preset};
    use crate::world::Request;
    use std::collections::BTreeMap;

    /// The words of a page's text, without its links.
    fn words(world: &World, url: &str) -> Option<String> {
        let (host, path_and_query) = url.strip_prefix("http://")?.split_once('/')?;
        let path_and_query = &format!("/{path_and_query}");
        let mut body = Vec::new();
        world.answer(&Request { host, path_and_query, ..Request::default() }, 0, &mut body);
        let page = String::from_utf8(body).ok()?.to_lowercase();
        let text = page.split_once("<div id=\"text\">")?.1.split_once("</div>")?.0.to_owned();
        let mut kept = String::new();
        for (at, part) in text.split("<a ").enumerate() {
            kept += if at == 0 { part } else { part.split_once("</a>")?.1 };
        }
        Some(kept)
    }

    #[test]
    fn the_same_number_is_the_same_text() {
        let params = Params { near_duplicates: 0.3, ..Params::preset(Preset::Tiny) };
        let world = World::new(params, 4);
        let mut texts: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
        let mut repeated = 0;
        for url in world.truth(100_000).unwrap().pages {
            let Some(text) = words(&world, &url) else { continue };
            let number = world.text_of(&url).unwrap();
            assert_eq!(
                *numbers.entry(text.clone()).or_insert(number),
                number,
                "{url}: one text, two numbers"
            );
            let known = texts.entry(number).or_default();
            repeated += usize::from(!known.is_empty());
            assert!(known.iter().all(|other| *other == text), "{url}: one number, two texts");
            known.push(text);
        }
        assert!(repeated > 100, "{repeated}");
    }

    #[test]
    fn mirrors_are_told() {
        let world = World::new(Params::preset(Preset::Small), 2);
        let mut mirrors = 0;
        for domain in 0..world.params.domains {
            for index in 0..world.host_count(domain) {
                let mut name = Vec::new();
                world.write_site(Site::Host { domain, index }, &mut name);
                let name = String::from_utf8(name).unwrap();
                let is_mirror = world.content_host(domain, index) != (domain, index);
                assert_eq!(world.original_of(&name).as_ref() != Some(&name), is_mirror);
                mirrors += u32::from(is_mirror);
            }
        }
        assert!(mirrors > 5);
        assert_eq!(world.original_of("no-such-name.example"), None);
    }
}
