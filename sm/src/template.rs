//! Template of a launch file, for a kernel that has none.

use crate::launch::MOST_ALIGN;
use crate::support;
use atoms_isa::Kernel;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Size of a pointer in bytes. A parameter of this size is assumed to be a buffer.
const POINTER: u32 = 8;

/// Parameter as far as the kernel's code shows it.
struct Shown {
    offset: u32,
    bytes: u32,
    name: String,
}

/// Writes a launch file for the kernel. Values that the code states are filled in; the user must replace the
/// others. A parameter of eight bytes becomes a buffer, a smaller one a scalar. Names that a compiler derived
/// from kernel name and position become `p0`, `p1`. A launch identifies parameters by position, so it may
/// choose their names.
pub fn template(kernel: &Kernel) -> String {
    let of = |extent: [u32; 3]| format!("[{}, {}, {}]", extent[0], extent[1], extent[2]);
    let block = kernel.directives.threads.map_or("32".into(), of);
    // The grid is one cluster if the kernel requires clusters.
    let grid = kernel.directives.cluster.map_or("1".into(), of);
    let mut text = format!("kernel = \"{}\"\ngrid = {grid}\nblock = {block}\n", kernel.name);
    if let Some(cluster) = kernel.directives.cluster {
        let _ = writeln!(text, "cluster = {}", of(cluster));
    }
    if support::reads_grid_workspace(kernel) {
        text += "cooperative = true # the kernel synchronizes its grid\n";
    }
    if kernel.shared.is_none() {
        text += "# shared = 1024 # bytes of static shared memory of a CTA, which a listing does not state\n";
    }
    let declared = kernel.params.is_some();
    for Shown { offset, bytes, name } in params(kernel) {
        let last = offset + bytes.max(1) - 1;
        let seen = if declared { "declared" } else { "read by the kernel" };
        let _ = write!(text, "\n[[param]] # bytes {offset} to {last}, {seen}\nname = \"{name}\"\n");
        text += &match bytes {
            POINTER => {
                "type = \"u32\" # a buffer; write type = \"u64\" and value = 0 if the parameter is a 64-bit number\nzeros = 1024\n"
                    .into()
            }
            1 => "type = \"u8\"\nvalue = 0\n".into(),
            2 => "type = \"u16\"\nvalue = 0\n".into(),
            4 => "type = \"u32\"\nvalue = 0\n".into(),
            // Passed by value. The offset limits the possible alignment.
            _ => {
                let align = 1 << offset.trailing_zeros().min(MOST_ALIGN.ilog2());
                let bytes = vec!["0"; bytes as usize].join(", ");
                format!(
                    "type = \"u8\" # a structure; `fields` lists its fields one by one\nalign = {align}\narray = [{bytes}]\n"
                )
            }
        };
    }
    text
}

fn params(kernel: &Kernel) -> Vec<Shown> {
    if let Some(declared) = &kernel.params {
        let shown = |p: &atoms_isa::KernelParam| {
            let position = p.name.strip_prefix(&kernel.name).and_then(|rest| rest.strip_prefix("_param_"));
            let name = position.map_or(p.name.clone(), |position| format!("p{position}"));
            Shown { offset: p.offset, bytes: p.bytes, name }
        };
        return declared.iter().map(shown).collect();
    }
    let base = kernel.arch.param_base();
    let mut reads: BTreeMap<u32, u32> = BTreeMap::new();
    for (_, offset, bytes) in support::constant_reads(kernel) {
        if let Some(offset) = offset.checked_sub(base) {
            let longest = reads.entry(offset).or_default();
            *longest = bytes.max(*longest);
        }
    }
    let mut found: Vec<Shown> = Vec::new();
    for (offset, bytes) in &reads {
        let end = found.last().map_or(0, |last| last.offset + last.bytes);
        if *offset < end {
            continue;
        }
        // Code that adds to an address loads it as two words at a multiple of eight.
        let halves = offset.is_multiple_of(POINTER) && reads.get(&(offset + 4)) == Some(&4);
        let bytes = if halves { POINTER } else { (*bytes).min(POINTER) };
        // A load of 16 bytes may read two pointers.
        found.push(Shown { offset: *offset, bytes, name: format!("p{}", found.len()) });
        if reads[offset] == 2 * POINTER {
            let name = format!("p{}", found.len());
            found.push(Shown { offset: offset + POINTER, bytes: POINTER, name });
        }
    }
    found
}
