//! The features of a repository, opened for one command: graphs in the form that memory allows, and the names of nodes.

use std::path::Path;

use mattock_env::Env;
use mattock_features::{Direction, Features, Grain, Links};
use mattock_graph::{Form, Held, NodeBytes, coded_within, form_within};
use mattock_study::FEATURES;

use super::names::Names;
use crate::args::graph::{GrainArg, GraphPlace};

/// The generation of a repository's features that is in use.
pub(super) fn features(env: &Env, dir: &Path) -> anyhow::Result<Features> {
    Ok(Features::open(&env.files, &dir.join(FEATURES))?)
}

/// The graph that a command is about.
pub(super) struct Opened {
    pub(super) features: Features,
    pub(super) grain: Grain,
    pub(super) names: Names,
    memory: u64,
    quiet: bool,
}

impl Opened {
    pub(super) fn open(env: &Env, place: &GraphPlace) -> anyhow::Result<Opened> {
        let features = features(env, &place.dir)?;
        let grain = match place.grain {
            GrainArg::Pages => Grain::Pages,
            GrainArg::Hosts => Grain::Hosts,
            GrainArg::Domains => Grain::Domains,
        };
        let names = Names::open(&features, grain)?;
        Ok(Opened { features, grain, names, memory: place.memory, quiet: place.quiet })
    }

    /// The number of the node that a person means.
    pub(super) fn find(&self, text: &str) -> anyhow::Result<u32> {
        self.names.find(&self.features, text)
    }

    /// One direction, as lists if they fit beside an algorithm that keeps so much for each node.
    pub(super) fn held(&self, direction: Direction, node_bytes: NodeBytes) -> anyhow::Result<Held> {
        let form = self.form(&[direction], node_bytes)?;
        Ok(Held::new(self.features.links(self.grain, direction)?, form))
    }

    /// Both directions: from the pages that have links, and from those that they lead to.
    pub(super) fn both(&self, node_bytes: NodeBytes) -> anyhow::Result<(Held, Held)> {
        let form = self.form(&[Direction::Out, Direction::In], node_bytes)?;
        let held = |direction| -> anyhow::Result<Held> {
            Ok(Held::new(self.features.links(self.grain, direction)?, form))
        };
        Ok((held(Direction::Out)?, held(Direction::In)?))
    }

    /// One direction as it is, for those who look at a few lists.
    pub(super) fn coded(&self, direction: Direction, node_bytes: u64) -> anyhow::Result<Links> {
        let size = self.features.link_size(self.grain, direction)?;
        coded_within(&[size], node_bytes, self.memory)?;
        Ok(self.features.links(self.grain, direction)?)
    }

    /// Both directions as they are.
    pub(super) fn coded_both(&self, node_bytes: u64) -> anyhow::Result<(Links, Links)> {
        let sizes = [
            self.features.link_size(self.grain, Direction::Out)?,
            self.features.link_size(self.grain, Direction::In)?,
        ];
        coded_within(&sizes, node_bytes, self.memory)?;
        Ok((
            self.features.links(self.grain, Direction::Out)?,
            self.features.links(self.grain, Direction::In)?,
        ))
    }

    fn form(&self, directions: &[Direction], node_bytes: NodeBytes) -> anyhow::Result<Form> {
        let sizes = directions.iter().map(|direction| self.features.link_size(self.grain, *direction));
        let form = form_within(&sizes.collect::<Result<Vec<_>, _>>()?, node_bytes, self.memory)?;
        if form == Form::Coded && !self.quiet {
            say!("The lists of links do not fit into --memory: they stay compressed, which takes longer.");
        }
        Ok(form)
    }
}
