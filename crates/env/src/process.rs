//! What the machine says of this process, and other programs that it starts.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// As much of what a program says as is kept.
const OUTPUT_BYTES_MAX: u64 = 4 << 10;
/// How often a program that was started is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Looks for what a command has said, once it has ended.
const LOOKS_AFTER: u32 = 50;

/// Resident memory of this process in bytes, now; `None` where the platform does not say.
pub fn resident_bytes() -> Option<u64> {
    memory_line("VmRSS:")
}

/// Peak resident memory of this process in bytes; `None` where the platform does not say.
pub fn peak_resident_bytes() -> Option<u64> {
    memory_line("VmHWM:")
}

fn memory_line(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; `None` if a signal ended it, or its time was up.
    pub code: Option<i32>,
    /// The beginning of what it said on stdout and stderr.
    pub output: String,
}

/// Has the shell run a command, on a thread of its own, with these variables beside those of this process. After `limit` it is ended.
pub async fn run_command(
    command: String,
    variables: Vec<(String, String)>,
    limit: Duration,
) -> io::Result<Ran> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::Builder::new().name("command".to_owned()).spawn(move || {
        // Whoever asked may have gone away meanwhile.
        let _ = sender.send(run_here(&command, variables, limit));
    })?;
    receiver.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
}

fn run_here(command: &str, variables: Vec<(String, String)>, limit: Duration) -> io::Result<Ran> {
    let (mut output, end) = io::pipe()?;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).envs(variables);
    shell.stdin(Stdio::null()).stdout(end.try_clone()?).stderr(end);
    let mut child = shell.spawn()?;
    // Else the pipe would not end before we do.
    drop(shell);
    let reader = std::thread::Builder::new().name("command".to_owned()).spawn(move || {
        let mut kept = Vec::new();
        let _ = output.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut kept);
        let _ = io::copy(&mut output, &mut io::sink());
        kept
    })?;
    let ended = wait(&mut child, limit)?;
    // What it has started itself may hold the pipe for longer, and nobody waits for that.
    for _ in 0..LOOKS_AFTER {
        if reader.is_finished() {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let kept = if reader.is_finished() { reader.join().unwrap_or_default() } else { Vec::new() };
    Ok(Ran { code: ended.flatten(), output: String::from_utf8_lossy(&kept).trim_end().to_owned() })
}

/// The exit code, or `None` if the time was up.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<Option<i32>>> {
    let begun = std::time::Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code()));
        }
        if begun.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_its_variables_and_what_it_says_is_heard() {
        let run = |command: &str, limit| {
            let variables = vec![("MATTOCK_TEXT".to_owned(), "it's \"full\"".to_owned())];
            crate::run(run_command(command.to_owned(), variables, limit)).unwrap()
        };
        let minute = Duration::from_secs(60);
        let ran = run("echo \"$MATTOCK_TEXT\"; echo more >&2; exit 3", minute);
        assert_eq!(ran, Ran { code: Some(3), output: "it's \"full\"\nmore".to_owned() });
        assert_eq!(run("head -c 100000 /dev/zero | tr '\\0' x", minute).output.len(), 4096);
        assert_eq!(run("exec sleep 600", Duration::ZERO).code, None);
    }

    #[test]
    fn the_machine_knows_how_much_memory_there_is() {
        assert!(resident_bytes().unwrap() > 1 << 16);
        assert!(peak_resident_bytes().unwrap() >= resident_bytes().unwrap() / 2);
    }
}
