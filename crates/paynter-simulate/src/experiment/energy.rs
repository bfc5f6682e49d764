//! The energy of every element over a simulation: supplied, stored and
//! dissipated, and how well the balance closes.

use super::{Response, Simulation};
use crate::tolerance::ENERGY_ROUNDING;
use paynter_algebra::{Expr, Pool};
use paynter_equations::{Equations, Role, State};
use paynter_graph::{BondGraph, Variable, flat_name};

/// One account of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The element.
    pub element: String,
    /// What it does with energy.
    pub role: Role,
    /// Whether its energy is known by its state, independently of what flowed in.
    pub by_state: bool,
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
    let accounts = equations.accounts(pool, graph).into_iter();
    for account in accounts.filter(|account| account.element.index() < elements) {
        let name = flat_name(&graph.element(account.element).name);
        let state = format!("energy({name})");
        let symbol = pool.fresh(&state);
        let variable = Variable::State(account.element, 0);
        equations.states.push(State { name: state, symbol, variable, initial: pool.zero() });
        equations.rates.push(account.power);
        outputs.extend(account.stored);
        entries.push(Entry { element: name, role: account.role, by_state: account.stored.is_some() });
    }
    (entries, Some(outputs))
}

/// The energies of a run, in joules.
#[derive(Debug, Clone, PartialEq)]
pub struct Energy {
    /// Times.
    pub t: Vec<f64>,
    /// Each account with its energy over time: supplied or dissipated since the beginning, or stored.
    pub accounts: Vec<(Entry, Vec<f64>)>,
    /// What was supplied and has neither been stored nor dissipated: zero but for errors of the run.
    pub balance: Vec<f64>,
    /// The largest part of it in the energy that was moved.
    pub error: f64,
}

impl Simulation {
    /// The energies of a response, where accounts were kept.
    pub fn energy(&self, response: &Response) -> Option<Energy> {
        if self.accounts.is_empty() {
            return None;
        }
        let mut by_state = response.stored.iter();
        let mut accounts = Vec::new();
        let mut balance = vec![0.0; response.t.len()];
        let mut moved = vec![0.0; response.t.len()];
        let mut held = 0.0;
        for (entry, entered) in self.accounts.iter().zip(&response.entered) {
            let values: Vec<f64> = match (entry.role, entry.by_state) {
                (Role::Supply, _) => entered.iter().map(|energy| -energy).collect(),
                (Role::Storage, true) => by_state.next().cloned().unwrap_or_default(),
                _ => entered.clone(),
            };
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
        Some(Energy { t: response.t.clone(), accounts, balance, error })
    }
}
