//! What algorithms ask of a graph, and a graph in memory that answers fast.
//!
//! [`Adjacency`] is answered by the link database itself ([`Links`], 3 to 4 bits a link, 8 to 30 ns each) and by [`Csr`], which has every
//! target as a number of its own: 4 bytes a link, 8 bytes a node, and one nanosecond a link. An algorithm that goes over the links
//! more than once runs several times as fast on a [`Csr`]; filling one costs as much as going over the links once.
//!
//! Nodes are 32 bits wide here: up to four billion.

use std::ops::Range;

use mattock_features::Links;

/// A directed graph with numbered nodes.
pub trait Adjacency: Sync {
    /// The targets of one node.
    type Successors<'a>: Iterator<Item = u32>
    where
        Self: 'a;

    /// How many nodes there are.
    fn nodes(&self) -> usize;

    /// How many links there are.
    fn arcs(&self) -> u64;

    /// The targets of a node, sorted, each once.
    fn successors(&self, node: u32) -> Self::Successors<'_>;

    /// How many targets a node has.
    fn degree(&self, node: u32) -> usize;

    /// Visits the lists of a range of nodes in order.
    fn scan(&self, nodes: Range<usize>, visit: impl FnMut(u32, &[u32]));
}

impl Adjacency for Links {
    type Successors<'a> = std::iter::Map<mattock_features::Successors<'a>, fn(usize) -> u32>;

    fn nodes(&self) -> usize {
        assert!(self.nodes() <= u64::from(u32::MAX), "nodes are 32 bits wide");
        self.nodes() as usize
    }

    fn arcs(&self) -> u64 {
        self.arcs()
    }

    fn successors(&self, node: u32) -> Self::Successors<'_> {
        self.successors(u64::from(node)).map(|target| target as u32)
    }

    fn degree(&self, node: u32) -> usize {
        self.degree(u64::from(node)) as usize
    }

    fn scan(&self, nodes: Range<usize>, mut visit: impl FnMut(u32, &[u32])) {
        let mut list = Vec::new();
        let mut scan = self.scan(nodes.start as u64..nodes.end as u64);
        while let Some((node, targets)) = scan.next() {
            list.clear();
            list.extend(targets.iter().map(|target| *target as u32));
            visit(node as u32, &list);
        }
    }
}

/// A graph in memory: all targets in one row, and where each list begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    begins: Vec<u64>,
    targets: Vec<u32>,
}

impl Csr {
    /// Takes a graph into memory.
    pub fn load(graph: &impl Adjacency) -> Csr {
        let nodes = graph.nodes();
        let mut csr =
            Csr { begins: Vec::with_capacity(nodes + 1), targets: Vec::with_capacity(graph.arcs() as usize) };
        csr.begins.push(0);
        graph.scan(0..nodes, |_, targets| csr.push(targets));
        csr
    }

    /// Of lists, each of which must be sorted.
    pub fn from_lists(lists: &[Vec<u32>]) -> Csr {
        let mut csr = Csr { begins: vec![0], targets: Vec::new() };
        lists.iter().for_each(|list| csr.push(list));
        csr
    }

    fn push(&mut self, targets: &[u32]) {
        self.targets.extend_from_slice(targets);
        self.begins.push(self.targets.len() as u64);
    }

    /// The targets of a node.
    #[inline]
    pub fn list(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.targets[self.begins[node] as usize..self.begins[node + 1] as usize]
    }

    /// The same links, turned round.
    pub fn transposed(&self) -> Csr {
        let mut begins = vec![0_u64; self.nodes() + 1];
        self.targets.iter().for_each(|target| begins[*target as usize + 1] += 1);
        for node in 0..self.nodes() {
            begins[node + 1] += begins[node];
        }
        let mut places = begins.clone();
        let mut targets = vec![0; self.targets.len()];
        for node in 0..self.nodes() as u32 {
            for target in self.list(node) {
                let place = &mut places[*target as usize];
                targets[*place as usize] = node;
                *place += 1;
            }
        }
        Csr { begins, targets }
    }

    /// Links in either direction, without links of a node to itself.
    pub fn undirected(&self, transposed: &Csr) -> Csr {
        let mut both = Csr {
            begins: Vec::with_capacity(self.begins.len()),
            targets: Vec::with_capacity(self.targets.len() * 2),
        };
        both.begins.push(0);
        let mut list = Vec::new();
        for node in 0..self.nodes() as u32 {
            list.clear();
            list.extend(self.list(node).iter().chain(transposed.list(node)).filter(|other| **other != node));
            list.sort_unstable();
            list.dedup();
            both.push(&list);
        }
        both
    }

    /// Bytes that a graph of this size takes.
    pub fn bytes_for(nodes: u64, arcs: u64) -> u64 {
        nodes * 8 + arcs * 4
    }
}

impl Adjacency for Csr {
    type Successors<'a> = std::iter::Copied<std::slice::Iter<'a, u32>>;

    fn nodes(&self) -> usize {
        self.begins.len() - 1
    }

    fn arcs(&self) -> u64 {
        self.targets.len() as u64
    }

    #[inline]
    fn successors(&self, node: u32) -> Self::Successors<'_> {
        self.list(node).iter().copied()
    }

    #[inline]
    fn degree(&self, node: u32) -> usize {
        self.list(node).len()
    }

    fn scan(&self, nodes: Range<usize>, mut visit: impl FnMut(u32, &[u32])) {
        nodes.for_each(|node| visit(node as u32, self.list(node as u32)));
    }
}
