//! Exponent vectors packed into machine words.
//!
//! A [`Layout`] gives each variable that occurs a field of bits wide enough for
//! its largest exponent. Earlier variables have higher fields, so that
//! comparing the words as numbers is the lexicographic order of the exponents,
//! whatever the widths. Fields never straddle words; bits below the
//! last field of a word are unused.

use std::sync::{Arc, LazyLock};

use super::PolyError;

/// Numbers of words that the arithmetic is compiled for.
const WORD_COUNTS: [usize; 7] = [1, 2, 3, 4, 8, 32, 128];

/// Runs an expression with a constant number of words per monomial.
macro_rules! with_words {
    ($words:expr, $w:ident => $body:expr) => {
        match $words {
            1 => {
                const $w: usize = 1;
                $body
            }
            2 => {
                const $w: usize = 2;
                $body
            }
            3 => {
                const $w: usize = 3;
                $body
            }
            4 => {
                const $w: usize = 4;
                $body
            }
            8 => {
                const $w: usize = 8;
                $body
            }
            32 => {
                const $w: usize = 32;
                $body
            }
            _ => {
                const $w: usize = 128;
                $body
            }
        }
    };
}
pub(super) use with_words;

/// Where the exponent of one variable stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    variable: u32,
    word: u16,
    shift: u8,
    width: u8,
}

impl Field {
    #[inline]
    fn max(self) -> u64 {
        if self.width == 0 { 0 } else { u64::MAX >> (64 - self.width) }
    }

    /// Returns the exponent that stands here.
    #[inline]
    pub(super) fn read(self, monomial: &[u64]) -> u64 {
        (monomial[usize::from(self.word)] >> self.shift) & self.max()
    }
}

/// How exponents are packed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// By ascending variable; only variables that have bits.
    fields: Vec<Field>,
    words: usize,
    /// Per word: the bits just above each field, into which a field that
    /// overflows or borrows would carry.
    above: Vec<u64>,
}

static CONSTANT: LazyLock<Arc<Layout>> =
    LazyLock::new(|| Arc::new(Layout { fields: Vec::new(), words: 1, above: vec![0] }));

fn bits_for(degree: u32) -> u8 {
    (32 - degree.leading_zeros()) as u8
}

impl Layout {
    /// Returns the layout of constants: no variables.
    pub(super) fn constant() -> Arc<Layout> {
        CONSTANT.clone()
    }

    /// Makes the layout of fewest words that holds these exponents, a bound
    /// for each variable that occurs. Spare bits widen the fields, so that
    /// products seldom need a new layout.
    pub(super) fn for_degrees(degrees: &[(usize, u32)]) -> Result<Arc<Layout>, PolyError> {
        let tight = Layout::pack(degrees, 0)?;
        for extra in [8, 4, 2, 1] {
            if let Ok(layout) = Layout::pack(degrees, extra)
                && layout.words == tight.words
            {
                return Ok(Arc::new(layout));
            }
        }
        Ok(Arc::new(tight))
    }

    fn pack(degrees: &[(usize, u32)], extra: u8) -> Result<Layout, PolyError> {
        let too_many = PolyError::TooManyVariables { variables: degrees.len() };
        let mut fields = Vec::with_capacity(degrees.len());
        let (mut word, mut free) = (0u16, 64u8);
        for &(variable, degree) in degrees.iter().filter(|(_, degree)| *degree > 0) {
            let variable = u32::try_from(variable).map_err(|_| too_many)?;
            let width = (bits_for(degree) + extra).min(32);
            if width > free {
                word = word.checked_add(1).ok_or(too_many)?;
                free = 64;
            }
            free -= width;
            fields.push(Field { variable, word, shift: free, width });
        }
        let needed = usize::from(word) + 1;
        let words = WORD_COUNTS.iter().copied().find(|&w| w >= needed).ok_or(too_many)?;
        let mut above = vec![0u64; words];
        for field in &fields {
            let top = field.shift + field.width;
            if top < 64 {
                above[usize::from(field.word)] |= 1 << top;
            }
        }
        Ok(Layout { fields, words, above })
    }

