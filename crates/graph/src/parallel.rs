//! Work on pieces, by several threads, with the same result for any number of them.
//!
//! Pieces have a fixed size and are taken in turn by whoever is free; what each gives is put back into the order of the pieces. Sums over
//! them are therefore added up in one order, and floating point numbers come out bit by bit alike.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// Told after each round of an algorithm: the number of rounds so far, and what the last one came to. Says whether to go on.
pub type Watch<'a> = &'a mut dyn FnMut(usize, f64) -> ControlFlow<()>;

/// Lets `work` fill the pieces of a slice; what it gave for each, in order. The first argument is where the piece begins.
pub(crate) fn fill<V: Send, T: Send>(
    threads: usize,
    values: &mut [V],
    piece: usize,
    work: impl Fn(usize, &mut [V]) -> T + Sync,
) -> Vec<T> {
    let pieces = values.len().div_ceil(piece);
    if threads <= 1 || pieces <= 1 {
        return values.chunks_mut(piece).enumerate().map(|(index, part)| work(index * piece, part)).collect();
    }
    let queue = Mutex::new(values.chunks_mut(piece).enumerate());
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut done = Vec::new();
        while let Some((index, part)) = take() {
            done.push((index, work(index * piece, part)));
        }
        done
    };
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(pieces)).map(|_| scope.spawn(run)).collect();
        let mut results = run();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Threads that the machine can run at once.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_in_order() {
        for threads in [1, 2, 7] {
            let mut values = vec![0; 1000];
            let sums = fill(threads, &mut values, 64, |start, part| {
                part.iter_mut().enumerate().for_each(|(at, value)| *value = start + at);
                part.iter().sum::<usize>()
            });
            assert!(values.iter().copied().eq(0..1000));
            assert_eq!((sums.len(), sums[0], sums.iter().sum::<usize>()), (16, 63 * 32, 999 * 500));
        }
        assert!(fill(4, &mut Vec::<u8>::new(), 64, |_, _| ()).is_empty());
    }
}
