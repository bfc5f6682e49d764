//! Greatest common divisors of polynomials.
//!
//! The cheap cases first: contents, monomials, variables that only one of the
//! two has, and univariate images modulo a prime, which bound the degree of
//! the divisor in each variable and mostly show that there is none. What is
//! left goes to [`super::zippel`]. Every answer is either forced by degrees or
//! has passed a trial division, and pseudo-random points come from fixed seeds:
//! the result is certain and the same in every run.

use dashu_base::{BitTest, UnsignedAbs};
use dashu_int::IBig;
use paynter_base::random::Random;
use std::cmp::Reverse;

use super::modular::element;
use super::polynomial::{Powers, combine_degrees, max_degrees};
use super::zippel::{Coefficients, INVERSE_STEPS, Miss, Problem, Skeleton};
use super::{Integer, Poly, PolyError, Work};
use crate::field::{PrimeField, PrimeFields};
use crate::limits::{CONTENT_DEPTH, GCD_ATTEMPTS, LARGEST_IMAGE_DEGREE};

const WHAT: &str = "a greatest common divisor";

impl Poly {
    /// Returns the greatest common divisor, with positive leading coefficient
    /// and the common content of the coefficients; that of 0 and 0 is 0.
    pub fn gcd(&self, other: &Poly, work: &Work) -> Result<Poly, PolyError> {
        gcd(self, other, 0, work).map_err(|e| e.on_the_way_to(WHAT))
    }

    /// Returns the greatest common divisor of a list, 0 for an empty one.
    pub fn gcd_of(list: &[Poly], work: &Work) -> Result<Poly, PolyError> {
        gcd_of(list.to_vec(), 0, work)
    }

    /// Returns the greatest common divisor of the coefficients by one variable.
    pub fn content_in(&self, variable: usize, work: &Work) -> Result<Poly, PolyError> {
        content_in(self, variable, 0, work)
    }

    /// Returns the least common multiple, with positive leading coefficient.
    pub fn lcm(&self, other: &Poly, work: &Work) -> Result<Poly, PolyError> {
        if self.is_zero() || other.is_zero() {
            return Ok(Poly::zero());
        }
        let divisor = self.gcd(other, work)?;
        let multiple = exact(self, &divisor, work)?.mul(other, work)?;
        Ok(if multiple.is_negative() { multiple.neg() } else { multiple })
    }
}

/// Divides where divisibility is known.
pub(super) fn exact(dividend: &Poly, divisor: &Poly, work: &Work) -> Result<Poly, PolyError> {
    if divisor.is_one() {
        return Ok(dividend.clone());
    }
    dividend.div_exact(divisor, work)?.ok_or(PolyError::DivisionByZero)
}

fn positive(poly: &Poly) -> Poly {
    if poly.is_negative() { poly.neg() } else { poly.clone() }
}

fn content_in(poly: &Poly, variable: usize, depth: u32, work: &Work) -> Result<Poly, PolyError> {
    gcd_of(poly.coefficients(variable).into_iter().map(|(_, c)| c).collect(), depth + 1, work)
}

/// The divisor of many polynomials is mostly that of the shortest and a
/// pseudo-random combination of the others.
fn gcd_of(mut list: Vec<Poly>, depth: u32, work: &Work) -> Result<Poly, PolyError> {
    list.retain(|p| !p.is_zero());
    list.sort_by_key(Poly::len);
    let Some((first, rest)) = list.split_first() else { return Ok(Poly::zero()) };
    let mut divisor = positive(first);
    if first.len() == 1 {
        // Only a monomial divides a monomial.
        let content = rest.iter().fold(divisor.content(), |c, p| c.gcd(&p.content()));
        let mut powers = divisor.monomial_content();
        for poly in rest {
            powers = combine_degrees(&powers, &poly.monomial_content(), u32::min);
        }
        powers.retain(|(_, exponent)| *exponent > 0);
        return Poly::monomial(content, &powers);
    }
    if rest.len() > 1 {
        let mut random = Random::new(rest.len() as u64);
        let factors: Vec<Poly> =
            rest.iter().map(|_| Poly::constant((random.bits() >> 45) as i64 + 1)).collect();
        let pairs: Vec<(bool, &Poly, &Poly)> =
            rest.iter().zip(&factors).map(|(p, f)| (false, f, p)).collect();
        let combination = Poly::sum_of_products(&pairs, work)?;
        if !combination.is_zero() {
            let content = rest.iter().fold(divisor.content(), |c, p| c.gcd(&p.content()));
            let factor = gcd(&divisor, &combination, depth, work)?;
            divisor = factor.primitive_part().scale(&content);
        }
    }
    for poly in rest {
        if divisor.is_one() {
            break;
        }
        if poly.div_exact(&divisor, work)?.is_none() {
            divisor = gcd(&divisor, poly, depth, work)?;
        }
    }
    Ok(divisor)
}

