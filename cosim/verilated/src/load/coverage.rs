//! Coverage of the design, point by point.

use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointKind {
    /// Counts executions of a block of statements, such as one arm of an `if` or a `case`.
    Line,
    /// Counts selections of one side of a `?:` expression. Only newer Verilators have these points.
    Branch,
    /// Counts the changes of a bit.
    Toggle,
    /// Counts the cycles in which a cover property holds.
    Cover,
}

/// A point of the design that Verilator counts.
///
/// Each instance of a module has its own points, with two exceptions. Verilator may count all instances of a
/// module that is not inlined at the first instance. It also counts the iterations of a loop together, except
/// in a generate loop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Source file, named as in `rtl/`.
    pub file: String,
    /// Line in which the statement begins, from 1.
    pub line: u32,
    /// Column of the statement, from 1. For the other arm of a choice, Verilator gives the next column.
    pub column: u32,
    pub kind: PointKind,
    /// Module without its parameters, such as `atoms_fifo`.
    pub module: String,
    /// Instance and its generate blocks, such as `atoms_unit.u_pipe.g_hold.g_stage[0]`.
    pub hierarchy: String,
    /// Label of a cover property, or signal and bit of a toggle. For other points, the arm: `block`, `if`,
    /// `else`, `elsif`, `case`, `cond_then` or `cond_else`.
    pub name: String,
    /// Lines that run when this point is counted, in order. Empty for an `else` that does not exist.
    pub lines: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Points that are counted, the same for all models of a library.
    pub points: Arc<[Point]>,
    pub counts: Vec<u64>,
}

impl Coverage {
    pub fn iter(&self) -> impl Iterator<Item = (&Point, u64)> {
        self.points.iter().zip(self.counts.iter().copied())
    }
}

impl Point {
    pub(crate) fn new(
        file: &str,
        line: u32,
        column: u32,
        hierarchy: &str,
        page: &str,
        comment: String,
        lines: &str,
    ) -> Self {
        // `v_line/atoms_fifo__Tz1_D4` has the kind of point, and the module with its parameters.
        let (kind, module) = page.split_once('/').unwrap_or((page, ""));
        let kind = match kind {
            "v_user" => PointKind::Cover,
            "v_toggle" => PointKind::Toggle,
            _ if comment.starts_with("cond_") => PointKind::Branch,
            _ => PointKind::Line,
        };
        let mut hierarchy = readable(hierarchy);
        if kind == PointKind::Cover {
            // The hierarchy ends in the label.
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

fn readable(hierarchy: &str) -> String {
    let plain = hierarchy.replace("__DOT__", ".").replace("__BRA__", "[").replace("__KET__", "]");
    // The scope around the top module has no name in the source.
    let plain = plain.strip_prefix("TOP").unwrap_or(&plain);
    plain.trim_start_matches('.').to_owned()
}

/// Returns the lines of a list such as `277,280-282`. Ignores ranges that run backwards or are absurdly long.
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
