//! The links of a page, as structure: the one source of both the HTML and the truth.
//!
//! A page has, in this order: the host's navigation block (the same on all its pages), a breadcrumb, its children, on
//! home pages the trees of hosts and domains, and links in its text, four fifths of them within the host. Links do not
//! depend on time.

use crate::hosts::{DOMAIN_FAN_OUT, HOST_FAN_OUT, Host, PathStyle, SessionStyle};
use crate::mix::{Stream, Tag, mix, unit};
use crate::pages::PageKind;
use crate::place::{Place, Resource, Site, Target};
use crate::world::World;

/// The part of the page that a link stands in, in the order of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Navigation,
    Breadcrumb,
    Directory,
    Content,
}

/// One link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) to: Target,
    pub(crate) role: Role,
    /// rel=nofollow; only on links to home pages that are linked elsewhere without it.
    pub(crate) nofollow: bool,
    /// 0: canonical; otherwise which of the odd spellings.
    pub(crate) spelling: u8,
}

impl Link {
    fn new(to: Target, role: Role) -> Self {
        Self { to, role, nofollow: false, spelling: 0 }
    }
}

impl World {
    /// Appends the links of an HTML resource of a host.
    pub(crate) fn links_of(&self, host: &Host, resource: Resource, kind: PageKind, out: &mut Vec<Link>) {
        match (resource, kind) {
            (Resource::Page(page), PageKind::Html { source, .. }) => {
                self.page_links(host, page, source, 0, out)
            }
            (Resource::Copy { page, session }, PageKind::Html { source, .. }) => {
                self.page_links(host, page, source, session, out);
            }
            (Resource::Calendar(month), _) => self.calendar_links(month, out),
            (Resource::Script | Resource::Unlinked(_), _) => {
                out.push(Link::new(Target::Here(Resource::Page(0)), Role::Content))
            }
            _ => {}
        }
    }

    fn calendar_links(&self, month: u64, out: &mut Vec<Link>) {
        let mut push = |resource| out.push(Link::new(Target::Here(resource), Role::Content));
        push(Resource::Page(0));
        if month > 0 {
            push(Resource::Calendar(month - 1));
        }
        if self.params.calendar_months == 0 || month + 1 < self.params.calendar_months {
            push(Resource::Calendar(month + 1));
        }
    }

    fn page_links(&self, host: &Host, page: u64, source: u64, session: u64, out: &mut Vec<Link>) {
        let start = out.len();
        self.navigation(host, out);
        let parent = page.saturating_sub(1) / self.params.children_per_page;
        for ancestor in [0, parent] {
            out.push(Link::new(Target::Here(Resource::Page(ancestor)), Role::Breadcrumb));
        }
        let first = page * self.params.children_per_page + 1;
        for child in first..(first + self.params.children_per_page).min(host.pages) {
            out.push(Link::new(Target::Here(Resource::Page(child)), Role::Directory));
        }
        if page == 0 && host.calendar {
            out.push(Link::new(Target::Here(Resource::Calendar(0)), Role::Directory));
        }
        if host.print {
            let print = mix(host.key, Tag::Print, page, 0).is_multiple_of(3);
            let extra = if print { Resource::Print(page) } else { Resource::Script };
            out.push(Link::new(Target::Here(extra), Role::Directory));
        }
        let internal = out.len();
        if page == 0 {
            self.trees(host, out);
        }
        let tree_links = (out.len() - internal) as u64;

        // The text decides how many links there are, so that a near-duplicate has them in the same spots.
        let hash = mix(host.key, Tag::LinkCount, source, 0);
        let total = self.link_spread.scale(hash, self.params.links_per_page);
        let external = (total as f64 * self.params.external_share + unit(hash.rotate_left(20))) as u64;
        let external = external.saturating_sub(tree_links);
        let content = total.saturating_sub((out.len() - start) as u64).max(external + 1);
        let stream = Stream::new(mix(host.key, Tag::ContentLinks, page, session));
        self.content(host, page, content, external, stream, out);
    }

    fn navigation(&self, host: &Host, out: &mut Vec<Link>) {
        let count = u64::from(self.params.navigation_links).min(host.pages);
        let sections = u64::from(host.sections);
        let mut stream = Stream::new(mix(host.key, Tag::Navigation, 0, 0));
        for i in 0..count {
            let page = if i <= sections { i } else { stream.below(host.pages) };
            out.push(Link::new(Target::Here(Resource::Page(page)), Role::Navigation));
        }
    }

    /// On a home page: the hosts below this one, and for a main host the domains below its domain.
    fn trees(&self, host: &Host, out: &mut Vec<Link>) {
        let mut push =
            |domain, index| out.push(Link::new(Target::There(Place::home(domain, index)), Role::Directory));
        let first = u64::from(host.index) * HOST_FAN_OUT + 1;
        for index in first..(first + HOST_FAN_OUT).min(u64::from(self.host_count(host.domain))) {
            push(host.domain, index as u32);
        }
        if host.index > 0 {
            push(host.domain, 0);
            return;
        }
        let first = host.domain * DOMAIN_FAN_OUT + 1;
        for domain in first..(first + DOMAIN_FAN_OUT).min(self.params.domains) {
            push(domain, 0);
        }
    }

