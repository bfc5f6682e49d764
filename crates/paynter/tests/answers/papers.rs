//! The matrices and polynomials of the papers (misprints mended) and of the
//! public cases, against what the built-in examples give. Rational functions
//! are compared exactly, modulo a prime at random points; laws with other
//! functions at random points in floating point.
#![allow(clippy::panic, clippy::unwrap_used)]

use crate::common;

use common::{example, sound};
use paynter::json::Matrix;
use paynter::{CancellationToken, Plain, TERMS, json};
use std::collections::BTreeMap;

/// What expressions are evaluated in.
trait Number: Copy {
    fn read(text: &str) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn pow(self, other: Self) -> Self;
    fn call(name: &str, arguments: &[Self]) -> Self;
}

/// A number modulo 2⁶¹ − 1; exponents are small whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Modular(u64);

const PRIME: u64 = (1 << 61) - 1;

impl Modular {
    fn product(a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
    }

    fn power(self, mut exponent: u64) -> Modular {
        let (mut base, mut result) = (self.0, 1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = Modular::product(result, base);
            }
            base = Modular::product(base, base);
            exponent >>= 1;
        }
        Modular(result)
    }
}

impl Number for Modular {
    fn read(text: &str) -> Modular {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits: u64 = format!("{whole}{part}").parse().unwrap();
        Modular(digits % PRIME).div(Modular(10).power(part.len() as u64))
    }
    fn add(self, other: Modular) -> Modular {
        Modular((self.0 + other.0) % PRIME)
    }
    fn sub(self, other: Modular) -> Modular {
        Modular((self.0 + PRIME - other.0) % PRIME)
    }
    fn mul(self, other: Modular) -> Modular {
        Modular(Modular::product(self.0, other.0))
    }
    fn div(self, other: Modular) -> Modular {
        assert!(other.0 != 0, "a random point hit a pole");
        self.mul(other.power(PRIME - 2))
    }
    fn pow(self, other: Modular) -> Modular {
        assert!(other.0 < 1000, "only whole powers");
        self.power(other.0)
    }
    fn call(name: &str, _: &[Modular]) -> Modular {
        panic!("{name} is no rational function")
    }
}

impl Number for f64 {
    fn read(text: &str) -> f64 {
        text.parse().unwrap()
    }
    fn add(self, other: f64) -> f64 {
        self + other
    }
    fn sub(self, other: f64) -> f64 {
        self - other
    }
    fn mul(self, other: f64) -> f64 {
        self * other
    }
    fn div(self, other: f64) -> f64 {
        self / other
    }
    fn pow(self, other: f64) -> f64 {
        self.powf(other)
    }
    fn call(name: &str, arguments: &[f64]) -> f64 {
        let x = arguments[0];
        match name {
            "sin" => x.sin(),
            "cos" => x.cos(),
            "exp" => x.exp(),
            "sqrt" => x.sqrt(),
            "abs" => x.abs(),
            "sign" => x.signum(),
            _ => panic!("no function {name}"),
        }
    }
}

/// Reads an infix expression and evaluates it on the way.
struct Reader<'a, N> {
    rest: &'a str,
    value: &'a dyn Fn(&str) -> N,
}

