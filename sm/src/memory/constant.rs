//! Constant banks. Bank 0 holds the launch parameters and environment; the compiler fills the other banks.

use super::ReservedShared;
use super::global::{CONSTANTS, GRID_WORKSPACE, windows};
use crate::launch::{self, Launch, ParamKind};
use atoms_isa::{Arch, ClusterOffsets, CompiledBank};
use std::collections::BTreeMap;

/// Size of a bank in bytes. Larger offsets wrap.
const BYTES: usize = 1 << 16;

const BANKS: usize = 5;

pub(crate) struct ConstantBank {
    /// Contents of all banks, one after the other.
    bytes: Vec<u8>,
}

impl ConstantBank {
    /// Fills bank 0 according to the calling convention of the architecture: block and grid size, stack
    /// pointer, shared window and parameters. `shared` is the size of a CTA's allocation, and `reserved` is
    /// the system's part of it. `bases` are the addresses of the buffers, in the order of parameters.
    /// `compiled` holds the other banks by number.
    pub(crate) fn new(
        arch: Arch,
        launch: &Launch,
        shared: u32,
        reserved: &ReservedShared,
        bases: &[u64],
        compiled: &BTreeMap<u8, CompiledBank>,
    ) -> ConstantBank {
        let banks = if compiled.is_empty() { 1 } else { BANKS };
        let mut bank = ConstantBank { bytes: vec![0; banks * BYTES] };
        for (number, compiled) in compiled.iter().filter(|(number, _)| usize::from(**number) < BANKS) {
            let bytes = &compiled.bytes[..compiled.bytes.len().min(BYTES)];
            bank.bytes[usize::from(*number) * BYTES..][..bytes.len()].copy_from_slice(bytes);
        }
        for (i, (block, grid)) in launch.block.into_iter().zip(launch.grid).enumerate() {
            bank.set(arch.block_dim_offset() + 4 * i as u32, &block.to_le_bytes());
            bank.set(arch.grid_dim_offset() + 4 * i as u32, &grid.to_le_bytes());
        }
        let offsets = [arch.shared_window_offsets(), Some(arch.local_window_offsets())];
        for (offsets, window) in offsets.into_iter().zip(windows(arch)) {
            let Some([low, high]) = offsets else { continue };
            bank.set(low, &(window as u32).to_le_bytes());
            bank.set(high, &((window >> 32) as u32).to_le_bytes());
        }
        if let Some(at) = arch.constant_window_offset() {
            bank.set(at, &CONSTANTS.start.to_le_bytes());
        }
        // The stack of a thread grows downwards from here, in its local memory.
        bank.set(arch.stack_offset(), &0x00ff_f000_u32.to_le_bytes());
        bank.set(arch.dynamic_shared_offset(), &launch.dynamic_shared.to_le_bytes());
        if let Some(at) = arch.reserved_shared_offset() {
            bank.set(at, &reserved.bytes.end.to_le_bytes());
            bank.set(at + 4, &reserved.second().to_le_bytes());
            bank.set(arch.reserved_shared_bytes_offset(), &(reserved.bytes.len() as u32).to_le_bytes());
        }
        if let Some(at) = arch.aggregate_shared_offset() {
            bank.set(at, &shared.to_le_bytes());
        }
        if launch.cooperative {
            let [high, low] = [4, 8].map(|register| arch.environment_offset() + register);
            bank.set(high, &((GRID_WORKSPACE >> 32) as u32).to_le_bytes());
            bank.set(low, &(GRID_WORKSPACE as u32).to_le_bytes());
        }
        if let Some(at) = arch.cluster_offsets() {
            bank.set_cluster(at, launch);
        }
        let mut bases = bases.iter();
        for (at, param) in launch::leaves(&launch.params, arch.param_base()) {
            match &param.kind {
                ParamKind::Scalar { element, bits } => bank.set(at, &bits.to_le_bytes()[..element.bytes()]),
                ParamKind::Buffer { .. } => bank.set(at, &bases.next().copied().unwrap_or(0).to_le_bytes()),
                ParamKind::Array { bytes, .. } => bank.set(at, bytes),
                ParamKind::Struct { .. } => {}
            }
        }
        bank
    }

    /// Sets the shape of the cluster. Code divides by the shape with float reciprocals, which must not be
    /// below the exact values.
    fn set_cluster(&mut self, at: ClusterOffsets, launch: &Launch) {
        self.set(at.explicit, &u32::from(launch.cluster_ctas() > 1).to_le_bytes());
        self.set(at.ctas, &launch.cluster_ctas().to_le_bytes());
        for (i, (size, grid)) in launch.cluster.into_iter().zip(launch.grid).enumerate() {
            let offset = 4 * i as u32;
            let nearest = (1.0 / f64::from(size)) as f32;
            let below = f64::from(nearest) * f64::from(size) < 1.0;
            let reciprocal = if below { nearest.next_up() } else { nearest };
            self.set(at.shape + offset, &size.to_le_bytes());
            self.set(at.reciprocals + offset, &reciprocal.to_bits().to_le_bytes());
            self.set(at.clusters + offset, &(grid / size.max(1)).to_le_bytes());
        }
    }

    fn set(&mut self, offset: u32, bytes: &[u8]) {
        let at = offset as usize;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn byte(&self, offset: u32) -> u8 {
        self.bytes[offset as usize % self.bytes.len()]
    }

    pub(crate) fn place(bank: u8, offset: u32) -> u32 {
        u32::from(bank) * BYTES as u32 + offset % BYTES as u32
    }

    pub(crate) fn word(&self, offset: u32) -> u32 {
        let whole = self.bytes.get(offset as usize..).and_then(<[u8]>::first_chunk);
        let wrapping = || [0, 1, 2, 3].map(|i| self.byte(offset.wrapping_add(i)));
        u32::from_le_bytes(whole.copied().unwrap_or_else(wrapping))
    }

    /// Returns the 64-bit value of two words: the low word is at `offset`, the high word at `offset + 4`.
    pub(crate) fn pair(&self, offset: u32) -> u64 {
        u64::from(self.word(offset)) | u64::from(self.word(offset.wrapping_add(4))) << 32
    }
}
