//! Equations of sliding modes (Filippov): motion along the surface where an event function is zero.
//!
//! Where the motion on both sides of a surface leads back to it, it stays on
//! the surface, and the law that switches takes a value between its branches:
//! a friction takes any force up to its limit. The mode μ of the function then
//! is an unknown multiplier between −1 and 1, and its equation is that the function stays
//! zero: h = 0 where h itself depends on μ at once, else ḣ = 0, else
//! ḧ + 2rḣ + r²h = 0, with which h settles on zero at the rate r.
//! Sensitivities follow from these equations like those of any other unknown.

use crate::model::freeze::{normalised, rebuilt};
use crate::tolerance::MULTIPLIER_SLACK_DENOMINATOR;
use paynter_algebra::{Cmp, Expr, Node, Pool, Rational, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Equations with frozen branches.
#[derive(Debug, Clone)]
pub(crate) struct Frozen {
    pub time: Symbol,
    pub states: Vec<Symbol>,
    pub unknowns: Vec<Symbol>,
    pub rates: Vec<Expr>,
    /// One for each unknown.
    pub residuals: Vec<Expr>,
    pub outputs: Vec<Expr>,
    /// What jumps of states are made of.
    pub jumps: Vec<Expr>,
    /// The event functions.
    pub relations: Vec<Expr>,
    pub modes: Vec<Symbol>,
    /// For each surface, a positive rate while the motion slides along it.
    pub flags: Vec<Symbol>,
    /// Widths within which signed powers are regularised.
    pub widths: Vec<Symbol>,
}

impl Frozen {
    /// The unknowns that an expression reads.
    fn reads(&self, pool: &Pool, e: Expr) -> Vec<usize> {
        let symbols = pool.symbols(e);
        (0..self.unknowns.len()).filter(|z| symbols.binary_search(&self.unknowns[*z]).is_ok()).collect()
    }

    /// Finds for each unknown a residual that determines it, by augmenting paths.
    fn determined(&self, pool: &Pool) -> Vec<usize> {
        let reads: Vec<Vec<usize>> = self.residuals.iter().map(|e| self.reads(pool, *e)).collect();
        let mut residual_of: Vec<Option<usize>> = vec![None; self.unknowns.len()];
        for start in 0..reads.len() {
            let mut from = vec![None; self.unknowns.len()];
            let mut open = vec![start];
            let mut end = None;
            while let Some(residual) = open.pop() {
                for z in &reads[residual] {
                    if from[*z].is_none() && end.is_none() {
                        from[*z] = Some(residual);
                        match residual_of[*z] {
                            Some(taken) => open.push(taken),
                            None => end = Some(*z),
                        }
                    }
                }
            }
            // Back along the path, each unknown gets the residual it was reached from.
            while let Some(z) = end {
                let residual = from[z];
                end = residual.and_then(|r| residual_of.iter().position(|taken| *taken == Some(r)));
                residual_of[z] = residual;
            }
        }
        residual_of.iter().enumerate().map(|(z, residual)| residual.unwrap_or(z)).collect()
    }
}

/// A surface along which motion may slide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Surface {
    /// The event function that is zero there.
    pub relation: usize,
    /// Which derivative of it depends on the mode.
    pub order: u8,
    /// Whether a rate is not linear in the mode: then the value that keeps the motion on the surface is not the average
    /// of the sides (Filippov), and one that switches fast has another effect.
    pub is_bent: bool,
    /// Surfaces that cannot be slid along at the same time: the function reads their modes.
    pub excluded: Vec<usize>,
}

/// The equations for sliding along any of the surfaces of a model, if it has any: where laws jump.
///
/// Behind the model's own unknowns come the modes of the surfaces, then rates of unknowns; behind its own
/// event functions one for each surface that falls below zero where the motion leaves it.
pub(crate) fn equations(pool: &mut Pool, own: &Frozen, jumps: &[bool]) -> Option<(Frozen, Vec<Surface>)> {
    let mut chosen: Vec<usize> = (0..jumps.len()).filter(|k| jumps[*k]).collect();
    loop {
        if chosen.is_empty() {
            return None;
        }
        let soft = Convexified::new(pool, own, &chosen);
        let (frozen, surfaces) = soft.close(pool);
        if surfaces.len() == chosen.len() {
            return Some((frozen, surfaces));
        }
        chosen = surfaces.iter().map(|surface| surface.relation).collect();
    }
}

/// Equations in which some modes are unknowns.
struct Convexified {
    chosen: Vec<usize>,
    /// The equations, still without those of the modes.
    frozen: Frozen,
    /// The modes as unknowns.
    between: Vec<Symbol>,
    /// The modes as events set them.
    held: Vec<Symbol>,
    /// The residual that determines each unknown.
    determined: Vec<usize>,
}

