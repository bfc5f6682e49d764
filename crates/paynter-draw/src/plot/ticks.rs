//! Where an axis has its ticks, what they are called, and where the axis ends.

use super::figure::Scale;
use crate::draw::text_width;
use crate::tolerance::{TICK_ROUNDING, WHOLE_STEP};
use paynter_base::number::{fixed, power};

/// Font size of tick labels.
pub const TICK_SIZE: f64 = 11.5;
/// Space between two labels on a level axis.
const TICK_LABEL_GAP: f64 = 10.0;
/// The part of an axis that lies beyond its first and last tick.
const AXIS_MARGIN: f64 = 0.03;
/// Values beyond are left out: differences of larger ones would overflow.
pub const LARGEST: f64 = 1e300;

/// The ticks of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticks {
    /// The axis goes from here to there.
    pub range: (f64, f64),
    /// Ticks with their labels, rising.
    pub major: Vec<(f64, String)>,
    /// Ticks without labels.
    pub minor: Vec<f64>,
    /// The labels count in this power of ten.
    pub exponent: i32,
}

/// Whether labels stand side by side or one above the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// On the axis below.
    Level,
    /// On the axis at the left.
    Upright,
}

/// Chooses the ends and ticks of an axis of some length for data in a range.
pub fn ticks(scale: &Scale, data: Option<(f64, f64)>, tight: bool, length: f64, along: Along) -> Ticks {
    // A label takes its width on a level axis, its line on an upright one.
    let mut most = match (along, scale) {
        (Along::Level, _) => length / 56.0,
        (Along::Upright, Scale::Linear) => length / 38.0,
        (Along::Upright, _) => length / 24.0,
    }
    .max(2.0);
    loop {
        let found = match scale {
            Scale::Linear => linear(data.unwrap_or((0.0, 1.0)), tight, most, &nice_step),
            Scale::Decibel => linear(data.unwrap_or((-20.0, 20.0)), tight, most, &decibel_step),
            Scale::Degrees => linear(data.unwrap_or((-90.0, 0.0)), tight, most, &degree_step),
            Scale::Log => logarithmic(data.unwrap_or((1.0, 10.0)), tight, most, length),
            Scale::Names(names) => return named(names),
        };
        if along == Along::Upright || most <= 2.0 || fits(scale, &found, length) {
            return found;
        }
        most = (most - 1.0).max(2.0);
    }
}

/// Whether labels side by side leave room between them.
fn fits(scale: &Scale, ticks: &Ticks, length: f64) -> bool {
    let mut edge = f64::NEG_INFINITY;
    ticks.major.iter().all(|(value, label)| {
        let (centre, half) =
            (fraction(scale, ticks.range, *value) * length, text_width(label, TICK_SIZE) / 2.0);
        let free = centre - half >= edge + TICK_LABEL_GAP;
        edge = centre + half;
        free
    })
}

/// The place of a value on its axis: 0 at the lower end, 1 at the upper; no number where it has none.
pub fn fraction(scale: &Scale, (low, high): (f64, f64), value: f64) -> f64 {
    let place = match scale {
        Scale::Log if value <= 0.0 => return f64::NAN,
        Scale::Log => (value / low).log10() / (high / low).log10(),
        _ => (value - low) / (high - low),
    };
    // Far outside is outside; the renderer's numbers are small.
    if place.is_nan() { f64::NAN } else { place.clamp(-1e4, 1e4) }
}

/// One place for each name, the first at the top.
fn named(names: &[String]) -> Ticks {
    let count = names.len().max(1) as f64;
    let major =
        names.iter().enumerate().rev().map(|(index, name)| (count - 0.5 - index as f64, name.clone()));
    Ticks { range: (0.0, count), major: major.collect(), minor: Vec::new(), exponent: 0 }
}

/// 1, 2, 2.5 or 5 times a power of ten, at least `least`.
fn nice_step(least: f64) -> f64 {
    let base = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * base)
        .find(|step| *step >= least * (1.0 - TICK_ROUNDING))
        .unwrap_or(10.0 * base)
}

/// As engineers divide decibels.
fn decibel_step(least: f64) -> f64 {
    let usual = [1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0];
    if least <= 0.5 {
        return nice_step(least);
    }
    usual.into_iter().find(|step| *step >= least).unwrap_or_else(|| nice_step(least))
}

/// Multiples of 45 degrees that divide the circle or are made of circles.
fn degree_step(least: f64) -> f64 {
    // Nobody counts thousands of circles in parts of one.
    (0..12).map(|n| 45.0 * 2_f64.powi(n)).find(|step| *step >= least).unwrap_or_else(|| nice_step(least))
}

