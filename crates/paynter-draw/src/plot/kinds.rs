//! The figures of the field, from plain results.

use super::figure::{Axis, Bar, Figure, Layer, Mark, Panel, Scale, Style};
use crate::tolerance::{NEGATIVE_PART, SAME_CONSTANT, SAME_CURVE};

/// The height of a panel that stands with others, and of one alone.
const HEIGHTS: (f64, f64) = (190.0, 280.0);

/// A frequency response.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Response {
    /// What it is, for the legend: `w / u`.
    pub name: String,
    /// Real parts, one for each frequency.
    pub re: Vec<f64>,
    /// Imaginary parts.
    pub im: Vec<f64>,
}

/// The magnitude in decibels; a response of zero has none.
fn decibel(re: f64, im: f64) -> f64 {
    let level = 20.0 * re.hypot(im).log10();
    if level.is_finite() { level } else { f64::NAN }
}

/// The phase in degrees without jumps of whole circles. It begins between
/// −180° and 180°, at −180° rather than 180° where the magnitude does not rise.
pub fn phase_degrees(re: &[f64], im: &[f64]) -> Vec<f64> {
    let size = |index: usize| re[index].hypot(im[index]);
    let count = re.len().min(im.len());
    let sound: Vec<usize> =
        (0..count).filter(|index| size(*index).is_finite() && size(*index) > 0.0).collect();
    let falling = match sound.as_slice() {
        [first, .., _] => size(sound[sound.len().min(4) - 1]) <= size(*first),
        _ => true,
    };
    let mut before: Option<f64> = None;
    let mut phases = vec![f64::NAN; count];
    for index in sound {
        let angle = im[index].atan2(re[index]).to_degrees();
        let unwrapped = match before {
            Some(last) => angle - 360.0 * ((angle - last) / 360.0).round(),
            None if falling && angle > 170.0 => angle - 360.0,
            None => angle,
        };
        phases[index] = unwrapped;
        before = Some(unwrapped);
    }
    phases
}

fn frequency_axis() -> Axis {
    Axis::tight("ω", "rad/s", Scale::Log)
}

fn panel(x: Axis, y: Axis, layers: Vec<Layer>, height: f64) -> Panel {
    Panel { x, y, layers, height, origin: false, equal: false }
}

/// Looks for several lines in one frame: one that runs along an earlier one
/// for all its length is dashed, so that both are seen.
fn styles(lines: &[&[f64]]) -> Vec<Style> {
    let alike = |a: &[f64], b: &[f64]| {
        let size =
            a.iter().filter(|v| v.is_finite()).fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        let slack = SAME_CURVE * (size.1 - size.0) + SAME_CONSTANT * size.1.abs();
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= slack || (!a.is_finite() && !b.is_finite());
        a.len() == b.len() && a.iter().any(|v| v.is_finite()) && a.iter().zip(b).all(near)
    };
    let mut found: Vec<Style> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let style = Style::nth(index);
        let twins = lines[..index].iter().filter(|other| alike(other, line)).count();
        found.push(Style { dash: style.dash + twins, ..style });
    }
    found
}

/// A Bode diagram: magnitude in decibels and phase in degrees of several responses.
pub fn bode(title: &str, omega: &[f64], responses: &[Response]) -> Figure {
    let level = |response: &Response| -> Vec<f64> {
        response.re.iter().zip(&response.im).map(|(re, im)| decibel(*re, *im)).collect()
    };
    let all: Vec<Vec<f64>> = responses.iter().map(level).collect();
    let styles = styles(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let zero = |response: &Response| response.re.iter().chain(&response.im).all(|part| *part == 0.0);
    let line = |index: usize, response: &Response, y: Vec<f64>| Layer::Line {
        name: format!("{}{}", response.name, if zero(response) { " (zero)" } else { "" }),
        style: styles[index],
        x: omega.to_vec(),
        y,
    };
    let levels =
        responses.iter().enumerate().map(|(index, response)| line(index, response, all[index].clone()));
    let phases = responses
        .iter()
        .enumerate()
        .map(|(index, response)| line(index, response, phase_degrees(&response.re, &response.im)));
    Figure {
        title: title.to_owned(),
        panels: vec![
            panel(
                frequency_axis(),
                Axis::new("magnitude", "dB", Scale::Decibel),
                levels.collect(),
                HEIGHTS.0 + 20.0,
            ),
            panel(frequency_axis(), Axis::new("phase", "°", Scale::Degrees), phases.collect(), HEIGHTS.0),
        ],
    }
}

/// Something over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// Its name.
    pub name: String,
    /// Its unit; empty where there is none.
    pub unit: String,
    /// A value for each time.
    pub values: Vec<f64>,
    /// Whether it is dashed: a second opinion on the trace before it, in the same colour.
    pub dashed: bool,
}

