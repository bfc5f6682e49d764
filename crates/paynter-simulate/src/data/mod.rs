//! Measured data: the one reader of CSV files, the tables that a model reads
//! and the inputs that a data file drives.

mod csv;
mod inputs;
mod tables;

pub use csv::MAX_DATA_SIZE;
pub use inputs::{Data, Measured};
pub use tables::{Column, read, tables};
