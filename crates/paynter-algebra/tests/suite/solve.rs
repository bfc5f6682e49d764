//! The inverter of laws, on the laws people write and on random nestings of them.

use crate::common;

use common::{cases, parse, residual};
use paynter_algebra::{Condition, Expr, Interval, Pool, SolveError, Symbol};
use proptest::prelude::*;
use rustc_hash::FxHashMap;

/// These names are variables, which may be anything; every other name is a positive parameter.
const VARIABLES: [&str; 8] = ["e", "f", "q", "p", "x", "y", "t", "u"];

fn assume(pool: &Pool) -> impl Fn(Symbol) -> Interval + use<> {
    let names = pool.clone();
    move |s| {
        if VARIABLES.contains(&names.name(s)) { Interval::ALL } else { Interval::POSITIVE }
    }
}

fn condition(pool: &Pool, c: &Condition) -> String {
    let show = |e: &Expr, i: &Interval| {
        let open = if i.lo_open() { "(" } else { "[" };
        let close = if i.hi_open() { ")" } else { "]" };
        format!("{} in {open}{:.4}, {:.4}{close}", pool.display(*e), i.lo(), i.hi())
    };
    match c {
        Condition::NonZero(e) => format!("{} != 0", pool.display(*e)),
        Condition::Range { expr, interval } => show(expr, interval),
        Condition::Branch { expr, interval } => format!("branch {}", show(expr, interval)),
    }
}

/// Describes the solution of a law for a variable in one line.
fn solve(law: &str, unknown: &str) -> String {
    let mut pool = Pool::new();
    let e = residual(&mut pool, law);
    let x = pool.symbol(unknown);
    let assume = assume(&pool);
    match pool.solve_for(e, x, &assume) {
        Ok(solution) => {
            check_numerically(&pool, e, x, &solution.value, &solution.conditions);
            if solution.is_global() {
                check_uniqueness(&mut pool, e, x, solution.value);
            }
            let mut line = pool.display(solution.value).to_string();
            if !solution.conditions.is_empty() {
                let conditions: Vec<String> =
                    solution.conditions.iter().map(|c| condition(&pool, c)).collect();
                line = format!("{line} where {}", conditions.join(", "));
            }
            if !solution.is_global() {
                line += " (local)";
            }
            line
        }
        Err(SolveError { reason, monotone }) => {
            format!("stuck{}: {reason}", if monotone { ", monotone" } else { "" })
        }
    }
}

/// Puts a solution back into its law at many points where its conditions hold.
fn check_numerically(pool: &Pool, law: Expr, x: Symbol, value: &Expr, conditions: &[Condition]) {
    assert!(!pool.depends_on(*value, x), "{} contains the unknown", pool.display(*value));
    let mut symbols = pool.symbols(law);
    symbols.extend(pool.symbols(*value));
    let (mut checked, mut undefined) = (0, 0);
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    for _ in 0..200 {
        let mut values: FxHashMap<Symbol, f64> = FxHashMap::default();
        for s in &symbols {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let unit = (seed >> 11) as f64 / (1u64 << 53) as f64;
            let variable = VARIABLES.contains(&pool.name(*s));
            values.insert(*s, if variable { 6.0 * unit - 3.0 } else { 0.2 + 2.0 * unit });
        }
        let at = |s: Symbol| values.get(&s).copied();
        let Ok(solution) = pool.eval(*value, &at) else {
            continue;
        };
        // An underflow is no solution.
        if solution.abs() < 1e-200 {
            continue;
        }
        values.insert(x, solution);
        let at = |s: Symbol| values.get(&s).copied();
        let holds = conditions.iter().all(|c| match c {
            Condition::NonZero(e) => pool.eval(*e, &at).is_ok_and(|v| v.abs() > 1e-6),
            Condition::Range { expr, interval } | Condition::Branch { expr, interval } => {
                pool.eval(*expr, &at).is_ok_and(|v| interval.contains(v))
            }
        });
        if !holds {
            continue;
        }
        // Rounding may push an extreme solution out of the law's domain, but not an ordinary one.
        let Ok(rest) = pool.eval(law, &at) else {
            undefined += 1;
            continue;
        };
        // Rounding of the solution moves the residual by the slope of the law, which may be steep.
        let moved = [-1e-12, 1e-12].map(|change| {
            let near =
                |s: Symbol| if s == x { Some(solution + change * (1.0 + solution.abs())) } else { at(s) };
            pool.eval(law, &near).map_or(f64::INFINITY, |near| (near - rest).abs())
        });
        let tolerance = 1e-9 + 10.0 * (moved[0] + moved[1]);
        assert!(rest.abs() < tolerance, "{} at {solution}: residual {rest}", pool.display(law));
        checked += 1;
    }
    assert!(undefined <= 2 + checked / 5, "{} is undefined at {}", pool.display(law), pool.display(*value));
}

