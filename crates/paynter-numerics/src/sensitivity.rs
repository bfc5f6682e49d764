//! Sensitivities of the frequency response: ∂H/∂p at every frequency for all
//! outputs, inputs and parameters.
//!
//! With z = (sI − A)⁻¹ B and λ = (sI − A)⁻ᵀ Cᵀ,
//! ∂H/∂p = λᵀ (∂A/∂p) z + (∂C/∂p) z + λᵀ ∂B/∂p + ∂D/∂p:
//! one factorisation per frequency, one solution per input and per output,
//! and one product for each place where a parameter stands.

use num_complex::Complex64;
use paynter_algebra::{EvalError, Pool, Symbol};
use paynter_base::{CancellationToken, Cancelled};
use paynter_equations::StateSpace;
use std::collections::BTreeMap;

use crate::linalg::{LANES, Lanes, Matrices, Sparse};
use crate::sweep::{Block, Pencil, Wanted, entries_by_column};

/// Finds ∂A/∂p, ∂B/∂p, ∂C/∂p and ∂D/∂p of each parameter, what else the entries read held fixed.
pub fn derivatives(
    pool: &mut Pool,
    space: &StateSpace,
    parameters: &[Symbol],
    value: &dyn Fn(Symbol) -> Option<f64>,
) -> Result<Vec<Matrices>, EvalError> {
    let places: BTreeMap<Symbol, usize> = parameters.iter().enumerate().map(|(k, s)| (*s, k)).collect();
    let empty = |m: &paynter_equations::Sparse| Sparse::new(m.rows, m.columns);
    let none = Matrices {
        a: empty(&space.a),
        b: space.b.iter().map(empty).collect(),
        c: empty(&space.c),
        d: space.d.iter().map(empty).collect(),
    };
    let mut found = vec![none; parameters.len()];
    let mut add = |m: &paynter_equations::Sparse, part: &dyn Fn(&mut Matrices) -> &mut Sparse| {
        for (i, j, entry) in &m.entries {
            let mut read = pool.symbols(*entry);
            read.retain(|symbol| places.contains_key(symbol));
            let partials = pool.derivatives(*entry, &read);
            for (symbol, partial) in read.into_iter().zip(partials) {
                let place = places[&symbol];
                let partial = pool.eval(partial, value)?;
                part(&mut found[place]).entries.push((*i, *j, partial));
            }
        }
        Ok(())
    };
    add(&space.a, &|m| &mut m.a)?;
    add(&space.c, &|m| &mut m.c)?;
    for k in 0..space.b.len() {
        add(&space.b[k], &|m| &mut m.b[k])?;
    }
    for k in 0..space.d.len() {
        add(&space.d[k], &|m| &mut m.d[k])?;
    }
    Ok(found)
}

/// H(jω) and its derivatives.
#[derive(Debug, Clone)]
pub struct FrequencySensitivity {
    /// Number of outputs.
    pub outputs: usize,
    /// Number of inputs.
    pub inputs: usize,
    /// Number of parameters.
    pub parameters: usize,
    /// Number of frequencies.
    pub frequencies: usize,
    /// By group of frequencies: H, outputs then inputs; then ∂H/∂p, outputs, inputs, parameters.
    blocks: Vec<Solved>,
}

#[derive(Debug, Clone)]
struct Solved {
    transfer: Vec<Lanes>,
    sensitivities: Vec<Lanes>,
    singular: [bool; LANES],
}

impl FrequencySensitivity {
    /// H at a frequency, by its place; not a number where a pole lies.
    pub fn transfer(&self, output: usize, input: usize, frequency: usize) -> Complex64 {
        let block = &self.blocks[frequency / LANES];
        block.lane(&block.transfer, output * self.inputs + input, frequency % LANES)
    }

    /// ∂H/∂p at a frequency, by its place; not a number where a pole lies.
    pub fn derivative(&self, output: usize, input: usize, parameter: usize, frequency: usize) -> Complex64 {
        let block = &self.blocks[frequency / LANES];
        let place = (output * self.inputs + input) * self.parameters + parameter;
        block.lane(&block.sensitivities, place, frequency % LANES)
    }
}

impl FrequencySensitivity {
    /// Puts another value in the place of H, or of its derivative by a parameter.
    pub fn replace(
        &mut self,
        (output, input): (usize, usize),
        parameter: Option<usize>,
        frequency: usize,
        value: Complex64,
    ) {
        let place = output * self.inputs + input;
        let block = &mut self.blocks[frequency / LANES];
        let k = frequency % LANES;
        let lanes = match parameter {
            None => &mut block.transfer[place],
            Some(parameter) => &mut block.sensitivities[place * self.parameters + parameter],
        };
        (lanes.re[k], lanes.im[k]) = (value.re, value.im);
    }
}

impl FrequencySensitivity {
    /// Puts H, or its derivative by a parameter, to zero at all frequencies that are no poles.
    pub(crate) fn vanish(&mut self, pair: (usize, usize), parameter: Option<usize>) {
        (0..self.frequencies).for_each(|at| self.replace(pair, parameter, at, Complex64::ZERO));
    }
}

impl Solved {
    fn lane(&self, list: &[Lanes], place: usize, k: usize) -> Complex64 {
        if self.singular[k] { Complex64::new(f64::NAN, f64::NAN) } else { list[place].lane(k) }
    }
}