/// The steps that taking a polynomial apart costs for each of its terms, before anything is divided.
const STEPS_PER_TERM: u64 = 20;

fn gcd(a: &Poly, b: &Poly, depth: u32, work: &Work) -> Result<Poly, PolyError> {
    if a.is_zero() || b.is_zero() || a == b {
        return Ok(positive(if a.is_zero() { b } else { a }));
    }
    if a.as_constant().is_some() || b.as_constant().is_some() {
        return Ok(Poly::constant(a.content().gcd(&b.content())));
    }
    if depth > CONTENT_DEPTH {
        return Err(PolyError::BudgetExceeded { what: WHAT, terms: a.len().max(b.len()) as u64 });
    }
    work.spend(WHAT, STEPS_PER_TERM * (a.len() + b.len()) as u64)?;
    let number = a.content().gcd(&b.content());
    let (left, right) = (a.monomial_content(), b.monomial_content());
    let mut common = combine_degrees(&left, &right, u32::min);
    common.retain(|(_, exponent)| *exponent > 0);
    let factor = Poly::monomial(number, &common)?;
    let a = a.div_monomial(&left).primitive_part();
    let b = b.div_monomial(&right).primitive_part();
    // Powers of a variable that are all multiples of k are powers of its k-th power.
    let steps = exponent_steps(&a, &b);
    let divisor = if steps.iter().any(|&(_, step)| step > 1) {
        let deflated = [a, b].map(|p| with_exponents(&p, &steps, |e, step| e / step));
        let [a, b] = deflated;
        with_exponents(&primitive_gcd(&a?, &b?, depth, work)?, &steps, |e, step| e * step)?
    } else {
        primitive_gcd(&a, &b, depth, work)?
    };
    divisor.mul(&factor, work)
}

/// Returns the greatest common divisor of the exponents of each variable.
fn exponent_steps(a: &Poly, b: &Poly) -> Powers {
    let euclid = |mut x: u32, mut y: u32| {
        while y != 0 {
            (x, y) = (y, x % y);
        }
        x
    };
    let mut steps = max_degrees(&a.degrees(), &b.degrees());
    for poly in [a, b] {
        for monomial in poly.monomials() {
            for (variable, step) in steps.iter_mut().filter(|(_, step)| *step != 1) {
                *step = euclid(*step, poly.layout.get(monomial, *variable));
            }
        }
    }
    steps
}

fn with_exponents(
    poly: &Poly,
    steps: &[(usize, u32)],
    change: impl Fn(u32, u32) -> u32,
) -> Result<Poly, PolyError> {
    let change = |(powers, coefficient): (Powers, &Integer)| {
        let step = |v: usize| steps.binary_search_by_key(&v, |s| s.0).map_or(1, |place| steps[place].1);
        (powers.into_iter().map(|(v, e)| (v, change(e, step(v)))).collect(), coefficient.clone())
    };
    Poly::from_powers(poly.powers().map(change).collect())
}

/// The divisor of two polynomials without content and monomial factors.
fn primitive_gcd(a: &Poly, b: &Poly, depth: u32, work: &Work) -> Result<Poly, PolyError> {
    if a.as_constant().is_some() || b.as_constant().is_some() {
        return Ok(Poly::one());
    }
    if a == b {
        return Ok(a.clone());
    }
    let (left, right) = (a.variables(), b.variables());
    let shared: Vec<usize> = left.iter().copied().filter(|v| right.contains(v)).collect();
    if shared.is_empty() {
        return Ok(Poly::one());
    }
    if shared.len() < left.len() || shared.len() < right.len() {
        return gcd_in(a, b, &shared, depth, work);
    }
    // A divisor without one of the variables divides all coefficients by it, and the shortest of those
    // mostly shows that there is none.
    let first = shared[0];
    if degree_bounds(a, b, &shared, &[first], work)?.is_some_and(|bounds| bounds == [0]) {
        return gcd_in(a, b, &shared[1..], depth, work);
    }
    let Some(bounds) = degree_bounds(a, b, &shared, &shared, work)? else {
        return euclid(a, b, first, depth, work);
    };
    let occurring: Vec<usize> =
        shared.iter().zip(&bounds).filter(|(_, d)| **d > 0).map(|(v, _)| *v).collect();
    if occurring.is_empty() {
        return Ok(Poly::one());
    }
    if occurring.len() < shared.len() {
        return gcd_in(a, b, &occurring, depth, work);
    }
    // The whole of one polynomial as divisor of the other.
    for (small, large) in [(a, b), (b, a)] {
        let whole = shared.iter().zip(&bounds).all(|(&v, &d)| d == small.degree(v));
        if whole && large.div_exact(small, work)?.is_some() {
            return Ok(positive(small));
        }
    }
    by_interpolation(a, b, &shared, &bounds, depth, work)
}

