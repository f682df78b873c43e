//! Pages that are made up: sites of all sizes, whose pages link mostly to their neighbours, and now and then to other sites.
//!
//! Everything follows from the number of a page, by hashing; nothing is kept but where each site begins. Of twenty links of a page, three lead
//! to where every page of a site links to, ten to pages nearby, three anywhere within the site, one to something that
//! was not crawled, and the rest to other sites, popular ones more often. So URLs repeat, compress and are spread as those of a Web are.

use mattock_weburl::WebUrl;

/// Links of a page, on average.
pub(super) const LINKS_PER_PAGE: u64 = 20;

/// Pages of a section.
const SECTION: u64 = 50;

const SYLLABLES: [&str; 16] =
    ["ba", "ko", "li", "mu", "ne", "ra", "si", "to", "vu", "za", "fe", "gi", "ho", "du", "pe", "wa"];
const SUFFIXES: [&str; 6] = ["com", "com", "org", "net", "de", "co.uk"];
const WORDS: [&str; 12] = [
    "news", "archive", "people", "products", "about", "images", "research", "music", "sports", "travel",
    "library", "forum",
];

fn mixed(seed: u64, number: u64) -> u64 {
    let mut hash = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_add(0x632b_e59b_d9b4_e019);
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        hash = (hash ^ hash >> 30).wrapping_mul(factor);
    }
    hash ^ hash >> 31
}

/// A number from 0 to 1 of a hash.
fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// Where each site begins among all pages, and the number of pages at the end.
pub(super) struct Sites {
    begins: Vec<u64>,
}

/// A page: its site, and its number within it.
#[derive(Clone, Copy)]
struct Place {
    site: u64,
    page: u64,
}

impl Sites {
    /// Sites with so many pages in all.
    pub(super) fn new(pages: u64) -> Sites {
        let (mut begins, mut at) = (vec![0], 0);
        while at < pages {
            // Most have ten pages, one in a thousand has thousands.
            let size = 10.0 * unit(mixed(1, begins.len() as u64)).max(1e-5).powf(-1.0 / 1.1);
            at = (at + (size as u64).min(100_000)).min(pages);
            begins.push(at);
        }
        Sites { begins }
    }

    pub(super) fn pages(&self) -> u64 {
        self.begins.last().copied().unwrap_or(0)
    }

    fn count(&self) -> u64 {
        self.begins.len() as u64 - 1
    }

    fn place(&self, page: u64) -> Place {
        let site = self.begins.partition_point(|begin| *begin <= page) - 1;
        Place { site: site as u64, page: page - self.begins[site] }
    }

    fn size(&self, site: u64) -> u64 {
        self.begins[site as usize + 1] - self.begins[site as usize]
    }

    /// The URL of a page and those that it links to.
    pub(super) fn page(&self, number: u64) -> (WebUrl, Vec<WebUrl>) {
        let place = self.place(number);
        let (size, mut text) = (self.size(place.site), String::new());
        let count = LINKS_PER_PAGE / 2 + mixed(2, number) % (LINKS_PER_PAGE + 1);
        let links = (0..count).map(|link| {
            let hash = mixed(3, number << 8 | link);
            let (kind, draw) = (hash % 20, hash >> 8);
            let within = |page: u64| Place { site: place.site, page: page.min(size - 1) };
            let target = match kind {
                0 => within(0),
                1 => within(1),
                2 => within(place.page / SECTION * SECTION),
                3..=12 => {
                    // Far ones are rare: the distance is that of a fair coin's first head, times up to eight.
                    let distance = (u64::from(draw.trailing_zeros()) + 1) * (1 + (draw >> 50) % 8);
                    let back = draw >> 40 & 1 == 0;
                    within(if back { place.page.saturating_sub(distance) } else { place.page + distance })
                }
                13..=15 => within(draw % size),
                16 => {
                    self.write_file(place.site, draw % (size * 4), &mut text);
                    return parsed(&text);
                }
                _ => {
                    let popular = (unit(draw << 4).powi(3) * self.count() as f64) as u64;
                    let site = mixed(4, popular.min(self.count() - 1)) % self.count();
                    let page = if draw & 3 == 0 { draw % self.size(site) } else { 0 };
                    Place { site, page }
                }
            };
            self.write(target, &mut text);
            parsed(&text)
        });
        let links = links.collect();
        self.write(place, &mut text);
        (parsed(&text), links)
    }

    fn write_host(&self, site: u64, text: &mut String) {
        let hash = mixed(5, site);
        text.clear();
        text.push_str("http://");
        text.push_str(if hash & 1 == 0 { "www." } else { "" });
        (0..3).for_each(|index| text.push_str(SYLLABLES[(hash >> (8 + 4 * index)) as usize & 15]));
        push_number(site, text);
        text.push_str("-sim.");
        text.push_str(SUFFIXES[(hash >> 32) as usize % SUFFIXES.len()]);
        text.push('/');
    }

    fn write(&self, place: Place, text: &mut String) {
        self.write_host(place.site, text);
        if place.page == 0 {
            return;
        }
        let section = place.page / SECTION;
        text.push_str(WORDS[mixed(6, place.site ^ section) as usize % WORDS.len()]);
        push_number(section, text);
        text.push('/');
        text.push_str(WORDS[mixed(7, place.page) as usize % WORDS.len()]);
        text.push('-');
        push_number(place.page, text);
        text.push_str(".html");
    }

    /// Something that is linked to and was not crawled.
    fn write_file(&self, site: u64, number: u64, text: &mut String) {
        self.write_host(site, text);
        text.push_str("files/");
        text.push_str(WORDS[mixed(8, number) as usize % WORDS.len()]);
        text.push('-');
        push_number(number, text);
        text.push_str(".pdf");
    }
}

fn push_number(mut number: u64, text: &mut String) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend(digits[at..].iter().map(|digit| char::from(*digit)));
}

fn parsed(text: &str) -> WebUrl {
    WebUrl::parse(text).expect("what is made up here is a URL")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn pages_are_the_same_every_time_and_link_mostly_nearby() {
        let sites = Sites::new(20_000);
        assert_eq!(sites.pages(), 20_000);
        assert!(sites.count() > 100 && sites.count() < 1500, "{} sites", sites.count());
        let (mut names, mut links, mut own) = (BTreeSet::new(), 0, 0);
        for number in (0..20_000).step_by(7) {
            let (url, targets) = sites.page(number);
            assert_eq!(sites.page(number), (url.clone(), targets.clone()));
            links += targets.len();
            own += targets.iter().filter(|target| target.host() == url.host()).count();
            names.insert(url.as_str().to_owned());
        }
        assert_eq!(names.len(), 20_000_usize.div_ceil(7), "no two pages have one URL");
        let average = links as f64 / names.len() as f64;
        assert!((average - LINKS_PER_PAGE as f64).abs() < 1.0, "{average} links a page");
        let share = own as f64 / links as f64;
        assert!(share > 0.7 && share < 0.95, "{share} of the links stay within a site");
    }
}
