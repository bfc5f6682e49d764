//! Answers made visible for the edges: JSON documents, and formulas in a notation.

use crate::Answer;
use crate::answer::order_for;
use crate::check::Checked;
use crate::equations::{NumericTransfer, StateEquations, TransferMatrix};
use crate::incremental::DerivedModel;
use crate::lft::StandardInterconnection;
use crate::linear::{Bode, Poles, SteadyMoves, SteadyState};
use crate::loops::LoopReport;
use crate::robust::RobustReport;
use crate::sensitivity::{ResponseTolerance, SymbolicSensitivity};
use crate::structure::StructureReport;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, Diagnostic, Spelling, code};
use paynter_equations::{Derivation, readable_characteristic};
use paynter_export::{self as export, Target};
use paynter_graph::Causality;
use paynter_interconnect::UncertainQuantity;
use paynter_numerics::LinearModel;
use paynter_verify::Check;
use paynter_view::json::{self, Naming};
use paynter_view::units::Shown;
use std::collections::BTreeMap;
use std::sync::Arc;

impl<T> Answer<T> {
    /// The findings of the answer as data, with remedies as the edge spells them.
    pub fn diagnostics(&self, spelling: &dyn Spelling) -> Vec<json::Diagnostic> {
        json::Diagnostic::list(&self.findings, &self.sources, spelling)
    }
}

impl Answer<Checked> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Check {
        let summary = || json::Summary::new(&self.graph, self.causality.as_deref());
        let diagnostics = self.diagnostics(spelling);
        json::Check { ok: self.ok, summary: self.has_graph.then(summary), diagnostics }
    }
}

impl Answer<Arc<Causality>> {
    /// The document.
    pub fn document(&self, naming: Naming, spelling: &dyn Spelling) -> json::Causality {
        json::Causality::new(&self.graph, &self.result, self.diagnostics(spelling), naming)
    }
}

impl Answer<StateEquations> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Equations {
        let (mut pool, graph, diagnostics) = (self.overlay(), &self.graph, self.diagnostics(spelling));
        let StateEquations { equations, space, mass } = &self.result;
        let space = space.as_deref();
        match mass {
            Some(mass) => json::Equations::with_mass(&mut pool, graph, equations, mass, space, diagnostics),
            None => json::Equations::new(&mut pool, graph, equations, space, diagnostics),
        }
    }

    /// The same equations with numbers in place of the parameters.
    pub fn in_numbers(self) -> Answer<StateEquations> {
        let mut pool = self.overlay();
        let StateEquations { equations, space, mass } = &self.result;
        let (equations, space, mass) =
            equations.in_numbers(&mut pool, &self.graph, space.as_deref(), mass.as_ref());
        let result = StateEquations { equations: Arc::new(equations), space: space.map(Arc::new), mass };
        Answer { result, pool: Arc::new(pool), ..self }
    }

    /// The equations in a notation.
    pub fn written(&self, notation: &dyn Target) -> String {
        let StateEquations { equations, space, mass } = &self.result;
        let (mut pool, space) = (self.overlay(), space.as_deref());
        export::equations(&mut pool, &self.graph, equations, mass.as_ref(), space, notation)
    }
}

impl Answer<Vec<Derivation>> {
    /// The steps as data.
    pub fn document(&self) -> Vec<json::Derivation> {
        json::Derivation::list(&self.pool, &self.result)
    }

    /// The steps in a notation, or in plain text.
    pub fn written(&self, notation: Option<&dyn Target>) -> String {
        export::steps(&self.pool, &self.graph.name, &self.result, notation)
    }
}

impl Answer<TransferMatrix> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Transfer {
        let TransferMatrix { linear, transfer, factors, mason } = &self.result;
        let (mut pool, graph, diagnostics) = (self.overlay(), &self.graph, self.diagnostics(spelling));
        let answer = json::Transfer::new(&mut pool, graph, linear, transfer, factors.as_deref(), diagnostics);
        match mason {
            Some((flow, found)) => answer.with_mason(&mut pool, graph, &linear.equations, flow, found),
            None => answer,
        }
    }

    /// The transfer functions in a notation.
    pub fn written(&self, notation: &dyn Target) -> String {
        let TransferMatrix { linear, transfer, .. } = &self.result;
        export::transfer(
            &mut self.overlay_for(notation),
            &self.graph.name,
            &linear.equations,
            transfer,
            notation,
        )
    }
}

impl Answer<NumericTransfer> {
    /// The document; for people numbers in its polynomials have few digits.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Transfer {
        let NumericTransfer { linear, spectrum } = &self.result;
        let diagnostics = self.diagnostics(spelling);
        json::Transfer::in_numbers(
            &self.pool,
            &self.graph,
            linear,
            spectrum,
            self.pool.is_for_people(),
            diagnostics,
        )
    }
}

