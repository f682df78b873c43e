//! The seam for what a crawl is for: which of the links that it may follow it asks for, and how urgently.
//!
//! Asked once for every link that the scope wants, before anything is remembered of it; the answer travels with the URL.
//! Bands come one after the other, and within a band requests come in their order: a strategy is a way of choosing bands.
//! When a URL is visited is not its business: delays, budgets and robots.txt hold for every strategy.

use crate::{BAND_LAST, Link};

/// Decides what is requested, and in which band.
pub trait Application {
    /// The band that a link is requested in, below [`BAND_LAST`], which is for what every crawl leaves for the end. `None`: it
    /// is not requested.
    fn band(&mut self, link: &Link) -> Option<u8>;
}

/// Everything, in the order in which it was found.
#[derive(Clone, Copy, Debug, Default)]
pub struct BreadthFirst;

impl Application for BreadthFirst {
    fn band(&mut self, _: &Link) -> Option<u8> {
        Some(0)
    }
}

/// Everything, the shortest paths of every site first: its entrance before its cellars, wherever the links to them stand.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShortPathsFirst;

impl Application for ShortPathsFirst {
    fn band(&mut self, link: &Link) -> Option<u8> {
        let segments = link.url.path().split('/').filter(|segment| !segment.is_empty()).count();
        let query = usize::from(link.url.query().is_some());
        Some((segments + query).min(usize::from(BAND_LAST - 1)) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_weburl::WebUrl;

    #[test]
    fn short_paths_are_more_urgent_and_none_is_last() {
        let band = |text: &str| ShortPathsFirst.band(&Link::page(WebUrl::parse(text).unwrap(), 9));
        assert_eq!(band("http://a.com/"), Some(0));
        assert_eq!(band("http://a.com/?q=1"), Some(1));
        assert_eq!(band("http://a.com/news/"), Some(1));
        assert_eq!(band("http://a.com/news/2024/05"), Some(3));
        assert_eq!(band("http://a.com/1/2/3/4/5/6/7/8/9/10"), Some(BAND_LAST - 1));
    }
}
