//! Which combinations of unknowns an experiment determines: rank and singular vectors of the sensitivity matrix in
//! relative changes, and what people would write for the directions without effect.

use crate::problem::{Evaluation, Problem};
use crate::search::Cost;
use crate::tolerance::{
    CLEARLY_LARGER, DIRECTION_SHARE, EXPONENT_ERROR, MOST_DENOMINATOR, NEXT_TO_NOTHING, SECOND_LOOK,
    UNFOLLOWED_SHARE,
};
use crate::unknown::Scaling;
use paynter_base::number::plain;
use paynter_base::random::Random;
use paynter_numerics::linalg::SingularValues;

/// Which directions of the unknowns the data determine.
#[derive(Debug, Clone, PartialEq)]
pub struct Identifiability {
    /// The unknowns, in the order of the components of directions.
    pub names: Vec<String>,
    /// The singular values of the sensitivity matrix by relative changes of the unknowns, the largest first.
    pub singular_values: Vec<f64>,
    /// Their right singular vectors: directions of relative changes.
    pub directions: Vec<Vec<f64>>,
    /// The number of directions that the data determine.
    pub rank: usize,
    /// What is not determined, as people would say it.
    pub undetermined: Vec<Undetermined>,
}

/// Unknowns that the data determine only together, or not at all.
#[derive(Debug, Clone, PartialEq)]
pub struct Undetermined {
    /// The unknowns.
    pub names: Vec<String>,
    /// What is determined of them: products, quotients or sums; empty where nothing is, or nothing simple.
    pub determined: Vec<String>,
    /// What it is, in words.
    pub words: String,
}

/// By what a relative change of each unknown is measured: its own size, or where that is next to nothing, as much as has
/// the effect of the others, so that no unit is preferred.
fn measures(problem: &Problem<'_>, at: &Evaluation) -> Vec<f64> {
    let lengths = at.lengths();
    let values = problem.values(&at.z);
    let derivative = |j: usize| problem.unknowns[j].derivative(at.z[j]).abs();
    let own = (0..at.count()).map(|j| values[j].abs() / derivative(j) * lengths[j]);
    let most = own.fold(0.0_f64, |most, effect| if effect > most { effect } else { most });
    let measure =
        |j: usize| {
            let (unknown, value) = (&problem.unknowns[j], values[j].abs());
            match unknown.scaling {
                Scaling::Linear(scale) if value <= NEXT_TO_NOTHING * scale => {
                    if most > 0.0 && lengths[j] > 0.0 { most / lengths[j] * derivative(j) } else { scale }
                }
                _ => value,
            }
        };
    (0..at.count()).map(measure).collect()
}

/// The same in the variables of the search.
pub(crate) fn sizes(problem: &Problem<'_>, at: &Evaluation) -> Vec<f64> {
    let derivatives = problem.unknowns.iter().zip(&at.z).map(|(unknown, z)| unknown.derivative(*z).abs());
    measures(problem, at).iter().zip(derivatives).map(|(measure, derivative)| measure / derivative).collect()
}

/// Scales the columns of a square matrix that is given row by row.
pub(crate) fn scaled(rows: &[f64], sizes: &[f64]) -> Vec<f64> {
    rows.chunks(sizes.len().max(1))
        .flat_map(|row| row.iter().zip(sizes).map(|(entry, size)| entry * size))
        .collect()
}

/// The triangle of the sensitivities by relative changes, dp/p, row by row.
fn relative(problem: &Problem<'_>, at: &Evaluation) -> Vec<f64> {
    let signs = problem.values(&at.z).into_iter().map(|value| if value < 0.0 { -1.0 } else { 1.0 });
    let sizes: Vec<f64> = sizes(problem, at).iter().zip(signs).map(|(size, sign)| size * sign).collect();
    scaled(&at.sensitivities(), &sizes)
}

/// Measures with the signs of the values, and whether they are these values.
fn signed(problem: &Problem<'_>, at: &Evaluation) -> (Vec<f64>, Vec<bool>) {
    let (values, measures) = (problem.values(&at.z), measures(problem, at));
    let pairs = || values.iter().zip(&measures);
    let own = pairs().map(|(value, measure)| value.abs() == *measure).collect();
    (pairs().map(|(value, measure)| if *value < 0.0 { -measure } else { *measure }).collect(), own)
}

