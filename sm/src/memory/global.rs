//! Global memory: buffers at fixed addresses.

use crate::launch::{Launch, ParamKind, buffer_address};
use atoms_isa::{Arch, ModuleVariable, Window};

/// High word of generic addresses of shared memory. No buffer has such an address.
pub(crate) const SHARED_WINDOW_HIGH: u32 = 0x7f00;

/// High word of generic addresses of local memory.
pub(crate) const LOCAL_WINDOW_HIGH: u32 = 0x7e00;

/// Windows of shared and local memory for code before sm_60: width of the offset in bits, and number of each
/// window. [CHOSEN: the numbers]
const LOW_WINDOW_BITS: u32 = 24;
const LOW_SHARED: u64 = 1;
const LOW_LOCAL: u64 = 2;

/// Generic start addresses of the windows of shared and local memory.
pub(crate) fn windows(arch: Arch) -> [u64; 2] {
    match arch.low_windows() {
        true => [LOW_SHARED, LOW_LOCAL].map(|number| number << LOW_WINDOW_BITS),
        false => [SHARED_WINDOW_HIGH, LOCAL_WINDOW_HIGH].map(|high| u64::from(high) << 32),
    }
}

/// Converts a generic address of code before sm_60 to the form of later architectures.
pub(crate) fn generic(arch: Arch, address: u64) -> u64 {
    let inside = address & ((1 << LOW_WINDOW_BITS) - 1);
    match address >> LOW_WINDOW_BITS {
        LOW_SHARED if arch.low_windows() => u64::from(SHARED_WINDOW_HIGH) << 32 | inside,
        LOW_LOCAL if arch.low_windows() => u64::from(LOCAL_WINDOW_HIGH) << 32 | inside,
        _ => address,
    }
}

/// High word of generic addresses of constant bank 0, for pointers to kernel parameters.
pub(crate) const PARAM_WINDOW_HIGH: u32 = 0x7d00;

pub(crate) const CONSTANTS: std::ops::Range<u64> = atoms_isa::ptx::CONSTANTS;

/// Address of the driver's workspace for a cooperative grid, and size of the workspace in bytes. The
/// workspace contains its own size and the counter word of the grid barrier. [CHOSEN: the address]
pub(crate) const GRID_WORKSPACE: u64 = 0x7c00_0000_0000;
const GRID_WORKSPACE_BYTES: u32 = 8;

/// True if a generic address is in this window. `rank` is the rank of the own CTA.
pub(crate) fn in_window(window: Window, address: u64, rank: u32) -> bool {
    let high = (address >> 32) as u32;
    match window {
        Window::SharedCta => high == SHARED_WINDOW_HIGH && (address as u32) >> 24 == rank,
        Window::SharedCluster => high == SHARED_WINDOW_HIGH,
        Window::Local => high == LOCAL_WINDOW_HIGH,
        Window::Param => high == PARAM_WINDOW_HIGH,
        Window::Const => CONSTANTS.contains(&address),
        Window::Global => {
            let other = [SHARED_WINDOW_HIGH, LOCAL_WINDOW_HIGH, PARAM_WINDOW_HIGH].contains(&high);
            !other && !CONSTANTS.contains(&address)
        }
    }
}

pub(crate) fn to_generic(window: Window, address: u64) -> u64 {
    let of = |high: u32| u64::from(high) << 32 | address & 0xffff_ffff;
    match window {
        Window::SharedCta | Window::SharedCluster => of(SHARED_WINDOW_HIGH),
        Window::Local => of(LOCAL_WINDOW_HIGH),
        Window::Param => of(PARAM_WINDOW_HIGH),
        Window::Const | Window::Global => address,
    }
}

#[cold]
fn misaligned(address: u64, bytes: usize) -> String {
    format!("address {address:#x} is not a multiple of the {bytes} bytes accessed")
}

struct Region {
    name: String,
    base: u64,
    bytes: Vec<u8>,
    constant: bool,
}

pub(crate) struct GlobalMemory {
    regions: Vec<Region>,
    /// Index of the buffer of the last access, which is tried first.
    recent: usize,
}

