//! Exact division by a heap, and the test whether it is exact.

use super::integer::Accumulator;
use super::layout::with_words;
use super::polynomial::{layout_for, max_degrees, same_layout};
use super::product::{Entry, Heap, add_monomials as sum};
use super::{Integer, Poly, PolyError, Work};

const WHAT: &str = "a division";

impl Poly {
    /// Returns the quotient if the divisor divides this without remainder, and
    /// nothing if it does not.
    pub fn div_exact(&self, divisor: &Poly, work: &Work) -> Result<Option<Poly>, PolyError> {
        if divisor.is_zero() {
            return Err(PolyError::DivisionByZero);
        }
        if self.is_zero() {
            return Ok(Some(Poly::zero()));
        }
        if let Some(value) = divisor.as_constant() {
            return Ok(self.div_integer(&value));
        }
        let (dividend_degrees, divisor_degrees) = (self.degrees(), divisor.degrees());
        let too_high = divisor_degrees.iter().any(|&(v, degree)| {
            dividend_degrees
                .binary_search_by_key(&v, |d| d.0)
                .map_or(true, |i| dividend_degrees[i].1 < degree)
        });
        if too_high || !self.ends_divide(divisor) {
            return Ok(None);
        }
        let layout = if same_layout(&self.layout, &divisor.layout) {
            self.layout.clone()
        } else {
            layout_for(&[self, divisor], &max_degrees(&dividend_degrees, &divisor_degrees))?
        };
        let (dividend, divisor) = (self.with_layout(&layout), divisor.with_layout(&layout));
        let mut quotient = Poly { layout: layout.clone(), exponents: Vec::new(), coefficients: Vec::new() };
        let exact = with_words!(layout.words(), W => divide::<W>(&dividend, &divisor, &mut quotient, work))?;
        Ok(exact.then_some(quotient))
    }

    /// Returns whether the divisor divides this without remainder.
    pub fn is_divisible_by(&self, divisor: &Poly, work: &Work) -> Result<bool, PolyError> {
        Ok(self.div_exact(divisor, work)?.is_some())
    }

    /// Returns whether the last coefficient of the divisor divides the last
    /// one: in any order of monomials the smallest terms multiply.
    fn ends_divide(&self, divisor: &Poly) -> bool {
        match (self.coefficients.last(), divisor.coefficients.last()) {
            (Some(a), Some(b)) => a.div_exact(b).is_some(),
            _ => true,
        }
    }
}

/// Where the product of term `i` of the divisor and term `j` of the quotient is next.
struct Row {
    i: usize,
    j: usize,
}

/// Divides; the answer is whether there is no remainder. The heap holds one
/// row for each term of the divisor but the first; a row that has caught up
/// with the quotient waits for its next term.
fn divide<const W: usize>(
    dividend: &Poly,
    divisor: &Poly,
    quotient: &mut Poly,
    work: &Work,
) -> Result<bool, PolyError> {
    let layout = quotient.layout.clone();
    let (a, x) = (dividend.exponents.as_chunks::<W>().0, &dividend.coefficients);
    let (b, y) = (divisor.exponents.as_chunks::<W>().0, &divisor.coefficients);
    let lead = &y[0];
    let mut union = [0u64; W];
    for monomial in b {
        union.iter_mut().zip(monomial).for_each(|(u, m)| *u |= m);
    }
    let mut rows: Vec<Row> = (1..b.len()).map(|i| Row { i, j: 0 }).collect();
    // Rows waiting for the quotient's next term; the lowest divisor term last.
    let mut waiting: Vec<u32> = (0..rows.len() as u32).rev().collect();
    let mut heap: Heap<W> = Heap::new();
    let mut terms: Vec<[u64; W]> = Vec::new();
    let mut coefficients: Vec<Integer> = Vec::new();
    let mut next = 0;
    let mut rest = Accumulator::default();
    loop {
        let monomial = match (a.get(next), heap.top()) {
            (None, None) => break,
            (Some(m), None) => *m,
            (None, Some(top)) => top.monomial,
            (Some(m), Some(top)) => (*m).max(top.monomial),
        };
        let mut steps = 1;
        if a.get(next) == Some(&monomial) {
            rest.add(&x[next], false);
            next += 1;
        }
        while let Some(top) = heap.top().copied().filter(|top| top.monomial == monomial) {
            steps += 1;
            let row = &mut rows[top.row as usize];
            rest.add_product(&y[row.i], &coefficients[row.j], true);
            row.j += 1;
            match terms.get(row.j) {
                Some(term) => {
                    let product = sum(&b[row.i], term);
                    heap.replace_top(Entry { monomial: product, row: top.row });
                }
                None => {
                    heap.pop();
                    waiting.push(top.row);
                }
            }
        }
        work.spend(WHAT, steps)?;
        let coefficient = rest.take();
        if coefficient.is_zero() {
            continue;
        }
        let (Some(term), Some(coefficient)) =
            (layout.quotient(&monomial, &b[0]), coefficient.div_exact(lead))
        else {
            return Ok(false);
        };
        // A quotient whose products overflow a field is no quotient: the
        // dividend's degrees bound those of every exact product.
        let fits = layout.sum_fits(&union, &term) || b.iter().all(|divisor| layout.sum_fits(divisor, &term));
        if !fits {
            return Ok(false);
        }
        for row in waiting.drain(..) {
            let product = sum(&b[rows[row as usize].i], &term);
            heap.push(Entry { monomial: product, row });
        }
        terms.push(term);
        coefficients.push(coefficient);
        work.allow_terms(WHAT, terms.len())?;
    }
    quotient.exponents = terms.into_iter().flatten().collect();
    quotient.coefficients = coefficients;
    Ok(true)
}
