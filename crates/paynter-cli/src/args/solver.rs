//! The options of all commands that simulate: the method and its tolerances.

use super::simulate::positive;
use clap::Args;

/// How simulations step.
#[derive(Debug, Args)]
pub struct SolverArgs {
    /// Choose the solver: auto, euler, rk4, explicit, tsit5, dop853 or stiff
    #[arg(long, value_name = "SOLVER", default_value = "auto", value_parser = solver)]
    pub solver: String,
    /// Relative tolerance
    #[arg(long, value_name = "TOL", default_value_t = 1e-8, value_parser = positive, allow_negative_numbers = true)]
    pub rtol: f64,
    /// Absolute tolerance of every state, in SI (chosen by the size of each state where left out)
    #[arg(long, value_name = "TOL", value_parser = positive, allow_negative_numbers = true)]
    pub atol: Option<f64>,
    /// The step of `euler` and `rk4`, in seconds (a thousandth of the time where left out)
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true)]
    pub step: Option<f64>,
}

/// Reads the name of a solver.
fn solver(text: &str) -> Result<String, String> {
    let names: Vec<&str> = paynter::simulate::solvers().collect();
    if names.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(match paynter::closest(text, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write one of {}", names.join(", ")),
    })
}
