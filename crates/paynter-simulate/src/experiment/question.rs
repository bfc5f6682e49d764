//! Checks what a simulation is asked for, and finds what names mean.

use super::{Sensitivities, SimulateOptions, solvers};
use crate::tolerance::{
    FINEST_TOLERANCE, MOST_FIXED_STEPS, MOST_SENSITIVITY_BYTES, SENSITIVITY_COPIES, SHORTEST_RUN,
};
use crate::{Method, Options, Wanted};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::number::shortest;
use paynter_base::{Diagnostic, Remedy, Severity, closest, code};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, flat_name};
use std::collections::BTreeSet;

/// The end where nothing else says when.
pub const T_END: f64 = 10.0;

/// What a name in a question means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// An independent parameter.
    Parameter(usize),
    /// An initial state.
    Initial(usize),
    /// An input.
    Input(usize),
}

/// The names of states.
pub(super) fn states(equations: &Equations) -> Vec<&str> {
    equations.states.iter().map(|state| state.name.as_str()).collect()
}

fn initial_name(state: &str) -> String {
    format!("init({state})")
}

/// Finds what a name means, as people write it or as results do.
pub(super) fn named(graph: &BondGraph, states: &[&str], name: &str) -> Option<Named> {
    let flat = flat_name(name);
    let parameter = graph.parameters.iter().position(|p| flat_name(&p.name) == flat);
    let initial = || states.iter().position(|state| initial_name(state) == flat);
    let input = || graph.inputs.iter().position(|input| flat_name(&input.name) == flat);
    None.or(parameter.map(Named::Parameter))
        .or_else(|| initial().map(Named::Initial))
        .or_else(|| input().map(Named::Input))
}

/// Says that a name means nothing here, with what may have been meant.
pub(super) fn unknown(graph: &BondGraph, states: &[&str], name: &str, inputs: bool) -> Box<Diagnostic> {
    let flat = flat_name(name);
    let mut known: Vec<String> = graph.parameters.iter().map(|p| flat_name(&p.name)).collect();
    known.extend(states.iter().map(|state| initial_name(state)));
    let (what, also) = if inputs {
        known.extend(graph.inputs.iter().map(|input| flat_name(&input.name)));
        (
            ", input",
            Remedy::marked(
                " (what shapes the model, such as the size of an array, differs by {option scenario} only)",
            ),
        )
    } else {
        ("", Remedy::default())
    };
    let message = format!("there is no independent parameter{what} or initial state `{name}`");
    let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
    let derived = graph.derived.iter().any(|d| flat_name(&d.name) == flat);
    let input = graph.inputs.iter().any(|input| flat_name(&input.name) == flat);
    Box::new(match closest(&flat, known.iter().map(String::as_str)) {
        _ if derived => diagnostic.help(
            Remedy::from("it is defined from other parameters: name those, or make it independent with ")
                .option("set", format!("{name}=VALUE")),
        ),
        _ if states.contains(&flat.as_str()) => {
            diagnostic.help(format!("it is a state: `init({flat})` is where it begins"))
        }
        _ if input => diagnostic
            .help(Remedy::marked("it is an input: compare runs with {option sweep} or {option scenario}")),
        Some(near) => diagnostic.help(Remedy::from(format!("did you mean `{near}`?")).and(also)),
        None => diagnostic.help(
            Remedy::marked("{ask equations} lists parameters and states; an initial state is `init(NAME.q)`")
                .and(also),
        ),
    })
}

/// Turns the question into numbers, or says what is wrong with it; `measured` is the end of the data.
pub(super) fn check(options: &SimulateOptions, measured: Option<f64>) -> Result<Options, Box<Diagnostic>> {
    let refuse = |message: String, help: Remedy| {
        Err(Box::new(Diagnostic::new(code::BAD_SIMULATION, message).help(help)))
    };
    let Some((_, method)) = Method::NAMES.iter().find(|(name, _)| *name == options.solver) else {
        let help = match closest(&options.solver, solvers()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("choose one of {}", solvers().collect::<Vec<_>>().join(", ")),
        };
        return refuse(format!("there is no solver `{}`", options.solver), help.into());
    };
    if let Some(pair) = options.times.windows(2).find(|pair| pair[0] >= pair[1]) {
        let message = format!("the time {} comes after {}", shortest(pair[1]), shortest(pair[0]));
        return refuse(message, Remedy::marked("list {option times} in rising order, each once"));
    }
    let t_end = options.t_end.or(options.times.last().copied()).or(measured).unwrap_or(T_END);
    if !(t_end > 0.0 && t_end.is_finite()) {
        return refuse(
            format!("the end {} is not after the start 0", shortest(t_end)),
            Remedy::marked(
                "give a positive {option t_end}, in seconds; where it is left out, a run ends with its data",
            ),
        );
    }
    if t_end < SHORTEST_RUN {
        return refuse(
            format!("the end {} is too near the start for steps between them", shortest(t_end)),
            Remedy::marked("give a later {option t_end}, or write the model in a larger unit of time"),
        );
    }
    if options.times.is_empty() && options.points < 2 {
        return refuse(
            format!("{} is too few samples", options.points),
            Remedy::marked("ask for two {option points} or more"),
        );
    }
    if let Some(outside) = options.times.iter().find(|t| !(0.0..=t_end).contains(*t)) {
        return refuse(
            format!("the time {} is not between 0 and the end {}", shortest(*outside), shortest(t_end)),
            Remedy::marked("list no {option times} before 0 or after {option t_end}"),
        );
    }
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let atol = options.atol.filter(|atol| !positive(*atol));
    if let Some(wrong) = atol.or(Some(options.rtol).filter(|rtol| !(f64::EPSILON..1.0).contains(rtol))) {
        return refuse(
            format!(
                "{} is no tolerance: it must be positive, and a relative one below 1 and above rounding",
                shortest(wrong)
            ),
            Remedy::marked(
                "give tolerances such as {option rtol=1e-8}; the smallest that makes sense is 1e-13",
            ),
        );
    }
    let step = match (method.is_fixed(), options.step) {
        (_, Some(step)) if !positive(step) => {
            return refuse(
                format!("a step of {} does not lead to the end", shortest(step)),
                Remedy::marked("give a positive {option step}, in seconds"),
            );
        }
        (true, None) => Some(t_end / 1000.0),
        (_, step) => step,
    };
    if let Some(step) = step.filter(|step| t_end / step > MOST_FIXED_STEPS) {
        return refuse(
            format!(
                "a step of {} makes more than a thousand million steps to the end {}",
                shortest(step),
                shortest(t_end)
            ),
            Remedy::marked("give a larger {option step}, or an earlier {option t_end}"),
        );
    }
    Ok(Options {
        t_end,
        times: options.times.clone(),
        points: options.points,
        rtol: options.rtol.max(FINEST_TOLERANCE),
        atol: options.atol,
        method: *method,
        step,
        sensitivities_tested: options.sensitivities_tested,
        max_steps: options.max_steps,
        ..Options::default()
    })
}

