//! The block diagram of a causal bond graph. Every effort and flow is computed
//! by one block; a junction's common variable only branches, the other one is
//! a sum. Signals and integrators are blocks too, and what modulates an
//! element is wired to its blocks.

use super::{Block, BlockDiagram, BlockKind, Wire};
use crate::draw::model;
use paynter_algebra::{Expr, Pool};
use paynter_base::SourceMap;
use paynter_graph::{BondGraph, Causality, Class, Element, ElementId, Law, Power, Stored, Variable};
use std::collections::BTreeMap;

/// Longer formulas are left to the text.
const SHORT_OUTPUT: usize = 24;

/// What a signal (an effort or flow of a bond) is computed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Nothing: it is zero, by a detector.
    Zero,
    /// The same as another signal.
    Same(usize),
    /// The output of a block.
    Block(usize),
}

impl BlockDiagram {
    /// Makes the signal-flow graph of a causal bond graph.
    pub fn from_graph(
        pool: &Pool,
        graph: &BondGraph,
        causality: &Causality,
        sources: &SourceMap,
    ) -> BlockDiagram {
        let mut builder = Builder {
            pool,
            graph,
            causality,
            sources,
            diagram: BlockDiagram { title: graph.name.clone(), ..BlockDiagram::default() },
            origin: vec![Origin::Zero; 2 * graph.bonds.len()],
            readers: Vec::new(),
            extra: BTreeMap::new(),
        };
        builder.signals();
        for id in graph.element_ids() {
            let first = builder.diagram.blocks.len();
            builder.element(id);
            builder.modulation(id, first);
        }
        builder.outputs();
        builder.finish()
    }
}

struct Builder<'a> {
    pool: &'a Pool,
    graph: &'a BondGraph,
    causality: &'a Causality,
    sources: &'a SourceMap,
    diagram: BlockDiagram,
    /// By signal: a bond's effort is 2b, its flow 2b + 1.
    origin: Vec<Origin>,
    /// Signal, block that reads it, whether it is taken away.
    readers: Vec<(usize, usize, bool)>,
    /// Signals beyond efforts and flows: the model's own, states, inputs that modulate.
    extra: BTreeMap<Variable, usize>,
}

