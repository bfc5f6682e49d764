//! Mason's rule on the signal-flow graph: H = Σ P_k Δ_k/Δ, with the gains P_k
//! of the forward paths and Δ = 1 − ΣL + ΣLL − …, where each product is taken
//! over loops that do not touch; Δ_k leaves out the loops that touch path k.
//!
//! Nodes that only pass a signal on are taken out first. That changes neither
//! loops nor paths nor which of them touch, and the routes remember them.

use std::collections::BTreeSet;

use paynter_algebra::poly::{Basis, Budget, Fraction, Poly, PolyError, Work};
use paynter_algebra::{Expr, Pool};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};

use crate::circuits::{Network, Unfinished};
use crate::flow::{NodeKind, SignalFlow};
use crate::tolerance::LISTED_LOOPS;
use crate::{Entry, QueryError, Transfer};

/// How much Mason's rule may list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopBudget {
    /// Loops.
    pub loops: usize,
    /// Forward paths of one transfer function.
    pub paths: usize,
    /// Sets of loops that do not touch, over all determinants and cofactors.
    pub sets: usize,
}

impl Default for LoopBudget {
    fn default() -> LoopBudget {
        LoopBudget { loops: 1_000, paths: 1_000, sets: 100_000 }
    }
}

/// A transfer matrix by Mason's rule, with what it was made of.
#[derive(Debug, Clone)]
pub struct Mason {
    /// The transfer matrix.
    pub transfer: Transfer,
    /// All loops.
    pub loops: Vec<Route>,
    /// All forward paths, by output, then input.
    pub paths: Vec<ForwardPath>,
    /// The terms of Δ: sets of places among the loops, the empty one first; none where there are many.
    pub determinant: Option<Vec<Vec<usize>>>,
}

/// A way through the signal-flow graph.
#[derive(Debug, Clone)]
pub struct Route {
    /// Places of the nodes in order; of a loop, the last leads back to the first.
    pub nodes: Vec<usize>,
    /// The product of the gains.
    pub gain: Expr,
}

/// A forward path.
#[derive(Debug, Clone)]
pub struct ForwardPath {
    /// Place among the outputs.
    pub output: usize,
    /// Place among the inputs.
    pub input: usize,
    /// The way.
    pub route: Route,
    /// The terms of its cofactor, as those of the determinant.
    pub cofactor: Option<Vec<Vec<usize>>>,
}

/// Finds the transfer matrix by Mason's rule.
pub fn mason(
    pool: &mut Pool,
    flow: &SignalFlow,
    budget: LoopBudget,
    terms: Budget,
    token: &CancellationToken,
) -> Result<Mason, QueryError> {
    let condensed = condense(pool, flow, token)?;
    let edges: Vec<(usize, usize)> = condensed.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let network = Network { nodes: flow.nodes.len(), edges: &edges };
    let loops = network
        .circuits(budget.loops, token)
        .map_err(|end| unfinished(end, &format!("more than {} loops", budget.loops)))?;
    let mut paths = Vec::new();
    for (sink, output) in places(flow, |kind| if let NodeKind::Output(k) = kind { Some(k) } else { None }) {
        for (source, input) in places(flow, |kind| if let NodeKind::Input(k) = kind { Some(k) } else { None })
        {
            let found = network.paths(source, sink, budget.paths, token).map_err(|end| {
                let names = (&flow.nodes[source].name, &flow.nodes[sink].name);
                unfinished(
                    end,
                    &format!("more than {} forward paths from {} to {}", budget.paths, names.0, names.1),
                )
            })?;
            paths.extend(found.into_iter().map(|route| (output, input, route)));
        }
    }
    let work = Work::new(terms, token);
    let rule = Rule { pool, flow, condensed: &condensed, loops: &loops, sets: budget.sets };
    rule.apply(&paths, &work).map_err(|end| match end {
        End::Poly(PolyError::Cancelled) => QueryError::Cancelled,
        End::Poly(error) => too_much(&format!("terms that are too long: {error}")),
        End::Sets => too_much(&format!("more than {} sets of loops that do not touch", budget.sets)),
    })
}

