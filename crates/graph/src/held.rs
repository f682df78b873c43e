//! A graph in memory in the form that memory allows, and how much that is.
//!
//! Lists ([`Csr`]) are several times as fast; coded links ([`Links`]) are a tenth as large. Whoever has opened nothing yet asks
//! [`form_within`], with the sizes that the manifest knows and with what the algorithm itself keeps for each node; if not even coded links
//! fit, there is an error that says how much would do.
//!
//! What is counted: the graph in both directions if both are wanted, what reading a file takes beside it for a while, and the vectors of
//! the algorithm. It is an estimate, good to some per cent.

use std::ops::Range;

use mattock_features::{LinkSize, Links, Successors};

use crate::adjacency::{Adjacency, Csr};

/// How a graph is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Every target as a number of its own.
    Lists,
    /// As in the link database.
    Coded,
}

/// Why a graph, or what pages say, cannot be worked on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// There is not enough memory.
    #[error(
        "{nodes} nodes and {arcs} links need about {} MiB of memory here, and {} MiB are allowed; say --memory {}MiB",
        .needed.div_ceil(1 << 20), .memory >> 20, .needed.div_ceil(1 << 20)
    )]
    Memory {
        /// Nodes.
        nodes: u64,
        /// Links.
        arcs: u64,
        /// Bytes that would do.
        needed: u64,
        /// Bytes that are allowed.
        memory: u64,
    },
    /// There is not enough memory for sums over a vocabulary.
    #[error(
        "{terms} terms need about {} MiB of memory here, and {} MiB are allowed; say --memory {}MiB",
        .needed.div_ceil(1 << 20), .memory >> 20, .needed.div_ceil(1 << 20)
    )]
    Terms {
        /// Terms.
        terms: u64,
        /// Bytes that would do.
        needed: u64,
        /// Bytes that are allowed.
        memory: u64,
    },
    /// There are more nodes than numbers for them.
    #[error("{nodes} nodes are too many: algorithms take up to {max}; choose a coarser grain", max = u32::MAX)]
    Nodes {
        /// Nodes.
        nodes: u64,
    },
}

fn coded_bytes(size: &LinkSize) -> u64 {
    size.bits / 8 + size.nodes * 2
}

/// What is in memory beside a graph while it is opened: where its lists begin, as the file has it.
fn opening_bytes(size: &LinkSize) -> u64 {
    size.nodes * 2
}

/// Bytes of graphs that stay coded.
pub(crate) fn bytes_coded(sizes: &[LinkSize]) -> u64 {
    sizes.iter().map(coded_bytes).sum::<u64>() + sizes.iter().map(opening_bytes).max().unwrap_or(0)
}

/// Bytes of graphs that become lists. While one does so, it is in memory coded too.
fn bytes_listed(sizes: &[LinkSize]) -> u64 {
    sizes.iter().map(|size| Csr::bytes_for(size.nodes, size.arcs)).sum::<u64>()
        + sizes.iter().map(|size| coded_bytes(size) + opening_bytes(size)).max().unwrap_or(0)
}

/// Bytes that an algorithm keeps for each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeBytes {
    /// Beside lists.
    pub lists: u64,
    /// Beside coded links.
    pub coded: u64,
}

impl NodeBytes {
    /// As many in either case.
    pub const fn both(bytes: u64) -> NodeBytes {
        NodeBytes { lists: bytes, coded: bytes }
    }
}

/// The form in which graphs of these sizes are held within so many bytes, beside an algorithm.
pub fn form_within(sizes: &[LinkSize], node_bytes: NodeBytes, memory: u64) -> Result<Form, GraphError> {
    let nodes = sizes.iter().map(|size| size.nodes).max().unwrap_or(0);
    if nodes > u64::from(u32::MAX) {
        return Err(GraphError::Nodes { nodes });
    }
    if bytes_listed(sizes) + nodes * node_bytes.lists <= memory {
        return Ok(Form::Lists);
    }
    coded_within(sizes, node_bytes.coded, memory).map(|()| Form::Coded)
}

