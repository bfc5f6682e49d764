//! Every numeric tolerance of the crate: what it bounds, in which measure, and
//! why that value. Shares are parts of what they are compared with.

// Zero crossings.

/// A function within so many relative tolerances of its largest value counts as zero: the solution is known
/// no better, and errors accumulate over steps.
pub(crate) const EVENT_TOLERANCE_FACTOR: f64 = 10.0;
/// The cubic through both ends of a step differs from its dense output by less than this part of its deviation
/// from the chord: the deviation is of the second order in the step, the difference of the fourth.
pub(crate) const CUBIC_ERROR: f64 = 0.25;
/// A step is divided into so many parts at most to enclose event functions; each takes some evaluations.
pub(crate) const ENCLOSURE_PARTS: i32 = 4000;
/// And into so many in which unknowns cannot be enclosed: there functions are sampled at the ends of parts.
pub(crate) const ENCLOSURE_UNBOUNDED_PARTS: i32 = 100;
/// No part is narrower than this: the dense output is not known better.
pub(crate) const NARROWEST_PART: f64 = 1e-7;
/// So many intervals of time are searched for an event of a function of time alone; each lies a halving deeper
/// or further on, so that thousands of periods are within reach of one step.
pub(crate) const TIME_EVENT_SEARCH: i32 = 100_000;
/// So often an interval is halved to see to which side a function of time leaves its zero: down to rounding.
pub(crate) const SIDE_HALVINGS: u32 = 50;
/// Its derivative is of one sign but for this part: what rounding makes of its bounds where it is zero.
pub(crate) const SIDE_ROUNDING: f64 = 1e-12;
/// Newton iterations that polish the time of such an event; a straight function needs one.
pub(crate) const TIME_EVENT_POLISHES: u32 = 2;
/// Where in an implicit step the defect of its dense output is looked at: away from the stages.
pub(crate) const DEFECT_PLACES: [f64; 3] = [0.21, 0.55, 0.83];
/// Event functions may differ between dense output and solution by so many relative tolerances of their size in
/// the step: crossings less deep than that are grazing.
pub(crate) const DEFECT_TOLERANCES: f64 = 1e3;
/// And by no more than this part.
pub(crate) const LARGEST_DEFECT: f64 = 1e-3;
/// Steps shorter than this part of the run are not made shorter for it: they follow what has no smooth solution.
pub(crate) const DEFECT_SPAN: f64 = 1e-10;
/// So many parts of a step are searched for a variation of signals that stages have not seen; a narrow bump
/// is found after two for each halving.
pub(crate) const SIGNAL_PARTS: usize = 500;
/// Signals are enclosed within this factor of what is seen of them, so that too large a bound hides no variation …
pub(crate) const SIGNAL_BOUND_FACTOR: f64 = 4.0;
/// … over so many parts at most: halved again and again, the first is a billionth.
pub(crate) const SIGNAL_BOUND_PARTS: usize = 30;
/// A term whose derivative allows it to vary by more than so many times what stages have seen of it is not resolved
/// by them; a sine within a third of its period is.
pub(crate) const UNSEEN_VARIATION: f64 = 10.0;
/// A step is shortened to where such a variation begins, unless that is less than this part of it …
pub(crate) const SIGNAL_RETRY: f64 = 0.02;
/// … where it is shortened to this part: stages so near see the variation themselves.
pub(crate) const SIGNAL_STEP: f64 = 0.25;
/// What rounding makes of a linear form beside the sum of the sizes of its terms: some operations for each of them.
pub(crate) const FORM_ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Closer to zero than so many of these roundings event functions themselves are evaluated instead.
pub(crate) const FORM_RESOLUTION: f64 = 1e3;
/// An event function that the tolerances of its states let vary by more than so many times what counts as its zero is
/// not determined by them: where it comes to its zero for a moment only, that would not be seen.
pub(crate) const UNDETERMINED_FUNCTION: f64 = 10.0;
/// Nor is one that they let vary by more than this part of its size.
pub(crate) const LARGEST_UNDETERMINED_FUNCTION: f64 = 0.1;
/// It is followed if it forgets all but this part of what it was within a step.
pub(crate) const RELAXED_SHARE: f64 = 0.1;
/// Its size is the largest that it has been, less this factor for each step since.
pub(crate) const FUNCTION_MEMORY: f64 = 0.7;
/// It relaxes in a step where its rate at the start would change it by so many times its size.
pub(crate) const RELAXING_CHANGE: f64 = 4.0;
/// Such a step is shortened to this part of it: what happens in the meantime is seen at its ends only.
pub(crate) const RELAXING_STEP: f64 = 1e-2;
/// Fast states settle after an event for rounds of this part of the run, where such functions read them …
pub(crate) const SETTLING_SPAN: f64 = 1e-8;
/// … at most so many times …
pub(crate) const SETTLING_ROUNDS: u32 = 4;
/// … if they move by less than this part of what their rates would make of them …
pub(crate) const SETTLING_SHARE: f64 = 0.1;
/// … by so many tolerances at most, or by what the location of an event leaves.
pub(crate) const SETTLED_TOLERANCES: f64 = 10.0;
/// More unknowns are not enclosed: the work rises with their cube.
pub(crate) const KRAWCZYK_UNKNOWNS: usize = 24;
/// Rounds in which the enclosure of unknowns is widened.
pub(crate) const KRAWCZYK_ITERATIONS: u32 = 4;
/// By this factor it is wider than what the operator makes of it.
pub(crate) const KRAWCZYK_INFLATION: f64 = 1.5;
/// And by this part of the unknowns at least: their rounding, after Newton's method.
pub(crate) const KRAWCZYK_ROUNDING: f64 = 1e-12;
/// An event whose derivative cancels to this part of its terms grazes: half the digits are lost.
pub(crate) const GRAZING_CANCELLATION: f64 = 1e-7;
/// An event whose derivative is below this part of its mean rate in the step grazes: there the time of the
/// event, and with it every sensitivity, is no longer determined.
pub(crate) const GRAZING_RATE_SHARE: f64 = 1e-5;
/// A derivative below this part of the sum of its terms is zero: cancellation leaves four digits of doubt.
pub(crate) const DERIVATIVE_CANCELLATION: f64 = 1e-12;
/// Crossings closer than this part of a step are simultaneous: the root is bracketed more tightly than that.
pub(crate) const SIMULTANEOUS_STEP_SHARE: f64 = 1e-12;
/// Time events closer than this part of their time are simultaneous: rounding of the time itself.
pub(crate) const SIMULTANEOUS_TIME_SHARE: f64 = 1e-14;
/// Events closer than this part of the whole run count as one instant where chattering is detected.
pub(crate) const SIMULTANEOUS_SPAN_SHARE: f64 = 1e-9;
/// A root is bracketed to this part of the step, which is the rounding of a place in it.
pub(crate) const ROOT_BRACKET: f64 = 4.0 * f64::EPSILON;
/// Iterations of the root finder; bisection alone takes fifty, and interpolation seldom more than ten.
pub(crate) const ROOT_ITERATIONS: u32 = 200;
/// The place where a function comes farthest across its zero is bracketed to this part of the step: what is flat there
/// is known to its square.
pub(crate) const LOWEST_BRACKET: f64 = 1e-9;
/// Rounding of a function beside the largest that it has been: of a polynomial that cancels.
pub(crate) const FUNCTION_ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Rounding of a state, or of a sum of terms, beside its size: a few units in the last place.
pub(crate) const STATE_ROUNDING: f64 = 4.0 * f64::EPSILON;
/// A shortened step ends at its event where the function is this part of its change over the step.
pub(crate) const EVENT_REACHED: f64 = 1e-9;
/// And here where dense output shows the crossing no more: its error beside the solution's.
pub(crate) const EVENT_NEARLY_REACHED: f64 = 1e-5;
/// A function that is farther from zero at its event than this part of its largest value jumps across it.
pub(crate) const JUMP_AT_EVENT: f64 = 1e-3;
/// After an event a step is at most this many times the longest time between the last zero crossings: a little
/// beyond the next one, if they go on like that.
pub(crate) const EVENT_SPACING_FACTOR: f64 = 1.25;
/// So many of these times count; converters have up to four modes in a period.
pub(crate) const EVENT_SPACINGS: usize = 4;
/// Times below this part of a step are within one chain of events and do not count.
pub(crate) const EVENT_SPACING_SHARE: f64 = 1e-2;
/// What the location of an event has left of the way to it may be so many times as long with the modes after it.
pub(crate) const LAG_FACTOR: f64 = 4.0;
/// So often a step is shortened to an event; each time the place is known several digits better.
pub(crate) const EVENT_LOCATION_STEPS: u32 = 12;

