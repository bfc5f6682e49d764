//! Poles at zero that no parameter moves although it moves their eigenvectors: amounts whose conserved combination
//! depends on parameters, as m q₁ − q₂ on both sides of a lever.
//!
//! Combinations α x' + β z in which no state is left give relations α x' + β z = γ w. With constant δ they hold for
//! the integrals as well, and away from the pole at zero without a constant: α x + β z̃ = γ w̃ with w̃ = Δ z̃. Where
//! they determine z̃ and leave some over, these take the place of as many states, with z̃ and w̃ as channels.

use crate::basis::Block;
use crate::matrix::Matrix;
use crate::modes::{complement, orthonormal};
use crate::system::Interconnection;
use crate::tolerance::{PARTICIPATION, RANK};

/// The model without the poles at zero that are conserved amounts, and their number.
pub(crate) fn without_conserved(system: Interconnection) -> (Interconnection, usize) {
    let states = system.states();
    let mut system = system;
    while has_pole_at_zero(&system) {
        // What is conserved for the rates, or, read the other way round, what nothing sees.
        let found = reduced(&system).or_else(|| reduced(&system.transposed()).map(|dual| dual.transposed()));
        let Some(smaller) = found else { break };
        system = smaller;
    }
    let count = states - system.states();
    (system, count)
}

fn has_pole_at_zero(system: &Interconnection) -> bool {
    system.poles().at_zero().any(|is_zero| is_zero)
}

/// A relation between integrals: factors of states, of auxiliary outputs and of auxiliary inputs.
struct Relations {
    alpha: Matrix,
    beta: Matrix,
    gamma: Matrix,
}

impl Relations {
    /// All relations of a model that no state is left in.
    fn new(system: &Interconnection) -> Relations {
        let (n, m) = (system.states(), system.channels());
        let row = |i: usize| if i < n { system.a.row(i) } else { system.c.row(i - n) };
        let norm = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        // Rows of one size, so that units do not decide what counts as zero.
        let sizes: Vec<f64> =
            (0..n + m).map(|i| norm(row(i))).map(|x| if x > 0.0 { x } else { 1.0 }).collect();
        let columns = (0..n).map(|j| (0..n + m).map(|i| row(i)[j] / sizes[i]).collect());
        let free = complement(&orthonormal(columns), n + m);
        let factor = |k: usize, i: usize| free[k][i] / sizes[i];
        let alpha = Matrix::from_fn(free.len(), n, factor);
        let beta = Matrix::from_fn(free.len(), m, |k, i| factor(k, n + i));
        let all: Vec<usize> = (0..m).collect();
        let states: Vec<usize> = (0..n).collect();
        let gamma = alpha.times(&system.b.part(&states, &all)).plus(&beta.times(&system.d.part(&all, &all)));
        Relations { alpha, beta, gamma }
    }

    fn count(&self) -> usize {
        self.alpha.rows()
    }

    /// Combinations of them.
    fn combined(&self, factors: &Matrix) -> Relations {
        Relations {
            alpha: factors.times(&self.alpha),
            beta: factors.times(&self.beta),
            gamma: factors.times(&self.gamma),
        }
    }

    /// Those combinations in which channels have no part.
    fn without(&self, channels: &[usize]) -> Relations {
        let columns = channels.iter().flat_map(|c| [(&self.beta, *c), (&self.gamma, *c)]);
        let column = |(matrix, c): (&Matrix, usize)| -> Vec<f64> {
            let size = (0..matrix.rows()).map(|i| matrix[(i, c)].abs()).fold(0.0, f64::max);
            let size = if size > RANK * self.size() { size } else { f64::INFINITY };
            (0..matrix.rows()).map(|i| matrix[(i, c)] / size).collect()
        };
        let rows = complement(&orthonormal(columns.map(column)), self.count());
        self.combined(&Matrix::from_rows(self.count(), &rows))
    }

    fn size(&self) -> f64 {
        self.alpha.largest().max(self.beta.largest()).max(self.gamma.largest())
    }
}

