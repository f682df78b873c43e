//! What a simulated Web is like: its size, its shape, its faults.
//!
//! A [`Params`] comes from a [`Preset`] or from a TOML file; [`World::new`](crate::World::new) reads it and never
//! changes it. Fields and presets stand in one table below, from which the struct, the presets and the commented
//! example are made, so that they cannot drift apart.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::SimwebError;

/// A ready-made world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// About 1,000 pages: for tests.
    Tiny,
    /// About 50,000 pages: for a minute of crawling.
    Small,
    /// About 10 million pages, with endless traps and farms.
    Large,
    /// More than a billion pages, with endless traps and farms.
    Huge,
    /// A few honest sites among unlimited farms.
    Spam,
}

impl Preset {
    /// All presets, smallest first.
    pub const ALL: [Preset; 5] = [Preset::Tiny, Preset::Small, Preset::Large, Preset::Huge, Preset::Spam];

    /// The name that the command line and files use.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Tiny => "tiny",
            Preset::Small => "small",
            Preset::Large => "large",
            Preset::Huge => "huge",
            Preset::Spam => "spam",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = SimwebError;

    fn from_str(text: &str) -> Result<Self, SimwebError> {
        let found = Preset::ALL.into_iter().find(|preset| preset.name() == text);
        found.ok_or_else(|| SimwebError::UnknownPreset(text.to_owned()))
    }
}

macro_rules! params {
    ($( $(#[doc = $doc:literal])+ $name:ident: $type:ty = [$tiny:expr, $small:expr, $large:expr, $huge:expr, $spam:expr]; )*) => {
        /// The parameters of a world. Shares are between 0 and 1; weights are relative to one another.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Params {
            $( $(#[doc = $doc])+ pub $name: $type, )*
        }

        impl Params {
            /// The parameters of a preset.
            pub fn preset(preset: Preset) -> Params {
                match preset {
                    Preset::Tiny => Params { $( $name: $tiny, )* },
                    Preset::Small => Params { $( $name: $small, )* },
                    Preset::Large => Params { $( $name: $large, )* },
                    Preset::Huge => Params { $( $name: $huge, )* },
                    Preset::Spam => Params { $( $name: $spam, )* },
                }
            }

            /// The names of all fields, in order: to suggest the nearest one for an unknown key.
            pub const FIELDS: &[&str] = &[$( stringify!($name), )*];

            fn write_toml(&self, out: &mut String) {
                use std::fmt::Write as _;
                $(
                    $( let _ = writeln!(out, "#{}", $doc); )+
                    let _ = writeln!(out, "{} = {:?}\n", stringify!($name), self.$name);
                )*
            }

            fn shares(&self) -> Vec<(&'static str, f64)> {
                let mut shares = Vec::new();
                $( self.$name.push_share(stringify!($name), &mut shares); )*
                shares
            }
        }
    };
}

/// Tells the floating-point fields from the whole numbers when a file is checked.
trait MaybeShare {
    fn push_share(self, name: &'static str, shares: &mut Vec<(&'static str, f64)>);
}

impl MaybeShare for f64 {
    fn push_share(self, name: &'static str, shares: &mut Vec<(&'static str, f64)>) {
        shares.push((name, self));
    }
}

impl MaybeShare for u64 {
    fn push_share(self, _: &'static str, _: &mut Vec<(&'static str, f64)>) {}
}

impl MaybeShare for u32 {
    fn push_share(self, _: &'static str, _: &mut Vec<(&'static str, f64)>) {}
}

