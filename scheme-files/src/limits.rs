//! Limits on what a file can make a program read, store and compute.

pub(crate) const FILE_BYTES_MAX: usize = 256 << 10;
pub(crate) const GROUPS_MAX: usize = 256;
/// Places of a file, and conditions of a place.
pub(crate) const PLACES_MAX: usize = 256;
/// Bytes of a scheme's name: a server announces it, followed by a guard, in at most 64.
pub(crate) const NAME_BYTES_MAX: usize = 40;
/// Bytes of a file's descriptions, and of a group's name.
pub(crate) const TEXT_BYTES_MAX: usize = 1000;
/// The highest rank in a file. The next rank is reserved for responses whose script failed.
pub(crate) const RANK_MAX: u16 = u16::MAX - 1;

/// Operations in one call of a script. The most expensive ones, on the longest lists, take some tenths of a second together.
pub(crate) const OPERATIONS_MAX: u64 = 10_000;
/// The depth of nested function calls in a script.
pub(crate) const CALLS_MAX: usize = 16;
/// The depth of an expression, inside or outside functions.
pub(crate) const EXPRESSION_DEPTH_MAX: usize = 64;
pub(crate) const FUNCTIONS_MAX: usize = 64;
/// Variables of a script at one time.
pub(crate) const VARIABLES_MAX: usize = 64;
/// Bytes of the strings in one value of a script.
pub(crate) const STRING_BYTES_MAX: usize = 1024;
/// Elements of the arrays in one value of a script, and in `this`.
pub(crate) const ARRAY_MAX: usize = 1024;
/// Entries of the maps in one value of a script, and in `this`.
pub(crate) const MAP_MAX: usize = 1024;
/// Nodes that a script moves in one call; more are ignored.
pub(crate) const PUTS_MAX: usize = 512;
/// The most bytes in one call of `sent`, so that a script may add or subtract two thousand million of them.
pub(crate) const SENT_BYTES_MAX: u64 = 1 << 32;
