//! First PTX version and first architecture of features that several kinds of instructions share. Features
//! have the assembler's names [TOOLS]. The tables of `atom` and `mbarrier` instructions contain the versions
//! of their own forms.

use super::{LoweringRefusal, refuse};
use crate::ptx::{Module, Operand, PtxInstruction};

pub(crate) type Version = (u16, u16);

pub(crate) type Since = (u16, Version);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) number: u16,
    version: Version,
}

/// A feature: pattern of opcode and modifiers, assembler's name, first architecture, first PTX version.
/// Architecture 0 means that another table decides about the architecture.
///
/// In a pattern, `*` is any opcode, `|` separates alternatives, `^` requires the first modifier of an
/// instruction, and `%` begins a special register. The name is the opcode with its modifiers if it is empty
/// here. The name `on` makes a message about a modifier of the instruction, `cvt` one about a conversion, and
/// `{}` in a name is the opcode.
type Feature = (&'static str, &'static str, u16, Version);

/// Table of features. The first matching row counts. The rows are in the order in which the assembler reports
/// missing features. Features of PTX 2.0 and earlier are omitted, because no module for sm_20 or later has an
/// earlier version.
#[rustfmt::skip]
const FEATURES: &[Feature] = &[
    ("fence|membar.proxy.alias",                    "Modifier '.alias'",                              0, (7, 5)),
    ("fence.proxy.tensormap::generic|async::generic", "fence.proxy with unidirection proxy fence",    0, (8, 3)),
    ("fence.sync_restrict::shared::cta|sync_restrict::shared::cluster", ".sync_restrict",             0, (8, 6)),
    ("fence",                                       "fence instruction",                              0, (6, 0)),
    ("fence.^acquire|release",                      "on",                                             0, (8, 6)),
    ("*.aligned",                                   "",                                               0, (6, 0)),
    ("setmaxnreg.inc|dec",                          "",                                               0, (8, 0)),
    ("barrier.cluster.arrive|wait",                 "",                                               0, (7, 8)),
    ("barrier.cluster.arrive|wait.release|acquire|relaxed", "on",                                     0, (8, 0)),
    ("bar|barrier.cta.arrive|red",                  "",                                               0, (7, 8)),
    ("bar|barrier.cta",                             "",                                               0, (7, 8)),
    ("barrier.arrive|red",                          "",                                               0, (6, 0)),
    ("barrier",                                     "",                                               0, (6, 0)),
    ("bar.warp",                                    "",                                               0, (6, 0)),
    ("atom|red|ld|st.sys.b128",                     ".b128 with .sys",                                0, (8, 4)),
    ("*.mmio",                                      "",                                              70, (8, 2)),
    ("*.weak|relaxed|acquire|release|acq_rel|sc",   "",                                              70, (6, 0)),
    ("getctarank",                                  "",                                               0, (7, 8)),
    ("atom|red|ld|st|cvta|isspacep|mbarrier|fence.shared::cta", "::cta",                              0, (7, 8)),
    ("cp.async.mbarrier.shared::cta",               "::cta",                                          0, (7, 8)),
    ("*.shared::cluster",                           "::cluster",                                     90, (7, 8)),
    ("*.cluster",                                   ".cluster scope",                                90, (7, 8)),
    ("atom|red.cta|cluster|gpu|sys",                "scopes on atomic operations",                   60, (5, 0)),
    ("mbarrier.cta|cluster|gpu|sys",                "scopes on mbarrier operations",                  0, (8, 0)),
    ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", "cp.async.bulk with destination state space as .shared::cta", 0, (8, 6)),
    ("cp.async.bulk.cp_mask",                       ".cp_mask",                                       0, (8, 6)),
    ("cp.async.bulk.commit_group|wait_group",       "",                                               0, (8, 0)),
    ("cp.async.commit_group|wait_group|wait_all",   "",                                               0, (7, 0)),
    ("cp.async",                                    "",                                               0, (7, 0)),
    ("*.L2::cache_hint",                            "Modifier '.L2::cache_hint'",                    80, (7, 4)),
    ("*.L2::64B|L2::128B|L2::256B",                 "cache prefetching",                              0, (7, 4)),
    ("ld|st.L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate", "on", 0, (7, 4)),
    ("prefetch.L2::evict_last|L2::evict_normal",    "Modifier 'cache eviction priority' on 'prefetch'", 0, (7, 4)),
    ("prefetch.tensormap",                          "Modifier '.tensormap'",                          0, (8, 0)),
    ("applypriority|discard",                       "",                                               0, (7, 4)),
    ("createpolicy.fractional|range|cvt",           "",                                               0, (7, 4)),
    ("griddepcontrol.wait",                         "Modifier '.wait'",                               0, (7, 8)),
    ("griddepcontrol.launch_dependents",            "Modifier '.launch_dependents'",                  0, (7, 8)),
    ("pmevent.mask",                                "",                                               0, (3, 0)),
    ("nanosleep|activemask",                        "",                                               0, (6, 2)),
    ("*.nc",                                        "",                                               0, (3, 1)),
    ("ld|st.v8",                                    "256 bit wide load/store",                        0, (8, 8)),
    ("ld|st.v4.b64|u64|s64|f64",                    "256 bit wide load/store",                        0, (8, 8)),
    ("mov|ld|ldu|st.b128",                          "Instruction type .b128 for instruction {}",      0, (8, 3)),
    ("cvta|isspacep.const",                         "cvta/isspacep with .const state space",          0, (3, 1)),
    ("*.param::entry",                              "::entry",                                        0, (8, 3)),
    ("*.param::func",                               "::func",                                         0, (8, 3)),
    ("cvta|isspacep.param",                         "cvta/isspacep with .param state space",          0, (7, 7)),
    ("shfl",                                        "",                                               0, (3, 0)),
    ("shfl|vote.sync",                              "",                                               0, (6, 0)),
    ("match|fns",                                   "",                                               0, (6, 0)),
    ("elect",                                       "",                                               0, (8, 0)),
    ("redux.f32",                                   "",                                               0, (8, 6)),
    ("redux",                                       "",                                               0, (7, 0)),
    ("*.bf16|bf16x2",                               "",                                              80, (7, 0)),
    ("*.relu|NaN",                                  "",                                               0, (7, 0)),
    ("min|max.abs",                                 ".abs",                                           0, (7, 2)),
    ("min|max.relu.s8x4",                           "{}.relu",                                        0, (9, 2)),
    ("min|max.relu",                                "",                                               0, (8, 0)),
    ("add|min|max.u16x2|s16x2",                     "",                                               0, (8, 0)),
    ("add.sat.u16x2|s16x2",                         "add.sat",                                        0, (9, 2)),
    ("add|sub|neg|min|max.u8x4|s8x4",               "",                                               0, (9, 2)),
    ("tanh",                                        "",                                               0, (7, 0)),
    ("add|sub|mul|set|setp|tanh|ex2.bf16|bf16x2",   "",                                               0, (7, 8)),
    ("ex2.f16|f16x2",                               "ex2.f16/f16x2",                                  0, (7, 0)),
    ("set.u16|s16|u32|s32.f16|f16x2", "half precision floating point set instruction with integer result", 0, (6, 5)),
    ("add|sub|mul|fma|neg|abs|set|setp.f16|f16x2",  "f16 arithemetic and compare instructions",       0, (4, 2)),
    ("neg.f16|f16x2",                               "{}.f16 or {}.f16x2",                             0, (6, 0)),
    ("abs.f16|f16x2",                               "{}.f16 or {}.f16x2",                             0, (6, 5)),
    ("min|max.f16|f16x2",                           "{}.f16 or {}.f16x2",                             0, (7, 0)),
    ("cvt.f16x2.f32",                               "",                                               0, (7, 0)),
    ("cvt.^f32.bf16",                               "cvt",                                            0, (7, 1)),
    ("cvt.bf16.u8|s8|u16|s16|u32|s32|u64|s64|f16|f64|bf16", "cvt",                                    0, (7, 8)),
    ("*.cc.u64|s64",                                ".cc with 64bit type",                            0, (4, 3)),
    ("mad.cc",                                      "",                                               0, (3, 0)),
    ("madc",                                        "",                                               0, (3, 0)),
    ("lop3.and|or",                                 "lop3.<BoolOp>",                                  0, (8, 2)),
    ("lop3",                                        "",                                               0, (4, 3)),
    ("shf.l|r",                                     "",                                               0, (3, 1)),
    ("bmsk|szext",                                  "",                                               0, (7, 6)),
    ("dp4a",                                        "",                                               0, (5, 0)),
    ("dp2a.lo|hi",                                  "",                                               0, (5, 0)),
    ("vabsdiff2|vabsdiff4",                         "3.0",                                            0, (3, 0)),
    ("rsqrt.approx.ftz.f64",                        "",                                               0, (4, 0)),
    ("%globaltimer|globaltimer_lo|globaltimer_hi",  "",                                               0, (3, 1)),
    ("%dynamic_smem_size|total_smem_size",          "",                                               0, (4, 1)),
    ("%clock_hi",                                   "",                                               0, (5, 0)),
    ("%reserved_smem_offset_begin|reserved_smem_offset_end|reserved_smem_offset_cap|reserved_smem_offset_0|reserved_smem_offset_1", "", 0, (7, 6)),
    ("%clusterid|nclusterid|cluster_ctaid|cluster_nctaid|cluster_ctarank|cluster_nctarank|is_explicit_cluster", "", 0, (7, 8)),
    ("%aggr_smem_size",                             "",                                               0, (8, 1)),
];

