//! Pages of a host: their paths, with the exact inverse, and what each of them is.
//!
//! The pages 0..n of a host form a tree: the children of p are b·p+1 … b·p+b. Pages with children always answer with
//! HTML; only leaves may be errors, redirects, near-duplicates or something else than HTML.

use crate::hosts::{Host, PathStyle, SessionStyle};
use crate::mix::{Tag, below, mix, unit};
use crate::names::{SLUG_WORDS, parse_hex, parse_number, push_word, write_hex, write_number};
use crate::place::{Place, Resource, Target};
use crate::world::World;

/// The path of the search script that hosts with print versions have.
const SCRIPT_PATH: &str = "/tools/search.cgi";
/// Where redirects pass through on their way.
const HOP_PREFIX: &str = "/go/";
const UNLINKED_PREFIX: &str = "/unlinked/";
const CALENDAR_PREFIX: &str = "/calendar/";
/// The first year of all calendars.
const CALENDAR_YEAR: u64 = 2020;

/// What a page answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// The connection is closed without an answer.
    Reset,
    /// 200 and HTML; `source` is the page whose text it shows (another one for a near-duplicate).
    Html { source: u64, nofollow: bool, noindex: bool },
    /// 200 and text/plain.
    Plain,
    /// 200 and application/pdf.
    Pdf,
    /// An error.
    Status(u16),
    /// A redirect.
    Redirect(u16, Target),
}

/// Where the shares of the leaf kinds end, added up.
#[derive(Clone, Debug)]
pub(crate) struct LeafShares {
    ends: [f64; 10],
}

impl LeafShares {
    pub(crate) fn new(params: &crate::Params) -> Self {
        let shares = [
            params.status_404,
            params.status_403,
            params.status_410,
            params.status_500,
            params.status_503,
            params.redirects,
            params.non_html,
            params.meta_nofollow,
            params.meta_noindex,
            params.reset_pages,
        ];
        let mut sum = 0.0;
        let ends = shares.map(|share| {
            sum += share;
            sum
        });
        Self { ends }
    }
}

impl World {
    /// What a resource answers with.
    pub(crate) fn kind(&self, host: &Host, resource: Resource) -> PageKind {
        let html = |page| PageKind::Html { source: page, nofollow: false, noindex: false };
        match resource {
            Resource::Page(page) => self.page_kind(host, page),
            Resource::Copy { page, .. } => self.page_kind(host, page),
            Resource::Print(page) => PageKind::Html { source: page, nofollow: true, noindex: true },
            Resource::Hop { page, step } => self.hop(host, page, step),
            Resource::Calendar(month) => html(month),
            Resource::Script => html(0),
            Resource::Unlinked(number) => html(number),
        }
    }

    fn page_kind(&self, host: &Host, page: u64) -> PageKind {
        let plain_html = PageKind::Html { source: page, nofollow: false, noindex: false };
        if page >= host.pages {
            return PageKind::Status(404);
        }
        if page < host.interior.max(1) || host.domain == 0 {
            return plain_html;
        }
        let hash = mix(host.key, Tag::PageKind, page, 0);
        let u = unit(hash);
        match self.leaf_shares.ends.iter().position(|&end| u < end) {
            Some(0) => PageKind::Status(404),
            Some(1) => PageKind::Status(403),
            Some(2) => PageKind::Status(410),
            Some(3) => PageKind::Status(500),
            Some(4) => PageKind::Status(503),
            Some(5) => self.redirect(host, page),
            Some(6) if hash.is_multiple_of(2) => PageKind::Plain,
            Some(6) => PageKind::Pdf,
            Some(7) => PageKind::Html { source: page, nofollow: true, noindex: hash.is_multiple_of(2) },
            Some(8) => PageKind::Html { source: page, nofollow: false, noindex: true },
            Some(9) => PageKind::Reset,
            _ => PageKind::Html { source: self.text_source(host, page), nofollow: false, noindex: false },
        }
    }

    /// The page whose text a leaf page shows: itself, or another leaf for a near-duplicate.
    fn text_source(&self, host: &Host, page: u64) -> u64 {
        let hash = |page| mix(host.key, Tag::NearDuplicate, page, 0);
        let repeats = |page| unit(hash(page)) < self.params.near_duplicates;
        if !repeats(page) {
            return page;
        }
        let first_leaf = host.interior.max(1);
        let source = first_leaf + below(hash(page).rotate_left(32), host.pages - first_leaf);
        if repeats(source) { page } else { source }
    }

    /// How the redirect that starts at a page goes on.
    fn redirect(&self, host: &Host, page: u64) -> PageKind {
        let hash = mix(host.key, Tag::RedirectTo, page, 0);
        let status = if hash & 3 == 0 { 302 } else { 301 };
        let target = match hash >> 8 & 31 {
            0..=22 => Target::Here(Resource::Page(self.redirect_end(host, page))),
            23..=26 => Target::There(Place::home(below(hash, self.params.domains), 0)),
            27..=29 => Target::Here(Resource::Hop { page, step: 2 }),
            _ => Target::Here(Resource::Hop { page, step: 0 }),
        };
        PageKind::Redirect(status, target)
    }

