//! The polynomial itself: construction, questions about it, order and text.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::layout::Layout;
use super::{Integer, PolyError, Ring, Work};

/// Variables with exponents, by ascending variable.
pub(super) type Powers = Vec<(usize, u32)>;

/// A polynomial with integer coefficients: distinct monomials in descending
/// lexicographic order, none with coefficient 0.
#[derive(Clone)]
pub struct Poly {
    pub(super) layout: Arc<Layout>,
    /// One monomial after another, each of `layout.words()` words.
    pub(super) exponents: Vec<u64>,
    pub(super) coefficients: Vec<Integer>,
}

impl Poly {
    /// Returns the polynomial 0.
    pub fn zero() -> Poly {
        Poly { layout: Layout::constant(), exponents: Vec::new(), coefficients: Vec::new() }
    }

    /// Returns the polynomial 1.
    pub fn one() -> Poly {
        Poly::constant(Integer::ONE)
    }

    /// Makes a constant polynomial.
    pub fn constant(value: impl Into<Integer>) -> Poly {
        let value = value.into();
        if value.is_zero() {
            return Poly::zero();
        }
        Poly { layout: Layout::constant(), exponents: vec![0], coefficients: vec![value] }
    }

    /// Makes the polynomial that is one variable.
    pub fn variable(variable: usize) -> Result<Poly, PolyError> {
        Poly::monomial(Integer::ONE, &[(variable, 1)])
    }

    /// Makes a polynomial of one term from its coefficient and its variables
    /// with their exponents; a variable may stand several times.
    pub fn monomial(coefficient: impl Into<Integer>, powers: &[(usize, u32)]) -> Result<Poly, PolyError> {
        let mut collected: BTreeMap<usize, u32> = BTreeMap::new();
        for &(variable, exponent) in powers {
            let sum = collected.entry(variable).or_insert(0);
            *sum = sum.checked_add(exponent).ok_or(PolyError::ExponentTooLarge)?;
        }
        Poly::from_powers(vec![(collected.into_iter().collect(), coefficient.into())])
    }

    /// Makes a polynomial from terms in any order, equal monomials allowed: the
    /// exponents of the variables from 0 on, and the coefficient.
    pub fn from_terms(terms: impl IntoIterator<Item = (Vec<u32>, Integer)>) -> Result<Poly, PolyError> {
        let sparse = |(exponents, coefficient): (Vec<u32>, Integer)| {
            (exponents.into_iter().enumerate().filter(|(_, e)| *e > 0).collect(), coefficient)
        };
        Poly::from_powers(terms.into_iter().map(sparse).collect())
    }

    /// Makes a polynomial from terms in any order: the powers by ascending
    /// variable, and the coefficient.
    pub(super) fn from_powers(terms: Vec<(Powers, Integer)>) -> Result<Poly, PolyError> {
        let mut most: BTreeMap<usize, u32> = BTreeMap::new();
        for &(variable, exponent) in terms.iter().flat_map(|(powers, _)| powers) {
            let degree = most.entry(variable).or_insert(0);
            *degree = exponent.max(*degree);
        }
        let layout = Layout::for_degrees(&most.into_iter().collect::<Powers>())?;
        let mut packed: Vec<(Vec<u64>, Integer)> = Vec::with_capacity(terms.len());
        for (powers, coefficient) in terms {
            let mut monomial = vec![0; layout.words()];
            for (variable, exponent) in powers {
                layout.set(&mut monomial, variable, exponent);
            }
            packed.push((monomial, coefficient));
        }
        packed.sort_by(|a, b| b.0.cmp(&a.0));
        let mut poly = Poly { layout, exponents: Vec::new(), coefficients: Vec::new() };
        let mut rest = packed.into_iter().peekable();
        while let Some((monomial, mut coefficient)) = rest.next() {
            while let Some((_, next)) = rest.next_if(|(m, _)| *m == monomial) {
                coefficient = &coefficient + &next;
            }
            if !coefficient.is_zero() {
                poly.exponents.extend(monomial);
                poly.coefficients.push(coefficient);
            }
        }
        Ok(poly)
    }

    /// Returns the number of terms.
    #[inline]
    pub fn len(&self) -> usize {
        self.coefficients.len()
    }

    /// Returns whether this is 0 (a polynomial without terms).
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Returns whether this is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Returns whether this is 1.
    pub fn is_one(&self) -> bool {
        self.as_constant().is_some_and(|c| c.is_one())
    }

