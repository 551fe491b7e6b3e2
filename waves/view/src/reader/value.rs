//! Values as a file contains them.

use super::digits::extend;
use crate::{ValueKind, WaveValue};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawValue<'a> {
    /// Digits `0`, `1`, `x`, `z`, the most significant first, in their shortest form: equal values have equal
    /// digits.
    Bits(&'a [u8]),
    Text(&'a [u8]),
    Real(f64),
    Event,
}

impl RawValue<'_> {
    pub fn to_value(self, kind: ValueKind) -> WaveValue {
        match (self, kind) {
            (RawValue::Bits(digits), ValueKind::Bits(width)) => WaveValue::Bits(extend(digits, width)),
            (RawValue::Bits(digits), ValueKind::Text | ValueKind::Real | ValueKind::Event) => {
                WaveValue::Bits(String::from_utf8_lossy(digits).into_owned())
            }
            (RawValue::Text(text), _) => WaveValue::Text(String::from_utf8_lossy(text).into_owned()),
            (RawValue::Real(number), _) => WaveValue::Real(number),
            (RawValue::Event, _) => WaveValue::Event,
        }
    }

    pub(super) fn length(&self) -> usize {
        match self {
            RawValue::Bits(bytes) | RawValue::Text(bytes) => bytes.len(),
            RawValue::Real(_) | RawValue::Event => 0,
        }
    }
}