/// Starts from points of the law and finds the same unknown again: a global solution has no other branch.
fn check_uniqueness(pool: &mut Pool, law: Expr, x: Symbol, value: Expr) {
    let e = pool.symbol(if pool.name(x) == "e" { "f" } else { "e" });
    let names = assume(pool);
    let Ok(written) = pool.solve_for(law, e, &names) else {
        return;
    };
    let slope = pool.diff(law, x);
    for i in 0..60 {
        let inside = f64::from(i) * 0.11 - 3.0;
        let parameters = |s: Symbol| 0.531 + 0.3717 * ((s.index() * 7 + i as usize) % 5) as f64;
        let at = |s: Symbol| Some(if s == x { inside } else { parameters(s) });
        let Ok(y) = pool.eval(written.value, &at) else {
            continue;
        };
        let at = |s: Symbol| {
            Some(if s == x {
                inside
            } else if s == e {
                y
            } else {
                parameters(s)
            })
        };
        let steep = pool.eval(slope, &at).is_ok_and(|s| (1e-3..1e6).contains(&s.abs()));
        if !steep || y.abs() > 1e6 {
            continue;
        }
        let found = pool.eval(value, &at);
        let near = found.is_ok_and(|v| (v - inside).abs() < 1e-4 * (1.0 + inside.abs()));
        assert!(near, "{} = 0 at {inside}, but {} is {found:?}", pool.display(law), pool.display(value));
    }
}

