//! The question for robustness: how far parameters may drift before the model is unstable or its gain too large.

use crate::answer::{Asked, QueryError, refused};
use crate::{LftOptions, Model, StandardInterconnection};
use num_complex::Complex64;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_graph::{Amount, RationalFunction, flat_name, rational_function};
use paynter_interconnect::{Numbers, UncertainQuantity, in_tolerances, reaching_zero};
use paynter_numerics::grid::Frequencies;
use paynter_numerics::parametric::declared_tolerances;
use paynter_numerics::response::{ResponseChoice, chosen_places};
use paynter_robust::branch::Limits;
use paynter_robust::own::{OwnGain, own_gain};
use paynter_robust::robustness::{RobustQuestion, Robustness};
use paynter_robust::stability::nearest_pole;
use paynter_robust::{Block, Interconnection, Matrix, Weight};
use paynter_view::units::Shown;

/// The operations that bounds and searches take at most where nobody says how many: half a minute or so.
pub const WORK: u64 = 200_000_000_000;

/// What to prove and to search for.
#[derive(Debug, Clone, Default)]
pub struct RobustOptions {
    /// Only these parameters are uncertain; all with tolerances where empty.
    pub only: Vec<String>,
    /// The frequencies of bounds; chosen by the model where left out.
    pub omega: Option<Frequencies>,
    /// The output and the input of a worst-case gain.
    pub pair: Option<(String, String)>,
    /// Robust performance: a gain that may not be exceeded, in the unit of the output per that of the input where it has
    /// none of its own.
    pub gain: Option<Amount>,
    /// Neglected dynamics by signal: the radius of Δ in 1 + Δ(s), a number or a transfer function in s.
    pub dynamics: Vec<(String, String)>,
    /// The relative gap at which branch and bound ends.
    pub gap: f64,
    /// Branch and bound looks at so many parts of the box; none where zero.
    pub nodes: usize,
    /// All of it takes so many operations at most, about; [`WORK`] where left out.
    pub work: Option<u64>,
}

/// What there is to say about robustness.
#[derive(Debug, Clone)]
pub struct RobustReport {
    /// The uncertain quantities, in the order of δ.
    pub quantities: Vec<UncertainQuantity>,
    /// The units that people are shown them in.
    pub shown: Vec<Shown>,
    /// The signals with neglected dynamics, in the order of their blocks.
    pub dynamics: Vec<String>,
    /// The scalings of the box up to which I − D11 Δ is regular and at which it is singular, where that is in the box.
    pub regular: Option<(f64, f64)>,
    /// The names of the states.
    pub states: Vec<String>,
    /// The margin, the worst-case gain, and poles.
    pub found: Robustness,
    /// The pole of the model itself at the worst parameters, found by its own equations.
    pub verified: Option<Complex64>,
    /// The output and the input of the worst-case gain.
    pub pair: Option<(String, String)>,
    /// The unit that people are shown the gain in.
    pub gain_shown: Shown,
    /// Robust performance: the gain that may not be exceeded, in SI.
    pub allowed: Option<f64>,
    /// What the parameters attain themselves, where some of the quantities are values that are uncertain as a whole:
    /// the gain in `found` is then theirs.
    pub own: Option<OwnParameters>,
}

