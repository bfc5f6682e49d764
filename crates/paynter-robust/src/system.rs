//! The interconnection model in numbers: x' = A x + B₁ w + B₂ u, z = C₁ x + D₁₁ w + D₁₂ u,
//! y = C₂ x + D₂₁ w + D₂₂ u, w = Δ z.

use num_complex::Complex64;

use crate::basis::{Block, width};
use crate::matrix::Matrix;
use crate::weight::Weight;

/// A linear model with an unknown Δ, or the nominal model where it has no blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Interconnection {
    /// State matrix.
    pub a: Matrix,
    /// Columns: the channels of Δ, then the inputs.
    pub b: Matrix,
    /// Rows: the channels of Δ, then the outputs.
    pub c: Matrix,
    /// From all columns of B to all rows of C.
    pub d: Matrix,
    /// The structure of Δ.
    pub blocks: Vec<Block>,
    /// Whether the states are others than those the model was given in: its entries then have the rounding of the
    /// largest of them, and do not determine poles that are much smaller.
    pub is_projected: bool,
}

/// I − D₁₁Δ is singular: the equations have no solution, or too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllPosed;

impl Interconnection {
    /// A model by its nine matrices.
    pub fn new(
        a: Matrix,
        b: [Matrix; 2],
        c: [Matrix; 2],
        d: [[Matrix; 2]; 2],
        blocks: Vec<Block>,
    ) -> Interconnection {
        let (columns, rows) = (b[0].columns(), c[0].rows());
        let whole = |i: usize, j: usize| {
            let (row, i) = if i < rows { (0, i) } else { (1, i - rows) };
            let (column, j) = if j < columns { (0, j) } else { (1, j - columns) };
            d[row][column][(i, j)]
        };
        let (all_columns, all_rows) = (columns + b[1].columns(), rows + c[1].rows());
        Interconnection {
            b: Matrix::from_fn(a.rows(), all_columns, |i, j| {
                if j < columns { b[0][(i, j)] } else { b[1][(i, j - columns)] }
            }),
            c: Matrix::from_fn(
                all_rows,
                a.rows(),
                |i, j| if i < rows { c[0][(i, j)] } else { c[1][(i - rows, j)] },
            ),
            d: Matrix::from_fn(all_rows, all_columns, whole),
            a,
            blocks,
            is_projected: false,
        }
    }

    /// The model in which an output acts back on an input through a complex δ of norm one behind a weight; all
    /// inputs and outputs stay.
    #[must_use]
    fn with_block(&self, output: usize, input: usize, weight: &Weight) -> Interconnection {
        let (m, n, own) = (self.channels(), self.states(), weight.a.rows());
        // The new channel stands behind those there are.
        let place = |k: usize, chosen: usize| match k.cmp(&m) {
            std::cmp::Ordering::Less => k,
            std::cmp::Ordering::Equal => m + chosen,
            std::cmp::Ordering::Greater => k - 1,
        };
        let (row, column) = (|i: usize| place(i, output), |j: usize| place(j, input));
        let (rows, columns) = (self.c.rows() + 1, self.b.columns() + 1);
        let mut blocks = self.blocks.clone();
        blocks.push(Block::Full(1));
        let read = |i: usize, entry: f64| if i == m { weight.d * entry } else { entry };
        Interconnection {
            a: Matrix::from_fn(n + own, n + own, |i, j| match (i < n, j < n) {
                (true, true) => self.a[(i, j)],
                (true, false) => 0.0,
                (false, true) => weight.b[(i - n, 0)] * self.c[(m + output, j)],
                (false, false) => weight.a[(i - n, j - n)],
            }),
            b: Matrix::from_fn(n + own, columns, |i, j| match i < n {
                true => self.b[(i, column(j))],
                false => weight.b[(i - n, 0)] * self.d[(m + output, column(j))],
            }),
            c: Matrix::from_fn(rows, n + own, |i, j| match (j < n, i == m) {
                (true, _) => read(i, self.c[(row(i), j)]),
                (false, true) => weight.c[(0, j - n)],
                (false, false) => 0.0,
            }),
            d: Matrix::from_fn(rows, columns, |i, j| read(i, self.d[(row(i), column(j))])),
            blocks,
            is_projected: self.is_projected,
        }
    }

    /// The model whose last outputs act back on its last inputs, each through a complex δ of at most its radius
    /// over frequency: neglected dynamics.
    #[must_use]
    pub fn with_dynamics(&self, radii: &[Weight]) -> Interconnection {
        let (outputs, inputs) = (self.c.rows() - self.channels(), self.b.columns() - self.channels());
        let (mut whole, count) = (self.clone(), radii.len());
        for (k, radius) in radii.iter().enumerate() {
            whole = whole.with_block(outputs - count + k, inputs - count + k, radius);
        }
        whole
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.a.rows()
    }

    /// Number of channels of Δ.
    pub fn channels(&self) -> usize {
        width(&self.blocks)
    }

    /// Number of real parameters.
    pub fn parameters(&self) -> usize {
        self.blocks.iter().filter(|block| block.is_real()).count()
    }

