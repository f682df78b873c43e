//! A bounded memory of names in two generations: what was asked for since the last change of generations survives it.

use std::collections::HashMap;

use mattock_env::Time;

/// Values by name, each with its expiry. At most twice `names_max` of them.
pub(super) struct Generations<V> {
    young: HashMap<Box<str>, (V, Time)>,
    old: HashMap<Box<str>, (V, Time)>,
    names_max: usize,
}

impl<V: Clone> Generations<V> {
    pub(super) fn new(names_max: usize) -> Generations<V> {
        Generations { young: HashMap::new(), old: HashMap::new(), names_max: names_max.max(1) }
    }

    pub(super) fn get(&mut self, name: &str, now: Time) -> Option<V> {
        if let Some((value, expires)) = self.young.get(name) {
            return (*expires > now).then(|| value.clone());
        }
        let (name, (value, expires)) = self.old.remove_entry(name)?;
        if expires <= now {
            return None;
        }
        self.put(name, value.clone(), expires);
        Some(value)
    }

    pub(super) fn put(&mut self, name: Box<str>, value: V, expires: Time) {
        if self.young.len() >= self.names_max && !self.young.contains_key(&name) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(name, (value, expires));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn values_expire() {
        let mut cache = Generations::new(10);
        cache.put("a".into(), 1, at(5));
        assert_eq!(cache.get("a", at(4)), Some(1));
        assert_eq!(cache.get("a", at(5)), None);
        cache.put("a".into(), 2, at(10));
        assert_eq!(cache.get("a", at(5)), Some(2));
    }

    #[test]
    fn a_flood_stays_bounded_and_what_is_used_survives_it() {
        let mut cache = Generations::new(100);
        cache.put("used".into(), 0, at(10));
        for number in 0..10_000 {
            cache.put(format!("flood{number}").into(), number, at(10));
            assert!(cache.young.len() + cache.old.len() <= 200);
            if number % 50 == 0 {
                assert_eq!(cache.get("used", at(1)), Some(0), "{number}");
            }
        }
        assert_eq!(cache.get("flood0", at(1)), None);
    }
}
