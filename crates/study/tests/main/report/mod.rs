//! The report on a data set: its figures against what was stored, and its page against what the Web may contain.

mod aged;
mod bounded;
mod figures;
mod hostile;
mod linked;
mod repeated;
mod world;
