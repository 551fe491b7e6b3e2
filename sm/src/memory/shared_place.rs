#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedPlace {
    pub(crate) slot: usize,
    /// Address as the thread computed it: rank in the top byte, offset in the low 24 bits.
    pub(crate) address: u32,
}

impl SharedPlace {
    pub(crate) fn offset(self) -> u32 {
        self.address & 0xff_ffff
    }
}
