//! A point: the values of all variables at once, as of an operating point or
//! a sample of a run.

use crate::acausal::{Acausal, Meaning, Place, Point};
use crate::tolerance::{
    GIVEN_FLOOR, LEAST_MOVE, MOST_CHOICES, POINT, POINT_FLOOR, POLE_GROWTH, REST_FLOOR, SWITCHING_TIME,
    SWITCHING_WIDTH,
};
use crate::{Check, Checked, Contradiction};
use paynter_algebra::{EvalError, Expr, Func, Interval, Node, Pool};

impl Acausal<'_> {
    /// Checks every law and junction at a point, and the outputs there; at rest also that nothing changes, but
    /// for the variables in `drifting`, in rising order.
    pub fn check_point(
        &self,
        pool: &mut Pool,
        what: &str,
        point: &Point,
        outputs: &[f64],
        rest: Option<&[usize]>,
    ) -> Checked {
        let scale = |at: usize| point.variables[at].abs().max(point.scales[at]);
        // Where everything of one kind rests, only rounding is left of it, and nothing of its kind to compare with.
        let all = point.variables.iter().fold(0.0f64, |most, z| most.max(z.abs()));
        let least = if rest.is_some() { REST_FLOOR * all } else { 0.0 };
        let rounding = |at: usize| (POINT_FLOOR * scale(at)).max(least);
        let mut worst: Option<(f64, String)> = None;
        let mut is_event: Option<bool> = None;
        let mut note = |relative: f64, name: &dyn Fn() -> String| {
            if worst.as_ref().is_none_or(|(most, _)| relative > *most || relative.is_nan()) {
                worst = Some((relative, name()));
            }
        };
        for (k, row) in self.rows.iter().enumerate() {
            let still = row
                .rate
                .is_none_or(|state| rest.is_some_and(|drifting| drifting.binary_search(&state).is_err()));
            if !still {
                continue;
            }
            let (mut sum, mut size) = (0.0, 0.0);
            for (at, factor) in &row.terms {
                let term = factor * point.variables[*at];
                sum += term;
                // What rests is small beside what makes it up.
                size += if row.rate.is_some() {
                    scale(*at).max(least / POINT)
                } else {
                    term.abs() + rounding(*at)
                };
            }
            if let Some(value) = row.value {
                let given = sum;
                let Some(found) = self.misses(pool, (row.place, value), point, (sum, size), &rounding) else {
                    continue;
                };
                (sum, size) = found;
                if relative(sum, size) > POINT
                    && *is_event.get_or_insert_with(|| self.is_event(pool, point))
                    && self.lies_between(pool, (row.place, value), point, given)
                {
                    continue;
                }
            }
            note(relative(sum, size), &|| self.describe(k));
        }
        for (output, given) in self.graph.outputs.iter().zip(outputs).filter(|(_, given)| given.is_finite()) {
            let value = (Place::Nowhere, output.value);
            let start = (*given, given.abs());
            if let Some((mut sum, size)) = self.misses(pool, value, point, start, &rounding) {
                if point.tolerance > 0.0 && relative(sum, size) > POINT {
                    sum = (sum.abs() - self.tolerated(pool, output.value, point)).max(0.0);
                }
                if relative(sum, size) > POINT
                    && *is_event.get_or_insert_with(|| self.is_event(pool, point))
                    && self.lies_between(pool, value, point, *given)
                {
                    continue;
                }
                note(relative(sum, size), &|| format!("the output `{}`", output.name));
            }
        }
        let (residual, equation) = worst.unwrap_or((0.0, String::new()));
        let what = what.to_owned();
        if residual <= POINT {
            Ok(vec![Check { what, residual }])
        } else {
            Err(Contradiction { what, residual, equation, of_sensitivity: false })
        }
    }

    /// Whether a law changes its branch at a point: some are then on one side of it, and others may have been taken on
    /// the other.
    fn is_event(&self, pool: &mut Pool, point: &Point) -> bool {
        let laws = self.rows.iter().filter_map(|row| Some((row.place, row.value?)));
        let outputs = self.graph.outputs.iter().map(|output| (Place::Nowhere, output.value));
        let all: Vec<(Place, Expr)> = laws.chain(outputs).collect();
        all.into_iter().any(|(place, value)| self.switches_at(pool, place, value, point, SWITCHING_WIDTH))
    }

    /// Whether what an expression should be is its value on one branch of its choices, or between these values, as
    /// where a block sticks or a root is regularised.
    fn lies_between(
        &self,
        pool: &mut Pool,
        (place, value): (Place, Expr),
        point: &Point,
        wanted: f64,
    ) -> bool {
        let of = |symbol| self.value_at(place, symbol, point);
        let branches = pool.branches(value, MOST_CHOICES);
        let values: Vec<f64> = branches.into_iter().filter_map(|e| pool.eval(e, &of).ok()).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let margin = POINT * least.abs().max(most.abs()).max(wanted.abs());
        least - margin <= wanted && wanted <= most + margin
    }

    /// What is left of a sum less a value, with the size of both; none where the value stands in a table. Where the terms cancel, their size is what rounding of the variables makes of them.
    /// Infinitely much is left where the value exists neither there nor beside.
    fn misses(
        &self,
        pool: &mut Pool,
        (place, value): (Place, Expr),
        point: &Point,
        (mut sum, mut size): (f64, f64),
        rounding: &dyn Fn(usize) -> f64,
    ) -> Option<(f64, f64)> {
        let terms = match pool.node(value) {
            Node::Sum(list) => list.to_vec(),
            _ => vec![value],
        };
        let of = |symbol| self.value_at(place, symbol, point);
        let mut total = 0.0;
        // A term without a value, and what stands in its place.
        let mut open: Option<(Interval, Option<f64>)> = None;
        for term in terms {
            let part = match pool.eval(term, &of) {
                Ok(part) => part,
                Err(EvalError::NotFinite(_)) => {
                    let limit = self.limit_of(pool, (place, term), point, rounding);
                    let range = self.range_about(pool, (place, term), point, rounding);
                    match (limit, [range.lo().is_finite(), range.hi().is_finite()]) {
                        // A part of it may overflow without the whole.
                        (None, [true, true]) => return None,
                        (None, [false, false]) => return Some((f64::INFINITY, size)),
                        (limit, _) => {
                            open = Some((range, limit));
                            limit.unwrap_or(0.0)
                        }
                    }
                }
                Err(_) => return None,
            };
            total += part;
            size += part.abs();
        }
        sum -= total;
        if let Some((range, limit)) = open.filter(|_| relative(sum, size) > POINT) {
            // At the end of its domain, as ln x where x is nothing but rounding, it may be all on one side.
            let one_sided = range.lo().is_finite() != range.hi().is_finite();
            let wanted = sum + limit.unwrap_or(0.0);
            if one_sided && range.lo() <= wanted && wanted <= range.hi() {
                return None;
            }
            if limit.is_none() {
                return Some((f64::INFINITY, size));
            }
        }
        if relative(sum, size) > POINT {
            for symbol in pool.symbols(value) {
                let by = match self.meaning(place, symbol) {
                    Some(Meaning::Variable(at, _)) => rounding(at),
                    _ => of(symbol).map_or(0.0, |value| GIVEN_FLOOR * value.abs()),
                };
                let moved = |other| of(other).map(|v| if other == symbol { v + by } else { v });
                size += pool.eval(value, &moved).map_or(0.0, |moved| (moved - total).abs());
            }
        }
        Some((sum, size))
    }

    /// By how much an output changes where what it reads is only known to the tolerance.
    fn tolerated(&self, pool: &mut Pool, output: Expr, point: &Point) -> f64 {
        let of = |symbol| self.value_at(Place::Nowhere, symbol, point);
        let Ok(now) = pool.eval(output, &of) else { return 0.0 };
        let moves = pool.symbols(output).into_iter().filter_map(|symbol| {
            let Some(Meaning::Variable(at, _)) = self.meaning(Place::Nowhere, symbol) else { return None };
            let by = point.tolerance * point.variables[at].abs().max(point.scales[at]);
            let moved = |other| of(other).map(|v| if other == symbol { v + by } else { v });
            Some((pool.eval(output, &moved).ok()? - now).abs())
        });
        moves.sum()
    }

    /// The range of a term about a point, by interval arithmetic.
    fn range_about(
        &self,
        pool: &mut Pool,
        (place, term): (Place, Expr),
        point: &Point,
        rounding: &dyn Fn(usize) -> f64,
    ) -> Interval {
        let about = |symbol| {
            let Some(value) = self.value_at(place, symbol, point) else { return Interval::ALL };
            match self.meaning(place, symbol) {
                Some(Meaning::Variable(at, _)) => {
                    let by = rounding(at).max(LEAST_MOVE);
                    Interval::closed(value - by, value + by)
                }
                _ => Interval::point(value),
            }
        };
        pool.range(term, &about)
    }

    /// The limit of a term that has no value at a point: what it is where rounding moves the variables, if that
    /// depends little on how far. q·ln q is nothing at q = 0, but a pole remains one.
    fn limit_of(
        &self,
        pool: &Pool,
        (place, term): (Place, Expr),
        point: &Point,
        rounding: &dyn Fn(usize) -> f64,
    ) -> Option<f64> {
        let beside = |part: f64| {
            let moved = |symbol| {
                let value = self.value_at(place, symbol, point)?;
                Some(match self.meaning(place, symbol) {
                    Some(Meaning::Variable(at, _)) => value + part * rounding(at).max(LEAST_MOVE),
                    _ => value,
                })
            };
            pool.eval(term, &moved).ok()
        };
        let limit = |side: f64| {
            let (near, nearer) = (beside(side)?, beside(0.5 * side)?);
            (nearer.abs() <= POLE_GROWTH * near.abs()).then_some(nearer)
        };
        limit(1.0).or_else(|| limit(-1.0))
    }

    /// Whether a law changes its branch within this part of the size of its variables about a point.
    pub(crate) fn switches_at(
        &self,
        pool: &mut Pool,
        place: Place,
        value: Expr,
        point: &Point,
        width: f64,
    ) -> bool {
        let of = |symbol| self.value_at(place, symbol, point);
        pool.reachable(&[value]).into_iter().any(|node| {
            let argument = match pool.node(node) {
                Node::Call(Func::Sign | Func::Abs, list) => list[0],
                Node::Call(Func::Min | Func::Max, list) => {
                    let (a, b) = (list[0], list[1]);
                    pool.sub(a, b)
                }
                Node::Compare(_, a, b) => pool.sub(a, b),
                _ => return false,
            };
            let Ok(now) = pool.eval(argument, &of) else { return true };
            // As far as it moves within what its variables are known to.
            let moves = pool.symbols(argument).into_iter().map(|symbol| {
                let by = match self.meaning(place, symbol) {
                    Some(Meaning::Variable(at, _)) => width * point.variables[at].abs().max(point.scales[at]),
                    _ => SWITCHING_TIME * of(symbol).unwrap_or(0.0).abs(),
                };
                let moved = |other| of(other).map(|v| if other == symbol { v + by } else { v });
                pool.eval(argument, &moved).map_or(f64::INFINITY, |moved| (moved - now).abs())
            });
            now.abs() <= moves.sum()
        })
    }
}

fn relative(missed: f64, size: f64) -> f64 {
    if missed == 0.0 || missed.is_infinite() { missed.abs() } else { missed.abs() / size }
}
