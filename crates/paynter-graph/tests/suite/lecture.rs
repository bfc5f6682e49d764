//! The causality example of Eborn's lecture on bond graph modelling, step by
//! step: a source feeds R1 and L in series, then C and R2 in parallel.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::check;

#[test]
fn the_circuit_is_decided_in_the_steps_of_the_lecture() {
    let text = "model circuit {
        Se V = 5
        1  series
        R  R1 = 10
        I  L  = 0.01
        0  parallel
        C  C  = 1e-5
        R  R2 = 100
        V -> series
        series -> R1, L, parallel
        parallel -> C, R2
    }";
    let found = check(text);
    // 1: the source; (2): no propagation possible; 3: the I and what follows; 3: the C and what follows.
    let expected = "\
1 b1: V -> series, effort into series: Se `V` imposes its effort
2 b3: series -> L, effort into L: I `L` takes integral causality
2 b2: series -> R1, effort into series: 1 `series` has one flow, so one bond brings it in (bond b3)
2 b4: series -> parallel, effort into series: 1 `series` has one flow, so one bond brings it in (bond b3)
3 b5: parallel -> C, effort into parallel: C `C` takes integral causality
3 b6: parallel -> R2, effort into R2: 0 `parallel` has one effort, so one bond brings it in (bond b5)
";
    assert_eq!(found.strokes(), expected);
    assert_eq!((found.causality().order, found.causality().rank, found.causality().index), (2, 2, 0));
}

#[test]
fn the_order_of_the_text_decides_only_the_order_of_the_steps() {
    let text = "model circuit {
        R R2 = 100; C C = 1e-5; 0 parallel; I L = 0.01; R R1 = 10; 1 series; Se V = 5
        parallel -> R2, C
        series -> parallel, L, R1
        V -> series
    }";
    let found = check(text);
    found.efforts(&[
        ("V", "series"),
        ("L", "L"),
        ("R1", "series"),
        ("C", "parallel"),
        ("R2", "R2"),
        ("b3", "series"),
    ]);
}
