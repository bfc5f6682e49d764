//! What a run gives: samples, what it cost, what was found on the way, how it ended.

/// What is known at one time.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The time.
    pub t: f64,
    /// The states.
    pub states: &'a [f64],
    /// Their rates from here on, where a step starts; none within a step.
    pub rates: &'a [f64],
    /// The outputs.
    pub outputs: &'a [f64],
    /// The sensitivities of outputs, output by output, in the order of [`crate::Compiled::wanted`].
    pub sensitivities: &'a [f64],
    /// The implicit unknowns.
    pub unknowns: &'a [f64],
    /// Whether laws take values between their branches there, or follow the state through them.
    pub sliding: bool,
}

/// What a run cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// The solver, the last one where several took part.
    pub solver: &'static str,
    /// Steps that were taken.
    pub steps: u64,
    /// Steps that were rejected because of their error.
    pub rejected: u64,
    /// Evaluations of the rates.
    pub evaluations: u64,
    /// Evaluations of their derivatives.
    pub jacobians: u64,
    /// Events.
    pub events: u64,
    /// How often the motion entered sliding along a surface.
    pub slides: u64,
    /// Changes between the explicit and the implicit solver.
    pub switches: u64,
}

/// A finding about a run that went on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Note {
    /// This event function grazes zero at this time: sensitivities may be undefined there.
    Grazing {
        /// When.
        t: f64,
        /// Place in [`crate::Compiled::events`].
        event: usize,
    },
    /// Whether this event function crosses zero from this time on, within a step, was not decided.
    Undecided {
        /// From when on.
        t: f64,
        /// Place in [`crate::Compiled::events`].
        event: usize,
    },
    /// This output contains an impulse at this time, which its values do not show.
    Impulse {
        /// When.
        t: f64,
        /// Which output.
        output: usize,
    },
    /// States jump at this time: what makes them jump gives or takes energy in no time.
    Jump {
        /// When first.
        t: f64,
    },
    /// The motion slides along the surface of this event function, and a rate is not linear in the value that its law
    /// takes between its branches.
    EquivalentControl {
        /// From when on.
        t: f64,
        /// Place in [`crate::Compiled::events`].
        event: usize,
    },
    /// This event function has crossed zero ever faster (Zeno behaviour), and stays at zero from then on.
    Zeno {
        /// When.
        t: f64,
        /// Place in [`crate::Compiled::events`].
        event: usize,
    },
    /// Several laws hold this event function at zero together, so that their forces are not determined one by
    /// one.
    NotUnique {
        /// From when on.
        t: f64,
        /// Place in [`crate::Compiled::events`].
        event: usize,
    },
    /// The derivative of a rate is infinite (a root at zero) along this sensitivity, so that it has no values
    /// from this time on.
    InfiniteDerivative {
        /// From when on.
        t: f64,
        /// Which derivative, by its place in [`crate::Compiled::wanted`].
        lane: usize,
        /// The state that it moves and that the rate changes with; none where that is the parameter itself.
        state: Option<usize>,
    },
    /// This derivative of an initial state has no finite value, so that the sensitivity has none later.
    UndefinedInitialDerivative {
        /// Which derivative, by its place in [`crate::Compiled::wanted`].
        lane: usize,
        /// Of which state.
        state: usize,
    },
    /// This quantity is below what it can be: a temperature, or an amount under a logarithm.
    BelowBound {
        /// When first.
        t: f64,
        /// Which of the quantities with a bound.
        quantity: usize,
        /// Its value.
        value: f64,
    },
    /// This output, or a derivative of it, has no finite value at this time, and perhaps at others.
    Undefined {
        /// When first.
        t: f64,
        /// Which output.
        output: usize,
        /// Which derivative, by its place in [`crate::Compiled::wanted`].
        lane: Option<usize>,
    },
}

/// Why a run ended early.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Failure {
    /// It was cancelled.
    Cancelled,
    /// The rate of a state is infinite or undefined.
    NotFinite {
        /// When.
        t: f64,
        /// Which state.
        state: usize,
    },
    /// An initial state is infinite or undefined.
    BadInitial {
        /// Which state.
        state: usize,
    },
    /// The initial value given to a dependent state is not consistent with those it depends on.
    InconsistentInitial {
        /// Which, by its place among the dependent states of the equations.
        dependent: usize,
    },
    /// The states after a jump were not found.
    NoJump {
        /// When.
        t: f64,
        /// The state that moved most at last.
        state: usize,
    },
    /// An implicit unknown has no value that satisfies its equation and goes on from before.
    NoSolution {
        /// When.
        t: f64,
        /// Which unknown.
        unknown: usize,
    },
    /// Steps became too small to go on.
    StepTooSmall {
        /// When.
        t: f64,
        /// The state with the largest error.
        state: usize,
    },
    /// The limit of steps is reached.
    TooManySteps {
        /// When.
        t: f64,
    },
    /// Events follow each other without time going on (chattering).
    Chattering {
        /// When.
        t: f64,
        /// Place in [`crate::Compiled::events`].
        event: usize,
    },
}

/// How a run went.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What it cost.
    pub stats: Stats,
    /// What was found on the way.
    pub notes: Vec<Note>,
    /// Why it ended early, if it did; what came before is valid.
    pub failure: Option<Failure>,
    /// The time it reached.
    pub t: f64,
    /// The state it reached.
    pub states: Vec<f64>,
    /// The time and state that was tried last without success.
    pub tried: Option<(f64, Vec<f64>)>,
    /// To what each state was known in the end: the absolute tolerance, or what rounding makes of it.
    pub resolution: Vec<f64>,
    /// Some samples with the values of all variables.
    pub witnesses: Vec<Witness>,
}

/// A sample with the values of all variables, by which a run can be put into the model's equations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Witness {
    /// The time.
    pub t: f64,
    /// The parameters of the model.
    pub parameters: Vec<f64>,
    /// The inputs.
    pub inputs: Vec<f64>,
    /// The variables, in the order of [`paynter_graph::BondGraph::all_variables`].
    pub variables: Vec<f64>,
    /// How large what makes up each variable is.
    pub scales: Vec<f64>,
    /// The model's outputs.
    pub outputs: Vec<f64>,
}
