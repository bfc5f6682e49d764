//! Storages without weight, which make a flow or an effort a state.
//!
//! Where causality makes a transformer divide by a modulus that passes through
//! zero, the states of the storages around it no longer tell what it computes,
//! although the motion goes on: a pendulum of two masses, one for each axis, turns by a
//! speed that neither of their momenta gives at every angle. An inertia of 1
//! and one of −1 on that flow store nothing together, but the first one makes
//! the flow its state, and all other storages follow from it.

use crate::build::{Builder, New};
use paynter_algebra::Pool;
use paynter_graph::{BondGraph, BondId, Class, ElementId, Law, Origin, Stored, Variable};

/// A pair of storages that cancel each other.
#[derive(Debug, Clone, Copy)]
pub struct Weightless {
    /// The storage whose state is the flow or effort.
    pub storage: ElementId,
    /// The bond whose flow or effort that is.
    pub bond: BondId,
    /// Whether it is a flow.
    pub flow: bool,
}

/// What a transformer or gyrator computes by division, or is given instead of that: the port, and whether it is the
/// flow there.
pub fn divided(graph: &BondGraph, id: ElementId) -> &'static [(usize, bool)] {
    match graph.element(id).class() {
        // f1 = f2/m, e2 = e1/m.
        Class::Transformer => &[(0, true), (1, false)],
        // f1 = e2/r, f2 = e1/r.
        Class::Gyrator => &[(0, true), (1, true)],
        _ => &[],
    }
}

/// The graph in which these flows and efforts at ports are states. Its own elements come first, what was added
/// behind them.
pub fn weightless(
    pool: &mut Pool,
    graph: &BondGraph,
    places: &[(ElementId, (usize, bool))],
) -> (BondGraph, Vec<Weightless>) {
    let mut builder = Builder::new(graph.clone());
    let pairs = places.iter().map(|&(id, (port, flow))| beside(pool, &mut builder, id, port, flow)).collect();
    builder.finish();
    (builder.graph, pairs)
}

/// Puts a pair of storages on the flow or effort of a port.
fn beside(pool: &mut Pool, builder: &mut Builder, id: ElementId, port: usize, flow: bool) -> Weightless {
    let element = builder.graph.element(id);
    let (bond, name, span) = (element.ports[port].bond, element.name.clone(), element.span);
    let (of, at) = (element.original().to_owned(), builder.place(id));
    let inner = BondId(builder.graph.bonds.len() as u32);
    let junction = builder.junction(id, &name, port, !flow);
    // The bond that was there may have given its variables the names after the element already.
    for variable in [Variable::Effort(inner), Variable::Flow(inner)] {
        let symbol = pool.fresh(&name);
        builder.graph.variables.insert(variable, symbol);
    }
    let kind = Class::Storage(if flow { Stored::Momentum } else { Stored::Displacement }).kind();
    let values = [pool.one(), pool.int(-1)];
    // No model has such names, so that nothing else is called like it.
    let [storage, _] = values.map(|value| {
        let name = format!("{name} {} {}", port + 1, pool.display(value));
        let (law, origin) = (Law::Value(value), Origin::Weightless { of: of.clone() });
        let storage = builder.element(New { name, kind, law, ports: 1, at, origin });
        builder.bond((junction, 0), (storage, 0), span);
        storage
    });
    Weightless { storage, bond, flow }
}
