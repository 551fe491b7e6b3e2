//! GPU architectures and the constant-bank and shared-memory layout that each uses.

use std::fmt;

/// GPU architecture that a listing or a PTX module names, such as `sm_75` or `sm_90a`.
///
/// Machine code of sm_50 to sm_62 has another syntax and other rules than later code (spec 2.3, 2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    number: u16,
    suffix: Option<char>,
}

impl Arch {
    pub const FIRST_OF_PTX: Arch = Arch { number: 70, suffix: None };

    /// Returns the architecture of a name `sm_N` with N from 50 to 129, such as `sm_75`. A letter may follow
    /// the number. `None` for any other name.
    pub fn from_name(name: &str) -> Option<Arch> {
        Arch::of_target(name).filter(|arch| arch.number >= 50)
    }

    /// Like [`Arch::from_name`], but accepts numbers from 20 on, because a `.target` of PTX may name them.
    /// PTX is forward compatible, so such a module runs on later architectures.
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

    /// True for sm_50 to sm_62, whose machine code has another syntax and other rules than later code.
    pub const fn early(self) -> bool {
        self.number < 70
    }

    pub const fn number(self) -> u16 {
        self.number
    }

    /// Selects a value by architecture. `values` has pairs of a first architecture and its value, in
    /// ascending order from 0. The result is the value of the last pair whose architecture is not later than
    /// this one.
    fn since<T: Copy, const N: usize>(self, values: [(u16, T); N]) -> T {
        let later = values.iter().filter(|(first, _)| *first <= self.number).count();
        values[later.max(1) - 1].1
    }

    /// Number of uniform registers of a warp, without the zero register URZ. Source: listings.
    pub fn uniform_registers(self) -> u16 {
        self.since([(0, 63), (100, 255)])
    }

    /// Byte offset in constant bank 0 of the first kernel parameter. Source: data/README.md.
    pub fn param_base(self) -> u32 {
        self.since([(0, 0x140), (70, 0x160), (90, 0x210), (100, 0x380)])
    }

    /// Byte offset in constant bank 0 of the number of threads of a CTA in x, y, z (three words). Source:
    /// data/README.md, listings.
    pub fn block_dim_offset(self) -> u32 {
        self.since([(0, 0x8), (70, 0x0), (100, 0x360)])
    }

    /// Byte offset in constant bank 0 of the number of CTAs of the grid in x, y, z (three words). Source:
    /// data/README.md, listings.
    pub fn grid_dim_offset(self) -> u32 {
        self.since([(0, 0x14), (70, 0xc), (100, 0x370)])
    }

    /// Byte offset in constant bank 0 of the initial stack pointer, which is the first value that every
    /// kernel loads.
    pub fn stack_offset(self) -> u32 {
        self.since([(0, 0x20), (70, 0x28), (100, 0x37c)])
    }

    /// Byte offsets in constant bank 0 of the two words of an address: the generic address at which local
    /// memory begins, low word first.
    pub fn local_window_offsets(self) -> [u32; 2] {
        self.since([(0, [0x4, 0x104]), (70, [0x20, 0x24]), (100, [0x2f8, 0x2fc])])
    }

    /// Byte offset in constant bank 0 of the 64-bit generic address of constant bank 3. Debug builds read
    /// constants through this address. `None` before sm_70. Source: listings.
    pub fn constant_window_offset(self) -> Option<u32> {
        (self.number >= 70).then(|| self.since([(0, 0x50), (90, 0xd0), (100, 0x120)]))
    }

    /// Byte offset in constant bank 0 of the 64-bit generic address at which shared memory begins, from sm_70
    /// on. From sm_90 on, code reads the high word of this address from `SR_SWINHI` instead.
    pub const fn shared_window_offset(self) -> u32 {
        0x18
    }

    /// True if the generic address ranges of shared and local memory lie below 4 GiB, with 16 MiB each. Code
    /// before sm_60 reads only the low word of such an address and takes the high word to be zero. Source:
    /// listings.
    pub const fn low_windows(self) -> bool {
        self.number < 60
    }

