//! Every element in every causality, linear, nonlinear and implicit: the
//! derived equations against relations that say nothing of causality.
//!
//! In each model the outputs `zero…` are the element's own law, the balances
//! round it and what the sources impose, over port variables: they must
//! vanish at any state and input. The outputs `rate_…` are the flow into a C
//! or the effort on an I: they must be the rate of the state, also where that
//! is a function of others. docs/src/coverage.md lists these tests by element.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{Equations, derive};
use paynter_graph::BondGraph;
use paynter_testkit::read::{Causal, causal};
use std::collections::BTreeMap;

/// What a model's equations must be.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// With matrices.
    Linear,
    /// Explicit, without matrices.
    Nonlinear,
    /// With an unknown that only an equation determines.
    Implicit,
}

type Values = BTreeMap<Symbol, f64>;

/// Newton's method, by differences, on the equations that were kept implicit.
fn solve(pool: &Pool, equations: &Equations, values: &mut Values) {
    let unknowns: Vec<Symbol> = equations.constraints.iter().map(|c| c.unknown).collect();
    let residuals: Vec<Expr> = equations.constraints.iter().map(|c| c.residual).collect();
    for unknown in &unknowns {
        values.entry(*unknown).or_insert(0.4);
    }
    for _ in 0..200 {
        let at = |values: &Values, e: Expr| pool.eval(e, &|s| values.get(&s).copied()).unwrap();
        for (unknown, residual) in unknowns.iter().zip(&residuals) {
            let (old, value) = (values[unknown], at(values, *residual));
            let step = 1e-6 * (1.0 + old.abs());
            values.insert(*unknown, old + step);
            let derivative = (at(values, *residual) - value) / step;
            values.insert(*unknown, if derivative == 0.0 { old } else { old - value / derivative });
        }
    }
}