impl Answer<SteadyState> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::OperatingPoint {
        let SteadyState { equations, point, linear, checks } = &self.result;
        let value = |symbol: Symbol| point.values.get(&symbol).copied();
        let (graph, diagnostics) = (&self.graph, self.diagnostics(spelling));
        let mut answer =
            json::OperatingPoint::new(&self.pool, graph, equations, &value, &point.outputs, diagnostics);
        answer.linear = linear
            .as_ref()
            .map(|(linear, matrices)| json::LinearModel::new(&mut self.overlay(), linear, matrices));
        answer.checks = checked(checks);
        answer
    }

    /// The steady state in a notation, with what the model is near it.
    pub fn written(&self, document: &json::OperatingPoint, notation: &dyn Target) -> String {
        let SteadyState { equations, linear, .. } = &self.result;
        let space = linear.as_ref().map(|(linear, _)| &linear.space);
        export::operating_point(&mut self.overlay(), &document.into(), equations, space, notation)
    }
}

impl Answer<SteadyMoves> {
    /// The derivatives as data.
    pub fn document(&self, naming: Naming) -> Vec<json::SteadyDerivative> {
        json::SteadyDerivative::list(&self.graph, &self.equations, &self.found, naming)
    }

    /// Puts the derivatives beside the steady state, and their checks beside its own.
    pub fn complete(&self, point: &mut json::OperatingPoint, naming: Naming) {
        point.sensitivities = self.document(naming);
        point.checks = point.checks.clone().and(checked(&self.checks));
    }
}

impl Answer<Poles> {
    /// The document.
    pub fn document(&self, naming: Naming, spelling: &dyn Spelling) -> json::Poles {
        let Poles { linear, spectrum, estimates, checks } = &self.result;
        let (mut pool, polynomial) = self.characteristic();
        let polynomial = polynomial.map(|(e, _)| e);
        let (graph, diagnostics) = (&self.graph, self.diagnostics(spelling));
        let document =
            json::Poles::new(&mut pool, graph, linear, spectrum, estimates, polynomial, naming, diagnostics);
        json::Poles { checks: checked(checks), ..document }
    }

    /// Poles and zeros in a notation, with the characteristic polynomial.
    pub fn written(&self, document: &json::Poles, notation: &dyn Target) -> String {
        let (mut pool, polynomial) = self.characteristic();
        order_for(&mut pool, notation);
        export::poles(&mut pool, &document.into(), polynomial, notation)
    }

    /// The characteristic polynomial and its variable s, where it can be read, with the pool it is in. It is made
    /// for readers only, and numbers do not wait for it.
    fn characteristic(&self) -> (Pool, Option<(Expr, Symbol)>) {
        let mut pool = self.overlay();
        let LinearModel { equations, space, .. } = &*self.linear;
        let found = readable_characteristic(&mut pool, equations, space, &CancellationToken::new());
        (pool, found.ok().flatten())
    }
}

impl Answer<Bode> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Bode {
        let Bode { linear, response, checks } = &self.result;
        let diagnostics = self.diagnostics(spelling);
        let document = json::Bode::new(&self.pool, &self.graph, linear, response.clone(), diagnostics);
        json::Bode { checks: checked(checks), ..document }
    }

    /// The frequency response in a notation.
    pub fn written(&self, document: &json::Bode, notation: &dyn Target) -> String {
        export::bode(&self.pool, &document.into(), notation)
    }
}

impl RobustReport {
    fn uncertainty<'a>(&'a self, list: &'a [UncertainQuantity], shown: &[Shown]) -> json::Uncertainty<'a> {
        let parameter = |(quantity, shown): (&'a UncertainQuantity, &Shown)| json::Uncertain {
            name: &quantity.name,
            at: Box::new(|delta| quantity.at(delta)),
            shown: shown.clone(),
            is_parameter: quantity.is_parameter,
        };
        let parameters = list.iter().zip(shown).map(parameter).collect();
        json::Uncertainty { parameters, dynamics: &self.dynamics, regular: self.regular }
    }
}

impl Answer<RobustReport> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Robust {
        let found = &self.result;
        let uncertainty = found.uncertainty(&found.quantities, &found.shown);
        let is_linearised = |finding: &Diagnostic| finding.code == code::LINEARISED_INTERCONNECTION;
        let diagnostics = self.diagnostics(spelling);
        let (states, verified) = (&found.states, found.verified);
        let gain = found.pair.as_ref().zip(found.found.gain.as_ref());
        // Where values are uncertain as a whole, a gain is attained by the parameters in them.
        let own = found.own.as_ref().map_or((&[][..], &[][..]), |own| (&own.list, &own.shown));
        let own = found.uncertainty(own.0, own.1);
        let attained = found.own.as_ref().and_then(|own| own.gain.as_ref());
        let of_gain = if attained.is_some() { &own } else { &uncertainty };
        let in_units = (found.gain_shown.clone(), found.allowed);
        let gain = gain.map(|(pair, gain)| json::RobustGain::new(pair, of_gain, gain, in_units));
        let is_own = found.own.as_ref().is_some_and(|own| own.is_unstable);
        let document = json::Robust::new(
            &self.graph.name,
            (&uncertainty, is_own.then_some(&own)),
            states,
            &found.found,
            verified,
            self.findings.iter().any(is_linearised),
            diagnostics,
        );
        json::Robust { gain, ..document.with_own(&own.parameters) }
    }
}

