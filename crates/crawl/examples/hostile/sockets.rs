//! Over sockets: healthy hosts, hostile hosts and the crawl each have a process. Peak memory is then the crawler's, and healthy
//! hosts are as quick as ever to answer, as they are on the Web.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use mattock_crawl::{Control, Crawl};
use mattock_env::Env;
use mattock_simweb::{HostileWeb, ServeOptions, serve};

use crate::{Counted, Measured, PAGES, Setting, healthy, healthy_per_s, look};

/// What a child process does.
pub(crate) fn run(name: &str, words: &[String]) {
    match name {
        "healthy" => run_server(false),
        "hostile" => run_server(true),
        "crawl" => run_crawl(words),
        _ => panic!("say `core` or `sockets`"),
    }
}

/// Serves until it is killed. The healthy server says how quickly its pages were asked for.
fn run_server(hostile: bool) {
    let env = Env::real();
    mattock_env::run(async {
        let left = Arc::new(AtomicU64::new(PAGES));
        let options = ServeOptions::default();
        let server = match hostile {
            true => serve(&env, Arc::new(HostileWeb::new(healthy())), options, None).await,
            false => {
                serve(&env, Arc::new(Counted { web: healthy(), left: left.clone() }), options, None).await
            }
        };
        let server = server.expect("free ports");
        println!("{} {}", server.dns_address(), server.http_port());
        if !hostile {
            println!("{:.2}", healthy_per_s(&env.clock, &left).await);
        }
        std::future::pending::<()>().await;
    });
}

/// Crawls, and says what it took: `DNS PORT HEALTHY_PORT DIRECTORY` and the setting.
fn run_crawl(words: &[String]) {
    let ([dns, port, healthy_port, root], setting) = words.split_first_chunk().expect("four words and more");
    let (env, root, setting) = (Env::real(), Path::new(root), Setting::parse(setting));
    let config = setting.config(dns, port, healthy_port);
    mattock_env::run(async {
        let crawl = Crawl::open(&env, root, config).expect("a new directory");
        let (control, progress) = (Control::default(), crawl.progress());
        let looking = look(env.clock.clone(), setting.seconds, progress.clone(), control.clone());
        let looking = tokio::task::spawn_local(looking);
        let summary = crawl.run(control).await.expect("the archive can be written");
        let looks = looking.await.expect("looking does not fail");
        let peak_mb = mattock_env::peak_resident_bytes().unwrap_or_default() as f64 / 1048576.0;
        println!("{peak_mb:.1}");
        println!(
            "peak {peak_mb:.0} MB; {} pages; CPU {:.1} s, at most {:.0} ms at once, waited for {:.1} s; \
             under way {:.0}, at most {}, in the end {}",
            summary.pages,
            summary.cpu_seconds,
            looks.longest_s * 1000.0,
            waited_s(&env),
            looks.under_way as f64 / looks.count as f64,
            looks.under_way_most,
            progress.read().in_flight
        );
    });
    let _ = env.files.remove_dir_all(root);
}

/// Seconds for which this thread could have run and was not let, as Linux counts them.
fn waited_s(env: &Env) -> f64 {
    let text = env.files.read(Path::new("/proc/self/schedstat")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let nanoseconds = text.split(' ').nth(1).and_then(|word| word.parse::<f64>().ok());
    nanoseconds.unwrap_or(f64::NAN) / 1e9
}

struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(words: &[&str]) -> Process {
        let me = std::env::current_exe().expect("a running program has a path");
        let mut command = Command::new(me);
        command.args(words).stdout(Stdio::piped());
        let mut child = command.spawn().expect("this program can be started again");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Process { child, output }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the child writes text");
        line.trim().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn measure(setting: &Setting) -> Measured {
    let (mut good, mut bad) = (Process::start(&["healthy"]), Process::start(&["hostile"]));
    let (good_at, bad_at) = (good.line(), bad.line());
    let (_, good_port) = good_at.split_once(' ').expect("two words");
    let (dns, bad_port) = bad_at.split_once(' ').expect("two words");
    let directory = format!("mattock-hostile-{:016x}", mattock_env::Random::from_entropy().next_u64());
    let root = std::env::temp_dir().join(directory).display().to_string();
    let settings = setting.words();
    let mut words = vec!["crawl", dns, bad_port, good_port, &root];
    words.extend(settings.iter().map(String::as_str));
    let mut crawl = Process::start(&words);
    let peak_mb = crawl.line().parse().expect("the crawl ends well");
    let text = crawl.line();
    let _ = crawl.child.wait();
    // If the healthy pages were done, the server has said so by now; if not, its output just ends.
    let _ = good.child.kill();
    Measured { healthy_per_s: good.line().parse().ok(), text, peak_mb }
}
