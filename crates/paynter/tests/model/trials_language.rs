//! Models on which names were read in the wrong place or a message misled, and random ones of the same kinds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::sound;
use paynter::json::Naming;
use paynter::simulate::SimulateOptions;
use paynter::{
    BodeOptions, CancellationToken, Frequencies, IncrementalOptions, Model, Plain, ResponseOptions,
    SensitivityOptions, TERMS, code, export,
};
use paynter_testkit::property::seeds;
use paynter_testkit::rng::Rng;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The text of a model of the folder of trials.
fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/trials");
    std::fs::read_to_string(folder.join(format!("{name}.bg"))).unwrap()
}

fn trial(name: &str) -> Model {
    sound(&text(name))
}

fn token() -> CancellationToken {
    CancellationToken::new()
}

/// The names that the symbolic documents of a model invent.
fn invented(model: &Model, terms: usize) -> Vec<String> {
    let options = SensitivityOptions { terms, matrices: true, ..SensitivityOptions::default() };
    let sensitivity = model.sensitivity(&options, &token()).unwrap().document(Naming::Flat, &Plain);
    let transfer = model.transfer(terms, &token()).unwrap().document(&Plain);
    let mason = model.transfer_by_mason(TERMS, &token()).unwrap().document(&Plain);
    let equations = model.equations(&token()).unwrap().document(&Plain);
    let lists = [sensitivity.definitions, transfer.definitions, mason.definitions, equations.definitions];
    let mut names = Vec::new();
    for list in lists {
        let distinct: BTreeSet<&String> = list.iter().map(|definition| &definition.name).collect();
        assert_eq!(distinct.len(), list.len());
        names.extend(list.into_iter().map(|definition| definition.name));
    }
    names.extend(mason.loops.into_iter().flatten().map(|route| route.name));
    names.extend(mason.paths.into_iter().flatten().map(|path| path.name));
    names
}

#[test]
fn definitions_take_no_name_of_the_model() {
    for (name, terms) in [("chain3", 200), ("d1", 5)] {
        let model = trial(name);
        let found = invented(&model, terms);
        assert!(!found.is_empty());
        let own: BTreeSet<String> =
            model.graph().unwrap().parameters.iter().map(|p| p.name.clone()).collect();
        assert!(found.iter().all(|name| !own.contains(name)), "{found:?}");
    }
}

/// Names that the program gives to what it makes, and words that languages reserve.
const INVENTED: [&str; 40] = [
    "d1", "d2", "d3", "d4", "d5", "L1", "L2", "L3", "P1", "P2", "b1", "b2", "b3", "b4", "Delta_d1",
    "Delta_b1", "Delta_x", "Delta_L1", "nom_b1_f", "nom_d1_e", "A", "B", "C", "D", "E", "x", "y", "u", "e",
    "f", "q", "p", "e1", "integral", "der", "init", "Δ", "w", "b1_2", "d1_2",
];

/// Two coupled oscillators whose parameters, elements, bond and outputs have these names.
fn oscillators(values: &[&str], parts: &[&str], outputs: &[&str]) -> String {
    let [m1, m2, k1, k2, r1, r2, u, g] = values else { panic!("eight values") };
    let [a, i1, c1, s1, sp1, da1, b, i2, s2, sp2, da2, force, bond] = parts else { panic!("thirteen parts") };
    let [y1, y2, y3] = outputs else { panic!("three outputs") };
    format!(
        "model m {{
  param {m1} = 1 ±10%; param {m2} = 2; param {k1} = 3; param {k2} = 4 ±5%; param {r1} = 5; param {r2} = 6
  input {u} = 1
  signal {g} = 1 + integral({i2}.f - 0.5*{bond}.f, 0)
  Se {force} = {u}
  1 {a}; I {i1} = {m1}; 0 {c1}; 1 {s1}; C {sp1} = 1/{k1}; R {da1} = {r1}
  1 {b}; I {i2} = {m2}; 1 {s2}; C {sp2} = 1/{k2}; R {da2} = {r2}
  {force} -> {a}
  {a} -> {i1} as {bond}
  {a} -> {c1} -> {s1} -> {sp1}, {da1}
  {c1} -> {b} -> {i2}, {s2}
  {s2} -> {sp2}, {da2}
  output {y1} = {i2}.f
  output {y2} = {sp1}.e*{k2}
  output {y3} = {g}
}}
"
    )
}