impl<N: Number> Reader<'_, N> {
    fn take(&mut self, sign: char) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.starts_with(sign);
        if found {
            self.rest = &self.rest[sign.len_utf8()..];
        }
        found
    }

    fn word(&mut self, belongs: fn(char) -> bool) -> String {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn sum(&mut self) -> N {
        let mut total = if self.take('-') { N::read("0").sub(self.term()) } else { self.term() };
        loop {
            if self.take('+') {
                total = total.add(self.term());
            } else if self.take('-') {
                total = total.sub(self.term());
            } else {
                return total;
            }
        }
    }

    fn term(&mut self) -> N {
        let mut total = self.power();
        loop {
            if self.take('*') {
                total = total.mul(self.power());
            } else if self.take('/') {
                total = total.div(self.power());
            } else {
                return total;
            }
        }
    }

    fn power(&mut self) -> N {
        let base = self.atom();
        if self.take('^') { base.pow(self.power()) } else { base }
    }

    fn atom(&mut self) -> N {
        if self.take('(') {
            let inner = self.sum();
            assert!(self.take(')'), "missing `)` before `{}`", self.rest);
            return inner;
        }
        if self.take('-') {
            return N::read("0").sub(self.power());
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return N::read(&self.word(|c| c.is_ascii_digit() || c == '.'));
        }
        let name = self.word(|c| c.is_alphanumeric() || c == '_' || c == '.');
        if self.take('(') {
            let mut arguments = vec![self.sum()];
            while self.take(',') {
                arguments.push(self.sum());
            }
            assert!(self.take(')'));
            return N::call(&name, &arguments);
        }
        (self.value)(&name)
    }
}

fn evaluate<N: Number>(text: &str, value: &dyn Fn(&str) -> N) -> N {
    let mut reader = Reader { rest: text, value };
    let result = reader.sum();
    assert!(reader.rest.trim().is_empty(), "`{}` is left of `{text}`", reader.rest);
    result
}

/// A number made of a name and a seed.
fn scramble(name: &str, seed: u64) -> u64 {
    name.bytes().fold(seed ^ 0x9e37_79b9_7f4a_7c15, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(31)
    })
}

/// Whether two rational functions are the same.
fn same(found: &str, expected: &str) -> bool {
    (0..3).all(|seed| {
        let value = |name: &str| Modular(scramble(name, seed) % PRIME);
        evaluate(found, &value) == evaluate(expected, &value)
    })
}

fn equations(name: &str) -> json::Equations {
    sound(example(name)).equations(&CancellationToken::new()).unwrap().document(&Plain)
}

fn transfer(name: &str) -> json::Transfer {
    sound(example(name)).transfer(TERMS, &CancellationToken::new()).unwrap().document(&Plain)
}

fn dense(matrix: &Option<Matrix>) -> &[Vec<String>] {
    match matrix {
        Some(Matrix::Dense(rows)) => rows,
        _ => panic!("no matrix"),
    }
}

/// Compares A, B, C, D of an example with matrices written row by row, `;` between rows.
#[track_caller]
fn check_matrices(name: &str, states: &[&str], expected: [&str; 4]) {
    let found = equations(name);
    assert_eq!(found.states, states, "{name}");
    for (letter, matrix, expected) in [
        ("A", &found.a, expected[0]),
        ("B", &found.b, expected[1]),
        ("C", &found.c, expected[2]),
        ("D", &found.d, expected[3]),
    ] {
        let rows: Vec<Vec<&str>> =
            expected.split(';').map(|row| row.split(',').map(str::trim).collect()).collect();
        let matrix = dense(matrix);
        assert_eq!(matrix.len(), rows.len(), "{name}: rows of {letter}");
        for (i, (row, expected)) in matrix.iter().zip(&rows).enumerate() {
            assert_eq!(row.len(), expected.len(), "{name}: columns of {letter}");
            for (j, (entry, expected)) in row.iter().zip(expected).enumerate() {
                assert!(same(entry, expected), "{name}: {letter}[{i}][{j}] is {entry}, not {expected}");
            }
        }
    }
}

/// Compares transfer functions, each named as `output/input`.
#[track_caller]
fn check_transfer(name: &str, expected: &[(&str, &str)]) {
    let found = transfer(name);
    let entries: BTreeMap<String, String> = found
        .entries
        .iter()
        .map(|e| (format!("{}/{}", e.output, e.input), format!("({})/({})", e.num, e.den)))
        .collect();
    for (which, expected) in expected {
        let entry = entries.get(*which).unwrap_or_else(|| panic!("{name}: no {which}"));
        assert!(same(entry, expected), "{name}: {which} is {entry}, not {expected}");
    }
}