// Modes and event iteration.

/// Functions within so many tolerances of zero are taken for zero where modes chatter: steps have left them there.
pub(crate) const CHATTERING_TOLERANCES: f64 = 1e4;
/// Sweeps in which errors of steps are taken out of functions that are zero but for them.
pub(crate) const ZERO_SWEEPS: usize = 20;
/// So often at one instant functions leave zero that others hold them at; then it is noise that moves them.
pub(crate) const RELEASES: u32 = 5;
/// So many events at one instant are chattering: no model switches as many branches at once by design.
pub(crate) const CHATTERING_EVENTS: u32 = 100;
/// So many events of a function, each sooner than the one before the last, are Zeno behaviour.
pub(crate) const ZENO_EVENTS: u32 = 10_000;
/// So many events of kinks at one instant show that steps do not tell on which side of its zero a function is.
pub(crate) const KINK_EVENTS: u32 = 6;
/// Rates that differ by no more than this part between the modes of a function do not jump with them.
pub(crate) const KINK_RATE_JUMP: f64 = 1e-9;
/// Rounds of an event iteration; more than modes of any loop need that is not cycling.
pub(crate) const EVENT_ITERATIONS: u32 = 100;
/// Rounds in which modes follow the unknowns that they change.
pub(crate) const MODE_FOLLOWING_ITERATIONS: u32 = 10;
/// A function farther from zero than this part of what its mode does to it is not at zero.
pub(crate) const MODE_STROKE_AT_ZERO: f64 = 1e-6;
/// By this much a sliding multiplier may exceed 1 before the motion exits: far above the error with which
/// Newton's method finds it.
pub(crate) const MULTIPLIER_EXCESS: f64 = 1e-9;
/// The reciprocal of what the square of a multiplier may exceed 1 by in the event function of the exit; an
/// integer, because the function is exact.
pub(crate) const MULTIPLIER_SLACK_DENOMINATOR: i64 = 1_000_000_000;
/// A multiplier closer to 1 than this, found by the homotopy, belongs to a function that is not zero.
pub(crate) const MULTIPLIER_MARGIN: f64 = 1e-7;

