//! From a causal bond graph and its equations to the standard interconnection model.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::poly::LowestTerms;
use paynter_algebra::{Expr, Fingerprints, Node, Pool, Rational, Symbol};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_equations::{Equations, QueryError, Sparse};
use paynter_graph::{BondGraph, Causality, Parameter, Ranges, flat_name};
use paynter_transform::Place;
use rustc_hash::FxHashMap;

use crate::bound::degrees;
use crate::delta::{Deltas, Uncertain};
use crate::form::Form;
use crate::model::{Block, Channel, Interconnection, Matrices, Numbers, Quantity, Request, Uncertainty};
use crate::posed;
use crate::realise::{Pair, Realiser, parts};
use crate::reduce::Loop;
use crate::rows::{Row, Rows, Unsuitable, rows};
use crate::solve::solve;
use crate::split::{Realised, Splitting};

/// Makes the standard interconnection model of a linear model.
pub fn interconnect(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    equations: &Equations,
    request: &Request,
    token: &CancellationToken,
) -> Result<Interconnection, QueryError> {
    let differentiated = differentiated_input(pool, equations);
    if let Some(k) = differentiated.filter(|_| !request.may_stand_alone) {
        return Err(refused(improper(graph, equations, k)));
    }
    let alone = differentiated.is_some();
    let by_laws = match rows(pool, graph, causality, equations) {
        Ok(rows) => realised(pool, graph, &rows, (request, alone), token)?,
        Err(Unsuitable::Nonlinear) => return Err(refused(nonlinear(graph, None))),
        Err(Unsuitable::HigherIndex) => None,
    };
    let found = match by_laws {
        Some(found) => Some(found),
        None => {
            let rows = reduced(pool, equations);
            realised(pool, graph, &rows, (request, alone), token)?
        }
    };
    let Some(solved) = found else { return Err(refused(nonlinear(graph, None))) };
    assemble(pool, graph, equations, request, solved, token)
}

/// The first input whose derivative the equations read.
fn differentiated_input(pool: &mut Pool, equations: &Equations) -> Option<usize> {
    let outputs = equations.outputs.iter().map(|output| output.value);
    let all: Vec<Expr> = equations.rates.iter().copied().chain(outputs).collect();
    equations.inputs.iter().position(|input| {
        let mut used = false;
        for derivative in input.symbols.iter().skip(1) {
            for value in &all {
                if pool.depends_on(*value, *derivative) {
                    let derivative = pool.diff(*value, *derivative);
                    used = used || !pool.is_zero(derivative);
                }
            }
        }
        used
    })
}

/// The refusal of equations that read the derivative of an input.
fn improper(graph: &BondGraph, equations: &Equations, k: usize) -> Diagnostic {
    let message = format!(
        "the state equations contain the derivative of the input `{}`, so that they have no standard interconnection model",
        equations.inputs[k].name
    );
    let diagnostic = Diagnostic::new(code::IMPROPER_INTERCONNECTION, message);
    match graph.inputs.get(k) {
        Some(declared) => diagnostic.at(declared.span),
        None => diagnostic,
    }
}

/// The refusal of a model that is not linear, with the row that is not.
fn nonlinear(graph: &BondGraph, row: Option<&Row>) -> Diagnostic {
    let place = row.and_then(|row| match (row.element, row.place) {
        (Some(id), _) => Some(("the law of", &graph.element(id).name, graph.element(id).span)),
        (None, Some(Place::Signal(k))) => {
            graph.signals.get(k).map(|signal| ("the signal", &signal.name, signal.span))
        }
        (None, Some(Place::Output(k))) => {
            graph.outputs.get(k).map(|output| ("the output", &output.name, output.span))
        }
        _ => None,
    });
    let message =
        "the model is not linear with constant coefficients, so it has no standard interconnection model";
    match place {
        Some((what, name, span)) => {
            let message = format!("{message}: {what} `{name}` is not");
            Diagnostic::new(code::NO_INTERCONNECTION, message).at(span)
        }
        None => Diagnostic::new(code::NO_INTERCONNECTION, message),
    }
}