/// One reduction; nothing where there is no conserved amount that its relations show.
fn reduced(system: &Interconnection) -> Option<Interconnection> {
    let (n, m) = (system.states(), system.channels());
    let real: Vec<bool> =
        (system.blocks.iter()).flat_map(|block| std::iter::repeat_n(block.is_real(), block.size())).collect();
    let mut used = real.clone();
    let all = Relations::new(system);
    // The channels whose integrals the relations determine.
    let (relations, chosen) = loop {
        let left: Vec<usize> = (0..m).filter(|c| !used[*c]).collect();
        let relations = all.without(&left);
        if relations.count() == 0 {
            return None;
        }
        let shows = |matrix: &Matrix, c: usize| {
            (0..matrix.rows()).any(|i| matrix[(i, c)].abs() > RANK * relations.size())
        };
        let chosen: Vec<usize> = (0..m)
            .filter(|c| used[*c] && (shows(&relations.beta, *c) || shows(&relations.gamma, *c)))
            .collect();
        let rows: Vec<usize> = (0..relations.count()).collect();
        let beta = relations.beta.part(&rows, &chosen);
        let undetermined =
            complement(&orthonormal((0..beta.rows()).map(|i| beta.row(i).to_vec())), chosen.len());
        if undetermined.is_empty() {
            break (relations, chosen);
        }
        for vector in &undetermined {
            for (place, channel) in chosen.iter().enumerate() {
                used[*channel] &= vector[place].abs() <= PARTICIPATION;
            }
        }
    };
    let (count, k) = (relations.count(), chosen.len());
    if count <= k {
        return None;
    }
    let rows: Vec<usize> = (0..count).collect();
    let (beta, gamma) = (relations.beta.part(&rows, &chosen), relations.gamma.part(&rows, &chosen));
    // z̃ = solved (γ w̃ − α x), and what is left over: α x = γ w̃.
    let transposed = beta.adjoint();
    let solved = transposed.times(&beta).inverse()?.times(&transposed);
    let columns = (0..k).map(|j| (0..count).map(|i| beta[(i, j)]).collect());
    let over = Matrix::from_rows(count, &complement(&orthonormal(columns), count));
    let (alpha, driven) = (over.times(&relations.alpha), over.times(&gamma));
    let kept = complement(&orthonormal((0..alpha.rows()).map(|i| alpha.row(i).to_vec())), n);
    if kept.len() + alpha.rows() != n {
        return None;
    }
    let v = Matrix::from_fn(n, kept.len(), |i, j| kept[j][i]);
    // x = V y + P w̃.
    let p = alpha.adjoint().times(&alpha.times(&alpha.adjoint()).inverse()?).times(&driven);
    let of_states = solved.times(&relations.alpha);
    let back = v.adjoint();
    let (a, b) = (back.times(&system.a.times(&v)), [back.times(&system.b), back.times(&system.a.times(&p))]);
    let minus = |matrix: &Matrix| matrix.map(|x| -x);
    let c = [system.c.times(&v), minus(&of_states.times(&v))];
    let d = [
        [system.d.clone(), system.c.times(&p)],
        [Matrix::zeros(k, system.b.columns()), solved.times(&gamma).minus(&of_states.times(&p))],
    ];
    Some(with_integrals(system, &chosen, a, &b, &c, &d))
}

/// The model whose blocks have channels of integrals behind their own.
fn with_integrals(
    system: &Interconnection,
    chosen: &[usize],
    a: Matrix,
    b: &[Matrix; 2],
    c: &[Matrix; 2],
    d: &[[Matrix; 2]; 2],
) -> Interconnection {
    let m = system.channels();
    // Where each row and column comes from: (0, channel) of the model, (1, place) of the integrals.
    let (mut order, mut blocks, mut first) = (Vec::new(), Vec::new(), 0);
    for block in &system.blocks {
        let own = first..first + block.size();
        order.extend(own.clone().map(|channel| (0, channel)));
        let more = (0..chosen.len()).filter(|place| own.contains(&chosen[*place]));
        let before = order.len();
        order.extend(more.map(|place| (1, place)));
        blocks.push(match block {
            Block::Real(size) => Block::Real(size + order.len() - before),
            other => *other,
        });
        first += block.size();
    }
    let ends = |all: usize| -> Vec<(usize, usize)> {
        order.iter().copied().chain((m..all).map(|place| (0, place))).collect()
    };
    let (rows, columns) = (ends(system.c.rows()), ends(system.b.columns()));
    let n = a.rows();
    Interconnection {
        b: Matrix::from_fn(n, columns.len(), |i, j| b[columns[j].0][(i, columns[j].1)]),
        c: Matrix::from_fn(rows.len(), n, |i, j| c[rows[i].0][(rows[i].1, j)]),
        d: Matrix::from_fn(rows.len(), columns.len(), |i, j| {
            d[rows[i].0][columns[j].0][(rows[i].1, columns[j].1)]
        }),
        a,
        blocks,
        is_projected: true,
    }
}
