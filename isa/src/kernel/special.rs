//! Special registers, as read by S2R, S2UR and CS2R.

macro_rules! special_registers {
    ($( $(#[$doc:meta])* $variant:ident $name:literal; )*) => {
        /// A special register that code can be carried out with.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SpecialRegister { $( $(#[$doc])* $variant, )* }

        impl SpecialRegister {
            /// The special register with this name, `SR_` included.
            pub fn from_name(name: &str) -> Option<SpecialRegister> {
                match name { $( $name => Some(SpecialRegister::$variant), )* _ => None }
            }

            /// Name in a listing.
            pub const fn name(self) -> &'static str {
                match self { $( SpecialRegister::$variant => $name, )* }
            }

            /// Every special register.
            pub const ALL: &'static [SpecialRegister] = &[ $( SpecialRegister::$variant, )* ];
        }
    };
}

special_registers! {
    /// Thread index in the block, x.
    TidX "SR_TID.X";
    /// Thread index in the block, y.
    TidY "SR_TID.Y";
    /// Thread index in the block, z.
    TidZ "SR_TID.Z";
    /// Block index in the grid, x.
    CtaIdX "SR_CTAID.X";
    /// Block index in the grid, y.
    CtaIdY "SR_CTAID.Y";
    /// Block index in the grid, z.
    CtaIdZ "SR_CTAID.Z";
    /// Lane in the warp.
    LaneId "SR_LANEID";
    /// Warp in bits 14:8 (in the block, chosen; the GPU's is that in the SM), SM in bits 28:20.
    WarpId "SR_VIRTID";
    /// Thread index in the block: x in bits 15:0, y in 25:16, z in 31:26.
    Tid "SR_TID";
    /// Threads of the block.
    Ntid "SR_NTID";
    /// The SM: there is one.
    SmId "SR_VIRTUALSMID";
    /// Mask of the lane itself.
    EqMask "SR_EQMASK";
    /// Mask of the lanes below.
    LtMask "SR_LTMASK";
    /// Mask of the lanes up to and with this one.
    LeMask "SR_LEMASK";
    /// Mask of the lanes above.
    GtMask "SR_GTMASK";
    /// Mask of the lanes from this one on.
    GeMask "SR_GEMASK";
    /// Rank of the CTA in its cluster; 0 without clusters.
    CgaCtaId "SR_CgaCtaId";
    /// High word of generic addresses in the shared window.
    SharedWindowHigh "SR_SWINHI";
    /// Clock cycles, low word.
    ClockLo "SR_CLOCKLO";
    /// Clock cycles, high word.
    ClockHi "SR_CLOCKHI";
    /// Nanoseconds, low word: cycles of the clock that the configuration gives.
    GlobalTimerLo "SR_GLOBALTIMERLO";
    /// Nanoseconds, high word.
    GlobalTimerHi "SR_GLOBALTIMERHI";
    /// Where the cluster's shape begins in constant bank 0, in units of the code's own; zero (chosen).
    CgaSize "SR_CgaSize";
    /// Bytes of shared memory of the CTA, with those that the system reserves.
    SharedBytes "SR_SMEMSZ";
    /// Lowest stack pointer that debug builds allow: zero (chosen), as the core checks each access.
    LocalEnd "SR_LMEMHIOFF";
    /// Always zero.
    Zero "SRZ";
    /// Cluster index in the grid, x. Names with `%` are PTX's alone.
    ClusterIdX "%clusterid.x";
    /// Warp in the block.
    WarpNumber "%warpid";
    /// Cluster index in the grid, y.
    ClusterIdY "%clusterid.y";
    /// Cluster index in the grid, z.
    ClusterIdZ "%clusterid.z";
    /// Clusters of the grid, x.
    ClustersX "%nclusterid.x";
    /// Clusters of the grid, y.
    ClustersY "%nclusterid.y";
    /// Clusters of the grid, z.
    ClustersZ "%nclusterid.z";
    /// CTA index in the cluster, x.
    ClusterCtaIdX "%cluster_ctaid.x";
    /// CTA index in the cluster, y.
    ClusterCtaIdY "%cluster_ctaid.y";
    /// CTA index in the cluster, z.
    ClusterCtaIdZ "%cluster_ctaid.z";
    /// CTAs of a cluster, x.
    ClusterCtasX "%cluster_nctaid.x";
    /// CTAs of a cluster, y.
    ClusterCtasY "%cluster_nctaid.y";
    /// CTAs of a cluster, z.
    ClusterCtasZ "%cluster_nctaid.z";
    /// CTAs of a cluster.
    ClusterCtas "%cluster_nctarank";
    /// 1 if the launch has clusters of more than one CTA.
    IsClustered "%is_explicit_cluster";
    /// Warps of a CTA.
    Warps "%nwarpid";
    /// Bytes of shared memory that the launch adds.
    DynamicShared "%dynamic_smem_size";
    /// Bytes of shared memory of the CTA, without those that the system reserves.
    OwnSharedBytes "%total_smem_size";
    /// Offset of the first reserved byte of shared memory.
    ReservedBegin "%reserved_smem_offset_begin";
    /// Offset of the first part of reserved shared memory.
    ReservedFirst "%reserved_smem_offset_0";
}

impl SpecialRegister {
    /// True if its value depends on time.
    pub const fn is_time(self) -> bool {
        matches!(
            self,
            SpecialRegister::ClockLo
                | SpecialRegister::ClockHi
                | SpecialRegister::GlobalTimerLo
                | SpecialRegister::GlobalTimerHi
        )
    }

    /// True if CS2R reads it, and the one after it, into a pair.
    pub const fn pair(self) -> bool {
        matches!(self, SpecialRegister::Zero | SpecialRegister::ClockLo | SpecialRegister::GlobalTimerLo)
    }
}
