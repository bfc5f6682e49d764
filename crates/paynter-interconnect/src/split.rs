//! The uncertain bond graph: what auxiliary inputs add to the laws, signals and outputs of the nominal one, and
//! auxiliary outputs over its variables.

use std::collections::BTreeSet;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_transform::{Addition, Auxiliary, Split};
use rustc_hash::FxHashMap;

use crate::form::Form;
use crate::model::Channel;
use crate::realise::{NominalRow, Pair};
use crate::reduce::{Dependence, replace};
use crate::rows::Row;

/// An auxiliary input with its output, and what it adds to at the entrance of an element.
type Added = (Symbol, Form, Option<(Form, Expr)>);

/// The rows with auxiliary inputs, before the nominal system is solved.
pub(crate) struct Splitting {
    /// Each place with what is added there, over auxiliary inputs.
    additions: Vec<(Row, Form)>,
    outputs: Vec<Added>,
}

impl Splitting {
    /// Reads it off the rows; nothing where one of them has no place in the graph.
    pub fn new(
        pool: &mut Pool,
        rows: &[Row],
        nominal: &[NominalRow],
        quotients: &[NominalRow],
        pairs: &[Pair],
    ) -> Option<Splitting> {
        let inputs: BTreeSet<Symbol> = pairs.iter().map(|pair| pair.w).collect();
        let known = resolved(pool, rows, nominal, quotients, &inputs)?;
        let mut additions = Vec::new();
        for (row, nominal) in rows.iter().zip(nominal) {
            let form = nominal.form.substituted(pool, &known);
            let added: Form =
                Form(form.0.into_iter().filter(|(symbol, _)| inputs.contains(symbol)).collect());
            if added.0.is_empty() {
                continue;
            }
            row.place?;
            additions.push((row.clone(), added));
        }
        let outputs =
            pairs.iter().map(|pair| (pair.w, pair.z.substituted(pool, &known), pair.entering.clone()));
        Some(Splitting { additions, outputs: outputs.collect() })
    }

    /// The split with these auxiliary inputs, in their order; the others are without effect and left out.
    pub fn of(mut self, pool: &mut Pool, removed: &[Dependence], channels: &[Channel]) -> Option<Split> {
        for found in removed {
            self.remove(pool, found);
        }
        let kept: BTreeSet<Symbol> = channels.iter().map(|channel| channel.w).collect();
        let mut additions = Vec::new();
        for (row, form) in &self.additions {
            let form = Form(form.0.iter().filter(|(w, _)| kept.contains(w)).map(|(w, c)| (*w, *c)).collect());
            let Some(place) = row.place.filter(|_| !form.0.is_empty()) else { continue };
            let entering = match form.0.keys().next() {
                Some(w) if form.0.len() == 1 => self.entering(pool, *w),
                _ => None,
            };
            additions.push(Addition {
                place,
                element: row.element,
                value: expression(pool, &form),
                entering,
            });
        }
        let mut auxiliaries = Vec::with_capacity(channels.len());
        for Channel { name, w, .. } in channels {
            let (_, z, _) = self.outputs.iter().find(|(other, _, _)| other == w)?;
            // What is left out is zero.
            let z = Form(
                z.0.iter()
                    .filter(|(s, _)| kept.contains(s) || !self.is_input(**s))
                    .map(|(s, c)| (*s, *c))
                    .collect(),
            );
            auxiliaries.push(Auxiliary { name: name.clone(), w: *w, z: expression(pool, &z) });
        }
        Some(Split { additions, auxiliaries })
    }

    /// Lets other channels take the part of one over.
    fn remove(&mut self, pool: &mut Pool, found: &Dependence) {
        let Some(place) = self.outputs.iter().position(|(w, _, _)| *w == found.gone) else { return };
        let (_, gone, _) = self.outputs[place].clone();
        for (w, z, entering) in &mut self.outputs {
            if let Some((_, factor)) = found.kept.iter().find(|(kept, _)| kept == w) {
                *entering = None;
                if !found.by_outputs {
                    z.add(pool, *factor, &gone);
                }
            }
            replace(pool, z, found);
        }
        self.additions.iter_mut().for_each(|(_, form)| replace(pool, form, found));
    }

    fn is_input(&self, symbol: Symbol) -> bool {
        self.outputs.iter().any(|(w, _, _)| *w == symbol)
    }

    /// What an auxiliary input adds to the one variable that enters an element.
    fn entering(&self, pool: &mut Pool, w: Symbol) -> Option<(Symbol, Expr)> {
        let (_, _, entering) = self.outputs.iter().find(|(other, _, _)| *other == w)?;
        let (signal, weight) = entering.as_ref()?;
        let mut signal = signal.0.iter();
        let (Some((variable, factor)), None) = (signal.next(), signal.next()) else { return None };
        let w = pool.var(w);
        let added = pool.mul(*weight, w);
        Some((*variable, pool.div(added, *factor)))
    }
}

/// Quotients by sums over the variables of the graph; nothing where they hang on one another, or where rows of
/// derivatives have auxiliary inputs, which no place in the graph could take.
fn resolved(
    pool: &mut Pool,
    rows: &[Row],
    nominal: &[NominalRow],
    quotients: &[NominalRow],
    inputs: &BTreeSet<Symbol>,
) -> Option<FxHashMap<Symbol, Form>> {
    let has_input = |row: &NominalRow| row.form.0.keys().any(|symbol| inputs.contains(symbol));
    if rows.iter().zip(nominal).any(|(row, nominal)| row.differentiated && has_input(nominal)) {
        return None;
    }
    let mut known: BTreeSet<Symbol> = inputs.clone();
    for row in rows {
        known.extend(row.unknown);
        known.extend(pool.symbols(row.value));
    }
    let mut values: FxHashMap<Symbol, Form> = FxHashMap::default();
    for row in quotients {
        let mut own =
            row.form.0.keys().filter(|symbol| !known.contains(symbol) && !values.contains_key(symbol));
        let (Some(quotient), None) = (own.next().copied(), own.next()) else { return None };
        let coefficient = *row.form.0.get(&quotient)?;
        let mut rest = row.form.clone();
        rest.0.remove(&quotient);
        let one = pool.one();
        let inverse = pool.div(one, coefficient);
        let factor = pool.neg(inverse);
        let value = rest.substituted(pool, &values).scaled(pool, factor);
        values.insert(quotient, value);
    }
    Some(values)
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
