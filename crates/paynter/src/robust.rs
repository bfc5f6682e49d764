//! The question for robustness: how far parameters may drift before the model is unstable or its gain too large.

use crate::answer::{Asked, QueryError, refused};
use crate::{Answer, LftOptions, Model, StandardInterconnection};
use num_complex::Complex64;
use paynter_base::number::significant;
use paynter_base::{CancellationToken, Cancelled, Diagnostic, Diagnostics, code};
use paynter_interconnect::{Numbers, Quantity};
use paynter_numerics::grid::Frequencies;
use paynter_numerics::poles::expanded;
use paynter_numerics::response::{ResponseChoice, chosen_places};
use paynter_robust::axis::frequencies;
use paynter_robust::branch::{Limits, branch_gain};
use paynter_robust::cloud::root_cloud;
use paynter_robust::gain::{WorstGain, worst_gain};
use paynter_robust::stability::{NoMargin, Stability, stability};
use paynter_robust::{Block, Interconnection, Matrix, set_aside};

/// Models drawn for the picture of poles.
const CLOUD: usize = 300;

/// What to prove and to search for.
#[derive(Debug, Clone, Default)]
pub struct RobustOptions {
    /// Only these parameters are uncertain; all with tolerances where empty.
    pub only: Vec<String>,
    /// The frequencies of bounds; chosen by the model where left out.
    pub omega: Option<Frequencies>,
    /// The output and the input of a worst-case gain.
    pub pair: Option<(String, String)>,
    /// Robust performance: a gain that may not be exceeded.
    pub gain: Option<f64>,
    /// Neglected dynamics by signal: the radius of Δ in 1 + Δ(s).
    pub dynamics: Vec<(String, f64)>,
    /// The relative gap at which branch and bound ends.
    pub gap: f64,
    /// Branch and bound looks at so many parts of the box; none where zero.
    pub nodes: usize,
}

/// An uncertain quantity: the parameter of a block of Δ.
#[derive(Debug, Clone, PartialEq)]
pub struct UncertainQuantity {
    /// Its name.
    pub name: String,
    /// Its nominal value, in SI.
    pub nominal: f64,
    /// How far it is off at δ = 1.
    pub deviation: f64,
    /// Whether it is a parameter of its own.
    pub is_parameter: bool,
}

/// What there is to say about a worst-case gain.
#[derive(Debug, Clone)]
pub struct GainReport {
    /// The output and the input.
    pub pair: (String, String),
    /// The bounds.
    pub worst: WorstGain,
    /// The parts of the box looked at by branch and bound.
    pub nodes: usize,
    /// By frequency of the bounds: the gain of the nominal model and at the worst parameters.
    pub responses: Vec<(f64, f64)>,
    /// Robust performance: the margin of stability and of the gain that was asked for together.
    pub performance: Option<Stability>,
}

/// What there is to say about robustness.
#[derive(Debug, Clone)]
pub struct RobustReport {
    /// The uncertain quantities, in the order of δ.
    pub quantities: Vec<UncertainQuantity>,
    /// The names of the states.
    pub states: Vec<String>,
    /// Bounds of the margin.
    pub stability: Stability,
    /// The pole of the model itself at the worst parameters, found by its own equations.
    pub verified: Option<Complex64>,
    /// The worst-case gain, where it was asked for.
    pub gain: Option<GainReport>,
    /// Poles of the nominal model.
    pub poles: Vec<Complex64>,
    /// Poles within the tolerances, at samples.
    pub cloud: Vec<Complex64>,
}

