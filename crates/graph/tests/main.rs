//! Algorithms on graphs, against naive ones and against what others found.

mod naive;
mod random;
mod real;
