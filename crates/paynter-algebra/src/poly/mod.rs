//! Sparse multivariate polynomials over the integers, rational functions in
//! lowest terms, determinants and linear systems of polynomials.
//!
//! Variables are numbered from 0; a [`Ring`] gives them names. Terms are kept
//! in descending lexicographic order of their exponents with variable 0 the
//! most significant, so that putting `s` first makes every polynomial a list
//! of its coefficients in `s`. That order is fixed: "leading" always means it.
//!
//! A [`Basis`] carries expressions over: what is not rational becomes a
//! variable that obeys its algebraic relations.
//!
//! Whatever can grow takes a [`Work`], which holds the [`Budget`] and the
//! [`CancellationToken`](paynter_base::CancellationToken): an operation ends with its result, with
//! [`PolyError::BudgetExceeded`] or with [`PolyError::Cancelled`], never in a
//! hang. Effort is counted in elementary steps, not in seconds, so that the
//! same input ends the same way on every machine.
//!
//! ```
//! use paynter_algebra::Pool;
//! use paynter_algebra::poly::{Basis, Poly, Work};
//!
//! // The mobility of a mass on a spring and a damper: 1/(m s + b + k/s).
//! let (mut pool, work) = (Pool::new(), Work::default());
//! let [s, m, b, k] = ["s", "m", "b", "k"].map(|name| pool.symbol(name));
//! let mut basis = Basis::new(&mut pool, &[s, m, b, k]);
//! let [s, m, b, k] = [s, m, b, k].map(|symbol| pool.var(symbol));
//! let (ms, ks) = (pool.mul(m, s), pool.div(k, s));
//! let impedance = pool.sum(&[ms, b, ks]);
//! let (matrix, factors) = basis.matrix(&mut pool, (1, 1), &[(0, 0, impedance)], &work)?;
//! // The row was multiplied by s, and so must be the right-hand side.
//! let mobility = matrix.transfer(&[Poly::one()], &factors, &work)?;
//! let text = basis.expression(&mut pool, &mobility);
//! assert_eq!(pool.display(text).to_string(), "s/(m*s^2 + b*s + k)");
//! # Ok::<(), paynter_algebra::poly::PolyError>(())
//! ```

mod arithmetic;
mod bareiss;
mod convert;
mod divide;
mod evaluate;
mod fraction;
mod gcd;
mod integer;
mod laurent;
mod layout;
mod matrix;
mod minors;
mod modular;
mod nicest;
mod polynomial;
mod product;
mod readable;
mod relation;
mod ring;
mod structure;
mod system;
mod work;
mod zippel;

pub use convert::Basis;
pub use fraction::Fraction;
pub use integer::Integer;
pub use matrix::Matrix;
pub use nicest::{LowestTerms, readable};
pub use polynomial::Poly;
pub use readable::{factor_common, normal};
pub use ring::Ring;
pub use system::{Factored, Sensitivities};
pub use work::{Budget, PolyError, Work};
