//! What is known: URLs, robots.txt files, contents, who links to whom, and what was learnt.

use mattock_drum::{Batch, FirstInstance, HostData, Sources, Value as _, View};

use super::{Division, keep_error};
use crate::error::{FrontierError, Result};
use crate::novelty::Novelty;
use crate::{Frontier, budget, content, star};

/// Operations that are handed to a repository together.
const BATCH_MAX: usize = 1024;

/// Keys on their way into the shares, a batch for each.
struct Outgoing<V> {
    batches: Vec<Batch<V>>,
    put: fn(&mut Frontier, &Batch<V>) -> Result<()>,
}

impl<V: Clone> Outgoing<V> {
    fn new(shares: &[Frontier], put: fn(&mut Frontier, &Batch<V>) -> Result<()>) -> Outgoing<V> {
        Outgoing { batches: shares.iter().map(|_| Batch::new()).collect(), put }
    }

    /// For one share, or for all.
    fn push(&mut self, shares: &mut [Frontier], to: Option<usize>, key: u64, value: &V) -> Result<()> {
        for (index, (batch, share)) in self.batches.iter_mut().zip(shares).enumerate() {
            if to.is_none_or(|to| to == index) {
                batch.update(key, value.clone());
                if batch.len() >= BATCH_MAX {
                    (self.put)(share, batch)?;
                    batch.clear();
                }
            }
        }
        Ok(())
    }

    fn end(self, shares: &mut [Frontier]) -> Result<()> {
        for (batch, share) in self.batches.iter().zip(shares) {
            (self.put)(share, batch)?;
        }
        Ok(())
    }
}

impl Division {
    /// Who links to whom, which domains are at the top, and how many queues Beast had.
    pub(super) fn divide_budgets(&mut self) -> Result<()> {
        let parts = self.shares.len() as u64;
        let width = self.sources.iter().filter_map(|source| source.places).map(|places| places.width).max();
        for source in &self.sources {
            let Some((state, _)) = source.saved.budgets() else { continue };
            let (checkpoint, _) = star::checkpoint_and_waiting(state).ok_or(FrontierError::Record)?;
            let degrees: View<Sources> = self.view(&source.dir, budget::DEGREES, checkpoint)?;
            let (owners, shares) = (&self.owners, &mut self.shares);
            for (index, share) in shares.iter_mut().enumerate() {
                let Some(budget) = &mut share.budget else { continue };
                budget
                    .adopt_saved((state, width.unwrap_or(1)), parts, |domain| owners.of(domain) == index)
                    .ok_or(FrontierError::Record)?;
            }
            let mut outcome = Ok(());
            degrees.scan(|domain, sources| {
                keep_error(&mut outcome, sources, |sources| {
                    let budget = &mut shares[owners.of(domain)].budget;
                    budget.as_mut().map_or(Ok(()), |budget| budget.adopt_degree(domain, sources))
                });
            })?;
            outcome?;
        }
        Ok(())
    }

    /// Digests are no domain's, and everybody gets all. Of the pages whose digest was not looked up yet, some thousand, it is not found out
    /// any more whether they were news.
    pub(super) fn divide_content(&mut self) -> Result<()> {
        let mut outgoing: Outgoing<FirstInstance> =
            Outgoing::new(&self.shares, |share, batch| Ok(share.content.digests().submit(batch)?));
        for source in &self.sources {
            let digests: View<FirstInstance> =
                self.view(&source.dir, "content", source.saved.checkpoints.content)?;
            let (owners, shares) = (&self.owners, &mut self.shares);
            let mut outcome = Ok(());
            digests.scan(|digest, first| {
                keep_error(&mut outcome, first, |first| outgoing.push(shares, None, digest, &first));
            })?;
            outcome?;
            digests.undelivered(|page| {
                // Before it stands the rest of the digest.
                let aux = page.aux.get(8..).unwrap_or_default();
                if let (Some(domain), Some(is_new)) = (content::domain_of(aux), page.unique) {
                    shares[owners.of(domain)].content.adopt_page(aux, is_new);
                }
            })?;
        }
        outgoing.end(&mut self.shares)
    }

