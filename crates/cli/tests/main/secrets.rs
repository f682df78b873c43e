//! Five secrets, planted in a crawl through a proxy, are looked for in everything that it and the commands after it leave behind or say.

#![expect(clippy::unwrap_used, reason = "the helpers of tests fail by panicking, as tests do")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use data_encoding::BASE64;
use mattock_env::Files;
use mattock_repository::WarcReader;
use mattock_simweb::Resolution;

use crate::process::{MATTOCK, Running, Scratch, interrupt};
use crate::served::{Served, world};

const PASSWORD: &str = "pr0xy-passw0rd";
const KEY: &str = "k3y-of-the-site";
const LOGIN: &str = "session=l0g1n-cookie";
const TOKEN: &str = "t0ken-of-the-c0nsole";
const S3_KEY: &str = "s3cret/access+key";
const SEED: u64 = 11;

/// Where secrets belong: one is in a file of its own, one stands in the configuration, and the crawl keeps that.
const PLACES: [(&str, &str); 3] = [("proxy.secret", PASSWORD), ("ours.toml", KEY), ("crawl/crawl.toml", KEY)];

/// A proxy on loopback that wants a password and finds the hosts of the world. To whoever does not ask it as a proxy it is a store that
/// lets nobody in.
struct Proxy {
    address: String,
    /// The head of every request.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    #[expect(clippy::disallowed_methods, reason = "a proxy for a real client needs a real socket")]
    fn start(port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let log = heads.clone();
        // It ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let log = log.clone();
                std::thread::spawn(move || drop(answer(stream, port, &log)));
            }
        });
        Proxy { address, heads }
    }
}

