//! What a reader may expect of a plot, checked from its geometry and its text.
//! `PLOTS=DIR cargo test -p paynter-draw --test suite plots` writes the figures as
//! PNG files to look at.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use paynter_draw::draw::{Rect, SvgStyle, Theme, png};
use paynter_draw::plot::{
    Axis, Band, Effect, EnergyPart, Family, Figure, Layer, Panel, Response, Scale, Style, Tolerance, Trace,
    arrange, bode, energy, family, plot_svg, poles, time, time_axis, tolerance, tornado,
};

/// w0²/(s² + 2 d w0 s + w0²)
fn resonance(w0: f64, d: f64, omega: &[f64]) -> (Vec<f64>, Vec<f64>) {
    omega
        .iter()
        .map(|w| {
            let (a, b) = (w0 * w0 - w * w, 2.0 * d * w0 * w);
            let n = (a * a + b * b) / (w0 * w0);
            (a / n, -b / n)
        })
        .unzip()
}

fn grid(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|k| low * (high / low).powf(k as f64 / (count - 1) as f64)).collect()
}

fn response(name: &str, (re, im): (Vec<f64>, Vec<f64>)) -> Response {
    Response { name: name.to_owned(), re, im }
}

fn trace(name: &str, unit: &str, values: Vec<f64>) -> Trace {
    Trace { name: name.to_owned(), unit: unit.to_owned(), values, dashed: false }
}

/// Decays of several runs; few have names of their own, many follow one another.
fn sweep(count: usize) -> Figure {
    let names: Vec<String> = (0..count).map(|k| format!("R = {} Ω", k + 1)).collect();
    let t: Vec<f64> = (0..200).map(|k| 0.05 * f64::from(k)).collect();
    let run = |k: usize| (t.clone(), t.iter().map(|t| (-t / (k + 1) as f64).exp()).collect());
    let quantity = |name: &str, unit: &str| Family {
        name: name.to_owned(),
        unit: unit.to_owned(),
        runs: (0..count).map(run).collect(),
    };
    family("rc: response over time", &names, count > 10, &[quantity("v", "V"), quantity("i", "mA")])
}

