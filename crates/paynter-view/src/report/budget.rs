//! What a report may cost: work is counted in operations on numbers before it is done, so that every machine makes
//! the same page and no model makes anybody wait.

use super::Section;
use paynter_algebra::Pool;
use paynter_base::{Question, Remedy};
use paynter_draw::plot::plain;
use paynter_graph::{BondGraph, Variable};
use paynter_numerics::poles::{EIGENVALUE_STATES, ZERO_STATES};

/// Operations that a whole report may take: some seconds.
const OPERATIONS: u64 = 6_000_000_000;
/// Frequencies at which responses are calculated, about.
const FREQUENCIES: u64 = 600;
/// Operations on each bond or state to solve a sparse system once, about.
const SOLUTION: u64 = 40;
/// Operations on each bond or state in one step of a run, about.
const STEP_OPERATIONS: u64 = 60;

/// Operations that the section on robustness may take.
pub const ROBUSTNESS: u64 = 5_000_000_000;

/// How large a model is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Size {
    /// Elements and junctions.
    pub elements: usize,
    /// Bonds.
    pub bonds: usize,
    /// States.
    pub states: usize,
    /// Inputs.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
    /// Parameters.
    pub parameters: usize,
    /// Parameters with tolerances.
    pub tolerances: usize,
    /// The cubes of how many elements each parameter stands in, added up.
    pub repeated: u64,
}

impl Size {
    /// Counts a graph whose equations have so many states.
    pub fn new(pool: &Pool, graph: &BondGraph, states: usize) -> Size {
        let mut places = vec![0u64; graph.parameters.len()];
        for element in graph.elements.iter() {
            let read = element.law.expressions().into_iter().flat_map(|e| pool.symbols(e));
            let mut read: Vec<usize> = read
                .filter_map(|symbol| match graph.variables.meaning(symbol) {
                    Some(Variable::Parameter(k)) => Some(k as usize),
                    _ => None,
                })
                .collect();
            read.sort_unstable();
            read.dedup();
            read.into_iter().for_each(|k| places[k] += 1);
        }
        Size {
            elements: graph.elements.len(),
            bonds: graph.bonds.len(),
            states,
            inputs: graph.inputs.len(),
            outputs: graph.outputs.len(),
            parameters: graph.parameters.len(),
            tolerances: graph.parameters.iter().filter(|parameter| parameter.tolerance.is_some()).count(),
            repeated: places.into_iter().fold(0, |sum, k| k.saturating_pow(3).saturating_add(sum)),
        }
    }

    /// Nothing that grows with the model.
    pub fn nothing(&self) -> u64 {
        0
    }

    /// The drawing: places for all elements, and bonds of loops led across each other.
    pub fn drawing(&self) -> u64 {
        let loops = (self.bonds + 1).saturating_sub(self.elements) as u64;
        2_000 * self.bonds as u64 + 2_000 * loops.saturating_mul(loops)
    }

    /// Poles by eigenvalues, and zeros of every pair of input and output.
    pub fn poles(&self) -> u64 {
        let cube = (self.states as u64).saturating_pow(3);
        let pairs = (self.inputs * self.outputs) as u64;
        match self.states {
            n if n > EIGENVALUE_STATES => 0,
            n if n > ZERO_STATES => 25 * cube,
            _ => 25 * cube + 60 * pairs * cube,
        }
    }

    /// Controllability and observability by Wiedemann's method.
    pub fn structure(&self) -> u64 {
        let square = (self.states as u64).saturating_pow(2);
        12 * square * (self.inputs + self.outputs) as u64
    }

    /// Frequency responses.
    pub fn response(&self) -> u64 {
        FREQUENCIES * SOLUTION * self.system() * self.inputs as u64
    }

    /// Sensitivities of frequency responses.
    pub fn sensitivity(&self) -> u64 {
        let systems = SOLUTION * self.system() * (self.inputs + self.outputs) as u64;
        let products = 20 * (self.inputs * self.outputs * self.parameters) as u64;
        FREQUENCIES * (systems + products)
    }

    /// The interconnection model: a parameter that stands in many places has channels to be told independent.
    pub fn interconnection(&self) -> u64 {
        self.sensitivity().saturating_add(self.repeated.saturating_mul(12))
    }

    /// Bounds of robustness, which end with their budget, on an interconnection model.
    pub fn robustness(&self) -> u64 {
        if self.tolerances == 0 { 0 } else { self.interconnection().saturating_add(ROBUSTNESS) }
    }

    /// One step of a run with sensitivities to some parameters.
    pub fn step(&self, sensitivities: usize) -> u64 {
        STEP_OPERATIONS * self.system() * (1 + sensitivities) as u64
    }

    fn system(&self) -> u64 {
        (self.bonds + self.states) as u64
    }
}

/// What is left of the operations of a report.
#[derive(Debug)]
pub struct Budget {
    /// The model's size.
    pub size: Size,
    left: u64,
    /// The sections that were left out.
    cut: Vec<&'static str>,
}

impl Budget {
    /// All of it.
    pub fn new(size: Size) -> Budget {
        Budget { size, left: OPERATIONS, cut: Vec::new() }
    }

    /// Takes the operations of a section, or gives the section that says that it is left out and which question
    /// has it.
    pub fn take(
        &mut self,
        id: &'static str,
        title: &'static str,
        operations: u64,
        question: &'static str,
    ) -> Result<(), Section> {
        if operations <= self.left {
            self.left -= operations;
            return Ok(());
        }
        self.cut.push(id);
        let mut section = Section::new(id, title);
        let million = |operations: u64| plain(operations as f64 / 1e6, 2);
        let why = format!(
            "Left out: it takes about {} million operations, and the report has {} left of its budget of {} million. ",
            million(operations),
            million(self.left),
            million(OPERATIONS)
        );
        section.text(Remedy::from(why).and(Question::read(question)).and(" answers it."));
        Err(section)
    }

    /// Whether a section was left out.
    pub fn is_cut(&self, id: &str) -> bool {
        self.cut.contains(&id)
    }

    /// How many steps of a run are left, of this many operations each.
    pub fn steps(&self, operations: u64) -> u64 {
        self.left / operations.max(1)
    }

    /// Takes the operations of steps that were made.
    pub fn spend(&mut self, steps: u64, operations: u64) {
        self.left = self.left.saturating_sub(steps.saturating_mul(operations));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_left_out_and_said() {
        let size = Size {
            states: 2_500,
            bonds: 10_000,
            elements: 10_001,
            inputs: 1,
            outputs: 1,
            parameters: 9,
            tolerances: 0,
            repeated: 0,
        };
        let mut budget = Budget::new(size);
        assert!(budget.take("structure", "Structure", size.structure(), "structure").is_ok());
        let cut = budget.take("poles", "Poles", size.poles(), "poles").unwrap_err();
        assert!(cut.id == "poles" && budget.is_cut("poles") && !budget.is_cut("structure"));
        let before = budget.steps(size.step(0));
        budget.spend(10, size.step(0));
        assert_eq!(budget.steps(size.step(0)), before - 10);
        let small = Size {
            states: 10,
            inputs: 2,
            outputs: 2,
            parameters: 20,
            bonds: 30,
            elements: 25,
            ..Size::default()
        };
        let all = [small.drawing(), small.poles(), small.structure(), small.response(), small.sensitivity()];
        assert!(all.iter().sum::<u64>() < OPERATIONS / 20);
    }
}
