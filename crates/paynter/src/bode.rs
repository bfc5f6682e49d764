//! Questions about the frequency response.

use crate::{Model, NoAnswer};
use paynter_base::{Diagnostic, Ticket, closest, code};
use paynter_numerics::grid;
use paynter_numerics::linalg::{Complex64, Matrices};
use paynter_numerics::poles::{ZERO_STATES, expanded};
use paynter_numerics::sweep::{Pencil, response};
use paynter_view::json;

/// What to compute.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BodeOptions {
    /// From, to, and number of points in logarithmic steps; chosen by the model where left out.
    pub omega: Option<Frequencies>,
    /// The outputs; all where empty.
    pub outputs: Vec<String>,
    /// The inputs; all where empty.
    pub inputs: Vec<String>,
}

/// Angular frequencies in logarithmic steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frequencies {
    /// The first, in rad/s.
    pub low: f64,
    /// The last, in rad/s.
    pub high: f64,
    /// How many.
    pub points: usize,
}

impl Frequencies {
    /// Lists them.
    pub fn list(&self) -> Vec<f64> {
        grid::logarithmic(self.low, self.high, self.points)
    }
}

impl Model {
    /// Tells the frequency response, on a grid that shows its peaks where no other is asked for.
    pub fn bode(&mut self, options: &BodeOptions, ticket: &Ticket) -> Result<json::Bode, NoAnswer> {
        let linear = self.linear(ticket)?;
        let matrices = linear.matrices(&self.pool)?;
        let equations = &linear.equations;
        let outputs = self.places("output", &options.outputs, equations.outputs.iter().map(|o| &o.name))?;
        let inputs = self.places("input", &options.inputs, equations.inputs.iter().map(|i| &i.name))?;
        let wanted: Vec<(usize, usize)> =
            outputs.iter().flat_map(|o| inputs.iter().map(move |i| (*o, *i))).collect();
        // Poles and zeros give the range and, where they are exact, the response to the last digit.
        let small = matrices.states() <= ZERO_STATES;
        let spectrum = small.then(|| self.spectrum(&linear, &matrices, &wanted, ticket)).transpose();
        let spectrum = match spectrum {
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => None,
            Ok(spectrum) => spectrum,
        };
        let pencil = Pencil::new(&matrices.select(&outputs, &inputs));
        let evaluate = |omega: &[f64]| match &spectrum {
            Some(spectrum) if spectrum.exact => Ok(omega
                .iter()
                .map(|w| spectrum.entries.iter().map(|entry| entry.at(*w)).collect())
                .collect()),
            _ => Ok(response(&pencil, omega, ticket)?.values),
        };
        let (omega, values): (Vec<f64>, Vec<Vec<Complex64>>) = match options.omega {
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
        let mut entries = Vec::new();
        for (o, output) in outputs.iter().enumerate() {
            for (i, input) in inputs.iter().enumerate() {
                let place = o * inputs.len() + i;
                let values: Vec<Complex64> = values.iter().map(|row| row[place]).collect();
                entries.push(json::BodeEntry {
                    output: equations.outputs[*output].name.clone(),
                    input: equations.inputs[*input].name.clone(),
                    re: values.iter().map(|z| Some(z.re).filter(|x| x.is_finite())).collect(),
                    im: values.iter().map(|z| Some(z.im).filter(|x| x.is_finite())).collect(),
                });
            }
        }
        Ok(json::Bode {
            ok: true,
            model: self.graph.as_ref().map_or(String::new(), |graph| graph.name.clone()),
            omega,
            entries,
            operating_point: linear.named_point(&self.pool),
            written: None,
            diagnostics: json::Diagnostic::list(&self.diagnostics, &self.sources),
        })
    }

    /// The places of names in a list; all where none is named.
    pub(crate) fn places<'a>(
        &self,
        what: &str,
        names: &[String],
        list: impl Iterator<Item = &'a String>,
    ) -> Result<Vec<usize>, NoAnswer> {
        let list: Vec<&str> = list.map(String::as_str).collect();
        let refuse = |diagnostic: Diagnostic| {
            let mut diagnostics = self.diagnostics.clone();
            diagnostics.push(diagnostic);
            NoAnswer::Wrong(diagnostics)
        };
        if list.is_empty() {
            let message = format!("the model has no {what}, so it has no frequency response");
            let help = format!("declare one: `{what} NAME = …`");
            return Err(refuse(Diagnostic::new(code::NO_RESPONSE, message).help(help)));
        }
        if names.is_empty() {
            return Ok((0..list.len()).collect());
        }
        names
            .iter()
            .map(|name| {
                let flat = paynter_graph::flat_name(name);
                list.iter().position(|have| *have == flat).ok_or_else(|| {
                    let help = match closest(&flat, list.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("the {what}s are {}", list.join(", ")),
                    };
                    let message = format!("the model has no {what} `{name}`");
                    refuse(Diagnostic::new(code::UNKNOWN_NAME, message).help(help))
                })
            })
            .collect()
    }
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