/// Data that are constant but for rounding get an axis around them.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > TICK_ROUNDING * size && high > low {
        return (low, high);
    }
    let middle = (low + high) / 2.0;
    let half = if middle == 0.0 { 1.0 } else { middle.abs() / 2.0 };
    (middle - half, middle + half)
}

fn linear(data: (f64, f64), tight: bool, most: f64, step: &dyn Fn(f64) -> f64) -> Ticks {
    let (mut low, mut high) = widened(data);
    // An axis that nearly reaches zero begins there.
    if !tight && low > 0.0 && low < 0.35 * high {
        low = 0.0;
    }
    if !tight && high < 0.0 && high > 0.35 * low {
        high = 0.0;
    }
    let mut step_size = step((high - low) / most);
    if !(step_size.is_finite() && step_size > 0.0) {
        step_size = high - low;
    }
    let (mut first, mut last) = if tight {
        ((low / step_size - TICK_ROUNDING).ceil(), (high / step_size + TICK_ROUNDING).floor())
    } else {
        ((low / step_size + TICK_ROUNDING).floor(), (high / step_size - TICK_ROUNDING).ceil())
    };
    if !tight {
        if first == last {
            (first, last) = (first - 1.0, last + 1.0);
        }
        (low, high) = (first * step_size, last * step_size);
    }
    let size = low.abs().max(high.abs());
    let exponent = engineering(size);
    let unit = 10_f64.powi(exponent);
    let decimals = decimals(step_size / unit);
    // At most a few dozen: `most` bounds the steps.
    let count = (last - first).clamp(0.0, 200.0) as usize;
    let value = |index: usize| (first + index as f64) * step_size;
    let major = (0..=count).map(|index| (value(index), fixed(value(index) / unit, decimals))).collect();
    // A curve along the last tick would hide behind the frame.
    let margin = if tight { 0.0 } else { AXIS_MARGIN * (high - low) };
    Ticks { range: (low - margin, high + margin), major, minor: Vec::new(), exponent }
}

/// The multiple of three that brings numbers of this size near one; none for handy numbers.
fn engineering(size: f64) -> i32 {
    if size == 0.0 || (0.01..10_000.0).contains(&size) {
        return 0;
    }
    ((size.log10() + TICK_ROUNDING) / 3.0).floor() as i32 * 3
}

/// Decimals that tell multiples of a step apart.
fn decimals(step: f64) -> usize {
    (0..=15)
        .find(|decimals| {
            let shifted = step * 10_f64.powi(*decimals);
            (shifted - shifted.round()).abs() < WHOLE_STEP * shifted.max(1.0) && shifted.round() >= 1.0
        })
        .unwrap_or(15) as usize
}

fn logarithmic(data: (f64, f64), tight: bool, most: f64, length: f64) -> Ticks {
    let (mut low, mut high) = data;
    if high <= low * (1.0 + TICK_ROUNDING) {
        (low, high) = (low / 10_f64.sqrt(), high * 10_f64.sqrt());
    }
    let floor = (low.log10() + TICK_ROUNDING).floor() as i32;
    let ceil = (high.log10() - TICK_ROUNDING).ceil() as i32;
    if !tight {
        (low, high) = (10_f64.powi(floor), 10_f64.powi(ceil.max(floor + 1)));
    }
    let inside = |value: f64| value >= low * (1.0 - TICK_ROUNDING) && value <= high * (1.0 + TICK_ROUNDING);
    let decades: Vec<i32> = (floor..=ceil.max(floor + 1)).filter(|d| inside(10_f64.powi(*d))).collect();
    if decades.len() < 2 {
        return within_a_decade((low, high), (floor, ceil), &inside, most);
    }
    // Where decades stand too close, only every n-th has a name.
    let every = (decades.len() as f64 / most).ceil().max(1.0) as i32;
    let plain = decades.iter().all(|d| (-2..=3).contains(d));
    let (mut major, mut minor) = (Vec::new(), Vec::new());
    for d in &decades {
        if d.rem_euclid(every) == 0 {
            let label = if plain { fixed(10_f64.powi(*d), (-*d).max(0) as usize) } else { power(*d) };
            major.push((10_f64.powi(*d), label));
        } else {
            minor.push(10_f64.powi(*d));
        }
    }
    if every == 1 && length / (high / low).log10() > 24.0 {
        let between = (floor - 1..=ceil).flat_map(|d| (2..10).map(move |k| f64::from(k) * 10_f64.powi(d)));
        minor.extend(between.filter(|value| inside(*value)));
    }
    Ticks { range: (low, high), major, minor, exponent: 0 }
}

