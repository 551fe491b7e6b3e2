//! Names of opcodes and special registers of PTX.

use std::collections::HashSet;
use std::sync::LazyLock;

/// All opcodes of PTX, in alphabetical order. The opcode is the part of an instruction before the first dot.
/// Source: [PTX].
#[rustfmt::skip]
pub(super) const OPCODES: &[&str] = &[
    "abs", "activemask", "add", "addc", "alloca", "and", "applypriority", "atom", "bar", "barrier", "bfe",
    "bfi", "bfind", "bmsk", "bra", "brev", "brkpt", "brx", "call", "clusterlaunchcontrol", "clz", "cnot",
    "copysign", "cos", "cp", "createpolicy", "cvt", "cvta", "discard", "div", "dp2a", "dp4a", "elect",
    "ex2", "exit", "fence", "fma", "fns", "getctarank", "griddepcontrol", "isspacep", "istypep", "ld",
    "ldmatrix", "ldu", "lg2", "lop3", "mad", "mad24", "madc", "mapa", "match", "max", "mbarrier", "membar",
    "min", "mma", "mov", "movmatrix", "mul", "mul24", "multimem", "nanosleep", "neg", "not", "or",
    "pmevent", "popc", "prefetch", "prefetchu", "prmt", "rcp", "red", "redux", "rem", "ret", "rsqrt", "sad",
    "selp", "set", "setmaxnreg", "setp", "shf", "shfl", "shl", "shr", "sin", "slct", "sqrt", "st",
    "stackrestore", "stacksave", "stmatrix", "sub", "subc", "suld", "suq", "sured", "sust", "szext", "tanh",
    "tcgen05", "tensormap", "testp", "tex", "tld4", "trap", "txq", "vabsdiff", "vabsdiff2", "vabsdiff4",
    "vadd", "vadd2", "vadd4", "vavrg2", "vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2",
    "vmin4", "vote", "vset", "vset2", "vset4", "vshl", "vshr", "vsub", "vsub2", "vsub4", "wgmma", "wmma",
    "xor",
];

static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| OPCODES.iter().copied().collect());

pub(super) fn known(name: &str) -> bool {
    KNOWN.contains(name)
}

/// Special registers of PTX, without `%`. Registers with a number or with `.x` after the name are listed
/// without it. Source: [PTX].
#[rustfmt::skip]
const SPECIAL: &[&str] = &[
    "aggr_smem_size", "clock", "clock64", "clock_hi", "cluster_ctaid", "cluster_ctarank", "cluster_nctaid",
    "cluster_nctarank", "clusterid", "ctaid", "current_graph_exec", "dynamic_smem_size", "globaltimer",
    "globaltimer_hi", "globaltimer_lo", "gridid", "is_explicit_cluster", "laneid", "lanemask_eq",
    "lanemask_ge", "lanemask_gt", "lanemask_le", "lanemask_lt", "nclusterid", "nctaid", "nsmid", "ntid",
    "nwarpid", "reserved_smem_offset_begin", "reserved_smem_offset_cap", "reserved_smem_offset_end", "smid",
    "tid", "total_smem_size", "warpid",
];

/// Special registers with a number in the name: text before the number, how many there are, text after the
/// number.
const NUMBERED: &[(&str, u32, &str)] =
    &[("envreg", 32, ""), ("pm", 8, ""), ("pm", 8, "_64"), ("reserved_smem_offset_", 2, "")];

/// Special registers with the elements `.x`, `.y`, `.z` and `.w`.
const TRIPLES: &[&str] =
    &["cluster_ctaid", "cluster_nctaid", "clusterid", "ctaid", "nclusterid", "nctaid", "ntid", "tid"];

/// True if `name` is a special register. The name has no `%`, and no element such as `.x`.
pub(super) fn special(name: &str) -> bool {
    SPECIAL.binary_search(&name).is_ok()
        || NUMBERED.iter().any(|(before, count, after)| {
            let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            let digits =
                number.filter(|n| !n.is_empty() && n.len() <= 2 && n.bytes().all(|b| b.is_ascii_digit()));
            digits.and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| n < *count)
        })
}

pub(super) fn has_parts(name: &str) -> bool {
    TRIPLES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_without_doubles() {
        for table in [OPCODES, SPECIAL, TRIPLES] {
            assert!(table.is_sorted_by(|a, b| a < b), "{table:?}");
        }
        assert!(OPCODES.iter().all(|name| known(name)) && !known("") && !known("atoms"));
        assert!(TRIPLES.iter().all(|name| special(name)));
    }

    #[test]
    fn special_registers_are_told_from_others() {
        for name in
            ["tid", "clock_hi", "clock64", "pm0", "pm7", "pm7_64", "envreg31", "reserved_smem_offset_1"]
        {
            assert!(special(name), "{name}");
        }
        for name in ["r1", "pm8", "pm", "envreg32", "envreg-1", "pm+1", "envreg", "Tid", ""] {
            assert!(!special(name), "{name}");
        }
    }
}
