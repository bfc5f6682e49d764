//! The derivation as a lecturer writes it: from the law of each storage back
//! along the causal paths, each variable replaced by what its element makes
//! of others, until nothing but states and inputs is left.
//!
//! Algebraic loops and dependent storages stand first, with their solution;
//! where a path meets them, it uses that.

use paynter_algebra::poly::readable;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, strong_components};
use paynter_graph::{BondGraph, ElementId, Kind, Stored, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::tolerance::{DERIVATION_LINES, DERIVATION_NODES};
use crate::{Assignment, Equations};

/// How one quantity comes about.
#[derive(Debug, Clone)]
pub struct Derivation {
    /// `I rotor`, `algebraic loop`.
    pub title: String,
    /// What it says, line by line.
    pub lines: Vec<Line>,
}

/// One line: left = right, or the line before continued.
#[derive(Debug, Clone)]
pub struct Line {
    /// What stands on the left; none where the line continues the one before.
    pub left: Option<Side>,
    /// What stands on the right; none where it would be too long to be read.
    pub right: Option<Expr>,
    /// Why.
    pub why: String,
    /// The law that was used.
    pub law: Option<(Symbol, Expr)>,
}

/// The left side of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// A quantity.
    Symbol(Symbol),
    /// The rate of a state.
    Rate(String),
    /// An output.
    Output(String),
    /// Zero, in an equation that determines a quantity.
    Zero,
}

/// Derives every quantity in words and formulas.
pub fn derivations(pool: &mut Pool, graph: &BondGraph, equations: &Equations) -> Vec<Derivation> {
    let mut book = Book::new(pool, graph, equations);
    let mut all = Vec::new();
    for group in book.loops.clone() {
        all.push(book.algebraic_loop(&group));
    }
    for k in 0..equations.dependent.len() {
        all.push(book.dependent(k));
    }
    for k in 0..equations.states.len() {
        all.push(book.state(k));
    }
    for k in 0..equations.outputs.len() {
        all.push(book.output(k));
    }
    all
}

struct Book<'a> {
    pool: &'a mut Pool,
    graph: &'a BondGraph,
    equations: &'a Equations,
    /// How each variable is computed.
    known: FxHashMap<Symbol, &'a Assignment>,
    /// Variables in algebraic loops, by the loop's number.
    looped: FxHashMap<Symbol, usize>,
    loops: Vec<Vec<Symbol>>,
    /// Rates of dependent states over the rates of the others, by their symbols.
    rates: FxHashMap<Symbol, Expr>,
    /// States and implicit unknowns, where a path ends.
    ends: FxHashSet<Symbol>,
}