/// Compares the characteristic polynomial with a monic or scaled one.
#[track_caller]
fn check_characteristic(name: &str, leading: &str, expected: &str) {
    let found = transfer(name).denominator.unwrap();
    assert!(same(&format!("({found})/({leading})"), expected), "{name}: {found} is not {expected}");
}

/// Compares rates and outputs of an example at random points near the given ones.
#[track_caller]
fn check_laws(name: &str, near: &[(&str, f64)], expected: &[(&str, &str)]) {
    let found = equations(name);
    let rates = found.states.iter().map(|state| format!("{state}'")).zip(&found.f);
    let laws: BTreeMap<String, &String> = rates.chain(found.outputs.iter().cloned().zip(&found.g)).collect();
    for seed in 0..20 {
        let value = |which: &str| {
            let base = near.iter().find(|(n, _)| *n == which).map(|(_, v)| *v);
            let base = base.or_else(|| found.parameters.get(which).copied());
            let base = base.unwrap_or_else(|| if which == "pi" { std::f64::consts::PI } else { f64::NAN });
            if which == "pi" {
                base
            } else {
                base * (0.8 + 0.4 * (scramble(which, seed) % 1000) as f64 / 1e3)
            }
        };
        for (which, expected) in expected {
            let (a, b) = (evaluate::<f64>(laws[*which], &value), evaluate::<f64>(expected, &value));
            assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()), "{name}: {which} is {a}, not {b}");
        }
    }
}

#[test]
fn borutzky_and_granda_motor() {
    // (14), (15), with our order of the states; the paper's list pm before pe.
    check_matrices(
        "dc_motor",
        &["coil.p", "rotor.p"],
        [
            "-Ra/La, -kT/Jm; kT/La, -Rm/Jm", //
            "1, 0; 0, 1",
            "1/La, 0; 0, 1/Jm",
            "0, 0; 0, 0",
        ],
    );
    // (19)
    check_characteristic("dc_motor", "Jm*La", "s^2 + (Ra/La + Rm/Jm)*s + (kT^2 + Ra*Rm)/(Jm*La)");
    check_transfer(
        "dc_motor",
        &[
            ("ia/E", "(s + Rm/Jm)/La/(s^2 + (Ra/La + Rm/Jm)*s + (kT^2 + Ra*Rm)/(Jm*La))"),
            ("w/Mload", "(La*s + Ra)/((Jm*s + Rm)*(La*s + Ra) + kT^2)"),
        ],
    );
}

#[test]
fn borutzky_and_granda_coils_as_printed() {
    // (35), (36)
    let expected = ["0, 0; -R/M12, -R/L2", "1; 0", "1/L1, 1/M12", "0"];
    check_matrices("two_coils_printed", &["coils.p1", "coils.p2"], expected);
    // (38)
    check_characteristic("two_coils_printed", "L2", "s^2 + R/L2*s");
}

#[test]
fn borutzky_and_granda_coils_as_they_should_read() {
    let expected =
        ["0, 0; R*M/(L1*L2 - M^2), -R*L1/(L1*L2 - M^2)", "1; 0", "L2/(L1*L2 - M^2), -M/(L1*L2 - M^2)", "0"];
    check_matrices("two_coils", &["coils.p1", "coils.p2"], expected);
    check_characteristic("two_coils", "L1*L2 - M^2", "s^2 + R*L1/(L1*L2 - M^2)*s");
    check_transfer("two_coils", &[("i1/E", "(L2*s + R)/(s*((L1*L2 - M^2)*s + L1*R))")]);
}

