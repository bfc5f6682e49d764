//! The answer to a question: its document, its findings, and what is made of
//! it where somebody looks: formulas in a notation, figures.

use crate::document::to_python;
use crate::failure::Finding;
use paynter::draw::{SvgStyle, Theme};
use paynter::export::{Target, notations};
use paynter::plot::{Figure, plot_svg};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// Writes an answer in a notation.
pub type Written = Box<dyn Fn(&dyn Target) -> String + Send + Sync>;

/// Makes a figure by its name, of an output and an input where it is about these.
pub type Figures = Box<dyn Fn(&str, Option<&str>, Option<&str>) -> Option<Figure> + Send + Sync>;

/// What a question leads to, before Python has it.
pub struct Reply<D> {
    pub document: D,
    pub findings: Vec<Finding>,
    pub written: Option<Written>,
    pub figures: Option<Figures>,
}

impl<D> Reply<D> {
    pub fn new(document: D, findings: Vec<Finding>) -> Reply<D> {
        Reply { document, findings, written: None, figures: None }
    }

    pub fn written(mut self, write: impl Fn(&dyn Target) -> String + Send + Sync + 'static) -> Reply<D> {
        self.written = Some(Box::new(write));
        self
    }

    pub fn figures(
        mut self,
        figure: impl Fn(&str, Option<&str>, Option<&str>) -> Option<Figure> + Send + Sync + 'static,
    ) -> Reply<D> {
        self.figures = Some(Box::new(figure));
        self
    }
}

/// The answer to a question.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Answer {
    /// The document, as the command line prints it.
    #[pyo3(get)]
    document: Py<PyAny>,
    /// The findings, with the lines they point at.
    #[pyo3(get)]
    findings: Py<PyAny>,
    written: Option<Written>,
    figures: Option<Figures>,
}

impl Answer {
    pub fn new<D: Serialize>(py: Python<'_>, reply: Reply<D>) -> PyResult<Answer> {
        let Reply { document, findings, written, figures } = reply;
        Ok(Answer {
            document: to_python(py, &document)?.unbind(),
            findings: to_python(py, &findings)?.unbind(),
            written,
            figures,
        })
    }
}

#[pymethods]
impl Answer {
    /// The answer in a notation: latex, mathml, python, matlab, c, julia.
    fn written(&self, py: Python<'_>, notation: &str) -> PyResult<Option<String>> {
        let Some(target) = notations().find(|target| target.name() == notation) else {
            let names: Vec<&str> = notations().map(Target::name).collect();
            let message = format!("there is no notation `{notation}`; choose one of {}", names.join(", "));
            return Err(PyValueError::new_err(message));
        };
        Ok(self.written.as_ref().map(|written| py.detach(|| written(target))))
    }

    /// A figure as SVG, where there is one of that name.
    #[pyo3(signature = (name, output=None, input=None, dark=false))]
    fn figure(
        &self,
        py: Python<'_>,
        name: &str,
        output: Option<&str>,
        input: Option<&str>,
        dark: bool,
    ) -> Option<String> {
        let figures = self.figures.as_ref()?;
        let theme = if dark { Theme::Dark } else { Theme::Light };
        let style = SvgStyle { theme, ..SvgStyle::default() };
        py.detach(|| figures(name, output, input).map(|figure| plot_svg(&figure, &style)))
    }
}
