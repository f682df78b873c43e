//! The benchmark: the paper's stream through a [`Drum`], beside the in-RAM set and, with cargo features, other engines.
//!
//! Everybody gets the same links in the same batches, made on the fly (that time counts, and is told), and appends the
//! text of new URLs to a queue on disk. The repository and the in-RAM set take turns of a hundredth of the stream, so that
//! whatever else the machine does hits both; merges rest while the set has its turn. The set's table is in memory
//! from the start and as a whole, and is taken off the peak of the process to get that of the repository.

mod course;
mod engines;
mod formula;
mod ram_set;
mod report;
mod stream;

use mattock_env::{Clock, Env, OpenMode};

pub use formula::Setting;
pub use report::{BenchError, BenchOptions, BenchProgress, BenchReport, ContenderReport};
pub use stream::{CHECKS_PER_KEY, StreamKind};

use crate::{Drum, Options, Plan};
use course::Course;
use ram_set::RamSet;
use stream::Links;

/// Checks of one batch.
const BATCH: usize = 4096;
/// Parts of the run whose speed is reported.
const SLICES: u64 = 20;
/// How often the contenders take turns.
const TURNS: u64 = 100;
/// The queue starts again from its beginning here: what lies in it does not matter.
const QUEUE_BYTES: u64 = 1 << 30;

/// Measures.
pub fn run(
    env: &Env,
    options: &BenchOptions,
    progress: &mut dyn FnMut(BenchProgress),
) -> Result<BenchReport, BenchError> {
    refuse_if_too_small(env, options)?;
    let outcome = measure(env, options, progress);
    drop(env.files.remove_dir_all(&options.dir));
    outcome
}

/// Bytes on disk that a run needs at its worst moment, about.
pub fn estimate_bytes(options: &BenchOptions, free_bytes: u64) -> u64 {
    let plan = plan(options, free_bytes);
    let checks = options.keys * CHECKS_PER_KEY;
    // The state and that of the last checkpoint, each with two generations, and the store while it is rewritten.
    let store = 3 * options.keys * 6;
    let generations = (plan.generation_bytes_max * 9 / 2).min(checks * 115);
    store + generations + QUEUE_BYTES.min(options.keys * 110) + (64 << 20)
}

fn plan(options: &BenchOptions, free_bytes: u64) -> Plan {
    Plan::new(&drum_options(options), false, free_bytes)
}

fn drum_options(options: &BenchOptions) -> Options {
    Options { cache: options.cache, checkpoints_kept: 1, ..Options::new(options.memory_bytes) }
}

fn refuse_if_too_small(env: &Env, options: &BenchOptions) -> Result<(), BenchError> {
    let io = |source| BenchError::Io { path: options.dir.clone(), source };
    env.files.create_dir_all(&options.dir).map_err(io)?;
    let free_bytes = env.files.free_bytes(&options.dir).map_err(io)?;
    let needed_bytes = estimate_bytes(options, free_bytes);
    if needed_bytes > free_bytes {
        drop(env.files.remove_dir_all(&options.dir));
        return Err(BenchError::DiskTooSmall { dir: options.dir.clone(), needed_bytes, free_bytes });
    }
    Ok(())
}

/// What the run of the repository gave beside its speed.
struct DrumRun {
    report: ContenderReport,
    ends: Vec<(u64, f64)>,
    stats: crate::Stats,
    queue_bytes: u64,
    text_bytes: u64,
    longest_ms: f64,
    checkpoints: u64,
    checkpoint_durable_ms: f64,
    checkpoint_files: usize,
    rss_bytes: Option<u64>,
    generator_ns: f64,
    plan: Plan,
}

