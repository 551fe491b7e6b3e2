//! Model, stimulus and coverage behind the Python classes `Model`, `Stimulus` and `Coverage`, which document them.

use std::path::PathBuf;

use atoms_model::port::{Field, In, Out, Pins, Radix, Shape};
use atoms_pins::{PinCoverage, PinModel, PinStimulus};
use atoms_scoreboard::arguments::{op_code, size_code};
use atoms_stimulus::configs;
use numpy::PyArray1;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};

use crate::array::{LANES, memory, narrow, packed, value_error, wide};

#[pyclass(module = "atoms._atoms")]
pub(crate) struct NativeModel {
    inner: PinModel,
    inputs: PinNames,
    outputs: PinNames,
}

#[pymethods]
impl NativeModel {
    #[new]
    fn new(python: Python<'_>, config: &str) -> PyResult<Self> {
        let named = configs::embedded(config).map_err(|error| value_error(error.to_string()))?;
        let [inputs, outputs] = [In::FIELDS, Out::FIELDS].map(|fields| PinNames::new(python, fields));
        Ok(NativeModel { inner: PinModel::new(named.config), inputs, outputs })
    }

    /// Runs one cycle. Returns the outputs before the clock edge.
    fn step<'py>(&mut self, pins: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let out = self.inner.step(&self.inputs.read(idle(), pins)?).map_err(value_error)?;
        self.outputs.write(pins.py(), out)
    }

    fn evaluate<'py>(&mut self, pins: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let out = self.inner.evaluate(&self.inputs.read(idle(), pins)?).map_err(value_error)?;
        self.outputs.write(pins.py(), out)
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
    inputs: PinNames,
    outputs: PinNames,
}

#[pymethods]
impl NativeStimulus {
    #[new]
    fn new(python: Python<'_>, config: &str, profile: &str, seed: u64, requests: u64) -> PyResult<Self> {
        let named = configs::embedded(config).map_err(|error| value_error(error.to_string()))?;
        let inner = PinStimulus::new(&named, profile, seed, requests).map_err(value_error)?;
        let [inputs, outputs] = [In::FIELDS, Out::FIELDS].map(|fields| PinNames::new(python, fields));
        Ok(NativeStimulus { inner, inputs, outputs })
    }

    /// Returns the inputs of the next cycle, given the outputs of the cycle before.
    fn step<'py>(
        &mut self,
        python: Python<'py>,
        out: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let out = out.map(|out| self.outputs.read(Out::default(), out)).transpose()?;
        self.inputs.write(python, self.inner.step(out.as_ref()).map_err(value_error)?)
    }

    #[getter]
    fn finished(&self) -> bool {
        self.inner.finished()
    }
}

#[pyclass(module = "atoms._atoms")]
pub(crate) struct NativeCoverage {
    inner: PinCoverage,
    inputs: PinNames,
    outputs: PinNames,
}

#[pymethods]
impl NativeCoverage {
    #[new]
    fn new(python: Python<'_>, config: &str) -> PyResult<Self> {
        let named = configs::embedded(config).map_err(|error| value_error(error.to_string()))?;
        let [inputs, outputs] = [In::FIELDS, Out::FIELDS].map(|fields| PinNames::new(python, fields));
        Ok(NativeCoverage { inner: PinCoverage::new(&named), inputs, outputs })
    }

    fn sample(&mut self, inputs: &Bound<'_, PyDict>, outputs: &Bound<'_, PyDict>) -> PyResult<()> {
        let inputs = self.inputs.read(idle(), inputs)?;
        let outputs = self.outputs.read(Out::default(), outputs)?;
        self.inner.sample(&inputs, &outputs).map_err(value_error)
    }

    fn groups(&mut self) -> Vec<(&'static str, usize, usize)> {
        self.inner.groups()
    }

    fn bins(&mut self, group: &str) -> PyResult<Vec<(String, u32)>> {
        self.inner.bins(group).map_err(value_error)
    }