/// Whether coded links of these sizes fit into so many bytes, beside an algorithm that keeps some for each node.
pub fn coded_within(sizes: &[LinkSize], node_bytes: u64, memory: u64) -> Result<(), GraphError> {
    let nodes = sizes.iter().map(|size| size.nodes).max().unwrap_or(0);
    if nodes > u64::from(u32::MAX) {
        return Err(GraphError::Nodes { nodes });
    }
    let needed = bytes_coded(sizes) + nodes * node_bytes;
    if needed > memory {
        let arcs = sizes.iter().map(|size| size.arcs).max().unwrap_or(0);
        return Err(GraphError::Memory { nodes, arcs, needed, memory });
    }
    Ok(())
}

/// A graph in one of the two forms.
#[derive(Debug)]
pub enum Held {
    /// Every target as a number of its own.
    Lists(Csr),
    /// As in the link database.
    Coded(Links),
}

impl Held {
    /// Takes links as they are, or makes lists of them.
    pub fn new(links: Links, form: Form) -> Held {
        match form {
            Form::Lists => Held::Lists(Csr::load(&links)),
            Form::Coded => Held::Coded(links),
        }
    }
}

/// The targets of one node of a graph that is [`Held`].
pub enum HeldSuccessors<'a> {
    /// From a list.
    Lists(std::iter::Copied<std::slice::Iter<'a, u32>>),
    /// From coded links.
    Coded(Successors<'a>),
}

impl std::fmt::Debug for HeldSuccessors<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            HeldSuccessors::Lists(_) => "targets of a list",
            HeldSuccessors::Coded(_) => "coded targets",
        })
    }
}

impl Iterator for HeldSuccessors<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            HeldSuccessors::Lists(list) => list.next(),
            HeldSuccessors::Coded(list) => list.next().map(|target| target as u32),
        }
    }
}

/// Algorithms that go from list to list are faster on what is inside; those that go over ranges are not.
impl Adjacency for Held {
    type Successors<'a> = HeldSuccessors<'a>;

    fn nodes(&self) -> usize {
        match self {
            Held::Lists(graph) => graph.nodes(),
            Held::Coded(links) => Adjacency::nodes(links),
        }
    }

    fn arcs(&self) -> u64 {
        match self {
            Held::Lists(graph) => graph.arcs(),
            Held::Coded(links) => links.arcs(),
        }
    }

    fn successors(&self, node: u32) -> HeldSuccessors<'_> {
        match self {
            Held::Lists(graph) => HeldSuccessors::Lists(graph.successors(node)),
            Held::Coded(links) => HeldSuccessors::Coded(links.successors(u64::from(node))),
        }
    }

    fn degree(&self, node: u32) -> usize {
        match self {
            Held::Lists(graph) => graph.degree(node),
            Held::Coded(links) => Adjacency::degree(links, node),
        }
    }

    fn scan(&self, nodes: Range<usize>, visit: impl FnMut(u32, &[u32])) {
        match self {
            Held::Lists(graph) => graph.scan(nodes, visit),
            Held::Coded(links) => Adjacency::scan(links, nodes, visit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_decides_the_form() {
        // 1000 bytes of lists' code, 200 of places, and as many while it is opened; as lists 800 and 8000.
        let size = LinkSize { nodes: 100, arcs: 2000, bits: 8000 };
        let (ten, all) = (NodeBytes::both(10), 800 + 8000 + 1200 + 200 + 1000);
        assert_eq!(form_within(&[size], ten, 1 << 20), Ok(Form::Lists));
        assert_eq!(form_within(&[size], ten, all), Ok(Form::Lists));
        assert_eq!(form_within(&[size], ten, all - 1), Ok(Form::Coded));
        assert_eq!(form_within(&[size; 2], ten, all), Ok(Form::Coded));
        assert_eq!(form_within(&[size], ten, 1200 + 200 + 1000), Ok(Form::Coded));
        assert!(form_within(&[size], NodeBytes { lists: 10, coded: 11 }, 2400).is_err());
        let error = form_within(&[size], ten, 2399).unwrap_err();
        assert_eq!(error, GraphError::Memory { nodes: 100, arcs: 2000, needed: 2400, memory: 2399 });
        assert!(error.to_string().ends_with("say --memory 1MiB"), "{error}");
        let many = LinkSize { nodes: 1 << 32, arcs: 1, bits: 1 };
        assert!(coded_within(&[many], 0, u64::MAX).unwrap_err().to_string().contains("coarser grain"));
        assert_eq!(form_within(&[], NodeBytes::both(8), 0), Ok(Form::Lists));
    }
}
