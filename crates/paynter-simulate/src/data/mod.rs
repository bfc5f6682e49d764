//! Measured data: the one reader of CSV files, the tables that a model reads,
//! the inputs that a data file drives, and records of experiments with
//! measured inputs and outputs.

mod csv;
mod heading;
mod inputs;
mod instant;
mod record;
mod tables;

pub use csv::MAX_DATA_SIZE;
pub use inputs::{Data, Measured};
pub use record::{ClockNotes, Record, Signal};
pub use tables::{Column, read, tables};
