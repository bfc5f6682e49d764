//! Determinants, linear systems, transfer functions and their sensitivities.

use std::collections::BTreeMap;

use super::bareiss::eliminate;
use super::layout::Layout;
use super::minors::{Column, WHAT, expand, replaced_columns};
use super::structure::{Blocks, blocks, is_odd, narrow_order};
use super::{Fraction, Matrix, Poly, PolyError, Work};
use crate::limits::MOST_MINORS;

/// The transfer function cᵀM⁻¹b and its derivatives by parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sensitivities {
    /// The determinant Δ of the part of the matrix between input and output.
    pub determinant: Poly,
    /// The numerator of the transfer function over Δ, not reduced.
    pub numerator: Poly,
    /// For each parameter the numerator of the derivative over Δ², not reduced.
    pub derivatives: Vec<Factored>,
}

/// A polynomial as the factors it came in. Far shorter than their product,
/// they are what is tried for common divisors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factored(Vec<Poly>);

impl Factored {
    /// Returns whether the product is 0.
    pub fn is_zero(&self) -> bool {
        self.0.iter().any(Poly::is_zero)
    }

    /// Returns the factors, at least one.
    pub fn factors(&self) -> &[Poly] {
        &self.0
    }

    /// Multiplies the factors.
    pub fn expand(&self, work: &Work) -> Result<Poly, PolyError> {
        Poly::product(&self.0, work)
    }

    fn neg(mut self) -> Factored {
        if let Some(first) = self.0.first_mut() {
            *first = first.neg();
        }
        self
    }
}

impl From<Poly> for Factored {
    fn from(poly: Poly) -> Factored {
        Factored(vec![poly])
    }
}

impl Matrix {
    /// Returns the determinant; that of a matrix that is not square is 0.
    pub fn determinant(&self, work: &Work) -> Result<Poly, PolyError> {
        let Some(Blocks { rows, columns }) = blocks(self.rows(), &self.pattern()) else {
            return Ok(Poly::zero());
        };
        let mut product = Poly::one();
        for (rows, columns) in rows.iter().zip(&columns) {
            let block = self.submatrix(rows, columns);
            let factor = block.block_determinant(work).map_err(|e| e.on_the_way_to(WHAT))?;
            product = product.mul(&factor, work).map_err(|e| e.on_the_way_to(WHAT))?;
        }
        let odd = is_odd(&rows.concat()) ^ is_odd(&columns.concat());
        Ok(if odd { product.neg() } else { product })
    }

    fn block_determinant(&self, work: &Work) -> Result<Poly, PolyError> {
        let size = self.rows();
        if size == 1 {
            return Ok(self.get(0, 0).cloned().unwrap_or_else(Poly::zero));
        }
        let packed = self.packed();
        let limit = self.minor_limit(false);
        let straight = narrow_order(size, &packed.pattern(), limit);
        let transpose = packed.transpose();
        let cap = straight.as_ref().map_or(limit, |o| o.minors.saturating_sub(1));
        let (matrix, order) = match narrow_order(size, &transpose.pattern(), cap) {
            Some(order) => (&transpose, order),
            None => match straight {
                Some(order) => (&packed, order),
                None => return Ok(eliminate(&packed, &[], work)?.determinant),
            },
        };
        let columns = ordered_columns(matrix, &order.columns);
        let mut level = expand(size, &columns, None, false, work)?;
        let determinant = level.pop().and_then(|l| l.into_values().next()).unwrap_or_else(Poly::zero);
        Ok(if is_odd(&order.columns) { determinant.neg() } else { determinant })
    }

    /// Returns the adjoint matrix times a vector (by row): the unknowns of
    /// M·x = v times the determinant, which comes first.
    pub fn adjoint_times(&self, vector: &[Poly], work: &Work) -> Result<(Poly, Vec<Poly>), PolyError> {
        if self.rows() != self.columns() || vector.len() != self.rows() {
            return Err(PolyError::DivisionByZero);
        }
        let determinant = self.determinant(work)?;
        let solution = self.adjoint_column(&determinant, vector, work)?;
        Ok((determinant, solution))
    }