pub(crate) fn refused(diagnostic: Diagnostic) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    QueryError::Wrong(diagnostics)
}

/// The reduced equations as rows, where laws one by one do not serve: x' and y over states and inputs.
fn reduced(pool: &mut Pool, equations: &Equations) -> Rows {
    let derivatives =
        equations.inputs.iter().flat_map(|input| input.symbols.iter().skip(1).copied()).collect();
    let mut list = Vec::new();
    let mut give = |pool: &mut Pool, name: &str, value: Expr| {
        let unknown = pool.fresh(name);
        list.push(Row { unknown: Some(unknown), value, element: None, place: None, order: 0 });
        unknown
    };
    let rates = equations.rates.iter().map(|rate| give(pool, "rate", *rate)).collect();
    let outputs = equations.outputs.iter().map(|output| give(pool, "output", output.value)).collect();
    Rows {
        rates,
        outputs,
        rows: list,
        states: equations.states.iter().map(|state| state.symbol).collect(),
        inputs: equations.inputs.iter().filter_map(|input| input.symbols.first().copied()).collect(),
        input_derivatives: derivatives,
        dependent: Vec::new(),
    }
}

/// Rates, outputs and auxiliary outputs over states, inputs and auxiliary inputs.
struct Solved {
    rates: Vec<Form>,
    outputs: Vec<Form>,
    states: Vec<Symbol>,
    inputs: Vec<Symbol>,
    pairs: Vec<Pair>,
    uncertain: Vec<Uncertain>,
    splitting: Option<Splitting>,
}

impl Solved {
    /// Leaves out what inputs and their derivatives do, and what outputs are: their rows and columns are zero.
    fn leave_ends_out(&mut self, derivatives: &[Symbol]) {
        let ends: BTreeSet<Symbol> = self.inputs.iter().chain(derivatives).copied().collect();
        self.outputs.iter_mut().for_each(|output| output.0.clear());
        self.each_form(|form| form.0.retain(|symbol, _| !ends.contains(symbol)));
    }

    fn each_form(&mut self, mut change: impl FnMut(&mut Form)) {
        let ends = self.rates.iter_mut().chain(&mut self.outputs);
        ends.chain(self.pairs.iter_mut().map(|pair| &mut pair.z)).for_each(&mut change);
    }
}

/// Realises rows and solves them; nothing where they do not determine their unknowns, or where a channel that
/// matters follows the derivative of an input. A model that is to stand `alone` has no inputs and outputs that matter.
fn realised(
    pool: &mut Pool,
    graph: &BondGraph,
    rows: &Rows,
    (request, alone): (&Request, bool),
    token: &CancellationToken,
) -> Result<Option<Solved>, QueryError> {
    let mut split = Vec::with_capacity(rows.rows.len());
    for row in &rows.rows {
        match parts(pool, graph, row) {
            Ok(parts) => split.push(parts),
            Err(_) => return Err(refused(nonlinear(graph, Some(row)))),
        }
    }
    let coefficients: Vec<Expr> = split.iter().flatten().map(|(_, c)| *c).collect();
    let deltas = Deltas::new(pool, graph, request, &coefficients);
    let mut realiser = Realiser::new(pool, graph, deltas, request.procedure);
    let mut list = Vec::with_capacity(rows.rows.len());
    for (row, parts) in rows.rows.iter().zip(&split) {
        token.check()?;
        list.push(realiser.row(row, parts));
    }
    let Realiser { pool, deltas, mut pairs, more, .. } = realiser;
    let ranges = Ranges::new(graph);
    let own = list.len();
    list.extend(more);
    let mut known: BTreeSet<Symbol> = rows.states.iter().chain(&rows.inputs).copied().collect();
    known.extend(&rows.input_derivatives);
    known.extend(pairs.iter().map(|pair| pair.w));
    let Ok(values) = solve(pool, &list, &known, &ranges, token)? else { return Ok(None) };
    let realised = Realised { rows, nominal: &list[..own], quotients: &list[own..], pairs: &pairs };
    let splitting = Splitting::new(pool, graph, &realised, &values, &ranges, token)?;
    for pair in &mut pairs {
        pair.z = pair.z.substituted(pool, &values);
    }
    let take = |symbols: &[Symbol]| -> Vec<Form> {
        symbols.iter().map(|symbol| values.get(symbol).cloned().unwrap_or_default()).collect()
    };
    let (rates, outputs) = (take(&rows.rates), take(&rows.outputs));
    let (states, inputs) = (rows.states.clone(), rows.inputs.clone());
    let mut solved = Solved { rates, outputs, states, inputs, pairs, uncertain: deltas.list, splitting };
    let mut prints = Fingerprints::new();
    solved.each_form(|form| form.0.retain(|_, entry| !prints.is_zero(pool, *entry)));
    if alone {
        solved.leave_ends_out(&rows.input_derivatives);
    }
    solved.pairs = effective(&solved);
    let mut differentiated = false;
    let is_derivative = |symbol: &Symbol| rows.input_derivatives.contains(symbol);
    solved.each_form(|form| differentiated |= form.0.keys().any(is_derivative));
    Ok((!differentiated).then_some(solved))
}

