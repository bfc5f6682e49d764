//! The limits of this crate: what it bounds, so that no input makes it slow or
//! its answers unreadable. Each has its reason beside it.

// Numbers.

/// Bounds the size of exact constants, in bits: larger ones stay symbolic (powers) or become undefined (products),
/// so that 9^9^9 costs nothing.
pub(crate) const MAX_CONSTANT_BITS: usize = 1 << 16;

/// A larger common number is left inside its sum: nobody reads 77 digits in front of it.
pub(crate) const MAX_CONTENT_BITS: usize = 256;

/// Numbers of more digits are rounded for people: no double has more, and no measurement as many.
pub(crate) const DECIMAL_DIGITS: usize = 17;

/// Whole numbers of more digits may be written with a power of ten: up to here the eye counts the zeros.
pub(crate) const PLAIN_DIGITS: usize = 9;

// Polynomials.

/// Polynomials of a higher degree are left alone: their coefficients stand in an array, and laws are of a degree
/// below ten.
pub(crate) const MAX_COLLECTED_DEGREE: usize = 64;

/// The largest root that is related to its radicand: the relation has as many terms, and laws take square and cube
/// roots.
pub(crate) const LARGEST_ROOT_ORDER: u64 = 24;

/// How often a kernel may turn into another expression when its arguments are brought to canonical form: more than
/// laws nest, so that no cycle is followed for long.
pub(crate) const KERNEL_DEPTH: u32 = 16;

/// Depth of contents of contents; each level has at least one variable less, and recursion must fit on the stack.
pub(crate) const CONTENT_DEPTH: u32 = 150;

/// Images in one variable are dense: a higher degree would not fit into memory.
pub(crate) const LARGEST_IMAGE_DEGREE: u32 = 1 << 20;

/// Fresh starts of a modular greatest common divisor before Euclid's algorithm takes over: unlucky
/// primes are rare.
pub(crate) const GCD_ATTEMPTS: u32 = 8;

/// Sums of more terms are not expanded: what a reader sees at a glance is far below.
pub(crate) const EXPANDED_TERMS: usize = 100;

/// Powers above this one are not expanded: the binomials of the fifth are longer than the power.
pub(crate) const EXPANDED_POWER: i64 = 4;

/// How many nodes are visited at most to expand; what is shared is visited each time.
pub(crate) const EXPANDED_VISITS: usize = 1000;

/// A denominator of more terms keeps its roots: the product of its conjugates is far longer.
pub(crate) const CLEARED_TERMS: usize = 8;

/// More minors than this go to fraction-free elimination instead: each of them is a polynomial that is kept.
pub(crate) const MOST_MINORS: usize = 30_000;

// Zero test.

/// Seeds tried before a point is found at which everything is defined: each fails for a law with a root with a
/// chance of one half.
pub(crate) const ZERO_TEST_SEEDS: u64 = 64;

/// Points tried in floating point; some may lie outside the domain of the expression.
pub(crate) const NUMERIC_POINTS: u64 = 24;

// Solving for an unknown.

/// Odd laws, choices and substitutions nest; deeper ones are not laws people write.
pub(crate) const LAW_NESTING: usize = 8;

/// Operations peeled off one after the other; text does not nest as deep.
pub(crate) const PEELED_OPERATIONS: usize = 1000;

/// Inner expressions tried as the only place of the unknown; laws have two or three.
pub(crate) const TRIED_KERNELS: usize = 16;

// Messages.

/// Expressions of more nodes are not written into messages: they would fill a line.
pub(crate) const SHOWN_NODES: u64 = 60;

/// Expressions of more nodes are no part of a sentence.
pub(crate) const BRIEF_NODES: u64 = 300;

// Enclosures.

/// By this part of a turn the ends of an angle are widened: rounding of large angles, with room to spare.
pub(crate) const TURN_MARGIN: f64 = 1e-9;

/// Angles beyond this are anywhere on the circle, in rad: fewer digits than the margin are left of them.
pub(crate) const LARGEST_ANGLE: f64 = 1e6;

/// Products of so many factors are written in blocks where several have blocks in common: fewer are read at a glance.
pub(crate) const WIDE_FACTORS: usize = 24;

/// The fewest factors that make a block worth a name.
pub(crate) const BLOCK_FACTORS: usize = 6;
