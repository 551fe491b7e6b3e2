//! Small regression with several failures, run in one process or in shards.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::bugs::Bug;
use crate::plant::{self, Patch};
use crate::root;

const PLANTED: [&str; 3] =
    ["inc_counts_one_beyond_its_bound", "popc_inc_counts_one_lane", "bytes_are_stored_high_first"];

/// Writes a copy of the RTL with several bugs.
///
/// # Panics
/// See [`plant::sources`].
pub fn rtl_with_bugs() -> PathBuf {
    let patches: Vec<Patch> = PLANTED.iter().flat_map(|name| Bug::named(name).patches).copied().collect();
    plant::sources("regression", &patches)
}

/// Writes a plan with series and kernels that pass or fail. Each episode has `requests` warp requests.
///
/// # Panics
/// The plan cannot be written.
pub fn plan(folder: &Path, requests: u64) -> PathBuf {
    let kernels = root().join("tests/kernels");
    let kernels = kernels.display();
    let text = format!(
        r#"
seed = 3
[profile.all]
causes = false
[profile.timed]
wall = "1h"
causes = false
[profile.cycles]
cycles = 1_000_000_000
causes = false
[stimulus.sound]
ops = ["ADD", "CAS", "EXCH", "XOR", "LDS"]
[stimulus.counting]
ops = ["INC", "POPC.INC", "ADD"]
[[random]]
name = "sound"
configs = ["small", "tiny"]
stimulus = "sound"
series = 12
episodes = 6
requests = {requests}
[[kernels]]
name = "kernels"
launches = ["{kernels}/hist_u32.launch.toml", "{kernels}/cas_u16.launch.toml"]
texts = ["sm_90a.sass"]
[[random]]
name = "search"
configs = ["small", "tiny"]
series = 4
episodes = 3
requests = {requests}
steer = true
weight = 1
[[random]]
name = "counting"
configs = ["small", "tiny"]
stimulus = "counting"
series = 2
requests = {requests}
steer = true
"#
    );
    let path = folder.join("parts.toml");
    fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

/// Top-level entries of an output folder that depend on the machine or the executor.
const OWN: &[&str] = &[
    "timing.json",
    "timing.jsonl",
    "report.html",
    "junit.xml",
    "checkpoint.json",
    "run.json",
    "manifest.json",
    "shards",
    "slurm",
];

/// Returns the files of an output folder that must not depend on how the tests ran, by name.
///
/// # Panics
/// A file cannot be read.
pub fn files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![out.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("a folder can be read to its end").path();
            let name = path.strip_prefix(out).expect("it is below").display().to_string();
            if OWN.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                found.insert(name, bytes);
            }
        }
    }
    found
}

/// Checks that two output folders have equal files, among them results and three bundles.
///
/// # Panics
/// The folders differ, or lack one of these files.
pub fn assert_same(whole: &Path, parts: &Path) {
    let (whole, parts) = (files(whole), files(parts));
    for needed in ["results.jsonl", "summary.json", "corpus.json"] {
        assert!(whole.get(needed).is_some_and(|bytes| !bytes.is_empty()), "{needed}");
    }
    let bundles = whole.keys().filter(|name| name.starts_with("failures/") && name.ends_with("/bundle.json"));
    assert!(bundles.count() >= 3, "{:?}", whole.keys());
    assert_eq!(whole.keys().collect::<Vec<_>>(), parts.keys().collect::<Vec<_>>());
    for (name, bytes) in &whole {
        if *bytes != parts[name] {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (a, b) = (text(bytes), text(&parts[name]));
            let differs = a.lines().zip(b.lines()).find(|(a, b)| a != b);
            panic!("{name} differs: {differs:?}, {} and {} bytes", a.len(), b.len());
        }
    }
}
