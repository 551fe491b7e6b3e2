use crate::launch::element::Element;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i128),
    Float(f64),
}

impl Value {
    pub(super) fn of(element: Element, bits: u64) -> Value {
        element.to_int(bits).map_or_else(|| Value::Float(element.to_float(bits)), Value::Int)
    }

    /// Converts to the bits of an element. Integers wrap. Floats round to nearest even, or truncate towards
    /// zero for integer elements.
    pub(super) fn store(self, element: Element) -> u64 {
        match self {
            Value::Int(value) => element.from_int(value),
            Value::Float(value) => element.from_float(value),
        }
    }

    pub(super) fn float(self) -> f64 {
        match self {
            Value::Int(value) => value as f64,
            Value::Float(value) => value,
        }
    }

    pub(super) fn holds(self) -> bool {
        match self {
            Value::Int(value) => value != 0,
            Value::Float(value) => value != 0.0,
        }
    }

    pub(super) fn truth(holds: bool) -> Value {
        Value::Int(i128::from(holds))
    }
}
