//! Tolerances and limits of the bounds, each with what it bounds and why.

/// Newton's method stops at this decrement: close enough to a centre to follow the path of centres. Looser centres save
/// steps for few channels and cost many times as much for thirty.
pub const CENTRED: f64 = 0.9;

/// Up to this decrement a whole Newton step is tried before a damped one.
pub const WHOLE_NEWTON_STEP: f64 = 2.0;

/// Newton steps at one frequency; some tens are usual.
pub const NEWTON_STEPS: usize = 200;

/// The largest share of the bound that one step along the path of centres takes away.
pub const FARTHEST_TOWARDS_BOUNDARY: f64 = 0.98;

/// A step along the path that leaves the region is tried again with this share of its length, one that stays inside
/// with its length divided by it.
pub const SHORTER: f64 = 0.7;

/// The share of a step that just stays inside that is gone: further would cost more steps to the next centre.
pub const REDUCTION: f64 = 0.85;

/// Steps along the path shorter than this share of the bound are none.
pub const NO_ADVANCE: f64 = 1e-14;

/// The share of what is left to the boundary by which the last bound is still reduced.
pub const LAST_SHARE: f64 = 0.999;

/// What is added to the diagonal of the Hessian, relative, for combinations of scalings without effect.
pub const RIDGE: f64 = 1e-11;

/// How close upper bounds come to the best that scalings can prove, relative.
pub const UPPER_TOLERANCE: f64 = 1e-4;

/// Bounds below this share of the norm of the matrix count as zero and are not made smaller.
pub const NEGLIGIBLE_BOUND: f64 = 1e-4;

/// Sweeps of the balancing that comes before the scalings, at most; a sweep costs little beside one Newton step.
pub const BALANCING_SWEEPS: usize = 40;

/// Balancing ends where the logarithms of all factors of a sweep are below this: it only has to bring the magnitudes
/// together.
pub const BALANCED: f64 = 0.3;

/// κ: the weight of tr (S/t) in the barrier. It lets S be some times larger than without G, and no more.
pub const SLACK_WEIGHT: f64 = 0.1;

/// What is added to the Hessian for G, in its own measure: rounding of a gradient that should be zero moves it by no
/// more than 10⁻⁶, and what has an effect of 10⁻⁵ is not held.
pub const RIDGE_OF_G: f64 = 1e-10;

/// Entries below this share of the largest of a balanced matrix are no coupling between its parts; what proves the
/// bound of the whole is checked with them.
pub const NO_COUPLING: f64 = 1e-10;

/// How small a part is made beside what it reads, tried in turn: little separation is good for the frequencies beside.
pub const SEPARATIONS: [f64; 6] = [0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8];

/// Below this share of the slowest pole the model is the one at frequency zero to as many digits, and linear in the
/// frequency beyond them.
pub const CALM: f64 = 1e-3;

/// By how much, relative, a proof may lie above what is attained: rounding of both. More is a contradiction.
pub const CONTRADICTION: f64 = 1e-6;

/// The share of the gap asked for at which a proof is tried before branch and bound: inside, but hardly.
pub const CLOSING: f64 = 0.9;

/// Where intervals that reach infinity are looked at first, as a multiple of the fastest pole.
pub const BEYOND_POLES: f64 = 100.0;

/// Scalings of repeated blocks have full matrices up to this many unknowns, diagonal ones beyond: the cost
/// of a step is the cube of their number. The bound stays one.
pub const FULL_SCALINGS: usize = 400;

/// A real part up to this share of its magnitude counts as on the imaginary axis: a crossing of a certificate
/// that is found without being there costs an interval its end, one that is missed would cost the proof.
pub const AXIS_OF_MAGNITUDE: f64 = 1e-7;

/// The same as a share of the largest entry of the matrix, by which eigenvalues are rounded.
pub const AXIS_OF_MATRIX: f64 = 1e-12;

/// Eigenvalues with a real part up to this share of their magnitude are where a proof is looked at again.
pub const BESIDE_AXIS: f64 = 0.3;

/// How far before the end of the scaling, relative, searches for unstable parameters end: where a parameter is zero the
/// equations may have no solution, or fewer states, and neither is a loss of stability.
pub const END_OF_SCALING: f64 = 1e-6;

