//! A value as it stands in a file.

use super::digits::extend;
use crate::{ValueKind, WaveValue};

/// A value of a wave file, while it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawValue<'a> {
    /// Digits `0`, `1`, `x`, `z`, the most significant first; in front as many are left out as follow from the first
    /// one, so that equal values have equal digits.
    Bits(&'a [u8]),
    /// Text, as the file has it.
    Text(&'a [u8]),
    /// A floating-point number.
    Real(f64),
    /// It happens.
    Event,
}

impl RawValue<'_> {
    /// The value of a signal that holds `kind`.
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

    /// Bytes of the value beside its fixed part.
    pub(super) fn length(&self) -> usize {
        match self {
            RawValue::Bits(bytes) | RawValue::Text(bytes) => bytes.len(),
            RawValue::Real(_) | RawValue::Event => 0,
        }
    }
}
