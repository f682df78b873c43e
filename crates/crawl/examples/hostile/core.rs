//! Crawler and servers in one process on virtual time, as if all of them had one core together and nobody else had it.
//!
//! Virtual time stands still while something computes; here it is moved on by the CPU time that was spent, so that who computes
//! much makes the others wait, and the load of the machine does not count. That the servers compute on the same core is
//! against us.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use mattock_crawl::{Control, Crawl};
use mattock_env::sim::Simulation;
use mattock_env::{Clock, Env, NetFaults};
use mattock_simweb::{HostileWeb, ServeOptions, serve};

use crate::{Counted, Measured, PAGES, Setting, healthy, healthy_per_s, look};

/// Less CPU time than this between two looks means that nobody else had something to do.
const NOTHING: Duration = Duration::from_micros(20);

pub(crate) fn measure(setting: &Setting) -> Measured {
    let name = format!("mattock-hostile-{:016x}", mattock_env::Random::from_entropy().next_u64());
    let root = std::env::temp_dir().join(name);
    let files = Env::real().files;
    // A quick network: hosts that answer at once are the ones that fill a core.
    let mut simulation = Simulation::new(1).network(NetFaults { latency_ms: 1..=1, ..NetFaults::NONE });
    let measured = simulation.run(|env| async {
        let env = Env { files: files.clone(), ..env };
        let left = Arc::new(AtomicU64::new(PAGES));
        let web = HostileWeb::new(Counted { web: healthy(), left: left.clone() });
        let server = serve(&env, Arc::new(web), ServeOptions::default(), None).await.expect("free ports");
        let port = server.http_port().to_string();
        let config = setting.config(&server.dns_address().to_string(), &port, &port);
        let crawl = Crawl::open(&env, &root, config).expect("a new directory");
        let (control, progress) = (Control::default(), crawl.progress());
        tokio::task::spawn_local(spend(env.clock.clone()));
        let clock = env.clock.clone();
        let speed = tokio::task::spawn_local(async move { healthy_per_s(&clock, &left).await });
        let looking = look(env.clock.clone(), setting.seconds, progress.clone(), control.clone());
        let looking = tokio::task::spawn_local(looking);
        let summary = crawl.run(control).await.expect("the archive can be written");
        let looks = looking.await.expect("looking does not fail");
        let healthy_per_s = if speed.is_finished() { speed.await.ok() } else { None };
        let text = format!(
            "{} pages; CPU {:.1} s, at most {:.0} ms at once; under way {:.0}, at most {}, in the end {}",
            summary.pages,
            summary.cpu_seconds,
            looks.longest_s * 1000.0,
            looks.under_way as f64 / looks.count as f64,
            looks.under_way_most,
            progress.read().in_flight
        );
        Measured { healthy_per_s, text, peak_mb: 0.0 }
    });
    let _ = files.remove_dir_all(&root);
    measured
}

/// Moves the clock on by the CPU time that this thread spends, for ever.
async fn spend(clock: Clock) {
    let cpu = || Duration::from_secs_f64(mattock_env::thread_cpu_seconds());
    let mut owed = Duration::ZERO;
    let (mut cpu_before, mut time_before) = (cpu(), clock.now());
    loop {
        clock.sleep(Duration::from_millis(1)).await;
        loop {
            let spent = cpu() - cpu_before;
            cpu_before += spent;
            // Time that passed while everybody waited was idle: it pays for nothing that comes later.
            owed += spent;
            let passed = clock.now().since(time_before);
            owed = owed.saturating_sub(passed);
            if owed >= Duration::from_millis(1) {
                tokio::time::advance(owed).await;
                owed = Duration::ZERO;
            }
            time_before = clock.now();
            tokio::task::yield_now().await;
            if cpu() - cpu_before < NOTHING {
                break;
            }
        }
    }
}
