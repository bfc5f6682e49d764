//! The right-hand side of a model for solvers of Python.

use crate::ask::ask;
use crate::failure::RateFailure;
use crate::model::Model;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use paynter::{By, RateError, RateFunction};
use pyo3::prelude::*;

/// A row of numbers, or nothing.
type Row<'py> = Option<PyReadonlyArray1<'py, f64>>;

/// The rates of a model, compiled.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Rates {
    function: RateFunction,
}

fn slice<'a>(row: &'a Row<'_>) -> PyResult<Option<&'a [f64]>> {
    Ok(row.as_ref().map(|row| row.as_slice()).transpose()?)
}

impl Rates {
    fn failed(&self, error: RateError, t: f64) -> PyErr {
        let message = match error {
            RateError::Unsolved => {
                format!("the implicit equations have no solution that was found at t = {t}")
            }
            RateError::Differentiated(input) => format!(
                "the rates read the derivative of the input `{}`, of which u gives the value only; leave u out and \
                 let the model have the signal",
                self.function.inputs[input]
            ),
        };
        RateFailure::new_err(message)
    }
}

#[pymethods]
impl Rates {
    #[getter]
    fn states(&self) -> Vec<String> {
        self.function.states.clone()
    }

    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.function.inputs.clone()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.function.outputs.clone()
    }

    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.function.parameters.clone()
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.function.values)
    }

    #[getter]
    fn initial<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.function.initial)
    }

    fn rates<'py>(
        &self,
        py: Python<'py>,
        t: f64,
        x: PyReadonlyArray1<'py, f64>,
        u: Row<'py>,
        p: Row<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let found = self.function.rates(t, x.as_slice()?, slice(&u)?, slice(&p)?);
        Ok(PyArray1::from_vec(py, found.map_err(|error| self.failed(error, t))?))
    }

    fn outputs_at<'py>(
        &self,
        py: Python<'py>,
        t: f64,
        x: PyReadonlyArray1<'py, f64>,
        u: Row<'py>,
        p: Row<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let found = self.function.outputs(t, x.as_slice()?, slice(&u)?, slice(&p)?);
        Ok(PyArray1::from_vec(py, found.map_err(|error| self.failed(error, t))?))
    }

    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        by: &str,
        t: f64,
        x: PyReadonlyArray1<'py, f64>,
        u: Row<'py>,
        p: Row<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (by, columns) = match by {
            "u" => (By::Inputs, self.function.inputs.len()),
            "p" => (By::Parameters, self.function.parameters.len()),
            _ => (By::States, self.function.states.len()),
        };
        let found = self.function.jacobian(by, t, x.as_slice()?, slice(&u)?, slice(&p)?);
        let rows = found.map_err(|error| self.failed(error, t))?;
        let entries = PyArray1::from_vec(py, rows.concat());
        use numpy::PyArrayMethods;
        entries.reshape([self.function.states.len(), columns])
    }
}

#[pymethods]
impl Model {
    /// The right-hand side, compiled.
    fn rates(&self, py: Python<'_>) -> PyResult<Rates> {
        let found = ask(py, None, |token| self.inner.rates(token))?;
        let answer = found.map_err(|reason| self.unanswered(py, reason, &[]))?;
        Ok(Rates { function: answer.result })
    }
}