    /// About how many operations it takes to find its transfer matrix at a frequency.
    pub(crate) fn response_operations(&self) -> u64 {
        let (n, m) = (self.states() as u64, self.c.rows().max(self.b.columns()) as u64);
        8 * n * (n * n / 3 + n * m + m * m) + 1
    }

    /// About how many operations it takes to find its poles at parameters.
    pub(crate) fn poles_operations(&self) -> u64 {
        let (n, m) = (self.states() as u64, self.channels() as u64);
        25 * n * n * n + 2 * m * m * (m + n) + 2 * m * n * n + 1
    }

    /// About how many operations it takes to find where a proof at a frequency ends: the eigenvalues of a Hamiltonian
    /// matrix, and the proof at as many frequencies.
    pub(crate) fn interval_operations(&self) -> u64 {
        let (n, m) = (self.states() as u64, self.channels() as u64);
        800 * n * n * n + (n + 10) * (self.response_operations() + 40 * m * m * m)
    }

    /// About how many operations the margins of a loop of it take: its gain at frequencies that show what it does, and
    /// the eigenvalues of pencils.
    pub(crate) fn margins_operations(&self) -> u64 {
        let n = self.states() as u64;
        (1_000 + 40 * n) * (3 * n * n * n + 30 * n * n + 100) + 600 * n * n * n
    }

    /// Whether blocks before the last one are complex: neglected dynamics beside a performance channel.
    pub fn has_dynamics(&self) -> bool {
        self.blocks.split_last().is_some_and(|(_, others)| others.iter().any(|block| !block.is_real()))
    }

    /// The transfer matrix at jω from all columns of B to all rows of C; nothing at a pole.
    pub fn at(&self, omega: f64) -> Option<Matrix<Complex64>> {
        if omega.is_infinite() {
            return Some(self.d.complex());
        }
        let n = self.states();
        let s = Complex64::new(0.0, omega);
        let shifted = Matrix::from_fn(n, n, |i, j| {
            let diagonal = if i == j { s } else { Complex64::ZERO };
            diagonal - self.a[(i, j)]
        });
        let states = shifted.solve(&self.b.complex())?;
        Some(self.c.complex().times(&states).plus(&self.d.complex()))
    }

    /// Δ with values in place of the real parameters, zero elsewhere.
    pub(crate) fn values(&self, delta: &[f64]) -> Matrix {
        let mut values = Matrix::zeros(self.channels(), self.channels());
        let (mut first, mut given) = (0, delta.iter());
        for block in &self.blocks {
            if block.is_real() {
                let value = given.next().copied().unwrap_or(0.0);
                (first..first + block.size()).for_each(|i| values[(i, i)] = value);
            }
            first += block.size();
        }
        values
    }

    /// The sign of det(I − D₁₁Δ), which is positive around Δ = 0: elsewhere some smaller Δ is ill-posed.
    pub fn is_well_posed(&self, delta: &[f64]) -> bool {
        let m = self.channels();
        let all: Vec<usize> = (0..m).collect();
        let matrix = Matrix::identity(m).minus(&self.d.part(&all, &all).times(&self.values(delta)));
        let real = faer::Mat::from_fn(m, m, |i, j| matrix[(i, j)]);
        m == 0 || real.determinant() > 0.0
    }

    /// The same model with δ = centre + radius·δ' for the real parameters: a part of the box, in which δ'
    /// runs from −1 to 1.
    pub fn around(&self, centre: &[f64], radius: &[f64]) -> Result<Interconnection, IllPosed> {
        let (m, n) = (self.channels(), self.states());
        let (columns, rows) = (self.b.columns(), self.c.rows());
        let all: Vec<usize> = (0..m).collect();
        let values = self.values(centre);
        // z = (I − D₁₁ C)⁻¹ (C₁ x + D₁₁ w' + D₁₂ u), w = C z + w'.
        let inverse =
            Matrix::identity(m).minus(&self.d.part(&all, &all).times(&values)).inverse().ok_or(IllPosed)?;
        let states: Vec<usize> = (0..n).collect();
        let z_x = inverse.times(&self.c.part(&all, &states));
        let whole: Vec<usize> = (0..columns).collect();
        let z_u = inverse.times(&self.d.part(&all, &whole));
        let (w_x, w_u) = (values.times(&z_x), values.times(&z_u));
        let b_w = self.b.part(&states, &all);
        let every: Vec<usize> = (0..rows).collect();
        let d_w = self.d.part(&every, &all);
        let a = self.a.plus(&b_w.times(&w_x));
        let mut b = self.b.plus(&b_w.times(&w_u));
        let c = self.c.plus(&d_w.times(&w_x));
        let mut d = self.d.plus(&d_w.times(&w_u));
        let mut scales = vec![1.0; columns];
        let (mut first, mut given) = (0, radius.iter());
        for block in &self.blocks {
            if block.is_real() {
                let value = given.next().copied().unwrap_or(1.0);
                scales[first..first + block.size()].fill(value);
            }
            first += block.size();
        }
        b = Matrix::from_fn(n, columns, |i, j| b[(i, j)] * scales[j]);
        d = Matrix::from_fn(rows, columns, |i, j| d[(i, j)] * scales[j]);
        if a.entries().iter().chain(d.entries()).any(|x| !x.is_finite()) {
            return Err(IllPosed);
        }
        let (blocks, is_projected) = (self.blocks.clone(), self.is_projected);
        Ok(Interconnection { a, b, c, d, blocks, is_projected })
    }

