//! Products and sums of products.
//!
//! Three ways, chosen by size. A heap merges the rows of the products
//! (Monagan and Pearce): no memory beyond the result, best for few rows. A hash
//! table collects them, one power of the leading variable at a time so that
//! the table stays in the cache: best for many rows. A plain array collects
//! polynomials that are nearly dense in few variables.

use std::borrow::Cow;

use super::integer::Accumulator;
use super::layout::{Layout, with_words};
use super::polynomial::{Powers, combine_degrees, layout_for, max_degrees, same_layout};
use super::{Integer, Poly, PolyError, Work};

const WHAT: &str = "a product";

/// Rows from which the hash table beats the heap.
const HASH_ROWS: usize = 48;

/// The largest array for dense products.
const DENSE_LIMIT: u64 = 1 << 20;

impl Poly {
    /// Returns the product.
    pub fn mul(&self, other: &Poly, work: &Work) -> Result<Poly, PolyError> {
        Poly::sum_of_products(&[(false, self, other)], work)
    }

    /// Returns the sum of the products of pairs, those marked `true` negated,
    /// without making the single products.
    pub fn sum_of_products(pairs: &[(bool, &Poly, &Poly)], work: &Work) -> Result<Poly, PolyError> {
        let pairs: Vec<(bool, &Poly, &Poly)> = pairs
            .iter()
            .filter(|(_, a, b)| !a.is_zero() && !b.is_zero())
            .map(|&(negate, a, b)| if a.len() <= b.len() { (negate, a, b) } else { (negate, b, a) })
            .collect();
        let Some(&(negate, first, second)) = pairs.first() else {
            return Ok(Poly::zero());
        };
        if let ([_], Some(factor)) = (pairs.as_slice(), first.as_constant()) {
            return Ok(second.scale(&if negate { -&factor } else { factor }));
        }
        let layout = product_layout(&pairs)?;
        let mut product = Poly { layout: layout.clone(), exponents: Vec::new(), coefficients: Vec::new() };
        let packed: Vec<Packed<'_>> = pairs
            .iter()
            .map(|&(negate, a, b)| Packed { negate, a: (a.packed(&layout), a), b: (b.packed(&layout), b) })
            .collect();
        if sums_fit_a_word(&pairs) {
            with_words!(layout.words(), W => multiply::<W, Word>(&packed, &mut product, work))?;
        } else {
            spend_for_size(&pairs, work)?;
            with_words!(layout.words(), W => multiply::<W, Exact>(&packed, &mut product, work))?;
        }
        product.within(WHAT, work)
    }
}

/// A pair of factors, the shorter first, with exponents in the common layout.
struct Packed<'a> {
    negate: bool,
    a: (Cow<'a, [u64]>, &'a Poly),
    b: (Cow<'a, [u64]>, &'a Poly),
}

/// Returns a layout that no product of terms overflows.
fn product_layout(pairs: &[(bool, &Poly, &Poly)]) -> Result<std::sync::Arc<Layout>, PolyError> {
    let common = &pairs[0].2.layout;
    let fits = |a: &Poly, b: &Poly| {
        if !same_layout(&a.layout, common) || !same_layout(&b.layout, common) {
            return false;
        }
        let (x, y) = (a.union(), b.union());
        // The union of the exponents' bits may be more than the largest
        // exponent: only where it looks too large, look closely.
        common.sum_fits(&x, &y)
            || common.variables().all(|v| {
                let most = u64::from(common.get(&x, v)) + u64::from(common.get(&y, v));
                common.field_holds(v, most)
                    || common.field_holds(v, u64::from(a.degree(v)) + u64::from(b.degree(v)))
            })
    };
    if pairs.iter().all(|(_, a, b)| fits(a, b)) {
        return Ok(common.clone());
    }
    let mut degrees = Vec::new();
    for (_, a, b) in pairs {
        let sum = sum_of_degrees(a, b);
        if sum.iter().any(|&(_, degree)| degree == u32::MAX) {
            return Err(PolyError::ExponentTooLarge);
        }
        degrees = max_degrees(&degrees, &sum);
    }
    let operands: Vec<&Poly> = pairs.iter().flat_map(|&(_, a, b)| [b, a]).collect();
    layout_for(&operands, &degrees)
}

