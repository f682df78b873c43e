//! All routes, in one table: it is what requests are matched against and what the OpenAPI description is made of.

use http::Method;

use crate::answer::{Answer, Problem};
use crate::desk::Desk;
use crate::input::{Input, Kind, Param};
use crate::{metrics, openapi};

/// What does the work.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// At once: it touches no disk.
    Quick(fn(&Desk, &Input) -> Result<Answer, Problem>),
    /// On another thread.
    Slow(fn(&Desk, &Input) -> Result<Answer, Problem>),
    /// The stream of updates.
    Live,
    /// The last ten minutes.
    History,
    /// A session for a browser that has shown the token.
    Login,
    /// Leave to show a stored page in a frame.
    Ticket,
    /// A stored page in a frame.
    View(fn(&Desk, &Input) -> Result<Answer, Problem>),
}

/// One thing that can be asked or done.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    /// Whether something is changed, hence whether it is a POST.
    pub(crate) change: bool,
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) params: &'static [Param],
    pub(crate) handler: Handler,
    /// The type of what comes back.
    pub(crate) kind: &'static str,
    /// The name of the schema of what comes back, if it is JSON.
    pub(crate) schema: &'static str,
}

impl Route {
    pub(crate) fn method(&self) -> Method {
        if self.change { Method::POST } else { Method::GET }
    }
}

const JSON: &str = "application/json";

const fn get(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    params: &'static [Param],
    handler: Handler,
    schema: &'static str,
) -> Route {
    Route { path, change: false, name, about, params, handler, kind: JSON, schema }
}

const fn post(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    params: &'static [Param],
    handler: Handler,
    schema: &'static str,
) -> Route {
    Route { path, change: true, name, about, params, handler, kind: JSON, schema }
}

const fn other(route: Route, kind: &'static str) -> Route {
    Route { kind, schema: "", ..route }
}

const OFFSET: Param = Param::query("offset", Kind::Integer(0, 1_000_000), "Leave out so many");
const LIMIT: Param = Param::query("limit", Kind::Integer(1, 1000), "At most so many; 100 if not given");
const SEARCH: Param = Param::query("q", Kind::Text(200), "Only those with this in their names");
const URL: Param = Param::query("u", Kind::Url, "The URL").required();
const INSTANCE: Param = Param::query("n", Kind::Integer(0, 100_000), "Which instance, counted from 0");
const RULE: Param = Param::body(
    "rule",
    Kind::Text(2000),
    "A line of a blocklist: `host NAME`, `domain NAME`, `address RANGE` or `url PATTERN`",
)
.required();
const HOST_SORTS: Kind = Kind::Choice(&["pages", "errors", "bytes", "last", "queued", "next", "name"]);
const DOMAIN_SORTS: Kind = Kind::Choice(&["pages", "errors", "bytes", "last", "budget", "in-degree", "name"]);
const LEVELS: Kind = Kind::Choice(&["debug", "info", "warn", "error"]);