/// The variables of the search at a point from which the way since the start along what the data do not determine is
/// taken back: by relative changes, which keep products and quotients. None where all is determined.
pub(crate) fn put_back(
    problem: &Problem<'_>,
    at: &Evaluation,
    start: &[f64],
    share: f64,
) -> Option<Vec<f64>> {
    let found = SingularValues::new(at.count(), &relative(problem, at))?;
    let null = &found.right[found.rank(share)..];
    if null.is_empty() {
        return None;
    }
    let (values, (measures, own)) = (problem.values(&at.z), signed(problem, at));
    let is_relative = |j: usize| values[j] * start[j] > 0.0 && own[j];
    let way = |j: usize| match is_relative(j) {
        true => (values[j] / start[j]).ln(),
        false => (values[j] - start[j]) / measures[j],
    };
    let lengths: Vec<f64> =
        null.iter().map(|v| v.iter().enumerate().map(|(j, part)| part * way(j)).sum()).collect();
    let moved = |j: usize| -> f64 { null.iter().zip(&lengths).map(|(v, length)| v[j] * length).sum() };
    let put = |j: usize| match is_relative(j) {
        true => values[j] * (-moved(j)).exp(),
        false => values[j] - measures[j] * moved(j),
    };
    Some(problem.unknowns.iter().enumerate().map(|(j, unknown)| unknown.to_search(put(j))).collect())
}

/// The same by changes that are measured by their effects, as steps of a search are: sums stay what they are.
pub(crate) fn put_back_by_effect(
    problem: &Problem<'_>,
    at: &Evaluation,
    start: &[f64],
    share: f64,
) -> Option<Vec<f64>> {
    // What has no effect is measured by itself.
    let sizes: Vec<f64> =
        at.lengths().iter().map(|length| if *length > 0.0 { 1.0 / length } else { 1.0 }).collect();
    let found = SingularValues::new(at.count(), &scaled(&at.sensitivities(), &sizes))?;
    let null = &found.right[found.rank(share)..];
    if null.is_empty() {
        return None;
    }
    let way = |j: usize| (at.z[j] - problem.unknowns[j].to_search(start[j])) / sizes[j];
    let lengths: Vec<f64> =
        null.iter().map(|v| v.iter().enumerate().map(|(j, part)| part * way(j)).sum()).collect();
    let moved = |j: usize| -> f64 { null.iter().zip(&lengths).map(|(v, length)| v[j] * length).sum() };
    Some((0..at.count()).map(|j| at.z[j] - sizes[j] * moved(j)).collect())
}

/// Whether one run can follow the records: changes of the unknowns by the tolerance of simulations then do not move what
/// is measured by a good part of it, or the fit shows that they do not.
pub(crate) fn is_followed(problem: &Problem<'_>, at: &Evaluation, tolerance: f64) -> bool {
    let effects = at.lengths().into_iter().zip(sizes(problem, at)).map(|(length, size)| length * size);
    let effect = effects.fold(0.0_f64, f64::max);
    let least = UNFOLLOWED_SHARE * (2.0 * problem.size()).sqrt();
    effect * tolerance <= least || (2.0 * at.cost).sqrt() <= least
}

/// A point a few per cent away, at which directions without effect are looked at again.
pub(crate) fn moved(problem: &Problem<'_>, at: &Evaluation) -> Vec<f64> {
    let mut random = Random::new(11);
    let shift = |((z, size), (low, high)): ((&f64, f64), (f64, f64))| {
        (z + SECOND_LOOK * size * random.symmetric()).clamp(low, high)
    };
    at.z.iter().zip(sizes(problem, at)).zip(problem.ranges()).map(shift).collect()
}

impl Identifiability {
    /// Judges a point; `elsewhere` gives another point, at which the same directions would have to be without effect.
    pub(crate) fn new(
        problem: &Problem<'_>,
        at: &Evaluation,
        elsewhere: &dyn Fn() -> Option<Evaluation>,
        share: f64,
    ) -> Identifiability {
        let n = at.count();
        let names: Vec<String> = problem.unknowns.iter().map(|unknown| unknown.name.clone()).collect();
        let Some(found) = SingularValues::new(n, &relative(problem, at)) else {
            let none = Vec::new();
            return Identifiability {
                names,
                singular_values: none,
                directions: Vec::new(),
                rank: 0,
                undetermined: Vec::new(),
            };
        };
        let rank = found.rank(share);
        let (values, own) = signed(problem, at);
        let null: Vec<Vec<f64>> = found.right[rank..].to_vec();
        // Only a direction without effect is worth another simulation.
        let other = if null.is_empty() { None } else { elsewhere() };
        let other = other.map(|point| Point {
            rows: relative(problem, &point),
            values: signed(problem, &point).0,
            share,
        });
        let undetermined = explain(&names, &null, (&values, &own), other.as_ref());
        Identifiability { names, singular_values: found.values, directions: found.right, rank, undetermined }
    }
}

