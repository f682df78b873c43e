//! Strongly connected components: within one, every page can be reached from every other.
//!
//! Tarjan's algorithm in Pearce's form (*A space-efficient algorithm for finding strongly connected components*, 2016), without
//! recursion: one number for each node, which is 0 before the visit, then the earliest node on the way that it can reach, and at last its
//! component, counted down from the top so that finished nodes are greater than all others. One pass over the links.
//!
//! Costs: 4 bytes a node for the numbers, 4 for nodes that wait for their component, and the way of the search: at most 24 bytes a
//! node on a [`Csr`](crate::Csr), 150 on the link database.

use serde::Serialize;

use crate::adjacency::Adjacency;
use crate::held::NodeBytes;

/// Bytes that finding components takes for each node, at worst.
pub const COMPONENT_BYTES: NodeBytes = NodeBytes { lists: 36, coded: 160 };

/// Which component each node is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    of: Vec<u32>,
    sizes: Vec<u32>,
}

/// Components by their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// Nodes of one.
    pub size: u32,
    /// How many there are of this size.
    pub count: u64,
}

impl Components {
    /// The component of a node: the largest is 0.
    pub fn of(&self, node: u32) -> u32 {
        self.of[node as usize]
    }

    /// The component of every node.
    pub fn all(&self) -> &[u32] {
        &self.of
    }

    /// The sizes of all components, the largest first.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// How many components there are of each size, the largest first.
    pub fn by_size(&self) -> Vec<SizeCount> {
        let groups = self.sizes.chunk_by(|one, two| one == two);
        groups.map(|group| SizeCount { size: group[0], count: group.len() as u64 }).collect()
    }

    /// Numbers components by their size, the largest first; of equal ones the one that has the first node.
    pub(crate) fn sorted(mut of: Vec<u32>, count: usize) -> Components {
        let mut sizes = vec![0_u32; count];
        let mut first = vec![u32::MAX; count];
        for (node, component) in of.iter().enumerate() {
            sizes[*component as usize] += 1;
            let first = &mut first[*component as usize];
            *first = (*first).min(node as u32);
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by_key(|component| {
            (std::cmp::Reverse(sizes[*component as usize]), first[*component as usize])
        });
        let mut numbers = vec![0; count];
        order.iter().enumerate().for_each(|(number, component)| numbers[*component as usize] = number as u32);
        of.iter_mut().for_each(|component| *component = numbers[*component as usize]);
        Components { of, sizes: order.iter().map(|component| sizes[*component as usize]).collect() }
    }
}

/// One node on the way of the search.
struct Step<S> {
    node: u32,
    /// Whether nothing earlier could be reached from it so far.
    is_root: bool,
    targets: S,
}

/// Finds the strongly connected components.
pub fn strong_components(graph: &impl Adjacency) -> Components {
    let nodes = graph.nodes();
    let mut numbers = vec![0_u32; nodes];
    let (mut index, mut component) = (1_u32, u32::MAX);
    let mut waiting: Vec<u32> = Vec::new();
    let mut way = Vec::new();
    for start in 0..nodes as u32 {
        if numbers[start as usize] != 0 {
            continue;
        }
        numbers[start as usize] = index;
        index += 1;
        way.push(Step { node: start, is_root: true, targets: graph.successors(start) });
        while let Some(step) = way.last_mut() {
            let mut lowest = numbers[step.node as usize];
            let mut unseen = None;
            for target in step.targets.by_ref() {
                let number = numbers[target as usize];
                if number == 0 {
                    unseen = Some(target);
                    break;
                }
                if number < lowest {
                    lowest = number;
                    step.is_root = false;
                }
            }
            numbers[step.node as usize] = lowest;
            if let Some(target) = unseen {
                numbers[target as usize] = index;
                index += 1;
                way.push(Step { node: target, is_root: true, targets: graph.successors(target) });
                continue;
            }
            let (node, is_root) = (step.node, step.is_root);
            way.pop();
            if is_root {
                index -= 1;
                while let Some(other) = waiting.pop_if(|other| numbers[*other as usize] >= lowest) {
                    numbers[other as usize] = component;
                    index -= 1;
                }
                numbers[node as usize] = component;
                component -= 1;
            } else {
                waiting.push(node);
            }
            if let Some(before) = way.last_mut()
                && numbers[node as usize] < numbers[before.node as usize]
            {
                numbers[before.node as usize] = numbers[node as usize];
                before.is_root = false;
            }
        }
    }
    numbers.iter_mut().for_each(|number| *number = u32::MAX - *number);
    Components::sorted(numbers, (u32::MAX - component) as usize)
}

/// Finds the weakly connected components: those of the graph whose links lead both ways.
pub fn weak_components(graph: &impl Adjacency) -> Components {
    let nodes = graph.nodes();
    let mut parents: Vec<u32> = (0..nodes as u32).collect();
    fn root(parents: &mut [u32], mut node: u32) -> u32 {
        while parents[node as usize] != node {
            let above = parents[parents[node as usize] as usize];
            parents[node as usize] = above;
            node = above;
        }
        node
    }
    graph.scan(0..nodes, |node, targets| {
        let mut one = root(&mut parents, node);
        for target in targets {
            let two = root(&mut parents, *target);
            // The lesser number is the root, whatever the order of the links.
            let (low, high) = (one.min(two), one.max(two));
            parents[high as usize] = low;
            one = low;
        }
    });
    let mut count = 0;
    let mut of = vec![0; nodes];
    for node in 0..nodes as u32 {
        let root = root(&mut parents, node);
        of[node as usize] = if root == node { count } else { of[root as usize] };
        count += u32::from(root == node);
    }
    Components::sorted(of, count as usize)
}