/// The divisor, known to have no variables but `inner`: it divides all
/// coefficients by the other variables.
fn gcd_in(a: &Poly, b: &Poly, inner: &[usize], depth: u32, work: &Work) -> Result<Poly, PolyError> {
    let mut parts = Vec::new();
    for poly in [a, b] {
        parts.extend(poly.split(|v| inner.contains(&v)));
    }
    Ok(gcd_of(parts, depth + 1, work)?.primitive_part())
}

/// Returns bounds for the degree of the divisor in each variable that is asked
/// for, out of all, from univariate images modulo a prime; nothing if no point served.
fn degree_bounds(
    a: &Poly,
    b: &Poly,
    variables: &[usize],
    asked: &[usize],
    work: &Work,
) -> Result<Option<Vec<u32>>, PolyError> {
    let mut random = Random::new(variables.len() as u64);
    let highest = [a, b].iter().flat_map(|p| p.degrees()).map(|(_, degree)| degree).max().unwrap_or(0);
    if highest > LARGEST_IMAGE_DEGREE {
        return Err(PolyError::BudgetExceeded { what: WHAT, terms: u64::from(highest) });
    }
    for field in PrimeFields::new().take(4) {
        let point: Vec<(usize, u64)> = variables.iter().map(|&v| (v, element(&mut random, &field))).collect();
        let images = [Image::new(a, &point, &field), Image::new(b, &point, &field)];
        let mut bounds = Vec::with_capacity(asked.len());
        for &(variable, value) in point.iter().filter(|(variable, _)| asked.contains(variable)) {
            let [x, y] = [0, 1].map(|i| images[i].in_variable(variable, value, &field));
            let cost = (x.len() as u64).saturating_mul(y.len() as u64);
            let remainders = x.len().min(y.len()) as u64;
            work.spend(WHAT, (a.len() + b.len()) as u64 / 2 + cost / 4 + INVERSE_STEPS * (remainders + 2))?;
            // One leading coefficient that does not vanish is enough.
            if x.last() == Some(&0) && y.last() == Some(&0) {
                break;
            }
            bounds.push(field.univariate_gcd(x, y).len() as u32 - 1);
        }
        if bounds.len() == asked.len() {
            return Ok(Some(bounds));
        }
    }
    Ok(None)
}

/// The values of all terms of a polynomial at a point modulo a prime.
struct Image<'a> {
    poly: &'a Poly,
    degrees: Powers,
    values: Vec<u64>,
}

