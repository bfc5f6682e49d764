//! Zippel's sparse modular interpolation of a greatest common divisor.
//!
//! The two polynomials are seen as polynomials in one main variable x with
//! coefficients in the other variables. Modulo a prime, every point of the
//! other variables gives an image of the divisor in x alone by Euclid's
//! algorithm, known up to a factor; it is scaled so that its leading
//! coefficient is that of a known multiple γ of the true leading coefficient.
//! The other variables are brought back one at a time: the first image in a
//! variable shows which monomials occur, and all later ones only determine
//! their coefficients from a few points (a transposed Vandermonde system).
//! Wrong assumptions show as contradictions here or at the trial division by
//! the caller, which alone decides.

use paynter_base::random::Random;
use std::collections::BTreeMap;

use super::modular::element;
use super::{Integer, Poly, PolyError, Work};
use crate::field::PrimeField;

const WHAT: &str = "a greatest common divisor";

/// The steps that an inverse modulo a prime, or a power, costs.
pub(super) const INVERSE_STEPS: u64 = 30;

/// The terms of a polynomial split into main variable, others, coefficient.
struct Terms {
    main: Vec<u32>,
    others: Vec<u32>,
    coefficients: Vec<Integer>,
    degree: u32,
}

impl Terms {
    fn new(poly: &Poly, main: usize, others: &[usize]) -> Terms {
        let layout = &poly.layout;
        let mut terms = Terms {
            main: Vec::with_capacity(poly.len()),
            others: Vec::with_capacity(poly.len() * others.len()),
            coefficients: poly.coefficients.clone(),
            degree: poly.degree(main),
        };
        for monomial in poly.monomials() {
            terms.main.push(layout.get(monomial, main));
            terms.others.extend(others.iter().map(|&v| layout.get(monomial, v)));
        }
        terms
    }
}

/// What is to be found: the multiple of the divisor of `a` and `b` whose
/// leading coefficient in the main variable is `gamma`.
pub(super) struct Problem {
    a: Terms,
    b: Terms,
    gamma: Terms,
    /// Number of variables besides the main one.
    count: usize,
    /// Bounds for the degrees of the result in them.
    bounds: Vec<u32>,
}

/// The monomials in the other variables that occur with each power of the
/// main variable below the leading one.
pub(super) type Skeleton = Vec<Vec<Vec<u32>>>;

/// An image modulo a prime: a coefficient for each monomial of the skeleton.
pub(super) type Coefficients = Vec<Vec<u64>>;

/// Why an image was not found.
pub(super) enum Miss {
    /// The divisor has lower degree in the main variable than was thought.
    Lower(u32),
    /// The points, the prime or the skeleton were unlucky.
    Unlucky,
    /// The work must end.
    Stop(PolyError),
}

impl From<PolyError> for Miss {
    fn from(error: PolyError) -> Miss {
        Miss::Stop(error)
    }
}

/// A polynomial with some of the other variables replaced by numbers: like
/// terms are put together.
struct Partial {
    main: Vec<u32>,
    /// Exponents of the variables that remain, term by term.
    rest: Vec<u32>,
    values: Vec<u64>,
    degree: u32,
}

/// Which terms fall together when the variables from `stage` on become numbers.
struct Grouping {
    main: Vec<u32>,
    rest: Vec<u32>,
    group: Vec<u32>,
}

impl Grouping {
    fn new(terms: &Terms, count: usize, stage: usize) -> Grouping {
        let mut known: BTreeMap<(u32, &[u32]), u32> = BTreeMap::new();
        let (mut main, mut rest, mut group) = (Vec::new(), Vec::new(), Vec::new());
        for (index, &power) in terms.main.iter().enumerate() {
            let key = &terms.others[index * count..index * count + stage];
            let next = main.len() as u32;
            let place = *known.entry((power, key)).or_insert_with(|| {
                main.push(power);
                rest.extend_from_slice(key);
                next
            });
            group.push(place);
        }
        Grouping { main, rest, group }
    }
}