impl Model {
    /// Tells by which factor the box of tolerances may grow before the model can be unstable, bounds of the
    /// structured singular value over frequency, and the largest gain within the tolerances.
    pub fn robust(&self, options: &RobustOptions, token: &CancellationToken) -> Asked<RobustReport> {
        let mut model = self.clone();
        for (signal, _) in &options.dynamics {
            model = model.injected(signal, token)?.1;
        }
        let lft = LftOptions { normalized: true, only: options.only.clone(), ..LftOptions::default() };
        let answer = model.lft(&lft, token)?;
        let mut findings = Diagnostics::new();
        let found = self.robust_report(&answer, options, &mut findings, token);
        let Answer { findings: before, sources, pool, graph, .. } = answer;
        let mut all = before;
        all.extend(findings);
        all.sort();
        match found {
            Ok(result) => Ok(Answer { result, findings: all, sources, pool, graph }),
            Err(failure) => Err(crate::answer::after(&all, failure)),
        }
    }

    fn robust_report(
        &self,
        answer: &Answer<StandardInterconnection>,
        options: &RobustOptions,
        findings: &mut Diagnostics,
        token: &CancellationToken,
    ) -> Result<RobustReport, QueryError> {
        let found = &answer.found;
        let quantities: Vec<UncertainQuantity> = found
            .blocks
            .iter()
            .map(|block| UncertainQuantity {
                name: block.name.clone(),
                nominal: block.nominal,
                deviation: block.bounds.map_or(0.0, |(low, high)| 0.5 * (high - low)),
                is_parameter: matches!(block.quantity, Quantity::Parameter(_)),
            })
            .collect();
        // A scaling ends where a quantity would reach zero.
        let reach = |q: &UncertainQuantity| {
            if q.nominal == 0.0 { f64::INFINITY } else { (q.nominal / q.deviation).abs() }
        };
        let limit = quantities.iter().map(reach).fold(f64::INFINITY, f64::min);
        let mut whole = numbers(found);
        // The disturbances of neglected dynamics are the last inputs and outputs, in the order they were added.
        let (outputs, inputs) = (found.outputs.len(), found.inputs.len());
        let own = (outputs - options.dynamics.len(), inputs - options.dynamics.len());
        for (k, (_, radius)) in options.dynamics.iter().enumerate() {
            whole = whole.with_block(own.0 + k, own.1 + k, *radius);
        }
        let system = whole.inner();
        let omega = options.omega.map_or_else(|| frequencies(&system), |omega| axis_of(omega.list()));
        let limits = (options.nodes > 0).then_some(Limits { gap: options.gap, nodes: options.nodes });
        let stability = stability(&system, &omega, limit, limits, token).map_err(unstable)?;
        robust_findings(&stability, &found.states, findings);
        let verified = self.verified(&quantities, &stability, token);
        let gain = options.pair.as_ref().map(|(output, input)| {
            let choice =
                ResponseChoice { omega: None, outputs: vec![output.clone()], inputs: vec![input.clone()] };
            let (y, u) = chosen_places(&answer.equations, &choice)?;
            let question = prepared(&whole.with_performance(&y, &u, 1.0));
            let mut worst = worst_gain(&question, &omega, token)?;
            let mut nodes = 0;
            if let Some(limits) = limits {
                (worst, nodes) = branch_gain(&question, worst, limits, token)?;
            }
            let performance = options.gain.map(|gain| {
                let question = whole.with_performance(&y, &u, 1.0 / gain);
                paynter_robust::stability::stability(&question, &omega, limit, None, token).map_err(unstable)
            });
            let responses = responses(&question, &worst);
            let pair = (output.clone(), input.clone());
            Ok::<_, QueryError>(GainReport {
                pair,
                worst,
                nodes,
                responses,
                performance: performance.transpose()?,
            })
        });
        Ok(RobustReport {
            poles: system.a.eigenvalues().unwrap_or_default(),
            cloud: root_cloud(&system, 1.0, CLOUD, 1),
            quantities,
            states: found.states.clone(),
            stability,
            verified,
            gain: gain.transpose()?,
        })
    }

