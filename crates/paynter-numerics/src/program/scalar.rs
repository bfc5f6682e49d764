//! What programs calculate with: numbers, complex numbers, and several numbers at once.

use super::instruction::Op;
use crate::tolerance::{LEAST_BASE, ROOTED};
use num_complex::Complex64;

/// A kind of number that a program can be run on.
pub trait Scalar: Copy {
    /// The number as a constant.
    fn constant(value: f64) -> Self;
    /// a + b
    fn add(self, b: Self) -> Self;
    /// a - b
    fn sub(self, b: Self) -> Self;
    /// a·b
    fn mul(self, b: Self) -> Self;
    /// a/b
    fn div(self, b: Self) -> Self;
    /// Any other operation but a store.
    fn other(op: Op, a: Self, b: Self, c: Self) -> Self;
    /// A function of each number it holds.
    fn map(self, f: impl Fn(f64) -> f64) -> Self;
    /// a·a
    #[inline(always)]
    fn square(self) -> Self {
        self.mul(self)
    }
}

/// Calculates an operation on plain numbers. Inlined, so that a call of a known operation is that alone.
#[inline(always)]
pub(crate) fn calculate(op: Op, a: f64, b: f64, c: f64) -> f64 {
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        Op::Neg => -a,
        Op::MulAdd => a * b + c,
        Op::NegMulAdd => c - a * b,
        Op::Sqrt => a.sqrt(),
        Op::Cbrt => cube_root(a),
        Op::Pow => power(a, b),
        Op::MulZero => {
            if a == 0.0 {
                0.0
            } else {
                a * b
            }
        }
        Op::PowLess => power_less(a, b, c),
        Op::PowLog => power_log(a, b, c),
        Op::Sin => a.sin(),
        Op::Cos => a.cos(),
        Op::Tan => a.tan(),
        Op::Asin => a.asin(),
        Op::Acos => a.acos(),
        Op::Atan => a.atan(),
        Op::Atan2 => a.atan2(b),
        Op::Sinh => a.sinh(),
        Op::Cosh => a.cosh(),
        Op::Tanh => a.tanh(),
        Op::Asinh => a.asinh(),
        Op::Acosh => a.acosh(),
        Op::Atanh => a.atanh(),
        Op::Exp => a.exp(),
        Op::Ln => a.ln(),
        Op::Log10 => a.log10(),
        Op::Abs => a.abs(),
        Op::Sign => sign(a),
        Op::Min => smaller(a, b),
        Op::Max => larger(a, b),
        Op::Lt => truth(a < b),
        Op::Le => truth(a <= b),
        Op::Eq => truth(a == b),
        Op::Ne => truth(a != b),
        Op::Select => {
            if a != 0.0 {
                b
            } else {
                c
            }
        }
        Op::Table | Op::Store => f64::NAN,
    }
}

/// The numbers from 1 to 8 are divided into cells by so many leading bits of the fraction.
pub(crate) const ROOT_BITS: u32 = 6;
pub(crate) const ROOT_CELLS: usize = 3 << ROOT_BITS;
/// Of each cell: its middle, the inverse of that, the cube root, and what its rounding lacks, as a part of it.
pub(crate) static ROOTS: [[f64; 4]; ROOT_CELLS] = roots();
/// ((1 + r)^(1/3) − 1)/r as a series.
pub(crate) const ROOT_SERIES: [f64; 7] =
    [1.0 / 3.0, -1.0 / 9.0, 5.0 / 81.0, -10.0 / 243.0, 22.0 / 729.0, -154.0 / 6561.0, 374.0 / 19683.0];
/// A third of an exponent is the upper part of its product with this, beyond so many bits.
pub(crate) const THIRD: (u64, u32) = (0x5556, 16);
/// The exponent of one, and a third of that, in their place among the bits.
pub(crate) const EXPONENTS: [u64; 2] = [1023 << 52, 341 << 52];