fn measure(
    env: &Env,
    options: &BenchOptions,
    progress: &mut dyn FnMut(BenchProgress),
) -> Result<BenchReport, BenchError> {
    let (drum, ram_set) = take_turns(env, options, progress)?;
    let mut contenders = vec![drum.report.clone()];
    contenders.extend(ram_set.clone());
    let mut engines = [None; 3];
    if options.engine_seconds > 0.0 {
        for (ratio, report) in engines.iter_mut().zip(engines::run(env, options, progress)?) {
            if let Some(report) = report {
                *ratio = Some(speed_between(&drum, &report) / report.checks_per_second);
                contenders.push(report);
            }
        }
    }

    let checks = drum.report.checks;
    let url_bytes = drum.text_bytes as f64 / checks as f64;
    let bytes = drum.stats.read_bytes + drum.stats.written_bytes + drum.queue_bytes;
    let new = options.keys as f64 / checks as f64;
    let cache_hit_rate = drum.stats.cache_hit_rate();
    let setting = Setting {
        checks: checks as f64,
        new,
        url_bytes,
        memory_bytes: options.memory_bytes as f64,
        disk_bytes: 2.0 * drum.plan.generation_bytes_max as f64,
        hit_rate: cache_hit_rate / (1.0 - new),
    };
    let generator_ns = drum.generator_ns;
    let net = |seconds: f64| (seconds - generator_ns * 1e-9 * checks as f64).max(0.0);
    let drum_decay = decay(&drum.report.checks_per_second_over_time, options.keys);
    let ratio = ram_set.as_ref().map(|set| set.seconds.max(1e-9) / drum.report.seconds.max(1e-9));
    Ok(BenchReport {
        keys: options.keys,
        checks,
        unique: drum.report.unique,
        memory_bytes: options.memory_bytes,
        stream: options.stream,
        cache: options.cache,
        url_bytes,
        ratio_to_ram_set: ratio,
        ratio_to_ram_set_net: ram_set
            .as_ref()
            .map(|set| net(set.seconds) / net(drum.report.seconds))
            .filter(|ratio| ratio.is_finite()),
        ratio_to_rocksdb: engines[0],
        ratio_to_redb: engines[1],
        ratio_to_fjall: engines[2],
        alpha: bytes as f64 / drum.text_bytes as f64,
        alpha_model: setting.alpha_paper(),
        alpha_min: setting.alpha_min(),
        alpha_predicted: setting.alpha_here(),
        decay: drum_decay,
        decay_to_ram_set: ram_set
            .as_ref()
            .map(|set| drum_decay / decay(&set.checks_per_second_over_time, options.keys)),
        rss_over_memory: drum.rss_bytes.map(|rss| rss as f64 / options.memory_bytes as f64),
        rss_bytes: drum.rss_bytes,
        longest_pause_ms: drum.longest_ms,
        longest_wait_ms: drum.stats.longest_pause_ns as f64 / 1e6,
        checkpoints: drum.checkpoints,
        checkpoint_ms: drum.stats.longest_checkpoint_pause_ns as f64 / 1e6,
        checkpoint_durable_ms: drum.checkpoint_durable_ms,
        checkpoint_files: drum.checkpoint_files,
        checks_per_second: drum.report.checks_per_second,
        checks_per_second_over_time: drum.report.checks_per_second_over_time.clone(),
        disk_bytes_per_check: bytes as f64 / checks as f64,
        read_bytes: drum.stats.read_bytes,
        written_bytes: drum.stats.written_bytes + drum.queue_bytes,
        cache_hit_rate,
        cache_hit_rate_of_repeats: cache_hit_rate / (1.0 - new),
        merges: drum.stats.merges,
        store_bytes_per_key: drum.stats.store_bytes as f64 / drum.stats.stored_keys.max(1) as f64,
        generator_ns,
        plan: drum.plan,
        contenders,
    })
}

