//! The figures of control engineers: Nyquist and Nichols diagrams, root loci and root clouds, bounds over frequency.

use super::figure::{Axis, Figure, Layer, Mark, Panel, Scale, Style};
use super::kinds::{Response, phase_degrees};

/// A Nyquist diagram shows loop gains up to this magnitude: what matters happens around −1.
const NYQUIST_REACH: f64 = 6.0;

/// The height of a square panel.
const SQUARE: f64 = 420.0;

/// A curve through points of a plane.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// To the right.
    pub x: Vec<f64>,
    /// Upwards.
    pub y: Vec<f64>,
}

fn marks(name: &str, style: Style, mark: Mark, points: Vec<(f64, f64)>) -> Layer {
    Layer::Marks { name: name.to_owned(), style, mark, points }
}

fn single(title: &str, x: Axis, y: Axis, layers: Vec<Layer>, origin: bool) -> Figure {
    Figure {
        title: title.to_owned(),
        panels: vec![Panel { x, y, layers, height: SQUARE, origin, equal: false }],
    }
}

/// Loop gains in the complex plane, with those of negative frequencies dashed, the unit circle and −1.
pub fn nyquist(title: &str, responses: &[Response]) -> Figure {
    let mut layers = Vec::new();
    let sizes = responses.iter().flat_map(|r| r.re.iter().zip(&r.im).map(|(re, im)| re.hypot(*im)));
    let reach = sizes.filter(|size| size.is_finite()).fold(2.0, f64::max).min(NYQUIST_REACH);
    for (k, response) in responses.iter().enumerate() {
        let inside = |k: usize| response.re[k].hypot(response.im[k]) <= reach;
        let part = |list: &[f64], sign: f64| -> Vec<f64> {
            (0..list.len()).map(|k| if inside(k) { sign * list[k] } else { f64::NAN }).collect()
        };
        let style = Style::nth(k);
        let (x, y) = (part(&response.re, 1.0), part(&response.im, 1.0));
        layers.push(Layer::Line { name: response.name.clone(), style, x: x.clone(), y });
        let (style, y) = (Style { dash: 1, ..style }, part(&response.im, -1.0));
        layers.push(Layer::Line { name: String::new(), style, x, y });
    }
    let angles = (0..=120).map(|k| f64::from(k) * std::f64::consts::TAU / 120.0);
    let (x, y) = angles.map(|angle| (angle.cos(), angle.sin())).unzip();
    layers.push(Layer::Line { name: String::new(), style: Style { colour: 3, dash: 2 }, x, y });
    layers.push(marks("−1", Style::nth(1), Mark::Cross, vec![(-1.0, 0.0)]));
    let axis = |label: &str| Axis::new(label, "", Scale::Linear);
    let mut figure = single(title, axis("real part"), axis("imaginary part"), layers, true);
    // The unit circle is one.
    figure.panels.iter_mut().for_each(|panel| panel.equal = true);
    figure
}

/// Loop gains by phase and magnitude, with −180° at 0 dB.
pub fn nichols(title: &str, responses: &[Response]) -> Figure {
    let mut layers = Vec::new();
    for (k, response) in responses.iter().enumerate() {
        let x = phase_degrees(&response.re, &response.im);
        let y = response.re.iter().zip(&response.im).map(|(re, im)| 20.0 * re.hypot(*im).log10());
        let y = y.map(|level| if level.is_finite() { level } else { f64::NAN }).collect();
        layers.push(Layer::Line { name: response.name.clone(), style: Style::nth(k), x, y });
    }
    layers.push(marks("−180°, 0 dB", Style::nth(1), Mark::Cross, vec![(-180.0, 0.0)]));
    let phase = Axis::new("phase", "°", Scale::Degrees);
    single(title, phase, Axis::new("magnitude", "dB", Scale::Decibel), layers, false)
}

