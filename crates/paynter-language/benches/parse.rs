//! Time and memory of reading flat models of 1,000 to 100,000 elements, with
//! and without the tree, and of laying them out:
//! `cargo bench -p paynter-language --bench parse`.

#![allow(clippy::print_stdout, missing_docs, reason = "a benchmark prints its results")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use paynter_base::FileId;
use paynter_language::{format, parse, parse_syntax};

/// Counts the bytes in use and their peak.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(used, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let used = USED.fetch_add(size, Relaxed) + size - layout.size();
        USED.fetch_sub(layout.size(), Relaxed);
        PEAK.fetch_max(used, Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A chain of masses, springs and dampers, written out.
fn flat(elements: usize) -> String {
    let mut text = String::from("model flat {\n    param m0 = 1 [kg]\n    param k0 = 2\n    param k3 = 3\n");
    for i in 0..elements / 4 {
        let _ = write!(
            text,
            "    param R_{i} = 1.5e-3 [N*s/m] ±10% \"damping of cell {i}\"\n    1 j_{i}\n    R damper_{i} = R_{i}\n    \
             I mass_{i} = 2*m0\n    C spring_{i} {{ e = k0*q + k3*q^3 }}\n    \
             j_{i} -> damper_{i}, mass_{i}, spring_{i}\n    j_{i} -> j_{}\n",
            i + 1
        );
    }
    text.push_str("}\n");
    text
}

/// Returns the seconds of processor time of this thread where the system tells, else of the clock.
fn seconds(since: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = told.ok().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or(since.elapsed().as_secs_f64(), |time| time * 1e-9)
}

/// Prints the mean time of several runs, freeing the result included, and the
/// peak of memory, for each element.
fn report<T>(name: &str, elements: usize, run: impl Fn() -> T) {
    let clock = Instant::now();
    let runs = 1_000_000 / elements;
    let used = USED.load(Relaxed);
    PEAK.store(used, Relaxed);
    let start = seconds(clock);
    for _ in 0..runs {
        black_box(run());
    }
    let mean = (seconds(clock) - start) / runs as f64;
    let memory = (PEAK.load(Relaxed) - used) / elements;
    let each = mean * 1e9 / elements as f64;
    println!(
        "{name:<8} {elements:>7} elements {mean:>9.4} s {each:>7.0} ns and {memory:>5} bytes an element"
    );
}

fn main() {
    // Words on the command line choose the lines that contain one of them.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|word| name.contains(word.as_str()));
    for elements in [1_000, 10_000, 100_000] {
        let text = flat(elements);
        println!("{} bytes of text", text.len());
        if wanted("syntax") {
            report("syntax", elements, || parse_syntax(&text, FileId(0)));
        }
        if wanted("tree") {
            report("tree", elements, || parse(&text, FileId(0)));
        }
        if wanted("layout") {
            report("layout", elements, || format(&text));
        }
    }
}
