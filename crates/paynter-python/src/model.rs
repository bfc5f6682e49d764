//! A loaded model: where its files come from, and what stands for it when it
//! travels to another process.

use crate::failure::wrong;
use crate::simulate::Simulator;
use paynter::{LoadOptions, NewValue, World, WorldError};
use pyo3::exceptions::{PyFileNotFoundError, PyPermissionError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Files by their paths, as they were read.
type Files = BTreeMap<String, Vec<u8>>;

/// A model, and the files it was read from.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Model {
    pub inner: paynter::Model,
    origin: Arc<Origin>,
    /// The values that were replaced, as one would write them.
    set: Vec<(String, String)>,
    /// The experiment that was asked for last, compiled.
    pub last: Mutex<Option<Arc<Simulator>>>,
}

/// What a model was made of: whoever has it can make the model again.
struct Origin {
    main: String,
    /// How people know the main file.
    shown: String,
    model: Option<String>,
    files: Files,
}

/// Files that a function of Python reads, and what was read so far.
struct Reader<'py> {
    read: &'py Bound<'py, PyAny>,
    main: &'py str,
    shown: &'py str,
    files: Mutex<Files>,
}

impl World for Reader<'_> {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, WorldError> {
        let py = self.read.py();
        let content: Vec<u8> = match self
            .read
            .call1((path,))
            .and_then(|bytes| Ok(bytes.cast_into::<PyBytes>()?.as_bytes().to_vec()))
        {
            Ok(content) => content,
            Err(error) if error.is_instance_of::<PyFileNotFoundError>(py) => {
                return Err(WorldError::NotFound);
            }
            Err(error) if error.is_instance_of::<PyPermissionError>(py) => return Err(WorldError::Outside),
            Err(error) => return Err(WorldError::Other(error.value(py).to_string())),
        };
        if content.len() as u64 > limit {
            return Err(WorldError::TooLarge(content.len() as u64));
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.to_owned(), content.clone());
        Ok(content)
    }

    fn shown(&self, path: &str) -> String {
        if path == self.main { self.shown.to_owned() } else { path.to_owned() }
    }
}

impl Model {
    /// A model that was made of this one, with a text of its own.
    pub fn derived(&self, inner: paynter::Model, text: &str) -> Model {
        let main = "derived.bg".to_owned();
        let mut files = self.origin.files.clone();
        files.insert(main.clone(), text.as_bytes().to_vec());
        let origin = Origin { shown: main.clone(), main, model: None, files };
        Model { inner, origin: Arc::new(origin), set: Vec::new(), last: Mutex::default() }
    }

    /// The model at other values.
    pub fn at(&self, values: &[(String, NewValue)]) -> Model {
        let named = values.iter().map(|(name, value)| (name.as_str(), value.clone()));
        let mut set = self.set.clone();
        for (name, value) in values {
            set.retain(|(known, _)| known != name);
            set.push((name.clone(), written(value)));
        }
        Model { inner: self.inner.with(named), origin: self.origin.clone(), set, last: Mutex::default() }
    }
}

/// A value as one would write it.
fn written(value: &NewValue) -> String {
    match value {
        NewValue::Number(number) => format!("{number:e}"),
        NewValue::Written(text) => text.clone(),
    }
}

/// A new value: a number, or what one would write.
#[derive(FromPyObject)]
pub enum Setting {
    Number(f64),
    Text(String),
}

impl From<Setting> for NewValue {
    fn from(setting: Setting) -> NewValue {
        match setting {
            Setting::Number(number) => NewValue::Number(number),
            Setting::Text(text) => NewValue::from(text.as_str()),
        }
    }
}

/// Loads a model; `read` returns the content of a file by its path below the model's folder.
#[pyfunction]
#[pyo3(signature = (main, shown, read, model=None, set=Vec::new()))]
pub fn load(
    main: &str,
    shown: &str,
    read: &Bound<'_, PyAny>,
    model: Option<String>,
    set: Vec<(String, String)>,
) -> Model {
    let reader = Reader { read, main, shown, files: Mutex::default() };
    let options = LoadOptions { model: model.clone(), set: set.clone() };
    let inner = paynter::Model::load(&reader, main, &options);
    let files = reader.files.into_inner().unwrap_or_else(PoisonError::into_inner);
    let origin = Origin { main: main.to_owned(), shown: shown.to_owned(), model, files };
    Model { inner, origin: Arc::new(origin), set, last: Mutex::default() }
}

impl Model {
    /// What to make the model of again: main file, its name for people, chosen model, files, settings.
    pub fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for (path, content) in &self.origin.files {
            files.set_item(path, PyBytes::new(py, content))?;
        }
        let parts = PyDict::new(py);
        parts.set_item("main", &self.origin.main)?;
        parts.set_item("shown", &self.origin.shown)?;
        parts.set_item("model", &self.origin.model)?;
        parts.set_item("files", files)?;
        parts.set_item("set", self.set.clone())?;
        Ok(parts)
    }

    /// The text of the main file.
    pub fn source(&self) -> String {
        let content = self.origin.files.get(&self.origin.main);
        content.map(|content| String::from_utf8_lossy(content).into_owned()).unwrap_or_default()
    }

    /// The exception that says why a question about this model has no answer.
    pub fn unanswered(
        &self,
        py: Python<'_>,
        reason: paynter::QueryError,
        data: &[paynter::simulate::Data],
    ) -> PyErr {
        match reason {
            paynter::QueryError::Wrong(diagnostics) => {
                wrong(py, &diagnostics, &self.inner.sources_with(data))
            }
            paynter::QueryError::Cancelled => pyo3::exceptions::PyKeyboardInterrupt::new_err(()),
        }
    }
}
