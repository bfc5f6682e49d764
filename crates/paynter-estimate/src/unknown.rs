//! What is estimated: parameters, initial states, offsets and gains of sensors, and the variables in which a
//! search moves them.

/// What an unknown is in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A parameter or an initial state.
    Simulated {
        /// Its place among the sensitivities of a run.
        lane: usize,
        /// Its place among the parameters of a run.
        place: usize,
    },
    /// What a sensor adds to this output.
    Offset(usize),
    /// What a sensor multiplies this output by.
    Gain(usize),
}

/// The variable z in which a search moves an unknown p.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scaling {
    /// z = p/s.
    Linear(f64),
    /// z = ln p.
    Logarithmic,
}

/// A parameter, an initial state, or an offset or gain of a sensor, in SI.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// Its name; one that belongs to one of several experiments has the number of that behind it.
    pub name: String,
    /// Its unit as written in the model.
    pub unit: Option<String>,
    /// The value of one such unit in SI.
    pub factor: f64,
    /// What it is.
    pub quantity: Quantity,
    /// The only experiment it belongs to.
    pub experiment: Option<usize>,
    /// Where the search starts.
    pub start: f64,
    /// Its lower bound.
    pub lower: f64,
    /// Its upper bound.
    pub upper: f64,
    /// How it is moved.
    pub scaling: Scaling,
    /// Its mean and standard deviation before any measurement, where that counts.
    pub prior: Option<(f64, f64)>,
    /// Whether its value stays what it is.
    pub fixed: bool,
    /// Whether a search has ended beside a bound of zero that it would pass and where the equations do not hold.
    pub beside_zero: bool,
    /// Whether the equations were derived for its sign, as they are for parameters.
    pub signed: bool,
}

impl Unknown {
    /// The variable of the search at a value.
    pub fn to_search(&self, value: f64) -> f64 {
        match self.scaling {
            Scaling::Linear(scale) => value / scale,
            Scaling::Logarithmic => value.ln(),
        }
    }

    /// The value at a variable of the search.
    pub fn value(&self, z: f64) -> f64 {
        match self.scaling {
            Scaling::Linear(scale) => z * scale,
            Scaling::Logarithmic => z.exp(),
        }
    }

    /// The derivative of the value by the variable of the search.
    pub fn derivative(&self, z: f64) -> f64 {
        match self.scaling {
            Scaling::Linear(scale) => scale,
            Scaling::Logarithmic => z.exp(),
        }
    }

    /// The bounds of the variable of the search.
    pub fn range(&self) -> (f64, f64) {
        let bound = |value: f64| match self.scaling {
            Scaling::Logarithmic if value <= 0.0 => f64::NEG_INFINITY,
            _ => self.to_search(value),
        };
        (bound(self.lower), bound(self.upper))
    }
}
