//! CVODES with forward sensitivities: both of its methods, both of its ways
//! to correct sensitivities, dense or banded matrices, fused vectors.

use crate::problem::Problem;
use crate::reference::{CONTROLS, Reference, Rows, control, measure};
use std::os::raw::{c_int, c_void};
use std::ptr::null_mut;
use sundials_sys::*;

struct User<P> {
    problem: P,
    p: Vec<f64>,
}

unsafe fn data<'a>(v: N_Vector, n: usize) -> &'a mut [f64] {
    unsafe { std::slice::from_raw_parts_mut(N_VGetArrayPointer(v), n) }
}

unsafe extern "C" fn rates<P: Problem>(_: f64, y: N_Vector, out: N_Vector, user: *mut c_void) -> c_int {
    let user = unsafe { &*user.cast::<User<P>>() };
    let n = user.problem.states();
    user.problem.rates(unsafe { data(y, n) }, &user.p, unsafe { data(out, n) });
    0
}

unsafe extern "C" fn jacobian<P: Problem>(
    _: f64,
    y: N_Vector,
    _: N_Vector,
    matrix: SUNMatrix,
    user: *mut c_void,
    _: N_Vector,
    _: N_Vector,
    _: N_Vector,
) -> c_int {
    let user = unsafe { &*user.cast::<User<P>>() };
    let n = user.problem.states();
    unsafe {
        SUNMatZero(matrix);
        if SUNMatGetID(matrix) == SUNMatrix_ID_SUNMATRIX_DENSE {
            user.problem.jacobian(data(y, n), &user.p, &mut |row, column, value| {
                *SUNDenseMatrix_Column(matrix, column as i64).add(row) = value;
            });
        } else {
            user.problem.jacobian(data(y, n), &user.p, &mut |row, column, value| {
                // A column of a band matrix points at its diagonal.
                *SUNBandMatrix_Column(matrix, column as i64).offset(row as isize - column as isize) = value;
            });
        }
    }
    0
}

unsafe extern "C" fn sensitivities<P: Problem>(
    count: c_int,
    _: f64,
    y: N_Vector,
    _: N_Vector,
    s: *mut N_Vector,
    out: *mut N_Vector,
    user: *mut c_void,
    _: N_Vector,
    _: N_Vector,
) -> c_int {
    let user = unsafe { &*user.cast::<User<P>>() };
    let n = user.problem.states();
    unsafe {
        let x = data(y, n);
        for i in 0..count as usize {
            let (s, out) = (data(*s.add(i), n), data(*out.add(i), n));
            user.problem.times(x, &user.p, s, out);
            user.problem.add_by_parameter(i, 1.0, x, &user.p, out);
        }
    }
    0
}

/// A way to use CVODES.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    stiff: bool,
    correction: c_int,
}

/// Runs all ways.
pub fn run<P: Problem>(problem: P, reference: &Reference, stiff_only: bool) {
    for way in [
        Way { name: "Adams, staggered", stiff: false, correction: CV_STAGGERED },
        Way { name: "Adams, simultaneous", stiff: false, correction: CV_SIMULTANEOUS },
        Way { name: "BDF, staggered", stiff: true, correction: CV_STAGGERED },
        Way { name: "BDF, simultaneous", stiff: true, correction: CV_SIMULTANEOUS },
    ] {
        if stiff_only && !way.stiff {
            continue;
        }
        for (resolved, tested) in CONTROLS {
            let tool = format!("CVODES {} {}", way.name, control(resolved, tested));
            measure(&tool, reference, |rtol| {
                move || unsafe { solve(problem, reference, way, rtol, resolved, tested) }
            });
        }
    }
}

