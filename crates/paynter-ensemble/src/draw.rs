//! What is drawn: distributions of parameters, correlations and a design become a sampling, or are refused with the
//! reason.

use crate::{Correlation, Design, Distribution, Sampling};
use paynter_base::{Diagnostic, closest, code};

/// What is to be drawn, by the names of parameters. Values are in the units that the model declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// The uncertain parameters.
    pub quantities: Vec<(String, Distribution)>,
    /// Correlations of pairs of them.
    pub correlations: Vec<(String, String, f64)>,
    /// How samples are spread.
    pub design: Design,
    /// Where random numbers begin.
    pub seed: u64,
    /// The number of samples; with Sobol' indices that of base samples.
    pub samples: u64,
    /// Whether Sobol' indices are wanted.
    pub indices: bool,
}

impl Draw {
    /// The names of what is drawn, and how; `known` are the parameters that there are.
    pub fn sampling(self, known: &[String]) -> Result<(Vec<String>, Sampling), Box<Diagnostic>> {
        self.check(known)?;
        let place = |name: &String| self.quantities.iter().position(|(other, _)| other == name);
        let mut pairs = Vec::new();
        for (a, b, correlation) in &self.correlations {
            let (Some(a), Some(b)) = (place(a), place(b)) else {
                let message = format!("`{a}` and `{b}` are not both drawn, so they cannot be correlated");
                return Err(refused(message, "name parameters that have distributions"));
            };
            pairs.push((a, b, *correlation));
        }
        if self.indices && !pairs.is_empty() {
            let message = "the variance cannot be shared out among parameters that are correlated";
            return Err(refused(message, "ask for indices without correlations"));
        }
        let correlation = match pairs.is_empty() {
            true => Some(Correlation::none()),
            false => Correlation::new(self.quantities.len(), &pairs),
        };
        let Some(correlation) = correlation else {
            let help = "correlations lie between -1 and 1 and must fit together";
            return Err(refused("no numbers have all these correlations at once", help));
        };
        let Draw { design, seed, samples, indices, .. } = self;
        let (names, distributions) = self.quantities.into_iter().unzip();
        Ok((names, Sampling { distributions, correlation, design, seed, samples, indices }))
    }

    /// Refuses names that nothing has, and distributions that are none.
    fn check(&self, known: &[String]) -> Result<(), Box<Diagnostic>> {
        if self.quantities.is_empty() {
            return Err(refused(
                "no parameter has a tolerance, so there is nothing to draw",
                "write tolerances into the model, as in `param R = 2 ±10%`, or give distributions",
            ));
        }
        for (name, distribution) in &self.quantities {
            if !known.contains(name) {
                let help = match closest(name, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", known.join(", ")),
                };
                return Err(refused(format!("there is no independent parameter `{name}`"), &help));
            }
            if self.quantities.iter().filter(|(other, _)| other == name).count() > 1 {
                let message = format!("`{name}` has two distributions");
                return Err(refused(message, "give one for each parameter"));
            }
            if let Some(error) = distribution.error() {
                return Err(refused(format!("`{name}`: {error}"), "give other numbers"));
            }
        }
        Ok(())
    }
}

fn refused(message: impl Into<String>, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(code::BAD_SIMULATION, message.into()).help(help))
}