/// A point at which directions are tried again.
struct Point {
    /// The triangle by relative changes.
    rows: Vec<f64>,
    /// The values of the unknowns.
    values: Vec<f64>,
    share: f64,
}

impl Point {
    /// Whether a direction of relative changes has no effect here either.
    fn is_without_effect(&self, direction: &[f64]) -> bool {
        let n = direction.len();
        let length = |list: &mut dyn Iterator<Item = f64>| list.fold(0.0_f64, f64::hypot);
        let effect =
            length(&mut (0..n).map(|i| (i..n).map(|j| self.rows[i * n + j] * direction[j]).sum::<f64>()));
        let whole = length(&mut self.rows.iter().copied());
        // Rounding grows from point to point, effects do not come back.
        effect <= 100.0 * self.share * whole * length(&mut direction.iter().copied())
    }
}

/// Brings a basis to reduced echelon form with the largest pivots; returns the columns of the pivots.
fn echelon(rows: &mut [Vec<f64>]) -> Vec<usize> {
    let mut pivots = Vec::new();
    for i in 0..rows.len() {
        let size = |j: &usize| {
            if pivots.contains(j) {
                0.0
            } else {
                rows[i..].iter().map(|row| row[*j].abs()).fold(0.0, f64::max)
            }
        };
        // The first of equal ones, so that names keep their order.
        let mut column = 0;
        for j in 0..rows[i].len() {
            if size(&j) > size(&column) * (1.0 + CLEARLY_LARGER) {
                column = j;
            }
        }
        let best = (i..rows.len())
            .max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))
            .unwrap_or(i);
        rows.swap(i, best);
        let pivot = rows[i][column];
        if pivot == 0.0 {
            continue;
        }
        rows[i].iter_mut().for_each(|entry| *entry /= pivot);
        let own = rows[i].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            let by = row[column];
            row.iter_mut().zip(&own).for_each(|(entry, own)| *entry -= by * own);
        }
        pivots.push(column);
    }
    pivots
}

/// A small fraction near a number: numerator and denominator.
fn fraction(value: f64) -> Option<(i64, i64)> {
    (1..=i64::from(MOST_DENOMINATOR)).find_map(|denominator| {
        let numerator = (value * denominator as f64).round();
        let near = (value - numerator / denominator as f64).abs() <= EXPONENT_ERROR;
        (near && numerator.abs() <= 12.0).then_some((numerator as i64, denominator))
    })
}

/// Says what a null space of relative changes means.
fn explain(
    names: &[String],
    null: &[Vec<f64>],
    (values, own_size): (&[f64], &[bool]),
    other: Option<&Point>,
) -> Vec<Undetermined> {
    let n = names.len();
    let mut found = Vec::new();
    if null.is_empty() {
        return found;
    }
    let mut basis = null.to_vec();
    let pivots = echelon(&mut basis);
    for row in &mut basis {
        row.iter_mut().filter(|entry| entry.abs() < DIRECTION_SHARE).for_each(|entry| *entry = 0.0);
    }
    // Directions that share unknowns are told together.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in 0..pivots.len() {
        let meets = |group: &Vec<usize>| {
            group.iter().any(|k| (0..n).any(|j| basis[*k][j] != 0.0 && basis[i][j] != 0.0))
        };
        let mut joined = vec![i];
        let (meeting, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        joined.extend(meeting.into_iter().flatten());
        joined.sort_unstable();
        groups = apart;
        groups.push(joined);
    }
    for group in groups {
        let involved: Vec<usize> = (0..n).filter(|j| group.iter().any(|k| basis[*k][*j] != 0.0)).collect();
        let list = involved.iter().map(|j| names[*j].clone()).collect::<Vec<_>>();
        let quoted =
            |list: &[String]| list.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if involved.len() == 1 {
            let words = format!("{} has no effect on what is measured", quoted(&list));
            found.push(Undetermined { names: list, determined: Vec::new(), words });
            continue;
        }
        let rows: Vec<&Vec<f64>> = group.iter().map(|k| &basis[*k]).collect();
        let own: Vec<usize> = group.iter().map(|k| pivots[*k]).collect();
        let rest: Vec<usize> = involved.iter().copied().filter(|j| !own.contains(j)).collect();
        // Of what is zero, or as good as that, there are no products.
        let measured = involved.iter().all(|j| own_size[*j]);
        let determined = measured
            .then(|| products(names, &rows, &own, &rest, other))
            .flatten()
            .or_else(|| sums(names, &rows, &own, &rest, values, other));
        let words = match &determined {
            Some(list) => {
                let is = if list.len() == 1 { "is" } else { "are" };
                format!(
                    "only {} {is} determined by these data, not {} one by one",
                    quoted(list),
                    quoted(&names_of(names, &involved))
                )
            }
            None => {
                let directions = rows.iter().map(|row| {
                    let largest = row.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
                    let parts = involved.iter().filter(|j| row[**j] != 0.0);
                    let part =
                        |j: &usize| format!("{} of `{}`", signed_percent(row[*j] / largest), names[*j]);
                    parts.map(part).collect::<Vec<_>>().join(", ")
                });
                format!(
                    "relative changes together have no effect: {}",
                    directions.collect::<Vec<_>>().join("; ")
                )
            }
        };
        found.push(Undetermined {
            names: names_of(names, &involved),
            determined: determined.unwrap_or_default(),
            words,
        });
    }
    found
}

