//! What the printers write, side by side for every target.

use crate::common;

use common::parse;
use paynter_algebra::{Pool, Target, latex_name};

const TARGETS: [(&str, Target); 7] = [
    ("text", Target::Text),
    ("latex", Target::Latex),
    ("mathml", Target::MathMl),
    ("python", Target::Python),
    ("matlab", Target::Matlab),
    ("c", Target::C),
    ("julia", Target::Julia),
];

#[test]
fn every_target() {
    let formulas = [
        "-Rm/Jm",
        "12/5",
        "2.4*x",
        "(kT^2 + Ra*Rm)/(Jm*La)",
        "x^2 - 2*x + 1",
        "1/(1 - x)",
        "sqrt(x)/sqrt(y)",
        "rho_g*(12/pi*q)^(1/3)",
        "x^(-3/2)",
        "x^3*y^5",
        "beta*sign(f)*abs(f)^alpha",
        "A*sqrt(2*abs(e)/rho)*sign(e)",
        "Is*(exp(e/VT) - 1)",
        "sin(x)^2 + cos(2*x)",
        "abs(x)^3",
        "if(x > 0 and not (y < 1 or z == 2), x, -x)*k",
        "atan2(y, x) + min(x, y) - max(x, 1)",
        "asinh(x)*log10(y)*ln(z)",
        "2*3^(1/3)*x",
        "(a - b)^2/(a + b)",
        "-(a + b)/c",
        "(x/y)^n",
        "x^(n + 1)",
        "2^x",
        "-x^2",
        "1/(x*y^2)",
        "omega_m*motor.rotor.p + c_3.m - theta1",
        "100000000000000000000*x/7",
        "x != y",
    ];
    let mut out = String::new();
    for formula in formulas {
        let mut pool = Pool::new();
        let e = parse(&mut pool, formula);
        out += &format!("{formula}\n");
        for (name, target) in TARGETS {
            out += &format!("  {name:7}{}\n", pool.print(e, target));
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn names_are_typeset() {
    let cases = [
        ("omega_m", "\\omega_{m}"),
        ("α", "\\alpha"),
        ("ω_m", "\\omega_{m}"),
        ("rotor.p", "p_{\\mathrm{rotor}}"),
        ("c_3.m", "m_{c,3}"),
        ("x10", "x_{10}"),
        ("Rm", "R_{m}"),
        ("kT", "k_{T}"),
        ("Ron", "R_{\\mathrm{on}}"),
        ("area", "\\mathrm{area}"),
        ("Pi", "\\Pi"),
        ("Δp", "\\Delta p"),
        ("p_1_2", "p_{1,2}"),
        ("x", "x"),
        ("_", "\\_"),
        ("u_", "\\mathrm{u\\_}"),
        ("der(rotor.p)", "\\dot{p}_{\\mathrm{rotor}}"),
        ("der(der(u))", "\\ddot{u}"),
        ("init(tank.q)", "q_{\\mathrm{tank},0}"),
    ];
    for (name, expected) in cases {
        assert_eq!(latex_name(name), expected, "{name}");
    }
}

#[test]
fn callers_may_spell_symbols() {
    let mut pool = Pool::new();
    let e = parse(&mut pool, "motor.rotor*lambda");
    let python =
        |s| if pool.name(s) == "lambda" { "lambda_".to_owned() } else { pool.name(s).replace('.', "_") };
    assert_eq!(pool.print_with(e, Target::Python, &python).to_string(), "lambda_*motor_rotor");
}
