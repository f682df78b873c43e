//! Session ids that keys leave out: those of six kinds, and only where they are as long as theirs are.

/// Parameters that name a session, and how many letters and digits their values have.
const SESSIONS: [(&str, usize); 3] = [("jsessionid=", 32), ("phpsessid=", 32), ("sid=", 32)];

/// A path, in lower case, without `(…)` of 24 letters and digits in front of a page in `.aspx`, and without groups of them: `(s(…)f(…))`.
pub(super) fn without_session_in_path(path: String) -> String {
    let is_id = |text: &str| text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_group = |group: &str| {
        group.split_once('(').is_some_and(|(letter, value)| {
            letter.len() == 1 && letter.as_bytes()[0].is_ascii_alphabetic() && is_id(value)
        })
    };
    let is_groups = |inner: &str| inner.strip_suffix(')').is_some_and(|inner| inner.split(')').all(is_group));
    without_part(without_part(path, is_groups), is_id)
}

/// Takes the last part out that is in parentheses and is a session, if a page in `.aspx` follows it.
fn without_part(path: String, is_session: impl Fn(&str) -> bool) -> String {
    if !path.contains(".aspx") {
        return path;
    }
    let inner =
        |part: &str| part.strip_prefix('(').and_then(|part| part.strip_suffix(')')).is_some_and(&is_session);
    let is_page = |rest: &str| {
        let before_query = rest.find('?').map_or(rest, |end| &rest[..end]);
        before_query.rfind(".aspx").is_some_and(|at| at > 0)
    };
    let mut end = path.len();
    while let Some(slash) = path[..end].rfind('/') {
        let (part, rest) = (&path[slash + 1..end], path.get(end + 1..).unwrap_or_default());
        if inner(part) && is_page(rest) {
            return format!("{}{rest}", &path[..=slash]);
        }
        end = slash;
    }
    path
}

/// A query without sessions.
pub(super) fn without_sessions_in_query(mut query: String) -> String {
    // A query can hold many parameters, and few hold any of these.
    let lower = query.to_ascii_lowercase();
    if !["sid=", "sessionid", "cfid="].iter().any(|sign| lower.contains(sign)) {
        return query;
    }
    for (name, length) in SESSIONS {
        cut(&mut query, name, |behind| {
            let value = behind.find('&').map_or(behind, |end| &behind[..end]);
            is_session(value, length, u8::is_ascii_alphanumeric).then_some(length)
        });
    }
    cut(&mut query, "aspsessionid", |behind| {
        let (name, value) = behind.split('&').next()?.split_once('=')?;
        (is_session(name, 8, u8::is_ascii_alphabetic) && is_session(value, 24, u8::is_ascii_alphabetic))
            .then_some(8 + 1 + 24)
    });
    cut(&mut query, "cfid=", |behind| {
        let mut parameters = behind.split('&');
        let (id, token) = (parameters.next()?, parameters.next()?);
        let is_token =
            token.get(..8).is_some_and(|name| name.eq_ignore_ascii_case("cftoken=")) && token.len() > 8;
        (!id.is_empty() && is_token).then_some(id.len() + 1 + token.len())
    });
    query
}

fn is_session(text: &str, length: usize, is_of_it: impl Fn(&u8) -> bool) -> bool {
    text.len() == length && text.bytes().all(|byte| is_of_it(&byte))
}

/// Takes the last session of a name out, with the `&` behind it. `length` says how long it is behind its name, if it is one.
fn cut(query: &mut String, name: &str, length: impl Fn(&str) -> Option<usize>) {
    let lower = query.to_ascii_lowercase();
    let found = lower.rmatch_indices(name).find_map(|(at, _)| {
        let behind = at + name.len();
        Some((at, behind + length(&query[behind..])?))
    });
    if let Some((at, end)) = found {
        let end = if query[end..].starts_with('&') { end + 1 } else { end };
        query.replace_range(at..end, "");
    }
}
