//! What limits a crawl is named, whatever it is.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mattock_crawl::{Control, Crawl, CrawlError, Limit, RawConfig, Stalls, stalls};
use mattock_env::sim::Simulation;
use mattock_simweb::{Params, Preset, ServeOptions, World, serve};

const ROOT: &str = "/crawl";

/// How a crawl ends.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    Stopped,
    Killed,
    /// After its disk was full for a while.
    KilledOnAFullDisk,
}

/// What limits a crawl after so long, while it runs, and what is said of it when it has ended.
fn limits(seed: u64, params: Params, config: &str, seconds: u64, ends: Ends) -> (Stalls, Stalls) {
    let mut simulation = Simulation::new(seed);
    let disk = simulation.files().clone();
    let running = simulation.run(|env| async move {
        let world = World::new(params, seed);
        let seeds = world.seeds();
        let server = serve(&env, Arc::new(world), ServeOptions::default(), None).await.unwrap();
        let network = format!(
            "[crawl]\nseeds = {seeds:?}\nscope = 'any'\n[network]\ndns = ['{}']\nallow_address = ['127.0.0.0/8']\nconnect_port = ['80={}']\n[checkpoint]\nevery = '2s'",
            server.dns_address(),
            server.http_port()
        );
        let config =
            RawConfig::parse(config, "test").unwrap().or(RawConfig::parse(&network, "network").unwrap());
        let control = Control::default();
        let run = Crawl::open(&env, Path::new(ROOT), config).unwrap().run(control.clone());
        let run = tokio::task::spawn_local(run);
        if ends == Ends::KilledOnAFullDisk {
            env.clock.sleep(Duration::from_secs(5)).await;
            disk.set_capacity(Some(disk.used_bytes() + 1000));
        }
        env.clock.sleep(Duration::from_secs(seconds)).await;
        let running = stalls(&env, Path::new(ROOT)).unwrap();
        disk.set_capacity(None);
        if ends == Ends::Stopped {
            control.stop();
            run.await.unwrap().unwrap();
        }
        running
    });
    if ends != Ends::Stopped {
        simulation.files().kill();
    }
    let after = simulation.run(|env| async move {
        // Long enough for what a killed process has said to be old.
        env.clock.sleep(Duration::from_secs(3600)).await;
        stalls(&env, Path::new(ROOT)).unwrap()
    });
    (running, after)
}

fn tiny() -> Params {
    Params::preset(Preset::Tiny)
}

#[test]
fn of_running_and_of_ended_crawls() {
    for (config, seconds, ends, running, after) in [
        ("", 30, Ends::Stopped, Limit::Politeness, Limit::Stopped),
        ("", 30, Ends::Killed, Limit::Politeness, Limit::Died),
        ("[crawl]\nscope = 'host'", 12, Ends::Stopped, Limit::FewHosts, Limit::Stopped),
        ("[crawl]\nmax_pages = 20", 3600, Ends::Stopped, Limit::MaxPages, Limit::MaxPages),
        ("", 36_000, Ends::Stopped, Limit::NothingLeft, Limit::NothingLeft),
        ("[crawl]\nbudget = 'popular-only'", 3600, Ends::Stopped, Limit::Budget, Limit::Budget),
        ("[speed]\npages_per_s = 1.5", 30, Ends::Stopped, Limit::Speed, Limit::Stopped),
        (
            "[[schedule]]\nfrom = '00:00'\nto = '24:00'\ntimezone = 'UTC'\npause = true",
            30,
            Ends::Stopped,
            Limit::Paused,
            Limit::Stopped,
        ),
        ("[checkpoint]\ndisk_reserve = '0'", 30, Ends::KilledOnAFullDisk, Limit::Trouble, Limit::Died),
    ] {
        let (first, last) = limits(1, tiny(), config, seconds, ends);
        assert_eq!((first.limit, last.limit), (running, after), "{config}: {first:#?} {last:#?}");
        assert!(first.sentence.ends_with('.') && !first.advice.is_empty(), "{first:#?}");
        let over = matches!(running, Limit::MaxPages | Limit::NothingLeft | Limit::Budget);
        assert_eq!((first.running, last.running), (!over, false), "{config}");
        assert_eq!(last.waiting.values().sum::<u64>() == 0, after == Limit::NothingLeft, "{last:#?}");
    }
}

#[test]
fn where_there_is_no_crawl() {
    Simulation::new(1).run(|env| async move {
        let error = stalls(&env, Path::new("/nowhere")).unwrap_err();
        assert!(matches!(error, CrawlError::NoCrawl { .. }), "{error}");
    });
}