params! {
    // ------------------------------------------------------------------------------------------------- size
    /// Honest pay-level domains; the index of a domain is its rank in popularity.
    domains: u64 = [26, 560, 60_000, 4_000_000, 40];
    /// How many seed URLs the world names: home pages of the most popular domains (1 to 3).
    seeds: u32 = [1, 1, 3, 3, 1];
    /// Hosts of a domain: P(at least h) = h^-hosts_exponent, and never more than hosts_max.
    hosts_exponent: f64 = [2.2, 2.0, 2.0, 2.0, 2.2];
    /// The most hosts that an honest domain has.
    hosts_max: u32 = [4, 24, 2_000, 20_000, 4];
    /// The fewest pages of a host (at least 2).
    pages_min: u64 = [12, 12, 10, 12, 12];
    /// The most pages of a host.
    pages_max: u64 = [80, 1_500, 100_000, 5_000_000, 200];
    /// Pages of a host: P(at least n) ~ n^-pages_exponent between the two bounds.
    pages_exponent: f64 = [1.0, 1.0, 1.0, 0.95, 1.0];
    /// Children of a page in its host's tree.
    children_per_page: u64 = [8, 8, 8, 8, 8];
    // ------------------------------------------------------------------------------------------------ links
    /// Mean number of links on a page.
    links_per_page: f64 = [59.0, 59.0, 59.0, 59.0, 59.0];
    /// Links of the navigation block that all pages of a host share (fewer on a host with fewer pages).
    navigation_links: u32 = [24, 24, 24, 24, 24];
    /// Share of links that lead to another host.
    external_share: f64 = [0.2, 0.2, 0.2, 0.2, 0.2];
    /// Exponent of the domains' in-degree: P(rank r is linked) ~ r^-zipf.
    zipf: f64 = [0.9, 0.9, 1.0, 1.0, 0.9];
    /// Share of external links, and of pages, that keep to the topic of their domain.
    topic_locality: f64 = [0.6, 0.6, 0.6, 0.6, 0.6];
    /// Share of external links that carry rel=nofollow.
    nofollow_links: f64 = [0.04, 0.04, 0.04, 0.04, 0.04];
    /// Share of content links written in another than the canonical way (fragment, port, upper case, dot segments).
    odd_spellings: f64 = [0.08, 0.08, 0.08, 0.08, 0.08];
    /// Share of pages with a link to a page that does not exist.
    broken_links: f64 = [0.08, 0.08, 0.08, 0.08, 0.08];
    // ---------------------------------------------------------------------------------------------- content
    /// Mean size of an HTML page in bytes.
    page_bytes: u64 = [20_000, 20_000, 20_000, 20_000, 20_000];
    /// Share of hosts (never the first of a domain) that are byte-identical mirrors of another host.
    mirror_hosts: f64 = [0.15, 0.08, 0.08, 0.08, 0.08];
    /// Share of leaf pages that repeat the text of another page of the host with a few words changed.
    near_duplicates: f64 = [0.04, 0.04, 0.04, 0.04, 0.04];
    /// Share of leaf pages that are plain text or PDF.
    non_html: f64 = [0.014, 0.014, 0.014, 0.014, 0.014];
    /// Share of leaf pages with <meta name=robots content=nofollow>.
    meta_nofollow: f64 = [0.02, 0.02, 0.02, 0.02, 0.02];
    /// Share of leaf pages with <meta name=robots content=noindex>.
    meta_noindex: f64 = [0.02, 0.02, 0.02, 0.02, 0.02];
    /// Share of pages whose text changes every hour or two.
    changes_hourly: f64 = [0.05, 0.05, 0.05, 0.05, 0.05];
    /// Share of pages whose text changes every day or two.
    changes_daily: f64 = [0.15, 0.15, 0.15, 0.15, 0.15];
    /// Share of pages whose text changes every week or two.
    changes_weekly: f64 = [0.2, 0.2, 0.2, 0.2, 0.2];
    /// Share of pages whose text changes every month or two; the rest never change.
    changes_monthly: f64 = [0.3, 0.3, 0.3, 0.3, 0.3];
    // --------------------------------------------------------------------------------------------- failures
    /// Share of leaf pages that answer 404 although they are linked.
    status_404: f64 = [0.03, 0.03, 0.03, 0.03, 0.03];
    /// Share of leaf pages that answer 403.
    status_403: f64 = [0.01, 0.01, 0.01, 0.01, 0.01];
    /// Share of leaf pages that answer 410.
    status_410: f64 = [0.005, 0.005, 0.005, 0.005, 0.005];
    /// Share of leaf pages that answer 500.
    status_500: f64 = [0.01, 0.01, 0.01, 0.01, 0.01];
    /// Share of leaf pages that answer 503 with Retry-After.
    status_503: f64 = [0.005, 0.005, 0.005, 0.005, 0.005];
    /// The Retry-After of those, in seconds.
    retry_after_s: u32 = [1, 5, 120, 120, 120];
    /// Share of leaf pages whose server closes the connection instead of answering.
    reset_pages: f64 = [0.003, 0.02, 0.02, 0.02, 0.02];
    /// Share of leaf pages that redirect: mostly to a page of the host, some elsewhere, in chains or in loops.
    redirects: f64 = [0.06, 0.06, 0.06, 0.06, 0.06];
    /// Share of domains (leaves of the domain tree) whose names do not exist.
    dead_names: f64 = [0.02, 0.01, 0.01, 0.01, 0.01];
    /// Share of domains (leaves of the domain tree) whose name server fails.
    failing_names: f64 = [0.01, 0.002, 0.002, 0.002, 0.002];
    /// Share of hosts that reset every connection.
    reset_hosts: f64 = [0.02, 0.006, 0.006, 0.006, 0.006];
    /// Share of hosts that accept connections and never answer.
    silent_hosts: f64 = [0.0, 0.002, 0.004, 0.004, 0.004];
    /// Share of hosts that answer slowly.
    slow_hosts: f64 = [0.1, 0.05, 0.05, 0.05, 0.05];
    /// The shortest delay of a slow host's answer.
    slow_ms_min: u32 = [5, 50, 50, 50, 50];
    /// The longest delay of a slow host's answer.
    slow_ms_max: u32 = [30, 500, 500, 500, 500];
    /// Server addresses; many hosts share one.
    servers: u32 = [12, 200, 20_000, 500_000, 40];
    // ------------------------------------------------------------------------------------------- robots.txt
    /// Weight of hosts without robots.txt (404).
    robots_missing: u32 = [30, 30, 30, 30, 30];
    /// Weight of an empty robots.txt.
    robots_empty: u32 = [6, 6, 6, 6, 6];
    /// Weight of a robots.txt that allows everything.
    robots_allow_all: u32 = [14, 14, 14, 14, 14];
    /// Weight of one that disallows some sections.
    robots_sections: u32 = [12, 12, 12, 12, 12];
    /// Weight of one with wildcard rules, against print versions and scripts.
    robots_wildcard: u32 = [8, 8, 8, 8, 8];
    /// Weight of one with a group for `mattock` that is stricter or laxer than that for everybody.
    robots_agent: u32 = [6, 6, 6, 6, 6];
    /// Weight of one in which Allow lines override Disallow lines.
    robots_override: u32 = [6, 6, 6, 6, 6];
    /// Weight of one that asks for a crawl delay.
    robots_delay: u32 = [5, 5, 5, 5, 5];
    /// Weight of one that disallows everything.
    robots_disallow_all: u32 = [2, 2, 2, 2, 2];
    /// Weight of a robots.txt that answers 503, hence forbids everything.
    robots_unavailable: u32 = [1, 1, 1, 1, 1];
    /// Weight of a robots.txt that answers 403, hence forbids nothing.
    robots_refused: u32 = [2, 2, 2, 2, 2];
    /// Weight of a robots.txt behind one or two redirects.
    robots_redirected: u32 = [3, 3, 3, 3, 3];
    /// Weight of a robots.txt with a byte order mark, CRLF, odd case and junk lines.
    robots_untidy: u32 = [3, 3, 3, 3, 3];
    /// Weight of a robots.txt with long comments.
    robots_verbose: u32 = [2, 2, 2, 2, 2];
    /// The crawl delay that some robots.txt ask for, in seconds.
    crawl_delay_s: f64 = [0.05, 0.2, 1.0, 5.0, 1.0];
    /// Share of hosts that name a sitemap in their robots.txt, where that has any text.
    sitemap_hosts: f64 = [0.3, 0.2, 0.2, 0.2, 0.1];
    /// Pages of such a host that only its sitemap leads to.
    sitemap_only_pages: u64 = [2, 4, 4, 4, 2];
    // ------------------------------------------------------------------------------------------------ traps
    /// Share of hosts whose links carry session identifiers that canonicalisation strips.
    session_hosts: f64 = [0.08, 0.06, 0.06, 0.06, 0.06];
    /// Share of hosts whose links carry identifiers that it does not strip: endless copies.
    session_trap_hosts: f64 = [0.0, 0.0, 0.002, 0.002, 0.02];
    /// Share of hosts with a calendar that links to the next month.
    calendar_hosts: f64 = [0.06, 0.04, 0.02, 0.02, 0.04];
    /// Months that a calendar has; 0 = unlimited.
    calendar_months: u64 = [12, 36, 0, 0, 0];
    /// Spam farms.
    farms: u64 = [0, 1, 10, 100, 20];
    /// Domains of a farm; in each of them any label is a host.
    farm_domains: u64 = [0, 3, 200, 1_000, 500];
    /// Pages of a farm's domain; 0 = unlimited.
    farm_pages: u64 = [0, 500, 0, 0, 0];
    /// Links of a farm's page to random sub-domains and pages of the farm.
    farm_links: u32 = [20, 20, 40, 40, 60];
    /// Share of the farm's links that lead to honest sites.
    farm_honest_links: f64 = [0.02, 0.02, 0.02, 0.02, 0.02];
    /// Share of honest sites' external links that lead to a farm.
    links_to_farms: f64 = [0.0, 0.002, 0.002, 0.002, 0.02];
}

