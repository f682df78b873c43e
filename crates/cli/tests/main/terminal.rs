//! A real terminal (under tmux) is shown 10,000 strings of strangers by every way that they can take, and nothing comes of them: no colour,
//! no title, no other screen, no mode, nothing on the clipboard, nothing typed that nobody typed, and all that was shown is still there.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::process::{Command, Output, Stdio};

use mattock_env::Files;

use crate::hostile::Numbers;
use crate::process::{MATTOCK, Scratch, read};

/// Documents of the archive. Each has a string in its URL, title, text, type and two header fields.
const DOCUMENTS: usize = 2000;
/// Every so many of them have one in the name of the host, which makes no URL and thus a warning.
const WARNED: usize = 10;
/// Documents that are looked at one by one.
const LOOKED_AT: usize = 3;
const HOST: &str = "http://hostile-sim.com/";

/// All that tmux knows of a terminal's state.
const STATE: &str = "title=#{pane_title} window=#{window_name} session=#{session_name} alternate=#{alternate_on} cursor=#{cursor_flag} insert=#{insert_flag} keys=#{keypad_cursor_flag}#{keypad_flag} mouse=#{mouse_any_flag}#{mouse_all_flag}\
    #{mouse_button_flag}#{mouse_standard_flag}#{mouse_sgr_flag}#{mouse_utf8_flag} origin=#{origin_flag} wrap=#{wrap_flag} \
    region=#{scroll_region_upper}-#{scroll_region_lower} tabs=#{pane_tabs} mode=#{pane_in_mode} path=#{pane_path} bell=#{window_bell_flag} \
    panes=#{window_panes} width=#{pane_width} height=#{pane_height} column=#{cursor_x}";

/// A tmux that would let programs do whatever they ask for.
const PERMISSIVE: &str = "set -g history-limit 1000000\nset -g set-clipboard on\nset -g allow-rename on\nset -g automatic-rename off\n\
    set -g set-titles on\nset -g monitor-bell on\nset -g bell-action any\nset -s focus-events on\nset -g allow-passthrough on\n";

/// Fails, with the document's own words for a reason.
const FAILS: &str = r#"(module
    (import "mattock" "body" (func $body (param i32 i32) (result i32)))
    (import "mattock" "fail" (func $fail (param i32 i32)))
    (memory (export "memory") 1)
    (func (export "analyze_text") (local $n i32)
        (local.set $n (call $body (i32.const 0) (i32.const 2000)))
        (call $fail (i32.const 0) (local.get $n))))"#;

/// A tmux server of our own; gone with its sessions when this goes.
struct Tmux<'a> {
    scratch: &'a Scratch,
    socket: String,
}

impl Tmux<'_> {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.scratch.command("tmux");
        command
            .env_remove("TMUX")
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .stderr(Stdio::inherit());
        command.args(["-u", "-L", &self.socket, "-f", "tmux.conf"]).args(arguments).output().unwrap()
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _ = self.run(&["kill-server"]);
    }
}

/// What a field of a header can be: anything on one line.
fn on_one_line(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.retain(|byte| !matches!(byte, b'\r' | b'\n'));
    bytes
}