/// One figure of each kind, and the awkward ones.
fn gallery() -> Vec<(&'static str, Figure)> {
    let omega = grid(0.01, 1e4, 600);
    let t: Vec<f64> = (0..1001).map(|k| 0.02 * f64::from(k)).collect();
    let of = |f: &dyn Fn(f64) -> f64| -> Vec<f64> { t.iter().map(|t| f(*t)).collect() };
    let levels = |d: f64| -> Vec<f64> {
        let (re, im) = resonance(20.0, d, &omega);
        re.iter().zip(&im).map(|(re, im)| 20.0 * re.hypot(*im).log10()).collect()
    };
    let around = |width: f64, nominal: &[f64]| {
        let peak = |w: f64| width * (0.3 + 4.0 * (-(w / 20.0).ln().powi(2) * 4.0).exp());
        Band {
            lower: nominal.iter().zip(&omega).map(|(v, w)| v - peak(*w)).collect(),
            upper: nominal.iter().zip(&omega).map(|(v, w)| v + peak(*w)).collect(),
        }
    };
    let uncertain = |nominal: Vec<f64>, width: f64| Tolerance {
        worst: around(2.0 * width, &nominal),
        rss: around(width, &nominal),
        sampled: Some(around(1.7 * width, &nominal)),
        nominal,
    };
    let (re, im) = resonance(20.0, 0.1, &omega);
    let phases = paynter_draw::plot::phase_degrees(&re, &im);
    let effect = |name: &str, low: f64, high: f64| Effect { name: name.to_owned(), low, high };
    let million: Vec<f64> = (0..1_000_000).map(|k| 1e-5 * f64::from(k)).collect();
    let noise: Vec<f64> = million.iter().map(|t| (t * 3.0).sin() + 0.2 * (t * 90_001.0).sin()).collect();
    let part = |name: &str, values: Vec<f64>| EnergyPart { name: name.to_owned(), values };
    vec![
        ("bode-one", bode("dc_motor: w / u", &omega, &[response("w / u", resonance(20.0, 0.05, &omega))])),
        (
            "bode-several",
            bode(
                "Frequency response of a chain",
                &omega,
                &[
                    response("x1 / F", resonance(3.0, 0.05, &omega)),
                    response("x2 / F", resonance(80.0, 0.3, &omega)),
                    response(
                        "a long name of an output / a long name of an input",
                        resonance(900.0, 1.2, &omega),
                    ),
                    response("nothing / F", (vec![0.0; omega.len()], vec![0.0; omega.len()])),
                ],
            ),
        ),
        (
            "bode-pole-on-grid",
            bode(
                "Undamped",
                &[1.0, 2.0, 3.0, 4.0, 5.0],
                &[Response {
                    name: "y / u".into(),
                    re: vec![1.0, 2.0, f64::INFINITY, -2.0, -1.0],
                    im: vec![0.0; 5],
                }],
            ),
        ),
        (
            "time-units",
            time(
                "Step response of the motor",
                &t,
                &[
                    trace("w", "rad/s", of(&|t| 120.0 * (1.0 - (-t / 2.0).exp() * (2.0 * t).cos()))),
                    trace("w reference", "rad/s", of(&|t| if t < 4.0 { 120.0 } else { 80.0 })),
                    trace("i", "A", of(&|t| 3.0e-3 * (-t / 3.0).exp() * (5.0 * t).sin())),
                    trace("p", "N*m^-2", of(&|t| 1.01e5 + 300.0 * (t / 3.0).sin())),
                ],
            ),
        ),
        (
            "time-perturbed",
            time(
                "A finite change of R",
                &t,
                &[
                    trace("y", "V", of(&|t| 1.0 - (-t / 3.0).exp())),
                    trace("y + Δy, first order", "V", of(&|t| 1.0 - (-t / 3.0).exp() * (1.0 + 0.1 * t))),
                    Trace { dashed: true, ..trace("exact rerun", "V", of(&|t| 1.0 - (-t / 3.4).exp())) },
                ],
            ),
        ),
        ("sweep", sweep(20)),
        ("scenarios", sweep(3)),
        ("time-decades", {
            let t = grid(1e-6, 1e6, 200);
            let y = t.iter().map(|t| 1.0 / (1.0 + t)).collect();
            time("Over decades", &t, &[trace("y", "mol", y)])
        }),
        ("time-million", time("A million points", &million, &[trace("y", "m", noise)])),
        (
            "tornado",
            tornado(
                "What moves the DC gain of w / u",
                "change of gain",
                "rad/(V*s)",
                &[
                    effect("Ra ±10 %", 0.011, -0.011),
                    effect("kT ±5 %", -0.042, 0.042),
                    effect("b ±20 %", 0.0031, -0.0031),
                    effect("a_parameter_with_a_very_long_name.of_a_submodel.deep ±1 %", 0.0205, -0.0205),
                    effect("La ±10 %", 0.0, 0.0),
                ],
            ),
        ),
        (
            "bands",
            tolerance("x / F with tolerances", &omega, &uncertain(levels(0.1), 1.2), &uncertain(phases, 7.0)),
        ),
        (
            "open-band",
            Figure {
                title: "A band without a lower edge".into(),
                panels: vec![Panel {
                    x: Axis::tight("ω", "rad/s", Scale::Log),
                    y: Axis::new("magnitude", "dB", Scale::Decibel),
                    layers: vec![Layer::Band {
                        name: "worst case".into(),
                        style: Style::nth(0),
                        x: omega.clone(),
                        lower: omega.iter().map(|w| 20.0 * (1.0 - w / 100.0).log10()).collect(),
                        upper: omega.iter().map(|w| 20.0 * (1.0 + w / 100.0).log10()).collect(),
                        opacity: 0.3,
                    }],
                    height: 200.0,
                    origin: false,
                    equal: false,
                }],
            },
        ),
        (
            "poles",
            poles(
                "Poles and zeros",
                &[(-1.0, 4.0), (-1.0, -4.0), (-6.5, 0.0), (-0.2, 9.0), (-0.2, -9.0)],
                &[(-3.0, 0.0), (1.5, 0.0)],
            ),
        ),
        ("poles-none", poles("Nothing moves", &[], &[])),
        (
            "energy",
            energy(
                "Energy",
                &t,
                &[
                    part("spring", of(&|t| 2.0 * (-t / 4.0).exp() * t.cos().powi(2))),
                    part("mass", of(&|t| 2.0 * (-t / 4.0).exp() * t.sin().powi(2))),
                    part("damper (dissipated)", of(&|t| 2.0 * (1.0 - (-t / 4.0).exp()) + 0.05 * t)),
                ],
                &of(&|t| 2.0 + 0.05 * t),
            ),
        ),
        (
            "constant",
            time(
                "Nothing changes",
                &t,
                &[trace("T", "K", vec![293.15; t.len()]), trace("q", "", vec![0.0; t.len()])],
            ),
        ),
        ("empty", time("No output", &[], &[trace("y", "m", Vec::new())])),
        ("no-number", time("Overflow", &t, &[trace("y", "m", of(&|t| if t < 1.0 { t } else { f64::NAN }))])),
        (
            "huge",
            time(
                "Very large and very small",
                &t,
                &[
                    trace("huge", "Pa", of(&|t| 1e290 * (1.0 + t))),
                    trace("tiny", "m", of(&|t| 1e-290 * (t - 3.0))),
                    trace("offset", "K", of(&|t| 300.0 + 1e-5 * t)),
                ],
            ),
        ),
        ("nothing", Figure::default()),
        (
            "short-log",
            Figure {
                title: "Less than a decade".into(),
                panels: vec![Panel {
                    x: Axis::tight("ω", "rad/s", Scale::Log),
                    y: Axis::new("magnitude", "", Scale::Log),
                    layers: vec![Layer::Line {
                        name: "y".into(),
                        style: Style::nth(0),
                        x: vec![30.0, 160.0],
                        y: vec![2e-3, 7.0],
                    }],
                    height: 200.0,
                    origin: false,
                    equal: false,
                }],
            },
        ),
        (
            "many",
            bode(
                "Twelve responses",
                &omega,
                &(0..12)
                    .map(|k| response(&format!("y{k} / u"), resonance(0.1 * 3.0_f64.powi(k), 0.2, &omega)))
                    .collect::<Vec<_>>(),
            ),
        ),
    ]
}

