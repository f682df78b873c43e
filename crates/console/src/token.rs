//! The token that opens a console, and the tickets for frames.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mattock_env::{Clock, Random, Time};
use mattock_secret::Secret;

use crate::ConsoleError;

/// Shorter ones can be guessed.
const LENGTH_MIN: usize = 16;
const LENGTH_MAX: usize = 512;

/// What a client must know.
#[derive(Clone, Debug)]
pub struct Token {
    secret: Secret,
    /// Whether it was made here, so that nobody knows it who is not told.
    made: bool,
}

/// 128 random bits in hexadecimal digits.
pub(crate) fn secret(random: &mut Random) -> String {
    format!("{:016x}{:016x}", random.next_u64(), random.next_u64())
}

impl Token {
    /// A new one.
    pub(crate) fn made(random: &mut Random) -> Token {
        Token::of_ours(secret(random))
    }

    pub(crate) fn of_ours(text: String) -> Token {
        Token { secret: Secret::new(text), made: true }
    }

    pub(crate) fn is_made(&self) -> bool {
        self.made
    }

    /// The token itself, for whoever is to know it.
    pub(crate) fn text(&self) -> &str {
        self.secret.expose()
    }

    /// Takes a token if it is long enough and can be sent in a header.
    pub fn new(text: &str) -> Result<Token, ConsoleError> {
        let fits = (LENGTH_MIN..=LENGTH_MAX).contains(&text.len());
        let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && text.trim() == text;
        match fits && plain {
            true => Ok(Token { secret: Secret::new(text), made: false }),
            false => Err(ConsoleError::WeakToken),
        }
    }

    /// Compares in a time that does not tell how far they agree.
    pub(crate) fn is(&self, given: &str) -> bool {
        self.secret.is(given)
    }
}

/// Tickets that may be used at once: old ones make way.
const TICKETS: usize = 64;

/// How long a ticket is good.
const LIFETIME: Duration = Duration::from_secs(30);

/// Leave to show one stored page in a frame, which cannot send a token. Each is good once, and not for long.
#[derive(Debug)]
pub(crate) struct Tickets {
    clock: Clock,
    random: Mutex<Random>,
    known: Mutex<VecDeque<Ticket>>,
}

#[derive(Debug)]
struct Ticket {
    text: String,
    subject: String,
    until: Time,
}

impl Tickets {
    pub(crate) fn new(clock: Clock, random: Random) -> Tickets {
        Tickets { clock, random: Mutex::new(random), known: Mutex::default() }
    }

    /// A ticket for what `subject` names.
    pub(crate) fn issue(&self, subject: &str) -> String {
        let text = secret(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == TICKETS {
            known.pop_front();
        }
        let until = self.clock.now() + LIFETIME;
        known.push_back(Ticket { text: text.clone(), subject: subject.to_owned(), until });
        text
    }

    /// Takes a ticket back; whether it was good for this.
    pub(crate) fn redeem(&self, ticket: &str, subject: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let is_it = |known: &Ticket| known.text == ticket && known.subject == subject && now <= known.until;
        let place = known.iter().position(is_it);
        place.is_some_and(|place| known.remove(place).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::sim::Simulation;

    #[test]
    fn tokens_are_long_and_plain() {
        assert!(Token::new("short").is_err());
        assert!(Token::new("0123456789abcde\n").is_err());
        assert!(Token::new(" 0123456789abcdef").is_err());
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(token.is("0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef0"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert!(!format!("{token:?}").contains("0123456789"), "{token:?}");
    }

    #[test]
    fn a_ticket_is_good_once_and_for_one_thing() {
        Simulation::new(1).run(|env| async move {
            let tickets = Tickets::new(env.clock.clone(), env.random.fork("tickets"));
            let ticket = tickets.issue("a");
            assert!(!tickets.redeem(&ticket, "b"));
            assert!(tickets.redeem(&ticket, "a"));
            assert!(!tickets.redeem(&ticket, "a"));
            let first = tickets.issue("a");
            (0..TICKETS).for_each(|_| drop(tickets.issue("b")));
            assert!(!tickets.redeem(&first, "a"));
            let late = tickets.issue("a");
            env.clock.sleep(LIFETIME * 2).await;
            assert!(!tickets.redeem(&late, "a"));
        });
    }
}
