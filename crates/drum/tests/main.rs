//! What can happen to a repository, against a naive model.
#![expect(clippy::unwrap_used, reason = "tests")]

mod crash;
mod formats;
mod model;
mod pins;
mod space;
mod threads;
mod verify;
mod view;
mod world;
