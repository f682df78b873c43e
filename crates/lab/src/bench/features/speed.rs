//! Components and ranks: ours and WebGraph's, in turns.

use mattock_env::{Env, cpu_seconds, thread_cpu_seconds};
use mattock_graph::{Csr, PageRankOptions, degrees, pagerank, strong_components};

use super::cnr::Graphs;
use super::theirs::{self, Ranks};
use super::{FeaturesBenchError, Result};
use crate::bench::median;

const ROUNDS: usize = 9;
const TOLERANCE: f64 = 1e-6;

/// Seconds of ours and theirs, the median of the rounds; and the median of the ratios.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair {
    pub(super) ours: f64,
    pub(super) theirs: f64,
    pub(super) ratio: f64,
}

impl Pair {
    fn of(times: &[(f64, f64)]) -> Pair {
        Pair {
            ours: median(times.iter().map(|time| time.0).collect()),
            theirs: median(times.iter().map(|time| time.1).collect()),
            ratio: median(times.iter().map(|time| time.0 / time.1).collect()),
        }
    }
}

pub(super) struct Speed {
    /// CPU seconds from the compressed graph to the components.
    pub(super) scc: Pair,
    /// The same if both have lists.
    pub(super) scc_lists: Pair,
    /// Seconds of a round.
    pub(super) rank_round: Pair,
    /// The same if both have lists.
    pub(super) rank_round_lists: Pair,
    /// CPU seconds of all threads for a round.
    pub(super) rank_round_cpu: Pair,
    /// Seconds from the compressed graph to ranks of the same precision.
    pub(super) rank_whole: Pair,
    /// Rounds of ours and theirs.
    pub(super) rank_rounds: (usize, usize),
}

pub(super) fn measure(env: &Env, graphs: &Graphs) -> Result<Speed> {
    let [graph, turned] = [theirs::load(&graphs.bases[0])?, theirs::load(&graphs.bases[1])?];
    let (our_lists, their_lists) = (Csr::load(&graphs.links[0]), theirs::lists(&graph));
    let (mut scc, mut scc_lists) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (ours, our_seconds) = timed(|| strong_components(&Csr::load(&graphs.links[0])));
        let (theirs, their_seconds) = timed(|| theirs::components(&graph));
        scc.push((our_seconds, their_seconds));
        let (_, our_seconds) = timed(|| strong_components(&our_lists));
        let (_, their_seconds) = timed(|| theirs::components(&their_lists));
        scc_lists.push((our_seconds, their_seconds));
        if ours.sizes().iter().map(|size| *size as usize).ne(theirs.iter().copied()) {
            return Err(FeaturesBenchError::Differs("components of other sizes".into()));
        }
    }

    let our_turned = Csr::load(&graphs.links[1]);
    let their_turned = theirs::lists(&turned);
    let degrees = degrees(&our_lists);
    let options = PageRankOptions { tolerance: TOLERANCE, ..PageRankOptions::default() };
    let (mut coded, mut listed) = (Ranks::new(&turned), Ranks::new(&their_turned));
    let (mut round, mut round_lists, mut round_cpu, mut whole) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut rank_rounds = (0, 0);
    for _ in 0..ROUNDS {
        let (ours, our_took) = Took::of(env, || pagerank(&our_turned, &degrees, &options));
        let (count, their_took) = Took::of(env, || coded.run(TOLERANCE));
        let (listed_count, listed_took) = Took::of(env, || listed.run(TOLERANCE));
        rank_rounds = (ours.bounds.len(), count?);
        let [one, other] = [rank_rounds.0, rank_rounds.1].map(|rounds| rounds.max(1) as f64);
        round.push((our_took.wall / one, their_took.wall / other));
        round_cpu.push((our_took.cpu / one, their_took.cpu / other));
        round_lists.push((our_took.wall / one, listed_took.wall / listed_count?.max(1) as f64));
        let (_, our_took) = Took::of(env, || pagerank(&Csr::load(&graphs.links[1]), &degrees, &options));
        whole.push((our_took.wall, their_took.wall));
        let distance: f64 = ours.ranks.iter().zip(coded.ranks()).map(|(one, two)| (one - two).abs()).sum();
        if distance > 2.0 * TOLERANCE {
            return Err(FeaturesBenchError::Differs(format!("ranks are {distance:e} apart")));
        }
    }
    Ok(Speed {
        scc: Pair::of(&scc),
        scc_lists: Pair::of(&scc_lists),
        rank_round: Pair::of(&round),
        rank_round_lists: Pair::of(&round_lists),
        rank_round_cpu: Pair::of(&round_cpu),
        rank_whole: Pair::of(&whole),
        rank_rounds,
    })
}

/// CPU seconds of this thread, which does all the work.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begun = thread_cpu_seconds();
    let result = work();
    (result, thread_cpu_seconds() - begun)
}

/// What work of several threads took.
struct Took {
    wall: f64,
    cpu: f64,
}

impl Took {
    fn of<T>(env: &Env, work: impl FnOnce() -> T) -> (T, Took) {
        let (cpu, wall) = (cpu_seconds().unwrap_or_default(), env.clock.now());
        let result = work();
        let wall = env.clock.now().since(wall).as_secs_f64();
        (result, Took { wall, cpu: cpu_seconds().unwrap_or_default() - cpu })
    }
}
