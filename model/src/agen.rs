//! Address generator: forms every lane's address, checks it, and finds its bank. Mirror of
//! `rtl/atoms_agen.sv`.

use atoms_ops::{Fault, Op, Size, legal};

use crate::config::Config;
use crate::cta_table::Allocation;
use crate::lanes::{FirstWords, lanes};
use crate::port::MAX_LANES;

/// Fields of a request that all its lanes share, as in `req_meta_t`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meta {
    /// Active lanes (spec 2.6).
    pub(crate) mask: u32,
    pub(crate) ur: u32,
    pub(crate) imm: u32,
    pub(crate) slot: u8,
    /// Warp tag; the response returns it.
    pub(crate) tag: u8,
    /// log2 of the scale factor on Ra: 0, 2, 3 or 4; other codes act as 0.
    pub(crate) scale: u8,
    /// Ra is ignored, and the immediate is zero-extended.
    pub(crate) absolute: bool,
    /// No result is wanted.
    pub(crate) red: bool,
    /// Size code; may be illegal.
    pub(crate) size: u8,
    /// Operation code; may be illegal.
    pub(crate) op: u8,
}

impl Meta {
    /// Shows each field under its name in `req_meta_t`.
    pub(crate) fn fields(&self, see: &mut impl FnMut(&str, u128)) {
        let Meta { mask, ur, imm, slot, tag, scale, absolute, red, size, op } = *self;
        see("mask", mask.into());
        see("ur", ur.into());
        see("imm", imm.into());
        see("slot", slot.into());
        see("tag", tag.into());
        see("scale", scale.into());
        see("absolute", absolute.into());
        see("red", red.into());
        see("size", size.into());
        see("op", op.into());
    }
}

/// Bank address at which each lane's access begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BankAddrs {
    pub(crate) first: FirstWords,
    pub(crate) row: [u16; MAX_LANES],
}

/// Fault, lowest faulting lane and its address; `None` if every active lane may touch memory.
pub(crate) type Faulty = Option<(Fault, u8, u32)>;

/// Forms and checks the addresses of the lanes in `meta.mask`. The bank addresses of all other lanes are
/// meaningless, and so are all bank addresses after a fault.
///
/// `offset` is true for a request from the cluster port. Its address is already an offset inside the
/// allocation, without a rank in the top byte. Source: spec 1.2 to 1.4, 2.1 to 2.6, 6.7.
pub(crate) fn agen(
    config: &Config,
    meta: &Meta,
    ra: &[u32; MAX_LANES],
    offset: bool,
    allocation: Allocation,
    bank_addrs: &mut BankAddrs,
) -> Faulty {
    let sign_extended = ((meta.imm << 8) as i32 >> 8) as u32;
    let base = meta.ur.wrapping_add(if meta.absolute { meta.imm } else { sign_extended });
    let shift = if matches!(meta.scale, 2..=4) { meta.scale } else { 0 };
    let address = |lane: usize| (if meta.absolute { 0 } else { ra[lane] << shift }).wrapping_add(base);

    if meta.mask == 0 {
        return None;
    }
    let cluster_legal = |op: Op| !offset || op.cluster_legal(meta.red);
    if !legal(meta.op, meta.size) || !Op::from_code(meta.op).is_some_and(cluster_legal) {
        let lane = meta.mask.trailing_zeros();
        return Some((Fault::Illegal, lane as u8, address(lane as usize)));
    }
    let bytes = Size::from_code(meta.size).map_or(1, Size::bytes);
    let misaligned = |addr: u32| addr & (bytes - 1) != 0;
    let other_rank = |addr: u32| !offset & (addr >> 24 != u32::from(allocation.rank));
    let beyond = |addr: u32| (addr & 0xff_ffff) + bytes > allocation.size;

    let bank_bits = config.num_banks.trailing_zeros();
    let hash_mask = if config.bank_hash { config.num_banks / 4 - 1 } else { 0 };
    // Compute every lane of the configuration, active or not, without a branch: the compiler vectorizes the
    // loop.
    let mut faulty = false;
    for lane in 0..(config.num_lanes as usize).min(MAX_LANES) {
        let addr = address(lane);
        faulty |= (misaligned(addr) | other_rank(addr) | beyond(addr)) & (meta.mask & 1 << lane != 0);
        let word = (addr & 0xff_ffff) >> 2;
        let row = (word >> bank_bits) + u32::from(allocation.base);
        bank_addrs.row[lane] = row as u16;
        bank_addrs.first.set(lane, (word & (config.num_banks - 1)) ^ ((row & hash_mask) << 2), addr & 3);
    }
    if allocation.valid && !faulty {
        return None;
    }
    lanes(meta.mask).find_map(|lane| {
        let addr = address(lane);
        let outside = !allocation.valid || other_rank(addr) || beyond(addr);
        let fault = if misaligned(addr) { Fault::Misaligned } else { Fault::OutOfRange };
        (misaligned(addr) || outside).then_some((fault, lane as u8, addr))
    })
}
