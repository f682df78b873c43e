//! What a client is told: who we are, what servers may cost, where we may connect, and by which way.

use std::path::PathBuf;

use mattock_secret::Secret;

use crate::resolver::Families;
use crate::tls::TlsOptions;
use crate::{AddressGuard, Credential, Hosts, Limits, NameServers, Ports};

/// Who we say we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The `User-Agent` field: product token, version, and where to complain.
    pub user_agent: String,
    /// The `From` field: an e-mail address.
    pub from: Option<String>,
}

/// Everything a client needs to know.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Who we say we are.
    pub identity: Identity,
    /// What a server may cost.
    pub limits: Limits,
    /// Where we connect to.
    pub guard: AddressGuard,
    /// Which ports of URLs we connect to.
    pub ports: Ports,
    /// Whom to ask for addresses; the machine's own servers if `None`.
    pub name_servers: Option<NameServers>,
    /// Names with addresses of the operator's own.
    pub hosts: Hosts,
    /// IPv4, IPv6, and which of them first.
    pub families: Families,
    /// Ports to connect to instead of those in the URL: for laboratories that cannot listen on port 80.
    pub connect_ports: Vec<(u16, u16)>,
    /// How certificates are judged.
    pub tls: TlsOptions,
    /// Whether HTTP/2 is offered in TLS handshakes. Without the `http2` feature it never is.
    pub http2: bool,
    /// Whether compressed content is asked for.
    pub compressed: bool,
    /// Sent with every request, after our own fields.
    pub fields: Vec<Field>,
    /// Sent to the sites that they are for. Cookies are sent only if they stand here.
    pub credentials: Vec<Credential>,
    /// Everything goes through this proxy.
    pub proxy: Option<Proxy>,
    /// A directory of the client's own, where large bodies wait in files until they are [restored](crate::Exchange::restore). With `None`
    /// they stay in memory, and need not be.
    pub spill: Option<PathBuf>,
}

impl ClientOptions {
    /// The defaults of a broad crawl.
    pub fn new(identity: Identity) -> ClientOptions {
        ClientOptions {
            identity,
            limits: Limits::default(),
            guard: AddressGuard::default(),
            ports: Ports::default(),
            name_servers: None,
            hosts: Hosts::default(),
            families: Families::default(),
            connect_ports: Vec::new(),
            tls: TlsOptions::default(),
            http2: true,
            compressed: true,
            fields: Vec::new(),
            credentials: Vec::new(),
            proxy: None,
            spill: None,
        }
    }
}

/// An HTTP proxy: `http` URLs are asked for in absolute form, `https` goes through a tunnel (CONNECT).
///
/// The proxy resolves names and connects, so the address guard sees only addresses and names that stand in URLs, and an
/// [`Exchange`](crate::Exchange) has no address. The proxy's own address is the operator's word and not guarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The value of `Proxy-Authorization`, if it wants one.
    pub authorization: Option<Secret>,
}

/// A request field that is known to be well-formed and not one that the client itself must decide about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub(crate) name: String,
    pub(crate) value: FieldValue,
}

/// A field's value without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldValue(pub(crate) String);

/// A field that cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// The name is no token.
    #[error("`{0}` is no name of a header field; use letters, digits and hyphens")]
    Name(String),
    /// The client sends this field itself, or its framing depends on it.
    #[error("`{0}` is set by the crawler itself; leave it out")]
    Reserved(String),
    /// The value holds control characters. What it is may be a secret, so the field is named.
    #[error("the value of {0} holds control characters; leave them out")]
    Value(String),
}

/// Fields that decide about framing, identity or the connection.
const RESERVED: [&str; 14] = [
    "host",
    "user-agent",
    "from",
    "accept-encoding",
    "connection",
    "keep-alive",
    "content-length",
    "transfer-encoding",
    "te",
    "upgrade",
    "expect",
    "if-none-match",
    "if-modified-since",
    "proxy-authorization",
];

impl FieldValue {
    /// A value, if it can be sent.
    pub fn new(value: &str) -> Result<FieldValue, FieldError> {
        match has_control(value) {
            true => Err(FieldError::Value("the field".to_owned())),
            false => Ok(FieldValue(value.trim().to_owned())),
        }
    }
}

/// Whether a value would end its line, or something else that it must not.
pub(crate) fn has_control(value: &str) -> bool {
    value.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f)
}

/// Whether a field of this name can be sent, and the client does not decide about it.
pub(crate) fn check_name(name: &str) -> Result<(), FieldError> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(FieldError::Name(name.to_owned()));
    }
    match RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
        true => Err(FieldError::Reserved(name.to_owned())),
        false => Ok(()),
    }
}

impl Field {
    /// A field, if it can be sent.
    pub fn new(name: &str, value: &str) -> Result<Field, FieldError> {
        check_name(name)?;
        Ok(Field { name: name.to_owned(), value: FieldValue::new(value)? })
    }

    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_cannot_smuggle() {
        assert!(Field::new("Accept-Language", "de, en;q=0.5").is_ok());
        assert!(matches!(Field::new("A\r\nB", "x"), Err(FieldError::Name(_))));
        assert!(matches!(Field::new("", "x"), Err(FieldError::Name(_))));
        assert!(matches!(Field::new("A", "x\r\nB: y"), Err(FieldError::Value(_))));
        assert!(matches!(Field::new("HOST", "x"), Err(FieldError::Reserved(_))));
    }
}
