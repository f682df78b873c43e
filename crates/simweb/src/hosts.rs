//! Domains and hosts: how many there are, what they are called, what they are like.
//!
//! Two trees guarantee that every honest domain and host can be reached: the home page of a domain's main host links
//! to the domains 8d+1 … 8d+8, and the home page of host j to the hosts 16j+1 … 16j+16 of its domain. Whatever could
//! cut a branch off (failures, mirrors, a robots.txt that forbids all) only happens at leaves of these trees.

use crate::mix::{Tag, below, mix, unit};
use crate::names::{self, PaddedWord};
use crate::place::Site;
use crate::robots_txt::RobotsKind;
use crate::world::World;

/// Children of a domain in the domain tree.
pub(crate) const DOMAIN_FAN_OUT: u64 = 8;
/// Children of a host in the host tree of its domain.
pub(crate) const HOST_FAN_OUT: u64 = 16;
/// Number of topics; a block of as many successive ranks has each topic once.
pub(crate) const TOPICS: u64 = 16;

/// Steps of a two-dimensional low-discrepancy sequence (powers of the inverse plastic number, times 2^64). Sizes
/// drawn along it have the power law's shape with far less variance than independent draws, so that small worlds of
/// different seeds have much the same size.
const STEP_HOSTS: u64 = 0xc13f_a9a9_02a6_3291;
const STEP_PAGES: u64 = 0x91e1_0da5_c79e_7b1d;

/// How the paths of a host's pages look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathStyle {
    /// `/news/amber-river-17.html`
    Slug,
    /// `/news/17`
    Number,
    /// `/news/page.php?id=17`
    Query,
    /// `/news/amber-river/17/`
    Folder,
    /// `/~news/amber-river-17.html`
    Tilde,
}

/// What a host does with session identifiers in its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionStyle {
    None,
    /// `?PHPSESSID=…`: stripped by canonicalisation.
    Php,
    /// `;jsessionid=…`: stripped by canonicalisation.
    Java,
    /// `?s=…`: not stripped.
    Trap,
}

/// The facts about a host that its pages and paths are made from.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) domain: u64,
    pub(crate) index: u32,
    /// The key of all hashes about this host's pages.
    pub(crate) key: u64,
    pub(crate) pages: u64,
    /// Pages 0..interior have children.
    pub(crate) interior: u64,
    pub(crate) language: u8,
    pub(crate) topic: u8,
    pub(crate) style: PathStyle,
    pub(crate) sections: u8,
    section_start: u8,
    section_step: u8,
    pub(crate) session: SessionStyle,
    pub(crate) calendar: bool,
    /// Pages link to versions for printing, and there is a search script; robots.txt forbids both.
    pub(crate) print: bool,
    /// How the host writes its HTML: quotes, case.
    pub(crate) markup: u8,
}

impl Host {
    pub(crate) fn section_name(&self, section: u8) -> &'static PaddedWord {
        let at = self.section_start.wrapping_add(section.wrapping_mul(self.section_step));
        &names::SECTIONS[usize::from(at % 32)]
    }
}

impl World {
    pub(crate) fn topic(&self, domain: u64) -> u8 {
        ((domain % TOPICS + self.topic_turn(domain / TOPICS)) % TOPICS) as u8
    }

    /// The domain with this topic among the 16 ranks around `domain`, if there is one.
    pub(crate) fn neighbour_of_topic(&self, domain: u64, topic: u8) -> u64 {
        let block = domain / TOPICS;
        let offset = (u64::from(topic) + TOPICS - self.topic_turn(block)) % TOPICS;
        let neighbour = block * TOPICS + offset;
        if neighbour < self.params.domains { neighbour } else { domain }
    }

    fn topic_turn(&self, block: u64) -> u64 {
        mix(self.seed, Tag::TopicTurn, block, 0) % TOPICS
    }

    pub(crate) fn is_leaf_domain(&self, domain: u64) -> bool {
        domain * DOMAIN_FAN_OUT + 1 >= self.params.domains
    }

    /// How many hosts a domain has, aliases not counted.
    pub(crate) fn host_count(&self, domain: u64) -> u32 {
        let phase = mix(self.seed, Tag::HostCount, 0, 0);
        let u = unit(phase.wrapping_add(domain.wrapping_mul(STEP_HOSTS)));
        // Most domains have one host: that much can be said without a logarithm.
        if u < self.single_host_share {
            return 1;
        }
        (self.hosts_per_domain.at(u) as u32).clamp(1, self.params.hosts_max)
    }

    /// Whether the loss of a host costs nothing but its own pages.
    pub(crate) fn is_expendable(&self, domain: u64, index: u32) -> bool {
        if domain == 0 {
            return false;
        }
        if index == 0 {
            return self.is_leaf_domain(domain);
        }
        u64::from(index) * HOST_FAN_OUT + 1 >= u64::from(self.host_count(domain))
    }

    /// The host whose pages this host serves: itself, unless it is a mirror.
    pub(crate) fn content_host(&self, domain: u64, index: u32) -> (u64, u32) {
        if index == 0
            || unit(mix(self.seed, Tag::Mirror, domain, u64::from(index))) >= self.params.mirror_hosts
        {
            return (domain, index);
        }
        if !self.is_expendable(domain, index) {
            return (domain, index);
        }
        (below(mix(self.seed, Tag::MirrorOf, domain, u64::from(index)), self.params.domains), 0)
    }

