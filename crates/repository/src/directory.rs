//! The directory of an archive: made durably, and the names of the files in it.

use std::io;
use std::path::Path;

use mattock_env::Files;

use crate::compression::SUFFIXES;

/// Makes a directory, and its name durable: what is synced in it would be lost with the name.
pub(crate) fn create_directory(files: &Files, directory: &Path) -> io::Result<()> {
    let mut missing = Vec::new();
    for ancestor in directory.ancestors().filter(|ancestor| !ancestor.as_os_str().is_empty()) {
        if files.entry(ancestor)?.is_some() {
            break;
        }
        missing.push(ancestor);
    }
    files.create_dir_all(directory)?;
    for made in missing.iter().rev() {
        let parent = made.parent().filter(|parent| !parent.as_os_str().is_empty());
        files.sync_dir(parent.unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

/// The digits and the serial in the name of a file with this prefix.
pub(crate) fn parse_name<'a>(name: &'a str, prefix: &str) -> Option<(&'a str, u64)> {
    let rest = name.strip_prefix(prefix)?.strip_prefix('-')?;
    let rest = SUFFIXES.iter().find_map(|suffix| rest.strip_suffix(suffix))?;
    let (digits, serial) = rest.split_once('-')?;
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.len() != 14 || !all_digits(digits) || !all_digits(serial) {
        return None;
    }
    Some((digits, serial.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_our_own_form_count() {
        assert_eq!(parse_name("a-20260102030405-00017.warc.gz", "a"), Some(("20260102030405", 17)));
        assert_eq!(parse_name("a-20260102030405-123456.warc.gz", "a"), Some(("20260102030405", 123_456)));
        assert_eq!(parse_name("a-20260102030405-00018.warc.zst", "a"), Some(("20260102030405", 18)));
        for name in [
            "b-20260102030405-00017.warc.gz",
            "a-2026010203040-00017.warc.gz",
            "a-20260102030405-+0017.warc.gz",
            "a-20260102030405-.warc.gz",
            "a-20260102030405-00017.warc",
            "a-b-20260102030405-00017.warc.gz",
        ] {
            assert_eq!(parse_name(name, "a"), None, "{name}");
        }
    }
}
