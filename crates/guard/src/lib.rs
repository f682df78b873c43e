//! The address guard: which addresses may be connected to, and which names a proxy may be asked for.
//!
//! ```
//! use mattock_guard::AddressGuard;
//!
//! let guard = AddressGuard::default();
//! assert!(guard.permits("1.1.1.1".parse()?));
//! assert!(!guard.permits("169.254.169.254".parse()?) && !guard.permits("::ffff:10.0.0.1".parse()?));
//! assert!(!guard.permits_name("metadata.google.internal"));
//!
//! let guard = AddressGuard::allowing(vec!["10.1.0.0/16".parse()?]);
//! assert!(guard.permits("10.1.2.3".parse()?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On by default: nothing that is not a public unicast address, in whatever form it is written. One table (`special.rs`) has what IANA's
//! registries set apart, and the addresses at which cloud providers answer their own machines. Addresses that carry an IPv4 address
//! inside (mapped, NAT64, 6to4, Teredo, ISATAP) are judged by that one too.
//!
//! A proxy finds addresses itself, and none of them passes here. Of what it is asked for the guard sees the name, and refuses those that mean
//! this machine, its network or its provider (`local.rs`); every other name is the proxy's to judge.
//!
//! `fetch` asks it about every address that a crawl connects to, and `objects` about servers that a repository names. It depends on nothing, looks
//! nothing up and connects to nothing: that the address which was judged is the one that is connected to is the caller's promise.

mod cidr;
mod guard;
mod local;
mod names;
mod special;

pub use cidr::{Cidr, CidrError};
pub use guard::AddressGuard;
pub use names::{NamePattern, NamePatternError};
