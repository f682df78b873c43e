//! A sentence on each column.

/// The sentence on a column of `documents`, if it has one.
pub(super) fn of(name: &str) -> Option<&'static str> {
    let find = |sentences: &[(&str, &'static str)]| {
        sentences.iter().find(|(of, _)| *of == name).map(|(_, sentence)| *sentence)
    };
    let header = || {
        name.starts_with("http_").then_some(
            "a header field of the response: `http_` and its name, in small letters, with `_` for `-`",
        )
    };
    find(&OF_INDEX).or_else(|| find(&OF_OTHERS)).or_else(|| find(&COMPUTED)).or_else(header)
}

/// The sentence on a column of `outcomes`.
pub(super) fn of_outcomes(name: &str) -> Option<&'static str> {
    match name {
        "outcome" => Some("the status of the answer, or the name of the failure"),
        "fetch_status" => Some("the status of the answer; null if there was none"),
        "stored" => Some("whether `documents` has a row of it"),
        "fetch_time" => Some("when the last try began"),
        _ => of(name),
    }
}

/// Columns that the index has.
const OF_INDEX: [(&str, &str); 42] = [
    (
        "url_surtkey",
        "the URL in the order in which replay tools sort: host reversed, as in `org,example)/path`",
    ),
    ("url", "the URL"),
    ("url_host_name", "the host name"),
    ("url_host_tld", "the last part of the host name, as `org`"),
    ("url_host_2nd_last_part", "the part of the host name before its last"),
    ("url_host_3rd_last_part", "the third part of the host name from its end"),
    ("url_host_4th_last_part", "the fourth part of the host name from its end"),
    ("url_host_5th_last_part", "the fifth part of the host name from its end"),
    (
        "url_host_registry_suffix",
        "what domains are registered under, as `co.uk`, by the ICANN section of the Public Suffix List",
    ),
    ("url_host_registered_domain", "the domain that somebody has registered, as `example.co.uk`"),
    ("url_host_private_suffix", "what domains are given away under, registries' or others', as `github.io`"),
    ("url_host_private_domain", "the domain below that suffix, as `somebody.github.io`"),
    ("url_host_name_reversed", "the host name with its parts in reverse, as `org.example.www`"),
    ("url_protocol", "`http` or `https`"),
    ("url_port", "the port, if the URL names one"),
    ("url_path", "the path, with its `%` escapes"),
    ("url_query", "what follows the `?`; null without one"),
    ("fetch_time", "when the document was asked for"),
    ("fetch_status", "the status of the response"),
    ("fetch_redirect", "where a redirect leads"),
    (
        "content_digest",
        "the SHA-1 of the payload in base 32; of imports also other digests, with their names in front",
    ),
    ("content_mime_type", "the type that the header field Content-Type says"),
    ("content_mime_detected", "the type that the document's first bytes tell"),
    ("content_charset", "the character encoding"),
    ("content_languages", "the languages of the page, the main one first, as `deu,eng` (ISO 639-3)"),
    ("content_truncated", "why the payload is cut off, as `length` or `time`; null if it is whole"),
    ("warc_filename", "the archive file that has the record"),
    ("warc_record_offset", "where the record begins in that file"),
    ("warc_record_length", "how many bytes the record takes in that file, compressed"),
    ("warc_segment", "the segment of the crawl; `0` but for imports of Common Crawl's files"),
    ("crawl", "the name of the crawl: that of its directory, or what `mattock import --name` says"),
    ("subset", "`warc` for a status of 200, `crawldiagnostics` for all others"),
    ("depth", "how many links lead from a seed to the page"),
    ("outcome", "the status as the crawl's reports name it"),
    (
        "domain_in_degree",
        "how many other domains linked to the page's domain when it came, in crawls with --budget",
    ),
    ("took_ms", "how long the visit took, in milliseconds"),
    ("url_key", "the 64-bit fingerprint of the URL"),
    ("via_key", "the fingerprint of the URL that the link was found on; null for seeds"),
    ("sketch", "a 64-bit fingerprint of the text, alike for like texts"),
    ("record_type", "`response`, or `revisit` for a payload that is stored elsewhere"),
    ("instance", "16 hexadecimal digits that stand for this URL at this time"),
    ("insertion_time", "when the row was put into the repository, by a checkpoint or an import"),
];

/// Columns that other rows, or all pages together, decide.
const OF_OTHERS: [(&str, &str); 10] = [
    ("instance_number", "1 for the first stored instance of the URL, 2 for the next"),
    ("first_seen", "when the first stored instance of the URL was fetched"),
    ("changed", "whether the payload is another than that of the instance before"),
    ("latest", "whether there is no later instance of the URL"),
    ("via", "the page, sitemap or redirect that the link to this one was found on first"),
    (
        "cluster",
        "the id of the page that stands for all that say nearly the same; `mattock duplicates` makes it",
    ),
    ("component", "which pages lead to each other by links; `mattock graph scc` makes it"),
    ("in_degree", "how many pages link to this one; `mattock features build` makes it"),
    ("out_degree", "how many pages this one links to; `mattock features build` makes it"),
    ("pagerank", "the PageRank of the page; `mattock graph pagerank` makes it"),
];

/// Columns that are computed of the document.
const COMPUTED: [(&str, &str); 15] = [
    ("content", "the whole document as text, with its markup"),
    ("text", "the main text, without menus and adverts"),
    ("title", "the title"),
    ("headings", "the headings, in their order"),
    ("charset", "the encoding that the document was read in"),
    ("links", "the URLs that the page refers to"),
    ("mmlinks", "the URLs of its images, sounds and films"),
    ("language", "the language of the main text"),
    ("languages", "all languages of note in the main text, the main one first"),
    ("term_vector", "the 50 most frequent terms of the main text, as `term:count`"),
    ("term_counts", "the 256 most frequent terms of the main text, as `term:count`"),
    ("shingles", "64 numbers that are alike for like texts (min-wise sketch)"),
    ("simhash", "a 64-bit fingerprint of the main text, alike for like texts"),
    ("digest", "the SHA-1 of the body"),
    ("body", "the bytes of the document"),
];
