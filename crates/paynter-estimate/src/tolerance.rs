//! Every tolerance and limit of estimation, with its reason.

/// A step shorter than this share of the unknowns ends a search: quadratic convergence has then doubled the
/// digits once more than standard errors can tell.
pub(crate) const STEP_TOLERANCE: f64 = 1e-8;

/// The cosine between the residuals and every column of the sensitivity matrix below which the cost is
/// stationary: some ten times what a relative tolerance of 1e-8 leaves of it.
pub(crate) const GRADIENT_TOLERANCE: f64 = 1e-7;

/// The share of the cost below which a reduction says nothing.
pub(crate) const COST_TOLERANCE: f64 = 1e-12;

/// The predicted reduction, as a share of the cost, below which a search that finds no smaller cost has reached
/// the precision of its simulations.
pub(crate) const PRECISION_TOLERANCE: f64 = 1e-6;

/// Residuals of this share of the data are rounding.
pub(crate) const EXACT_RESIDUAL: f64 = 1e-13;

/// How often a step is halved: 2^-40 of a step is below the tolerance of steps.
pub(crate) const MOST_HALVINGS: usize = 40;

/// The first damping of Levenberg and Marquardt, relative to the diagonal.
pub(crate) const FIRST_DAMPING: f64 = 1e-3;

/// Damping beyond which no step is left.
pub(crate) const MOST_DAMPING: f64 = 1e16;

/// The share of the way to a bound that one step may go, as interior point methods have it.
pub(crate) const BOUND_SHARE: f64 = 0.8;

/// How near to a bound, beside the size of the unknown or the width between its bounds, a step may reach it.
pub(crate) const BOUND_NEARNESS: f64 = 0.01;

/// Singular values below this share of the largest are rounding where steps are fixed: sensitivities are then
/// derivatives of the very recursion.
pub(crate) const RANK_SHARE: f64 = 1e-11;

/// The same in units of the relative tolerance where steps are adapted.
pub(crate) const RANK_TOLERANCES: f64 = 10.0;

/// A component of an undetermined direction below this does not belong to it.
pub(crate) const DIRECTION_SHARE: f64 = 1e-3;

/// A value that is smaller than this part of what it is scaled by, where it began or one of its units, is as good as
/// zero: relative changes of it say nothing.
pub(crate) const NEXT_TO_NOTHING: f64 = 1e-3;

/// How near the exponents of an undetermined direction are to small fractions that count as such.
pub(crate) const EXPONENT_ERROR: f64 = 1e-3;

/// The largest denominator of exponents.
pub(crate) const MOST_DENOMINATOR: u32 = 6;

/// How far parameters are moved to see whether an undetermined direction stays one.
pub(crate) const SECOND_LOOK: f64 = 0.05;

/// A relative standard error above which a parameter is called poorly determined.
pub(crate) const POOR_ERROR: f64 = 1.0;

/// The level of significance at which residuals are called not white.
pub(crate) const WHITENESS_LEVEL: f64 = 0.01;

/// Residuals tell the size of noise where the fit has left more than this many of them: half a degree of freedom has
/// no interval that anybody could use.
pub(crate) const LEAST_FREEDOM: f64 = 0.5;

/// Noise that nothing is known of may be as large as the data; where even that makes less than this share of the
/// variance of an estimate, it does not matter.
pub(crate) const UNKNOWN_NOISE_SHARE: f64 = 1e-3;

/// Samples that differ by less than this share of the largest differ by rounding.
pub(crate) const CONSTANT_DATA: f64 = 1e-12;

/// How often the time over which the answer of a filter dies away is doubled: longer ones are constant for any record.
pub(crate) const MOST_DOUBLINGS: usize = 60;

/// Derivatives of samples that are held for standard errors, 1.6 MB: longer records are simulated again, and a fit
/// takes from their residuals what nobody sees.
pub(crate) const MOST_HELD: usize = 200_000;

/// Rounds in which the noises of several series are told from each other: each is known to a few per cent after the
/// first, and which of them counts where does not change after the third.
pub(crate) const SHARED_ROUNDS: usize = 6;

/// So many residuals beside those that a fit may take from a series tell how large its noise is beside that of others:
/// the standard error of a standard deviation is then a third.
pub(crate) const LEAST_TELLING: usize = 4;

/// Rows of a series that are shorter along an axis than this share of the longest are rounding.
pub(crate) const OWN_AXIS: f64 = 1e-9;

/// Rounds in which residuals that are not white get back what the fit has taken: a third changes intervals by less than
/// one per cent.
pub(crate) const RESTORED_ROUNDS: usize = 2;

/// Rounds after which the scale of noise that a robust loss or a prior is measured by has settled.
pub(crate) const MOST_ROUNDS: usize = 12;