/// Functions within this part of their largest value of zero are decided with those that are zero: the states
/// that they are differences of have their own rounding.
pub(crate) const FUNCTION_AT_ZERO: f64 = 1e-10;
/// A redundant function, which others hold at zero, has left it where it is so many tolerances of its states away.
pub(crate) const REDUNDANT_TOLERANCES: f64 = 10.0;
/// By this much a multiplier may exceed 1 where modes are decided together: less than the excess of an exit.
pub(crate) const DECIDED_EXCESS: f64 = 1e-12;
/// Derivatives below this part of what they would be if nothing were held are rounding.
pub(crate) const DECIDED_ROUNDING: f64 = 1e-13;
/// So many functions are decided together; the choices for more are too many.
pub(crate) const DECIDED_TOGETHER: usize = 12;
/// Changes of principal pivoting; it either ends within a few for each function, or cycles.
pub(crate) const PIVOTS: usize = 100;
/// Choices that are tried one after another where it cycles: all of six functions.
pub(crate) const ENUMERATED_CHOICES: usize = 5000;

/// Pivots of Lemke's algorithm; lexicographic ones do not cycle, and seldom are more than two for each pair.
pub(crate) const LCP_PIVOTS: usize = 1000;
/// An entry below this part of the largest in its column is rounding and no pivot.
pub(crate) const LCP_SMALLEST_PIVOT: f64 = 1e-13;
/// Ratios that differ by less than this part are ties of the lexicographic order.
pub(crate) const LCP_PIVOT: f64 = 1e-12;
/// A solution may miss its conditions by this part of their terms: conductances that are 1e9 apart cost digits.
pub(crate) const LCP_FEASIBLE: f64 = 1e-9;
/// How much each friction yields with its own force, beside the largest acceleration, where forces are not unique:
/// above what the solution of a problem loses, below the excess at which a friction begins to slip.
pub(crate) const SMALLEST_FORCES: f64 = 1e-11;
/// Unknowns are moved by this part to see how a law bends: exact where it is straight on both sides, near elsewhere.
pub(crate) const BEND_MOVE: f64 = 1e-3;
/// Functions that have crossed zero are within this part of their largest value of it.
pub(crate) const CROSSED_AT_ZERO: f64 = 1e-6;
/// Functions within so many of their roundings are zero: an enclosure at one point bounds the rounding there, which at
/// others nearby may be some times as large.
pub(crate) const ROUNDINGS_AT_ZERO: f64 = 4.0;
/// And within this part of what tolerances of states leave undecided of them: solutions of implicit unknowns differ by
/// less, and laws are missed by no more than the states are known to.
pub(crate) const UNRESOLVED_AT_ZERO: f64 = 1e-3;
/// Rounds in which the modes of bends are decided along the tangents of curved laws.
pub(crate) const BEND_ROUNDS: u32 = 8;