/// Returns the degrees of a product.
fn sum_of_degrees(a: &Poly, b: &Poly) -> Powers {
    combine_degrees(&a.degrees(), &b.degrees(), u32::saturating_add)
}

/// Returns whether every coefficient of the result surely fits into a word.
fn sums_fit_a_word(pairs: &[(bool, &Poly, &Poly)]) -> bool {
    let mut total = 0u128;
    for (_, a, b) in pairs {
        let (Some(x), Some(y)) = (largest(a), largest(b)) else { return false };
        let product = u128::from(x) * u128::from(y);
        total = total.saturating_add(product.saturating_mul(a.len() as u128));
    }
    total < 1 << 63
}

/// Counts what long coefficients cost beyond a step for each product.
fn spend_for_size(pairs: &[(bool, &Poly, &Poly)], work: &Work) -> Result<(), PolyError> {
    for (_, a, b) in pairs {
        let words = |p: &Poly| p.coefficients.iter().map(|c| c.bits() as u64 / 64).max().unwrap_or(0);
        let (x, y) = (words(a), words(b));
        let products = (a.len() as u64).saturating_mul(b.len() as u64);
        work.spend(WHAT, products.saturating_mul(x + y + x * y / 4))?;
    }
    Ok(())
}

/// Returns the largest magnitude of the coefficients if all are words.
fn largest(p: &Poly) -> Option<u64> {
    let mut largest = 0;
    for c in &p.coefficients {
        largest = largest.max(c.as_i64()?.unsigned_abs());
    }
    Some(largest)
}

/// Arithmetic of coefficients: in words where the result is known to fit.
trait Arithmetic {
    type Coefficient: Clone;
    type Sum: Default + Clone;
    fn load(c: &Integer, negate: bool) -> Self::Coefficient;
    fn add(sum: &mut Self::Sum, a: &Self::Coefficient, b: &Integer);
    fn take(sum: &mut Self::Sum) -> Integer;
}

struct Word;

impl Arithmetic for Word {
    type Coefficient = i64;
    type Sum = i64;

    #[inline]
    fn load(c: &Integer, negate: bool) -> i64 {
        let value = c.as_i64().unwrap_or(0);
        if negate { value.wrapping_neg() } else { value }
    }

    #[inline]
    fn add(sum: &mut i64, a: &i64, b: &Integer) {
        *sum = sum.wrapping_add(a.wrapping_mul(b.as_i64().unwrap_or(0)));
    }

    #[inline]
    fn take(sum: &mut i64) -> Integer {
        Integer::from(std::mem::take(sum))
    }
}

struct Exact;

impl Arithmetic for Exact {
    type Coefficient = Integer;
    type Sum = Accumulator;

    fn load(c: &Integer, negate: bool) -> Integer {
        if negate { -c } else { c.clone() }
    }

    #[inline]
    fn add(sum: &mut Accumulator, a: &Integer, b: &Integer) {
        sum.add_product(a, b, false);
    }

    #[inline]
    fn take(sum: &mut Accumulator) -> Integer {
        sum.take()
    }
}

/// A pair of factors as the kernels see it.
struct Factors<'a, const W: usize, A: Arithmetic> {
    a: &'a [[u64; W]],
    x: Vec<A::Coefficient>,
    b: &'a [[u64; W]],
    y: &'a [Integer],
}

