//! The frequency response of a linear model, on a grid that shows its peaks
//! where no other is asked for.

use num_complex::Complex64;
use paynter_algebra::Pool;
use paynter_base::{CancellationToken, Diagnostic, closest, code};
use paynter_equations::{Equations, QueryError};
use paynter_graph::{BondGraph, flat_name};

use crate::LinearModel;
use crate::grid::{self, Frequencies};
use crate::linalg::Matrices;
use crate::linear::refused;
use crate::poles::{ZERO_STATES, expanded};
use crate::settled::{part_to_change, vanishing_entries};
use crate::sweep::{Pencil, response};

/// H(jω) for some outputs and inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct FrequencyResponse {
    /// Angular frequencies in rad/s, rising.
    pub omega: Vec<f64>,
    /// The outputs, by place.
    pub outputs: Vec<usize>,
    /// The inputs, by place.
    pub inputs: Vec<usize>,
    /// By frequency: outputs, then inputs. Not a finite number where a pole lies.
    pub values: Vec<Vec<Complex64>>,
}

/// Which responses are asked for, by names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResponseChoice {
    /// From, to, and number of points in logarithmic steps; chosen by the model where left out.
    pub omega: Option<Frequencies>,
    /// Frequencies one by one, in place of a grid.
    pub listed: Vec<f64>,
    /// The outputs; all where empty.
    pub outputs: Vec<String>,
    /// The inputs; all where empty.
    pub inputs: Vec<String>,
}

/// Finds the frequency response.
pub fn frequency_response(
    pool: &Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    choice: &ResponseChoice,
    token: &CancellationToken,
) -> Result<FrequencyResponse, QueryError> {
    let matrices = linear.matrices(pool)?;
    let Equations { outputs, inputs, .. } = &*linear.equations;
    let outputs: Vec<String> = outputs.iter().map(|output| output.name.clone()).collect();
    let inputs: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let (outputs, inputs) = chosen_places(&outputs, &inputs, choice)?;
    let wanted: Vec<(usize, usize)> =
        outputs.iter().flat_map(|o| inputs.iter().map(move |i| (*o, *i))).collect();
    // Poles and zeros give the range and, where they are exact, the response to the last digit.
    let small = matrices.states() <= ZERO_STATES;
    let spectrum = small.then(|| linear.spectrum(pool, graph, &matrices, &wanted, token)).transpose();
    let spectrum = match spectrum {
        Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
        Err(QueryError::Wrong(_)) => None,
        Ok(spectrum) => spectrum,
    };
    let pencil = Pencil::new(&matrices.select(&outputs, &inputs));
    let evaluate = |omega: &[f64]| match &spectrum {
        Some(spectrum) if spectrum.exact => {
            Ok(omega.iter().map(|w| spectrum.entries.iter().map(|entry| entry.at(*w)).collect()).collect())
        }
        _ => Ok(response(&pencil, omega, token)?.values),
    };
    let (omega, values): (Vec<f64>, Vec<Vec<Complex64>>) = match choice.omega {
        _ if !choice.listed.is_empty() => (choice.listed.clone(), evaluate(&choice.listed)?),
        Some(frequencies) => (frequencies.list(), evaluate(&frequencies.list())?),
        None => {
            let roots = match &spectrum {
                Some(spectrum) => {
                    let mut roots = expanded(&spectrum.poles);
                    roots.extend(spectrum.entries.iter().flat_map(|entry| entry.zeros.iter().copied()));
                    roots
                }
                // Rates of single states stand in for eigenvalues that cannot be had, or not soon.
                None => rates(&matrices),
            };
            grid::adaptive(&evaluate, grid::span(&roots), &roots)?.into_iter().unzip()
        }
    };
    let mut values = values;
    if !spectrum.is_some_and(|spectrum| spectrum.exact) {
        let vanishing = vanishing_entries(
            &matrices.select(&outputs, &inputs),
            part_to_change(linear.point.is_none()),
            token,
        )?;
        for values in &mut values {
            let zeros =
                values.iter_mut().zip(&vanishing).filter(|(value, is_zero)| **is_zero && value.is_finite());
            zeros.for_each(|(value, _)| *value = Complex64::ZERO);
        }
    }
    Ok(FrequencyResponse { omega, outputs, inputs, values })
}

/// The places of the outputs and inputs asked for among all of them.
pub fn chosen_places(
    outputs: &[String],
    inputs: &[String],
    choice: &ResponseChoice,
) -> Result<(Vec<usize>, Vec<usize>), QueryError> {
    Ok((named("output", &choice.outputs, outputs)?, named("input", &choice.inputs, inputs)?))
}

/// The pairs of outputs and inputs asked for among some; none where one of the lists is empty and nothing is
/// named.
pub fn chosen_pairs(
    outputs: &[String],
    inputs: &[String],
    choice: &ResponseChoice,
) -> Result<Vec<(usize, usize)>, QueryError> {
    let nothing_named = choice.outputs.is_empty() && choice.inputs.is_empty();
    if nothing_named && (outputs.is_empty() || inputs.is_empty()) {
        return Ok(Vec::new());
    }
    let (outputs, inputs) = chosen_places(outputs, inputs, choice)?;
    Ok(outputs.iter().flat_map(|output| inputs.iter().map(move |input| (*output, *input))).collect())
}

/// How the name of the change of a quantity begins.
const CHANGE: &str = "Delta_";

/// The places of names in a list; all where none is named.
fn named(what: &str, names: &[String], list: &[String]) -> Result<Vec<usize>, QueryError> {
    if list.is_empty() {
        let message = format!("the model has no {what}, so it has no frequency response");
        let help = format!("declare one: `{what} NAME = …`");
        return Err(refused(Diagnostic::new(code::NO_RESPONSE, message).help(help)));
    }
    if names.is_empty() {
        return Ok((0..list.len()).collect());
    }
    let place = |name: &String| {
        let flat = flat_name(name);
        let known = |wanted: &str| list.iter().position(|have| *have == wanted);
        // A linearised model calls the change of `y` `Delta_y`, and takes both names; so does the model itself.
        let of_change = || known(&format!("{CHANGE}{}", flat.replace('.', "_")));
        let of_whole = || flat.strip_prefix(CHANGE).and_then(known);
        known(&flat).or_else(of_change).or_else(of_whole).ok_or_else(|| {
            let help = match closest(&flat, list.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the {what}s are {}", list.join(", ")),
            };
            let message = format!("the model has no {what} `{name}`");
            refused(Diagnostic::new(code::UNKNOWN_NAME, message).help(help))
        })
    };
    names.iter().map(place).collect()
}

/// Magnitudes on the diagonal of A and of exchanges between two states.
fn rates(matrices: &Matrices) -> Vec<Complex64> {
    let entries = &matrices.a.entries;
    let at = |i: usize, j: usize| {
        let place = entries.binary_search_by_key(&(i, j), |(i, j, _)| (*i, *j));
        place.map_or(0.0, |place| entries[place].2)
    };
    let rate = |(i, j, value): &(usize, usize, f64)| {
        if i == j { value.abs() } else { (value * at(*j, *i)).abs().sqrt() }
    };
    entries.iter().map(|entry| Complex64::new(rate(entry), 0.0)).collect()
}