/// Puts blocks and matrices together.
fn assemble(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    request: &Request,
    mut solved: Solved,
    token: &CancellationToken,
) -> Result<Interconnection, QueryError> {
    let mut prints = Fingerprints::new();
    let ends = solved.rates.iter_mut().chain(&mut solved.outputs).collect();
    let values: FxHashMap<Symbol, f64> = graph.parameters.iter().map(|p| (p.symbol, p.number)).collect();
    let nominal = |symbol: Symbol| values.get(&symbol).copied();
    let removed = Loop { ends, pairs: &mut solved.pairs }.reduce(pool, &nominal, token)?;
    let mut lowest = LowestTerms::new(token);
    solved.each_form(|form| {
        form.0.retain(|_, entry| {
            *entry = lowest.of(pool, *entry);
            !prints.is_zero(pool, *entry)
        });
    });
    token.check()?;
    let mut pairs = std::mem::take(&mut solved.pairs);
    pairs.sort_by_key(|pair| pair.quantity);
    let mut blocks: Vec<Block> = Vec::new();
    let mut channels: Vec<Channel> = Vec::new();
    let mut start = 0;
    for (quantity, uncertain) in solved.uncertain.iter().enumerate() {
        let count = pairs.iter().filter(|pair| pair.quantity == quantity).count();
        if count == 0 {
            continue;
        }
        for (k, pair) in pairs[start..start + count].iter().enumerate() {
            let number = if count > 1 { format!("_{}", k + 1) } else { String::new() };
            channels.push(Channel {
                name: format!("{}{number}", uncertain.name),
                w: pair.w,
                block: blocks.len(),
                element: pair.element,
                differentiated: pair.differentiated,
            });
        }
        blocks.push(block(pool, graph, request, uncertain, start..start + count));
        start += count;
    }
    let w: Vec<Symbol> = channels.iter().map(|channel| channel.w).collect();
    let z: Vec<Form> = pairs.iter().map(|pair| pair.z.clone()).collect();
    let (x, u) = (&solved.states, &solved.inputs);
    let symbols = Matrices {
        a: matrix(&solved.rates, x),
        b1: matrix(&solved.rates, &w),
        b2: matrix(&solved.rates, u),
        c1: matrix(&z, x),
        d11: matrix(&z, &w),
        d12: matrix(&z, u),
        c2: matrix(&solved.outputs, x),
        d21: matrix(&solved.outputs, &w),
        d22: matrix(&solved.outputs, u),
    };
    let exact = exact_parameters(pool, graph);
    let numbers = symbols.map(|matrix| in_numbers(pool, matrix, &exact))?;
    let ranges: Vec<_> = blocks.iter().map(|block| block.channels.clone()).collect();
    for (block, degree) in blocks.iter_mut().zip(degrees(pool, &symbols, &ranges, token)?) {
        block.degree = degree;
    }
    let posed = match request.normalized {
        true => Some(posed::over_the_box(&numbers.d11, &ranges, token)?),
        false => None,
    };
    let split = solved.splitting.map(|splitting| splitting.of(pool, graph, &removed, &channels, &z, token));
    Ok(Interconnection {
        procedure: request.procedure,
        normalized: request.normalized,
        states: equations.states.iter().map(|state| state.name.clone()).collect(),
        inputs: equations.inputs.iter().map(|input| input.name.clone()).collect(),
        outputs: graph.outputs.iter().map(|output| flat_name(&output.name)).collect(),
        channels,
        blocks,
        symbols,
        numbers,
        posed,
        split,
    })
}