/// How much above the largest bound found at a frequency the bound for all frequencies is proved: the
/// promise is one percent, and half of it makes intervals wide.
pub const BOUND_SLACK: f64 = 0.005;

/// Certificates tried for one axis; what is not covered then is listed as unresolved.
pub const CERTIFICATES: usize = 2000;

/// Intervals of frequency narrower than this, relative, are not cut further.
pub const NARROW_INTERVAL: f64 = 1e-9;

/// Matrices of more rows have their eigenvalues with the digits of a double: `faer` multiplies larger ones of twice the
/// digits by kernels that it has for doubles alone.
pub const STATES_OF_TWICE: usize = 16;

/// Poles closer to the imaginary axis than this share of the largest may be on it but for rounding: they are found with
/// more digits before anything is said of them.
pub const ON_THE_AXIS: f64 = 1e-9;

/// How far the last of twice the digits moves an eigenvalue, as a share of the largest: some hundred units of 10⁻³².
pub const TWICE_THE_DIGITS: f64 = 1e-28;

/// About how many operations one of twice the digits takes.
pub const OPERATIONS_OF_TWICE: u64 = 20;

/// By how much, of what it was added up from, an entry of a matrix may be rounded: some operations made it.
pub const ENTRY_ROUNDING: f64 = 1e-15;

/// The same for entries that were projected on other coordinates, as a share of the largest.
pub const PROJECTED_ROUNDING: f64 = 1e-13;

/// How often entries are rounded otherwise to see whether they determine a pole.
pub const ROUNDED_OTHERWISE: u64 = 6;

/// Singular values below this share of the largest count as zero where fixed modes are set aside.
pub const RANK: f64 = 1e-10;

/// Steps of one local search for the smallest destabilising parameters.
pub const SEARCH_STEPS: usize = 200;

/// Steps of one local search for the largest gain.
pub const GAIN_STEPS: usize = 60;

/// Vertices of the box are tried one by one up to this many parameters.
pub const VERTEX_PARAMETERS: usize = 8;

/// Relative change at which searches end.
pub const SEARCH_TOLERANCE: f64 = 1e-10;

/// A multiple of parameters below this is none: the nominal model itself is unstable.
pub const SMALLEST_SCALE: f64 = 1e-12;

/// How far beyond the imaginary axis a pole is moved, of its magnitude, so that rounding does not keep it stable.
pub const PAST_THE_AXIS: f64 = 1e-9;

/// The shortest step of a search that moves a pole, of the one that would reach the axis if it were straight.
pub const SHORTEST_STEP: f64 = 1e-9;

/// A step that moves a pole by less than this share of its way to the axis does not move it.
pub const NO_GAIN: f64 = 1e-12;

/// An imaginary part down to minus this share of the magnitude counts as zero where poles of the upper half plane
/// are chosen.
pub const REAL_POLE: f64 = 1e-12;

/// Parameters count as smaller from this relative change on.
pub const SMALLER_PARAMETERS: f64 = 1e-12;

/// A parameter whose derivative is below this share of the largest does not matter to a pole, and leaves
/// it where it is where a gain is climbed.
pub const WITHOUT_EFFECT: f64 = 1e-9;

/// A state takes part in a mode from this share of the largest entry of its eigenvector on.
pub const PARTICIPATION: f64 = 1e-6;

/// How far beside an eigenvalue inverse iteration is shifted, of the size of the matrix: the solution is then large
/// along the eigenvector, and the shifted matrix not yet singular.
pub const BESIDE_EIGENVALUE: f64 = 1e-10;

/// Points per decade of frequency at which gains are first looked at.
pub const AXIS_POINTS_PER_DECADE: f64 = 30.0;

/// The squares of a neighbour's bound, times these, with which its scalings are tried as a start.
pub const WARM_STARTS: [f64; 5] = [1.02, 1.1, 1.5, 3.0, 10.0];

/// By how much, relative, the ends of a certificate's interval are drawn in, because crossings are rounded.
pub const DRAWN_IN: f64 = 1e-6;

/// The width, as a ratio, at which an interval that reaches zero or infinity is cut among the others.
pub const END_WIDTH: f64 = 100.0;

/// Points per decade at which a loop is first looked at for crossings.
pub const LOOP_POINTS_PER_DECADE: f64 = 60.0;

