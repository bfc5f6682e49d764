//! Zeno behaviour: events of one function that follow each other ever faster.

use super::ZeroCrossingDetector;
use crate::tolerance::ZENO_EVENTS;

/// The times between the last events of a function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Intervals {
    last_event: f64,
    /// The last two times between events.
    gaps: [f64; 2],
    /// How many events in a row came sooner than the one before the last.
    shrinking: u32,
}

impl Intervals {
    /// No event yet.
    pub fn none() -> Intervals {
        Intervals { last_event: f64::NEG_INFINITY, gaps: [f64::INFINITY; 2], shrinking: 0 }
    }
}

impl ZeroCrossingDetector {
    /// Records an event; where events of its function have come ever faster for too long (Zeno behaviour),
    /// the rate at which the function is to settle on its zero.
    pub fn detect_zeno(&mut self, k: usize, t: f64) -> Option<f64> {
        let intervals = self.intervals.get_mut(k)?;
        let gap = t - intervals.last_event;
        intervals.shrinking = if gap < intervals.gaps[0] { intervals.shrinking + 1 } else { 0 };
        (intervals.last_event, intervals.gaps) = (t, [intervals.gaps[1], gap]);
        // The two half periods may differ; what settles faster than the longer one overshoots.
        (intervals.shrinking > ZENO_EVENTS).then_some(0.5 / intervals.gaps[0].max(intervals.gaps[1]))
    }
}
