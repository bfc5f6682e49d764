//! What is read off the causal graph: Mason's rule against matrices, the
//! junction structure and its balance of power, controllability and relative
//! degree against definitions, on random models and on those of the papers.
//!
//! `cargo xtask random SEED [COUNT]` runs other seeds.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter_algebra::poly::Budget;
use paynter_algebra::{Expr, Pool, Rational, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{
    Equations, LoopBudget, Mason, QueryError, SignalFlow, Sparse, StateSpace, Structure, derive,
    junction_structure, mason, signal_flow, structure, transfer,
};
use paynter_graph::{BondGraph, Causality};
use paynter_testkit::property::{demand, seeds, tolerate};
use paynter_testkit::read::{Causal, causal};
use paynter_testkit::{Options, generate};
use rustc_hash::FxHashMap;

struct Loaded {
    pool: Pool,
    graph: BondGraph,
    causality: Causality,
    equations: Equations,
}

/// Brings a text to its equations; none where `check` would refuse it.
fn loaded(text: &str) -> Option<Loaded> {
    let Causal { mut pool, mut graph, causality } = causal(text).ok()?;
    let equations = derive(&mut pool, &mut graph, &causality, &CancellationToken::new()).ok()?;
    Some(Loaded { pool, graph, causality, equations })
}

impl Loaded {
    fn space(&mut self) -> StateSpace {
        self.equations.state_space(&mut self.pool, &self.graph).unwrap()
    }

    fn nominal(&mut self) -> FxHashMap<Symbol, Expr> {
        let pool = &mut self.pool;
        self.graph.parameters.iter().map(|p| (p.symbol, p.value.expr(pool))).collect()
    }

    fn structure(&mut self) -> Structure {
        let (space, nominal) = (self.space(), self.nominal());
        structure(
            &mut self.pool,
            &self.equations,
            &space,
            Some((&space, &nominal)),
            &CancellationToken::new(),
        )
        .unwrap()
    }

    fn mason(&mut self) -> (SignalFlow, Mason) {
        let flow = self.flow();
        let found =
            mason(&mut self.pool, &flow, LoopBudget::default(), Budget::default(), &CancellationToken::new());
        (flow, found.unwrap())
    }

    fn flow(&mut self) -> SignalFlow {
        let Loaded { pool, graph, causality, equations } = self;
        signal_flow(pool, graph, causality, equations, &CancellationToken::new()).unwrap()
    }
}

/// Mason's rule and the matrices give the same functions; tells whether both were within their budgets.
fn mason_equals_matrices(text: &str) -> Result<bool, String> {
    let Some(mut model) = loaded(text) else { return Ok(false) };
    let space = model.space();
    let flow = model.flow();
    let budget = Budget { terms: 3_000, steps: 20_000_000 };
    let limits = LoopBudget { loops: 60, paths: 60, sets: 3_000 };
    let by_rule = match mason(&mut model.pool, &flow, limits, budget, &CancellationToken::new()) {
        Ok(found) => found.transfer,
        Err(QueryError::Wrong(list)) if list.iter().all(|d| d.code.id() == "BG0620") => return Ok(false),
        Err(other) => return Err(format!("{other:?}")),
    };
    let by_matrices =
        transfer(&mut model.pool, &model.equations, &space, budget, &CancellationToken::new()).unwrap();
    if by_matrices.shared.is_some() {
        return Ok(false);
    }
    let pool = &mut model.pool;
    for (a, b) in by_rule.entries.iter().zip(&by_matrices.entries) {
        assert_eq!((a.output, a.input), (b.output, b.input));
        let (left, right) = (pool.mul(a.num, b.den), pool.mul(b.num, a.den));
        if !pool.equal(left, right) {
            let show = |e| pool.display(e).to_string();
            return Err(format!(
                "({}) / ({}) is not ({}) / ({})",
                show(a.num),
                show(a.den),
                show(b.num),
                show(b.den)
            ));
        }
    }
    // The one may have a factor that the other has not, as long as it is free of s.
    let (a, b) = (by_rule.denominator.unwrap(), by_matrices.denominator.unwrap());
    let s = pool.symbol("s");
    let slopes = [a, b].map(|e| pool.diff(e, s));
    let (left, right) = (pool.mul(a, slopes[1]), pool.mul(b, slopes[0]));
    if !pool.equal(left, right) {
        return Err(format!("characteristic: {} is not {}", pool.display(a), pool.display(b)));
    }
    Ok(true)
}

#[test]
fn masons_rule_gives_what_the_matrices_give() {
    let mut judged = 0;
    for seed in seeds(150) {
        let options = Options { junctions: 1..=6, ..Options::linear() };
        let sample = generate(seed, &options);
        match mason_equals_matrices(&sample.text) {
            Ok(said) => judged += usize::from(said),
            Err(message) => panic!("seed {seed}: {message}\n{}", sample.text),
        }
    }
    demand("models judged", judged, 50, 150);
}

/// A value for every symbol, the same each time.
fn sample(symbol: Symbol) -> f64 {
    let mut x = (symbol.index() as u64 + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 29;
    0.4 + (x.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / (1u64 << 24) as f64
}

/// The gains in the signal-flow graph are those of the linearised equations, implicit laws included.
#[test]
fn masons_rule_gives_what_linearised_matrices_give() {
    let mut judged = 0;
    for seed in seeds(80) {
        let options = Options { junctions: 1..=4, ..Options::nonlinear() };
        let drawn = generate(seed, &options);
        let Some(mut model) = loaded(&drawn.text) else { continue };
        // A dependent storage's gain counts while it rests, which it does not at a random point.
        if model.causality.storages.iter().any(|storage| !storage.integral) {
            continue;
        }
        let Loaded { pool, graph, equations, .. } = &mut model;
        let Ok(space) = equations.linearise(pool, graph, None, &CancellationToken::new()) else { continue };
        let flow = model.flow();
        let budget = Budget { terms: 2_000, steps: 5_000_000 };
        let limits = LoopBudget { loops: 40, paths: 40, sets: 500 };
        let Ok(by_rule) = mason(&mut model.pool, &flow, limits, budget, &CancellationToken::new()) else {
            continue;
        };
        let by_matrices =
            transfer(&mut model.pool, &model.equations, &space, budget, &CancellationToken::new()).unwrap();
        let mut said = false;
        for (a, b) in by_rule.transfer.entries.iter().zip(&by_matrices.entries) {
            let pool = &mut model.pool;
            let value = |pool: &mut Pool, num: Expr, den: Expr| {
                let quotient = pool.div(num, den);
                pool.eval(quotient, &|symbol| Some(sample(symbol))).ok()
            };
            let (Some(x), Some(y)) = (value(pool, a.num, a.den), value(pool, b.num, b.den)) else { continue };
            assert!(
                (x - y).abs() <= 1e-5 * (1e-3 + x.abs() + y.abs()),
                "seed {seed}: {x} {y}\n{}",
                drawn.text
            );
            said = true;
        }
        judged += usize::from(said);
    }
    println!("{judged} nonlinear models judged");
    demand("models judged", judged, 20, 80);
}

/// Junctions, transformers and gyrators neither store nor dissipate, modulated or not.
#[test]
fn the_junction_structure_conserves_power() {
    let (mut judged, mut rings) = (0, 0);
    for seed in seeds(200) {
        let options = if seed % 2 == 0 { Options::linear() } else { Options::nonlinear() };
        let sample = generate(seed, &options);
        let Some(mut model) = loaded(&sample.text) else { continue };
        let Loaded { pool, graph, causality, .. } = &mut model;
        // A ring of junctions may leave its flow to the elements round it: then there is no matrix.
        let Ok(found) = junction_structure(pool, graph, causality, &CancellationToken::new()) else {
            rings += 1;
            continue;
        };
        assert!(found.conserves_power(pool), "seed {seed}\n{}", sample.text);
        judged += 1;
    }
    tolerate("models without a junction structure matrix", rings, 3, 200);
    demand("models judged", judged, 150, 200);
}

/// A matrix of rational numbers at the nominal values.
fn rational(
    pool: &mut Pool,
    matrix: &Sparse,
    nominal: &FxHashMap<Symbol, Expr>,
) -> Option<Vec<Vec<Rational>>> {
    let mut out = vec![vec![Rational::ZERO; matrix.columns]; matrix.rows];
    for (i, j, entry) in &matrix.entries {
        let value = pool.substitute(*entry, nominal);
        out[*i][*j] = pool.as_rational(value)?.clone();
    }
    Some(out)
}

fn product(a: &[Vec<Rational>], b: &[Vec<Rational>]) -> Vec<Vec<Rational>> {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |row: &[Rational], j: usize| {
        row.iter().zip(b).fold(Rational::ZERO, |sum, (x, other)| sum + x * &other[j])
    };
    a.iter().map(|row| (0..columns).map(|j| entry(row, j)).collect()).collect()
}

fn rank(mut rows: Vec<Vec<Rational>>) -> usize {
    let columns = rows.first().map_or(0, Vec::len);
    let mut found = 0;
    for j in 0..columns {
        let Some(pivot) = (found..rows.len()).find(|&i| !rows[i][j].is_zero()) else { continue };
        rows.swap(found, pivot);
        for i in found + 1..rows.len() {
            let factor = &rows[i][j] / &rows[found][j];
            if !factor.is_zero() {
                for k in j..columns {
                    let term = &factor * &rows[found][k];
                    rows[i][k] -= term;
                }
            }
        }
        found += 1;
    }
    found
}

/// The rank of Kalman's matrix [B, A B, A² B …], derivatives of inputs moved into the state.
fn kalman(a: &[Vec<Rational>], b: &[Vec<Vec<Rational>>]) -> usize {
    let n = a.len();
    let mut block: Vec<Vec<Rational>> = b.last().unwrap().clone();
    for matrix in b.iter().rev().skip(1) {
        block = product(a, &block);
        for (row, other) in block.iter_mut().zip(matrix) {
            row.iter_mut().zip(other).for_each(|(x, y)| *x += y);
        }
    }
    let mut whole = block.clone();
    for _ in 1..n {
        block = product(a, &block);
        whole.iter_mut().zip(&block).for_each(|(row, more)| row.extend(more.iter().cloned()));
    }
    rank(whole)
}

fn transposed(matrix: &[Vec<Rational>], columns: usize) -> Vec<Vec<Rational>> {
    (0..columns).map(|j| matrix.iter().map(|row| row[j].clone()).collect()).collect()
}

#[test]
fn controllable_and_observable_spaces_are_those_of_kalman() {
    let (mut judged, mut hidden) = (0, 0);
    for seed in seeds(120) {
        let options = Options { junctions: 1..=5, ..Options::linear() };
        let sample = generate(seed, &options);
        let Some(mut model) = loaded(&sample.text) else { continue };
        let n = model.equations.states.len();
        if n == 0 || n > 7 {
            continue;
        }
        let found = model.structure();
        let (space, nominal) = (model.space(), model.nominal());
        let pool = &mut model.pool;
        let a = rational(pool, &space.a, &nominal).unwrap();
        let c = rational(pool, &space.c, &nominal).unwrap();
        let b: Vec<_> = space.b.iter().map(|matrix| rational(pool, matrix, &nominal).unwrap()).collect();
        let context = format!("seed {seed}\n{}", sample.text);
        assert!(found.rank >= rank(a.clone()), "{context}");
        let control = found.controllability.nominal.unwrap();
        assert_eq!(control.dimension, kalman(&a, &b), "{context}");
        let observation = found.observability.nominal.unwrap();
        assert_eq!(observation.dimension, kalman(&transposed(&a, n), &[transposed(&c, n)]), "{context}");
        // What fails by structure fails for all values.
        assert!(found.controllability.structural || control.dimension < n, "{context}");
        assert!(found.observability.structural || observation.dimension < n, "{context}");
        for (nominal, structural) in
            [(&control, found.controllability.structural), (&observation, found.observability.structural)]
        {
            hidden += usize::from(nominal.dimension < n && structural);
            if !nominal.hidden.is_empty() {
                assert_eq!(nominal.hidden.len() + nominal.dimension, n, "{context}");
            }
        }
        judged += 1;
    }
    println!("{judged} judged, {hidden} where numbers and structure differ");
    demand("models judged", judged, 50, 120);
}

#[test]
fn the_relative_degree_is_that_of_the_transfer_function() {
    let mut judged = 0;
    for seed in seeds(100) {
        let options = Options { junctions: 1..=5, ..Options::linear() };
        let sample = generate(seed, &options);
        let Some(mut model) = loaded(&sample.text) else { continue };
        let found = model.structure();
        let space = model.space();
        let budget = Budget { terms: 3_000, steps: 20_000_000 };
        let whole =
            transfer(&mut model.pool, &model.equations, &space, budget, &CancellationToken::new()).unwrap();
        if whole.shared.is_some() {
            continue;
        }
        let zero = model.pool.zero();
        let mut degree = |e: Expr| model.pool.collect(e, whole.s).unwrap().len() as i64 - 1;
        for (entry, relative) in whole.entries.iter().zip(&found.degrees) {
            assert_eq!((entry.output, entry.input), (relative.output, relative.input));
            let expected = degree(entry.den) - degree(entry.num);
            match relative.degree {
                Some(value) => assert_eq!(value, expected, "seed {seed}\n{}", sample.text),
                None => assert_eq!(entry.num, zero, "seed {seed}\n{}", sample.text),
            }
            // Paths can cancel, never shorten.
            assert!(relative.degree.is_none_or(|value| relative.path.is_some_and(|path| path <= value)));
        }
        judged += 1;
    }
    demand("models judged", judged, 50, 100);
}

fn example(name: &str) -> Loaded {
    let path = format!("{}/../../examples/{name}.bg", env!("CARGO_MANIFEST_DIR"));
    loaded(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The lecture's table of a motor: three loops, two of which do not touch.
#[test]
fn the_motor_has_the_loops_of_the_lecture() {
    let mut model = example("dc_motor");
    let (flow, found) = model.mason();
    let show = |e| model.pool.display(e).to_string();
    let gains: Vec<String> = found.loops.iter().map(|l| show(l.gain)).collect();
    assert_eq!(gains, ["-Ra/(La*s)", "-kT^2/(Jm*La*s^2)", "-Rm/(Jm*s)"]);
    assert_eq!(found.determinant, Some(vec![vec![], vec![0], vec![1], vec![2], vec![0, 2]]));
    let paths: Vec<String> = found.paths.iter().map(|path| show(path.route.gain)).collect();
    assert_eq!(paths, ["1/(La*s)", "-kT/(Jm*La*s^2)", "kT/(Jm*La*s^2)", "1/(Jm*s)"]);
    let names: Vec<&str> = found.paths[0].route.nodes.iter().map(|v| flow.nodes[*v].name.as_str()).collect();
    assert_eq!(names, ["E", "supply.e", "coil.e", "coil.p", "coil.f", "ia"]);
}

#[test]
fn every_linear_example_agrees_with_its_matrices() {
    for name in [
        "rc",
        "rc2",
        "arc",
        "src",
        "ctms_motor",
        "dc_motor",
        "rlc_circuit",
        "se_on_c",
        "two_tanks",
        "two_coils",
        "two_coils_printed",
        "two_carts",
        "two_carts_loop",
        "uncertain_motor",
        "parallel_tanks",
        "flux_transformer",
    ] {
        let path = format!("{}/../../examples/{name}.bg", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(mason_equals_matrices(&text), Ok(true), "{name}");
    }
}

/// Structurally controllable and observable, but not when the two outlets are equal.
#[test]
fn equal_tanks_hide_their_difference() {
    let mut model = example("parallel_tanks");
    let found = model.structure();
    for verdict in [&found.controllability, &found.observability] {
        assert!(verdict.structural);
        let nominal = verdict.nominal.as_ref().unwrap();
        assert_eq!(nominal.dimension, 1);
        let hidden: Vec<(usize, String)> =
            nominal.hidden[0].iter().map(|(i, x)| (*i, x.to_string())).collect();
        assert_eq!(hidden, [(0, "1".to_owned()), (1, "-1".to_owned())]);
        assert_eq!(nominal.dynamics[0][0].to_string(), "-1");
    }
    let text =
        std::fs::read_to_string(format!("{}/../../examples/parallel_tanks.bg", env!("CARGO_MANIFEST_DIR")));
    let found = loaded(&text.unwrap().replace("sigma2 = 1", "sigma2 = 2")).unwrap().structure();
    assert_eq!(found.controllability.nominal.unwrap().dimension, 2);
    assert_eq!(found.observability.nominal.unwrap().dimension, 2);
}

/// Two tanks that only exchange water keep its sum, and no input changes that.
#[test]
fn a_conserved_sum_is_found() {
    let text = "model m { param R1 = 1; param k = 2; C a = 1; C b = 2; R r = R1; R leak = k; 0 x; 0 y; 1 z
        input u; Se s = u; 1 w; x -> a; y -> b; x -> z; z -> r, y; x -> w; w -> y; s -> w; w -> leak
        output o = a.e }";
    let found = loaded(text).unwrap().structure();
    assert_eq!((found.rank, found.controllability.rank), (1, 1));
    assert!(!found.controllability.structural);
    assert_eq!(found.controllability.stuck, [0, 1]);
    let nominal = found.controllability.nominal.unwrap();
    assert_eq!(nominal.dimension, 1);
    assert!(nominal.dynamics[0][0].is_zero());
    assert!(nominal.hidden[0].iter().all(|(_, factor)| factor.to_string() == "1"));
}

/// A chain of masses and springs; the last spring has another beside it whose initial state contradicts it.
fn contradictory_chain(n: usize) -> String {
    let mut text = "model chain {\n    Se u = 1\n    C extra = 2\n".to_owned();
    for i in 1..=n {
        text += &format!("    1 v{i}; I m{i} = 1; 0 e{i}; C k{i} = 1\n");
    }
    text += "    u -> v1\n";
    for i in 1..=n {
        text += &format!("    v{i} -> m{i}, e{i}\n    e{i} -> k{i}\n");
        if i < n {
            text += &format!("    e{i} -> v{}\n", i + 1);
        }
    }
    text + &format!("    e{n} -> extra\n    init k{n}.q = 1\n    init extra.q = 5\n}}\n")
}

/// What a check finds does not depend on the size: the same mistake, the same loss of rank.
#[test]
fn a_large_model_is_judged_as_a_small_one() {
    let judged = [3, 250].map(|n| {
        let mut model = loaded(&contradictory_chain(n)).unwrap();
        let (findings, _) = model.equations.soundness(&mut model.pool, &model.graph);
        let codes: Vec<&str> = findings.iter().map(|found| found.code.id()).collect();
        let rank = model.equations.generic_rank(&mut model.pool).unwrap();
        assert_eq!(model.equations.states.len(), 2 * n);
        (model.graph.bonds.len(), codes.join(" "), 2 * n - rank)
    });
    let [(small, codes, lost), (large, same, as_much)] = judged;
    assert!(small < 20 && large > 1000);
    assert_eq!(codes, paynter_base::code::BAD_INITIAL.id());
    assert_eq!((codes, lost), (same, as_much));
}
