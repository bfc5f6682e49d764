//! Energies and gradients as tables for people.

use crate::table::columns;
use paynter::energy::{Energy, Reference, Role, balance_closes};
use paynter::number::significant;
use paynter::report::NO_ENERGY;
use paynter::simulate::{CostGradient, Simulation};
use paynter::units::Shown;

/// The energies at the end of a run, and how well the balance closes.
pub fn ledger(simulation: &Simulation, energy: Option<&Energy>) -> String {
    let Some(energy) = energy else {
        return format!("{NO_ENERGY}\n");
    };
    let end = |values: &[f64]| values.last().copied().unwrap_or(0.0);
    let rows: Vec<[String; 5]> = energy
        .accounts
        .iter()
        .zip(&energy.references)
        .map(|((entry, values), reference)| {
            let (role, begin, from) = match entry.role {
                Role::Supply => ("supplied", String::new(), String::new()),
                Role::Storage => {
                    let from = match reference {
                        Reference::Empty => "empty".to_owned(),
                        Reference::Relaxed(state) => format!("relaxed, {}", significant(*state)),
                        Reference::Start => "the start".to_owned(),
                    };
                    ("stored", significant(values.first().copied().unwrap_or(0.0)), from)
                }
                Role::Loss => ("dissipated", String::new(), String::new()),
            };
            [entry.element.clone(), role.to_owned(), begin, significant(end(values)), from]
        })
        .collect();
    let heads = ["ELEMENT", "ENERGY", "AT THE BEGINNING", "AT THE END [J]", "COUNTED FROM"];
    let table = columns(heads, &rows);
    format!(
        "{}: energy until t = {} s\n\n{table}\n  the balance {} {} J, {} of what was moved\n",
        simulation.model,
        significant(end(&energy.t)),
        if balance_closes(energy.error) { "closes to within" } else { "does not close: it misses up to" },
        bound(energy.balance.iter().fold(0.0, |worst: f64, value| worst.max(value.abs()))),
        bound(energy.error),
    )
}

/// The power of ten that an error stays below.
fn bound(error: f64) -> String {
    if error > 0.0 { format!("1e{}", error.log10().ceil()) } else { "0".to_owned() }
}

/// The derivatives of a cost, with what a change by the parameter's own size would do.
pub fn gradient(simulation: &Simulation, found: &CostGradient) -> String {
    let cost = Shown::cost(simulation, found);
    let rows: Vec<[String; 6]> = simulation
        .wanted
        .iter()
        .zip(&simulation.nominal)
        .zip(&simulation.wanted_columns)
        .zip(&found.by)
        .map(|(((name, nominal), column), by)| {
            let nominal = nominal.unwrap_or(0.0);
            let unit = |shown: &Shown| shown.unit.clone().unwrap_or_default();
            let own = Shown { unit: column.unit.clone(), factor: column.factor };
            let derivative = cost.per(&own);
            [
                name.clone(),
                significant(own.of(nominal)),
                unit(&own),
                significant(derivative.of(*by)),
                unit(&derivative),
                significant(cost.of(by * nominal)),
            ]
        })
        .collect();
    let head = format!(
        "{}: {} = {}{} until t = {} s\n\n",
        simulation.model,
        found.cost,
        significant(cost.of(found.value)),
        cost.brackets(),
        significant(simulation.options.t_end)
    );
    head + &columns(["PARAMETER p", "VALUE", "UNIT", "DERIVATIVE", "UNIT", "TIMES p"], &rows)
}