    /// The pole of the model itself at the worst parameters that is nearest to the one that was found.
    fn verified(
        &self,
        quantities: &[UncertainQuantity],
        stability: &Stability,
        token: &CancellationToken,
    ) -> Option<Complex64> {
        let worst = stability.worst.as_ref()?;
        let pole = worst.pole.filter(|_| quantities.iter().all(|quantity| quantity.is_parameter))?;
        let graph = self.graph()?;
        let values = quantities.iter().zip(&worst.delta).filter_map(|(quantity, delta)| {
            let same = |name: &str| paynter_graph::flat_name(name) == quantity.name;
            let parameter = graph.parameters.iter().find(|parameter| same(&parameter.name))?;
            let value = quantity.nominal + delta * quantity.deviation;
            Some((quantity.name.as_str(), parameter.in_declared_unit(value)))
        });
        let moved = self.with(values.collect::<Vec<_>>()).numeric(token).ok()?;
        let matrices = moved.result.matrices(&moved.pool).ok()?;
        let spectrum = moved.result.spectrum(&moved.pool, &moved.view.graph, &matrices, &[], token).ok()?;
        let poles = expanded(&spectrum.poles);
        let near = |z: &Complex64| (z.re - pole.re).hypot(z.im.abs() - pole.im.abs());
        poles.into_iter().min_by(|x, y| near(x).total_cmp(&near(y)))
    }
}

/// A model without the modes that take no part, its states of one size.
fn prepared(system: &Interconnection) -> Interconnection {
    set_aside(&system.balanced()).0.balanced()
}

/// Frequencies with both ends of the axis.
fn axis_of(list: Vec<f64>) -> Vec<f64> {
    std::iter::once(0.0).chain(list).chain([f64::INFINITY]).collect()
}

fn unstable(reason: NoMargin) -> QueryError {
    match reason {
        NoMargin::Cancelled => QueryError::from(Cancelled),
        NoMargin::Unstable(pole) => {
            let message = format!(
                "the nominal model is unstable: it has a pole at {}{}",
                significant(pole.re),
                if pole.im == 0.0 { String::new() } else { format!(" ± {}j", significant(pole.im.abs())) }
            );
            refused(Diagnostic::new(code::UNSTABLE_NOMINAL, message))
        }
    }
}

/// The matrices of an interconnection in numbers.
fn numbers(found: &paynter_interconnect::Interconnection) -> Interconnection {
    let m = &found.numbers;
    let dense = |matrix: &Numbers| {
        let rows = matrix.dense();
        Matrix::from_fn(matrix.rows, matrix.columns, |i, j| rows[i][j])
    };
    let blocks = found.blocks.iter().map(|block| Block::Real(block.channels.len())).collect();
    Interconnection::new(
        dense(&m.a),
        [dense(&m.b1), dense(&m.b2)],
        [dense(&m.c1), dense(&m.c2)],
        [[dense(&m.d11), dense(&m.d12)], [dense(&m.d21), dense(&m.d22)]],
        blocks,
    )
}

/// The gains at the frequencies of the bounds: nominal and at the worst parameters.
fn responses(question: &Interconnection, worst: &WorstGain) -> Vec<(f64, f64)> {
    let zero = vec![0.0; worst.delta.len()];
    let gain = |delta: &[f64], omega: f64| {
        let closed = question.closed(delta).ok().and_then(|closed| closed.at(omega));
        closed.map_or(f64::NAN, |m| {
            let size = question.blocks.last().map_or(0, |block| block.size());
            let last: Vec<usize> = (m.rows() - size..m.rows()).collect();
            m.part(&last, &last).norm().map_or(f64::NAN, |(size, _, _)| size)
        })
    };
    worst
        .axis
        .points
        .iter()
        .map(|point| (gain(&zero, point.omega), gain(&worst.delta, point.omega)))
        .collect()
}

/// Says what a reader of the margin has to know first.
fn robust_findings(found: &Stability, states: &[String], findings: &mut Diagnostics) {
    for mode in found.fixed.iter().filter(|mode| mode.value == Complex64::ZERO) {
        let names: Vec<&str> =
            mode.states.iter().filter_map(|k| states.get(*k)).map(String::as_str).collect();
        let message =
            format!("a pole at zero in {} is moved by no parameter; it is set aside", names.join(", "));
        findings.push(Diagnostic::new(code::FIXED_POLE, message));
    }
}
