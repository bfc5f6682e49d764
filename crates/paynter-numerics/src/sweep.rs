//! A linear model swept over frequencies: (jωI − A) z = B(jω) and its
//! transposed, factored once per frequency, several frequencies at a time and
//! in parallel. Results do not depend on the number of threads.

use num_complex::Complex64;
use paynter_base::{CancellationToken, Cancelled};

use crate::linalg::{LANES, Lanes, Matrices, Schedule, Sparse, Workspace};
use crate::parallel;
use crate::tolerance::{
    ACCEPTED_BACKWARD_ERROR, REFINED_BACKWARD_ERROR, SHARED_SCHEDULES, UNDERFLOWING_ROW, VANISHING_ROW,
};

/// The pencil sI − A with the right-hand sides that are asked for.
#[derive(Debug, Clone)]
pub struct Pencil {
    size: usize,
    pattern: Vec<(u32, u32)>,
    /// −A in the order of the pattern.
    fixed: Vec<f64>,
    /// Slots of the diagonal.
    diagonal: Vec<u32>,
    /// Sums of the sizes of entries, by row and by column.
    sums: [Vec<f64>; 2],
    /// By input: order of derivative, row, value.
    columns: Vec<Vec<(u32, u32, f64)>>,
    /// By output: column, value.
    rows: Vec<Vec<(u32, f64)>>,
    /// By output and input: order of derivative, value.
    direct: Vec<Vec<Vec<(u32, f64)>>>,
}

/// What is solved at each frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// z = (sI − A)⁻¹ B(s) for every input.
    pub forward: bool,
    /// λ = (sI − A)⁻ᵀ Cᵀ for every output.
    pub adjoint: bool,
}

/// The solutions at several frequencies.
#[derive(Debug, Clone)]
pub struct Block {
    /// The frequencies; those beyond the last one asked for repeat it.
    pub omega: [f64; LANES],
    /// By input: the states.
    pub forward: Vec<Vec<Lanes>>,
    /// By output: the adjoint states.
    pub adjoint: Vec<Vec<Lanes>>,
    /// Frequencies without a solution: a pole lies there.
    pub singular: [bool; LANES],
}

impl Pencil {
    /// Takes the pattern of a model.
    pub fn new(matrices: &Matrices) -> Pencil {
        let size = matrices.states();
        let mut merged: Vec<(u32, u32, f64)> =
            matrices.a.entries.iter().map(|(i, j, v)| (*i as u32, *j as u32, -v)).collect();
        merged.extend((0..size as u32).map(|i| (i, i, 0.0)));
        merged.sort_by_key(|(i, j, _)| (*i, *j));
        merged.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let places = merged.iter().enumerate().filter(|(_, (i, j, _))| i == j);
        let diagonal = places.map(|(slot, _)| slot as u32).collect();
        let mut sums = [vec![0.0; size], vec![0.0; size]];
        for (i, j, value) in &merged {
            sums[0][*i as usize] += value.abs();
            sums[1][*j as usize] += value.abs();
        }
        let mut columns = vec![Vec::new(); matrices.inputs()];
        for (order, b) in matrices.b.iter().enumerate() {
            for (i, j, value) in &b.entries {
                columns[*j].push((order as u32, *i as u32, *value));
            }
        }
        let mut rows = vec![Vec::new(); matrices.outputs()];
        for (i, j, value) in &matrices.c.entries {
            rows[*i].push((*j as u32, *value));
        }
        let mut direct = vec![vec![Vec::new(); matrices.inputs()]; matrices.outputs()];
        for (order, d) in matrices.d.iter().enumerate() {
            for (i, j, value) in &d.entries {
                direct[*i][*j].push((order as u32, *value));
            }
        }
        Pencil {
            size,
            pattern: merged.iter().map(|(i, j, _)| (*i, *j)).collect(),
            fixed: merged.iter().map(|(_, _, value)| *value).collect(),
            diagonal,
            sums,
            columns,
            rows,
            direct,
        }
    }

