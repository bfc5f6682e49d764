//! The limits of symbolic work: a budget of terms and steps, and cancellation.

use std::cell::Cell;
use std::fmt;

use paynter_base::{CancellationToken, Cancelled};

/// How large a result may become and how much effort it may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The largest number of terms of any one polynomial.
    pub terms: usize,
    /// The largest number of elementary steps (products of terms, operations
    /// modulo a prime), about 10 to 50 nanoseconds each.
    pub steps: u64,
}

impl Budget {
    /// The budget of a number of terms, with the effort that polynomials of that size usually take.
    pub fn of_terms(terms: usize) -> Budget {
        Budget { terms, steps: (terms as u64).saturating_mul(100) }
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { terms: 200_000, steps: 200_000_000 }
    }
}

/// Why a polynomial computation ended without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolyError {
    /// The result, or something on the way to it, is larger than the budget.
    BudgetExceeded {
        /// What was being computed, as a noun phrase.
        what: &'static str,
        /// The terms it had when the budget ended, or the budget of steps
        /// where effort and not size was the limit.
        terms: u64,
    },
    /// The work was stopped from outside.
    Cancelled,
    /// Something was divided by zero, or a singular matrix was to be inverted.
    DivisionByZero,
    /// An exponent is too large.
    ExponentTooLarge,
    /// There are too many variables for one polynomial.
    TooManyVariables {
        /// How many there are.
        variables: usize,
    },
}

impl fmt::Display for PolyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolyError::BudgetExceeded { what, terms } => {
                write!(f, "{what} needs more than the budget allows (stopped at {terms})")
            }
            PolyError::Cancelled => write!(f, "the work was cancelled"),
            PolyError::DivisionByZero => write!(f, "division by zero"),
            PolyError::ExponentTooLarge => write!(f, "an exponent is too large"),
            PolyError::TooManyVariables { variables } => {
                write!(f, "{variables} variables are too many for one expanded polynomial")
            }
        }
    }
}

impl std::error::Error for PolyError {}

impl PolyError {
    /// Says what was wanted in place of what was being done on the way.
    pub(super) fn on_the_way_to(self, what: &'static str) -> PolyError {
        match self {
            PolyError::BudgetExceeded { terms, .. } => PolyError::BudgetExceeded { what, terms },
            other => other,
        }
    }
}

impl From<Cancelled> for PolyError {
    fn from(_: Cancelled) -> PolyError {
        PolyError::Cancelled
    }
}

/// The budget that is left for a piece of work, and the token to stop it.
#[derive(Debug, Clone)]
pub struct Work {
    budget: Budget,
    token: CancellationToken,
    spent: Cell<u64>,
    next_check: Cell<u64>,
}

/// Steps between two checks of the token: some tenths of a millisecond.
const CHECK_EVERY: u64 = 1 << 14;

impl Work {
    /// Starts work under a budget; the token can stop it.
    pub fn new(budget: Budget, token: &CancellationToken) -> Work {
        Work { budget, token: token.clone(), spent: Cell::new(0), next_check: Cell::new(CHECK_EVERY) }
    }

    /// Returns the budget the work began with.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Returns the steps spent so far.
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Counts steps, and fails when they are used up or the work is cancelled.
    #[inline]
    pub fn spend(&self, what: &'static str, steps: u64) -> Result<(), PolyError> {
        let spent = self.spent.get().saturating_add(steps);
        self.spent.set(spent);
        if spent >= self.next_check.get() { self.check_limits(what) } else { Ok(()) }
    }

    #[cold]
    fn check_limits(&self, what: &'static str) -> Result<(), PolyError> {
        self.token.check()?;
        self.next_check.set(self.spent.get().saturating_add(CHECK_EVERY));
        if self.spent.get() > self.budget.steps {
            // Every later request fails as well.
            self.next_check.set(0);
            return Err(PolyError::BudgetExceeded { what, terms: self.budget.steps });
        }
        Ok(())
    }

    /// Fails if a polynomial of so many terms is larger than the budget.
    #[inline]
    pub fn allow_terms(&self, what: &'static str, terms: usize) -> Result<(), PolyError> {
        if terms > self.budget.terms {
            return Err(PolyError::BudgetExceeded { what, terms: terms as u64 });
        }
        Ok(())
    }
}

impl Default for Work {
    fn default() -> Work {
        Work::new(Budget::default(), &CancellationToken::new())
    }
}
