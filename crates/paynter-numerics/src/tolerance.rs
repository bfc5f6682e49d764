//! The numeric tolerances of this crate. Each says what it bounds and in
//! which measure, and why it has its value. With double precision a result
//! is rounded by 1.1e-16 of its size; what sums a hundred terms or solves a
//! well-conditioned system loses two or three digits of that.

// Linear systems.

/// The smallest pivot, with rows and columns of length one, that is not a rounding error: below the digits that
/// elimination of a well-scaled system loses, above those of one operation.
pub(crate) const NEGLIGIBLE_PIVOT: f64 = 1e-13;

/// The smallest pivot, with rows and columns of length one, where the rank decides what is conserved: a leak of
/// 1e-10 of a flow is nothing that anybody models.
pub(crate) const CONSERVED_PIVOT: f64 = 1e-10;

/// A difference this much smaller than its two parts is zero: a hundred units of rounding.
pub(crate) const CANCELLED_DIFFERENCE: f64 = 1e-14;

/// By so much of itself a bound on the size of a complex number may be rounded: a few units of rounding, with room.
pub(crate) const NORM_ROUNDING: f64 = 1e-14;

/// Up to so many rows the largest of all entries is the pivot; of more, one with little fill-in.
pub(crate) const FULL_PIVOTING_SIZE: usize = 120;

/// A pivot of the sparse complex factorisation is at least this part of the largest entry of its column: the
/// usual compromise between growth of entries and fill-in.
pub(crate) const PIVOT_THRESHOLD: f64 = 0.1;

/// The smallest pivot on the diagonal of a real factorisation of fixed order, beside its row, for which rows are
/// not exchanged: entries grow by at most twenty in a step, of which Newton's method sees nothing.
pub(crate) const DIAGONAL_PIVOT: f64 = 0.05;

/// The relative backward error above which a solution at one frequency is improved once.
pub(crate) const REFINED_BACKWARD_ERROR: f64 = 1e-13;

/// The relative backward error above which the order of pivots is not fit for a frequency.
pub(crate) const ACCEPTED_BACKWARD_ERROR: f64 = 1e-9;

/// A row of a system whose terms are this much smaller than its entries times the largest unknown holds nothing
/// but rounding: its unknowns are zero, as velocities are where a spring holds a load.
pub(crate) const VANISHING_ROW: f64 = 1e-14;

/// Sweeps in which rows and columns of a matrix are brought to one size.
pub(crate) const STATE_SCALING_SWEEPS: usize = 4;

/// The condition number of a state matrix with rows and columns of one size, beside its order, above which it is taken
/// for singular: no digit of
/// a static gain would be left.
pub(crate) const SINGULAR_CONDITION: f64 = 1e14;

// Poles, zeros, frequencies.

/// The direct gain, beside what it is the difference of, below which an output does not read the input at once.
pub(crate) const DIRECT_GAIN: f64 = 1e-12;

/// The distance of a pole and a zero, beside the zero, below which they cancel in floating point: eigenvalues of
/// non-normal matrices keep about half of their digits.
pub(crate) const CANCELLING_DISTANCE: f64 = 1e-9;

/// The same beside the largest pole, for zeros near the origin.
pub(crate) const CANCELLING_DISTANCE_OF_LARGEST: f64 = 1e-13;

/// The ratio of two frequencies, less one, below which they are one point of a grid.
pub(crate) const SAME_FREQUENCY: f64 = 1e-7;

/// Refinement of a frequency grid stops where a straight line of the Bode diagram is this close: the ratio of
/// magnitudes less one (0.17 dB), and the angle in rad (2°). A reader sees no less.
pub(crate) const STRAIGHT_BODE: (f64, f64) = (0.02, 0.035);

/// The damping ratio below which a pole lies on the imaginary axis for a frequency grid.
pub(crate) const UNDAMPED: f64 = 1e-6;

/// The relative distance from a pole on the imaginary axis at which its mode is looked at.
pub(crate) const BESIDE_POLE: f64 = 1e-9;

// Derivatives by parameters.

/// The sum of the terms of a contour integral, beside their sizes, below which it is zero.
pub(crate) const CONTOUR_ROUNDING: f64 = 1e-12;

