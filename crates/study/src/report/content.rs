//! What only the documents themselves tell: languages, lengths, ages; of a sample that can be drawn again.
//!
//! The sample is one of HTML pages by the hash of each, as `sampled(p, seed)` draws it, so that the same command reads the same documents
//! again, and only those. Languages are counted for all pages instead if they are kept (`mattock materialize DIR language`).

use std::collections::BTreeMap;

use jiff::fmt::rfc2822;
use mattock_query::Language;
use serde::Serialize;

use super::ReportOptions;
use super::ask::Desk;
use super::error::Result;
use super::spread::Spread;

/// Pages whose text can be read.
const HTML: &str =
    "fetch_status = 200 and coalesce(content_mime_detected, content_mime_type, '') like '%html%'";
/// Languages that are told one by one.
const LANGUAGES_MAX: usize = 20;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Content {
    /// Pages that are HTML.
    pub html_pages: u64,
    /// The probability that a page is in the sample.
    pub sample_probability: f64,
    /// The seed of the sample.
    pub sample_seed: u64,
    /// Pages in the sample.
    pub sample_pages: u64,
    /// Documents that could not be read.
    pub unreadable: u64,
    /// Languages.
    pub languages: Languages,
    /// Bytes of the pages' HTML in UTF-8, without transfer and content codings.
    pub html_bytes: Option<Spread>,
    /// Characters of their main text.
    pub text_characters: Option<Spread>,
    /// Seconds from `Last-Modified` to the fetch, where a server says it.
    pub age_seconds: Option<Spread>,
}

/// Pages by their main language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Languages {
    /// Whether all HTML pages were counted, and not the sample only.
    pub of_all_pages: bool,
    /// ISO 639-3 codes, those with the most pages first; empty where there is too little text.
    pub values: Vec<LanguageShare>,
    /// Pages of all other languages.
    pub others: u64,
}

/// Pages of one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LanguageShare {
    /// ISO 639-3.
    pub language: String,
    /// Pages.
    pub pages: u64,
}

impl Languages {
    fn of(counts: BTreeMap<String, u64>, of_all_pages: bool) -> Languages {
        let mut values: Vec<LanguageShare> =
            counts.into_iter().map(|(language, pages)| LanguageShare { language, pages }).collect();
        values.sort_by(|one, two| two.pages.cmp(&one.pages).then_with(|| one.language.cmp(&two.language)));
        let others = values.split_off(values.len().min(LANGUAGES_MAX));
        Languages { of_all_pages, values, others: others.iter().map(|share| share.pages).sum() }
    }

    /// All pages that were counted.
    pub fn pages(&self) -> u64 {
        self.others + self.values.iter().map(|share| share.pages).sum::<u64>()
    }
}

/// The probability with which about so many of all are drawn, in few digits: it is written down and typed again.
fn probability(sample: u64, all: u64) -> f64 {
    if all <= sample || sample == 0 {
        return if sample == 0 { 0.0 } else { 1.0 };
    }
    let wanted = sample as f64 / all as f64;
    let digits = 2 - wanted.log10().floor() as i32;
    let scale = 10_f64.powi(digits);
    ((wanted * scale).ceil() / scale).min(1.0)
}

/// Seconds from a date as HTTP writes it to a fetch; nothing if it is none, or later.
fn age_seconds(modified: &str, fetched_ms: i64) -> Option<u64> {
    let modified = rfc2822::parse(modified.trim()).ok()?.timestamp().as_second();
    u64::try_from(fetched_ms.div_euclid(1000) - modified).ok()
}

fn languages_sql(condition: &str) -> String {
    format!(
        "select language, count(*) as pages from documents where {condition} group by 1 order by pages desc, language"
    )
}

/// The languages of all pages, if that takes no reading of them, and the query for them: the index has them, or they are kept.
fn all_languages(desk: &mut Desk<'_>, sampled: &str) -> Result<Option<(Languages, String)>> {
    let of_index = format!(
        "select split_part(content_languages, ',', 1) as language, count(*) as pages from documents where {HTML} \
         group by 1 order by pages desc, language"
    );
    if desk.session.plan(&of_index, Language::Sql)?.explain()?.computed.is_empty() {
        return Ok(Some((count_languages(desk, &of_index)?, of_index)));
    }
    // Whether they are kept for all but a few the sample shows.
    let sql = languages_sql(sampled);
    if !desk.session.plan(&sql, Language::Sql)?.explain()?.kept.iter().any(|name| name == "language") {
        return Ok(None);
    }
    if desk.each(&sql, |_| Ok(()))?.documents_read > 0 {
        return Ok(None);
    }
    let all = languages_sql(HTML);
    Ok(Some((count_languages(desk, &all)?, all)))
}

fn count_languages(desk: &mut Desk<'_>, sql: &str) -> Result<Languages> {
    let mut counts = BTreeMap::new();
    desk.each(sql, |row| {
        *counts.entry(row.text("language")?.unwrap_or_default()).or_insert(0) += row.count("pages")?;
        Ok(())
    })?;
    Ok(Languages::of(counts, true))
}

