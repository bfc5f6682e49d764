//! Plots as a good textbook prints them.
//!
//! A [`Figure`] is plain data: panels one above the other, each with two axes
//! and layers of lines, bands, marks and bars. [`arrange`] measures and places
//! everything with the embedded font, [`plot_svg`] writes it; PNG comes from the
//! same SVG by [`png`](crate::draw::png). The figures of the field (Bode
//! diagrams, time responses, tornados, tolerance bands, pole-zero maps, energy
//! balances) are made by the functions of this module.

mod control;
mod curve;
mod figure;
mod kinds;
mod layout;
mod legend;
mod scale;
mod svg;
mod ticks;

pub use control::{Curve, bounds, locus, nichols, nyquist, root_cloud};
pub use figure::{Axis, Bar, Figure, Layer, Mark, Panel, Scale, Style};
pub(crate) use figure::{COLOURS, SHADES};
pub use kinds::{
    Band, Effect, EnergyPart, Family, Response, Tolerance, Trace, bode, energy, family, phase_degrees, poles,
    time, time_axis, tolerance, tornado,
};
pub use layout::{Frame, Label, Layout, PLOT_WIDTH, arrange};
pub use paynter_base::number::{plain, unit};
pub use svg::{plot_rules, plot_svg};
