//! Closing w = Δ z gives the model at the perturbed parameters exactly, in the states of its equations: on the
//! motor of the paper, on fields, dependent storages and expressions, and on random bond graphs, by both
//! procedures and with every kind of δ. Values are compared modulo a prime.
//!
//! `cargo xtask random SEED [COUNT]` runs other seeds.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Dense, Loaded, loaded, residues};
use paynter_algebra::field::FIELD;
use paynter_algebra::{Expr, Rational, Residues, Symbol};
use paynter_equations::{Sparse, StateSpace};
use paynter_interconnect::{Interconnection, Matrices, Procedure};
use paynter_testkit::Options;
use paynter_testkit::property::{check, demand};

trait Written {
    fn written(&self, matrix: &Sparse) -> Vec<Vec<String>>;
}

impl Written for Loaded {
    fn written(&self, matrix: &Sparse) -> Vec<Vec<String>> {
        let mut rows = vec![vec!["0".to_owned(); matrix.columns]; matrix.rows];
        for (i, j, entry) in &matrix.entries {
            rows[*i][*j] = self.pool.display(*entry).to_string();
        }
        rows
    }
}

fn product(a: &Dense, b: &Dense) -> Dense {
    let width = b.first().map_or(0, Vec::len);
    let entry = |row: &Vec<u64>, j: usize| {
        row.iter().zip(b).fold(0, |sum, (x, other)| FIELD.add(sum, FIELD.mul(*x, other[j])))
    };
    a.iter().map(|row| (0..width).map(|j| entry(row, j)).collect()).collect()
}

/// Solves a·x = b; none where a is singular.
fn solved(a: &Dense, b: &Dense) -> Option<Dense> {
    let n = a.len();
    let mut rows: Dense = a.iter().zip(b).map(|(a, b)| [a.as_slice(), b].concat()).collect();
    for j in 0..n {
        let pivot = (j..n).find(|i| rows[*i][j] != 0)?;
        rows.swap(j, pivot);
        let inverse = FIELD.inv(rows[j][j]);
        rows[j].iter_mut().for_each(|x| *x = FIELD.mul(*x, inverse));
        let own = rows[j].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[j];
            if i != j && factor != 0 {
                row.iter_mut().zip(&own).for_each(|(x, y)| *x = FIELD.sub(*x, FIELD.mul(factor, *y)));
            }
        }
    }
    Some(rows.into_iter().map(|row| row[n..].to_vec()).collect())
}

/// Nominal values and changes of all parameters.
fn point(model: &mut Loaded, seed: u64) -> (Residues, Residues) {
    let (mut nominal, mut perturbed) = (Residues::new(7), Residues::new(7));
    let names: Vec<(Symbol, String, Expr)> = (model.graph.parameters.iter())
        .map(|p| (p.symbol, paynter_graph::flat_name(&p.name), p.value.expr(&mut model.pool)))
        .collect();
    for (k, (symbol, name, value)) in names.into_iter().enumerate() {
        let Some(value) = model.pool.as_rational(value).cloned() else { continue };
        let change = Rational::from(1 + (seed + 3 * k as u64) % 11) / Rational::from(100u8);
        let change = if value.is_zero() { change } else { change * value.clone() };
        let delta = model.pool.symbol(&format!("Delta_{name}"));
        nominal.set_rational(symbol, &value);
        nominal.set_rational(delta, &change);
        perturbed.set_rational(symbol, &(value + change));
    }
    (nominal, perturbed)
}