    /// Returns the value if no variable occurs.
    pub fn as_constant(&self) -> Option<Integer> {
        match self.coefficients.as_slice() {
            [] => Some(Integer::ZERO),
            [value] if self.exponents.iter().all(|&word| word == 0) => Some(value.clone()),
            _ => None,
        }
    }

    /// Returns whether the leading coefficient is negative.
    pub fn is_negative(&self) -> bool {
        self.coefficients.first().is_some_and(Integer::is_negative)
    }

    /// Returns the coefficient of the leading term, 0 for the polynomial 0.
    pub fn leading_coefficient(&self) -> Integer {
        self.coefficients.first().cloned().unwrap_or(Integer::ZERO)
    }

    /// Returns the degree in one variable, 0 for the polynomial 0.
    pub fn degree(&self, variable: usize) -> u32 {
        if variable == 0 {
            // The most significant variable has its highest power in front.
            return self.exponents.get(..self.layout.words()).map_or(0, |m| self.layout.get(m, 0));
        }
        self.monomials().map(|m| self.layout.get(m, variable)).max().unwrap_or(0)
    }

    /// Returns the variables that occur, ascending, with the degree in each.
    pub fn degrees(&self) -> Vec<(usize, u32)> {
        self.layout.degrees(&self.exponents)
    }

    /// Returns the variables that occur, ascending.
    pub fn variables(&self) -> Vec<usize> {
        self.degrees().into_iter().map(|(variable, _)| variable).collect()
    }

    /// Returns the terms in descending order: the exponents of the variables
    /// from 0 on, and the coefficient.
    pub fn terms(&self) -> impl Iterator<Item = (Vec<u32>, &Integer)> + '_ {
        let count = self.layout.variables().last().map_or(0, |v| v + 1);
        self.powers().map(move |(powers, coefficient)| {
            let mut exponents = vec![0; count];
            powers.into_iter().for_each(|(variable, exponent)| exponents[variable] = exponent);
            (exponents, coefficient)
        })
    }

    /// Returns the terms in descending order: the variables that occur in
    /// each, ascending, with their exponents, and the coefficient.
    pub fn powers(&self) -> impl Iterator<Item = (Powers, &Integer)> + '_ {
        self.monomials().zip(&self.coefficients).map(|(m, c)| (self.layout.powers(m).collect(), c))
    }

    pub(super) fn monomials(&self) -> impl Iterator<Item = &[u64]> + '_ {
        self.exponents.chunks_exact(self.layout.words())
    }

    /// Returns the bitwise union of all monomials.
    pub(super) fn union(&self) -> Vec<u64> {
        let words = self.layout.words();
        if words == 1 {
            return vec![self.exponents.iter().fold(0, |union, m| union | m)];
        }
        let mut union = vec![0u64; words];
        for monomial in self.monomials() {
            union.iter_mut().zip(monomial).for_each(|(u, m)| *u |= m);
        }
        union
    }

    /// Returns the exponents packed as `layout` says.
    pub(super) fn packed(&self, layout: &Arc<Layout>) -> Cow<'_, [u64]> {
        if same_layout(&self.layout, layout) {
            Cow::Borrowed(&self.exponents)
        } else {
            Cow::Owned(self.layout.repack(&self.exponents, layout))
        }
    }

    /// Returns the same polynomial packed as `layout` says.
    pub(super) fn with_layout(&self, layout: &Arc<Layout>) -> Poly {
        Poly {
            layout: layout.clone(),
            exponents: self.packed(layout).into_owned(),
            coefficients: self.coefficients.clone(),
        }
    }

    /// Returns the polynomial with each variable `v` renamed to `target[v]`;
    /// the targets of the variables that occur must differ.
    pub fn rename(&self, target: &[usize]) -> Result<Poly, PolyError> {
        let rename = |(powers, coefficient): (Powers, &Integer)| {
            let new = powers.into_iter().map(|(v, e)| (target.get(v).copied().unwrap_or(v), e));
            (new.collect(), coefficient.clone())
        };
        Poly::from_powers(self.powers().map(rename).collect())
    }

    /// Fails if this has more terms than the budget allows.
    pub(super) fn within(self, what: &'static str, work: &Work) -> Result<Poly, PolyError> {
        work.allow_terms(what, self.len())?;
        Ok(self)
    }

    /// Writes the polynomial with the names of a ring; for people's eyes the
    /// printers of expressions are made.
    pub fn display<'a>(&'a self, ring: &'a Ring) -> impl fmt::Display + 'a {
        Text { poly: self, ring: Some(ring) }
    }
}