impl<'a> Image<'a> {
    fn new(poly: &'a Poly, point: &[(usize, u64)], field: &PrimeField) -> Image<'a> {
        let degrees = poly.degrees();
        let powers: Vec<(usize, Vec<u64>)> =
            point.iter().map(|&(v, x)| (v, field.powers(x, degree_in(&degrees, v)))).collect();
        let values = poly
            .monomials()
            .zip(&poly.coefficients)
            .map(|(monomial, coefficient)| {
                let mut value = field.enter(coefficient.rem_u64(field.prime()));
                for (variable, powers) in &powers {
                    let exponent = poly.layout.get(monomial, *variable) as usize;
                    if exponent > 0 {
                        value = field.mul(value, powers[exponent]);
                    }
                }
                value
            })
            .collect();
        Image { poly, degrees, values }
    }

    /// Returns the image with one variable left free, which had a value.
    fn in_variable(&self, variable: usize, value: u64, field: &PrimeField) -> Vec<u64> {
        let degree = degree_in(&self.degrees, variable);
        let undo = field.powers(field.inv(value), degree);
        let mut image = vec![0; degree as usize + 1];
        for (monomial, &value) in self.poly.monomials().zip(&self.values) {
            let exponent = self.poly.layout.get(monomial, variable) as usize;
            image[exponent] = field.add(image[exponent], field.mul(value, undo[exponent]));
        }
        image
    }
}

fn degree_in(degrees: &[(usize, u32)], variable: usize) -> u32 {
    degrees.binary_search_by_key(&variable, |(v, _)| *v).map_or(0, |place| degrees[place].1)
}

/// Chooses the main variable: one with a short leading coefficient, so that
/// scaling by it costs little, then one of high degree.
fn main_variable(a: &Poly, b: &Poly, variables: &[usize], bounds: &[u32]) -> usize {
    let key = |&(&v, &bound): &(&usize, &u32)| {
        let lead = |p: &Poly| {
            let degree = p.degree(v);
            p.monomials().filter(|m| p.layout.get(m, v) == degree).count()
        };
        (lead(a).min(lead(b)), Reverse(bound), v)
    };
    variables.iter().zip(bounds).min_by_key(key).map_or(variables[0], |(&v, _)| v)
}

fn by_interpolation(
    a: &Poly,
    b: &Poly,
    variables: &[usize],
    bounds: &[u32],
    depth: u32,
    work: &Work,
) -> Result<Poly, PolyError> {
    let main = main_variable(a, b, variables, bounds);
    let (left, right) = (content_in(a, main, depth, work)?, content_in(b, main, depth, work)?);
    let content = gcd(&left, &right, depth + 1, work)?;
    let (a, b) = (exact(a, &left, work)?, exact(b, &right, work)?);
    let gamma = gcd(&a.leading_coefficient_in(main), &b.leading_coefficient_in(main), depth + 1, work)?;
    let mut others: Vec<(usize, u32)> =
        variables.iter().copied().zip(bounds.iter().copied()).filter(|(v, _)| *v != main).collect();
    // The last variables cost most points, so those of low degree come last.
    others.sort_by_key(|&(v, bound)| (Reverse(bound), v));
    let (names, limits): (Vec<usize>, Vec<u32>) = others.into_iter().unzip();
    let mut degree = variables.iter().zip(bounds).find(|(v, _)| **v == main).map_or(0, |(_, d)| *d);
    let problem = Problem::new(&a, &b, &gamma, main, &names, &limits);
    let search = Search { a: &a, b: &b, gamma: &gamma, main, others: &names, problem: &problem, depth, work };
    let mut random = Random::new(0x5EED);
    let mut primes = PrimeFields::new().skip(4);
    for _ in 0..GCD_ATTEMPTS {
        if degree == 0 {
            return Ok(content);
        }
        match search.attempt(degree, &mut primes, &mut random) {
            Ok(divisor) => return divisor.mul(&content, work),
            Err(Miss::Lower(lower)) => degree = lower,
            Err(Miss::Unlucky) => {}
            Err(Miss::Stop(error)) => return Err(error),
        }
    }
    euclid(&a, &b, main, depth, work)?.mul(&content, work)
}

/// A search for the divisor by interpolation modulo several primes.
struct Search<'a> {
    a: &'a Poly,
    b: &'a Poly,
    gamma: &'a Poly,
    main: usize,
    others: &'a [usize],
    problem: &'a Problem,
    depth: u32,
    work: &'a Work,
}

impl Search<'_> {
    fn attempt(
        &self,
        degree: u32,
        primes: &mut impl Iterator<Item = PrimeField>,
        random: &mut Random,
    ) -> Result<Poly, Miss> {
        let field = primes.next().ok_or(Miss::Unlucky)?;
        let (skeleton, image) = self.problem.explore(&field, degree, random, self.work)?;
        let mut lifted = Lifted::new(&field, &image);
        // A first image with small coefficients is probably the result.
        if lifted.is_small()
            && let Some(divisor) = self.verify(&skeleton, &lifted, degree)?
        {
            return Ok(divisor);
        }
        let mut misses = 0;
        loop {
            self.work.spend(WHAT, lifted.cost())?;
            let field = primes.next().ok_or(Miss::Unlucky)?;
            match self.problem.image(&field, degree, &skeleton, random, self.work) {
                Ok(image) => {
                    if lifted.refine(&field, &image) {
                        continue;
                    }
                    return match self.verify(&skeleton, &lifted, degree)? {
                        Some(divisor) => Ok(divisor),
                        None => Err(Miss::Unlucky),
                    };
                }
                Err(Miss::Unlucky) if misses < 2 => misses += 1,
                Err(miss) => return Err(miss),
            }
        }
    }

    /// Takes the content out of the candidate and tries whether it divides.
    /// Its degree is not below that of the true divisor, so that if it divides
    /// both, it is the true one.
    fn verify(&self, skeleton: &Skeleton, lifted: &Lifted, degree: u32) -> Result<Option<Poly>, PolyError> {
        let mut terms: Vec<(Powers, Integer)> = Vec::new();
        for (power, (monomials, values)) in skeleton.iter().zip(&lifted.values).enumerate() {
            for (monomial, value) in monomials.iter().zip(values) {
                let mut powers: Powers = self.others.iter().copied().zip(monomial.iter().copied()).collect();
                powers.push((self.main, power as u32));
                terms.push((powers, Integer::from(value.clone())));
            }
        }
        let lead = Poly::monomial(1, &[(self.main, degree)])?.mul(self.gamma, self.work)?;
        let candidate = Poly::from_powers(terms)?.add(&lead, self.work)?;
        let divisor = if self.gamma.as_constant().is_some() {
            candidate.primitive_part()
        } else {
            let content = content_in(&candidate, self.main, self.depth, self.work)?;
            exact(&candidate, &content, self.work)?.primitive_part()
        };
        let divides =
            self.a.is_divisible_by(&divisor, self.work)? && self.b.is_divisible_by(&divisor, self.work)?;
        Ok(divides.then_some(divisor))
    }
}

