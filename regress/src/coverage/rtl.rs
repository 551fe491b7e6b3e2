//! RTL coverage, summed over tests, configurations and runs.
//!
//! **Lines.** A point is a location in the source. Its count sums all instances of a module and all
//! configurations. A generate branch that is missing in one configuration can thus be covered by another. The
//! count of a *line* is that of its least executed point. With the maximum, the block around `if (a) b <= c;`
//! would hide that `b` was never written. An implicit `else` belongs to no line, nor do the two arms of `?:`,
//! which only newer Verilator versions count. LCOV files list both as branches.
//!
//! **Cover properties** have names of module and label: `atoms_waiters.TableFull`. An instance whose name
//! differs from its module is counted separately: `atoms_fifo[u_warp_queue].HeadWraps`. So is each iteration
//! of a generate loop: `atoms_pipe.Forwards[1]`. Otherwise a hit in the first stage would cover all stages.
//! Counts of different configurations are summed.
//!
//! **Toggles** are bits of signals, summed over all instances. A bit is covered if it changed in both
//! directions.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use atoms_verilated::{Coverage, Point, PointKind};
use serde::{Deserialize, Serialize};

use crate::coverage::summary::{FileCoverage, RtlCoverageSummary};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RtlMap {
    files: BTreeMap<String, FileMap>,
    covers: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileMap {
    #[serde(with = "arms")]
    arms: BTreeMap<Arm, Count>,
    /// Rising and falling changes of each bit.
    toggles: BTreeMap<String, (u64, u64)>,
}

/// Point that Verilator counts: a block, or one arm of a branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arm {
    line: u32,
    column: u32,
    /// Kind of point: `block`, `if`, `else`, `case`, `elsif`, `cond_then`, `cond_else`.
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    lines: Vec<u32>,
    times: u64,
}

