//! Expressions compiled to a program: a straight line of operations on
//! registers, in which every shared part is calculated once.
//!
//! Arguments may be divided into slow ones, which change once a run (the
//! parameters), and fast ones (time and states): what depends on slow
//! arguments alone is then calculated by [`Program::prepare`] only. Prepared
//! programs that run often become machine code (`machine`), for all threads,
//! where the feature `jit` allows it.

mod allocate;
mod enclosure;
mod instruction;
mod lower;
#[cfg(feature = "jit")]
mod machine;
mod run;
mod scalar;
mod tables;

pub use enclosure::{Enclosure, Range};
pub use instruction::{Instruction, Op};
use scalar::Rounded;
pub use scalar::Scalar;
pub use tables::{Hold, Table, TableError, Tables};

#[cfg(feature = "jit")]
use machine::Machine;
use num_complex::Complex64;
use paynter_algebra::{Expr, Pool, Symbol};
#[cfg(feature = "jit")]
use std::sync::OnceLock;
#[cfg(feature = "jit")]
use std::sync::atomic::{AtomicU64, Ordering};

/// Operations run in the time that it takes to make machine code of one.
#[cfg(feature = "jit")]
const REPAID: u64 = 3000;
/// Operations run in the time that it takes to make any machine code.
#[cfg(feature = "jit")]
const STARTED: u64 = 400_000;

/// Why expressions cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompileError {
    /// A symbol of this name is no argument.
    Unbound(String),
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CompileError::Unbound(name) => write!(f, "`{name}` has no value"),
        }
    }
}

impl std::error::Error for CompileError {}

/// Compiled expressions. Equal expressions give equal programs, on every machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    slow: usize,
    arguments: usize,
    results: usize,
    constants: Vec<f64>,
    prologue: Vec<Instruction>,
    body: Vec<Instruction>,
    registers: usize,
    #[cfg(feature = "jit")]
    hot: Hot,
}

/// Machine code of a program that has run often; shared by all threads.
#[cfg(feature = "jit")]
#[derive(Debug, Default)]
struct Hot {
    runs: AtomicU64,
    machine: OnceLock<Option<Machine>>,
}

/// A copy starts anew.
#[cfg(feature = "jit")]
impl Clone for Hot {
    fn clone(&self) -> Hot {
        Hot::default()
    }
}

/// How a program is run is no part of what it is.
#[cfg(feature = "jit")]
impl PartialEq for Hot {
    fn eq(&self, _: &Hot) -> bool {
        true
    }
}

impl Program {
    /// Compiles expressions over the given arguments.
    pub fn compile(pool: &Pool, roots: &[Expr], arguments: &[Symbol]) -> Result<Program, CompileError> {
        Program::staged(pool, roots, &[], arguments)
    }

    /// Compiles expressions over slow arguments, which [`Program::prepare`] takes, and fast ones.
    pub fn staged(
        pool: &Pool,
        roots: &[Expr],
        slow: &[Symbol],
        fast: &[Symbol],
    ) -> Result<Program, CompileError> {
        let arguments: Vec<Symbol> = slow.iter().chain(fast).copied().collect();
        let line = lower::lower(pool, roots, &arguments, slow.len())?;
        let allocated = allocate::allocate(&line, arguments.len());
        Ok(Program {
            slow: slow.len(),
            arguments: arguments.len(),
            results: roots.len(),
            constants: allocated.constants,
            prologue: allocated.prologue,
            body: allocated.body,
            registers: allocated.registers,
            #[cfg(feature = "jit")]
            hot: Hot::default(),
        })
    }

    /// The number of arguments, slow and fast.
    pub fn arguments(&self) -> usize {
        self.arguments
    }

    /// The number of results.
    pub fn results(&self) -> usize {
        self.results
    }

    /// The number of operations of a run, without preparation.
    pub fn operations(&self) -> usize {
        self.body.len()
    }

    /// The number of registers a run needs.
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Calculates the results; `work` is room that is kept between runs.
    /// Tables have no value: see [`Program::run_with`].
    pub fn run(&self, arguments: &[f64], work: &mut Vec<f64>, out: &mut [f64]) {
        self.run_with(arguments, &tables::NONE, work, out);
    }

    /// Calculates the results where expressions read tables.
    pub fn run_with(&self, arguments: &[f64], tables: &Tables, work: &mut Vec<f64>, out: &mut [f64]) {
        self.run_scalar(arguments, tables, work, out);
    }

    /// Calculates the results at complex arguments. What is not analytic needs real operands.
    pub fn run_complex(&self, arguments: &[Complex64], work: &mut Vec<Complex64>, out: &mut [Complex64]) {
        self.run_scalar(arguments, &tables::NONE, work, out);
    }

    /// Calculates the results at several arguments at once.
    pub fn run_lanes<const L: usize>(
        &self,
        arguments: &[[f64; L]],
        tables: &Tables,
        work: &mut Vec<[f64; L]>,
        out: &mut [[f64; L]],
    ) {
        self.run_scalar(arguments, tables, work, out);
    }

