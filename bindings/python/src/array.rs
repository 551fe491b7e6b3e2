//! Numbers and arrays of Python as words and lanes.

use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyTuple};

/// Maximum number of lanes of a warp.
pub(crate) const LANES: usize = 32;

/// Words of one 128-bit lane.
const WORDS: usize = 4;

pub(crate) fn value_error(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}

/// Integers of an array in row-major order.
enum Elements<'py> {
    Narrow(PyReadonlyArrayDyn<'py, u32>),
    Long(PyReadonlyArrayDyn<'py, u64>),
}

/// An array of integers, and its name for messages.
pub(crate) struct Array<'py> {
    name: String,
    elements: Elements<'py>,
}

impl<'py> Array<'py> {
    pub(crate) fn new(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let name = name.to_owned();
        let array = value.py().import("numpy")?.call_method1("ascontiguousarray", (value,))?;
        if let Ok(words) = array.cast::<PyArrayDyn<u32>>() {
            return Ok(Array { name, elements: Elements::Narrow(words.try_readonly()?) });
        }
        let of = array.getattr("dtype")?;
        if !"uib".contains(&of.getattr("kind")?.extract::<String>()?) {
            return Err(PyTypeError::new_err(format!(
                "`{name}` has elements of type {of}; expected integers of at most 64 bits, or one packed integer"
            )));
        }
        if array.getattr("size")?.extract::<usize>()? > 0 && array.call_method0("min")?.lt(0)? {
            return Err(value_error(format!(
                "`{name}` has a negative element; expected 0 to 2**32 - 1, as `array.view(numpy.uint32)` gives"
            )));
        }
        let array = array.call_method1("astype", ("uint64",))?;
        let long = array.cast::<PyArrayDyn<u64>>()?;
        Ok(Array { name, elements: Elements::Long(long.try_readonly()?) })
    }

