//! Processor time, which tells more than the clock where a machine has other work.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The processor time of this thread where the system tells, else the time since the first call.
pub fn processor_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next().and_then(|n| n.parse().ok()));
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}
