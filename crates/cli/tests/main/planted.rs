//! A directory that somebody else has made does nothing beyond itself: something is planted at every place where it has a file or a directory,
//! and every command that takes a directory is run on it.
//!
//! Judged by what lies beside it: a directory `victim`, of which every byte, length, time and name must be as before, and whose words must not
//! be in any answer nor in anything that was published. No run may hang, and none may end by a panic.
//!
//! All places, all kinds and all commands together are thousands of runs. Here each place meets each kind with one command, so that in the end each
//! command has met most of it; `MATTOCK_PLANTED=all` runs every combination.

#![expect(clippy::disallowed_methods, reason = "what is planted is planted past our own door")]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::process::{MATTOCK, Scratch};
use crate::served::Served;

/// A word of the victim's that no answer may have.
const SECRET: &str = "precious-6f1c";
/// Nothing here takes a second. A machine with other work may need more; all combinations are for one without.
fn patience() -> Duration {
    Duration::from_secs(if wants_all() { 10 } else { 60 })
}

fn wants_all() -> bool {
    std::env::var("MATTOCK_PLANTED").is_ok_and(|value| value == "all")
}

/// What is put in the place of a file or a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plant {
    /// A link to what was there, which lies elsewhere now: everything would work.
    LinkAway,
    /// A link to a file of the victim's.
    LinkToFile,
    /// A link to a directory of the victim's.
    LinkToDirectory,
    Pipe,
    Socket,
    /// `/dev/zero` by another name, which only a privileged user can make.
    Device,
}

/// Every command that takes a directory. `own` is the directory; what they write goes to `out`.
const COMMANDS: [&[&str]; 46] = [
    &["query", "own", "select name, title, text"],
    &["query", "own", "select name, body", "--format", "jsonl"],
    &["query", "own", "select body", "--format", "files", "--output", "out/files"],
    &["query", "own", "--sql", "select count(*), min(title) from documents"],
    &["get", "own", "URL"],
    &["history", "own", "URL"],
    &["why", "own", "URL"],
    &["stalls", "own"],
    &["check", "own"],
    &["check", "own", "--repair"],
    &["index", "own"],
    &["index", "own", "--rebuild"],
    &["import", "own", "more.warc"],
    &["import", "own", "--copy", "more.warc"],
    &["export", "own", "--format", "warc", "--output", "out/pages.warc.gz"],
    &["export", "own", "--format", "cdxj", "--output", "out/pages.cdxj"],
    &["export", "own", "--format", "wacz", "--output", "out/pages.wacz"],
    &["materialize", "own", "text"],
    &["materialize", "own", "title"],
    &["materialize", "own", "title", "--drop"],
    &["publish", "own", "out/published"],
    &["publish", "own", "out/published", "--with-imported"],
    &["publish", "model", "own/published"],
    &["features", "build", "own"],
    &["features", "build", "own", "--into", "own"],
    &["features", "info", "own"],
    &["graph", "stats", "own"],
    &["graph", "scc", "own"],
    &["graph", "bowtie", "own"],
    &["graph", "hits", "own", "URL"],
    &["graph", "related", "own", "URL"],
    &["graph", "distances", "own"],
    &["graph", "links", "own", "URL"],
    &["query", "own", "--features", "own", "select name, in_degree, pagerank"],
    &["graph", "pagerank", "own", "--top", "3"],
    &["graph", "kendall", "own", "pagerank", "pagerank"],
    &["graph", "sample", "own"],
    &["duplicates", "own"],
    &["terms", "own", "URL"],
    &["report", "own"],
    &["report", "own", "--json=-"],
    &["ctl", "own", "status"],
    &["analyzer", "list", "own"],
    &["crawl", "--out", "own", "--quiet"],
    &["crawl", "--out", "own", "--quiet", "--partitions", "3"],
    &["console", "own", "--listen", "127.0.0.1:0"],
];

/// A directory with everything that a crawl, a repository and its features have, and a victim beside it.
struct Stage {
    scratch: Scratch,
    url: String,
}

