//! A loop over its tolerances: the worst margins in the box of parameters, and the ranges and derivatives
//! of step figures.

use std::cell::RefCell;
use std::collections::BTreeMap;

use paynter_base::{CancellationToken, Cancelled};

use crate::extremes::{Extreme, derivatives, largest, smallest, try_out};
use crate::loops::{At, Margins, OpenLoop};
use crate::matrix::Matrix;
use crate::pieces::{improved, smallest_piece};
use crate::step::{StepFigures, StepResponse, step_response};
use crate::system::Interconnection;

/// A closed model at parameters δ of its box; none where it has no matrices there.
pub type Family<'a> = dyn Fn(&[f64]) -> Option<Interconnection> + 'a;

/// What a model has at parameters, calculated once for all the figures whose searches meet there.
pub(crate) struct Remembered<'a, T> {
    calculate: &'a dyn Fn(&[f64]) -> Option<T>,
    known: RefCell<BTreeMap<Vec<u64>, Option<T>>>,
}

impl<'a, T: Clone> Remembered<'a, T> {
    pub fn new(calculate: &'a dyn Fn(&[f64]) -> Option<T>) -> Remembered<'a, T> {
        Remembered { calculate, known: RefCell::default() }
    }

    pub fn at(&self, delta: &[f64]) -> Option<T> {
        let place: Vec<u64> = delta.iter().map(|x| x.to_bits()).collect();
        if let Some(known) = self.known.borrow().get(&place) {
            return known.clone();
        }
        let found = (self.calculate)(delta);
        self.known.borrow_mut().insert(place, found.clone());
        found
    }
}

/// One number of [`Margins`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarginKind {
    /// The factor by which the gain may grow.
    Gain,
    /// The factor to which the gain may fall.
    LeastGain,
    /// The phase that may be lost.
    Phase,
    /// The delay that may be added.
    Delay,
    /// The disk margin.
    Disk,
}

impl MarginKind {
    /// All of them.
    pub const ALL: [MarginKind; 5] =
        [MarginKind::Gain, MarginKind::LeastGain, MarginKind::Phase, MarginKind::Delay, MarginKind::Disk];

    /// The margin of a loop with its frequency; none where there is no crossing.
    pub fn at(self, margins: &Margins) -> Option<At> {
        match self {
            MarginKind::Gain => margins.gain,
            MarginKind::LeastGain => margins.least_gain,
            MarginKind::Phase => margins.phase,
            MarginKind::Delay => margins.delay,
            MarginKind::Disk => margins.disk,
        }
    }

    /// How much of it a loop has, by which margins are compared: a loop that is not stable has nothing left.
    fn size(self, margins: &Margins) -> f64 {
        let value = match (self, self.at(margins)) {
            (_, None) => f64::MAX,
            (MarginKind::LeastGain, Some(at)) => 1.0 / at.value,
            // Too much phase is as bad as too little.
            (MarginKind::Phase, Some(at)) => at.value.abs(),
            (_, Some(at)) => at.value,
        };
        if margins.stable { value } else { 0.0 }
    }
}

/// The smallest margin that was found in the box.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstMargin {
    /// Which.
    pub kind: MarginKind,
    /// The parameters.
    pub delta: Vec<f64>,
    /// All margins there, calculated anew.
    pub margins: Margins,
}

/// Finds the smallest margins in the box of a closed model that is injected at an input and read at an output.
pub fn worst_margins(
    family: &Family<'_>,
    (input, output): (usize, usize),
    count: usize,
    token: &CancellationToken,
) -> Result<Vec<WorstMargin>, Cancelled> {
    // A loop of many states takes a while at each of many parameters, so each is asked whether to stop.
    let calculate = |delta: &[f64]| {
        token.check().ok()?;
        // The nominal loop is looked at first, however little work is allowed.
        if token.is_spent() && delta.iter().any(|x| *x != 0.0) {
            return None;
        }
        let model = family(delta)?;
        token.spend(model.margins_operations());
        open(&model, input, output).map(|l| l.margins())
    };
    let margins = Remembered::new(&calculate);
    let mut worst = Vec::new();
    for kind in MarginKind::ALL {
        let figure = |delta: &[f64]| margins.at(delta).map(|margins| kind.size(&margins));
        worst.extend(smallest_piece(&figure, count, &[], token)?.map(|found| (kind, found)));
    }
    // What is worst for one margin may be so for another, as where the loop is not stable at all.
    let places: Vec<Vec<f64>> = worst.iter().map(|(_, found)| found.delta.clone()).collect();
    let mut found = Vec::new();
    for (kind, mut extreme) in worst {
        let figure = |delta: &[f64]| margins.at(delta).map(|margins| kind.size(&margins));
        for delta in &places {
            if try_out(&figure, delta.clone(), &mut extreme) {
                extreme = improved(&figure, extreme, token)?;
            }
        }
        if extreme.value < f64::MAX
            && let Some(margins) = margins.at(&extreme.delta)
        {
            found.push(WorstMargin { kind, delta: extreme.delta, margins });
        }
        token.check()?;
    }
    Ok(found)
}

