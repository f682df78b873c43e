//! The simulated Web: a world of domains, hosts and pages made by hashing, the servers that show it, and the auditor
//! that watches who asks for what.
//!
//! A [`World`] is [`Params`] and a seed. It stores no page: any URL at any time is answered by computing it, and what
//! the whole looks like (what can be reached, what robots.txt forbids, who links to whom) is known as [`Truth`].
//!
//! | module | what it knows |
//! |---|---|
//! | `mix`, `curve` | hashing, and power laws that are the same on every machine |
//! | `params` | the parameters and the presets |
//! | `place` | structural addresses |
//! | `names`, `hosts`, `pages`, `farm` | names and paths with their inverses; what hosts and pages are like |
//! | `failures`, `change` | what fails, where servers are, when pages change |
//! | `links` | the links of a page: the source of both the HTML and the truth |
//! | `vocabulary`, `text`, `html`, `robots_txt`, `sitemap` | bodies |
//! | `world`, `answer` | requests and answers |
//! | `truth`, `copies` | the whole, by exploring it; which pages and hosts are copies |
//! | `server`, `connection`, `http`, `dns` | the world on the network, real or simulated |
//! | `script`, `secure` | what a server does to a connection below HTTP; TLS |
//! | `hostile` | the catalogue of what servers do to crawlers, and the web that does it |
//! | `web` | what a server needs to know of a world |
//! | `audit` | the log of all requests, and the judge of it |

mod answer;
mod audit;
mod change;
mod command;
mod connection;
mod copies;
mod curve;
mod dns;
mod error;
mod failures;
mod farm;
mod hostile;
mod hosts;
mod html;
mod http;
mod links;
mod mix;
mod names;
mod pages;
mod params;
mod place;
mod robots_txt;
mod script;
mod secure;
mod server;
mod sitemap;
mod text;
mod truth;
mod vocabulary;
mod web;
mod world;

pub use answer::{Answer, Behaviour, EntityTag, NameAnswer, NameData, NameRecord, Request, Resolution};
pub use audit::{
    AuditError, AuditHeader, AuditLog, AuditOptions, AuditReport, AuditedRequest, Examples, Gap,
    MalformedLine, audit,
};
pub use command::crawl_command;
pub use error::SimwebError;
pub use hostile::{HealthyWeb, HostileWeb, Hostility, catalogue, hostility};
pub use names::LANGUAGES;
pub use params::{Params, Preset};
pub use robots_txt::AGENT;
pub use script::{ENDLESS, End, Script, Step};
pub use secure::{Security, authority};
pub use server::{ServeError, ServeOptions, Server, serve};
pub use truth::{DomainInDegree, Size, Truth, TruthError};
pub use web::Web;
pub use world::{EPOCH_UNIX_S, World};