/// Values per decade along which closed-loop poles are followed: branches stay apart.
pub const LOCUS_POINTS_PER_DECADE: f64 = 100.0;

/// A factor of the loop gain beyond this one, or below its reciprocal, is no gain margin: at a pole or zero of the
/// loop on the axis rounding leaves 10¹³ and more.
pub const FARTHEST_FACTOR: f64 = 1e12;

/// A maximum over frequency is located to this width of its logarithm: the value is then exact but for rounding.
pub const MAXIMUM_WIDTH: f64 = 1e-9;

/// The first width, in the logarithm of frequency, of the bracket around a maximum that is near.
pub const FIRST_BRACKET: f64 = 1e-3;

/// The step of the differences by which gains are climbed, of the half width of the box.
pub const GAIN_DIFFERENCE: f64 = 1e-6;

/// Rounds in which complex blocks are chosen one after the other for the largest gain: few do where they act on one
/// another little, and each round only makes it larger.
pub const DYNAMICS_ROUNDS: usize = 20;

/// How near lower and upper bound come, relative, before the search with complex blocks ends.
pub const MIXED_TOLERANCE: f64 = 1e-4;

/// How near a bound of a part of the matrix is brought to one before it is given up: it only has to be below.
pub const PART_TOLERANCE: f64 = 1e-3;

/// Frequencies closer than this, relative, are one.
pub const SAME_LOOP_FREQUENCY: f64 = 1e-9;

/// A loop gain is real up to this imaginary part, relative: where its sign changes at a pole it is far from real.
pub const REAL_LOOP_GAIN: f64 = 1e-3;

/// Zeros of a pencil count as on the imaginary axis up to this real part, relative: they are candidates for crossings,
/// and each is looked at.
pub const NEAR_AXIS: f64 = 1e-3;

/// Where a pencil is inverted, of its size: a number that is no zero of models that people write.
pub const PENCIL_SHIFT: f64 = 0.377;

/// A search for parameters that make a determinant zero does not go farther than this, in half widths of the box.
pub const FARTHEST_PARAMETERS: f64 = 1e9;

/// Numbers this close to the direction of a step, of all of them, do not move it to a side: rounding.
pub const ALONG_THE_WAY: f64 = 1e-15;

/// Where no bound is known, a direction is followed up to this multiple.
pub const FARTHEST_SCALE: f64 = 1e3;

/// A pole below this share of the fastest is at zero but for rounding.
pub const ROUNDED_ROOT: f64 = 1e-14;

/// A derivative of a step figure below this share of the figure, over half of the box, is the rounding of differences.
pub const ROUNDED_DERIVATIVE: f64 = 1e-9;

/// How far beside a crossing that a pencil gives, relative, the change of sign is looked for.
pub const CROSSING_DISTANCE: f64 = 1e-5;

/// A step response is followed for so many time constants of its slowest pole: e⁻¹⁶ is below a part in 10⁶.
pub const SETTLED_TIMES: f64 = 16.0;

/// Samples of a step response on each scale of time before the next, which is twice as long.
pub const STEPS_PER_SCALE: usize = 64;

/// Halvings of an interval in which something changes sign: to the last bit.
pub const BISECTIONS: usize = 60;

/// Vertices of a box are all tried up to this many parameters where one trial is a whole analysis.
pub const TRIED_VERTICES: usize = 5;

/// Steps of one search for an extreme over a box.
pub const EXTREME_STEPS: usize = 20;

/// The step of the differences by which a search over a box finds its direction, of the half width.
pub const STEP_FIGURE_DIFFERENCE: f64 = 1e-4;

/// A figure counts as better from this relative change on.
pub const BETTER: f64 = 1e-9;

/// After so many of its own time constants an oscillation is no longer followed: e⁻²⁵ is below a part in 10¹⁰.
pub const DECAYED_TIMES: f64 = 25.0;

/// A step response that oscillates for more samples than this before it has decayed counts as one that does not
/// settle: a damping ratio below about 10⁻³, and long work at each of the parameters that are tried.
pub const LONGEST_STEP_RESPONSE: f64 = 2e5;

/// A final value below this share of the largest value is zero: digits of the larger ones are lost there.
pub const ROUNDED_FINAL: f64 = 1e-9;

/// Models drawn for the picture of poles.
pub const CLOUD_SAMPLES: usize = 300;

