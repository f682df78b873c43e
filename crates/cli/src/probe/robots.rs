//! A host's robots.txt, fetched as a crawl fetches it or read from a file, and what it says about one URL.

use mattock_crawl::Config;
use mattock_env::Env;
use mattock_fetch::{Client, DecodeEnd, DecodeLimits, Exchange, Redirect, Truncation};
use mattock_robots::{Access, BODY_BYTES_MAX, DisallowReason, Robots, access_for_status};
use mattock_weburl::WebUrl;
use serde::Serialize;

use super::rules::{self, FileLine, Group};
use super::text::ms;

/// RFC 9309, 2.3.1.2: at least five redirects are followed.
const HOPS_MAX: usize = 5;
/// Hosts whose rules are asked for whether another one's robots.txt may be there, one after the other.
const HOSTS_MAX: usize = 2;

/// What robots.txt says about a URL.
#[derive(Debug, Serialize)]
pub(crate) struct RobotsReport {
    /// The URL that was asked about.
    pub(crate) url: String,
    pub(crate) allowed: bool,
    /// Why, in a few words.
    pub(crate) reason: String,
    /// The product token whose rules were read.
    pub(crate) agent: String,
    /// The rule that decided, as the file has it; none if no rule matches or there are none.
    pub(crate) rule: Option<FileLine>,
    /// Whose rules were read, and the lines that open them.
    pub(crate) group: Group,
    pub(crate) group_lines: Vec<FileLine>,
    pub(crate) rules: usize,
    /// The delay that the file asks for.
    pub(crate) crawl_delay_s: Option<f64>,
    pub(crate) sitemaps: Vec<String>,
    /// The file that was read instead of asking the host.
    pub(crate) file: Option<String>,
    /// The requests, redirects included; none if a file was read.
    pub(crate) requests: Vec<Asked>,
    pub(crate) bytes: usize,
    /// Whether there is more in it than is read.
    pub(crate) cut: bool,
}

/// One request for a robots.txt.
#[derive(Debug, Serialize)]
pub(crate) struct Asked {
    pub(crate) url: String,
    pub(crate) outcome: String,
    pub(crate) address: Option<String>,
    pub(crate) ms: f64,
}

/// What is known of a host's rules.
enum Rules {
    Body(Vec<u8>),
    /// There are none, and why.
    Free(String),
    /// They cannot be had, and why.
    Closed(DisallowReason, String),
}

/// Reads the rules out of a file's bytes.
pub(crate) fn of_file(url: &WebUrl, name: &str, body: Vec<u8>, agent: &str) -> RobotsReport {
    RobotsReport { file: Some(name.to_owned()), ..judge(url, Rules::Body(body), agent) }
}

/// Asks the URL's host.
pub(crate) async fn of_host(env: &Env, config: &Config, url: &WebUrl, agent: &str) -> RobotsReport {
    asked(env, config, url, agent, 0).await
}

/// The same, `depth` hosts away from the one whose rules are wanted.
async fn asked(env: &Env, config: &Config, url: &WebUrl, agent: &str, depth: usize) -> RobotsReport {
    let client = Client::new(env, config.client_options());
    let mut requests = Vec::new();
    let mut next = WebUrl::parse(&format!("{}/robots.txt", url.host())).ok();
    let mut rules = Rules::Closed(DisallowReason::Unreachable, "its URL cannot be written".into());
    while let Some(asked) = next.take() {
        let (exchange, _) = client.fetch(&asked, None).await;
        requests.push(Asked {
            url: asked.as_str().to_owned(),
            outcome: exchange.outcome.to_string(),
            address: exchange.address.map(|address| address.to_string()),
            ms: ms(exchange.finished.since(exchange.begun)),
        });
        rules = learned(&exchange, &config.limits.decode);
        if let Some(Redirect::To(target)) = exchange.redirect(&asked)
            && requests.len() <= HOPS_MAX
        {
            if target.host() == url.host() || Box::pin(invites(env, config, &target, agent, depth)).await {
                next = Some(target);
            } else {
                let why =
                    format!("{}: it leads to {}, which that host forbids", exchange.outcome, target.as_str());
                rules = Rules::Closed(DisallowReason::RefusedRedirect, why);
            }
        }
    }
    RobotsReport { requests, ..judge(url, rules, agent) }
}

