//! Runs a check over its seeds, and over some thousand damaged ones: what a fuzzer does first, in an ordinary test.

use std::path::Path;

use mattock_env::Random;

/// Damaged seeds of each target; `MATTOCK_DAMAGED_SEEDS` says more.
const DAMAGED: u64 = 300;

#[expect(clippy::disallowed_methods, reason = "the seeds are real files of this repository")]
pub(crate) fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds")).join(target);
    let mut seeds: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    seeds.sort();
    assert!(seeds.len() >= 3, "the seeds of {target} are not whole");
    let read =
        |seed: &Path| std::fs::read(seed).unwrap_or_else(|error| panic!("{}: {error}", seed.display()));
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|seed| read(seed)).collect();
    seeds.iter().for_each(|seed| check(seed));
    let wanted = std::env::var("MATTOCK_DAMAGED_SEEDS").ok().and_then(|text| text.parse().ok());
    for number in 0..wanted.unwrap_or(DAMAGED) {
        let mut random = Random::from_seed(number).fork(target);
        let mut bytes = seeds[random.below(seeds.len() as u64) as usize].clone();
        for _ in 0..=random.below(3) {
            damage(&mut random, &mut bytes);
        }
        let told = std::panic::catch_unwind(|| check(&bytes));
        assert!(told.is_ok(), "damaged seed {number} of {target}");
    }
}

/// Changes a few bytes somewhere.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    const LENGTHS: [u64; 6] = [0, 1 << 63, u64::MAX, u32::MAX as u64, i32::MAX as u64, 1 << 40];
    if bytes.is_empty() {
        bytes.push(0);
    }
    let at = random.below(bytes.len() as u64) as usize;
    let length = LENGTHS[random.below(LENGTHS.len() as u64) as usize];
    match random.below(7) {
        0 | 1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes.truncate(at),
        3 => bytes[at] = random.below(256) as u8,
        4 => {
            let end = bytes.len().min(at + 8);
            bytes[at..end].copy_from_slice(&length.to_le_bytes()[..end - at]);
        }
        5 => {
            let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let text = if digits > 0 { length.to_string().into_bytes() } else { vec![0xff; 9] };
            bytes.splice(at..at + digits, text);
        }
        _ => {
            let count = (1 + random.below(64) as usize).min(bytes.len() - at);
            let piece = bytes[at..at + count].to_vec();
            let to = random.below(bytes.len() as u64) as usize;
            bytes.splice(to..to, piece);
        }
    }
}
