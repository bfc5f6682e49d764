//! The uncertain bond graph: what auxiliary inputs add to the laws, signals and outputs of the nominal one, and
//! auxiliary outputs over its variables.
//!
//! A dependent storage would differentiate auxiliary inputs on the way to it. So its nominal element is given what
//! the states alone determine, and what the auxiliary inputs of the differentiated laws add is added to the rate
//! that it gives out: p = I_n f + w and p' = I_n f' + w', with w and w' apart.

use std::collections::BTreeSet;

use paynter_algebra::poly::LowestTerms;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, QueryError};
use paynter_graph::{BondGraph, ElementId, Ranges, Variable};
use paynter_transform::{Addition, Auxiliary, Place, Reading, Split};
use rustc_hash::FxHashMap;

use crate::form::Form;
use crate::model::Channel;
use crate::realise::{NominalRow, Pair};
use crate::reduce::{Dependence, replace};
use crate::rows::{Dependent, Row, Rows};
use crate::solve::solve;

/// Rows with nominal coefficients and auxiliary inputs, before they are solved.
pub(crate) struct Realised<'a> {
    pub rows: &'a Rows,
    /// By row.
    pub nominal: &'a [NominalRow],
    /// Quotients by sums.
    pub quotients: &'a [NominalRow],
    pub pairs: &'a [Pair],
}

/// What auxiliary inputs add at a place.
struct Added {
    place: Place,
    element: Option<ElementId>,
    /// Over auxiliary inputs.
    form: Form,
    /// What the nominal element gives there, where it is added to.
    nominal: Option<Form>,
}

/// An auxiliary input with its output.
struct Ends {
    w: Symbol,
    /// Over the variables of the graph, as far as it has them.
    z: Form,
    /// What it adds to at the entrance of an element.
    entering: Option<(Form, Expr)>,
}

/// The uncertain bond graph with all auxiliary inputs.
pub(crate) struct Splitting {
    additions: Vec<Added>,
    outputs: Vec<Ends>,
    /// The symbols that the graph has a variable for, and the auxiliary inputs.
    readable: BTreeSet<Symbol>,
}

