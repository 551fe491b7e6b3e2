//! GPU architecture, and what its calling convention puts where.

use std::fmt;

/// Architecture of a listing: `sm_75`, `sm_90a`, ...
///
/// Machine code of sm_50 to sm_62 has another text and other rules than that of sm_70 and later (spec 2.3, 2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    number: u16,
    suffix: Option<char>,
}

impl Arch {
    /// The earliest architecture that PTX is translated for.
    pub const FIRST_OF_PTX: Arch = Arch { number: 70, suffix: None };

    /// The architecture named `sm_` and a number from 50 to 129, with or without a letter after it.
    pub fn from_name(name: &str) -> Option<Arch> {
        Arch::of_target(name).filter(|arch| arch.number >= 50)
    }

    /// As [`Arch::from_name`], from 20 on: what PTX may name, which goes forward.
    pub fn of_target(name: &str) -> Option<Arch> {
        let rest = name.strip_prefix("sm_")?;
        let digits = rest.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let suffix = match &rest.as_bytes()[digits.len()..] {
            [] => None,
            [letter] => Some(char::from(*letter)),
            _ => return None,
        };
        let number = digits.parse().ok().filter(|n| (20..130).contains(n))?;
        Some(Arch { number, suffix })
    }

    /// True if its machine code is that of sm_50 to sm_62.
    pub const fn early(self) -> bool {
        self.number < 70
    }

    /// The number after `sm_`.
    pub const fn number(self) -> u16 {
        self.number
    }

    /// What holds from the last of these architectures on that is no later; the first are in order, from 0.
    fn since<T: Copy, const N: usize>(self, values: [(u16, T); N]) -> T {
        let later = values.iter().filter(|(first, _)| *first <= self.number).count();
        values[later.max(1) - 1].1
    }

    /// Registers of a warp, without the zero register behind them. Source: listings.
    pub fn uniform_registers(self) -> u16 {
        self.since([(0, 63), (100, 255)])
    }

    /// Byte offset in constant bank 0 at which kernel parameters start. Source: data/README.md.
    pub fn param_base(self) -> u32 {
        self.since([(0, 0x140), (70, 0x160), (90, 0x210), (100, 0x380)])
    }

    /// Byte offset in constant bank 0 of the block size (x, y, z). Source: data/README.md, listings.
    pub fn block_dim_offset(self) -> u32 {
        self.since([(0, 0x8), (70, 0x0), (100, 0x360)])
    }

    /// Byte offset in constant bank 0 of the grid size (x, y, z). Source: data/README.md, listings.
    pub fn grid_dim_offset(self) -> u32 {
        self.since([(0, 0x14), (70, 0xc), (100, 0x370)])
    }

    /// Byte offset in constant bank 0 of the initial stack pointer, which every kernel loads first.
    pub fn stack_offset(self) -> u32 {
        self.since([(0, 0x20), (70, 0x28), (100, 0x37c)])
    }

    /// Byte offsets in constant bank 0 of the words of the generic address of the window of a thread's own memory,
    /// the lower first.
    pub fn local_window_offsets(self) -> [u32; 2] {
        self.since([(0, [0x4, 0x104]), (70, [0x20, 0x24]), (100, [0x2f8, 0x2fc])])
    }

    /// Byte offset in constant bank 0 of the 64-bit generic address of constant bank 3, which debug builds read. Source:
    /// listings.
    pub fn constant_window_offset(self) -> Option<u32> {
        (self.number >= 70).then(|| self.since([(0, 0x50), (90, 0xd0), (100, 0x120)]))
    }

    /// Byte offset in constant bank 0 of the 64-bit generic address of the shared window, where code from sm_70 on
    /// takes it from there; from sm_90 code reads its high word from `SR_SWINHI`.
    pub const fn shared_window_offset(self) -> u32 {
        0x18
    }

    /// True if windows of generic addresses lie below 4 GiB, 16 MiB for each: code before sm_60 reads the lower word of
    /// their addresses only, and takes the higher to be zero. Source: listings.
    pub const fn low_windows(self) -> bool {
        self.number < 60
    }