/// Serializes arms as tuples, in order: line, column, name, lines, count.
mod arms {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Arm, Count};

    pub(super) fn serialize<S: Serializer>(arms: &BTreeMap<Arm, Count>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(arms.iter().map(|(a, count)| (a.line, a.column, &a.name, &count.lines, count.times)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<Arm, Count>, D::Error> {
        let stored = Vec::<(u32, u32, String, Vec<u32>, u64)>::deserialize(from)?.into_iter();
        let arm = |(line, column, name, lines, times)| (Arm { line, column, name }, Count { lines, times });
        Ok(stored.map(arm).collect())
    }
}

impl FileMap {
    fn count(&mut self, arm: Arm, lines: &[u32], times: u64) {
        let count = self.arms.entry(arm).or_default();
        count.times = count.times.saturating_add(times);
        // After constant propagation, configurations may differ in the lines of a block.
        if count.lines != lines {
            count.lines.extend_from_slice(lines);
            count.lines.sort_unstable();
            count.lines.dedup();
        }
    }

    fn toggle(&mut self, bit: String, up: u64, down: u64) {
        let sum = self.toggles.entry(bit).or_default();
        *sum = (sum.0.saturating_add(up), sum.1.saturating_add(down));
    }

    /// Returns the count of each line, as defined at the top of the module.
    fn lines(&self) -> BTreeMap<u32, u64> {
        let mut lines = BTreeMap::new();
        for (arm, count) in &self.arms {
            if !arm.is_side() {
                for line in &count.lines {
                    let least = lines.entry(*line).or_insert(u64::MAX);
                    *least = count.times.min(*least);
                }
            }
        }
        lines
    }
}

impl Arm {
    /// True if the point is one of the two arms of `?:`.
    fn is_side(&self) -> bool {
        self.name.starts_with("cond_")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RtlItem {
    Line {
        /// File name in `rtl/`.
        file: String,
        /// Line number, from 1.
        line: u32,
    },
    Cover(String),
}

impl fmt::Display for RtlItem {
    /// Writes `rtl/atoms_pipe.sv:123` or `cover atoms_waiters.TableFull`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RtlItem::Line { file, line } => write!(f, "rtl/{file}:{line}"),
            RtlItem::Cover(name) => write!(f, "cover {name}"),
        }
    }
}

/// Returns the name of a cover property, as defined at the top of the module.
fn cover_name(point: &Point) -> String {
    // Instance names begin with `u_`, and names of generate blocks with `g_`.
    let parts: Vec<&str> = point.hierarchy.split('.').collect();
    let blocks = parts.iter().rev().take_while(|part| part.starts_with("g_")).count();
    let (instances, blocks) = parts.split_at(parts.len() - blocks);
    let mut name = point.module.clone();
    let usual = |instance: &str| {
        instance
            .strip_prefix("u_")
            .is_none_or(|instance| point.module.strip_prefix("atoms_") == Some(instance))
    };
    if let Some(instance) = instances.last()
        && !usual(instance)
    {
        name.push_str(&format!("[{instance}]"));
    }
    name.push('.');
    name.push_str(&point.name);
    for block in blocks {
        if let Some(at) = block.find('[') {
            name.push_str(&block[at..]);
        }
    }
    name
}

impl RtlMap {
    pub fn add(&mut self, coverage: &Coverage) {
        for (point, times) in coverage.iter() {
            if point.kind == PointKind::Cover {
                let sum = self.covers.entry(cover_name(point)).or_default();
                *sum = sum.saturating_add(times);
                continue;
            }
            if !self.files.contains_key(&point.file) {
                self.files.insert(point.file.clone(), FileMap::default());
            }
            let Some(file) = self.files.get_mut(&point.file) else { continue };
            if point.kind == PointKind::Toggle {
                // Newer Verilator versions count each direction separately; older ones count every change.
                let (bit, up, down) = match point.name.split_once(':') {
                    Some((bit, "0->1")) => (bit, times, 0),
                    Some((bit, _)) => (bit, 0, times),
                    None => (point.name.as_str(), times.div_ceil(2), times / 2),
                };
                file.toggle(format!("{}.{bit}", point.module), up, down);
            } else {
                let arm = Arm { line: point.line, column: point.column, name: point.name.clone() };
                file.count(arm, &point.lines, times);
            }
        }
    }

    pub fn merge(&mut self, other: &RtlMap) {
        for (name, times) in &other.covers {
            let sum = self.covers.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*times);
        }
        for (name, theirs) in &other.files {
            let file = self.files.entry(name.clone()).or_default();
            for (arm, count) in &theirs.arms {
                file.count(arm.clone(), &count.lines, count.times);
            }
            for (bit, (up, down)) in &theirs.toggles {
                file.toggle(bit.clone(), *up, *down);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.covers.is_empty()
    }

    /// Lists every line and cover property with its count, in order.
    pub fn items(&self) -> impl Iterator<Item = (RtlItem, u64)> + '_ {
        let lines = self.files.iter().flat_map(|(name, file)| {
            let item = |line| RtlItem::Line { file: name.clone(), line };
            file.lines().into_iter().map(move |(line, times)| (item(line), times))
        });
        let covers = self.covers.iter().map(|(name, times)| (RtlItem::Cover(name.clone()), *times));
        lines.chain(covers)
    }

    pub fn uncovered(&self) -> impl Iterator<Item = RtlItem> + '_ {
        self.items().filter(|(_, times)| *times == 0).map(|(item, _)| item)
    }

    /// Returns the data for reports, without waivers.
    pub fn summary(&self) -> RtlCoverageSummary {
        let file = |(name, file): (&String, &FileMap)| {
            let both = file.toggles.values().filter(|(up, down)| *up > 0 && *down > 0).count() as u64;
            FileCoverage {
                name: name.clone(),
                lines: file.lines().into_iter().collect(),
                toggles: (!file.toggles.is_empty()).then_some((file.toggles.len() as u64, both)),
                waivers: Vec::new(),
            }
        };
        RtlCoverageSummary {
            files: self.files.iter().map(file).collect(),
            covers: self.covers.iter().map(|(name, times)| (name.clone(), *times)).collect(),
            waived_covers: Vec::new(),
        }
    }

    /// Writes an LCOV file with lines, and the arms of branches. Sources in `rtl_dir` get absolute paths, so
    /// that `genhtml` and similar tools work in any folder.
    ///
    /// # Errors
    /// Returns errors of `out`.
    pub fn lcov(&self, rtl_dir: &Path, out: &mut impl Write) -> io::Result<()> {
        let rtl_dir = std::path::absolute(rtl_dir)?;
        for (name, file) in &self.files {
            writeln!(out, "TN:\nSF:{}", rtl_dir.join(name).display())?;
            let (mut found, mut hit) = (0, 0);
            let (mut block, mut behind) = (0_u32, None);
            for (arm, count) in &file.arms {
                let branch = match arm.name.as_str() {
                    "if" | "cond_then" => 0,
                    "else" | "cond_else" => 1,
                    _ => continue,
                };
                // Verilator places the second arm one column after the first.
                if branch == 0 || behind != Some((arm.line, arm.column)) {
                    block += 1;
                }
                behind = Some((arm.line, arm.column.saturating_add(1)));
                found += 1;
                hit += u32::from(count.times > 0);
                writeln!(out, "BRDA:{},{block},{branch},{}", arm.line, count.times)?;
            }
            writeln!(out, "BRF:{found}\nBRH:{hit}")?;
            let lines = file.lines();
            for (line, times) in &lines {
                writeln!(out, "DA:{line},{times}")?;
            }
            let hit = lines.values().filter(|times| **times > 0).count();
            writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", lines.len())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(line: u32, column: u32, name: &str, lines: &[u32]) -> Point {
        Point {
            file: "atoms_a.sv".to_string(),
            line,
            column,
            kind: if name.starts_with("cond_") { PointKind::Branch } else { PointKind::Line },
            module: "atoms_a".to_string(),
            hierarchy: "atoms_unit.u_a".to_string(),
            name: name.to_string(),
            lines: lines.to_vec(),
        }
    }

    fn cover(module: &str, hierarchy: &str, name: &str) -> Point {
        let (module, hierarchy) = (module.to_string(), hierarchy.to_string());
        Point { kind: PointKind::Cover, module, hierarchy, ..point(1, 1, name, &[1]) }
    }

    fn coverage(points: &[(Point, u64)]) -> Coverage {
        Coverage {
            points: points.iter().map(|(point, _)| point.clone()).collect(),
            counts: points.iter().map(|(_, count)| *count).collect(),
        }
    }

    fn sample() -> Coverage {
        coverage(&[
            (point(3, 3, "block", &[3, 4, 5]), 10),
            (point(4, 5, "if", &[4]), 0),
            (point(4, 6, "else", &[]), 10),
            (point(5, 9, "cond_then", &[5]), 0),
            (point(5, 10, "cond_else", &[5]), 10),
            (cover("atoms_a", "atoms_unit.u_a", "Full"), 0),
        ])
    }

    #[test]
    fn a_line_counts_what_ran_least_on_it() {
        let mut map = RtlMap::default();
        map.add(&sample());
        assert_eq!(map.summary().files[0].lines, [(3, 10), (4, 0), (5, 10)]);
        let names: Vec<String> = map.uncovered().map(|item| item.to_string()).collect();
        assert_eq!(names, ["rtl/atoms_a.sv:4", "cover atoms_a.Full"]);
    }

    #[test]
    fn instances_and_configurations_are_added_up() {
        let mut map = RtlMap::default();
        map.add(&sample());
        let other = Point { hierarchy: "atoms_unit.u_b".to_string(), ..point(4, 5, "if", &[4]) };
        let mut second = RtlMap::default();
        second.add(&coverage(&[(other, 2), (point(9, 1, "block", &[9]), 0)]));
        let mut merged = map.clone();
        merged.merge(&second);
        let mut reversed = second.clone();
        reversed.merge(&map);
        assert_eq!(merged, reversed);
        assert_eq!(merged.summary().files[0].lines, [(3, 10), (4, 2), (5, 10), (9, 0)]);
        let mut together = RtlMap::default();
        together.merge(&merged);
        assert_eq!(together, merged);
        assert!(RtlMap::default().is_empty() && !merged.is_empty());
    }

    #[test]
    fn cover_properties_are_told_apart_where_it_matters() {
        #[rustfmt::skip]
        let cases = [
            ("atoms_waiters", "atoms_unit.u_waiters",                  "TableFull", "atoms_waiters.TableFull"),
            ("atoms_unit",    "atoms_unit",                            "Full",      "atoms_unit.Full"),
            ("atoms_fifo",    "atoms_unit.u_warp_queue",               "HeadWraps", "atoms_fifo[u_warp_queue].HeadWraps"),
            ("atoms_pipe",    "atoms_unit.u_pipe.g_forward.g_from[1]", "Forwards",  "atoms_pipe.Forwards[1]"),
            ("atoms_pipe",    "atoms_unit.u_pipe.g_hold",              "Hazard",    "atoms_pipe.Hazard"),
        ];
        for (module, hierarchy, label, name) in cases {
            assert_eq!(cover_name(&cover(module, hierarchy, label)), name);
        }
    }

    #[test]
    fn toggles_count_if_they_went_both_ways() {
        let toggle = |name: &str, times| (Point { kind: PointKind::Toggle, ..point(2, 1, name, &[]) }, times);
        let mut map = RtlMap::default();
        map.add(&coverage(&[
            toggle("a[0]:0->1", 1),
            toggle("a[0]:1->0", 1),
            toggle("a[1]:0->1", 5),
            toggle("a[1]:1->0", 0),
            toggle("b", 1),
            toggle("c", 2),
        ]));
        assert_eq!(map.summary().files[0].toggles, Some((4, 2)));
        assert!(map.summary().files[0].lines.is_empty());
    }

    #[test]
    fn what_is_saved_comes_back() {
        let mut map = RtlMap::default();
        map.add(&sample());
        map.add(&coverage(&[(Point { kind: PointKind::Toggle, ..point(2, 1, "a[0]", &[]) }, 3)]));
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<RtlMap>(&text).unwrap(), map);
        assert!(text.contains(r#"[3,3,"block",[3,4,5],10]"#), "{text}");
        for cut in 0..text.len() {
            assert!(serde_json::from_str::<RtlMap>(&text[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn lcov_has_lines_and_branches() {
        let mut map = RtlMap::default();
        map.add(&sample());
        let mut text = Vec::new();
        map.lcov(Path::new("/design/rtl"), &mut text).unwrap();
        let expected = "TN:\nSF:/design/rtl/atoms_a.sv\nBRDA:4,1,0,0\nBRDA:4,1,1,10\nBRDA:5,2,0,0\nBRDA:5,2,1,10\n\
                        BRF:4\nBRH:2\nDA:3,10\nDA:4,0\nDA:5,10\nLF:3\nLH:2\nend_of_record\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
