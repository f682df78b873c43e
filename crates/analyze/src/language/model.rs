//! The model: what letters cost in which language. Made by `bench/train_language.py`, where its layout is said.

use std::sync::LazyLock;

use super::near::{Words, hash};
use super::script::Script;

static FILE: &[u8] = include_bytes!("model.bin");

/// Steps in which costs are written, per unit of the natural logarithm.
pub(crate) const STEPS: u32 = 18;
/// What it costs, for a whole text, to be in a language that few pages are in, and what a hint is worth.
const RARE_COST: u32 = 5 * STEPS;
const HINT_WORTH: u32 = 8 * STEPS;
/// Languages that are not rare, each some tenths of a per mille of the Web or more.
const COMMON: [&str; 44] = [
    "eng", "rus", "deu", "jpn", "fra", "spa", "zho", "ita", "por", "nld", "pol", "ces", "vie", "ind", "tur",
    "swe", "fas", "kor", "ell", "ron", "hun", "dan", "ukr", "ara", "fin", "slk", "nor", "bul", "hrv", "cat",
    "srp", "lit", "slv", "est", "lav", "heb", "hin", "eus", "glg", "bel", "kaz", "mkd", "urd", "mar",
];

/// The model of one script.
pub(crate) struct Model {
    script: Script,
    bits: u32,
    languages: Vec<&'static str>,
    /// What each costs for being rare.
    priors: Vec<u32>,
    near: Words,
    /// By bucket, then by language.
    costs: &'static [u8],
}

static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| read(FILE).expect("the model file is whole"));

fn read(file: &'static [u8]) -> Option<Vec<Model>> {
    const SCRIPTS: [Script; 7] = [
        Script::Latin,
        Script::Cyrillic,
        Script::Arabic,
        Script::Devanagari,
        Script::Tibetan,
        Script::Ethiopic,
        Script::Hebrew,
    ];
    let rest = file.strip_prefix(b"MLM2")?;
    let (&count, mut rest) = rest.split_first()?;
    let mut models = Vec::new();
    for _ in 0..count {
        let (&[script, bits, languages], after) = rest.split_first_chunk()?;
        let (codes, after) = after.split_at_checked(3 * usize::from(languages))?;
        let (costs, after) = after.split_at_checked(usize::from(languages) << bits)?;
        rest = after;
        let languages: Vec<&str> = codes.chunks(3).map(std::str::from_utf8).collect::<Result<_, _>>().ok()?;
        let prior = |language| if COMMON.contains(language) { 0 } else { RARE_COST };
        models.push(Model {
            script: *SCRIPTS.get(usize::from(script))?,
            bits: u32::from(bits),
            priors: languages.iter().map(prior).collect(),
            near: Words::of(&languages),
            languages,
            costs,
        });
    }
    rest.is_empty().then_some(models)
}

impl Model {
    pub(crate) fn of(script: Script) -> Option<&'static Model> {
        MODELS.iter().find(|model| model.script == script)
    }

    pub(crate) fn languages(&self) -> &[&'static str] {
        &self.languages
    }

    pub(crate) fn language(&self, place: usize) -> &'static str {
        self.languages[place]
    }

    pub(crate) fn place(&self, language: &str) -> Option<usize> {
        self.languages.iter().position(|known| *known == language)
    }

    /// The costs of a sequence of letters, by language.
    #[inline]
    fn costs(&self, gram: &[u32]) -> &'static [u8] {
        // 64 bits as in the script that trains: the product is not cut before the shift.
        let bucket =
            ((u64::from(hash(gram)) * 0x85eb_ca6b) >> (32 - self.bits)) as usize & ((1 << self.bits) - 1);
        &self.costs[bucket * self.languages.len()..][..self.languages.len()]
    }
}

/// What a text costs in each language.
pub(crate) struct Costs<'m> {
    model: &'m Model,
    hint: Option<usize>,
    sums: Vec<u32>,
    /// What came last: small numbers, of which the processor adds more at once.
    last: Vec<u16>,
    /// Grams and words in it.
    last_count: usize,
    letters: usize,
}

/// So many costs at most fit into a small number.
const LAST_MAX: usize = u16::MAX as usize / u8::MAX as usize;

impl<'m> Costs<'m> {
    pub(crate) fn new(model: &'m Model, hint: Option<&str>) -> Costs<'m> {
        let hint = hint.and_then(|hint| model.place(hint));
        let count = model.languages.len();
        Costs { model, hint, sums: vec![0; count], last: vec![0; count], last_count: 0, letters: 0 }
    }

    /// Adds a word, which has a blank on either side.
    pub(crate) fn word(&mut self, word: &[u32]) {
        self.letters += word.len() - 2;
        let model = self.model;
        for length in [2, 3] {
            for gram in word.windows(length) {
                self.charge(model.costs(gram));
            }
        }
        if let Some(costs) = model.near.costs(&word[1..word.len() - 1]) {
            self.charge(costs);
        }
    }

    #[inline]
    fn charge(&mut self, costs: &[u8]) {
        if self.last_count == LAST_MAX {
            self.add_last();
        }
        for (sum, cost) in self.last.iter_mut().zip(costs) {
            *sum += u16::from(*cost);
        }
        self.last_count += 1;
    }

    fn add_last(&mut self) {
        for (sum, last) in self.sums.iter_mut().zip(&mut self.last) {
            *sum += u32::from(std::mem::take(last));
        }
        self.last_count = 0;
    }

    pub(crate) fn add(&mut self, other: &Costs<'_>) {
        self.letters += other.letters;
        for (sum, (other, last)) in self.sums.iter_mut().zip(other.sums.iter().zip(&other.last)) {
            *sum += other + u32::from(*last);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.letters = 0;
        self.sums.fill(0);
        self.last.fill(0);
        self.last_count = 0;
    }

    pub(crate) fn letters(&self) -> usize {
        self.letters
    }

    /// How much less the best language costs than that one, hints and rareness aside.
    pub(crate) fn cheaper_by(&self, other: usize) -> u32 {
        self.best().map_or(0, |best| self.cost(other).saturating_sub(self.cost(best)))
    }

    fn cost(&self, place: usize) -> u32 {
        self.sums[place] + u32::from(self.last[place])
    }

    /// The place of the language in which it costs least; `None` without a letter.
    pub(crate) fn best(&self) -> Option<usize> {
        if self.letters == 0 {
            return None;
        }
        (0..self.sums.len()).min_by_key(|&place| {
            let hinted = if self.hint == Some(place) { 0 } else { HINT_WORTH };
            self.cost(place) + self.model.priors[place] + hinted
        })
    }
}