impl Problem {
    /// Sets up the search in the main variable; `others` are all further
    /// variables that occur, `bounds` the degrees of the divisor in them.
    pub(super) fn new(
        a: &Poly,
        b: &Poly,
        gamma: &Poly,
        main: usize,
        others: &[usize],
        bounds: &[u32],
    ) -> Problem {
        let bounds = others.iter().zip(bounds).map(|(&v, &d)| d.saturating_add(gamma.degree(v))).collect();
        Problem {
            a: Terms::new(a, main, others),
            b: Terms::new(b, main, others),
            gamma: Terms::new(gamma, main, others),
            count: others.len(),
            bounds,
        }
    }

    /// Returns the steps that taking the coefficients modulo a prime costs.
    fn cost(&self) -> u64 {
        let size = |terms: &Terms| terms.coefficients.iter().map(|c| 2 + c.bits() as u64 / 64).sum::<u64>();
        size(&self.a) + size(&self.b) + size(&self.gamma)
    }

    /// Finds the image modulo a prime and the monomials that occur, assuming
    /// that the divisor has this degree in the main variable.
    pub(super) fn explore(
        &self,
        field: &PrimeField,
        degree: u32,
        random: &mut Random,
        work: &Work,
    ) -> Result<(Skeleton, Coefficients), Miss> {
        work.spend(WHAT, self.cost() * (self.count as u64 + 1))?;
        let point: Vec<u64> = (0..self.count).map(|_| element(random, field)).collect();
        let mut skeleton: Skeleton = vec![vec![Vec::new()]; degree as usize];
        let mut image = Sampler::new(self, field, 0).interpolate(&point, &skeleton, degree, random, work)?;
        drop_zeros(&mut skeleton, &mut image);
        for stage in 0..self.count {
            let bound = self.bounds[stage];
            if bound == 0 {
                extend(&mut skeleton, 0);
                continue;
            }
            // Images at more values of this variable, with the known monomials
            // in the ones before it.
            let sampler = Sampler::new(self, field, stage);
            let mut abscissae = vec![point[stage]];
            let mut images = vec![image];
            while images.len() <= bound as usize {
                let mut here = point.clone();
                here[stage] = element(random, field);
                if abscissae.contains(&here[stage]) {
                    continue;
                }
                images.push(sampler.interpolate(&here, &skeleton, degree, random, work)?);
                abscissae.push(here[stage]);
            }
            let mut basis: Vec<Vec<u64>> = Vec::new();
            field.lagrange(&abscissae, |_, coefficients| basis.push(coefficients.to_vec()));
            let (mut wider, mut values): (Skeleton, Coefficients) = (Vec::new(), Vec::new());
            for (power, monomials) in skeleton.iter().enumerate() {
                let (mut terms, mut found) = (Vec::new(), Vec::new());
                for (index, monomial) in monomials.iter().enumerate() {
                    work.spend(WHAT, u64::from(bound) * u64::from(bound))?;
                    for exponent in 0..=bound {
                        let mut sum = 0;
                        for (image, basis) in images.iter().zip(&basis) {
                            sum = field.add(sum, field.mul(image[power][index], basis[exponent as usize]));
                        }
                        if sum != 0 {
                            let mut extended = monomial.clone();
                            extended.push(exponent);
                            terms.push(extended);
                            found.push(sum);
                        }
                    }
                }
                work.allow_terms(WHAT, terms.len())?;
                wider.push(terms);
                values.push(found);
            }
            skeleton = wider;
            image = values;
        }
        Ok((skeleton, image))
    }

    /// Finds the image modulo another prime with known monomials.
    pub(super) fn image(
        &self,
        field: &PrimeField,
        degree: u32,
        skeleton: &Skeleton,
        random: &mut Random,
        work: &Work,
    ) -> Result<Coefficients, Miss> {
        work.spend(WHAT, self.cost())?;
        Sampler::new(self, field, self.count).interpolate(&[], skeleton, degree, random, work)
    }
}