/// A logarithmic axis too short for two decades: names at 1, 2, 5, or linear ones.
fn within_a_decade(
    range: (f64, f64),
    (floor, ceil): (i32, i32),
    inside: &dyn Fn(f64) -> bool,
    most: f64,
) -> Ticks {
    let all = |factors: &'static [f64]| {
        (floor - 1..=ceil).flat_map(move |d| factors.iter().map(move |factor| factor * 10_f64.powi(d)))
    };
    let named: Vec<f64> = all(&[1.0, 2.0, 5.0]).filter(|value| inside(*value)).collect();
    if named.len() < 3 {
        return Ticks { range, ..linear(range, true, most, &nice_step) };
    }
    let exponent = engineering(range.1);
    let unit = 10_f64.powi(exponent);
    let label = |value: f64| fixed(value / unit, decimals(value / unit));
    let minor = all(&[3.0, 4.0, 6.0, 7.0, 8.0, 9.0]).filter(|value| inside(*value)).collect();
    Ticks { range, major: named.into_iter().map(|value| (value, label(value))).collect(), minor, exponent }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale, data: (f64, f64), tight: bool, length: f64) -> (Vec<String>, i32) {
        let found = ticks(scale, Some(data), tight, length, Along::Upright);
        (found.major.into_iter().map(|(_, label)| label).collect(), found.exponent)
    }

    #[test]
    fn ticks_are_where_people_expect_them() {
        type Case = (Scale, (f64, f64), bool, &'static [&'static str], i32);
        let cases: [Case; 10] = [
            (Scale::Linear, (0.0, 1.0), false, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"], 0),
            (Scale::Linear, (-3.0, 4.9), false, &["−4", "−2", "0", "2", "4", "6"], 0),
            (Scale::Linear, (1.0, 98_000.0), false, &["0", "20", "40", "60", "80", "100"], 3),
            (Scale::Linear, (0.0, 3.2e-5), false, &["0", "10", "20", "30", "40"], -6),
            (Scale::Linear, (5.0, 5.0), false, &["0", "2", "4", "6", "8"], 0),
            (Scale::Decibel, (-83.0, 12.0), false, &["−100", "−80", "−60", "−40", "−20", "0", "20"], 0),
            (Scale::Degrees, (-180.0, 0.0), false, &["−180", "−135", "−90", "−45", "0"], 0),
            (Scale::Degrees, (-2.0, 3.0), false, &["−45", "0", "45"], 0),
            (Scale::Log, (0.1, 1000.0), true, &["0.1", "1", "10", "100", "1000"], 0),
            (Scale::Log, (1e-5, 10.0), true, &["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹"], 0),
        ];
        for (scale, data, tight, expected, exponent) in cases {
            let (found, power) = labels(&scale, data, tight, 220.0);
            assert_eq!(found, expected, "{scale:?} {data:?}");
            assert_eq!(power, exponent, "{scale:?} {data:?}");
        }
    }

    #[test]
    fn axes_that_end_at_ticks_cover_their_data() {
        let sizes = [1e-300, 1e-9, 0.03, 1.0, 7.7, 1234.5, 1e12, 9e299];
        for scale in [Scale::Linear, Scale::Decibel, Scale::Degrees, Scale::Log] {
            for low in sizes {
                for high in sizes.into_iter().filter(|high| *high >= low) {
                    let signs: &[(f64, f64)] = if scale == Scale::Log {
                        &[(low, high)]
                    } else {
                        &[(low, high), (-high, low), (-high, -low)]
                    };
                    for data in signs {
                        let found = ticks(&scale, Some(*data), false, 300.0, Along::Level);
                        let slack = 1e-8 * (found.range.1 - found.range.0);
                        assert!(found.range.0 <= data.0 + slack, "{scale:?} {data:?} {found:?}");
                        assert!(found.range.1 >= data.1 - slack, "{scale:?} {data:?} {found:?}");
                        assert!(!found.major.is_empty() && found.major.len() < 60, "{scale:?} {data:?}");
                        for pair in found.major.windows(2) {
                            assert!(pair[0].0 < pair[1].0, "{scale:?} {data:?}");
                            assert_ne!(pair[0].1, pair[1].1, "{scale:?} {data:?}");
                        }
                    }
                }
            }
        }
    }
}
