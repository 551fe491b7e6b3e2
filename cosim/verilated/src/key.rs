//! Keys of cache entries.

use sha2::{Digest, Sha256};
use std::sync::OnceLock;

/// Hash of everything that a build depends on.
///
/// SHA-256 is stable between processes, machines and releases, unlike the hasher of the standard library. It
/// also rules out collisions in a long campaign: a mutant must never get the library of another mutant.
pub(crate) struct Key(Sha256);

impl Key {
    pub(crate) fn new(kind: &str) -> Self {
        Key(Sha256::new()).with(kind)
    }

    /// Adds an input. Its length comes first, so that different inputs with the same concatenation get
    /// different keys.
    pub(crate) fn with(mut self, input: impl AsRef<[u8]>) -> Self {
        let input = input.as_ref();
        self.0.update((input.len() as u64).to_le_bytes());
        self.0.update(input);
        self
    }

    pub(crate) fn with_all<T: AsRef<[u8]>>(self, inputs: impl IntoIterator<Item = T>) -> Self {
        let (mut key, mut count) = (self, 0_u64);
        for input in inputs {
            key = key.with(input);
            count += 1;
        }
        key.with(count.to_le_bytes())
    }

    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Returns the SHA-256 hash in hexadecimal over texts, each preceded by its length.
pub fn hash<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> String {
    texts.into_iter().fold(Key(Sha256::new()), Key::with).finish()
}

pub(crate) fn content_hash(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the processor properties behind `-march=native`: different machines may share a cache folder.
pub(crate) fn processor() -> &'static str {
    static PROCESSOR: OnceLock<String> = OnceLock::new();
    PROCESSOR.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let lines: Vec<&str> = ["model name", "flags", "Features"]
            .iter()
            .filter_map(|name| text.lines().find(|line| line.starts_with(name)))
            .collect();
        format!("{} {}", std::env::consts::ARCH, lines.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_do_not_run_together() {
        let keys = [
            Key::new("k").with("ab").with("c").finish(),
            Key::new("k").with("a").with("bc").finish(),
            Key::new("k").with("abc").finish(),
            Key::new("k").with_all(["ab", "c"]).finish(),
            Key::new("k").with_all(["ab"]).with("c").finish(),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{at}");
        }
    }

    #[test]
    fn a_key_is_the_same_tomorrow() {
        assert_eq!(
            Key::new("").finish(),
            "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc",
            "SHA-256 of eight zero bytes"
        );
    }
}
