//! diffsol with forward sensitivities in its error test: its multistep and
//! Runge–Kutta methods on dense and sparse matrices.

use crate::problem::Problem;
use crate::reference::{CONTROLS, Reference, Rows, control, measure};
use diffsol::{
    FaerSparseLU, FaerSparseMat, MatrixCommon, NalgebraLU, NalgebraMat, OdeBuilder,
    SensitivitiesOdeSolverMethod,
};

/// A way to solve with the named method on the given matrices; the problem is set up once.
macro_rules! solve {
    ($matrix:ty, $solver:ty, $problem:expr, $reference:expr, $method:expr, $rtol:expr, $control:expr) => {{
        let problem = $problem;
        let n = problem.states();
        let reference: &Reference = $reference;
        let sizes = problem.sizes();
        let (resolved, tested) = $control;
        let atol: Vec<f64> = sizes.iter().map(|size| $rtol * resolved * size).collect();
        let mut builder = OdeBuilder::<$matrix>::new()
            .p(reference.parameters.clone())
            .rtol($rtol)
            .atol(atol.clone())
            .param_scales(reference.parameters.clone());
        if tested {
            builder = builder.sens_rtol($rtol).sens_atol(atol);
        }
        let built = builder
            .use_coloring(n > 3)
            .rhs_sens_implicit(
                move |x: &[f64], p: &[f64], _t: f64, y: &mut [f64]| problem.rates(x, p, y),
                move |x: &[f64], p: &[f64], _t: f64, v: &[f64], y: &mut [f64]| problem.times(x, p, v, y),
                move |x: &[f64], p: &[f64], _t: f64, v: &[f64], y: &mut [f64]| {
                    y.fill(0.0);
                    for (i, v) in v.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                        problem.add_by_parameter(i, *v, x, p, y);
                    }
                },
            )
            .init_sens(
                move |p: &[f64], _t: f64, x: &mut [f64]| problem.initial(p, x),
                move |_p: &[f64], _t: f64, v: &[f64], x: &mut [f64]| {
                    x.fill(0.0);
                    let mut column = vec![0.0; x.len()];
                    for (i, v) in v.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                        problem.initial_by(i, &mut column);
                        x.iter_mut().zip(&column).for_each(|(x, c)| *x += v * c);
                    }
                },
                n,
            )
            .build();
        move || {
            let built = built.as_ref().ok()?;
            let times = &reference.times;
            let solved = match $method {
                "BDF" => built.bdf_sens::<$solver>().ok()?.solve_dense_sensitivities(times),
                "TR-BDF2" => built.tr_bdf2_sens::<$solver>().ok()?.solve_dense_sensitivities(times),
                "ESDIRK34" => built.esdirk34_sens::<$solver>().ok()?.solve_dense_sensitivities(times),
                _ => built.tsit45_sens().ok()?.solve_dense_sensitivities(times),
            };
            let (y, s, _) = solved.ok()?;
            let lanes = reference.parameters.len();
            let mut rows = Rows::with_capacity(times.len());
            let (mut x, mut v, mut slopes) = (vec![0.0; n], vec![0.0; n], Vec::new());
            for time in 0..times.len() {
                (0..n).for_each(|i| x[i] = y.inner()[(i, time)]);
                let mut row = Vec::with_capacity(1 + lanes);
                problem.outputs(&x, &mut row);
                let outputs = row.len();
                slopes.clear();
                for lane in 0..lanes {
                    (0..n).for_each(|i| v[i] = s[lane].inner()[(i, time)]);
                    problem.outputs_by(&x, &v, &mut slopes);
                }
                for output in 0..outputs {
                    row.extend((0..lanes).map(|lane| slopes[lane * outputs + output]));
                }
                rows.push(row);
            }
            Some(rows)
        }
    }};
}

/// Runs all methods.
pub fn run<P: Problem + 'static>(problem: P, reference: &Reference, stiff_only: bool) {
    for method in ["Tsit45", "BDF", "ESDIRK34", "TR-BDF2"] {
        if stiff_only && method == "Tsit45" {
            continue;
        }
        for way in CONTROLS {
            let name = control(way.0, way.1);
            if problem.states() > 3 {
                measure(&format!("diffsol {method}, sparse {name}"), reference, |rtol| {
                    solve!(FaerSparseMat<f64>, FaerSparseLU<f64>, problem, reference, method, rtol, way)
                });
            }
            if problem.states() < 100 {
                measure(&format!("diffsol {method} {name}"), reference, |rtol| {
                    solve!(NalgebraMat<f64>, NalgebraLU<f64>, problem, reference, method, rtol, way)
                });
            }
        }
    }
}
