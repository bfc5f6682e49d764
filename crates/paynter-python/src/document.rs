//! Documents as Python objects: what the command line writes as JSON becomes
//! dictionaries, lists and strings, and rows of numbers become NumPy arrays.

use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde::ser::{self, Serialize};

/// A document as Python objects.
pub fn to_python<'py, T: Serialize + ?Sized>(py: Python<'py>, document: &T) -> PyResult<Bound<'py, PyAny>> {
    document.serialize(Writer { py }).map_err(|error| error.0)?.into_object(py)
}

/// An error of Python on the way.
#[derive(Debug)]
pub struct Failed(PyErr);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failed {}

impl ser::Error for Failed {
    fn custom<T: std::fmt::Display>(message: T) -> Failed {
        Failed(PyValueError::new_err(message.to_string()))
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Failed {
        Failed(error)
    }
}

/// A value; numbers are kept apart until it is known whether they stand in a row.
pub enum Value<'py> {
    Nothing,
    Number(f64),
    Object(Bound<'py, PyAny>),
}

impl<'py> Value<'py> {
    fn into_object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Value::Nothing => Ok(py.None().into_bound(py)),
            Value::Number(number) => number.into_bound_py_any(py),
            Value::Object(object) => Ok(object),
        }
    }
}

#[derive(Clone, Copy)]
struct Writer<'py> {
    py: Python<'py>,
}

impl<'py> Writer<'py> {
    fn object(self, object: impl IntoPyObject<'py>) -> Result<Value<'py>, Failed> {
        Ok(Value::Object(object.into_bound_py_any(self.py)?))
    }

    fn inner<T: Serialize + ?Sized>(self, value: &T) -> Result<Bound<'py, PyAny>, Failed> {
        Ok(value.serialize(self)?.into_object(self.py)?)
    }
}

/// A row whose items are numbers so far, or are not.
struct Row<'py> {
    writer: Writer<'py>,
    /// Numbers, with NaN in the place of nothing.
    numbers: Vec<f64>,
    /// How many of them are numbers.
    known: usize,
    /// All items, once one is no number.
    objects: Option<Vec<Bound<'py, PyAny>>>,
    is_tuple: bool,
}

impl<'py> Row<'py> {
    fn new(writer: Writer<'py>, length: usize, is_tuple: bool) -> Row<'py> {
        Row { writer, numbers: Vec::with_capacity(length), known: 0, objects: None, is_tuple }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let py = self.writer.py;
        match (value.serialize(self.writer)?, &mut self.objects) {
            (value, Some(objects)) => objects.push(value.into_object(py)?),
            (Value::Number(number), None) => {
                self.numbers.push(number);
                self.known += 1;
            }
            (Value::Nothing, None) => self.numbers.push(f64::NAN),
            (Value::Object(object), None) => {
                let mut objects = self.as_objects()?;
                objects.push(object);
                self.objects = Some(objects);
            }
        }
        Ok(())
    }

    /// The items so far one by one.
    fn as_objects(&self) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = self.writer.py;
        let object = |number: &f64| match number.is_nan() {
            true => Ok(py.None().into_bound(py)),
            false => number.into_bound_py_any(py),
        };
        self.numbers.iter().map(object).collect()
    }

    fn finish(mut self) -> Result<Value<'py>, Failed> {
        let py = self.writer.py;
        if self.objects.is_none() && self.known > 0 && !self.is_tuple {
            return Ok(Value::Object(PyArray1::from_vec(py, self.numbers).into_any()));
        }
        let objects = match self.objects.take() {
            Some(objects) => objects,
            None => self.as_objects()?,
        };
        Ok(Value::Object(match self.is_tuple {
            true => PyTuple::new(py, objects)?.into_any(),
            false => PyList::new(py, objects)?.into_any(),
        }))
    }
}

macro_rules! row {
    ($($name:ident, $method:ident;)*) => {$(
        impl<'py> ser::$name for Row<'py> {
            type Ok = Value<'py>;
            type Error = Failed;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
                self.push(value)
            }

            fn end(self) -> Result<Value<'py>, Failed> {
                self.finish()
            }
        }
    )*};
}

row! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

/// A dictionary being filled.
struct Entries<'py> {
    writer: Writer<'py>,
    dictionary: Bound<'py, PyDict>,
    key: Option<Bound<'py, PyAny>>,
}