    /// Byte offsets in constant bank 0 of the two words of an address: the generic address at which shared
    /// memory begins, low word first. `None` if the bank does not hold this address.
    pub const fn shared_window_offsets(self) -> Option<[u32; 2]> {
        let offset = self.shared_window_offset();
        match self.number {
            ..=69 => Some([0x0, 0x100]),
            70..=89 => Some([offset, offset + 4]),
            _ => None,
        }
    }

    /// Byte offset in constant bank 0 of the size of dynamic shared memory in bytes. Source: listings up to
    /// sm_62; for later architectures, code that other people compiled and described.
    pub fn dynamic_shared_offset(self) -> u32 {
        self.since([(0, 0xfc), (70, 0x2c), (100, 0x2ac)])
    }

    /// Byte offset in constant bank 0 of the first of the 32 words that PTX calls `%envreg0` to `%envreg31`.
    /// From sm_100 on, code adds `SR_CgaSize` to this offset; that register is taken to be 0.
    ///
    /// Source: listings of code that reads `%envreg1` and `%envreg2`, the address of a cooperative grid's
    /// workspace, high word first.
    pub fn environment_offset(self) -> u32 {
        self.since([(0, 0x30), (70, 0x88), (90, 0x40), (100, 0x250)])
    }

    /// Byte offset in constant bank 0 of the end of the shared memory that the system reserves. The next word
    /// holds the start of the second part of this memory. `None` before sm_80. From sm_100 on, code adds
    /// `SR_CgaSize` as for [`Arch::environment_offset`].
    ///
    /// Source: listings of code that reads `%reserved_smem_offset_end` and `%reserved_smem_offset_1`.
    pub fn reserved_shared_offset(self) -> Option<u32> {
        self.since([(0, None), (80, Some(0x120)), (90, Some(0x68)), (100, Some(0x278))])
    }

    /// Bytes from the start of the shared memory that the system reserves to its first part. Source: as for
    /// [`Arch::reserved_shared_offset`].
    pub fn reserved_shared_first(self) -> u32 {
        self.since([(0, 0), (100, 0x40)])
    }

    /// Bytes of shared memory that the system reserves in each CTA. From sm_90 on they precede the CTA's own
    /// variables; on sm_80 to sm_89 they follow them. Source: `%reserved_smem_offset_cap` in listings.
    pub fn reserved_shared_bytes(self) -> u32 {
        self.since([(0, 0), (80, 0x400)])
    }

    /// Byte offset in constant bank 0 of the number of bytes of shared memory that the system reserves.
    /// Source: listings of code that reads `%total_smem_size`.
    pub fn reserved_shared_bytes_offset(self) -> u32 {
        self.since([(0, 0x114), (100, 0x16c)])
    }

    /// Byte offset in constant bank 0 of an upper limit in bytes for `%aggr_smem_size`. Code computes
    /// `%aggr_smem_size` as the smaller of this limit and `SR_SMEMSZ`. `None` before sm_90. From sm_100 on,
    /// code adds `SR_CgaSize` as for [`Arch::environment_offset`]. Source: listings.
    pub fn aggregate_shared_offset(self) -> Option<u32> {
        self.since([(0, None), (90, Some(0x13c)), (100, Some(0x2bc))])
    }

    /// Byte offsets in constant bank 0 of the numbers that describe the clusters of the grid. `None` before
    /// sm_90. From sm_100 on, code adds `SR_CgaSize` to these offsets; that register is taken to be 0.
    /// Source: as for [`Arch::dynamic_shared_offset`].
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

    /// Byte offset of the first static shared variable in the CTA's shared memory. Source: spec 1.4.
    pub fn shared_origin(self) -> u32 {
        self.since([(0, 0), (90, 0x400)])
    }
}

/// Byte offsets in constant bank 0 of the words from which code computes the position of a CTA in its
/// cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterOffsets {
    /// Offset of a word that is 1 if the grid is launched in clusters.
    pub explicit: u32,
    pub shape: u32,
    /// Offset of the reciprocals of the three words at `shape`, as binary32, rounded up.
    pub reciprocals: u32,
    pub clusters: u32,
    pub ctas: u32,
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}
