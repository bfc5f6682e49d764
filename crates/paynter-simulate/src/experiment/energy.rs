//! The energy of every element over a simulation: supplied, stored and
//! dissipated, and how well the balance closes.

use super::storage::StorageLaw;
use super::{Response, Simulation};
use crate::model::freeze::rebuilt;
use crate::tolerance::{ENERGY_ROUNDING, LARGEST_BALANCE_ERROR, SQUARED_LOGARITHM_FLOOR};
use paynter_algebra::{Expr, Func, Node, Pool, Symbol};
use paynter_equations::{Equations, Role, State, StoredEnergy};
use paynter_graph::{BondGraph, Variable, flat_name};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// From where the energy of a storage is counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reference {
    /// From where its state is zero.
    Empty,
    /// From the relaxed state next to that: its effort or flow is zero there.
    Relaxed(f64),
    /// From the beginning of the run.
    Start,
}

/// How the energy of a storage is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Known {
    /// By what flows in.
    Flow,
    /// By an output after those of the equations.
    Output,
    /// By its law and its states, which are outputs after those of the equations.
    Law(Arc<StorageLaw>),
    /// By the inverse of its law, and its effort or flow, which is an output after those of the equations.
    Inverse(Arc<StorageLaw>),
}

/// One account of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The element.
    pub element: String,
    /// What it does with energy.
    pub role: Role,
    /// How its energy is known.
    pub(super) known: Known,
}

impl Entry {
    /// Whether its energy is known by its state, independently of what flowed in.
    pub fn by_state(&self) -> bool {
        self.known != Known::Flow
    }

    /// How many outputs after those of the equations it needs.
    pub(super) fn columns(&self) -> usize {
        match &self.known {
            Known::Flow => 0,
            Known::Output | Known::Inverse(_) => 1,
            Known::Law(law) => law.ports(),
        }
    }
}

/// Opens an account for each of the first elements, so many: what enters it becomes a state of
/// the equations, what it stores an output after theirs.
pub(super) fn open(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &mut Equations,
    elements: usize,
) -> (Vec<Entry>, Option<Vec<Expr>>) {
    let mut outputs: Vec<Expr> = equations.outputs.iter().map(|output| output.value).collect();
    let mut entries = Vec::new();
    let parameters: Vec<Symbol> = graph.parameters.iter().map(|parameter| parameter.symbol).collect();
    let accounts = equations.accounts(pool, graph).into_iter();
    for account in accounts.filter(|account| account.element.index() < elements) {
        let name = flat_name(&graph.element(account.element).name);
        let state = format!("energy({name})");
        let symbol = pool.fresh(&state);
        let variable = Variable::State(account.element, 0);
        equations.states.push(State { name: state, symbol, variable, initial: pool.zero() });
        equations.rates.push(continued(pool, account.power));
        let known = match account.stored {
            None => Known::Flow,
            Some(StoredEnergy::Quadratic(energy)) => {
                outputs.push(energy);
                Known::Output
            }
            Some(StoredEnergy::Law { states, laws, antiderivative }) => {
                let antiderivative = antiderivative.map(|energy| continued(pool, energy));
                match StorageLaw::compile(pool, &parameters, &states, &laws, antiderivative) {
                    Ok(law) => {
                        outputs.extend(states.iter().map(|state| pool.var(*state)));
                        Known::Law(Arc::new(law))
                    }
                    Err(_) => Known::Flow,
                }
            }
            Some(StoredEnergy::Inverse { value, symbol, law, antiderivative }) => {
                let antiderivative = antiderivative.map(|energy| continued(pool, energy));
                match StorageLaw::compile(pool, &parameters, &[symbol], &[law], antiderivative) {
                    Ok(law) => {
                        outputs.push(value);
                        Known::Inverse(Arc::new(law))
                    }
                    Err(_) => Known::Flow,
                }
            }
        };
        entries.push(Entry { element: name, role: account.role, known });
    }
    (entries, Some(outputs))
}