    /// Returns the adjoint matrix times a vector where the determinant is known.
    fn adjoint_column(
        &self,
        determinant: &Poly,
        vector: &[Poly],
        work: &Work,
    ) -> Result<Vec<Poly>, PolyError> {
        let size = self.rows();
        let packed = self.packed();
        let listed: Vec<(usize, &Poly)> = vector.iter().enumerate().filter(|(_, v)| !v.is_zero()).collect();
        if listed.is_empty() {
            return Ok(vec![Poly::zero(); size]);
        }
        // Elimination gives nothing where the matrix is singular.
        let limit = if determinant.is_zero() { MOST_MINORS } else { self.minor_limit(true) };
        let Some(order) = narrow_order(size, &packed.pattern(), limit) else {
            if determinant.is_zero() {
                return Err(PolyError::BudgetExceeded { what: WHAT, terms: limit as u64 });
            }
            return Ok(eliminate(&packed, &listed, work)?.solution);
        };
        let columns = ordered_columns(&packed, &order.columns);
        let odd = is_odd(&order.columns);
        let mut solution = vec![Poly::zero(); size];
        let values = replaced_columns(size, &columns, &listed, work).map_err(|e| e.on_the_way_to(WHAT))?;
        for (place, value) in values.into_iter().enumerate() {
            solution[order.columns[place]] = if odd { value.neg() } else { value };
        }
        Ok(solution)
    }

    /// Solves M·x = v block by block, each unknown in lowest terms; fails with
    /// [`PolyError::DivisionByZero`] where the matrix is singular.
    pub fn solve(&self, vector: &[Fraction], work: &Work) -> Result<Vec<Fraction>, PolyError> {
        let found = blocks(self.rows(), &self.pattern()).filter(|_| vector.len() == self.rows());
        let Some(Blocks { rows, columns }) = found else { return Err(PolyError::DivisionByZero) };
        let mut solution = vec![Fraction::zero(); self.columns()];
        let by_row = self.transpose();
        for (rows, columns) in rows.iter().zip(&columns) {
            let mut right = Vec::with_capacity(rows.len());
            for &row in rows {
                let mut parts = vec![vector[row].clone()];
                for (column, value) in by_row.column(row).iter().filter(|(c, _)| !columns.contains(c)) {
                    if !solution[*column].is_zero() {
                        parts.push(solution[*column].mul(&value.neg().into(), work)?);
                    }
                }
                right.push(Fraction::sum(&parts, work)?);
            }
            let (common, numerators) = over_common_denominator(&right, work)?;
            let (determinant, unknowns) = self.submatrix(rows, columns).adjoint_times(&numerators, work)?;
            if determinant.is_zero() {
                return Err(PolyError::DivisionByZero);
            }
            let denominator = determinant.mul(&common, work)?;
            for (&column, unknown) in columns.iter().zip(unknowns) {
                solution[column] = Fraction::new(unknown, denominator.clone(), work)?;
            }
        }
        Ok(solution)
    }

    /// Returns cᵀM⁻¹b in lowest terms.
    pub fn transfer(&self, c: &[Poly], b: &[Poly], work: &Work) -> Result<Fraction, PolyError> {
        let (_, mut entries) = self.transfer_matrix(&[c], &[b], work)?;
        Ok(entries.pop().and_then(|mut row| row.pop()).unwrap_or_else(Fraction::zero))
    }

    /// Returns the determinant, and cᵀM⁻¹b in lowest terms for each c (a row
    /// of the result) and each b, with every determinant computed once.
    pub fn transfer_matrix(
        &self,
        c: &[&[Poly]],
        b: &[&[Poly]],
        work: &Work,
    ) -> Result<(Poly, Vec<Vec<Fraction>>), PolyError> {
        let whole = self.determinant(work)?;
        let mut determinants: BTreeMap<Vec<usize>, Poly> = BTreeMap::new();
        let mut result = Vec::with_capacity(c.len());
        for c in c {
            let mut entries = Vec::with_capacity(b.len());
            for b in b {
                let Some(between) = self.between(c, b)? else {
                    entries.push(Fraction::zero());
                    continue;
                };
                if !determinants.contains_key(&between.columns) {
                    let determinant = match between.columns.len() == self.columns() {
                        true if between.odd => whole.neg(),
                        true => whole.clone(),
                        false => between.matrix.determinant(work)?,
                    };
                    determinants.insert(between.columns.clone(), determinant);
                }
                let denominator = determinants.get(&between.columns).cloned().unwrap_or_else(Poly::zero);
                let numerator = between.bordered().determinant(work)?.neg();
                entries.push(Fraction::new(numerator, denominator, work)?);
            }
            result.push(entries);
        }
        Ok((whole, result))
    }

