//! Poles and zeros of a linear model: exact where the model is of moderate
//! order, by eigenvalues of the numeric matrices beyond.

pub use crate::tolerance::{EIGENVALUE_STATES, EXACT_STATES, ZERO_STATES};
use dashu_int::IBig;
use num_complex::Complex64;
use paynter_algebra::Rational;
use paynter_algebra::poly::{Budget, PolyError, Work};
use paynter_base::{CancellationToken, Cancelled};

use crate::linalg::Sparse;
use crate::linalg::elimination::{Elimination, Rows};
use crate::linalg::{
    Integers, Matrices, Root, characteristic, eigenvalues, integers, poly, roots, transmission_zeros,
};
use crate::tolerance::{
    CANCELLING_DISTANCE, CANCELLING_DISTANCE_OF_LARGEST, CONSERVED_POLE, NEGLIGIBLE_PIVOT,
};

/// Why there are no poles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPoles {
    /// The work was cancelled.
    Cancelled,
    /// The model has more than [`EIGENVALUE_STATES`] states.
    TooLarge,
    /// The eigenvalue iteration did not converge.
    NoConvergence,
}

impl From<Cancelled> for NoPoles {
    fn from(_: Cancelled) -> NoPoles {
        NoPoles::Cancelled
    }
}

/// Poles of a model, and its transfer functions in factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// All finite eigenvalues, controllable or not.
    pub poles: Vec<Root>,
    /// One for each output and input that was asked for, unless the model is too large for zeros.
    pub entries: Vec<Factored>,
    /// Whether multiplicities and cancellations were decided exactly.
    pub exact: bool,
    /// How many combinations of states keep their values: each is a pole at zero.
    pub conserved: usize,
}

impl Spectrum {
    /// Takes transfer functions that vanish but for rounding for zero, and cancels what only rounding tells apart.
    pub fn forget_rounding(&mut self, vanishes: &dyn Fn(usize, usize) -> bool) {
        for entry in &mut self.entries {
            let Factored { output, input, gain, .. } = *entry;
            if vanishes(output, input) {
                *entry = Factored::zero(output, input);
                continue;
            }
            let before = entry.zeros.len();
            let (zeros, poles) = (std::mem::take(&mut entry.zeros), std::mem::take(&mut entry.poles));
            let found = cancelled(output, input, gain, zeros, poles);
            let dc = if found.zeros.len() == before { entry.dc } else { found.dc };
            *entry = Factored { dc, ..found };
        }
    }

    /// Counts the conserved combinations, and puts their poles to zero where rounding has moved them: numbers that
    /// are exact have their zeros exactly.
    pub fn settle(&mut self, a: &Sparse, is_exact: bool) {
        let mut rows: Rows = vec![Vec::new(); a.rows];
        a.entries.iter().filter(|(_, _, x)| *x != 0.0).for_each(|(i, j, x)| rows[*i].push((*j, *x)));
        self.conserved = a.rows - Elimination::new(&rows, a.columns, NEGLIGIBLE_PIVOT).rank();
        if is_exact {
            let zero = self.poles.iter().find(|pole| pole.value == Complex64::ZERO);
            self.conserved = self.conserved.min(zero.map_or(0, |pole| pole.multiplicity));
            return;
        }
        let mut values = expanded(&self.poles);
        values.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
        let largest = values.last().map_or(0.0, |value| value.norm());
        let zero = |value: &Complex64| value.norm() <= CONSERVED_POLE * largest;
        let count = values.iter().take(self.conserved).filter(|value| zero(value)).count();
        let moved: Vec<Complex64> =
            values[..count].iter().copied().filter(|v| *v != Complex64::ZERO).collect();
        if moved.is_empty() {
            return;
        }
        let moves = |value: &Complex64| moved.contains(value);
        self.poles.retain(|root| !moves(&root.value) && root.value != Complex64::ZERO);
        self.poles.insert(0, Root { value: Complex64::ZERO, multiplicity: count });
        for pole in self.entries.iter_mut().flat_map(|entry| &mut entry.poles).filter(|pole| moves(pole)) {
            *pole = Complex64::ZERO;
        }
    }
}

