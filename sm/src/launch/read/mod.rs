mod expect;
mod number;
mod pointer;

use super::element::Element;
use super::error::LaunchError;
use super::expectation::Expectation;
use super::param::{MOST_ALIGN, Param, ParamKind};
use crate::random::SplitMix64;
use expect::RawExpect;
use number::{Number, bits, pack, read_buffer};
use pointer::Pointers;
use serde::Deserialize;
use std::collections::HashSet;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawParam {
    name: Option<String>,
    #[serde(rename = "type")]
    element: Option<String>,
    value: Option<Number>,
    array: Option<Vec<Number>>,
    align: Option<u32>,
    fields: Option<Vec<RawParam>>,
    values: Option<Vec<Number>>,
    zeros: Option<usize>,
    file: Option<String>,
    random: Option<RawRandom>,
    expect: Option<RawExpect>,
}

impl RawParam {
    pub(crate) fn files(&self) -> Vec<&String> {
        let fields = self.fields.iter().flatten().flat_map(RawParam::files);
        self.file.iter().chain(self.expect.iter().filter_map(RawExpect::file)).chain(fields).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRandom {
    count: usize,
    seed: u64,
    min: Option<Number>,
    max: Option<Number>,
}

/// Limit for elements of a buffer (64 Mi), so that a typing error does not fill the memory.
const MOST_ELEMENTS: usize = 1 << 26;

/// Reads all parameters, and the `buffers` to which they point. Expectations may use all buffers and
/// `scalars`.
pub(crate) fn read_all(
    mut raw: Vec<RawParam>,
    buffers: Vec<RawParam>,
    folder: &Path,
    scalars: &[(&'static str, u64)],
) -> Result<(Vec<Param>, Vec<Param>), LaunchError> {
    let count = raw.len();
    raw.extend(buffers);
    let pointers = Pointers::new(&raw);
    raw.iter_mut().enumerate().try_for_each(|(i, raw)| pointers.resolve(raw, &unnamed(i)))?;
    let mut reading = Reading { folder, names: HashSet::new(), expectations: Vec::new() };
    let mut params = Vec::new();
    for (index, raw) in raw.into_iter().enumerate() {
        params.push(reading.param(raw, unnamed(index))?);
    }
    if let Some(other) = params[count..].iter().find(|p| !matches!(p.kind, ParamKind::Buffer { .. })) {
        let help = "write one of `values`, `zeros`, `file` and `random`";
        return Err(LaunchError::value(&other.name, "a `[[buffer]]` without the content of a buffer", help));
    }
    for (name, raw) in reading.expectations {
        let expectation = raw.resolve(&params, &name, folder, scalars)?;
        expect(&mut params, &name, &expectation);
    }
    let pointed_to = params.split_off(count);
    Ok((params, pointed_to))
}

fn unnamed(index: usize) -> String {
    format!("param {index}")
}

fn expect(params: &mut [Param], name: &str, expectation: &Expectation) {
    for param in params {
        match &mut param.kind {
            ParamKind::Buffer { expect, .. } if param.name == name => *expect = Some(expectation.clone()),
            ParamKind::Struct { fields, .. } => self::expect(fields, name, expectation),
            ParamKind::Buffer { .. } | ParamKind::Scalar { .. } | ParamKind::Array { .. } => {}
        }
    }
}

struct Reading<'a> {
    folder: &'a Path,
    names: HashSet<String>,
    expectations: Vec<(String, RawExpect)>,
}

impl Reading<'_> {
    /// Reads a parameter or a field. `unnamed` is its default name.
    fn param(&mut self, mut raw: RawParam, unnamed: String) -> Result<Param, LaunchError> {
        let name = raw.name.take().unwrap_or(unnamed);
        if !self.names.insert(name.clone()) {
            return Err(LaunchError::value(
                name,
                "a second parameter of this name",
                "use a different name for each parameter",
            ));
        }
        let contents = [
            raw.values.is_some(),
            raw.zeros.is_some(),
            raw.file.is_some(),
            raw.random.is_some(),
            raw.value.is_some(),
            raw.array.is_some(),
            raw.fields.is_some(),
        ];
        let contents = contents.into_iter().filter(|c| *c).count();
        if contents != 1 {
            let message = if contents == 0 {
                "no key states the value to pass"
            } else {
                "more than one key states the value to pass"
            };
            let help = "write `value` for a scalar, one of `values`, `zeros`, `file` and `random` for a buffer, `array` \
                        or `fields` for a structure passed by value";
            return Err(LaunchError::value(name, message, help));
        }
        let by_value = raw.value.is_some() || raw.array.is_some() || raw.fields.is_some();
        if by_value && raw.expect.is_some() {
            return Err(LaunchError::value(
                name,
                "`expect` without a buffer",
                "only buffers have expected elements",
            ));
        }
        let aligned = raw.array.is_some() || raw.fields.is_some();
        if let Some(align) = raw.align
            && (!aligned || !align.is_power_of_two() || align > MOST_ALIGN)
        {
            let help =
                format!("`align` needs `array` or `fields`, and must be a power of two up to {MOST_ALIGN}");
            return Err(LaunchError::value(name, format!("`align` {align}"), help));
        }
        let kind = if let Some(fields) = raw.fields.take() {
            self.fields(&name, fields, &raw)?
        } else {
            let (kind, expect) = read(&name, raw, self.folder)?;
            self.expectations.extend(expect.map(|expect| (name.clone(), expect)));
            kind
        };
        Ok(Param { name, kind })
    }

    fn fields(&mut self, name: &str, raw: Vec<RawParam>, whole: &RawParam) -> Result<ParamKind, LaunchError> {
        if raw.is_empty() || whole.element.is_some() {
            let help = "`fields` lists at least one field, each with its own `type`";
            return Err(LaunchError::value(name, "a structure without fields, or with a type", help));
        }
        let mut fields = Vec::new();
        for (index, raw) in raw.into_iter().enumerate() {
            fields.push(self.param(raw, format!("{name}.{index}"))?);
        }
        let natural = fields.iter().map(Param::alignment).max().unwrap_or(1);
        Ok(ParamKind::Struct { fields, align: natural.max(whole.align.unwrap_or(1)) })
    }
}

fn read(name: &str, raw: RawParam, folder: &Path) -> Result<(ParamKind, Option<RawExpect>), LaunchError> {
    let types = || format!("the types are {}", Element::ALL.map(|(_, name, _)| name).join(", "));
    let Some(named) = &raw.element else {
        return Err(LaunchError::value(name, "no `type`", types()));
    };
    let element = Element::from_name(named)
        .ok_or_else(|| LaunchError::value(name, format!("no type `{named}`"), types()))?;
    if let Some(value) = &raw.value {
        return Ok((ParamKind::Scalar { element, bits: bits(name, element, value)? }, None));
    }
    if let Some(values) = &raw.array {
        let natural = element.bytes() as u32;
        if values.is_empty() {
            return Err(LaunchError::value(name, "`array` is empty", "an array has at least one element"));
        }
        let align = natural.max(raw.align.unwrap_or(1));
        return Ok((ParamKind::Array { element, bytes: pack(name, element, values)?, align }, None));
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
    Err(LaunchError::too_many(name, format!("{count} elements"), MOST_ELEMENTS as u64))
}

fn fill(name: &str, element: Element, random: &RawRandom) -> Result<Vec<u8>, LaunchError> {
    few(name, random.count)?;
    let (low, high) = element.range();
    let bound = |given: &Option<Number>, or: i128| given.as_ref().map_or(Some(or), Number::integer);
    let (min, max) = match (bound(&random.min, low), bound(&random.max, high)) {
        (Some(min), Some(max)) if low <= min && min <= max && max <= high => (min, max),
        _ => {
            let text =
                |given: &Option<Number>, or: i128| given.as_ref().map_or(or.to_string(), Number::to_string);
            let (min, max) = (text(&random.min, low), text(&random.max, high));
            let help = format!(
                "`min` and `max` must be in {low} to {high}: a {} holds these exactly",
                element.name()
            );
            return Err(LaunchError::value(name, format!("random values from {min} to {max}"), help));
        }
    };
    let mut source = SplitMix64::new(random.seed);
    let mut bytes = Vec::with_capacity(random.count * element.bytes());
    for _ in 0..random.count {
        element.push(&mut bytes, element.from_int(source.between(min, max)));
    }
    Ok(bytes)
}