// Regularisation of signed powers, and infinite derivatives.

/// The width of regularisation while a base has been zero only: so narrow that roots are as good as
/// infinitely steep, and so wide that its square is a number.
pub(crate) const UNUSED_REGULARISATION_WIDTH: f64 = 1e-90;
/// The width in relative tolerances of the largest value a base has had: below what steps resolve.
pub(crate) const REGULARISATION_WIDTH: f64 = 5.0;
/// The hysteresis of a regularised power, in widths.
pub(crate) const REGULARISATION_HYSTERESIS: f64 = 10.0;
/// Derivatives from here on are infinite where rates are moderate, and in units of the largest rate where they
/// are not: regularised roots at zero reach it, no model does.
pub(crate) const INFINITE_DERIVATIVE: f64 = 1e30;
/// Parameters and states below this make derivatives larger still.
pub(crate) const TINY_PARAMETER: f64 = 1e-20;
/// How far ahead an infinite derivative is taken, beside the size of the states: the root of rounding.
pub(crate) const SINGULARITY_LOOKAHEAD: f64 = 1e-9;
/// How far ahead it is taken where all states are zero, beside the time that has passed.
pub(crate) const LOOKAHEAD_TIME: f64 = 1e-15;

// Newton's method for implicit unknowns.

/// Iterations for the implicit unknowns; multiple roots converge linearly.
pub(crate) const UNKNOWN_ITERATIONS: usize = 80;
/// From this iteration on residuals must fall: iterates that have not converged by then may be cycling.
pub(crate) const MONOTONE_ITERATIONS: usize = 20;
/// By this factor a residual may grow in an iteration before: Newton's method often climbs first.
pub(crate) const RESIDUAL_GROWTH: f64 = 2.0;
/// And by this factor it must fall afterwards.
pub(crate) const MONOTONE_RESIDUAL_FACTOR: f64 = 0.999;
/// Damping below this is no progress.
pub(crate) const SMALLEST_UNKNOWN_DAMPING: f64 = 1e-9;
/// Unknowns that move by less than this part have converged: near rounding.
pub(crate) const UNKNOWN_STEP: f64 = 1e-13;
/// Or by less than this part of the largest size that they have had, where nothing else ends the iteration.
pub(crate) const UNKNOWN_PEAK_STEP: f64 = 1e-12;
/// Unknowns of linear equations that move by less than this part need one correction: its rounding is that much
/// smaller than they are.
pub(crate) const LINEAR_UNKNOWN_STEP: f64 = 1e-2;
/// Corrections of linear equations; all but the first are rounding, unless the matrix is singular.
pub(crate) const LINEAR_CORRECTIONS: u32 = 4;
/// A correction below this part of the first is its rounding: the matrix may lose ten digits.
pub(crate) const LINEAR_ROUNDING: f64 = 1e-6;
/// And by less than this part where they converge no further: ill-conditioned loops.
pub(crate) const STALLED_UNKNOWN_STEP: f64 = 1e-9;
/// A residual reduced to this part of the first is zero: at a multiple root steps shrink with the unknowns.
pub(crate) const RESIDUAL_REDUCTION: f64 = 1e-28;
/// A residual below this part of its terms, or of what it has been, is what rounding leaves.
pub(crate) const RESIDUAL_ROUNDING: f64 = 1e-10;
/// A damped iteration that stalls has solved equations where no more than this part of their terms is left of them.
pub(crate) const STALLED_RESIDUAL: f64 = 1e-6;
/// Unknowns below this part of the largest that an iteration has met are what cancellation leaves of it.
pub(crate) const UNKNOWN_CANCELLATION: f64 = 1e-9;
/// Unknowns beyond this, in units of what the largest of their derivatives makes of them, are not determined: the
/// equations depend on each other, but for rounding.
pub(crate) const DETERMINED: f64 = 1e11;
/// Solutions of the same equations that differ by this part are on two branches.
pub(crate) const DISTINCT_SOLUTIONS: f64 = 1e-4;

