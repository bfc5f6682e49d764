//! The sections on runs over time: outputs, their sensitivities, energy.

use super::{Cell, Section};
use crate::json::{Energy, EnergyRole};
use paynter_base::Remedy;
use paynter_draw::plot::{Figure, plain};
use paynter_simulate::experiment::balance_closes;

/// A run over time.
pub struct Run {
    /// How long it was to be, in seconds.
    pub t_end: f64,
    /// Why it stopped before, if it did.
    pub stopped: Option<String>,
}

impl Run {
    /// Says that the run stopped early.
    fn tell(&self, section: &mut Section) {
        if let Some(reason) = &self.stopped {
            section.text(format!("The run stopped before its end: {reason}."));
        }
    }
}

/// Outputs over time, as far as the run came.
pub fn simulation(figure: &Figure, run: &Run) -> Section {
    let mut section = Section::new("simulation", "Response over time");
    let run_of = format!(
        "From the initial states, with the inputs as the model gives them, for {} s. ",
        plain(run.t_end, 3)
    );
    section.text(Remedy::from(run_of).and(Remedy::marked("{ask simulate t_end} chooses another time.")));
    run.tell(&mut section);
    section.plot(figure, "Outputs over time; states where the model has no outputs.");
    section
}

const SENSITIVITY: (&str, &str) = ("time-sensitivity", "Sensitivities over time");

/// What each parameter does to each output over time.
pub fn time_sensitivity(figure: &Figure, run: &Run) -> Section {
    let mut section = Section::new(SENSITIVITY.0, SENSITIVITY.1);
    if figure.panels.is_empty() {
        section.text("The model has no outputs, or none of its parameters reaches them.");
        return section;
    }
    section.text(Remedy::marked(
        "p·∂y/∂p in the unit of the output: where a curve is at 1, one percent more of the parameter \
         adds a hundredth. {ask simulate sensitivity=all} prints the derivatives.",
    ));
    run.tell(&mut section);
    section.plot(figure, "What each parameter does to each output; of many parameters those that do most.");
    section
}

/// Sensitivities that are left out because there are too many.
pub fn unshown_sensitivities(parameters: usize) -> Section {
    let mut section = Section::new(SENSITIVITY.0, SENSITIVITY.1);
    section.text(Remedy::from(format!("The model has {parameters} parameters. ")).and(Remedy::marked(
        "{ask simulate sensitivity=NAMES plot=FILE} shows some of them, \
         {option gradient} what all of them do to one number.",
    )));
    section
}

/// Said where there is no account of energy.
pub const NO_ENERGY: &str = "No element of the model supplies, stores or dissipates energy. Effort times flow is no power \
    where heat flow, mass flow or a concentration is counted instead of entropy, volume or amount.";

/// What every element supplies, stores and dissipates, and how well the balance closes.
pub fn energy(found: Option<&Energy>, figure: Option<&Figure>, run: &Run) -> Section {
    let mut section = Section::new("energy", "Energy");
    let (Some(found), Some(figure)) = (found, figure) else {
        section.text(NO_ENERGY);
        return section;
    };
    run.tell(&mut section);
    section.plot(figure, "What is stored and dissipated, one on the other, against what has been supplied.");
    let rows = found.elements.iter().map(|element| {
        let (role, first) = match element.role {
            EnergyRole::Supplied => ("supplied", None),
            EnergyRole::Stored => ("stored", element.energy.first()),
            EnergyRole::Dissipated => ("dissipated", None),
        };
        let number = |value: Option<&f64>| value.map_or_else(String::new, |value| plain(*value, 6));
        vec![
            Cell::Name(element.element.clone()),
            Cell::Text(role.to_owned()),
            Cell::Number(number(first)),
            Cell::Number(number(element.energy.last())),
        ]
    });
    section.table(
        "Energies in joules",
        &["Element", "Energy", "At the beginning", "At the end"],
        rows.collect(),
        "simulate energy",
    );
    let worst = found.balance.iter().fold(0.0_f64, |worst, value| worst.max(value.abs()));
    section.text(format!(
        "The balance {} {} J, {} of what was moved.",
        if balance_closes(found.error) { "closes to within" } else { "does not close: it misses up to" },
        plain(worst, 1),
        plain(found.error, 1)
    ));
    section
}