/// The axis of times; logarithmic where they are spread over decades.
pub fn time_axis(t: &[f64]) -> Axis {
    let last = t.last().copied().unwrap_or(0.0);
    let first = t.iter().copied().find(|t| *t > 0.0).unwrap_or(last);
    let middle = t.get(t.len() / 2).copied().unwrap_or(last);
    let decades = last > 1e3 * first && middle < 0.05 * last;
    Axis::tight("t", "s", if decades { Scale::Log } else { Scale::Linear })
}

/// A quantity in several runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// Its unit; empty where there is none.
    pub unit: String,
    /// Its times and values in each run.
    pub runs: Vec<(Vec<f64>, Vec<f64>)>,
}

/// More runs than this are not all named in the legend.
const NAMED_RUNS: usize = 10;

/// Quantities in several runs over time, one panel each. Runs that follow one another, as in a
/// sweep, go from dark to light, and of many only some are named.
pub fn family(title: &str, names: &[String], ordered: bool, quantities: &[Family]) -> Figure {
    let most = names.len().saturating_sub(1);
    let named = |run: usize| {
        let step = NAMED_RUNS / 2 - 1;
        !ordered || most < NAMED_RUNS || (0..=step).any(|k| (k * most + step / 2) / step == run)
    };
    let height = match quantities.len() {
        0 | 1 => HEIGHTS.1,
        2 => HEIGHTS.0 + 20.0,
        _ => HEIGHTS.0 - 30.0,
    };
    let panels = quantities.iter().map(|quantity| {
        let layers =
            quantity.runs.iter().zip(names).enumerate().map(|(run, ((t, values), name))| Layer::Line {
                name: if named(run) { name.clone() } else { String::new() },
                style: if ordered { Style::shade(run, names.len()) } else { Style::nth(run) },
                x: t.clone(),
                y: values.clone(),
            });
        let longest = quantity.runs.iter().map(|(t, _)| t).max_by_key(|t| t.len());
        let x = time_axis(longest.map_or(&[], |t| t.as_slice()));
        panel(x, Axis::new(&quantity.name, &quantity.unit, Scale::Linear), layers.collect(), height)
    });
    Figure { title: title.to_owned(), panels: panels.collect() }
}

/// Traces over time, one panel for each unit.
pub fn time(title: &str, t: &[f64], traces: &[Trace]) -> Figure {
    let mut units: Vec<&str> = Vec::new();
    for trace in traces {
        if !units.contains(&trace.unit.as_str()) {
            units.push(&trace.unit);
        }
    }
    let own: Vec<&Trace> = traces.iter().filter(|trace| !trace.dashed).collect();
    let mut free = styles(&own.iter().map(|trace| trace.values.as_slice()).collect::<Vec<_>>()).into_iter();
    let mut styles: Vec<Style> = Vec::new();
    for trace in traces {
        let before = styles.last().copied().unwrap_or_default();
        let style = if trace.dashed { Some(Style { dash: 1, ..before }) } else { free.next() };
        styles.push(style.unwrap_or_default());
    }
    let height = match units.len() {
        0 | 1 => HEIGHTS.1,
        2 => HEIGHTS.0 + 20.0,
        _ => HEIGHTS.0 - 30.0,
    };
    let panels = units.iter().map(|unit| {
        let own: Vec<(&Trace, Style)> = traces
            .iter()
            .zip(&styles)
            .filter(|(trace, _)| trace.unit == *unit)
            .map(|(t, l)| (t, *l))
            .collect();
        let names: Vec<&str> =
            own.iter().filter(|(trace, _)| !trace.dashed).map(|(trace, _)| trace.name.as_str()).collect();
        let label = if names.len() <= 3 { names.join(", ") } else { String::new() };
        let layers = own.into_iter().map(|(trace, style)| Layer::Line {
            name: trace.name.clone(),
            style,
            x: t.to_vec(),
            y: trace.values.clone(),
        });
        panel(time_axis(t), Axis::new(&label, unit, Scale::Linear), layers.collect(), height)
    });
    Figure { title: title.to_owned(), panels: panels.collect() }
}

