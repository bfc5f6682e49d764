//! Frequency grids: a range that shows all that happens, logarithmic steps,
//! and refinement where the response bends, so that peaks are hit.

use num_complex::Complex64;
use paynter_base::Cancelled;

use crate::tolerance::{
    GRID_POINTS, POINTS_PER_DECADE, SAME_FREQUENCY, SMALLEST_MAGNITUDE, STRAIGHT_BODE, UNDAMPED,
};

/// Angular frequencies in logarithmic steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frequencies {
    /// The first, in rad/s.
    pub low: f64,
    /// The last, in rad/s.
    pub high: f64,
    /// How many.
    pub points: usize,
}

impl Frequencies {
    /// Lists them.
    pub fn list(&self) -> Vec<f64> {
        logarithmic(self.low, self.high, self.points)
    }
}

/// From LO to HI in logarithmic steps; a single point is LO.
pub fn logarithmic(low: f64, high: f64, points: usize) -> Vec<f64> {
    match points {
        0 => Vec::new(),
        1 => vec![low],
        _ => (0..points)
            .map(|k| match k {
                0 => low,
                k if k == points - 1 => high,
                k => low * (high / low).powf(k as f64 / (points - 1) as f64),
            })
            .collect(),
    }
}

/// The range of frequencies where poles and zeros act, a decade to either side.
pub fn span(roots: &[Complex64]) -> (f64, f64) {
    let sizes =
        || roots.iter().map(|z| z.norm()).filter(|size| *size > SMALLEST_MAGNITUDE && size.is_finite());
    let low = sizes().fold(f64::INFINITY, f64::min);
    let high = sizes().fold(0.0, f64::max);
    if high == 0.0 {
        return (0.01, 100.0);
    }
    (10f64.powf((low.log10() - 1.0).floor()), 10f64.powf((high.log10() + 1.0).ceil()))
}

/// Frequencies where lightly damped poles and zeros have their peaks and notches.
fn resonances(roots: &[Complex64]) -> Vec<f64> {
    let mut list = Vec::new();
    for root in roots.iter().filter(|z| z.im > 0.0) {
        let size = root.norm();
        let damping = (root.re / size).abs();
        if damping < UNDAMPED {
            // There is no value at the pole itself.
            list.extend([size * 0.999, size * 1.001]);
        } else if damping < 0.5 {
            list.push(size);
            list.push(size * (1.0 - 2.0 * damping * damping).sqrt());
            for steps in [0.5, 1.0, 2.0, 4.0] {
                list.push(size * (1.0 + steps * damping));
                list.push(size * (1.0 - steps * damping));
            }
        }
    }
    list
}

/// Finds the responses at frequencies: by frequency, one value for each entry.
type Evaluate<'a> = dyn Fn(&[f64]) -> Result<Vec<Vec<Complex64>>, Cancelled> + 'a;

struct Refined<'a> {
    evaluate: &'a Evaluate<'a>,
    /// Frequencies and values, rising.
    points: Vec<(f64, Vec<Complex64>)>,
}

/// Computes responses between two frequencies with as many points as it takes;
/// `roots` are their poles and zeros, as far as they are known. Returns the
/// frequencies, rising, each with its values.
pub fn adaptive(
    evaluate: &Evaluate<'_>,
    (low, high): (f64, f64),
    roots: &[Complex64],
) -> Result<Vec<(f64, Vec<Complex64>)>, Cancelled> {
    let decades = (high / low).log10();
    let count = (decades * POINTS_PER_DECADE).clamp(40.0, 1000.0) as usize + 1;
    let mut omega = logarithmic(low, high, count);
    let extra = resonances(roots).into_iter().filter(|w| *w > low && *w < high);
    omega.extend(extra.take(GRID_POINTS / 2));
    let mut grid = Refined { evaluate, points: Vec::new() };
    grid.insert(omega)?;
    grid.straighten()?;
    grid.climb()?;
    Ok(grid.points)
}