/// Derivatives of poles and zeros by the state equations and by the graph's own that agree to this part of their size
/// are the same.
pub(crate) const AGREEING_DERIVATIVE: f64 = 1e-9;

/// The radius of a contour, beside the root, below which the root is too near to another to be differentiated.
pub(crate) const SMALLEST_CONTOUR: f64 = 1e-9;

/// By this part entries are changed to tell a response from rounding: far above rounding, far below what anybody
/// measures.
pub(crate) const CHANGED_ENTRY: f64 = 1e-9;
/// The same of entries that are known as well as an operating point is.
pub(crate) const CHANGED_TANGENT: f64 = 1e-8;
/// A response that is at most this part of what such changes make of it is nothing but rounding, which changes entries by
/// a millionth of that.
pub(crate) const LEFT_BY_ROUNDING: f64 = 1e-2;
/// On a circle round zero a function has no pole there if what belongs to it is below this part of what the function is
/// made of.
pub(crate) const POLE_PART: f64 = 1e-9;
/// Derivatives of roots that the matrices and the graph tell otherwise are decided by exact polynomials of models of so
/// many states: some milliseconds for each parameter.
pub(crate) const EXACT_MOVES: usize = 30;
/// Beside their sizes, sums of exact coefficients at a root that are smaller are rounding of the root.
pub(crate) const CANCELLED_MOVE: f64 = 1e-10;
/// The change of a root or gain for a change of the parameter by its own size, beside the root or gain, below
/// which the derivative is zero.
pub(crate) const VANISHING_CHANGE: f64 = 1e-11;

/// The relative difference between a derivative in symbols and in numbers up to which the two agree.
pub(crate) const SYMBOLIC_AGREEMENT: f64 = 1e-6;

/// The speed with which a variable moves with a parameter, beside its parts, below which it does not.
pub(crate) const VANISHING_SPEED: f64 = 1e-9;

/// The part of its width by which samples leave a first-order band where that is taken for wrong …
pub(crate) const BAND_EXCESS: f64 = 0.05;

/// … and the part of the nominal magnitude.
pub(crate) const BAND_EXCESS_OF_MAGNITUDE: f64 = 1e-6;

// Operating points.

/// The length of a Newton correction beside the largest values met, and the largest residual beside its parts, at
/// which an iteration has converged.
pub(crate) const CONVERGED_RESIDUAL: f64 = 1e-13;

/// The largest residual beside its parts that is accepted where an iteration comes no further.
pub(crate) const ACCEPTED_RESIDUAL: f64 = 1e-9;

/// The largest residual beside that of the start at which a search has arrived: near a singularity every
/// correction is small, but the residual stays.
pub(crate) const REDUCED_RESIDUAL: f64 = 1e-7;

/// The smallest fraction of a Newton correction that is tried.
pub(crate) const SMALLEST_DAMPING: f64 = 1e-7;

/// A component this much smaller than the largest value it had on the way may be zero.
pub(crate) const SMALL_COMPONENT: f64 = 1e-9;

/// What a residual may grow by, beside its parts, when small components are set to zero.
pub(crate) const ROUNDED_RESIDUAL: f64 = 1e-14;

/// A correction of a steady state near a known one, beside both, at which it has been found.
pub(crate) const CONVERGED_SHIFT: f64 = 1e-13;

/// A sum of rates this much smaller than its parts is zero, so that a combination of states is conserved.
pub(crate) const CONSERVED_SUM: f64 = 1e-11;

/// The difference of the rates of a combination at two points, beside their sizes, up to which they are one.
pub(crate) const SAME_RATE: f64 = 1e-8;

/// The relative difference up to which a coefficient is meant to be a fraction.
pub(crate) const MEANT_FRACTION: f64 = 1e-12;

/// The distance of two steady states beside their size above which they are two.
pub(crate) const DISTINCT_POINTS: f64 = 1e-6;

/// Steady states whose parts are below this part of the initial state do not differ in them: Newton's method goes
/// towards a zero of several orders for ever.
pub(crate) const FAINT_STATE: f64 = 1e-9;