fn places(flow: &SignalFlow, which: impl Fn(NodeKind) -> Option<usize>) -> Vec<(usize, usize)> {
    let nodes = flow.nodes.iter().enumerate();
    nodes.filter_map(|(place, node)| Some((place, which(node.kind)?))).collect()
}

fn unfinished(end: Unfinished, what: &str) -> QueryError {
    match end {
        Unfinished::Cancelled => QueryError::Cancelled,
        Unfinished::TooMany => too_much(what),
    }
}

fn too_much(what: &str) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    let message = format!("Mason's rule is left unfinished: the signal-flow graph has {what}");
    diagnostics.push(Diagnostic::new(code::LOOP_BUDGET, message));
    QueryError::Wrong(diagnostics)
}

/// An edge of the condensed graph, with the nodes it runs through.
#[derive(Debug, Clone)]
struct CondensedEdge {
    from: usize,
    to: usize,
    gain: Expr,
    via: Vec<usize>,
}

struct Condensed {
    edges: Vec<CondensedEdge>,
}

/// Takes out nodes with one way in or one way out, and those that lead nowhere or come from nowhere.
fn condense(pool: &mut Pool, flow: &SignalFlow, token: &CancellationToken) -> Result<Condensed, QueryError> {
    let n = flow.nodes.len();
    let mut edges: Vec<Option<CondensedEdge>> = Vec::with_capacity(flow.edges.len());
    let mut incoming: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
    let mut outgoing: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
    for (k, edge) in flow.edges.iter().enumerate() {
        edges.push(Some(CondensedEdge { from: edge.from, to: edge.to, gain: edge.gain, via: Vec::new() }));
        outgoing[edge.from].insert(k);
        incoming[edge.to].insert(k);
    }
    let kept = |v: usize| matches!(flow.nodes[v].kind, NodeKind::Input(_) | NodeKind::Output(_));
    let mut open: BTreeSet<usize> = (0..n).filter(|&v| !kept(v)).collect();
    while let Some(v) = open.pop_first() {
        token.check()?;
        let (ins, outs) = (incoming[v].clone(), outgoing[v].clone());
        if ins.intersection(&outs).next().is_some() || (ins.len() > 1 && outs.len() > 1) {
            continue;
        }
        for k in ins.iter().chain(&outs) {
            if let Some(edge) = &edges[*k] {
                outgoing[edge.from].remove(k);
                incoming[edge.to].remove(k);
                open.extend([edge.from, edge.to].into_iter().filter(|&w| w != v && !kept(w)));
            }
        }
        for a in &ins {
            for b in &outs {
                let (Some(a), Some(b)) = (&edges[*a], &edges[*b]) else { continue };
                let gain = pool.mul(a.gain, b.gain);
                let via = a.via.iter().chain([&v]).chain(&b.via).copied().collect();
                let edge = CondensedEdge { from: a.from, to: b.to, gain, via };
                outgoing[edge.from].insert(edges.len());
                incoming[edge.to].insert(edges.len());
                edges.push(Some(edge));
            }
        }
        for k in ins.iter().chain(&outs) {
            edges[*k] = None;
        }
    }
    Ok(Condensed { edges: edges.into_iter().flatten().collect() })
}

/// Why the sums were not finished.
enum End {
    Poly(PolyError),
    Sets,
}

impl From<PolyError> for End {
    fn from(error: PolyError) -> End {
        End::Poly(error)
    }
}

/// A set of nodes or loops, one bit each.
type Bits = Vec<u64>;

fn bits(size: usize, members: impl Iterator<Item = usize>) -> Bits {
    let mut out = vec![0u64; size.div_ceil(64)];
    members.for_each(|i| out[i / 64] |= 1 << (i % 64));
    out
}

fn touch(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(x, y)| x & y != 0)
}

struct Rule<'a> {
    pool: &'a mut Pool,
    flow: &'a SignalFlow,
    condensed: &'a Condensed,
    loops: &'a [Vec<usize>],
    sets: usize,
}

/// The loops as the sums need them.
struct Loops {
    gains: Vec<Fraction>,
    nodes: Vec<Bits>,
    /// By loop: the later loops that do not touch it.
    apart: Vec<Bits>,
    sets_left: usize,
}