/// What a parameter's tolerance does to a quantity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Effect {
    /// The parameter, with its tolerance where that is known: `Ra ±10 %`.
    pub name: String,
    /// The change of the quantity at the parameter's lower end.
    pub low: f64,
    /// The change at its upper end.
    pub high: f64,
}

/// A tornado: level bars, the longest on top, for what each parameter does.
pub fn tornado(title: &str, quantity: &str, unit: &str, effects: &[Effect]) -> Figure {
    let size = |effect: &Effect| effect.low.abs().max(effect.high.abs());
    let mut sorted: Vec<&Effect> = effects.iter().collect();
    sorted.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let bars = |end: fn(&Effect) -> f64| {
        let bar = |(place, effect): (usize, &&Effect)| Bar { place, from: 0.0, to: end(effect) };
        sorted.iter().enumerate().map(bar).collect()
    };
    let names = sorted.iter().map(|effect| effect.name.clone()).collect();
    let layers = vec![
        Layer::Bars {
            name: "parameter at its lower end".to_owned(),
            style: Style::nth(0),
            bars: bars(|effect| effect.low),
        },
        Layer::Bars {
            name: "parameter at its upper end".to_owned(),
            style: Style::nth(1),
            bars: bars(|effect| effect.high),
        },
    ];
    let height = (sorted.len().max(2) as f64).mul_add(26.0, 8.0);
    Figure {
        title: title.to_owned(),
        panels: vec![Panel {
            origin: true,
            ..panel(
                Axis::new(quantity, unit, Scale::Linear),
                Axis::new("", "", Scale::Names(names)),
                layers,
                height,
            )
        }],
    }
}

/// The lower and upper edge of a band.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Band {
    /// The lower edge.
    pub lower: Vec<f64>,
    /// The upper edge.
    pub upper: Vec<f64>,
}

/// A quantity over frequency with what tolerances make of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tolerance {
    /// The nominal values.
    pub nominal: Vec<f64>,
    /// All parameters at their worst, to first order.
    pub worst: Band,
    /// Root of the sum of squares, to first order.
    pub rss: Band,
    /// What samples of the exact model reach, where they were drawn.
    pub sampled: Option<Band>,
}

/// Magnitude in decibels and phase in degrees with their tolerance bands.
pub fn tolerance(title: &str, omega: &[f64], magnitude: &Tolerance, phase: &Tolerance) -> Figure {
    let layers = |of: &Tolerance| {
        let band = |name: &str, band: &Band, opacity: f64| Layer::Band {
            name: name.to_owned(),
            style: Style::nth(0),
            x: omega.to_vec(),
            lower: band.lower.clone(),
            upper: band.upper.clone(),
            opacity,
        };
        let line = |name: &str, style: Style, y: &[f64]| Layer::Line {
            name: name.to_owned(),
            style,
            x: omega.to_vec(),
            y: y.to_vec(),
        };
        let mut layers = vec![
            band("worst case, first order", &of.worst, 0.16),
            band("root of sum of squares", &of.rss, 0.34),
            line("nominal", Style::nth(0), &of.nominal),
        ];
        if let Some(sampled) = &of.sampled {
            let style = Style { colour: 1, dash: 1 };
            layers.push(line("samples of the exact model", style, &sampled.lower));
            layers.push(line("samples of the exact model", style, &sampled.upper));
        }
        layers
    };
    Figure {
        title: title.to_owned(),
        panels: vec![
            panel(
                frequency_axis(),
                Axis::new("magnitude", "dB", Scale::Decibel),
                layers(magnitude),
                HEIGHTS.0 + 20.0,
            ),
            panel(frequency_axis(), Axis::new("phase", "°", Scale::Degrees), layers(phase), HEIGHTS.0),
        ],
    }
}