/// Nor where they differ by less than this part of where Newton's method came from: some units in the last place.
pub(crate) const ROUNDED_SEED: f64 = 1e-14;

/// The same beside what makes the points up, which rounding may move by so much.
pub(crate) const ROUNDED_POINTS: f64 = 1e-11;

/// The error of one step of the integration to rest, beside the largest states.
pub(crate) const REST_STEP_ERROR: f64 = 1e-11;

/// What is left to the steady state, beside the largest states, at which the integration ends.
pub(crate) const REST_DISTANCE: f64 = 1e-11;

// Laws without derivatives.

/// Distances from a point, beside the sizes of what makes it up, at which derivatives are compared: at rounding
/// errors, well above them, and where a law shows what it is like.
pub(crate) const PROBE_DISTANCES: [f64; 3] = [1e-15, 1e-11, 1e-3];

/// The factor by which a derivative falls to all sides where it is infinite at the point.
pub(crate) const INFINITE_GROWTH: f64 = 2.0;

/// The relative change of a derivative by rounding up to which it keeps its significant digits …
pub(crate) const LOSS_OF_SIGNIFICANCE: f64 = 1e-6;

/// … and that from which nothing of it is left.
pub(crate) const TOTAL_LOSS_OF_SIGNIFICANCE: f64 = 1e-2;

/// Pairs of distances, beside the size of the variable (or one), at which difference quotients of laws are
/// compared.
pub(crate) const DIFFERENCE_DISTANCES: [(f64, f64); 3] = [(1e-4, 1e-6), (1e-7, 1e-9), (1e-10, 1e-12)];

/// What is left of a zero after rounding, beside what makes it up; well below the distances above.
pub(crate) const ROUNDED_ZERO: f64 = 1e-11;

/// The rounding error of the value of a law, beside it, in a difference quotient.
pub(crate) const LAW_ROUNDING: f64 = 1e-13;

// Sizes of models and budgets.

/// The largest order whose characteristic polynomial is computed exactly: its work grows with the fourth power.
pub const EXACT_STATES: usize = 60;

/// The largest order whose eigenvalues are computed: dense work, which grows with the cube.
pub const EIGENVALUE_STATES: usize = 3000;

/// The largest order whose zeros are computed: a generalised eigenvalue problem for each pair of input and output.
pub const ZERO_STATES: usize = 400;

/// The largest order for which estimates are made: each of them reads the graph anew.
pub(crate) const ESTIMATED_STATES: usize = 400;

/// Models of more states than this have their zero dynamics left out: a large form in symbols that nobody reads.
pub(crate) const ZERO_DYNAMICS_STATES: usize = 40;

/// The largest order whose modes are differentiated: each root needs the inverse of a dense matrix.
pub const DIFFERENTIATED_STATES: usize = 100;

/// How often a new order of pivots is tried for all frequencies together, before each gets its own.
pub(crate) const SHARED_SCHEDULES: usize = 6;

/// How many of the shortest rows and columns are searched for a pivot: more find hardly less fill-in.
pub(crate) const SEARCHED_PIVOTS: usize = 4;

/// Matrices up to this size are dense: indices cost more than the zeros.
pub(crate) const DENSE_SIZE: usize = 6;

// Frequencies and roots.

/// Steps per decade of a frequency grid before refinement.
pub(crate) const POINTS_PER_DECADE: f64 = 20.0;

/// The most points a refined grid has: more than a screen has columns.
pub(crate) const GRID_POINTS: usize = 4000;

/// The precision that the iteration for roots starts with, in bits: twice that of the result.
pub(crate) const START_BITS: usize = 128;

/// The precision in bits that roots and exact numbers may go up to: nobody gave a model so many digits.
pub(crate) const LARGEST_PRECISION: usize = 1 << 14;

/// A root is found when its disc is this many bits smaller than its magnitude: a few more than a double has.
pub(crate) const ROOT_PRECISION: f64 = 58.0;

/// Real parts this many bits below the magnitude are those of roots and of pi cut off, not of the model.
pub(crate) const NOISE_BITS: i64 = 90;

/// Imaginary parts this many bits below the magnitude are lost in floating point.
pub(crate) const PAIR_BITS: i64 = 54;

