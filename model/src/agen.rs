//! Address generator: forms every lane's address, checks it, and finds its bank. Mirror of
//! `rtl/atoms_agen.sv`.

use atoms_ops::{Fault, Op, Size, legal};

use crate::config::Config;
use crate::cta_table::Allocation;
use crate::lanes::{FirstWords, lanes};
use crate::port::MAX_LANES;

/// What a request says once for all its lanes; fields as in `req_meta_t`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meta {
    /// Lanes that take part (spec 2.6).
    pub(crate) mask: u32,
    /// Uniform register of the address.
    pub(crate) ur: u32,
    /// 24-bit immediate of the address.
    pub(crate) imm: u32,
    /// CTA slot.
    pub(crate) slot: u8,
    /// Given back with the response.
    pub(crate) tag: u8,
    /// log2 of the factor on Ra: 0, 2, 3 or 4; other codes count as 0.
    pub(crate) scale: u8,
    /// Ra does not count, the immediate is zero-extended.
    pub(crate) absolute: bool,
    /// No result wanted.
    pub(crate) red: bool,
    /// Size code, legal or not.
    pub(crate) size: u8,
    /// Operation code, legal or not.
    pub(crate) op: u8,
}

impl Meta {
    /// Its fields as those of `req_meta_t`.
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

/// Bank address of each lane's access: where it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BankAddrs {
    /// Bank and byte of the first word.
    pub(crate) first: FirstWords,
    /// Row of the access.
    pub(crate) row: [u16; MAX_LANES],
}

/// Why no lane may touch memory: kind, lowest such lane, its address.
pub(crate) type Faulty = Option<(Fault, u8, u32)>;

/// Forms and checks the addresses of the lanes in `meta.mask`; the bank addresses of the others, and of
/// all under a fault, mean nothing.
///
/// With `offset` the request came through the cluster port: the address is an offset inside the
/// allocation already, without a rank in its top byte. Source: spec 1.2 to 1.4, 2.1 to 2.6, 6.7.
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
    // For every lane of the configuration, in the mask or not, and without a branch: the compiler makes vectors of it.
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