/// The names of domains are made of 30 bits.
pub(crate) const DOMAINS_MAX: u64 = 1 << 30;

impl Params {
    /// Reads and checks parameters from TOML; every field must be there (start from [`Params::example_toml`]).
    pub fn from_toml(text: &str) -> Result<Params, SimwebError> {
        let params: Params = toml::from_str(text).map_err(|error| SimwebError::Toml(error.to_string()))?;
        params.check()?;
        Ok(params)
    }

    /// The commented TOML text of a preset.
    pub fn example_toml(preset: Preset) -> String {
        let mut text = format!(
            "# A simulated Web: the preset `{preset}`. Shares are between 0 and 1, weights relative to one another.\n\n"
        );
        Params::preset(preset).write_toml(&mut text);
        text
    }

    /// All domains: honest ones, then those of the farms.
    pub fn domains_total(&self) -> u64 {
        self.domains + self.farms * self.farm_domains
    }

    /// Whether a crawl of this world can never end.
    pub fn endless(&self) -> bool {
        let farms = self.farms * self.farm_domains > 0 && self.farm_pages == 0 && self.links_to_farms > 0.0;
        let calendars = self.calendar_hosts > 0.0 && self.calendar_months == 0;
        farms || calendars || self.session_trap_hosts > 0.0
    }

