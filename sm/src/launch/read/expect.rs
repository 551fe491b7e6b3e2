use super::number::{self, Number};
use crate::launch::element::Element;
use crate::launch::error::LaunchError;
use crate::launch::expectation::{Expectation, Order};
use crate::launch::formula::{self, Names};
use crate::launch::param::{self, Param, ParamKind};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawExpect {
    pub(super) values: Option<Vec<Number>>,
    file: Option<String>,
    histogram_of: Option<String>,
    sum_of: Option<String>,
    copy_of: Option<String>,
    formula: Option<String>,
    count: Option<usize>,
    #[serde(default)]
    order: Order,
    xor: Option<usize>,
    by: Option<String>,
    bins: Option<usize>,
    #[serde(default)]
    ulps: u64,
    open: Option<RawOpen>,
}

/// Elements that are not compared: their indices, or a formula that is nonzero for them.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawOpen {
    Numbers(Vec<usize>),
    Formula(String),
}

/// Word that marks an element as not compared in a list of values.
const OPEN: &str = "open";

const HELP: &str = "write `values`, `file`, `histogram_of` with `bins`, `sum_of` with `bins` (`by` optional), `copy_of` (`xor` \
                    optional), or `formula` (`count` optional); `ulps` and `open` need `order = \"given\"`";

impl RawExpect {
    pub(crate) fn file(&self) -> Option<&String> {
        self.file.as_ref()
    }