/// Roots and pi are taken to this many bits, and larger numbers rounded to it.
pub(crate) const CUT_OFF_BITS: usize = 256;

/// Points on the contour around a root: the error falls as the radius to their power.
pub(crate) const CONTOUR_POINTS: usize = 32;

/// The contour's radius, as a part of the distance to the nearest other root: near enough for the sum to converge,
/// far enough for little rounding.
pub(crate) const CONTOUR_RADIUS: f64 = 0.3;

/// Points of a tolerance band where the user names none.
pub(crate) const BAND_POINTS: usize = 200;

/// The relative tolerance taken for every parameter where the model gives none: that of good resistors.
pub(crate) const ASSUMED_TOLERANCE: f64 = 0.01;

/// Monte Carlo samples that one thread draws before their extremes are joined with those of others.
pub(crate) const SAMPLE_BATCH: usize = 16;

// Points and trials at an operating point.

/// Points at which derivatives are compared for what is conserved: two may agree by chance.
pub(crate) const CONSERVED_POINTS: usize = 4;

/// Points at each distance from a point that is probed.
pub(crate) const PROBE_POINTS: usize = 6;

/// Right-hand sides of random signs by which |F_w⁻¹| is estimated.
pub(crate) const CONDITION_TRIALS: usize = 8;

/// Steps of the integration to rest before it is given up, at least.
pub(crate) const REST_STEPS: usize = 3000;

/// Steps of that integration times its unknowns: a small model may swing some hundred times before it rests.
pub(crate) const REST_WORK: usize = 150_000;

/// Columns of the extrapolation table of that integration.
pub(crate) const EXTRAPOLATION_ORDER: usize = 6;

// Searches for an operating point.

/// Corrections of Newton's method before it is given up: far more than it needs where it converges at all.
pub(crate) const OPERATING_ITERATIONS: usize = 120;

/// The same for a steady state near a known one.
pub(crate) const SHIFT_ITERATIONS: usize = 50;

/// Distances from a point without derivatives, beside its own values, at which they are taken instead; twice each,
/// because a random point may meet a kink as well.
pub(crate) const NEARBY_DISTANCES: [f64; 6] = [1e-10, 1e-7, 1e-4, 1e-10, 1e-7, 1e-4];

/// Implicit steps along the dynamics before they are given up; they grow by factors.
pub(crate) const FOLLOWED_STEPS: usize = 400;

/// The first of them beside the fastest time constant …
pub(crate) const FIRST_FOLLOWED_STEP: f64 = 0.1;

/// … of which no rate is slower than this: models without dynamics take long steps at once.
pub(crate) const SLOWEST_RATE: f64 = 1e-12;

/// The residual after a step, beside that before, above which the equations are too far from linear for it …
pub(crate) const FOLLOWED_NONLINEARITY: f64 = 0.3;

/// … and below which the next one is much longer.
pub(crate) const FOLLOWED_LINEARITY: f64 = 0.05;

/// Steps below this lead nowhere, in seconds: no model is as fast.
pub(crate) const SHORTEST_FOLLOWED_STEP: f64 = 1e-30;

/// Steps above this are Newton's method, in seconds.
pub(crate) const LONGEST_FOLLOWED_STEP: f64 = 1e40;

/// Steps of the homotopy that turns the residual of the start down to zero.
pub(crate) const HOMOTOPY_STEPS: usize = 200;

/// Where a solution of the homotopy is further from what the tangent predicts than this part of its move, it may be one
/// of another branch.
pub(crate) const STRAYED_HOMOTOPY: f64 = 0.5;
/// Steps shorter than this are not guided by tangents: at the start laws may have none.
pub(crate) const UNGUIDED_HOMOTOPY_STEP: f64 = 1e-3;

/// The smallest of them, as a part of the way: a path that needs shorter ones turns back.
pub(crate) const SMALLEST_HOMOTOPY_STEP: f64 = 1e-5;

/// The first step of the integration to rest beside the fastest time constant.
pub(crate) const FIRST_REST_STEP: f64 = 1e-2;

