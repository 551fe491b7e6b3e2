//! Format of numbers and names in a trace.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// A JSON integer, or a string with a decimal or `0x` number. Counts are written in decimal. Addresses and
/// bit patterns (`HEX`) of ten or more are written in hexadecimal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Number<T, const HEX: bool>(pub(crate) T);

/// An address or a bit pattern.
pub(crate) type Hex<T> = Number<T, true>;
/// A count of something, written in decimal.
pub(crate) type Count<T> = Number<T, false>;
pub(crate) type Pair = (Count<u32>, Hex<u32>);

/// A 24-bit immediate, read with or without a sign.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Immediate(pub(crate) u32);

/// A numeric code, which may be undefined, or a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameOrCode {
    Name(String),
    Code(u8),
}

/// One number for every lane, or a list with lane 0 first.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(untagged, expecting = "expected a number for every lane, or a list of up to 32 with lane 0 first")]
pub(crate) enum PerLane {
    Every(Hex<u128>),
    Each(Vec<Hex<u128>>),
}

struct Literal {
    negative: bool,
    magnitude: u128,
}

impl Literal {
    /// Returns `None` if the text is not a number.
    fn parse(text: &str) -> Option<Literal> {
        let text = text.replace('_', "");
        let (digits, negative) = text.strip_prefix('-').map_or((&*text, false), |rest| (rest, true));
        let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let (digits, radix) = hex.map_or((digits, 10), |hex| (hex, 16));
        let magnitude = u128::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))?;
        Some(Literal { negative, magnitude })
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:#x}", if self.negative { "-" } else { "" }, self.magnitude)
    }
}

/// Reads a number, or returns the text if it is not a number.
struct LiteralOrText;

impl Visitor<'_> for LiteralOrText {
    type Value = Result<Literal, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer or a string")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Ok(Literal { negative: false, magnitude: value.into() }))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Ok(Literal { negative: value < 0, magnitude: value.unsigned_abs().into() }))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        self.visit_u64(value.into())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Literal::parse(text).ok_or_else(|| text.to_owned()))
    }
}

fn number<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: fmt::Arguments<'_>,
    take: impl FnOnce(&Literal) -> Option<T>,
) -> Result<T, D::Error> {
    let found = deserializer.deserialize_any(LiteralOrText)?;
    if let Some(value) = found.as_ref().ok().and_then(take) {
        return Ok(value);
    }
    let found = found.map_or_else(|text| format!("`{text}`"), |literal| literal.to_string());
    Err(de::Error::custom(format_args!(
        "{found}: expected {expected}, as a number or a string such as \"0x1f\""
    )))
}

impl<'de, T: TryFrom<u128>, const HEX: bool> Deserialize<'de> for Number<T, HEX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bits = 8 * size_of::<T>();
        number(deserializer, format_args!("{bits} bits without a sign"), |literal| {
            T::try_from(literal.magnitude).ok().filter(|_| !literal.negative).map(Number)
        })
    }
}

impl<T: Copy + Into<u128>, const HEX: bool> Serialize for Number<T, HEX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.into() {
            value @ 10.. if HEX => serializer.collect_str(&format_args!("{value:#x}")),
            value => serializer.serialize_u128(value),
        }
    }
}

impl<'de> Deserialize<'de> for Immediate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number(deserializer, format_args!("24 bits, -0x800000 to 0xffffff"), |literal| {
            match (literal.negative, literal.magnitude) {
                (false, 0..=0xff_ffff) => Some(Immediate(literal.magnitude as u32)),
                (true, 0..=0x80_0000) => {
                    Some(Immediate((literal.magnitude as u32).wrapping_neg() & 0xff_ffff))
                }
                _ => None,
            }
        })
    }
}

impl Serialize for Immediate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Number::<u32, true>(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NameOrCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(LiteralOrText)? {
            Err(name) => Ok(NameOrCode::Name(name)),
            Ok(Literal { negative: false, magnitude: code @ 0..=255 }) => Ok(NameOrCode::Code(code as u8)),
            Ok(code) => Err(de::Error::custom(format_args!("{code}: expected a name or a code of 8 bits"))),
        }
    }
}

impl Serialize for NameOrCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            NameOrCode::Name(name) => serializer.serialize_str(name),
            NameOrCode::Code(code) => serializer.serialize_u8(*code),
        }
    }
}