    fn write(&mut self, path: PathBuf) -> PyResult<()> {
        self.inner.write(&path).map_err(|error| PyOSError::new_err(error.to_string()))
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

/// Inputs without a request, with all ports ready.
fn idle() -> In {
    In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() }
}

/// Pins of a struct, with their names in Python.
struct PinNames {
    fields: &'static [Field],
    names: Vec<Py<PyString>>,
}

impl PinNames {
    fn new(python: Python<'_>, fields: &'static [Field]) -> Self {
        let name = |field: &Field| PyString::intern(python, field.name).unbind();
        PinNames { fields, names: fields.iter().map(name).collect() }
    }

    /// Reads pins by name. Pins that are left out keep their values.
    fn read<P: Pins>(&self, mut pins: P, values: &Bound<'_, PyDict>) -> PyResult<P> {
        let mut found = 0;
        for (number, (field, name)) in self.fields.iter().zip(&self.names).enumerate() {
            let Some(value) = values.get_item(name)? else { continue };
            found += 1;
            match field.shape {
                Shape::PerLane(32) => {
                    let lanes = narrow(field.name, &value)?;
                    (0..).zip(lanes).for_each(|(lane, word)| pins.set_element(number, lane, word.into()));
                }
                Shape::PerLane(_) => {
                    let lanes = wide(field.name, &value)?;
                    (0..).zip(lanes).for_each(|(lane, word)| pins.set_element(number, lane, word));
                }
                _ => pins.set_element(number, 0, scalar(field, &value)?),
            }
        }
        if found == values.len() {
            return Ok(pins);
        }
        let known: Vec<_> = self.fields.iter().map(|field| field.name).collect();
        let is_unknown =
            |name: &Bound<'_, PyAny>| !known.iter().any(|known| name.eq(known).is_ok_and(|equal| equal));
        let unknown = values.keys().iter().find(is_unknown).map_or(String::new(), |name| name.to_string());
        Err(value_error(format!("no pin is called `{unknown}`; there are {}", known.join(", "))))
    }

    /// Returns pins by name, those of all lanes as one packed integer.
    fn write<'py, P: Pins>(&self, python: Python<'py>, pins: &P) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(python);
        for (number, (field, name)) in self.fields.iter().zip(&self.names).enumerate() {
            let lanes = if matches!(field.shape, Shape::PerLane(_)) { LANES } else { 1 };
            if lanes == 1 && field.element_bytes <= 8 {
                values.set_item(name, pins.element(number, 0) as u64)?;
                continue;
            }
            let elements = (0..lanes).map(|lane| pins.element(number, lane).to_le_bytes());
            let bytes: Vec<u8> =
                elements.flat_map(|bytes| bytes.into_iter().take(field.element_bytes)).collect();
            let packed = python.get_type::<PyInt>().call_method1("from_bytes", (&bytes[..], "little"))?;
            values.set_item(name, packed)?;
        }
        Ok(values)
    }
}

/// Converts the value of a pin. Operations and sizes can have names.
fn scalar(field: &Field, value: &Bound<'_, PyAny>) -> PyResult<u128> {
    let number = if let Ok(number) = value.extract::<u64>() {
        number.into()
    } else if let Ok(text) = value.cast::<PyString>()
        && let Radix::Op | Radix::Size = field.radix
    {
        let code = if field.radix == Radix::Op { op_code } else { size_code };
        code(&text.to_cow()?).map_err(value_error)?.into()
    } else {
        let array = || value_error(format!("`{}` is an array; expected an integer", field.name));
        u128::from_le_bytes(packed(field.name, value)?.ok_or_else(array)?)
    };
    let bits = 8 * field.element_bytes as u32;
    if number.checked_shr(bits).is_some_and(|above| above != 0) {
        return Err(value_error(format!("`{}` is {number:#x}; expected at most {bits} bits", field.name)));
    }
    Ok(number)
}
