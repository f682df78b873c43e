//! What goes in and out of a world: names and addresses, requests and answers.
//!
//! A server fills a [`Request`] from what it read and sends what the [`Answer`] says; the body travels apart, in a buffer
//! that the server keeps.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use crate::Script;
use crate::html::write_status_page;

pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The server's address.
    Address(Ipv4Addr),
    /// The name does not exist.
    NoSuchName,
    /// The name server fails.
    Failure,
}

/// What the name server answers: a [`Resolution`], or what a hostile one makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameAnswer {
    /// What the name stands for.
    Plain(Resolution),
    /// Nothing at all.
    Silence,
    /// These records. What does not fit in a datagram is cut off and marked; the whole is there over TCP.
    Records {
        /// In this order.
        records: Vec<NameRecord>,
        /// So many answers with the wrong id go before the true one; they say that the name is at this address.
        forged: Option<(u16, Ipv4Addr)>,
    },
}

/// One record of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRecord {
    /// Whose record it is; `None` for the name that was asked for.
    pub name: Option<String>,
    /// For how long it holds.
    pub ttl_s: u32,
    /// What it says.
    pub data: NameData,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameData {
    /// An IPv4 address.
    A(Ipv4Addr),
    /// An IPv6 address.
    Aaaa(Ipv6Addr),
    /// Another name to look at.
    Cname(String),
}

/// What a client asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The Host header, with or without a port.
    pub host: &'a str,
    /// Path and query as they stand in the request line.
    pub path_and_query: &'a str,
    /// The User-Agent header; nothing depends on it so far.
    pub user_agent: &'a str,
    /// The If-None-Match header.
    pub if_none_match: Option<&'a str>,
    /// The If-Modified-Since header, in seconds since the world's beginning.
    pub if_modified_since_s: Option<u64>,
}

/// How the server behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// It sends the answer.
    Respond,
    /// It resets the connection.
    Reset,
    /// It never answers.
    Silent,
    /// It does what the script says; the answer's status is only for the log.
    Script(Arc<Script>),
}

/// An entity tag; displayed with its quotes, as the header has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag(pub u64);

impl std::fmt::Display for EntityTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{:016x}\"", self.0)
    }
}

/// What a server answers, the body apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The Content-Type header.
    pub content_type: &'static str,
    /// The Location header: absolute, or a path on the same host.
    pub location: Option<String>,
    /// The Retry-After header.
    pub retry_after_s: Option<u32>,
    /// The ETag header.
    pub etag: Option<EntityTag>,
    /// The Last-Modified header, in seconds since the world's beginning.
    pub last_modified_s: Option<u64>,
    /// How long to wait before the answer.
    pub delay_ms: u32,
    /// What to do with it.
    pub behaviour: Behaviour,
}

impl Answer {
    /// An answer with nothing but a status and a type.
    pub fn new(status: u16, content_type: &'static str) -> Self {
        Self {
            status,
            content_type,
            location: None,
            retry_after_s: None,
            etag: None,
            last_modified_s: None,
            delay_ms: 0,
            behaviour: Behaviour::Respond,
        }
    }

    /// An answer without content: an error, or a redirect.
    pub(crate) fn status(status: u16, body: &mut Vec<u8>) -> Self {
        write_status_page(status, body);
        Self::new(status, HTML)
    }

    pub(crate) fn redirect(status: u16, location: String, body: &mut Vec<u8>) -> Self {
        Self { location: Some(location), ..Self::status(status, body) }
    }
}
