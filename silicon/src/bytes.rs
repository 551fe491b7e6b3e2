//! Bytes as numbers, and bytes in JSON: compressed, then in base 64.

use std::io::{Read, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Limit for one JSON field, in bytes: a damaged or hostile capture must not fill memory.
const MOST: u64 = 64 << 20;

pub(crate) fn number(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// Reads a value of `bytes` bytes at byte offset `offset`. Words beyond the end of `memory` read as zero.
pub(crate) fn value_at(memory: &[u32], offset: u32, bytes: u32) -> u128 {
    let word = |n: u32| u128::from(memory.get((offset / 4 + n) as usize).copied().unwrap_or(0));
    match bytes {
        0..4 => word(0) >> (8 * (offset % 4)) & low(8 * bytes),
        _ => (0..bytes / 4).rev().fold(0, |value, n| value << 32 | word(n)),
    }
}

pub(crate) const fn low(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    let packed = packed.map_err(|error| serde::ser::Error::custom(error.to_string()))?;
    serializer.serialize_str(&BASE64_STANDARD.encode(packed))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let packed = BASE64_STANDARD.decode(text).map_err(D::Error::custom)?;
    let mut bytes = Vec::new();
    let mut decoder = DeflateDecoder::new(&packed[..]).take(MOST + 1);
    decoder.read_to_end(&mut bytes).map_err(D::Error::custom)?;
    if bytes.len() as u64 > MOST {
        return Err(D::Error::custom(format!("more than {MOST} bytes in one field")));
    }
    Ok(bytes)
}

pub(crate) mod text {
    use serde::{Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        super::serialize(text.as_bytes(), serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        String::from_utf8(super::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