fn names_of(names: &[String], places: &[usize]) -> Vec<String> {
    places.iter().map(|j| names[*j].clone()).collect()
}

fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{} %", plain(100.0 * share.abs(), 3))
}

/// The products of powers that stay what they are along directions of relative changes with simple components.
fn products(
    names: &[String],
    rows: &[&Vec<f64>],
    pivots: &[usize],
    rest: &[usize],
    other: Option<&Point>,
) -> Option<Vec<String>> {
    let rounded = rows.iter().map(|row| {
        let entries = row.iter().map(|entry| fraction(*entry).map(|(a, b)| a as f64 / b as f64));
        entries.collect::<Option<Vec<f64>>>()
    });
    let rounded = rounded.collect::<Option<Vec<_>>>()?;
    if other.is_some_and(|point| rounded.iter().any(|direction| !point.is_without_effect(direction))) {
        return None;
    }
    let list = rest.iter().map(|j| {
        // The exponents of the pivots make up for what the directions do to the other unknown.
        let mut powers = vec![(*j, (1, 1))];
        for (row, pivot) in rounded.iter().zip(pivots).filter(|(row, _)| row[*j] != 0.0) {
            powers.push((*pivot, fraction(-row[*j])?));
        }
        Some(product(names, powers))
    });
    list.collect()
}

