//! Which of several forms of an expression a person would write: lowest terms
//! where that is shorter, the form it was derived in where not.

use paynter_base::CancellationToken;
use rustc_hash::FxHashMap;

use super::laurent::Laurent;
use super::{Budget, Work, normal};
use crate::Pool;
use crate::node::{Expr, Node};

/// What one entry may cost; larger ones are left as they were derived.
const BUDGET: Budget = Budget { terms: 300, steps: 1_000_000 };

/// Expressions with more nodes than this are left as they were derived.
const NODES: usize = 400;

/// What all entries of a model together may cost. Each of them alone is within its budget, but a matrix of a
/// model with many dependent storages has hundreds that all use it up.
const STEPS_FOR_ALL: u64 = 10_000_000;

/// Brings the expressions of one result to lowest terms where that makes them shorter: each once, and only as
/// long as the effort for all of them lasts.
#[derive(Debug)]
pub struct LowestTerms<'a> {
    token: &'a CancellationToken,
    known: FxHashMap<Expr, Expr>,
    lengths: Lengths,
    steps_left: u64,
}

impl<'a> LowestTerms<'a> {
    /// Starts with no expression known; the token can stop the work.
    pub fn new(token: &'a CancellationToken) -> LowestTerms<'a> {
        LowestTerms {
            token,
            known: FxHashMap::default(),
            lengths: Lengths::default(),
            steps_left: STEPS_FOR_ALL,
        }
    }

    /// Brings an expression to lowest terms if that makes it shorter.
    pub fn of(&mut self, pool: &mut Pool, e: Expr) -> Expr {
        if let Some(form) = self.known.get(&e) {
            return *form;
        }
        let work = Work::new(Budget { steps: BUDGET.steps.min(self.steps_left), ..BUDGET }, self.token);
        let form = readable_within(pool, e, &work, &mut self.lengths);
        self.steps_left = self.steps_left.saturating_sub(work.spent());
        self.known.insert(e, form);
        form
    }

    /// The shortest of several forms, where fractions within fractions count as long; the first of equals.
    pub fn nicest(&mut self, pool: &Pool, candidates: &[Expr]) -> Expr {
        self.lengths.shortest(pool, candidates)
    }
}

/// Brings an expression to lowest terms if that makes it shorter.
pub fn readable(pool: &mut Pool, e: Expr, token: &CancellationToken) -> Expr {
    readable_within(pool, e, &Work::new(BUDGET, token), &mut Lengths::default())
}

fn readable_within(pool: &mut Pool, e: Expr, work: &Work, lengths: &mut Lengths) -> Expr {
    if pool.is_monomial(e) || pool.reachable(&[e]).len() > NODES {
        return e;
    }
    let normal = match Laurent::of(pool, e) {
        Some(laurent) => {
            let least = laurent.least_length(pool);
            if least > 0 && lengths.within(pool, e, least - 1).is_some() {
                return e;
            }
            laurent.lowest_terms(pool)
        }
        None => normal(pool, e, work),
    };
    let Ok(normal) = normal else { return e };
    lengths.shortest(pool, &[normal, e])
}

/// Expressions of more characters than this are compared by their numbers of nodes: nobody reads them.
const LONG: usize = 20_000;

/// What is known of the lengths of expressions.
#[derive(Debug, Default)]
struct Lengths(FxHashMap<Expr, Length>);

#[derive(Debug, Clone, Copy)]
enum Length {
    Exactly(usize),
    MoreThan(usize),
}

impl Lengths {
    /// How long an expression is; nothing where that is more than a limit.
    fn within(&mut self, pool: &Pool, e: Expr, limit: usize) -> Option<usize> {
        match self.0.get(&e) {
            Some(Length::Exactly(length)) => return (*length <= limit).then_some(*length),
            Some(Length::MoreThan(least)) if *least >= limit => return None,
            _ => {}
        }
        let found = length(pool, e, limit);
        self.0.insert(e, found.map_or(Length::MoreThan(limit), Length::Exactly));
        found
    }

    fn shortest(&mut self, pool: &Pool, candidates: &[Expr]) -> Expr {
        let first = candidates[0];
        if candidates.iter().all(|e| *e == first) {
            return first;
        }
        let mut best: Option<(usize, Expr)> = None;
        for candidate in candidates {
            let limit = best.map_or(LONG, |(length, _)| length - 1);
            if let Some(length) = self.within(pool, *candidate, limit) {
                best = Some((length, *candidate));
            }
        }
        let smallest =
            || candidates.iter().copied().min_by_key(|e| pool.written_size(&[*e])).unwrap_or(first);
        best.map_or_else(smallest, |(_, candidate)| candidate)
    }
}

/// What a quotient inside a denominator costs, in characters.
const NESTED: usize = 8;

/// How long an expression is when written, where fractions within fractions count as long; nothing where
/// that is more than a limit.
fn length(pool: &Pool, e: Expr, limit: usize) -> Option<usize> {
    let nested = NESTED * nested_quotients(pool, e);
    let written = pool.written_length(e, limit.checked_sub(nested)?)?;
    Some(written + nested)
}

/// How many denominators hold quotients themselves.
fn nested_quotients(pool: &Pool, e: Expr) -> usize {
    let denominator = |node: &Expr| match pool.node(*node) {
        Node::Power(base, exponent) if pool.as_int(exponent).is_some_and(|k| k < 0) => Some(base),
        _ => None,
    };
    let all = pool.reachable(&[e]);
    let denominators = all.iter().filter_map(denominator);
    denominators
        .filter(|base| pool.as_symbol(*base).is_none())
        .filter(|base| pool.reachable(&[*base]).iter().any(|inner| denominator(inner).is_some()))
        .count()
}