    /// The page of the host, never another redirect, that a redirect ends at.
    fn redirect_end(&self, host: &Host, page: u64) -> u64 {
        below(mix(host.key, Tag::RedirectTo, page, 1), host.interior.max(1))
    }

    /// Steps 2 and 1 lead to the end, step 0 back to the start: a loop.
    fn hop(&self, host: &Host, page: u64, step: u8) -> PageKind {
        let first = match self.page_kind(host, page) {
            PageKind::Redirect(_, Target::Here(Resource::Hop { step, .. })) => step,
            _ => return PageKind::Status(404),
        };
        let next = match (first, step) {
            (2, 2) => Resource::Hop { page, step: 1 },
            (2, 1) => Resource::Page(self.redirect_end(host, page)),
            (0, 0) => Resource::Page(page),
            _ => return PageKind::Status(404),
        };
        PageKind::Redirect(302, Target::Here(next))
    }

    /// The section of a page: that of its ancestor below the home page.
    pub(crate) fn section(&self, host: &Host, page: u64) -> u8 {
        let children = self.params.children_per_page;
        let mut ancestor = page;
        while ancestor > children {
            ancestor = (ancestor - 1) / children;
        }
        (ancestor.saturating_sub(1) % u64::from(host.sections)) as u8
    }

    /// Appends `/section/`.
    pub(crate) fn write_section(&self, host: &Host, section: u8, out: &mut Vec<u8>) {
        out.push(b'/');
        if host.style == PathStyle::Tilde {
            out.push(b'~');
        }
        push_word(host.section_name(section), out);
        out.push(b'/');
    }

    /// Appends the canonical path and query of a resource; with `&amp;` for `&` where it goes into HTML.
    pub(crate) fn write_path(&self, host: &Host, resource: Resource, html: bool, out: &mut Vec<u8>) {
        match resource {
            Resource::Page(page) => self.write_page_path(host, page, out),
            Resource::Print(page) => {
                self.write_page_path(host, page, out);
                out.extend_from_slice(joiner(host, page, html));
                out.extend_from_slice(b"print=1");
            }
            Resource::Copy { page, session } => {
                self.write_page_path(host, page, out);
                out.extend_from_slice(joiner(host, page, html));
                out.extend_from_slice(b"s=");
                write_hex(session, out);
            }
            Resource::Hop { page, step } => {
                out.extend_from_slice(HOP_PREFIX.as_bytes());
                write_number(page, out);
                out.push(b'/');
                write_number(u64::from(step), out);
            }
            Resource::Calendar(month) => {
                out.extend_from_slice(CALENDAR_PREFIX.as_bytes());
                write_number(CALENDAR_YEAR + month / 12, out);
                let month = (month % 12 + 1) as u8;
                out.extend_from_slice(&[b'-', b'0' + month / 10, b'0' + month % 10]);
                out.extend_from_slice(b".html");
            }
            Resource::Script => out.extend_from_slice(SCRIPT_PATH.as_bytes()),
            Resource::Unlinked(number) => {
                out.extend_from_slice(UNLINKED_PREFIX.as_bytes());
                write_number(number, out);
                out.extend_from_slice(b".html");
            }
        }
    }

    fn write_page_path(&self, host: &Host, page: u64, out: &mut Vec<u8>) {
        if page == 0 {
            out.push(b'/');
            return;
        }
        self.write_section(host, self.section(host, page), out);
        match host.style {
            PathStyle::Slug | PathStyle::Tilde => {
                write_slug(host, page, out);
                out.push(b'-');
                write_number(page, out);
                out.extend_from_slice(b".html");
            }
            PathStyle::Number => write_number(page, out),
            PathStyle::Query => {
                out.extend_from_slice(b"page.php?id=");
                write_number(page, out);
            }
            PathStyle::Folder => {
                write_slug(host, page, out);
                out.push(b'/');
                write_number(page, out);
                out.push(b'/');
            }
        }
    }

    /// The resource with this canonical path and query; a page number may lie beyond the host's pages.
    pub(crate) fn parse_path(&self, host: &Host, path: &str) -> Option<Resource> {
        let resource = self.guess_path(host, path)?;
        let mut again = Vec::with_capacity(96);
        self.write_path(host, resource, false, &mut again);
        (again == path.as_bytes()).then_some(resource)
    }

