//! Translation of PTX special registers.

use crate::arch::Arch;
use crate::kernel::special::SpecialRegister;

pub(super) enum Special {
    Number(u64),
    Register(SpecialRegister),
    /// Two special registers of machine code for a 64-bit special register of PTX, low word first.
    Pair(SpecialRegister, SpecialRegister),
    Constant(u32),
}

pub(super) fn special(name: &str, arch: Arch) -> Option<Special> {
    use SpecialRegister as S;
    let (first, part) = name.split_once('.').unwrap_or((name, ""));
    let at = ["x", "y", "z", "w"].iter().position(|p| *p == part);
    let of = |registers: [S; 3]| match at {
        Some(i @ 0..3) => registers.get(i).copied().map(Special::Register),
        Some(_) => Some(Special::Number(0)),
        None => None,
    };
    let constant = |base: u32| match at {
        Some(i @ 0..3) => Some(Special::Constant(base + 4 * i as u32)),
        Some(_) => Some(Special::Number(0)),
        None => None,
    };
    match first {
        "tid" => of([S::TidX, S::TidY, S::TidZ]),
        "ctaid" => of([S::CtaIdX, S::CtaIdY, S::CtaIdZ]),
        "ntid" => constant(arch.block_dim_offset()),
        "nctaid" => constant(arch.grid_dim_offset()),
        "clusterid" => of([S::ClusterIdX, S::ClusterIdY, S::ClusterIdZ]),
        "nclusterid" => of([S::ClustersX, S::ClustersY, S::ClustersZ]),
        "cluster_ctaid" => of([S::ClusterCtaIdX, S::ClusterCtaIdY, S::ClusterCtaIdZ]),
        "cluster_nctaid" => of([S::ClusterCtasX, S::ClusterCtasY, S::ClusterCtasZ]),
        _ if at.is_some() => None,
        _ => Some(match first {
            "laneid" => Special::Register(S::LaneId),
            "warpid" => Special::Register(S::WarpNumber),
            "nwarpid" => Special::Register(S::Warps),
            "lanemask_eq" => Special::Register(S::EqMask),
            "lanemask_lt" => Special::Register(S::LtMask),
            "lanemask_le" => Special::Register(S::LeMask),
            "lanemask_gt" => Special::Register(S::GtMask),
            "lanemask_ge" => Special::Register(S::GeMask),
            "cluster_ctarank" => Special::Register(S::CgaCtaId),
            "cluster_nctarank" => Special::Register(S::ClusterCtas),
            "is_explicit_cluster" => Special::Register(S::IsClustered),
            "clock" => Special::Register(S::ClockLo),
            "clock_hi" => Special::Register(S::ClockHi),
            "clock64" => Special::Pair(S::ClockLo, S::ClockHi),
            "globaltimer" => Special::Pair(S::GlobalTimerLo, S::GlobalTimerHi),
            "globaltimer_lo" => Special::Register(S::GlobalTimerLo),
            "globaltimer_hi" => Special::Register(S::GlobalTimerHi),
            "dynamic_smem_size" => Special::Register(S::DynamicShared),
            "total_smem_size" => Special::Register(S::OwnSharedBytes),
            "aggr_smem_size" => Special::Register(S::SharedBytes),
            // The model has one SM and one grid, with number 0.
            "smid" | "gridid" => Special::Number(0),
            "nsmid" => Special::Number(1),
            "WARP_SZ" => Special::Number(32),
            "reserved_smem_offset_begin" if arch.number() >= 80 => Special::Register(S::ReservedBegin),
            "reserved_smem_offset_0" if arch.number() >= 80 => Special::Register(S::ReservedFirst),
            "reserved_smem_offset_end" | "reserved_smem_offset_cap" => {
                Special::Constant(arch.reserved_shared_offset()?)
            }
            "reserved_smem_offset_1" => Special::Constant(arch.reserved_shared_offset()? + 4),
            // The driver defines the other `%envreg` registers, so these are not supported.
            "envreg1" => Special::Constant(arch.environment_offset() + 4),
            "envreg2" => Special::Constant(arch.environment_offset() + 8),
            _ => return None,
        }),
    }
}
