//! What people and programs see of a model. This crate turns results into
//! plain data for JSON; it knows neither files nor terminals.

pub mod json;
