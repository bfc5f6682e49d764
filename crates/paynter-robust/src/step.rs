//! The step response of a linear model and its figures: final value, rise time, settling time, overshoot.

use num_complex::Complex64;

use crate::matrix::Matrix;
use crate::modes::set_aside;
use crate::system::Interconnection;
use crate::tolerance::{
    DECAYED_TIMES, LONGEST_STEP_RESPONSE, ON_THE_AXIS, ROUNDED_FINAL, SETTLED_TIMES, STEPS_PER_SCALE,
};

/// Figures of a step response, in the units of the output and in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepFigures {
    /// Where it settles.
    pub final_value: f64,
    /// From the first 10 % to the first 90 % of the final value.
    pub rise_time: Option<f64>,
    /// After which it stays within 2 % of the final value.
    pub settling_time: Option<f64>,
    /// How far it exceeds the final value, in percent of it.
    pub overshoot: Option<f64>,
    /// The value farthest from zero in the direction of the final value.
    pub peak: f64,
    /// When it has that value.
    pub peak_time: f64,
}

/// A step response.
#[derive(Debug, Clone, PartialEq)]
pub struct StepResponse {
    /// Times, rising from zero.
    pub t: Vec<f64>,
    /// The output.
    pub y: Vec<f64>,
    /// Its derivative.
    rate: Vec<f64>,
    /// The figures.
    pub figures: StepFigures,
}

/// The response of one output to a unit step at one input of a stable model, poles that do not take part
/// set aside; nothing where it does not settle, or not within a sensible number of periods.
pub fn step_response(a: &Matrix, b: &Matrix, c: &Matrix, d: f64) -> Option<StepResponse> {
    let whole = Interconnection {
        a: a.clone(),
        b: b.clone(),
        c: c.clone(),
        d: Matrix::from_fn(1, 1, |_, _| d),
        blocks: Vec::new(),
        is_projected: false,
    };
    let model = set_aside(&whole.balanced()).0.balanced();
    let n = model.states();
    if n == 0 {
        let figures = StepFigures {
            final_value: d,
            rise_time: Some(0.0),
            settling_time: Some(0.0),
            overshoot: (d != 0.0).then_some(0.0),
            peak: d,
            peak_time: 0.0,
        };
        return Some(StepResponse { t: vec![0.0], y: vec![d], rate: vec![0.0], figures });
    }
    let poles = model.a.eigenvalues()?;
    let fastest = poles.iter().fold(0.0f64, |most, z| most.max(z.norm()));
    if poles.iter().any(|z| z.re >= -ON_THE_AXIS * fastest) {
        return None;
    }
    let samples = |z: &Complex64| DECAYED_TIMES * z.im / -z.re * (STEPS_PER_SCALE as f64 / 6.0);
    if poles.iter().any(|z| samples(z) > LONGEST_STEP_RESPONSE) {
        return None;
    }
    let slowest = poles.iter().fold(f64::INFINITY, |least, z| least.min(-z.re));
    let final_state = model.a.solve(&model.b)?.map(|x| -x);
    let final_value = model.c.times(&final_state)[(0, 0)] + d;
    // Around the final state the response is free: x − x∞ = e^{At}(−x∞).
    let end = SETTLED_TIMES / slowest;
    let mut h = 1.0 / (STEPS_PER_SCALE as f64 / 4.0 * fastest);
    let mut transition = exponential(&model.a.map(|x| x * h));
    let mut state = final_state.map(|x| -x);
    let (mut t, mut y, mut rate, mut now) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
    let mut push = |now: f64, state: &Matrix| {
        t.push(now);
        y.push(final_value + model.c.times(state)[(0, 0)]);
        rate.push(model.c.times(&model.a.times(state))[(0, 0)]);
    };
    push(0.0, &state);
    // Poles that oscillate are followed in steps of their period until they have decayed.
    let longest = |now: f64| {
        let alive = poles.iter().filter(|z| z.im > 0.0 && -z.re * now < DECAYED_TIMES);
        let visible = alive.map(|z| z.im).fold(0.0f64, f64::max);
        if visible > 0.0 { 6.0 / (STEPS_PER_SCALE as f64 * visible) } else { f64::INFINITY }
    };
    while now < end {
        for _ in 0..STEPS_PER_SCALE {
            state = transition.times(&state);
            now += h;
            push(now, &state);
            if now >= end {
                break;
            }
        }
        if 2.0 * h <= longest(now) {
            transition = transition.times(&transition);
            h *= 2.0;
        }
    }
    // A final value that is nothing beside the way to it is zero but for rounding.
    let largest = y.iter().fold(0.0f64, |most, y| most.max(y.abs()));
    let final_value = if final_value.abs() <= ROUNDED_FINAL * largest { 0.0 } else { final_value };
    let figures = figures(&t, &y, &rate, final_value);
    Some(StepResponse { t, y, rate, figures })
}