// The homotopy for complementarity problems.

/// Jumps are smoothed from this width, beside the size of their functions, at which nothing jumps.
pub(crate) const WIDEST_JUMP: f64 = 1e3;
/// Down to this width, which rounding hardly sees.
pub(crate) const NARROWEST_JUMP: f64 = 1e-10;
/// By this factor the width shrinks at a time, or by a root of it where that is too much.
pub(crate) const JUMP_SHRINKAGE: f64 = 0.1;
/// So many times the square root is taken before the homotopy is given up.
pub(crate) const SHRINKAGE_ROOTS: i32 = 5;
/// By this factor regularisation is narrowed afterwards, to its width in the run.
pub(crate) const REGULARISATION_SHRINKAGE: f64 = 1e-6;
/// Newton iterations at each width.
pub(crate) const COMPLEMENTARITY_ITERATIONS: usize = 40;
/// Unknowns that move by less than this part have converged at a width.
pub(crate) const COMPLEMENTARITY_STEP: f64 = 1e-7;
/// The part of the width that the equations of modes are solved to.
pub(crate) const JUMP_RESIDUAL: f64 = 1e-2;
/// What may remain of the loops' residuals in the end, beside their terms.
pub(crate) const LOOP_RESIDUAL: f64 = 1e-8;
/// A damped iteration must reduce the residual by this part of its damping (Armijo's condition).
pub(crate) const SUFFICIENT_DECREASE: f64 = 1e-4;
/// Damping below this is no progress in the homotopy.
pub(crate) const SMALLEST_HOMOTOPY_DAMPING: f64 = 1e-6;

// Initial values and jumps of states.

/// Initial values of dependent states that differ by this part contradict each other: far above rounding.
pub(crate) const INITIAL_CONTRADICTION: f64 = 1e-9;
/// Dependent states that differ by more than this part across an event jump.
pub(crate) const JUMP_DIFFERENCE: f64 = 1e-12;
/// The states after a jump have converged where they move by less than this part: rounding.
pub(crate) const JUMP_STEP: f64 = 1e-14;
/// Newton iterations for the states after a jump.
pub(crate) const JUMP_ITERATIONS: usize = 50;

// Steps and their control.

/// The safety factor of step-size control, as usual (Hairer, Nørsett and Wanner, II.4).
pub(crate) const STEP_SAFETY: f64 = 0.9;
/// A step shrinks to no less than this part of the one before, also after an evaluation error.
pub(crate) const STEP_SHRINKAGE: f64 = 0.2;
/// And grows to no more than so many times it.
pub(crate) const STEP_GROWTH: f64 = 8.0;
/// The exponents of the errors of a step and of the one before in the control of explicit steps (PI control).
pub(crate) const PI_CONTROL: (f64, f64) = (0.7, 0.4);
/// Errors below this part of the tolerance count as this: steps grow by their bound anyway.
pub(crate) const LEAST_STEP_ERROR: f64 = 1e-10;
/// The logarithm below which the error of the step before is taken for no smaller: ln 1e-4.
pub(crate) const LEAST_LOG_ERROR: f64 = -9.210_340_371_976_182;
/// A step that reaches this part of the way to a stop lands on it.
pub(crate) const LANDING_SHARE: f64 = 0.999;
/// No step is smaller than this part of the time: rounding of the time itself.
pub(crate) const SMALLEST_STEP: f64 = 1e-14;
/// A remainder below this part of a fixed step is rounding.
pub(crate) const STEP_REMAINDER: f64 = 1e-9;
/// So many evaluation errors within a small part of the run end it.
pub(crate) const REPEATED_ERRORS: u32 = 200;
/// That part of the run.
pub(crate) const REPEATED_ERROR_SPAN: f64 = 1e-6;
/// Without an absolute tolerance, states are resolved to this part of the largest value they have had.
pub(crate) const STATE_RESOLUTION: f64 = 1e-3;
/// And to this part of the largest value of states that are measured alike.
pub(crate) const GROUP_RESOLUTION: f64 = 1e-6;
/// The nominal magnitude of a state that is zero is what drives it makes of it within this part of the run, or
/// within the shortest time scale of the model.
pub(crate) const NOMINAL_SPAN: f64 = 1e-3;
/// Signals of time are looked at in so many places of that part …
pub(crate) const NOMINAL_PLACES: u32 = 20;
/// … each so much nearer to its start: a burst may be far shorter.
pub(crate) const NOMINAL_PLACE_RATIO: f64 = 0.25;
/// An estimate that states have not come up to is made anew after so many times as long as it has held.
pub(crate) const NOMINAL_GROWTH: f64 = 2.0;
/// Power iterations for that time scale.
pub(crate) const NOMINAL_ITERATIONS: u32 = 20;
/// Rounding of states on a sliding surface is followed to so many states behind each other.
pub(crate) const NOISE_LEVELS: u32 = 3;
/// Over so many states one after another; further ones are reached when these are not zero any more.
pub(crate) const NOMINAL_LEVELS: u32 = 20;
/// And never finer than this part of states that are measured alike: rounding of what makes them up.
pub(crate) const GROUP_ROUNDING: f64 = 1e-15;
/// Where rates cancel on a sliding surface, a state is resolved to this part of what one side would make of it.
pub(crate) const SLIDING_CANCELLATION: f64 = 4e-15;