    pub(crate) fn resolve(
        self,
        params: &[Param],
        name: &str,
        folder: &Path,
        scalars: &[(&'static str, u64)],
    ) -> Result<Expectation, LaunchError> {
        let wrong = |message: &str| LaunchError::value(format!("{name}.expect"), message, HELP);
        let (element, start) = buffer(params, name, name)?;
        let sources = [
            self.values.is_some(),
            self.file.is_some(),
            self.histogram_of.is_some(),
            self.sum_of.is_some(),
            self.copy_of.is_some(),
            self.formula.is_some(),
        ];
        if sources.into_iter().filter(|s| *s).count() != 1 {
            return Err(wrong("exactly one key must state the expected elements"));
        }
        let computed = self.histogram_of.is_some() || self.sum_of.is_some();
        let stray = self.by.is_some() && self.sum_of.is_none()
            || self.xor.is_some() && self.copy_of.is_none()
            || self.count.is_some() && self.formula.is_none()
            || (self.ulps > 0 || self.open.is_some()) && self.order != Order::Given;
        if self.bins.is_some() != computed || stray {
            return Err(wrong("these keys cannot be combined"));
        }
        let names = Names { params, scalars };
        let mut open = self.left_open(start.len() / element.bytes(), &names, name)?;
        if let Some(text) = &self.formula {
            let bytes = self.computed(text, element, start, &names, name)?;
            return Ok(Expectation { bytes, ulps: self.ulps, order: self.order, open });
        }
        let bytes = match (&self.values, &self.file, &self.histogram_of, &self.copy_of, &self.sum_of) {
            (Some(values), ..) => {
                let mut values = values.clone();
                let is_open = |value: &Number| matches!(value, Number::Text(text) if text == OPEN);
                for (i, value) in values.iter_mut().enumerate().filter(|(_, value)| is_open(value)) {
                    if self.order != Order::Given {
                        return Err(wrong("a value is `open`, but the values may come in any order"));
                    }
                    *value = Number::Integer(0);
                    open.push(i);
                }
                number::pack(name, element, &values)?
            }
            (_, Some(file), ..) => number::read_buffer(name, element, &folder.join(file))?,
            (_, _, _, Some(source), _) => {
                let (kind, data) = buffer(params, name, source)?;
                let xor = self.xor.unwrap_or(0);
                let count = data.len() / kind.bytes();
                if kind != element {
                    return Err(wrong("the buffer of `copy_of` has elements of another type"));
                }
                if !(0..count).all(|i| i ^ xor < count) {
                    return Err(wrong("`xor` gives an index beyond the elements of `copy_of`"));
                }
                let mut bytes = Vec::with_capacity(data.len());
                (0..count).for_each(|i| element.push(&mut bytes, kind.read(data, i ^ xor)));
                bytes
            }
            (_, _, Some(source), ..) => {
                let bins = bins(name, self.bins, element, start)?;
                let (kind, data) = buffer(params, name, source)?;
                accumulate(element, start, bins, &index_of(name, source, kind, data)?, |_| 1.0, |_| 1)
            }
            (.., sum) => {
                let bins = bins(name, self.bins, element, start)?;
                let source = sum.as_deref().unwrap_or_default();
                let (kind, data) = buffer(params, name, source)?;
                let indices = match self.by.as_deref() {
                    None => (0..data.len() / kind.bytes()).map(|i| i as i128).collect(),
                    Some(by) => {
                        let (by_kind, by_data) = buffer(params, name, by)?;
                        index_of(name, by, by_kind, by_data)?
                    }
                };
                if data.len() / kind.bytes() < indices.len() {
                    return Err(wrong("`sum_of` has fewer elements than `by`"));
                }
                let float = |i: usize| kind.to_float(kind.read(data, i));
                let int = |i: usize| kind.to_int(kind.read(data, i)).unwrap_or(0);
                accumulate(element, start, bins, &indices, float, int)
            }
        };
        if bytes.len() > start.len() {
            return Err(wrong("more elements are expected than the buffer has"));
        }
        open.sort_unstable();
        open.dedup();
        Ok(Expectation { bytes, ulps: self.ulps, order: self.order, open })
    }

    /// Indices of the elements that are not compared, below `elements`.
    fn left_open(&self, elements: usize, names: &Names<'_>, name: &str) -> Result<Vec<usize>, LaunchError> {
        let at = format!("{name}.expect.open");
        let mut open = match &self.open {
            None => Vec::new(),
            Some(RawOpen::Numbers(numbers)) => numbers.clone(),
            Some(RawOpen::Formula(text)) => {
                let values = formula::elements(text, Element::S64, elements, names)
                    .map_err(|error| LaunchError::formula(at.clone(), text, error))?;
                values.iter().enumerate().filter(|(_, value)| **value != 0).map(|(i, _)| i).collect()
            }
        };
        if let Some(beyond) = open.iter().find(|number| **number >= elements) {
            let help = format!("the buffer has {elements} elements, counted from 0");
            return Err(LaunchError::value(at, format!("no element {beyond}"), help));
        }
        open.sort_unstable();
        open.dedup();
        Ok(open)
    }

    /// Evaluates a formula for all elements of the buffer, or for the first `count` of them.
    fn computed(
        &self,
        text: &str,
        element: Element,
        start: &[u8],
        names: &Names<'_>,
        name: &str,
    ) -> Result<Vec<u8>, LaunchError> {
        let elements = start.len() / element.bytes();
        let count = self.count.unwrap_or(elements);
        if count > elements || self.count == Some(0) {
            let help = format!("expected 1 to {elements}, the number of elements of the buffer");
            let at = format!("{name}.expect.count");
            return Err(LaunchError::value(at, format!("{count} elements"), help));
        }
        let values = formula::elements(text, element, count, names)
            .map_err(|error| LaunchError::formula(format!("{name}.expect.formula"), text, error))?;
        let mut bytes = Vec::with_capacity(count * element.bytes());
        values.into_iter().for_each(|value| element.push(&mut bytes, value));
        Ok(bytes)
    }
}

fn buffer<'p>(params: &'p [Param], of: &str, name: &str) -> Result<(Element, &'p [u8]), LaunchError> {
    let found = param::find(params, name).and_then(|p| match &p.kind {
        ParamKind::Buffer { element, bytes, .. } => Some((*element, bytes.as_slice())),
        ParamKind::Scalar { .. } | ParamKind::Array { .. } | ParamKind::Struct { .. } => None,
    });
    found.ok_or_else(|| {
        let leaves = param::leaves(params, 0).into_iter().map(|(_, param)| param);
        let buffers = leaves.filter(|p| matches!(p.kind, ParamKind::Buffer { .. }));
        let names = buffers.map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
        let (at, help) = (format!("{of}.expect"), format!("the buffers are {names}"));
        LaunchError::value(at, format!("no buffer `{name}`"), help)
    })
}

fn bins(name: &str, bins: Option<usize>, element: Element, start: &[u8]) -> Result<usize, LaunchError> {
    let elements = start.len() / element.bytes();
    bins.filter(|b| (1..=elements).contains(b)).ok_or_else(|| {
        let help = format!("expected 1 to {elements}, the number of elements of the buffer");
        let found = bins.map_or("no bins".into(), |bins| format!("{bins} bins"));
        LaunchError::value(format!("{name}.expect.bins"), found, help)
    })
}

fn index_of(name: &str, of: &str, kind: Element, data: &[u8]) -> Result<Vec<i128>, LaunchError> {
    let count = data.len() / kind.bytes();
    let each = (0..count).map(|i| kind.to_int(kind.read(data, i)));
    each.collect::<Option<_>>().ok_or_else(|| {
        let at = format!("{name}.expect");
        LaunchError::value(at, format!("`{of}` contains floats"), "a bin number is an integer")
    })
}

/// Adds one term per index, modulo the number of bins, to the initial content. Floats are summed in binary64,
/// which is exact for integer-valued terms.
fn accumulate(
    element: Element,
    start: &[u8],
    bins: usize,
    indices: &[i128],
    float: impl Fn(usize) -> f64,
    int: impl Fn(usize) -> i128,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(bins * element.bytes());
    let bin = |index: i128| index.rem_euclid(bins as i128) as usize;
    if element.float() {
        let mut sums: Vec<f64> = (0..bins).map(|i| element.to_float(element.read(start, i))).collect();
        indices.iter().enumerate().for_each(|(i, index)| sums[bin(*index)] += float(i));
        sums.iter().for_each(|sum| element.push(&mut bytes, element.from_float(*sum)));
    } else {
        let initial = |i| element.to_int(element.read(start, i)).unwrap_or(0);
        let mut sums: Vec<i128> = (0..bins).map(initial).collect();
        indices.iter().enumerate().for_each(|(i, index)| sums[bin(*index)] += int(i));
        sums.iter().for_each(|sum| element.push(&mut bytes, element.from_int(*sum)));
    }
    bytes
}