impl Target {
    /// Creates a target. Loose instructions do not belong to a module with a version, so they may use every
    /// PTX version.
    pub(crate) fn new(module: &Module<'_>, number: u16) -> Target {
        let loose = module.functions.is_empty();
        Target { number, version: if loose { (u16::MAX, 0) } else { module.version } }
    }

    /// Refuses a feature that is newer than the PTX version of the module. `subject` is the beginning of the
    /// message.
    pub(crate) fn needs_version(self, subject: &str, version: Version) -> Result<(), LoweringRefusal> {
        if self.version >= version {
            return Ok(());
        }
        let (major, minor) = version;
        let message = format!("{subject} requires PTX ISA .version {major}.{minor} or later");
        refuse(
            message,
            format!("begin the module with .version {major}.{minor}, or compile it with a newer compiler"),
        )
    }

    /// Refuses a feature that is newer than the PTX version or the architecture. If `help` is empty, the help
    /// names the first architecture.
    pub(super) fn needs(
        self,
        subject: &str,
        (first, version): Since,
        help: &str,
    ) -> Result<(), LoweringRefusal> {
        self.needs_version(subject, version)?;
        if self.number >= first {
            return Ok(());
        }
        let message = format!("{subject} requires .target sm_{first} or higher");
        let usual = || format!("lower it for sm_{first} or later");
        refuse(message, if help.is_empty() { usual() } else { help.into() })
    }