// Selection of the method.

/// Below this relative tolerance the method of order eight is cheaper than that of order five; above it both
/// are tried.
pub(crate) const ORDER_EIGHT_TOLERANCE: f64 = 2e-8;
/// A method is tried over so many steps.
pub(crate) const TRIAL_STEPS: u32 = 4;
/// Once they have stopped to grow by more than this.
pub(crate) const TRIAL_GROWTH: f64 = 1.5;
/// The other method is tried again where the pace has changed by this, and each time in vain by its square.
pub(crate) const TRIAL_PACE_CHANGE: f64 = 2.0;
/// An explicit step beyond this part of its limit of stability shows stiffness.
pub(crate) const STIFF_STABILITY_SHARE: f64 = 0.8;
/// And beyond this part where event functions are followed that tolerances of states leave undetermined.
pub(crate) const STIFF_UNDETERMINED_SHARE: f64 = 0.1;
/// So many such steps change to the implicit solver.
pub(crate) const STIFF_SIGNS: u32 = 5;
/// An implicit step times the norm of the Jacobian below this could be explicit.
pub(crate) const NONSTIFF_STEP: f64 = 1.0;
/// So many such steps in a row change back.
pub(crate) const NONSTIFF_SIGNS: u32 = 20;
/// What rounding makes of the last two stages, in units of their size: differences below say nothing of stiffness.
pub(crate) const STAGE_ROUNDING: f64 = 100.0 * f64::EPSILON;
/// Power iterations for the spectral radius of a Jacobian.
pub(crate) const POWER_ITERATIONS: u32 = 10;

// Implicit stages.

/// Newton's method in a stage stops where the remaining error is below this part of the tolerance.
pub(crate) const STAGE_CONVERGENCE: f64 = 0.01;
/// And where its change is below this part of the tolerance, whatever the rate of convergence says.
pub(crate) const STAGE_CONVERGENCE_AT_ONCE: f64 = 1e-3 * STAGE_CONVERGENCE;
/// What rounding leaves of the first correction of a linear stage: its matrix may lose six digits.
pub(crate) const LINEAR_STAGE_ROUNDING: f64 = 1e-10;
/// The largest ratio of two changes that the remaining error is estimated with: the series has a sum.
pub(crate) const STAGE_RATIO: f64 = 0.99;
/// Iterations of a stage; slower convergence is dearer than a shorter step.
pub(crate) const STAGE_ITERATIONS: usize = 10;
/// Changes that shrink by no more than this factor do not converge.
pub(crate) const STAGE_DIVERGENCE: f64 = 0.9;
/// Pivots of 1 − hγJ must be larger than this part of their row: below it rounding takes over.
pub(crate) const STAGE_PIVOT: f64 = 1e-11;

// Sensitivities.

