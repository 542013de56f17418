//! The published studies again, ours beside theirs.