    /// Says what is wrong with the parameters, if something is.
    pub fn check(&self) -> Result<(), SimwebError> {
        let wrong =
            |field: &'static str, what: &str| Err(SimwebError::Parameter { field, problem: what.to_owned() });
        if self.domains == 0 {
            return wrong("domains", "must be at least 1");
        }
        let farms = self.farms.checked_mul(self.farm_domains);
        if farms.and_then(|farms| farms.checked_add(self.domains)).is_none_or(|all| all > DOMAINS_MAX) {
            return wrong("domains", "honest and farm domains together must be at most 2^30");
        }
        if !(1..=3).contains(&self.seeds) || u64::from(self.seeds) > self.domains {
            return wrong("seeds", "must be 1, 2 or 3, and no more than there are domains");
        }
        if self.hosts_max == 0 {
            return wrong("hosts_max", "must be at least 1");
        }
        if self.pages_min < 2 {
            return wrong("pages_min", "must be at least 2");
        }
        if self.pages_max < self.pages_min || self.pages_max > 1 << 40 {
            return wrong("pages_max", "must be at least pages_min and at most 2^40");
        }
        if !(2..=64).contains(&self.children_per_page) {
            return wrong("children_per_page", "must be between 2 and 64");
        }
        if !(1..=4_000_000).contains(&self.servers) {
            return wrong("servers", "must be between 1 and 4,000,000 (the addresses of 127.64.0.0/10)");
        }
        if self.page_bytes > 10_000_000 {
            return wrong("page_bytes", "must be at most 10,000,000");
        }
        if self.navigation_links > 200 {
            return wrong("navigation_links", "must be at most 200");
        }
        if self.slow_ms_max < self.slow_ms_min {
            return wrong("slow_ms_max", "must be at least slow_ms_min");
        }
        for (name, value) in self.shares() {
            let (low, high) = match name {
                "hosts_exponent" | "pages_exponent" => (0.1, 10.0),
                "zipf" => (0.0, 4.0),
                "links_per_page" => (1.0, 2_000.0),
                "crawl_delay_s" => (0.0, 86_400.0),
                _ => (0.0, 1.0),
            };
            if !(low..=high).contains(&value) {
                return wrong(name, &format!("is {value}; it must lie between {low} and {high}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_their_presets() {
        for preset in Preset::ALL {
            let text = Params::example_toml(preset);
            assert_eq!(Params::from_toml(&text).expect("an example is valid"), Params::preset(preset));
            assert_eq!(preset.name().parse::<Preset>().expect("a name"), preset);
            for field in Params::FIELDS {
                assert!(text.contains(&format!("\n{field} = ")), "{field} is missing");
            }
        }
    }

    #[test]
    fn mistakes_are_named() {
        let tiny = Params::example_toml(Preset::Tiny);
        let unknown = Params::from_toml(&format!("{tiny}\nhost_max = 3\n")).expect_err("an unknown key");
        assert!(unknown.to_string().contains("host_max"), "{unknown}");
        let wrong = Params { external_share: 1.5, ..Params::preset(Preset::Tiny) };
        let message = wrong.check().expect_err("a share above 1").to_string();
        assert!(message.contains("external_share") && message.contains("1.5"), "{message}");
        assert!("medium".parse::<Preset>().expect_err("no such preset").to_string().contains("tiny"));
    }

    #[test]
    fn only_the_small_presets_end() {
        let endless = |preset| Params::preset(preset).endless();
        assert_eq!(Preset::ALL.map(endless), [false, false, true, true, true]);
    }
}
