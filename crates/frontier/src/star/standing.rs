//! What a domain is worth at a checkpoint, for who only looks.

use std::path::Path;

use mattock_drum::{InDegree, Sources, View};
use mattock_env::Env;

use super::{BudgetPolicy, NOBODY, Saved};
use crate::error::{FrontierError, Result};

/// What a domain may have, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// How many domains link to it.
    pub in_degree: InDegree,
    /// What that gives it for a pass, if its pages are news.
    pub budget: u32,
    /// Whether that many are enough to give it its budget at once.
    pub is_proven: bool,
}

/// The in-degrees and ranks of a checkpoint.
pub(crate) struct Standings {
    pub(crate) degrees: View<Sources>,
    saved: Vec<u8>,
}

impl Standings {
    /// Opens what [`Star::encode`](super::Star::encode) wrote beside the repository in `dir`.
    pub(crate) fn open(env: &Env, dir: &Path, saved: &[u8]) -> Result<Standings> {
        let checkpoint = Saved::decode(saved, 1).ok_or(FrontierError::Record)?.checkpoint;
        Ok(Standings { degrees: View::open(env, dir, checkpoint)?, saved: saved.to_vec() })
    }

    /// What a domain may have under a policy.
    pub(crate) fn of(&self, domain: u64, policy: &BudgetPolicy) -> Result<Standing> {
        let ranks = Saved::decode(&self.saved, policy.top()).ok_or(FrontierError::Record)?.ranks;
        let in_degree = self.degrees.look_up(domain)?.map_or(NOBODY, |sources| sources.in_degree());
        Ok(Standing {
            in_degree,
            budget: policy.budget(in_degree.count, &ranks),
            is_proven: policy.is_proven(in_degree.count, &ranks),
        })
    }
}