/// Parameters in whose values others are uncertain as a whole, and what they attain themselves.
#[derive(Debug, Clone)]
pub struct OwnParameters {
    /// The parameters, in the order of δ.
    pub list: Vec<UncertainQuantity>,
    /// The units that people are shown them in.
    pub shown: Vec<Shown>,
    /// Whether they make the model unstable: what is worst for stability is then theirs.
    pub is_unstable: bool,
    /// The largest gain that was found.
    pub gain: Option<OwnGain>,
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
        let lft = LftOptions {
            normalized: true,
            only,
            may_be_certain,
            may_be_ill_posed: true,
            may_stand_alone: options.pair.is_none() && options.dynamics.is_empty(),
            ..LftOptions::default()
        };
        model.lft(&lft, token).map_err(in_tolerances)?.and_then(|standard, findings| {
            let exact = model.plant(&lft, token)?.model.exact_poles(token);
            let mut report = self.robust_report(standard, (&radii, exact), options, findings, token)?;
            // The parameters themselves attain less than values that count as independent of them; what neglected
            // dynamics attain with them is not looked for.
            let has_whole = report.quantities.iter().any(|quantity| !quantity.is_parameter);
            if has_whole && options.dynamics.is_empty() {
                report.own = Some(model.own_parameters(standard, &lft, &mut report, options, token)?);
                report.take_own_gain();
                report.verified = model.verified(&report, token);
            }
            Ok(report)
        })
    }

    /// What the parameters attain themselves in the linear model whose interconnection is asked for.
    fn own_parameters(
        &self,
        standard: &StandardInterconnection,
        lft: &LftOptions,
        report: &mut RobustReport,
        options: &RobustOptions,
        token: &CancellationToken,
    ) -> Result<OwnParameters, QueryError> {
        let plant = self.plant(lft, token)?;
        let stage = plant.model.numeric(token)?;
        let graph = &stage.view.graph;
        let mut box_of = declared_tolerances(graph);
        box_of.retain(|(place, _)| plant.request.parameters.contains(place));
        let pool = stage.overlay();
        let family = plant.model.family(&stage, &box_of, &pool, token);
        let declared = self.graph().unwrap_or_default();
        let own = |(place, deviation): &(usize, f64)| {
            let parameter = &graph.parameters[*place];
            UncertainQuantity::of_parameter(flat_name(&parameter.name), parameter.number, *deviation)
        };
        let list: Vec<UncertainQuantity> = box_of.iter().map(own).collect();
        let shown = list.iter().map(|own| Shown::named(&declared, &own.name)).collect();
        let omega: Vec<f64> = report.found.stability.axis.points.iter().map(|point| point.omega).collect();
        let token = &token.with_budget(options.work.unwrap_or(WORK));
        let reach: Vec<f64> = list.iter().map(UncertainQuantity::reach).collect();
        let is_unstable = report.found.stability.search_own(&*family, &reach, token)?;
        let pair = options.pair.as_ref().map(|pair| places(standard, pair)).transpose()?;
        let gain =
            pair.map(|(outputs, inputs)| own_gain(&*family, (&outputs, &inputs), list.len(), &omega, token));
        Ok(OwnParameters { gain: gain.transpose()?.flatten(), is_unstable, list, shown })
    }

    fn robust_report(
        &self,
        standard: &StandardInterconnection,
        (radii, exact): (&[Weight], Option<Vec<Complex64>>),
        options: &RobustOptions,
        findings: &mut Diagnostics,
        token: &CancellationToken,
    ) -> Result<RobustReport, QueryError> {
        let interconnection = &standard.found;
        let pair = options.pair.as_ref().map(|pair| places(standard, pair)).transpose()?;
        let graph = self.graph().unwrap_or_default();
        let gain_shown = Shown::gain(&graph, options.pair.as_ref());
        let allowed = options.gain.as_ref().map(|gain| {
            let found = gain.in_si(gain_shown.unit.as_deref(), gain_shown.factor);
            found.map_err(|wrong| refused(Diagnostic::new(code::BAD_COMMAND_LINE, wrong)))
        });
        let allowed = allowed.transpose()?;
        let question = RobustQuestion {
            omega: options.omega.map(|omega| omega.list()),
            limit: interconnection.reach(),
            limits: (options.nodes > 0).then_some(Limits { gap: options.gap, nodes: options.nodes }),
            pair,
            gain: allowed,
            start: interconnection.singular().map(|singular| singular.beyond(interconnection.blocks.len())),
            exact,
            work: options.work.or(Some(WORK)),
        };
        let found = question.answer(&numbers(interconnection).with_dynamics(radii), token)?;
        findings.extend(found.findings(&interconnection.states));
        let quantities = interconnection.quantities();
        findings.extend(reaching_zero(&quantities));
        let shown = quantities.iter().map(|quantity| Shown::named(&graph, &quantity.name)).collect();
        let dynamics = options.dynamics.iter().map(|(signal, _)| signal.clone()).collect();
        let (states, pair) = (interconnection.states.clone(), options.pair.clone());
        let regular = interconnection.singular().map(|singular| (singular.regular, singular.scale));
        let mut report = RobustReport {
            quantities,
            shown,
            dynamics,
            regular,
            states,
            found,
            verified: None,
            pair,
            gain_shown,
            allowed,
            own: None,
        };
        report.verified = self.verified(&report, token);
        Ok(report)
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
    fn verified(&self, report: &RobustReport, token: &CancellationToken) -> Option<Complex64> {
        let worst = report.found.stability.worst.as_ref()?;
        let own = report.own.as_ref().filter(|own| own.is_unstable);
        let quantities = own.map_or(&report.quantities, |own| &own.list);
        let values = UncertainQuantity::values(quantities, &worst.delta)?;
        let (pole, graph) = (worst.pole?, self.graph()?);
        let values = values.iter().filter_map(|(name, value)| {
            let parameter = graph.parameters.iter().find(|p| UncertainQuantity::is_called(&p.name, name))?;
            Some((parameter.name.as_str(), parameter.in_declared_unit(*value)))
        });
        nearest_pole(&self.with(values.collect::<Vec<_>>()).nominal_poles(token)?.0, pole)
    }

    /// The poles of the nominal model where its numbers are exact.
    pub(crate) fn exact_poles(&self, token: &CancellationToken) -> Option<Vec<Complex64>> {
        self.nominal_poles(token).and_then(|(poles, is_exact)| is_exact.then_some(poles))
    }

    /// The poles of the nominal model by its own equations, and whether its numbers are exact.
    fn nominal_poles(&self, token: &CancellationToken) -> Option<(Vec<Complex64>, bool)> {
        let stage = self.numeric(token).ok()?;
        stage.result.poles(&stage.pool, &stage.view.graph, token)
    }
}

impl RobustReport {
    /// Puts the gain that the parameters attain themselves in the place of one that values attain which are uncertain
    /// as a whole.
    fn take_own_gain(&mut self) {
        let own = self.own.as_ref().and_then(|own| own.gain.as_ref());
        let Some((own, gain)) = own.zip(self.found.gain.as_mut()) else { return };
        let worst = &mut gain.worst;
        (worst.lower, worst.delta, worst.omega) = (own.value, own.delta.clone(), own.omega);
        for (response, own) in gain.responses.iter_mut().zip(&own.response) {
            response.1 = *own;
        }
    }
}

/// The places of an output and an input among those of the interconnection.
fn places(
    standard: &StandardInterconnection,
    (output, input): &(String, String),
) -> Result<(Vec<usize>, Vec<usize>), QueryError> {
    let (outputs, inputs) = (vec![output.clone()], vec![input.clone()]);
    let choice = ResponseChoice { outputs, inputs, ..ResponseChoice::default() };
    chosen_places(&standard.found.outputs, &standard.found.inputs, &choice)
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