#[test]
fn borutzky_and_granda_nonlinear_elements() {
    // (24): Q = cd A sqrt(2|Δp|/ρ) sgn(Δp), with the flow-dependent coefficient of the discharge.
    check_laws(
        "orifice",
        &[("ps", 1e7), ("x", 2e-4), ("accumulator.q", 1e-4)],
        &[("Q", "cd0*w*x*sqrt(2*(ps - accumulator.q/Ca)/rho)")].map(|(which, law)| {
            // cd solves cd = c sqrt(Q/(Q + Qt)) with Q itself: eliminate it by the quadratic formula.
            let q = "(0-Re*nu*w/2 + sqrt((Re*nu*w/2)^2 + 8*(c*w*x)^2*(ps - accumulator.q/Ca)/rho))/2";
            let cd = format!("(c*sqrt(({q})/(({q}) + Re*nu*w/2)))");
            (which, &*law.replace("cd0", &cd).leak())
        }),
    );
    // (27): the movable-plate capacitor, e = q x/(ε A), F = q²/(2 ε A).
    check_laws(
        "plate_capacitor",
        &[("V", 2.0), ("plates.q1", 1e-12), ("plates.q2", 2e-6), ("plate.p", 1e-12), ("suspension.q", 1e-7)],
        &[
            ("plates.q1'", "(V - plates.q1*plates.q2/(eps*A))/Rs"),
            ("plate.p'", "-(plates.q1^2)/(2*eps*A) - b*plate.p/m - k*suspension.q"),
        ],
    );
}

#[test]
fn gawthrop_tanks() {
    // (22), (23) and the pipe law e = β f^α.
    let h1 = "rho_g*(12/pi*tank1.q)^(1/3)";
    let h2 = "rho_g*(12/pi*tank2.q)^(1/3)";
    let forward = format!("(({h1} - {h2})/beta)^(1/alpha)");
    let out = format!("({h2}/beta)^(1/alpha)");
    check_laws(
        "conical_tanks",
        &[("u", 1.0), ("tank1.q", 2.0), ("tank2.q", 0.5)],
        &[("tank1.q'", &format!("u - {forward}")), ("tank2.q'", &format!("{forward} - {out}")), ("y", h2)],
    );
}

#[test]
fn el_feki_motor() {
    // The nominal part of 4.1 and 4.2.
    let expected = ["-R/L, -k/J; k/L, -b/J", "1; 0", "0, 1/J", "0"];
    check_matrices("uncertain_motor", &["windings.p", "rotor.p"], expected);
}

#[test]
fn eborn_circuit_and_fields() {
    let expected = ["-R1/L, -1/C; 1/L, -1/(C*R2)", "1; 0", "1/L, 0; 0, 1/C", "0; 0"];
    check_matrices("rlc_circuit", &["coil.p", "capacitor.q"], expected);
    // Two tanks joined without a resistance have one state: the second's volume is the first's, scaled.
    check_matrices("two_tanks", &["tank1.q"], ["0", "A1/(A1 + A2)", "1/A1; 0", "0; A2/(A1 + A2)"]);
    // Entropy flows of two bodies in contact; their sum is never negative.
    check_laws(
        "heat_transfer",
        &[("hot.q", 10.0), ("cold.q", -20.0)],
        &[
            ("hot.q'", "-k*(1 - T2*exp(cold.q/C2)/(T1*exp(hot.q/C1)))"),
            ("cold.q'", "k*(T1*exp(hot.q/C1)/(T2*exp(cold.q/C2)) - 1)"),
        ],
    );
    let gas = "(V0/(V0 - gas.q1))^gamma*exp(gas.q2*T0*(gamma - 1)/(p0*V0))";
    check_laws(
        "gas_container",
        &[("compression", 1e-3), ("gas.q1", 5e-4), ("gas.q2", 0.1)],
        &[
            ("p", &format!("p0*{gas}")),
            ("T", &format!("T0*{gas}*(V0 - gas.q1)/V0")),
            ("gas.q2'", &format!("-h*(1 - 1/({gas}*(V0 - gas.q1)/V0))")),
        ],
    );
    check_laws(
        "vacuum_cleaner",
        &[("U", 14.4), ("rotor.p", 1e-2), ("air.p", 30.0)],
        &[
            ("rotor.p'", "k*(U - k*rotor.p/J)/Ra - b*rotor.p/J - g*air.p/Ia"),
            ("air.p'", "g*rotor.p/J - K*(air.p/Ia)^2"),
        ],
    );
    check_laws(
        "bicycle_pump",
        &[("F", 100.0), ("piston.p", 0.1), ("air.q1", 5e-5), ("air.q2", 0.01)],
        &[(
            "piston.p'",
            "F - b*piston.p/mp - A*p0*((V0/(V0 - air.q1))^gamma*exp(air.q2*T0*(gamma - 1)/(p0*V0)) - 1)",
        )],
    );
}