/// Sensitivities below this are zero: numbers near the end of the range are slow.
pub(crate) const NEGLIGIBLE_SENSITIVITY: f64 = 1e-150;
/// Steps times the norm of the Jacobian below which dense output is as good as the end of a step.
pub(crate) const LONG_STEP: f64 = 4.0;
/// Steps of so many of the smallest ones are not made shorter for errors of sensitivities: next to a root at zero
/// these fall with the root of the step only, and at such steps are the rounding of states under the root.
pub(crate) const FINEST_SENSITIVITY_STEP: f64 = 4.0;
/// Sensitivities that grow by more than this factor in one such step do so without bound.
pub(crate) const SENSITIVITY_GROWTH: f64 = 2.0;
/// Errors of sensitivities below so many times what rounding makes of their rates in a step are rounding too.
pub(crate) const SENSITIVITY_ROUNDING: f64 = 2.0;
/// Rounding of sensitivities beside the largest of their parameter.
pub(crate) const LANE_ROUNDING: f64 = 4e-15;
/// Relative tolerances whose square is below this are so fine that rounding of states may move steep
/// derivatives by more.
pub(crate) const FINEST_SQUARED_TOLERANCE: f64 = f64::EPSILON / 5.0;
/// Newton iterations of a stage in an adjoint sweep, which solves it to rounding.
pub(crate) const ADJOINT_ITERATIONS: usize = 20;
/// Such a stage has converged where it moves by this part of a state, or by its square of one near zero.
pub(crate) const ADJOINT_STEP: f64 = 1e-12;
/// So often the way to such a stage may be halved where a law has no value.
pub(crate) const ADJOINT_HALVINGS: usize = 100;
/// So often a step may be halved in an adjoint sweep, for the error that its adjoint makes.
pub(crate) const ADJOINT_STEP_HALVINGS: u32 = 30;
/// A step back with an error of fewer tolerances than this is taken whole where its parts meet the edge of a law: its
/// digits are those that a step at the edge has on the way forward.
pub(crate) const ADJOINT_ERROR_OF_WHOLE: f64 = 1e4;
/// No finer relative tolerance is asked of adjoints: rounding makes this of the sums that estimate their errors.
pub(crate) const ADJOINT_ROUNDING: f64 = 1e-13;
/// Beyond so many times its limit of stability an explicit step is repeated by the implicit method, which is as
/// accurate in about so many shorter ones.
pub(crate) const ADJOINT_STIFFNESS: f64 = 100.0;

// Experiments.

/// The finest relative tolerance that makes sense: two digits above rounding.
pub(crate) const FINEST_TOLERANCE: f64 = 1e-13;
/// A fixed step that makes more steps than this to the end is refused.
pub(crate) const MOST_FIXED_STEPS: f64 = 1e9;
/// A run that is shorter than this, in seconds, has no steps that double precision can tell apart.
pub(crate) const SHORTEST_RUN: f64 = 1e-280;
/// How many numbers a sensitivity takes for each state: itself, its rate, both at the end of a step, a stage.
pub(crate) const SENSITIVITY_COPIES: usize = 5;
/// Sensitivities that take more memory than this, in bytes, are refused: a machine for such models has some more.
pub(crate) const MOST_SENSITIVITY_BYTES: usize = 4 << 30;
/// A second opinion is asked at this part of the tolerance.
pub(crate) const SECOND_OPINION_SHARE: f64 = 0.1;
/// The two runs agree where they differ by so many tolerances at most: errors add up over many steps.
pub(crate) const VERIFIED_DEVIATION: f64 = 100.0;
/// So many relative tolerances of its largest value an effort or flow may be off its law.
pub(crate) const VERIFIED_WIDTH: f64 = 100.0;
/// A second run is looked at so many times between its start and its end, not in step with round periods.
pub(crate) const VERIFIED_BETWEEN: u32 = 97;
/// What a junction may leave of its sum beside its largest term: outputs have twelve digits and cancel.
pub(crate) const VERIFIED_JUNCTION: f64 = 1e-6;
/// At so many samples at most are the laws of resistors and switches evaluated for it.
pub(crate) const VERIFIED_LAWS: usize = 200;
/// Where less than this part of a run has passed, its length decides how small steps may be.
pub(crate) const LONG_RUN_SHARE: f64 = 1e-3;
/// States below this part of the largest have hardly left zero, where a failure is explained.
pub(crate) const HARDLY_LEFT_ZERO: f64 = 1e-4;
/// Panels of an energy agree with their halves to this part of their size: what sixteen points give of a smooth law.
pub(crate) const ENERGY_PANEL_ERROR: f64 = 1e-13;
/// No panel is narrower than this part of the way: a law with a singular end has given all that it has by then.
pub(crate) const ENERGY_PANEL_WIDTH: f64 = 1e-12;
/// Panels on the way between two samples; a bump that fills a millionth of it needs fifty.
pub(crate) const ENERGY_PANELS: u32 = 1000;
/// A relaxed state is looked for so many times as far as states have been.
pub(crate) const RELAXED_REACH: f64 = 1e3;
/// In so many intervals at most.
pub(crate) const RELAXED_SEARCH: usize = 3000;
/// And told apart from others to this part of that distance.
pub(crate) const RELAXED_WIDTH: f64 = 1e-7;
/// A law that fades below this beside a stretch of zeros has not reached a relaxed state, but the end of the numbers.
pub(crate) const LEAST_LAW_VALUE: f64 = 1e-290;
/// Energy moved below this part of what is held is rounding of what is held.
pub(crate) const ENERGY_ROUNDING: f64 = 1e-9;
/// A balance of energy that misses more than this part of what was moved does not close: errors of runs at any
/// reasonable tolerance are smaller.
pub(crate) const LARGEST_BALANCE_ERROR: f64 = 1e-2;
/// So many findings of one kind are shown one by one; of more the first tells of the others.
pub(crate) const SHOWN_ALIKE: usize = 3;
/// Amounts below zero by so many tolerances of the largest are negative; less is an error of steps.
pub(crate) const NEGATIVE_AMOUNT: f64 = 1e3;
/// What is added to the square of the argument of a logarithm in the energy ledger, so that it is finite at zero:
/// less than the square of any amount.
pub(crate) const SQUARED_LOGARITHM_FLOOR: &str = "1e-300";
/// So deep a fraction may be nested for its poles to be found.
pub(crate) const FRACTION_DEPTH: usize = 8;

