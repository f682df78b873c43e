//! A full disk, a failing disk, a decaying disk.
