//! Damaged copies of a repository: whatever is done to its files, no command panics, is killed, takes more than 4 GiB or a minute; and an answer
//! that differs from that of the sound one comes with a word.
//!
//! The ordinary test looks at one copy of every kind; `cargo xtask damaged 400` at as many as one likes.

#![expect(clippy::print_stderr, reason = "it tells how far it is to whoever waits for it")]

mod change;
mod site;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mattock_env::{Files, Random};

use crate::process::MATTOCK;
use change::{Change, change};
use site::{Kind, Site};

/// Memory that a command may have, in KiB.
const MEMORY_KIB: &str = "4194304";
/// Time that it may take.
const SECONDS: &str = "60";

/// One of each kind, or as many as `cargo xtask damaged` says.
#[test]
fn damaged_copies_are_met_with_words() {
    let told = |name: &str| std::env::var(name).ok();
    let number =
        |name: &str, default: u64| told(name).map_or(default, |text| text.parse().expect("it is a number"));
    let options = Options {
        binary: told("DAMAGED_BINARY").unwrap_or_else(|| MATTOCK.to_owned()).into(),
        copies: number("DAMAGED_COPIES", Kind::ALL.len() as u64),
        first: number("DAMAGED_SEED", 1),
        kind: told("DAMAGED_KIND"),
    };
    let failed = look(&options);
    assert!(failed.is_empty(), "{} things are wrong:\n{}", failed.len(), failed.join("\n"));
}

struct Options {
    binary: PathBuf,
    copies: u64,
    /// The seed of the first copy; each further one has the next.
    first: u64,
    /// Only this kind, by name.
    kind: Option<String>,
}

/// What a command said.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Said {
    /// Why no command may end so, if none may.
    fn crashed(&self) -> Option<String> {
        let how = match self.code {
            137 => "it was killed: it took too long, or more memory than there is",
            101 | 124.. => "it crashed",
            _ if self.err.contains("panicked at") => "it panicked",
            _ => return None,
        };
        Some(format!("{how} ({}): {}", self.code, self.err.lines().take(4).collect::<Vec<_>>().join(" | ")))
    }

    fn has_a_word(&self) -> bool {
        let words = ["warning", "damaged", "error", "lost", "cannot be read"];
        self.code != 0 || words.iter().any(|word| self.err.contains(word))
    }
}

/// Makes copies, damages them and asks them; what was wrong with which.
fn look(options: &Options) -> Vec<String> {
    // Several of these may run side by side.
    let site = Site::make(&format!("damaged-{}-{}", options.first, std::process::id()), &options.binary);
    let asker = Asker { site: &site, binary: &options.binary };
    let sound = asker.ask_all(&site.copy("sound"));
    let grown = asker.crawl_on(&site.copy("sound"));
    for (command, said) in sound.iter().chain([(&"going on".to_owned(), &grown)]) {
        assert_eq!(said.code, 0, "{command}: {}", said.err);
    }
    let mut failed = Vec::new();
    let mut copies: BTreeMap<String, u64> = BTreeMap::new();
    for at in 0..options.copies {
        let seed = options.first + at;
        let mut random = Random::from_seed(seed).fork("damaged");
        let kind = Kind::ALL[(seed % Kind::ALL.len() as u64) as usize];
        if options.kind.as_ref().is_some_and(|wanted| *wanted != format!("{kind:?}")) {
            continue;
        }
        let files: Vec<&String> =
            site.files.iter().filter(|(of, _)| *of == kind).map(|(_, file)| file).collect();
        let file = files[random.below(files.len() as u64) as usize];
        let copy = site.copy("copy");
        let change = change(&mut random, &copy.join("crawl"), kind, file);
        let story = format!("seed {seed}, {file}: {}", change.what);
        let before = failed.len();
        let mut tell = |command: &str, what: String| failed.push(format!("{story}: `{command}`: {what}"));
        asker.judge(kind, &copy, &change, (&sound, &grown), &mut tell);
        if failed.len() > before {
            eprintln!("{}", failed[before..].join("\n"));
        }
        *copies.entry(format!("{kind:?}")).or_default() += 1;
    }
    eprintln!("{copies:?}: {} things are wrong", failed.len());
    failed
}

struct Asker<'a> {
    site: &'a Site,
    binary: &'a Path,
}

