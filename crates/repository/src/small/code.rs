//! Prefix codes out of counts: Huffman's, with a limit on their length.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The length of each symbol's code, 0 where the count is 0, none longer than `limit`. At least two symbols have counts.
pub(super) fn lengths(counts: &[u32], limit: u8) -> Vec<u8> {
    let mut counts = counts.to_vec();
    loop {
        let lengths = unlimited(&counts);
        if lengths.iter().all(|length| *length <= limit) {
            return lengths;
        }
        // What is rare becomes less so.
        counts.iter_mut().filter(|count| **count > 0).for_each(|count| *count = *count / 2 + 1);
    }
}

fn unlimited(counts: &[u32]) -> Vec<u8> {
    // Leaves first, then what two nodes are joined in; a node's parent.
    let mut parents = vec![0; counts.len()];
    let leaves = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut heap: BinaryHeap<_> = leaves.map(|(symbol, count)| Reverse((*count, symbol))).collect();
    while let (Some(Reverse((a, left))), Some(Reverse((b, right)))) = (heap.pop(), heap.pop()) {
        let joined = parents.len();
        parents.push(0);
        (parents[left], parents[right]) = (joined, joined);
        if heap.is_empty() {
            break;
        }
        heap.push(Reverse((a + b, joined)));
    }
    let mut depths = vec![0_u8; parents.len()];
    for node in (0..parents.len() - 1).rev() {
        if parents[node] > 0 {
            depths[node] = depths[parents[node]] + 1;
        }
    }
    depths.truncate(counts.len());
    depths
}
