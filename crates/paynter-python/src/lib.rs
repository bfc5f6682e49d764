//! The module `paynter._paynter`: the library's questions for Python. What
//! people use are the classes of the package `paynter`, which name and check
//! arguments, hold answers, and show them.
//!
//! The macros of PyO3 write the unsafe code that an extension module needs;
//! there is none here.

mod answer;
mod ask;
mod document;
mod ensemble;
mod failure;
mod model;
mod questions;
mod rates;
mod simulate;
mod spelling;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The built-in examples: names, titles, texts and measured data.
#[pyfunction]
fn examples(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |example: paynter::examples::Example| {
        let entry = PyDict::new(py);
        entry.set_item("name", example.name)?;
        entry.set_item("title", example.title())?;
        entry.set_item("origin", example.origin())?;
        entry.set_item("text", example.text)?;
        entry.set_item("data", example.data)?;
        Ok(entry)
    };
    paynter::examples::all().map(entry).collect()
}

/// The page on a diagnostic code, in Markdown.
#[pyfunction]
fn explain(code: &str) -> Option<String> {
    paynter::explain(code, &spelling::Python).map(|found| found.page)
}

/// Ends in a panic: what becomes of one is tested by it.
#[pyfunction]
#[allow(clippy::panic)]
fn panic_on_purpose(py: Python<'_>) -> PyResult<()> {
    ask::ask(py, None, |_| panic!("on purpose"))
}

/// The native part of the package `paynter`.
#[pymodule]
fn _paynter(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_class::<answer::Answer>()?;
    module.add_function(wrap_pyfunction!(model::load, module)?)?;
    module.add_function(wrap_pyfunction!(examples, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(ask::alone, module)?)?;
    module.add_function(wrap_pyfunction!(ask::thread_count, module)?)?;
    module.add_function(wrap_pyfunction!(panic_on_purpose, module)?)?;
    module.add_class::<simulate::Simulator>()?;
    module.add_class::<rates::Rates>()?;
    module.add_function(wrap_pyfunction!(ensemble::join_ensemble, module)?)?;
    Ok(())
}