impl GlobalMemory {
    /// Places the buffers in the order of [`Launch::buffers`], then the module variables. Also returns the
    /// addresses of the buffers.
    pub(crate) fn new(launch: &Launch, variables: &[ModuleVariable]) -> (GlobalMemory, Vec<u64>) {
        let mut regions = Vec::new();
        for param in launch.buffers() {
            if let ParamKind::Buffer { bytes, .. } = &param.kind {
                let base = buffer_address(regions.len());
                let (name, bytes) = (param.name.clone(), bytes.clone());
                regions.push(Region { name, base, bytes, constant: false });
            }
        }
        let bases = regions.iter().map(|r| r.base).collect();
        regions.extend(variables.iter().map(|v| Region {
            name: v.name.clone(),
            base: v.address,
            bytes: v.bytes.clone(),
            constant: v.constant,
        }));
        if launch.cooperative {
            let mut bytes = vec![0; GRID_WORKSPACE_BYTES as usize];
            bytes[..4].copy_from_slice(&GRID_WORKSPACE_BYTES.to_le_bytes());
            let name = "workspace of the cooperative grid".into();
            regions.push(Region { name, base: GRID_WORKSPACE, bytes, constant: false });
        }
        (GlobalMemory { regions, recent: 0 }, bases)
    }

    /// Addresses and contents of the buffers, in the order of [`Launch::buffers`].
    pub(crate) fn into_contents(self) -> Vec<(u64, Vec<u8>)> {
        self.regions.into_iter().map(|r| (r.base, r.bytes)).collect()
    }

    /// Finds the bytes at an address, and returns true if they are constant memory. `bytes` is a power of
    /// two.
    fn find(&mut self, address: u64, bytes: usize) -> Result<(&mut [u8], bool), String> {
        if address & (bytes as u64 - 1) != 0 {
            return Err(misaligned(address, bytes));
        }
        let holds = |region: &Region| {
            let (offset, length) = (address.wrapping_sub(region.base), region.bytes.len() as u64);
            offset < length && bytes as u64 <= length - offset
        };
        if !self.regions.get(self.recent).is_some_and(holds) {
            let found = self.regions.iter().position(holds);
            self.recent = found.ok_or_else(|| self.outside(address, bytes))?;
        }
        let region = &mut self.regions[self.recent];
        let offset = (address - region.base) as usize;
        Ok((&mut region.bytes[offset..offset + bytes], region.constant))
    }

    /// Checks that a block is inside one buffer, and that its address is a multiple of `alignment`.
    pub(crate) fn check(&self, address: u64, bytes: u64, alignment: u64) -> Result<(), String> {
        if !address.is_multiple_of(alignment) {
            return Err(format!("global address {address:#x} is not a multiple of {alignment}"));
        }
        let inside = self.regions.iter().any(|r| {
            let offset = address.wrapping_sub(r.base);
            let length = r.bytes.len() as u64;
            offset <= length && bytes <= length - offset
        });
        if inside { Ok(()) } else { Err(self.outside(address, bytes as usize)) }
    }

    #[cold]
    fn outside(&self, address: u64, bytes: usize) -> String {
        let access = format!("{bytes} bytes at global address {address:#x} are not inside a buffer");
        let distance = |r: &&Region| {
            let end = r.base + r.bytes.len() as u64;
            if address < r.base { r.base - address } else { address.saturating_sub(end) }
        };
        match self.regions.iter().min_by_key(distance) {
            None => format!("{access}: the launch has no buffers"),
            Some(region) => {
                let Region { name, base, bytes, .. } = region;
                let offset = i128::from(address) - i128::from(*base);
                format!(
                    "{access}: the nearest is `{name}`, {} bytes at {base:#x}, offset {offset}",
                    bytes.len()
                )
            }
        }
    }

    /// Reads up to 16 bytes, little-endian.
    pub(crate) fn load(&mut self, address: u64, bytes: usize) -> Result<u128, String> {
        let (found, _) = self.find(address, bytes)?;
        let mut word = [0; 16];
        word[..bytes].copy_from_slice(found);
        Ok(u128::from_le_bytes(word))
    }

    /// Writes up to 16 bytes, little-endian.
    pub(crate) fn store(&mut self, address: u64, bytes: usize, value: u128) -> Result<(), String> {
        let (found, constant) = self.find(address, bytes)?;
        if constant {
            return Err(format!("{bytes} bytes written at {address:#x}, which is constant memory"));
        }
        found.copy_from_slice(&value.to_le_bytes()[..bytes]);
        Ok(())
    }
}
