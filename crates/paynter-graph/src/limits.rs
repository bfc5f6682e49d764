//! The limits of this crate: what it bounds, so that no input makes it slow or
//! its answers unreadable. Each has its reason beside it.

// Flattening.

/// More elements than this are refused: a wrong array size should not fill the memory.
pub const MAX_ELEMENTS: usize = 2_000_000;

/// Names compared before the search for what misspelt ones could mean gives up, so that a file full of them stays
/// quick.
pub(crate) const NAME_COMPARISONS: usize = 200_000;

/// Turns of all `for` loops together; more are refused, because each makes at least a bond between two elements.
pub(crate) const LOOP_TURNS: usize = 2 * MAX_ELEMENTS;

/// Unconnected ports of one array that are listed one by one.
pub(crate) const LISTED_PORTS: usize = 4;

/// Sizes and indices beyond this are refused before anything is computed with them, so that no product of two
/// overflows unseen.
pub(crate) const LARGEST_INDEX: i64 = 1 << 40;

/// Submodels nested deeper than this are refused: flattening recurses, and only a cycle nests so deep.
pub(crate) const SUBMODEL_DEPTH: usize = 256;

/// Mistakes in statements in loops, after which the rest are left: they repeat each other.
pub(crate) const LOOP_MISTAKES: usize = 1000;

/// Elements of a model that nothing uses; larger ones are read so far, because only their mistakes are wanted.
pub(crate) const UNUSED_ELEMENTS: usize = 10_000;

// Causality.

/// Causalities tried in search of one without singular loops: where there is one, a few changes find it.
pub(crate) const CAUSALITY_TRIES: usize = 60;

/// Bonds visited in that search, at most: it stays below a second.
pub(crate) const RING_BUDGET: usize = 5_000_000;

/// Bonds visited in search of divisions that can be avoided, which stays in the order of a second; what is left then is warned of.
pub(crate) const RELAX_BUDGET: usize = 20_000_000;

/// Edges visited in search of short cycles, below a second, before the search settles for fewer.
pub(crate) const CYCLE_BUDGET: usize = 4_000_000;

/// Groups of signals larger than this are not tested for singularity in symbols here: their determinants are.
pub(crate) const SINGULAR_SIGNALS: usize = 60;

/// Multiplications spent on tests for singularity, at most: below a second.
pub(crate) const SINGULAR_BUDGET: usize = 3_000_000;

/// Elements of a forcing path that are kept: of a longer one the start and the end.
pub(crate) const FORCING_PATH: usize = 30;

/// A pivot of Cholesky's algorithm below so many times the rounding of its terms is zero: perfectly coupled ports.
pub(crate) const PIVOT_ROUNDING: f64 = 8.0;