/// Questions whose answers do not change by themselves.
const QUESTIONS: [&[&str]; 7] = [
    &["query", "crawl", "--sql", "select * from documents order by url, fetch_time", "--format", "jsonl"],
    &[
        "query",
        "crawl",
        "--sql",
        "select count(*) as n, min(url), max(fetch_time) from documents where fetch_status < 400 and url_host_name > 'b'",
    ],
    &[
        "query",
        "crawl",
        "--sql",
        "select url, title, links from documents order by url, fetch_time",
        "--format",
        "jsonl",
    ],
    &[
        "query",
        "crawl",
        "--sql",
        "select url, in_degree, out_degree from documents where out_degree > 2 order by url, fetch_time",
    ],
    &[
        "query",
        "crawl",
        "--sql",
        "select url, fetch_status, octet_length(body) as n from documents order by url, fetch_time",
    ],
    &["query", "crawl", "--sql", "select url, outcome from outcomes order by url, outcome"],
    &["get", "crawl", "http://a-sim.com/b"],
];

/// Commands that only must not crash.
const COMMANDS: [&[&str]; 7] = [
    &[
        "query",
        "crawl",
        "--explain",
        "--sql",
        "select url, title, in_degree from documents where url > 'http://c'",
    ],
    &["features", "info", "crawl"],
    &["graph", "stats", "crawl"],
    &["report", "crawl", "--quiet", "--sample", "20"],
    &["history", "crawl", "http://a-sim.com/b"],
    &["stalls", "crawl"],
    &["check", "crawl"],
];

impl Asker<'_> {
    /// Runs a command with bounds.
    fn run(&self, directory: &Path, arguments: &[&str]) -> Said {
        let bounded = format!("ulimit -v {MEMORY_KIB}; exec timeout -s KILL {SECONDS} \"$0\" \"$@\"");
        let mut command = self.site.scratch.command("sh");
        command.current_dir(directory).args(["-c", &bounded]).arg(self.binary).args(arguments);
        let output = command.output().expect("there is a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said {
            code: output.status.code().unwrap_or(128),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// The answers to all questions, by question.
    fn ask_all(&self, directory: &Path) -> BTreeMap<String, Said> {
        QUESTIONS.iter().map(|question| (question.join(" "), self.run(directory, question))).collect()
    }

    /// Lets a crawl go on to its end, and asks what it has then.
    fn crawl_on(&self, directory: &Path) -> Said {
        let crawl: Vec<&str> = self.site.served.crawl.iter().map(String::as_str).collect();
        let mut crawled = self.run(directory, &[&crawl[..], &["--max-pages", "100000"]].concat());
        let urls = [
            "query",
            "crawl",
            "--sql",
            "select distinct url from documents order by url",
            "--format",
            "jsonl",
        ];
        let asked = self.run(directory, &urls);
        if crawled.code == 0 {
            crawled.code = asked.code;
        }
        Said { code: crawled.code, out: asked.out, err: crawled.err + &asked.err }
    }

    /// Asks a damaged copy, goes on with it, mends it, and asks again.
    fn judge(
        &self,
        kind: Kind,
        copy: &Path,
        change: &Change,
        (sound, grown): (&BTreeMap<String, Said>, &Said),
        tell: &mut dyn FnMut(&str, String),
    ) {
        let answers = self.ask_all(copy);
        let mut compare = |command: &str, said: &Said, expected: &Said| {
            if let Some(how) = said.crashed() {
                tell(command, how);
            } else if !change.forged && said.out != expected.out && !said.has_a_word() {
                tell(command, format!("another answer without a word: {}", said.err.trim_end()));
            }
        };
        for (command, said) in &answers {
            compare(command, said, &sound[command]);
        }
        if !kind.is_asked() {
            let aside = copy.with_file_name("aside");
            let _ = Files::real().remove_dir_all(&aside);
            Files::real().create_dir_all(&aside).expect("a directory can be made");
            let status =
                std::process::Command::new("cp").arg("-r").arg(copy.join("crawl")).arg(&aside).status();
            assert!(status.is_ok_and(|status| status.success()), "a copy can be made");
            compare("going on", &self.crawl_on(&aside), grown);
        }
        let mut crashed = |arguments: &[&str]| {
            let said = self.run(copy, arguments);
            if let Some(how) = said.crashed() {
                tell(&arguments.join(" "), how);
            }
            said
        };
        for command in COMMANDS {
            crashed(command);
        }
        crashed(&["check", "crawl", "--repair"]);
        let rebuilt = match kind.is_asked() {
            true => crashed(&["index", "crawl", "--rebuild"]),
            false => return,
        };
        // What was made anew is as it was, or something is said.
        let question = QUESTIONS[0];
        let said = crashed(question);
        if !change.forged
            && said.out != sound[&question.join(" ")].out
            && !said.has_a_word()
            && !rebuilt.has_a_word()
        {
            tell("after a rebuild", format!("another answer without a word: {}", said.err.trim_end()));
        }
    }
}