    /// Returns cᵀM⁻¹b and its derivatives by parameters, all over the
    /// determinant: −λᵀ(∂M/∂p)z with z = adj(M)·b and λᵀ = cᵀ·adj(M), and the
    /// parts of ∂b/∂p and ∂c/∂p.
    pub fn sensitivities(
        &self,
        c: &[Poly],
        b: &[Poly],
        parameters: &[usize],
        work: &Work,
    ) -> Result<Sensitivities, PolyError> {
        let mut entries = self.sensitivity_matrix(&[c], &[b], parameters, work)?;
        entries.pop().and_then(|mut row| row.pop()).ok_or(PolyError::DivisionByZero)
    }

    /// Returns cᵀM⁻¹b with its derivatives for each c (a row of the result)
    /// and each b: one forward solution for each b, one adjoint one for each c.
    pub fn sensitivity_matrix(
        &self,
        c: &[&[Poly]],
        b: &[&[Poly]],
        parameters: &[usize],
        work: &Work,
    ) -> Result<Vec<Vec<Sensitivities>>, PolyError> {
        let mut determinants: BTreeMap<Vec<usize>, Poly> = BTreeMap::new();
        let mut forward: BTreeMap<(Vec<usize>, usize), Vec<Poly>> = BTreeMap::new();
        let mut result = Vec::with_capacity(c.len());
        for c in c {
            let mut adjoint: BTreeMap<Vec<usize>, Vec<Poly>> = BTreeMap::new();
            let mut entries = Vec::with_capacity(b.len());
            for (input, b) in b.iter().enumerate() {
                let Some(part) = self.between(c, b)? else {
                    entries.push(Sensitivities {
                        determinant: Poly::one(),
                        numerator: Poly::zero(),
                        derivatives: vec![Poly::zero().into(); parameters.len()],
                    });
                    continue;
                };
                let determinant = match determinants.get(&part.columns) {
                    Some(known) => known.clone(),
                    None => part.matrix.determinant(work)?,
                };
                if determinant.is_zero() {
                    return Err(PolyError::DivisionByZero);
                }
                determinants.insert(part.columns.clone(), determinant.clone());
                let key = (part.columns.clone(), input);
                let z = match forward.get(&key) {
                    Some(known) => known.clone(),
                    None => part.matrix.adjoint_column(&determinant, &part.b, work)?,
                };
                let lambda = match adjoint.get(&part.columns) {
                    Some(known) => known.clone(),
                    None => part.matrix.transpose().adjoint_column(&determinant, &part.c, work)?,
                };
                entries.push(part.partials(determinant, &z, &lambda, parameters, work)?);
                forward.insert(key, z);
                adjoint.insert(part.columns, lambda);
            }
            result.push(entries);
        }
        Ok(result)
    }

    /// Returns xᵀMy, as one product where M has rank one, as it has for a
    /// parameter of one element.
    fn between_vectors(&self, x: &[Poly], y: &[Poly], work: &Work) -> Result<Factored, PolyError> {
        if let Some(RankOne { u, weight, v }) = self.rank_one() {
            let side = |factors: &[(usize, Poly)], vector: &[Poly]| {
                let pairs: Vec<(bool, &Poly, &Poly)> =
                    factors.iter().map(|(i, f)| (false, f, &vector[*i])).collect();
                Poly::sum_of_products(&pairs, work)
            };
            return Ok(Factored(vec![side(&u, x)?, side(&v, y)?, weight]));
        }
        let mut lefts = Vec::new();
        for column in 0..self.columns() {
            let pairs: Vec<(bool, &Poly, &Poly)> =
                self.column(column).iter().map(|(row, m)| (false, m, &x[*row])).collect();
            lefts.push(Poly::sum_of_products(&pairs, work)?);
        }
        let pairs: Vec<(bool, &Poly, &Poly)> = lefts.iter().zip(y).map(|(l, y)| (false, l, y)).collect();
        Ok(Poly::sum_of_products(&pairs, work)?.into())
    }