/// An archive of hostile documents.
fn archive(numbers: &mut Numbers) -> Vec<u8> {
    let mut archive = Vec::new();
    for document in 0..DOCUMENTS {
        let mut next = || on_one_line(numbers.string());
        let url = match document % WARNED {
            0 => [b"http://h\x1b", &next()[..], b".example/"].concat(),
            _ => [HOST.as_bytes(), format!("{document}?").as_bytes(), &next()].concat(),
        };
        let head = [
            b"HTTP/1.1 200 OK ",
            &next()[..],
            b"\r\nContent-Type: text/html",
            &next(),
            b"\r\nServer: ",
            &next(),
            b"\r\nX-Said: ",
            &next(),
            b"\r\n\r\n",
        ]
        .concat();
        let (title, text) = (numbers.string(), numbers.string());
        let body = [b"<title>", &title[..], b"</title><p>", &text, b" and more to be said of mattocks.</p>"]
            .concat();
        let length = head.len() + body.len();
        let fields = format!(
            "\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:test:{document}>\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        let start = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: ";
        archive.extend([start, &url[..], fields.as_bytes(), &head, &body, b"\r\n\r\n"].concat());
    }
    archive
}

/// What is typed into the terminal, a command a line; `m` is the binary.
fn commands(scratch: &Scratch, numbers: &mut Numbers) -> Vec<String> {
    let columns = "select name, title, text, http_server, http_x_said, content_mime_type, type";
    let mut commands: Vec<String> = [
        "m import site pages.warc",
        "m import other pages.warc --json",
        &format!("m query site '{columns}'"),
        &format!("m query site '{columns}' --format table --quiet"),
        &format!("m query site '{columns}' --format jsonl"),
        &format!("m query site '{columns}' --format csv"),
        &format!("m query site '{columns}' --format csv --safe"),
        "m query site 'select fails' --analyzer fails.wasm --format csv",
        "m query site --sql \"select 1 as \\\"$(cat argument-0)\\\", $(cat argument-1)\"",
        "m check site",
        "m check site --json",
        "m query site 'select name' --explain",
    ]
    .map(str::to_owned)
    .into();
    let listed = scratch.mattock(&["import", "look", "pages.warc"]);
    assert!(listed.status.success(), "{listed:?}");
    let sql = "select url from documents order by url limit 3";
    let rows = scratch.mattock(&["query", "look", "--sql", sql, "--format", "jsonl", "--quiet"]);
    let rows = String::from_utf8(rows.stdout).unwrap();
    for (number, line) in rows.lines().take(LOOKED_AT).enumerate() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        scratch.write(&format!("url-{number}"), row["url"].as_str().unwrap());
        let url = format!("\"$(cat url-{number})\"");
        for print in ["head", "body", "record", "text"] {
            commands.push(format!("m get site {url} --print {print}"));
        }
        commands.extend([format!("m history site {url} --diff"), format!("m history site {url} --json")]);
        commands.push(format!("m why site {url}"));
    }
    for number in 0..5 {
        let name = format!("argument-{number}");
        // Other bytes are refused by the parser of arguments, in its own words and colours.
        let text = on_one_line(numbers.string());
        scratch.write(&name, &format!("\u{1b}[7m{}", String::from_utf8_lossy(&text)));
        let argument = format!("\"$(cat {name})\"");
        commands.push(format!("m get {argument} http://a-sim.com/{argument}"));
        commands.push(format!("m {argument} {argument}"));
        commands.push(format!("m crawl --out out --dns {argument} http://{argument}/"));
        commands.push(format!("m why {argument} {argument}; m stalls {argument}; m check {argument}"));
        commands.push(format!("m query site {argument}; m query site --sql {argument}"));
        commands.push(format!(
            "m fetch http://127.0.0.1:9/{argument}; m robots check http://127.0.0.1:9/{argument}"
        ));
    }
    // The archive is damaged, and things are said about that.
    commands.push("head -c 20000 pages.warc > cut && mv cut pages.warc; m check site; m query site 'select title' --format csv".into());
    commands
}

/// The script of the terminal: the state, the commands, the state again. tmux answers a last question (where the cursor is) when it has seen all
/// of it; what came on the keyboard before that answer, nobody has typed. Pasting shows whether pastes are marked.
fn script(commands: &[String]) -> String {
    let mut script = format!(
        "exec 2>&1\nm() {{ '{MATTOCK}' \"$@\" </dev/null; }}\nstty raw -echo opost onlcr\ntrap 'tmux wait-for -S seen' EXIT\n\
         state() {{ tmux display-message -p -t \"$TMUX_PANE\" '{STATE}' >$1; }}\nstate before\n"
    );
    for (number, command) in commands.iter().enumerate() {
        script += &format!("echo; echo '=== {number} lqqk'\n{command}\n");
    }
    script += "echo; echo '=== end lqqk'\nprintf '\\033[6n'\nIFS= read -r -d R answer\nprintf '%s' \"$answer\" >answer\nstate after\n\
        tmux list-buffers >buffers\ntmux set-buffer 'pasted!'\ntmux paste-buffer -p -t \"$TMUX_PANE\"\nIFS= read -r -d '!' pasted\n\
        printf '%s' \"$pasted\" >pasted\ntmux wait-for -S seen\nexec cat >/dev/null\n";
    script
}

fn has_tmux() -> bool {
    let there = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    assert!(there || std::env::var_os("CI").is_none(), "this test needs tmux (Debian: apt install tmux)");
    there
}

