//! The bow-tie: how a Web hangs together, after Broder et al. (*Graph structure in the Web*, 2000).
//!
//! - **core**: the largest strongly connected component;
//! - **in**: what leads to the core and cannot be reached from it; **out**: what is reached from it and does not lead back;
//! - **tubes**: on ways from in to out past the core;
//! - **tendrils**: everything else that is joined to these by links, whichever way they lead;
//! - **disconnected**: what no links join to the core.
//!
//! Every node is in exactly one part. Costs: four searches over links or links turned round, one byte a node.

use serde::Serialize;

use crate::adjacency::Adjacency;
use crate::components::{Components, weak_components};
use crate::held::NodeBytes;

/// Bytes that it takes for each node, at worst, with the components that it is made of.
pub const BOWTIE_BYTES: NodeBytes = NodeBytes { lists: 44, coded: 170 };

/// A part of the bow-tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The largest strongly connected component.
    Core,
    /// Leads to the core.
    In,
    /// Is reached from the core.
    Out,
    /// Leads from in to out, past the core.
    Tubes,
    /// Joined to the others otherwise.
    Tendrils,
    /// Not joined to the core.
    Disconnected,
}

/// All parts, in the order in which they are told.
pub const PARTS: [Part; 6] =
    [Part::Core, Part::In, Part::Out, Part::Tubes, Part::Tendrils, Part::Disconnected];

impl Part {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Part::Core => "core",
            Part::In => "in",
            Part::Out => "out",
            Part::Tubes => "tubes",
            Part::Tendrils => "tendrils",
            Part::Disconnected => "disconnected",
        }
    }
}

/// Which part each node is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bowtie {
    parts: Vec<Part>,
    sizes: [u64; 6],
}

impl Bowtie {
    /// The part of a node.
    pub fn part(&self, node: u32) -> Part {
        self.parts[node as usize]
    }

    /// How many nodes a part has.
    pub fn size(&self, part: Part) -> u64 {
        self.sizes[part as usize]
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u64 {
        self.parts.len() as u64
    }
}

/// Marks everything that can be reached from what is marked.
fn reach(graph: &impl Adjacency, mut marked: Vec<bool>) -> Vec<bool> {
    let mut waiting: Vec<u32> = (0..marked.len() as u32).filter(|node| marked[*node as usize]).collect();
    while let Some(node) = waiting.pop() {
        for target in graph.successors(node) {
            if !std::mem::replace(&mut marked[target as usize], true) {
                waiting.push(target);
            }
        }
    }
    marked
}

/// Finds the parts. `turned` has the same links turned round.
pub fn bowtie(graph: &impl Adjacency, turned: &impl Adjacency, components: &Components) -> Bowtie {
    let nodes = graph.nodes();
    let core: Vec<bool> = components.all().iter().map(|component| *component == 0).collect();
    let (after, before) = (reach(graph, core.clone()), reach(turned, core.clone()));
    let only = |one: &[bool], other: &[bool]| -> Vec<bool> {
        one.iter().zip(other).map(|(one, other)| *one && !*other).collect()
    };
    let from_in = reach(graph, only(&before, &core));
    let to_out = reach(turned, only(&after, &core));
    let weak = weak_components(graph);
    let core_weak = core.iter().position(|is_core| *is_core).map(|node| weak.of(node as u32));
    let mut bowtie = Bowtie { parts: Vec::with_capacity(nodes), sizes: [0; 6] };
    for node in 0..nodes {
        let part = match (core[node], before[node], after[node]) {
            (true, _, _) => Part::Core,
            (_, true, _) => Part::In,
            (_, _, true) => Part::Out,
            _ if from_in[node] && to_out[node] => Part::Tubes,
            _ if Some(weak.of(node as u32)) == core_weak => Part::Tendrils,
            _ => Part::Disconnected,
        };
        bowtie.parts.push(part);
        bowtie.sizes[part as usize] += 1;
    }
    bowtie
}