/// The relative change of that scale which counts as none.
pub(crate) const SCALE_CHANGE: f64 = 1e-3;

/// Huber's threshold in standard deviations of the noise: 95 % efficient where noise is normal.
pub(crate) const HUBER_THRESHOLD: f64 = 1.345;

/// Cauchy's scale in standard deviations of the noise, of the same efficiency.
pub(crate) const CAUCHY_THRESHOLD: f64 = 2.385;

/// The standard deviation of normal noise over its median absolute deviation.
pub(crate) const MEDIAN_DEVIATION: f64 = 1.4826;

/// A start without bounds lies within this factor of the first one.
pub(crate) const START_FACTOR: f64 = 5.0;

/// A tolerance as a prior is so many standard deviations: ±10 % is taken for the interval of 95 %.
pub(crate) const TOLERANCE_DEVIATIONS: f64 = 2.0;

/// Points on either side of a profile before it is given up.
pub(crate) const PROFILE_POINTS: usize = 60;

/// How near the end of a profile's interval is found, as a share of its width.
pub(crate) const PROFILE_WIDTH: f64 = 1e-3;

/// The standard deviation of noise that a plan assumes where none is given, as a share of the largest output.
pub(crate) const ASSUMED_NOISE: f64 = 0.01;

/// The samples of a planned experiment without data and sample time.
pub(crate) const PLANNED_SAMPLES: usize = 100;

/// A parameter that is zero in the model, where its equations do not hold, starts at this part of the value that they
/// were derived for: half its range, or one of its units.
pub(crate) const BESIDE_ZERO: f64 = 1e-3;

/// The most samples of a planned experiment.
pub(crate) const MOST_PLANNED: f64 = 1e7;

/// Samples are evenly spaced where no two are farther from the mean distance than this part of it, as rounded ones are.
pub(crate) const EVEN_SAMPLES: f64 = 0.01;

/// An unknown that moves outputs by less than this share of the data when it is changed by its own size has no effect on
/// them: no measurement resolves it, and rounding in a run of thousands of steps makes a thousandth of it.
pub(crate) const EFFECTLESS: f64 = 1e-10;

/// By these parts an unknown without a sensitivity is moved to see whether it acts by jumps.
pub(crate) const JUMP_SHARES: [f64; 2] = [0.05, 0.2];

/// A change of the cost beside that of the data alone that is no rounding.
pub(crate) const JUMP_COST: f64 = 1e-9;

/// Where changes of the unknowns by the tolerance of simulations move what is measured by more than this part of it, and
/// residuals are larger too, a run cannot follow the record: a tenth is beyond what anybody would call a fit.
pub(crate) const UNFOLLOWED_SHARE: f64 = 0.1;

/// Unknowns that differ by less than this part from where a search began are there.
pub(crate) const UNMOVED: f64 = 1e-6;

/// The cost may rise by this part where a search that has wandered along what is not determined is put back: what
/// simulations make of it.
pub(crate) const RESTORED_COST: f64 = 1e-6;

/// How much the joints of pieces count beside data of the size of one, one after the other: loose at first, firm at
/// last.
pub(crate) const JOINTS: [f64; 5] = [0.1, 1.0, 10.0, 100.0, 1000.0];

/// The iterations with each of them.
pub(crate) const SHOT_ITERATIONS: usize = 30;

/// The relative step of difference quotients: the error of a run at a relative tolerance of 1e-8 is then a ten
/// thousandth of a derivative, and so is what the quotient leaves out.
pub(crate) const DIFFERENCE_STEP: f64 = 1e-4;

/// A fit above this leaves residuals of rounding alone.
pub(crate) const ROUNDED_FIT: f64 = 1.0 - 1e-6;

/// A column of sensitivities is preferred to an earlier one only if it is larger by this part: of equal ones the
/// first is taken, so that names keep their order.
pub(crate) const CLEARLY_LARGER: f64 = 1e-6;

/// A divisor of a continued fraction (Lentz) is at least this large, so that nothing overflows.
pub(crate) const LEAST_DIVISOR: f64 = 1e-300;

/// A continued fraction has converged where a step changes it by no more than this part: rounding.
pub(crate) const CONVERGED_FRACTION: f64 = 1e-15;

/// By this part more steps fit between two times, so that rounding does not take the last away.
pub(crate) const ROUNDED_COUNT: f64 = 1e-12;

/// The first step of a profile, of the estimate, where there is no standard error to begin with.
pub(crate) const FIRST_PROFILE_STEP: f64 = 0.05;

/// An estimate near zero counts as this large, in the scale of the search, where a step is a share of it.
pub(crate) const SMALL_UNKNOWN: f64 = 1e-3;

/// What has a smaller part in a direction than this share of the largest is not told: it would hide what counts.
pub(crate) const SHOWN_SHARE: f64 = 0.1;
