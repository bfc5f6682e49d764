//! A stage of a model: computed when it is first asked for, and kept.

use crate::QueryError;
use paynter_base::Diagnostics;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A result that is computed at most once, or why there is none. Cancelled work leaves it open.
pub(crate) struct Stage<T> {
    known: OnceLock<Result<Arc<T>, Diagnostics>>,
    /// Held while somebody computes it, so that others wait instead of doing the same.
    computing: Mutex<()>,
}

impl<T> Default for Stage<T> {
    fn default() -> Stage<T> {
        Stage { known: OnceLock::new(), computing: Mutex::new(()) }
    }
}

impl<T> Stage<T> {
    /// A stage that is known from the beginning.
    pub fn of(value: Arc<T>) -> Stage<T> {
        Stage { known: OnceLock::from(Ok(value)), computing: Mutex::new(()) }
    }

    /// Whether it has been computed.
    pub fn is_known(&self) -> bool {
        self.known.get().is_some()
    }

    /// The result, computed now if nobody has asked before.
    pub fn get(&self, compute: impl FnOnce() -> Result<T, QueryError>) -> Result<Arc<T>, QueryError> {
        let _turn = match self.known.get() {
            Some(known) => return known.clone().map_err(QueryError::Wrong),
            None => self.computing.lock().unwrap_or_else(PoisonError::into_inner),
        };
        if let Some(known) = self.known.get() {
            return known.clone().map_err(QueryError::Wrong);
        }
        let found = match compute() {
            Ok(value) => Ok(Arc::new(value)),
            Err(QueryError::Wrong(findings)) => Err(findings),
            Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
        };
        self.known.get_or_init(|| found).clone().map_err(QueryError::Wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn it_is_computed_once_for_all_threads_and_again_only_after_cancellation() {
        let stage: Stage<u32> = Stage::default();
        let computed = AtomicUsize::new(0);
        assert!(matches!(stage.get(|| Err(QueryError::Cancelled)), Err(QueryError::Cancelled)));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let found = stage.get(|| {
                        computed.fetch_add(1, Ordering::SeqCst);
                        Ok(7)
                    });
                    assert_eq!(found.ok().as_deref(), Some(&7));
                });
            }
        });
        assert_eq!(computed.load(Ordering::SeqCst), 1);
    }
}
