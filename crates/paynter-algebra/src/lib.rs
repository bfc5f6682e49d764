//! Exact symbolic algebra for bond graphs.
//!
//! Expressions live in a [`Pool`] and are named by small handles ([`Expr`]); equal expressions have equal
//! handles. Constructing simplifies (flattened sums and products, collected like terms, exact constants),
//! but never expands. A child is always made before its parent, so the order of handles is a topological
//! order: every traversal sorts the nodes it reaches instead of recursing, and depth never matters.
//!
//! A power with a fractional exponent is defined for a non-negative base only, as in every language the
//! expressions are printed for; with a symbolic exponent the law is read so too, although a negative base
//! has a value where the exponent happens to be whole.
//!
//! ```
//! use paynter_algebra::{Func, Interval, Pool};
//!
//! // The pressure drop of turbulent flow, e = k*f*abs(f), solved for the flow.
//! let mut pool = Pool::new();
//! let [e, f, k] = ["e", "f", "k"].map(|name| pool.symbol(name));
//! let [effort, flow, gain] = [e, f, k].map(|symbol| pool.var(symbol));
//! let size = pool.call(Func::Abs, &[flow]);
//! let drop = pool.product(&[gain, flow, size]);
//! let residual = pool.sub(effort, drop);
//! let known = |s| if s == k { Interval::POSITIVE } else { Interval::ALL };
//! let solution = pool.solve_for(residual, f, &known).expect("an odd law");
//! assert!(solution.is_global());
//! assert_eq!(pool.display(solution.value).to_string(), "sign(e)*sqrt(abs(e)/k)");
//! ```

mod branch;
mod collect;
mod diff;
mod eval;
mod expression;
mod gradient;
mod import;
mod integrate;
mod interval;
mod limits;
mod node;
mod number;
mod numbers;
mod pool;
mod print;
mod range;
mod share;
mod simplify;
mod solve;
mod substitute;
mod traverse;
mod zero;

pub mod elimination;
pub mod field;
pub mod poly;

pub use dashu_ratio::RBig as Rational;
pub use eval::EvalError;
pub use expression::Expression;
pub use interval::Interval;
pub use node::{Cmp, Expr, Func, Node, Symbol};
pub use number::{decimal, to_f64};
pub use pool::Pool;
pub use print::{Printed, Target, greek_name, latex_name, mathml_name};
pub use share::Shared;
pub use solve::{Condition, Solution, SolveError};
pub use zero::{Fingerprints, Residues};