impl Convexified {
    fn new(pool: &mut Pool, own: &Frozen, chosen: &[usize]) -> Convexified {
        let between: Vec<Symbol> = chosen.iter().map(|_| pool.fresh("between")).collect();
        let flags: Vec<Symbol> = chosen.iter().map(|_| pool.fresh("slides")).collect();
        let held: Vec<Symbol> = chosen.iter().map(|k| own.modes[*k]).collect();
        let mut roots = own.rates.clone();
        roots.extend(own.residuals.iter().chain(&own.outputs).chain(&own.jumps).chain(&own.relations));
        let mut soft = convexify(pool, &roots, &held, &between, &flags);
        let mut rest = soft.split_off(own.rates.len());
        let rates = soft;
        let mut tail = rest.split_off(own.residuals.len());
        let mut jumps = tail.split_off(own.outputs.len());
        let relations = jumps.split_off(own.jumps.len());
        let frozen = Frozen { rates, residuals: rest, outputs: tail, jumps, relations, flags, ..own.clone() };
        let determined = frozen.determined(pool);
        Convexified { chosen: chosen.to_vec(), frozen, between, held, determined }
    }

    /// The unknowns that these expressions depend on, also through each other.
    fn joined(&self, pool: &Pool, list: &[Expr]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = list.iter().flat_map(|e| self.frozen.reads(pool, *e)).collect();
        while let Some(z) = open.pop() {
            if found.insert(z) {
                open.extend(self.frozen.reads(pool, self.equation(z)));
            }
        }
        found
    }

    /// The equation that determines an unknown.
    fn equation(&self, z: usize) -> Expr {
        self.frozen.residuals[self.determined[z]]
    }

    /// The modes that these expressions depend on, also through unknowns.
    fn modes(&self, pool: &Pool, list: &[Expr]) -> BTreeSet<usize> {
        let through = self.joined(pool, list);
        let all = list.iter().copied().chain(through.iter().map(|z| self.equation(*z)));
        let symbols: FxHashSet<Symbol> = all.flat_map(|e| pool.symbols(e)).collect();
        (0..self.between.len()).filter(|j| symbols.contains(&self.between[*j])).collect()
    }

    /// The derivative by time along the motion, but for unknowns.
    fn rate(&self, pool: &mut Pool, e: Expr) -> Expr {
        let mut terms = vec![pool.diff(e, self.frozen.time)];
        let symbols = pool.symbols(e);
        for (state, rate) in self.frozen.states.iter().zip(&self.frozen.rates) {
            if symbols.binary_search(state).is_ok() {
                let derivative = pool.diff(e, *state);
                terms.push(pool.mul(derivative, *rate));
            }
        }
        pool.sum(&terms)
    }

    /// Adds what rates of unknowns contribute.
    fn through(&self, pool: &mut Pool, e: Expr, rate: Expr, rates: &FxHashMap<usize, Symbol>) -> Expr {
        let mut terms = vec![rate];
        for z in self.joined(pool, &[e]) {
            let derivative = pool.diff(e, self.frozen.unknowns[z]);
            if let Some(rate) = rates.get(&z) {
                let rate = pool.var(*rate);
                terms.push(pool.mul(derivative, rate));
            }
        }
        pool.sum(&terms)
    }

    /// Whether a rate is not linear in a mode.
    fn is_bent(&self, pool: &mut Pool, mode: Symbol) -> bool {
        self.frozen.rates.iter().any(|rate| {
            pool.depends_on(*rate, mode) && {
                let derivative = pool.diff(*rate, mode);
                pool.depends_on(derivative, mode)
            }
        })
    }

    /// Where an unknown itself is kept zero, reduces what its residuals become to the factor that vanishes:
    /// powers are too flat or too steep at zero to tell the mode.
    fn simplify(&mut self, pool: &mut Pool, equations: &[Expr]) {
        let zero = pool.zero();
        let (residuals, relations) = (self.frozen.residuals.clone(), self.frozen.relations.clone());
        for (j, h) in equations.iter().enumerate() {
            let Some(unknown) = self.frozen.unknowns.iter().copied().find(|z| is_multiple(pool, *h, *z))
            else {
                continue;
            };
            let flag = pool.var(self.frozen.flags[j]);
            let slides = pool.compare(Cmp::Gt, flag, zero);
            // An open mode is being solved for, and the unknown is not zero yet.
            let held = pool.var(self.held[j]);
            let square = pool.mul(held, held);
            let decided = pool.compare(Cmp::Gt, square, zero);
            let slides = pool.and(slides, decided);
            for (place, residual) in residuals.iter().copied().enumerate() {
                if !pool.depends_on(residual, unknown) {
                    continue;
                }
                let nothing: FxHashMap<Symbol, Expr> = [(unknown, zero)].into_iter().collect();
                let there = pool.substitute(residual, &nothing);
                let Some(factor) = self.vanishing(pool, there) else { continue };
                let otherwise = self.frozen.residuals[place];
                self.frozen.residuals[place] = pool.select(slides, factor, otherwise);
                // Rounding about this zero is no event of functions that are zero with it.
                for k in (0..self.frozen.modes.len()).filter(|k| !self.chosen.contains(k)) {
                    let there = pool.substitute(relations[k], &nothing);
                    if normalised(pool, there) == factor {
                        let (mode, otherwise) = (pool.var(self.frozen.modes[k]), self.frozen.relations[k]);
                        self.frozen.relations[k] = pool.select(slides, mode, otherwise);
                    }
                }
            }
        }
    }

