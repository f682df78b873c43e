//! What can happen to a repository, against a naive model.
mod crash;
mod model;
mod space;
mod world;
