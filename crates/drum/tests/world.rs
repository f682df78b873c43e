//! A naive model, random operations, and a simulated machine to run them on.

use std::collections::BTreeMap;
use std::path::Path;

use mattock_drum::{Batch, Deliver, Drum, DrumError, Options, Outcome, Plan, Value};
use mattock_env::sim::Simulation;
use mattock_env::{Env, Random};

pub(crate) const DIR: &str = "/crawl/seen";

/// A sum, so that an update that is lost or applied twice shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum(pub(crate) u64);

impl Value for Sum {
    fn encode(&self, out: &mut Vec<u8>) {
        // Of many lengths, some larger than a chunk.
        out.extend_from_slice(&self.0.to_le_bytes());
        let more = if self.0.is_multiple_of(41) { 6000 } else { self.0 % 7 };
        out.extend((0..more).map(|byte| byte as u8));
    }

    fn decode(bytes: &[u8]) -> Option<Sum> {
        let (number, more) = bytes.split_first_chunk()?;
        let sum = Sum(u64::from_le_bytes(*number));
        let mut expected = Vec::new();
        sum.encode(&mut expected);
        (expected[8..] == *more).then_some(sum)
    }

    fn update(stored: Option<Sum>, update: Sum) -> Sum {
        Sum(stored.map_or(0, |sum| sum.0) + update.0)
    }
}

/// Values that tests can draw.
pub(crate) trait Drawn: Value + PartialEq + std::fmt::Debug {
    fn draw(random: &mut Random) -> Self;

    /// Whether it could come of some of the updates that made the other.
    fn is_less(&self, other: &Self) -> bool;
}

impl Drawn for () {
    fn draw(_: &mut Random) {}

    fn is_less(&self, (): &()) -> bool {
        true
    }
}

impl Drawn for Sum {
    fn draw(random: &mut Random) -> Sum {
        Sum(random.below(100))
    }

    fn is_less(&self, other: &Sum) -> bool {
        self.0 <= other.0
    }
}

/// The answer to a check: aux, unique, value.
pub(crate) type Answer<V> = (Vec<u8>, bool, Option<V>);

/// What the repository must do: a map, and the queue of answers that were not delivered.
#[derive(Clone)]
pub(crate) struct Model<V> {
    pub(crate) map: BTreeMap<u64, V>,
    pub(crate) answers: Vec<Answer<V>>,
    pub(crate) position: u64,
    /// The checkpoint that holds this.
    pub(crate) checkpoint: u64,
    pub(crate) deliver: Deliver,
}

impl<V: Drawn> Model<V> {
    pub(crate) fn new(deliver: Deliver) -> Model<V> {
        Model { map: BTreeMap::new(), answers: Vec::new(), position: 0, checkpoint: 0, deliver }
    }

    fn check(&mut self, key: u64, aux: &[u8]) {
        let stored = self.map.get(&key).cloned();
        if stored.is_none() || self.deliver == Deliver::All {
            self.answers.push((aux.to_vec(), stored.is_none(), stored));
        }
    }

    fn update(&mut self, key: u64, value: V) {
        let stored = self.map.remove(&key);
        self.map.insert(key, V::update(stored, value));
    }
}

/// Keys that meet often: in one bucket, in one set of the cache, and anywhere.
fn draw_key(random: &mut Random, universe: u64) -> u64 {
    let number = random.below(universe);
    match random.below(3) {
        0 => number,
        1 => number << 40 | 5 << 60,
        _ => number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    }
}

/// A random batch, for both.
pub(crate) fn draw_batch<V: Drawn>(random: &mut Random, universe: u64, len: u64) -> Batch<V> {
    let mut batch = Batch::new();
    let style = random.below(3);
    for _ in 0..random.below(len) + 1 {
        let key = draw_key(random, universe);
        let aux: Vec<u8> = (0..random.below(40)).map(|_| random.next_u64() as u8).collect();
        match if style == 0 { 9 } else { random.below(4) } {
            0 => batch.check(key, &aux),
            1 => batch.update(key, V::draw(random)),
            _ => batch.check_update(key, V::draw(random), &aux),
        }
    }
    batch
}

/// Applies a batch to the model. The batch's fields are private, so the same draws are made again.
pub(crate) fn apply<V: Drawn>(model: &mut Model<V>, random: &mut Random, universe: u64, len: u64) {
    let style = random.below(3);
    for _ in 0..random.below(len) + 1 {
        let key = draw_key(random, universe);
        let aux: Vec<u8> = (0..random.below(40)).map(|_| random.next_u64() as u8).collect();
        match if style == 0 { 9 } else { random.below(4) } {
            0 => model.check(key, &aux),
            1 => model.update(key, V::draw(random)),
            _ => {
                let value = V::draw(random);
                model.check(key, &aux);
                model.update(key, value);
            }
        }
        model.position += 1;
    }
}

/// Sizes so small that everything happens within a few hundred operations.
pub(crate) fn options(random: &mut Random, deliver: Deliver) -> Options {
    let sizes = Plan {
        buckets: 1 << random.below(5),
        chunk_bytes: 4096,
        log_block_bytes: 8192,
        log_blocks_in_ram: random.below(3) as usize,
        cache_sets: if random.chance(0.7) { 70_000 } else { 0 },
        table_bytes: if random.chance(0.5) { random.below(40_000) as usize } else { 0 },
        generation_records_max: 50 + random.below(800) as usize,
        generation_bytes_max: 20_000 + random.below(100_000),
        bucket_bytes_max: 2000 + random.below(50_000) as usize,
        read_bytes: 4096,
        writes_max: 3,
    };
    let checkpoints_kept = 1 + random.below(2) as usize;
    Options { deliver, checkpoints_kept, sizes: Some(sizes), ..Options::new(1 << 20) }
}

pub(crate) fn open<V: Value>(env: &Env, options: &Options) -> Result<Drum<V>, DrumError> {
    Drum::open(env, Path::new(DIR), options.clone())
}

/// Takes results and compares them with those of the model, which forgets them.
pub(crate) fn deliver<V: Drawn>(
    drum: &mut Drum<V>,
    model: &mut Model<V>,
    limit: usize,
) -> Result<usize, DrumError> {
    let mut found = 0;
    let sink = |outcome: Outcome<'_, V>| {
        let (aux, unique, value) = &model.answers[found];
        assert_eq!((outcome.aux, outcome.unique, &outcome.value), (&aux[..], *unique, value));
        found += 1;
    };
    let count =
        if limit.is_multiple_of(2) { drum.deliver_ready(limit, sink) } else { drum.deliver(limit, sink) };
    model.answers.drain(..found);
    count
}

/// Compares everything: all answers, and the store key by key.
pub(crate) fn compare<V: Drawn>(drum: &mut Drum<V>, model: &mut Model<V>) -> Result<(), DrumError> {
    assert_eq!(drum.position(), model.position);
    drum.merge()?;
    deliver(drum, model, usize::MAX)?;
    assert!(model.answers.is_empty());
    let mut stored = BTreeMap::new();
    drum.scan(|key, value| assert!(stored.insert(key, value).is_none()))?;
    assert!(stored == model.map);
    for (key, value) in model.map.iter().take(5) {
        assert_eq!(drum.look_up(*key)?.as_ref(), Some(value));
        assert!(model.map.contains_key(&(key ^ 1)) || drum.look_up(key ^ 1)?.is_none());
    }
    Ok(())
}

pub(crate) fn simulate<T>(simulation: &mut Simulation, run: impl FnOnce(Env) -> T) -> T {
    simulation.run(|env| async move { run(env) })
}
