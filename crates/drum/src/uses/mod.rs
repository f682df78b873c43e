//! What a crawler keeps in repositories: each is a value type and a thin cover that says what goes in and out.
//!
//! | type | key | value | operations | results |
//! |---|---|---|---|---|
//! | [`UrlSeen`] | URL | – | check+update | new ones |
//! | [`RobotsCache`] | host | rules, addresses, expiry | check, update | all checks |
//! | [`RobotsRequested`] | host | until when | check+update | new ones |
//! | [`DomainInDegree`] | domain | source domains | check, update | all checks |
//! | [`ContentSeen`] | digest | first instance | check+update | all |
//! | [`Backlinks`] | URL | count | check, update | all checks |
//!
//! They dereference to their [`Drum`] for `flush`, `checkpoint`, `stats` and the rest.

mod backlinks;
mod content_seen;
mod in_degree;
mod robots;
mod url_seen;

pub use backlinks::{BacklinkCount, Backlinks};
pub use content_seen::{ContentSeen, FirstInstance};
pub use in_degree::{DomainInDegree, InDegree, Sources};
pub use robots::{HostData, RequestedUntil, RobotsCache, RobotsRequested};
pub use url_seen::UrlSeen;

use crate::Drum;

/// Makes a cover dereference to its repository.
macro_rules! cover {
    ($name:ident, $value:ty) => {
        impl $name {
            /// Opens it in `dir`, as its newest checkpoint left it.
            pub fn open(
                env: &mattock_env::Env,
                dir: &std::path::Path,
                options: $crate::Options,
            ) -> $crate::Result<$name> {
                $name::open_at(env, dir, options, None)
            }

            /// Opens an earlier checkpoint.
            pub fn open_at(
                env: &mattock_env::Env,
                dir: &std::path::Path,
                options: $crate::Options,
                checkpoint: Option<u64>,
            ) -> $crate::Result<$name> {
                let options = $crate::Options { deliver: $name::DELIVER, ..options };
                Ok($name { drum: $crate::Drum::open_at(env, dir, options, checkpoint)? })
            }
        }

        impl std::ops::Deref for $name {
            type Target = Drum<$value>;
            fn deref(&self) -> &Drum<$value> {
                &self.drum
            }
        }

        impl std::ops::DerefMut for $name {
            fn deref_mut(&mut self) -> &mut Drum<$value> {
                &mut self.drum
            }
        }
    };
}
use cover;

#[cfg(test)]
pub(super) mod tests {
    use mattock_env::Env;
    use mattock_env::sim::Simulation;

    /// Runs a test on a simulated machine.
    pub(super) fn simulate(test: impl FnOnce(&Env)) {
        Simulation::new(1).run(|env| async move { test(&env) });
    }

    /// A key of its own for each small number.
    pub(super) fn key(number: u64) -> u64 {
        mattock_env::Random::from_seed(number).next_u64()
    }
}