/// Branches of poles along a parameter: from a cross to a circle.
pub fn locus(title: &str, branches: &[Curve]) -> Figure {
    let mut layers: Vec<Layer> = branches
        .iter()
        .enumerate()
        .map(|(k, branch)| Layer::Line {
            name: String::new(),
            style: Style::nth(k),
            x: branch.x.clone(),
            y: branch.y.clone(),
        })
        .collect();
    let ends = |place: fn(&[f64]) -> Option<&f64>| {
        let point = |branch: &Curve| Some((*place(&branch.x)?, *place(&branch.y)?));
        branches.iter().filter_map(point).filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
    };
    layers.push(marks("first value", Style::nth(0), Mark::Cross, ends(<[f64]>::first)));
    layers.push(marks("last value", Style::nth(1), Mark::Circle, ends(<[f64]>::last)));
    plane(title, layers)
}

/// Poles of many models as dots, with those of the nominal one and of the worst.
pub fn root_cloud(title: &str, cloud: &[(f64, f64)], nominal: &[(f64, f64)], worst: &[(f64, f64)]) -> Figure {
    let mut layers = vec![
        marks("within the tolerances", Style::shade(8, 12), Mark::Dot, cloud.to_vec()),
        marks("nominal", Style::nth(0), Mark::Cross, nominal.to_vec()),
    ];
    if !worst.is_empty() {
        layers.push(marks("at the margin", Style::nth(1), Mark::Circle, worst.to_vec()));
    }
    plane(title, layers)
}

fn plane(title: &str, mut layers: Vec<Layer>) -> Figure {
    // The origin belongs to the picture: it tells stable from unstable.
    layers.push(Layer::Line { name: String::new(), style: Style::nth(0), x: vec![0.0], y: vec![0.0] });
    let axis = |label: &str| Axis::new(label, "1/s", Scale::Linear);
    single(title, axis("real part"), axis("imaginary part"), layers, true)
}

/// An upper and a lower bound over frequency; a lower one of zero is left out.
pub fn bounds(title: &str, label: &str, omega: &[f64], upper: &[f64], lower: &[f64]) -> Figure {
    let line = |name: &str, style: Style, y: Vec<f64>| Layer::Line {
        name: name.to_owned(),
        style,
        x: omega.to_vec(),
        y,
    };
    let mut layers = vec![line("upper bound", Style::nth(0), upper.to_vec())];
    let attained: Vec<(f64, f64)> =
        omega.iter().zip(lower).filter(|(_, y)| **y > 0.0).map(|(x, y)| (*x, *y)).collect();
    if !attained.is_empty() {
        layers.push(marks("attained", Style::nth(1), Mark::Dot, attained));
    }
    let panel = Panel {
        x: Axis::tight("ω", "rad/s", Scale::Log),
        y: Axis::new(label, "", Scale::Linear),
        layers,
        height: 280.0,
        origin: false,
        equal: false,
    };
    Figure { title: title.to_owned(), panels: vec![panel] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::arrange;

    /// The unit circle of a Nyquist diagram is a circle on the page, whether the loop gain is tall or wide.
    #[test]
    fn units_of_a_nyquist_diagram_are_equal() {
        for (width, height) in [(0.5, 5.0), (5.0, 0.2), (1.0, 1.0)] {
            let angles = || (0..50).map(|k| f64::from(k) * 0.06);
            let response = Response {
                name: "L".to_owned(),
                re: angles().map(|x| width * x.cos()).collect(),
                im: angles().map(|x| -height * x.sin()).collect(),
            };
            let figure = nyquist("", &[response]);
            let layout = arrange(&figure);
            let frame = &layout.frames[0];
            let length = |x: f64, y: f64| {
                let (a, b) = (frame.place(&figure.panels[0], 0.0, 0.0), frame.place(&figure.panels[0], x, y));
                (b.x - a.x).abs() + (b.y - a.y).abs()
            };
            assert!((length(1.0, 0.0) / length(0.0, 1.0) - 1.0).abs() < 1e-9, "{width} {height}");
        }
    }
}