fn multiply<const W: usize, A: Arithmetic>(
    pairs: &[Packed<'_>],
    product: &mut Poly,
    work: &Work,
) -> Result<(), PolyError> {
    let factors: Vec<Factors<'_, W, A>> = pairs
        .iter()
        .map(|pair| Factors {
            a: pair.a.0.as_chunks().0,
            x: pair.a.1.coefficients.iter().map(|c| A::load(c, pair.negate)).collect(),
            b: pair.b.0.as_chunks().0,
            y: &pair.b.1.coefficients,
        })
        .collect();
    let rows: usize = factors.iter().map(|f| f.a.len()).sum();
    // A table of long monomials would be many times larger than the result.
    if rows < HASH_ROWS || W > 4 {
        return merge_by_heap::<W, A>(&factors, product, work);
    }
    let products: u64 = factors.iter().map(|f| f.a.len() as u64 * f.b.len() as u64).sum();
    if let Some(degrees) = dense_degrees(pairs, products) {
        return collect_in_array::<W, A>(&factors, &degrees, product, work);
    }
    // The table marks free places by a leading word of ones.
    if factors.iter().any(|f| f.a[0][0].wrapping_add(f.b[0][0]) == u64::MAX) {
        return merge_by_heap::<W, A>(&factors, product, work);
    }
    collect_in_table::<W, A>(&factors, product, work)
}

#[inline]
pub(super) fn add_monomials<const W: usize>(a: &[u64; W], b: &[u64; W]) -> [u64; W] {
    let mut sum = *a;
    for i in 0..W {
        sum[i] = sum[i].wrapping_add(b[i]);
    }
    sum
}

/// A place in the heap: the next product of a row.
#[derive(Clone, Copy)]
pub(super) struct Entry<const W: usize> {
    pub(super) monomial: [u64; W],
    pub(super) row: u32,
}

/// A binary heap with the largest monomial on top.
pub(super) struct Heap<const W: usize> {
    entries: Vec<Entry<W>>,
}

impl<const W: usize> Heap<W> {
    pub(super) fn new() -> Heap<W> {
        Heap { entries: Vec::new() }
    }

    #[inline]
    pub(super) fn top(&self) -> Option<&Entry<W>> {
        self.entries.first()
    }

    pub(super) fn push(&mut self, entry: Entry<W>) {
        let mut place = self.entries.len();
        self.entries.push(entry);
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.entries[parent].monomial >= entry.monomial {
                break;
            }
            self.entries[place] = self.entries[parent];
            place = parent;
        }
        self.entries[place] = entry;
    }

    pub(super) fn pop(&mut self) {
        if let Some(last) = self.entries.pop()
            && !self.entries.is_empty()
        {
            self.replace_top(last);
        }
    }

    #[inline]
    pub(super) fn replace_top(&mut self, entry: Entry<W>) {
        let count = self.entries.len();
        let mut place = 0;
        loop {
            let mut child = 2 * place + 1;
            if child >= count {
                break;
            }
            if child + 1 < count && self.entries[child + 1].monomial > self.entries[child].monomial {
                child += 1;
            }
            if entry.monomial >= self.entries[child].monomial {
                break;
            }
            self.entries[place] = self.entries[child];
            place = child;
        }
        self.entries[place] = entry;
    }
}

/// One row of a product: term `i` of the first factor times the second, of
/// which `j` terms are done.
struct Row {
    pair: u32,
    i: u32,
    j: u32,
}

