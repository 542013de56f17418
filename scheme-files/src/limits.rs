//! Bounds on what a file can make a program read, remember and compute.

/// Bytes of a scheme file.
pub(crate) const FILE_BYTES_MAX: usize = 256 << 10;
/// Groups of a file.
pub(crate) const GROUPS_MAX: usize = 256;
/// Places of a file, and conditions of a place.
pub(crate) const PLACES_MAX: usize = 256;
/// Bytes of a scheme's name: a server announces it, with a guard behind it, in at most 64.
pub(crate) const NAME_BYTES_MAX: usize = 40;
/// Bytes of the texts that a file says about itself, and of a group's name.
pub(crate) const TEXT_BYTES_MAX: usize = 1000;
/// The highest rank in a file. The rank after it is kept for responses whose script failed.
pub(crate) const RANK_MAX: u16 = u16::MAX - 1;

/// Operations of one call of a script. The most expensive ones, on the longest lists, take some tenths of a second together.
pub(crate) const OPERATIONS_MAX: u64 = 10_000;
/// Functions of a script that call each other.
pub(crate) const CALLS_MAX: usize = 16;
/// Depth of an expression, in a function or outside.
pub(crate) const EXPRESSION_DEPTH_MAX: usize = 64;
/// Functions of a script.
pub(crate) const FUNCTIONS_MAX: usize = 64;
/// Variables of a script at a time.
pub(crate) const VARIABLES_MAX: usize = 64;
/// Bytes of the texts in one value of a script.
pub(crate) const STRING_BYTES_MAX: usize = 1024;
/// Elements of the arrays in one value of a script; of `this`, too.
pub(crate) const ARRAY_MAX: usize = 1024;
/// Entries of the maps in one value of a script; of `this`, too.
pub(crate) const MAP_MAX: usize = 1024;
/// Nodes that a script moves in one call; more are ignored.
pub(crate) const PUTS_MAX: usize = 512;
/// The most bytes that one call of `sent` names, so that a script may add up or subtract two thousand million of them.
pub(crate) const SENT_BYTES_MAX: u64 = 1 << 32;
