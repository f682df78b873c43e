//! Asking a repository.

mod complaint;
pub mod wib;

pub use complaint::{Complaint, Span, nearest};
