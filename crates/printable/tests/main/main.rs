//! Pseudo-random strings of hostile pieces through every function.

mod hostile;
mod strings;