/// The same with each ln a as ½ ln(a² + ε): ln |a|, but finite where a is zero. The effort of an empty storage
/// may be infinite there and the power into it with it; the energy is not, and steps resolve what leads to it.
fn continued(pool: &mut Pool, e: Expr) -> Expr {
    let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
    for node in pool.reachable(&[e]) {
        let args: Vec<Expr> =
            pool.children(node).iter().map(|c| replaced.get(c).copied().unwrap_or(*c)).collect();
        let new = match pool.node(node) {
            Node::Call(function @ (Func::Ln | Func::Log10), _) if pool.as_rational(args[0]).is_none() => {
                let two = pool.int(2);
                let (square, floor) = (pool.pow(args[0], two), pool.decimal(SQUARED_LOGARITHM_FLOOR));
                let above = floor.map_or(square, |floor| pool.add(square, floor));
                let logarithm = pool.call(function, &[above]);
                pool.div(logarithm, two)
            }
            _ if args.as_slice() == pool.children(node) => continue,
            _ => rebuilt(pool, node, &args),
        };
        replaced.insert(node, new);
    }
    replaced.get(&e).copied().unwrap_or(e)
}

/// The energies of a run, in joules.
#[derive(Debug, Clone, PartialEq)]
pub struct Energy {
    /// Times.
    pub t: Vec<f64>,
    /// Each account with its energy over time: supplied or dissipated since the beginning, or stored.
    pub accounts: Vec<(Entry, Vec<f64>)>,
    /// For each account from where its energy is counted.
    pub references: Vec<Reference>,
    /// What was supplied and has neither been stored nor dissipated: zero but for errors of the run.
    pub balance: Vec<f64>,
    /// The largest part of it in the energy that was moved.
    pub error: f64,
}

/// Whether a balance that misses this part of what was moved closes but for errors of the run.
pub fn balance_closes(error: f64) -> bool {
    error <= LARGEST_BALANCE_ERROR
}

impl Simulation {
    /// Whether accounts of energy are kept.
    pub fn has_accounts(&self) -> bool {
        !self.accounts.is_empty()
    }

    /// The energies of a response, where accounts were kept.
    pub fn energy(&self, response: &Response) -> Option<Energy> {
        if self.accounts.is_empty() {
            return None;
        }
        let mut by_state = response.stored.iter();
        let (mut accounts, mut references) = (Vec::new(), Vec::new());
        let mut balance = vec![0.0; response.t.len()];
        let mut moved = vec![0.0; response.t.len()];
        let mut held = 0.0;
        for (entry, entered) in self.accounts.iter().zip(&response.entered) {
            // Counted from the first sample, as what is stored is; a run may have begun before.
            let begun = entered.first().copied().unwrap_or(0.0);
            let entered: Vec<f64> = entered.iter().map(|energy| energy - begun).collect();
            let columns: Vec<&[f64]> = by_state.by_ref().take(entry.columns()).map(Vec::as_slice).collect();
            let (values, reference): (Vec<f64>, Reference) = match (entry.role, &entry.known) {
                (Role::Supply, _) => (entered.iter().map(|energy| -energy).collect(), Reference::Start),
                (_, Known::Output) => (columns.concat(), Reference::Empty),
                (_, Known::Law(law)) => law.energies(&self.parameters, &columns),
                (_, Known::Inverse(law)) => law.energies_by_inverse(&self.parameters, columns[0]),
                (_, Known::Flow) => (entered, Reference::Start),
            };
            references.push(reference);
            let first = values.first().copied().unwrap_or(0.0);
            held += if entry.role == Role::Storage { first.abs() } else { 0.0 };
            for ((value, balance), moved) in values.iter().zip(&mut balance).zip(&mut moved) {
                let change = if entry.role == Role::Storage { value - first } else { *value };
                *balance += if entry.role == Role::Supply { change } else { -change };
                *moved += change.abs();
            }
            accounts.push((entry.clone(), values));
        }
        // Where nothing moves, the rounding of what is held is no error.
        let most = moved.iter().fold(ENERGY_ROUNDING * held, |most, value| most.max(*value));
        let worst = balance.iter().fold(0.0_f64, |worst, value| worst.max(value.abs()));
        let error = if most > 0.0 { worst / most } else { 0.0 };
        Some(Energy { t: response.t.clone(), accounts, references, balance, error })
    }
}