impl Rule<'_> {
    fn apply(self, paths: &[(usize, usize, Vec<usize>)], work: &Work) -> Result<Mason, End> {
        let mut basis = Basis::new(self.pool, &[self.flow.s]);
        let gains: Vec<Expr> = self.condensed.edges.iter().map(|edge| edge.gain).collect();
        let gains = basis.fractions(self.pool, &gains, work)?;
        // Multiplying each node's equation by its denominators makes every term a polynomial: loops that
        // do not touch share no node.
        let mut denominators = vec![Poly::one(); self.flow.nodes.len()];
        for (edge, gain) in self.condensed.edges.iter().zip(&gains) {
            denominators[edge.to] = denominators[edge.to].lcm(gain.denominator(), work)?;
        }
        let mut whole = Poly::one();
        for factor in &denominators {
            whole = whole.mul(factor, work)?;
        }
        let product = |route: &[usize]| {
            route.iter().try_fold(Fraction::one(), |product, edge| product.mul(&gains[*edge], work))
        };
        let n = self.flow.nodes.len();
        let mut loops = Loops {
            gains: self.loops.iter().map(|route| product(route)).collect::<Result<_, _>>()?,
            nodes: self
                .loops
                .iter()
                .map(|route| bits(n, route.iter().map(|edge| self.condensed.edges[*edge].to)))
                .collect(),
            apart: Vec::new(),
            sets_left: self.sets,
        };
        let count = self.loops.len();
        loops.apart = (0..count)
            .map(|i| bits(count, (i + 1..count).filter(|&j| !touch(&loops.nodes[i], &loops.nodes[j]))))
            .collect();
        let all = bits(count, 0..count);
        let (determinant, terms) = loops.sum(&whole, &all, work)?;
        let mut listed = Vec::with_capacity(paths.len());
        let mut sums: Vec<(usize, usize, Poly)> = Vec::new();
        for output in 0..self.outputs() {
            sums.extend((0..self.inputs()).map(|input| (output, input, Poly::zero())));
        }
        for (output, input, route) in paths {
            let gain = product(route)?;
            let first = self.condensed.edges[route[0]].from;
            let nodes = bits(n, route.iter().map(|edge| self.condensed.edges[*edge].to).chain([first]));
            let free = bits(count, (0..count).filter(|&i| !touch(&nodes, &loops.nodes[i])));
            let start = scaled(&whole, &gain, work)?;
            let (sum, cofactor) = loops.sum(&start, &free, work)?;
            if let Some(entry) = sums.iter_mut().find(|entry| (entry.0, entry.1) == (*output, *input)) {
                entry.2 = entry.2.add(&sum, work)?;
            }
            let gain = basis.expression(self.pool, &gain);
            let route = Route { nodes: self.route(route, false), gain };
            listed.push(ForwardPath { output: *output, input: *input, route, cofactor });
        }
        let mut entries = Vec::with_capacity(sums.len());
        for (output, input, sum) in sums {
            let quotient = Fraction::new(sum, determinant.clone(), work)?;
            let num = basis.poly_expression(self.pool, quotient.numerator());
            let den = basis.poly_expression(self.pool, quotient.denominator());
            entries.push(Entry { output, input, num, den });
        }
        let characteristic = self.characteristic(&determinant, whole, work)?;
        let routes = self.loops.iter().zip(&loops.gains).map(|(route, gain)| {
            let gain = basis.expression(self.pool, gain);
            (self.route(route, true), gain)
        });
        let routes: Vec<(Vec<usize>, Expr)> = routes.collect();
        let denominator = Some(basis.poly_expression(self.pool, &characteristic));
        Ok(Mason {
            transfer: Transfer { s: self.flow.s, denominator, entries, shared: None },
            loops: routes.into_iter().map(|(nodes, gain)| Route { nodes, gain }).collect(),
            paths: listed,
            determinant: terms,
        })
    }

    fn inputs(&self) -> usize {
        self.flow.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Input(_))).count()
    }

    fn outputs(&self) -> usize {
        self.flow.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Output(_))).count()
    }

    /// Δ times one s for each integration is the characteristic polynomial, up to a factor without s.
    fn characteristic(&self, determinant: &Poly, whole: Poly, work: &Work) -> Result<Poly, PolyError> {
        let s = Poly::variable(0)?.pow(self.flow.integrations() as u32, work)?;
        let scaled = Fraction::new(determinant.mul(&s, work)?, whole, work)?;
        let polynomial = scaled.numerator();
        let content = polynomial.content_in(0, work)?;
        let polynomial = polynomial.div_exact(&content, work)?.unwrap_or_else(|| polynomial.clone());
        Ok(if polynomial.is_negative() { polynomial.neg() } else { polynomial })
    }

    /// The nodes of a route in order, those that were taken out among them.
    fn route(&self, edges: &[usize], closed: bool) -> Vec<usize> {
        let mut nodes = Vec::new();
        for &edge in edges {
            let edge = &self.condensed.edges[edge];
            nodes.push(edge.from);
            nodes.extend(&edge.via);
        }
        if let Some(&last) = edges.last().filter(|_| !closed) {
            nodes.push(self.condensed.edges[last].to);
        }
        nodes
    }
}