/// (J0 + m r²) θ'' + 2 m r r' θ' = τ and m r'' − m r θ'² = F, the second
/// derivative by a difference along the trajectory.
#[test]
fn eborn_robot_arm() {
    let found = equations("robot_arm");
    let order = ["hub.p", "mass_y.p", "theta", "r"];
    assert_eq!(found.states, order);
    let point = [0.9, 1.3, 0.7, 0.6];
    let (tau, force) = (0.8, -0.4);
    let (inertia, mass) = (found.parameters["J0"], found.parameters["m"]);
    let rates = |x: &[f64; 4]| -> [f64; 4] {
        let value = |name: &str| match order.iter().position(|state| *state == name) {
            Some(i) => x[i],
            None if name == "tau" => tau,
            None if name == "F" => force,
            None => found.parameters[name],
        };
        [0, 1, 2, 3].map(|i| evaluate::<f64>(&found.f[i], &value))
    };
    let now = rates(&point);
    let step = 1e-6;
    let at = |h: f64| rates(&[0, 1, 2, 3].map(|i| point[i] + h * now[i]));
    let r_second = (at(step)[3] - at(-step)[3]) / (2.0 * step);
    let (turn, turn_rate, r, r_rate) = (now[2], now[0] / inertia, point[3], now[3]);
    let torque = (inertia + mass * r * r) * turn_rate + 2.0 * mass * r * r_rate * turn;
    assert!((torque - tau).abs() < 1e-9, "{torque}");
    let push = mass * r_second - mass * r * turn * turn;
    assert!((push - force).abs() < 1e-6, "{push}");
}

#[test]
fn public_cases() {
    check_matrices("rc", &["capacitor.q"], ["-1/(c*r)", "1/r", "1/c", "0"]);
    check_transfer("rc", &[("y/u", "1/(c*r*s + 1)")]);
    check_transfer("rc2", &[("y/u", "1/(c1*c2*r1*r2*s^2 + (c1*r1 + c2*r1 + c2*r2)*s + 1)")]);
    check_matrices("arc", &["capacitor.q"], ["-1/(c*(r1 + r2))", "1/(r1 + r2)", "1/c", "0"]);
    let expected = ["-1/(c*r), 0; 1/(c*r^2), -1/(c*r)", "1/r; -1/r^2", "1/c, 0; 0, 1/c", "0; 0"];
    check_matrices("src", &["capacitor.q", "capacitor_r.q"], expected);
    check_transfer("src", &[("y_r/u", "-c*s/(c*r*s + 1)^2")]);
    check_characteristic("parallel_rlc", "C*L*R", "s^2 + s/(R*C) + 1/(L*C)");
    check_transfer("se_on_c", &[("charge/u", "C")]);
    let square = "(s + sigma1)*(s + sigma2)";
    check_characteristic("parallel_tanks", "1", square);
    check_transfer("parallel_tanks", &[("y/u", "sigma1/(s + sigma1) + sigma2/(s + sigma2)")]);
    check_transfer("ctms_motor", &[("w/V", "K/((L*s + R)*(J*s + b) + K^2)")]);
    // The two carts of the benchmark, P = k/(s²(m1 m2 s² + k (m1 + m2))).
    check_transfer("two_carts", &[("y/u", "k/(s^2*(m1*m2*s^2 + k*(m1 + m2)))")]);
}
