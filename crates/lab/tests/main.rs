//! What the laboratory shows.

mod trial;