/// The places where parameters stand, all in one list each.
#[derive(Default)]
struct Places {
    /// By parameter: the ends of its entries in the lists below.
    ends: Vec<[u32; 4]>,
    a: Vec<(u32, u32, f64)>,
    /// Order of derivative, row, input, value.
    b: Vec<(u32, u32, u32, f64)>,
    /// Output, column, value.
    c: Vec<(u32, u32, f64)>,
    /// Order of derivative, output, input, value.
    d: Vec<(u32, u32, u32, f64)>,
}

impl Places {
    fn new(derivatives: &[Matrices]) -> Places {
        let mut places = Places::default();
        for matrices in derivatives {
            places.a.extend(entries_by_column(&matrices.a));
            places.c.extend(matrices.c.entries.iter().map(|(i, j, v)| (*i as u32, *j as u32, *v)));
            for (list, source) in [(&mut places.b, &matrices.b), (&mut places.d, &matrices.d)] {
                for (order, matrix) in source.iter().enumerate() {
                    let entries = matrix.entries.iter();
                    list.extend(entries.map(|(i, j, v)| (order as u32, *i as u32, *j as u32, *v)));
                }
            }
            let end = |length: usize| length as u32;
            places.ends.push([
                end(places.a.len()),
                end(places.b.len()),
                end(places.c.len()),
                end(places.d.len()),
            ]);
        }
        places
    }

    fn ranges(&self, parameter: usize) -> [std::ops::Range<usize>; 4] {
        let start = if parameter == 0 { [0; 4] } else { self.ends[parameter - 1] };
        let end = self.ends[parameter];
        std::array::from_fn(|k| start[k] as usize..end[k] as usize)
    }

    /// ∂H/∂p at the frequencies of a block.
    #[inline(always)]
    fn derivative(&self, block: &Block, output: usize, input: usize, parameter: usize) -> Lanes {
        let [a, b, c, d] = self.ranges(parameter);
        let (z, adjoint) = (&block.forward[input], &block.adjoint[output]);
        let mut sum = Lanes::ZERO;
        let mut column = u32::MAX;
        let mut weighted = Lanes::ZERO;
        for (i, j, value) in &self.a[a] {
            if *j != column {
                if column != u32::MAX {
                    sum.add_product(&weighted, &z[column as usize]);
                }
                (column, weighted) = (*j, Lanes::ZERO);
            }
            weighted.add_multiple(*value, &adjoint[*i as usize]);
        }
        if column != u32::MAX {
            sum.add_product(&weighted, &z[column as usize]);
        }
        for (order, i, j, value) in &self.b[b] {
            if *j as usize == input {
                let power = power(*order, *value, &block.omega);
                sum.add_product(&power, &adjoint[*i as usize]);
            }
        }
        for (i, j, value) in &self.c[c] {
            if *i as usize == output {
                sum.add_multiple(*value, &z[*j as usize]);
            }
        }
        for (order, i, j, value) in &self.d[d] {
            if (*i as usize, *j as usize) == (output, input) {
                sum.add_multiple(1.0, &power(*order, *value, &block.omega));
            }
        }
        sum
    }
}

/// value·(jω)^order.
fn power(order: u32, value: f64, omega: &[f64; LANES]) -> Lanes {
    let mut lanes = Lanes::ZERO;
    for k in 0..LANES {
        let z = Complex64::new(0.0, omega[k]).powu(order) * value;
        lanes.re[k] = z.re;
        lanes.im[k] = z.im;
    }
    lanes
}

/// What follows from a solved block, compiled for the vector instructions of the machine at hand.
struct Work<'a> {
    pencil: &'a Pencil,
    places: &'a Places,
    parameters: usize,
    block: &'a Block,
}

impl pulp::WithSimd for Work<'_> {
    type Output = Solved;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Solved {
        let Work { pencil, places, parameters, block } = self;
        let (outputs, inputs) = (pencil.outputs(), pencil.inputs());
        let mut transfer = Vec::with_capacity(outputs * inputs);
        let mut sensitivities = Vec::with_capacity(outputs * inputs * parameters);
        for output in 0..outputs {
            for input in 0..inputs {
                transfer.push(pencil.transfer(block, output, input));
                sensitivities.extend((0..parameters).map(|p| places.derivative(block, output, input, p)));
            }
        }
        Solved { transfer, sensitivities, singular: block.singular }
    }
}

/// Finds ∂H/∂p at every frequency: `derivatives` holds ∂A/∂p, ∂B/∂p, ∂C/∂p, ∂D/∂p of each parameter.
pub fn frequency(
    matrices: &Matrices,
    derivatives: &[Matrices],
    omega: &[f64],
    token: &CancellationToken,
) -> Result<FrequencySensitivity, Cancelled> {
    let pencil = Pencil::new(matrices);
    let places = Places::new(derivatives);
    let (outputs, inputs, parameters) = (pencil.outputs(), pencil.inputs(), derivatives.len());
    let blocks = pencil.sweep(omega, Wanted { forward: true, adjoint: true }, token, |block| {
        pulp::Arch::new().dispatch(Work { pencil: &pencil, places: &places, parameters, block })
    })?;
    Ok(FrequencySensitivity { outputs, inputs, parameters, frequencies: omega.len(), blocks })
}
