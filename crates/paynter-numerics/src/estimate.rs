//! Quick estimates of eigenvalues, as a lecturer reads them off the causal
//! graph: each storage with the resistors that act on it directly is a first
//! order lag (1/(RC), R/L), and an I and a C that act on each other more
//! strongly than on their resistors are of second order, ω0² = 1/(LC) with
//! 2ζω0 = R/L + 1/(R'C). The rest of the model is taken to be loosely coupled.
//!
//! The gains of the causal paths, transformers and gyrators included, are the
//! entries of A: the loop of a storage through resistors is a diagonal entry,
//! the loop through two storages a product of two others.

use num_complex::Complex64;
use paynter_algebra::poly::readable;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{Equations, State};
use paynter_graph::{BondGraph, Class, ElementId, Stored, Variable};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

use crate::LinearModel;
use crate::linalg::{Matrices, Sparse};
use crate::tolerance::ESTIMATED_STATES;

/// What a group of elements resembles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKind {
    /// A storage with resistors: one real eigenvalue.
    FirstOrder,
    /// Two storages that exchange energy: s² + 2ζω0 s + ω0² with ζ < 1.
    Resonance,
    /// The same with ζ ≥ 1: two real eigenvalues.
    SecondOrder,
    /// A storage that nothing acts on: zero.
    Integrator,
}

/// A group of elements with its estimated eigenvalues.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What it resembles.
    pub kind: GroupKind,
    /// The places of its states.
    pub states: Vec<usize>,
    /// Its elements, storages first.
    pub elements: Vec<ElementId>,
    /// One eigenvalue for each state.
    pub values: Vec<Complex64>,
}

/// The estimate of a group, beside the eigenvalues that it is meant for.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The elements and their estimated eigenvalues.
    pub group: Group,
    /// The polynomial in s whose roots the estimates are: s + R/L, or s² + (R/L) s + 1/(LC).
    pub polynomial: Option<Expr>,
    /// The eigenvalues of the model nearest to the estimates.
    pub poles: Vec<Complex64>,
    /// The largest distance between the two relative to the true one; nothing where that is zero.
    pub error: Option<f64>,
}

impl Estimate {
    /// Natural frequency and damping ratio of two storages.
    pub fn oscillation(&self) -> Option<[f64; 2]> {
        let [first, second] = self.group.values[..] else { return None };
        let natural = (first * second).re.abs().sqrt();
        Some([natural, 0.0 - (first + second).re / (2.0 * natural)])
    }
}

/// Estimates the eigenvalues of a model of moderate order; `poles` are the true ones.
pub fn estimates(
    pool: &mut Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    matrices: &Matrices,
    poles: &[Complex64],
    token: &CancellationToken,
) -> Vec<Estimate> {
    if poles.len() > ESTIMATED_STATES {
        return Vec::new();
    }
    let groups = groups(pool, graph, &linear.equations, &matrices.a);
    let matched = matched(&groups, poles);
    let estimate = |(group, places): (Group, Vec<Option<usize>>)| {
        let near: Vec<Complex64> = places.iter().flatten().map(|place| poles[*place]).collect();
        let distance = |(value, pole): (&Complex64, &Complex64)| {
            if value == pole { 0.0 } else { (value - pole).norm() / pole.norm() }
        };
        let error = group.values.iter().zip(&near).map(distance).fold(0.0, f64::max);
        let polynomial = polynomial(pool, linear, &group, token);
        Estimate { group, polynomial, poles: near, error: error.is_finite().then_some(error) }
    };
    groups.into_iter().zip(matched).map(estimate).collect()
}

/// The polynomial of a group, by the entries of A in lowest terms.
fn polynomial(
    pool: &mut Pool,
    linear: &LinearModel,
    group: &Group,
    token: &CancellationToken,
) -> Option<Expr> {
    let a = &linear.space.a;
    let at = |pool: &mut Pool, i: usize, j: usize| {
        let entry = a.get(pool, i, j);
        readable(pool, entry, token)
    };
    let s = pool.symbol("s");
    let s = pool.var(s);
    match group.states[..] {
        [i] => {
            let own = at(pool, i, i);
            Some(pool.sub(s, own))
        }
        [i, j] => {
            let (forth, back) = (at(pool, i, j), at(pool, j, i));
            let (first, second) = (at(pool, i, i), at(pool, j, j));
            let (square, two) = (pool.mul(forth, back), pool.int(2));
            let (power, sum) = (pool.pow(s, two), pool.add(first, second));
            let (square, middle) = (pool.neg(square), pool.neg(sum));
            let middle = pool.mul(middle, s);
            Some(pool.sum(&[power, middle, square]))
        }
        _ => None,
    }
}

