//! The section on the response over time.

use super::Section;
use crate::plot::{Figure, plain};

/// Outputs over time, as far as the run came.
pub fn simulation(figure: &Figure, t_end: f64, reached: f64, stopped: Option<&str>) -> Section {
    let mut section = Section::new("simulation", "Response over time");
    section.text(format!(
        "From the initial states, with the inputs as the model gives them, for {} s. `paynter simulate --t-end` \
         chooses another time.",
        plain(t_end, 3)
    ));
    if let Some(reason) = stopped {
        section.text(format!("The run stopped at t = {} s: {reason}.", plain(reached, 6)));
    }
    section.plot(figure, "Outputs over time; states where the model has no outputs.");
    section
}
