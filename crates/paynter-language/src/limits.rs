//! The limits of this crate: what it bounds, so that no input makes it slow or
//! its answers unreadable. Each has its reason beside it.

// Input.

/// The largest file that is read, in bytes: far beyond any model that people write, and little memory.
pub const MAX_FILE_SIZE: u64 = 16_000_000;

/// How deep brackets, braces, signs and powers may nest: parsing recurses, and a thread's stack bears some
/// thousands of levels.
pub(crate) const MAX_NESTING_DEPTH: u32 = 256;

/// How high an expression may be, counted in operators from the root to the farthest operand. Passes that walk
/// expressions recursively rely on it.
pub(crate) const MAX_EXPRESSION_HEIGHT: u32 = 1024;

/// From this number of operands on, a chain is folded as a balanced tree, so that long sums do not make high
/// expressions; shorter ones keep their order for the reader.
pub(crate) const BALANCED_OPERANDS: usize = 9;

/// Exponents of units beyond this are mistakes: no dimension has one of ten.
pub(crate) const LARGEST_UNIT_POWER: i64 = 100;

// Messages.

/// Mistakes that are kept: more than anybody reads.
pub(crate) const MAX_MISTAKES: usize = 1000;
