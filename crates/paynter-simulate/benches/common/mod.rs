//! How the benches of simulation measure time.

use crate::zoo::{Run, run};
use paynter_base::CancellationToken;
use paynter_numerics::Tables;
use paynter_simulate::{Compiled, Options, Outcome, simulate};
use std::time::Instant;

/// The processor's time that this process has had, on Linux: others on the machine do not count.
fn processor_seconds(since: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let spent = text.split(' ').next().and_then(|word| word.parse::<f64>().ok());
    spent.map_or_else(|| since.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

/// The mean time of many runs, after enough of them to have machine code.
pub fn time(model: &Compiled, p: &[f64], options: &Options) -> (f64, Run, Outcome) {
    let begun = Instant::now();
    let mut mean = 0.0;
    let (found, mut outcome) = run(model, p, options);
    let (tables, token) = (Tables::default(), CancellationToken::new());
    let values = found.y.iter().chain(&found.s).map(Vec::len).sum();
    // The first round makes machine code.
    for _ in 0..2 {
        let (start, mut spent, mut runs) = (processor_seconds(begun), 0.0, 0);
        while runs < 3 || spent < 0.5 {
            let mut rows: Vec<f64> = Vec::with_capacity(values);
            outcome = simulate(model, p, None, &tables, options, &token, &mut |sample| {
                rows.extend_from_slice(sample.outputs);
                rows.extend_from_slice(sample.sensitivities);
            });
            std::hint::black_box(rows);
            runs += 1;
            if runs % 10 == 0 || outcome.stats.steps * model.wanted.len() as u64 > 10_000 {
                spent = processor_seconds(begun) - start;
            }
        }
        mean = (processor_seconds(begun) - start) / f64::from(runs);
    }
    (mean, found, outcome)
}