/// The pairs whose auxiliary output follows states or inputs, and whose auxiliary input reaches rates or outputs.
fn effective(solved: &Solved) -> Vec<Pair> {
    let place: BTreeMap<Symbol, usize> =
        solved.pairs.iter().enumerate().map(|(k, pair)| (pair.w, k)).collect();
    let n = solved.pairs.len();
    let mut driven: Vec<bool> = Vec::with_capacity(n);
    let mut reaching = vec![false; n];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (k, pair) in solved.pairs.iter().enumerate() {
        driven.push(pair.z.0.keys().any(|symbol| !place.contains_key(symbol)));
        for from in pair.z.0.keys().filter_map(|symbol| place.get(symbol)) {
            next[*from].push(k);
            before[k].push(*from);
        }
    }
    for form in solved.rates.iter().chain(&solved.outputs) {
        for k in form.0.keys().filter_map(|symbol| place.get(symbol)) {
            reaching[*k] = true;
        }
    }
    spread(&mut driven, &next);
    spread(&mut reaching, &before);
    let kept: Vec<bool> = driven.iter().zip(&reaching).map(|(a, b)| *a && *b).collect();
    let pairs = solved.pairs.iter().enumerate().filter(|(k, _)| kept[*k]).map(|(_, pair)| Pair {
        quantity: pair.quantity,
        w: pair.w,
        z: Form(
            pair.z
                .0
                .iter()
                .filter(|(s, _)| place.get(s).is_none_or(|k| kept[*k]))
                .map(|(s, e)| (*s, *e))
                .collect(),
        ),
        element: pair.element,
        differentiated: pair.differentiated,
        entering: pair.entering.clone(),
    });
    pairs.collect()
}

/// Marks all that marked nodes lead to.
fn spread(marked: &mut [bool], next: &[Vec<usize>]) {
    let mut open: Vec<usize> = (0..marked.len()).filter(|k| marked[*k]).collect();
    while let Some(k) = open.pop() {
        for &other in &next[k] {
            if !std::mem::replace(&mut marked[other], true) {
                open.push(other);
            }
        }
    }
}