fn take_turns(
    env: &Env,
    options: &BenchOptions,
    progress: &mut dyn FnMut(BenchProgress),
) -> Result<(DrumRun, Option<ContenderReport>), BenchError> {
    let total = options.keys * CHECKS_PER_KEY;
    let table_bytes = RamSet::bytes_for(options.keys);
    let compared = options.ram_set && table_bytes < available_memory_bytes(env) / 2;
    let mut ram_set = compared.then(|| (RamSet::new(options.keys), Course::new(env, options, "ram set")));
    reset_peak(env);

    let mut course = Course::new(env, options, "drum");
    course.watch.start();
    let mut drum: Drum<()> = Drum::open(env, &options.dir.join("drum"), drum_options(options))?;
    let (mut text_bytes, mut longest_ms, mut checkpoints) = (0, 0f64, 1);
    let mut generator = GeneratorTime::default();
    for turn in 1..=TURNS {
        let until = total * turn / TURNS;
        while course.next(until) {
            let Course { links, queue, watch, .. } = &mut course;
            text_bytes += links.text_bytes();
            let before = env.clock.now();
            drum.check_update_all(&links.keys, &(), |index| links.text(index))?;
            if let Some(checkpoint) = drum.finished_checkpoint() {
                checkpoint?;
            }
            drum.deliver_ready(BATCH, |outcome| queue.push(outcome.aux))?;
            longest_ms = longest_ms.max(env.clock.now().since(before).as_secs_f64() * 1e3);
            watch.count(links.keys.len() as u64, progress);
        }
        if (turn * options.checkpoints).is_multiple_of(TURNS) && turn < TURNS {
            drum.begin_checkpoint()?;
            checkpoints += 1;
        }
        if let Some((set, course_of_set)) = &mut ram_set {
            drum.pause_merges(true);
            course.watch.stop();
            generator.measure(&env.clock, &course, total / TURNS);
            course_of_set.watch.start();
            while course_of_set.next(until) {
                let Course { links, queue, watch, .. } = &mut *course_of_set;
                set.insert_all(&links.keys, |index| queue.push(links.text(index)));
                watch.count(links.keys.len() as u64, progress);
            }
            course_of_set.watch.stop();
            course.watch.start();
            drum.pause_merges(false);
        }
    }
    let before = env.clock.now();
    let checkpoint = drum.checkpoint()?;
    let checkpoint_durable_ms = env.clock.now().since(before).as_secs_f64() * 1e3;
    drum.flush()?;
    drum.wait_for_merges()?;
    while drum.deliver(BATCH, |outcome| course.queue.push(outcome.aux))? > 0 {}
    let report = course.finish(options.keys)?;
    let peak = mattock_env::peak_resident_bytes();
    let run = DrumRun {
        report,
        ends: course.watch.ends,
        stats: drum.stats(),
        queue_bytes: course.queue.bytes,
        text_bytes,
        longest_ms,
        checkpoints,
        checkpoint_durable_ms,
        checkpoint_files: checkpoint.files.len(),
        rss_bytes: peak.map(|peak| peak - if compared { table_bytes.min(peak) } else { 0 }),
        generator_ns: generator.seconds * 1e9 / generator.checks.max(1) as f64,
        plan: drum.plan().clone(),
    };
    let set_report = ram_set.map(|(_, mut course)| {
        course.watch.start();
        course.finish(options.keys)
    });
    Ok((run, set_report.transpose()?))
}

/// Takes the time of making the stream alone, a twentieth of every turn, under the same load as everybody else.
#[derive(Default)]
struct GeneratorTime {
    links: Links,
    checks: u64,
    seconds: f64,
}

impl GeneratorTime {
    fn measure(&mut self, clock: &Clock, course: &Course, turn_checks: u64) {
        let mut stream = course.stream.clone();
        let before = clock.now();
        for _ in 0..(turn_checks / 20).div_ceil(BATCH as u64) {
            stream.fill(BATCH, &mut self.links);
            std::hint::black_box(&self.links);
            self.checks += BATCH as u64;
        }
        self.seconds += clock.now().since(before).as_secs_f64();
    }
}