/// A polynomial times a gain whose denominator divides it.
fn scaled(poly: &Poly, gain: &Fraction, work: &Work) -> Result<Poly, PolyError> {
    let quotient = poly.div_exact(gain.denominator(), work)?.ok_or(PolyError::DivisionByZero)?;
    quotient.mul(gain.numerator(), work)
}

/// What a sum over sets of loops came to: its value, and the sets where there are few.
type Terms = (Poly, Option<Vec<Vec<usize>>>);

impl Loops {
    /// Σ (−1)^k Π gains over all sets of loops among `free` that do not touch, times `start`.
    fn sum(&mut self, start: &Poly, free: &Bits, work: &Work) -> Result<Terms, End> {
        let mut sum = Sum::default();
        let mut listed: Option<Vec<Vec<usize>>> = Some(Vec::new());
        let mut members: Vec<usize> = Vec::new();
        // What is left to try at each depth, and the term so far.
        let mut stack: Vec<(Bits, Poly)> = vec![(free.clone(), start.clone())];
        sum.push(start.clone(), work)?;
        note(&mut listed, &members);
        while let Some((rest, term)) = stack.last_mut() {
            let Some(next) = pop(rest) else {
                stack.pop();
                members.pop();
                continue;
            };
            self.sets_left = self.sets_left.checked_sub(1).ok_or(End::Sets)?;
            let left: Bits = rest.iter().zip(&self.apart[next]).map(|(a, b)| a & b).collect();
            let term = scaled(term, &self.gains[next], work)?.neg();
            work.spend("a set of loops", 1 + left.len() as u64)?;
            members.push(next);
            note(&mut listed, &members);
            sum.push(term.clone(), work)?;
            stack.push((left, term));
        }
        if let Some(list) = &mut listed {
            list.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        }
        Ok((sum.finish(work)?, listed))
    }
}

fn note(listed: &mut Option<Vec<Vec<usize>>>, members: &[usize]) {
    match listed {
        Some(list) if list.len() < LISTED_LOOPS => list.push(members.to_vec()),
        _ => *listed = None,
    }
}

/// Takes the least member out.
fn pop(set: &mut Bits) -> Option<usize> {
    let word = set.iter().position(|word| *word != 0)?;
    let bit = set[word].trailing_zeros() as usize;
    set[word] &= set[word] - 1;
    Some(64 * word + bit)
}

/// Adds many polynomials, those of like length first.
#[derive(Default)]
struct Sum(Vec<Option<Poly>>);

impl Sum {
    fn push(&mut self, mut poly: Poly, work: &Work) -> Result<(), PolyError> {
        for level in 0.. {
            match self.0.get_mut(level).map(Option::take) {
                None => {
                    self.0.push(Some(poly));
                    break;
                }
                Some(None) => {
                    self.0[level] = Some(poly);
                    break;
                }
                Some(Some(other)) => poly = poly.add(&other, work)?,
            }
        }
        Ok(())
    }

    fn finish(self, work: &Work) -> Result<Poly, PolyError> {
        self.0.into_iter().flatten().try_fold(Poly::zero(), |sum, poly| sum.add(&poly, work))
    }
}