/// A determinant counts as zero where relative changes of the parameters this small make it so.
pub const SINGULAR: f64 = 1e-11;

/// Steps of one search for parameters that make a determinant zero.
pub const SINGULAR_STEPS: usize = 60;

/// Relative change at which a search for smaller parameters with a pole at one frequency ends: the bounds
/// from above are not closer than that.
pub const SINGULAR_IMPROVED: f64 = 1e-5;

/// How far from its frequency, relative to it or to the slowest pole of the nominal model, the pole of a bound from below
/// may lie: a double pole is rounded by the root of the precision.
pub const VERIFIED_POLE: f64 = 1e-6;

/// The complex share ε of a real parameter where its bound is made continuous: it raises the bound by about as
/// much, a tenth of what is promised.
pub const COMPLEX_SHARE: f64 = 1e-3;

/// From this relative width on, an interval that resists is tried with the regularised model: its peaks are
/// wider than this unless damping is below a hundredth of a percent.
pub const REGULARISED_INTERVAL: f64 = 1e-5;

/// Where in an interval a certificate is looked at besides, as shares of its length by ratios: near its ends, where
/// crossings are rounded, and within.
pub const PLACES_INSIDE: [f64; 4] = [0.02, 0.35, 0.65, 0.98];

/// Frequencies that still have products and quotients.
pub const FINITE_FREQUENCIES: [f64; 2] = [1e-300, 1e300];

/// An interval that reaches zero or infinity is looked at over so many decades beyond its frequency: there a model is
/// the one at its end.
pub const DECADES_OUTWARD: f64 = 4.0;

/// Vertices of a box are all tried up to this many parameters where a margin is looked for, and a fixed number of
/// them drawn beyond.
pub const PIECE_VERTICES: usize = 6;

/// Vertices drawn where all are too many.
pub const DRAWN_VERTICES: usize = 64;

/// Searches for the smallest margin from the best of what was tried, beside that from the nominal parameters.
pub const PIECE_SEARCHES: usize = 3;

/// Steps along one parameter, of the half width of the box: from side to side first.
pub const PIECE_STEPS: [f64; 4] = [2.0, 0.5, 0.1, 0.02];

/// Steps in drawn directions after those along single parameters.
pub const DRAWN_STEPS: usize = 24;

/// A search for the smallest margin goes on from this relative change on.
pub const ANOTHER_SWEEP: f64 = 1e-6;

/// Intervals without a proof that are closer than this, relative, are told as one.
pub const NEIGHBOURING_INTERVAL: f64 = 1e-3;

/// By how much larger bounds are tried, one after the other, where the least one is not proved.
pub const LOOSER_BOUNDS: [f64; 6] = [1.02, 1.1, 1.4, 2.0, 5.0, 20.0];

/// The share of the work that bounds at the frequencies asked for may take.
pub const SWEEP_SHARE: f64 = 0.3;

/// The share of what is left then in which the bound of the whole axis is proved within a percent, before larger ones
/// are tried.
pub const CLOSE_SHARE: f64 = 0.6;

/// The share of the work that the margin of stability may take where a gain is asked for too.
pub const STABILITY_SHARE: f64 = 0.5;

/// The share of what is left that the bound over frequency may take, before anything is searched for.
pub const FREQUENCY_BOUND_SHARE: f64 = 0.7;

/// The share of what is left that one search may take before others that follow it.
pub const FIRST_SHARE: f64 = 0.5;

/// Operations that poles at samples may take, which are for a picture only.
pub const CLOUD_OPERATIONS: u64 = 2_000_000_000;

/// How much closer to zero a parameter is looked at just beyond the end of the scaling, to see where a pole comes from.
pub const CLOSER_TO_ZERO: f64 = 0.1;

/// About how many frequencies one search for the largest gain over frequency looks at.
pub const GAIN_FREQUENCIES: u64 = 300;

/// Vertices of the box of a model's own parameters are tried for so many of these: each costs the model derived anew where
/// it is not linear.
pub(crate) const OWN_VERTICES: usize = 6;

/// Of an entry of a closed model that is smaller than this part of it without its loop, only rounding is left: some tens
/// of operations have made it.
pub(crate) const LOOP_ROUNDING: f64 = 1e-14;
