//! Kernel parameters: scalars and buffers.

use crate::element::Element;
use crate::expect::{Expectation, RawExpect};
use crate::launch::LaunchError;
use crate::random::SplitMix64;
use serde::Deserialize;
use std::path::Path;

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name: of a buffer, for expectations and reports; else for messages.
    pub name: String,
    /// What is passed.
    pub kind: ParamKind,
}

/// What is passed as a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// A value.
    Scalar {
        /// Its type.
        element: Element,
        /// Its bits.
        bits: u64,
    },
    /// The address of a buffer in global memory.
    Buffer {
        /// Type of its elements.
        element: Element,
        /// Its content at the start, little-endian.
        bytes: Vec<u8>,
        /// What it should hold at the end.
        expect: Option<Expectation>,
    },
}

impl Param {
    /// Bytes that the parameter itself takes, which is also its alignment.
    pub fn bytes(&self) -> u32 {
        match &self.kind {
            ParamKind::Scalar { element, .. } => element.bytes() as u32,
            ParamKind::Buffer { .. } => 8,
        }
    }
}

/// A parameter as the launch file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawParam {
    name: Option<String>,
    #[serde(rename = "type")]
    element: String,
    value: Option<toml::Value>,
    values: Option<Vec<toml::Value>>,
    zeros: Option<usize>,
    file: Option<String>,
    random: Option<RawRandom>,
    expect: Option<RawExpect>,
}

impl RawParam {
    /// Files that it names.
    pub(crate) fn files(&self) -> impl Iterator<Item = &String> {
        self.file.iter().chain(self.expect.iter().filter_map(RawExpect::file))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRandom {
    count: usize,
    seed: u64,
    min: Option<i64>,
    max: Option<i64>,
}

/// Most elements of a buffer: 64 Mi, so that a slip in a launch file does not fill the machine.
const MOST_ELEMENTS: usize = 1 << 26;

/// Reads all parameters; expectations see the buffers before and after them, and `scalars` besides.
pub(crate) fn read_all(
    raw: Vec<RawParam>,
    folder: &Path,
    scalars: &[(&'static str, u64)],
) -> Result<Vec<Param>, LaunchError> {
    let mut params = Vec::new();
    let mut expectations = Vec::new();
    for (index, raw) in raw.into_iter().enumerate() {
        let name = raw.name.clone().unwrap_or_else(|| format!("param {index}"));
        if params.iter().any(|p: &Param| p.name == name) {
            return Err(LaunchError::value(name, "a second parameter of this name", "names differ"));
        }
        let (kind, expect) = read(&name, raw, folder)?;
        params.push(Param { name, kind });
        expectations.push(expect);
    }
    for (index, raw) in expectations.into_iter().enumerate() {
        let Some(raw) = raw else { continue };
        let expectation = raw.resolve(&params, index, folder, scalars)?;
        if let ParamKind::Buffer { expect, .. } = &mut params[index].kind {
            *expect = Some(expectation);
        }
    }
    Ok(params)
}

fn read(name: &str, raw: RawParam, folder: &Path) -> Result<(ParamKind, Option<RawExpect>), LaunchError> {
    let element = Element::from_name(&raw.element).ok_or_else(|| {
        let names = Element::ALL.map(Element::name).join(", ");
        LaunchError::value(name, format!("no type `{}`", raw.element), format!("types are {names}"))
    })?;
    let contents = [raw.values.is_some(), raw.zeros.is_some(), raw.file.is_some(), raw.random.is_some()];
    let contents = contents.into_iter().filter(|c| *c).count();
    if contents + usize::from(raw.value.is_some()) != 1 {
        let message = if contents == 0 {
            "nothing says what is passed"
        } else {
            "more than one key says what is passed"
        };
        let help =
            "write `value` for a scalar, or one of `values`, `zeros`, `file` and `random` for a buffer";
        return Err(LaunchError::value(name, message, help));
    }
    if let Some(value) = &raw.value {
        if raw.expect.is_some() {
            return Err(LaunchError::value(name, "`expect` of a scalar", "only buffers can be expected"));
        }
        return Ok((ParamKind::Scalar { element, bits: bits(name, element, value)? }, None));
    }
    let bytes = if let Some(values) = &raw.values {
        pack(name, element, values)?
    } else if let Some(file) = &raw.file {
        read_buffer(name, element, &folder.join(file))?
    } else if let Some(random) = &raw.random {
        fill(name, element, random)?
    } else {
        let count = raw.zeros.unwrap_or(0);
        few(name, count)?;
        vec![0; count * element.bytes()]
    };
    Ok((ParamKind::Buffer { element, bytes, expect: None }, raw.expect))
}

fn few(name: &str, count: usize) -> Result<(), LaunchError> {
    if count <= MOST_ELEMENTS {
        return Ok(());
    }
    Err(LaunchError::value(name, format!("{count} elements"), format!("there are at most {MOST_ELEMENTS}")))
}

/// Bits of one value in TOML: integer, float, or a string such as "0xffff".
fn bits(name: &str, element: Element, value: &toml::Value) -> Result<u64, LaunchError> {
    let (low, high) = element.range();
    let found = match value {
        toml::Value::Integer(value) => Some(i128::from(*value)),
        toml::Value::String(text) => match text.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        },
        toml::Value::Float(value) if element.float() => return Ok(element.from_float(*value)),
        _ => None,
    };
    match found {
        Some(value) if (low..=high).contains(&value) => Ok(element.from_int(value)),
        _ => {
            let help = format!("a {} is a number from {low} to {high}", element.name());
            Err(LaunchError::value(name, format!("value {value}"), help))
        }
    }
}

/// Packs values of one type.
pub(crate) fn pack(name: &str, element: Element, values: &[toml::Value]) -> Result<Vec<u8>, LaunchError> {
    let mut bytes = Vec::with_capacity(values.len() * element.bytes());
    for value in values {
        element.push(&mut bytes, bits(name, element, value)?);
    }
    Ok(bytes)
}

/// Reads a file of little-endian elements.
pub(crate) fn read_buffer(name: &str, element: Element, path: &Path) -> Result<Vec<u8>, LaunchError> {
    let bytes = std::fs::read(path).map_err(|source| LaunchError::Read { path: path.into(), source })?;
    if bytes.len() % element.bytes() != 0 {
        let message = format!("`{}` has {} bytes", path.display(), bytes.len());
        return Err(LaunchError::value(
            name,
            message,
            format!("elements have {} bytes each", element.bytes()),
        ));
    }
    Ok(bytes)
}

fn fill(name: &str, element: Element, random: &RawRandom) -> Result<Vec<u8>, LaunchError> {
    few(name, random.count)?;
    let (low, high) = element.range();
    let min = random.min.map_or(low, i128::from);
    let max = random.max.map_or(high, i128::from);
    if min > max || min < low || max > high {
        let help = format!("`min` to `max` lie in {low} to {high}, which a {} holds exactly", element.name());
        return Err(LaunchError::value(name, format!("random values from {min} to {max}"), help));
    }
    let mut source = SplitMix64::new(random.seed);
    let mut bytes = Vec::with_capacity(random.count * element.bytes());
    for _ in 0..random.count {
        element.push(&mut bytes, element.from_int(source.between(min, max)));
    }
    Ok(bytes)
}