    /// Number of states.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.columns.len()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.rows.len()
    }

    /// The feed-through D(jω) at the frequencies of a block.
    pub fn direct(&self, output: usize, input: usize, omega: &[f64; LANES]) -> Lanes {
        let mut sum = Lanes::ZERO;
        for (order, value) in &self.direct[output][input] {
            add_power(&mut sum, *order, *value, omega);
        }
        sum
    }

    /// C z + D at the frequencies of a block, by the forward solution or else the adjoint one.
    pub fn transfer(&self, block: &Block, output: usize, input: usize) -> Lanes {
        let mut sum = self.direct(output, input, &block.omega);
        match (block.forward.get(input), block.adjoint.get(output)) {
            (Some(z), _) => {
                for (j, value) in &self.rows[output] {
                    sum.add_multiple(*value, &z[*j as usize]);
                }
            }
            (None, Some(adjoint)) => {
                for (order, i, value) in &self.columns[input] {
                    let mut power = Lanes::ZERO;
                    add_power(&mut power, *order, *value, &block.omega);
                    sum.add_product(&power, &adjoint[*i as usize]);
                }
            }
            (None, None) => {}
        }
        sum
    }

    /// Solves at every frequency; `finish` takes what it needs from each block.
    /// The results come in the order of the frequencies, [`LANES`] together.
    pub fn sweep<T: Send>(
        &self,
        omega: &[f64],
        wanted: Wanted,
        token: &CancellationToken,
        finish: impl Fn(&Block) -> T + Sync,
    ) -> Result<Vec<T>, Cancelled> {
        let groups: Vec<[f64; LANES]> =
            omega.chunks(LANES).map(|chunk| std::array::from_fn(|k| chunk[k.min(chunk.len() - 1)])).collect();
        let mut results: Vec<Option<T>> = groups.iter().map(|_| None).collect();
        let mut open: Vec<usize> = (0..groups.len()).collect();
        for _ in 0..SHARED_SCHEDULES {
            // The first schedule is made in the middle, the others where earlier ones failed.
            let Some(&place) =
                (if open.len() == groups.len() { open.get(open.len() / 2) } else { open.first() })
            else {
                break;
            };
            // A frequency at which a pole lies gives no pivots; its neighbours do.
            let tried = [LANES / 2, 0, LANES - 1].into_iter();
            let Some(schedule) = tried.filter_map(|k| self.schedule(groups[place][k]).ok()).next() else {
                break;
            };
            let attempt = |scratch: &mut Scratch, k: usize| {
                let place = open[k];
                if token.check().is_err() {
                    return (place, None);
                }
                let block = self.block(&schedule, groups[place], wanted, scratch);
                (place, (block.singular == [false; LANES]).then(|| finish(&block)))
            };
            let attempts: Vec<(usize, Option<T>)> = parallel::map_with(open.len(), Scratch::default, attempt);
            token.check()?;
            let before = open.len();
            open.clear();
            for (place, result) in attempts {
                if result.is_none() {
                    open.push(place);
                }
                results[place] = result;
            }
            if open.len() == before {
                break;
            }
        }
        for place in open {
            token.check()?;
            results[place] = Some(finish(&self.one_by_one(groups[place], wanted)));
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Solves each frequency of a group with pivots of its own.
    fn one_by_one(&self, omega: [f64; LANES], wanted: Wanted) -> Block {
        let mut whole = self.empty(omega, wanted);
        for k in 0..LANES {
            let solved = self
                .schedule(omega[k])
                .map(|schedule| self.block(&schedule, [omega[k]; LANES], wanted, &mut Scratch::default()));
            match solved {
                Ok(block) if !block.singular[k] => {
                    let pairs = whole.forward.iter_mut().zip(&block.forward);
                    for (to, from) in pairs.chain(whole.adjoint.iter_mut().zip(&block.adjoint)) {
                        for (to, from) in to.iter_mut().zip(from) {
                            to.re[k] = from.re[k];
                            to.im[k] = from.im[k];
                        }
                    }
                }
                _ => whole.singular[k] = true,
            }
        }
        whole
    }

    fn empty(&self, omega: [f64; LANES], wanted: Wanted) -> Block {
        let list = |count| vec![vec![Lanes::ZERO; self.size]; count];
        Block {
            omega,
            forward: list(if wanted.forward { self.inputs() } else { 0 }),
            adjoint: list(if wanted.adjoint { self.outputs() } else { 0 }),
            singular: [false; LANES],
        }
    }

    fn schedule(&self, omega: f64) -> Result<Schedule, crate::linalg::Singular> {
        let mut values: Vec<Complex64> = self.fixed.iter().map(|v| Complex64::new(*v, 0.0)).collect();
        for &slot in &self.diagonal {
            values[slot as usize].im = omega;
        }
        Schedule::new(self.size, &self.pattern, &values)
    }

    fn block(
        &self,
        schedule: &Schedule,
        omega: [f64; LANES],
        wanted: Wanted,
        scratch: &mut Scratch,
    ) -> Block {
        let mut block = self.empty(omega, wanted);
        pulp::Arch::new().dispatch(Work { pencil: self, schedule, scratch, block: &mut block });
        block
    }
}

/// A block to be solved, compiled for the vector instructions of the machine at hand. A closure would not
/// do: its call is not inlined where those instructions are allowed.
struct Work<'a> {
    pencil: &'a Pencil,
    schedule: &'a Schedule,
    scratch: &'a mut Scratch,
    block: &'a mut Block,
}