/// The repository's mean speed over the part of the stream that another contender has seen.
fn speed_between(drum: &DrumRun, other: &ContenderReport) -> f64 {
    let from = other.keys_before * CHECKS_PER_KEY;
    let seconds = seconds_until(drum, from + other.checks) - seconds_until(drum, from);
    other.checks as f64 / seconds.max(1e-9)
}

/// The time that the repository took for the first `checks`.
fn seconds_until(drum: &DrumRun, checks: u64) -> f64 {
    let (mut last_checks, mut last_seconds) = (0, 0.0);
    for (slice_checks, seconds) in &drum.ends {
        if *slice_checks >= checks {
            let part = (checks - last_checks) as f64 / (slice_checks - last_checks).max(1) as f64;
            return last_seconds + part * (seconds - last_seconds);
        }
        (last_checks, last_seconds) = (*slice_checks, *seconds);
    }
    last_seconds
}

fn decay(over_time: &[f64], keys: u64) -> f64 {
    let mean = |from: f64, to: f64| {
        let len = over_time.len() as f64;
        let part = &over_time[(from * len) as usize..((to * len) as usize).max((from * len) as usize + 1)];
        // Slices have the same number of checks: the mean speed is the harmonic one.
        part.len() as f64 / part.iter().map(|speed| speed.recip()).sum::<f64>()
    };
    if over_time.len() < SLICES as usize {
        return 1.0;
    }
    let early = if keys >= 500_000_000 { mean(0.3, 0.4) } else { mean(0.1, 0.2) };
    mean(0.9, 1.0) / early
}

/// Lets the kernel count the peak of resident memory anew; where it does not, the peak is of the whole process.
fn reset_peak(env: &Env) {
    let path = std::path::Path::new("/proc/self/clear_refs");
    if let Ok(file) = env.files.open(path, OpenMode::Write) {
        drop(file.write_all_at(b"5", 0));
    }
}

/// What the machine has left.
fn available_memory_bytes(env: &Env) -> u64 {
    // The file has no length of its own, so it is read in one piece.
    let path = std::path::Path::new("/proc/meminfo");
    let mut buffer = [0; 4096];
    let read =
        env.files.open(path, OpenMode::Read).and_then(|file| file.read_at(&mut buffer, 0)).unwrap_or(0);
    let text = String::from_utf8_lossy(&buffer[..read]);
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: u64 = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(4 << 20);
    kib * 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::sim::Simulation;

    #[test]
    fn a_small_run_gives_all_figures_and_leaves_nothing_behind() {
        let mut simulation = Simulation::new(1);
        let mut contenders = std::collections::BTreeSet::new();
        let report = simulation.run(|env| {
            let mut options = BenchOptions::new(30_000, 8 << 20, "/bench".into());
            options.cache = false;
            let report = run(&env, &options, &mut |progress| {
                contenders.insert(progress.contender);
            });
            async { report }
        });
        let report = report.unwrap();
        assert_eq!((report.unique, report.checks), (30_000, 270_000));
        assert!(report.alpha > 1.0 && report.alpha < 3.0, "{}", report.alpha);
        assert_eq!(report.checks_per_second_over_time.len(), SLICES as usize);
        assert_eq!(contenders.into_iter().collect::<Vec<_>>(), ["drum", "ram set"]);
        assert!(simulation.files().snapshot().is_empty());
        let json = serde_json::to_value(&report).unwrap();
        assert!(json["ratio_to_ram_set"].is_number() && json["ratio_to_rocksdb"].is_null());
    }

    #[test]
    fn a_disk_that_is_too_small_is_refused_at_once() {
        let mut simulation = Simulation::new(1);
        simulation.files().set_capacity(Some(100 << 20));
        let refused = simulation.run(|env| async move {
            run(&env, &BenchOptions::new(10_000_000, 64 << 20, "/bench".into()), &mut |_| {})
        });
        match refused {
            Err(BenchError::DiskTooSmall { needed_bytes, free_bytes, .. }) => {
                assert!(needed_bytes > free_bytes)
            }
            other => panic!("{other:?}"),
        }
    }
}