/// The frequency response and its sensitivities, and the response of the model made of it and its increments.
fn numbers(model: &Model) -> Vec<f64> {
    let omega = Some(Frequencies { low: 0.1, high: 10.0, points: 3 });
    let options = ResponseOptions { omega, ..ResponseOptions::default() };
    let response = model.sensitivity_response(&options, &token()).unwrap().document(&Plain);
    let parts = response.entries.iter().flat_map(|entry| entry.re.iter().chain(entry.im.iter()));
    let mut all: Vec<f64> = parts.map(|x| x.unwrap()).collect();
    let pair = IncrementalOptions { pair: true, ..IncrementalOptions::default() };
    let derived = sound(&model.incremental(&pair, &token()).unwrap().text);
    let bode =
        derived.bode(&BodeOptions { omega, ..BodeOptions::default() }, &token()).unwrap().document(&Plain);
    all.extend(bode.entries.iter().flat_map(|entry| entry.re.iter().chain(&entry.im).map(|x| x.unwrap())));
    all
}

#[test]
fn names_of_users_collide_with_nothing_invented() {
    let roles: Vec<String> = (0..13).map(|k| format!("n{k}n")).collect();
    let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
    let right = numbers(&sound(&oscillators(&roles[..8], &roles, &roles[..3])));
    for seed in seeds(12) {
        let mut rng = Rng::new(seed);
        let mut pick = |count: usize| {
            let mut names = INVENTED.to_vec();
            rng.shuffle(&mut names);
            names.truncate(count);
            names
        };
        let (values, parts, outputs) = (pick(8), pick(13), pick(3));
        let text = oscillators(&values, &parts, &outputs);
        let model = sound(&text);
        for name in invented(&model, 5) {
            let own = values.iter().chain(&parts).chain(&outputs).any(|own| *own == name);
            assert!(!own, "seed {seed}: `{name}` is invented\n{text}");
        }
        let found = numbers(&model);
        assert_eq!(found.len(), right.len(), "seed {seed}\n{text}");
        for (found, right) in found.iter().zip(&right) {
            assert!(
                (found - right).abs() <= 1e-9 * right.abs().max(1e-6),
                "seed {seed}: {found} {right}\n{text}"
            );
        }
    }
}

/// The outputs of a model at some times.
fn outputs(model: &Model, times: &[f64]) -> Vec<(String, Vec<f64>)> {
    let options = SimulateOptions { times: times.to_vec(), rtol: 1e-9, ..SimulateOptions::default() };
    let simulation = model.simulation(&options, &token()).unwrap();
    let (response, outcome) = simulation.respond(&simulation.parameters, &token());
    assert_eq!(outcome.failure, None);
    simulation.outputs.iter().map(|column| column.name.clone()).zip(response.outputs).collect()
}

#[test]
fn an_index_is_read_where_it_is_written() {
    let found = outputs(&trial("scope"), &[0.0, 1.0]);
    let values: Vec<(&str, f64)> = found.iter().map(|(name, values)| (name.as_str(), values[0])).collect();
    assert_eq!(values, [("chosen", 10.0), ("first", 10.0), ("third", 30.0)]);
    assert_eq!(outputs(&trial("arr"), &[0.0, 1.0]).len(), 2);
}

/// An index of this value, over names of which the first has that of the second.
fn index(rng: &mut Rng, value: usize, names: &[(&str, usize)]) -> String {
    let (name, size) = *rng.pick(names);
    match rng.below(3) {
        0 => value.to_string(),
        _ if value >= size => format!("{name}+{}", value - size),
        1 => format!("{name}-{}", size - value),
        _ => format!("{}*{name}-{}", 2, 2 * size - value),
    }
}

