//! What a check costs grows in proportion to the model: memory is asked for as often for each bond of a large model
//! as of a small one, counted and not timed, so that every machine finds the same. Instructions are counted by
//! `cargo bench -p paynter --bench check`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "an allocator that counts hands everything on to the system's")]

mod common;

use paynter::{CancellationToken, Plain};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, counting how often and how much it is asked for.
struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

// SAFETY: every request goes to the system's allocator as it comes.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is that of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Masses joined by springs and dampers, six bonds each, with one dependent mass.
fn chain(bonds: usize) -> String {
    let mut text = String::from(
        "model chain {\n Se push = 1; 1 front; R a = 1; I extra = 1\n push -> front; front -> a, extra\n\
         front -> v0\n",
    );
    let cells = bonds / 6;
    for i in 0..cells {
        text += &format!(
            " param m{i} = 1.5 [kg] ±10%; param k{i} = 2e3 [N/m]\n 1 v{i}; 0 f{i}; 1 s{i}\n\
             I mass{i} = m{i}; C spring{i} = 1/k{i}; R damper{i} = 0.5\n\
             v{i} -> mass{i}, f{i}; f{i} -> s{i}; s{i} -> spring{i}, damper{i}\n"
        );
        if i > 0 {
            text += &format!(" f{} -> v{i}\n", i - 1);
        }
    }
    text + &format!(" Sf wall = 0; f{} -> wall\n}}\n", cells - 1)
}

/// The kinds of findings of a check, and how often and how much memory is asked for, for each bond.
fn cost(bonds: usize) -> (Vec<&'static str>, f64, f64) {
    let text = chain(bonds);
    let before = (CALLS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
    let model = common::load(&text);
    let found = model.check(&CancellationToken::new()).unwrap().document(&Plain);
    let after = (CALLS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
    assert!(found.ok);
    let bonds = found.summary.unwrap().bonds as f64;
    let codes = found.diagnostics.into_iter().map(|finding| finding.code).collect();
    (codes, (after.0 - before.0) as f64 / bonds, (after.1 - before.1) as f64 / bonds)
}

#[test]
fn a_check_of_ten_times_the_bonds_finds_the_same_at_ten_times_the_cost() {
    // What is made once in a process is not counted.
    cost(100);
    let (few, calls, bytes) = cost(100);
    for bonds in [1_000, 10_000] {
        let (many, more_calls, more_bytes) = cost(bonds);
        assert_eq!(many, few, "{bonds} bonds");
        println!(
            "{bonds} bonds: {more_calls:.1} calls, {more_bytes:.0} bytes each, after {calls:.1}, {bytes:.0}"
        );
        assert!(more_calls < 1.1 * calls, "{bonds} bonds: {more_calls} instead of {calls} calls for each");
        // Lists that double their room hold up to twice what they need.
        assert!(more_bytes < 1.5 * bytes, "{bonds} bonds: {more_bytes} instead of {bytes} bytes for each");
    }
}