/// Closes the loop and compares with the model at the perturbed parameters.
fn closes(model: &mut Loaded, found: &Interconnection, space: &StateSpace, seed: u64) -> Result<(), String> {
    let (mut nominal, mut perturbed) = point(model, seed);
    let pool = &model.pool;
    let Ok(m) = found.symbols.map(|matrix| residues(pool, &mut nominal, matrix).ok_or(())) else {
        return Ok(());
    };
    let Matrices { a, b1, b2, c1, d11, d12, c2, d21, d22 } = m;
    let mut delta = vec![0; found.channels.len()];
    for block in &found.blocks {
        let value = nominal.value(pool, block.delta).ok_or("δ has no value")?;
        delta[block.channels.clone()].fill(value);
    }
    let n = delta.len();
    let left: Dense = (0..n)
        .map(|i| {
            let entry = |j: usize| {
                let own = if i == j { FIELD.one() } else { 0 };
                FIELD.sub(own, FIELD.mul(d11[i][j], delta[j]))
            };
            (0..n).map(entry).collect()
        })
        .collect();
    let right: Dense = (0..n).map(|i| [c1[i].as_slice(), &d12[i]].concat()).collect();
    let z = solved(&left, &right).ok_or("I - D11 Δ is singular")?;
    let w: Dense =
        z.iter().zip(&delta).map(|(row, d)| row.iter().map(|x| FIELD.mul(*x, *d)).collect()).collect();
    let (x, u) = (space.a.columns, space.b.first().map_or(0, |b| b.columns));
    for (what, by_state, by_input, by_w, state, input) in [
        ("A B", &a, &b2, &b1, &space.a, space.b.first()),
        ("C D", &c2, &d22, &d21, &space.c, space.d.first()),
    ] {
        let more = product(by_w, &w);
        let state = residues(pool, &mut perturbed, state).ok_or("no perturbed value")?;
        let input = input.map(|b| residues(pool, &mut perturbed, b)).unwrap_or_default().unwrap_or_default();
        for i in 0..state.len() {
            for j in 0..x + u {
                let added = more.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
                let own = if j < x { by_state[i][j] } else { by_input[i][j - x] };
                let wanted = if j < x { state[i][j] } else { input[i][j - x] };
                if FIELD.add(own, added) != wanted {
                    return Err(format!("{what} differs at ({i}, {j})"));
                }
            }
        }
    }
    Ok(())
}

/// Both procedures, with every kind of δ, closed; tells the models found.
fn all_ways(text: &str) -> Result<Option<Vec<Interconnection>>, String> {
    let Some(mut model) = loaded(text).map(Loaded::with_tolerances) else { return Ok(None) };
    let Some(space) = model.space() else { return Ok(None) };
    let mut list = Vec::new();
    for procedure in [Procedure::New, Procedure::Existing] {
        for normalized in [false, true] {
            let found = match model.interconnection(procedure, normalized) {
                Ok(found) => found,
                Err(message) if message.contains("no standard interconnection model") => return Ok(None),
                Err(message) => return Err(message),
            };
            for seed in [1, 5] {
                closes(&mut model, &found, &space, seed)
                    .map_err(|message| format!("{procedure:?}, normalized {normalized}: {message}"))?;
            }
            list.push(found);
        }
    }
    Ok(Some(list))
}

const MOTOR: &str = include_str!("../../../examples/uncertain_motor.bg");

/// The order of channels in the paper (R, b, L, J, 1, 2) among R, L, k, k, J, b.
const PAPER: [usize; 6] = [0, 5, 1, 4, 2, 3];

/// The same of the existing procedure, whose first channel of the gyrator is at the current that enters it.
const PAPER_EXISTING: [usize; 6] = [0, 5, 1, 4, 3, 2];

fn rows(text: &[&[&str]]) -> Vec<Vec<String>> {
    text.iter().map(|row| row.iter().map(|entry| (*entry).to_owned()).collect()).collect()
}

fn in_paper_order(
    matrix: Vec<Vec<String>>,
    order: [usize; 6],
    by_rows: bool,
    by_columns: bool,
) -> Vec<Vec<String>> {
    let pick = |row: &Vec<String>| -> Vec<String> {
        if by_columns { order.iter().map(|k| row[*k].clone()).collect() } else { row.clone() }
    };
    let matrix: Vec<Vec<String>> = matrix.iter().map(pick).collect();
    if by_rows { order.iter().map(|k| matrix[*k].clone()).collect() } else { matrix }
}

