//! Where a console listens, and who may use it.

use std::net::{SocketAddr, ToSocketAddrs};

use mattock_env::Random;

use crate::ConsoleError;
use crate::gate::Gate;
use crate::guard::Guard;
use crate::token::Token;

/// The word for a console without a token.
const NONE: &str = "none";

/// Who may use a console.
#[derive(Clone, Debug)]
pub enum Access {
    /// Whoever knows this.
    Token(Token),
    /// Everybody who can use this machine.
    Everybody,
}

impl Access {
    /// What somebody has asked for: a token of their own, `none`, or nothing, which is a new token.
    pub fn asked(text: Option<&str>, random: &mut Random) -> Result<Access, ConsoleError> {
        match text {
            None => Ok(Access::Token(Token::made(random))),
            Some(NONE) => Ok(Access::Everybody),
            Some(text) => Token::new(text).map(Access::Token),
        }
    }

    pub(crate) fn token(&self) -> Option<&Token> {
        match self {
            Access::Token(token) => Some(token),
            Access::Everybody => None,
        }
    }
}

/// Where a console listens.
#[derive(Clone, Debug)]
pub struct Bind {
    pub(crate) addresses: Vec<SocketAddr>,
    names: Vec<String>,
    access: Access,
}

impl Bind {
    /// Reads an address like `127.0.0.1:7070` or `localhost:7070`. Any but those of loopback need a token.
    pub fn parse(text: &str, access: Access) -> Result<Bind, ConsoleError> {
        let wrong = || ConsoleError::Address { text: text.to_owned() };
        let (addresses, name) = match text.parse::<SocketAddr>() {
            Ok(address) => (vec![address], None),
            Err(_) => {
                let name = text.rsplit_once(':').ok_or_else(wrong)?.0;
                let addresses: Vec<SocketAddr> = text.to_socket_addrs().map_err(|_| wrong())?.collect();
                (addresses, Some(name.to_ascii_lowercase()))
            }
        };
        if addresses.is_empty() {
            return Err(wrong());
        }
        match addresses.iter().find(|address| !is_loopback(address)) {
            Some(&address) if access.token().is_none() => Err(ConsoleError::NoToken { address }),
            _ => Ok(Bind { addresses, names: name.into_iter().collect(), access }),
        }
    }

    /// Answers under these names too: those of proxies before it.
    pub fn with_names(mut self, names: &[String]) -> Bind {
        self.names.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        self
    }

    /// The token, if it was made for this console and nobody knows it yet.
    pub(crate) fn made_token(&self) -> Option<&Token> {
        self.access.token().filter(|token| token.is_made())
    }

    /// The guard of a port, at the address that it has really got.
    pub(crate) fn guard(&self, address: SocketAddr, random: &Random) -> Guard {
        let gate = self
            .access
            .token()
            .map(|token| Gate::new(token.clone(), address.port(), random.fork("sessions")));
        Guard::Port { loopback: is_loopback(&address), names: self.names.clone(), gate }
    }
}

fn is_loopback(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(text: &str, token: &str) -> Result<Bind, ConsoleError> {
        Bind::parse(text, Access::asked(Some(token), &mut Random::from_seed(1))?)
    }

    #[test]
    fn only_loopback_is_bound_without_a_token() {
        assert!(bind("127.0.0.1:0", NONE).is_ok());
        assert!(bind("[::1]:7070", NONE).is_ok());
        for open in ["0.0.0.0:7070", "[::]:7070", "192.0.2.1:7070", "[::ffff:192.0.2.1]:7070"] {
            assert!(matches!(bind(open, NONE), Err(ConsoleError::NoToken { .. })), "{open}");
            assert!(bind(open, "0123456789abcdef").is_ok());
            assert!(matches!(bind(open, "weak"), Err(ConsoleError::WeakToken)));
        }
        for nonsense in ["", "7070", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70700"] {
            assert!(matches!(bind(nonsense, NONE), Err(ConsoleError::Address { .. })), "{nonsense}");
        }
    }

    #[test]
    fn a_token_is_made_if_nothing_is_asked_for() {
        let mut random = Random::from_entropy();
        let mut made = || Bind::parse("0.0.0.0:0", Access::asked(None, &mut random).unwrap()).unwrap();
        let (one, other) = (made(), made());
        let text = |bind: &Bind| bind.made_token().unwrap().text().to_owned();
        assert!(text(&one).len() == 32 && text(&one) != text(&other));
        assert!(
            bind("127.0.0.1:0", "0123456789abcdef").unwrap().made_token().is_none(),
            "its owner knows it"
        );
    }
}
