//! The robots rules against suites that others wrote, and against what servers send to do harm.

mod corpus;
mod google;
mod hostile;
