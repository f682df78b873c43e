//! SURT prefixes as people write them, and the keys that they mean.
//!
//! | written | means | keys |
//! |---|---|---|
//! | `https://example.com/docs/` | a URL: the host of that name, and what its path begins with | `com,example)/docs/` |
//! | `http://(com,example,www,)/docs/` | Heritrix's SURT of that URL | `com,example,www)/docs/` |
//! | `http://(com,example,` | Heritrix's domain: the host and those below it, on any port | `com,example)` `com,example:` `com,example,` |
//! | `http://(com,example,:8080)/` | Heritrix's host with a port | `com,example:8080)/` |
//! | `com,example)/docs/` | a key, as in CDX files and indexes | itself |
//! | `com,example` | the host and those below it, on any port | three, as above |
//! | `com,example,` | the hosts below it alone | itself |
//!
//! Keys have no scheme, as with Heritrix, which compares `https` as `http`. A `+` in front, as in Heritrix's files of seeds, is taken off.
//! Not taken over: Heritrix's `http://(com,exam`, which means every name that begins with these letters; here `exam` is a label.

use mattock_weburl::WebUrl;

use super::RuleError;

/// Heritrix closes every label of a name with a comma.
const LABEL_END: char = ',';

/// The keys that a text means.
pub(super) fn keys_of(text: &str) -> Result<Vec<Box<str>>, RuleError> {
    let bad = || RuleError::Prefix { text: text.to_owned(), instead: spelled(text) };
    let trimmed = text.trim();
    let trimmed = trimmed.strip_prefix('+').unwrap_or(trimmed);
    let key = match trimmed.split_once("://") {
        Some((scheme, rest)) if rest.starts_with('(') => {
            let is_web = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
            return is_web.then(|| of_heritrix(&rest[1..])).flatten().ok_or_else(bad);
        }
        Some(_) => WebUrl::parse(trimmed).map_err(|_| bad())?.surt(),
        None if trimmed.starts_with('(') => return of_heritrix(&trimmed[1..]).ok_or_else(bad),
        None => trimmed.to_ascii_lowercase(),
    };
    let host = key.split(')').next().unwrap_or_default();
    // In a key no label is closed: whoever closes the last one writes as Heritrix does.
    let is_closed = host
        .trim_end_matches(|letter: char| letter.is_ascii_digit())
        .trim_end_matches(':')
        .ends_with(LABEL_END);
    if is_closed && (key.contains(')') || host.contains(':')) {
        return of_heritrix(&key).ok_or_else(bad);
    }
    if !is_host(host) {
        return Err(bad());
    }
    match key.contains(')') || key.ends_with([LABEL_END, ':']) {
        true => Ok(vec![key.into()]),
        false => Ok(with_subdomains(&key)),
    }
}

/// The keys of what stands behind the parenthesis: `com,example,www,:8080)/path`.
fn of_heritrix(surt: &str) -> Option<Vec<Box<str>>> {
    let surt = surt.to_ascii_lowercase();
    let (authority, path) = match surt.split_once(')') {
        Some((authority, path)) => (authority, Some(path)),
        None => (surt.as_str(), None),
    };
    let (labels, port) = match authority.rfind(':').filter(|at| !authority[*at..].contains(']')) {
        Some(at) => (&authority[..at], Some(&authority[at + 1..])),
        None => (authority, None),
    };
    let name = labels.strip_suffix(LABEL_END).unwrap_or(labels);
    let port = match port {
        // Both schemes share keys, and neither writes its own port.
        Some("" | "80" | "443") | None => String::new(),
        Some(port) => format!(":{}", port.parse::<u16>().ok()?),
    };
    match path {
        // All of the Web.
        None if labels.is_empty() && port.is_empty() => Some(vec!["".into()]),
        _ if !is_host(name) => None,
        None if port.is_empty() => Some(with_subdomains(name)),
        None => Some(vec![format!("{name}{port})").into()]),
        Some(path) if path.is_ascii() && (path.is_empty() || path.starts_with('/')) => {
            Some(vec![format!("{name}{port}){}", canonical(path)).into()])
        }
        Some(_) => None,
    }
}

/// A path as canonical URLs have it. A query stays as it is: parts of it could be taken for what is not looked at.
fn canonical(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let parsed = (!path.is_empty()).then(|| WebUrl::parse(&format!("http://a.example{path}")));
    let path = match &parsed {
        Some(Ok(url)) => url.path_and_query(),
        _ => path,
    };
    format!("{}{query}", path.to_ascii_lowercase())
}

/// A host and those below it, on any port.
fn with_subdomains(name: &str) -> Vec<Box<str>> {
    [")", ":", ","].map(|end| format!("{name}{end}").into()).to_vec()
}

/// Whether this can be the host of a key, or its beginning.
fn is_host(host: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b",-_.:[]".contains(&byte);
    // A name with dots that is no address is written the wrong way round.
    let is_turned = host.contains('.')
        && !host.contains(LABEL_END)
        && host.bytes().any(|byte| byte.is_ascii_alphabetic());
    !host.is_empty() && host.bytes().all(is_name) && (!is_turned || host.starts_with('['))
}