fn merge_by_heap<const W: usize, A: Arithmetic>(
    pairs: &[Factors<'_, W, A>],
    product: &mut Poly,
    work: &Work,
) -> Result<(), PolyError> {
    let products: usize = pairs.iter().map(|f| f.a.len().saturating_mul(f.b.len())).sum();
    let longest = pairs.iter().map(|f| f.b.len()).max().unwrap_or(0);
    let room = products.min(2 * longest);
    product.exponents.reserve(room * W);
    product.coefficients.reserve(room);
    let mut rows: Vec<Row> = Vec::new();
    let mut heap = Heap::new();
    for (pair, factors) in pairs.iter().enumerate() {
        heap.push(Entry { monomial: add_monomials(&factors.a[0], &factors.b[0]), row: rows.len() as u32 });
        rows.push(Row { pair: pair as u32, i: 0, j: 0 });
    }
    let limit = work.budget().terms;
    let mut sum = A::Sum::default();
    while let Some(top) = heap.top() {
        let monomial = top.monomial;
        let mut steps = 0;
        while let Some(top) = heap.top().copied().filter(|top| top.monomial == monomial) {
            steps += 1;
            let row = &mut rows[top.row as usize];
            let (pair, i, j) = (row.pair, row.i as usize, row.j as usize);
            let factors = &pairs[pair as usize];
            A::add(&mut sum, &factors.x[i], &factors.y[j]);
            row.j += 1;
            match factors.b.get(j + 1) {
                Some(next) => {
                    heap.replace_top(Entry { monomial: add_monomials(&factors.a[i], next), row: top.row });
                }
                None => heap.pop(),
            }
            // The row below begins with a smaller product: it was not needed yet.
            if j == 0
                && let Some(next) = factors.a.get(i + 1)
            {
                heap.push(Entry { monomial: add_monomials(next, &factors.b[0]), row: rows.len() as u32 });
                rows.push(Row { pair, i: i as u32 + 1, j: 0 });
            }
        }
        work.spend(WHAT, steps)?;
        let coefficient = A::take(&mut sum);
        if !coefficient.is_zero() {
            product.exponents.extend_from_slice(&monomial);
            product.coefficients.push(coefficient);
            if product.coefficients.len() > limit {
                return work.allow_terms(WHAT, product.coefficients.len());
            }
        }
    }
    Ok(())
}

/// Open addressing with linear probing; a key with a first word of ones marks
/// a free place.
struct Table<const W: usize, S> {
    slots: Vec<([u64; W], S)>,
    used: usize,
}

impl<const W: usize, S: Default + Clone> Table<W, S> {
    fn new(places: usize) -> Table<W, S> {
        Table { slots: vec![([u64::MAX; W], S::default()); places.next_power_of_two().max(64)], used: 0 }
    }

    #[inline]
    fn home(&self, key: &[u64; W]) -> usize {
        let mut hash = 0u64;
        for word in key {
            hash = (hash.rotate_left(26) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        (hash >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    #[inline]
    fn entry(&mut self, key: [u64; W]) -> &mut S {
        if 2 * self.used >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut place = self.home(&key);
        loop {
            let slot = &self.slots[place];
            if slot.0 == key {
                break;
            }
            if slot.0[0] == u64::MAX {
                self.slots[place].0 = key;
                self.used += 1;
                break;
            }
            place = (place + 1) & mask;
        }
        &mut self.slots[place].1
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::replace(self, Table::new(self.slots.len() * 2));
        self.used = old.used;
        let mask = self.slots.len() - 1;
        for (key, sum) in old.slots {
            if key[0] != u64::MAX {
                let mut place = self.home(&key);
                while self.slots[place].0[0] != u64::MAX {
                    place = (place + 1) & mask;
                }
                self.slots[place] = (key, sum);
            }
        }
    }

    /// Returns what is in the table and empties it.
    fn drain(&mut self) -> Vec<([u64; W], S)> {
        let mut found = Vec::with_capacity(self.used);
        for slot in &mut self.slots {
            if slot.0[0] != u64::MAX {
                found.push((slot.0, std::mem::take(&mut slot.1)));
                slot.0 = [u64::MAX; W];
            }
        }
        self.used = 0;
        found
    }
}

/// The terms of a factor with one power of the leading variable.
struct Group {
    exponent: u32,
    start: usize,
    end: usize,
}

fn groups<const W: usize>(layout: &Layout, monomials: &[[u64; W]]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, monomial) in monomials.iter().enumerate() {
        let exponent = layout.get(monomial, 0);
        match groups.last_mut() {
            Some(group) if group.exponent == exponent => group.end = index + 1,
            _ => groups.push(Group { exponent, start: index, end: index + 1 }),
        }
    }
    groups
}

fn collect_in_table<const W: usize, A: Arithmetic>(
    pairs: &[Factors<'_, W, A>],
    product: &mut Poly,
    work: &Work,
) -> Result<(), PolyError> {
    let layout = product.layout.clone();
    let grouped: Vec<(Vec<Group>, Vec<Group>)> =
        pairs.iter().map(|f| (groups(&layout, f.a), groups(&layout, f.b))).collect();
    // Every block of products, by the power of the leading variable it adds to.
    let mut blocks: Vec<(u32, usize, &Group, &Group)> = Vec::new();
    for (pair, (left, right)) in grouped.iter().enumerate() {
        for a in left {
            blocks.extend(right.iter().map(|b| (a.exponent + b.exponent, pair, a, b)));
        }
    }
    blocks.sort_by_key(|block| std::cmp::Reverse(block.0));
    let limit = work.budget().terms;
    let mut table: Table<W, A::Sum> = Table::new(64);
    for same_power in blocks.chunk_by(|a, b| a.0 == b.0) {
        for &(_, pair, left, right) in same_power {
            let factors = &pairs[pair];
            let (b, y) = (&factors.b[right.start..right.end], &factors.y[right.start..right.end]);
            for i in left.start..left.end {
                work.spend(WHAT, b.len() as u64)?;
                let (a, x) = (&factors.a[i], &factors.x[i]);
                for (b, y) in b.iter().zip(y) {
                    A::add(table.entry(add_monomials(a, b)), x, y);
                }
                // Cancellation may bring the number down again, but not by this much.
                if table.used / 4 > limit {
                    return work.allow_terms(WHAT, table.used);
                }
            }
        }
        let mut found = table.drain();
        found.sort_unstable_by_key(|term| std::cmp::Reverse(term.0));
        for (monomial, mut sum) in found {
            let coefficient = A::take(&mut sum);
            if !coefficient.is_zero() {
                product.exponents.extend_from_slice(&monomial);
                product.coefficients.push(coefficient);
            }
        }
        work.allow_terms(WHAT, product.coefficients.len())?;
    }
    Ok(())
}

/// Returns the degrees of the result if an array of all monomials up to them
/// is worth its size.
fn dense_degrees(pairs: &[Packed<'_>], products: u64) -> Option<Powers> {
    // A field whose bits together reach 2ᵏ holds an exponent of at least 2ᵏ.
    let mut least = 1u64;
    for (_, p) in pairs.iter().flat_map(|pair| [&pair.a, &pair.b]) {
        let union = p.union();
        let mut size = 1u64;
        for v in p.layout.variables() {
            let exponents = u64::from(p.layout.get(&union, v));
            size = size.saturating_mul(1 + (exponents + 1).next_power_of_two() / 2);
        }
        least = least.max(size);
    }
    if least > DENSE_LIMIT.min(products) {
        return None;
    }
    let mut degrees = Vec::new();
    for pair in pairs {
        degrees = max_degrees(&degrees, &sum_of_degrees(pair.a.1, pair.b.1));
    }
    let mut size = 1u64;
    for (_, degree) in &degrees {
        let radix = u64::from(*degree) + 1;
        size = size.checked_mul(radix).filter(|&size| size <= DENSE_LIMIT && size <= products)?;
    }
    Some(degrees)
}

fn collect_in_array<const W: usize, A: Arithmetic>(
    pairs: &[Factors<'_, W, A>],
    degrees: &[(usize, u32)],
    product: &mut Poly,
    work: &Work,
) -> Result<(), PolyError> {
    let layout = product.layout.clone();
    let radix = |degree: u32| u64::from(degree) + 1;
    let place = |monomial: &[u64; W]| {
        let digit = |v: usize| u64::from(layout.get(monomial, v));
        degrees.iter().fold(0, |sum, &(v, degree)| sum * radix(degree) + digit(v)) as usize
    };
    let size: u64 = degrees.iter().map(|&(_, degree)| radix(degree)).product();
    let mut sums = vec![A::Sum::default(); size as usize];
    for factors in pairs {
        let right: Vec<usize> = factors.b.iter().map(place).collect();
        for (a, x) in factors.a.iter().zip(&factors.x) {
            work.spend(WHAT, factors.b.len() as u64 / 4)?;
            let left = place(a);
            for (right, y) in right.iter().zip(factors.y) {
                A::add(&mut sums[left + right], x, y);
            }
        }
    }
    let mut monomial = [0u64; W];
    for (index, sum) in sums.iter_mut().enumerate().rev() {
        let coefficient = A::take(sum);
        if !coefficient.is_zero() {
            let mut rest = index as u64;
            for &(variable, degree) in degrees.iter().rev() {
                layout.set(&mut monomial, variable, (rest % radix(degree)) as u32);
                rest /= radix(degree);
            }
            product.exponents.extend_from_slice(&monomial);
            product.coefficients.push(coefficient);
        }
    }
    Ok(())
}
