//! Sensitivities as rational functions in s and the parameters.

use paynter_algebra::poly::{Basis, Factored, Fraction, Poly, PolyError, Sensitivities as Slopes, Work};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use rustc_hash::FxHashMap;

use super::quotient::{Quotient, exact};
use super::{Parameter, Sensitivity, Wish};
use crate::tolerance::EXPANDED_ENTRIES;
use crate::transfer::pencil;
use crate::{Equations, StateSpace};

pub(super) fn expanded(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    s: Symbol,
    parameters: &[Parameter],
    wish: Wish,
    token: &CancellationToken,
) -> Result<Vec<Sensitivity>, PolyError> {
    let work = Work::new(wish.budget, token);
    let mut basis = Basis::new(pool, &[s]);
    let pencil = pencil(pool, equations, space, &mut basis, &work)?;
    let chains = chains(pool, &mut basis, parameters, &work)?;
    let variables: Vec<usize> = chains.iter().map(|chain| chain.variable).collect();
    let c: Vec<&[Poly]> = pencil.c.iter().map(Vec::as_slice).collect();
    let b: Vec<&[Poly]> = pencil.b.iter().map(Vec::as_slice).collect();
    let slopes = pencil.matrix.sensitivity_matrix(&c, &b, &variables, &work)?;
    let mut entries = Vec::new();
    let mut terms = 0;
    for (output, row) in slopes.iter().enumerate() {
        for (input, found) in row.iter().enumerate() {
            let direct = &pencil.d[output][input];
            let function = wish.normalized.then(|| transfer(found, direct, &work)).transpose()?;
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
fn transfer(found: &Slopes, direct: &Fraction, work: &Work) -> Result<Fraction, PolyError> {
    Fraction::new(found.numerator.clone(), found.determinant.clone(), work)?.add(direct, work)
}

/// How a variable of the polynomials moves with the parameters: 1 for the
/// parameter itself, by the chain rule for kernels and what the parameter carries along.
struct Chain {
    variable: usize,
    /// Parameters it depends on, with its derivative.
    slopes: Vec<(usize, Fraction)>,
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
        for (symbol, slope) in &parameter.carried {
            moved.entry(*symbol).or_default().push((k, *slope));
        }
    }
    let mut chains = Vec::new();
    // Derivatives may bring new kernels, which the pencil does not have.
    for variable in 1..basis.len() {
        let Some(meaning) = basis.meaning(variable) else { continue };
        let mut slopes: Vec<(usize, Vec<Expr>)> = Vec::new();
        for symbol in pool.symbols(meaning) {
            let Some(list) = moved.get(&symbol) else { continue };
            let partial = pool.diff(meaning, symbol);
            for (k, slope) in list {
                let term = pool.mul(partial, *slope);
                match slopes.iter_mut().find(|(other, _)| other == k) {
                    Some((_, terms)) => terms.push(term),
                    None => slopes.push((*k, vec![term])),
                }
            }
        }
        let mut fractions = Vec::with_capacity(slopes.len());
        for (k, terms) in slopes {
            let sum = pool.sum(&terms);
            let fraction = basis.fraction(pool, sum, work)?;
            if !fraction.is_zero() {
                fractions.push((k, fraction));
            }
        }
        if !fractions.is_empty() {
            chains.push(Chain { variable, slopes: fractions });
        }
    }
    Ok(chains)
}

/// ∂H/∂p: over Δ² for what passes through the states, and what goes straight through.
fn total(
    found: &Slopes,
    direct: &Fraction,
    chains: &[Chain],
    parameter: usize,
    work: &Work,
) -> Result<Quotient, PolyError> {
    let mut parts: Vec<(&Factored, &Fraction)> = Vec::new();
    let mut straight: Vec<Fraction> = Vec::new();
    for (chain, derivative) in chains.iter().zip(&found.derivatives) {
        let Some((_, slope)) = chain.slopes.iter().find(|(k, _)| *k == parameter) else { continue };
        if !derivative.is_zero() {
            parts.push((derivative, slope));
        }
        let partial = direct.derivative(chain.variable, work)?;
        if !partial.is_zero() {
            straight.push(partial.mul(slope, work)?);
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

/// The sum of derivatives times slopes: the factors of its numerator, and its denominator.
fn through(parts: &[(&Factored, &Fraction)], work: &Work) -> Result<(Vec<Poly>, Poly), PolyError> {
    if let [(derivative, slope)] = parts {
        let mut factors = derivative.factors().to_vec();
        factors.push(slope.numerator().clone());
        return Ok((factors, slope.denominator().clone()));
    }
    let mut common = Poly::one();
    for (_, slope) in parts {
        common = common.lcm(slope.denominator(), work)?;
    }
    let mut products = Vec::with_capacity(parts.len());
    for (derivative, slope) in parts {
        let factor = exact(&common, slope.denominator(), work)?.mul(slope.numerator(), work)?;
        products.push((factor, derivative.expand(work)?));
    }
    let pairs: Vec<(bool, &Poly, &Poly)> =
        products.iter().map(|(factor, derivative)| (false, factor, derivative)).collect();
    Ok((vec![Poly::sum_of_products(&pairs, work)?], common))
}
