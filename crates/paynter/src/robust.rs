//! The question for robustness: how far parameters may drift before the model is unstable or its gain too large.

use crate::answer::{Asked, QueryError};
use crate::{LftOptions, Model, StandardInterconnection};
use num_complex::Complex64;
use paynter_base::{CancellationToken, Diagnostics};
use paynter_graph::{RationalFunction, rational_function};
use paynter_interconnect::{Numbers, UncertainQuantity};
use paynter_numerics::grid::Frequencies;
use paynter_numerics::poles::expanded;
use paynter_numerics::response::{ResponseChoice, chosen_places};
use paynter_robust::branch::Limits;
use paynter_robust::robustness::{RobustQuestion, Robustness};
use paynter_robust::stability::nearest_pole;
use paynter_robust::{Block, Interconnection, Matrix, Weight};

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
    /// Neglected dynamics by signal: the radius of Δ in 1 + Δ(s), a number or a transfer function in s.
    pub dynamics: Vec<(String, String)>,
    /// The relative gap at which branch and bound ends.
    pub gap: f64,
    /// Branch and bound looks at so many parts of the box; none where zero.
    pub nodes: usize,
}

/// What there is to say about robustness.
#[derive(Debug, Clone)]
pub struct RobustReport {
    /// The uncertain quantities, in the order of δ.
    pub quantities: Vec<UncertainQuantity>,
    /// The names of the states.
    pub states: Vec<String>,
    /// The margin, the worst-case gain, and poles.
    pub found: Robustness,
    /// The pole of the model itself at the worst parameters, found by its own equations.
    pub verified: Option<Complex64>,
    /// The output and the input of the worst-case gain.
    pub pair: Option<(String, String)>,
}

impl Model {
    /// Tells by which factor the box of tolerances may grow before the model can be unstable, bounds of the
    /// structured singular value over frequency, and the largest gain within the tolerances.
    pub fn robust(&self, options: &RobustOptions, token: &CancellationToken) -> Asked<RobustReport> {
        let mut model = self.clone();
        let radii = self.radii(&options.dynamics)?;
        for (signal, _) in &options.dynamics {
            model = model.injected(signal, token)?.1;
        }
        let (only, may_be_certain) = (options.only.clone(), !options.dynamics.is_empty());
        let lft = LftOptions { normalized: true, only, may_be_certain, ..LftOptions::default() };
        model
            .lft(&lft, token)?
            .and_then(|standard, findings| self.robust_report(standard, &radii, options, findings, token))
    }

    fn robust_report(
        &self,
        standard: &StandardInterconnection,
        radii: &[Weight],
        options: &RobustOptions,
        findings: &mut Diagnostics,
        token: &CancellationToken,
    ) -> Result<RobustReport, QueryError> {
        let interconnection = &standard.found;
        let place = |(output, input): &(String, String)| {
            let (outputs, inputs) = (vec![output.clone()], vec![input.clone()]);
            chosen_places(
                &standard.equations,
                &ResponseChoice { outputs, inputs, ..ResponseChoice::default() },
            )
        };
        let question = RobustQuestion {
            omega: options.omega.map(|omega| omega.list()),
            limit: interconnection.reach(),
            limits: (options.nodes > 0).then_some(Limits { gap: options.gap, nodes: options.nodes }),
            pair: options.pair.as_ref().map(place).transpose()?,
            gain: options.gain,
        };
        let found = question.answer(&numbers(interconnection).with_dynamics(radii), token)?;
        findings.extend(found.findings(&interconnection.states));
        let quantities = interconnection.quantities();
        let verified = self.verified(&quantities, &found, token);
        let (states, pair) = (interconnection.states.clone(), options.pair.clone());
        Ok(RobustReport { quantities, states, found, verified, pair })
    }

    /// The radii of neglected dynamics over frequency.
    fn radii(&self, dynamics: &[(String, String)]) -> Result<Vec<Weight>, QueryError> {
        let graph = self.graph().unwrap_or_default();
        let radius = |(_, text): &(String, String)| {
            let RationalFunction { numerator, denominator } = rational_function(text, &graph)?;
            Weight::new(&numerator, &denominator)
        };
        dynamics.iter().map(|given| radius(given).map_err(|reason| QueryError::from(*reason))).collect()
    }

    /// The pole of the model itself at the worst parameters that is nearest to the one that was found.
    fn verified(
        &self,
        quantities: &[UncertainQuantity],
        found: &Robustness,
        token: &CancellationToken,
    ) -> Option<Complex64> {
        let worst = found.stability.worst.as_ref()?;
        let pole = worst.pole.filter(|_| quantities.iter().all(|quantity| quantity.is_parameter))?;
        let graph = self.graph()?;
        let values = quantities.iter().zip(&worst.delta).filter_map(|(quantity, delta)| {
            let same = |name: &str| paynter_graph::flat_name(name) == quantity.name;
            let parameter = graph.parameters.iter().find(|parameter| same(&parameter.name))?;
            Some((quantity.name.as_str(), parameter.in_declared_unit(quantity.at(*delta))))
        });
        let moved = self.with(values.collect::<Vec<_>>()).numeric(token).ok()?;
        let matrices = moved.result.matrices(&moved.pool).ok()?;
        let spectrum = moved.result.spectrum(&moved.pool, &moved.view.graph, &matrices, &[], token).ok()?;
        nearest_pole(&expanded(&spectrum.poles), pole)
    }
}

/// The matrices of an interconnection in numbers.
fn numbers(found: &paynter_interconnect::Interconnection) -> Interconnection {
    let m = &found.numbers;
    let dense = |matrix: &Numbers| Matrix::from_rows(matrix.columns, &matrix.dense());
    let blocks = found.blocks.iter().map(|block| Block::Real(block.channels.len())).collect();
    Interconnection::new(
        dense(&m.a),
        [dense(&m.b1), dense(&m.b2)],
        [dense(&m.c1), dense(&m.c2)],
        [[dense(&m.d11), dense(&m.d12)], [dense(&m.d21), dense(&m.d22)]],
        blocks,
    )
}