    /// Fills the registers for runs with these slow arguments, and writes the
    /// results that depend on nothing else.
    pub fn prepare(&self, slow: &[f64], tables: &Tables, work: &mut Vec<f64>, out: &mut [f64]) {
        self.fill(slow, work);
        run::execute(&self.prologue, work, tables, out);
    }

    /// Calculates the results that depend on fast arguments, in registers that
    /// [`Program::prepare`] has filled; others are left as they are.
    #[inline]
    pub fn run_prepared(&self, fast: &[f64], tables: &Tables, work: &mut [f64], out: &mut [f64]) {
        #[cfg(feature = "jit")]
        if self.machine().is_some_and(|machine| machine.run(work, fast, out)) {
            return;
        }
        self.interpret(fast, tables, work, out);
    }

    /// Runs without machine code.
    #[inline(never)]
    fn interpret(&self, fast: &[f64], tables: &Tables, work: &mut [f64], out: &mut [f64]) {
        let end = self.arguments.min(self.slow + fast.len());
        work[self.slow..end].copy_from_slice(&fast[..end - self.slow]);
        run::execute(&self.body, work, tables, out);
    }

    /// Encloses the results from the values and derivatives of the arguments.
    pub fn enclose(&self, arguments: &[Enclosure], tables: &Tables) -> Vec<Enclosure> {
        let mut out = vec![Enclosure::ALL; self.results];
        self.run_scalar(arguments, tables, &mut Vec::new(), &mut out);
        out
    }

    /// Fills the registers for enclosures with these slow arguments, as [`Program::prepare`] does.
    pub fn prepare_enclosures(
        &self,
        slow: &[f64],
        tables: &Tables,
        work: &mut Vec<Enclosure>,
        out: &mut [Enclosure],
    ) {
        let slow: Vec<Enclosure> = slow.iter().map(|x| Enclosure::constant(*x)).collect();
        self.fill(&slow, work);
        run::execute(&self.prologue, work, tables, out);
    }

    /// Encloses the results that depend on fast arguments, in registers that
    /// [`Program::prepare_enclosures`] has filled; others are left as they are.
    pub fn enclose_prepared(
        &self,
        fast: &[Enclosure],
        tables: &Tables,
        work: &mut [Enclosure],
        out: &mut [Enclosure],
    ) {
        let end = self.arguments.min(self.slow + fast.len());
        work[self.slow..end].copy_from_slice(&fast[..end - self.slow]);
        run::execute(&self.body, work, tables, out);
    }

    /// Whether it has run often enough to have become machine code, which the feature `jit` allows.
    pub fn is_machine_code(&self) -> bool {
        #[cfg(feature = "jit")]
        return matches!(self.hot.machine.get(), Some(Some(_)));
        #[cfg(not(feature = "jit"))]
        false
    }

    /// Machine code, once the runs so far have taken the time that it takes to make it.
    #[cfg(feature = "jit")]
    #[inline]
    fn machine(&self) -> Option<&Machine> {
        match self.hot.machine.get() {
            Some(machine) => machine.as_ref(),
            None => self.warm(),
        }
    }

    /// Counts a run, and makes machine code after many.
    #[cfg(feature = "jit")]
    #[cold]
    fn warm(&self) -> Option<&Machine> {
        // Threads may lose a count to each other, which does no harm.
        let runs = self.hot.runs.load(Ordering::Relaxed) + 1;
        self.hot.runs.store(runs, Ordering::Relaxed);
        let length = self.body.len() as u64;
        if runs.saturating_mul(length) < STARTED + REPAID.saturating_mul(length) {
            return None;
        }
        let make = || Machine::compile(&self.body, self.registers, self.slow..self.arguments, self.results);
        self.hot.machine.get_or_init(make).as_ref()
    }

    /// Calculates the results with a rounding error more in every operation.
    pub(crate) fn run_rounded(&self, arguments: &[f64], tables: &Tables) -> Vec<f64> {
        let arguments: Vec<Rounded> = arguments.iter().map(|x| Rounded(*x)).collect();
        let mut out = vec![Rounded(f64::NAN); self.results()];
        self.run_scalar(&arguments, tables, &mut Vec::new(), &mut out);
        out.into_iter().map(|x| x.0).collect()
    }

    fn run_scalar<T: Scalar>(&self, arguments: &[T], tables: &Tables, work: &mut Vec<T>, out: &mut [T]) {
        self.fill(arguments, work);
        run::execute(&self.prologue, work, tables, out);
        run::execute(&self.body, work, tables, out);
    }

    fn fill<T: Scalar>(&self, arguments: &[T], work: &mut Vec<T>) {
        work.clear();
        work.reserve(self.registers);
        work.extend(arguments.iter().take(self.arguments));
        work.resize(self.arguments, T::constant(f64::NAN));
        work.extend(self.constants.iter().map(|value| T::constant(*value)));
        work.resize(self.registers.max(work.len()), T::constant(0.0));
    }
}
