//! Cancellation and progress of long work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The work was stopped from outside (Ctrl-C, a closed browser tab).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// Handed to long work: it asks [`CancellationToken::check`] now and then, and says how
/// far it is. The holder of a clone cancels it and reads the progress.
///
/// A token may have a budget of work, counted in operations on numbers, so that every machine comes as far: long work
/// says what it has spent and ends, with what it has found, when nothing is left.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken {
    state: Arc<State>,
    budget: Option<Arc<Budget>>,
}

/// Operations that are left, and the budget that they are a part of.
#[derive(Debug)]
struct Budget {
    left: AtomicU64,
    whole: Option<Arc<Budget>>,
}

impl Budget {
    fn spend(&self, operations: u64) {
        let less = |left: u64| Some(left.saturating_sub(operations));
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if let Some(whole) = &self.whole {
            whole.spend(operations);
        }
    }

    fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0 || self.whole.as_ref().is_some_and(|whole| whole.is_spent())
    }
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
        CancellationToken { state: Arc::new(state), budget: None }
    }

    /// The same token with a budget of so many operations, which are a part of those that it has itself.
    #[must_use]
    pub fn with_budget(&self, operations: u64) -> CancellationToken {
        let budget = Budget { left: AtomicU64::new(operations), whole: self.budget.clone() };
        CancellationToken { state: self.state.clone(), budget: Some(Arc::new(budget)) }
    }

    /// The same token with a budget of a share of what is left; without one where it has none.
    #[must_use]
    pub fn with_share(&self, share: f64) -> CancellationToken {
        match &self.budget {
            Some(budget) => self.with_budget((budget.left.load(Ordering::Relaxed) as f64 * share) as u64),
            None => self.clone(),
        }
    }

    /// Says that so many operations have been done.
    pub fn spend(&self, operations: u64) {
        if let Some(budget) = &self.budget {
            budget.spend(operations);
        }
    }

    /// The operations that are left of the budget, where there is one.
    pub fn left(&self) -> Option<u64> {
        self.budget.as_ref().map(|budget| budget.left.load(Ordering::Relaxed))
    }

    /// Tells whether nothing is left of the budget.
    pub fn is_spent(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.is_spent())
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
