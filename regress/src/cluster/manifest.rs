use std::io;
use std::path::Path;

use fs_err as fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cut::Shard;
use super::error::ClusterError;
use crate::checksum::hex;
use crate::run::origin::Origin;
use crate::whole_file::write_whole;

/// Version of the format of `manifest.json` and of result files.
pub const FORMAT: u32 = 1;

pub const MANIFEST: &str = "manifest.json";

/// Plan, origin and shards of a regression: `manifest.json`. The file is written once and never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub format: u32,
    pub plan: String,
    pub profile: String,
    pub seed: u64,
    /// Program, RTL and input files, which all shards must share.
    pub origin: Origin,
    /// Full text of the plan file.
    pub text: String,
    /// Number of tests of all shards together.
    pub tests: u64,
    pub shards: Vec<Shard>,
}

impl Manifest {
    /// # Errors
    /// [`ClusterError::Manifest`] if the file is missing, is not a manifest, or has an unknown format.
    pub fn read(out: &Path) -> Result<Manifest, ClusterError> {
        let path = out.join(MANIFEST);
        let malformed = |problem: String| ClusterError::Manifest(path.clone(), problem);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(malformed(
                    "the file does not exist; is its folder the output folder of a regression?".to_string(),
                ));
            }
            Err(error) => return Err(error.into()),
        };
        // Check the format first, since other fields may differ in other formats.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let head: Head = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        if head.format != FORMAT {
            return Err(malformed(format!("format {}, expected {FORMAT}", head.format)));
        }
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        manifest.check().map_err(malformed)?;
        Ok(manifest)
    }

    /// Checks that the shards cover each test exactly once.
    fn check(&self) -> Result<(), String> {
        if u32::try_from(self.shards.len()).is_err() {
            return Err(format!("{} shards, more than a number of 32 bits can count", self.shards.len()));
        }
        let mut next = 0;
        for (number, shard) in self.shards.iter().enumerate() {
            if shard.first != next || shard.end <= shard.first {
                return Err(format!(
                    "shard {number} has tests {} up to {}; expected at least one test, and {next} as the first",
                    shard.first, shard.end
                ));
            }
            next = shard.end;
        }
        if next != self.tests {
            return Err(format!("shards end with test {next}, expected {}", self.tests));
        }
        Ok(())
    }

    /// Writes the manifest to an output folder, which is created if missing. Does nothing if the folder holds
    /// an equal manifest.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] if the folder has another manifest; [`ClusterError::Manifest`] if the shards
    /// do not cover each test exactly once.
    pub fn create(&self, out: &Path) -> Result<(), ClusterError> {
        let path = out.join(MANIFEST);
        self.check().map_err(|problem| ClusterError::Manifest(path.clone(), problem))?;
        fs::create_dir_all(out)?;
        if path.exists() {
            let there = Manifest::read(out)?;
            if there == *self {
                return Ok(());
            }
            return Err(ClusterError::Refused(format!(
                "`{}` belongs to another regression, which differs in {}; resume that one, or choose another folder",
                path.display(),
                self.differences(&there).join(", ")
            )));
        }
        let text = serde_json::to_string_pretty(self).map_err(io::Error::from)? + "\n";
        Ok(write_whole(&path, text)?)
    }

    fn differences(&self, other: &Manifest) -> Vec<String> {
        let parts = [
            ("plan", self.plan == other.plan && self.text == other.text),
            ("profile", self.profile == other.profile),
            ("seed", self.seed == other.seed),
            ("version of ATOMS", self.origin.version == other.origin.version),
            ("program", self.origin.build == other.origin.build),
            ("RTL", self.origin.rtl == other.origin.rtl),
            ("input files", self.origin.inputs == other.origin.inputs),
            ("shards", self.tests == other.tests && self.shards == other.shards),
        ];
        parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name.to_string()).collect()
    }

    /// Checks that the origin of this process equals that of the manifest.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] with the differences.
    pub fn admit(&self, out: &Path, here: &Origin) -> Result<(), ClusterError> {
        let differences = self.origin.differences(here, "manifest", "here");
        if differences.is_empty() {
            return Ok(());
        }
        Err(ClusterError::Refused(format!(
            "`{}` was made with another program, RTL or input file:\n  {}\nuse the same ones as before, or start again in another folder",
            out.join(MANIFEST).display(),
            differences.join("\n  ")
        )))
    }

    /// # Errors
    /// [`ClusterError::Refused`] if the shard does not exist.
    pub fn shard(&self, number: u32) -> Result<Shard, ClusterError> {
        let found = self.shards.get(number as usize).copied();
        let last = self.count().saturating_sub(1);
        found.ok_or_else(|| {
            ClusterError::Refused(format!("no shard {number}: the manifest has shards 0 to {last}"))
        })
    }

    pub fn count(&self) -> u32 {
        // Cannot overflow, since `check` limits the number of shards.
        u32::try_from(self.shards.len()).unwrap_or(u32::MAX)
    }

    /// Hashes everything that determines test results, which excludes the shards. Every result file repeats
    /// this hash.
    pub fn hash(&self) -> String {
        let Manifest { format, plan, profile, seed, origin, text, tests, shards: _ } = self;
        // JSON maps are sorted, so that equal manifests have equal hashes.
        let all = serde_json::json!([format, plan, profile, seed, origin, text, tests]);
        hex(Sha256::digest(all.to_string()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::cut::Cut;
    use super::*;

    pub(in super::super) fn manifest(shards: u32, each: u64) -> Manifest {
        let tests = u64::from(shards) * each;
        Manifest {
            format: FORMAT,
            plan: "plan".to_string(),
            profile: "smoke".to_string(),
            seed: 7,
            origin: Origin { version: "1".into(), build: "b".into(), rtl: "r".into(), ..Origin::default() },
            text: "[plan]".to_string(),
            tests,
            shards: Cut::Count(shards).shards(tests, |_| 1.0),
        }
    }

    fn costs(shards: &[Shard], cost: impl Fn(u64) -> f64) -> Vec<f64> {
        shards.iter().map(|shard| shard.tests().map(&cost).sum()).collect()
    }

    #[test]
    fn shards_have_every_test_once_and_none_is_empty() {
        let unruly = |test: u64| match test % 7 {
            0 => 100.0,
            1 => 0.0,
            2 => f64::NAN,
            3 => -4.0,
            4 => f64::INFINITY,
            other => other as f64,
        };
        for tests in [0, 1, 2, 3, 10, 97, 1000] {
            for cut in [Cut::Count(0), Cut::Count(1), Cut::Count(8), Cut::Count(u32::MAX)]
                .into_iter()
                .chain([0.0, -1.0, f64::NAN, 1e-9, 1.0, 250.0, f64::INFINITY].map(Cut::Seconds))
            {
                let shards = cut.shards(tests, unruly);
                let manifest = Manifest { tests, shards, ..manifest(1, 1) };
                assert_eq!(manifest.check(), Ok(()), "{cut:?} of {tests}");
                if let Cut::Count(count) = cut {
                    assert_eq!(u64::from(manifest.count()), u64::from(count).max(1).min(tests), "{tests}");
                }
            }
        }
    }

    #[test]
    fn shards_take_about_as_long_as_each_other() {
        // Directed tests cost a thousandth of a series.
        let cost = |test: u64| if test < 900 { 0.01 } else { 10.0 };
        let shards = Cut::Seconds(60.0).shards(1000, cost);
        assert_eq!(shards.len(), 17, "1009 seconds in parts of 60");
        for seconds in costs(&shards, cost) {
            assert!((45.0..=75.0).contains(&seconds), "{seconds}");
        }
        let even = Cut::Count(8).shards(80, |_| 3.0);
        assert!(even.iter().all(|shard| shard.end - shard.first == 10), "{even:?}");
    }

    #[test]
    fn a_manifest_comes_back_and_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("not yet/there");
        let ours = manifest(4, 5);
        ours.create(&out).expect("it can be written");
        assert_eq!(Manifest::read(&out).expect("it can be read"), ours);
        ours.create(&out).expect("the same again is no conflict");
        let mut other = ours.clone();
        (other.seed, other.origin.rtl) = (8, "another".to_string());
        let error = other.create(&out).expect_err("it belongs to another");
        assert!(error.to_string().contains("seed, RTL"), "{error}");
        assert_ne!(ours.hash(), other.hash());
        assert_eq!(Manifest::read(&out).expect("it can be read"), ours);
    }

    #[test]
    fn manifests_that_cannot_be_used_say_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let reason = |text: &str| {
            fs::write(folder.path().join(MANIFEST), text).expect("it can be written");
            Manifest::read(folder.path()).expect_err("it is no manifest").to_string()
        };
        assert!(reason("").contains("EOF"));
        assert!(reason("{\"format\": 99, \"new\": 1}").contains("format 99, expected 1"));
        let text = serde_json::to_string(&manifest(2, 5)).expect("it can be written");
        assert!(reason(&text[..text.len() / 2]).contains("EOF"));
        let gap = text.replace("\"first\":5", "\"first\":6");
        assert!(
            reason(&gap)
                .contains("shard 1 has tests 6 up to 10; expected at least one test, and 5 as the first")
        );
        let short = text.replace("\"tests\":10", "\"tests\":11");
        assert!(reason(&short).contains("shards end with test 10, expected 11"));
        let nowhere = Manifest::read(&folder.path().join("nowhere")).expect_err("there is none");
        assert!(nowhere.to_string().contains("is its folder the output folder"), "{nowhere}");
    }

    #[test]
    fn an_origin_is_the_same_until_something_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let case = folder.path().join("a.case");
        let origin = || Origin::of_process("1", "r", [("a.case".to_string(), case.clone())]);
        assert!(origin().expect_err("there is none").to_string().contains("a.case`"));
        fs::write(&case, "abc").expect("it can be written");
        let before = origin().expect("all can be read");
        assert_eq!(
            before.inputs["a.case"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "SHA-256 of abc, as in its standard"
        );
        assert_eq!(before, origin().expect("all can be read"));
        fs::write(&case, "abd").expect("it can be written");
        let after = origin().expect("all can be read");
        let differences = before.differences(&after, "manifest", "here");
        assert_eq!(differences.len(), 1, "{differences:?}");
        assert!(differences[0].starts_with("`a.case`: manifest ba7816bf8f01, here "), "{differences:?}");
    }

    #[test]
    fn another_version_is_refused_with_what_differs() {
        let ours = manifest(2, 5);
        let out = Path::new("out");
        ours.admit(out, &ours.origin).expect("the same");
        let mut here = ours.origin.clone();
        here.rtl = "0123456789abcdef".repeat(4);
        here.inputs.insert("a.case".to_string(), "h".to_string());
        let error = ours.admit(out, &here).expect_err("other RTL").to_string();
        assert!(error.contains("RTL: manifest r, here 0123456789ab\n"), "{error}");
        assert!(error.contains("`a.case`: manifest none, here h"), "{error}");
        assert!(!error.contains("  program"), "{error}");
    }
}