    /// What was learnt of hosts, domains and queries. All URLs must have been noted.
    pub(super) fn divide_learnt(&mut self) -> Result<()> {
        for source in &self.sources {
            self.shares.iter_mut().for_each(|share| share.admission.adopt(&source.saved.traps));
            let Some(keys) = Novelty::keys(&source.saved.novelty) else { continue };
            let mut owner_of: Vec<usize> = vec![0; keys.len()];
            let by_domain: Vec<usize> = keys.iter().map(|key| self.owners.of(*key)).collect();
            let mut answer = |aux: &[u8], owner: Option<usize>| {
                let index = aux.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)) as usize;
                // Nobody has a URL of it: a domain, or not of much use.
                owner_of[index] = owner.unwrap_or(by_domain[index]);
                Ok(())
            };
            for (index, key) in keys.iter().enumerate() {
                self.owners.ask(*key, &(index as u64).to_le_bytes(), &mut answer)?;
            }
            self.owners.settle(&mut answer)?;
            for (index, share) in self.shares.iter_mut().enumerate() {
                let mut owners = owner_of.iter();
                share.content.adopt(&source.saved.novelty, |_| owners.next() == Some(&index));
            }
        }
        Ok(())
    }

    /// The keys of all URLs, but for those of which it is not known yet whether they are new. All URLs must have been noted.
    pub(super) fn divide_seen(&mut self) -> Result<()> {
        self.settle_known()?;
        let forgets = self.forgets();
        let mut outgoing: Outgoing<()> =
            Outgoing::new(&self.shares, |share, batch| Ok(share.seen.submit(batch)?));
        for index in 0..self.sources.len() {
            let source = &self.sources[index];
            let seen: View<()> = self.view(&source.dir, "seen", source.saved.checkpoints.seen)?;
            let (owners, shares) = (&mut self.owners, &mut self.shares);
            let mut answer = |aux: &[u8], owner: Option<usize>| {
                if forgets && owner.is_none() {
                    return Ok(());
                }
                let key = aux.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
                outgoing.push(shares, owner, key.ok_or(FrontierError::Record)?, &())
            };
            let mut outcome = Ok(());
            seen.scan_answered(|key, ()| {
                keep_error(&mut outcome, key, |key| owners.ask(key, &key.to_le_bytes(), &mut answer));
            })?;
            outcome?;
            owners.settle(&mut answer)?;
        }
        outgoing.end(&mut self.shares)
    }

    /// What hosts say in their robots.txt, as far as it holds. All URLs must have been noted.
    pub(super) fn divide_robots(&mut self) -> Result<()> {
        let now_s = self.env.clock.unix().as_seconds();
        for index in 0..self.sources.len() {
            let source = &self.sources[index];
            let robots: View<HostData> = self.view(&source.dir, "robots", source.saved.checkpoints.robots)?;
            let (owners, shares) = (&mut self.owners, &mut self.shares);
            let mut answer = |aux: &[u8], owner: Option<usize>| {
                let (host, data) = aux.split_first_chunk().ok_or(FrontierError::Record)?;
                let data = HostData::decode(data).ok_or(FrontierError::Record)?;
                for (index, share) in shares.iter_mut().enumerate() {
                    if owner.is_none_or(|owner| owner == index) {
                        share.robots.cache().update([(u64::from_le_bytes(*host), data.clone())])?;
                    }
                }
                Ok(())
            };
            let mut outcome = Ok(());
            robots.scan(|host, data| {
                if data.expired(now_s) {
                    return;
                }
                keep_error(&mut outcome, data, |data| {
                    let mut aux = host.to_le_bytes().to_vec();
                    data.encode(&mut aux);
                    owners.ask(host, &aux, &mut answer)
                });
            })?;
            outcome?;
            owners.settle(&mut answer)?;
        }
        Ok(())
    }
}
