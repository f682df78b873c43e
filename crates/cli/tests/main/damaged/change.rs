//! Damage, by chance and on purpose: bits, cuts, lengths; with checksums that are wrong then, or made right again.

use std::path::Path;

use mattock_codec::{BlockSummer, seal};
use mattock_env::{Files, Random};

use super::site::Kind;

/// Lengths that nobody has.
const LENGTHS: [u64; 5] = [1 << 63, u64::MAX, u32::MAX as u64, 1 << 31, 1 << 40];

/// Something that was done to a file.
#[derive(Debug)]
pub(super) struct Change {
    /// What was done.
    pub(super) what: String,
    /// Whether checksums were made right again: what is read then is what somebody wrote so.
    pub(super) forged: bool,
}

/// Damages the file `name` of a repository.
pub(super) fn change(random: &mut Random, root: &Path, kind: Kind, name: &str) -> Change {
    let files = Files::real();
    let path = root.join(name);
    let mut bytes = files.read(&path).expect("the file is there");
    if bytes.is_empty() {
        bytes = vec![random.below(256) as u8];
        files.write_atomic(&path, &bytes).expect("it can be written");
        return Change { what: "filled".into(), forged: false };
    }
    let forged = random.below(3) == 0 && can_forge(kind, name);
    let before = bytes.clone();
    let mut what = match forged {
        true => forge(random, kind, &mut bytes),
        false => damage(random, &mut bytes),
    };
    if bytes == before {
        bytes[0] ^= 1;
        what += ", and the first bit";
    }
    files.write_atomic(&path, &bytes).expect("it can be written");
    if forged {
        what += &made_right(root, kind, name, bytes);
    }
    Change { what, forged }
}

/// Changes bytes and leaves checksums as they are.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) -> String {
    let length = bytes.len() as u64;
    match random.below(8) {
        0..=2 => {
            let at = place(random, length);
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        }
        3 => {
            let at = place(random, length);
            bytes.truncate(at);
            format!("cut at {at}")
        }
        4 => {
            let borders =
                [0, 1, 4, 8, 12, length / 2, length.saturating_sub(8), length.saturating_sub(4), length - 1];
            let at = borders[random.below(borders.len() as u64) as usize].min(length - 1);
            bytes.truncate(at as usize);
            format!("cut at the border {at}")
        }
        5 => {
            let (at, count) = (place(random, length), 1 + random.below(600) as usize);
            let end = (at + count).min(bytes.len());
            bytes[at..end].fill(0);
            format!("zeros from {at} to {end}")
        }
        6 => {
            let at = place(random, length);
            let moved = bytes.split_off(at);
            bytes.extend_from_slice(&[0; 3]);
            bytes.extend_from_slice(&moved);
            format!("three bytes more at {at}")
        }
        _ => lengthen(random, bytes, 0..length),
    }
}

/// A place in a file: anywhere, or at one of its ends, where most of the structure is.
fn place(random: &mut Random, length: u64) -> usize {
    let within = 120.min(length);
    (match random.below(4) {
        0 => random.below(within),
        1 => length - 1 - random.below(within),
        _ => random.below(length),
    }) as usize
}

/// Puts a length that nobody has where one may stand: in as few bytes as it needs, in four or eight of them, or in digits.
fn lengthen(random: &mut Random, bytes: &mut Vec<u8>, within: std::ops::Range<u64>) -> String {
    let at = (within.start + place(random, within.end - within.start) as u64) as usize;
    let value = LENGTHS[random.below(LENGTHS.len() as u64) as usize];
    let digits = bytes[at..].iter().position(u8::is_ascii_digit).map(|from| at + from);
    if let (Some(from), Ok(_)) = (digits, std::str::from_utf8(bytes)) {
        let count = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        bytes.splice(from..from + count, value.to_string().into_bytes());
        return format!("{value} in digits at {from}");
    }
    match random.below(3) {
        0 => {
            let mut number = Vec::new();
            mattock_codec::put_varint(&mut number, value);
            bytes.splice(at..=at, number);
            format!("{value} in a few bytes at {at}")
        }
        width => {
            let number = value.to_le_bytes();
            let count = (4 * width as usize).min(bytes.len() - at);
            bytes[at..at + count].copy_from_slice(&number[..count]);
            format!("{value} in {count} bytes at {at}")
        }
    }
}

/// Whether this test knows how to make checksums right.
fn can_forge(kind: Kind, name: &str) -> bool {
    match kind {
        Kind::Part | Kind::Index | Kind::Checkpoint => true,
        Kind::Kept => name.ends_with(".parquet"),
        Kind::Drum | Kind::Queue => name.contains("MANIFEST-"),
        Kind::Ledger | Kind::State | Kind::Features | Kind::ByUrl => false,
    }
}