/// Cells that discharge by themselves, in arrays in arrays in arrays whose models call their sizes alike.
#[test]
fn arrays_in_arrays_are_as_written_out() {
    for seed in seeds(40) {
        let mut rng = Rng::new(seed);
        let [n, m, k] = [(); 3].map(|()| rng.within(1, 3));
        let mut text = format!(
            "model cell(param N) {{ port a; 0 j; C c = 1; R r = N; a -> j -> c, r }}
model row(param N, param M) {{ port a; 1 x; use cell c[1..M](N = N); a -> x; for i in 1..M {{ x -> c[i].a }} }}
model plane(param N, param M, param K) {{
  port a; 1 x; use row c[1..N](M = M, N = K); a -> x
  for M in 1..N {{ x -> c[M].a }}
  signal mine = c[N].c[M].c.q
}}
model top {{
  param N = {n}; param M = {m}; param K = {k}
  Sf s = 0; 1 x; s -> x
  use plane c[1..K](N = M, M = N, K = 2)
  for i in 1..K {{ x -> c[i].a }}
"
        );
        let names = [("N", n), ("M", m), ("K", k)];
        let start = |a: usize, b: usize, c: usize| (100 * a + 10 * b + c) as f64;
        let mut right = Vec::new();
        for a in 1..=k {
            for b in 1..=m {
                for c in 1..=n {
                    let mut at = |value: usize| index(&mut rng, value, &names);
                    let path = format!("c[{}].c[{}].c[{}].c.q", at(a), at(b), at(c));
                    writeln!(text, "  init {path} = {}", start(a, b, c)).unwrap();
                    let path = format!("c[{}].c[{}].c[{}].c.q", at(a), at(b), at(c));
                    writeln!(text, "  output o_{a}{b}{c} = {path}").unwrap();
                    right.push((format!("o_{a}{b}{c}"), start(a, b, c)));
                }
            }
            writeln!(text, "  output mine_{a} = c[{}].mine", index(&mut rng, a, &names)).unwrap();
            right.push((format!("mine_{a}"), start(a, m, n)));
        }
        text.push_str("}\n");
        for ((name, values), (expected, start)) in outputs(&sound(&text), &[0.0, 1.0]).iter().zip(&right) {
            assert_eq!((name, values[0]), (expected, *start), "seed {seed}\n{text}");
            let decayed = start * (-0.5f64).exp();
            assert!((values[1] - decayed).abs() <= 1e-6 * decayed, "seed {seed}: {name}\n{text}");
        }
    }
}

#[test]
fn a_loop_over_parallel_bonds_is_listed() {
    let causality = trial("par2").causality(&token()).unwrap().document(Naming::Flat, &Plain);
    let parallel = |path: &&Vec<String>| {
        path.len() == 2 && path.contains(&"j0".to_owned()) && path.contains(&"j1".to_owned())
    };
    assert_eq!(causality.junction_loops.iter().filter(parallel).count(), 1, "{:?}", causality.junction_loops);
}

#[test]
fn a_reciprocal_does_not_vanish() {
    let resistor = "model m { param L = 1; input d = 0.5; Se s = 1; 1 j; R r = 1/d; I i = L; s -> j -> r, i; output y = i.f }";
    let other = "model m { input d = 0.5; Se s = 1; R r = 1/d; s -> r; output y = r.f }";
    for text in [&text("buckavg"), resistor, other] {
        let found = common::findings(&sound(text));
        assert!(found.iter().all(|d| d.code != code::VANISHING_MODULUS), "{found:?}");
    }
    // What can vanish is still told.
    let found = common::findings(&sound(&other.replace("1/d", "d")));
    assert!(found.iter().any(|d| d.code == code::VANISHING_MODULUS), "{found:?}");
}

#[test]
fn a_frozen_point_means_one_thing() {
    let options = SensitivityOptions { frozen: true, ..SensitivityOptions::default() };
    let gains = |name: &str| -> Vec<f64> {
        let found = trial(name).sensitivity(&options, &token()).unwrap().document(Naming::Flat, &Plain);
        found.dc_gain[0].sensitivities.iter().map(|slope| slope.value.unwrap()).collect()
    };
    for name in ["frozen", "frozen2"] {
        for (found, right) in gains(name).iter().zip([9.0, -72.0, 0.0]) {
            assert!((found - right).abs() < 1e-6, "{name}: {found}, not {right}");
        }
    }
}

#[test]
fn samples_outside_a_band_are_told() {
    let omega = Some(Frequencies { low: 0.1, high: 10.0, points: 3 });
    let options = ResponseOptions { omega, verify: 100, seed: 1, ..ResponseOptions::default() };
    let found = trial("e1").sensitivity_response(&options, &token()).unwrap().document(&Plain);
    for band in &found.bands {
        let curve = &band.magnitude;
        let (low, high) = (curve.sampled_lower.as_ref().unwrap(), curve.sampled_upper.as_ref().unwrap());
        let left = (0..3).any(|k| low[k] < curve.worst_lower[k] || high[k] > curve.worst_upper[k]);
        assert_eq!(band.excess.is_some(), left, "{}/{}", band.output, band.input);
    }
    assert!(found.bands.iter().any(|band| band.excess.is_some()));
}

/// The macros that headers define without parameters, by the compiler's own account.
fn macros() -> Vec<String> {
    let headers = ["math.h", "stdio.h", "stdlib.h", "string.h", "complex.h", "errno.h"];
    let mut command = Command::new("cc");
    command.args(["-dM", "-E", "-x", "c", "/dev/null"]);
    headers.iter().for_each(|header| {
        command.args(["-include", header]);
    });
    let text = common::run(&mut command);
    let names = text.lines().filter_map(|line| line.strip_prefix("#define ")?.split(' ').next());
    names.filter(|name| !name.contains('(') && !name.starts_with('_')).map(str::to_owned).collect()
}

#[test]
fn exported_names_are_no_macros_and_no_keywords() {
    let mut names = macros();
    assert!(names.len() > 50, "{names:?}");
    names.extend(
        "export xor xor_eq bitand compl and_eq not_eq co_await concept consteval decltype noexcept typeid wchar_t \
         static_assert thread_local final override import module fortran lambda nonlocal yield None True len range \
         print float abs sum end function mutable baremodule where nothing"
            .split(' ')
            .map(str::to_owned),
    );
    names.sort();
    names.dedup();
    let mut text = "model names {\n".to_owned();
    for (k, name) in names.iter().enumerate() {
        writeln!(text, "  param {name} = {}", k + 1).unwrap();
    }
    let sum: Vec<String> = names.iter().map(|name| format!("{name}^2")).collect();
    writeln!(
        text,
        "  Se drive = {}\n  R r = 2\n  I i = 3\n  1 j\n  drive -> j -> r, i\n  output y = i.f\n}}",
        sum.join(" + ")
    )
    .unwrap();
    let (model, folder) = (sound(&text), common::folder("reserved_names"));
    for target in export::programs().filter(|target| ["c", "python"].contains(&target.name())) {
        for (k, target) in [Some(target), target.simulator()].into_iter().flatten().enumerate() {
            let file = folder.join(format!("names{k}.{}", target.name()));
            std::fs::write(&file, &model.export(target, &token()).unwrap().result).unwrap();
            if target.name() == "python" {
                common::run(
                    Command::new(paynter_testkit::python::python(env!("CARGO_TARGET_TMPDIR")).unwrap())
                        .arg(&file),
                );
                continue;
            }
            for arguments in [&["-std=c99"][..], &["-std=gnu17", "-DNAMES_MAIN"]] {
                common::run(Command::new("cc").args(arguments).args(["-fsyntax-only", "-x", "c"]).arg(&file));
            }
        }
    }
}
