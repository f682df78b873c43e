//! Words: a table for each language and topic, from which text is drawn by random bits.
//!
//! A table has 2048 slots. Function words of the language (genuine ones, so that a language identifier works) fill
//! nearly half of them, words of the language in general a quarter, and words of the topic the rest; within each part
//! slots go by Zipf's law. The tables do not depend on the world: a language is the same in every world. They are
//! built once in a process (2.5 MB).

use std::sync::LazyLock;

use crate::curve::Zipf;
use crate::mix::{Stream, Tag, mix};
use crate::names::{LANGUAGES, PaddedWord, pad};

/// Bits that choose a word.
pub(crate) const WORD_BITS: u32 = 11;
/// Chances in a table.
const SLOTS: usize = 1 << WORD_BITS;
/// Room for different words: more than the parts have together.
const WORDS: usize = 1 << 10;
const FUNCTION_SLOTS: usize = 900;
const GENERAL_SLOTS: usize = 520;
const GENERAL_WORDS: u64 = 400;
const TOPIC_WORDS: u64 = 600;

/// The words of one language and topic, each with the space after it. Slots hold indices, since many slots have the
/// same word: 16 KB that are touched instead of 32, which matters in a cache that every page fills anew.
pub(crate) struct Table {
    slots: [u16; SLOTS],
    words: [PaddedWord; WORDS],
}

impl Table {
    /// The word that the lowest bits choose.
    #[inline]
    pub(crate) fn word(&self, bits: u64) -> &PaddedWord {
        &self.words[usize::from(self.slots[bits as usize & (SLOTS - 1)]) & (WORDS - 1)]
    }
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let topics = crate::hosts::TOPICS;
    (0..LANGUAGES.len() as u64 * topics).map(|i| build((i / topics) as usize, i % topics)).collect()
});

/// The table of a language and topic.
pub(crate) fn table(language: u8, topic: u8) -> &'static Table {
    &TABLES[usize::from(language) * crate::hosts::TOPICS as usize + usize::from(topic)]
}

/// Frequent words, most frequent first.
const FUNCTION_WORDS: [&str; 8] = [
    "the of and to in a is that for it was on are as with his they at be this from have or by one had not but what \
     all were when we there can an your which their said if do will each about how up out them then she many some",
    "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat \
     dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis",
    "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la mais avec ou \
     son cette ont aux été comme nous vous elle leur fait être deux ses tout même sans ces entre peut encore où",
    "de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o este sí porque \
     esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra",
    "di e il la che in un a per è una sono con non del si da i le dei al come nel più ma alla anche della lo gli \
     delle se questo ha o su dal dalla essere stato ci quando molto tra così dopo loro due sia ancora tutti fra",
    "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou quando \
     muito nos já eu também só pelo pela até isso ela entre depois sem mesmo aos seus quem nas esse eles você",
    "de het een en van in is dat op te zijn met voor niet aan er om ook als dan maar bij nog uit door over ze hij \
     naar heeft tot hebben worden wel of kan geen wat deze dit wordt zou meer veel zo al was haar onder tegen na",
    "i w na z się do nie to jest że o jak a po co tak za od jego przez dla ale czy już tylko są był może przy które \
     było także być oraz który bardzo tym przed lub jej więc ich kiedy bez nad pod jako tego ten gdy była roku",
];

