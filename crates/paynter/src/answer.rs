//! Answers: results as data, with the findings that belong to them.

use paynter_algebra::{Expr, Expression, Pool};
pub use paynter_base::QueryError;
use paynter_base::number::SIGNIFICANT_DIGITS;
use paynter_base::{Cancelled, Diagnostic, Diagnostics, SourceMap};
use paynter_export::Target;
use paynter_graph::BondGraph;
use std::ops::Deref;
use std::sync::Arc;

/// What a question leads to: an answer, or why there is none.
pub type Asked<T> = Result<Answer<T>, QueryError>;

/// The answer to a question: the result, the expressions that it is made of, and its findings.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    /// The result.
    pub result: T,
    /// What was found out on the way, by place: those of the model and of every stage that the answer needed.
    pub findings: Diagnostics,
    /// The files that the findings are about.
    pub sources: Arc<SourceMap>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) graph: Arc<BondGraph>,
}

impl<T> Answer<T> {
    /// The graph that the answer is about, with the values that its parameters had.
    pub fn graph(&self) -> &BondGraph {
        &self.graph
    }

    /// An expression of the result, to be printed, differentiated or evaluated.
    pub fn expression(&self, expr: Expr) -> Expression {
        Expression::new(self.pool.clone(), expr)
    }

    /// The pool that the expressions of the result live in.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The same answer, whose expressions are written for people: decimals where they are short instead of exact
    /// fractions, polynomials by the powers of s.
    pub fn for_people(mut self) -> Answer<T> {
        let mut pool = self.overlay();
        pool.write_for_people();
        let s = pool.symbol("s");
        pool.order_by_powers_of(s);
        self.pool = Arc::new(pool);
        self
    }

    /// The same answer, whose numbers are rounded as in tables.
    pub fn rounded(mut self) -> Answer<T> {
        let mut pool = self.overlay();
        pool.round_to_digits(SIGNIFICANT_DIGITS);
        self.pool = Arc::new(pool);
        self
    }

    /// A pool for printing in a notation: typeset polynomials are written by the powers of s.
    pub(crate) fn overlay_for(&self, notation: &dyn Target) -> Pool {
        let mut pool = self.overlay();
        order_for(&mut pool, notation);
        pool
    }

    /// A pool for printing: notations make names of their own.
    pub(crate) fn overlay(&self) -> Pool {
        Pool::over(&self.pool)
    }

    /// An answer made of this one, with what is found on the way.
    pub(crate) fn and_then<U>(
        self,
        make: impl FnOnce(&T, &mut Diagnostics) -> Result<U, QueryError>,
    ) -> Asked<U> {
        let Answer { result, mut findings, sources, pool, graph } = self;
        let made = make(&result, &mut findings);
        findings.sort();
        match made {
            Ok(result) => Ok(Answer { result, findings, sources, pool, graph }),
            Err(failure) => Err(after(&findings, failure)),
        }
    }

    /// The same answer with another result.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        let Answer { result, findings, sources, pool, graph } = self;
        Answer { result: change(result), findings, sources, pool, graph }
    }
}

impl<T> Deref for Answer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.result
    }
}

/// Orders typeset polynomials by the powers of s.
pub(crate) fn order_for(pool: &mut Pool, notation: &dyn Target) {
    if notation.is_typeset() {
        let s = pool.symbol("s");
        pool.order_by_powers_of(s);
    }
}

/// A question without an answer for one reason.
pub(crate) fn refused(diagnostic: Diagnostic) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    QueryError::Wrong(diagnostics)
}

/// Puts what was known before in front of the reason why a pass has failed.
pub(crate) fn after(before: &Diagnostics, failure: QueryError) -> QueryError {
    match failure {
        QueryError::Cancelled => QueryError::Cancelled,
        QueryError::Wrong(found) => {
            let mut diagnostics = before.clone();
            diagnostics.extend(found);
            QueryError::Wrong(diagnostics)
        }
    }
}

/// Lets an answer be missing without ending the question, unless somebody cancels it.
pub(crate) fn optional<T>(found: Result<T, QueryError>) -> Result<Option<T>, Cancelled> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(QueryError::Wrong(_)) => Ok(None),
        Err(QueryError::Cancelled) => Err(Cancelled),
    }
}