    fn content(
        &self,
        host: &Host,
        page: u64,
        count: u64,
        external: u64,
        mut stream: Stream,
        out: &mut Vec<Link>,
    ) {
        let broken = host.domain != 0 && stream.unit() < self.params.broken_links;
        let mut owed = 0;
        for i in 0..count {
            owed += external;
            let mut link = if owed >= count {
                owed -= count;
                self.external(host, &mut stream)
            } else if broken && i == count / 2 {
                let missing = host.pages + stream.below(host.pages / 16 + 2);
                Link::new(Target::Here(Resource::Page(missing)), Role::Content)
            } else {
                Link::new(Target::Here(self.internal(host, page, &mut stream)), Role::Content)
            };
            let odd = stream.next();
            if unit(odd) < self.params.odd_spellings {
                link.spelling = 1 + (odd % 4) as u8;
            }
            out.push(link);
        }
    }

    fn internal(&self, host: &Host, page: u64, stream: &mut Stream) -> Resource {
        let hash = stream.next();
        let to = match hash % 8 {
            0..=2 => (page + 1 + (hash >> 8) % 16) % host.pages,
            3..=5 => stream.below(host.pages),
            _ => {
                let u = stream.unit();
                (u * u * host.pages as f64) as u64
            }
        };
        if host.session == SessionStyle::Trap && hash >> 40 & 3 == 0 {
            return Resource::Copy { page: to, session: stream.next() };
        }
        Resource::Page(to)
    }

    fn external(&self, host: &Host, stream: &mut Stream) -> Link {
        let hash = stream.next();
        if unit(hash) < self.params.links_to_farms && self.params.farms * self.params.farm_domains > 0 {
            return Link::new(Target::There(self.farm_entrance(stream)), Role::Content);
        }
        let mut domain = self.zipf.rank(stream.next());
        let hash = stream.next();
        if unit(hash) < self.params.topic_locality {
            domain = self.neighbour_of_topic(domain, host.topic);
        }
        let index = if hash & 3 == 0 { stream.below(u64::from(self.host_count(domain))) as u32 } else { 0 };
        let deep = hash >> 2 & 7 < 3;
        if deep {
            let (owner, owned) = self.content_host(domain, index);
            let u = stream.unit();
            let page = (u * u * self.page_count(owner, owned) as f64) as u64;
            let place = Place { site: Site::Host { domain, index }, resource: Resource::Page(page) };
            return Link::new(Target::There(place), Role::Content);
        }
        if index > 0 {
            return Link::new(Target::There(Place::home(domain, index)), Role::Content);
        }
        if hash >> 5 & 15 == 0 {
            let place = Place { site: Site::Alias { domain }, resource: Resource::Page(0) };
            return Link::new(Target::There(place), Role::Content);
        }
        let mut link = Link::new(Target::There(Place::home(domain, 0)), Role::Content);
        // About half of all external links come here.
        link.nofollow = unit(hash.rotate_left(24)) < 2.0 * self.params.nofollow_links;
        link
    }

    /// Appends the link's URL as it stands in the page, `&` escaped. `salt` makes the session identifiers differ.
    pub(crate) fn write_reference(&self, host: &Host, link: &Link, salt: u64, out: &mut Vec<u8>) {
        let start = out.len();
        let (resource, from) = match link.to {
            Target::Here(resource) => {
                match link.spelling {
                    2 => out.extend_from_slice(b"/."),
                    3 => out.extend_from_slice(b"/old/.."),
                    _ => {}
                }
                let from = out.len();
                self.write_path(host, resource, true, out);
                (resource, from)
            }
            Target::There(place) => {
                out.extend_from_slice(b"http://");
                self.write_site(place.site, out);
                match link.spelling {
                    2 => out.extend_from_slice(b":80"),
                    3 => out[start..].make_ascii_uppercase(),
                    _ => {}
                }
                let from = out.len();
                self.write_place_path(place, true, out);
                (place.resource, from)
            }
        };
        if link.spelling == 4 && out[from..].starts_with(b"/~") {
            out.splice(from + 1..from + 2, *b"%7E");
        }
        if link.role == Role::Content
            && let (Target::Here(_), Resource::Page(page)) = (link.to, resource)
        {
            write_session(host, page, salt, out);
        }
        if link.spelling == 1 {
            out.extend_from_slice(b"#top");
        }
    }
}

/// Appends the session identifier that the host puts into its links, if it does.
fn write_session(host: &Host, page: u64, salt: u64, out: &mut Vec<u8>) {
    match host.session {
        SessionStyle::Php => {
            out.extend_from_slice(crate::pages::joiner(host, page, true));
            out.extend_from_slice(b"PHPSESSID=");
        }
        // In a path with a query the parameter would have to stand before it.
        SessionStyle::Java if host.style != PathStyle::Query => out.extend_from_slice(b";jsessionid="),
        _ => return,
    }
    crate::names::write_hex(mix(salt, Tag::Session, page, 1), out);
    crate::names::write_hex(mix(salt, Tag::Session, page, 2), out);
}