fn check(text: &str, form: Form, element: &str, ports: &str) {
    let text = format!("model m {{ {text} }}");
    let Causal { mut pool, mut graph, causality } =
        causal(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let id = graph.element_ids().find(|id| graph.element(*id).name == element).unwrap();
    for (port, letter) in ports.chars().enumerate() {
        let effort_in = causality.effort_in(&graph, id, port);
        assert_eq!(effort_in, letter == 'e', "effort at port {} of `{element}`\n{text}", port + 1);
    }
    let equations = derive(&mut pool, &mut graph, &causality, &CancellationToken::new())
        .unwrap_or_else(|failure| panic!("{failure:?}\n{text}"));
    let space = equations.state_space(&mut pool, &graph);
    let is = match (equations.constraints.is_empty(), space.is_some()) {
        (false, _) => Form::Implicit,
        (true, true) => Form::Linear,
        (true, false) => Form::Nonlinear,
    };
    assert_eq!(is, form, "{text}");
    for seed in 1..4 {
        at_a_point(&pool, &graph, &equations, 0.3 * f64::from(seed), &text);
    }
}

/// Judges the equations at states and inputs around some size.
fn at_a_point(pool: &Pool, graph: &BondGraph, equations: &Equations, size: f64, text: &str) {
    let mut values: Values = graph.parameters.iter().map(|p| (p.symbol, p.number)).collect();
    let mut next = size;
    let mut value = || {
        next = 0.2 + (next * 7.31).fract();
        next
    };
    for state in &equations.states {
        values.insert(state.symbol, value());
    }
    for input in &equations.inputs {
        values.extend(input.symbols.iter().map(|symbol| (*symbol, value())));
    }
    solve(pool, equations, &mut values);
    let eval = |values: &Values, e: Expr| pool.eval(e, &|s| values.get(&s).copied()).unwrap();
    // A little later, along the rates.
    let moved = |h: f64| {
        let mut later = values.clone();
        for (state, rate) in equations.states.iter().zip(&equations.rates) {
            later.insert(state.symbol, values[&state.symbol] + h * eval(&values, *rate));
        }
        for input in &equations.inputs {
            for pair in input.symbols.windows(2) {
                later.insert(pair[0], values[&pair[0]] + h * values[&pair[1]]);
            }
        }
        solve(pool, equations, &mut later);
        later
    };
    let (before, after) = (moved(-1e-4), moved(1e-4));
    let mut judged = 0;
    for output in &equations.outputs {
        let found = eval(&values, output.value);
        if output.name.starts_with("zero") {
            assert!(found.abs() < 1e-9, "{} = {found}\n{text}", output.name);
            judged += 1;
        } else if let Some(storage) = output.name.strip_prefix("rate_") {
            // `rate_a2` belongs to a.q2 or a.p2.
            let (name, port) = storage.split_at(1);
            let own = |state: &str| ["q", "p"].iter().any(|l| state == format!("{name}.{l}{port}"));
            let dependent = equations.dependent.iter().find(|d| own(&d.name));
            let rate = match dependent {
                Some(d) => (eval(&after, d.value) - eval(&before, d.value)) / 2e-4,
                None => {
                    let k = equations.states.iter().position(|s| own(&s.name)).unwrap();
                    eval(&values, equations.rates[k])
                }
            };
            assert!(
                (found - rate).abs() < 1e-6 * (1.0 + rate.abs()),
                "{}: {found}, not {rate}\n{text}",
                output.name
            );
            judged += 1;
        }
    }
    assert!(judged > 1, "nothing was judged\n{text}");
}

/// The table in the handbook: every kind is there, no cell is empty, every cell names a test of this
/// file, and every test stands in a cell.
#[test]
fn the_handbook_names_every_test() {
    let here = include_str!("elements.rs");
    let mut tests: Vec<&str> = here
        .lines()
        .filter_map(|line| line.strip_prefix("    ")?.split_once(": "))
        .filter(|(_, rest)| ["Linear,", "Nonlinear,", "Implicit,"].iter().any(|form| rest.starts_with(form)))
        .map(|(name, _)| name)
        .collect();
    let page = include_str!("../../../../docs/src/coverage.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let mut named: Vec<&str> = Vec::new();
    for row in &rows {
        assert_eq!(row.len(), 5, "{row:?}");
        named.extend(row[2..].iter().map(|cell| cell.trim_matches('`')));
    }
    tests.sort_unstable();
    named.sort_unstable();
    assert_eq!(named, tests);
    for (word, _) in paynter_language::ast::KINDS.iter().filter(|(word, _)| !word.starts_with('M')) {
        assert!(rows.iter().any(|row| row[0] == format!("`{word}`")), "no row for {word}");
    }
}

macro_rules! elements {
    ($($name:ident: $form:ident, $element:literal, $ports:literal, $text:literal;)*) => {
        $(
            #[test]
            fn $name() {
                check($text, Form::$form, $element, $ports);
            }
        )*
    };
}

// The element, how each of its ports is driven (`e`: effort enters, `f`: flow enters), the model.
elements! {
    r_effort_out_linear: Linear, "r", "f",
        "param R0 = 2; input u = 1; Sf s = u; s -> r; R r = R0; output zero1 = r.e - R0*r.f; \
         output zero2 = s.f - u; output y = r.e + r.f";
    r_effort_out_nonlinear: Nonlinear, "r", "f",
        "param R0 = 2; input u = 1; Sf s = u; s -> r; R r { e = R0*f*abs(f) }; output zero1 = r.e \
         - R0*r.f*abs(r.f); output zero2 = s.f - u; output y = r.e + r.f";
    r_effort_out_implicit: Implicit, "r", "f",
        "param R0 = 2; input u = 1; Sf s = u; s -> r; R r { f = e/R0 + e^5 }; output zero1 = r.f \
         - r.e/R0 - r.e^5; output zero2 = s.f - u; output y = r.e + r.f";
    r_flow_out_linear: Linear, "r", "e",
        "param R0 = 2; input u = 1; Se s = u; s -> r; R r = R0; output zero1 = r.e - R0*r.f; \
         output zero2 = s.e - u; output y = r.e + r.f";
    r_flow_out_nonlinear: Nonlinear, "r", "e",
        "param R0 = 2; input u = 1; Se s = u; s -> r; R r { e = R0*f*abs(f) }; output zero1 = r.e \
         - R0*r.f*abs(r.f); output zero2 = s.e - u; output y = r.e + r.f";
    r_flow_out_implicit: Implicit, "r", "e",
        "param R0 = 2; input u = 1; Se s = u; s -> r; R r { e = R0*f + f^5 }; output zero1 = r.e \
         - R0*r.f - r.f^5; output zero2 = s.e - u; output y = r.e + r.f";
    se_linear: Linear, "s", "f",
        "param R0 = 2; input u = 1; Se s = 3*u; R r = R0; s -> r; output zero1 = s.e - 3*u; \
         output zero2 = r.e - R0*r.f; output y = r.f";
    se_nonlinear: Nonlinear, "s", "f",
        "param R0 = 2; input u = 1; Se s = u^3; R r = R0; s -> r; output zero1 = s.e - u^3; \
         output zero2 = r.e - R0*r.f; output y = r.f";
    se_implicit: Implicit, "s", "f",
        "param R0 = 2; input u = 1; MSe s = u - s.f^5; R r = R0; s -> r; output zero1 = s.e - u + \
         s.f^5; output zero2 = r.e - R0*r.f; output y = r.f";
    sf_linear: Linear, "s", "e",
        "param R0 = 2; input u = 1; Sf s = 3*u; R r = R0; s -> r; output zero1 = s.f - 3*u; \
         output zero2 = r.e - R0*r.f; output y = r.e";
    sf_nonlinear: Nonlinear, "s", "e",
        "param R0 = 2; input u = 1; Sf s = u^3; R r = R0; s -> r; output zero1 = s.f - u^3; \
         output zero2 = r.e - R0*r.f; output y = r.e";
    sf_implicit: Implicit, "s", "e",
        "param R0 = 2; input u = 1; MSf s = u - s.e^5; R r = R0; s -> r; output zero1 = s.f - u + \
         s.e^5; output zero2 = r.e - R0*r.f; output y = r.e";
    c_integral_linear: Linear, "a", "f",
        "param K = 2; input u = 1; Sf s = u; C a = K; s -> a; output zero1 = a.q - K*a.e; output \
         zero2 = a.f - u; output rate_a = a.f; output y = a.e";
    c_integral_nonlinear: Nonlinear, "a", "f",
        "param K = 2; input u = 1; Sf s = u; C a { e = q/K + q^3 }; s -> a; output zero1 = a.e - \
         a.q/K - a.q^3; output zero2 = a.f - u; output rate_a = a.f; output y = a.e";
    c_integral_implicit: Implicit, "a", "f",
        "param K = 2; input u = 1; Sf s = u; C a { q = K*e + e^5 }; s -> a; output zero1 = a.q - \
         K*a.e - a.e^5; output zero2 = a.f - u; output rate_a = a.f; output y = a.e";
    c_derivative_linear: Linear, "a", "e",
        "param K = 2; input u = 1; Se s = u; C a = K; s -> a; output zero1 = a.q - K*a.e; output \
         zero2 = a.e - u; output rate_a = a.f";
    c_derivative_nonlinear: Nonlinear, "a", "e",
        "param K = 2; input u = 1; Se s = u; C a { q = K*e + e^3 }; s -> a; output zero1 = a.q - \
         K*a.e - a.e^3; output zero2 = a.e - u; output rate_a = a.f";
    c_derivative_implicit: Implicit, "a", "e",
        "param K = 2; input u = 1; Se s = u; C a { e = q/K + q^5 }; s -> a; output zero1 = a.e - \
         a.q/K - a.q^5; output zero2 = a.e - u; output rate_a = a.f";
    i_integral_linear: Linear, "a", "e",
        "param K = 2; input u = 1; Se s = u; I a = K; s -> a; output zero1 = a.p - K*a.f; output \
         zero2 = a.e - u; output rate_a = a.e; output y = a.f";
    i_integral_nonlinear: Nonlinear, "a", "e",
        "param K = 2; input u = 1; Se s = u; I a { f = p/K + p^3 }; s -> a; output zero1 = a.f - \
         a.p/K - a.p^3; output zero2 = a.e - u; output rate_a = a.e; output y = a.f";
    i_integral_implicit: Implicit, "a", "e",
        "param K = 2; input u = 1; Se s = u; I a { p = K*f + f^5 }; s -> a; output zero1 = a.p - \
         K*a.f - a.f^5; output zero2 = a.e - u; output rate_a = a.e; output y = a.f";
    i_derivative_linear: Linear, "a", "f",
        "param K = 2; input u = 1; Sf s = u; I a = K; s -> a; output zero1 = a.p - K*a.f; output \
         zero2 = a.f - u; output rate_a = a.e";
    i_derivative_nonlinear: Nonlinear, "a", "f",
        "param K = 2; input u = 1; Sf s = u; I a { p = K*f + f^3 }; s -> a; output zero1 = a.p - \
         K*a.f - a.f^3; output zero2 = a.f - u; output rate_a = a.e";
    i_derivative_implicit: Implicit, "a", "f",
        "param K = 2; input u = 1; Sf s = u; I a { f = p/K + p^5 }; s -> a; output zero1 = a.f - \
         a.p/K - a.p^5; output zero2 = a.f - u; output rate_a = a.e";
    r_field_efforts_out_linear: Linear, "a", "ff",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; R a[2] = [[A, M], [M, \
         B]]; Sf s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = a.e1 - A*a.f1 - M*a.f2; \
         output zero2 = a.e2 - M*a.f1 - B*a.f2; output zero3 = s.f - u; output zero4 = w.f - v; \
         output y = a.e1 + a.f2";
    r_field_efforts_out_nonlinear: Nonlinear, "a", "ff",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; R a[2] { e1 = A*f1^3 \
         + M*f2; e2 = B*f2 + M*f1 }; Sf s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = a.e1 \
         - A*a.f1^3 - M*a.f2; output zero2 = a.e2 - B*a.f2 - M*a.f1; output zero3 = s.f - u; \
         output zero4 = w.f - v; output y = a.e1 + a.f2";
    r_field_efforts_out_implicit: Implicit, "a", "ff",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; R a[2] { f1 = A*e1 + \
         e1^5 + e2; f2 = B*e2 + e1 }; Sf s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = a.f1 \
         - A*a.e1 - a.e1^5 - a.e2; output zero2 = a.f2 - B*a.e2 - a.e1; output zero3 = s.f - u; \
         output zero4 = w.f - v; output y = a.e1 + a.f2";
    r_field_flows_out_linear: Linear, "a", "ee",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; R a[2] = [[A, M], [M, \
         B]]; Se s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.e1 - A*a.f1 - M*a.f2; \
         output zero2 = a.e2 - M*a.f1 - B*a.f2; output zero3 = s.e - u; output zero4 = w.e - v; \
         output y = a.e1 + a.f2";
    r_field_flows_out_nonlinear: Nonlinear, "a", "ee",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; R a[2] { f1 = A*(e1 - \
         e2)/e1; f2 = -A*(e1 - e2)/e2 }; Se s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = \
         a.f1*a.e1 - A*(a.e1 - a.e2); output zero2 = a.f2*a.e2 + A*(a.e1 - a.e2); output zero3 = \
         s.e - u; output zero4 = w.e - v; output y = a.e1 + a.f2";
    r_field_flows_out_implicit: Implicit, "a", "ee",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; R a[2] { e1 = A*f1 + \
         f1^5 + f2; e2 = B*f2 + f1 }; Se s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.e1 \
         - A*a.f1 - a.f1^5 - a.f2; output zero2 = a.e2 - B*a.f2 - a.f1; output zero3 = s.e - u; \
         output zero4 = w.e - v; output y = a.e1 + a.f2";
    r_field_mixed_linear: Linear, "a", "fe",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; R a[2] = [[A, M], [M, \
         B]]; Sf s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.e1 - A*a.f1 - M*a.f2; \
         output zero2 = a.e2 - M*a.f1 - B*a.f2; output zero3 = s.f - u; output zero4 = w.e - v; \
         output y = a.e1 + a.f2";
    r_field_mixed_nonlinear: Nonlinear, "a", "fe",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; R a[2] { e1 = A*f1^3 \
         + M*f2; e2 = B*f2 + M*f1 }; Sf s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.e1 \
         - A*a.f1^3 - M*a.f2; output zero2 = a.e2 - B*a.f2 - M*a.f1; output zero3 = s.f - u; \
         output zero4 = w.e - v; output y = a.e1 + a.f2";
    r_field_mixed_implicit: Implicit, "a", "fe",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; R a[2] { f1 = A*e1 + \
         e1^5 + f2; e2 = B*f2 + e1 }; Sf s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.f1 \
         - A*a.e1 - a.e1^5 - a.f2; output zero2 = a.e2 - B*a.f2 - a.e1; output zero3 = s.f - u; \
         output zero4 = w.e - v; output y = a.e1 + a.f2";
    c_field_integral_linear: Linear, "a", "ff",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; C a[2] = [[A, M], [M, \
         B]]; Sf s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = a.q1 - A*a.e1 - M*a.e2; \
         output zero2 = a.q2 - M*a.e1 - B*a.e2; output zero3 = s.f - u; output zero4 = w.f - v; \
         output rate_a1 = a.f1; output rate_a2 = a.f2; output y = a.e1 + a.f2";
    c_field_integral_nonlinear: Nonlinear, "a", "ff",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; C a[2] { e1 = A*q1^3 \
         + M*q2; e2 = B*q2 + M*q1 }; Sf s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = a.e1 \
         - A*a.q1^3 - M*a.q2; output zero2 = a.e2 - B*a.q2 - M*a.q1; output zero3 = s.f - u; \
         output zero4 = w.f - v; output rate_a1 = a.f1; output rate_a2 = a.f2; output y = a.e1 + \
         a.f2";
    c_field_integral_implicit: Implicit, "a", "ff",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; C a[2] { q1 = A*e1 + \
         e1^5 + M*e2; q2 = B*e2 + M*e1 }; Sf s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = \
         a.q1 - A*a.e1 - a.e1^5 - M*a.e2; output zero2 = a.q2 - B*a.e2 - M*a.e1; output zero3 = \
         s.f - u; output zero4 = w.f - v; output rate_a1 = a.f1; output rate_a2 = a.f2; output y \
         = a.e1 + a.f2";
    c_field_derivative_linear: Linear, "a", "ee",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; C a[2] = [[A, M], [M, \
         B]]; Se s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.q1 - A*a.e1 - M*a.e2; \
         output zero2 = a.q2 - M*a.e1 - B*a.e2; output zero3 = s.e - u; output zero4 = w.e - v; \
         output rate_a1 = a.f1; output rate_a2 = a.f2; output y = a.e1 + a.f2";
    c_field_derivative_nonlinear: Nonlinear, "a", "ee",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; C a[2] { q1 = A*e1^3 \
         + M*e2; q2 = B*e2 + M*e1 }; Se s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.q1 \
         - A*a.e1^3 - M*a.e2; output zero2 = a.q2 - B*a.e2 - M*a.e1; output zero3 = s.e - u; \
         output zero4 = w.e - v; output rate_a1 = a.f1; output rate_a2 = a.f2; output y = a.e1 + \
         a.f2";
    c_field_derivative_implicit: Implicit, "a", "ee",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; C a[2] { e1 = A*q1 + \
         q1^5 + M*q2; e2 = B*q2 + M*q1 }; Se s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = \
         a.e1 - A*a.q1 - a.q1^5 - M*a.q2; output zero2 = a.e2 - B*a.q2 - M*a.q1; output zero3 = \
         s.e - u; output zero4 = w.e - v; output rate_a1 = a.f1; output rate_a2 = a.f2; output y \
         = a.e1 + a.f2";
    c_field_mixed_linear: Linear, "a", "ef",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; C a[2] = [[A, M], [M, \
         B]]; Se s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = a.q1 - A*a.e1 - M*a.e2; \
         output zero2 = a.q2 - M*a.e1 - B*a.e2; output zero3 = s.e - u; output zero4 = w.f - v; \
         output rate_a1 = a.f1; output rate_a2 = a.f2; output y = a.e1 + a.f2";
    c_field_mixed_nonlinear: Nonlinear, "a", "ef",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; C a[2] { q1 = A*e1^3 \
         + M*e2; q2 = B*e2 + M*e1 }; Se s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = a.q1 \
         - A*a.e1^3 - M*a.e2; output zero2 = a.q2 - B*a.e2 - M*a.e1; output zero3 = s.e - u; \
         output zero4 = w.f - v; output rate_a1 = a.f1; output rate_a2 = a.f2; output y = a.e1 + \
         a.f2";
    c_field_mixed_implicit: Implicit, "a", "ef",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; C a[2] { e1 = A*q1 + \
         q1^5 + M*q2; e2 = B*q2 + M*q1 }; Se s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = \
         a.e1 - A*a.q1 - a.q1^5 - M*a.q2; output zero2 = a.e2 - B*a.q2 - M*a.q1; output zero3 = \
         s.e - u; output zero4 = w.f - v; output rate_a1 = a.f1; output rate_a2 = a.f2; output y \
         = a.e1 + a.f2";
    i_field_integral_linear: Linear, "a", "ee",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; I a[2] = [[A, M], [M, \
         B]]; Se s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.p1 - A*a.f1 - M*a.f2; \
         output zero2 = a.p2 - M*a.f1 - B*a.f2; output zero3 = s.e - u; output zero4 = w.e - v; \
         output rate_a1 = a.e1; output rate_a2 = a.e2; output y = a.f1 + a.e2";
    i_field_integral_nonlinear: Nonlinear, "a", "ee",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; I a[2] { f1 = A*p1^3 \
         + M*p2; f2 = B*p2 + M*p1 }; Se s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.f1 \
         - A*a.p1^3 - M*a.p2; output zero2 = a.f2 - B*a.p2 - M*a.p1; output zero3 = s.e - u; \
         output zero4 = w.e - v; output rate_a1 = a.e1; output rate_a2 = a.e2; output y = a.f1 + a.e2";
    i_field_integral_implicit: Implicit, "a", "ee",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; I a[2] { p1 = A*f1 + \
         f1^5 + M*f2; p2 = B*f2 + M*f1 }; Se s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = \
         a.p1 - A*a.f1 - a.f1^5 - M*a.f2; output zero2 = a.p2 - B*a.f2 - M*a.f1; output zero3 = \
         s.e - u; output zero4 = w.e - v; output rate_a1 = a.e1; output rate_a2 = a.e2; output y \
         = a.f1 + a.e2";
    i_field_derivative_linear: Linear, "a", "ff",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; I a[2] = [[A, M], [M, \
         B]]; Sf s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = a.p1 - A*a.f1 - M*a.f2; \
         output zero2 = a.p2 - M*a.f1 - B*a.f2; output zero3 = s.f - u; output zero4 = w.f - v; \
         output rate_a1 = a.e1; output rate_a2 = a.e2; output y = a.f1 + a.e2";
    i_field_derivative_nonlinear: Nonlinear, "a", "ff",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; I a[2] { p1 = A*f1^3 \
         + M*f2; p2 = B*f2 + M*f1 }; Sf s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = a.p1 \
         - A*a.f1^3 - M*a.f2; output zero2 = a.p2 - B*a.f2 - M*a.f1; output zero3 = s.f - u; \
         output zero4 = w.f - v; output rate_a1 = a.e1; output rate_a2 = a.e2; output y = a.f1 + a.e2";
    i_field_derivative_implicit: Implicit, "a", "ff",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; I a[2] { f1 = A*p1 + \
         p1^5 + M*p2; f2 = B*p2 + M*p1 }; Sf s = u; Sf w = v; s -> a.1; w -> a.2; output zero1 = \
         a.f1 - A*a.p1 - a.p1^5 - M*a.p2; output zero2 = a.f2 - B*a.p2 - M*a.p1; output zero3 = \
         s.f - u; output zero4 = w.f - v; output rate_a1 = a.e1; output rate_a2 = a.e2; output y \
         = a.f1 + a.e2";
    i_field_mixed_linear: Linear, "a", "fe",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; I a[2] = [[A, M], [M, \
         B]]; Sf s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.p1 - A*a.f1 - M*a.f2; \
         output zero2 = a.p2 - M*a.f1 - B*a.f2; output zero3 = s.f - u; output zero4 = w.e - v; \
         output rate_a1 = a.e1; output rate_a2 = a.e2; output y = a.f1 + a.e2";
    i_field_mixed_nonlinear: Nonlinear, "a", "fe",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; I a[2] { p1 = A*f1^3 \
         + M*f2; p2 = B*f2 + M*f1 }; Sf s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = a.p1 \
         - A*a.f1^3 - M*a.f2; output zero2 = a.p2 - B*a.f2 - M*a.f1; output zero3 = s.f - u; \
         output zero4 = w.e - v; output rate_a1 = a.e1; output rate_a2 = a.e2; output y = a.f1 + a.e2";
    i_field_mixed_implicit: Implicit, "a", "fe",
        "param A = 2; param B = 3; param M = 1; input u = 1; input v = 1/2; I a[2] { f1 = A*p1 + \
         p1^5 + M*p2; f2 = B*p2 + M*p1 }; Sf s = u; Se w = v; s -> a.1; w -> a.2; output zero1 = \
         a.f1 - A*a.p1 - a.p1^5 - M*a.p2; output zero2 = a.f2 - B*a.p2 - M*a.p1; output zero3 = \
         s.f - u; output zero4 = w.e - v; output rate_a1 = a.e1; output rate_a2 = a.e2; output y \
         = a.f1 + a.e2";
    tf_effort_in_linear: Linear, "a", "ef",
        "param K = 2; param R0 = 3; input u = 1; Se s = u; TF a = K; R r = R0; s -> a -> r; \
         output zero1 = a.e1 - (K)*a.e2; output zero2 = a.f2 - (K)*a.f1; output zero3 = r.e - \
         R0*r.f; output zero4 = s.e - u; output y = r.f";
    tf_effort_in_nonlinear: Nonlinear, "a", "ef",
        "param K = 2; param R0 = 3; input u = 1; signal x = integral(s.f, 1/3); Se s = u; MTF a = \
         K + sin(x); R r = R0; s -> a -> r; output zero1 = a.e1 - (K + sin(x))*a.e2; output zero2 \
         = a.f2 - (K + sin(x))*a.f1; output zero3 = r.e - R0*r.f; output zero4 = s.e - u; output \
         y = r.f";
    tf_effort_in_implicit: Implicit, "a", "ef",
        "param K = 2; param R0 = 3; input u = 1; Se s = u; MTF a = K + r.f^4; R r = R0; s -> a -> \
         r; output zero1 = a.e1 - (K + r.f^4)*a.e2; output zero2 = a.f2 - (K + r.f^4)*a.f1; \
         output zero3 = r.e - R0*r.f; output zero4 = s.e - u; output y = r.f";
    tf_flow_in_linear: Linear, "a", "fe",
        "param K = 2; param R0 = 3; input u = 1; Sf s = u; TF a = K; R r = R0; s -> a -> r; \
         output zero1 = a.e1 - (K)*a.e2; output zero2 = a.f2 - (K)*a.f1; output zero3 = r.e - \
         R0*r.f; output zero4 = s.f - u; output y = r.f";
    tf_flow_in_nonlinear: Nonlinear, "a", "fe",
        "param K = 2; param R0 = 3; input u = 1; signal x = integral(s.e, 1/3); Sf s = u; MTF a = \
         K + sin(x); R r = R0; s -> a -> r; output zero1 = a.e1 - (K + sin(x))*a.e2; output zero2 \
         = a.f2 - (K + sin(x))*a.f1; output zero3 = r.e - R0*r.f; output zero4 = s.f - u; output \
         y = r.f";
    tf_flow_in_implicit: Implicit, "a", "fe",
        "param K = 2; param R0 = 3; input u = 1; Sf s = u; MTF a = 1/(K + r.f^4); R r = R0; s -> a -> \
         r; output zero1 = a.e1 - (1/(K + r.f^4))*a.e2; output zero2 = a.f2 - (1/(K + r.f^4))*a.f1; \
         output zero3 = r.e - R0*r.f; output zero4 = s.f - u; output y = r.f";
    gy_effort_in_linear: Linear, "a", "ee",
        "param K = 2; param R0 = 3; input u = 1; Se s = u; GY a = K; R r = R0; s -> a -> r; \
         output zero1 = a.e1 - (K)*a.f2; output zero2 = a.e2 - (K)*a.f1; output zero3 = r.e - \
         R0*r.f; output zero4 = s.e - u; output y = r.f";
    gy_effort_in_nonlinear: Nonlinear, "a", "ee",
        "param K = 2; param R0 = 3; input u = 1; signal x = integral(s.f, 1/3); Se s = u; MGY a = \
         K + sin(x); R r = R0; s -> a -> r; output zero1 = a.e1 - (K + sin(x))*a.f2; output zero2 \
         = a.e2 - (K + sin(x))*a.f1; output zero3 = r.e - R0*r.f; output zero4 = s.e - u; output \
         y = r.f";
    gy_effort_in_implicit: Implicit, "a", "ee",
        "param K = 2; param R0 = 3; input u = 1; Se s = u; MGY a = K + r.f^4; R r = R0; s -> a -> \
         r; output zero1 = a.e1 - (K + r.f^4)*a.f2; output zero2 = a.e2 - (K + r.f^4)*a.f1; \
         output zero3 = r.e - R0*r.f; output zero4 = s.e - u; output y = r.f";
    gy_flow_in_linear: Linear, "a", "ff",
        "param K = 2; param R0 = 3; input u = 1; Sf s = u; GY a = K; R r = R0; s -> a -> r; \
         output zero1 = a.e1 - (K)*a.f2; output zero2 = a.e2 - (K)*a.f1; output zero3 = r.e - \
         R0*r.f; output zero4 = s.f - u; output y = r.f";
    gy_flow_in_nonlinear: Nonlinear, "a", "ff",
        "param K = 2; param R0 = 3; input u = 1; signal x = integral(s.e, 1/3); Sf s = u; MGY a = \
         K + sin(x); R r = R0; s -> a -> r; output zero1 = a.e1 - (K + sin(x))*a.f2; output zero2 \
         = a.e2 - (K + sin(x))*a.f1; output zero3 = r.e - R0*r.f; output zero4 = s.f - u; output \
         y = r.f";
    gy_flow_in_implicit: Implicit, "a", "ff",
        "param K = 2; param R0 = 3; input u = 1; Sf s = u; MGY a = 1/(K + r.f^4); R r = R0; s -> a -> \
         r; output zero1 = a.e1 - (1/(K + r.f^4))*a.f2; output zero2 = a.e2 - (1/(K + r.f^4))*a.f1; \
         output zero3 = r.e - R0*r.f; output zero4 = s.f - u; output y = r.f";
    zero_junction_decided_in_linear: Linear, "j", "",
        "param R0 = 2; input u = 1; Se s = u; 0 j; R r = R0; R g = 3; s -> j; j -> r, g; output \
         zero1 = r.e - R0*r.f; output zero2 = s.e - r.e; output zero3 = g.e - r.e; output zero4 = \
         s.f - r.f - g.f; output zero5 = s.e - u; output y = r.f";
    zero_junction_decided_out_linear: Linear, "j", "",
        "param R0 = 2; input u = 1; Sf s = u; 0 j; R r = R0; C c = 3; s -> j; j -> r, c; output \
         zero1 = r.e - R0*r.f; output zero2 = s.e - r.e; output zero3 = c.e - r.e; output zero4 = \
         s.f - r.f - c.f; output zero5 = s.f - u; output zero6 = c.q - 3*c.e; output rate_c = \
         c.f; output y = r.f";
    zero_junction_decided_in_nonlinear: Nonlinear, "j", "",
        "param R0 = 2; input u = 1; Se s = u; 0 j; R r { e = R0*f*abs(f) }; R g = 3; s -> j; j -> \
         r, g; output zero1 = r.e - R0*r.f*abs(r.f); output zero2 = s.e - r.e; output zero3 = g.e \
         - r.e; output zero4 = s.f - r.f - g.f; output zero5 = s.e - u; output y = r.f";
    zero_junction_decided_out_nonlinear: Nonlinear, "j", "",
        "param R0 = 2; input u = 1; Sf s = u; 0 j; R r { e = R0*f*abs(f) }; C c = 3; s -> j; j -> \
         r, c; output zero1 = r.e - R0*r.f*abs(r.f); output zero2 = s.e - r.e; output zero3 = c.e \
         - r.e; output zero4 = s.f - r.f - c.f; output zero5 = s.f - u; output zero6 = c.q - \
         3*c.e; output rate_c = c.f; output y = r.f";
    zero_junction_decided_in_implicit: Implicit, "j", "",
        "param R0 = 2; input u = 1; Se s = u; 0 j; R r { e = R0*f + f^5 }; R g = 3; s -> j; j -> \
         r, g; output zero1 = r.e - R0*r.f - r.f^5; output zero2 = s.e - r.e; output zero3 = g.e \
         - r.e; output zero4 = s.f - r.f - g.f; output zero5 = s.e - u; output y = r.f";
    zero_junction_decided_out_implicit: Implicit, "j", "",
        "param R0 = 2; input u = 1; Sf s = u; 0 j; R r { e = R0*f + f^5 }; C c = 3; s -> j; j -> \
         r, c; output zero1 = r.e - R0*r.f - r.f^5; output zero2 = s.e - r.e; output zero3 = c.e \
         - r.e; output zero4 = s.f - r.f - c.f; output zero5 = s.f - u; output zero6 = c.q - \
         3*c.e; output rate_c = c.f; output y = r.f";
    one_junction_decided_in_linear: Linear, "j", "",
        "param R0 = 2; input u = 1; Sf s = u; 1 j; R r = R0; R g = 3; s -> j; j -> r, g; output \
         zero1 = r.e - R0*r.f; output zero2 = s.f - r.f; output zero3 = g.f - r.f; output zero4 = \
         s.e - r.e - g.e; output zero5 = s.f - u; output y = r.e";
    one_junction_decided_out_linear: Linear, "j", "",
        "param R0 = 2; input u = 1; Se s = u; 1 j; R r = R0; I c = 3; s -> j; j -> r, c; output \
         zero1 = r.e - R0*r.f; output zero2 = s.f - r.f; output zero3 = c.f - r.f; output zero4 = \
         s.e - r.e - c.e; output zero5 = s.e - u; output zero6 = c.p - 3*c.f; output rate_c = \
         c.e; output y = r.e";
    one_junction_decided_in_nonlinear: Nonlinear, "j", "",
        "param R0 = 2; input u = 1; Sf s = u; 1 j; R r { e = R0*f*abs(f) }; R g = 3; s -> j; j -> \
         r, g; output zero1 = r.e - R0*r.f*abs(r.f); output zero2 = s.f - r.f; output zero3 = g.f \
         - r.f; output zero4 = s.e - r.e - g.e; output zero5 = s.f - u; output y = r.e";
    one_junction_decided_out_nonlinear: Nonlinear, "j", "",
        "param R0 = 2; input u = 1; Se s = u; 1 j; R r { e = R0*f*abs(f) }; I c = 3; s -> j; j -> \
         r, c; output zero1 = r.e - R0*r.f*abs(r.f); output zero2 = s.f - r.f; output zero3 = c.f \
         - r.f; output zero4 = s.e - r.e - c.e; output zero5 = s.e - u; output zero6 = c.p - \
         3*c.f; output rate_c = c.e; output y = r.e";
    one_junction_decided_in_implicit: Implicit, "j", "",
        "param R0 = 2; input u = 1; Sf s = u; 1 j; R r { f = e/R0 + e^5 }; R g = 3; s -> j; j -> \
         r, g; output zero1 = r.f - r.e/R0 - r.e^5; output zero2 = s.f - r.f; output zero3 = g.f \
         - r.f; output zero4 = s.e - r.e - g.e; output zero5 = s.f - u; output y = r.e";
    one_junction_decided_out_implicit: Implicit, "j", "",
        "param R0 = 2; input u = 1; Se s = u; 1 j; R r { f = e/R0 + e^5 }; I c = 3; s -> j; j -> \
         r, c; output zero1 = r.f - r.e/R0 - r.e^5; output zero2 = s.f - r.f; output zero3 = c.f \
         - r.f; output zero4 = s.e - r.e - c.e; output zero5 = s.e - u; output zero6 = c.p - \
         3*c.f; output rate_c = c.e; output y = r.e";
    de_linear: Linear, "d", "e",
        "param R0 = 2; input u = 1; Sf s = u; 0 j; R r = R0; De d; s -> j; j -> r, d; output \
         zero1 = d.f; output zero2 = d.e - r.e; output zero3 = r.f - u; output zero4 = r.e - \
         R0*r.f; output y = d.e";
    de_nonlinear: Nonlinear, "d", "e",
        "param R0 = 2; input u = 1; Sf s = u; 0 j; R r { e = R0*f*abs(f) }; De d; s -> j; j -> r, \
         d; output zero1 = d.f; output zero2 = d.e - r.e; output zero3 = r.f - u; output zero4 = \
         r.e - R0*r.f*abs(r.f); output y = d.e";
    de_implicit: Implicit, "d", "e",
        "param R0 = 2; input u = 1; Sf s = u; 0 j; R r { f = e/R0 + e^5 }; De d; s -> j; j -> r, \
         d; output zero1 = d.f; output zero2 = d.e - r.e; output zero3 = r.f - u; output zero4 = \
         r.f - r.e/R0 - r.e^5; output y = d.e";
    df_linear: Linear, "d", "f",
        "param R0 = 2; input u = 1; Se s = u; 1 j; R r = R0; Df d; s -> j; j -> r, d; output \
         zero1 = d.e; output zero2 = d.f - r.f; output zero3 = r.e - u; output zero4 = r.e - \
         R0*r.f; output y = d.f";
    df_nonlinear: Nonlinear, "d", "f",
        "param R0 = 2; input u = 1; Se s = u; 1 j; R r { e = R0*f*abs(f) }; Df d; s -> j; j -> r, \
         d; output zero1 = d.e; output zero2 = d.f - r.f; output zero3 = r.e - u; output zero4 = \
         r.e - R0*r.f*abs(r.f); output y = d.f";
    df_implicit: Implicit, "d", "f",
        "param R0 = 2; input u = 1; Se s = u; 1 j; R r { e = R0*f + f^5 }; Df d; s -> j; j -> r, \
         d; output zero1 = d.e; output zero2 = d.f - r.f; output zero3 = r.e - u; output zero4 = \
         r.e - R0*r.f - r.f^5; output y = d.f";
    sw_effort_in_linear: Linear, "a", "e",
        "param Ra = 2; input u = 1; Se s = u; Sw a when (1 > 0) { Ron = Ra; Goff = 1/5 }; s -> a; \
         output zero1 = a.f - if(1 > 0, 1/Ra, 1/5)*a.e; output zero2 = s.e - u; output y = a.e + \
         a.f";
    sw_effort_in_nonlinear: Nonlinear, "a", "e",
        "param Ra = 2; input u = 1; Se s = u; Sw a when (u > 1/2) { Ron = Ra; Goff = 1/5 }; s -> \
         a; output zero1 = a.f - if(u > 1/2, 1/Ra, 1/5)*a.e; output zero2 = s.e - u; output y = \
         a.e + a.f";
    sw_effort_in_implicit: Implicit, "a", "e",
        "param Ra = 2; input u = 1; Se s = u; Sw a when (a.f > a.e^5 + a.e/3) { Ron = Ra; Goff = \
         1/5 }; s -> a; output zero1 = a.f - if(a.f > a.e^5 + a.e/3, 1/Ra, 1/5)*a.e; output zero2 \
         = s.e - u; output y = a.e + a.f";
    sw_flow_in_linear: Linear, "a", "f",
        "param Ra = 2; input u = 1; Sf s = u; Sw a when (1 > 0) { Ron = Ra; Goff = 1/5 }; s -> a; \
         output zero1 = a.f - if(1 > 0, 1/Ra, 1/5)*a.e; output zero2 = s.f - u; output y = a.e + \
         a.f";
    sw_flow_in_nonlinear: Nonlinear, "a", "f",
        "param Ra = 2; input u = 1; Sf s = u; Sw a when (u > 1/2) { Ron = Ra; Goff = 1/5 }; s -> \
         a; output zero1 = a.f - if(u > 1/2, 1/Ra, 1/5)*a.e; output zero2 = s.f - u; output y = \
         a.e + a.f";
    sw_flow_in_implicit: Implicit, "a", "f",
        "param Ra = 2; input u = 1; Sf s = u; Sw a when (a.f > a.e^5 + a.e/3) { Ron = Ra; Goff = \
         1/5 }; s -> a; output zero1 = a.f - if(a.f > a.e^5 + a.e/3, 1/Ra, 1/5)*a.e; output zero2 \
         = s.f - u; output y = a.e + a.f";
    rs_effort_in_linear: Linear, "a", "ee",
        "param R0 = 2; param T = 300; input u = 1; Se s = u; RS a = R0; Se room = T; s -> a -> \
         room; output zero1 = a.e1 - R0*a.f1; output zero2 = s.e - u; output y = a.e1 + a.f1";
    rs_effort_in_nonlinear: Nonlinear, "a", "ee",
        "param R0 = 2; param T = 300; input u = 1; Se s = u; RS a = R0; Se room = T; s -> a -> \
         room; output zero1 = a.e1 - R0*a.f1; output zero2 = a.e2*a.f2 - a.e1*a.f1; output zero3 \
         = a.e2 - T; output zero4 = s.e - u; output y = a.f2";
    rs_effort_in_implicit: Implicit, "a", "ee",
        "param R0 = 2; param T = 300; input u = 1; Se s = u; RS a = R0*(1 + a.f1^4); Se room = T; \
         s -> a -> room; output zero1 = a.e1 - R0*(1 + a.f1^4)*a.f1; output zero2 = a.e2*a.f2 - \
         a.e1*a.f1; output zero3 = s.e - u; output y = a.f2";
    rs_flow_in_linear: Linear, "a", "fe",
        "param R0 = 2; param T = 300; input u = 1; Sf s = u; RS a = R0; Se room = T; s -> a -> \
         room; output zero1 = a.e1 - R0*a.f1; output zero2 = s.f - u; output y = a.e1 + a.f1";
    rs_flow_in_nonlinear: Nonlinear, "a", "fe",
        "param R0 = 2; param T = 300; input u = 1; Sf s = u; RS a = R0; Se room = T; s -> a -> \
         room; output zero1 = a.e1 - R0*a.f1; output zero2 = a.e2*a.f2 - a.e1*a.f1; output zero3 \
         = a.e2 - T; output zero4 = s.f - u; output y = a.f2";
    rs_flow_in_implicit: Implicit, "a", "fe",
        "param R0 = 2; param T = 300; input u = 1; Sf s = u; RS a = R0/(1 + a.e1^4); Se room = T; \
         s -> a -> room; output zero1 = a.e1 - R0/(1 + a.e1^4)*a.f1; output zero2 = a.e2*a.f2 - \
         a.e1*a.f1; output zero3 = s.f - u; output y = a.f2";
}
