//! The token that opens a console to other machines, and the tickets for frames.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mattock_env::{Clock, Time};

use crate::ConsoleError;

/// Shorter ones can be guessed.
const LENGTH_MIN: usize = 16;
const LENGTH_MAX: usize = 512;

/// What a client must know.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes a token if it is long enough and can be sent in a header.
    pub fn new(text: &str) -> Result<Token, ConsoleError> {
        let fits = (LENGTH_MIN..=LENGTH_MAX).contains(&text.len());
        let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && text.trim() == text;
        if fits && plain { Ok(Token(text.to_owned())) } else { Err(ConsoleError::WeakToken) }
    }

    /// Compares in a time that does not tell how far they agree.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), given.as_bytes());
        let mut differs = u8::from(ours.len() != theirs.len());
        for (index, byte) in ours.iter().enumerate() {
            let other = theirs.get(index).copied().unwrap_or(!byte);
            differs = std::hint::black_box(differs | (byte ^ other));
        }
        differs == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(…)")
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
    known: Mutex<VecDeque<Ticket>>,
}

#[derive(Debug)]
struct Ticket {
    text: String,
    subject: String,
    until: Time,
}

impl Tickets {
    pub(crate) fn new(clock: Clock) -> Tickets {
        Tickets { clock, known: Mutex::default() }
    }

    /// A ticket for what `subject` names; none if the system has no secrets to give.
    pub(crate) fn issue(&self, subject: &str) -> Option<String> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).ok()?;
        let text = format!("{:032x}", u128::from_le_bytes(secret));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == TICKETS {
            known.pop_front();
        }
        let until = self.clock.now() + LIFETIME;
        known.push_back(Ticket { text: text.clone(), subject: subject.to_owned(), until });
        Some(text)
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
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn a_ticket_is_good_once_and_for_one_thing() {
        Simulation::new(1).run(|env| async move {
            let tickets = Tickets::new(env.clock.clone());
            let ticket = tickets.issue("a").unwrap();
            assert!(!tickets.redeem(&ticket, "b"));
            assert!(tickets.redeem(&ticket, "a"));
            assert!(!tickets.redeem(&ticket, "a"));
            let first = tickets.issue("a").unwrap();
            (0..TICKETS).for_each(|_| drop(tickets.issue("b")));
            assert!(!tickets.redeem(&first, "a"));
            let late = tickets.issue("a").unwrap();
            env.clock.sleep(LIFETIME * 2).await;
            assert!(!tickets.redeem(&late, "a"));
        });
    }
}
