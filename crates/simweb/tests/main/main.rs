//! What can happen to a world from outside: it is crawled, measured, asked twice.

mod client;
mod crawled;
mod measured;
mod repeated;