fn extend(skeleton: &mut Skeleton, exponent: u32) {
    skeleton.iter_mut().flatten().for_each(|monomial| monomial.push(exponent));
}

fn drop_zeros(skeleton: &mut Skeleton, image: &mut Coefficients) {
    for (monomials, values) in skeleton.iter_mut().zip(image) {
        let mut keep = values.iter().map(|&v| v != 0);
        monomials.retain(|_| keep.next().unwrap_or(false));
        values.retain(|&v| v != 0);
    }
}

/// Makes images in the main variable, the variables before `stage` being
/// free and the others numbers.
struct Sampler<'a> {
    problem: &'a Problem,
    field: &'a PrimeField,
    stage: usize,
    residues: [Vec<u64>; 3],
    groupings: [Grouping; 3],
}

impl<'a> Sampler<'a> {
    fn new(problem: &'a Problem, field: &'a PrimeField, stage: usize) -> Sampler<'a> {
        let parts = [&problem.a, &problem.b, &problem.gamma];
        Sampler {
            problem,
            field,
            stage,
            residues: parts
                .map(|t| t.coefficients.iter().map(|c| field.enter(c.rem_u64(field.prime()))).collect()),
            groupings: parts.map(|t| Grouping::new(t, problem.count, stage)),
        }
    }

    /// Puts numbers for the variables from `stage` on.
    fn partial(&self, which: usize, point: &[u64]) -> Partial {
        let (field, count) = (self.field, self.problem.count);
        let terms = [&self.problem.a, &self.problem.b, &self.problem.gamma][which];
        let grouping = &self.groupings[which];
        let powers: Vec<Vec<u64>> = (self.stage..count)
            .map(|v| {
                let degree = terms.others.iter().skip(v).step_by(count).max().copied().unwrap_or(0);
                field.powers(point[v], degree)
            })
            .collect();
        let mut values = vec![0; grouping.main.len()];
        for (index, (&residue, &group)) in self.residues[which].iter().zip(&grouping.group).enumerate() {
            let mut value = residue;
            let exponents = &terms.others[index * count + self.stage..(index + 1) * count];
            for (&exponent, powers) in exponents.iter().zip(&powers) {
                if exponent > 0 {
                    value = field.mul(value, powers[exponent as usize]);
                }
            }
            let sum = &mut values[group as usize];
            *sum = field.add(*sum, value);
        }
        Partial { main: grouping.main.clone(), rest: grouping.rest.clone(), values, degree: terms.degree }
    }

    /// Returns the coefficient of each monomial of the skeleton. One image
    /// more than necessary is taken, as a check.
    fn interpolate(
        &self,
        point: &[u64],
        skeleton: &Skeleton,
        degree: u32,
        random: &mut Random,
        work: &Work,
    ) -> Result<Coefficients, Miss> {
        let field = self.field;
        let partials = [self.partial(0, point), self.partial(1, point), self.partial(2, point)];
        let most = skeleton.iter().map(Vec::len).max().unwrap_or(0);
        let images = if self.stage == 0 { 1 } else { most + 1 };
        for _ in 0..3 {
            let base: Vec<u64> = (0..self.stage).map(|_| element(random, field)).collect();
            let nodes: Vec<Vec<u64>> =
                skeleton.iter().map(|list| list.iter().map(|m| value(field, m, &base)).collect()).collect();
            if nodes.iter().any(|nodes| has_twins(nodes)) {
                continue;
            }
            match self.sample(&partials, &base, images, degree, work) {
                Err(Miss::Unlucky) => {}
                Err(miss) => return Err(miss),
                Ok(samples) => return solve(field, &nodes, &samples, self.stage > 0, work),
            }
        }
        Err(Miss::Unlucky)
    }

    /// Returns the images at the first powers of a base point: the
    /// coefficients below the leading one.
    fn sample(
        &self,
        partials: &[Partial; 3],
        base: &[u64],
        images: usize,
        degree: u32,
        work: &Work,
    ) -> Result<Vec<Vec<u64>>, Miss> {
        let field = self.field;
        let mut steps: Vec<Vec<u64>> = Vec::new();
        let mut values: Vec<Vec<u64>> = Vec::new();
        for partial in partials {
            let step: Vec<u64> = if self.stage == 0 {
                vec![field.one(); partial.values.len()]
            } else {
                partial.rest.chunks_exact(self.stage).map(|m| value(field, m, base)).collect()
            };
            steps.push(step);
            values.push(partial.values.clone());
        }
        let mut samples = Vec::with_capacity(images);
        for _ in 0..images {
            let mut univariate: Vec<Vec<u64>> = Vec::with_capacity(3);
            for ((partial, step), values) in partials.iter().zip(&steps).zip(&mut values) {
                let mut image = vec![0; partial.degree as usize + 1];
                for ((value, &step), &power) in values.iter_mut().zip(step).zip(&partial.main) {
                    *value = field.mul(*value, step);
                    let sum = &mut image[power as usize];
                    *sum = field.add(*sum, *value);
                }
                univariate.push(image);
            }
            let cost: usize =
                univariate[0].len() * univariate[1].len() + values.iter().map(Vec::len).sum::<usize>();
            let remainders = univariate[0].len().min(univariate[1].len()) as u64;
            work.spend(WHAT, cost as u64 / 4 + 1 + INVERSE_STEPS * remainders)?;
            if univariate.iter().any(|image| image.last() == Some(&0)) {
                return Err(Miss::Unlucky);
            }
            let scale = univariate[2][0];
            let b = std::mem::take(&mut univariate[1]);
            let a = std::mem::take(&mut univariate[0]);
            let mut divisor = field.univariate_gcd(a, b);
            let found = divisor.len() as u32 - 1;
            if found < degree {
                return Err(Miss::Lower(found));
            }
            if found > degree {
                return Err(Miss::Unlucky);
            }
            divisor.pop();
            divisor.iter_mut().for_each(|c| *c = field.mul(*c, scale));
            samples.push(divisor);
        }
        Ok(samples)
    }
}