    /// The one factor of an expression that may vanish, to the first power.
    fn vanishing(&self, pool: &mut Pool, e: Expr) -> Option<Expr> {
        let factors = match pool.node(e) {
            Node::Product(list) => list.to_vec(),
            _ => vec![e],
        };
        let mut found: Vec<Expr> = Vec::new();
        for factor in factors {
            let symbols = pool.symbols(factor);
            let moves = |s: &Symbol| {
                let fast = [&self.frozen.states, &self.frozen.unknowns, &self.between];
                *s == self.frozen.time || fast.iter().any(|list| list.contains(s))
            };
            // What is regularised is positive, and modes and parameters are not zero.
            let positive = matches!(pool.node(factor), Node::Power(..))
                && symbols.iter().any(|s| self.frozen.widths.contains(s));
            if positive || !symbols.iter().any(moves) {
                continue;
            }
            let base = match pool.node(factor) {
                Node::Power(base, exponent)
                    if pool.as_rational(exponent).is_some_and(|n| *n > Rational::ZERO) =>
                {
                    base
                }
                Node::Power(..) => return None,
                _ => factor,
            };
            let base = normalised(pool, base);
            if !found.contains(&base) {
                found.push(base);
            }
        }
        let [factor] = found[..] else { return None };
        (factor != e).then_some(factor)
    }

    /// Gives every mode its equation; surfaces that no mode keeps are left out.
    fn close(mut self, pool: &mut Pool) -> (Frozen, Vec<Surface>) {
        let functions: Vec<Expr> = self.chosen.iter().map(|k| self.frozen.relations[*k]).collect();
        let at_once: Vec<BTreeSet<usize>> = functions.iter().map(|h| self.modes(pool, &[*h])).collect();
        // Rates of the unknowns that functions read, but for functions that themselves stay zero.
        let indirect = (0..functions.len()).filter(|j| !at_once[*j].contains(j)).map(|j| functions[j]);
        let read = self.joined(pool, &indirect.collect::<Vec<_>>());
        let rates: FxHashMap<usize, Symbol> = read.iter().map(|z| (*z, pool.fresh("rate"))).collect();
        let mut extra = Vec::new();
        for z in &read {
            let residual = self.equation(*z);
            let rate = self.rate(pool, residual);
            extra.push((rates[z], self.through(pool, residual, rate, &rates)));
        }
        let mut surfaces = Vec::new();
        let mut equations = Vec::new();
        for (j, (h, at_once)) in functions.iter().zip(at_once).enumerate() {
            let derivative = self.rate(pool, *h);
            let with_unknowns = self.through(pool, *h, derivative, &rates);
            let mut reached = vec![with_unknowns];
            let group = self.joined(pool, &[*h]);
            reached.extend(extra.iter().zip(&read).filter(|(_, z)| group.contains(z)).map(|((_, e), _)| *e));
            let first = self.modes(pool, &reached);
            let plain =
                !first.contains(&j) && group.is_empty() && self.joined(pool, &[derivative]).is_empty();
            let bend = if plain { self.rate(pool, derivative) } else { derivative };
            let (order, equation) = if at_once.contains(&j) {
                (0, *h)
            } else if first.contains(&j) {
                (1, with_unknowns)
            } else if plain && self.modes(pool, &[bend]).contains(&j) {
                let rate = pool.var(self.frozen.flags[j]);
                let two = pool.int(2);
                let square = pool.mul(rate, rate);
                let (damping, stiffness) = (pool.product(&[two, rate, derivative]), pool.mul(square, *h));
                (2, pool.sum(&[bend, damping, stiffness]))
            } else {
                continue;
            };
            // What the second derivative is of keeps its modes.
            let read: BTreeSet<usize> = if order == 2 { &at_once | &first } else { at_once };
            let excluded = if order == 0 { Vec::new() } else { read.into_iter().collect() };
            let is_bent = self.is_bent(pool, self.between[j]);
            surfaces.push(Surface { relation: self.chosen[j], order, is_bent, excluded });
            equations.push(equation);
        }
        if surfaces.len() < self.chosen.len() {
            return (self.frozen, surfaces);
        }
        let (zero, one) = (pool.zero(), pool.one());
        self.simplify(pool, &equations);
        for (j, equation) in equations.into_iter().enumerate() {
            let [flag, mode, held] =
                [self.frozen.flags[j], self.between[j], self.held[j]].map(|symbol| pool.var(symbol));
            let slides = pool.compare(Cmp::Gt, flag, zero);
            let apart = pool.sub(mode, held);
            self.frozen.unknowns.push(self.between[j]);
            let equation = pool.select(slides, equation, apart);
            self.frozen.residuals.push(equation);
            let denominator = pool.int(MULTIPLIER_SLACK_DENOMINATOR);
            let slack = pool.div(one, denominator);
            let square = pool.mul(mode, mode);
            let limit = pool.add(one, slack);
            let left = pool.sub(limit, square);
            let left = pool.select(slides, left, one);
            self.frozen.relations.push(left);
            self.frozen.modes.push(pool.fresh("stays"));
        }
        for (rate, equation) in extra {
            self.frozen.unknowns.push(rate);
            self.frozen.residuals.push(equation);
        }
        (self.frozen, surfaces)
    }
}

