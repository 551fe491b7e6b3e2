use crate::launch::element::Element;
use crate::launch::error::LaunchError;
use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use std::fmt;
use std::path::Path;

/// Value in a launch file: an integer, also beyond TOML's range; a float; or text such as "0xffff".
#[derive(Clone, Debug)]
pub(crate) enum Number {
    Integer(i128),
    Float(f64),
    Text(String),
}

impl Number {
    pub(super) fn integer(&self) -> Option<i128> {
        match self {
            Number::Integer(value) => Some(*value),
            Number::Text(text) => match text.strip_prefix("0x") {
                Some(hex) => i128::from_str_radix(hex, 16).ok(),
                None => text.parse().ok(),
            },
            Number::Float(_) => None,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(value) => value.fmt(f),
            Number::Float(value) => value.fmt(f),
            Number::Text(text) => write!(f, "\"{text}\""),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a string such as \"0xff\"")
            }
            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Integer(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number::Integer(value.into()))
            }
            fn visit_i128<E>(self, value: i128) -> Result<Number, E> {
                Ok(Number::Integer(value))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number::Float(value))
            }
            fn visit_str<E>(self, text: &str) -> Result<Number, E> {
                Ok(Number::Text(text.into()))
            }
        }
        from.deserialize_any(Read)
    }
}

pub(super) fn bits(name: &str, element: Element, value: &Number) -> Result<u64, LaunchError> {
    let (low, high) = element.range();
    let found = match value {
        Number::Float(value) if element.float() => return Ok(element.from_float(*value)),
        value => value.integer(),
    };
    match found {
        Some(value) if (low..=high).contains(&value) => Ok(element.from_int(value)),
        _ => {
            let help = format!("a {} is a number from {low} to {high}", element.name());
            Err(LaunchError::value(name, format!("value {value}"), help))
        }
    }
}

pub(super) fn pack(name: &str, element: Element, values: &[Number]) -> Result<Vec<u8>, LaunchError> {
    let mut bytes = Vec::with_capacity(values.len() * element.bytes());
    for value in values {
        element.push(&mut bytes, bits(name, element, value)?);
    }
    Ok(bytes)
}

pub(super) fn read_buffer(name: &str, element: Element, path: &Path) -> Result<Vec<u8>, LaunchError> {
    let bytes = std::fs::read(path).map_err(|source| LaunchError::Read { path: path.into(), source })?;
    if bytes.len() % element.bytes() != 0 {
        let message = format!("`{}` has {} bytes", path.display(), bytes.len());
        let help = format!("the size must be a multiple of {}, the bytes of an element", element.bytes());
        return Err(LaunchError::value(name, message, help));
    }
    Ok(bytes)
}
