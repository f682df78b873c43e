//! What the instances are, by one property at a time: status, type, charset, protocol, top-level domain, depth, and by host and domain.
//!
//! Of each property the values with the most rows are kept, and everything else together: servers can name as many types as they like,
//! and a report must not grow with them.

use serde::Serialize;

use super::ask::Desk;
use super::error::Result;
use super::size::{DOMAIN, Size};

/// Values that are told one by one.
const VALUES_MAX: usize = 20;
/// Hosts and domains that are told by name.
const NAMES_MAX: usize = 15;
/// Depths from here on are told together.
const DEPTH_MAX: i64 = 20;

/// A value and what has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The value; empty where there is none.
    pub value: String,
    /// So many instances, or pages.
    pub count: u64,
    /// What their records take in the archive.
    pub archive_bytes: u64,
}

/// The values of a property, those with the most instances first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shares {
    /// The values.
    pub values: Vec<Share>,
    /// All others together.
    pub others: u64,
}

/// Hosts or domains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Names {
    /// Those with the most pages.
    pub by_pages: Vec<Share>,
    /// Those with the most bytes in the archive.
    pub by_bytes: Vec<Share>,
    /// How many there are with each number of pages, the most pages first.
    pub sizes: Vec<NameSize>,
}

/// Hosts or domains of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NameSize {
    /// So many pages each.
    pub pages: u64,
    /// So many hosts or domains.
    pub names: u64,
}

/// What instances and pages are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Properties {
    /// Instances by HTTP status.
    pub statuses: Shares,
    /// Pages by content type.
    pub types: Shares,
    /// Pages by charset.
    pub charsets: Shares,
    /// Instances by protocol.
    pub protocols: Shares,
    /// Pages by top-level domain.
    pub top_level_domains: Shares,
    /// Instances by the number of links from a seed.
    pub depths: Shares,
    /// Instances that were cut, by the reason.
    pub truncated: Shares,
    /// Domains.
    pub domains: Names,
    /// Hosts.
    pub hosts: Names,
}

/// A property: the figure, its definition, the SQL of its value, and which rows are looked at.
struct Property {
    figure: &'static str,
    definition: &'static str,
    value: &'static str,
    rows: &'static str,
}

const PAGES: &str = "fetch_status = 200";

const STATUSES: Property = Property {
    figure: "properties.statuses",
    definition: "Instances by HTTP status; URLs without an answer have no instance.",
    value: "cast(fetch_status as varchar)",
    rows: "true",
};
const TYPES: Property = Property {
    figure: "properties.types",
    definition: "Pages by the media type that their servers name.",
    value: "coalesce(content_mime_type, '')",
    rows: PAGES,
};
const CHARSETS: Property = Property {
    figure: "properties.charsets",
    definition: "Pages by the character encoding that they were read in or that their servers name; images and the like have none.",
    value: "coalesce(content_charset, '')",
    rows: PAGES,
};
const PROTOCOLS: Property = Property {
    figure: "properties.protocols",
    definition: "Instances by the scheme of their URLs.",
    value: "url_protocol",
    rows: "true",
};
const TOP_LEVEL_DOMAINS: Property = Property {
    figure: "properties.top_level_domains",
    definition: "Pages by the last label of their host's name; addresses have none.",
    value: "coalesce(url_host_tld, '')",
    rows: PAGES,
};
const TRUNCATED: Property = Property {
    figure: "properties.truncated",
    definition: "Instances that were cut, by the reason.",
    value: "content_truncated",
    rows: "content_truncated is not null",
};

fn share(row: &super::ask::Row<'_>) -> Result<Share> {
    Ok(Share {
        value: row.text("value")?.unwrap_or_default(),
        count: row.count("number")?,
        archive_bytes: row.count("archive_bytes")?,
    })
}

