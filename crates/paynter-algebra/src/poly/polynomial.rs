//! The polynomial itself: construction, questions about it, order and text.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::layout::Layout;
use super::{Integer, PolyError, Ring, Work};

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
        let count = powers.iter().map(|&(variable, _)| variable + 1).max().unwrap_or(0);
        let mut exponents = vec![0u32; count];
        for &(variable, exponent) in powers {
            let sum = exponents[variable].checked_add(exponent).ok_or(PolyError::ExponentTooLarge)?;
            exponents[variable] = sum;
        }
        Poly::from_terms([(exponents, coefficient.into())])
    }

    /// Makes a polynomial from terms in any order, equal monomials allowed.
    pub fn from_terms(terms: impl IntoIterator<Item = (Vec<u32>, Integer)>) -> Result<Poly, PolyError> {
        let mut terms: Vec<(Vec<u32>, Integer)> = terms.into_iter().filter(|(_, c)| !c.is_zero()).collect();
        let count = terms.iter().map(|(e, _)| e.len()).max().unwrap_or(0);
        let mut degrees = vec![0u32; count];
        for (exponents, _) in &mut terms {
            exponents.resize(count, 0);
            for (degree, &exponent) in degrees.iter_mut().zip(exponents.iter()) {
                *degree = (*degree).max(exponent);
            }
        }
        terms.sort_by(|a, b| b.0.cmp(&a.0));
        let layout = Layout::for_degrees(&degrees)?;
        let words = layout.words();
        let mut poly = Poly { layout, exponents: Vec::new(), coefficients: Vec::new() };
        let mut rest = terms.into_iter().peekable();
        while let Some((exponents, mut coefficient)) = rest.next() {
            while let Some((_, next)) = rest.next_if(|(e, _)| *e == exponents) {
                coefficient = &coefficient + &next;
            }
            if coefficient.is_zero() {
                continue;
            }
            let start = poly.exponents.len();
            poly.exponents.resize(start + words, 0);
            for (variable, &exponent) in exponents.iter().enumerate() {
                poly.layout.set(&mut poly.exponents[start..], variable, exponent);
            }
            poly.coefficients.push(coefficient);
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

    /// Returns the degree in each variable; the list may end where the
    /// variables that occur end.
    pub fn degrees(&self) -> Vec<u32> {
        self.layout.degrees(&self.exponents)
    }

    /// Returns the largest sum of exponents of a term.
    pub fn total_degree(&self) -> u64 {
        self.terms().map(|(e, _)| e.iter().map(|&x| u64::from(x)).sum()).max().unwrap_or(0)
    }

    /// Returns the variables that occur, ascending.
    pub fn variables(&self) -> Vec<usize> {
        self.degrees().iter().enumerate().filter(|(_, d)| **d > 0).map(|(v, _)| v).collect()
    }

    /// Returns the terms in descending order: exponents and coefficient.
    pub fn terms(&self) -> impl Iterator<Item = (Vec<u32>, &Integer)> + '_ {
        let count = self.layout.variables();
        self.monomials()
            .zip(&self.coefficients)
            .map(move |(m, c)| ((0..count).map(|v| self.layout.get(m, v)).collect(), c))
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
        let count =
            self.variables().iter().map(|&v| target.get(v).copied().unwrap_or(v) + 1).max().unwrap_or(0);
        Poly::from_terms(self.terms().map(|(exponents, coefficient)| {
            let mut renamed = vec![0; count];
            for (variable, &exponent) in exponents.iter().enumerate().filter(|(_, e)| **e > 0) {
                renamed[target.get(variable).copied().unwrap_or(variable)] = exponent;
            }
            (renamed, coefficient.clone())
        }))
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
pub(super) fn layout_for(operands: &[&Poly], degrees: &[u32]) -> Result<Arc<Layout>, PolyError> {
    let fitting = operands.iter().map(|p| &p.layout).filter(|l| l.holds(degrees)).min_by_key(|l| l.words());
    match fitting {
        Some(layout) => Ok(layout.clone()),
        None => Layout::for_degrees(degrees),
    }
}

/// Returns the larger degree for each variable.
pub(super) fn max_degrees(a: &[u32], b: &[u32]) -> Vec<u32> {
    let at = |list: &[u32], i: usize| list.get(i).copied().unwrap_or(0);
    (0..a.len().max(b.len())).map(|i| at(a, i).max(at(b, i))).collect()
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
            for variable in 0..self.layout.variables() {
                // Variables that do not occur must not influence the hash.
                let exponent = self.layout.get(monomial, variable);
                if exponent > 0 {
                    (variable, exponent).hash(state);
                }
            }
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
        let count = self.layout.variables().max(other.layout.variables());
        for ((a, x), (b, y)) in
            self.monomials().zip(&self.coefficients).zip(other.monomials().zip(&other.coefficients))
        {
            let exponents = (0..count)
                .map(|v| self.layout.get(a, v).cmp(&other.layout.get(b, v)))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal);
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
        for (index, (exponents, coefficient)) in self.poly.terms().enumerate() {
            let magnitude = coefficient.abs();
            match (index, coefficient.is_negative()) {
                (0, false) => {}
                (0, true) => write!(f, "-")?,
                (_, false) => write!(f, " + ")?,
                (_, true) => write!(f, " - ")?,
            }
            let constant = exponents.iter().all(|&e| e == 0);
            let mut first = true;
            if constant || !magnitude.is_one() {
                write!(f, "{magnitude}")?;
                first = false;
            }
            for (variable, &exponent) in exponents.iter().enumerate().filter(|(_, e)| **e > 0) {
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
