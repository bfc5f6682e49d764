//! Complex numbers with as many bits as asked for and exponents without
//! bounds, for polynomials whose coefficients span hundreds of decades.

use dashu_base::{BitTest, Sign};
use dashu_int::IBig;
use num_complex::Complex64;

/// mantissa · 2^exponent.
#[derive(Debug, Clone)]
pub(super) struct Big {
    mantissa: IBig,
    exponent: i64,
}

impl Big {
    pub fn zero() -> Big {
        Big { mantissa: IBig::ZERO, exponent: 0 }
    }

    pub fn new(mantissa: IBig, bits: usize) -> Big {
        Big { mantissa, exponent: 0 }.rounded(bits)
    }

    pub fn from_f64(value: f64, exponent: i64) -> Big {
        // 2^60 times a number below 2 in magnitude is exact in an integer.
        let (fraction, shift) = split(value);
        Big { mantissa: IBig::from((fraction * 2f64.powi(60)) as i64), exponent: exponent + shift - 60 }
    }

    pub fn is_zero(&self) -> bool {
        self.mantissa.is_zero()
    }

    pub fn is_negative(&self) -> bool {
        self.mantissa.sign() == Sign::Negative && !self.is_zero()
    }

    fn rounded(mut self, bits: usize) -> Big {
        let length = self.mantissa.bit_len();
        if length > bits {
            let shift = length - bits;
            self.mantissa >>= shift;
            self.exponent += shift as i64;
        }
        self
    }

    /// The place of the highest bit: 2^(top−1) ≤ |x| < 2^top.
    pub fn top(&self) -> i64 {
        if self.is_zero() { i64::MIN / 4 } else { self.mantissa.bit_len() as i64 + self.exponent }
    }

    pub fn neg(&self) -> Big {
        Big { mantissa: -self.mantissa.clone(), exponent: self.exponent }
    }

    pub fn add(&self, other: &Big, bits: usize) -> Big {
        if self.is_zero() {
            return other.clone().rounded(bits);
        }
        if other.is_zero() {
            return self.clone().rounded(bits);
        }
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let gap = high.exponent - low.exponent;
        if high.top() - low.top() > bits as i64 + 2 {
            return high.clone().rounded(bits);
        }
        if low.top() - high.top() > bits as i64 + 2 {
            return low.clone().rounded(bits);
        }
        let sum = (&high.mantissa << gap.unsigned_abs() as usize) + &low.mantissa;
        Big { mantissa: sum, exponent: low.exponent }.rounded(bits)
    }

    pub fn sub(&self, other: &Big, bits: usize) -> Big {
        self.add(&other.neg(), bits)
    }

    pub fn mul(&self, other: &Big, bits: usize) -> Big {
        Big { mantissa: &self.mantissa * &other.mantissa, exponent: self.exponent + other.exponent }
            .rounded(bits)
    }

    /// The quotient; zero for a zero divisor, which callers exclude.
    pub fn div(&self, other: &Big, bits: usize) -> Big {
        if other.is_zero() || self.is_zero() {
            return Big::zero();
        }
        let wanted = bits + 2 + other.mantissa.bit_len();
        let shift = wanted.saturating_sub(self.mantissa.bit_len());
        let mantissa = (&self.mantissa << shift) / &other.mantissa;
        Big { mantissa, exponent: self.exponent - other.exponent - shift as i64 }.rounded(bits)
    }

    /// The number as fraction and power of two, the fraction below 1 in magnitude.
    pub fn parts(&self) -> (f64, i64) {
        let length = self.mantissa.bit_len();
        let shift = length.saturating_sub(63);
        let short = i64::try_from(&self.mantissa >> shift).unwrap_or(0);
        let scale = length.min(63) as i32;
        (short as f64 * 2f64.powi(-scale), self.exponent + (shift as i64) + i64::from(scale))
    }

    /// The number times 2^−exponent.
    pub fn scaled(&self, exponent: i64) -> f64 {
        let (fraction, own) = self.parts();
        let power = (own - exponent).clamp(-2200, 2200) as i32;
        // Two steps keep subnormal results from vanishing half way.
        fraction * 2f64.powi(power / 2) * 2f64.powi(power - power / 2)
    }
}

/// fraction · 2^exponent with 0.5 ≤ |fraction| < 1, or zero.
fn split(value: f64) -> (f64, i64) {
    if value == 0.0 || !value.is_finite() {
        return (0.0, 0);
    }
    let shift = (value.abs().log2().floor() as i64) + 1;
    let half = (shift / 2) as i32;
    (value * 2f64.powi(-half) * 2f64.powi(half - shift as i32), shift)
}

/// A complex number.
#[derive(Debug, Clone)]
pub(super) struct Complex {
    pub re: Big,
    pub im: Big,
}

impl Complex {
    pub fn real(re: Big) -> Complex {
        Complex { re, im: Big::zero() }
    }

    /// value · 2^exponent.
    pub fn from_f64(value: Complex64, exponent: i64) -> Complex {
        Complex { re: Big::from_f64(value.re, exponent), im: Big::from_f64(value.im, exponent) }
    }

    pub fn is_zero(&self) -> bool {
        self.re.is_zero() && self.im.is_zero()
    }

    pub fn top(&self) -> i64 {
        self.re.top().max(self.im.top())
    }

    pub fn add(&self, other: &Complex, bits: usize) -> Complex {
        Complex { re: self.re.add(&other.re, bits), im: self.im.add(&other.im, bits) }
    }

    pub fn sub(&self, other: &Complex, bits: usize) -> Complex {
        Complex { re: self.re.sub(&other.re, bits), im: self.im.sub(&other.im, bits) }
    }

    pub fn mul(&self, other: &Complex, bits: usize) -> Complex {
        let re = self.re.mul(&other.re, bits).sub(&self.im.mul(&other.im, bits), bits);
        let im = self.re.mul(&other.im, bits).add(&self.im.mul(&other.re, bits), bits);
        Complex { re, im }
    }

    pub fn div(&self, other: &Complex, bits: usize) -> Complex {
        let size = other.re.mul(&other.re, bits).add(&other.im.mul(&other.im, bits), bits);
        let conjugate = Complex { re: other.re.clone(), im: other.im.neg() };
        let product = self.mul(&conjugate, bits);
        Complex { re: product.re.div(&size, bits), im: product.im.div(&size, bits) }
    }

    /// The number times 2^−exponent.
    pub fn scaled(&self, exponent: i64) -> Complex64 {
        Complex64::new(self.re.scaled(exponent), self.im.scaled(exponent))
    }
}