impl<'a> Book<'a> {
    fn new(pool: &'a mut Pool, graph: &'a BondGraph, equations: &'a Equations) -> Book<'a> {
        let list = &equations.assignments;
        let place: FxHashMap<Symbol, u32> =
            list.iter().enumerate().map(|(i, a)| (a.symbol, i as u32)).collect();
        let reads: Vec<Vec<u32>> = list
            .iter()
            .map(|a| pool.symbols(a.definition).iter().filter_map(|s| place.get(s).copied()).collect())
            .collect();
        let mut looped = FxHashMap::default();
        let mut loops: Vec<Vec<Symbol>> = Vec::new();
        for group in strong_components(list.len(), |v| &reads[v as usize]) {
            let cyclic = group.len() > 1 || reads[group[0] as usize].contains(&group[0]);
            if cyclic {
                let members: Vec<Symbol> = group.iter().map(|v| list[*v as usize].symbol).collect();
                looped.extend(members.iter().map(|symbol| (*symbol, loops.len())));
                loops.push(members);
            }
        }
        let mut ends: FxHashSet<Symbol> = equations.states.iter().map(|state| state.symbol).collect();
        ends.extend(equations.constraints.iter().map(|c| c.unknown));
        Book {
            pool,
            graph,
            equations,
            known: list.iter().map(|a| (a.symbol, a)).collect(),
            looped,
            loops,
            rates: FxHashMap::default(),
            ends,
        }
    }

    /// The element with its kind: `R winding`.
    fn element(&self, id: ElementId) -> String {
        let element = self.graph.element(id);
        format!("{} {}", element.kind.word(), element.name)
    }

    /// Where a variable's definition comes from: `R winding`, `at 1 armature`, `signal area`.
    fn source(&self, assignment: &Assignment) -> String {
        match assignment.element {
            Some(id) if matches!(self.graph.element(id).kind, Kind::Zero | Kind::One) => {
                format!("at {}", self.element(id))
            }
            Some(id) => self.element(id),
            None => format!("signal {}", self.pool.name(assignment.symbol)),
        }
    }

    fn small(&self, e: Expr) -> Option<Expr> {
        (self.pool.written_size(&[e]) <= DERIVATION_NODES).then_some(e)
    }

    /// The laws of a loop and what they give together.
    fn algebraic_loop(&mut self, members: &[Symbol]) -> Derivation {
        let mut lines = Vec::new();
        for symbol in members {
            let assignment = self.known[symbol];
            lines.push(Line {
                left: Some(Side::Symbol(*symbol)),
                right: self.small(assignment.definition),
                why: self.source(assignment),
                law: None,
            });
        }
        let inside: FxHashSet<Symbol> = members.iter().copied().collect();
        for constraint in self.equations.constraints.iter().filter(|c| inside.contains(&c.unknown)) {
            lines.push(Line {
                left: Some(Side::Zero),
                right: self.small(constraint.residual),
                why: format!("has no solution in symbols; it determines {}", constraint.name),
                law: None,
            });
        }
        // Resistors' own variables are what a lecturer solves for; the rest follows.
        let mut shown: Vec<Symbol> = members
            .iter()
            .copied()
            .filter(|symbol| {
                let element = self.known[symbol].element;
                element.is_some_and(|id| self.graph.element(id).class().is_dissipative())
            })
            .collect();
        if shown.is_empty() {
            shown.extend(members.first());
        }
        shown.retain(|symbol| !self.ends.contains(symbol));
        for symbol in shown {
            let value = self.solved(symbol);
            lines.push(Line {
                left: Some(Side::Symbol(symbol)),
                right: self.small(value),
                why: "solved together".to_owned(),
                law: None,
            });
        }
        Derivation { title: "Algebraic loop".to_owned(), lines }
    }

    /// The law of a dependent storage, its state by the others, and the rate of that.
    fn dependent(&mut self, k: usize) -> Derivation {
        let dependent = &self.equations.dependent[k];
        let title = format!("{}, which depends on others", self.element(dependent.element));
        let mut lines = Vec::new();
        let why = "law, in derivative causality";
        match self.known.get(&dependent.symbol) {
            Some(assignment) => {
                let definition = assignment.definition;
                self.follow(Side::Symbol(dependent.symbol), definition, why, &mut lines);
            }
            None => lines.push(Line {
                left: Some(Side::Symbol(dependent.symbol)),
                right: None,
                why: "its law is kept implicit".to_owned(),
                law: None,
            }),
        }
        self.conclude(dependent.value, "by states and inputs", &mut lines);
        let rate = self.pool.symbol(&format!("der({})", dependent.name));
        let derivative = self.derivative(dependent.value);
        self.rates.insert(rate, derivative);
        lines.push(Line {
            left: Some(Side::Symbol(rate)),
            right: self.small(derivative),
            why: "differentiated".to_owned(),
            law: None,
        });
        Derivation { title, lines }
    }

    /// The rate of an expression over the rates of states and inputs.
    fn derivative(&mut self, e: Expr) -> Expr {
        let mut terms = Vec::new();
        let time = self.graph.variables.symbol(Variable::Time);
        let inputs: Vec<Symbol> =
            self.equations.inputs.iter().flat_map(|input| input.symbols.iter().copied()).collect();
        for symbol in self.pool.symbols(e) {
            let rate = if Some(symbol) == time {
                self.pool.one()
            } else if self.ends.contains(&symbol) || inputs.contains(&symbol) {
                let name = format!("der({})", self.pool.name(symbol));
                let rate = self.pool.symbol(&name);
                self.pool.var(rate)
            } else {
                continue;
            };
            let partial = self.pool.diff(e, symbol);
            terms.push(self.pool.mul(partial, rate));
        }
        self.pool.sum(&terms)
    }

    /// The law of a storage, then its rate.
    fn state(&mut self, k: usize) -> Derivation {
        let state = &self.equations.states[k];
        let mut lines = Vec::new();
        let (title, rate, why) = match state.variable {
            Variable::State(id, port) => {
                let element = self.graph.element(id);
                let place = element.ports[port as usize];
                let stored = element.stored().unwrap_or(Stored::Momentum);
                let (given, filled) = (stored.conjugate().of(place.bond), stored.rate().of(place.bond));
                let law = self.graph.variables.symbol(given).and_then(|s| self.known.get(&s).copied());
                if let Some(law) = law.filter(|law| law.element == Some(id)) {
                    lines.push(Line {
                        left: Some(Side::Symbol(law.symbol)),
                        right: self.small(law.definition),
                        why: "law".to_owned(),
                        law: None,
                    });
                }
                let mut rate = match self.graph.variables.symbol(filled) {
                    Some(symbol) => self.pool.var(symbol),
                    None => self.pool.zero(),
                };
                if stored == Stored::Displacement && !place.into {
                    rate = self.pool.neg(rate);
                }
                let why = match stored {
                    Stored::Displacement => "the flow fills it",
                    Stored::Momentum => "the effort drives it",
                };
                let title = match element.ports.len() {
                    1 => self.element(id),
                    _ => format!("{}, port {}", self.element(id), port + 1),
                };
                (title, rate, why)
            }
            Variable::Integrator(i) => {
                let rate = self.graph.integrators[i as usize].rate;
                (format!("signal {}", state.name), rate, "what is integrated")
            }
            _ => (state.name.clone(), self.pool.zero(), ""),
        };
        let end = self.follow(Side::Rate(state.name.clone()), rate, why, &mut lines);
        self.finish(end, self.equations.rates[k], &mut lines);
        Derivation { title, lines }
    }

    fn output(&mut self, k: usize) -> Derivation {
        let output = &self.equations.outputs[k];
        let mut lines = Vec::new();
        let declared = self.graph.outputs.get(k).map_or(output.value, |declared| declared.value);
        let end = self.follow(Side::Output(output.name.clone()), declared, "as declared", &mut lines);
        self.finish(end, output.value, &mut lines);
        Derivation { title: format!("output {}", output.name), lines }
    }

    /// Replaces variables, one element at a time, until states and inputs are left; returns what is left.
    fn follow(&mut self, left: Side, start: Expr, why: &str, lines: &mut Vec<Line>) -> Expr {
        let mut now = start;
        lines.push(Line { left: Some(left), right: self.small(now), why: why.to_owned(), law: None });
        for _ in 0..DERIVATION_LINES {
            let Some(symbol) = self.pool.symbols(now).into_iter().find(|s| self.open(*s)) else { return now };
            let assignment = self.known[&symbol];
            let looped = self.looped.contains_key(&symbol);
            // What a junction passes on is followed to where it comes from.
            let (value, why) = match looped {
                true => (self.solved(symbol), "by the algebraic loop".to_owned()),
                false => self.passed(assignment.definition, self.source(assignment)),
            };
            now = self.pool.substitute(now, &[(symbol, value)].into_iter().collect());
            let right = self.small(now);
            let stop = right.is_none();
            // Where the law is all that stands there, it needs no repetition.
            let law = (!looped && now != value).then_some((symbol, value));
            lines.push(Line { left: None, right, why, law });
            if stop {
                return now;
            }
        }
        now
    }

    /// What a variable in an algebraic loop is by states and inputs, as a person would write it.
    fn solved(&mut self, symbol: Symbol) -> Expr {
        let value = self.known[&symbol].value;
        readable(self.pool, value, &CancellationToken::new())
    }

    /// Follows a value that is nothing but another variable.
    fn passed(&mut self, mut value: Expr, mut why: String) -> (Expr, String) {
        for _ in 0..DERIVATION_LINES {
            let Some(next) = self.pool.as_symbol(value).filter(|s| self.open(*s)) else { break };
            let assignment = self.known[&next];
            if self.looped.contains_key(&next) {
                break;
            }
            let place = self.source(assignment);
            if !why.ends_with(&place) {
                why = format!("{why}, {place}");
            }
            value = assignment.definition;
        }
        (value, why)
    }

    /// Whether a symbol can be replaced.
    fn open(&self, symbol: Symbol) -> bool {
        self.known.contains_key(&symbol) && !self.ends.contains(&symbol)
    }

    /// The last lines: rates of dependent states put in, the result in its final form.
    fn finish(&mut self, now: Expr, result: Expr, lines: &mut Vec<Line>) {
        let put = self.pool.substitute(now, &self.rates);
        if put != now {
            lines.push(Line {
                left: None,
                right: self.small(put),
                why: "with the rates of the dependent storages".to_owned(),
                law: None,
            });
            self.conclude(result, "solved for the rate", lines);
        } else {
            self.conclude(result, "in lowest terms", lines);
        }
    }

    /// Adds the result unless it stands there already.
    fn conclude(&mut self, result: Expr, why: &str, lines: &mut Vec<Line>) {
        if lines.last().and_then(|line| line.right) != Some(result) {
            lines.push(Line { left: None, right: self.small(result), why: why.to_owned(), law: None });
        }
    }
}
