//! What the solvers are measured against: a file with the error that is
//! allowed, the parameters, and the accurate solution.

use std::cell::Cell;

thread_local! {
    /// The best time of any way so far.
    static BEST: Cell<f64> = const { Cell::new(f64::INFINITY) };
}

/// The accurate solution of a case.
pub struct Reference {
    /// The error that a solver may have.
    pub allowed: f64,
    pub parameters: Vec<f64>,
    pub times: Vec<f64>,
    outputs: usize,
    /// For each time the outputs, then output by output the sensitivities.
    rows: Vec<Vec<f64>>,
}

/// What a solver returns: for each time the outputs, then output by output the sensitivities.
pub type Rows = Vec<Vec<f64>>;

impl Reference {
    /// Reads the file: the allowed error, the parameters, then a row for each time.
    pub fn read(path: &str) -> Reference {
        let text = std::fs::read_to_string(path).expect("the reference");
        let mut lines =
            text.lines().map(|line| line.split(' ').map(|w| w.parse().expect("a number")).collect::<Vec<f64>>());
        let allowed = lines.next().expect("the error")[0];
        let parameters = lines.next().expect("the parameters");
        let (times, rows): (Vec<f64>, Rows) = lines.map(|mut row| (row.remove(0), row)).unzip();
        let outputs = rows[0].len() / (1 + parameters.len());
        Reference { allowed, parameters, times, outputs, rows }
    }

    /// The largest value of each output.
    fn size(&self, output: usize) -> f64 {
        self.rows.iter().map(|row| row[output].abs()).fold(1e-300, f64::max)
    }

    /// The largest error of outputs and of p·∂y/∂p, relative to the largest value of each output.
    pub fn error(&self, found: &Rows) -> f64 {
        let lanes = self.parameters.len();
        let mut worst = 0.0f64;
        for (row, exact) in found.iter().zip(&self.rows) {
            for (i, (a, b)) in row.iter().zip(exact).enumerate() {
                let (output, scale) = match i.checked_sub(self.outputs) {
                    None => (i, 1.0),
                    Some(k) => (k / lanes, self.parameters[k % lanes].abs()),
                };
                let error = (a - b).abs() * scale / self.size(output);
                worst = if error > worst || error.is_nan() { error } else { worst };
            }
        }
        if found.len() == self.rows.len() { worst } else { f64::INFINITY }
    }
}

/// The processor's time that this process has had: others on the machine do not count.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("the times of Linux");
    text.split(' ').next().and_then(|word| word.parse::<f64>().ok()).expect("a number") * 1e-9
}

/// Ways to control the error: absolute tolerances as a part of how large states become, and whether
/// sensitivities are in the error test. What is measured is their error in any case.
pub const CONTROLS: [(f64, bool); 4] = [(1.0, true), (1e-3, true), (1.0, false), (1e-3, false)];

/// A way to control the error, for people.
pub fn control(resolved: f64, tested: bool) -> String {
    format!("({resolved}{})", if tested { "" } else { ", states only" })
}

/// Finds the loosest tolerance with which a solver is accurate enough, and prints its time. What is
/// prepared for a tolerance is not timed.
pub fn measure<S: FnMut() -> Option<Rows>>(tool: &str, reference: &Reference, prepare: impl Fn(f64) -> S) {
    // Down by decades until it is accurate enough, then back by eighths of a decade.
    let (mut eighth, mut stride, mut enough) = (-24, 8, None);
    while eighth < 48 {
        let rtol = reference.allowed * 10f64.powf(-0.125 * f64::from(eighth));
        if rtol < 1e-14 {
            break;
        }
        let mut solve = prepare(rtol);
        let started = processor_seconds();
        let error = solve().map_or(f64::INFINITY, |found| reference.error(&found));
        let rough = processor_seconds() - started;
        // Tighter tolerances take longer: there is no hope for a way that is behind already.
        if rough > 2.0 * BEST.get() + 0.01 {
            break;
        }
        if error <= reference.allowed {
            enough = Some((solve, rtol, error, rough));
            if stride == 8 && eighth > -24 {
                (eighth, stride) = (eighth - 7, 1);
                continue;
            }
            break;
        }
        eighth += stride;
    }
    if let Some((mut solve, rtol, error, rough)) = enough {
        let (started, mut runs) = (processor_seconds(), 0);
        let mut spent = 0.0;
        while runs < 3 || spent < 0.5 {
            solve();
            runs += 1;
            if runs % 10 == 0 || rough > 0.01 {
                spent = processor_seconds() - started;
            }
        }
        let best = (processor_seconds() - started) / f64::from(runs);
        BEST.set(BEST.get().min(best));
        println!("{tool}\t{best}\t{error:e}\t{rtol:e}");
    }
}
