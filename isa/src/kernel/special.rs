//! Special registers that S2R, S2UR and CS2R read.

macro_rules! special_registers {
    ($( $(#[$doc:meta])* $variant:ident $name:literal; )*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SpecialRegister { $( $(#[$doc])* $variant, )* }

        impl SpecialRegister {
            pub fn from_name(name: &str) -> Option<SpecialRegister> {
                match name { $( $name => Some(SpecialRegister::$variant), )* _ => None }
            }

            pub const fn name(self) -> &'static str {
                match self { $( SpecialRegister::$variant => $name, )* }
            }

            pub const ALL: &'static [SpecialRegister] = &[ $( SpecialRegister::$variant, )* ];
        }
    };
}

special_registers! {
    TidX "SR_TID.X";
    TidY "SR_TID.Y";
    TidZ "SR_TID.Z";
    CtaIdX "SR_CTAID.X";
    CtaIdY "SR_CTAID.Y";
    CtaIdZ "SR_CTAID.Z";
    LaneId "SR_LANEID";
    /// Bits 14:8 are the warp number, bits 28:20 the SM number. The warp number counts within the CTA
    /// (project choice); on a GPU it counts within the SM.
    WarpId "SR_VIRTID";
    /// Thread index in the CTA: x in bits 15:0, y in bits 25:16, z in bits 31:26.
    Tid "SR_TID";
    Ntid "SR_NTID";
    /// Number of the SM, always 0.
    SmId "SR_VIRTUALSMID";
    EqMask "SR_EQMASK";
    LtMask "SR_LTMASK";
    LeMask "SR_LEMASK";
    GtMask "SR_GTMASK";
    GeMask "SR_GEMASK";
    /// Rank of the CTA in its cluster; 0 without clusters.
    CgaCtaId "SR_CgaCtaId";
    SharedWindowHigh "SR_SWINHI";
    ClockLo "SR_CLOCKLO";
    ClockHi "SR_CLOCKHI";
    /// Time in nanoseconds, low word. The configuration gives the clock period.
    GlobalTimerLo "SR_GLOBALTIMERLO";
    GlobalTimerHi "SR_GLOBALTIMERHI";
    /// Position in constant bank 0 of the words that describe the clusters. Compiled code alone defines the
    /// unit. Here always zero (project choice).
    CgaSize "SR_CgaSize";
    /// Bytes of shared memory of the CTA, including those that the system reserves.
    SharedBytes "SR_SMEMSZ";
    /// Lowest legal stack pointer, which debug builds check. Here zero (project choice), because the core
    /// checks each access itself.
    LocalEnd "SR_LMEMHIOFF";
    Zero "SRZ";
    /// Index of the cluster in the grid, x. Registers with `%` in their names exist only in PTX.
    ClusterIdX "%clusterid.x";
    WarpNumber "%warpid";
    ClusterIdY "%clusterid.y";
    ClusterIdZ "%clusterid.z";
    ClustersX "%nclusterid.x";
    ClustersY "%nclusterid.y";
    ClustersZ "%nclusterid.z";
    ClusterCtaIdX "%cluster_ctaid.x";
    ClusterCtaIdY "%cluster_ctaid.y";
    ClusterCtaIdZ "%cluster_ctaid.z";
    ClusterCtasX "%cluster_nctaid.x";
    ClusterCtasY "%cluster_nctaid.y";
    ClusterCtasZ "%cluster_nctaid.z";
    ClusterCtas "%cluster_nctarank";
    IsClustered "%is_explicit_cluster";
    Warps "%nwarpid";
    DynamicShared "%dynamic_smem_size";
    /// Bytes of shared memory of the CTA, excluding those that the system reserves.
    OwnSharedBytes "%total_smem_size";
    ReservedBegin "%reserved_smem_offset_begin";
    ReservedFirst "%reserved_smem_offset_0";
}

impl SpecialRegister {
    pub const fn is_time(self) -> bool {
        matches!(
            self,
            SpecialRegister::ClockLo
                | SpecialRegister::ClockHi
                | SpecialRegister::GlobalTimerLo
                | SpecialRegister::GlobalTimerHi
        )
    }

    /// True if CS2R reads this register and the next one as a 64-bit pair.
    pub const fn pair(self) -> bool {
        matches!(self, SpecialRegister::Zero | SpecialRegister::ClockLo | SpecialRegister::GlobalTimerLo)
    }
}
