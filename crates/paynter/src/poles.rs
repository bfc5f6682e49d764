//! Questions about numbers of linear models: poles, zeros, quick estimates.

use crate::linear::Linear;
use crate::{Model, NoAnswer};
use paynter_algebra::poly::Budget;
use paynter_algebra::{Expr, Pool, Rational, Symbol};
use paynter_base::{Diagnostic, Ticket, code};
use paynter_equations::characteristic;
use paynter_graph::BondGraph;
use paynter_numerics::estimate::{self, Group, GroupKind};
use paynter_numerics::linalg::{Complex64, Matrices, exact_values};
use paynter_numerics::poles::{EXACT_STATES, MAX_STATES, NoPoles, Spectrum, expanded, spectrum};
use paynter_view::json::{self, Naming};
use std::collections::BTreeMap;

/// Estimates are made for models of at most this many states.
const ESTIMATED_STATES: usize = 400;

/// Characteristic polynomials of more terms than this are left out, because nobody reads them.
const READABLE_TERMS: usize = 2_000;

/// Models of more states than this have their characteristic polynomial left out.
const READABLE_STATES: usize = 40;

/// Polynomials of estimates longer than this say nothing to a reader.
const SHORT: usize = 160;

/// Real and imaginary parts.
fn pairs(list: &[Complex64]) -> Vec<[f64; 2]> {
    list.iter().map(|z| [z.re, z.im]).collect()
}

/// The exact values of the symbols in the matrices: parameters are given in
/// decimal digits, the operating point in floating point.
fn exact_symbols(pool: &Pool, graph: &BondGraph, linear: &Linear) -> Option<BTreeMap<Symbol, Rational>> {
    let mut values: BTreeMap<Symbol, Rational> = BTreeMap::new();
    for (symbol, value) in &linear.values {
        values.insert(*symbol, Rational::try_from(*value).ok()?);
    }
    for parameter in &graph.parameters {
        let value = exact_values(pool, &[parameter.value], &|_| None).ok()?.pop()?;
        values.insert(parameter.symbol, value);
    }
    Some(values)
}

impl Model {
    /// The linear model in exact numbers, where it is of moderate order.
    fn exact_matrices(&self, linear: &Linear) -> Option<Matrices<Rational>> {
        if linear.equations.states.len() > EXACT_STATES {
            return None;
        }
        let values = exact_symbols(&self.pool, self.graph.as_ref()?, linear)?;
        Matrices::exact(&self.pool, &linear.space, &|symbol| values.get(&symbol).cloned()).ok()
    }

    /// Poles of a linear model and the factors of the transfer functions asked for.
    pub(crate) fn spectrum(
        &self,
        linear: &Linear,
        matrices: &Matrices,
        wanted: &[(usize, usize)],
        ticket: &Ticket,
    ) -> Result<Spectrum, NoAnswer> {
        let exact = self.exact_matrices(linear);
        let refuse = |message: String| {
            let mut diagnostics = self.diagnostics.clone();
            diagnostics.push(Diagnostic::new(code::NO_POLES, message));
            NoAnswer::Wrong(diagnostics)
        };
        spectrum(matrices, exact.as_ref(), wanted, ticket).map_err(|reason| match reason {
            NoPoles::Cancelled => NoAnswer::Cancelled,
            NoPoles::TooLarge => refuse(format!(
                "the model has {} states, and eigenvalues are computed for at most {MAX_STATES}",
                matrices.states()
            )),
            NoPoles::NoConvergence => refuse("the eigenvalue iteration does not converge".to_owned()),
        })
    }

    /// Poles and zeros of every entry of a transfer matrix, where they can be had.
    pub(crate) fn factor_entries(
        &self,
        linear: &Linear,
        transfer: &mut json::Transfer,
        wanted: &[(usize, usize)],
        ticket: &Ticket,
    ) -> Result<(), NoAnswer> {
        if linear.equations.states.len() > EXACT_STATES {
            return Ok(());
        }
        let matrices = linear.matrices(&self.pool)?;
        let found = match self.spectrum(linear, &matrices, wanted, ticket) {
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => return Ok(()),
            Ok(found) => found,
        };
        for (entry, place) in transfer.entries.iter_mut().zip(wanted) {
            let factored = found.entries.iter().find(|f| (f.output, f.input) == *place);
            entry.poles = factored.map(|f| pairs(&f.poles));
            entry.zeros = factored.map(|f| pairs(&f.zeros));
        }
        Ok(())
    }

