//! Poles of a linear model and its transfer functions in factors, in exact
//! numbers where the order is moderate.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use num_complex::Complex64;
use paynter_algebra::{Pool, Rational, Symbol};
use paynter_base::{CancellationToken, Diagnostic, code};
use paynter_equations::QueryError;
use paynter_graph::{BondGraph, Value};

use super::{LinearModel, refused};
use crate::linalg::{Matrices, exact_values};
use crate::poles::{EIGENVALUE_STATES, EXACT_STATES, NoPoles, Spectrum, expanded, spectrum};
use crate::settled::{part_to_change, vanishing_entries};

impl LinearModel {
    /// The matrices in exact numbers, where the model is of moderate order.
    fn exact_matrices(&self, pool: &Pool, graph: &BondGraph) -> Option<Matrices<Rational>> {
        if self.equations.states.len() > EXACT_STATES {
            return None;
        }
        let values = self.exact_values(pool, graph)?;
        let mut matrices = Matrices::exact(pool, &self.space, &|symbol| values.get(&symbol).cloned()).ok()?;
        matrices.retain(&self.space, |entry| !self.vanishing.contains(&entry));
        Some(matrices)
    }

    /// The exact values of the symbols in the matrices: parameters are given in
    /// decimal digits, the operating point in floating point.
    pub(super) fn exact_values(&self, pool: &Pool, graph: &BondGraph) -> Option<BTreeMap<Symbol, Rational>> {
        let mut values: BTreeMap<Symbol, Rational> = BTreeMap::new();
        for (symbol, value) in &self.values {
            values.insert(*symbol, Rational::try_from(*value).ok()?);
        }
        for parameter in &graph.parameters {
            let value = match &parameter.value {
                Value::Written(value) => exact_values(pool, &[*value], &|_| None).ok()?.pop()?,
                Value::Given(value) => value.clone(),
            };
            values.insert(parameter.symbol, value);
        }
        Some(values)
    }

    /// The poles one by one, and whether they are those of exact numbers; nothing where they cannot be found.
    pub fn poles(
        &self,
        pool: &Pool,
        graph: &BondGraph,
        token: &CancellationToken,
    ) -> Option<(Vec<Complex64>, bool)> {
        let matrices = self.matrices(pool).ok()?;
        let spectrum = self.spectrum(pool, graph, &matrices, &[], token).ok()?;
        Some((expanded(&spectrum.poles), spectrum.exact))
    }

    /// Poles, and the factors of the transfer functions asked for by output and input; found once for
    /// each choice of these.
    pub fn spectrum(
        &self,
        pool: &Pool,
        graph: &BondGraph,
        matrices: &Matrices,
        wanted: &[(usize, usize)],
        token: &CancellationToken,
    ) -> Result<Arc<Spectrum>, QueryError> {
        self.spectra.get(wanted, || self.find_spectrum(pool, graph, matrices, wanted, token))
    }

    fn find_spectrum(
        &self,
        pool: &Pool,
        graph: &BondGraph,
        matrices: &Matrices,
        wanted: &[(usize, usize)],
        token: &CancellationToken,
    ) -> Result<Spectrum, QueryError> {
        let exact = self.exact_matrices(pool, graph);
        let refuse = |message: String| refused(Diagnostic::new(code::NO_POLES, message));
        let found = spectrum(matrices, exact.as_ref(), wanted, token).map_err(|reason| match reason {
            NoPoles::Cancelled => QueryError::Cancelled,
            NoPoles::TooLarge => refuse(format!(
                "the model has {} states, and eigenvalues are computed for at most {EIGENVALUE_STATES}",
                matrices.states()
            )),
            NoPoles::NoConvergence => refuse("the eigenvalue iteration does not converge".to_owned()),
        });
        let mut found = found?;
        if self.point.is_some() {
            // Numbers rounded with the point are exact zeros no more, and do not cancel exactly.
            let vanishing = vanishing_entries(matrices, part_to_change(false), token)?;
            let inputs = matrices.inputs();
            found.forget_rounding(&|output, input| vanishing[output * inputs + input]);
        }
        let is_exact = self.point.is_none() && found.exact;
        found.settle(&matrices.a, is_exact);
        Ok(found)
    }

    /// Poles and zeros of the transfer functions asked for by output and input, where the model is of
    /// moderate order and they can be had.
    pub fn factors(
        &self,
        pool: &Pool,
        graph: &BondGraph,
        wanted: &[(usize, usize)],
        token: &CancellationToken,
    ) -> Result<Option<Arc<Spectrum>>, QueryError> {
        if self.equations.states.len() > EXACT_STATES {
            return Ok(None);
        }
        let matrices = self.matrices(pool)?;
        match self.spectrum(pool, graph, &matrices, wanted, token) {
            Err(QueryError::Cancelled) => Err(QueryError::Cancelled),
            Err(QueryError::Wrong(_)) => Ok(None),
            Ok(found) => Ok(Some(found)),
        }
    }

    /// All pairs of an output and an input, outputs first.
    pub fn all_entries(&self) -> Vec<(usize, usize)> {
        let (outputs, inputs) = (self.equations.outputs.len(), self.equations.inputs.len());
        (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input))).collect()
    }
}

/// Transfer functions, by output and input.
type Entries = Vec<(usize, usize)>;

/// The spectra of a linear model, by the transfer functions whose factors they hold.
#[derive(Debug, Default)]
pub(super) struct Spectra(Mutex<BTreeMap<Entries, Arc<Spectrum>>>);

impl Spectra {
    /// The spectrum with these factors, found now if nobody has asked before; a failure is not kept.
    fn get(
        &self,
        wanted: &[(usize, usize)],
        find: impl FnOnce() -> Result<Spectrum, QueryError>,
    ) -> Result<Arc<Spectrum>, QueryError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spectrum) = known.get(wanted) {
            return Ok(spectrum.clone());
        }
        let found = Arc::new(find()?);
        known.insert(wanted.to_vec(), found.clone());
        Ok(found)
    }
}

/// What was found for a model need not hold for a copy, whose values may be changed.
impl Clone for Spectra {
    fn clone(&self) -> Spectra {
        Spectra::default()
    }
}