const fn roots() -> [[f64; 4]; ROOT_CELLS] {
    let mut cells = [[0.0; 4]; ROOT_CELLS];
    let mut cell = 0;
    while cell < ROOT_CELLS {
        let middle = f64::from_bits(EXPONENTS[0] + ((2 * cell as u64 + 1) << (51 - ROOT_BITS)));
        let mut root = 1.5;
        let mut turn = 0;
        // Newton's method, in the end with a cube that is not rounded.
        while turn < 8 {
            root += lacking(middle, root);
            turn += 1;
        }
        cells[cell] = [middle, 1.0 / middle, root, lacking(middle, root) / root];
        cell += 1;
    }
    cells
}

/// What a root lacks of the cube root of a number, to first order.
const fn lacking(number: f64, root: f64) -> f64 {
    let (square, rest) = product(root, root);
    let (cube, more) = product(square, root);
    (((number - cube) - more) - rest * root) / (3.0 * square)
}

/// A product and what its rounding leaves out (Dekker).
const fn product(a: f64, b: f64) -> (f64, f64) {
    const SPLIT: f64 = 134_217_729.0;
    let (a_high, b_high) = (SPLIT * a - (SPLIT * a - a), SPLIT * b - (SPLIT * b - b));
    let (a_low, b_low) = (a - a_high, b - b_high);
    let product = a * b;
    (product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)
}

/// The cube root, to hardly more than half a unit in the last place: that of the middle of the number's
/// cell, times (1 + r)^(1/3) as a series.
fn cube_root(a: f64) -> f64 {
    if a < 0.0 {
        return f64::NAN;
    }
    if !(ROOTED[0]..ROOTED[1]).contains(&a) {
        return a.cbrt();
    }
    let bits = a.to_bits();
    let third = ((bits >> 52) * THIRD.0) >> THIRD.1;
    let cell = (bits >> (52 - ROOT_BITS)) - third * ROOT_CELLS as u64;
    let [middle, inverse, root, lack] = ROOTS[cell as usize];
    let scaled = f64::from_bits((bits + EXPONENTS[0]) - ((3 * third) << 52));
    let root = f64::from_bits((root.to_bits() + (third << 52)) - EXPONENTS[1]);
    let c = ROOT_SERIES;
    let r = (scaled - middle) * inverse;
    let square = r * r;
    let far = (c[4] + r * c[5]) + square * c[6];
    let series = ((c[0] + r * c[1]) + square * (c[2] + r * c[3])) + (square * square) * far;
    root + root * (r * series + lack)
}

/// A power; of a negative base only where the exponent is whole, as `powf` has it.
fn power(a: f64, b: f64) -> f64 {
    a.powf(b)
}

/// b^c from a = b^(c+1), which costs a division only; at a base near zero the power itself.
fn power_less(a: f64, b: f64, c: f64) -> f64 {
    if b > LEAST_BASE && a > LEAST_BASE { a / b } else { power(b, c) }
}

/// a^b from the logarithm of a, as long as rounding its product with b costs no more than two digits.
fn power_log(a: f64, b: f64, log: f64) -> f64 {
    let exponent = b * log;
    if exponent.abs() < 32.0 { exponent.exp() } else { power(a, b) }
}

fn sign(a: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a.signum() }
}

/// The smaller of two; a number that is missing does not vanish, as it would in `f64::min`.
fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

impl Scalar for f64 {
    fn constant(value: f64) -> f64 {
        value
    }

    fn add(self, b: f64) -> f64 {
        self + b
    }

    fn sub(self, b: f64) -> f64 {
        self - b
    }

    fn mul(self, b: f64) -> f64 {
        self * b
    }

    fn div(self, b: f64) -> f64 {
        self / b
    }

    fn other(op: Op, a: f64, b: f64, c: f64) -> f64 {
        calculate(op, a, b, c)
    }

    fn map(self, f: impl Fn(f64) -> f64) -> f64 {
        f(self)
    }
}

/// A number that every operation leaves with a rounding error more than it has. Where results change
/// by much, ordinary rounding errors matter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounded(pub f64);