/// Times that are written beside a sample time agree with it within this part of it, as rounded ones do.
pub(crate) const UNEVEN_TIME: f64 = 0.05;

/// Two lines of a table meet where their values differ by no more than this part of what they are made of: some
/// roundings.
pub(crate) const LINE_ROUNDING: f64 = 1e-14;

/// The relative tolerance of runs for which none is asked: eight digits, at which methods of order five to eight are
/// at their best.
pub(crate) const DEFAULT_RTOL: f64 = 1e-8;

/// Tolerances relative to a time are relative to this share of its span where the time is near zero: zero has no
/// rounding of its own.
pub(crate) const BESIDE_ZERO: f64 = 1e-3;

/// States or rates whose norm, in tolerances, is below this say nothing about the first step (Hairer, Nørsett and
/// Wanner, II.4, as are the four that follow).
pub(crate) const SMALL_NORM: f64 = 1e-5;

/// The first guess at a step, of the span, where states and rates say nothing.
pub(crate) const CAUTIOUS_STEP: f64 = 1e-6;

/// What is left of the first guess at a step where the model has no rates at its end.
pub(crate) const SHORTER_FIRST_STEP: f64 = 1e-3;

/// Rates and their change below this, in tolerances over the span, are none.
pub(crate) const VANISHING_RATES: f64 = 1e-15;

/// The first step, of the span, where nothing moves.
pub(crate) const LONGEST_FIRST_STEP: f64 = 1e-3;

// Samples that are put into the model's own equations.

/// So many samples of a run are kept at most.
pub(crate) const WITNESSES: usize = 16;
/// Models with more variables have none: to calculate them would cost more than the run.
pub(crate) const MOST_VARIABLES: usize = 5000;

/// The part by which everything is changed to see what it makes up.
pub(crate) const SMALL_CHANGE: f64 = 1e-6;

/// A sample at an instant at which something switches is on one side of it: that far from it by rounding, in parts of
/// the time.
pub(crate) const BESIDE_AN_EVENT: f64 = 8.0 * f64::EPSILON;

/// A sample is on a side of an event where its unknowns and outputs fit within this part of what they are made of.
pub(crate) const SIDE_MISFIT: f64 = 1e-6;

/// Values tried for implicit unknowns about which nothing is known.
pub(crate) const GUESSES: [f64; 11] = [0.0, 1.0, -1.0, 0.1, -0.1, 10.0, -10.0, 1e-3, 1e3, 1e-6, 1e6];

/// More periods of a source in one picture cannot be seen.
pub(crate) const VISIBLE_PERIODS: f64 = 40.0;