/// What no line on a terminal has, but by an escape sequence or a control that was obeyed or hides.
fn is_dangerous(letter: char) -> bool {
    let code = letter as u32;
    letter.is_control()
        || [0xad, 0x61c, 0x200b, 0x200e, 0x200f, 0xfeff].contains(&code)
        || (0x2028..=0x202e).contains(&code)
        || (0x2060..=0x206f).contains(&code)
        || (0xe000..=0xf8ff).contains(&code)
        || code >= 0xe_0000
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn nothing_comes_of_ten_thousand_hostile_strings() {
    if !has_tmux() {
        eprintln!("skipped: tmux is not here");
        return;
    }
    let scratch = Scratch::new("terminal");
    let mut numbers = Numbers(27);
    Files::real().write_atomic(&scratch.path().join("pages.warc"), &archive(&mut numbers)).unwrap();
    let module = wat::parse_str(FAILS).unwrap();
    Files::real().write_atomic(&scratch.path().join("fails.wasm"), &module).unwrap();
    let commands = commands(&scratch, &mut numbers);
    scratch.write("script", &script(&commands));
    scratch.write("tmux.conf", PERMISSIVE);

    let tmux = Tmux { scratch: &scratch, socket: format!("mattock-{}", std::process::id()) };
    let started = tmux.run(&[
        "new-session",
        "-d",
        "-x",
        "150",
        "-y",
        "50",
        "-n",
        "window",
        "-s",
        "session",
        "bash script",
    ]);
    assert!(started.status.success(), "{started:?}");
    tmux.run(&["wait-for", "seen"]);
    let captured = tmux.run(&["capture-pane", "-p", "-e", "-S", "-", "-E", "-", "-t", "session"]);
    let captured = String::from_utf8(captured.stdout).unwrap();
    let file = |name: &str| read(&scratch.path().join(name));

    for line in captured.lines() {
        assert!(!line.contains(is_dangerous), "{line:?}");
    }
    let marks: Vec<&str> = captured.lines().filter(|line| line.starts_with("=== ")).collect();
    let wanted: Vec<String> = (0..commands.len()).map(|number| format!("=== {number} lqqk")).collect();
    assert_eq!(marks[..commands.len()], wanted, "something erased lines, or wrote over them");
    assert_eq!(marks[commands.len()..], ["=== end lqqk"]);
    assert!(captured.lines().count() > 4 * DOCUMENTS, "not all was shown: {}", captured.lines().count());
    for shown in [
        r"\u{1b}[2J",
        r"\u{9b}",
        r"\u{202e}",
        r"\u001b]52;c",
        r"\u009b",
        "no URL of the Web",
        "`fails` failed",
    ] {
        assert!(captured.contains(shown), "{shown} was not among it");
    }
    assert_eq!(file("after"), file("before"));
    let answer = file("answer");
    assert!(answer.starts_with("\u{1b}[") && answer.ends_with(";1"), "somebody typed {answer:?}");
    assert_eq!(file("pasted"), "pasted", "pastes are marked, or something was typed before");
    assert_eq!(file("buffers"), "", "something is on the clipboard");
}

#[test]
fn pipes_get_every_byte_and_people_do_not() {
    let scratch = Scratch::new("terminal_pipes");
    let title = "=HYPERLINK(\"http://a/\")\u{1b}[31m\u{9b}2J\u{202e}";
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Said: {title}\r\n\r\n");
    let body = format!("<title>{title}</title><p>{title}</p>");
    let length = head.len() + body.len();
    let record = |url: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:test:1>\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {length}\r\n\r\n{head}{body}\r\n\r\n"
        )
    };
    let url = "http://a-sim.com/";
    scratch.write("pages.warc", &(record(url) + &record("http://b\u{1b}[7m\u{9b}.example/")));
    let run = |arguments: &[&str]| {
        let output = scratch.mattock(arguments);
        let [out, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(!said.contains(|letter| letter != '\n' && is_dangerous(letter)), "{arguments:?}: {said:?}");
        (out, said)
    };
    let (_, said) = run(&["import", "site", "pages.warc"]);
    assert!(said.contains(r"`http://b\u{1b}[7m\u{9b}.example/` is no URL of the Web"), "{said}");

    assert_eq!(run(&["get", "site", url, "--print", "head"]).0, head);
    assert_eq!(run(&["get", "site", url]).0, body);
    let rows = |more: &[&str]| {
        run(&[&["query", "site", "select title, http_x_said", "--quiet"][..], more].concat()).0
    };
    let quoted = title.replace('"', "\"\"");
    assert_eq!(rows(&["--format", "csv"]), format!("title,http_x_said\r\n\"{quoted}\",\"{quoted}\"\r\n"));
    let exact = title.replace('"', "\\\"").replace('\u{1b}', "\\u001b");
    assert_eq!(
        rows(&["--format", "jsonl"]),
        format!("{{\"title\":\"{exact}\",\"http_x_said\":\"{exact}\"}}\n")
    );

    let safe = r#""'=HYPERLINK(""http://a/"")\u{1b}[31m\u{9b}2J\u{202e}""#;
    assert_eq!(rows(&["--format", "csv", "--safe"]), format!("title,http_x_said\r\n{safe},{safe}\r\n"));
    let safe = exact.replace('\u{9b}', "\\u009b").replace('\u{202e}', "\\u202e");
    assert_eq!(
        rows(&["--format", "jsonl", "--safe"]),
        format!("{{\"title\":\"{safe}\",\"http_x_said\":\"{safe}\"}}\n")
    );
    assert!(rows(&["--format", "table"]).contains(r"\u{1b}[31m\u{9b}2J\u{202e}"));
}
