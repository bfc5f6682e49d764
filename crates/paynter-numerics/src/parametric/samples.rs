//! Tolerances tried out: the model at parameters drawn at random within their
//! tolerances, so that one sees where first order stops being true.

use num_complex::Complex64;
use paynter_algebra::{Pool, Symbol};
use paynter_base::random::Random;
use paynter_base::{CancellationToken, Cancelled};
use paynter_equations::{Sparse as Symbolic, StateSpace};

use super::bands::{Band, Bands};
use crate::linalg::{Matrices, Sparse};
use crate::parallel;
use crate::sweep::{Pencil, response};
use crate::tolerance::{BAND_EXCESS, BAND_EXCESS_OF_MAGNITUDE, SAMPLE_BATCH};
use crate::{CompileError, Program};

/// The matrices of a linear model, compiled over the symbols in them.
#[derive(Debug)]
pub struct Compiled {
    program: Program,
    space: StateSpace,
}

impl Compiled {
    /// Compiles all entries over the given symbols.
    pub fn new(pool: &Pool, space: &StateSpace, symbols: &[Symbol]) -> Result<Compiled, CompileError> {
        let matrices = [&space.a].into_iter().chain(&space.b).chain([&space.c]).chain(&space.d);
        let roots: Vec<_> = matrices.flat_map(|m| m.entries.iter().map(|(_, _, entry)| *entry)).collect();
        Ok(Compiled { program: Program::compile(pool, &roots, symbols)?, space: space.clone() })
    }

    /// Evaluates the matrices; nothing where an entry is not finite.
    pub fn matrices(&self, values: &[f64]) -> Option<Matrices> {
        let mut out = vec![0.0; self.program.results()];
        self.program.run(values, &mut Vec::new(), &mut out);
        if out.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let mut values = out.into_iter();
        let mut fill = |matrix: &Symbolic| Sparse {
            rows: matrix.rows,
            columns: matrix.columns,
            entries: matrix.entries.iter().zip(values.by_ref()).map(|((i, j, _), v)| (*i, *j, v)).collect(),
        };
        Some(Matrices {
            a: fill(&self.space.a),
            b: self.space.b.iter().map(&mut fill).collect(),
            c: fill(&self.space.c),
            d: self.space.d.iter().map(&mut fill).collect(),
        })
    }
}

/// What samples showed of one response.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The smallest and largest |H| seen.
    pub magnitude: Band,
    /// The smallest and largest phase seen, in degrees, continued from the nominal one.
    pub phase: Band,
}

/// The extremes over all samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// By output and input, as in the bands they are compared with.
    pub entries: Vec<Sampled>,
    /// Samples at which the model had no answer.
    pub failed: usize,
}

/// What to try out.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// How many samples.
    pub count: usize,
    /// Where the random numbers start.
    pub seed: u64,
    /// Nominal parameters.
    pub nominal: &'a [f64],
    /// Deviations by parameter; each is drawn evenly and independently of the others.
    pub tolerances: &'a [f64],
    /// The frequencies.
    pub omega: &'a [f64],
}

/// Draws samples and keeps the extremes; `model` gives the matrices at parameters.
pub fn samples(
    trial: Trial<'_>,
    nominal: &[Bands],
    model: &(dyn Fn(&[f64]) -> Option<Matrices> + Sync),
    token: &CancellationToken,
) -> Result<Samples, Cancelled> {
    token.set_total(trial.count as u64);
    let empty =
        || Samples { entries: nominal.iter().map(|_| nothing(trial.omega.len())).collect(), failed: 0 };
    let draw = |all: &mut Samples, sample: u64| {
        let mut random = Random::sample(trial.seed, sample);
        let drawn: Vec<f64> = trial
            .nominal
            .iter()
            .zip(trial.tolerances)
            .map(|(value, tolerance)| value + tolerance * random.symmetric())
            .collect();
        let values =
            model(&drawn).and_then(|matrices| response(&Pencil::new(&matrices), trial.omega, token).ok());
        match values {
            Some(values) => {
                for (entry, bands) in all.entries.iter_mut().zip(nominal) {
                    let list: Vec<Complex64> = values.of(bands.output, bands.input).collect();
                    entry.take(&list, bands);
                }
            }
            None => all.failed += 1,
        }
        token.advance(1);
    };
    let batches = parallel::map(trial.count.div_ceil(SAMPLE_BATCH), |batch| {
        let mut all = empty();
        for sample in
            (batch * SAMPLE_BATCH..trial.count.min((batch + 1) * SAMPLE_BATCH)).map(|sample| sample as u64)
        {
            if token.check().is_err() {
                break;
            }
            draw(&mut all, sample);
        }
        all
    });
    let mut found = empty();
    for batch in batches {
        found.failed += batch.failed;
        for (a, b) in found.entries.iter_mut().zip(batch.entries) {
            a.join(&b);
        }
    }
    token.check()?;
    Ok(found)
}

fn nothing(count: usize) -> Sampled {
    let band = || Band { lower: vec![f64::INFINITY; count], upper: vec![f64::NEG_INFINITY; count] };
    Sampled { magnitude: band(), phase: band() }
}

impl Sampled {
    fn take(&mut self, values: &[Complex64], nominal: &Bands) {
        for (k, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            widen(&mut self.magnitude, k, value.norm());
            let centre = nominal.phase.nominal[k];
            let turn = (value.arg().to_degrees() - centre + 180.0).rem_euclid(360.0) - 180.0;
            widen(&mut self.phase, k, centre + turn);
        }
    }

    fn join(&mut self, other: &Sampled) {
        for (mine, theirs) in [(&mut self.magnitude, &other.magnitude), (&mut self.phase, &other.phase)] {
            for k in 0..theirs.lower.len() {
                widen(mine, k, theirs.lower[k]);
                widen(mine, k, theirs.upper[k]);
            }
        }
    }
}

fn widen(band: &mut Band, k: usize, value: f64) {
    // The empty ends are infinite on their own sides and widen nothing.
    if value < band.lower[k] && value > f64::NEG_INFINITY {
        band.lower[k] = value;
    }
    if value > band.upper[k] && value < f64::INFINITY {
        band.upper[k] = value;
    }
}

/// The places of the frequencies at which |H| of a sample left the worst-case band.
pub fn outside(bands: &Bands, sampled: &Sampled) -> Vec<usize> {
    let worst = &bands.magnitude.worst;
    (0..worst.lower.len())
        .filter(|&k| {
            let room = BAND_EXCESS * (worst.upper[k] - worst.lower[k])
                + BAND_EXCESS_OF_MAGNITUDE * bands.magnitude.nominal[k];
            sampled.magnitude.upper[k] > worst.upper[k] + room
                || sampled.magnitude.lower[k] < worst.lower[k] - room
        })
        .collect()
}