    /// How many pages a host's own content has.
    pub(crate) fn page_count(&self, domain: u64, index: u32) -> u64 {
        let position = if index == 0 {
            mix(self.seed, Tag::PagePhase, 0, 0).wrapping_add(domain.wrapping_mul(STEP_PAGES))
        } else {
            mix(self.seed, Tag::PageCount, domain, u64::from(index))
        };
        // Popular domains are larger: four times at the very top, by a tenth or less from an eighth of the ranks on.
        let scale = (self.params.domains / 64 + 1) as f64;
        let boost = 1.0 + 3.0 * scale / (scale + domain as f64);
        let pages = self.pages_per_host.at(unit(position)) * boost;
        (pages as u64).clamp(self.params.pages_min, self.params.pages_max)
    }

    /// The facts about a host's own content; for a mirror ask with what [`World::content_host`] says.
    pub(crate) fn host(&self, domain: u64, index: u32) -> Host {
        let key = mix(self.seed, Tag::HostKey, domain, u64::from(index));
        let pages = self.page_count(domain, index);
        let style = mix(key, Tag::Style, 0, 0);
        let sections = mix(key, Tag::Sections, 0, 0);
        Host {
            domain,
            index,
            key,
            pages,
            interior: if pages < 2 { 0 } else { (pages - 2) / self.params.children_per_page + 1 },
            language: self.names.language(domain),
            topic: self.topic(domain),
            style: match style % 16 {
                0..=6 => PathStyle::Slug,
                7..=9 => PathStyle::Number,
                10..=11 => PathStyle::Query,
                12..=13 => PathStyle::Folder,
                _ => PathStyle::Tilde,
            },
            sections: 3 + (sections % 6) as u8,
            section_start: (sections >> 8) as u8 % 32,
            section_step: (sections >> 16) as u8 | 1,
            session: self.session_style(key),
            calendar: unit(mix(key, Tag::Calendar, 0, 0)) < self.params.calendar_hosts,
            print: self.robots_kind(domain, index) == RobotsKind::Wildcard,
            markup: (style >> 8) as u8 % 4,
        }
    }

    fn session_style(&self, key: u64) -> SessionStyle {
        let hash = mix(key, Tag::Session, 0, 0);
        let u = unit(hash);
        if u < self.params.session_trap_hosts {
            SessionStyle::Trap
        } else if u < self.params.session_trap_hosts + self.params.session_hosts {
            if hash & 1 == 0 { SessionStyle::Php } else { SessionStyle::Java }
        } else {
            SessionStyle::None
        }
    }

    /// Whether the main host of a domain is the bare name, and `www.` its alias.
    fn is_bare(&self, domain: u64) -> bool {
        mix(self.seed, Tag::BareName, domain, 0).is_multiple_of(4)
    }

    /// Appends the name of a site.
    pub(crate) fn write_site(&self, site: Site, out: &mut Vec<u8>) {
        let www = match site {
            Site::Host { domain, index: 0 } => !self.is_bare(domain),
            Site::Alias { domain } => self.is_bare(domain),
            Site::Host { index, .. } => {
                names::write_label(index, out);
                out.push(b'.');
                false
            }
            Site::Farm { label, .. } => {
                self.write_farm_label(label, out);
                out.push(b'.');
                false
            }
        };
        if www {
            out.extend_from_slice(b"www.");
        }
        self.names.write_domain(site.domain(), out);
    }

    /// The site with this name (lower case, without port).
    pub(crate) fn site_named(&self, name: &str) -> Option<Site> {
        let (domain, label) = self.names.parse(name)?;
        if domain >= self.params.domains {
            return Some(Site::Farm { domain, label: self.parse_farm_label(label)? });
        }
        match label {
            "" | "www" => {
                let main = self.is_bare(domain) == label.is_empty();
                Some(if main { Site::Host { domain, index: 0 } } else { Site::Alias { domain } })
            }
            _ => {
                let index = names::parse_label(label)?;
                (index < self.host_count(domain)).then_some(Site::Host { domain, index })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Params, Preset};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_site_name_leads_back(seed: u64, domain in 0u64..4_000_000, pick: u64) {
            let world = World::new(Params::preset(Preset::Huge), seed);
            let index = below(pick, u64::from(world.host_count(domain))) as u32;
            for site in [Site::Host { domain, index }, Site::Alias { domain }] {
                let mut name = Vec::new();
                world.write_site(site, &mut name);
                prop_assert_eq!(world.site_named(std::str::from_utf8(&name).expect("ASCII")), Some(site));
            }
        }

        #[test]
        fn topics_are_found_again(seed: u64, domain in 0u64..3_999_984, topic in 0u8..16) {
            let world = World::new(Params::preset(Preset::Huge), seed);
            let neighbour = world.neighbour_of_topic(domain, topic);
            prop_assert_eq!(world.topic(neighbour), topic);
            prop_assert!(neighbour.abs_diff(domain) < 16);
        }
    }

    #[test]
    fn most_domains_have_one_host_and_some_have_many() {
        let world = World::new(Params::preset(Preset::Large), 5);
        let counts: Vec<u32> = (0..60_000).map(|domain| world.host_count(domain)).collect();
        let single = counts.iter().filter(|&&count| count == 1).count();
        assert!((42_000..48_000).contains(&single), "{single}");
        assert!(counts.iter().any(|&count| count > 100));
    }

    #[test]
    fn mirrors_are_leaves_and_show_a_main_host() {
        let world = World::new(Params::preset(Preset::Small), 2);
        let mut mirrors = 0;
        for domain in 0..world.params.domains {
            assert_eq!(world.content_host(domain, 0), (domain, 0));
            for index in 1..world.host_count(domain) {
                if world.content_host(domain, index) != (domain, index) {
                    assert_eq!(world.content_host(domain, index).1, 0);
                    assert!(world.is_expendable(domain, index));
                    mirrors += 1;
                }
            }
        }
        assert!(mirrors > 5, "{mirrors}");
    }
}
