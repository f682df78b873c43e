//! The URLs of a real site: a crawl of Hollins University, 2004.

use std::path::Path;

use mattock_env::Env;
use mattock_features::{BuildOptions, Builder, Features};
use mattock_weburl::WebUrl;

use super::{FeaturesBenchError, Result};

/// Bytes that the URL database takes for each of them.
///
/// The file has a line `URLS LINKS …`, a line `number URL` for each, and a line `from to` for each link, numbers from 1.
pub(super) fn bytes_per_url(env: &Env, dir: &Path, path: &Path) -> Result<f64> {
    let bytes =
        env.files.read(path).map_err(|source| FeaturesBenchError::Io { path: path.into(), source })?;
    let text = String::from_utf8_lossy(&bytes);
    let wrong = |line, what| FeaturesBenchError::Line { path: path.into(), line, what };
    let mut lines = (1..).zip(text.lines());
    let count = lines.next().and_then(|(_, line)| line.split_whitespace().next()?.parse::<usize>().ok());
    let count = count.ok_or_else(|| wrong(1, "it does not say how many URLs there are"))?;
    let mut urls = Vec::with_capacity(count);
    for (number, line) in lines.by_ref().take(count) {
        let url = line.split_whitespace().nth(1).and_then(|url| WebUrl::parse(url).ok());
        urls.push(url.ok_or_else(|| wrong(number, "there is no URL"))?);
    }
    let report = &mut |_| {};
    let mut builder = Builder::begin(&env.files, dir, &BuildOptions::default(), report)?;
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let mut ends =
            line.split_whitespace().map(|end| urls.get(end.parse::<usize>().ok()?.checked_sub(1)?));
        let (Some(Some(from)), Some(Some(to))) = (ends.next(), ends.next()) else {
            return Err(wrong(number, "there are no two numbers of URLs"));
        };
        builder.link(from, to)?;
    }
    builder.finish()?;
    let found = Features::open(&env.files, dir)?.urls()?;
    Ok(found.bytes() as f64 / found.len().max(1) as f64)
}