fn overlap(a: Rect, b: Rect) -> bool {
    a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5
}

#[test]
fn texts_stay_on_the_page_apart_from_one_another_and_outside_the_frames() {
    for (name, figure) in gallery() {
        let layout = arrange(&figure);
        for (index, label) in layout.labels.iter().enumerate() {
            let (page, rect) = (layout.page, label.rect);
            assert!(
                rect.left >= 0.0 && rect.right <= page.right && rect.top >= 0.0 && rect.bottom <= page.bottom,
                "{name}: `{}` leaves the page",
                label.text
            );
            for other in &layout.labels[..index] {
                assert!(!overlap(rect, other.rect), "{name}: `{}` covers `{}`", label.text, other.text);
            }
            for frame in layout.frames.iter().filter(|_| label.text != "no values to show") {
                assert!(!overlap(rect, frame.rect), "{name}: `{}` lies in a frame", label.text);
            }
        }
    }
}

#[test]
fn frames_show_their_data() {
    for (name, figure) in gallery() {
        let layout = arrange(&figure);
        assert_eq!(layout.frames.len(), figure.panels.len());
        for (panel, frame) in figure.panels.iter().zip(&layout.frames) {
            assert!(frame.x.iter().filter(|(_, named)| *named).count() >= 2, "{name}: an axis without ticks");
            for (x, _) in &frame.x {
                assert!(
                    (frame.rect.left - 0.01..=frame.rect.right + 0.01).contains(x),
                    "{name}: a tick outside"
                );
            }
            for (y, _) in &frame.y {
                assert!(
                    (frame.rect.top - 0.01..=frame.rect.bottom + 0.01).contains(y),
                    "{name}: a tick outside"
                );
            }
            for layer in &panel.layers {
                let Layer::Line { x, y, .. } = layer else { continue };
                // Levels of a pole on the grid may leave the frame, all others must not.
                for (x, y) in x.iter().zip(y).filter(|(x, y)| x.is_finite() && y.is_finite()) {
                    let at = frame.place(panel, *x, *y);
                    let room = frame.rect.grown(0.01);
                    assert!((room.left..=room.right).contains(&at.x), "{name}: {x}");
                    assert!(
                        (room.top..=room.bottom).contains(&at.y) || name == "bode-pole-on-grid",
                        "{name}: {y}"
                    );
                }
            }
        }
    }
}

