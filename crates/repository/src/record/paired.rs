#![expect(
    unsafe_code,
    reason = "the one call into code for processors that have SHA instructions, which was asked for first"
)]
//! Two SHA-1 at once: of a body, and of the head and the body behind it.
//!
//! A response carries both digests, and they are most of what storing it costs beside the compressor. One SHA-1 keeps a
//! processor's unit for it half busy, because each step waits for the one before; two that take turns keep it busy. So a page
//! costs little more than one digest of it. Without such a unit it costs two.

use super::Digest;

const BLOCK_BYTES: usize = 64;
const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The digest of `body`, and that of `head` and `body` one after the other.
pub(crate) fn digests(head: &[u8], body: &[u8]) -> [Digest; 2] {
    // Where the second stream's first whole block behind the head begins in the body.
    let shift = (BLOCK_BYTES - head.len() % BLOCK_BYTES) % BLOCK_BYTES;
    if !has_instructions() || body.len() < 4 * BLOCK_BYTES {
        return [Digest::of(&[body]), Digest::of(&[head, body])];
    }
    let mut second = head.to_vec();
    second.extend_from_slice(&body[..shift]);
    let mut states = [START, START];
    let [first, second_state] = &mut states;
    run_alone(second_state, second.as_chunks().0);
    let (first_blocks, first_rest) = body.as_chunks();
    let (second_blocks, second_rest) = body[shift..].as_chunks();
    let both = first_blocks.len().min(second_blocks.len());
    run([&mut *first, &mut *second_state], [&first_blocks[..both], &second_blocks[..both]]);
    run_alone(first, &first_blocks[both..]);
    finish(first, first_rest, body.len());
    finish(second_state, second_rest, head.len() + body.len());
    states.map(digest)
}

/// What lies behind the last whole block, and how long all of it is.
fn finish(state: &mut [u32; 5], rest: &[u8], bytes: usize) {
    let mut last = [0; 2 * BLOCK_BYTES];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let end = if rest.len() < BLOCK_BYTES - 8 { BLOCK_BYTES } else { 2 * BLOCK_BYTES };
    last[end - 8..end].copy_from_slice(&(bytes as u64 * 8).to_be_bytes());
    run_alone(state, last[..end].as_chunks().0);
}

fn digest(state: [u32; 5]) -> Digest {
    let mut bytes = [0; 20];
    for (out, word) in bytes.chunks_exact_mut(4).zip(state) {
        out.copy_from_slice(&word.to_be_bytes());
    }
    Digest(bytes)
}

