//! Answers in a sentence.

use mattock_crawl::{Answer, Why};

/// What became of a URL.
pub(crate) fn of(why: &Why) -> String {
    match &why.answer {
        Answer::NeverSeen { refusal: Some(refusal), .. } => {
            format!("No link to it was taken: it is refused ({refusal}).")
        }
        Answer::NeverSeen { .. } => {
            "No page that was fetched links to it; such a link would be followed.".into()
        }
        Answer::Arriving => "A link to it was found; whether it is the first is being looked up.".into(),
        Answer::Budgeting => "How many domains link to its domain is being looked up.".into(),
        Answer::Budgeted { queue: None, ahead, budget, .. } => {
            format!(
                "It waits over the budget of its domain ({budget} pages a turn), with {ahead} URLs before it."
            )
        }
        Answer::Budgeted { ahead, budget, .. } => {
            format!(
                "It waits for the turn of its domain ({budget} pages a turn), with {ahead} URLs before it."
            )
        }
        Answer::Ready { band, ahead } => {
            format!("It waits for room on the workbench, in band {band}, with {ahead} URLs before it.")
        }
        Answer::BehindHost { ahead, .. } => {
            format!("It waits on disk behind its host, with {ahead} URLs of the same host before it.")
        }
        Answer::OnBench { ahead: 0, .. } => "It is the next one of its host, or was under way.".into(),
        Answer::OnBench { ahead, .. } => {
            format!("It waits for its host, with {ahead} URLs of the same host before it.")
        }
        Answer::Again { attempt, next } => {
            format!("It has failed {attempt} times, and is tried again from {} on.", next.to_seconds_string())
        }
        Answer::Disallowed => "robots.txt forbids it, or could not be had: it was never asked for.".into(),
        Answer::Refused { refusal: Some(refusal) } => {
            format!("It was refused when its turn came ({refusal}).")
        }
        Answer::Refused { refusal: None } => {
            "It was refused when its turn came, by robots.txt or the blocklist as they were then.".into()
        }
        Answer::Fetched { instances } => {
            let last = instances.last().map(|instance| instance.outcome.as_str()).unwrap_or_default();
            format!("Its server has answered: {last}.")
        }
        Answer::Failed { instances } => {
            let last = instances.last().map(|instance| outcome(&instance.outcome)).unwrap_or_default();
            format!("It was given up. {last}")
        }
    }
}

/// What an outcome means.
pub(crate) fn outcome(name: &str) -> &'static str {
    match name {
        "200" => "A page.",
        "301" | "302" | "303" | "307" | "308" => "A redirect; its target is a link like others.",
        "401" | "403" => "The server does not let us have it.",
        "404" | "410" => "The server knows no such page.",
        "429" => "The server is asked too often; it is left alone for longer.",
        "500" | "502" | "504" => "The server is broken; it was asked once more.",
        "503" => "The server is overloaded or closed; it is left alone for longer.",
        "no-such-name" => "The name does not exist.",
        "name-server" => "The name servers failed or said nonsense.",
        "name-timeout" => "The name servers did not answer in time.",
        "forbidden-address" => "The name leads to an address that is not connected to.",
        "forbidden-port" => "The port belongs to a service that is not the Web's.",
        "refused" => "Nothing listens there.",
        "connect-timeout" => "No connection in time.",
        "unreachable" => "The connection could not be made.",
        "proxy" => "The proxy did not let us through.",
        "tls" => "The TLS handshake failed.",
        "tls-timeout" => "The TLS handshake did not end in time.",
        "certificate" => "The certificate is not valid.",
        "disconnected" => "The connection was closed before a response.",
        "first-byte-timeout" => "Connected, but nothing came in time.",
        "head-timeout" => "The response began, but its head did not end in time.",
        "head-too-large" => "The head of the response is too large.",
        "protocol" => "What came is not HTTP.",
        "unasked-not-modified" => "Not modified came, although nothing was asked that could be.",
        "internal" => "The crawler failed, not the server.",
        _ if name.starts_with('4') => "The server says that the request is wrong.",
        _ if name.starts_with('5') => "The server says that it has failed.",
        _ => "An answer of the server.",
    }
}