/// How a text that is no prefix may have been meant.
fn spelled(text: &str) -> Option<String> {
    let text = text.trim();
    if text.starts_with('-') {
        return Some("put it into deny_prefixes, without the `-`".to_owned());
    }
    let (_, rest) = text.split_once("://").unwrap_or(("", text));
    let rest = rest.trim_start_matches('(');
    let (host, path) = rest.split_at(rest.find(['/', ')']).unwrap_or(rest.len()));
    if host.contains('@') {
        return Some("leave out the name and the password: URLs are crawled without".to_owned());
    }
    // A name, in whichever order, of any language.
    let labels: Vec<&str> = match host.contains('.') {
        true => vec![host.trim_end_matches(LABEL_END)],
        false => host.split(LABEL_END).filter(|label| !label.is_empty()).rev().collect(),
    };
    let url = WebUrl::parse(&format!("http://{}{}", labels.join("."), path.trim_start_matches(')'))).ok()?;
    let is_whole_host = matches!(path, "" | ")");
    let key = url.surt();
    let key = if is_whole_host { key.split(')').next().unwrap_or_default() } else { key.as_str() };
    Some(match is_whole_host {
        true => format!("write {key} for the host and those below it"),
        false => format!("write {url} or {key}", url = url.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        let keys = keys_of(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        keys.into_iter().map(String::from).collect()
    }

    #[test]
    fn prefixes_are_written_as_urls_or_keys() {
        for (text, wanted) in [
            ("https://Example.com/Docs/", &["com,example)/docs/"][..]),
            ("com,example)/docs", &["com,example)/docs"]),
            ("com,example", &["com,example)", "com,example:", "com,example,"]),
            ("com,example,", &["com,example,"]),
            ("com,example:8080)/", &["com,example:8080)/"]),
            ("192.0.2.7", &["192.0.2.7)", "192.0.2.7:", "192.0.2.7,"]),
            ("[2001:db8::1])/x", &["[2001:db8::1])/x"]),
        ] {
            assert_eq!(keys(text), wanted, "{text}");
        }
    }

    #[test]
    fn heritrix_writes_them_in_its_own_way() {
        let domain = ["net,example)", "net,example:", "net,example,"];
        for (text, wanted) in [
            ("http://(net,example,)/", &["net,example)/"][..]),
            ("http://(net,example,)", &["net,example)"]),
            ("http://(net,example,www,)/Movies/a.php?B=c", &["net,example,www)/movies/a.php?b=c"]),
            ("https://(net,example,)/", &["net,example)/"]),
            ("HTTP://(NET,EXAMPLE,)/", &["net,example)/"]),
            ("+http://(net,example,)/a", &["net,example)/a"]),
            ("  http://(net,example,)/  ", &["net,example)/"]),
            ("http://(net,example,", &domain),
            ("http://(net,example", &domain),
            ("(net,example,", &domain),
            ("(net,example,)/a", &["net,example)/a"]),
            ("net,example,)/a", &["net,example)/a"]),
            ("http://(net,example,:8080)/", &["net,example:8080)/"]),
            ("net,example,:8080)/", &["net,example:8080)/"]),
            ("http://(net,example,:80)/", &["net,example)/"]),
            ("http://(net,example)/a", &["net,example)/a"]),
            ("http://(net,", &["net)", "net:", "net,"]),
            ("http://(192.168.1.1)/", &["192.168.1.1)/"]),
            ("http://([2001:db8::1]:81)/", &["[2001:db8::1]:81)/"]),
            ("http://(net,example,)/%7euser/../a", &["net,example)/a"]),
            ("http://(", &[""]),
        ] {
            assert_eq!(keys(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_none_is_refused_with_its_spelling() {
        for (text, instead) in [
            ("", None),
            (" ", None),
            ("http://", None),
            ("a b)/", None),
            ("www.example.com", Some("write com,example,www for the host and those below it")),
            ("example.com/docs/", Some("write http://example.com/docs/ or com,example)/docs/")),
            ("com,ex\u{e4}mple", Some("write com,xn--exmple-cua for the host and those below it")),
            ("http://(www.example.com,)/a", Some("write http://www.example.com/a or com,example,www)/a")),
            ("ftp://(net,example,)/a", Some("write http://example.net/a or net,example)/a")),
            (
                "http://(net,example,@me:secret)/",
                Some("leave out the name and the password: URLs are crawled without"),
            ),
            ("-http://(net,example,)/", Some("put it into deny_prefixes, without the `-`")),
            ("http://(net,example,:99999)/", None),
        ] {
            let wanted = RuleError::Prefix { text: text.into(), instead: instead.map(str::to_owned) };
            assert_eq!(keys_of(text), Err(wanted), "{text}");
        }
    }
}