fn value(field: &PrimeField, monomial: &[u32], base: &[u64]) -> u64 {
    monomial.iter().zip(base).fold(field.one(), |product, (&exponent, &base)| match exponent {
        0 => product,
        1 => field.mul(product, base),
        _ => field.mul(product, field.pow(base, u64::from(exponent))),
    })
}

fn has_twins(nodes: &[u64]) -> bool {
    let mut sorted = nodes.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Solves for the coefficients of each power of the main variable: sample j is
/// the sum of coefficient · node^(j+1).
fn solve(
    field: &PrimeField,
    nodes: &[Vec<u64>],
    samples: &[Vec<u64>],
    check: bool,
    work: &Work,
) -> Result<Coefficients, Miss> {
    let mut solution = Vec::with_capacity(nodes.len());
    for (power, nodes) in nodes.iter().enumerate() {
        // Each coefficient is checked by a power of its node.
        let size = nodes.len() as u64;
        work.spend(WHAT, size * size / 4 + INVERSE_STEPS * (size / 4 + 2))?;
        let inverses = field.inverses(nodes);
        let mut coefficients = Vec::with_capacity(nodes.len());
        let mut expected = 0;
        field.lagrange(nodes, |index, basis| {
            let mut sum = 0;
            for (b, sample) in basis.iter().zip(samples) {
                sum = field.add(sum, field.mul(*b, sample[power]));
            }
            // The samples begin with the first power of the node, not the zeroth.
            let coefficient = field.mul(sum, inverses[index]);
            let high = field.pow(nodes[index], samples.len() as u64);
            expected = field.add(expected, field.mul(coefficient, high));
            coefficients.push(coefficient);
        });
        let last = samples.last().map_or(0, |sample| sample[power]);
        if check && last != expected {
            return Err(Miss::Unlucky);
        }
        solution.push(coefficients);
    }
    Ok(solution)
}