impl Splitting {
    /// Reads it off the rows; nothing where one of them has no place in the graph.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        realised: &Realised,
        values: &FxHashMap<Symbol, Form>,
        ranges: &Ranges,
        token: &CancellationToken,
    ) -> Result<Option<Splitting>, QueryError> {
        let Realised { rows, nominal, pairs, .. } = realised;
        let inputs: BTreeSet<Symbol> = pairs.iter().map(|pair| pair.w).collect();
        let Some(local) = local_values(pool, realised, &inputs, ranges, token)? else { return Ok(None) };
        let mut maker = Maker { pool, graph, values, local, states: FxHashMap::default(), inputs };
        maker.find_states(&rows.dependent);
        let Some(additions) = maker.additions(rows, nominal) else { return Ok(None) };
        let mut rates: FxHashMap<Symbol, Form> = FxHashMap::default();
        for (row, nominal) in rows.rows.iter().zip(*nominal) {
            if let Some(unknown) = row.unknown.filter(|unknown| rows.rates.contains(unknown)) {
                let form = maker.readable(&nominal.form);
                rates.insert(unknown, form);
            }
        }
        let mut outputs = Vec::with_capacity(pairs.len());
        for pair in *pairs {
            let z = pair.z.substituted(maker.pool, &maker.local).substituted(maker.pool, &rates);
            let z = z.substituted(maker.pool, &maker.states);
            outputs.push(Ends { w: pair.w, z, entering: pair.entering.clone() });
        }
        let known = |symbol: &Symbol| graph.variables.meaning(*symbol).is_some();
        let all = outputs.iter().flat_map(|ends| ends.z.0.keys().copied());
        let mut readable: BTreeSet<Symbol> = all.filter(known).collect();
        readable.extend(&maker.inputs);
        Ok(Some(Splitting { additions, outputs, readable }))
    }

    /// The split with these auxiliary inputs, in their order, whose outputs are also given over states and inputs;
    /// the others are without effect and left out.
    pub fn of(
        mut self,
        pool: &mut Pool,
        graph: &BondGraph,
        removed: &[Dependence],
        channels: &[Channel],
        solved: &[Form],
        token: &CancellationToken,
    ) -> Split {
        for found in removed {
            self.remove(pool, found);
        }
        let kept: BTreeSet<Symbol> = channels.iter().map(|channel| channel.w).collect();
        let gone: BTreeSet<Symbol> =
            self.outputs.iter().map(|ends| ends.w).filter(|w| !kept.contains(w)).collect();
        let mut lowest = LowestTerms::new(token);
        // What is left out is zero.
        let forms = self.additions.iter_mut().map(|added| &mut added.form);
        for form in forms.chain(self.outputs.iter_mut().map(|ends| &mut ends.z)) {
            form.0.retain(|symbol, coefficient| {
                *coefficient = lowest.of(pool, *coefficient);
                !gone.contains(symbol) && *coefficient != pool.zero()
            });
        }
        self.additions.retain(|added| !added.form.0.is_empty());
        let mut additions = Vec::with_capacity(self.additions.len());
        for added in &self.additions {
            let entering = self.entering(pool, added);
            let value = expression(pool, &added.form);
            additions.push(Addition { place: added.place, element: added.element, value, entering });
        }
        let mut auxiliaries = Vec::with_capacity(channels.len());
        for (Channel { name, w, block, .. }, solved) in channels.iter().zip(solved) {
            let ends = self.outputs.iter().find(|ends| ends.w == *w);
            let local = ends.filter(|ends| ends.z.0.keys().all(|symbol| self.readable.contains(symbol)));
            let z = expression(pool, local.map_or(solved, |ends| &ends.z));
            let reads = local.and_then(|ends| self.reading(pool, graph, ends));
            auxiliaries.push(Auxiliary { name: name.clone(), block: *block, w: *w, z, reads });
        }
        Split { additions, auxiliaries }
    }

    /// Lets other channels take the part of one over.
    fn remove(&mut self, pool: &mut Pool, found: &Dependence) {
        let Some(place) = self.outputs.iter().position(|ends| ends.w == found.gone) else { return };
        let gone = self.outputs[place].z.clone();
        for ends in &mut self.outputs {
            if let Some((_, factor)) = found.kept.iter().find(|(kept, _)| *kept == ends.w) {
                ends.entering = None;
                if !found.by_outputs {
                    ends.z.add(pool, *factor, &gone);
                }
            }
            replace(pool, &mut ends.z, found);
        }
        self.additions.iter_mut().for_each(|added| replace(pool, &mut added.form, found));
    }

    /// Where the only auxiliary input at a place stands at what enters the element: the one variable there, and
    /// what is added to it.
    fn entering(&self, pool: &mut Pool, added: &Added) -> Option<(Symbol, Expr)> {
        let mut own = added.form.0.iter();
        let (Some((w, coefficient)), None) = (own.next(), own.next()) else { return None };
        let ends = self.outputs.iter().find(|ends| ends.w == *w)?;
        let (signal, weight) = ends.entering.as_ref()?;
        let mut signal = signal.0.iter();
        let (Some((variable, factor)), None) = (signal.next(), signal.next()) else { return None };
        // The element has to do with it what it does with the variable.
        let value = pool.div(*weight, *factor);
        let gain = *added.nominal.as_ref()?.0.get(variable)?;
        let effect = pool.mul(gain, value);
        let difference = pool.sub(effect, *coefficient);
        let w = pool.var(*w);
        pool.is_zero(difference).then(|| (*variable, pool.mul(value, w)))
    }

    /// The variable of a bond that an auxiliary output is: what the nominal element gives out, or what it and the
    /// auxiliary inputs do together; likewise of what enters.
    fn reading(&self, pool: &mut Pool, graph: &BondGraph, ends: &Ends) -> Option<Reading> {
        let one = pool.one();
        for added in self.additions.iter().filter(|added| added.form.0.contains_key(&ends.w)) {
            let (Some(nominal), Some(element)) = (&added.nominal, added.element) else { continue };
            // What is added to a source is added to its value.
            if graph.element(element).class().is_source() {
                continue;
            }
            if let Some((variable, value)) = self.entering(pool, added) {
                let variable_of = graph.variables.meaning(variable);
                let outside = Form::variable(pool, variable);
                let coefficient = pool.linear_parts(value, &[ends.w]).map(|(list, _)| list[0])?;
                let mut inside = outside.clone();
                inside.0.insert(ends.w, coefficient);
                let (inner, bare) = (ends.z == inside, ends.z == outside);
                if inner || bare {
                    return variable_of.map(|variable| Reading { element, variable, inner });
                }
                continue;
            }
            let mut all = nominal.clone();
            all.add(pool, one, &added.form);
            let (inner, outer) = (ends.z == *nominal, ends.z == all);
            if inner || outer {
                let variable = match added.place {
                    Place::Effort(bond) => Variable::Effort(bond),
                    Place::Flow(bond) => Variable::Flow(bond),
                    _ => return None,
                };
                return Some(Reading { element, variable, inner });
            }
        }
        None
    }
}

/// What is made of rows.
struct Maker<'a> {
    pool: &'a mut Pool,
    graph: &'a BondGraph,
    /// All variables over states, inputs and auxiliary inputs.
    values: &'a FxHashMap<Symbol, Form>,
    /// Quotients and derivatives over the variables of the graph, rates and auxiliary inputs.
    local: FxHashMap<Symbol, Form>,
    /// The states of dependent storages, whose nominal elements do not see auxiliary inputs, with what those add.
    states: FxHashMap<Symbol, Form>,
    inputs: BTreeSet<Symbol>,
}

