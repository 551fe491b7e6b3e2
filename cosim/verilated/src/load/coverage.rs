//! What of the design was reached, point by point.

use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointKind {
    /// How often a block of statements ran, one arm of an `if` or a `case` for instance.
    Line,
    /// How often an expression with `?:` took one of its sides. Only newer Verilators count these.
    Branch,
    /// How often a bit changed.
    Toggle,
    /// How often a cover property held.
    Cover,
}

/// A place in the design where something is counted.
///
/// Instances of a module are points of their own, except that Verilator may count those of a module
/// which it does not make part of its parent together, at the first of them; so do loops that are no
/// generate loops.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Source file, as in `rtl/`.
    pub file: String,
    /// Line in it where the statement begins, from 1.
    pub line: u32,
    /// Column there, from 1. Verilator gives the other arm of a choice the column behind.
    pub column: u32,
    pub kind: PointKind,
    /// Module, without its parameters: `atoms_fifo`.
    pub module: String,
    /// Instance, and generate block in it: `atoms_unit.u_pipe.g_hold.g_stage[0]`.
    pub hierarchy: String,
    /// Label of a cover property; signal and bit of a toggle; else which arm: `block`, `if`, `else`,
    /// `elsif`, `case`, `cond_then`, `cond_else`.
    pub name: String,
    /// Lines that run when this point is counted, in order; none for an `else` that is not there.
    pub lines: Vec<u32>,
}

/// Counts of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// What is counted: the same for all models of a library.
    pub points: Arc<[Point]>,
    /// Count of each point, in the same order.
    pub counts: Vec<u64>,
}

impl Coverage {
    pub fn iter(&self) -> impl Iterator<Item = (&Point, u64)> {
        self.points.iter().zip(self.counts.iter().copied())
    }
}

impl Point {
    /// A point as Verilator describes it.
    pub(crate) fn new(
        file: &str,
        line: u32,
        column: u32,
        hierarchy: &str,
        page: &str,
        comment: String,
        lines: &str,
    ) -> Self {
        // `v_line/atoms_fifo__Tz1_D4`: what is counted, and the module with its parameters.
        let (kind, module) = page.split_once('/').unwrap_or((page, ""));
        let kind = match kind {
            "v_user" => PointKind::Cover,
            "v_toggle" => PointKind::Toggle,
            _ if comment.starts_with("cond_") => PointKind::Branch,
            _ => PointKind::Line,
        };
        let mut hierarchy = readable(hierarchy);
        if kind == PointKind::Cover {
            // It ends in the label.
            hierarchy
                .truncate(hierarchy.strip_suffix(&format!(".{comment}")).map_or(hierarchy.len(), str::len));
        }
        Point {
            file: file.rsplit('/').next().unwrap_or(file).to_owned(),
            line,
            column,
            kind,
            module: module.split("__").next().unwrap_or(module).to_owned(),
            hierarchy,
            name: comment,
            lines: line_numbers(lines),
        }
    }
}

/// A hierarchical name as it is written in the source.
fn readable(hierarchy: &str) -> String {
    let plain = hierarchy.replace("__DOT__", ".").replace("__BRA__", "[").replace("__KET__", "]");
    // The scope around the top module has no name in the source.
    let plain = plain.strip_prefix("TOP").unwrap_or(&plain);
    plain.trim_start_matches('.').to_owned()
}

/// Line numbers of `277,280-282`. A range that runs backwards or to absurd lengths is not one.
fn line_numbers(text: &str) -> Vec<u32> {
    const LONGEST: u32 = 100_000;
    let mut lines = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.trim().parse::<u32>(), to.trim().parse::<u32>())
            && to.checked_sub(from).is_some_and(|length| length < LONGEST)
        {
            lines.extend(from..=to);
        }
    }
    lines.sort_unstable();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        let point = Point::new(
            "rtl/atoms_pipe.sv",
            7,
            5,
            "TOP.atoms_unit.u_pipe.g_hold.g_stage__BRA__1__KET____DOT__Waits",
            "v_user/atoms_pipe__Tz1_D4",
            "Waits".to_owned(),
            "7",
        );
        assert_eq!((point.file.as_str(), point.module.as_str()), ("atoms_pipe.sv", "atoms_pipe"));
        assert_eq!(point.hierarchy, "atoms_unit.u_pipe.g_hold.g_stage[1]");
        assert_eq!((point.kind, point.name.as_str()), (PointKind::Cover, "Waits"));
        let older = Point::new("a.sv", 1, 1, "TOP.a.g__BRA__1__KET__.B", "v_user/a", "B".to_owned(), "");
        assert_eq!(older.hierarchy, "a.g[1]");
        let kind = |page, comment: &str| Point::new("a.sv", 1, 1, "a", page, comment.to_owned(), "").kind;
        assert_eq!(kind("v_branch/a", "cond_then"), PointKind::Branch);
        assert_eq!(kind("v_branch/a", "else"), PointKind::Line);
        assert_eq!(kind("v_toggle/a", "x[0]"), PointKind::Toggle);
    }

    #[test]
    fn lines_are_lists_of_ranges() {
        assert_eq!(line_numbers("277,280-282,286"), [277, 280, 281, 282, 286]);
        assert_eq!(line_numbers("3,1-3"), [1, 2, 3]);
        for bad in ["", "x", "5-", "-5", "9-3", "1-4294967295", "1--2"] {
            assert_eq!(line_numbers(bad), [0_u32; 0], "{bad}");
        }
    }
}
