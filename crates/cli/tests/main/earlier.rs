//! A directory that an earlier version has made: a crawl that was stopped, with an index, a kept column and a copied archive of others. It is asked
//! and goes on as before, also where the kernel cannot be asked to stay beneath a directory.

use std::process::{Command, Output};

use crate::process::{MATTOCK, Scratch, root};
use crate::served::Served;

/// Made by the version before directories were bound: 25 pages of the tiny world 7.
const DIRECTORY: &str = "crates/cli/tests/fixtures/directory-1.tar.gz";

/// Has every `openat2` fail as if the kernel did not know it, and then becomes the program.
const WITHOUT_OPENAT2: &str = r#"
import ctypes, os, platform, struct, sys
machine = {'x86_64': 0xC000003E, 'aarch64': 0xC00000B7}[platform.machine()]
code = [
    (0x20, 0, 0, 4), (0x15, 1, 0, machine), (0x06, 0, 0, 0x7FFF0000),
    (0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000),
]
program = b''.join(struct.pack('HBBI', *step) for step in code)
buffer = ctypes.create_string_buffer(program)
class Filter(ctypes.Structure):
    _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
filter = Filter(len(code), ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(filter), 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"#;

fn unpacked(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(root().join(DIRECTORY)).arg("-C").arg(scratch.path());
    assert!(tar.status().expect("there is tar").success());
    scratch
}

fn asked_and_continued(scratch: &Scratch, program: &dyn Fn() -> Command) {
    let run = |arguments: &[&str]| -> Output {
        let output = program().args(arguments).output().expect("the binary was built for this test");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        output
    };
    let lines = |output: &Output| String::from_utf8_lossy(&output.stdout).lines().count();
    assert_eq!(lines(&run(&["query", "crawl", "select name, title, body"])), 28);
    let kept = run(&["query", "crawl", "select name, title where title != \"\"", "--explain"]);
    assert!(!kept.stdout.is_empty());
    let page = run(&["get", "crawl", "http://other.example/"]);
    assert!(String::from_utf8_lossy(&page.stdout).contains("Something of somebody else"));
    run(&["check", "crawl"]);
    run(&["index", "crawl"]);
    run(&["publish", "crawl", "published"]);
    assert_eq!(lines(&run(&["query", "published", "select name, body"])), 28);
    // Who crawls on says where the names are to be looked up now.
    let served = Served::start(7, "5ms", u64::MAX);
    let mut crawl: Vec<&str> = served.crawl.iter().map(String::as_str).collect();
    crawl.extend(["--max-pages", "60", "--quiet"]);
    run(&crawl);
    run(&["check", "crawl"]);
    assert!(lines(&run(&["query", "crawl", "select name where status = 200"])) >= 60);
    assert!(scratch.is_there("crawl/TRUST"));
}

#[test]
fn it_opens_and_goes_on() {
    let scratch = unpacked("earlier");
    asked_and_continued(&scratch, &|| scratch.command(MATTOCK));
}

#[test]
#[expect(clippy::print_stderr, reason = "what is skipped is said")]
fn it_opens_and_goes_on_without_the_kernels_help() {
    let scratch = unpacked("earlier-walked");
    let without = || {
        let mut command = scratch.command("python3");
        command.args(["-c", WITHOUT_OPENAT2, MATTOCK]);
        command
    };
    let probe = without().arg("--version").output().expect("there is Python");
    if !probe.status.success() {
        eprintln!(
            "skipped: this machine has no filters of system calls: {}",
            String::from_utf8_lossy(&probe.stderr)
        );
        return;
    }
    asked_and_continued(&scratch, &without);
}