fn shares(desk: &mut Desk<'_>, property: &Property, all: u64) -> Result<Shares> {
    let Property { figure, definition, value, rows } = *property;
    let sql = format!(
        "select {value} as value, count(*) as number, sum(warc_record_length) as archive_bytes from documents \
         where {rows} group by 1 order by number desc, value limit {VALUES_MAX}"
    );
    let values = desk.all(&sql, share)?;
    desk.define_query(&sql, &[(figure, definition)]);
    let told: u64 = values.iter().map(|value| value.count).sum();
    Ok(Shares { values, others: all.saturating_sub(told) })
}

fn depths(desk: &mut Desk<'_>) -> Result<Shares> {
    let sql = format!(
        "select case when depth < {DEPTH_MAX} then depth else {DEPTH_MAX} end as steps, count(*) as number, \
         sum(warc_record_length) as archive_bytes from documents where depth is not null group by 1 order by 1"
    );
    let mut values = desk.all(&sql, |row| {
        let steps = row.number("steps")?.unwrap_or_default();
        let value = if steps == DEPTH_MAX { format!("{steps} or more") } else { steps.to_string() };
        Ok(Share { value, count: row.count("number")?, archive_bytes: row.count("archive_bytes")? })
    })?;
    values.retain(|value| value.count > 0);
    desk.define_query(
        &sql,
        &[(
            "properties.depths",
            "Instances by the number of links from the nearest seed on the way that the crawl took; imported archives do not say.",
        )],
    );
    Ok(Shares { values, others: 0 })
}

/// `figures`: those of both orders and of the sizes.
fn names(desk: &mut Desk<'_>, name: &str, what: &str, figures: [&'static str; 3]) -> Result<Names> {
    let ranked = |order: &str| {
        format!(
            "select {name} as value, count(*) as number, sum(warc_record_length) as archive_bytes from documents \
             where {PAGES} group by 1 order by {order} desc, value limit {NAMES_MAX}"
        )
    };
    let (by_pages, by_bytes) = (ranked("number"), ranked("archive_bytes"));
    let sizes = format!(
        "select pages, count(*) as names from (select {name} as value, count(*) as pages from documents \
         where {PAGES} group by 1) group by pages order by pages desc"
    );
    let names = Names {
        by_pages: desk.all(&by_pages, share)?,
        by_bytes: desk.all(&by_bytes, share)?,
        sizes: desk
            .all(&sizes, |row| Ok(NameSize { pages: row.count("pages")?, names: row.count("names")? }))?,
    };
    desk.define_query(&by_pages, &[(figures[0], &format!("The {what} with the most pages."))]);
    desk.define_query(
        &by_bytes,
        &[(figures[1], &format!("The {what} whose pages take the most bytes in the archive."))],
    );
    desk.define_query(&sizes, &[(figures[2], &format!("How many {what} have each number of pages."))]);
    Ok(names)
}

pub(crate) fn gather(desk: &mut Desk<'_>, size: &Size) -> Result<Properties> {
    desk.begin("statuses and types")?;
    let mut properties = Properties {
        statuses: shares(desk, &STATUSES, size.instances)?,
        types: shares(desk, &TYPES, size.pages)?,
        charsets: shares(desk, &CHARSETS, size.pages)?,
        protocols: shares(desk, &PROTOCOLS, size.instances)?,
        top_level_domains: shares(desk, &TOP_LEVEL_DOMAINS, size.pages)?,
        truncated: shares(desk, &TRUNCATED, size.truncated)?,
        ..Properties::default()
    };
    properties.depths = depths(desk)?;
    desk.begin("domains and hosts")?;
    let figures = ["properties.domains.by_pages", "properties.domains.by_bytes", "properties.domains.sizes"];
    properties.domains = names(desk, DOMAIN, "domains", figures)?;
    let figures = ["properties.hosts.by_pages", "properties.hosts.by_bytes", "properties.hosts.sizes"];
    let host = "url_protocol || '://' || url_host_name || coalesce(':' || cast(url_port as varchar), '')";
    properties.hosts = names(desk, host, "hosts", figures)?;
    Ok(properties)
}