impl<'py> Entries<'py> {
    fn new(writer: Writer<'py>) -> Entries<'py> {
        Entries { writer, dictionary: PyDict::new(writer.py), key: None }
    }
}

impl<'py> ser::SerializeMap for Entries<'py> {
    type Ok = Value<'py>;
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failed> {
        self.key = Some(self.writer.inner(key)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let value = self.writer.inner(value)?;
        if let Some(key) = self.key.take() {
            self.dictionary.set_item(key, value)?;
        }
        Ok(())
    }

    fn end(self) -> Result<Value<'py>, Failed> {
        Ok(Value::Object(self.dictionary.into_any()))
    }
}

impl<'py> ser::SerializeStruct for Entries<'py> {
    type Ok = Value<'py>;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Failed> {
        let key = pyo3::types::PyString::intern(self.writer.py, key);
        self.dictionary.set_item(key, self.writer.inner(value)?)?;
        Ok(())
    }

    fn end(self) -> Result<Value<'py>, Failed> {
        Ok(Value::Object(self.dictionary.into_any()))
    }
}

/// A variant with named fields: a dictionary within a dictionary.
struct Variant<'py> {
    name: &'static str,
    entries: Entries<'py>,
}

impl<'py> ser::SerializeStructVariant for Variant<'py> {
    type Ok = Value<'py>;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Failed> {
        ser::SerializeStruct::serialize_field(&mut self.entries, key, value)
    }

    fn end(self) -> Result<Value<'py>, Failed> {
        let outer = PyDict::new(self.entries.writer.py);
        outer.set_item(self.name, self.entries.dictionary)?;
        Ok(Value::Object(outer.into_any()))
    }
}

macro_rules! objects {
    ($($method:ident, $type:ty;)*) => {$(
        fn $method(self, value: $type) -> Result<Value<'py>, Failed> {
            self.object(value)
        }
    )*};
}

impl<'py> ser::Serializer for Writer<'py> {
    type Ok = Value<'py>;
    type Error = Failed;
    type SerializeSeq = Row<'py>;
    type SerializeTuple = Row<'py>;
    type SerializeTupleStruct = Row<'py>;
    type SerializeTupleVariant = Row<'py>;
    type SerializeMap = Entries<'py>;
    type SerializeStruct = Entries<'py>;
    type SerializeStructVariant = Variant<'py>;

    objects! {
        serialize_bool, bool;
        serialize_i8, i8;
        serialize_i16, i16;
        serialize_i32, i32;
        serialize_i64, i64;
        serialize_u8, u8;
        serialize_u16, u16;
        serialize_u32, u32;
        serialize_u64, u64;
        serialize_char, char;
        serialize_str, &str;
        serialize_bytes, &[u8];
    }

    fn serialize_f32(self, value: f32) -> Result<Value<'py>, Failed> {
        Ok(Value::Number(f64::from(value)))
    }

    fn serialize_f64(self, value: f64) -> Result<Value<'py>, Failed> {
        Ok(Value::Number(value))
    }

    fn serialize_none(self) -> Result<Value<'py>, Failed> {
        Ok(Value::Nothing)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value<'py>, Failed> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value<'py>, Failed> {
        Ok(Value::Nothing)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value<'py>, Failed> {
        Ok(Value::Nothing)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Value<'py>, Failed> {
        self.object(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Value<'py>, Failed> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value<'py>, Failed> {
        let outer = PyDict::new(self.py);
        outer.set_item(variant, self.inner(value)?)?;
        self.object(outer)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Row<'py>, Failed> {
        Ok(Row::new(self, length.unwrap_or(0), false))
    }

    fn serialize_tuple(self, length: usize) -> Result<Row<'py>, Failed> {
        Ok(Row::new(self, length, true))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Row<'py>, Failed> {
        Ok(Row::new(self, length, true))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        length: usize,
    ) -> Result<Row<'py>, Failed> {
        Ok(Row::new(self, length, true))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries<'py>, Failed> {
        Ok(Entries::new(self))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries<'py>, Failed> {
        Ok(Entries::new(self))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Variant<'py>, Failed> {
        Ok(Variant { name, entries: Entries::new(self) })
    }
}
