//! Random graphs, and what can be said of them by trying everything.

use mattock_graph::{Adjacency, Csr};
use proptest::prelude::*;

/// Graphs of up to 40 nodes, from few to many links.
pub(crate) fn graphs() -> impl Strategy<Value = Csr> {
    (1_u32..40, 0_usize..160).prop_flat_map(|(nodes, arcs)| {
        proptest::collection::vec((0..nodes, 0..nodes), 0..=arcs).prop_map(move |pairs| {
            let mut lists = vec![Vec::new(); nodes as usize];
            pairs.into_iter().for_each(|(from, to)| lists[from as usize].push(to));
            for list in &mut lists {
                list.sort_unstable();
                list.dedup();
            }
            Csr::from_lists(&lists)
        })
    })
}

/// The distance from every node to every other; `None` where there is no way.
pub(crate) fn all_distances(graph: &Csr) -> Vec<Vec<Option<u32>>> {
    let nodes = graph.nodes();
    let mut found = vec![vec![None; nodes]; nodes];
    for (node, row) in found.iter_mut().enumerate() {
        graph.list(node as u32).iter().for_each(|target| row[*target as usize] = Some(1));
        row[node] = Some(0);
    }
    for middle in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                if let (Some(one), Some(two)) = (found[from][middle], found[middle][to])
                    && found[from][to].is_none_or(|known| one + two < known)
                {
                    found[from][to] = Some(one + two);
                }
            }
        }
    }
    found
}