/// Whether an expression is an unknown, but for a number.
fn is_multiple(pool: &mut Pool, e: Expr, unknown: Symbol) -> bool {
    let e = normalised(pool, e);
    pool.as_symbol(e) == Some(unknown)
}

/// Makes modes unknowns: while one slides, a choice by it is a convex combination of both branches.
fn convexify(
    pool: &mut Pool,
    roots: &[Expr],
    held: &[Symbol],
    between: &[Symbol],
    flags: &[Symbol],
) -> Vec<Expr> {
    let place: FxHashMap<Symbol, usize> = held.iter().enumerate().map(|(j, mode)| (*mode, j)).collect();
    let (zero, one) = (pool.zero(), pool.one());
    let two = pool.int(2);
    let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
    // Of conditions: how far each holds, from 0 to 1, and the condition that a mode in it slides.
    let mut shares: FxHashMap<Expr, (Expr, Expr)> = FxHashMap::default();
    for node in pool.reachable(roots) {
        let args: Vec<Expr> = pool.children(node).to_vec();
        let new: Vec<Expr> = args.iter().map(|c| replaced.get(c).copied().unwrap_or(*c)).collect();
        if pool.is_boolean(node) {
            let of = |pool: &mut Pool, c: Expr| shares.get(&c).copied().unwrap_or((c, pool.truth(false)));
            let crisp = pool.select(node, one, zero);
            let entry = match pool.node(node) {
                Node::And(a, b) => {
                    let ((a, sa), (b, sb)) = (of(pool, a), of(pool, b));
                    (pool.mul(a, b), pool.or(sa, sb))
                }
                Node::Or(a, b) => {
                    let ((a, sa), (b, sb)) = (of(pool, a), of(pool, b));
                    let (sum, both) = (pool.add(a, b), pool.mul(a, b));
                    (pool.sub(sum, both), pool.or(sa, sb))
                }
                Node::Not(a) => {
                    let (a, sliding) = of(pool, a);
                    (pool.sub(one, a), sliding)
                }
                Node::Compare(op, a, b) => {
                    let mut read = pool.symbols(a);
                    read.extend(pool.symbols(b));
                    match (read.iter().find_map(|s| place.get(s)), op.is_above()) {
                        (Some(j), Some(above)) => {
                            let flag = pool.var(flags[*j]);
                            let slides = pool.compare(Cmp::Gt, flag, zero);
                            let difference =
                                if above { pool.sub(new[0], new[1]) } else { pool.sub(new[1], new[0]) };
                            let part = pool.add(one, difference);
                            let part = pool.div(part, two);
                            (pool.select(slides, part, crisp), slides)
                        }
                        _ => (crisp, pool.truth(false)),
                    }
                }
                _ => (crisp, pool.truth(false)),
            };
            shares.insert(node, entry);
            continue;
        }
        let convexified = match pool.node(node) {
            Node::Symbol(s) => match place.get(&s) {
                Some(j) => pool.var(between[*j]),
                None => node,
            },
            // Conditions themselves read the modes as events have set them.
            Node::Select(condition, ..) => {
                let crisp = pool.select(condition, new[1], new[2]);
                match shares.get(&condition) {
                    Some((share, slides)) => {
                        let rest = pool.sub(one, *share);
                        let (a, b) = (pool.mul(*share, new[1]), pool.mul(rest, new[2]));
                        let mixed = pool.add(a, b);
                        pool.select(*slides, mixed, crisp)
                    }
                    None => crisp,
                }
            }
            _ => rebuilt(pool, node, &new),
        };
        if convexified != node {
            replaced.insert(node, convexified);
        }
    }
    roots.iter().map(|e| replaced.get(e).copied().unwrap_or(*e)).collect()
}
