//! The tolerances and limits of this crate. Each says what it bounds and in
//! which measure, and why it has its value.

// Ranks and pivots.

/// Points tried for a generic rank; the largest found at any of them counts, and a random point is hardly ever
/// special.
pub(crate) const RANK_POINTS: u64 = 3;

/// A pivot of at least this part of the largest entry of its row loses few digits, and leaves a choice for little
/// fill-in.
pub(crate) const RANK_PIVOT: f64 = 0.1;

/// An entry smaller than this, in a matrix of entries around one, is a rounding error: far above what elimination
/// loses, far below what random values make.
pub(crate) const RANK_ROUNDING: f64 = 1e-9;

/// A pivot this much smaller than its row is avoided near a point: three digits would be lost with it.
pub(crate) const NEAR_PIVOT: f64 = 1e-3;

/// Rows searched for each pivot: the shortest ones hold the least fill-in.
pub(crate) const PIVOT_ROWS: usize = 4;

/// Above this number of states a space that one random input does not fill is not examined further: its basis is
/// dense.
pub(crate) const KRYLOV_STATES: usize = 500;

/// Random points tried until nothing is divided by zero and all roots exist: half of the points have that of a sum.
pub(crate) const MODULAR_POINTS: u64 = 64;

// Values.

/// Initial states given twice agree within this part of the larger one: people round what they write.
pub(crate) const INITIAL_STATE_AGREEMENT: f64 = 1e-9;

/// With entropy flow temperatures are absolute; what rounding leaves below zero, in kelvin, is zero.
pub(crate) const LEAST_ABSOLUTE_TEMPERATURE: f64 = -1e-6;

/// With heat flow they may count from elsewhere; no body is below this on the scale of Celsius either.
pub(crate) const LEAST_TEMPERATURE: f64 = -273.15;

// What a reader reads.

/// Determinants of at most this many terms are kept as lists of loops.
pub(crate) const LISTED_LOOPS: usize = 40;

/// Paths listed in full are at most this long together; the rest are counted.
pub(crate) const LISTED_NODES: usize = 20_000;

/// Explicit rates of more written nodes than this give way to a mass matrix that is much shorter.
pub(crate) const LONG_RATES: u64 = 20_000;

/// How many times shorter the form with a mass matrix is where long rates give way to it.
pub(crate) const MUCH_SHORTER: u64 = 4;

/// Rates and outputs with more nodes than this are left as they were derived: simplifying them takes long, and
/// nobody reads them.
pub(crate) const SIMPLIFIED_NODES: usize = 400;

/// A line of a derivation of more nodes is left out.
pub(crate) const DERIVATION_NODES: u64 = 3_000;

/// At most this many lines for one quantity.
pub(crate) const DERIVATION_LINES: usize = 60;

/// Characteristic polynomials of more terms than this are not written out, because nobody reads them.
pub(crate) const READABLE_TERMS: usize = 2_000;

/// Models of more states than this have a characteristic polynomial that nobody reads.
pub(crate) const READABLE_STATES: usize = 40;

/// All entries together may have this many times the terms of one.
pub(crate) const EXPANDED_ENTRIES: usize = 10;

/// Models with more unknowns than this are not read by a person as products.
pub(crate) const PRODUCT_UNKNOWNS: usize = 1000;

/// More unknowns than this give derivatives of an operating point that nobody reads.
pub(crate) const SHIFT_UNKNOWNS: usize = 6;