    /// Returns the matrix as u·w·vᵀ with integer vectors u and v, if it is that.
    fn rank_one(&self) -> Option<RankOne> {
        let used: Vec<usize> = (0..self.columns()).filter(|&c| !self.column(c).is_empty()).collect();
        let first = self.column(*used.first()?);
        let weight = first.first()?.1.primitive_part();
        let ratio = |p: &Poly| {
            let factor = p.leading_coefficient().div_exact(&weight.leading_coefficient())?;
            (weight.scale(&factor) == *p).then_some(factor)
        };
        let u: Vec<(usize, super::Integer)> =
            first.iter().map(|(row, p)| Some((*row, ratio(p)?))).collect::<Option<_>>()?;
        let mut v = Vec::new();
        for &column in &used {
            let entries = self.column(column);
            if entries.len() != u.len() {
                return None;
            }
            let factor = ratio(&entries[0].1)?.div_exact(&u[0].1)?;
            for ((row, value), (expected, multiple)) in entries.iter().zip(&u) {
                if row != expected || ratio(value)? != multiple * &factor {
                    return None;
                }
            }
            v.push((column, Poly::constant(factor)));
        }
        Some(RankOne { u: u.into_iter().map(|(i, f)| (i, Poly::constant(f))).collect(), weight, v })
    }

    /// Returns the part of the system that lies between b and c: the unknowns
    /// that b moves and that c needs. Nothing if there are none; fails if the
    /// matrix is singular by structure.
    fn between(&self, c: &[Poly], b: &[Poly]) -> Result<Option<Between>, PolyError> {
        let fits = c.len() == self.columns() && b.len() == self.rows();
        let found = blocks(self.rows(), &self.pattern()).filter(|_| fits);
        let Some(Blocks { rows, columns }) = found else { return Err(PolyError::DivisionByZero) };
        let mut block_of = vec![0; self.columns()];
        for (block, columns) in columns.iter().enumerate() {
            columns.iter().for_each(|&c| block_of[c] = block);
        }
        let by_row = self.transpose();
        let needs = |block: usize| {
            rows[block].iter().flat_map(|&row| by_row.column(row)).map(|(column, _)| block_of[*column])
        };
        let mut moved = vec![false; rows.len()];
        for block in 0..rows.len() {
            moved[block] =
                rows[block].iter().any(|&r| !b[r].is_zero()) || needs(block).any(|other| moved[other]);
        }
        let mut needed = vec![false; rows.len()];
        for block in (0..rows.len()).rev() {
            needed[block] |= columns[block].iter().any(|&col| !c[col].is_zero());
            if needed[block] {
                needs(block).for_each(|other| needed[other] = true);
            }
        }
        let kept: Vec<usize> = (0..rows.len()).filter(|&k| moved[k] && needed[k]).collect();
        if kept.is_empty() {
            return Ok(None);
        }
        let rows: Vec<usize> = kept.iter().flat_map(|&k| rows[k].iter().copied()).collect();
        let columns: Vec<usize> = kept.iter().flat_map(|&k| columns[k].iter().copied()).collect();
        let pick = |list: &[Poly], places: &[usize]| places.iter().map(|&i| list[i].clone()).collect();
        let (c, b) = (pick(c, &columns), pick(b, &rows));
        let odd = columns.len() == self.columns() && is_odd(&rows) ^ is_odd(&columns);
        Ok(Some(Between { matrix: self.submatrix(&rows, &columns), columns, odd, c, b }))
    }