/// A map of poles and zeros in the complex plane.
pub fn poles(title: &str, poles: &[(f64, f64)], zeros: &[(f64, f64)]) -> Figure {
    let mut layers = vec![Layer::Marks {
        name: "poles".to_owned(),
        style: Style::nth(0),
        mark: Mark::Cross,
        points: poles.to_vec(),
    }];
    if !zeros.is_empty() {
        layers.push(Layer::Marks {
            name: "zeros".to_owned(),
            style: Style::nth(1),
            mark: Mark::Circle,
            points: zeros.to_vec(),
        });
    }
    let level = poles.iter().chain(zeros).all(|(_, im)| *im == 0.0);
    // The origin belongs to the picture: it tells stable from unstable.
    layers.push(Layer::Marks {
        name: String::new(),
        style: Style::nth(0),
        mark: Mark::Dot,
        points: vec![(0.0, 0.0)],
    });
    Figure {
        title: title.to_owned(),
        panels: vec![Panel {
            origin: true,
            ..panel(
                Axis::new("real part", "1/s", Scale::Linear),
                Axis::new("imaginary part", "1/s", Scale::Linear),
                layers,
                if level { 130.0 } else { 300.0 },
            )
        }],
    }
}

/// A part of an energy balance over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnergyPart {
    /// The element.
    pub name: String,
    /// The energy stored, or dissipated since the beginning.
    pub values: Vec<f64>,
}

/// An energy balance: what is stored and what has been dissipated, one on the
/// other, and as a line what was there at the beginning and has been supplied.
/// The balance closes where the line runs along the top.
pub fn energy(title: &str, t: &[f64], parts: &[EnergyPart], supplied: &[f64]) -> Figure {
    let scale = parts.iter().flat_map(|part| &part.values).fold(0.0_f64, |m, v| m.max(v.abs()));
    // Only energies that are positive can stand on one another.
    let stackable = parts.iter().all(|part| part.values.iter().all(|value| *value >= -NEGATIVE_PART * scale));
    let mut layers = Vec::new();
    let mut below = vec![0.0; t.len()];
    for (index, part) in parts.iter().enumerate() {
        if !stackable {
            layers.push(Layer::Line {
                name: part.name.clone(),
                style: Style::nth(index + 1),
                x: t.to_vec(),
                y: part.values.clone(),
            });
            continue;
        }
        let above: Vec<f64> = below.iter().zip(&part.values).map(|(low, value)| low + value).collect();
        layers.push(Layer::Band {
            name: part.name.clone(),
            style: Style::nth(index + 1),
            x: t.to_vec(),
            lower: std::mem::replace(&mut below, above.clone()),
            upper: above,
            opacity: 0.55,
        });
    }
    layers.push(Layer::Line {
        name: "supplied, and stored at the beginning".to_owned(),
        style: Style { colour: 0, dash: 1 },
        x: t.to_vec(),
        y: supplied.to_vec(),
    });
    Figure {
        title: title.to_owned(),
        panels: vec![panel(time_axis(t), Axis::new("energy", "J", Scale::Linear), layers, HEIGHTS.1)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_do_not_jump() {
        // 1/(s + 1)^5 turns by 450 degrees.
        let (mut re, mut im) = (Vec::new(), Vec::new());
        for k in 0..200 {
            let w: f64 = 10_f64.powf(-2.0 + 4.0 * f64::from(k) / 199.0);
            let (r, a) = ((1.0 + w * w).powf(-2.5), -5.0 * w.atan());
            re.push(r * a.cos());
            im.push(r * a.sin());
        }
        let phases = phase_degrees(&re, &im);
        assert!((phases[0] + 2.86).abs() < 0.1 && (phases[199] + 447.1).abs() < 0.1, "{phases:?}");
        assert_eq!(phase_degrees(&[-4.0, -1.0], &[0.0, 0.0]), [-180.0, -180.0], "a double integrator");
        assert_eq!(phase_degrees(&[-1.0, -4.0], &[0.0, 0.0]), [180.0, 180.0], "a double differentiator");
        let gaps = phase_degrees(&[0.0, f64::NAN, 1.0], &[0.0, 0.0, 0.0]);
        assert!(gaps[0].is_nan() && gaps[1].is_nan() && gaps[2] == 0.0);
    }
}