/// All numbers in the attributes of an SVG file.
fn coordinates(svg: &str) -> Vec<f64> {
    svg.split(" d=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .flat_map(|data| data.split(['M', 'L', 'Z', ' ']))
        .filter(|text| !text.is_empty())
        .map(|text| text.parse().unwrap())
        .collect()
}

#[test]
fn every_figure_becomes_a_picture() {
    let folder = std::env::var_os("PLOTS").map(std::path::PathBuf::from);
    for (name, figure) in gallery() {
        for theme in [Theme::Light, Theme::Dark] {
            let svg = plot_svg(&figure, &SvgStyle { theme, ..SvgStyle::default() });
            assert!(svg.len() < 400_000, "{name}: {} bytes", svg.len());
            assert!(
                coordinates(&svg).iter().all(|value| value.abs() < 5_000.0),
                "{name}: a path leaves the page"
            );
            if theme == Theme::Light || folder.is_some() {
                let picture = png(&svg, 1.5).unwrap();
                if let Some(folder) = &folder {
                    let theme = if theme == Theme::Light { "" } else { "-dark" };
                    std::fs::write(folder.join(format!("{name}{theme}.png")), picture).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_small_figure_is_written_as_expected() {
    let figure = Figure {
        title: "R < 2 & C".into(),
        panels: vec![Panel {
            x: Axis::tight("t", "s", Scale::Linear),
            y: Axis::new("i", "A", Scale::Linear),
            layers: vec![Layer::Line {
                name: "i".into(),
                style: Style::nth(0),
                x: vec![0.0, 1.0, 2.0],
                y: vec![0.0, 1e-5, -1e-5],
            }],
            height: 120.0,
            origin: false,
            equal: false,
        }],
    };
    let svg = plot_svg(&figure, &SvgStyle::default());
    let body: Vec<&str> = svg.lines().filter(|line| !line.starts_with("<style>")).collect();
    insta::assert_snapshot!(body.join("\n"));
}

#[test]
fn runs_of_a_sweep_go_from_dark_to_light_and_some_are_named() {
    let figure = sweep(20);
    let layers = &figure.panels[0].layers;
    let named: Vec<&str> = layers.iter().map(Layer::name).filter(|name| !name.is_empty()).collect();
    assert_eq!((named.len(), named[0], named[named.len() - 1]), (5, "R = 1 Ω", "R = 20 Ω"));
    let colours: Vec<usize> = layers.iter().map(|layer| layer.style().colour).collect();
    assert!(colours.windows(2).all(|pair| pair[0] <= pair[1]) && colours[0] < colours[19], "{colours:?}");
    assert!(sweep(3).panels[0].layers.iter().all(|layer| !layer.name().is_empty()));
}

#[test]
fn times_over_decades_have_a_logarithmic_axis() {
    let even: Vec<f64> = (0..1001).map(f64::from).collect();
    assert_eq!(time_axis(&even).scale, Scale::Linear);
    assert_eq!(time_axis(&grid(1e-6, 1e6, 50)).scale, Scale::Log);
    assert_eq!(time_axis(&[]).scale, Scale::Linear);
}