/// Whether a robots.txt of another host may be sought there: its own is for everybody, anything else is its rules' matter.
async fn invites(env: &Env, config: &Config, target: &WebUrl, agent: &str, depth: usize) -> bool {
    target.path_and_query() == "/robots.txt"
        || depth < HOSTS_MAX && asked(env, config, target, agent, depth + 1).await.allowed
}

fn learned(exchange: &Exchange, limits: &DecodeLimits) -> Rules {
    let Some(status) = exchange.outcome.status() else {
        return Rules::Closed(DisallowReason::Unreachable, exchange.outcome.to_string());
    };
    match access_for_status(status) {
        Access::AllowAll => Rules::Free(status.to_string()),
        Access::DisallowAll => Rules::Closed(DisallowReason::ServerError, status.to_string()),
        Access::Rules => match whole_body(exchange, limits) {
            Ok(body) => Rules::Body(body),
            Err(reason) => Rules::Closed(DisallowReason::Unreachable, reason),
        },
    }
}

/// The body, if its rules can be relied on: what is missing from a file would look like permission.
fn whole_body(exchange: &Exchange, limits: &DecodeLimits) -> Result<Vec<u8>, String> {
    if let Some(cut @ (Truncation::Time | Truncation::Disconnect)) = exchange.truncated {
        return Err(format!("the file did not come whole ({cut})"));
    }
    let decoded = exchange.decoded(limits);
    match decoded.end {
        DecodeEnd::Whole | DecodeEnd::Length | DecodeEnd::Garbage | DecodeEnd::Cut => {
            Ok(decoded.bytes.into_owned())
        }
        end => Err(format!("the file cannot be decoded ({})", end.name())),
    }
}

fn judge(url: &WebUrl, rules: Rules, agent: &str) -> RobotsReport {
    let (robots, body, because) = match rules {
        Rules::Body(body) => (Robots::parse(&body, agent), body, None),
        Rules::Free(why) => (Robots::allow_all(), Vec::new(), Some(format!("{why}: there are no rules"))),
        Rules::Closed(reason, why) => {
            let because = format!("{why}: the rules cannot be had, which forbids everything");
            (Robots::disallow_all(reason), Vec::new(), Some(because))
        }
    };
    let verdict = robots.verdict(url.path_and_query());
    let (group, group_lines) = rules::group(&body, agent);
    let rule = verdict
        .rule
        .map(|rule| rules::line(&body, rule.line).unwrap_or(FileLine { line: rule.line, text: rule.text }));
    let reason = because.unwrap_or_else(|| match (&rule, group) {
        (Some(rule), _) => format!("line {}: {}", rule.line, rule.text),
        (None, Group::None) => format!("no group is for {agent}"),
        (None, _) if url.path_and_query() == "/robots.txt" => "robots.txt itself is always allowed".into(),
        (None, _) => "no rule matches".into(),
    });
    RobotsReport {
        url: url.as_str().to_owned(),
        allowed: verdict.allowed,
        reason,
        agent: agent.to_owned(),
        rule,
        group,
        group_lines,
        rules: robots.rules_count(),
        crawl_delay_s: robots.crawl_delay().map(|delay| delay.as_secs_f64()),
        sitemaps: robots.sitemaps().to_vec(),
        file: None,
        requests: Vec::new(),
        bytes: body.len(),
        cut: body.len() > BODY_BYTES_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(path: &str, body: &str) -> RobotsReport {
        let url = WebUrl::parse(&format!("http://a.example{path}")).unwrap();
        of_file(&url, "robots.txt", body.as_bytes().to_vec(), "mattock")
    }

    #[test]
    fn reasons_name_what_decided() {
        let file =
            "User-agent: *\nDisallow: /private/\nAllow: /private/open\nCrawl-delay: 1.5\nSitemap: /s.xml\n";
        for (path, allowed, reason) in [
            ("/private/a", false, "line 2: Disallow: /private/"),
            ("/private/open", true, "line 3: Allow: /private/open"),
            ("/", true, "no rule matches"),
            ("/robots.txt", true, "robots.txt itself is always allowed"),
        ] {
            let report = report(path, file);
            assert_eq!((report.allowed, report.reason.as_str()), (allowed, reason), "{path}");
            assert_eq!((report.crawl_delay_s, report.sitemaps.len(), report.rules), (Some(1.5), 1, 2));
        }
        assert_eq!(report("/", "User-agent: b\nDisallow: /\n").reason, "no group is for mattock");
    }
}