/// One transfer function: gain · Π(s − z)/Π(s − p), common factors cancelled.
#[derive(Debug, Clone, PartialEq)]
pub struct Factored {
    /// Place among the outputs.
    pub output: usize,
    /// Place among the inputs.
    pub input: usize,
    /// The factor before the quotient of products; zero for no connection.
    pub gain: f64,
    /// The value at s = 0, unless a pole lies there.
    pub dc: Option<f64>,
    /// The zeros, repeated ones repeated.
    pub zeros: Vec<Complex64>,
    /// The poles that are left, repeated ones repeated.
    pub poles: Vec<Complex64>,
}

impl Factored {
    /// No connection from an input to an output.
    fn zero(output: usize, input: usize) -> Factored {
        Factored { output, input, gain: 0.0, dc: Some(0.0), zeros: Vec::new(), poles: Vec::new() }
    }

    /// H(jω) by its factors; infinite or not a number at a pole.
    pub fn at(&self, omega: f64) -> Complex64 {
        let s = Complex64::new(0.0, omega);
        let (mut value, mut exponent) = (Complex64::new(self.gain, 0.0), 0i32);
        // The powers of two are kept apart, because products of many factors overflow.
        let mut apply = |factor: Complex64, up: bool| {
            let power = factor.norm().log2().floor().clamp(-1000.0, 1000.0) as i32;
            let factor = factor * 2f64.powi(-power);
            (value, exponent) =
                if up { (value * factor, exponent + power) } else { (value / factor, exponent - power) };
        };
        self.zeros.iter().for_each(|zero| apply(s - zero, true));
        self.poles.iter().for_each(|pole| apply(s - pole, false));
        let exponent = exponent.clamp(-2000, 2000);
        value * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
    }
}

/// The coefficients of Π(s − root), highest power first; conjugates stand side by side.
pub fn monic(roots: &[Complex64]) -> Vec<f64> {
    let mut product = vec![Complex64::ONE];
    for root in roots {
        product.push(Complex64::ZERO);
        for at in (1..product.len()).rev() {
            let before = product[at - 1];
            product[at] -= root * before;
        }
    }
    product.into_iter().map(|coefficient| coefficient.re).collect()
}

/// Writes roots out as often as they occur, conjugates side by side.
pub fn expanded(roots: &[Root]) -> Vec<Complex64> {
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(root) = roots.get(at) {
        let pair = roots.get(at + 1).filter(|next| root.value.im > 0.0 && next.value == root.value.conj());
        for _ in 0..root.multiplicity {
            list.push(root.value);
            list.extend(pair.map(|next| next.value));
        }
        at += if pair.is_some() { 2 } else { 1 };
    }
    list
}

/// Finds poles, and zeros of the outputs and inputs asked for. The exact
/// matrices may be missing; the work is then done in floating point.
pub fn spectrum(
    matrices: &Matrices,
    exact: Option<&Matrices<Rational>>,
    wanted: &[(usize, usize)],
    token: &CancellationToken,
) -> Result<Spectrum, NoPoles> {
    if let Some(exact) = exact.filter(|exact| exact.states() <= EXACT_STATES)
        && let Some(spectrum) = exactly(exact, wanted, token)?
    {
        return Ok(spectrum);
    }
    if matrices.states() > EIGENVALUE_STATES {
        return Err(NoPoles::TooLarge);
    }
    token.check()?;
    let values = eigenvalues(&matrices.a).ok_or(NoPoles::NoConvergence)?;
    let mut entries = Vec::new();
    for &(output, input) in wanted.iter().filter(|_| matrices.states() <= ZERO_STATES) {
        token.check()?;
        if let Some((zeros, gain)) = transmission_zeros(matrices, output, input) {
            entries.push(cancelled(output, input, gain, zeros, values.clone()));
        }
    }
    let poles = values.into_iter().map(|value| Root { value, multiplicity: 1 }).collect();
    Ok(Spectrum { poles, entries, exact: false, conserved: 0 })
}

