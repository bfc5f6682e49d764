//! Sensitivities as rational functions in s and the parameters.

use paynter_algebra::poly::{Basis, Factored, Fraction, Poly, PolyError, Sensitivities as Derivatives, Work};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use rustc_hash::FxHashMap;

use super::quotient::{Quotient, exact};
use super::{Parameter, Sensitivity, SensitivityRequest};
use crate::tolerance::EXPANDED_ENTRIES;
use crate::transfer::pencil;
use crate::{Equations, StateSpace};

pub(super) fn expanded(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    s: Symbol,
    parameters: &[Parameter],
    request: SensitivityRequest,
    token: &CancellationToken,
) -> Result<Vec<Sensitivity>, PolyError> {
    let work = Work::new(request.budget, token);
    let mut basis = Basis::new(pool, &[s]);
    let pencil = pencil(pool, equations, space, &mut basis, &work)?;
    let chains = chains(pool, &mut basis, parameters, &work)?;
    let variables: Vec<usize> = chains.iter().map(|chain| chain.variable).collect();
    let c: Vec<&[Poly]> = pencil.c.iter().map(Vec::as_slice).collect();
    let b: Vec<&[Poly]> = pencil.b.iter().map(Vec::as_slice).collect();
    let derivatives = pencil.matrix.sensitivity_matrix(&c, &b, &variables, &work)?;
    let mut entries = Vec::new();
    let mut terms = 0;
    for (output, row) in derivatives.iter().enumerate() {
        for (input, found) in row.iter().enumerate() {
            let direct = &pencil.d[output][input];
            let function = request.normalized.then(|| transfer(found, direct, &work)).transpose()?;
            if function.as_ref().is_some_and(Fraction::is_zero) {
                continue;
            }
            for (parameter, asked) in parameters.iter().enumerate() {
                let mut value = total(found, direct, &chains, parameter, &work)?;
                if let Some(function) = &function {
                    let nominal = Poly::variable(basis.symbol(pool, asked.symbol))?;
                    value = value
                        .times(&nominal, &work)?
                        .times(function.denominator(), &work)?
                        .over(function.numerator(), &work)?;
                }
                terms += value.len();
                work.allow_terms("all sensitivities", terms / EXPANDED_ENTRIES)?;
                let (num, den) = value.expressions(pool, &basis, &work)?;
                entries.push(Sensitivity { output, input, parameter, num, den });
            }
        }
    }
    Ok(entries)
}

/// The transfer function itself.
fn transfer(found: &Derivatives, direct: &Fraction, work: &Work) -> Result<Fraction, PolyError> {
    Fraction::new(found.numerator.clone(), found.determinant.clone(), work)?.add(direct, work)
}

/// How a variable of the polynomials moves with the parameters: 1 for the
/// parameter itself, by the chain rule for kernels and what the parameter carries along.
struct Chain {
    variable: usize,
    /// Parameters it depends on, with its derivative.
    inner_derivatives: Vec<(usize, Fraction)>,
}

/// The variables that depend on a parameter.
fn chains(
    pool: &mut Pool,
    basis: &mut Basis,
    parameters: &[Parameter],
    work: &Work,
) -> Result<Vec<Chain>, PolyError> {
    let mut moved: FxHashMap<Symbol, Vec<(usize, Expr)>> = FxHashMap::default();
    for (k, parameter) in parameters.iter().enumerate() {
        let one = pool.one();
        moved.entry(parameter.symbol).or_default().push((k, one));
        for (symbol, inner) in &parameter.carried {
            moved.entry(*symbol).or_default().push((k, *inner));
        }
    }
    let mut chains = Vec::new();
    // Derivatives may bring new kernels, which the pencil does not have.
    for variable in 1..basis.len() {
        let Some(meaning) = basis.meaning(variable) else { continue };
        let mut inner_derivatives: Vec<(usize, Vec<Expr>)> = Vec::new();
        for symbol in pool.symbols(meaning) {
            let Some(list) = moved.get(&symbol) else { continue };
            let partial = pool.diff(meaning, symbol);
            for (k, inner) in list {
                let term = pool.mul(partial, *inner);
                match inner_derivatives.iter_mut().find(|(other, _)| other == k) {
                    Some((_, terms)) => terms.push(term),
                    None => inner_derivatives.push((*k, vec![term])),
                }
            }
        }
        let mut fractions = Vec::with_capacity(inner_derivatives.len());
        for (k, terms) in inner_derivatives {
            let sum = pool.sum(&terms);
            let fraction = basis.fraction(pool, sum, work)?;
            if !fraction.is_zero() {
                fractions.push((k, fraction));
            }
        }
        if !fractions.is_empty() {
            chains.push(Chain { variable, inner_derivatives: fractions });
        }
    }
    Ok(chains)
}

/// ∂H/∂p: over Δ² for what passes through the states, and what goes straight through.
fn total(
    found: &Derivatives,
    direct: &Fraction,
    chains: &[Chain],
    parameter: usize,
    work: &Work,
) -> Result<Quotient, PolyError> {
    let mut parts: Vec<(&Factored, &Fraction)> = Vec::new();
    let mut straight: Vec<Fraction> = Vec::new();
    for (chain, derivative) in chains.iter().zip(&found.derivatives) {
        let Some((_, inner)) = chain.inner_derivatives.iter().find(|(k, _)| *k == parameter) else {
            continue;
        };
        if !derivative.is_zero() {
            parts.push((derivative, inner));
        }
        let partial = direct.derivative(chain.variable, work)?;
        if !partial.is_zero() {
            straight.push(partial.mul(inner, work)?);
        }
    }
    let straight = Fraction::sum(&straight, work)?;
    let (through, common) = through(&parts, work)?;
    let below = &found.determinant;
    if straight.is_zero() {
        return Quotient::new(&through, &[(below.clone(), 2), (common, 1)], work);
    }
    if through.iter().any(Poly::is_zero) {
        let num = [straight.numerator().clone()];
        return Quotient::new(&num, &[(straight.denominator().clone(), 1)], work);
    }
    let num = Poly::sum_of_products(
        &[
            (false, &Poly::product(&through, work)?, straight.denominator()),
            (false, straight.numerator(), &below.mul(below, work)?.mul(&common, work)?),
        ],
        work,
    )?;
    let factors = [(below.clone(), 2), (common, 1), (straight.denominator().clone(), 1)];
    Quotient::new(&[num], &factors, work)
}

/// The sum of derivatives times inner ones: the factors of its numerator, and its denominator.
fn through(parts: &[(&Factored, &Fraction)], work: &Work) -> Result<(Vec<Poly>, Poly), PolyError> {
    if let [(derivative, inner)] = parts {
        let mut factors = derivative.factors().to_vec();
        factors.push(inner.numerator().clone());
        return Ok((factors, inner.denominator().clone()));
    }
    let mut common = Poly::one();
    for (_, inner) in parts {
        common = common.lcm(inner.denominator(), work)?;
    }
    let mut products = Vec::with_capacity(parts.len());
    for (derivative, inner) in parts {
        let factor = exact(&common, inner.denominator(), work)?.mul(inner.numerator(), work)?;
        products.push((factor, derivative.expand(work)?));
    }
    let pairs: Vec<(bool, &Poly, &Poly)> =
        products.iter().map(|(factor, derivative)| (false, factor, derivative)).collect();
    Ok((vec![Poly::sum_of_products(&pairs, work)?], common))
}
