//! The uncertain bond graph, printed, read again and sent through the ordinary passes, has the matrices of the
//! interconnection: of the motor of the paper, of dependent storages and fields, and of random bond graphs, by both
//! procedures and with every kind of δ. Values are compared modulo a prime.
//!
//! `cargo xtask random SEED [COUNT]` runs other seeds.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::cell::Cell;
use std::collections::BTreeMap;

use common::{Dense, Loaded, loaded, residues};
use paynter_algebra::{Rational, Residues};
use paynter_graph::flat_name;
use paynter_interconnect::{Interconnection, Procedure};
use paynter_testkit::Options;
use paynter_testkit::property::{check, demand};
use paynter_transform::{printed, uncertain};

/// The values of parameters by the name that a printed model gives them.
type Values = BTreeMap<String, Rational>;

fn nominal(model: &mut Loaded) -> Values {
    let list: Vec<_> = model.graph.parameters.iter().map(|p| (flat_name(&p.name), p.value.clone())).collect();
    let mut values = Values::new();
    for (name, value) in list {
        let value = value.expr(&mut model.pool);
        if let Some(value) = model.pool.as_rational(value) {
            values.insert(name.replace('.', "_"), value.clone());
        }
    }
    values
}

fn point(model: &Loaded, values: &Values) -> Residues {
    let mut point = Residues::new(7);
    for parameter in model.graph.parameters.iter() {
        if let Some(value) = values.get(&flat_name(&parameter.name).replace('.', "_")) {
            point.set_rational(parameter.symbol, value);
        }
    }
    point
}

/// Reads the uncertain bond graph again and compares its matrices; nothing where there is none.
fn agrees(model: &mut Loaded, found: &Interconnection) -> Result<bool, String> {
    let Some(split) = &found.split else { return Ok(false) };
    let values = nominal(model);
    let mut own = point(model, &values);
    let detectors = found.procedure == Procedure::Existing;
    let derived = uncertain(&mut model.pool, &model.graph, &model.causality, split, detectors);
    let text = printed(&mut model.pool, &derived, Vec::new())
        .map_err(|list| list.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; "))?;
    let show = |message: String| format!("{message}\n{text}");
    let mut again = loaded(&text).ok_or_else(|| show("the uncertain graph has no equations".to_owned()))?;
    let space = again.space().ok_or_else(|| show("the uncertain graph is not linear".to_owned()))?;
    let mut other = point(&again, &values);
    if again.equations.states.len() != found.states.len() {
        return Err(show(format!(
            "{} states instead of {}",
            again.equations.states.len(),
            found.states.len()
        )));
    }
    let m = found.symbols.map(|matrix| residues(&model.pool, &mut own, matrix).ok_or(()));
    let Ok(m) = m else { return Ok(true) };
    let mut given = |matrix| residues(&again.pool, &mut other, matrix).unwrap();
    for derivative in space.b.iter().skip(1).chain(space.d.iter().skip(1)) {
        if given(derivative).iter().flatten().any(|entry| *entry != 0) {
            return Err(show("the uncertain graph differentiates inputs".to_owned()));
        }
    }
    let (a, c) = (given(&space.a), given(&space.c));
    let zero = |rows: usize| vec![vec![0; found.inputs.len() + found.channels.len()]; rows];
    let b = space.b.first().map_or_else(|| zero(a.len()), &mut given);
    let d = space.d.first().map_or_else(|| zero(c.len()), &mut given);
    let (u, y, all) = (found.inputs.len(), found.outputs.len(), c.len());
    let side = |left: &Dense, right: &Dense| -> Dense {
        left.iter().zip(right).map(|(left, right)| [left.as_slice(), right].concat()).collect()
    };
    let columns = |m: &[Vec<u64>]| -> Dense { m.iter().map(|row| [&row[u..], &row[..u]].concat()).collect() };
    let parts = [
        ("A", a, m.a),
        ("[B1, B2]", columns(&b), side(&m.b1, &m.b2)),
        ("C1", c[y..all].to_vec(), m.c1),
        ("[D11, D12]", columns(&d[y..all]), side(&m.d11, &m.d12)),
        ("C2", c[..y].to_vec(), m.c2),
        ("[D21, D22]", columns(&d[..y]), side(&m.d21, &m.d22)),
    ];
    for (name, graph, lft) in parts {
        for (i, (left, right)) in graph.iter().zip(&lft).enumerate() {
            if let Some(j) = (0..right.len()).find(|j| left[*j] != right[*j]) {
                return Err(show(format!("{name} differs at ({i}, {j})")));
            }
        }
    }
    Ok(true)
}

/// Both procedures with every kind of δ; how many of them have a graph, out of how many.
fn all_ways(text: &str) -> Result<(usize, usize), String> {
    let mut count = (0, 0);
    for procedure in [Procedure::New, Procedure::Existing] {
        for normalized in [false, true] {
            let Some(mut model) = loaded(text).map(Loaded::with_tolerances) else { return Ok(count) };
            if model.space().is_none() {
                return Ok(count);
            }
            let Ok(found) = model.interconnection(procedure, normalized) else { return Ok(count) };
            let agrees = agrees(&mut model, &found)
                .map_err(|message| format!("{procedure:?}, normalized {normalized}: {message}"))?;
            count = (count.0 + usize::from(agrees), count.1 + 1);
        }
    }
    Ok(count)
}

#[test]
fn the_uncertain_graphs_of_the_motor_have_the_matrices() {
    assert_eq!(all_ways(include_str!("../../../examples/uncertain_motor.bg")), Ok((4, 4)));
}

#[test]
fn dependent_storages_have_uncertain_graphs() {
    let gear = "model gear {
        param n = 2; param J1 = 3; param J2 = 5; param b = 1; param k = 7; param m = 3; param M = 0.5
        input u; input v
        Se motor = u; Se load = v
        1 near; 1 far; I first = J1; R drag = b; TF gear = n
        I pair[2] = [[J2, M], [M, m]]
        Se pull = k*pair.p1; 1 beside; R brake = b
        motor -> near; near -> first, drag; near -> gear -> far; load -> far; far -> pair.1
        pull -> beside; beside -> pair.2, brake
        output w1 = first.f; output p = pair.p1; output e = pair.e1; output i = pair.f2
    }";
    assert_eq!(all_ways(gear), Ok((4, 4)));
    let springs = "model springs {
        param a = 2; param b = 3; param r = 5; param g = 7
        input u
        Sf flow = u; 0 node; C one = a; C two = b*a; GY turn = g; R loss = r
        flow -> node; node -> one; two -> node; node -> turn; turn -> loss
        output x = two.q; output e = one.e; output f = two.f
    }";
    assert_eq!(all_ways(springs), Ok((4, 4)));
    assert_eq!(all_ways(include_str!("rate.bg")), Ok((4, 4)));
}

#[test]
fn uncertain_graphs_of_random_models_have_the_matrices() {
    const COUNT: u64 = 30;
    let counts = Cell::new((0, 0));
    check(COUNT, &Options::linear().small(), |text, _| {
        let (some, all) = all_ways(text)?;
        counts.set((counts.get().0 + some, counts.get().1 + all));
        Ok(some > 0)
    });
    let (some, all) = counts.get();
    demand("uncertain graphs compared", some, 60, COUNT);
    // Where derivatives of inputs cancel there is none.
    assert!(50 * (all - some) <= all, "{some} of {all} models have an uncertain graph");
}