impl Builder<'_> {
    /// The signal of a port: effort or flow of its bond.
    fn signal(&self, id: ElementId, port: usize, effort: bool) -> usize {
        2 * self.graph.element(id).ports[port].bond.index() + usize::from(!effort)
    }

    fn effort_in(&self, id: ElementId, port: usize) -> bool {
        self.causality.effort_in(self.graph, id, port)
    }

    /// The signal that enters at a port, and the one that leaves.
    fn arriving(&self, id: ElementId, port: usize) -> usize {
        self.signal(id, port, self.effort_in(id, port))
    }

    fn leaving(&self, id: ElementId, port: usize) -> usize {
        self.signal(id, port, !self.effort_in(id, port))
    }

    fn block(&mut self, kind: BlockKind, text: impl Into<String>, note: &str) -> usize {
        self.diagram.blocks.push(Block { kind, text: text.into(), note: note.to_owned() });
        self.diagram.blocks.len() - 1
    }

    /// A block with inputs whose output is a signal.
    fn function(&mut self, text: String, note: &str, inputs: &[usize], output: usize) {
        let block = self.block(BlockKind::Function, text, note);
        self.readers.extend(inputs.iter().map(|&signal| (signal, block, false)));
        self.origin[output] = Origin::Block(block);
    }

    fn element(&mut self, id: ElementId) {
        let element = self.graph.element(id);
        match element.class() {
            Class::Junction(_) => self.junction(id),
            Class::Source(_) if element.ports.len() == 1 => {
                let text =
                    model::value(self.pool, element, self.sources).unwrap_or_else(|| element.name.clone());
                let block = self.block(BlockKind::Input, text, &element.name);
                let output = self.leaving(id, 0);
                self.origin[output] = Origin::Block(block);
            }
            Class::Detector(_) if element.ports.len() == 1 => {
                let block = self.block(BlockKind::Output, element.name.clone(), &element.name);
                self.readers.push((self.arriving(id, 0), block, false));
            }
            Class::Transformer | Class::Gyrator if element.ports.len() == 2 => self.two_port(id),
            _ if element.ports.len() == 1 => {
                let text = self.one_port(id, element);
                self.function(text, &element.name, &[self.arriving(id, 0)], self.leaving(id, 0));
            }
            _ => {
                let inputs: Vec<usize> =
                    (0..element.ports.len()).map(|port| self.arriving(id, port)).collect();
                for port in 0..element.ports.len() {
                    let text = format!("{}.{}", element.name, port + 1);
                    self.function(text, &element.name, &inputs, self.leaving(id, port));
                }
            }
        }
    }

    /// Wires what an element's law reads beside its own ports to the blocks made for it.
    fn modulation(&mut self, id: ElementId, first: usize) {
        let element = self.graph.element(id);
        let expressions = element.law.expressions();
        let source = element.class().is_source();
        let blocks: Vec<usize> = (first..self.diagram.blocks.len()).collect();
        let read = self.readings(&expressions, source);
        for &block in blocks.iter().filter(|_| !read.is_empty()) {
            if self.diagram.blocks[block].kind == BlockKind::Input {
                self.diagram.blocks[block].kind = BlockKind::Function;
            }
            self.readers.extend(read.iter().map(|&signal| (signal, block, false)));
        }
    }

    /// The signals that expressions read. A source's own input stands in its block.
    fn readings(&mut self, expressions: &[Expr], source: bool) -> Vec<usize> {
        let symbols = expressions.iter().flat_map(|e| self.pool.symbols(*e));
        let mut variables: Vec<Variable> =
            symbols.filter_map(|symbol| self.graph.variables.meaning(symbol)).collect();
        variables.sort_unstable();
        variables.dedup();
        let plain = |variable: &Variable| {
            matches!(variable, Variable::Input(_) | Variable::Parameter(_) | Variable::Time)
        };
        if source && variables.iter().all(plain) {
            return Vec::new();
        }
        variables.into_iter().filter_map(|variable| self.variable(variable)).collect()
    }

    /// The signal of a variable, with its block where it has none yet.
    fn variable(&mut self, variable: Variable) -> Option<usize> {
        match variable {
            Variable::Effort(bond) => return Some(2 * bond.index()),
            Variable::Flow(bond) => return Some(2 * bond.index() + 1),
            Variable::Parameter(_) | Variable::Time => return None,
            _ => {}
        }
        if let Some(&signal) = self.extra.get(&variable) {
            return Some(signal);
        }
        let signal = self.origin.len();
        self.origin.push(Origin::Zero);
        self.extra.insert(variable, signal);
        let graph = self.graph;
        let block = match variable {
            Variable::Input(k) => {
                let name = &graph.inputs[k as usize].name;
                self.block(BlockKind::Input, name.clone(), name)
            }
            Variable::State(id, port) => {
                // The state is the integral of what fills the storage.
                let element = graph.element(id);
                let filled = self.signal(id, port as usize, element.stored() == Some(Stored::Momentum));
                let turned =
                    element.stored() == Some(Stored::Displacement) && !element.ports[port as usize].into;
                let text = if turned { "−1/s" } else { "1/s" };
                let block = self.block(BlockKind::Function, text, &graph.state_name(id, port as usize));
                self.readers.push((filled, block, false));
                block
            }
            _ => return None,
        };
        self.origin[signal] = Origin::Block(block);
        Some(signal)
    }

    /// A block for each signal and integrator, first made and then wired, as they read one another.
    fn signals(&mut self) {
        let graph = self.graph;
        let mut made: Vec<(usize, Expr)> = Vec::new();
        let mut add = |builder: &mut Self, variable: Variable, text: &str, note: &str, value: Expr| {
            let block = builder.block(BlockKind::Function, text, note);
            builder.extra.insert(variable, builder.origin.len());
            builder.origin.push(Origin::Block(block));
            made.push((block, value));
        };
        for (k, entry) in graph.signals.iter().enumerate() {
            add(self, Variable::Signal(k as u32), &entry.name, &entry.name, entry.value);
        }
        for (k, entry) in graph.integrators.iter().enumerate() {
            add(self, Variable::Integrator(k as u32), "1/s", &entry.name, entry.rate);
        }
        for (block, value) in made {
            let read = self.readings(&[value], false);
            self.readers.extend(read.into_iter().map(|signal| (signal, block, false)));
        }
    }

    /// The gain of a one-port, with its integration or differentiation.
    fn one_port(&self, id: ElementId, element: &Element) -> String {
        let Some(value) =
            model::value(self.pool, element, self.sources).filter(|_| matches!(element.law, Law::Value(_)))
        else {
            return format!("{}:{}", element.kind.word(), element.name);
        };
        let effort_in = self.effort_in(id, 0);
        let gain = match element.class() {
            Class::Resistor if effort_in => format!("1/{}", factor(&value)),
            Class::Resistor => value,
            Class::Storage(stored) if effort_in == stored.integral_effort_in() => {
                format!("1/({} s)", factor(&value))
            }
            Class::Storage(_) => format!("{} s", factor(&value)),
            _ => return format!("{}:{}", element.kind.word(), element.name),
        };
        // Inside a law flow counts into the element.
        if element.ports[0].into { gain } else { format!("−{}", factor(&gain)) }
    }

    fn two_port(&mut self, id: ElementId) {
        let element = self.graph.element(id);
        let value = model::value(self.pool, element, self.sources).unwrap_or_else(|| element.name.clone());
        // f1 counts into port 1, f2 out of port 2.
        let turned = [!element.ports[0].into, element.ports[1].into];
        let inverse = format!("1/{}", factor(&value));
        for port in 0..2 {
            let other = 1 - port;
            let effort_out = !self.effort_in(id, port);
            let multiplies = match element.class() {
                // e1 = m e2, f2 = m f1.
                Class::Transformer => effort_out == (port == 0),
                // e1 = r f2, e2 = r f1.
                _ => effort_out,
            };
            let flows = if element.class() == Class::Gyrator {
                turned[if effort_out { other } else { port }]
            } else {
                !effort_out && (turned[0] != turned[1])
            };
            let gain = if multiplies { value.clone() } else { inverse.clone() };
            let text = if flows { format!("−{}", factor(&gain)) } else { gain };
            let input = self.arriving(id, other);
            self.function(text, &element.name, &[input], self.leaving(id, port));
        }
    }

    fn junction(&mut self, id: ElementId) {
        let element = self.graph.element(id);
        let common_is_effort = element.class() == Class::Junction(Power::Effort);
        // The one bond that brings the common variable.
        let Some(strong) =
            (0..element.ports.len()).find(|&port| self.effort_in(id, port) == common_is_effort)
        else {
            return;
        };
        let common = self.arriving(id, strong);
        let others: Vec<usize> = (0..element.ports.len()).filter(|&port| port != strong).collect();
        for &port in &others {
            let output = self.leaving(id, port);
            self.origin[output] = Origin::Same(common);
        }
        let sum = self.leaving(id, strong);
        let negative = |port: usize| element.ports[port].into == element.ports[strong].into;
        match others[..] {
            [only] if !negative(only) => self.origin[sum] = Origin::Same(self.arriving(id, only)),
            _ => {
                let block = self.block(BlockKind::Sum, "", &element.name);
                let readings: Vec<_> =
                    others.iter().map(|&port| (self.arriving(id, port), block, negative(port))).collect();
                self.readers.extend(readings);
                self.origin[sum] = Origin::Block(block);
            }
        }
    }

    /// The model's outputs: those that are a single variable read it directly, others through their formula.
    fn outputs(&mut self) {
        for output in &self.graph.outputs {
            let signals = self.readings(&[output.value], false);
            if signals.is_empty() {
                continue;
            }
            let mut block = self.block(BlockKind::Output, output.name.clone(), &output.name);
            if self.pool.as_symbol(output.value).is_none() {
                let formula =
                    Some(self.pool.brief(output.value)).filter(|text| text.chars().count() <= SHORT_OUTPUT);
                let text = formula.unwrap_or_else(|| format!("f({})", output.name));
                let function = self.block(BlockKind::Function, text, &output.name);
                self.diagram.wires.push(Wire { from: function, to: block, negative: false });
                block = function;
            }
            self.readers.extend(signals.into_iter().map(|signal| (signal, block, false)));
        }
    }

    fn finish(mut self) -> BlockDiagram {
        for &(signal, to, negative) in &self.readers {
            let mut at = signal;
            // Each step leads to another signal; more steps than signals would be a circle.
            for _ in 0..self.origin.len() {
                match self.origin[at] {
                    Origin::Same(next) => at = next,
                    Origin::Zero => break,
                    Origin::Block(from) => {
                        self.diagram.wires.push(Wire { from, to, negative });
                        break;
                    }
                }
            }
        }
        self.diagram.contract_sums();
        self.diagram
    }
}

/// A formula as a factor: in parentheses where it is a sum, a product or a quotient.
fn factor(formula: &str) -> String {
    let plain = formula.chars().all(|character| character.is_alphanumeric() || "_.[]".contains(character));
    if plain { formula.to_owned() } else { format!("({formula})") }
}
