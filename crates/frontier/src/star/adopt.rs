//! Taking over what other stages knew of their domains, when a crawl is divided otherwise.

use mattock_drum::{Result, Sources};

use super::{BATCH_MAX, Saved, Star};

impl Star {
    /// Takes over who links to a domain.
    pub(crate) fn adopt(&mut self, domain: u64, sources: Sources) -> Result<()> {
        let Some(degrees) = &mut self.degrees else { return Ok(()) };
        if degrees.batch.len() >= BATCH_MAX {
            degrees.submit()?;
        }
        degrees.batch.update(domain, sources);
        Ok(())
    }

    /// Takes over the ranks of these domains, and one of so many parts of the edges that were counted; `None` if what another stage
    /// [saved](Star::encode) cannot be read.
    pub(crate) fn adopt_saved(
        &mut self,
        state: &[u8],
        parts: u64,
        wanted: impl Fn(u64) -> bool,
    ) -> Option<()> {
        let saved = Saved::decode(state, self.policy.top())?;
        if let Some(degrees) = &mut self.degrees {
            degrees.edge_count += saved.edge_count / parts;
            degrees.ranks.adopt(&saved.ranks, wanted);
        }
        Some(())
    }
}