#[test]
fn the_motor_has_the_matrices_of_the_new_procedure() {
    let mut motor = loaded(MOTOR).unwrap();
    let found = motor.interconnection(Procedure::New, false).unwrap();
    let m = &found.symbols;
    assert_eq!(motor.written(&m.a), rows(&[&["-R/L", "-k/J"], &["k/L", "-b/J"]]));
    let b1 = in_paper_order(motor.written(&m.b1), PAPER, false, true);
    assert_eq!(b1, rows(&[&["-1", "0", "-R", "-k", "-1", "0"], &["0", "-1", "k", "-b", "0", "1"]]));
    assert_eq!(motor.written(&m.b2), rows(&[&["1"], &["0"]]));
    let c1 = in_paper_order(motor.written(&m.c1), PAPER, true, false);
    let printed: [&[&str]; 6] =
        [&["R/L", "0"], &["0", "b/J"], &["1/L", "0"], &["0", "1/J"], &["0", "k/J"], &["k/L", "0"]];
    assert_eq!(c1, rows(&printed));
    let d11 = in_paper_order(motor.written(&m.d11), PAPER, true, true);
    let zero: &[&str] = &["0"; 6];
    let printed = rows(&[
        &["0", "0", "R", "0", "0", "0"],
        &["0", "0", "0", "b", "0", "0"],
        zero,
        zero,
        &["0", "0", "0", "k", "0", "0"],
        &["0", "0", "k", "0", "0", "0"],
    ]);
    assert_eq!(d11, printed);
    assert_eq!(
        in_paper_order(motor.written(&m.d21), PAPER, false, true),
        rows(&[&["0", "0", "0", "1", "0", "0"]])
    );
    assert!(m.d12.entries.is_empty() && m.d22.entries.is_empty());
    let delta = |name: &str| {
        let block = found.blocks.iter().find(|block| block.name == name).unwrap();
        motor.pool.display(block.delta).to_string()
    };
    assert_eq!(delta("R"), "Delta_R/R");
    assert_eq!(delta("L"), "-Delta_L/(Delta_L + L)");
    assert_eq!(delta("k"), "Delta_k/k");
    assert!(found.is_minimal() && found.channels.len() == 6);
}

#[test]
fn the_motor_has_the_mended_matrices_of_the_existing_procedure() {
    let mut motor = loaded(MOTOR).unwrap();
    let found = motor.interconnection(Procedure::Existing, false).unwrap();
    let m = &found.symbols;
    let b1 = in_paper_order(motor.written(&m.b1), PAPER_EXISTING, false, true);
    assert_eq!(b1, rows(&[&["-1", "0", "-R", "-k", "0", "-k"], &["0", "-1", "k", "-b", "k", "0"]]));
    let c1 = in_paper_order(motor.written(&m.c1), PAPER_EXISTING, true, false);
    let printed: [&[&str]; 6] =
        [&["R/L", "0"], &["0", "b/J"], &["1/L", "0"], &["0", "1/J"], &["1/L", "0"], &["0", "1/J"]];
    assert_eq!(c1, rows(&printed));
    let mut d11 = vec![vec!["0".to_owned(); 6]; 6];
    for (i, j, entry) in [(0, 2, "R"), (1, 3, "b"), (4, 2, "1"), (5, 3, "1")] {
        d11[i][j] = entry.to_owned();
    }
    assert_eq!(in_paper_order(motor.written(&m.d11), PAPER_EXISTING, true, true), d11);
    assert_eq!(
        in_paper_order(motor.written(&m.d21), PAPER_EXISTING, false, true),
        rows(&[&["0", "0", "0", "1", "0", "0"]])
    );
    assert!(all_ways(MOTOR).unwrap().unwrap().iter().all(Interconnection::is_minimal));
}

/// Channels by parameter, each proved to be as few as possible.
fn channels(text: &str, wanted: &[(&str, usize)]) {
    for found in all_ways(text).unwrap().unwrap() {
        let counts: Vec<(&str, usize)> =
            found.blocks.iter().map(|block| (block.name.as_str(), block.channels.len())).collect();
        assert_eq!(counts, wanted, "{:?}", found.procedure);
        let degrees: Vec<usize> = found.blocks.iter().map(|block| block.degree).collect();
        assert!(found.is_minimal(), "{degrees:?}");
    }
}

#[test]
fn two_coils_take_four_channels_with_the_mutual_inductance_twice() {
    let coils = include_str!("../../../examples/two_coils.bg");
    channels(coils, &[("L1", 1), ("L2", 1), ("M", 2), ("R", 1)]);
}

