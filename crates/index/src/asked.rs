//! A URL as somebody asks for it, and the rows that it means.
//!
//! Rows have the key of the URL as the archive writes it. Who asks writes it in some other way: with capitals, a fragment, escapes. So rows are looked
//! for by the keys of all its forms, and kept if their URL is the same but for what no server sees. A crawl has left out sessions before it asked: where an
//! archive has nothing under the URL with its session, it has it perhaps under the one without.

use mattock_weburl::{UrlError, WebUrl, archive_key};

/// A URL that is looked for.
#[derive(Clone, Debug)]
pub struct Asked {
    url: WebUrl,
    /// As a crawl would have it; none if it is longer than crawls take.
    crawled: Option<WebUrl>,
    keys: Vec<String>,
}

impl Asked {
    /// Reads what somebody has typed.
    pub fn parse(text: &str) -> Result<Asked, UrlError> {
        let url = WebUrl::parse_archived(text)?;
        let crawled = WebUrl::parse(text).ok();
        let mut keys: Vec<String> = archive_key(text).into_iter().collect();
        keys.extend([Some(&url), crawled.as_ref()].into_iter().flatten().map(WebUrl::archive_key));
        keys.sort_unstable();
        keys.dedup();
        Ok(Asked { url, crawled, keys })
    }

    /// The URL with everything that archives keep.
    pub fn url(&self) -> &WebUrl {
        &self.url
    }

    /// The URL as a crawl has it, without sessions; none if it is longer than crawls take.
    pub fn crawled(&self) -> Option<&WebUrl> {
        self.crawled.as_ref()
    }

    /// Values of `url_surtkey` that its rows may have.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Leaves those rows that are of this URL, of all that have one of the [keys](Asked::keys); `url` gives that of a row. Where there are none, those of
    /// the page without its session are.
    pub fn keep<T>(&self, rows: &mut Vec<T>, url: impl Fn(&T) -> &str) {
        let is_it = |row: &T| WebUrl::parse_archived(url(row)).is_ok_and(|known| known == self.url);
        let is_page = |row: &T| self.crawled.is_some() && WebUrl::parse(url(row)).ok() == self.crawled;
        match rows.iter().any(is_it) {
            true => rows.retain(is_it),
            false => rows.retain(is_page),
        }
    }
}

/// The key of a URL as an archive writes it; `url` is it parsed.
pub(crate) fn key_of(text: &str, url: &WebUrl) -> String {
    archive_key(text).unwrap_or_else(|| url.archive_key())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(asked: &str, rows: &[&'static str]) -> Vec<&'static str> {
        let mut rows = rows.to_vec();
        Asked::parse(asked).unwrap().keep(&mut rows, |row| row);
        rows
    }

    #[test]
    fn a_session_is_a_url_of_its_own_where_there_is_one() {
        let (plain, one, two) =
            ("http://a.org/x", "http://a.org/x?PHPSESSID=1", "http://A.org:80/x?PHPSESSID=2#top");
        let all = [plain, one, two];
        assert_eq!(kept("http://a.org/x", &all), [plain]);
        assert_eq!(kept("http://a.org/x?PHPSESSID=2", &all), [two]);
        assert_eq!(kept("http://a.org/x?PHPSESSID=3", &[plain]), [plain]);
        assert_eq!(kept("http://a.org/X", &all), [""; 0]);
    }

    #[test]
    fn keys_are_of_all_forms() {
        let asked = Asked::parse("http://a.org/x;jsessionid=1F").unwrap();
        assert_eq!(asked.keys(), ["org,a)/x", "org,a)/x;jsessionid=1f"]);
        assert_eq!(Asked::parse("http://a.org/x").unwrap().keys(), ["org,a)/x"]);
        let long = format!("http://a.org/{}", "x".repeat(60_000));
        assert!(Asked::parse(&long).unwrap().crawled().is_none());
    }
}
