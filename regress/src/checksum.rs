//! Checksums in JSON: the last field of an object holds a hash of the text before it. The checksum detects
//! accidental damage, not deliberate changes.

use sha2::{Digest, Sha256};

/// Number of hexadecimal digits of a checksum, from the start of a SHA-256.
const DIGITS: usize = 16;

const FIELD: &str = "\"sum\"";

/// Reason why a checksum cannot confirm a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    #[error("it has no checksum: it is cut short, or from another version")]
    Absent,
    /// The checksum does not match the text.
    #[error("its checksum does not match: it was changed or damaged")]
    Other,
}

pub(crate) fn hex(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Computes FNV-1a of a text, starting with `seed`. The algorithm must never change, since stored seeds and
/// names depend on it.
pub(crate) fn fnv1a(seed: u64, text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn sum(bytes: &[u8]) -> String {
    let mut digits = hex(Sha256::digest(bytes));
    digits.truncate(DIGITS);
    digits
}

/// Adds a checksum as the last field of an object. Keeps the layout of an object over several lines.
pub fn sealed(mut object: Vec<u8>) -> Vec<u8> {
    while object.last().is_some_and(u8::is_ascii_whitespace) {
        object.pop();
    }
    // Remove the closing brace.
    object.pop();
    let lines = object.last() == Some(&b'\n');
    if lines {
        object.pop();
    }
    let sum = sum(&object);
    let end = if lines { format!(",\n  {FIELD}: \"{sum}\"\n}}") } else { format!(",{FIELD}:\"{sum}\"}}") };
    object.extend(end.into_bytes());
    object
}

/// Returns the object without its checksum, if the checksum matches.
///
/// # Errors
/// [`Broken`].
pub fn opened(text: &[u8]) -> Result<Vec<u8>, Broken> {
    let text = text.trim_ascii_end();
    let end = text.len().saturating_sub(FIELD.len() + DIGITS + 16);
    let tail = &text[end..];
    let at =
        tail.windows(FIELD.len()).rposition(|window| window == FIELD.as_bytes()).ok_or(Broken::Absent)?;
    let body = text[..end + at].trim_ascii_end();
    let body = body.strip_suffix(b",").ok_or(Broken::Other)?;
    let said: Vec<u8> =
        tail[at + FIELD.len()..].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    match said == format!(":\"{}\"}}", sum(body)).as_bytes() {
        true => Ok([body, b"}"].concat()),
        false => Err(Broken::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any changed byte is detected, in an object on one line or on several.
    #[test]
    fn a_changed_byte_is_seen() {
        let value =
            serde_json::json!({"index": 12, "text": "a \"sum\": b", "list": [1, 2.5], "last": {"x": 1}});
        for text in [serde_json::to_vec(&value), serde_json::to_vec_pretty(&value)] {
            let text = sealed(text.expect("JSON"));
            let own: serde_json::Value =
                serde_json::from_slice(&opened(&text).expect("nothing has changed")).expect("JSON");
            assert_eq!(own, value);
            let read: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(read["sum"].as_str().map(str::len), Some(DIGITS));
            for at in 0..text.len() {
                if text[at].is_ascii_whitespace() {
                    continue;
                }
                let mut changed = text.clone();
                changed[at] ^= 1;
                assert!(opened(&changed).is_err(), "{at}: {}", String::from_utf8_lossy(&changed));
                assert!(opened(&text[..at]).is_err(), "{at}");
            }
        }
        assert_eq!(opened(b"{\"a\":1}"), Err(Broken::Absent));
    }
}
