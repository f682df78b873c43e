use super::*;

#[test]
fn a_host_is_steady_as_long_as_all_of_its_last_pages_are_news() {
    let mut novelty = Novelty::new(16);
    for page in 0..u64::from(PAGES_MIN) {
        assert!(!novelty.is_steady(7), "{page} pages say little");
        novelty.page(7, true, Some(page.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    }
    assert!(novelty.is_steady(7));
    novelty.page(7, false, None);
    for page in 100..100 + u64::from(PAGES_MIN) {
        assert!(!novelty.is_steady(7));
        novelty.page(7, true, Some(page.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    }
    assert!(novelty.is_steady(7));
}
use proptest::prelude::*;
use std::collections::VecDeque;

/// Sketches of different pages: far from each other.
fn sketch(number: u64) -> Option<u64> {
    Some(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[test]
fn hosts_that_only_have_copies_sink_and_rise_with_news() {
    let mut novelty = Novelty::new(100);
    assert_eq!(novelty.factor(7), 1.0);
    for page in 0..64 {
        assert_eq!(novelty.page(7, true, sketch(page)), Kind::News);
        assert_eq!(novelty.factor(7), 1.0);
    }
    let mut last = 1.0;
    for _ in 0..64 {
        assert_eq!(novelty.page(7, false, None), Kind::Copy);
        assert!(novelty.factor(7) <= last);
        last = novelty.factor(7);
    }
    assert_eq!(last, FACTOR_MIN);
    assert_eq!(novelty.factor(8), 1.0, "others stand as they stood");
    for page in 100..164 {
        novelty.page(7, true, sketch(page));
        assert!(novelty.factor(7) >= last);
        last = novelty.factor(7);
    }
    assert_eq!(last, 1.0);
}

#[test]
fn a_new_host_of_copies_is_known_after_sixteen_pages() {
    let mut novelty = Novelty::new(100);
    for _ in 0..8 {
        novelty.page(1, false, None);
    }
    assert_eq!(novelty.factor(1), 1.0);
    for _ in 8..16 {
        novelty.page(1, false, None);
    }
    assert_eq!(novelty.factor(1), FACTOR_MIN);
}

#[test]
fn near_duplicates_are_no_news() {
    let mut novelty = Novelty::new(100);
    let page = |number: u32| Some(simhash(format!("{number}-1-1: nothing happens, next day, next month")));
    assert_eq!(novelty.page(1, true, page(2020)), Kind::News);
    for year in 2021..2100 {
        assert_eq!(novelty.page(1, true, page(year)), Kind::NearDuplicate);
    }
    assert_eq!(novelty.factor(1), FACTOR_MIN);
    assert_eq!(novelty.page(2, true, page(2020)), Kind::News, "by host");
    let [close, far] = [0b111, 0b1111].map(|bits| sketch(5).map(|sketch| sketch ^ bits));
    novelty.page(3, true, sketch(5));
    assert_eq!(novelty.page(3, true, far), Kind::News);
    assert_eq!(novelty.page(4, true, sketch(5)), Kind::News);
    assert_eq!(novelty.page(4, true, close), Kind::NearDuplicate);
}

#[test]
fn a_few_templates_among_news_do_no_harm() {
    let mut novelty = Novelty::new(100);
    for page in 0..200 {
        let text = if page % 3 == 0 { sketch(9_999) } else { sketch(page) };
        novelty.page(1, true, text);
    }
    assert_eq!(novelty.factor(1), 1.0);
}

#[test]
fn memory_is_bounded_and_the_silent_are_forgotten() {
    let mut novelty = Novelty::new(64);
    assert!(novelty.bytes_max() <= 64 * 176, "{}", novelty.bytes_max());
    let key = |host: u64| host.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for host in 0..10_000 {
        for _ in 0..20 {
            novelty.page(key(host), false, None);
        }
    }
    let known = (0..10_000).filter(|host| novelty.factor(key(*host)) < 1.0).count();
    assert_eq!(known, 64);
    assert_eq!(novelty.factor(key(9_999)), FACTOR_MIN);
}

/// The definition, with lists.
#[derive(Default)]
struct Model {
    pages: VecDeque<bool>,
    sketches: VecDeque<u64>,
}

impl Model {
    fn page(&mut self, digest_is_new: bool, sketch: Option<u64>) -> Kind {
        let mut near = false;
        if let Some(sketch) = sketch {
            let at = self.sketches.iter().position(|known| (known ^ sketch).count_ones() <= 3);
            near = at.is_some();
            let kept = at.and_then(|at| self.sketches.remove(at)).unwrap_or(sketch);
            self.sketches.push_front(kept);
            self.sketches.truncate(16);
        }
        let kind = if !digest_is_new {
            Kind::Copy
        } else if near {
            Kind::NearDuplicate
        } else {
            Kind::News
        };
        self.pages.push_front(kind == Kind::News);
        self.pages.truncate(64);
        kind
    }

    fn factor(&self) -> f64 {
        let missing = 16usize.saturating_sub(self.pages.len());
        let news = self.pages.iter().filter(|news| **news).count() + missing;
        let share = news as f64 / (self.pages.len() + missing) as f64;
        if share >= 0.5 { 1.0 } else { (4.0 * share * share).max(1.0 / 64.0) }
    }
}

proptest! {
    #[test]
    fn it_agrees_with_lists_and_so_does_its_copy_from_bytes(
        pages in proptest::collection::vec((0u64..3, any::<bool>(), proptest::option::of(0u64..24)), 0..300),
        cut in 0usize..300,
    ) {
        let mut novelty = Novelty::new(8);
        let mut models: [Model; 3] = Default::default();
        for (number, (host, new, text)) in pages.into_iter().enumerate() {
            if number == cut {
                let mut bytes = Vec::new();
                novelty.encode(&mut bytes);
                novelty = Novelty::decode(8, &bytes).unwrap();
            }
            let text = text.and_then(sketch);
            let model = &mut models[host as usize];
            prop_assert_eq!(novelty.page(host, new, text), model.page(new, text));
            prop_assert!((novelty.factor(host) - model.factor()).abs() < 1e-12);
        }
    }

    #[test]
    fn bytes_that_are_anything_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut whole = vec![VERSION];
        whole.extend_from_slice(&u64::MAX.to_le_bytes());
        whole.extend_from_slice(&((bytes.len() / (17 + Recent::BYTES)) as u32).to_le_bytes());
        whole.extend_from_slice(&bytes[..bytes.len() / (17 + Recent::BYTES) * (17 + Recent::BYTES)]);
        for bytes in [bytes, whole] {
            let key = bytes.get(13..21).map_or(0, |key| u64::from_le_bytes(key.try_into().unwrap()));
            if let Some(novelty) = Novelty::decode(64, &bytes) {
                prop_assert!((FACTOR_MIN..=1.0).contains(&novelty.factor(key)));
            }
        }
    }
}
