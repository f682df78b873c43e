//! What `--help` says, command by command.

use crate::process::Scratch;

/// All commands, depth first, as they are typed; the empty one is `mattock` itself.
pub(crate) fn commands(scratch: &Scratch) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut waiting = vec![Vec::new()];
    while let Some(command) = waiting.pop() {
        let help = text(scratch, &command);
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let names = listed.take_while(|line| line.starts_with("  ")).filter_map(|line| {
            let name = line.strip_prefix("  ")?.split(' ').next()?;
            (!name.is_empty() && name != "help").then(|| name.to_owned())
        });
        let below: Vec<Vec<String>> =
            names.map(|name| command.iter().cloned().chain([name]).collect()).collect();
        waiting.extend(below.into_iter().rev());
        found.push(command);
    }
    found
}

/// What `--help` prints for a command.
pub(crate) fn text(scratch: &Scratch, command: &[String]) -> String {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("--help");
    let output = scratch.mattock(&arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("help is text");
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn every_command_explains_itself() {
    let scratch = Scratch::new("help");
    let commands = commands(&scratch);
    assert!(commands.len() > 8, "{commands:?}");
    for command in commands {
        let name = format!("help {}", command.join(" ")).trim().replace(' ', "_");
        insta::assert_snapshot!(name, text(&scratch, &command));
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let output = Scratch::new("version").mattock(&["--version"]);
    let expected = concat!("mattock ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