impl Answer<LoopReport> {
    /// The document; transfer functions as people write them where the answer is for people.
    pub fn document(&self, spelling: &dyn Spelling) -> json::OpenLoop {
        let found = &self.result;
        let (graph, mut pool) = (&self.graph, self.overlay());
        let mut written = |matrix: &TransferMatrix| {
            let factors = matrix.factors.as_deref();
            json::Transfer::new(&mut pool, graph, &matrix.linear, &matrix.transfer, factors, Vec::new())
        };
        let (loop_gain, closed) = found.transfer.as_ref().map(|(l, s)| (written(l), written(s))).unzip();
        let mut step: BTreeMap<String, BTreeMap<String, json::StepFigures>> = BTreeMap::new();
        for analysis in &found.found.steps {
            let (input, output) = (&found.names.0[analysis.input], &found.names.1[analysis.output]);
            let figures = json::StepFigures::new(graph, &found.tolerances, analysis);
            step.entry(output.clone()).or_default().insert(input.clone(), figures);
        }
        let locus = found.locus.as_ref();
        json::OpenLoop::new(
            (graph, &found.place),
            (&found.found, &found.tolerances),
            json::LoopMargins::new(graph, &found.found, &found.tolerances),
            (loop_gain, closed),
            step,
            locus.map(|(parameter, locus)| json::Locus::new(graph, parameter.as_deref(), locus)),
            self.diagnostics(spelling),
        )
    }
}

impl Answer<StructureReport> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Structure {
        let StructureReport { linear, structure, junctions, conserved } = &self.result;
        let (mut pool, graph, diagnostics) = (self.overlay(), &self.graph, self.diagnostics(spelling));
        json::Structure::new(&mut pool, graph, linear, structure, junctions.as_ref(), conserved, diagnostics)
    }

    /// What the structure says in a notation: order, relative degrees, zero dynamics, and the junction
    /// structure where it was asked for.
    pub fn written(&self, document: &json::Structure, notation: &dyn Target) -> String {
        let StructureReport { structure, junctions, .. } = &self.result;
        let zeros = structure.zero_dynamics.iter().flatten().map(|zeros| zeros.dynamics.clone());
        let zeros: Vec<_> = zeros.collect();
        let mut pool = self.overlay_for(notation);
        let s = pool.symbol("s");
        export::structure(&mut pool, &document.into(), &zeros, junctions.as_ref(), s, notation)
    }
}

impl Answer<SymbolicSensitivity> {
    /// The document.
    pub fn document(&self, naming: Naming, spelling: &dyn Spelling) -> json::Sensitivity {
        let SymbolicSensitivity { linear, request, found } = &self.result;
        let (mut pool, graph, diagnostics) = (self.overlay(), &self.graph, self.diagnostics(spelling));
        let document = json::Sensitivity::new(&mut pool, graph, linear, request, found, naming, diagnostics);
        json::Sensitivity { checks: checked(&found.roots.checks), ..document }
    }
}

impl Answer<ResponseTolerance> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::SensitivityResponse {
        let ResponseTolerance { linear, request, found, normalized, checks } = &self.result;
        let (pool, graph, diagnostics) = (&self.pool, &self.graph, self.diagnostics(spelling));
        let document =
            json::SensitivityResponse::new(pool, graph, linear, request, found, *normalized, diagnostics);
        json::SensitivityResponse { checks: checked(checks), ..document }
    }
}

impl Answer<StandardInterconnection> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Lft {
        let StandardInterconnection { equations, found, conditions } = &self.result;
        let (mut pool, graph, diagnostics) = (self.overlay(), &self.graph, self.diagnostics(spelling));
        let conditions = json::Conditions::new(equations, conditions);
        json::Lft::new(&mut pool, graph, found, conditions, diagnostics)
    }

    /// The model in a notation: matrices, Δ, and how the loop is closed there.
    pub fn written(&self, notation: &dyn Target) -> String {
        export::interconnection(&mut self.overlay(), &self.graph, &self.found, notation)
    }
}

impl Answer<DerivedModel> {
    /// The derived model as data.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Incremental {
        let DerivedModel { text, model, causality, .. } = &self.result;
        let (pool, graph) = model.graph_stage().unwrap_or_default();
        json::Incremental::new(
            &mut Pool::over(&pool),
            &graph,
            causality.as_deref(),
            text,
            self.diagnostics(spelling),
        )
    }
}

/// What was checked.
pub(crate) fn checked(checks: &[Check]) -> json::Checks {
    json::Checks::new(checks.iter().map(|check| (check.what.clone(), check.residual)))
}
