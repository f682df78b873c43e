//! Finds keys that do not exist, and the one that was probably meant.

use super::example::known_keys;

/// The first unknown key of a table, with its section, and the known key that is most like it.
pub(super) fn find(table: &toml::Table) -> Option<(String, Option<String>)> {
    let known = known_keys();
    for (section, content) in table {
        let inside = format!("{section}.");
        if !known.iter().any(|key| key.starts_with(&inside)) {
            // A key outside its section is a likelier slip than a misspelt section.
            let same = known.iter().find(|key| key.split_once('.').is_some_and(|(_, key)| key == section));
            let sections = known.iter().filter_map(|key| key.split_once('.')).map(|(section, _)| section);
            let near = same.cloned().or_else(|| nearest(section, sections).map(|name| format!("[{name}]")));
            return Some((section.clone(), near));
        }
        let entries = content.as_array().into_iter().flatten().filter_map(toml::Value::as_table);
        for key in content.as_table().into_iter().chain(entries).flat_map(toml::Table::keys) {
            let full = format!("{section}.{key}");
            if !known.contains(&full) {
                let near = nearest(&full, known.iter().map(String::as_str)).map(str::to_owned);
                return Some((full, near));
            }
        }
    }
    None
}

/// The candidate that is most like a word, if one is like it at all.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::super::RawConfig;

    #[test]
    fn slips_are_answered_with_what_was_meant() {
        for (text, key, near) in [
            ("[politeness]\ndealy = '1s'", "politeness.dealy", "politeness.delay"),
            ("[crawl]\nmaxpages = 3", "crawl.maxpages", "crawl.max_pages"),
            ("[polite]\ndelay = '1s'", "polite", "[politeness]"),
            ("scope = 'any'", "scope", "crawl.scope"),
        ] {
            let message = RawConfig::parse(text, "mattock.toml").unwrap_err().to_string();
            assert_eq!(message, format!("mattock.toml: unknown key `{key}`; did you mean `{near}`?"));
        }
    }
}