#[cfg(target_arch = "x86_64")]
fn has_instructions() -> bool {
    std::arch::is_x86_feature_detected!("sha") && std::arch::is_x86_feature_detected!("sse4.1")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_instructions() -> bool {
    false
}

/// Takes blocks into one state.
fn run_alone(state: &mut [u32; 5], blocks: &[[u8; BLOCK_BYTES]]) {
    let mut unused = START;
    run([state, &mut unused], [blocks, blocks]);
}

/// Takes as many blocks into each state.
fn run(states: [&mut [u32; 5]; 2], blocks: [&[[u8; BLOCK_BYTES]]; 2]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `digests`, which alone comes here, has made sure that the processor has these instructions.
    unsafe {
        instructions::run(states, blocks);
    }
    #[cfg(not(target_arch = "x86_64"))]
    unreachable!("without the instructions nobody comes here: {states:?} {blocks:?}");
}

#[cfg(target_arch = "x86_64")]
mod instructions {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_extract_epi32, _mm_set_epi32, _mm_set_epi64x, _mm_sha1msg1_epu32,
        _mm_sha1msg2_epu32, _mm_sha1nexte_epu32, _mm_sha1rnds4_epu32, _mm_xor_si128,
    };

    use super::BLOCK_BYTES;

    /// Four words of a block, the first one highest, as the instructions want them.
    #[target_feature(enable = "sha,sse2,sse4.1")]
    #[inline]
    fn words(block: &[u8; BLOCK_BYTES], quarter: usize) -> __m128i {
        let half = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&block[at..at + 8]);
            i64::from_be_bytes(bytes)
        };
        _mm_set_epi64x(half(quarter * 16), half(quarter * 16 + 8))
    }

    #[target_feature(enable = "sha,sse2,sse4.1")]
    pub(super) fn run(states: [&mut [u32; 5]; 2], blocks: [&[[u8; BLOCK_BYTES]]; 2]) {
        let four = |[a, b, c, d, _]: [u32; 5]| _mm_set_epi32(a as i32, b as i32, c as i32, d as i32);
        let fifth = |state: &[u32; 5]| _mm_set_epi32(state[4] as i32, 0, 0, 0);
        let mut abcd = [four(*states[0]), four(*states[1])];
        let mut e = [fifth(states[0]), fifth(states[1])];
        for (one, two) in blocks[0].iter().zip(blocks[1]) {
            step(&mut abcd, &mut e, [one, two]);
        }
        for (lane, state) in states.into_iter().enumerate() {
            *state = [
                _mm_extract_epi32::<3>(abcd[lane]) as u32,
                _mm_extract_epi32::<2>(abcd[lane]) as u32,
                _mm_extract_epi32::<1>(abcd[lane]) as u32,
                _mm_extract_epi32::<0>(abcd[lane]) as u32,
                _mm_extract_epi32::<3>(e[lane]) as u32,
            ];
        }
    }

    #[target_feature(enable = "sha,sse2,sse4.1")]
    #[inline]
    fn step(abcd: &mut [__m128i; 2], e: &mut [__m128i; 2], blocks: [&[u8; BLOCK_BYTES]; 2]) {
        let before = *abcd;
        // The state of four rounds ago, out of which the next `e` comes.
        let mut older = before;
        let mut schedule = [
            [words(blocks[0], 0), words(blocks[0], 1), words(blocks[0], 2), words(blocks[0], 3)],
            [words(blocks[1], 0), words(blocks[1], 1), words(blocks[1], 2), words(blocks[1], 3)],
        ];
        // Four rounds of both lanes.
        macro_rules! rounds {
            ($group:expr, $function:expr) => {
                for lane in 0..2 {
                    let w = &mut schedule[lane];
                    let now = $group % 4;
                    if $group >= 4 {
                        let mixed =
                            _mm_xor_si128(_mm_sha1msg1_epu32(w[now], w[(now + 1) % 4]), w[(now + 2) % 4]);
                        w[now] = _mm_sha1msg2_epu32(mixed, w[(now + 3) % 4]);
                    }
                    let next = if $group == 0 {
                        _mm_add_epi32(e[lane], w[now])
                    } else {
                        _mm_sha1nexte_epu32(older[lane], w[now])
                    };
                    older[lane] = abcd[lane];
                    abcd[lane] = _mm_sha1rnds4_epu32::<$function>(abcd[lane], next);
                }
            };
        }
        // Twenty times four rounds, with another function after every five.
        macro_rules! five {
            ($first:expr, $function:expr) => {
                rounds!($first, $function);
                rounds!($first + 1, $function);
                rounds!($first + 2, $function);
                rounds!($first + 3, $function);
                rounds!($first + 4, $function);
            };
        }
        five!(0, 0);
        five!(5, 1);
        five!(10, 2);
        five!(15, 3);
        for lane in 0..2 {
            e[lane] = _mm_sha1nexte_epu32(older[lane], e[lane]);
            abcd[lane] = _mm_add_epi32(abcd[lane], before[lane]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_what_each_alone_is() {
        let bytes: Vec<u8> =
            (0..3000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for head_bytes in (0..200).chain([1000]) {
            for body_bytes in (0..1000).step_by(7).chain([255, 256, 257, 319, 320, 321, 2000]) {
                let (head, body) = (&bytes[..head_bytes], &bytes[1000..1000 + body_bytes]);
                let expected = [Digest::of(&[body]), Digest::of(&[head, body])];
                assert_eq!(digests(head, body), expected, "{head_bytes} and {body_bytes} bytes");
            }
        }
    }
}
