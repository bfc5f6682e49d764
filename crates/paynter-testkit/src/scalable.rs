//! Models of any size, as text: what benchmarks grow and tests shrink. Every
//! element has a parameter of its own, so that nothing cancels or is shared.

use std::fmt::Write as _;

/// A chain of masses, each joined to the next by a spring and a damper side by
/// side, the last to a wall. A force `F` pushes the first; `x` is the stretch of the last spring.
pub fn chain(masses: usize) -> String {
    let mut text = String::from("model chain {\n    input F = 1\n    Se push = F\n    Sf wall = 0\n");
    for i in 1..=masses {
        let (m, k, b) = (1.0 + (i % 7) as f64 / 10.0, 100 + i % 11, 0.5 + (i % 5) as f64 / 10.0);
        let _ = write!(
            text,
            "    param m{i} = {m:?}; param k{i} = {k}; param b{i} = {b:?}\n    \
             1 v{i}; I mass{i} = m{i}; 0 f{i}; 1 d{i}; C spring{i} = 1/k{i}; R damper{i} = b{i}\n    \
             v{i} -> mass{i}, f{i}; f{i} -> d{i}; d{i} -> spring{i}, damper{i}\n"
        );
    }
    text.push_str("    push -> v1\n");
    for i in 1..masses {
        let _ = writeln!(text, "    f{i} -> v{}", i + 1);
    }
    let _ = write!(text, "    f{masses} -> wall\n    output x = spring{masses}.q\n}}\n");
    text
}

/// A ladder of resistors in series and capacitors to ground, driven by a
/// voltage `E`; `y` is the voltage of the last capacitor.
pub fn ladder(sections: usize) -> String {
    let mut text = String::from("model ladder {\n    input E = 1\n    Se supply = E\n    supply -> a1\n");
    for i in 1..=sections {
        let _ = write!(
            text,
            "    param r{i} = {}; param c{i} = {:?}\n    \
             1 a{i}; R resistor{i} = r{i}; 0 n{i}; C capacitor{i} = c{i}\n    \
             a{i} -> resistor{i}, n{i}; n{i} -> capacitor{i}\n",
            1 + i % 5,
            0.1 + (i % 3) as f64 / 10.0
        );
        if i < sections {
            let _ = writeln!(text, "    n{i} -> a{}", i + 1);
        }
    }
    let _ = write!(text, "    output y = capacitor{sections}.e\n}}\n");
    text
}

/// A duct of fluid inertias in series with a mass and a spring in each branch, driven by a pressure `u`: all
/// inertias of the duct but one depend on the masses. `y` is the flow through the load at its end.
pub fn inertia_ladder(sections: usize) -> String {
    let mut text = String::from(
        "model duct {\n    input u = 1\n    param r = 1\n    Se pump = u\n    R load = r\n    pump -> a1\n",
    );
    for (i, [l, m, k]) in inertia_ladder_values(sections).into_iter().enumerate().map(|(i, v)| (i + 1, v)) {
        let _ = write!(
            text,
            "    param l{i} = {l:?}; param m{i} = {m:?}; param k{i} = {k:?}\n    \
             1 a{i}; I fluid{i} = l{i}; 0 n{i}; 1 b{i}; I mass{i} = m{i}; C spring{i} = 1/k{i}\n    \
             a{i} -> fluid{i}, n{i}; n{i} -> b{i}; b{i} -> mass{i}, spring{i}\n"
        );
        if i < sections {
            let _ = writeln!(text, "    n{i} -> a{}", i + 1);
        }
    }
    let _ = write!(text, "    n{sections} -> load\n    output y = load.f\n}}\n");
    text
}

/// Fluid inertia, mass and stiffness of each section of an [`inertia_ladder`].
pub fn inertia_ladder_values(sections: usize) -> Vec<[f64; 3]> {
    let values = |i: usize| [1.0 + (i % 3) as f64 / 4.0, 2.0 + (i % 4) as f64 / 8.0, 3.0 + (i % 5) as f64];
    (1..=sections).map(values).collect()
}

/// A square grid of masses with drag on each and a spring and a damper between
/// neighbours. A force `F` pushes one corner; `v` is the speed of the opposite one.
pub fn grid(side: usize) -> String {
    let mut text = String::from("model grid {\n    input F = 1\n    Se push = F\n    push -> v0_0\n");
    for i in 0..side {
        for j in 0..side {
            let _ = write!(
                text,
                "    param m{i}_{j} = {:?}; param g{i}_{j} = 0.3\n    \
                 1 v{i}_{j}; I mass{i}_{j} = m{i}_{j}; R drag{i}_{j} = g{i}_{j}\n    \
                 v{i}_{j} -> mass{i}_{j}, drag{i}_{j}\n",
                1.0 + ((i + j) % 7) as f64 / 10.0
            );
        }
    }
    let mut link = |name: String, from: (usize, usize), to: (usize, usize)| {
        let _ = write!(
            text,
            "    param k{name} = {}; param b{name} = 0.5\n    \
             0 f{name}; 1 d{name}; C spring{name} = 1/k{name}; R damper{name} = b{name}\n    \
             v{}_{} -> f{name}; f{name} -> v{}_{}; f{name} -> d{name}; d{name} -> spring{name}, damper{name}\n",
            100 + (from.0 + 3 * from.1) % 11,
            from.0,
            from.1,
            to.0,
            to.1
        );
    };
    for i in 0..side {
        for j in 0..side {
            if i + 1 < side {
                link(format!("s{i}_{j}"), (i, j), (i + 1, j));
            }
            if j + 1 < side {
                link(format!("e{i}_{j}"), (i, j), (i, j + 1));
            }
        }
    }
    let last = side - 1;
    let _ = write!(text, "    output v = mass{last}_{last}.f\n}}\n");
    text
}