/// Errors of its steps below this part of what is allowed count as this: steps grow by their bound anyway.
pub(crate) const LEAST_REST_ERROR: f64 = 1e-12;

/// A difference quotient is more than rounding where it is so many times as large as that.
pub(crate) const QUOTIENT_NOISE: f64 = 20.0;

/// The growth of a difference quotient, at a hundredth of the distance, that shows a jump: half of a hundred.
pub(crate) const JUMP_GROWTH: f64 = 50.0;

/// The difference of quotients to both sides, beside the larger, from which there is a kink …
pub(crate) const KINK_DIFFERENCE: f64 = 1e-3;

/// … if it is no smaller part than this of the difference farther away: that of a smooth law falls to a hundredth.
pub(crate) const KINK_PERSISTENCE: f64 = 0.3;

// Range of floating point.

/// Magnitudes below this are zero: their squares and quotients are none.
pub(crate) const SMALLEST_MAGNITUDE: f64 = 1e-300;

/// A row whose terms are below this says nothing of an error: rounding is no part of them any more.
pub(crate) const UNDERFLOWING_ROW: f64 = 1e-290;

/// Roots nearer than this, beside their magnitude, are one: two units of rounding.
pub(crate) const SAME_ROOT: f64 = 4e-16;

/// By this angle a root is turned where the polynomial has no derivative: away from the symmetry that made it so.
pub(crate) const ROOT_TURN: f64 = 1e-3;

/// A divisor below this part of what its variables can make of it vanishes at a point: the equations that divide by
/// it have no derivatives there that could be believed.
pub(crate) const VANISHING_DIVISOR_SHARE: f64 = 1e-6;
/// By this part of their values states are moved to see how large a divisor is nearby: enough to leave its zero.
pub(crate) const NEARBY: f64 = 1e-2;
/// By this part moves of states are changed to see what those of other variables are made of.
pub(crate) const MOVED_SHARE: f64 = 0.1;
/// So far beside zero a law of dry friction is looked at, and nearer: their squares are numbers, and even flat roots
/// are much smaller at the second.
pub(crate) const JUMP_SIDES: [f64; 2] = [1e-50, 1e-150];
/// By so much a law with an infinite derivative is steeper at the nearer of these: roots are by 10⁵⁰, derivatives of smooth
/// laws are equal.
pub(crate) const STEEPER: f64 = 1e3;
/// What is left of a jump nearer to it is at least this part.
pub(crate) const JUMP_SHARE: f64 = 0.5;
/// So far beside the border of a choice, beside the size of a variable, its branches are looked at: near rounding.
pub(crate) const BESIDE_A_BORDER: f64 = 1e-14;
/// Derivatives of two branches that differ by no more than this part are one: there is no kink.
pub(crate) const AGREEING_SIDES: f64 = 1e-9;
/// A steady state is one only where rounding of its variables changes no residual by more than this part of what
/// is known in it: at 1e13 rad sines are noise.
pub(crate) const BALANCED_WITHIN: f64 = 1e-4;
/// A flow at rest is zero within this part of what makes it up: Newton's method leaves less.
pub(crate) const ROUNDED_REST: f64 = 1e-9;
/// A friction force may exceed its limit by this part of it, which is rounding; sides of a law closer than that do
/// not make a jump, and rests closer than that are one.
pub(crate) const WITHIN_LIMITS: f64 = 1e-9;
/// An entry of a matrix that is no more than so many times what rounding of the operating point makes of it is zero.
pub(crate) const ZERO_ENTRY: f64 = 16.0;
/// An entry without significant digits below this part of its row and column is rounding of others.
pub(crate) const NOISE_ENTRY: f64 = 1e-12;
/// Derivatives so many times as large as at another steady state belong to a pole of the equations.
pub(crate) const POLE_DERIVATIVES: f64 = 1e8;
/// Sums over a left null vector this much smaller than their terms are zero: the vector itself is known to a part of
/// this.
pub(crate) const TURNED_SUM: f64 = 1e-7;
/// Poles of conserved combinations are below this part of the largest: what rounding makes of zero, and of several
/// zeros together.
pub(crate) const CONSERVED_POLE: f64 = 1e-8;

