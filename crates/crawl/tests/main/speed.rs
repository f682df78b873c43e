//! Speed limits hold over every minute, from above and from below, whoever sets them and whenever they change.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use mattock_crawl::steer::{PausedBy, Phase, SpeedLimit, SpeedSource};
use mattock_crawl::{Control, End};
use mattock_env::Env;
use mattock_env::sim::Simulation;
use mattock_simweb::{Params, Preset, World};

use crate::world::{Scratch, archived, crawl_until, requests, tiny};

fn small() -> World {
    World::new(Params::preset(Preset::Small), 1)
}

/// What was counted until each second.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// Requests that had begun.
    begun: u64,
    bytes: u64,
}

/// Crawls the small world for so many seconds, and does something in each of them.
fn samples(change: &'static str, seconds: u64, act: fn(u64, &Control)) -> Vec<Sample> {
    Simulation::new(1).run(|env| async move {
        let (control, samples) = (Control::default(), Rc::new(RefCell::new(Vec::new())));
        let (clock, watched, kept) = (env.clock.clone(), control.clone(), samples.clone());
        tokio::task::spawn_local(async move {
            let begun = clock.now();
            for second in 0..=seconds {
                clock.sleep_until(begun + Duration::from_secs(second)).await;
                act(second, &watched);
                let now = watched.snapshot().map(|snapshot| snapshot.now).unwrap_or_default();
                kept.borrow_mut()
                    .push(Sample { begun: now.requests + now.in_flight - now.locating, bytes: now.bytes });
            }
            watched.stop();
        });
        let root = Path::new("/crawl");
        let (summary, _) = crawl_until(&env, small(), root, change, control).await;
        assert_eq!(summary.end, End::Stopped, "there was enough to fetch");
        check_servers_side(&env, root, &samples.borrow());
        samples.take()
    })
}

/// What the servers saw is what the crawler says.
fn check_servers_side(env: &Env, root: &Path, samples: &[Sample]) {
    let seen = requests(env, root).len() as u64;
    let begun = samples.last().unwrap().begun;
    // Some hosts do not answer, and do not see a request.
    assert!(seen <= begun + 5 && seen >= begun * 9 / 10, "{seen} of {begun}");
}

/// Holds every minute against what was allowed in its seconds.
fn assert_kept(samples: &[Sample], from: usize, value: fn(&Sample) -> u64, allowed: impl Fn(u64) -> f64) {
    let mut minutes = 0;
    for (first, pair) in samples.windows(61).enumerate().skip(from) {
        let limit: f64 = (first as u64..first as u64 + 60).map(&allowed).sum();
        let came = (value(&pair[60]) - value(&pair[0])) as f64;
        // One more or less is a matter of when one looks.
        assert!((came - limit).abs() <= limit * 0.05 + 1.0, "from second {first}: {came} instead of {limit}");
        minutes += 1;
    }
    assert!(minutes > 100);
}

#[test]
fn requests_a_second_hold_over_every_minute() {
    // The world begins at midnight on a Saturday.
    let change = "[politeness]\ndelay = '100ms'\n[speed]\npages_per_s = 40\n\
        [[schedule]]\nfrom = '00:03'\nto = '00:05'\ndays = ['sat']\ntimezone = 'UTC'\npages_per_s = 10\n\
        [[schedule]]\nfrom = '01:05'\nto = '01:06'\ntimezone = '+01:00'\npause = true\n\
        [[schedule]]\nfrom = '00:04'\nto = '00:08'\ntimezone = 'UTC'\npages_per_s = 90\n\
        [[schedule]]\nfrom = '00:08'\nto = '23:00'\ndays = ['sun']\ntimezone = 'UTC'\npages_per_s = 1\n";
    let allowed = |second| match second {
        180..300 => 10.0,
        300..360 => 0.0,
        360..480 => 90.0,
        540..600 => 25.0,
        600..660 => 0.0,
        _ => 40.0,
    };
    let samples = samples(change, 780, |second, control| match second {
        200 => {
            let speed = control.speed();
            assert_eq!((speed.source, speed.entry), (SpeedSource::Schedule, Some(0)));
            assert_eq!(speed.until_unix_micros, Some(1_181_347_500_000_000));
        }
        330 => {
            assert_eq!(control.paused()[0].by, PausedBy::Schedule);
            assert_eq!(control.snapshot().unwrap().phase, Phase::Paused);
        }
        540 => control.set_speed(SpeedLimit { pages_per_s: Some(25.0), bits_per_s: None }).unwrap(),
        600 => control.pause("a test"),
        660 => {
            control.clear_speed();
            control.resume();
        }
        700 => assert_eq!(control.speed().source, SpeedSource::Config),
        _ => {}
    });
    assert_kept(&samples, 30, |sample| sample.begun, allowed);
}

#[test]
fn bytes_a_second_hold_over_every_minute() {
    let change = "[politeness]\ndelay = '100ms'\n[speed]\nmbit_per_s = 4\n\
        [[schedule]]\nfrom = '00:03'\nto = '00:05'\ntimezone = 'UTC'\nmbit_per_s = 1.5\n";
    let allowed = |second| if (180..300).contains(&second) { 1.5e6 / 8.0 } else { 4e6 / 8.0 };
    let samples = samples(change, 480, |_, _| {});
    assert_kept(&samples, 30, |sample| sample.bytes, allowed);
}

#[test]
fn several_partitions_share_one_limit() {
    let change = "[crawl]\npartitions = 3\nmemory = '192MiB'\n[politeness]\ndelay = '100ms'\n[speed]\npages_per_s = 30\n";
    let samples = samples(change, 300, |_, _| {});
    assert_kept(&samples, 60, |sample| sample.begun, |_| 30.0);
}

/// On threads and sockets, with somebody who cannot leave it alone: nothing is lost.
#[test]
fn on_threads_too() {
    let scratch = Scratch::new();
    let env = Env::real();
    let truth = tiny(6).truth(1_000_000).unwrap();
    let root = scratch.0.join("crawl");
    let change = "[crawl]\npartitions = 2\n[politeness]\ndelay = '0s'\n[speed]\npages_per_s = 2000\n";
    let control = Control::default();
    let summary = std::thread::scope(|scope| {
        let meddler = control.clone();
        scope.spawn(move || {
            // Not for ever: on few cores a crawl that is stopped all the while takes minutes.
            for round in 0..2_000 {
                meddler.pause("a test");
                let speed = SpeedLimit { pages_per_s: Some(1000.0 + f64::from(round)), bits_per_s: None };
                meddler.set_speed(speed).unwrap();
                let snapshot = meddler.snapshot();
                meddler.resume();
                meddler.clear_speed();
                if snapshot.is_ok_and(|snapshot| snapshot.phase == Phase::Ended) {
                    break;
                }
                std::thread::yield_now();
            }
        });
        mattock_env::run(crawl_until(&env, tiny(6), &root, change, control)).0
    });
    assert_eq!(archived(&env, &root), truth.pages);
    assert_eq!(summary.end, End::Complete);
}