/// Finds the groups of a model with state matrix A.
pub fn groups(pool: &Pool, graph: &BondGraph, equations: &Equations, a: &Sparse) -> Vec<Group> {
    let n = equations.states.len();
    let mut entries: FxHashMap<(usize, usize), f64> = FxHashMap::default();
    for (i, j, value) in &a.entries {
        *entries.entry((*i, *j)).or_default() += value;
    }
    let at = |i: usize, j: usize| entries.get(&(i, j)).copied().unwrap_or(0.0);
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (i, j, _) in a.entries.iter().filter(|(i, j, _)| i < j) {
        let strength = -at(*i, *j) * at(*j, *i);
        // The product of the two eigenvalues is the sum of both; the larger part rules.
        if strength > 0.0 && strength >= at(*i, *i) * at(*j, *j) {
            pairs.push((strength, *i, *j));
        }
    }
    pairs.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let signals = Signals::new(pool, graph, equations);
    let mut taken = vec![false; n];
    let mut groups = Vec::new();
    for (strength, i, j) in pairs {
        if taken[i] || taken[j] {
            continue;
        }
        (taken[i], taken[j]) = (true, true);
        let half = (at(i, i) + at(j, j)) / 2.0;
        let root = Complex64::new(half * half - strength, 0.0).sqrt();
        let values = vec![Complex64::new(half, 0.0) + root, Complex64::new(half, 0.0) - root];
        let kind = if root.im == 0.0 { GroupKind::SecondOrder } else { GroupKind::Resonance };
        groups.push(Group { kind, states: vec![i, j], elements: signals.elements(&[i, j]), values });
    }
    for i in (0..n).filter(|&i| !taken[i]) {
        let value = at(i, i);
        let kind = if value == 0.0 { GroupKind::Integrator } else { GroupKind::FirstOrder };
        let elements = signals.elements(&[i]);
        groups.push(Group { kind, states: vec![i], elements, values: vec![Complex64::new(value, 0.0)] });
    }
    groups.sort_by_key(|group| group.states[0]);
    groups
}

/// Pairs each estimated eigenvalue with a true one, the nearest in relative terms first.
/// Returns the place of the pole for each value of each group.
pub fn matched(groups: &[Group], poles: &[Complex64]) -> Vec<Vec<Option<usize>>> {
    let mut pairs: Vec<(f64, usize, usize, usize)> = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        for (v, value) in group.values.iter().enumerate() {
            for (p, pole) in poles.iter().enumerate() {
                let size = value.norm().max(pole.norm());
                let distance = if size == 0.0 { 0.0 } else { (value - pole).norm() / size };
                pairs.push((distance, g, v, p));
            }
        }
    }
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2, x.3).cmp(&(y.1, y.2, y.3))));
    let mut free = vec![true; poles.len()];
    let mut found: Vec<Vec<Option<usize>>> = groups.iter().map(|g| vec![None; g.values.len()]).collect();
    for (_, g, v, p) in pairs {
        if free[p] && found[g][v].is_none() {
            free[p] = false;
            found[g][v] = Some(p);
        }
    }
    found
}

/// The signals of the causal graph: what each is computed from.
struct Signals<'a> {
    graph: &'a BondGraph,
    states: &'a [State],
    /// By symbol: the symbols that read it, and those that it reads.
    readers: FxHashMap<Symbol, Vec<Symbol>>,
    sources: FxHashMap<Symbol, Vec<Symbol>>,
    /// The element that computes a symbol.
    owner: FxHashMap<Symbol, ElementId>,
    /// By state: the symbols its rate reads.
    rates: Vec<Vec<Symbol>>,
}

impl Signals<'_> {
    fn new<'a>(pool: &Pool, graph: &'a BondGraph, equations: &'a Equations) -> Signals<'a> {
        let mut readers: FxHashMap<Symbol, Vec<Symbol>> = FxHashMap::default();
        let mut sources: FxHashMap<Symbol, Vec<Symbol>> = FxHashMap::default();
        let mut owner = FxHashMap::default();
        for assignment in &equations.assignments {
            for symbol in pool.symbols(assignment.definition) {
                readers.entry(symbol).or_default().push(assignment.symbol);
                sources.entry(assignment.symbol).or_default().push(symbol);
            }
            if let Some(element) = assignment.element {
                owner.insert(assignment.symbol, element);
            }
        }
        let rates = equations
            .states
            .iter()
            .map(|state| match state.variable {
                Variable::State(element, port) => {
                    let bond = graph.element(element).ports[port as usize].bond;
                    let effort = graph.element(element).stored() == Some(Stored::Momentum);
                    let variable = if effort { Variable::Effort(bond) } else { Variable::Flow(bond) };
                    graph.variables.symbol(variable).into_iter().collect()
                }
                Variable::Integrator(k) => pool.symbols(graph.integrators[k as usize].rate),
                _ => Vec::new(),
            })
            .collect();
        Signals { graph, states: &equations.states, readers, sources, owner, rates }
    }

    fn reached(&self, from: &[Symbol], edges: &FxHashMap<Symbol, Vec<Symbol>>) -> BTreeSet<Symbol> {
        let mut seen: BTreeSet<Symbol> = from.iter().copied().collect();
        let mut stack = from.to_vec();
        while let Some(symbol) = stack.pop() {
            for next in edges.get(&symbol).into_iter().flatten() {
                if seen.insert(*next) {
                    stack.push(*next);
                }
            }
        }
        seen
    }

    /// The storages of states, and what lies on the causal paths between them:
    /// resistors, dependent storages, transformers and gyrators.
    fn elements(&self, states: &[usize]) -> Vec<ElementId> {
        let mut list: Vec<ElementId> = Vec::new();
        for &state in states {
            if let Variable::State(element, _) = self.states[state].variable
                && !list.contains(&element)
            {
                list.push(element);
            }
        }
        let mut between: BTreeSet<ElementId> = BTreeSet::new();
        for &from in states {
            let forward = self.reached(&[self.states[from].symbol], &self.readers);
            for &to in states {
                let backward = self.reached(&self.rates[to], &self.sources);
                between.extend(forward.intersection(&backward).filter_map(|symbol| self.owner.get(symbol)));
            }
        }
        let named = |id: &ElementId| {
            let class = self.graph.element(*id).class();
            !matches!(class, Class::Junction(_) | Class::Source(_)) && !list.contains(id)
        };
        let others: Vec<ElementId> = between.into_iter().filter(named).collect();
        list.extend(others);
        list
    }
}