/// Everything but the pages themselves.
pub(crate) const ROUTES: &[Route] = &[
    get("/api/v1/snapshot", "snapshot", "How the crawl is now", &[], Handler::Slow(snapshot), "Snapshot"),
    get(
        "/api/v1/history",
        "history",
        "The last ten minutes, a sample a second",
        &[],
        Handler::History,
        "History",
    ),
    other(
        get(
            "/api/v1/live",
            "live",
            "A stream of server-sent events: sample and snapshot, once a second",
            &[],
            Handler::Live,
            "",
        ),
        "text/event-stream",
    ),
    get(
        "/api/v1/stalls",
        "stalls",
        "What limits the crawl, and what would change that",
        &[],
        Handler::Slow(Desk::stalls),
        "Stalls",
    ),
    get(
        "/api/v1/events",
        "events",
        "What has happened, the oldest first",
        &[
            Param::query("since", Kind::Integer(0, i64::MAX / 1024), "Only those with higher numbers"),
            Param::query("level", LEVELS, "Only those that matter at least so much"),
            Param::query("q", Kind::Text(200), "Only those with this text in them"),
            Param::query("limit", Kind::Integer(1, 5000), "At most so many, the newest; 1000 if not given"),
        ],
        Handler::Quick(Desk::events),
        "Events",
    ),
    get(
        "/api/v1/hosts",
        "hosts",
        "Hosts that were visited or have URLs waiting",
        &[SEARCH, Param::query("sort", HOST_SORTS, "By which column"), OFFSET, LIMIT],
        Handler::Slow(Desk::hosts),
        "List",
    ),
    get(
        "/api/v1/hosts/{host}",
        "host",
        "One host: counts, outcomes over time, robots.txt as obeyed, its last URLs",
        &[Param::path("host", Kind::Text(1000), "Scheme, name and port, like http://example.com")],
        Handler::Slow(Desk::host),
        "Portrait",
    ),
    get(
        "/api/v1/domains",
        "domains",
        "Domains that were visited; sorted by budget or in-degree, the thousand with the most pages",
        &[SEARCH, Param::query("sort", DOMAIN_SORTS, "By which column"), OFFSET, LIMIT],
        Handler::Slow(Desk::domains),
        "List",
    ),
    get(
        "/api/v1/domains/{domain}",
        "domain",
        "One domain with its hosts",
        &[Param::path("domain", Kind::Text(300), "The domain, like example.com")],
        Handler::Slow(Desk::domain),
        "Portrait",
    ),
    get(
        "/api/v1/url",
        "url",
        "Where a URL is in the crawl, and why; its instances, imported ones last",
        &[URL],
        Handler::Slow(Desk::url),
        "Url",
    ),
    get(
        "/api/v1/page",
        "page",
        "The heads of a stored page",
        &[URL, INSTANCE],
        Handler::Slow(Desk::page),
        "Page",
    ),
    get(
        "/api/v1/outcomes",
        "outcomes",
        "What became of URLs, with examples",
        &[],
        Handler::Slow(Desk::outcomes),
        "Outcomes",
    ),
    get(
        "/api/v1/blocks",
        "blocks",
        "What is blocked by the operator",
        &[],
        Handler::Quick(Desk::blocks),
        "Blocks",
    ),
    get(
        "/api/v1/fields",
        "fields",
        "Settings that can be changed while the crawl runs",
        &[],
        Handler::Quick(Desk::fields),
        "Fields",
    ),
    get(
        "/api/v1/speed",
        "speed",
        "The speed limit in force, and the schedule",
        &[],
        Handler::Quick(Desk::speed),
        "Speed",
    ),
    get(
        "/api/v1/openapi.json",
        "openapi",
        "This description",
        &[],
        Handler::Quick(|_, _| Ok(openapi::answer())),
        "Anything",
    ),
    post(
        "/api/v1/pause",
        "pause",
        "Begin no new visit; what is under way ends",
        &[Param::body("reason", Kind::Text(500), "For the log")],
        Handler::Quick(Desk::pause),
        "Done",
    ),
    post("/api/v1/resume", "resume", "Go on after a pause", &[], Handler::Quick(Desk::resume), "Done"),
    post(
        "/api/v1/speed",
        "set-speed",
        "Limit the speed until it is set again; null for no limit of this kind, neither field for what the configuration says",
        &[
            Param::body("pages_per_s", Kind::NumberOrNull(0.001, 1e9), "Requests a second"),
            Param::body("mbit_per_s", Kind::NumberOrNull(0.001, 1e6), "Megabits received a second"),
        ],
        Handler::Quick(Desk::set_speed),
        "Done",
    ),
    post(
        "/api/v1/checkpoint",
        "checkpoint",
        "Make a checkpoint now",
        &[],
        Handler::Quick(Desk::checkpoint),
        "Done",
    ),
    post(
        "/api/v1/seeds",
        "seeds",
        "Add seeds",
        &[Param::body("urls", Kind::Urls(1000), "The URLs").required()],
        Handler::Quick(Desk::add_seeds),
        "Done",
    ),
    post(
        "/api/v1/blocks",
        "block",
        "Fetch nothing of this any more, from now on",
        &[RULE],
        Handler::Quick(Desk::block),
        "Done",
    ),
    post(
        "/api/v1/blocks/remove",
        "unblock",
        "Take a block back",
        &[RULE],
        Handler::Quick(Desk::unblock),
        "Done",
    ),
    post(
        "/api/v1/fields",
        "set-field",
        "Change a setting, now and for later runs",
        &[
            Param::body("name", Kind::Text(100), "Its name").required(),
            Param::body("value", Kind::Scalar, "Its value").required(),
        ],
        Handler::Quick(Desk::set_field),
        "Done",
    ),
    post("/api/v1/stop", "stop", "End the run in good order", &[], Handler::Quick(Desk::stop), "Done"),
    post(
        "/api/v1/login",
        "login",
        "A session for a browser that sends the token, in a cookie",
        &[],
        Handler::Login,
        "Done",
    ),
    post(
        "/api/v1/tickets",
        "ticket",
        "Leave to show a stored page in a frame, once",
        &[
            Param::body("u", Kind::Url, "The URL").required(),
            Param::body("n", Kind::Integer(0, 100_000), "Which instance, counted from 0"),
        ],
        Handler::Ticket,
        "Ticket",
    ),
    other(
        get(
            "/view",
            "view",
            "A stored page, under a policy that lets it run and load nothing",
            &[URL, INSTANCE, Param::query("ticket", Kind::Text(64), "A ticket, if there is a token")],
            Handler::View(Desk::view),
            "",
        ),
        "text/plain",
    ),
    other(
        get(
            "/metrics",
            "metrics",
            "For Prometheus",
            &[],
            Handler::Quick(|desk, _| Ok(metrics::answer(desk))),
            "",
        ),
        metrics::KIND,
    ),
    get("/healthz", "health", "Whether the crawl is well", &[], Handler::Quick(Desk::health), "Health"),
];

fn snapshot(desk: &Desk, _: &Input) -> Result<Answer, Problem> {
    Ok(Answer::json(&desk.snapshot()))
}