/// Coefficients modulo a product of primes, nearest to 0.
struct Lifted {
    modulus: IBig,
    values: Vec<Vec<IBig>>,
}

impl Lifted {
    fn new(field: &PrimeField, image: &Coefficients) -> Lifted {
        let mut lifted = Lifted {
            modulus: IBig::ONE,
            values: image.iter().map(|list| vec![IBig::ZERO; list.len()]).collect(),
        };
        lifted.refine(field, image);
        lifted
    }

    /// Returns whether no coefficient looks like a wrapped one.
    fn is_small(&self) -> bool {
        let limit = IBig::ONE << 48;
        self.values.iter().flatten().all(|v| IBig::from(v.clone().unsigned_abs()) < limit)
    }

    /// Returns the steps that taking in another image costs.
    fn cost(&self) -> u64 {
        let words = self.modulus.bit_len() as u64 / 64;
        self.values.iter().map(|list| list.len() as u64).sum::<u64>() * (4 + words / 2)
    }

    /// Takes in an image modulo a new prime (Chinese remainders); the answer
    /// is whether that changed anything.
    fn refine(&mut self, field: &PrimeField, image: &Coefficients) -> bool {
        let prime = IBig::from(field.prime());
        let residue = |value: &IBig| field.enter(Integer::from(value.clone()).rem_u64(field.prime()));
        let inverse = field.inv(residue(&self.modulus));
        let product = &self.modulus * &prime;
        let half = &product / IBig::from(2);
        let mut changed = false;
        for (values, image) in self.values.iter_mut().zip(image) {
            for (value, &target) in values.iter_mut().zip(image) {
                let step = field.mul(field.sub(target, residue(value)), inverse);
                if step != 0 {
                    changed = true;
                    *value += &self.modulus * IBig::from(field.leave(step));
                    if *value > half {
                        *value -= &product;
                    }
                }
            }
        }
        self.modulus = product;
        changed
    }
}

/// Euclid's algorithm with primitive remainders: slow and sure, for inputs on
/// which every pseudo-random choice failed.
fn euclid(a: &Poly, b: &Poly, main: usize, depth: u32, work: &Work) -> Result<Poly, PolyError> {
    let (left, right) = (content_in(a, main, depth, work)?, content_in(b, main, depth, work)?);
    let content = gcd(&left, &right, depth + 1, work)?;
    let (mut a, mut b) = (exact(a, &left, work)?, exact(b, &right, work)?);
    if a.degree(main) < b.degree(main) {
        std::mem::swap(&mut a, &mut b);
    }
    while !b.is_zero() {
        if b.degree(main) == 0 {
            return Ok(content);
        }
        let rest = pseudo_remainder(&a, &b, main, work)?;
        a = b;
        b = match rest.is_zero() {
            true => rest,
            false => exact(&rest, &content_in(&rest, main, depth, work)?, work)?,
        };
    }
    a.primitive_part().mul(&content, work)
}

/// Returns a remainder of a multiple of `a` divided by `b` in one variable.
fn pseudo_remainder(a: &Poly, b: &Poly, variable: usize, work: &Work) -> Result<Poly, PolyError> {
    let (degree, lead) = (b.degree(variable), b.leading_coefficient_in(variable));
    let mut rest = a.clone();
    while !rest.is_zero() && rest.degree(variable) >= degree {
        let shift = Poly::monomial(1, &[(variable, rest.degree(variable) - degree)])?;
        let factor = rest.leading_coefficient_in(variable).mul(&shift, work)?;
        rest = Poly::sum_of_products(&[(false, &lead, &rest), (true, &factor, b)], work)?;
    }
    Ok(rest)
}
