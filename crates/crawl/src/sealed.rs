//! Small files of the crawl's state: a line `TITLE VERSION CRC-32`, then JSON. People may look at them, and a changed byte shows.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::CheckpointProblem;

/// The file's bytes.
pub(crate) fn encode(title: &str, version: u32, value: &impl Serialize) -> Vec<u8> {
    let json = serde_json::to_string_pretty(value).expect("numbers and names always have a JSON form");
    format!("{title} {version} {:08x}\n{json}\n", crc32fast::hash(json.as_bytes())).into_bytes()
}

/// What was encoded.
pub(crate) fn decode<T: DeserializeOwned>(
    title: &str,
    version: u32,
    bytes: &[u8],
) -> Result<T, CheckpointProblem> {
    let text = std::str::from_utf8(bytes).map_err(|_| CheckpointProblem::Damaged)?;
    let (first, json) = text.split_once('\n').ok_or(CheckpointProblem::Damaged)?;
    let mut words = first.strip_prefix(title).ok_or(CheckpointProblem::Damaged)?.split_whitespace();
    let found: u32 = words.next().and_then(|word| word.parse().ok()).ok_or(CheckpointProblem::Damaged)?;
    if found != version {
        return Err(CheckpointProblem::Version(found));
    }
    let json = json.strip_suffix('\n').ok_or(CheckpointProblem::Damaged)?;
    if first != format!("{title} {version} {:08x}", crc32fast::hash(json.as_bytes())) {
        return Err(CheckpointProblem::Damaged);
    }
    serde_json::from_str(json).map_err(|_| CheckpointProblem::Damaged)
}