#[test]
fn a_transformer_between_dependent_inertias_takes_three_channels() {
    let text = "model gear {
        param m = 2
        param J1 = 3
        param J2 = 5
        param b1 = 1
        param b2 = 7
        input u
        input v
        Se motor = u
        Se load = v
        1 near
        1 far
        I first = J1
        I second = J2
        R one = b1
        R two = b2
        TF gear = m
        motor -> near
        near -> first, one
        near -> gear -> far
        load -> far
        far -> second, two
        output w1 = first.f
        output w2 = second.f
    }";
    channels(text, &[("m", 3), ("J1", 2), ("J2", 1), ("b1", 1), ("b2", 1)]);
}

#[test]
fn a_value_of_several_parameters_is_realised_factor_by_factor() {
    let text = "model wire {
        param rho = 2
        param len = 3
        param area = 5
        param L = 7
        input u
        Se source = u
        1 loop
        R wire = rho*len/area
        I coil = L
        source -> loop
        loop -> wire, coil
        output i = coil.f
    }";
    channels(text, &[("rho", 1), ("len", 1), ("area", 1), ("L", 1)]);
}

#[test]
fn parameters_of_signals_sources_and_outputs_are_uncertain_as_well() {
    let text = "model loop {
        param K = 2
        param Ti = 3
        param m = 5
        param b = 7
        param g = 11
        input r
        signal error = r - mass.f
        signal control = K*(error + integral(error)/Ti)
        Se drive = control
        1 body
        I mass = m
        R drag = b
        drive -> body
        body -> mass, drag
        output v = g*mass.f
    }";
    channels(text, &[("K", 1), ("Ti", 1), ("m", 1), ("b", 1), ("g", 1)]);
}

#[test]
fn the_rate_of_a_dependent_storage_may_fill_another_one() {
    let found = all_ways(include_str!("rate.bg")).unwrap().unwrap();
    assert!(found.iter().all(|found| found.split.is_some()));
}

#[test]
fn resistors_beside_each_other_take_one_channel_each() {
    let text = "model beside {
        param a = 2
        param b = 3
        param L = 7
        input u
        Se source = u
        1 loop
        R both = a*b/(a + b)
        I coil = L
        source -> loop
        loop -> both, coil
        output i = coil.f
    }";
    channels(text, &[("a", 1), ("b", 1), ("L", 1)]);
}

/// The square of the mutual inductance is a product of parameters that stand elsewhere: taken for a value of its own,
/// it would hide that auxiliary outputs of `a` depend on one another.
#[test]
fn a_bound_knows_that_roots_are_roots() {
    let text = "model coils {
        param a = 1.178
        param b = 1.139
        param c = 2.335
        input u
        input v
        Se s0 = u
        Sf s1 = v
        0 j0
        1 j1
        GY t0 = 1.289
        C c0 = 0.15
        C c1 = a
        I i2 = a
        I m[2] = [[2.472, sqrt(a*b)/9], [sqrt(a*b)/9, 3*c*a + 1]]
        j0 -> t0 -> j1
        s0 -> j1
        s1 -> j0
        j0 -> c0, c1
        j1 -> i2, m.1
        j0 -> m.2
        output y0 = i2.e
        output y1 = c0.f
    }";
    let found = loaded(text).unwrap().interconnection(Procedure::New, false).unwrap();
    let degrees: Vec<(&str, usize)> =
        found.blocks.iter().map(|block| (block.name.as_str(), block.degree)).collect();
    assert_eq!(degrees, [("a", 2), ("c", 1), ("m", 2)]);
}

#[test]
fn random_models_close_to_their_perturbed_matrices() {
    const COUNT: u64 = 40;
    let gaps = std::cell::Cell::new((0, 0));
    let judged = check(COUNT, &Options::linear(), |text, _| {
        let found = all_ways(text)?;
        for model in found.iter().flatten() {
            let (all, open) = gaps.get();
            let gap = model.blocks.iter().filter(|block| !block.is_minimal()).count();
            gaps.set((all + model.blocks.len(), open + gap));
        }
        Ok(found.is_some())
    });
    demand("models closed", judged, 30, COUNT);
    let (all, open) = gaps.get();
    assert!(8 * open < all, "{open} of {all} blocks have more channels than their bound");
}