    /// Returns the number of words per monomial.
    #[inline]
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Returns the variables that have a field, ascending.
    pub(super) fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.fields.iter().map(|field| field.variable as usize)
    }

    #[inline]
    pub(super) fn field(&self, variable: usize) -> Option<Field> {
        // With few variables left out, the place is the variable itself.
        if let Some(field) = self.fields.get(variable)
            && field.variable as usize == variable
        {
            return Some(*field);
        }
        let place = self.fields.binary_search_by_key(&variable, |field| field.variable as usize).ok()?;
        Some(self.fields[place])
    }

    /// Returns the exponent of a variable.
    #[inline]
    pub(super) fn get(&self, monomial: &[u64], variable: usize) -> u32 {
        self.field(variable).map_or(0, |field| field.read(monomial) as u32)
    }

    /// Returns the variables of a monomial with their exponents, ascending.
    pub(super) fn powers<'a>(&'a self, monomial: &'a [u64]) -> impl Iterator<Item = (usize, u32)> + 'a {
        self.fields
            .iter()
            .map(|field| (field.variable as usize, field.read(monomial) as u32))
            .filter(|(_, exponent)| *exponent > 0)
    }

    /// Writes the exponent of a variable, which must fit ([`Layout::holds`]).
    #[inline]
    pub(super) fn set(&self, monomial: &mut [u64], variable: usize, exponent: u32) {
        if let Some(field) = self.field(variable) {
            let word = &mut monomial[usize::from(field.word)];
            *word &= !(field.max() << field.shift);
            *word |= (u64::from(exponent) & field.max()) << field.shift;
        }
    }

    /// Returns whether all these exponents fit.
    pub(super) fn holds(&self, degrees: &[(usize, u32)]) -> bool {
        degrees.iter().all(|&(variable, degree)| self.field_holds(variable, u64::from(degree)))
    }

    /// Returns whether an exponent of one variable fits.
    pub(super) fn field_holds(&self, variable: usize, exponent: u64) -> bool {
        exponent <= self.field(variable).map_or(0, Field::max)
    }

    /// Returns the largest exponent of each variable that occurs in a list of
    /// monomials.
    pub(super) fn degrees(&self, exponents: &[u64]) -> Vec<(usize, u32)> {
        let mut degrees = vec![0; self.fields.len()];
        for monomial in exponents.chunks_exact(self.words) {
            for (degree, field) in degrees.iter_mut().zip(&self.fields) {
                *degree = field.read(monomial).max(*degree);
            }
        }
        let pairs = self.variables().zip(degrees).map(|(variable, degree)| (variable, degree as u32));
        pairs.filter(|(_, degree)| *degree > 0).collect()
    }

    /// Returns whether the sum of two monomials overflows no field. For two
    /// bounds by bitwise union of many monomials the answer yes is certain and
    /// the answer no is not.
    #[inline]
    pub(super) fn sum_fits(&self, a: &[u64], b: &[u64]) -> bool {
        self.above.iter().zip(a.iter().zip(b)).all(|(&above, (&a, &b))| {
            let (sum, carry) = a.overflowing_add(b);
            !carry && (a ^ b ^ sum) & above == 0
        })
    }

    /// Returns the quotient of two monomials if the second divides the first.
    #[inline]
    pub(super) fn quotient<const W: usize>(&self, a: &[u64; W], b: &[u64; W]) -> Option<[u64; W]> {
        let mut quotient = [0; W];
        for i in 0..W {
            let (difference, borrow) = a[i].overflowing_sub(b[i]);
            if borrow || (a[i] ^ b[i] ^ difference) & self.above[i] != 0 {
                return None;
            }
            quotient[i] = difference;
        }
        Some(quotient)
    }

    /// Packs monomials of this layout into another that holds them.
    pub(super) fn repack(&self, exponents: &[u64], target: &Layout) -> Vec<u64> {
        let count = exponents.len() / self.words;
        let mut packed = vec![0u64; count * target.words];
        let moves: Vec<(Field, Field)> = self
            .fields
            .iter()
            .filter_map(|&field| Some((field, target.field(field.variable as usize)?)))
            .collect();
        for (from, to) in exponents.chunks_exact(self.words).zip(packed.chunks_exact_mut(target.words)) {
            for (source, place) in &moves {
                to[usize::from(place.word)] |= source.read(from) << place.shift;
            }
        }
        packed
    }
}
