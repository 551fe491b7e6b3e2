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
    /// Warp in the block.
    WarpId "SR_VIRTID";
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
    /// Always zero.
    Zero "SRZ";
}