/// One run; absolute tolerances are this part of the largest values times the relative one.
unsafe fn solve<P: Problem>(
    problem: P,
    reference: &Reference,
    way: Way,
    rtol: f64,
    resolved: f64,
    tested: bool,
) -> Option<Rows> {
    let n = problem.states();
    let p = &reference.parameters;
    let count = p.len() as c_int;
    let mut user = User { problem, p: p.clone() };
    let mut pbar: Vec<f64> = p.clone();
    unsafe {
        let mut context: SUNContext = null_mut();
        SUNContext_Create(0, &mut context);
        // Failures are counted by their codes alone.
        SUNContext_ClearErrHandlers(context);
        let y = N_VNew_Serial(n as i64, context);
        N_VEnableFusedOps_Serial(y, 1);
        problem.initial(p, data(y, n));
        let atol = N_VClone(y);
        let sizes = problem.sizes();
        for (i, a) in data(atol, n).iter_mut().enumerate() {
            *a = rtol * resolved * sizes[i];
        }
        let mut memory = CVodeCreate(if way.stiff { CV_BDF } else { CV_ADAMS }, context);
        CVodeInit(memory, Some(rates::<P>), 0.0, y);
        CVodeSVtolerances(memory, rtol, atol);
        CVodeSetUserData(memory, (&raw mut user).cast());
        CVodeSetMaxNumSteps(memory, 1_000_000);
        CVodeSetMaxHnilWarns(memory, -1);
        let s = N_VCloneVectorArray(count, y);
        for i in 0..count as usize {
            problem.initial_by(i, data(*s.add(i), n));
        }
        let (mut matrix, mut linear): (SUNMatrix, SUNLinearSolver) = (null_mut(), null_mut());
        let mut nonlinear: [SUNNonlinearSolver; 2] = [null_mut(); 2];
        if way.stiff {
            if n > 3 {
                let bands = problem.bands() as i64;
                matrix = SUNBandMatrix(n as i64, bands, bands, context);
                linear = SUNLinSol_Band(y, matrix, context);
            } else {
                matrix = SUNDenseMatrix(n as i64, n as i64, context);
                linear = SUNLinSol_Dense(y, matrix, context);
            }
            CVodeSetLinearSolver(memory, linear, matrix);
            CVodeSetJacFn(memory, Some(jacobian::<P>));
        } else {
            nonlinear[0] = SUNNonlinSol_FixedPoint(y, 0, context);
            CVodeSetNonlinearSolver(memory, nonlinear[0]);
        }
        CVodeSensInit(memory, count, way.correction, Some(sensitivities::<P>), s);
        CVodeSetSensParams(memory, null_mut(), pbar.as_mut_ptr(), null_mut());
        CVodeSensEEtolerances(memory);
        CVodeSetSensErrCon(memory, c_int::from(tested));
        if !way.stiff {
            if way.correction == CV_SIMULTANEOUS {
                nonlinear[1] = SUNNonlinSol_FixedPointSens(count + 1, y, 0, context);
                CVodeSetNonlinearSolverSensSim(memory, nonlinear[1]);
            } else {
                nonlinear[1] = SUNNonlinSol_FixedPointSens(count, y, 0, context);
                CVodeSetNonlinearSolverSensStg(memory, nonlinear[1]);
            }
        }
        let (mut rows, mut slopes) = (Rows::with_capacity(reference.times.len()), Vec::new());
        let mut good = true;
        for time in &reference.times {
            let mut t = 0.0;
            if *time > 0.0 {
                good &= CVode(memory, *time, y, &mut t, CV_NORMAL) >= 0;
                good &= CVodeGetSens(memory, &mut t, s) >= 0;
            }
            if !good {
                break;
            }
            let x = data(y, n);
            let mut row = Vec::with_capacity(1 + count as usize);
            problem.outputs(x, &mut row);
            let outputs = row.len();
            slopes.clear();
            for i in 0..count as usize {
                problem.outputs_by(x, data(*s.add(i), n), &mut slopes);
            }
            for output in 0..outputs {
                row.extend((0..count as usize).map(|i| slopes[i * outputs + output]));
            }
            rows.push(row);
        }
        CVodeFree(&mut memory);
        for solver in nonlinear {
            SUNNonlinSolFree(solver);
        }
        if way.stiff {
            SUNLinSolFree(linear);
            SUNMatDestroy(matrix);
        }
        N_VDestroyVectorArray(s, count);
        N_VDestroy(atol);
        N_VDestroy(y);
        SUNContext_Free(&mut context);
        good.then_some(rows)
    }
}