/// A block of Δ with its δ over the changes of parameters.
fn block(
    pool: &mut Pool,
    graph: &BondGraph,
    request: &Request,
    uncertain: &Uncertain,
    channels: std::ops::Range<usize>,
) -> Block {
    let Uncertain { name, quantity, uncertainty, value, number } = uncertain.clone();
    let mut changes = Vec::new();
    let mut moved: FxHashMap<Symbol, Expr> = FxHashMap::default();
    for symbol in pool.symbols(value) {
        // Other parameters keep their values.
        let same = |place: &&usize| graph.parameters[**place].symbol == symbol;
        let Some(&place) = request.parameters.iter().find(same) else { continue };
        let change = pool.symbol(&format!("Delta_{}", flat_name(&graph.parameters[place].name)));
        changes.push((change, place));
        let (old, new) = (pool.var(symbol), pool.var(change));
        moved.insert(symbol, pool.add(old, new));
    }
    // The absolute change of the quantity.
    let change = match (&quantity, changes.first()) {
        (Quantity::Parameter(_), Some((symbol, _))) => pool.var(*symbol),
        _ => {
            let new = pool.substitute(value, &moved);
            pool.sub(new, value)
        }
    };
    let (delta, bounds) = match uncertainty {
        Uncertainty::Relative => (pool.div(change, value), None),
        Uncertainty::Reciprocal => {
            let new = pool.add(value, change);
            let ratio = pool.div(change, new);
            (pool.neg(ratio), None)
        }
        Uncertainty::Absolute => (change, None),
        Uncertainty::Scaled(r) => {
            let r_exact = Deltas::exact(pool, r);
            let size = pool.mul(r_exact, value);
            (pool.div(change, size), Some((number - r * number, number + r * number)))
        }
        Uncertainty::ScaledAbsolute(t) => {
            let t_exact = Deltas::exact(pool, t);
            (pool.div(change, t_exact), Some((number - t, number + t)))
        }
        Uncertainty::Between { size, bend } => {
            let (a, b) = (Deltas::exact(pool, size), Deltas::exact(pool, bend));
            let bent = pool.mul(b, change);
            let scale = pool.sub(a, bent);
            let ends = (number - size / (1.0 - bend), number + size / (1.0 + bend));
            (pool.div(change, scale), Some(ends))
        }
    };
    Block { name, quantity, channels, uncertainty, delta, changes, nominal: number, bounds, degree: 0 }
}

/// The coefficients of forms by some variables.
fn matrix(forms: &[Form], columns: &[Symbol]) -> Sparse {
    let place: BTreeMap<Symbol, usize> = columns.iter().enumerate().map(|(j, s)| (*s, j)).collect();
    let mut entries: Vec<(usize, usize, Expr)> = Vec::new();
    for (i, form) in forms.iter().enumerate() {
        entries.extend(form.0.iter().filter_map(|(symbol, c)| Some((i, *place.get(symbol)?, *c))));
    }
    entries.sort_unstable_by_key(|(i, j, _)| (*i, *j));
    Sparse { rows: forms.len(), columns: columns.len(), entries }
}

/// The values of parameters as numbers that are not rounded any more: those given in digits, the others as they are
/// calculated.
fn exact_parameters(pool: &mut Pool, graph: &BondGraph) -> FxHashMap<Symbol, Expr> {
    let exact = |pool: &mut Pool, parameter: &Parameter| {
        let value = parameter.value.expr(pool);
        if matches!(pool.node(value), Node::Number(_)) {
            return Some(value);
        }
        Rational::try_from(parameter.number).ok().map(|number| pool.number(number))
    };
    let list = graph.parameters.iter();
    list.filter_map(|parameter| Some((parameter.symbol, exact(pool, parameter)?))).collect()
}

/// A matrix at nominal values. Entries are calculated in exact numbers and rounded once: where parameters lie many
/// decades apart, large terms cancel, and the rounding of each would be all that is left.
fn in_numbers(
    pool: &mut Pool,
    matrix: &Sparse,
    values: &FxHashMap<Symbol, Expr>,
) -> Result<Numbers, QueryError> {
    let mut entries = Vec::with_capacity(matrix.entries.len());
    for (i, j, entry) in &matrix.entries {
        let exact = pool.substitute(*entry, values);
        let value = match pool.node(exact) {
            Node::Number(number) => Some(number.to_f64().value()),
            _ => pool.eval(exact, &|_| None).ok(),
        };
        match value.filter(|value| value.is_finite()) {
            Some(value) => entries.push((*i, *j, value)),
            None => {
                let message = format!("`{}` has no finite value at the nominal values", pool.brief(*entry));
                return Err(refused(Diagnostic::new(code::VANISHING_DIVISOR, message)));
            }
        }
    }
    Ok(Numbers { rows: matrix.rows, columns: matrix.columns, entries })
}