    /// Returns the number of minors from which elimination is better. In few
    /// variables polynomials stay short whatever is done, and elimination
    /// wins early; in many it makes far larger ones than the minors are.
    /// Elimination in all rows, as for unknowns, also fills the matrix.
    fn minor_limit(&self, unknowns: bool) -> usize {
        let variables = self.minor_degrees().len().clamp(1, 10);
        let rows = if unknowns { 4 * self.rows() * self.rows() } else { 16 * self.rows() };
        let few = rows.saturating_mul(1 << (2 * (variables - 1)));
        few.min(MOST_MINORS.max(16 * self.rows()))
    }

    /// Returns the matrix with all entries packed for its minors, so that no
    /// product has to change the packing. Where that takes many words, the
    /// packing is left to grow with the minors: they may never become so large.
    fn packed(&self) -> Matrix {
        match Layout::for_degrees(&self.minor_degrees()) {
            Ok(layout) if layout.words() <= 4 => self.map(|p| p.with_layout(&layout)),
            _ => self.clone(),
        }
    }
}

/// A matrix u·w·vᵀ: the numbers of u and v by place, and the weight w.
struct RankOne {
    u: Vec<(usize, Poly)>,
    weight: Poly,
    v: Vec<(usize, Poly)>,
}

/// The part of a system that lies between an input and an output.
struct Between {
    matrix: Matrix,
    /// The unknowns it has.
    columns: Vec<usize>,
    /// Whether it is the whole system, and the order of rows and columns turns the sign of its determinant.
    odd: bool,
    c: Vec<Poly>,
    b: Vec<Poly>,
}

impl Between {
    /// Returns the transfer function and its derivatives from the forward and the adjoint solution.
    fn partials(
        &self,
        determinant: Poly,
        z: &[Poly],
        lambda: &[Poly],
        parameters: &[usize],
        work: &Work,
    ) -> Result<Sensitivities, PolyError> {
        let dot = |x: &[Poly], y: &[Poly]| {
            let pairs: Vec<(bool, &Poly, &Poly)> = x.iter().zip(y).map(|(x, y)| (false, x, y)).collect();
            Poly::sum_of_products(&pairs, work)
        };
        let numerator = dot(&self.c, z)?;
        let mut derivatives = Vec::with_capacity(parameters.len());
        for &parameter in parameters {
            let partial = |list: &[Poly]| list.iter().map(|p| p.derivative(parameter)).collect::<Vec<Poly>>();
            let inner = self.matrix.map(|p| p.derivative(parameter)).between_vectors(lambda, z, work)?;
            let direct = dot(&partial(&self.c), z)?.add(&dot(lambda, &partial(&self.b))?, work)?;
            derivatives.push(if direct.is_zero() {
                inner.neg()
            } else {
                direct.mul(&determinant, work)?.sub(&inner.expand(work)?, work)?.into()
            });
        }
        Ok(Sensitivities { determinant, numerator, derivatives })
    }

    /// Returns the matrix with b as a further column and c as a further row:
    /// its determinant is −cᵀ·adj(M)·b.
    fn bordered(&self) -> Matrix {
        let size = self.matrix.rows();
        let mut bordered = Matrix::new(size + 1, size + 1);
        for column in 0..size {
            self.matrix.column(column).iter().for_each(|(row, v)| bordered.set(*row, column, v.clone()));
            bordered.set(size, column, self.c[column].clone());
            bordered.set(column, size, self.b[column].clone());
        }
        bordered
    }
}

fn ordered_columns<'a>(matrix: &'a Matrix, order: &[usize]) -> Vec<Column<'a>> {
    order.iter().map(|&c| matrix.column(c).iter().map(|(row, value)| (*row, value)).collect()).collect()
}

/// Returns a common denominator and the numerators over it.
fn over_common_denominator(fractions: &[Fraction], work: &Work) -> Result<(Poly, Vec<Poly>), PolyError> {
    let mut common = Poly::one();
    for fraction in fractions {
        common = common.lcm(fraction.denominator(), work)?;
    }
    let mut numerators = Vec::with_capacity(fractions.len());
    for fraction in fractions {
        let factor = super::gcd::exact(&common, fraction.denominator(), work)?;
        numerators.push(fraction.numerator().mul(&factor, work)?);
    }
    Ok((common, numerators))
}
