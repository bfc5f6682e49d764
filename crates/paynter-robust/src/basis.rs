//! The structure of Δ, and the matrices that commute with it.

use num_complex::Complex64;

use crate::tolerance::FULL_SCALINGS;

/// One block of Δ; all are square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// δ I of this size with a real δ: a parameter.
    Real(usize),
    /// δ I of this size with a complex δ.
    Repeated(usize),
    /// Any complex matrix of this size: neglected dynamics, a performance channel.
    Full(usize),
}

impl Block {
    /// Its number of channels.
    pub fn size(self) -> usize {
        match self {
            Block::Real(size) | Block::Repeated(size) | Block::Full(size) => size,
        }
    }

    /// Whether it is a real parameter.
    pub fn is_real(self) -> bool {
        matches!(self, Block::Real(_))
    }
}

/// The number of channels of all blocks.
pub fn width(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.size()).sum()
}

/// One Hermitian matrix of a basis, by the entries that are not zero.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    /// Whether it belongs to G; to D otherwise.
    pub skew: bool,
    /// Row, column, value.
    pub entries: Vec<(usize, usize, Complex64)>,
}

/// What the scalings of a structure are made of: Hermitian D that commute with Δ, and G beside real blocks.
#[derive(Debug, Clone)]
pub struct Structure {
    pub(crate) basis: Vec<Element>,
    /// By channel: whether its block grows with the bound that is sought; others have size one.
    pub(crate) grows: Vec<bool>,
    /// By channel: the channels that are balanced together with it begin here, and their number.
    pub(crate) group: Vec<(usize, usize)>,
}

impl Structure {
    /// All blocks grow: the structured singular value.
    pub fn new(blocks: &[Block]) -> Structure {
        Structure::skewed(blocks, &vec![true; blocks.len()])
    }

    /// Only some blocks grow, the others have norm one: the skewed structured singular value.
    pub fn skewed(blocks: &[Block], growing: &[bool]) -> Structure {
        let unknowns = |block: &Block| match block {
            Block::Real(size) => 2 * size * size,
            Block::Repeated(size) => size * size,
            Block::Full(_) => 1,
        };
        let all_full = blocks.iter().map(unknowns).sum::<usize>() <= FULL_SCALINGS;
        let mut structure = Structure { basis: Vec::new(), grows: Vec::new(), group: Vec::new() };
        let mut first = 0;
        for (block, grows) in blocks.iter().zip(growing) {
            let size = block.size();
            structure.grows.extend(std::iter::repeat_n(*grows, size));
            match block {
                Block::Full(_) => {
                    let entries = (first..first + size).map(|i| (i, i, Complex64::ONE)).collect();
                    structure.basis.push(Element { skew: false, entries });
                    structure.group.extend(std::iter::repeat_n((first, size), size));
                }
                Block::Real(_) | Block::Repeated(_) => {
                    structure.hermitian(first, size, false, all_full);
                    if block.is_real() {
                        structure.hermitian(first, size, true, all_full);
                    }
                    structure.group.extend((first..first + size).map(|i| (i, 1)));
                }
            }
            first += size;
        }
        structure
    }

    /// Adds a basis of the Hermitian matrices of a block.
    fn hermitian(&mut self, first: usize, size: usize, skew: bool, full: bool) {
        let half = 0.5f64.sqrt();
        let (re, im) = (Complex64::new(half, 0.0), Complex64::new(0.0, half));
        for i in first..first + size {
            self.basis.push(Element { skew, entries: vec![(i, i, Complex64::ONE)] });
            for j in (i + 1..first + size).filter(|_| full) {
                self.basis.push(Element { skew, entries: vec![(i, j, re), (j, i, re)] });
                self.basis.push(Element { skew, entries: vec![(i, j, im), (j, i, -im)] });
            }
        }
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.grows.len()
    }
}
