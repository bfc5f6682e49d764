//! The nominal system, solved along the causal paths for rates, outputs and auxiliary outputs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, strong_components};
use paynter_equations::{Pivots, QueryError, System};
use paynter_graph::Ranges;
use rustc_hash::FxHashMap;

use crate::form::Form;
use crate::realise::NominalRow;

/// Rows that do not determine their unknowns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undetermined;

/// Solves rows for all their unknowns: what is not known.
pub(crate) fn solve(
    pool: &mut Pool,
    rows: &[NominalRow],
    known: &BTreeSet<Symbol>,
    ranges: &Ranges,
    token: &CancellationToken,
) -> Result<Result<FxHashMap<Symbol, Form>, Undetermined>, QueryError> {
    let minus = pool.int(-1);
    // Every row as a form that is zero.
    let zeros: Vec<Form> = rows
        .iter()
        .map(|row| {
            let mut form = row.form.clone();
            if let Some(unknown) = row.unknown {
                let alone = Form::variable(pool, unknown);
                form.add(pool, minus, &alone);
            }
            form
        })
        .collect();
    let Some(order) = Order::new(rows, &zeros, known) else { return Ok(Err(Undetermined)) };
    let mut values: FxHashMap<Symbol, Form> = FxHashMap::default();
    for group in &order.groups {
        token.check()?;
        if let [one] = group[..] {
            let (unknown, row) = (order.unknowns[one as usize], order.rows[one as usize]);
            if rows[row].unknown == Some(unknown) && !rows[row].form.0.contains_key(&unknown) {
                let value = rows[row].form.substituted(pool, &values);
                values.insert(unknown, value);
                continue;
            }
        }
        let unknowns: Vec<Symbol> = group.iter().map(|v| order.unknowns[*v as usize]).collect();
        let forms: Vec<Form> =
            group.iter().map(|v| zeros[order.rows[*v as usize]].substituted(pool, &values)).collect();
        let Some(solved) = block(pool, &unknowns, &forms, ranges) else {
            return Ok(Err(Undetermined));
        };
        values.extend(unknowns.into_iter().zip(solved));
    }
    Ok(Ok(values))
}

/// Solves forms that are zero together.
fn block(pool: &mut Pool, unknowns: &[Symbol], forms: &[Form], ranges: &Ranges) -> Option<Vec<Form>> {
    let place: BTreeMap<Symbol, usize> = unknowns.iter().enumerate().map(|(j, s)| (*s, j)).collect();
    let others: BTreeSet<Symbol> =
        forms.iter().flat_map(|form| form.0.keys().copied()).filter(|s| !place.contains_key(s)).collect();
    let others: Vec<Symbol> = others.into_iter().collect();
    let zero = pool.zero();
    let mut system = System { rows: Vec::new(), right: Vec::new() };
    for form in forms {
        let own = form.0.iter().filter_map(|(symbol, c)| Some((*place.get(symbol)?, *c)));
        system.rows.push(own.collect());
        let right = others.iter().map(|symbol| form.0.get(symbol).copied());
        system.right.push(right.map(|c| c.map_or(zero, |c| pool.neg(c))).collect());
    }
    let solution = system.solve(pool, Pivots::Lasting(ranges)).ok()?;
    let entries = |values: Vec<Expr>| others.iter().copied().zip(values).filter(|(_, value)| *value != zero);
    Some(solution.into_iter().map(|values| Form(entries(values).collect())).collect())
}

/// Which row gives which unknown, and in what order.
struct Order {
    unknowns: Vec<Symbol>,
    /// By unknown: its row.
    rows: Vec<usize>,
    /// Unknowns that are found together, in order.
    groups: Vec<Vec<u32>>,
}

impl Order {
    fn new(rows: &[NominalRow], zeros: &[Form], known: &BTreeSet<Symbol>) -> Option<Order> {
        let all: BTreeSet<Symbol> =
            zeros.iter().flat_map(|form| form.0.keys().copied()).filter(|s| !known.contains(s)).collect();
        let unknowns: Vec<Symbol> = all.into_iter().collect();
        let place: FxHashMap<Symbol, usize> = unknowns.iter().enumerate().map(|(k, s)| (*s, k)).collect();
        let reads: Vec<Vec<usize>> = zeros
            .iter()
            .map(|form| form.0.keys().filter_map(|symbol| place.get(symbol).copied()).collect())
            .collect();
        let mut given: Vec<Option<usize>> = vec![None; unknowns.len()];
        let mut implicit = Vec::new();
        for (r, row) in rows.iter().enumerate() {
            match row.unknown.and_then(|unknown| place.get(&unknown)) {
                Some(&k) => given[k] = Some(r),
                None if zeros[r].0.is_empty() => {}
                None => implicit.push(r),
            }
        }
        for r in implicit {
            augment(r, &reads, &mut given)?;
        }
        let rows: Vec<usize> = given.into_iter().collect::<Option<_>>()?;
        let next: Vec<Vec<u32>> = rows
            .iter()
            .enumerate()
            .map(|(k, row)| reads[*row].iter().filter(|v| **v != k).map(|v| *v as u32).collect())
            .collect();
        let groups = strong_components(unknowns.len(), |v| &next[v as usize]);
        Some(Order { unknowns, rows, groups })
    }
}

/// Lets a row give one of the unknowns it reads, while rows that give them now move on to others.
fn augment(row: usize, reads: &[Vec<usize>], given: &mut [Option<usize>]) -> Option<()> {
    let mut from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut open = VecDeque::from([row]);
    while let Some(r) = open.pop_front() {
        for &unknown in &reads[r] {
            if from.contains_key(&unknown) {
                continue;
            }
            from.insert(unknown, r);
            match given[unknown] {
                Some(next) => open.push_back(next),
                None => {
                    let mut unknown = unknown;
                    loop {
                        let r = *from.get(&unknown)?;
                        let before = given.iter().position(|owner| *owner == Some(r));
                        given[unknown] = Some(r);
                        match before {
                            Some(before) => unknown = before,
                            None => return Some(()),
                        }
                    }
                }
            }
        }
    }
    None
}
