//! Pictures of models and of results: bond graphs, block diagrams and plots,
//! laid out with one embedded font and written as SVG or PNG. A picture is made
//! of plain data; this crate knows neither results nor files.

pub mod draw;
mod palette;
pub mod plot;
mod tolerance;
mod writer;