    /// Refuses a feature of the shared table, found by its name, if the target does not have it.
    pub(super) fn has(self, name: &str, help: &str) -> Result<(), LoweringRefusal> {
        let named = |(pattern, called, ..): &&Feature| {
            let words =
                pattern.strip_prefix('*').filter(|_| called.is_empty()).and_then(|w| w.strip_prefix('.'));
            *called == name
                || words.is_some_and(|words| words.split('|').any(|w| name.strip_prefix('.') == Some(w)))
        };
        let Some((.., first, version)) = FEATURES.iter().find(named) else { return Ok(()) };
        let subject = if name.starts_with("Modifier") { name.into() } else { format!("Feature '{name}'") };
        self.needs(&subject, (*first, *version), help)
    }

    pub(crate) fn check_versions(self, i: &PtxInstruction<'_>) -> Result<(), LoweringRefusal> {
        let unsupported = FEATURES.iter().filter(|(.., version)| self.version < *version);
        let mut found =
            unsupported.filter_map(|(pattern, name, _, version)| Some((found(pattern, i)?, *name, *version)));
        let Some((spelled, name, version)) = found.next() else { return Ok(()) };
        let subject = match name {
            "" => format!("Feature '{spelled}'"),
            "on" => {
                let (of, modifier) = spelled.rsplit_once('.').unwrap_or_default();
                format!("Modifier '.{}' on '{of}'", modifier.trim_start_matches("L1::"))
            }
            "cvt" => {
                let types = i.modifiers.get(i.modifiers.len().saturating_sub(2)..).unwrap_or_default();
                format!("Feature 'cvt with .{}'", types.join("."))
            }
            name if name.starts_with("Modifier") => name.into(),
            name => format!("Feature '{}'", name.replace("{}", i.opcode)),
        };
        self.needs_version(&subject, version)
    }
}

/// Returns the opcode and modifiers of the instruction that match a pattern, as the instruction spells them.
/// `None` if the pattern does not match.
fn found(pattern: &str, i: &PtxInstruction<'_>) -> Option<String> {
    if let Some(registers) = pattern.strip_prefix('%') {
        let special = i.operands.iter().find_map(|operand| match operand {
            Operand::Special(name) => name.split('.').next(),
            _ => None,
        })?;
        return registers.split('|').any(|name| name == special).then(|| format!("%{special}"));
    }
    let mut words = pattern.split('.');
    let opcodes = words.next()?;
    let mut found = match opcodes {
        "*" => String::new(),
        _ => opcodes.split('|').find(|opcode| *opcode == i.opcode)?.to_string(),
    };
    let mut left = i.modifiers.clone();
    for word in words {
        let alternatives = word.trim_start_matches('^');
        let at = left.iter().position(|m| alternatives.split('|').any(|a| a == *m))?;
        if word.starts_with('^') && i.modifiers.first() != left.get(at) {
            return None;
        }
        found = format!("{found}.{}", left.remove(at));
    }
    Some(found)
}