/// Nothing where the roots take more digits than are allowed.
fn exactly(
    matrices: &Matrices<Rational>,
    wanted: &[(usize, usize)],
    token: &CancellationToken,
) -> Result<Option<Spectrum>, NoPoles> {
    let polynomials = characteristic(matrices, wanted, token)?;
    let Some(poles) = roots(&polynomials.denominator, token)? else { return Ok(None) };
    let mut entries = Vec::new();
    for (output, input, scale, numerator) in polynomials.numerators {
        let entry = Factored::zero(output, input);
        if numerator.is_empty() {
            entries.push(entry);
            continue;
        }
        let Some((num, den)) = lowest(&numerator, &polynomials.denominator, token)? else { return Ok(None) };
        let left = if den.len() == polynomials.denominator.len() {
            Some(poles.clone())
        } else {
            roots(&den, token)?
        };
        let (Some(zeros), Some(left)) = (roots(&num, token)?, left) else { return Ok(None) };
        let quotient = |top: &IBig, bottom: &IBig| {
            (Rational::from(top.clone()) / Rational::from(bottom * &scale)).to_f64().value()
        };
        let (gain, dc) = match (num.as_slice(), den.as_slice()) {
            ([n0, .., n1] | [n0 @ n1], [d0, .., d1] | [d0 @ d1]) => {
                (quotient(n1, d1), (!d0.is_zero()).then(|| quotient(n0, d0)))
            }
            _ => (0.0, None),
        };
        entries.push(Factored { gain, dc, zeros: expanded(&zeros), poles: expanded(&left), ..entry });
    }
    Ok(Some(Spectrum { poles, entries, exact: true, conserved: 0 }))
}

/// Numerator and denominator without their common divisor; the content of neither changes.
fn lowest(
    numerator: &Integers,
    denominator: &Integers,
    token: &CancellationToken,
) -> Result<Option<(Integers, Integers)>, Cancelled> {
    let work = Work::new(Budget { terms: usize::MAX, steps: u64::MAX }, token);
    let divide = || -> Result<Option<(Integers, Integers)>, PolyError> {
        let (num, den) = (poly(numerator)?, poly(denominator)?);
        let common = num.gcd(&den, &work)?.primitive_part();
        let (num, den) = (num.div_exact(&common, &work)?, den.div_exact(&common, &work)?);
        Ok(num.zip(den).map(|(num, den)| (integers(&num), integers(&den))))
    };
    match divide() {
        Ok(found) => Ok(found),
        Err(PolyError::Cancelled) => Err(Cancelled),
        Err(_) => Ok(None),
    }
}

/// Cancels zeros against poles that floating point cannot tell from them.
fn cancelled(
    output: usize,
    input: usize,
    gain: f64,
    mut zeros: Vec<Complex64>,
    mut poles: Vec<Complex64>,
) -> Factored {
    let scale = poles.iter().map(|p| p.norm()).fold(0.0, f64::max);
    zeros.retain(|zero| {
        let near = |pole: &Complex64| {
            (pole - zero).norm() <= CANCELLING_DISTANCE * zero.norm() + CANCELLING_DISTANCE_OF_LARGEST * scale
        };
        match poles.iter().position(near) {
            Some(place) => {
                poles.remove(place);
                false
            }
            None => true,
        }
    });
    let at_origin =
        |list: &[Complex64]| list.iter().fold(Complex64::new(1.0, 0.0), |product, x| product * -x);
    let dc = gain * (at_origin(&zeros) / at_origin(&poles)).re;
    Factored { output, input, gain, dc: dc.is_finite().then_some(dc), zeros, poles }
}