/// Returns whether two layouts pack alike.
pub(super) fn same_layout(a: &Arc<Layout>, b: &Arc<Layout>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// Returns a layout for results with these degrees: that of an operand if it
/// serves, so that nothing needs repacking.
pub(super) fn layout_for(operands: &[&Poly], degrees: &[(usize, u32)]) -> Result<Arc<Layout>, PolyError> {
    let fitting = operands.iter().map(|p| &p.layout).filter(|l| l.holds(degrees)).min_by_key(|l| l.words());
    match fitting {
        Some(layout) => Ok(layout.clone()),
        None => Layout::for_degrees(degrees),
    }
}

/// Returns the larger degree for each variable of two ascending lists.
pub(super) fn max_degrees(a: &[(usize, u32)], b: &[(usize, u32)]) -> Powers {
    combine_degrees(a, b, u32::max)
}

/// Merges two ascending lists of degrees; a variable that is missing has 0.
pub(super) fn combine_degrees(
    a: &[(usize, u32)],
    b: &[(usize, u32)],
    combine: impl Fn(u32, u32) -> u32,
) -> Powers {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let mut merged = Vec::new();
    loop {
        let variable = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => x.0.min(y.0),
            (Some(x), None) => x.0,
            (None, Some(y)) => y.0,
            (None, None) => return merged,
        };
        let x = a.next_if(|d| d.0 == variable).map_or(0, |d| d.1);
        let y = b.next_if(|d| d.0 == variable).map_or(0, |d| d.1);
        merged.push((variable, combine(x, y)));
    }
}

impl PartialEq for Poly {
    fn eq(&self, other: &Poly) -> bool {
        if self.coefficients != other.coefficients {
            return false;
        }
        if same_layout(&self.layout, &other.layout) {
            return self.exponents == other.exponents;
        }
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Poly {}

impl Hash for Poly {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (monomial, coefficient) in self.monomials().zip(&self.coefficients) {
            coefficient.hash(state);
            // Variables that do not occur must not influence the hash.
            self.layout.powers(monomial).for_each(|power| power.hash(state));
        }
    }
}

impl PartialOrd for Poly {
    fn partial_cmp(&self, other: &Poly) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Poly {
    /// Compares term by term from the leading one: exponents, then coefficients.
    fn cmp(&self, other: &Poly) -> Ordering {
        for ((a, x), (b, y)) in
            self.monomials().zip(&self.coefficients).zip(other.monomials().zip(&other.coefficients))
        {
            // A power of an earlier variable is larger, and so is a higher one.
            let key = |(variable, exponent): (usize, u32)| (Reverse(variable), exponent);
            let exponents = self.layout.powers(a).map(key).cmp(other.layout.powers(b).map(key));
            let order = exponents.then_with(|| x.cmp(y));
            if order.is_ne() {
                return order;
            }
        }
        self.len().cmp(&other.len())
    }
}

/// A polynomial as text, with the names of a ring or numbered variables.
struct Text<'a> {
    poly: &'a Poly,
    ring: Option<&'a Ring>,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.poly.is_zero() {
            return write!(f, "0");
        }
        for (index, (powers, coefficient)) in self.poly.powers().enumerate() {
            let magnitude = coefficient.abs();
            match (index, coefficient.is_negative()) {
                (0, false) => {}
                (0, true) => write!(f, "-")?,
                (_, false) => write!(f, " + ")?,
                (_, true) => write!(f, " - ")?,
            }
            let constant = powers.is_empty();
            let mut first = true;
            if constant || !magnitude.is_one() {
                write!(f, "{magnitude}")?;
                first = false;
            }
            for (variable, exponent) in powers {
                if !first {
                    write!(f, "*")?;
                }
                first = false;
                match self.ring.and_then(|ring| ring.name(variable)) {
                    Some(name) => write!(f, "{name}")?,
                    None => write!(f, "x{variable}")?,
                }
                if exponent > 1 {
                    write!(f, "^{exponent}")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Text { poly: self, ring: None }, f)
    }
}

impl fmt::Debug for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Text { poly: self, ring: None }, f)
    }
}
