//! Model and stimulus behind the Python classes `Model` and `Stimulus`, which document them.

use atoms_model::port::{Field, In, Out, Pins, Radix, Shape};
use atoms_scoreboard::arguments::{op_code, size_code};
use atoms_scoreboard::pins::{PinModel, PinStimulus};
use atoms_stimulus::configs;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};

use crate::array::{memory, narrow, packed, value_error, wide};

#[pyclass(module = "atoms._atoms")]
pub(crate) struct NativeModel {
    inner: PinModel,
}

#[pymethods]
impl NativeModel {
    #[new]
    fn new(config: &str) -> PyResult<Self> {
        let named = configs::embedded(config).map_err(|error| value_error(error.to_string()))?;
        Ok(NativeModel { inner: PinModel::new(named.config) })
    }

    /// Runs one cycle. Returns the outputs before the clock edge.
    fn step<'py>(&mut self, pins: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let out = self.inner.step(&inputs(pins)?).map_err(value_error)?;
        write(pins.py(), out, Out::FIELDS)
    }

    fn evaluate<'py>(&mut self, pins: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let out = self.inner.evaluate(&inputs(pins)?).map_err(value_error)?;
        write(pins.py(), out, Out::FIELDS)
    }

    #[getter]
    fn memory<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let words = (0..self.inner.words()).map(|word| self.inner.word(word));
        Ok(PyArray1::from_vec(python, words.collect::<Result<_, _>>().map_err(value_error)?))
    }

    fn set_words(&mut self, words: &Bound<'_, PyAny>) -> PyResult<()> {
        for (word, value) in memory("words", words)? {
            self.inner.set_word(word, value).map_err(value_error)?;
        }
        Ok(())
    }
}

#[pyclass(module = "atoms._atoms")]
pub(crate) struct NativeStimulus {
    inner: PinStimulus,
}

#[pymethods]
impl NativeStimulus {
    #[new]
    fn new(config: &str, profile: &str, seed: u64, requests: u64) -> PyResult<Self> {
        let named = configs::embedded(config).map_err(|error| value_error(error.to_string()))?;
        let inner = PinStimulus::new(named.config, profile, seed, requests).map_err(value_error)?;
        Ok(NativeStimulus { inner })
    }

    /// Returns the inputs of the next cycle, given the outputs of the cycle before.
    fn step<'py>(
        &mut self,
        python: Python<'py>,
        out: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let out = out.map(|out| read(Out::default(), Out::FIELDS, out)).transpose()?;
        write(python, self.inner.step(out.as_ref()).map_err(value_error)?, In::FIELDS)
    }

    #[getter]
    fn finished(&self) -> bool {
        self.inner.finished()
    }
}

/// Names of pins and ports: `rsp_tag` and `rsp_tag_o`.
pub(crate) fn ports<'py>(
    python: Python<'py>,
    fields: &[Field],
    suffix: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let ports = PyDict::new(python);
    for Field { name, .. } in fields {
        let port = if *name == "rst_n" { "rst_ni".to_owned() } else { format!("{name}{suffix}") };
        ports.set_item(name, port)?;
    }
    Ok(ports)
}

fn inputs(pins: &Bound<'_, PyDict>) -> PyResult<In> {
    let idle = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() };
    read(idle, In::FIELDS, pins)
}

/// Reads pins by name. Pins that are left out keep their values.
fn read<P: Pins>(mut pins: P, fields: &[Field], values: &Bound<'_, PyDict>) -> PyResult<P> {
    for (name, value) in values {
        let name = name.cast_into::<PyString>()?;
        let name = name.to_cow()?;
        let Some(number) = fields.iter().position(|field| field.name == name) else {
            let known = fields.iter().map(|field| field.name).collect::<Vec<_>>().join(", ");
            return Err(value_error(format!("no pin is called `{name}`; there are {known}")));
        };
        match &fields[number] {
            Field { shape: Shape::PerLane(32), .. } => {
                let lanes = narrow(&name, &value)?;
                (0..).zip(lanes).for_each(|(lane, word)| pins.set_element(number, lane, word.into()));
            }
            Field { shape: Shape::PerLane(_), .. } => {
                let lanes = wide(&name, &value)?;
                (0..).zip(lanes).for_each(|(lane, word)| pins.set_element(number, lane, word));
            }
            field => pins.set_element(number, 0, scalar(field, &value)?),
        }
    }
    Ok(pins)
}

/// Converts the value of a pin. Operations and sizes can have names.
fn scalar(field: &Field, value: &Bound<'_, PyAny>) -> PyResult<u128> {
    let number = match (value.extract::<u64>(), value.cast::<PyString>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(text)) if field.radix == Radix::Op => op_code(&text.to_cow()?).map_err(value_error)?.into(),
        (_, Ok(text)) if field.radix == Radix::Size => {
            size_code(&text.to_cow()?).map_err(value_error)?.into()
        }
        _ => {
            let array = || value_error(format!("`{}` is an array; expected an integer", field.name));
            u128::from_le_bytes(packed(field.name, value)?.ok_or_else(array)?)
        }
    };
    let bits = 8 * field.element_bytes as u32;
    if number.checked_shr(bits).is_some_and(|above| above != 0) {
        return Err(value_error(format!("`{}` is {number:#x}; expected at most {bits} bits", field.name)));
    }
    Ok(number)
}

/// Returns pins by name, those of all lanes as one packed integer.
fn write<'py, P: Pins>(python: Python<'py>, pins: &P, fields: &[Field]) -> PyResult<Bound<'py, PyDict>> {
    let values = PyDict::new(python);
    for (number, field) in fields.iter().enumerate() {
        let lanes = if matches!(field.shape, Shape::PerLane(_)) { crate::array::LANES } else { 1 };
        let name = PyString::intern(python, field.name);
        if lanes == 1 && field.element_bytes <= 8 {
            values.set_item(name, pins.element(number, 0) as u64)?;
            continue;
        }
        let elements = (0..lanes).map(|lane| pins.element(number, lane).to_le_bytes());
        let bytes: Vec<u8> = elements.flat_map(|bytes| bytes.into_iter().take(field.element_bytes)).collect();
        values
            .set_item(name, python.get_type::<PyInt>().call_method1("from_bytes", (&bytes[..], "little"))?)?;
    }
    Ok(values)
}
