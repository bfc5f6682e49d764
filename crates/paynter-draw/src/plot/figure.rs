//! A figure as data: panels, axes, layers.

use std::f64::consts::TAU;

/// A figure: panels one above the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// The title above it; also what a screen reader says.
    pub title: String,
    /// The panels, from above. Panels with the same x axis share it.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// The same figure with frequencies in Hz where they are angular ones.
    #[must_use]
    pub fn in_hz(mut self) -> Figure {
        for panel in self.panels.iter_mut().filter(|panel| panel.x.unit == "rad/s") {
            (panel.x.label, panel.x.unit) = ("f".to_owned(), "Hz".to_owned());
            for layer in &mut panel.layers {
                match layer {
                    Layer::Line { x, .. } | Layer::Band { x, .. } => x.iter_mut().for_each(|x| *x /= TAU),
                    Layer::Marks { points, .. } => points.iter_mut().for_each(|(x, _)| *x /= TAU),
                    Layer::Bars { .. } => {}
                }
            }
        }
        self
    }
}

/// A panel: two axes and what is drawn between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The axis below.
    pub x: Axis,
    /// The axis at the left.
    pub y: Axis,
    /// What is drawn, from the back to the front.
    pub layers: Vec<Layer>,
    /// The height of the frame.
    pub height: f64,
    /// Whether zero is marked by a line on each axis.
    pub origin: bool,
    /// Whether one unit is as long on both axes: the x axis is made longer for it, or the frame lower.
    pub equal: bool,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is measured.
    pub label: String,
    /// In which unit, as the model writes it; empty where there is none.
    pub unit: String,
    /// How values become places.
    pub scale: Scale,
    /// Whether the ends lie at the data's ends (time, frequency) rather than at ticks.
    pub tight: bool,
}

/// How values become places on an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// In proportion.
    Linear,
    /// By the logarithm; values that are not positive are left out.
    Log,
    /// In proportion, with ticks at 1, 2, 5, 10, 20 … dB; single values far outside do not stretch it.
    Decibel,
    /// In proportion, with ticks at multiples of 45 degrees.
    Degrees,
    /// One place for each name, the first at the top.
    Names(Vec<String>),
}

/// Colour and dashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Place in the colours of the theme and then its shades, counted round.
    pub colour: usize,
    /// Place in the dash patterns, counted round: solid, dashed, dotted, dash-dotted.
    pub dash: usize,
}

/// The number of colours that can be told apart.
pub const COLOURS: usize = 7;
/// The number of shades from dark to light, which follow the colours.
pub const SHADES: usize = 12;
/// The number of dash patterns.
pub const DASHES: usize = 4;

impl Style {
    /// The style of the n-th of several: every colour solid first, then dashed.
    pub fn nth(n: usize) -> Style {
        Style { colour: n % COLOURS, dash: n / COLOURS % DASHES }
    }

    /// The style of the n-th of several that follow one another: from dark to light.
    pub fn shade(n: usize, of: usize) -> Style {
        let share = n as f64 / of.saturating_sub(1).max(1) as f64;
        Style { colour: COLOURS + (share * (SHADES - 1) as f64).round() as usize, dash: 0 }
    }
}

/// The sign at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// ×, as for poles.
    Cross,
    /// An open circle, as for zeros.
    Circle,
    /// A small disc, as for measured values.
    Dot,
}

/// A bar of a [`Layer::Bars`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The place in the names of the y axis.
    pub place: usize,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

/// Something drawn in a panel. The name stands in the legend; layers without one are left out there.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// A line through points; a value that is no number interrupts it.
    Line {
        /// In the legend.
        name: String,
        /// Colour and dashes.
        style: Style,
        /// Places to the right.
        x: Vec<f64>,
        /// Values.
        y: Vec<f64>,
    },
    /// The area between two lines.
    Band {
        /// In the legend.
        name: String,
        /// Its colour.
        style: Style,
        /// Places to the right.
        x: Vec<f64>,
        /// The lower edge.
        lower: Vec<f64>,
        /// The upper edge.
        upper: Vec<f64>,
        /// Opacity, from 0 to 1.
        opacity: f64,
    },
    /// Signs at points.
    Marks {
        /// In the legend.
        name: String,
        /// Their colour.
        style: Style,
        /// The sign.
        mark: Mark,
        /// Where.
        points: Vec<(f64, f64)>,
    },
    /// Level bars, on an axis of names.
    Bars {
        /// In the legend.
        name: String,
        /// Their colour.
        style: Style,
        /// The bars.
        bars: Vec<Bar>,
    },
}

impl Layer {
    /// Its name in the legend.
    pub fn name(&self) -> &str {
        match self {
            Layer::Line { name, .. }
            | Layer::Band { name, .. }
            | Layer::Marks { name, .. }
            | Layer::Bars { name, .. } => name,
        }
    }

    /// Its colour and dashes.
    pub fn style(&self) -> Style {
        match self {
            Layer::Line { style, .. }
            | Layer::Band { style, .. }
            | Layer::Marks { style, .. }
            | Layer::Bars { style, .. } => *style,
        }
    }

    /// All its x values and all its y values, as slices.
    pub(super) fn values(&self) -> (Vec<f64>, Vec<f64>) {
        match self {
            Layer::Line { x, y, .. } => {
                let shown = x.iter().zip(y).filter(|(x, y)| x.is_finite() && y.is_finite());
                shown.map(|(x, y)| (*x, *y)).unzip()
            }
            Layer::Band { x, lower, upper, .. } => {
                let edges = lower.iter().chain(upper).copied().collect();
                (x.clone(), edges)
            }
            Layer::Marks { points, .. } => points.iter().copied().unzip(),
            Layer::Bars { bars, .. } => {
                let ends = bars.iter().flat_map(|bar| [bar.from, bar.to]);
                (ends.collect(), Vec::new())
            }
        }
    }
}

impl Axis {
    /// An axis whose ends lie at ticks.
    pub fn new(label: &str, unit: &str, scale: Scale) -> Axis {
        Axis { label: label.to_owned(), unit: unit.to_owned(), scale, tight: false }
    }

    /// An axis that ends where its data end.
    pub fn tight(label: &str, unit: &str, scale: Scale) -> Axis {
        Axis { tight: true, ..Axis::new(label, unit, scale) }
    }
}
