//! Results made visible: one JSON type with its schema per command, and the
//! report. This crate knows neither files nor terminals.

pub mod figures;
pub mod json;
pub mod report;
mod tolerance;
pub mod units;