pub(crate) fn gather(desk: &mut Desk<'_>, options: &ReportOptions) -> Result<Content> {
    desk.begin("HTML pages")?;
    let sql = format!("select count(*) as number from documents where {HTML}");
    let html_pages = desk.one(&sql, |row| row.count("number"))?;
    desk.define_query(
        &sql,
        &[(
            "content.html_pages",
            "Pages whose type is HTML, as their bytes show it, or else as their servers say.",
        )],
    );
    let probability = probability(options.sample, html_pages);
    let sampled = format!("{HTML} and sampled({probability}, {})", options.seed);
    let mut content = Content {
        html_pages,
        sample_probability: probability,
        sample_seed: options.seed,
        ..Content::default()
    };
    let mut languages_query = languages_sql(&sampled);
    if html_pages > 0 && options.sample > 0 {
        let all = all_languages(desk, &sampled)?;
        desk.begin("reading a sample")?;
        read(desk, &mut content, &sampled)?;
        if let Some((all, query)) = all {
            (content.languages, languages_query) = (all, query);
        }
    }
    define(desk, &sampled, &languages_query);
    Ok(content)
}

/// Reads the documents of the sample.
fn read(desk: &mut Desk<'_>, content: &mut Content, sampled: &str) -> Result<()> {
    let sql = format!(
        "select language, octet_length(content) as bytes, character_length(text) as characters, \
         http_last_modified as modified, fetch_time from documents where {sampled}"
    );
    let mut languages = BTreeMap::new();
    let [mut bytes, mut characters, mut ages] = [const { BTreeMap::new() }; 3];
    let mut pages = 0;
    let report = desk.each(&sql, |row| {
        pages += 1;
        *languages.entry(row.text("language")?.unwrap_or_default()).or_insert(0) += 1;
        let age = row.text("modified")?.zip(row.number("fetch_time")?);
        let age = age.and_then(|(modified, fetched)| age_seconds(&modified, fetched));
        let number = |name| -> Result<Option<u64>> {
            Ok(row.number(name)?.and_then(|number| u64::try_from(number).ok()))
        };
        for (counts, value) in
            [(&mut bytes, number("bytes")?), (&mut characters, number("characters")?), (&mut ages, age)]
        {
            if let Some(value) = value {
                *counts.entry(value).or_insert(0) += 1;
            }
        }
        Ok(())
    })?;
    content.sample_pages = pages;
    content.unreadable = report
        .failures
        .iter()
        .filter(|failures| failures.column == "record")
        .map(|failures| failures.count)
        .sum();
    content.languages = Languages::of(languages, false);
    let spread = |counts: BTreeMap<u64, u64>| Spread::of(counts.into_iter().collect());
    content.html_bytes = spread(bytes);
    content.text_characters = spread(characters);
    content.age_seconds = spread(ages);
    Ok(())
}

fn define(desk: &mut Desk<'_>, sampled: &str, languages_query: &str) {
    desk.define_query(
        languages_query,
        &[("content.languages", "HTML pages by the main language of their text, as ISO 639-3.")],
    );
    desk.define_query(
        &format!("select url, octet_length(content), character_length(text), http_last_modified from documents where {sampled}"),
        &[
            ("content.sample_pages", "The HTML pages of a sample by the hash of each: the same seed draws the same pages."),
            ("content.html_bytes", "The length of a page's HTML in bytes of UTF-8, with transfer and content codings undone."),
            ("content.text_characters", "The length of a page's main text, without navigation and the like, in characters."),
            ("content.age_seconds", "From the date that a server names in Last-Modified to the fetch; of pages that have one."),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_short_and_draw_enough() {
        assert_eq!(probability(2000, 1999), 1.0);
        assert_eq!(probability(2000, 2000), 1.0);
        assert_eq!((probability(0, 2000), probability(0, 0)), (0.0, 0.0));
        assert_eq!(probability(2000, 1_000_000), 0.002);
        assert_eq!(probability(2000, 3000), 0.667);
        assert_eq!(probability(2000, 7_777_777), 0.000258);
        assert_eq!(probability(1999, 2000), 1.0);
        assert_eq!(probability(1, u64::MAX).to_string(), "0.0000000000000000000543");
    }

    #[test]
    fn ages_are_those_of_dates_in_the_past() {
        let noon = 784_887_151_000;
        assert_eq!(age_seconds("Tue, 15 Nov 1994 08:12:31 GMT", noon), Some(0));
        assert_eq!(age_seconds(" Tue, 15 Nov 1994 08:12:01 GMT", noon), Some(30));
        assert_eq!(age_seconds("Tue, 15 Nov 1994 08:12:32 GMT", noon), None);
        assert_eq!(age_seconds("yesterday", noon), None);
    }

    #[test]
    fn languages_with_the_most_pages_come_first() {
        let mut counts: BTreeMap<String, u64> = (0..30).map(|at| (format!("l{at:02}"), 1)).collect();
        counts.insert("deu".into(), 5);
        let languages = Languages::of(counts, false);
        assert_eq!((languages.values.len(), languages.others, languages.pages()), (20, 11, 35));
        assert_eq!(
            (languages.values[0].language.as_str(), languages.values[1].language.as_str()),
            ("deu", "l00")
        );
    }
}