    /// Byte offsets of its words, the lower first, where the bank has them.
    pub const fn shared_window_offsets(self) -> Option<[u32; 2]> {
        let offset = self.shared_window_offset();
        match self.number {
            ..=69 => Some([0x0, 0x100]),
            70..=89 => Some([offset, offset + 4]),
            _ => None,
        }
    }

    /// Byte offset in constant bank 0 of the number of bytes of dynamic shared memory. Source: code that others
    /// compiled, by their account; up to sm_62 listings.
    pub fn dynamic_shared_offset(self) -> u32 {
        self.since([(0, 0xfc), (70, 0x2c), (100, 0x2ac)])
    }

    /// Byte offset in constant bank 0 of the first of the 32 words that PTX calls `%envreg0` to `%envreg31`. Source:
    /// listings of code that reads `%envreg1` and `%envreg2`, the address of a cooperative grid's workspace, high word
    /// first; from sm_100 on relative to `SR_CgaSize`, taken to be 0.
    pub fn environment_offset(self) -> u32 {
        self.since([(0, 0x30), (70, 0x88), (90, 0x40), (100, 0x250)])
    }

    /// Byte offset in constant bank 0 of the word that says where shared memory ends that the system reserves; where
    /// its second part begins is in the next word. None before sm_80. Source: listings of code that reads
    /// `%reserved_smem_offset_end` and `%reserved_smem_offset_1`; from sm_100 on as for
    /// [`Arch::environment_offset`].
    pub fn reserved_shared_offset(self) -> Option<u32> {
        self.since([(0, None), (80, Some(0x120)), (90, Some(0x68)), (100, Some(0x278))])
    }

    /// Bytes from the beginning of reserved shared memory to its first part. Source: as for
    /// [`Arch::reserved_shared_offset`].
    pub fn reserved_shared_first(self) -> u32 {
        self.since([(0, 0), (100, 0x40)])
    }

    /// Bytes of shared memory that the system reserves in each CTA. They lie before the CTA's own from sm_90 on, behind
    /// them on sm_80 to sm_89. Source: `%reserved_smem_offset_cap` in listings.
    pub fn reserved_shared_bytes(self) -> u32 {
        self.since([(0, 0), (80, 0x400)])
    }

    /// Byte offset in constant bank 0 of the number of reserved bytes. Source: listings of code that reads
    /// `%total_smem_size`.
    pub fn reserved_shared_bytes_offset(self) -> u32 {
        self.since([(0, 0x114), (100, 0x16c)])
    }

    /// Byte offset in constant bank 0 of a limit: code takes `%aggr_smem_size` for the smaller of it and `SR_SMEMSZ`. None
    /// before sm_90. Source: listings; from sm_100 on as for [`Arch::environment_offset`].
    pub fn aggregate_shared_offset(self) -> Option<u32> {
        self.since([(0, None), (90, Some(0x13c)), (100, Some(0x2bc))])
    }

    /// Where constant bank 0 has the cluster's shape, from sm_90 on. Source: as for
    /// [`Arch::dynamic_shared_offset`]; from sm_100 on offsets are relative to `SR_CgaSize`, taken to be 0.
    pub const fn cluster_offsets(self) -> Option<ClusterOffsets> {
        match self.number {
            ..=89 => None,
            90..=99 => Some(ClusterOffsets {
                explicit: 0x140,
                shape: 0x144,
                reciprocals: 0x150,
                clusters: 0x15c,
                ctas: 0x188,
            }),
            _ => Some(ClusterOffsets {
                explicit: 0x36c,
                shape: 0x2a0,
                reciprocals: 0x2b0,
                clusters: 0x2c0,
                ctas: 0x2cc,
            }),
        }
    }

    /// Offset of the first static shared variable in the CTA's allocation, in bytes. Source: spec 1.4.
    pub fn shared_origin(self) -> u32 {
        self.since([(0, 0), (90, 0x400)])
    }
}

/// Byte offsets in constant bank 0 of what code computes a thread block's place in its cluster from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterOffsets {
    /// 1 if the grid is launched in clusters.
    pub explicit: u32,
    /// CTAs of a cluster in x, y, z.
    pub shape: u32,
    /// Their reciprocals, binary32, rounded up.
    pub reciprocals: u32,
    /// Clusters of the grid in x, y, z.
    pub clusters: u32,
    /// CTAs of a cluster.
    pub ctas: u32,
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}
