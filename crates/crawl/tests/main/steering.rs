//! What an operator does to a crawl that runs, and what can be seen of it meanwhile.

use std::path::Path;
use std::time::Duration;

use mattock_crawl::steer::{AlertKind, HostQuery, HostSort, Level, PausedBy, Phase};
use mattock_crawl::{Control, CrawlError, End, RawConfig, Summary};
use mattock_env::Env;
use mattock_env::sim::Simulation;
use mattock_weburl::WebUrl;

use crate::world::{Scratch, archived, assert_polite, crawl, crawl_until, requests, tiny};

const ROOT: &str = "/crawl";

/// Crawls while `act` has the control. Seconds count from the beginning.
async fn steered<F: Future<Output = ()> + 'static>(
    env: &Env,
    seed: u64,
    change: &str,
    act: impl FnOnce(Env, Control) -> F,
) -> Summary {
    let control = Control::default();
    let acting = tokio::task::spawn_local(act(env.clone(), control.clone()));
    let (summary, report) = crawl_until(env, tiny(seed), Path::new(ROOT), change, control).await;
    acting.await.unwrap();
    assert_polite(&report, Duration::from_secs(2));
    summary
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn nothing_begins_in_a_pause_and_checkpoints_go_on() {
    let truth = tiny(1).truth(1_000_000).unwrap();
    Simulation::new(1).run(|env| async move {
        let summary = steered(&env, 1, "[crawl]\npartitions = 2", |env, control| async move {
            env.clock.sleep(seconds(10)).await;
            control.pause("lunch");
            let paused = control.paused();
            assert_eq!((paused[0].by, &*paused[0].reason), (PausedBy::Operator, "lunch"));
            assert_eq!(paused[0].since_unix_micros, env.clock.unix().as_micros());
            env.clock.sleep(seconds(60)).await;
            let before = control.snapshot().unwrap();
            assert_eq!((before.phase, before.now.in_flight), (Phase::Paused, 0));
            let number = control.checkpoint_now().unwrap();
            assert_eq!(number, before.checkpoint.number + 1);
            env.clock.sleep(seconds(1)).await;
            let after = control.snapshot().unwrap();
            assert_eq!(after.checkpoint.number, number);
            assert!(after.checkpoint.unix_micros > before.unix_micros && !after.checkpoint.under_way);
            assert_eq!(after.now.requests, before.now.requests);
            control.resume();
            assert!(control.paused().is_empty());
        })
        .await;
        assert_eq!(summary.end, End::Complete);
        assert_eq!(archived(&env, Path::new(ROOT)), truth.pages);
        let times: Vec<f64> = requests(&env, Path::new(ROOT)).iter().map(|(time, _)| *time).collect();
        assert!(times.iter().any(|time| *time < 10.0));
        assert!(!times.iter().any(|time| (11.0..71.0).contains(time)), "somebody was asked in the pause");
    });
}

#[test]
fn a_host_that_is_blocked_is_not_asked_again_not_even_by_the_next_run() {
    let mut simulation = Simulation::new(2);
    let blocked = simulation.run(|env| async move {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        steered(&env, 2, "", |env, control| async move {
            env.clock.sleep(seconds(20)).await;
            let query = HostQuery { limit: 1, ..HostQuery::default() };
            let host = control.hosts(query).await.unwrap().remove(0);
            assert!(host.queued + host.on_disk > 0);
            let name = host.host.strip_prefix("http://").unwrap().to_owned();
            assert!(control.block(&format!("host {name}")).unwrap());
            assert!(!control.block(&format!("host {name} # twice")).unwrap());
            assert!(matches!(control.block("host"), Err(CrawlError::Rule { .. })));
            assert_eq!(control.blocks().unwrap(), [format!("host {name}")]);
            sender.send(name).unwrap();
            env.clock.sleep(seconds(100)).await;
            control.stop();
        })
        .await;
        let name = receiver.await.unwrap();
        let times: Vec<f64> = requests(&env, Path::new(ROOT))
            .into_iter()
            .filter(|(_, host)| *host == name)
            .map(|(time, _)| time)
            .collect();
        assert!(!times.is_empty() && times.iter().all(|time| *time < 21.0), "{times:?}");
        name
    });
    simulation.run(|env| async move {
        let (summary, _) = crawl(&env, tiny(2), Path::new(ROOT), "").await;
        assert_eq!(summary.end, End::Complete);
        assert!(summary.refused["blocked-host"] > 0);
        assert!(requests(&env, Path::new(ROOT)).iter().all(|(_, host)| *host != blocked));
    });
}

#[test]
fn seeds_are_added_to_the_partition_that_owns_them_and_to_the_configuration() {
    let mut simulation = Simulation::new(3);
    let hosts = tiny(3).truth(1_000_000).unwrap().pages;
    let own = WebUrl::parse(&tiny(3).seeds()[0]).unwrap();
    let others: Vec<WebUrl> = {
        let mut found: Vec<WebUrl> = Vec::new();
        for page in &hosts {
            let url = WebUrl::parse(page).unwrap();
            if url.domain() != own.domain() && !found.iter().any(|known| known.domain() == url.domain()) {
                found.push(url);
            }
        }
        found.truncate(4);
        found
    };
    let added = others.clone();
    let summary = simulation.run(|env| async move {
        let summary =
            steered(&env, 3, "[crawl]\nscope = 'domain'\npartitions = 3", |env, control| async move {
                env.clock.sleep(seconds(5)).await;
                assert_eq!(control.add_seeds(added.clone()).unwrap(), 4);
                assert_eq!(control.add_seeds(added).unwrap(), 0, "it has them");
            })
            .await;
        let pages = archived(&env, Path::new(ROOT));
        for seed in &others {
            let domain = seed.domain();
            assert!(pages.iter().filter(|page| WebUrl::parse(page).unwrap().domain() == domain).count() > 1);
        }
        let text = env.files.read(&Path::new(ROOT).join("crawl.toml")).unwrap();
        let saved = RawConfig::parse(&String::from_utf8(text).unwrap(), "crawl.toml").unwrap();
        assert_eq!(saved.crawl.seeds.unwrap().len(), 5);
        summary
    });
    assert_eq!(summary.end, End::Complete);
}

#[test]
fn settings_change_at_once_and_stay() {
    let mut simulation = Simulation::new(4);
    let summary = simulation.run(|env| async move {
        steered(&env, 4, "[crawl]\npartitions = 2", |env, control| async move {
            env.clock.sleep(seconds(5)).await;
            for (name, value) in
                [("politeness.delay", "3s"), ("checkpoint.every", "7s"), ("crawl.max_pages", "60")]
            {
                control.set_field(name, value).unwrap();
                let field = control.fields().unwrap().into_iter().find(|field| field.name == name).unwrap();
                assert_eq!(field.value, value);
            }
            let wrong = control.set_field("politeness.delay", "soon").unwrap_err().to_string();
            assert!(wrong.starts_with("politeness.delay: \"soon\""), "{wrong}");
            let unknown = control.set_field("politeness.dealy", "1s").unwrap_err().to_string();
            assert!(unknown.ends_with("did you mean `politeness.delay`?"), "{unknown}");
            assert!(control.set_field("watch.on_alert", "rm -r /").is_err());
            assert!(control.set_field("politeness.server_delay", "0s").is_err());
        })
        .await
    });
    assert_eq!((summary.end, summary.pages), (End::MaxPages, 60));
    simulation.run(|env| async move {
        let text = env.files.read(&Path::new(ROOT).join("crawl.toml")).unwrap();
        let saved = RawConfig::parse(&String::from_utf8(text).unwrap(), "crawl.toml").unwrap();
        assert_eq!(saved.politeness.delay.as_deref(), Some("3s"));
        assert_eq!((saved.crawl.max_pages, saved.checkpoint.every.as_deref()), (Some(60), Some("7s")));
    });
}

#[test]
fn a_longer_delay_holds_from_then_on() {
    Simulation::new(5).run(|env| async move {
        steered(&env, 5, "[crawl]\nmax_pages = 200", |env, control| async move {
            env.clock.sleep(seconds(20)).await;
            control.set_field("politeness.delay", "30s").unwrap();
        })
        .await;
        let seen = requests(&env, Path::new(ROOT));
        let late: Vec<&(f64, String)> = seen.iter().filter(|(time, _)| *time > 60.0).collect();
        assert!(late.len() > 20);
        for (index, (time, host)) in late.iter().enumerate() {
            let next = late[index + 1..].iter().find(|(_, other)| other == host);
            assert!(next.is_none_or(|(next, _)| next - time >= 29.999), "{host}: {time} {next:?}");
        }
    });
}

#[test]
fn a_disk_that_is_nearly_full_is_waited_for() {
    let truth = tiny(6).truth(1_000_000).unwrap();
    let mut simulation = Simulation::new(6);
    let disk = simulation.files().clone();
    let pages = simulation.run(|env| async move {
        let change = "[checkpoint]\ndisk_reserve = '1MiB'\nevery = '1h'\n[watch]\ndisk_free_min = '2MiB'";
        let summary = steered(&env, 6, change, |env, control| async move {
            env.clock.sleep(seconds(20)).await;
            assert_eq!(control.snapshot().unwrap().checkpoint.number, 0);
            disk.set_capacity(Some(disk.used_bytes() + (900 << 10)));
            env.clock.sleep(seconds(15)).await;
            let snapshot = control.snapshot().unwrap();
            assert_eq!((snapshot.phase, snapshot.paused[0].by), (Phase::Paused, PausedBy::Disk));
            assert_eq!(snapshot.checkpoint.number, 1, "what there is is saved");
            assert_eq!(snapshot.alerts[0].kind, AlertKind::Disk);
            assert!(snapshot.trouble.unwrap().contains("make room"));
            let requests = snapshot.now.requests;
            env.clock.sleep(seconds(300)).await;
            assert_eq!(control.snapshot().unwrap().now.requests, requests);
            disk.set_capacity(None);
            env.clock.sleep(seconds(15)).await;
            let snapshot = control.snapshot().unwrap();
            assert_eq!((snapshot.phase, snapshot.alerts.len()), (Phase::Running, 0));
            let texts: Vec<String> = control.events().since(0).into_iter().map(|event| event.text).collect();
            let told = |what: &str| texts.iter().any(|text| text.starts_with(what));
            assert!(
                told("paused: ") && told("resumed") && told("disk: ") && told("disk: it is over"),
                "{texts:?}"
            );
        })
        .await;
        assert_eq!(summary.end, End::Complete);
        archived(&env, Path::new(ROOT))
    });
    assert_eq!(pages, truth.pages);
}

/// On the real machine: no disk has so much room.
#[test]
fn an_alert_runs_a_command() {
    let scratch = Scratch::new();
    let (env, root) = (Env::real(), scratch.0.join("crawl"));
    let change = "[politeness]\ndelay = '0s'\n[watch]\ndisk_free_min = '100000TB'\n\
                  on_alert = 'echo \"$MATTOCK_ALERT|$MATTOCK_DIR|$MATTOCK_TEXT\"'";
    mattock_env::run(async {
        let control = Control::default();
        crawl_until(&env, tiny(1), &root, change, control.clone()).await;
        let said = loop {
            let events = control.events().since(0);
            if let Some(event) = events.into_iter().find(|event| event.kind == "on-alert") {
                break event.text;
            }
            env.clock.sleep(Duration::from_millis(5)).await;
        };
        let beginning = format!("watch.on_alert has run: disk|{}|", root.display());
        assert!(said.starts_with(&beginning) && said.ends_with("make room"), "{said}");
    });
}

#[test]
fn what_is_seen_is_what_comes_out() {
    let mut simulation = Simulation::new(7);
    for partitions in [2, 2] {
        simulation.run(|env| async move {
            let control = Control::default();
            assert!(matches!(control.snapshot(), Err(CrawlError::NotRunning)));
            let (watched, clock) = (control.clone(), env.clock.clone());
            let change = format!("[crawl]\npartitions = {partitions}");
            let acting = tokio::task::spawn_local(async move {
                clock.sleep(seconds(40)).await;
                let snapshot = watched.snapshot().unwrap();
                assert_eq!((snapshot.phase, snapshot.partitions), (Phase::Running, 2));
                assert!(snapshot.rates.requests_per_s_10 > 0.0 && snapshot.now.waiting.bench > 0);
                assert_eq!(snapshot.uptime_s, 40.0);
                serde_json::to_string(&snapshot).unwrap();
                let sorts = [HostSort::Queued, HostSort::NextVisit, HostSort::Failures, HostSort::Name];
                for sort in sorts {
                    let query = HostQuery { sort, limit: 7, ..HostQuery::default() };
                    let hosts = watched.hosts(query).await.unwrap();
                    assert_eq!(hosts.len(), 7);
                    if sort == HostSort::Name {
                        assert!(hosts.is_sorted_by_key(|row| row.host.clone()));
                        let search =
                            HostQuery { search: hosts[3].host.to_uppercase(), ..HostQuery::default() };
                        let found = watched.hosts(search).await.unwrap();
                        assert!(found.iter().any(|row| row.host == hosts[3].host));
                    }
                }
                clock.sleep(seconds(20)).await;
                watched.stop();
            });
            let crawled = crawl_until(&env, tiny(7), Path::new(ROOT), &change, control.clone()).await;
            acting.await.unwrap();
            let (summary, snapshot) = (crawled.0, control.snapshot().unwrap());
            assert_eq!((summary.end, snapshot.phase), (End::Stopped, Phase::Ended));
            assert_eq!(snapshot.outcomes, summary.outcomes, "over all runs");
            assert_eq!((snapshot.now.pages, snapshot.now.bytes), (summary.pages, summary.bytes));
            let examples = control.examples().unwrap();
            let failed =
                summary.outcomes.keys().filter(|name| name.parse::<u16>().is_ok_and(|status| status >= 400));
            assert!(failed.clone().count() > 0);
            assert!(examples.values().flatten().all(|example| example.url.starts_with("http")));
            assert!(control.hosts(HostQuery::default()).await.unwrap().is_empty(), "it has ended");
            assert!(control.events().since(0).iter().all(|event| event.level <= Level::Info));
        });
    }
}
