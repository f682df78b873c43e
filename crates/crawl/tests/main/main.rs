//! What can happen to a crawl, on the simulated Web.

mod determinism;
mod limits;
mod mistakes;
mod resume;
mod truth;
mod world;
