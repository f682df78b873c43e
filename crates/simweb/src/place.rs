//! Structural addresses: what a URL of the simulated Web stands for.
//!
//! Everything inside works on a [`Place`]; text is only made at the edge, by `pages` (paths) and `hosts` (names).

/// A name that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Site {
    /// A host of an honest domain; host 0 is the main one.
    Host { domain: u64, index: u32 },
    /// The other form of host 0 (with or without `www.`), which redirects to it.
    Alias { domain: u64 },
    /// A sub-domain of a farm's domain.
    Farm { domain: u64, label: u64 },
}

impl Site {
    pub(crate) fn domain(self) -> u64 {
        match self {
            Site::Host { domain, .. } | Site::Alias { domain } | Site::Farm { domain, .. } => domain,
        }
    }
}

/// Something that a site serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Resource {
    /// A page of the host's tree; 0 is the home page. It need not exist.
    Page(u64),
    /// The version for printing.
    Print(u64),
    /// A copy of a page under a session identifier that does not strip: the session trap.
    Copy { page: u64, session: u64 },
    /// A step on the way of the redirect that starts at a page.
    Hop { page: u64, step: u8 },
    /// A month of the calendar, from January 2020.
    Calendar(u64),
    /// The host's search script.
    Script,
    /// A page that only the host's sitemap leads to.
    Unlinked(u64),
}

/// A site and what is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) site: Site,
    pub(crate) resource: Resource,
}

impl Place {
    pub(crate) fn home(domain: u64, index: u32) -> Self {
        Self { site: Site::Host { domain, index }, resource: Resource::Page(0) }
    }
}

/// Where a link leads: root-relative, so that a mirror's pages are the same bytes, or to a place by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Here(Resource),
    There(Place),
}

impl Target {
    /// The place that the target stands for on a page of `site`.
    pub(crate) fn on(self, site: Site) -> Place {
        match self {
            Target::Here(resource) => Place { site, resource },
            Target::There(place) => place,
        }
    }
}
