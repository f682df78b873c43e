//! Power cuts: nothing that a checkpoint acknowledged is lost.
//!
//! `cargo xtask power [CUTS]`, as root: it needs `mkfs.ext4` and loop devices.
//!
//! A crawl runs in a process of its own on a file system of its own: ext4 in a file, mounted through a loop device. At a random
//! moment the process is stopped and the file is copied. That is what would be on the disk after a power cut: what was not synced is
//! still in the memory of the mounted file system and not in the file. The process tells which checkpoints it takes for durable;
//! the copy must have the last one. Then the crawl goes on from the copy. When it is complete, archive, ledger and
//! accounts are held against each other and the truth, and another one begins.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]
#![expect(clippy::disallowed_methods, reason = "it works on the real machine")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mattock_crawl::{Control, Crawl, RawConfig, SavedCrawl};
use mattock_env::{Env, Random};
use mattock_lab::{ServedWorld, trial};
use mattock_simweb::{Params, Preset, World};

const IMAGE_MIB: u64 = 512;

fn world(seed: u64) -> World {
    let params = Params::preset(Preset::Tiny);
    let quiet =
        Params { slow_hosts: 0.0, silent_hosts: 0.0, robots_delay: 0, robots_unavailable: 0, ..params };
    World::new(
        Params {
            robots_refused: 0,
            reset_hosts: 0.0,
            status_500: 0.0,
            status_503: 0.0,
            reset_pages: 0.0,
            failing_names: 0.0,
            ..quiet
        },
        seed,
    )
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("crawl") => crawl(&words[1..]),
        word => cuts(word.map_or(30, |word| word.parse().expect("a number of cuts"))),
    }
}

/// The process that is cut off: crawls, and says which checkpoints count.
fn crawl(words: &[String]) {
    let [root, config] = words else { panic!("crawl ROOT CONFIG") };
    let env = Env::real();
    let raw = RawConfig::parse(config, "power").expect("a valid configuration");
    let crawl = Crawl::open(&env, Path::new(root), raw).expect("the crawl can be opened");
    let (progress, clock) = (crawl.progress(), env.clock.clone());
    mattock_env::run(async move {
        let telling = tokio::task::spawn_local(async move {
            let mut told = 0;
            loop {
                let number = progress.checkpoint();
                if number > told {
                    println!("{number}");
                    told = number;
                }
                clock.sleep(Duration::from_millis(1)).await;
            }
        });
        crawl.run(Control::default()).await.expect("the crawl comes to its end");
        telling.abort();
    });
    println!("done");
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status();
    assert!(status.is_ok_and(|status| status.success()), "{program} {arguments:?}");
}

/// A mounted image; unmounted at the end.
struct Mounted(PathBuf);

impl Mounted {
    fn new(image: &Path, at: &Path) -> Mounted {
        std::fs::create_dir_all(at).expect("a directory can be made");
        run("mount", &["-o", "loop", &image.to_string_lossy(), &at.to_string_lossy()]);
        Mounted(at.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run("umount", &[&self.0.to_string_lossy()]);
    }
}

fn signal(child: &Child, name: &str) {
    run("kill", &[name, &child.id().to_string()]);
}

/// Runs the crawl for a while, or to its end; what it told, and whether it is done.
fn listen(lines: &Receiver<String>, wait: Duration) -> (u64, bool) {
    let clock = Env::real().clock;
    let (mut last, end) = (0, clock.now() + wait);
    loop {
        match lines.recv_timeout(end.since(clock.now())) {
            Ok(line) if line == "done" => return (last, true),
            Ok(line) => last = line.parse().expect("it tells numbers"),
            Err(_) => return (last, false),
        }
    }
}

fn cuts(cuts: u64) {
    let dir = std::env::temp_dir().join(format!("mattock-power-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory can be made");
    let (image, copy, mount) = (dir.join("image"), dir.join("copy"), dir.join("mounted"));
    let env = Env::real();
    let (mut random, mut done, mut seed, mut complete) = (Random::from_entropy(), 0, 0, 0);
    while done < cuts || seed == 0 {
        seed += 1;
        let served = ServedWorld::start(world(seed)).expect("free ports are found");
        let config = format!(
            "[crawl]\nscope = 'any'\nseeds = {:?}\n[politeness]\ndelay = '20ms'\nretries = 0\n[checkpoint]\nevery = '200ms'\n\
             disk_reserve = '1MiB'\n[network]\ndns = ['{}']\nconnect_port = ['80={}']\nallow_address = ['127.0.0.0/8']\n",
            world(seed).seeds(),
            served.dns(),
            served.http_port()
        );
        run("truncate", &["-s", &format!("{IMAGE_MIB}M"), &image.to_string_lossy()]);
        run("mkfs.ext4", &["-q", "-F", &image.to_string_lossy()]);
        let mut acknowledged = 0;
        loop {
            let mounted = Mounted::new(&image, &mount);
            let root = mount.join("crawl");
            let found = SavedCrawl::open(&env, &root).map_or(0, |saved| saved.number());
            assert!(
                found >= acknowledged,
                "checkpoint {acknowledged} was acknowledged, and {found} is there"
            );
            let mut child = Command::new(std::env::current_exe().expect("it has a name"))
                .args(["crawl", &root.to_string_lossy(), &config])
                .stdout(Stdio::piped())
                .spawn()
                .expect("it can be started");
            let output = child.stdout.take().expect("it is piped");
            let (sender, lines) = channel();
            let reader = std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
            let life = if done < cuts { 200 + random.below(1800) } else { 600_000 };
            let (told, ended) = listen(&lines, Duration::from_millis(life));
            if ended {
                child.wait().expect("it ends");
                reader.join().expect("it does not panic");
                let truth = world(seed).truth(1_000_000).expect("it is small");
                let problems = trial::checks::archive(&env, &root, &truth, false).expect("it can be read");
                assert!(problems.is_empty(), "{problems:#?}");
                complete += 1;
                println!("crawl {complete} is complete: {} pages", truth.pages.len());
                break;
            }
            signal(&child, "-STOP");
            // What it said before it was stopped counts too.
            let (more, _) = listen(&lines, Duration::from_millis(20));
            acknowledged = told.max(more).max(acknowledged);
            run("cp", &["--sparse=always", &image.to_string_lossy(), &copy.to_string_lossy()]);
            signal(&child, "-KILL");
            child.wait().expect("it is gone");
            reader.join().expect("it does not panic");
            drop(mounted);
            std::fs::rename(&copy, &image).expect("a file can be renamed");
            done += 1;
            println!("cut {done}: {acknowledged} checkpoints acknowledged");
        }
    }
    std::fs::remove_dir_all(&dir).expect("it can be removed");
    println!("{done} power cuts, {complete} crawls complete: nothing acknowledged was lost");
}