/// e^X by scaling, a Padé approximant and squaring.
fn exponential(x: &Matrix) -> Matrix {
    let n = x.rows();
    let norm = (0..n).map(|i| x.row(i).iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max);
    let squarings = if norm > 0.5 { (norm / 0.5).log2().ceil() as i32 } else { 0 };
    let x = x.map(|v| v * 0.5f64.powi(squarings));
    let order = 6;
    let (mut numerator, mut denominator) = (Matrix::identity(n), Matrix::identity(n));
    let mut power = Matrix::identity(n);
    let mut factor = 1.0;
    for k in 1..=order {
        factor *= f64::from(order - k + 1) / (f64::from(k) * f64::from(2 * order - k + 1));
        power = x.times(&power);
        let term = power.map(|v| v * factor);
        numerator = numerator.plus(&term);
        denominator = if k % 2 == 0 { denominator.plus(&term) } else { denominator.minus(&term) };
    }
    let mut result = denominator.solve(&numerator).unwrap_or_else(|| Matrix::identity(n));
    for _ in 0..squarings {
        result = result.times(&result);
    }
    result
}

impl StepResponse {
    /// The output between samples, by cubic interpolation.
    pub fn at(&self, time: f64) -> f64 {
        let k = self.t.partition_point(|t| *t <= time).clamp(1, self.t.len().max(2) - 1);
        match self.t.len() {
            1 => self.y[0],
            _ => cubic(&self.t, &self.y, &self.rate, k, time),
        }
    }
}

/// The cubic through two samples with their derivatives, in the interval that ends at sample k.
fn cubic(t: &[f64], y: &[f64], rate: &[f64], k: usize, time: f64) -> f64 {
    let h = t[k] - t[k - 1];
    let s = ((time - t[k - 1]) / h).clamp(0.0, 1.0);
    let (s2, s3) = (s * s, s * s * s);
    (2.0 * s3 - 3.0 * s2 + 1.0) * y[k - 1]
        + (s3 - 2.0 * s2 + s) * h * rate[k - 1]
        + (3.0 * s2 - 2.0 * s3) * y[k]
        + (s3 - s2) * h * rate[k]
}

fn figures(t: &[f64], y: &[f64], rate: &[f64], final_value: f64) -> StepFigures {
    let value = |k: usize, time: f64| cubic(t, y, rate, k, time);
    // The zero of a function of the output in an interval where it changes sign.
    let bisect = |k: usize, function: &dyn Fn(f64) -> f64| {
        let (mut low, mut high) = (t[k - 1], t[k]);
        let at_low = function(y[k - 1]);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if function(value(k, middle)) * at_low > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    };
    // The first time at which a share of the final value is reached.
    let first = |share: f64| {
        let past = |y: f64| (y - share * final_value) * final_value.signum();
        if past(y[0]) >= 0.0 {
            return Some(0.0);
        }
        (1..t.len()).find(|k| past(y[*k]) >= 0.0).map(|k| bisect(k, &past))
    };
    let outside = |y: f64| (y - final_value).abs() - 0.02 * final_value.abs();
    let last = (0..t.len()).rev().find(|k| outside(y[*k]) > 0.0);
    let settling = match last {
        None => Some(0.0),
        Some(k) if k + 1 < t.len() => Some(bisect(k + 1, &outside)),
        Some(_) => None,
    };
    let sign = if final_value < 0.0 { -1.0 } else { 1.0 };
    let (mut peak, mut peak_time) = (y[0] * sign, t[0]);
    for k in 1..t.len() {
        // The largest value of the cubic: at a sample, or where its derivative vanishes between.
        let mut times = vec![t[k]];
        if rate[k - 1] * sign > 0.0 && rate[k] * sign < 0.0 {
            let (mut low, mut high) = (t[k - 1], t[k]);
            for _ in 0..60 {
                let third = (high - low) / 3.0;
                if value(k, low + third) * sign > value(k, high - third) * sign {
                    high -= third;
                } else {
                    low += third;
                }
            }
            times.push(0.5 * (low + high));
        }
        for time in times {
            if value(k, time) * sign > peak {
                (peak, peak_time) = (value(k, time) * sign, time);
            }
        }
    }
    let settles = final_value != 0.0;
    StepFigures {
        final_value,
        rise_time: if settles { first(0.9).zip(first(0.1)).map(|(late, early)| late - early) } else { None },
        settling_time: if settles { settling } else { None },
        overshoot: settles.then(|| ((peak * sign / final_value - 1.0) * 100.0).max(0.0)),
        peak: peak * sign,
        peak_time,
    }
}