/// Says that a step was given to a solver that chooses its own.
pub(super) fn idle_step(solver: &str) -> Diagnostic {
    let message = format!("the solver `{solver}` chooses its own steps and not the one that is given");
    let diagnostic =
        Diagnostic { severity: Severity::Warning, ..Diagnostic::new(code::BAD_SIMULATION, message) };
    diagnostic
        .help(Remedy::marked("leave it out, or choose {option solver=rk4} or `euler`; {option points} and {option times} ask for samples"))
}

/// Finds the parameters and initial states that are named.
pub(super) fn wanted(
    pool: &Pool,
    graph: &BondGraph,
    equations: &Equations,
    asked: &Sensitivities,
) -> Result<Vec<(String, Wanted)>, Box<Diagnostic>> {
    let names = match asked {
        Sensitivities::None => return Ok(Vec::new()),
        Sensitivities::All => return Ok(all(pool, graph, equations)),
        Sensitivities::Names(names) => names,
    };
    let initial = |i: usize| (initial_name(&equations.states[i].name), Wanted::Initial(i));
    let states = states(equations);
    let mut found: Vec<(String, Wanted)> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for name in names {
        let entries = match (named(graph, &states, name), name.as_str()) {
            (Some(Named::Parameter(i)), _) => {
                vec![(flat_name(&graph.parameters[i].name), Wanted::Parameter(i))]
            }
            (Some(Named::Initial(i)), _) => vec![initial(i)],
            (None, "all") => all(pool, graph, equations),
            (None, "init") => (0..equations.states.len()).map(initial).collect(),
            _ => return Err(unknown(graph, &states, name, false)),
        };
        for entry in entries {
            if known.insert(entry.0.clone()) {
                found.push(entry);
            }
        }
    }
    Ok(found)
}

/// Refuses sensitivities that would not fit into memory, before any is taken.
pub(super) fn affordable(equations: &Equations, wanted: usize) -> Result<(), Box<Diagnostic>> {
    let states = equations.states.len();
    let bytes = (SENSITIVITY_COPIES * size_of::<f64>()).saturating_mul(states).saturating_mul(wanted);
    if bytes <= MOST_SENSITIVITY_BYTES {
        return Ok(());
    }
    let message = format!(
        "the sensitivities of {states} states to {wanted} parameters and initial values would take {:.1} GB of \
         memory, and {:.1} GB are kept for them",
        bytes as f64 / 1e9,
        MOST_SENSITIVITY_BYTES as f64 / 1e9
    );
    Err(Box::new(Diagnostic::new(code::BAD_SIMULATION, message).help(Remedy::marked(
        "name those that matter ({option sensitivity=NAME}), sum them up ({option direction}), or ask for a cost's \
         {option gradient}, which takes no more memory for many than for one",
    ))))
}

/// The parameters that the equations read.
fn all(pool: &Pool, graph: &BondGraph, equations: &Equations) -> Vec<(String, Wanted)> {
    let mut read: Vec<Expr> = equations.rates.clone();
    read.extend(equations.outputs.iter().map(|output| output.value));
    read.extend(equations.constraints.iter().map(|c| c.residual));
    read.extend(equations.states.iter().map(|state| state.initial));
    read.extend(equations.inputs.iter().map(|input| input.value));
    let read: BTreeSet<Symbol> =
        pool.reachable(&read).into_iter().filter_map(|e| pool.as_symbol(e)).collect();
    let all = graph.parameters.iter().enumerate().filter(|(_, p)| read.contains(&p.symbol));
    all.map(|(i, p)| (flat_name(&p.name), Wanted::Parameter(i))).collect()
}