    /// Reads the numbers out of a path; whether the rest is right shows when it is written again.
    fn guess_path(&self, host: &Host, path: &str) -> Option<Resource> {
        if path == "/" {
            return Some(Resource::Page(0));
        }
        if path == SCRIPT_PATH {
            return host.print.then_some(Resource::Script);
        }
        if let Some(rest) = path.strip_prefix(HOP_PREFIX) {
            let (page, step) = rest.split_once('/')?;
            let step = u8::try_from(parse_number(step)?).ok()?;
            return Some(Resource::Hop { page: parse_number(page)?, step });
        }
        if let Some(rest) = path.strip_prefix(UNLINKED_PREFIX) {
            let number = parse_number(rest.strip_suffix(".html")?)?;
            return (number < self.params.sitemap_only_pages).then_some(Resource::Unlinked(number));
        }
        if host.calendar
            && let Some(rest) = path.strip_prefix(CALENDAR_PREFIX)
        {
            let (year, month) = rest.strip_suffix(".html")?.split_once('-')?;
            let years = parse_number(year)?.checked_sub(CALENDAR_YEAR)?;
            let month = parse_number(month.strip_prefix('0').unwrap_or(month))?.checked_sub(1)?;
            let month = years.checked_mul(12)?.checked_add(month)?;
            let limit = self.params.calendar_months;
            return (limit == 0 || month < limit).then_some(Resource::Calendar(month));
        }
        if host.print
            && let Some(rest) = path.strip_suffix("print=1")
        {
            return self.guess_page(host, &rest[..rest.len().checked_sub(1)?]).map(Resource::Print);
        }
        if host.session == SessionStyle::Trap
            && let Some((rest, session)) = path.rsplit_once("s=")
            && let Some(session) = parse_hex(session)
        {
            let page = self.guess_page(host, rest.get(..rest.len().checked_sub(1)?)?)?;
            return Some(Resource::Copy { page, session });
        }
        self.guess_page(host, path).map(Resource::Page)
    }

    fn guess_page(&self, host: &Host, path: &str) -> Option<u64> {
        if path == "/" {
            return Some(0);
        }
        match host.style {
            PathStyle::Slug | PathStyle::Tilde => {
                parse_number(path.strip_suffix(".html")?.rsplit_once('-')?.1)
            }
            PathStyle::Number => parse_number(path.rsplit_once('/')?.1),
            PathStyle::Query => parse_number(path.rsplit_once("?id=")?.1),
            PathStyle::Folder => parse_number(path.strip_suffix('/')?.rsplit_once('/')?.1),
        }
    }
}

/// What comes between a page's path and one more parameter.
pub(crate) fn joiner(host: &Host, page: u64, html: bool) -> &'static [u8] {
    match (host.style == PathStyle::Query && page != 0, html) {
        (false, _) => b"?",
        (true, false) => b"&",
        (true, true) => b"&amp;",
    }
}

fn write_slug(host: &Host, page: u64, out: &mut Vec<u8>) {
    let hash = mix(host.key, Tag::Slug, page, 0);
    push_word(&SLUG_WORDS[(hash & 63) as usize], out);
    out.push(b'-');
    push_word(&SLUG_WORDS[(hash >> 6 & 63) as usize], out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Params, Preset};
    use proptest::prelude::*;

    fn check(world: &World, host: &Host, resource: Resource) -> Result<(), TestCaseError> {
        let mut path = Vec::new();
        world.write_path(host, resource, false, &mut path);
        let path = String::from_utf8(path).expect("ASCII");
        prop_assert_eq!(world.parse_path(host, &path), Some(resource), "{}", path);
        Ok(())
    }

    proptest! {
        #[test]
        fn a_path_leads_back(seed: u64, domain in 0u64..4_000_000, page in 0u64..1 << 40, session: u64, month in 0u64..99_999) {
            let world = World::new(Params::preset(Preset::Huge), seed);
            let mut host = world.host(domain, 0);
            check(&world, &host, Resource::Page(page))?;
            check(&world, &host, Resource::Hop { page, step: 2 })?;
            check(&world, &host, Resource::Unlinked(page % world.params.sitemap_only_pages))?;
            (host.print, host.calendar, host.session) = (true, true, SessionStyle::Trap);
            check(&world, &host, Resource::Print(page))?;
            check(&world, &host, Resource::Copy { page, session })?;
            check(&world, &host, Resource::Calendar(month))?;
            check(&world, &host, Resource::Script)?;
        }

        #[test]
        fn other_paths_are_not_found(seed: u64, domain in 0u64..4_000_000, page in 1u64..1 << 40) {
            let world = World::new(Params::preset(Preset::Huge), seed);
            let host = world.host(domain, 0);
            let mut path = Vec::new();
            world.write_path(&host, Resource::Page(page), false, &mut path);
            let path = String::from_utf8(path).expect("ASCII");
            for wrong in [format!("/x{path}"), format!("{path}0x"), path.to_uppercase(), format!("{path}?a=1")] {
                prop_assert_eq!(world.parse_path(&host, &wrong), None, "{}", wrong);
            }
        }
    }

    #[test]
    fn redirects_end_at_pages() {
        let world = World::new(Params::preset(Preset::Small), 3);
        let (mut longest, mut loops) = (0, 0);
        for domain in 0..world.params.domains {
            let host = world.host(domain, 0);
            for page in 0..host.pages {
                let mut resource = Resource::Page(page);
                let mut hops = 0;
                while let PageKind::Redirect(_, target) = world.kind(&host, resource) {
                    hops += 1;
                    match target {
                        Target::Here(next) if next != Resource::Page(page) => resource = next,
                        Target::Here(_) => {
                            loops += 1;
                            break;
                        }
                        Target::There(_) => break,
                    }
                }
                assert!(hops <= 3);
                longest = longest.max(hops);
            }
        }
        assert!(longest == 3 && loops > 0, "{longest} hops at most, {loops} loops");
    }
}
