//! Spam farms: domains in which any label is a host and any number a page, all linking to one another.
//!
//! In an endless farm labels and page numbers are hashes, so a crawler never sees the same page twice and never comes
//! to the end. In a finite one (`farm_pages`) the pages 0..n of a domain are laid out ten to a sub-domain and linked as
//! a tree, so that whoever finds one root finds the whole domain.

use crate::links::{Link, Role};
use crate::mix::{Stream, Tag, mix, mix_bytes};
use crate::names::{parse_number, write_number};
use crate::place::{Place, Resource, Site, Target};
use crate::world::World;

/// Pages on a sub-domain of a finite farm.
const PAGES_PER_HOST: u64 = 10;
/// Children of a page of a finite farm.
const FAN_OUT: u64 = 8;
/// Labels that nobody generated are hashes with this bit.
const FOREIGN_LABEL: u64 = 1 << 63;

impl World {
    /// The farm that a domain belongs to.
    pub(crate) fn farm_of(&self, domain: u64) -> u64 {
        (domain - self.params.domains) / self.params.farm_domains.max(1)
    }

    pub(crate) fn write_farm_label(&self, label: u64, out: &mut Vec<u8>) {
        out.push(b's');
        write_number(label, out);
    }

    pub(crate) fn parse_farm_label(&self, text: &str) -> Option<u64> {
        if text.is_empty() {
            return None;
        }
        let number = text.strip_prefix('s').and_then(parse_number).filter(|&label| label < FOREIGN_LABEL);
        if self.params.farm_pages == 0 {
            return Some(number.unwrap_or_else(|| mix_bytes(self.seed, text.as_bytes()) | FOREIGN_LABEL));
        }
        number.filter(|label| label * PAGES_PER_HOST < self.params.farm_pages)
    }

    pub(crate) fn write_farm_path(&self, page: u64, out: &mut Vec<u8>) {
        out.push(b'/');
        if page > 0 {
            write_number(page, out);
            out.extend_from_slice(b".html");
        }
    }

    pub(crate) fn parse_farm_path(&self, label: u64, path: &str) -> Option<u64> {
        let page = match path {
            "/" => 0,
            _ => parse_number(path.strip_prefix('/')?.strip_suffix(".html")?).filter(|&page| page > 0)?,
        };
        let limit = self.params.farm_pages;
        let exists = limit == 0 || (page < PAGES_PER_HOST && label * PAGES_PER_HOST + page < limit);
        exists.then_some(page)
    }

    /// The key of a farm page's text and links.
    pub(crate) fn farm_key(&self, domain: u64, label: u64, page: u64) -> u64 {
        mix(mix(self.seed, Tag::FarmKey, domain, label), Tag::FarmKey, page, 1)
    }

    /// The way into some farm, for a link from an honest page.
    pub(crate) fn farm_entrance(&self, stream: &mut Stream) -> Place {
        let domain = self.params.domains + stream.below(self.params.farms * self.params.farm_domains);
        self.farm_place(domain, stream)
    }

    /// Some page of a farm's domain.
    fn farm_place(&self, domain: u64, stream: &mut Stream) -> Place {
        if self.params.farm_pages > 0 {
            let number = stream.below(self.params.farm_pages);
            return finite_place(domain, number);
        }
        let label = stream.next() >> 32;
        let page = if stream.below(3) == 0 { 0 } else { stream.next() >> 24 };
        Place { site: Site::Farm { domain, label }, resource: Resource::Page(page) }
    }

    pub(crate) fn farm_links(&self, domain: u64, label: u64, page: u64, out: &mut Vec<Link>) {
        let mut stream = Stream::new(mix(self.farm_key(domain, label, page), Tag::FarmLinks, 0, 0));
        let mut push = |to| out.push(Link { to, role: Role::Content, nofollow: false, spelling: 0 });
        if self.params.farm_pages > 0 {
            let number = label * PAGES_PER_HOST + page;
            for child in number * FAN_OUT + 1..=number * FAN_OUT + FAN_OUT {
                if child < self.params.farm_pages {
                    push(Target::There(finite_place(domain, child)));
                }
            }
        }
        let first = self.params.domains + self.farm_of(domain) * self.params.farm_domains;
        for _ in 0..self.params.farm_links {
            if stream.unit() < self.params.farm_honest_links {
                push(Target::There(Place::home(self.zipf.rank(stream.next()), 0)));
            } else {
                let domain = first + stream.below(self.params.farm_domains);
                push(Target::There(self.farm_place(domain, &mut stream)));
            }
        }
    }
}

fn finite_place(domain: u64, number: u64) -> Place {
    let site = Site::Farm { domain, label: number / PAGES_PER_HOST };
    Place { site, resource: Resource::Page(number % PAGES_PER_HOST) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Params, Preset};

    #[test]
    fn any_label_is_a_host_of_an_endless_farm() {
        let world = World::new(Params::preset(Preset::Spam), 1);
        let domain = world.params.domains + 3;
        let mut name = Vec::new();
        world.names.write_domain(domain, &mut name);
        let name = String::from_utf8(name).expect("ASCII");
        assert_eq!(world.site_named(&format!("s77.{name}")), Some(Site::Farm { domain, label: 77 }));
        for label in ["anything", "www", "a.b.c", "s007"] {
            assert!(
                matches!(world.site_named(&format!("{label}.{name}")), Some(Site::Farm { .. })),
                "{label}"
            );
        }
        assert_eq!(world.site_named(&name), None);
    }

    #[test]
    fn the_honest_part_of_an_endless_world_ends_and_has_no_farm() {
        let world = World::new(Params::preset(Preset::Spam), 1);
        let honest = world.honest(20_000).expect("a few sites");
        let hosts = || honest.pages.iter().map(|url| url.split('/').nth(2).expect("a host"));
        assert!(honest.allowed > 1000 && honest.domains <= world.params.domains);
        assert!(!hosts().any(|host| world.is_farm(host)));
        let links: Vec<String> = honest.pages.iter().flat_map(|url| world.links(url, 0)).collect();
        let farms = links.iter().filter(|url| world.is_farm(url.split('/').nth(2).expect("a host"))).count();
        assert!((100..links.len() / 100).contains(&farms), "{farms} of {} links", links.len());
        // Where there is neither farm nor endless trap, that is all there is.
        let tiny = World::new(Params::preset(Preset::Tiny), 7);
        assert_eq!(
            tiny.honest(20_000).expect("a thousand pages").pages,
            tiny.truth(20_000).expect("the same").pages
        );
    }

    #[test]
    fn a_finite_farm_ends() {
        let world = World::new(Params { farm_pages: 25, ..Params::preset(Preset::Spam) }, 1);
        assert_eq!(world.parse_farm_label("s2"), Some(2));
        assert_eq!(world.parse_farm_label("s3"), None);
        assert_eq!(world.parse_farm_label("www"), None);
        assert_eq!(world.parse_farm_path(2, "/4.html"), Some(4));
        assert_eq!(world.parse_farm_path(2, "/5.html"), None);
        assert_eq!(world.parse_farm_path(2, "/0.html"), None);
    }
}
