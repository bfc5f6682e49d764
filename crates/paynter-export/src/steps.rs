//! Derivations for reading: the lines of a lecturer's blackboard, in plain
//! text; the notations for the eye write them in their own files.

use crate::target::Target;
use paynter_algebra::Pool;
use paynter_equations::{Derivation, Line, Side};

/// Writes derivations in a notation, or in plain text.
pub fn steps(pool: &Pool, model: &str, derivations: &[Derivation], notation: Option<&dyn Target>) -> String {
    match notation {
        Some(target) => target.derivation(pool, model, derivations),
        None => text(pool, model, derivations),
    }
}

/// The left side in plain text: `rotor.p'`.
pub fn side_text(pool: &Pool, side: &Side) -> String {
    match side {
        Side::Symbol(symbol) => pool.name(*symbol).to_owned(),
        Side::Rate(name) => format!("{name}'"),
        Side::Output(name) => name.clone(),
        Side::Zero => "0".to_owned(),
    }
}

/// Why a line holds, with the law in plain text.
pub fn why_text(pool: &Pool, line: &Line) -> String {
    match line.law {
        Some((symbol, value)) => format!("{}: {} = {}", line.why, pool.name(symbol), pool.brief(value)),
        None => line.why.clone(),
    }
}

/// Derivations in plain text, the reasons in a column of their own.
pub(crate) fn text(pool: &Pool, model: &str, derivations: &[Derivation]) -> String {
    let mut out = format!("{model}: derivation\n");
    for derivation in derivations {
        out += &format!("\n{}\n", derivation.title);
        let rows: Vec<(String, String, String)> = derivation
            .lines
            .iter()
            .map(|line| {
                let left = line.left.as_ref().map_or_else(String::new, |side| side_text(pool, side));
                let right = line.right.map_or("…".to_owned(), |e| pool.display(e).to_string());
                (left, right, why_text(pool, line))
            })
            .collect();
        let left = rows.iter().map(|(left, _, _)| left.chars().count()).max().unwrap_or(0);
        // Long formulas do not push the reasons out of sight.
        let right =
            rows.iter().map(|(_, right, _)| right.chars().count()).filter(|n| *n <= 60).max().unwrap_or(0);
        for (start, value, why) in rows {
            let pad = " ".repeat(left - start.chars().count());
            let gap = " ".repeat(right.saturating_sub(value.chars().count()));
            out += format!("  {pad}{start} = {value}{gap}    ({why})\n").as_str();
        }
    }
    out
}
