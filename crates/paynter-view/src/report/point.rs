//! The section on the operating point.

use super::{Cell, Section};
use crate::json::{OperatingPoint, Role};
use paynter_draw::plot::{plain, unit};

/// States, implicit unknowns, inputs and outputs at rest, and what the bonds carry.
pub fn operating_point(found: &OperatingPoint) -> Section {
    let mut section = Section::new("operating-point", "Operating point");
    section.text("The steady state with the inputs at their values at time zero.");
    let number = |value: Option<f64>| Cell::Number(value.map_or_else(|| "–".to_owned(), |v| plain(v, 6)));
    if found.quantities.is_empty() {
        section.text("The model has neither states nor inputs nor outputs.");
    } else {
        let rows = found.quantities.iter().map(|quantity| {
            let role = match quantity.role {
                Role::State => "state",
                Role::Unknown => "implicit unknown",
                Role::Input => "input",
                Role::Output => "output",
            };
            vec![
                Cell::Name(quantity.name.clone()),
                number(quantity.value),
                Cell::Text(quantity.unit.as_deref().map(unit).unwrap_or_default()),
                Cell::Text(role.to_owned()),
            ]
        });
        section.table(
            "Values at rest",
            &["Quantity", "Value", "Unit", "Kind"],
            rows.collect(),
            "operating-point",
        );
    }
    if !found.bonds.is_empty() {
        let rows = found.bonds.iter().map(|bond| {
            let power = bond.effort.zip(bond.flow).map(|(effort, flow)| effort * flow);
            vec![Cell::Name(bond.name.clone()), number(bond.effort), number(bond.flow), number(power)]
        });
        section.table(
            "Effort and flow of every bond along its arrow, and their product, in SI",
            &["Bond", "Effort", "Flow", "Effort × flow"],
            rows.collect(),
            "operating-point",
        );
    }
    section
}