/// Implicit unknowns of the rates are solved once a correction is this small beside them: the next would be rounding.
pub(crate) const RATE_UNKNOWNS: f64 = 1e-12;

/// By this part of its size everything is moved to see what a variable is made of: far above rounding, and little
/// enough that a curved law does not show.
pub(crate) const SMALL_CHANGE: f64 = 1e-6;
/// By this part parameters are changed for differences that check derivatives: its square, and rounding beside it, are
/// far below what these agree to.
pub(crate) const CHECKED_DIFFERENCE: f64 = 1e-5;
/// Parameters and inputs are changed by this part, and up to twice of it, to see what is zero at every rest: enough
/// to tell a change from rounding, too little to reach another rest.
pub(crate) const MOVED_REST: f64 = 1e-3;
/// What is below this part of its terms at a rest beside the operating point is zero at every rest: Newton's method
/// leaves less, and a change by [`MOVED_REST`] makes more.
pub(crate) const ZERO_BESIDE_REST: f64 = 1e-8;
/// A Markov parameter below this part of its terms is zero: states at rest are known to fewer digits than they
/// have.
pub(crate) const ZERO_MARKOV_PARAMETER: f64 = 1e-10;
/// A static gain, or its derivative, below this part of its terms is zero: the inverse of A that they are made with
/// has lost some digits.
pub(crate) const CANCELLED_GAIN: f64 = 1e-12;

/// The largest denominator of a coefficient that somebody meant, as 3/7 in a sum that is conserved.
pub(crate) const LARGEST_DENOMINATOR: f64 = 1e4;

/// A state that a search has brought to so many times what it began with, or what is one in its unit, runs away.
pub(crate) const RUNAWAY_GROWTH: f64 = 1e4;

/// The first step in time, in s, along the motion of a model whose states have no rates of their own.
pub(crate) const FIRST_STEP_OF_REST: f64 = 1e-3;

/// Beyond this angle a sine is anything between −1 and 1: rounding of the angle moves it by more than 10⁻⁴.
pub(crate) const LARGEST_ENCLOSED_ANGLE: f64 = 1e12;

/// Cube roots of numbers from the first to the second are calculated by ourselves: neither they nor their parts leave
/// the range of normal numbers.
pub(crate) const ROOTED: [f64; 2] = [1e-300, 1e300];
/// Powers are divided by bases that are larger than this, whose squares are still normal numbers.
pub(crate) const LEAST_BASE: f64 = 1e-150;

// Starts of searches.

/// How often the nearest parts of what was found are tried together: each time a new steady state may show more.
pub(crate) const MIXED_SEEDS: usize = 3;
/// Models of at most so many states and unknowns are followed in time as well where Newton's method arrives at once: it
/// costs as much as the search itself.
pub(crate) const FOLLOWED_STATES: usize = 100;
/// Of several rests of a model with at most so many states and unknowns the one that the motion from the initial state
/// reaches is found by accurate integration.
pub(crate) const INTEGRATED_STATES: usize = 30;
/// Values tried for implicit unknowns: small ones of both signs first, most of them not where laws bend.
pub(crate) const UNKNOWN_GUESSES: [f64; 8] = [0.0, 0.3, 1.0, -0.5, 3.0, 1e-3, 100.0, -30.0];
/// Sizes of states and unknowns that are tried; laws are not defined everywhere.
pub(crate) const TRIED_SIZES: [f64; 5] = [1.0, 1e-3, 1e2, 1e-6, 1e-9];
/// What counts as the size of a state that is zero, in turn: of capacitors, say, it is small.
pub(crate) const SIZES_OF_ZERO: [f64; 3] = [1.0, 1e-3, 1e-6];
/// How far about what is known searches begin, in its size, in turn.
pub(crate) const SEED_DISTANCES: [f64; 4] = [1.0, 3.0, 0.3, 10.0];
/// Newton iterations for the implicit unknowns of rates, where no neighbouring solution is known.
pub(crate) const RATE_ITERATIONS: usize = 100;
/// The smallest fraction of a Newton correction that is tried there: from farther away a solver's next try is better.
pub(crate) const RATE_DAMPING: f64 = 1e-6;
