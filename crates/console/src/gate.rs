//! The gate of a console that has a token: who has shown it, and who has shown it before.
//!
//! Programs send the token with every request. A browser shows it once, as the printed address has it or typed into a form, and gets a
//! session in a cookie, which no script can read and no page of another site can use. Cookies are sent to every port of a host; hence the
//! session and not the token is in it, and the name has the port, so that consoles on one machine do not take each other's.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use http::{HeaderMap, HeaderValue, header};
use mattock_env::Random;

use crate::answer::Problem;
use crate::guard::single;
use crate::token::{Token, secret};

/// Sessions at once: the oldest makes way.
const SESSIONS_MAX: usize = 64;

/// What a request shows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    /// Something that is neither the token nor a session.
    Wrong,
    Token,
    Session,
}

/// A token, and the sessions of those who have shown it.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    token: Token,
    cookie: String,
    sessions: Rc<RefCell<Sessions>>,
}

struct Sessions {
    random: Random,
    known: VecDeque<Token>,
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Sessions({})", self.known.len())
    }
}

impl Gate {
    pub(crate) fn new(token: Token, port: u16, random: Random) -> Gate {
        let sessions = Rc::new(RefCell::new(Sessions { random, known: VecDeque::new() }));
        Gate { token, cookie: format!("mattock-{port}"), sessions }
    }

    /// Looks for the token, and without one for the cookie of a session.
    pub(crate) fn shown(&self, headers: &HeaderMap) -> Result<Shown, Problem> {
        if let Some(given) = single(headers, header::AUTHORIZATION.as_str())? {
            let scheme = given.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("Bearer "));
            let is_it = scheme.is_some_and(|_| self.token.is(given[7..].trim()));
            return Ok(if is_it { Shown::Token } else { Shown::Wrong });
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut shown = Shown::Nothing;
        for cookie in cookies.flat_map(|cookies| cookies.split(';')) {
            let Some(("", given)) =
                cookie.trim().strip_prefix(&*self.cookie).and_then(|rest| rest.split_once('='))
            else {
                continue;
            };
            if self.sessions.borrow().known.iter().any(|session| session.is(given)) {
                return Ok(Shown::Session);
            }
            shown = Shown::Wrong;
        }
        Ok(shown)
    }

    /// Whether this is the token.
    pub(crate) fn is_token(&self, given: &str) -> bool {
        self.token.is(given)
    }

    /// The cookie of a new session, for a browser that has shown the token.
    pub(crate) fn admit(&self) -> HeaderValue {
        let sessions = &mut *self.sessions.borrow_mut();
        if sessions.known.len() == SESSIONS_MAX {
            sessions.known.pop_front();
        }
        let text = secret(&mut sessions.random);
        let cookie = format!("{}={text}; Path=/; HttpOnly; SameSite=Strict", self.cookie);
        sessions.known.push_back(Token::of_ours(text));
        HeaderValue::from_str(&cookie).expect("digits and words can be in a header")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate::new(Token::new("correct horse battery").unwrap(), 7070, Random::from_seed(1))
    }

    fn shown(gate: &Gate, name: &'static str, value: &str) -> Shown {
        let mut headers = HeaderMap::new();
        headers.append(name, HeaderValue::from_str(value).unwrap());
        gate.shown(&headers).unwrap()
    }

    #[test]
    fn a_session_is_known_by_its_cookie() {
        let gate = gate();
        let cookie = gate.admit();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        assert!(!cookie.contains("horse"), "the token itself stays here");
        let pair = cookie.split(';').next().unwrap();
        assert_eq!(shown(&gate, "cookie", pair), Shown::Session);
        assert_eq!(shown(&gate, "cookie", &format!("a=b; mattock-7070=x; {pair};c")), Shown::Session);
        for wrong in [
            &pair[..pair.len() - 1],
            &format!("{pair}0"),
            "mattock-7070=",
            "mattock-7070=correct horse battery",
        ] {
            assert_eq!(shown(&gate, "cookie", wrong), Shown::Wrong, "{wrong}");
        }
        for nothing in ["", "mattock-7070", "x", &pair.replace("7070", "70701"), &pair.replace("7070", "707")]
        {
            assert_eq!(shown(&gate, "cookie", nothing), Shown::Nothing, "{nothing}");
        }
        (0..SESSIONS_MAX).for_each(|_| drop(gate.admit()));
        assert_eq!(shown(&gate, "cookie", pair), Shown::Wrong, "too many have come since");
    }

    #[test]
    fn a_token_that_is_sent_decides() {
        let gate = gate();
        assert_eq!(shown(&gate, "authorization", "bearer correct horse battery"), Shown::Token);
        for wrong in ["Bearer correct horse batterz", "Basic Y29ycmVjdA==", "Bearer ", ""] {
            assert_eq!(shown(&gate, "authorization", wrong), Shown::Wrong, "{wrong}");
        }
        assert_eq!(gate.shown(&HeaderMap::new()).unwrap(), Shown::Nothing);
        assert!(gate.is_token("correct horse battery") && !gate.is_token(""));
    }
}