    /// Tells the eigenvalues with their damping, the zeros, and estimates read off the graph.
    pub fn poles(&mut self, naming: Naming, ticket: &Ticket) -> Result<json::Poles, NoAnswer> {
        let linear = self.linear(ticket)?;
        let matrices = linear.matrices(&self.pool)?;
        let (outputs, inputs) = (matrices.outputs(), matrices.inputs());
        let wanted: Vec<(usize, usize)> =
            (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input))).collect();
        let found = self.spectrum(&linear, &matrices, &wanted, ticket)?;
        let poles = expanded(&found.poles);
        let estimates = self.estimates(&linear, &matrices, &poles, naming);
        let characteristic = self.characteristic(ticket)?.map(|(e, _)| self.pool.display(e).to_string());
        let equations = &linear.equations;
        let zeros = found.entries.iter().map(|entry| json::Zeros {
            output: equations.outputs[entry.output].name.clone(),
            input: equations.inputs[entry.input].name.clone(),
            zeros: pairs(&entry.zeros),
            poles: pairs(&entry.poles),
            gain: entry.gain,
            dc_gain: entry.dc,
        });
        let modes = found.poles.iter().map(|p| json::Mode::new(p.value.re, p.value.im, p.multiplicity));
        Ok(json::Poles {
            ok: true,
            model: self.graph.as_ref().map_or(String::new(), |graph| graph.name.clone()),
            stable: poles.iter().all(|pole| pole.re < 0.0),
            poles: pairs(&poles),
            characteristic,
            modes: modes.collect(),
            zeros: zeros.collect(),
            estimates,
            operating_point: linear.named_point(&self.pool),
            exact: found.exact,
            written: None,
            diagnostics: json::Diagnostic::list(&self.diagnostics, &self.sources),
        })
    }

    /// The characteristic polynomial and its variable s, where it can be read.
    pub(crate) fn characteristic(&mut self, ticket: &Ticket) -> Result<Option<(Expr, Symbol)>, NoAnswer> {
        let linear = self.linear(ticket)?;
        if linear.equations.states.len() > READABLE_STATES {
            return Ok(None);
        }
        let Linear { equations, space, .. } = &linear;
        Ok(characteristic(&mut self.pool, equations, space, Budget::of_terms(READABLE_TERMS), ticket)?)
    }

    fn estimates(
        &mut self,
        linear: &Linear,
        matrices: &Matrices,
        poles: &[Complex64],
        naming: Naming,
    ) -> Vec<json::Estimate> {
        let Some(graph) = self.graph.as_ref().filter(|_| poles.len() <= ESTIMATED_STATES) else {
            return Vec::new();
        };
        let groups = estimate::groups(&self.pool, graph, &linear.equations, &matrices.a);
        let matched = estimate::matched(&groups, poles);
        let mut list = Vec::new();
        for (group, places) in groups.iter().zip(matched) {
            let mut elements: Vec<String> =
                group.elements.iter().map(|id| naming.name(&graph.element(*id).name)).collect();
            let signal = |state: &&usize| {
                !matches!(linear.equations.states[**state].variable, paynter_graph::Variable::State(..))
            };
            let signals = group.states.iter().filter(signal);
            elements.splice(0..0, signals.map(|state| naming.name(&linear.equations.states[*state].name)));
            let near: Vec<Complex64> = places.iter().flatten().map(|place| poles[*place]).collect();
            let distance = |(value, pole): (&Complex64, &Complex64)| {
                if value == pole { 0.0 } else { (value - pole).norm() / pole.norm() }
            };
            let error = group.values.iter().zip(&near).map(distance).fold(0.0, f64::max);
            let pair = group.values.len() == 2;
            let product: Complex64 = group.values.iter().product();
            let sum: Complex64 = group.values.iter().sum();
            let natural = product.re.abs().sqrt();
            list.push(json::Estimate {
                elements,
                kind: match group.kind {
                    GroupKind::FirstOrder => json::EstimateKind::FirstOrder,
                    GroupKind::Resonance => json::EstimateKind::Resonance,
                    GroupKind::SecondOrder => json::EstimateKind::SecondOrder,
                    GroupKind::Integrator => json::EstimateKind::Integrator,
                },
                polynomial: polynomial(&mut self.pool, linear, group),
                values: pairs(&group.values),
                natural_frequency: pair.then_some(natural),
                damping: pair.then(|| 0.0 - sum.re / (2.0 * natural)),
                poles: pairs(&near),
                error: error.is_finite().then_some(error),
            });
        }
        list
    }
}

/// s + R/L, or s² + (R/L) s + 1/(LC), by the entries of A.
fn polynomial(pool: &mut Pool, linear: &Linear, group: &Group) -> Option<String> {
    let zero = pool.zero();
    let entries = &linear.space.a.entries;
    let at = |i: usize, j: usize| {
        entries.binary_search_by_key(&(i, j), |(i, j, _)| (*i, *j)).map_or(zero, |place| entries[place].2)
    };
    let s = pool.symbol("s");
    let s = pool.var(s);
    let whole = match group.states[..] {
        [i] => pool.sub(s, at(i, i)),
        [i, j] => {
            let (square, two) = (pool.mul(at(i, j), at(j, i)), pool.int(2));
            let (power, sum) = (pool.pow(s, two), pool.add(at(i, i), at(j, j)));
            let (square, middle) = (pool.neg(square), pool.neg(sum));
            let middle = pool.mul(middle, s);
            pool.sum(&[power, middle, square])
        }
        _ => return None,
    };
    let text = pool.display(whole).to_string();
    (text.chars().count() <= SHORT).then_some(text)
}
