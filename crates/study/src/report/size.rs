//! How much there is: instances, URLs, pages, hosts, domains, bytes, and from when to when.

use mattock_env::UnixTime;
use serde::Serialize;

use super::ask::Desk;
use super::error::Result;

/// What a host is: scheme, name and port.
pub(crate) const HOST: &str = "url_protocol, url_host_name, url_port";
/// What a domain is: the name below the public suffix, or the whole name where there is none.
pub(crate) const DOMAIN: &str = "coalesce(url_host_private_domain, url_host_name)";

const ROWS: &str = "select count(*) as instances, count(*) filter (where fetch_status = 200) as pages, \
                    count(*) filter (where record_type = 'revisit') as revisits, count(content_truncated) as truncated, \
                    sum(warc_record_length) as archive_bytes, min(fetch_time) as first_fetch, max(fetch_time) as last_fetch, \
                    max(insertion_time) as last_insertion from documents";

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Size {
    /// Rows of the table.
    pub instances: u64,
    /// Different URLs among them.
    pub urls: u64,
    /// Instances with status 200.
    pub pages: u64,
    /// Hosts that have answered.
    pub hosts: u64,
    /// Domains that have answered.
    pub domains: u64,
    /// What the records take in the archive.
    pub archive_bytes: u64,
    /// Instances that were cut.
    pub truncated: u64,
    /// Instances stored without their payload.
    pub revisits: u64,
    /// When the first was fetched; nothing if there is none.
    pub first_fetch: Option<String>,
    /// And the last.
    pub last_fetch: Option<String>,
    /// When the last was inserted into the repository.
    pub last_insertion: Option<String>,
    /// Seconds between the two.
    pub seconds: f64,
    /// How many URLs there are of each number of instances.
    pub instances_per_url: Vec<InstancesPerUrl>,
}

/// URLs by how often they were fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InstancesPerUrl {
    /// So many instances each.
    pub instances: u64,
    /// So many URLs.
    pub urls: u64,
}

/// A time as reports write it.
pub(crate) fn time_text(milliseconds: i64) -> String {
    UnixTime::from_micros(milliseconds.saturating_mul(1000)).to_string()
}

pub(crate) fn gather(desk: &mut Desk<'_>) -> Result<Size> {
    desk.begin("counting")?;
    let mut size = desk.one(ROWS, |row| {
        let span = row.number("first_fetch")?.zip(row.number("last_fetch")?);
        Ok(Size {
            instances: row.count("instances")?,
            pages: row.count("pages")?,
            revisits: row.count("revisits")?,
            truncated: row.count("truncated")?,
            archive_bytes: row.count("archive_bytes")?,
            first_fetch: span.map(|(first, _)| time_text(first)),
            last_fetch: span.map(|(_, last)| time_text(last)),
            last_insertion: row.number("last_insertion")?.map(time_text),
            seconds: span.map_or(0.0, |(first, last)| (last - first) as f64 / 1000.0),
            ..Size::default()
        })
    })?;
    desk.define_query(
        ROWS,
        &[
            ("size.instances", "An instance is one stored answer of one URL at one time, whatever its status."),
            ("size.pages", "A page is an instance with HTTP status 200, of whatever type: images and sitemaps are among them."),
            ("size.archive_bytes", "What the records of all instances take in the archive's files, compressed."),
            ("size.truncated", "Instances of which the end is missing: they were too long, took too long, or broke off."),
            ("size.revisits", "Instances that are stored without their payload, because the archive had the same bytes before."),
            ("size.first_fetch", "When the first instance was asked for."),
            ("size.last_fetch", "When the last instance was asked for."),
            ("size.last_insertion", "When the last instance was committed to the repository, by a checkpoint or an import."),
        ],
    );
    let per_url = "select instances, count(*) as urls from (select url_key, count(*) as instances from documents group by url_key) \
                   group by instances order by instances";
    size.instances_per_url = desk.all(per_url, |row| {
        Ok(InstancesPerUrl { instances: row.count("instances")?, urls: row.count("urls")? })
    })?;
    size.urls = size.instances_per_url.iter().map(|of| of.urls).sum();
    desk.define_query(
        per_url,
        &[
            (
                "size.urls",
                "Different URLs among the instances; the command counts them by their number of instances.",
            ),
            ("size.instances_per_url", "How many URLs were fetched once, twice, and so on."),
        ],
    );
    for (figure, group, definition) in [
        (
            "size.hosts",
            HOST,
            "A host is scheme, name and port; those are counted that have at least one instance.",
        ),
        (
            "size.domains",
            DOMAIN,
            "A domain is the name one label below the public suffix; those are counted that have at least one instance.",
        ),
    ] {
        let sql = format!("select count(*) as number from (select {group} from documents group by {group})");
        let number = desk.one(&sql, |row| row.count("number"))?;
        desk.define_query(&sql, &[(figure, definition)]);
        if figure == "size.hosts" { size.hosts = number } else { size.domains = number }
    }
    Ok(size)
}