impl pulp::WithSimd for Work<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Work { pencil, schedule, scratch, block } = self;
        let omega = block.omega;
        scratch.load(pencil, &omega);
        schedule.factor(&mut scratch.work, pencil.pattern.len());
        for (input, z) in block.forward.iter_mut().enumerate() {
            scratch.right.clear();
            scratch.right.resize(pencil.size, Lanes::ZERO);
            for (order, i, value) in &pencil.columns[input] {
                add_power(&mut scratch.right[*i as usize], *order, *value, &omega);
            }
            solve(pencil, schedule, scratch, &omega, false, z, &mut block.singular);
        }
        for (output, adjoint) in block.adjoint.iter_mut().enumerate() {
            scratch.right.clear();
            scratch.right.resize(pencil.size, Lanes::ZERO);
            for (j, value) in &pencil.rows[output] {
                scratch.right[*j as usize].re.iter_mut().for_each(|re| *re += value);
            }
            solve(pencil, schedule, scratch, &omega, true, adjoint, &mut block.singular);
        }
    }
}

/// Adds value·(jω)^order.
#[inline(always)]
fn add_power(sum: &mut Lanes, order: u32, value: f64, omega: &[f64; LANES]) {
    for k in 0..LANES {
        let size = value * omega[k].powi(order as i32);
        match order % 4 {
            0 => sum.re[k] += size,
            1 => sum.im[k] += size,
            2 => sum.re[k] -= size,
            _ => sum.im[k] -= size,
        }
    }
}

/// Vectors that every block needs.
#[derive(Default)]
struct Scratch {
    work: Workspace,
    right: Vec<Lanes>,
    residual: Vec<Lanes>,
    sizes: Vec<[f64; LANES]>,
    spare: Vec<Lanes>,
}

impl Scratch {
    #[inline(always)]
    fn load(&mut self, pencil: &Pencil, omega: &[f64; LANES]) {
        self.work.values.clear();
        self.work
            .values
            .extend(pencil.fixed.iter().map(|value| Lanes { re: [*value; LANES], im: [0.0; LANES] }));
        for &slot in &pencil.diagonal {
            self.work.values[slot as usize].im = *omega;
        }
        self.spare.clear();
        self.spare.resize(pencil.size, Lanes::ZERO);
    }
}

/// Solves for `scratch.right`, judges the solution by its backward error, row
/// by row, and improves it once where that helps.
#[inline(always)]
fn solve(
    pencil: &Pencil,
    schedule: &Schedule,
    scratch: &mut Scratch,
    omega: &[f64; LANES],
    transposed: bool,
    x: &mut [Lanes],
    singular: &mut [bool; LANES],
) {
    x.copy_from_slice(&scratch.right);
    if transposed {
        schedule.solve_transposed(&scratch.work, x, &mut scratch.spare);
    } else {
        schedule.solve(&scratch.work, x, &mut scratch.spare);
    }
    let mut error = backward_error(pencil, scratch, omega, transposed, x);
    if error.iter().any(|e| *e > REFINED_BACKWARD_ERROR) {
        let mut step = std::mem::take(&mut scratch.residual);
        if transposed {
            schedule.solve_transposed(&scratch.work, &mut step, &mut scratch.spare);
        } else {
            schedule.solve(&scratch.work, &mut step, &mut scratch.spare);
        }
        for (x, step) in x.iter_mut().zip(&step) {
            x.add_multiple(1.0, step);
        }
        scratch.residual = step;
        error = backward_error(pencil, scratch, omega, transposed, x);
    }
    for k in 0..LANES {
        // Not a number is no solution either.
        singular[k] |= error[k].is_nan() || error[k] > ACCEPTED_BACKWARD_ERROR;
    }
}