/// Beginnings, middles and ends of made-up words that look like the language.
const SYLLABLES: [[&str; 3]; 8] = [
    [
        "str th br cl sh w pr gr m tr b fl c sp l r h wh d n",
        "a e i o u ea oo ai ou ee",
        "n t r l st nd ck ght ng ll",
    ],
    [
        "sch st kr b g pf w z tr h f l br spr k d m n r schw",
        "a e i o u ei au ä ö ü ie",
        "n r t cht ng rg lt nd ch ß",
    ],
    [
        "pr ch j v f d l m br cr t p r gr c bl n s pl g",
        "a e i o u ou eau é ai oi eu",
        "n r t l x s nt re lle que",
    ],
    [
        "ll ch b c d f g j m n p r s t v tr br gr pl cu",
        "a e i o u ie ue á ó ia",
        "n s r l z d do na cia ción",
    ],
    [
        "gl sc b c d f g l m n p r s t v tr br gr pr z",
        "a e i o u ia io ie uo",
        "no ta re lla zio tto na ri ssa ne",
    ],
    [
        "lh b c d f g j m n p r s t v tr br gr pr ch qu",
        "a e i o u ã õ ei ou ia",
        "o a s r ção m l dade nho ra",
    ],
    [
        "sch v w z g h k b d l m n p r st kr gr sl tr vr",
        "a e i o u aa ee ij oe ui ou",
        "n t r k cht ng l rs nd st",
    ],
    [
        "prz sz cz b w z g k d l m n p r st kr gr ch tr ś",
        "a e i o u ą ę ó ie ia",
        "k n ł ść cz wa ny sk rz ła",
    ],
];

fn build(language: usize, topic: u64) -> Table {
    let mut table = Table { slots: [0; SLOTS], words: [[0; 16]; WORDS] };
    let functions: Vec<&str> = FUNCTION_WORDS[language].split_whitespace().collect();
    let parts = [
        (FUNCTION_SLOTS, functions.len() as u64),
        (GENERAL_SLOTS, GENERAL_WORDS),
        (SLOTS - FUNCTION_SLOTS - GENERAL_SLOTS, TOPIC_WORDS),
    ];
    let (mut slot, mut used) = (0, 0);
    for (part, (slots, words)) in parts.into_iter().enumerate() {
        let zipf = Zipf::new(words, 0.9);
        let mut last = None;
        for i in 0..slots {
            // Ranks rise with the slots, so equal ones are neighbours.
            let rank = zipf.rank(((i as f64 + 0.5) / slots as f64 * u64::MAX as f64) as u64);
            if last != Some(rank) {
                let word = match part {
                    0 => functions[rank as usize].to_owned(),
                    1 => invent(language, u64::MAX, rank),
                    _ => invent(language, topic, rank),
                };
                table.words[used] = pad(&format!("{word} "));
                used += 1;
                last = Some(rank);
            }
            table.slots[slot] = used as u16 - 1;
            slot += 1;
        }
    }
    table
}

/// A word of at most 14 bytes.
fn invent(language: usize, topic: u64, rank: u64) -> String {
    let parts = SYLLABLES[language].map(|list| list.split_whitespace().collect::<Vec<&str>>());
    let mut stream = Stream::new(mix(language as u64, Tag::Text, topic, rank));
    let mut word = String::new();
    // Frequent words are short, as everywhere.
    let syllables = 1 + u64::from(rank > 20) + stream.below(2);
    for _ in 0..syllables {
        for list in &parts[..2] {
            let piece = list[stream.below(list.len() as u64) as usize];
            if word.len() + piece.len() <= 11 {
                word.push_str(piece);
            }
        }
    }
    let end = parts[2][stream.below(parts[2].len() as u64) as usize];
    if word.len() + end.len() <= 14 {
        word.push_str(end);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_are_text_with_their_length() {
        for language in 0..LANGUAGES.len() as u8 {
            for topic in 0..16 {
                for bits in 0..SLOTS as u64 {
                    let word = table(language, topic).word(bits);
                    let length = usize::from(word[15]);
                    let text = std::str::from_utf8(&word[..length]).expect("whole characters");
                    assert!(text.len() >= 2 && text.ends_with(' ') && !text.trim().contains(' '), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn topics_have_words_of_their_own() {
        let words = |topic| {
            (0..SLOTS as u64).map(|bits| *table(0, topic).word(bits)).collect::<BTreeSet<PaddedWord>>()
        };
        let (one, other) = (words(3), words(4));
        assert!(one.len() > 500, "{}", one.len());
        assert!(one.intersection(&other).count() * 10 < one.len() * 8);
        assert_eq!(&table(0, 3).word(0)[..4], b"the ");
    }
}