/// The loop of a closed model, opened.
pub fn open(model: &Interconnection, input: usize, output: usize) -> Option<OpenLoop> {
    let (a, b, c, d) = entry(model, output, input);
    OpenLoop::from_injection(&a, &b, &c, d)
}

/// The matrices from one input to one output.
fn entry(model: &Interconnection, output: usize, input: usize) -> (Matrix, Matrix, Matrix, f64) {
    let n = model.states();
    let b = Matrix::from_fn(n, 1, |i, _| model.b[(i, input)]);
    let c = Matrix::from_fn(1, n, |_, j| model.c[(output, j)]);
    (model.a.clone(), b, c, model.d[(output, input)])
}

/// One number of [`StepFigures`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// The final value.
    FinalValue,
    /// The rise time.
    RiseTime,
    /// The settling time.
    SettlingTime,
    /// The overshoot.
    Overshoot,
}

impl StepKind {
    /// All of them.
    pub const ALL: [StepKind; 4] =
        [StepKind::FinalValue, StepKind::RiseTime, StepKind::SettlingTime, StepKind::Overshoot];

    /// The figure of a response.
    pub fn of(self, figures: &StepFigures) -> Option<f64> {
        match self {
            StepKind::FinalValue => Some(figures.final_value),
            StepKind::RiseTime => figures.rise_time,
            StepKind::SettlingTime => figures.settling_time,
            StepKind::Overshoot => figures.overshoot,
        }
    }
}

/// A figure over the box.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRange {
    /// Which.
    pub kind: StepKind,
    /// Its derivatives by the δ of the box, at the nominal parameters.
    pub derivatives: Vec<Option<f64>>,
    /// The smallest that was found.
    pub low: Extreme,
    /// The largest that was found.
    pub high: Extreme,
}

/// The step response of an output to an input, with what tolerances make of its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct StepAnalysis {
    /// The output, by place.
    pub output: usize,
    /// The input, by place.
    pub input: usize,
    /// The response of the nominal model.
    pub response: StepResponse,
    /// By figure; empty without tolerances.
    pub ranges: Vec<StepRange>,
}

/// Analyses a step response; nothing where it does not settle.
pub fn step_analysis(
    family: &Family<'_>,
    output: usize,
    input: usize,
    count: usize,
    token: &CancellationToken,
) -> Result<Option<StepAnalysis>, Cancelled> {
    let response = |delta: &[f64]| {
        token.check().ok()?;
        if token.is_spent() && delta.iter().any(|x| *x != 0.0) {
            return None;
        }
        let (a, b, c, d) = entry(&family(delta)?, output, input);
        let found = step_response(&a, &b, &c, d);
        let n = a.rows() as u64;
        let samples = found.as_ref().map_or(0, |found| found.t.len() as u64);
        token.spend(60 * n * n * n + samples * (2 * n * n + 4 * n + 20) + 1_000);
        found
    };
    let nominal = response(&vec![0.0; count]);
    token.check()?;
    let Some(nominal) = nominal else { return Ok(None) };
    let calculate = |delta: &[f64]| response(delta).map(|response| response.figures);
    let figures = Remembered::new(&calculate);
    let mut ranges = Vec::new();
    for kind in StepKind::ALL.into_iter().filter(|_| count > 0) {
        let figure = |delta: &[f64]| kind.of(&figures.at(delta)?);
        let (low, high) = (smallest(&figure, count, token)?, largest(&figure, count, token)?);
        if let Some((low, high)) = low.zip(high) {
            ranges.push(StepRange { kind, derivatives: derivatives(&figure, count), low, high });
        }
        token.check()?;
    }
    Ok(Some(StepAnalysis { output, input, response: nominal, ranges }))
}