/// Changes what checksums are of, so that the file could have been written so.
fn forge(random: &mut Random, kind: Kind, bytes: &mut Vec<u8>) -> String {
    let length = bytes.len() as u64;
    match kind {
        // Behind the line with the checksum.
        Kind::Index | Kind::Checkpoint => {
            let line = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at as u64 + 1);
            lengthen(random, bytes, line.min(length - 1)..length)
        }
        Kind::Part | Kind::Kept if length > 100 => {
            let footer =
                u64::from(u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().expect("four bytes")));
            let start = length.saturating_sub(8 + footer);
            match random.below(3) {
                0 => damage(random, bytes),
                1 => {
                    let at = (start + random.below(footer.max(1))) as usize;
                    bytes[at.min(length as usize - 9)] ^= 1 << random.below(8);
                    format!("a bit of the footer at {at}")
                }
                _ => {
                    let what = lengthen(random, bytes, start..length - 8);
                    // The footer has become longer.
                    let (grown, end) = (bytes.len() as u64 - length + footer, bytes.len());
                    bytes[end - 8..end - 4].copy_from_slice(&(grown as u32).to_le_bytes());
                    format!("{what}, in the footer")
                }
            }
        }
        _ => {
            bytes.truncate(bytes.len() - 4);
            let end = bytes.len() as u64;
            let what = lengthen(random, bytes, 8.min(end - 1)..end);
            bytes.extend_from_slice(&[0; 4]);
            what
        }
    }
}

/// Makes checksums right that are of a file.
fn made_right(root: &Path, kind: Kind, name: &str, mut bytes: Vec<u8>) -> String {
    let (files, path) = (Files::real(), root.join(name));
    match kind {
        Kind::Index | Kind::Checkpoint => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((line, rest)) = text.split_once('\n') else { return String::new() };
            let begin = line.rsplit_once(' ').map_or(line, |(begin, _)| begin);
            let summed = rest.strip_suffix('\n').unwrap_or(rest);
            let forged = format!("{begin} {:08x}\n{rest}", crc32fast::hash(summed.as_bytes()));
            files.write_atomic(&path, forged.as_bytes()).expect("it can be written");
            for copy in
                ["state/CHECKPOINT", "state/CHECKPOINT.copy"].iter().filter(|_| kind == Kind::Checkpoint)
            {
                files.write_atomic(&root.join(copy), forged.as_bytes()).expect("it can be written");
            }
        }
        Kind::Part => listed(root, name, &bytes),
        Kind::Kept => {
            let directory = path.parent().expect("it is in a directory");
            let file = name.rsplit('/').next().expect("it has a name");
            let number = file.split('-').nth(1).expect("it has a number");
            let now = directory.join(format!("part-{number}-{:08x}.parquet", crc32fast::hash(&bytes)));
            files.rename(&path, &now).expect("it can be renamed");
            let mut blocks = BlockSummer::default();
            blocks.update(&bytes);
            let _ = files.remove_file(&path.with_extension("sums"));
            files
                .write_atomic(&now.with_extension("sums"), blocks.finish().to_text().as_bytes())
                .expect("it can be written");
        }
        _ => {
            let number =
                name.rsplit('-').next().and_then(|number| number.trim_end_matches(".copy").parse().ok());
            bytes.truncate(bytes.len() - 4);
            seal(&mut bytes, number.unwrap_or(0));
            for copy in ["", ".copy"] {
                let path = root.join(format!("{}{copy}", name.trim_end_matches(".copy")));
                files.write_atomic(&path, &bytes).expect("it can be written");
            }
        }
    }
    ", and its checksum".to_owned()
}

/// Puts length and checksums of a part into the list.
fn listed(root: &Path, name: &str, bytes: &[u8]) {
    let (files, path) = (Files::real(), root.join("index/INDEX"));
    let text = String::from_utf8(files.read(&path).expect("there is a list")).expect("it is text");
    let (line, json) = text.split_once('\n').expect("it has two parts");
    let mut list: serde_json::Value = serde_json::from_str(json).expect("it is JSON");
    let mut blocks = BlockSummer::default();
    blocks.update(bytes);
    for part in list["parts"].as_array_mut().expect("there are parts") {
        if name.ends_with(part["file"].as_str().expect("it has a name")) {
            part["bytes"] = (bytes.len() as u64).into();
            part["sum"] = crc32fast::hash(bytes).into();
            part["blocks"] = blocks.clone().finish().to_text().into();
        }
    }
    let json = serde_json::to_string_pretty(&list).expect("it is JSON");
    let begin = line.rsplit_once(' ').map_or(line, |(begin, _)| begin);
    let forged = format!("{begin} {:08x}\n{json}\n", crc32fast::hash(json.as_bytes()));
    files.write_atomic(&path, forged.as_bytes()).expect("it can be written");
}
