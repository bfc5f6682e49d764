//! The limits of this crate: what it bounds, so that no input makes it slow or
//! its answers unreadable. Each has its reason beside it.

/// Times that strokes are added where they differ, before all are fixed: the first round settles all but dependent
/// groups.
pub(crate) const STROKE_ROUNDS: usize = 3;

/// Values of more nodes together are written with parameters for what they share: nobody reads more, and a chain
/// of definitions grows without bound when it is written out.
pub(crate) const WRITTEN_NODES: u64 = 200_000;

/// Lines longer than this stand apart, so that the formatter does not align others with them.
pub(crate) const LONG_LINE: usize = 100;
