//! What people and programs see of a model. This crate draws bond graphs
//! and plots, and turns results into plain data for JSON; it knows neither files nor
//! terminals.

pub mod draw;
pub mod export;
pub mod json;
pub mod plot;
pub mod report;