    /// The model with values in place of all real parameters; the other blocks are left.
    pub fn closed(&self, delta: &[f64]) -> Result<Interconnection, IllPosed> {
        let moved = self.around(delta, &[])?;
        let mut kept = Vec::new();
        let mut first = 0;
        for block in &self.blocks {
            if !block.is_real() {
                kept.extend(first..first + block.size());
            }
            first += block.size();
        }
        let columns: Vec<usize> = kept.iter().copied().chain(first..self.b.columns()).collect();
        let rows: Vec<usize> = kept.iter().copied().chain(first..self.c.rows()).collect();
        let blocks = self.blocks.iter().copied().filter(|block| !block.is_real()).collect();
        Ok(moved.chosen(&rows, &columns, blocks))
    }

    /// The model of some rows and columns.
    fn chosen(&self, rows: &[usize], columns: &[usize], blocks: Vec<Block>) -> Interconnection {
        let states: Vec<usize> = (0..self.states()).collect();
        Interconnection {
            a: self.a.clone(),
            b: self.b.part(&states, columns),
            c: self.c.part(rows, &states),
            d: self.d.part(rows, columns),
            blocks,
            is_projected: self.is_projected,
        }
    }

    /// The model without inputs and outputs.
    pub fn inner(&self) -> Interconnection {
        let all: Vec<usize> = (0..self.channels()).collect();
        self.chosen(&all, &all, self.blocks.clone())
    }

    /// The model in which some outputs act back on some inputs through a full block of norm at most
    /// one: a performance channel. The block is made square by channels that do nothing.
    pub fn with_performance(&self, outputs: &[usize], inputs: &[usize], gain: f64) -> Interconnection {
        let (m, n) = (self.channels(), self.states());
        let size = outputs.len().max(inputs.len());
        let row = |i: usize| if i < m { Some(i) } else { outputs.get(i - m).map(|o| m + o) };
        let column = |j: usize| if j < m { Some(j) } else { inputs.get(j - m).map(|u| m + u) };
        let scale = |i: usize| if i < m { 1.0 } else { gain };
        let mut blocks = self.blocks.clone();
        blocks.push(Block::Full(size));
        let pick = |matrix: &Matrix, i: Option<usize>, j: Option<usize>| match (i, j) {
            (Some(i), Some(j)) => matrix[(i, j)],
            _ => 0.0,
        };
        Interconnection {
            a: self.a.clone(),
            b: Matrix::from_fn(n, m + size, |i, j| pick(&self.b, Some(i), column(j))),
            c: Matrix::from_fn(m + size, n, |i, j| scale(i) * pick(&self.c, row(i), Some(j))),
            d: Matrix::from_fn(m + size, m + size, |i, j| scale(i) * pick(&self.d, row(i), column(j))),
            blocks,
            is_projected: self.is_projected,
        }
    }

    /// The model with all matrices transposed: it has the same poles.
    pub(crate) fn transposed(&self) -> Interconnection {
        Interconnection {
            a: self.a.adjoint(),
            b: self.c.adjoint(),
            c: self.b.adjoint(),
            d: self.d.adjoint(),
            blocks: self.blocks.clone(),
            is_projected: self.is_projected,
        }
    }

    /// The same model with states scaled by powers of two until what drives each and what it drives are
    /// of one size.
    #[must_use]
    pub fn balanced(&self) -> Interconnection {
        let mut model = self.clone();
        for _ in 0..20 {
            let mut done = true;
            for i in 0..self.states() {
                let off = |k: &usize| *k != i;
                let n = self.states();
                let row: f64 = (0..n).filter(off).map(|k| model.a[(i, k)].abs()).sum::<f64>()
                    + model.b.row(i).iter().map(|x| x.abs()).sum::<f64>();
                let column: f64 = (0..n).filter(off).map(|k| model.a[(k, i)].abs()).sum::<f64>()
                    + (0..model.c.rows()).map(|k| model.c[(k, i)].abs()).sum::<f64>();
                if row == 0.0 || column == 0.0 {
                    continue;
                }
                let exponent = ((row / column).log2() / 2.0).round() as i32;
                let factor = 2f64.powi(exponent);
                if exponent == 0 || column * factor + row / factor >= 0.95 * (column + row) {
                    continue;
                }
                done = false;
                for k in (0..n).filter(off) {
                    model.a[(k, i)] *= factor;
                    model.a[(i, k)] /= factor;
                }
                (0..model.c.rows()).for_each(|k| model.c[(k, i)] *= factor);
                (0..model.b.columns()).for_each(|k| model.b[(i, k)] /= factor);
            }
            if done {
                break;
            }
        }
        model
    }
}
