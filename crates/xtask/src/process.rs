//! Child processes: run to the end, or kept in the background and never left behind.

use std::cell::Cell;
use std::io::{BufRead, BufReader, IsTerminal};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// How often a child with a time limit is looked at.
const POLL: Duration = Duration::from_millis(20);

pub(crate) fn on_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

thread_local! {
    static AT_ONCE: Cell<bool> = const { Cell::new(false) };
}

/// From now on commands of this thread show what they print when they have ended, all at once: others print meanwhile.
pub(crate) fn print_at_once() {
    AT_ONCE.set(true);
}

/// Runs a command whose output goes where ours goes.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let cannot_start = |command: &Command| format!("cannot start `{}`", shown(command));
    if AT_ONCE.get() {
        let result = command.output().with_context(|| cannot_start(&command))?;
        let [stdout, stderr] = [&result.stdout, &result.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        eprint!("\n$ {}\n{stdout}{stderr}", shown(&command));
        return succeeded(&command, result.status);
    }
    eprintln!("$ {}", shown(&command));
    let status = command.status().with_context(|| cannot_start(&command))?;
    succeeded(&command, status)
}

/// Runs a command for what it prints on stdout; its stderr is shown only if it fails.
pub(crate) fn output(mut command: Command) -> Result<String> {
    let result = command.output().with_context(|| format!("cannot start `{}`", shown(&command)))?;
    if !result.status.success() {
        let complaint = String::from_utf8_lossy(&result.stderr);
        bail!("`{}` ended with {}\n{}", shown(&command), result.status, tail(&complaint));
    }
    String::from_utf8(result.stdout).with_context(|| format!("`{}` printed no UTF-8", shown(&command)))
}

/// Installs packages of Debian, where that can be done; whoever needs them looks whether they are there.
pub(crate) fn install(workspace: &Workspace, packages: &[&str]) {
    let install = [&["install", "-y", "--no-install-recommends"][..], packages].concat();
    // A machine that is new knows no packages yet.
    for arguments in [&["update"][..], &install] {
        let mut command = workspace.command("apt-get");
        command.args(arguments);
        let _ = output(command);
    }
}

/// Whether a command can be started and ends well; it prints nothing.
pub(crate) fn works(mut command: Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// The end of a long text: enough of a log to see what went wrong.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

/// A child in the background. It is killed when this goes out of scope, on whatever path.
pub(crate) struct Background {
    child: Child,
    shown: String,
}

impl Background {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let shown = shown(&command);
        eprintln!("$ {shown} &");
        let child = command.spawn().with_context(|| format!("cannot start `{shown}`"))?;
        Ok(Self { child, shown })
    }

    /// The first line of the child's stdout, which must be piped. What follows is read and dropped, so that the child
    /// never blocks on a full pipe.
    pub(crate) fn first_line(&mut self, limit: Duration) -> Result<String> {
        let stdout = self.child.stdout.take().context("the child's stdout is not piped")?;
        let (sender, receiver) = mpsc::channel();
        // Ends with the child, whose end closes the pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        match receiver.recv_timeout(limit) {
            Ok(line) => Ok(line),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                bail!("`{}` printed no line within {} s", self.shown, limit.as_secs())
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => bail!("`{}` ended without a line", self.shown),
        }
    }

    /// Waits for the child to end by itself; past the limit it is an error (and the child is killed by `drop`).
    pub(crate) fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if start.elapsed() > limit {
                bail!("`{}` did not end within {} s", self.shown, limit.as_secs());
            }
            std::thread::sleep(POLL);
        }
    }

    /// Ends the child as Ctrl-C would, so that it can write out what it holds.
    pub(crate) fn interrupt(self, limit: Duration) -> Result<()> {
        self.end("INT", limit)?;
        Ok(())
    }

    fn end(mut self, signal: &str, limit: Duration) -> Result<ExitStatus> {
        if self.child.try_wait()?.is_none() {
            let mut kill = Command::new("sh");
            kill.args(["-c", "kill -s \"$0\" \"$1\"", signal, &self.child.id().to_string()]);
            output(kill)?;
        }
        self.wait(limit).with_context(|| format!("it was sent SIG{signal}"))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Fails only if the child has already ended, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        command
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_failing_command_shows_its_complaint() {
        let error = output(shell("echo broken pipe dream >&2; exit 3")).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("broken pipe dream"), "{error}");
    }

    #[test]
    fn the_first_line_arrives_while_the_child_lives() {
        let mut child = Background::start(shell("echo ready; echo more; exec cat")).unwrap();
        assert_eq!(child.first_line(LONG).unwrap(), "ready");
    }

    #[test]
    fn a_child_that_ends_silently_is_an_error() {
        let mut child = Background::start(shell("exit 1")).unwrap();
        assert!(child.first_line(LONG).unwrap_err().to_string().contains("without a line"));
    }

    #[test]
    fn a_child_that_is_told_to_end_can_tidy_up() {
        // Not INT: whoever runs the tests may have it ignored, and a shell then cannot trap it.
        let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done";
        let mut child = Background::start(shell(script)).unwrap();
        child.first_line(LONG).unwrap();
        assert_eq!(child.end("TERM", LONG).unwrap().code(), Some(7));
    }

    #[test]
    fn dropping_kills() {
        let child = Background::start(shell("exec sleep 1000")).unwrap();
        let id = child.child.id();
        drop(child);
        let mut probe = Command::new("sh");
        probe.args(["-c", &format!("kill -0 {id}")]);
        assert!(!works(probe), "the child outlived its guard");
    }

    #[test]
    fn the_tail_is_the_end() {
        let text: String = (0..100).map(|number| format!("{number}\n")).collect();
        assert!(tail(&text).starts_with("70\n") && tail(&text).ends_with("99"));
    }
}