impl Refined<'_> {
    /// Adds points; those that are there already are left out.
    fn insert(&mut self, mut omega: Vec<f64>) -> Result<(), Cancelled> {
        omega.sort_by(f64::total_cmp);
        omega.dedup_by(|next, kept| *next <= *kept * (1.0 + SAME_FREQUENCY));
        omega.retain(|w| {
            let at = self.points.partition_point(|(have, _)| have < w);
            let near = |place: Option<&(f64, Vec<Complex64>)>| {
                place.is_some_and(|(have, _)| (have / w - 1.0).abs() <= SAME_FREQUENCY)
            };
            !near(self.points.get(at)) && !near(at.checked_sub(1).and_then(|k| self.points.get(k)))
        });
        let values = (self.evaluate)(&omega)?;
        self.points.extend(omega.into_iter().zip(values));
        self.points.sort_by(|x, y| x.0.total_cmp(&y.0));
        Ok(())
    }

    /// Halves steps until straight lines between points follow the curves.
    fn straighten(&mut self) -> Result<(), Cancelled> {
        let mut steps: Vec<(f64, f64)> = self.points.windows(2).map(|w| (w[0].0, w[1].0)).collect();
        while !steps.is_empty() && self.points.len() < GRID_POINTS {
            let middles: Vec<f64> = steps.iter().map(|(a, b)| (a * b).sqrt()).collect();
            let values = (self.evaluate)(&middles)?;
            let mut bent = Vec::new();
            let mut added = Vec::new();
            for (((a, b), middle), value) in steps.into_iter().zip(middles).zip(values) {
                if self.points.len() + added.len() < GRID_POINTS && self.bends(a, b, &value) {
                    added.push((middle, value));
                    if b / a > 1.0 + 4.0 * SAME_FREQUENCY {
                        bent.extend([(a, middle), (middle, b)]);
                    }
                }
            }
            self.points.extend(added);
            self.points.sort_by(|x, y| x.0.total_cmp(&y.0));
            steps = bent;
        }
        Ok(())
    }

    fn at(&self, omega: f64) -> Option<&Vec<Complex64>> {
        let place = self.points.partition_point(|(have, _)| *have < omega);
        self.points.get(place).map(|(_, values)| values)
    }

    fn bends(&self, a: f64, b: f64, middle: &[Complex64]) -> bool {
        let (Some(left), Some(right)) = (self.at(a), self.at(b)) else { return false };
        left.iter().zip(right).zip(middle).any(|((a, b), m)| {
            let (ratio, turn) = ((m.norm() / a.norm()) * (m.norm() / b.norm()), (m / a) * (m / b));
            if !ratio.is_finite() || ratio == 0.0 {
                return false;
            }
            // Half of each, because the middle enters twice.
            ratio.ln().abs() / 2.0 > STRAIGHT_BODE.0 || turn.arg().abs() / 2.0 > STRAIGHT_BODE.1
        })
    }

    /// Moves points to the tops of peaks and the bottoms of notches, by parabolas.
    fn climb(&mut self) -> Result<(), Cancelled> {
        for _ in 0..3 {
            let mut tops = Vec::new();
            let entries = self.points.first().map_or(0, |(_, values)| values.len());
            for entry in 0..entries {
                let heights: Vec<(f64, f64)> =
                    self.points.iter().map(|(w, values)| (w.ln(), values[entry].norm().ln())).collect();
                for triple in heights.windows(3) {
                    let [(x0, y0), (x1, y1), (x2, y2)] = [triple[0], triple[1], triple[2]];
                    if !(y1 > y0 && y1 >= y2 || y1 < y0 && y1 <= y2) {
                        continue;
                    }
                    let (left, right) = ((y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1));
                    let curvature = (right - left) / ((x2 - x0) / 2.0);
                    let top = (x0 + x1) / 2.0 - left / curvature;
                    if top.is_finite() && top > x0 && top < x2 {
                        tops.push(top.exp());
                    }
                }
            }
            if tops.is_empty() || self.points.len() + tops.len() > GRID_POINTS + GRID_POINTS / 4 {
                break;
            }
            self.insert(tops)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_what_happens() {
        let roots = [Complex64::new(-2.0, 0.0), Complex64::new(-9.0, 30.0), Complex64::ZERO];
        assert_eq!(span(&roots), (0.1, 1000.0));
        assert_eq!(span(&[]), (0.01, 100.0));
    }

    #[test]
    fn logarithmic_grids_have_their_ends() {
        let grid = logarithmic(0.1, 1000.0, 5);
        assert_eq!((grid[0], grid[4], grid.len()), (0.1, 1000.0, 5));
        assert!((grid[2] - 10.0).abs() < 1e-12);
    }
}