/// A product of powers as people write it, with whole exponents.
fn product(names: &[String], mut powers: Vec<(usize, (i64, i64))>) -> String {
    let common = powers.iter().fold(1, |common, (_, (_, b))| lcm(common, *b));
    powers.iter_mut().for_each(|(_, (a, b))| (*a, *b) = (*a * common / *b, 1));
    let divisor = powers.iter().fold(0, |divisor, (_, (a, _))| gcd(divisor, a.abs())).max(1);
    powers.iter_mut().for_each(|(_, (a, _))| *a /= divisor);
    powers.sort_by_key(|(place, _)| *place);
    // The first with a positive exponent leads.
    if powers.first().is_some_and(|(_, (a, _))| *a < 0) {
        powers.iter_mut().for_each(|(_, (a, _))| *a = -*a);
    }
    let power = |(place, (a, _)): &(usize, (i64, i64))| match a.abs() {
        1 => names[*place].clone(),
        a => format!("{}^{a}", names[*place]),
    };
    let above: Vec<String> = powers.iter().filter(|(_, (a, _))| *a > 0).map(power).collect();
    let below: Vec<String> = powers.iter().filter(|(_, (a, _))| *a < 0).map(power).collect();
    match below.as_slice() {
        [] => above.join("*"),
        [one] => format!("{}/{one}", above.join("*")),
        several => format!("{}/({})", above.join("*"), several.join("*")),
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn lcm(a: i64, b: i64) -> i64 {
    a / gcd(a, b) * b
}

/// The sums that stay what they are along directions whose absolute changes are simple.
fn sums(
    names: &[String],
    rows: &[&Vec<f64>],
    pivots: &[usize],
    rest: &[usize],
    values: &[f64],
    other: Option<&Point>,
) -> Option<Vec<String>> {
    let size = |value: f64| if value == 0.0 { 1.0 } else { value };
    let absolute = rows.iter().zip(pivots).map(|(row, pivot)| {
        let scale = row[*pivot] * size(values[*pivot]);
        let entries = row
            .iter()
            .zip(values)
            .map(|(entry, value)| fraction(entry * size(*value) / scale).map(|(a, b)| a as f64 / b as f64));
        entries.collect::<Option<Vec<f64>>>()
    });
    let absolute = absolute.collect::<Option<Vec<_>>>()?;
    if let Some(point) = other {
        let again = |direction: &Vec<f64>| {
            let relative: Vec<f64> =
                direction.iter().zip(&point.values).map(|(change, value)| change / size(*value)).collect();
            point.is_without_effect(&relative)
        };
        if !absolute.iter().all(again) {
            return None;
        }
    }
    let list = rest.iter().map(|j| {
        let mut terms = vec![(*j, (1, 1))];
        for (row, pivot) in absolute.iter().zip(pivots).filter(|(row, _)| row[*j] != 0.0) {
            terms.push((*pivot, fraction(-row[*j])?));
        }
        let common = terms.iter().fold(1, |common, (_, (_, b))| lcm(common, *b));
        terms.sort_by_key(|(place, _)| *place);
        let mut text = String::new();
        let lead = if terms[0].1.0 < 0 { -1 } else { 1 };
        for (place, (a, b)) in &terms {
            let factor = lead * a * common / b;
            let sign = match (text.is_empty(), factor < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text.push_str(sign);
            if factor.abs() != 1 {
                text.push_str(&format!("{}*", factor.abs()));
            }
            text.push_str(&names[*place]);
        }
        Some(text)
    });
    list.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn said(list: &[&str], null: &[&[f64]], values: &[f64]) -> Vec<Vec<String>> {
        let null: Vec<Vec<f64>> = null.iter().map(|row| row.to_vec()).collect();
        explain(&names(list), &null, (values, &vec![true; values.len()]), None)
            .into_iter()
            .map(|found| found.determined)
            .collect()
    }

    #[test]
    fn products_and_quotients_are_named() {
        let s = 0.5_f64.sqrt();
        assert_eq!(said(&["k", "m"], &[&[s, -s]], &[3.0, 7.0]), [["k*m"]]);
        assert_eq!(said(&["k", "m"], &[&[s, s]], &[3.0, 7.0]), [["k/m"]]);
        let t = (1.0_f64 / 3.0).sqrt();
        assert_eq!(said(&["k", "m", "b"], &[&[t, t, t]], &[3.0, 7.0, 1.0]), [["k/m", "k/b"]]);
        // k m² stays along (2, −1)/√5 of relative changes.
        let f = 5.0_f64.sqrt();
        assert_eq!(said(&["k", "m"], &[&[2.0 / f, -1.0 / f]], &[3.0, 7.0]), [["k*m^2"]]);
        // Two directions of four unknowns, mixed by a rotation: a*b and c/d.
        let (c, d) = (0.6 * s, 0.8 * s);
        let found = said(&["a", "b", "c", "d"], &[&[c, -c, d, d], &[-d, d, c, c]], &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(found, [["a*b"], ["c/d"]]);
        let none = explain(&names(&["r", "k"]), &[vec![1.0, 0.0]], (&[1.0, 1.0], &[true; 2]), None);
        assert!(none[0].words.contains("`r` has no effect") && none[0].determined.is_empty());
    }

    #[test]
    fn sums_are_named_where_products_are_not_simple() {
        // R1 + R2 stays along (1, −1) of absolute changes: (1/2, −1/3.1) of relative ones.
        let row = [1.0 / 2.0, -1.0 / 3.1];
        assert_eq!(said(&["R1", "R2"], &[&row], &[2.0, 3.1]), [["R1 + R2"]]);
        let odd = [1.0, -std::f64::consts::FRAC_1_PI];
        let found = explain(&names(&["a", "b"]), &[odd.to_vec()], (&[1.0, 1.0], &[true; 2]), None);
        assert!(found[0].determined.is_empty() && found[0].words.contains("relative changes"), "{found:?}");
        // The same with a negative value: its relative change is positive where it falls.
        let row = [1.0 / -2.0, -1.0 / 3.1];
        assert_eq!(said(&["R1", "R2"], &[&row], &[-2.0, 3.1]), [["R1 + R2"]]);
    }
}
