//! Solvers that Paynter is measured against: `rival-solvers TOOL CASE FILE`
//! prints for every way to use the tool its seconds, its error and its
//! tolerance, where the file holds the accurate solution.

mod cvodes;
mod problem;
mod reference;
mod with_diffsol;

use problem::{Chain, Problem, Robertson, Tanks};
use reference::Reference;

fn run<P: Problem + 'static>(tool: &str, problem: P, reference: &Reference, stiff_only: bool) {
    assert_eq!(problem.parameters(), reference.parameters.len());
    match tool {
        "cvodes" => cvodes::run(problem, reference, stiff_only),
        _ => with_diffsol::run(problem, reference, stiff_only),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, tool, case, file] = words.as_slice() else { panic!("TOOL CASE FILE") };
    let reference = Reference::read(file);
    match case.as_str() {
        "tanks" => run(tool, Tanks, &reference, false),
        "robertson" => run(tool, Robertson, &reference, true),
        _ => run(tool, Chain(reference.parameters.len() / 3), &reference, false),
    }
}