/// Passes one request on, if it has the password, and the answer back.
#[expect(clippy::disallowed_methods, reason = "it stands between real sockets")]
fn answer(mut stream: TcpStream, port: u16, log: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    log.lock().unwrap().push(head.clone());
    let Some(rest) = head.strip_prefix("GET http://") else {
        return stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let credentials = BASE64.encode(format!("me:{PASSWORD}").as_bytes());
    if !head.contains(&format!("\r\nProxy-Authorization: Basic {credentials}\r\n")) {
        return stream
            .write_all(b"HTTP/1.1 407 Authenticate\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    let (host, path) = rest.split_once('/').unwrap();
    let Resolution::Address(server) = world(SEED).resolve(host) else { return Ok(()) };
    let lines: Vec<&str> = head.lines().skip(1).filter(|line| !line.starts_with("Proxy-")).collect();
    let fields = lines.join("\r\n");
    let mut server = TcpStream::connect((server, port))?;
    write!(server, "GET /{}\r\nConnection: close\r\n{fields}\r\n", path.lines().next().unwrap())?;
    std::io::copy(&mut server, &mut stream)?;
    Ok(())
}

/// What was said on either stream by anybody.
#[derive(Default)]
struct Heard(String);

impl Heard {
    fn listen(&mut self, what: &str, output: &Output) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        self.0 += &format!("$ {what}\n{said}\n");
        said
    }
}

/// The crawl's directory, its secrets, and those who need them.
struct Planted {
    scratch: Scratch,
    proxy: Proxy,
    served: Served,
    host: String,
}

impl Planted {
    fn new() -> Planted {
        let scratch = Scratch::new("secrets");
        let served = Served::start(SEED, "0ms", 0);
        let word = |before: &str| served.crawl.iter().skip_while(|word| *word != before).nth(1).unwrap();
        let port = word("--connect-port").split_once('=').unwrap().1.parse().unwrap();
        let host = served.crawl.iter().find_map(|word| word.strip_prefix("http://")).unwrap();
        let host = host.trim_end_matches('/').to_owned();
        let proxy = Proxy::start(port);
        let secret = format!("http://me:{PASSWORD}@{}\n", proxy.address);
        let config = format!(
            "[fetch]\nheaders = [\"Accept-Language: en\",\n  {{ name = \"X-Api-Key\", value = \"{KEY}\", hosts = [\"http://{host}\"] }},\n  \
             {{ name = \"Cookie\", value = {{ env = \"SITE_LOGIN\" }}, hosts = [\"http://{host}\"] }},\n]\n\
             [network]\nproxy = {{ file = \"proxy.secret\" }}\n[log]\nlevel = \"debug\"\n"
        );
        for (name, text) in [("proxy.secret", secret), ("ours.toml", config)] {
            Files::real().write_private(&scratch.path().join(name), text.as_bytes()).unwrap();
        }
        Planted { scratch, proxy, served, host }
    }

    /// A command that is told the secrets which are not in files.
    fn command(&self) -> Command {
        let mut command = self.scratch.command(MATTOCK);
        command.env("SITE_LOGIN", LOGIN).env("MATTOCK_CONSOLE_TOKEN", TOKEN).env("RUST_LOG", "trace");
        command.env("AWS_ACCESS_KEY_ID", "AKIA").env("AWS_SECRET_ACCESS_KEY", S3_KEY);
        command.env("AWS_ENDPOINT_URL", format!("http://{}", self.proxy.address)).env("AWS_REGION", "us-1");
        command
    }

    fn run(&self, heard: &mut Heard, arguments: &[&str]) -> String {
        let output = self.command().args(arguments).output().unwrap();
        heard.listen(&arguments.join(" "), &output)
    }

    /// Crawls, and asks a running crawl everything that it tells.
    fn crawl(&self, heard: &mut Heard) {
        let mut command = self.command();
        command.args(&self.served.crawl).args(["--config", "ours.toml", "--console", "127.0.0.1:0"]);
        command.args(["--delay", "1s", "--server-delay", "0s"]);
        let mut child = Running(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut said = String::new();
        let address = loop {
            let line = lines.next().unwrap_or_else(|| panic!("it ended without a console:\n{said}"));
            said += &format!("{line}\n");
            if let Some(address) = line.strip_prefix("Console: http://") {
                break address.trim_end_matches('/').to_owned();
            }
        };
        assert!(said.contains("in the clear") && said.contains("past the guard"), "{said}");
        let rest = std::thread::spawn(move || lines.collect::<Vec<_>>().join("\n"));
        let seen = Files::real().read(Path::new(&format!("/proc/{}/cmdline", child.0.id()))).unwrap();
        heard.0 += &String::from_utf8_lossy(&seen);
        for path in
            ["/", "/metrics", "/api/v1/snapshot", "/api/v1/settings", "/api/v1/log", "/api/v1/openapi.json"]
        {
            heard.0 += &console(&address, path);
        }
        for words in
            [&["pause"][..], &["status"], &["set"], &["log", "--level", "debug"], &["checkpoint", "--wait"]]
        {
            self.run(heard, &[&["ctl", "crawl"], words].concat());
        }
        interrupt(&child.0);
        assert_eq!(child.end(), Some(130));
        heard.0 += &said;
        heard.0 += &rest.join().unwrap();
    }
}

/// One answer of the console, head and all.
#[expect(clippy::disallowed_methods, reason = "a client of a real server needs a real connection")]
fn console(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(!text.starts_with("HTTP/1.1 401"), "{text}");
    text
}

/// All files below a directory, by their names in it.
fn files_below(root: &Path, below: &str, found: &mut Vec<String>) {
    for entry in Files::real().list(&root.join(below)).unwrap() {
        let name = format!("{below}{}", entry.name);
        match entry.is_dir {
            true => files_below(root, &format!("{name}/"), found),
            false => found.push(name),
        }
    }
}

/// A file's bytes, and those that are compressed in it.
fn content(path: PathBuf) -> Vec<u8> {
    let mut bytes = Files::real().read(&path).unwrap();
    if path.to_string_lossy().contains(".warc") {
        let mut reader = WarcReader::open(&Files::real(), &path).unwrap();
        while let Some(record) = reader.next_record().unwrap() {
            bytes.extend(format!("{:?}\n", record.fields.iter().collect::<Vec<_>>()).bytes());
            bytes.extend(record.block);
        }
    }
    bytes
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Each secret, and how it goes over a wire.
fn spellings() -> Vec<(&'static str, String)> {
    let secrets = [PASSWORD, KEY, LOGIN, TOKEN, S3_KEY].into_iter();
    let plain = secrets.clone().map(|secret| (secret, secret.to_owned()));
    let coded =
        secrets.map(|secret| (secret, BASE64.encode(secret.as_bytes()).trim_end_matches('=').to_owned()));
    let basic = (PASSWORD, BASE64.encode(format!("me:{PASSWORD}").as_bytes()));
    plain.chain(coded).chain([basic, (S3_KEY, S3_KEY.replace('/', "%2F").replace('+', "%2B"))]).collect()
}

#[test]
fn planted_secrets_are_nowhere_but_in_their_places() {
    let planted = Planted::new();
    let mut heard = Heard::default();
    planted.crawl(&mut heard);
    let (host, root) = (format!("http://{}/", planted.host), planted.scratch.path().to_path_buf());

    // To go on they are needed again, and nobody who only looks needs them.
    let mut forgot = planted.command();
    let forgot = forgot.env_remove("SITE_LOGIN").args(["crawl", "--out", "crawl"]).output().unwrap();
    let said = heard.listen("crawl without its login", &forgot);
    assert!(said.contains("fetch.headers: the environment variable SITE_LOGIN is not set"), "{said}");
    let said =
        planted.run(&mut heard, &["crawl", "--out", "crawl", "--delay", "0s", "--max-pages", "20", "--json"]);
    assert!(said.contains("\"pages\":"), "{said}");
    let far = format!("file://{}/far", root.display());
    for words in [
        &["index", "crawl"][..],
        &["check", "crawl"],
        &["report", "crawl", "--output", "report.html"],
        &["query", "crawl", "--sql", "select * from documents"],
        &["why", "crawl", &host],
        &["get", "crawl", &host],
        &["export", "crawl", "--format", "warc", "--output", "exported.warc.gz"],
        &["publish", "crawl", &far],
        &["publish", "crawl", "s3://bucket/web"],
        &["fetch", "--config", "ours.toml", &host],
        &["fetch", "--config", "ours.toml", "--json", &host],
        &["robots", "check", "--config", "ours.toml", &host],
        &["config", "--example"],
        &["crawl", "--help"],
    ] {
        planted.run(&mut heard, words);
    }

    let heads = planted.proxy.heads.lock().unwrap();
    let to = |head: &&String| head.starts_with(&format!("GET {host}"));
    assert!(
        heads.iter().any(|head| to(&head))
            && heads.iter().any(|head| head.starts_with("GET http://") && !to(&head))
    );
    for head in heads.iter().filter(|head| head.starts_with("GET http://")) {
        assert_eq!(to(&head), head.contains(KEY) && head.contains(LOGIN), "{head}");
    }
    let mut names = Vec::new();
    files_below(&root, "", &mut names);
    let mut archived = Vec::new();
    for name in &names {
        let bytes = content(root.join(name));
        for (secret, spelling) in spellings() {
            let is_place = PLACES.contains(&(name.as_str(), secret));
            assert!(is_place || !holds(&bytes, &spelling), "{spelling} is in {name}");
        }
        if name.contains(".warc") {
            archived.extend(bytes);
        }
    }
    for (name, secret) in PLACES {
        assert!(
            holds(&content(root.join(name)), secret) && Files::real().is_private(&root.join(name)).unwrap()
        );
    }
    // The archives were read, and say that something is missing.
    for field in ["Proxy-Authorization", "X-Api-Key", "Cookie"] {
        assert!(holds(&archived, &format!("\r\n{field}: (left out)\r\n")), "{field}");
    }
    for proof in [
        "rows are in file://",
        "cannot look at s3://bucket/web",
        "> X-Api-Key: (left out)",
        "$ ctl crawl pause",
    ] {
        assert!(heard.0.contains(proof), "{proof} was not said:\n{}", heard.0);
    }
    for (_, spelling) in spellings() {
        assert!(!heard.0.contains(&spelling), "{spelling} was said:\n{}", heard.0);
    }
}

#[test]
fn what_others_can_see_is_said_and_nothing_is_repeated() {
    let scratch = Scratch::new("secrets_on_the_command_line");
    let proxy = format!("http://me:{PASSWORD}@127.0.0.1:1");
    let run = |out: &str, variables: &[(&str, &str)], more: &[&str]| {
        let mut command = scratch.command(MATTOCK);
        command.args(["crawl", "--out", out, "--retries", "0", "http://www.example.com/"]);
        let output = command.args(more).envs(variables.iter().copied()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains(PASSWORD) && !said.contains(KEY), "{said}");
        (
            said,
            String::from_utf8(
                Files::real().read(&scratch.path().join(out).join("crawl.toml")).unwrap_or_default(),
            )
            .unwrap(),
        )
    };
    const SEEN: &str = "warning: others on this machine can see what follows";
    let (said, kept) = run("flag", &[], &["--proxy", &proxy]);
    assert!(said.contains(&format!("{SEEN} --proxy")) && kept.contains(PASSWORD), "{said}");
    assert!(Files::real().is_private(&scratch.path().join("flag/crawl.toml")).unwrap());
    let (said, kept) = run("variable", &[("MATTOCK_PROXY", &proxy)], &[]);
    assert!(!said.contains(SEEN) && !kept.contains(PASSWORD), "{said}");
    assert!(kept.contains("env = \"MATTOCK_PROXY\""), "{kept}");
    let (said, kept) = run("plain", &[], &["--proxy", "http://127.0.0.1:1"]);
    assert!(!said.contains(SEEN) && kept.contains("proxy = \"http://127.0.0.1:1\""), "{said}{kept}");

    let key = format!("X-Api-Key: {KEY}");
    let (said, kept) = run("key", &[], &["--header", &key]);
    assert!(said.contains("hosts = [\"www.example.com\"]") && kept.is_empty(), "{said}");
    for wrong in
        [format!("me:{PASSWORD}"), format!("socks5://me:{PASSWORD}@a:1"), format!("http://me:{PASSWORD}@a")]
    {
        let (said, kept) = run("wrong", &[], &["--proxy", &wrong]);
        assert!(said.contains("http://proxy.example:3128") && kept.is_empty(), "{said}");
    }
    let mut help = scratch.command(MATTOCK);
    help.args(["crawl", "--help"]).env("MATTOCK_PROXY", &proxy).env("MATTOCK_HEADER", &key);
    let help = String::from_utf8(help.output().unwrap().stdout).unwrap();
    assert!(help.contains("MATTOCK_PROXY") && !help.contains(PASSWORD) && !help.contains(KEY), "{help}");

    // A key for one page is for its site, and what is shown of the request lacks it.
    let served = Served::start(SEED, "0s", 0);
    let output = scratch.mattock(&[&["fetch", "--header", &key][..], &served.reached()].concat());
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("> X-Api-Key: (left out)") && !shown.contains(KEY), "{shown}");
}

#[test]
fn a_login_in_a_url_is_not_repeated() {
    let scratch = Scratch::new("secrets-in-urls");
    let url = format!("http://me:{PASSWORD}@127.0.0.1:9/x.warc");
    for arguments in [
        &["query", &url, "select name"][..],
        &["import", "own", &url],
        &["publish", "own", &url],
        &["fetch", &url],
        &["fetch", "--json", &url],
        &["robots", "check", &url],
        &["get", "own", &url],
        &["why", "own", &url],
        &["crawl", "--out", "crawl", "--delay", "0s", "--retries", "0", &url],
    ] {
        let output = scratch.mattock(arguments);
        let mut heard = Heard::default();
        let said = heard.listen(arguments[0], &output);
        assert!(!said.is_empty() && !said.contains(PASSWORD), "{arguments:?}: {said}");
    }
}
