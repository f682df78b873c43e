//! Running the binary: a directory of one's own, no settings from outside, output as text.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use mattock_env::Files;

pub(crate) const MATTOCK: &str = env!("CARGO_BIN_EXE_mattock");

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn read(path: &Path) -> String {
    let bytes = Files::real().read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8(bytes).expect("the file is text")
}

/// A process in the background; killed when this goes.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Waits for its end, and gives its exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.0.wait().expect("it was started").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A directory that is empty at the start and gone at the end.
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// `name` is that of the test: tests run side by side.
    pub(crate) fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // A run that was killed leaves one behind.
        let _ = Files::real().remove_dir_all(&path);
        Files::real().create_dir_all(&path).expect("the target directory can be written to");
        Scratch { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        Files::real().write_atomic(&self.path.join(name), text.as_bytes()).expect("a file can be written");
    }

    pub(crate) fn is_there(&self, name: &str) -> bool {
        Files::real().entry(&self.path.join(name)).expect("the directory can be read").is_some()
    }

    /// A command that runs here, the same on every machine: no settings from outside, a user of its own, and 100 columns.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MATTOCK_") {
                command.env_remove(name);
            }
        }
        let config = self.path.join(".config");
        command
            .current_dir(&self.path)
            .env("COLUMNS", "100")
            .env("XDG_CONFIG_HOME", config)
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn mattock(&self, arguments: &[&str]) -> Output {
        self.command(MATTOCK).args(arguments).output().expect("the binary was built for this test")
    }

    /// Runs it for a reader who has had enough before the first word: a pipe that nobody reads.
    pub(crate) fn mattock_unread(&self, arguments: &[&str]) -> Output {
        let (reader, writer) = std::io::pipe().expect("the system has pipes");
        drop(reader);
        let mut command = self.command(MATTOCK);
        command.args(arguments).stdout(writer);
        command.output().expect("the binary was built for this test")
    }

    /// Runs it where nobody hears what it says: everything on stderr fails.
    pub(crate) fn mattock_unheard(&self, arguments: &[&str]) -> Output {
        let (reader, writer) = std::io::pipe().expect("the system has pipes");
        drop(reader);
        let mut command = self.command(MATTOCK);
        command.args(arguments).stderr(writer);
        command.output().expect("the binary was built for this test")
    }

    /// Holds a run against its snapshot: the command, its exit code, what it printed.
    pub(crate) fn snapshot(&self, name: &str, arguments: &[&str]) {
        insta::assert_snapshot!(name, self.transcript(arguments));
    }

    /// The same, with all lengths of time replaced: they differ from run to run.
    pub(crate) fn snapshot_without_times(&self, name: &str, arguments: &[&str]) {
        let mut words: Vec<String> =
            self.transcript(arguments).split(' ').map(str::to_owned).collect::<Vec<_>>();
        for next in 1..words.len() {
            if words[next].starts_with("ms") && words[next - 1].parse::<f64>().is_ok() {
                words[next - 1] = "N".to_owned();
            }
        }
        insta::assert_snapshot!(name, words.join(" "));
    }

    /// A run as a text.
    pub(crate) fn transcript(&self, arguments: &[&str]) -> String {
        let output = self.mattock(arguments);
        let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
        let mut text = format!("$ mattock {}\nexit code: {code}\n", arguments.join(" "));
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !bytes.is_empty() {
                text += &format!("----- {name}\n{}", String::from_utf8_lossy(bytes));
            }
        }
        text
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = Files::real().remove_dir_all(&self.path);
    }
}

/// Ctrl-C.
pub(crate) fn interrupt(child: &Child) {
    let kill = format!("kill -INT {}", child.id());
    let status = Command::new("sh").args(["-c", &kill]).status().expect("there is a shell");
    assert!(status.success(), "the child still runs, or waits to be asked how it ended");
}