#[test]
fn laws_people_write() {
    let cases = [
        ("e = R*f", "f", "e/R"),
        ("e = R*f", "e", "R*f"),
        ("e = R*f + E0", "f", "(e - E0)/R"),
        ("e - beta*f^alpha = 0", "f", "(e/beta)^(1/alpha) where e in [0.0000, inf)"),
        ("e - beta*f^alpha", "f", "(e/beta)^(1/alpha) where e in [0.0000, inf)"),
        ("e = k*f*abs(f)", "f", "sign(e)*sqrt(abs(e)/k)"),
        ("f = A*sqrt(2*abs(e)/rho)*sign(e)", "e", "f*rho*abs(f)/(2*A^2)"),
        ("e = beta*sign(f)*abs(f)^alpha", "f", "sign(e)*(abs(e)/beta)^(1/alpha)"),
        ("e = tanh(f/F0)", "f", "F0*atanh(e) where e in (-1.0000, 1.0000)"),
        ("e = Rho*g*(12/pi*q)^(1/3)", "q", "pi*e^3/(12*Rho^3*g^3) where e in [0.0000, inf)"),
        ("f = Is*(exp(e/VT)-1)", "e", "VT*ln(f/Is + 1) where f/Is + 1 in (0.0000, inf)"),
        ("e = k*q + k3*q^3", "q", "stuck, monotone: q stands in several places that cannot be collected"),
        ("e = f^2", "f", "sqrt(e) where e in [0.0000, inf), branch f in [0.0000, inf) (local)"),
        ("e = sin(f)", "f", "asin(e) where branch f in [-1.5708, 1.5708], e in [-1.0000, 1.0000] (local)"),
        ("e = f^3", "f", "abs(e)^(1/3)*sign(e)"),
        ("e = R*f + k*f", "f", "e/(R + k)"),
        ("e = R*f - k*f", "f", "e/(R - k) where k - R != 0 (local)"),
        ("e = x*f", "f", "e/x where x != 0 (local)"),
        ("f = Vm*e/(Km + e)", "e", "Km*f/(Vm - f) where Vm - f != 0 (local)"),
        ("e = k*f*abs(f) + R*f", "f", "2*e/(R + sqrt(R^2 + 4*k*abs(e)))"),
        (
            "2*(c*area)^2*e - rho*f*(abs(f) + Qt) = 0",
            "f",
            "4*area^2*c^2*e/(Qt*rho + sqrt(8*area^2*c^2*rho*abs(e) + Qt^2*rho^2))",
        ),
        ("e = k*(f - V0)*abs(f - V0)", "f", "sign(e)*sqrt(abs(e)/k) + V0"),
        ("e = 1/f", "f", "1/e where e != 0 (local)"),
        ("e = asinh(f/F0)*R", "f", "F0*sinh(e/R)"),
        ("e = if(f > 0, R*f, k*f)", "f", "if(e > 0, e/R, e/k)"),
        ("f = if(e > V0, (e - V0)/Ron, 0)", "e", "stuck: one of the two laws is the same for every e"),
        ("f = if(e > V0, (e - V0)/Ron, Goff*(e - V0))", "e", "if(f > 0, Ron*f + V0, V0 + f/Goff)"),
        ("e = if(t > 1, R*f, k*f)", "f", "if(t > 1, e/R, e/k)"),
        ("e = T1*exp(q/C1)", "q", "C1*ln(e/T1) where e in (0.0000, inf)"),
        ("e = tan(f)", "f", "atan(e) where branch f in (-1.5708, 1.5708) (local)"),
        ("e = f*sqrt(abs(f))", "f", "abs(e)^(2/3)*sign(e)"),
        ("e = R*f*exp(f)", "f", "stuck: f stands in several places that cannot be collected"),
        ("e = 0*f", "f", "stuck: the law does not contain f"),
        (
            "e = max(R*f, k*f)",
            "f",
            "stuck, monotone: the choice between laws does not depend on f in a simple way",
        ),
        ("e = sign(f)", "f", "stuck: sign takes the same value for different values of f"),
        ("e = abs(f)*R", "f", "e/R where e in [0.0000, inf), branch f in [0.0000, inf) (local)"),
        ("e = R^f", "f", "ln(e)/ln(R) where e in (0.0000, inf), ln(R) != 0 (local)"),
        ("e = ln(f/F0)", "f", "F0*exp(e)"),
        ("e = Fc*sign(f) + R*f", "f", "stuck: the law jumps at f = 0"),
        (
            "e = Fc*tanh(f/V0) + R*f",
            "f",
            "stuck, monotone: f stands in several places that cannot be collected",
        ),
        (
            "e = R*f/(1 + abs(f)/F0)",
            "f",
            "e/(R - abs(e)/F0) where R - abs(e)/F0 != 0, abs(e)/(R - abs(e)/F0) in [0.0000, inf) (local)",
        ),
        ("e = sign(f)/abs(f)", "f", "sign(e)/abs(e) where abs(e) != 0 (local)"),
        ("e = R^2*(f - k)^3", "f", "sign(e)*(abs(e)/R^2)^(1/3) + k"),
        ("e*f - R", "f", "R/e where e != 0 (local)"),
        ("exp(e) - exp(-e) - f", "e", "stuck, monotone: e stands in several places that cannot be collected"),
        ("e = R*f^3", "R", "e/f^3 where f != 0 (local)"),
        ("0 = Rho*g*x - e", "x", "e/(Rho*g)"),
        ("e = V0*ln(f/Is + 1)", "f", "Is*(exp(e/V0) - 1)"),
        (
            "f = if(e > 0, e/R1, if(e < -V0, (e + V0)/R1 - V0/R2, e/R2))",
            "e",
            "if(f > 0, R1*f, if(f < -V0/R2, R1*(f + V0/R2) - V0, R2*f))",
        ),
        ("e = R*f^3 + x", "f", "sign(e - x)*(abs(e - x)/R)^(1/3)"),
    ];
    let mut failures = String::new();
    for (law, unknown, expected) in cases {
        let found = solve(law, unknown);
        if found != expected {
            failures += &format!("{law} for {unknown}:\n   found    {found}\n   expected {expected}\n");
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Steps from which laws are nested; `#` is what is inside. The first ones can always be undone.
const STEPS: [&str; 26] = [
    "# + A",
    "B*(#)",
    "-(#)",
    "(#)^3",
    "A - (#)/B",
    "sinh(#)",
    "asinh(#)",
    "tanh(#)",
    "exp(#)",
    "(#)*abs(#)",
    "sign(#)*abs(#)^A",
    "sign(#)*sqrt(abs(#))",
    "atan(#)",
    "if((#) > 0, A*(#), B*(#))",
    "A*(#)*abs(#) + B*(#)",
    "ln(#)",
    "sqrt(#)",
    "(#)^A",
    "1/(#)",
    "(#)^2",
    "sin(#)",
    "cosh(#)",
    "abs(#)",
    "(#) + (#)^2",
    "max(#, A*(#))",
    "(#)/(A + (#))",
];
const ALWAYS: usize = 13;

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn random_laws_are_satisfied_by_their_solutions(steps in prop::collection::vec(0..STEPS.len(), 1..5)) {
        let law = steps.iter().fold("f".to_owned(), |inner, step| STEPS[*step].replace('#', &inner));
        let line = solve(&format!("e = {law}"), "f");
        if steps.iter().all(|s| *s < ALWAYS) {
            prop_assert!(!line.starts_with("stuck"), "e = {law}: {line}");
            prop_assert!(!line.ends_with("(local)"), "e = {law}: {line}");
        }
    }
}

#[test]
fn conditions_are_decided_by_what_is_known() {
    let mut pool = Pool::new();
    let e = residual(&mut pool, "e = f^2 + x*f");
    let [f, x, y] = ["f", "x", "y"].map(|n| pool.symbol(n));
    let positive = |s: Symbol| if s == f || s == x { Interval::POSITIVE } else { Interval::ALL };
    let solution = pool.solve_for(e, f, &positive).unwrap();
    assert!(solution.is_global());
    assert_eq!(pool.display(solution.value).to_string(), "2*e/(x + sqrt(x^2 + 4*e))");
    let product = parse(&mut pool, "y*f - e");
    let solution = pool.solve_for(product, f, &|_| Interval::ALL).unwrap();
    let vy = pool.var(y);
    assert_eq!(solution.conditions, [Condition::NonZero(vy)]);
    assert!(
        pool.solve_for(product, f, &|s| if s == y { Interval::point(0.0) } else { Interval::ALL }).is_err()
    );
    let root = parse(&mut pool, "sqrt(f) - e");
    let solution = pool.solve_for(root, f, &|_| Interval::POSITIVE).unwrap();
    assert!(solution.conditions.is_empty());
    assert!(pool.solve_for(root, f, &|s| if s == f { Interval::ALL } else { Interval::NEGATIVE }).is_err());
}
