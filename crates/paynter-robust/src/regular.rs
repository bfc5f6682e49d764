//! Bounds that are continuous in frequency (Packard and Pandey). The structured singular value of real
//! parameters may jump: a single one moves a pole to the imaginary axis at one frequency and at no other beside
//! it. With a little complex uncertainty added to every real parameter the jump becomes a thin peak, which a
//! proof can cover. What holds for the larger set of Δ holds for the real ones.

use paynter_base::CancellationToken;

use crate::basis::{Block, Structure};
use crate::interval::valid_interval;
use crate::matrix::Matrix;
use crate::system::Interconnection;
use crate::tolerance::{COMPLEX_SHARE, UPPER_TOLERANCE};
use crate::upper::{Goal, upper};

/// A model whose real parameters δ are δ + εγ with complex γ.
pub(crate) struct Regularised {
    system: Interconnection,
    structure: Structure,
}

/// What a regularised model says about an interval of frequency.
pub(crate) enum Verdict {
    /// The level is a bound there.
    Proved,
    /// It is not proved at this frequency; the bound there.
    Above(f64, f64),
    /// Nothing.
    Open,
}

impl Regularised {
    /// The regularised form of a model without inputs and outputs.
    pub fn new(system: &Interconnection, structure: &Structure) -> Regularised {
        let mut first = 0;
        // By channel of the larger model: the channel it copies, and its factor.
        let mut channels: Vec<(usize, f64)> = Vec::new();
        let (mut blocks, mut growing) = (Vec::new(), Vec::new());
        let mut add = |block: Block, first: usize, factor: f64, blocks: &mut Vec<Block>| {
            channels.extend((first..first + block.size()).map(|channel| (channel, factor)));
            growing.push(structure.grows.get(first).copied().unwrap_or(true));
            blocks.push(block);
        };
        for block in &system.blocks {
            add(*block, first, 1.0, &mut blocks);
            if let Block::Real(size) = block {
                add(Block::Repeated(*size), first, COMPLEX_SHARE, &mut blocks);
            }
            first += block.size();
        }
        // (Δ + εΓ) = (1 1) diag(Δ, Γ) (1 ε)ᵀ.
        let (n, m) = (system.states(), channels.len());
        let system = Interconnection {
            a: system.a.clone(),
            b: Matrix::from_fn(n, m, |i, j| system.b[(i, channels[j].0)]),
            c: Matrix::from_fn(m, n, |i, j| channels[i].1 * system.c[(channels[i].0, j)]),
            d: Matrix::from_fn(m, m, |i, j| channels[i].1 * system.d[(channels[i].0, channels[j].0)]),
            blocks,
            is_projected: system.is_projected,
        };
        let structure = Structure::skewed(&system.blocks, &growing);
        Regularised { system, structure }
    }

    /// A bound at one frequency; infinite where there is none.
    pub fn at(&self, omega: f64, token: &CancellationToken) -> f64 {
        let found = self.system.at(omega);
        let found = found.and_then(|m| upper(&m, &self.structure, None, Goal::Best(UPPER_TOLERANCE), token));
        found.map_or(f64::INFINITY, |found| found.beta)
    }

    /// Tries to prove a level on an interval.
    pub fn decide(&self, (low, high): (f64, f64), level: f64, token: &CancellationToken) -> Verdict {
        let omega = (low * high).sqrt();
        token.spend(self.system.response_operations());
        let goal = Goal::Below(level, UPPER_TOLERANCE);
        let found = self.system.at(omega).and_then(|m| upper(&m, &self.structure, None, goal, token));
        let Some(found) = found else { return Verdict::Open };
        if found.beta > level {
            // A bound that ends with the budget is no least one.
            return if token.is_spent() { Verdict::Open } else { Verdict::Above(omega, found.beta) };
        }
        match valid_interval(&self.system, &self.structure, &found.scaling, level, omega, token) {
            Some((from, to)) if from <= low && high <= to => Verdict::Proved,
            _ => Verdict::Open,
        }
    }
}