impl Maker<'_> {
    fn find_states(&mut self, dependent: &[Dependent]) {
        for Dependent { state, .. } in dependent {
            let mut form = Form::variable(self.pool, *state);
            form.0.extend(self.added_to(*state).0);
            self.states.insert(*state, form);
        }
    }

    /// What auxiliary inputs add to a variable in all.
    fn added_to(&self, symbol: Symbol) -> Form {
        self.values.get(&symbol).map(|form| self.by_inputs(form)).unwrap_or_default()
    }

    fn by_inputs(&self, form: &Form) -> Form {
        let own = form.0.iter().filter(|(symbol, _)| self.inputs.contains(symbol));
        Form(own.map(|(symbol, c)| (*symbol, *c)).collect())
    }

    /// A form of a row over the variables of the graph.
    fn readable(&mut self, form: &Form) -> Form {
        form.substituted(self.pool, &self.local).substituted(self.pool, &self.states)
    }

    /// What auxiliary inputs add, by place; nothing where a place is missing.
    fn additions(&mut self, rows: &Rows, nominal: &[NominalRow]) -> Option<Vec<Added>> {
        let dependent: BTreeSet<ElementId> = rows.dependent.iter().map(|entry| entry.element).collect();
        let mut list = Vec::new();
        for (row, nominal) in rows.rows.iter().zip(nominal).filter(|(row, _)| row.order == 0) {
            let form = self.readable(&nominal.form);
            let added = self.by_inputs(&form);
            let own_state = row.unknown.is_some_and(|unknown| self.states.contains_key(&unknown));
            let own_law = matches!(row.place, Some(Place::Law(id, _)) if dependent.contains(&id));
            if added.0.is_empty() || own_state || own_law {
                continue;
            }
            let inputs = &self.inputs;
            let rest = Form(form.0.into_iter().filter(|(symbol, _)| !inputs.contains(symbol)).collect());
            list.push(match row.place {
                Some(place) => Added { place, element: row.element, form: added, nominal: Some(rest) },
                None => self.promoted(row, &rest, &added)?,
            });
        }
        for id in dependent {
            for port in 0..self.graph.element(id).ports.len() {
                list.push(self.dependent(id, port)?);
            }
        }
        Some(list)
    }

    /// A storage in derivative causality whose state is independent: its law determines what enters it.
    fn promoted(&mut self, row: &Row, rest: &Form, added: &Form) -> Option<Added> {
        let id = row.element?;
        let element = self.graph.element(id);
        let (stored, [port]) = (element.stored()?, &element.ports[..]) else { return None };
        let variable = stored.conjugate().of(port.bond);
        let coefficient = *rest.0.get(&self.graph.variables.symbol(variable)?)?;
        let one = self.pool.one();
        let inverse = self.pool.div(one, coefficient);
        let factor = self.pool.neg(inverse);
        let form = added.scaled(self.pool, factor);
        Some(Added { place: place_of(variable)?, element: Some(id), form, nominal: None })
    }

    /// The port of a storage with dependent ports. Nothing of auxiliary inputs enters the nominal element; so an
    /// independent port gives out none of it either.
    fn dependent(&mut self, id: ElementId, port: usize) -> Option<Added> {
        let element = self.graph.element(id);
        let variable = element.stored()?.conjugate().of(element.ports[port].bond);
        let form = self.added_to(self.graph.variables.symbol(variable)?);
        Some(Added { place: place_of(variable)?, element: Some(id), form, nominal: None })
    }
}

fn place_of(variable: Variable) -> Option<Place> {
    match variable {
        Variable::Effort(bond) => Some(Place::Effort(bond)),
        Variable::Flow(bond) => Some(Place::Flow(bond)),
        _ => None,
    }
}

/// Quotients by sums, and derivatives, over the variables of the graph and rates of states; nothing where they do
/// not determine one another.
fn local_values(
    pool: &mut Pool,
    realised: &Realised,
    inputs: &BTreeSet<Symbol>,
    ranges: &Ranges,
    token: &CancellationToken,
) -> Result<Option<FxHashMap<Symbol, Form>>, QueryError> {
    let rows = realised.rows;
    let mut known: BTreeSet<Symbol> = inputs.clone();
    known.extend(rows.rates.iter().chain(&rows.states).chain(&rows.inputs).chain(&rows.input_derivatives));
    let mut list: Vec<NominalRow> = realised.quotients.to_vec();
    for (row, nominal) in rows.rows.iter().zip(realised.nominal) {
        if row.order > 0 {
            list.push(nominal.clone());
        } else {
            known.extend(row.unknown);
            known.extend(pool.symbols(row.value));
        }
    }
    for entry in &rows.dependent {
        known.remove(&entry.rate);
    }
    Ok(solve(pool, &list, &known, ranges, token)?.ok())
}

/// A form as an expression.
fn expression(pool: &mut Pool, form: &Form) -> Expr {
    let terms: Vec<Expr> = form
        .0
        .iter()
        .map(|(symbol, coefficient)| {
            let variable = pool.var(*symbol);
            pool.mul(*coefficient, variable)
        })
        .collect();
    pool.sum(&terms)
}