impl Stage {
    fn new(name: &str) -> Stage {
        let scratch = Scratch::new(name);
        let served = Served::start(3, "5ms", u64::MAX);
        let crawled = scratch
            .command(MATTOCK)
            .args(&served.crawl)
            .args(["--max-pages", "40", "--quiet"])
            .output()
            .expect("the binary was built for this test");
        assert!(crawled.status.success(), "{}", said(&crawled));
        rename(&scratch.path().join("crawl"), &scratch.path().join("model"));
        scratch.write("more.warc", &record("http://more.example/", "a page of somebody else"));
        let url = url_of(&scratch);
        for arguments in [
            &["index", "model"][..],
            &["materialize", "model", "title"],
            &["features", "build", "model"],
            &["graph", "pagerank", "model", "--top", "1"],
            &["report", "model"],
        ] {
            let output = scratch.mattock(arguments);
            assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        }
        scratch.write("model/blocks.txt", "blocked.example\n");
        Stage { scratch, url }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A fresh directory and a fresh victim.
    fn set(&self) {
        for name in ["own", "out", "victim"] {
            let _ = std::fs::remove_dir_all(self.path(name));
        }
        let copied =
            Command::new("cp").args(["-a", "model", "own"]).current_dir(self.scratch.path()).status();
        assert!(copied.expect("there is cp").success());
        for name in ["victim/index", "out"] {
            std::fs::create_dir_all(self.path(name)).expect("the target directory can be written to");
        }
        for name in
            ["victim/file", "victim/index/part-000077.parquet", "victim/index/lock", "victim/page.warc"]
        {
            let text = record("http://victim.example/", SECRET).repeat(20);
            std::fs::write(self.path(name), text).expect("the target directory can be written to");
        }
    }

    /// All files and directories of the directory, itself left out.
    fn places(&self) -> Vec<PathBuf> {
        fn below(dir: &Path, base: &Path, found: &mut Vec<PathBuf>) {
            let mut entries: Vec<_> =
                std::fs::read_dir(dir).expect("it is there").map(Result::unwrap).collect();
            entries.sort_by_key(std::fs::DirEntry::file_name);
            for entry in entries {
                let path = entry.path();
                found.push(path.strip_prefix(base).expect("it is below").to_path_buf());
                if entry.file_type().expect("it is there").is_dir() {
                    below(&path, base, found);
                }
            }
        }
        let (model, mut found) = (self.path("model"), Vec::new());
        below(&model, &model, &mut found);
        // What is made on the way, and is not there now.
        for name in
            ["index/INDEX.tmp", "index/import.lock", "crawl.toml.tmp", "report.html.tmp", "state/STATUS.tmp"]
        {
            found.push(PathBuf::from(name));
        }
        found
    }

    /// Puts something into a place; false if that cannot be done here.
    fn plant(&self, place: &Path, plant: Plant) -> bool {
        let path = self.path("own").join(place);
        let away = self.path("victim/away");
        let is_there = std::fs::symlink_metadata(&path).is_ok();
        match (plant, is_there) {
            (Plant::LinkAway, false) => return false,
            (Plant::LinkAway, true) => rename(&path, &away),
            (_, true) => rename(&path, &self.path("out/replaced")),
            (_, false) => {}
        }
        let target = match plant {
            Plant::LinkAway => away,
            Plant::LinkToFile => self.path("victim/file"),
            Plant::LinkToDirectory => self.path("victim/index"),
            Plant::Pipe => return made("mkfifo", &[], &path, &[]),
            Plant::Device => return made("mknod", &["-m", "666"], &path, &["c", "1", "5"]),
            Plant::Socket => {
                // Paths of sockets are short.
                let here = PathBuf::from(format!("/tmp/mattock-planted-{}", std::process::id()));
                let listener = std::os::unix::net::UnixListener::bind(&here).expect("sockets can be made");
                drop(listener);
                return made("mv", &["-T"], &here, &[path.to_str().expect("it is text")]);
            }
        };
        // What nobody lists would be cleared away.
        if target.is_dir() {
            for name in ["part-009999.parquet", "part-009998.parquet.unfinished", "INDEX.tmp"] {
                std::fs::write(target.join(name), SECRET).expect("the target directory can be written to");
            }
        }
        std::os::unix::fs::symlink(target, &path).expect("links can be made");
        true
    }

    /// Runs a command on what is there, and judges.
    fn run(&self, arguments: &[&str], what: &str) {
        let before = self.victim();
        let arguments: Vec<&str> =
            arguments.iter().map(|word| if *word == "URL" { self.url.as_str() } else { word }).collect();
        let output = self.finished(&arguments, what);
        let context = || format!("{what}, {arguments:?}: {}", said(&output));
        assert_eq!(self.victim(), before, "something of the victim's was touched: {}", context());
        assert!(output.status.code().is_some_and(|code| code != 101), "{}", context());
        for bytes in [&output.stdout, &output.stderr] {
            assert!(!String::from_utf8_lossy(bytes).contains(SECRET), "{}", context());
        }
        assert!(!has_secret(&self.path("out")), "the victim's words came along: {}", context());
        if !output.status.success() {
            let is_told = !output.stderr.is_empty() || !output.stdout.is_empty();
            assert!(is_told, "it failed without a word: {}", context());
        }
    }

    /// Runs a command, for so long at most; a console is asked to end once it listens, or has said why not.
    fn finished(&self, arguments: &[&str], what: &str) -> Output {
        let console = arguments[0] == "console";
        let mut command = self.scratch.command(MATTOCK);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary was built for this test");
        let id = child.id();
        if console {
            use std::io::Read as _;
            let mut first = [0];
            let _ = child.stdout.as_mut().expect("it is piped").read(&mut first);
            let _ = Command::new("kill").args(["-INT", &id.to_string()]).status();
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        match receiver.recv_timeout(patience()) {
            Ok(output) => output.expect("it can be waited for"),
            Err(_) => {
                let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
                panic!("{what}: {arguments:?} hangs");
            }
        }
    }

    /// All of the victim's: names, bytes, lengths, times.
    fn victim(&self) -> BTreeMap<PathBuf, (Vec<u8>, i64, i64, u64, u32)> {
        let mut found = BTreeMap::new();
        state(&self.path("victim"), &mut found);
        found
    }
}

fn state(path: &Path, found: &mut BTreeMap<PathBuf, (Vec<u8>, i64, i64, u64, u32)>) {
    let metadata = std::fs::symlink_metadata(path).expect("it is there");
    let bytes = if metadata.is_file() { std::fs::read(path).expect("it can be read") } else { Vec::new() };
    let shown = (bytes, metadata.mtime(), metadata.mtime_nsec(), metadata.nlink(), metadata.mode());
    found.insert(path.to_path_buf(), shown);
    if metadata.is_dir() {
        for entry in std::fs::read_dir(path).expect("it can be listed") {
            state(&entry.expect("it can be listed").path(), found);
        }
    }
}

fn has_secret(path: &Path) -> bool {
    let metadata = std::fs::symlink_metadata(path).expect("it is there");
    if metadata.is_dir() {
        let mut entries = std::fs::read_dir(path).expect("it can be listed");
        return entries.any(|entry| has_secret(&entry.expect("it can be listed").path()));
    }
    metadata.is_file()
        && !path.ends_with("replaced")
        && !metadata.file_type().is_fifo()
        && memchr::memmem::find(&std::fs::read(path).expect("it can be read"), SECRET.as_bytes()).is_some()
}

fn made(program: &str, before: &[&str], path: &Path, after: &[&str]) -> bool {
    let status = Command::new(program).args(before).arg(path).args(after).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn rename(from: &Path, to: &Path) {
    let moved = Command::new("mv").arg("-T").args([from, to]).status().expect("there is mv");
    assert!(moved.success(), "{} cannot be moved", from.display());
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An archive with one page.
fn record(url: &str, text: &str) -> String {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>{text}</title><p>{text}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
         WARC-Record-ID: <urn:test:1>\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

/// A page that the model has.
fn url_of(scratch: &Scratch) -> String {
    let output =
        scratch.mattock(&["query", "model", "--sql", "select url from documents limit 1", "--format", "csv"]);
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().nth(1).unwrap_or_else(|| panic!("a page was stored: {}", said(&output))).to_owned()
}

/// Places that two runs of the suite have by the same name: a crawl names its files by the time.
fn shown(place: &Path) -> String {
    place.display().to_string()
}

fn everywhere(name: &str, plants: &[Plant]) {
    let stage = Stage::new(name);
    let (mut turn, mut runs, mut met) = (0, 0, BTreeSet::new());
    for place in stage.places() {
        for plant in plants {
            let commands = if wants_all() { COMMANDS.len() } else { 1 };
            for _ in 0..commands {
                let command = COMMANDS[turn % COMMANDS.len()];
                turn += 1;
                stage.set();
                if stage.plant(&place, *plant) {
                    stage.run(command, &format!("{plant:?} at {}", shown(&place)));
                    met.insert(command[0]);
                    runs += 1;
                }
            }
        }
    }
    assert!(runs > 40 && met.len() > 15, "{runs} runs of {met:?}");
}

#[test]
fn links_to_what_was_there_lead_nowhere() {
    everywhere("planted-away", &[Plant::LinkAway]);
}

#[test]
fn links_to_files_lead_nowhere() {
    everywhere("planted-file", &[Plant::LinkToFile]);
}

#[test]
fn links_to_directories_lead_nowhere() {
    everywhere("planted-directory", &[Plant::LinkToDirectory]);
}

#[test]
fn pipes_sockets_and_devices_stop_nobody() {
    everywhere("planted-special", &[Plant::Pipe, Plant::Socket, Plant::Device]);
}

/// Otherwise the others would show nothing.
#[test]
fn every_command_does_its_work_where_nothing_is_planted() {
    let stage = Stage::new("planted-nothing");
    for command in COMMANDS.iter().filter(|command| command[0] != "ctl") {
        stage.set();
        let output = stage.finished(
            &command
                .iter()
                .map(|word| if *word == "URL" { stage.url.as_str() } else { word })
                .collect::<Vec<_>>(),
            "nothing",
        );
        assert!(output.status.code() == Some(0) || command[0] == "console", "{command:?}: {}", said(&output));
    }
}

/// The places that matter most, with every command.
#[test]
fn every_command_meets_links_in_the_place_of_locks_lists_and_archives() {
    let stage = Stage::new("planted-commands");
    let archive =
        stage.places().into_iter().find(|place| shown(place).starts_with("warc/")).expect("there is one");
    for (place, plant) in [
        (Path::new("index"), Plant::LinkAway),
        (Path::new("index/lock"), Plant::LinkToFile),
        (Path::new("state/lock"), Plant::LinkToFile),
        (&archive, Plant::LinkAway),
        (&archive, Plant::LinkToFile),
        (Path::new("more.cdxj"), Plant::LinkToFile),
        (Path::new("analyzers"), Plant::LinkToDirectory),
    ] {
        for command in COMMANDS {
            stage.set();
            assert!(stage.plant(place, plant));
            stage.run(command, &format!("{plant:?} at {}", shown(place)));
        }
    }
}

/// Names that lead elsewhere, in the list of an index whose checksum is right.
#[test]
fn names_in_lists_lead_nowhere() {
    let stage = Stage::new("planted-names");
    let victim = stage.path("victim");
    let absolute = |name: &str| victim.join(name).display().to_string();
    let names = [
        "../../victim/index/part-000077.parquet".to_owned(),
        absolute("index/part-000077.parquet"),
        "part-../../../victim/index/part-000077.parquet".to_owned(),
        "part-\u{0}.parquet".to_owned(),
        format!("part-{}.parquet", "n".repeat(4096)),
        "PART-000001.PARQUET".to_owned(),
        "lock".to_owned(),
        "..".to_owned(),
    ];
    let archives = [
        absolute("page.warc"),
        "../victim/page.warc".to_owned(),
        "warc/../../victim/page.warc".to_owned(),
        "http://127.0.0.1:9/page.warc".to_owned(),
        format!("warc/{}", "n".repeat(4096)),
    ];
    let mut turn = 0;
    let mut planted = |change: &dyn Fn(&mut serde_json::Value)| {
        for _ in 0..8 {
            let command = COMMANDS[turn % COMMANDS.len()];
            turn += 1;
            stage.set();
            rewrite(&stage.path("own/index/INDEX"), change);
            stage.run(command, "names in INDEX");
        }
    };
    for name in &names {
        planted(&|list| list["parts"][0]["file"] = name.as_str().into());
        planted(&|list| {
            let mut part = list["parts"][0].clone();
            (part["file"], part["imported"]) = (name.as_str().into(), false.into());
            list["parts"].as_array_mut().expect("a list of parts").push(part);
        });
    }
    for name in &archives {
        planted(&|list| {
            list["imported"] = vec![name.as_str()].into();
            list["lost"] = vec![name.as_str()].into();
            list["parts"][0]["archives"] = vec![name.as_str()].into();
            list["parts"][0]["imported"] = true.into();
        });
    }
}

/// Names and lengths that lead elsewhere, in a checkpoint whose checksum is right.
#[test]
fn names_in_checkpoints_lead_nowhere() {
    let stage = Stage::new("planted-checkpoint");
    let victim = stage.path("victim");
    let absolute = victim.join("page.warc").display().to_string();
    let names = ["../../victim/page.warc", &absolute, "../../victim/file", "..", "a/b", "linked.warc.gz"];
    let away = stage.path("victim/index/linked.warc.gz");
    for name in names {
        for length in [0, 7, 1u64 << 40] {
            for command in COMMANDS {
                let writes = matches!(command[0], "crawl" | "check" | "index" | "publish" | "get");
                if !(wants_all() || writes && length == 7) {
                    continue;
                }
                stage.set();
                std::fs::write(&away, record("http://victim.example/", SECRET)).expect("there is room");
                let linked = stage.path("own/warc/linked.warc.gz");
                std::os::unix::fs::symlink(&away, &linked).expect("links can be made");
                rewrite(&stage.path("own/state/CHECKPOINT"), &|record| {
                    record["archive"][name] = length.into();
                });
                stage.run(command, &format!("{name} with {length} bytes in CHECKPOINT"));
            }
        }
    }
}

/// Locks that have a second name elsewhere: whoever takes one writes nothing into it.
#[test]
fn locks_with_a_second_name_elsewhere_stay_as_they_are() {
    let stage = Stage::new("planted-locks");
    for lock in ["index/lock", "index/import.lock", "state/lock"] {
        for command in [
            &["import", "own", "more.warc"][..],
            &["index", "own", "--rebuild"],
            &["query", "own", "select name"],
            &["publish", "model", "own/published"],
            &["crawl", "--out", "own", "--quiet"],
        ] {
            stage.set();
            let (path, other) = (stage.path("own").join(lock), stage.path("victim/file"));
            let _ = std::fs::remove_file(&path);
            std::fs::hard_link(&other, &path).expect("links can be made");
            let before = std::fs::read(&other).expect("it is there");
            let output = stage.finished(command, "a lock with a second name");
            assert_eq!(std::fs::read(&other).expect("it is there"), before, "{lock}, {command:?}");
            assert!(output.status.code() != Some(101), "{lock}, {command:?}: {}", said(&output));
        }
    }
}

/// An archive with a second name elsewhere, as somebody's own file or a backup made of links has.
#[test]
fn what_has_a_second_name_elsewhere_stays_as_it_is() {
    let stage = Stage::new("planted-linked");
    for command in [&["crawl", "--out", "own", "--quiet"][..], &["check", "own", "--repair"]] {
        stage.set();
        let other = stage.path("victim/page.warc");
        std::fs::hard_link(&other, stage.path("own/warc/linked.warc")).expect("links can be made");
        rewrite(&stage.path("own/state/CHECKPOINT"), &|record| record["archive"]["linked.warc"] = 7.into());
        let before = std::fs::read(&other).expect("it is there");
        stage.finished(command, "a second name");
        assert_eq!(std::fs::read(&other).expect("it is there"), before, "{command:?}");
    }
}

/// The list of an answer that was not finished, as somebody else has left it.
#[test]
fn names_in_lists_of_unfinished_answers_lead_nowhere() {
    let stage = Stage::new("planted-unfinished");
    let absolute = stage.path("victim/file.txt").display().to_string();
    for name in
        ["../../victim/file.txt", &absolute, "link.txt", "directory.txt", "..", "a/../../../victim/file.txt"]
    {
        stage.set();
        std::fs::write(stage.path("victim/file.txt"), SECRET).expect("there is room");
        let files = stage.path("out/files");
        std::fs::create_dir_all(files.join("directory.txt")).expect("there is room");
        std::os::unix::fs::symlink(stage.path("victim/file.txt"), files.join("link.txt"))
            .expect("links can be made");
        let list = format!("{{\"file\":\"{name}\",\"name\":\"http://a.example/\"}}\n");
        std::fs::write(files.join("index.jsonl.unfinished"), list).expect("there is room");
        stage.run(COMMANDS[2], &format!("{name} in a list"));
        assert!(files.join("directory.txt").is_dir(), "{name}");
    }
}

/// Changes a list and makes its checksum right.
pub(crate) fn rewrite(path: &Path, change: &dyn Fn(&mut serde_json::Value)) {
    let text = std::fs::read_to_string(path).expect("there is a list");
    let (head, json) = text.split_once('\n').expect("it has a first line");
    let mut list: serde_json::Value = serde_json::from_str(json).expect("it is JSON");
    change(&mut list);
    let json = serde_json::to_string_pretty(&list).expect("it is JSON");
    let (words, _) = head.rsplit_once(' ').expect("its last word is the checksum");
    let text = format!("{words} {:08x}\n{json}\n", crc32fast::hash(json.as_bytes()));
    std::fs::write(path, text).expect("it can be written");
}