    pub(crate) fn shape(&self) -> &[usize] {
        match &self.elements {
            Elements::Narrow(words) => words.shape(),
            Elements::Long(longs) => longs.shape(),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.shape().first().copied().unwrap_or(0)
    }

    /// Number in row `row` of a column.
    pub(crate) fn number(&self, row: usize) -> PyResult<u64> {
        match self.shape() {
            [_] => self.element(row),
            shape => {
                Err(value_error(format!("`{}` has the shape {shape:?}; expected one dimension", self.name)))
            }
        }
    }

    /// All elements of one dimension, as words.
    pub(crate) fn words(&self) -> PyResult<Vec<u32>> {
        (0..self.rows()).map(|at| self.number(at).and_then(|word| self.word(word))).collect()
    }

    /// One word for each lane of the row; of the whole array without a row.
    pub(crate) fn narrow(&self, row: Option<usize>) -> PyResult<[u32; LANES]> {
        let lanes = self.lanes(row, &[])?;
        let mut to = [0; LANES];
        if let Elements::Narrow(words) = &self.elements {
            let first = row.unwrap_or(0) * lanes;
            to[..lanes].copy_from_slice(&words.as_slice()?[first..first + lanes]);
            return Ok(to);
        }
        for (lane, word) in to.iter_mut().enumerate().take(lanes) {
            *word = self.word(self.element(row.unwrap_or(0) * lanes + lane)?)?;
        }
        Ok(to)
    }

    /// 128 bits for each lane, as [`Array::narrow`]: one element, or four words, low word first.
    pub(crate) fn wide(&self, row: Option<usize>) -> PyResult<[u128; LANES]> {
        let four = self.shape().len() == 2 + usize::from(row.is_some());
        let lanes = self.lanes(row, if four { &[WORDS] } else { &[] })?;
        let first = row.unwrap_or(0) * lanes;
        let mut to = [0; LANES];
        if let (Elements::Narrow(words), true) = (&self.elements, four) {
            let words = words.as_slice()?[WORDS * first..].as_chunks::<WORDS>().0;
            for (value, lane) in to.iter_mut().take(lanes).zip(words) {
                *value = lane.iter().rev().fold(0, |value, word| value << 32 | u128::from(*word));
            }
            return Ok(to);
        }
        for (lane, value) in to.iter_mut().enumerate().take(lanes) {
            let words = if four { WORDS } else { 1 };
            for word in (0..words).rev() {
                let element = self.element(words * (first + lane) + word)?;
                *value = *value << 32 | if four { self.word(element)?.into() } else { u128::from(element) };
            }
        }
        Ok(to)
    }

    fn element(&self, at: usize) -> PyResult<u64> {
        let element = match &self.elements {
            Elements::Narrow(words) => words.as_slice()?.get(at).copied().map(u64::from),
            Elements::Long(longs) => longs.as_slice()?.get(at).copied(),
        };
        element.ok_or_else(|| value_error(format!("`{}` has too few elements", self.name)))
    }

    fn word(&self, element: u64) -> PyResult<u32> {
        let wide = |_| value_error(format!("`{}` has an element of {element}; expected 32 bits", self.name));
        u32::try_from(element).map_err(wide)
    }

    /// Number of lanes in each row. `inner` is the rest of the expected shape.
    fn lanes(&self, row: Option<usize>, inner: &[usize]) -> PyResult<usize> {
        let shape = self.shape();
        match shape.get(usize::from(row.is_some())..) {
            Some([lanes, rest @ ..]) if *lanes <= LANES && rest == inner => Ok(*lanes),
            _ => {
                let events = if row.is_some() { "events, " } else { "" };
                Err(value_error(format!(
                    "`{}` has the shape {shape:?}; expected ({events}lanes), or ({events}lanes, 4) for values of 128 bits, \
                     with at most {LANES} lanes",
                    self.name
                )))
            }
        }
    }
}

/// True for a list or an array. A LogicArray of cocotb is an integer.
pub(crate) fn is_array(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_instance_of::<PyInt>() {
        return Ok(false);
    }
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    Ok(is_list || value.hasattr("__array__")? && value.getattr("ndim")?.extract::<usize>()? > 0)
}

/// Bytes of a packed integer, low byte first. None if the value is an array.
pub(crate) fn packed<const BYTES: usize>(
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Option<[u8; BYTES]>> {
    if is_array(value)? {
        return Ok(None);
    }
    let number = value.py().get_type::<PyInt>().call1((value,))?;
    let bytes = number.call_method1("to_bytes", (BYTES, "little"));
    let wrong = |_| value_error(format!("`{name}` is {number}; expected 0 to 2**{} - 1", 8 * BYTES));
    let bytes = bytes.map_err(wrong)?.cast_into::<PyBytes>()?;
    let mut to = [0; BYTES];
    to.copy_from_slice(bytes.as_bytes());
    Ok(Some(to))
}

/// One word for each lane, from an array or a packed integer.
pub(crate) fn narrow(name: &str, value: &Bound<'_, PyAny>) -> PyResult<[u32; LANES]> {
    Ok(match packed::<{ 4 * LANES }>(name, value)? {
        Some(bytes) => {
            let words = bytes.as_chunks::<4>().0;
            std::array::from_fn(|lane| u32::from_le_bytes(words[lane]))
        }
        None => Array::new(name, value)?.narrow(None)?,
    })
}

/// 128 bits for each lane, from an array or a packed integer.
pub(crate) fn wide(name: &str, value: &Bound<'_, PyAny>) -> PyResult<[u128; LANES]> {
    Ok(match packed::<{ 16 * LANES }>(name, value)? {
        Some(bytes) => {
            let words = bytes.as_chunks::<16>().0;
            std::array::from_fn(|lane| u128::from_le_bytes(words[lane]))
        }
        // A list can have integers of more than 64 bits, which no array has.
        None => match value.extract::<Vec<u128>>() {
            Ok(list) if value.is_instance_of::<PyList>() && list.len() <= LANES => {
                std::array::from_fn(|lane| list.get(lane).copied().unwrap_or(0))
            }
            _ => Array::new(name, value)?.wide(None)?,
        },
    })
}

/// Words of memory: a dictionary from index to value, or an array of all words.
pub(crate) fn memory(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<(u32, u32)>> {
    match value.cast::<PyDict>() {
        Ok(words) => words.iter().map(|(index, word)| Ok((index.extract()?, word.extract()?))).collect(),
        Err(_) => Ok((0..).zip(Array::new(name, value)?.words()?).collect()),
    }
}