impl Rounded {
    /// The sign of the error looks random and is the same on every machine.
    fn new(x: f64) -> Rounded {
        let up = (x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63) == 1;
        Rounded(x * if up { 1.0 + 2.0 * f64::EPSILON } else { 1.0 - 2.0 * f64::EPSILON })
    }
}

impl Scalar for Rounded {
    fn constant(value: f64) -> Rounded {
        Rounded(value)
    }

    fn add(self, b: Rounded) -> Rounded {
        Rounded::new(self.0 + b.0)
    }

    fn sub(self, b: Rounded) -> Rounded {
        Rounded::new(self.0 - b.0)
    }

    fn mul(self, b: Rounded) -> Rounded {
        Rounded::new(self.0 * b.0)
    }

    fn div(self, b: Rounded) -> Rounded {
        Rounded::new(self.0 / b.0)
    }

    fn other(op: Op, a: Rounded, b: Rounded, c: Rounded) -> Rounded {
        Rounded::new(calculate(op, a.0, b.0, c.0))
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Rounded {
        Rounded::new(f(self.0))
    }
}

/// Several numbers at once: the same program on different arguments.
impl<const L: usize> Scalar for [f64; L] {
    fn constant(value: f64) -> Self {
        [value; L]
    }

    fn add(self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] + b[i])
    }

    fn sub(self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] - b[i])
    }

    fn mul(self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] * b[i])
    }

    fn div(self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] / b[i])
    }

    fn other(op: Op, a: Self, b: Self, c: Self) -> Self {
        std::array::from_fn(|i| calculate(op, a[i], b[i], c[i]))
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        std::array::from_fn(|i| f(self[i]))
    }
}

/// Complex numbers, for frequency responses. What is not analytic (conditions,
/// abs, sign, min, max) is defined on the real axis only.
impl Scalar for Complex64 {
    fn constant(value: f64) -> Complex64 {
        Complex64::new(value, 0.0)
    }

    fn add(self, b: Complex64) -> Complex64 {
        self + b
    }

    fn sub(self, b: Complex64) -> Complex64 {
        self - b
    }

    fn mul(self, b: Complex64) -> Complex64 {
        self * b
    }

    fn div(self, b: Complex64) -> Complex64 {
        self / b
    }

    fn other(op: Op, a: Complex64, b: Complex64, c: Complex64) -> Complex64 {
        let real = |z: Complex64| if z.im == 0.0 { z.re } else { f64::NAN };
        match op {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Div => a / b,
            Op::Neg => -a,
            Op::MulAdd => a * b + c,
            Op::NegMulAdd => c - a * b,
            Op::Select => {
                if real(a) != 0.0 {
                    b
                } else {
                    c
                }
            }
            _ if [a, b, c].iter().take(op.arity()).all(|z| z.im == 0.0) => {
                Complex64::new(calculate(op, a.re, b.re, c.re), 0.0)
            }
            Op::Sqrt => a.sqrt(),
            Op::Cbrt => a.powf(1.0 / 3.0),
            Op::Pow => a.powc(b),
            Op::MulZero => a * b,
            Op::PowLess => a / b,
            Op::PowLog => (b * c).exp(),
            Op::Sin => a.sin(),
            Op::Cos => a.cos(),
            Op::Tan => a.tan(),
            Op::Asin => a.asin(),
            Op::Acos => a.acos(),
            Op::Atan => a.atan(),
            Op::Sinh => a.sinh(),
            Op::Cosh => a.cosh(),
            Op::Tanh => a.tanh(),
            Op::Asinh => a.asinh(),
            Op::Acosh => a.acosh(),
            Op::Atanh => a.atanh(),
            Op::Exp => a.exp(),
            Op::Ln => a.ln(),
            Op::Log10 => a.log10(),
            _ => Complex64::new(f64::NAN, f64::NAN),
        }
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Complex64 {
        if self.im == 0.0 { Complex64::new(f(self.re), 0.0) } else { Complex64::new(f64::NAN, f64::NAN) }
    }
}
