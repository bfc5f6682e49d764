//! Measured signals: values over time, with straight lines or steps between them.

/// What a table does between its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hold {
    /// Straight lines.
    #[default]
    Linear,
    /// The last sample's value.
    Zero,
}

/// One column of measured data over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    times: Vec<f64>,
    values: Vec<f64>,
    hold: Hold,
}

/// Why data make no table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TableError {
    /// There is no sample.
    Empty,
    /// The number of times is not that of values.
    Lengths(usize, usize),
    /// This sample (from 0) is no finite number.
    NotFinite(usize),
    /// The time of this sample (from 0) is not above the one before.
    Order(usize),
}

impl Table {
    /// Makes a table of samples with rising times.
    pub fn new(times: Vec<f64>, values: Vec<f64>, hold: Hold) -> Result<Table, TableError> {
        if times.is_empty() {
            return Err(TableError::Empty);
        }
        if times.len() != values.len() {
            return Err(TableError::Lengths(times.len(), values.len()));
        }
        if let Some(i) = (0..times.len()).find(|&i| !times[i].is_finite() || !values[i].is_finite()) {
            return Err(TableError::NotFinite(i));
        }
        if let Some(i) = (1..times.len()).find(|&i| times[i] <= times[i - 1]) {
            return Err(TableError::Order(i));
        }
        Ok(Table { times, values, hold })
    }

    /// The times of its samples.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// What it does between samples.
    pub fn hold(&self) -> Hold {
        self.hold
    }

    /// The sample at or before a time, counted from 1; 0 before the first.
    fn place(&self, t: f64) -> usize {
        self.times.partition_point(|time| *time <= t)
    }

    /// The segment that `t` lies in: its number, from 0 (before the first sample) to the number of samples.
    pub fn segment(&self, t: f64) -> usize {
        self.place(t)
    }

    /// The value at a time; before the first and after the last sample the nearest one holds.
    pub fn value(&self, t: f64) -> f64 {
        if t.is_nan() {
            return t;
        }
        self.value_in(self.place(t), t)
    }

    /// The value at a time as the straight line of a segment gives it.
    pub fn value_in(&self, segment: usize, t: f64) -> f64 {
        match segment {
            0 => self.values.first().copied().unwrap_or(f64::NAN),
            k if k >= self.times.len() || self.hold == Hold::Zero => self.values[k.min(self.times.len()) - 1],
            k => {
                let share = (t - self.times[k - 1]) / (self.times[k] - self.times[k - 1]);
                self.values[k - 1] + share * (self.values[k] - self.values[k - 1])
            }
        }
    }

    /// The derivative at a time; at a sample that of the line that follows.
    pub fn derivative(&self, t: f64) -> f64 {
        if t.is_nan() {
            return t;
        }
        self.derivative_in(self.place(t))
    }

    /// The derivative of a segment.
    pub fn derivative_in(&self, segment: usize) -> f64 {
        match segment {
            0 => 0.0,
            k if k >= self.times.len() || self.hold == Hold::Zero => 0.0,
            k => (self.values[k] - self.values[k - 1]) / (self.times[k] - self.times[k - 1]),
        }
    }
}

/// The tables of a model, by their numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tables {
    list: Vec<Table>,
}

/// No tables at all.
pub(crate) static NONE: Tables = Tables { list: Vec::new() };

impl Tables {
    /// Makes a set of tables.
    pub fn new(list: Vec<Table>) -> Tables {
        Tables { list }
    }

    /// Lists the tables.
    pub fn list(&self) -> &[Table] {
        &self.list
    }

    /// The value of a table; undefined if there is none of that number.
    pub fn value(&self, table: u32, t: f64) -> f64 {
        self.list.get(table as usize).map_or(f64::NAN, |table| table.value(t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_steps_between_samples() {
        let samples = || (vec![0.0, 1.0, 3.0], vec![2.0, 4.0, 0.0]);
        let (times, values) = samples();
        let linear = Table::new(times, values, Hold::Linear).unwrap();
        let (times, values) = samples();
        let zero = Table::new(times, values, Hold::Zero).unwrap();
        for (t, line, derivative, step) in [
            (-1.0, 2.0, 0.0, 2.0),
            (0.0, 2.0, 2.0, 2.0),
            (0.5, 3.0, 2.0, 2.0),
            (1.0, 4.0, -2.0, 4.0),
            (2.0, 2.0, -2.0, 4.0),
            (3.0, 0.0, 0.0, 0.0),
            (9.0, 0.0, 0.0, 0.0),
        ] {
            assert_eq!(
                (linear.value(t), linear.derivative(t), zero.value(t)),
                (line, derivative, step),
                "at {t}"
            );
        }
    }

    #[test]
    fn bad_data_are_refused_with_their_place() {
        let make = |t: &[f64], v: &[f64]| Table::new(t.to_vec(), v.to_vec(), Hold::Linear).unwrap_err();
        assert_eq!(make(&[], &[]), TableError::Empty);
        assert_eq!(make(&[0.0], &[]), TableError::Lengths(1, 0));
        assert_eq!(make(&[0.0, 0.0], &[1.0, 2.0]), TableError::Order(1));
        assert_eq!(make(&[0.0, 1.0], &[1.0, f64::NAN]), TableError::NotFinite(1));
    }
}