/// The largest |b − M x| relative to |M| |x| + |b|, row by row, or to |M| max |x| where that is all
/// there is (Arioli, Demmel & Duff 1989); the residual stays in `scratch`.
#[inline(always)]
fn backward_error(
    pencil: &Pencil,
    scratch: &mut Scratch,
    omega: &[f64; LANES],
    transposed: bool,
    x: &[Lanes],
) -> [f64; LANES] {
    let Scratch { right, residual, sizes, .. } = scratch;
    residual.clear();
    residual.extend_from_slice(right);
    sizes.clear();
    sizes.extend(right.iter().map(|b| std::array::from_fn(|k| b.re[k].abs() + b.im[k].abs())));
    for (&(i, j), value) in pencil.pattern.iter().zip(&pencil.fixed) {
        let (i, j) = if transposed { (j as usize, i as usize) } else { (i as usize, j as usize) };
        let (x, r, size) = (&x[j], &mut residual[i], &mut sizes[i]);
        for k in 0..LANES {
            r.re[k] -= value * x.re[k];
            r.im[k] -= value * x.im[k];
            size[k] += value.abs() * (x.re[k].abs() + x.im[k].abs());
        }
    }
    let mut largest = [0.0f64; LANES];
    for x in x {
        for k in 0..LANES {
            largest[k] = largest[k].max(x.re[k].abs() + x.im[k].abs());
        }
    }
    let mut error = [0.0f64; LANES];
    let sums = &pencil.sums[usize::from(transposed)];
    for (((x, r), size), sum) in x.iter().zip(residual.iter_mut()).zip(sizes.iter()).zip(sums) {
        for k in 0..LANES {
            r.re[k] += omega[k] * x.im[k];
            r.im[k] -= omega[k] * x.re[k];
            let own = size[k] + omega[k] * (x.re[k].abs() + x.im[k].abs());
            let most = (sum + omega[k]) * largest[k];
            let size = if own < VANISHING_ROW * most { own + most } else { own };
            let relative = (r.re[k].abs() + r.im[k].abs()) / size;
            let counts = size.is_nan() || size >= UNDERFLOWING_ROW;
            if counts && (relative.is_nan() || relative > error[k]) {
                error[k] = relative;
            }
        }
    }
    error
}

/// The frequency response of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Number of outputs.
    pub outputs: usize,
    /// Number of inputs.
    pub inputs: usize,
    /// By frequency: outputs, then inputs. Not a number where a pole lies.
    pub values: Vec<Vec<Complex64>>,
}

impl Response {
    /// The response of one output to one input over the frequencies.
    pub fn of(&self, output: usize, input: usize) -> impl Iterator<Item = Complex64> + '_ {
        self.values.iter().map(move |row| row[output * self.inputs + input])
    }
}

/// Finds H(jω) for every output and input.
pub fn response(pencil: &Pencil, omega: &[f64], token: &CancellationToken) -> Result<Response, Cancelled> {
    let (outputs, inputs) = (pencil.outputs(), pencil.inputs());
    let forward = inputs <= outputs;
    let blocks = pencil.sweep(omega, Wanted { forward, adjoint: !forward }, token, |block| {
        let mut entries = Vec::with_capacity(outputs * inputs);
        for output in 0..outputs {
            for input in 0..inputs {
                entries.push(pencil.transfer(block, output, input));
            }
        }
        (entries, block.singular)
    })?;
    let values = (0..omega.len())
        .map(|place| {
            let (entries, singular) = &blocks[place / LANES];
            let k = place % LANES;
            let nowhere = Complex64::new(f64::NAN, f64::NAN);
            entries.iter().map(|lanes| if singular[k] { nowhere } else { lanes.lane(k) }).collect()
        })
        .collect();
    Ok(Response { outputs, inputs, values })
}

/// The entries of a matrix, column by column.
pub(crate) fn entries_by_column(matrix: &Sparse) -> Vec<(u32, u32, f64)> {
    let mut list: Vec<(u32, u32, f64)> =
        matrix.entries.iter().map(|(i, j, value)| (*i as u32, *j as u32, *value)).collect();
    list.sort_by_key(|(i, j, _)| (*j, *i));
    list
}
