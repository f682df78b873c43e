//! Conformance of the robots rules with suites that others wrote.

mod google;
