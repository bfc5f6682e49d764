//! Cancellation and progress of long work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The work was stopped from outside (Ctrl-C, a closed browser tab).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// Handed to long work: it asks [`CancellationToken::check`] now and then, and says how
/// far it is. The holder of a clone cancels it and reads the progress.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken {
    state: Arc<State>,
}

/// Tells whether somebody wants the work to stop.
type Asking = Box<dyn Fn() -> bool + Send + Sync>;

#[derive(Default)]
struct State {
    cancelled: AtomicBool,
    asking: Option<Asking>,
    done: AtomicU64,
    total: AtomicU64,
    stage: Mutex<&'static str>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("cancelled", &self.cancelled)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl CancellationToken {
    /// Makes a token that nobody has cancelled.
    pub fn new() -> CancellationToken {
        CancellationToken::default()
    }

    /// Makes a token for work on the very thread that would have to cancel it: at every check `interrupted` is asked
    /// whether to stop.
    pub fn asking(interrupted: impl Fn() -> bool + Send + Sync + 'static) -> CancellationToken {
        let state = State { asking: Some(Box::new(interrupted)), ..State::default() };
        CancellationToken { state: Arc::new(state) }
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.state.cancelled.store(true, Ordering::Relaxed);
    }

    /// Tells whether the work has been asked to stop.
    pub fn is_cancelled(&self) -> bool {
        if !self.state.cancelled.load(Ordering::Relaxed)
            && self.state.asking.as_ref().is_some_and(|asked| asked())
        {
            self.cancel();
        }
        self.state.cancelled.load(Ordering::Relaxed)
    }

    /// Fails once the work has been cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Says that a stage of the work begins, in a few words for people
    /// ("transfer functions"), and how many steps it has (0 where unknown).
    pub fn begin(&self, stage: &'static str, total: u64) {
        *self.state.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.set_total(total);
    }

    /// Says how many steps the present stage has in all, none of them done.
    pub fn set_total(&self, total: u64) {
        self.state.done.store(0, Ordering::Relaxed);
        self.state.total.store(total, Ordering::Relaxed);
    }

    /// Says that some steps are done.
    pub fn advance(&self, steps: u64) {
        self.state.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// Returns the steps done and the steps in all (0 where unknown).
    pub fn progress(&self) -> (u64, u64) {
        (self.state.done.load(Ordering::Relaxed), self.state.total.load(Ordering::Relaxed))
    }

    /// Returns what is being done, empty where nobody said.
    pub fn stage(&self) -> &'static str {
        *self.state.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
