//! Registers and predicates of a warp.

use crate::memory::ConstantBank;
use atoms_isa::{ConstAddress, ConstIndex, Kernel, Pred, PredSource, Reg, Source, UReg, Value};

pub(crate) const LANES: usize = 32;

pub(crate) type Row = [u32; LANES];

static ZEROS: Row = [0; LANES];

/// Splits the lanes of `mask` into groups with equal keys.
pub(crate) fn groups<K: PartialEq>(mask: u32, key: impl Fn(usize) -> K) -> Vec<u32> {
    let mut rest = mask;
    std::iter::from_fn(|| {
        let of_first = (rest != 0).then(|| key(rest.trailing_zeros() as usize))?;
        let group =
            lanes(rest).filter(|lane| key(*lane) == of_first).fold(0, |group, lane| group | 1 << lane);
        rest &= !group;
        Some(group)
    })
    .collect()
}

pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(lane)
    })
}

pub(crate) fn select(mask: u32, holds: impl FnMut(&usize) -> bool) -> u32 {
    lanes(mask).filter(holds).fold(0, |selected, lane| selected | 1 << lane)
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Registers {
    rows: Vec<Row>,
    /// Lane mask of each predicate.
    preds: Vec<u32>,
}

impl Registers {
    pub(super) fn new(kernel: &Kernel) -> Registers {
        Registers {
            rows: vec![[0; LANES]; usize::from(kernel.registers)],
            preds: vec![0; usize::from(kernel.predicates)],
        }
    }

    pub(crate) fn row(&self, reg: Reg) -> &Row {
        // RZ is beyond the end of every register file.
        self.rows.get(usize::from(reg.0)).unwrap_or(&ZEROS)
    }

    pub(crate) fn set(&mut self, reg: Reg, mask: u32, values: &Row) {
        let Some(row) = self.rows.get_mut(usize::from(reg.0)) else { return };
        if mask == u32::MAX {
            *row = *values;
        } else {
            lanes(mask).for_each(|lane| row[lane] = values[lane]);
        }
    }

    pub(crate) fn set_pred(&mut self, number: u16, mask: u32, values: u32) {
        // PT is beyond the end of every predicate file.
        if let Some(bits) = self.preds.get_mut(usize::from(number)) {
            *bits = (*bits & !mask) | (values & mask);
        }
    }
}

/// Uniform registers and predicates of a split.
///
/// Each split has its own copy, made at divergence, so that another split cannot change a uniform register
/// between its write and its use. [CHOSEN: when splits join, the copy of the split that arrived last stays]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Uniform {
    regs: [u32; 256],
    /// Lane from which each register was copied. 0 for all other values.
    lanes: [u8; 256],
    /// Bit mask of the uniform predicates. Bit 7 is UPT.
    pub(super) preds: u8,
}

impl Uniform {
    pub(crate) fn new() -> Uniform {
        Uniform { regs: [0; 256], lanes: [0; 256], preds: 0x80 }
    }

    pub(crate) fn get(&self, reg: UReg) -> u32 {
        if reg.is_zero() { 0 } else { self.regs[usize::from(reg.0)] }
    }

    pub(crate) fn pair(&self, reg: UReg) -> u64 {
        u64::from(self.get(reg)) | u64::from(self.get(reg.plus(1))) << 32
    }

    pub(crate) fn set(&mut self, reg: UReg, value: u32) {
        self.set_from(0, reg, value);
    }

    pub(crate) fn set_from(&mut self, lane: u32, reg: UReg, value: u32) {
        if !reg.is_zero() {
            self.regs[usize::from(reg.0)] = value;
            self.lanes[usize::from(reg.0)] = lane as u8;
        }
    }

    /// Mask of the one lane of `mask` that represents the warp in an operation with this register: the lane
    /// from which the register was copied, or else the lowest lane. Compilers execute an operation with
    /// uniform operands once per lane, in a loop, and all lanes are active in each iteration.
    pub(crate) fn one_of(&self, mask: u32, reg: UReg) -> u32 {
        let own = mask & 1 << (self.lanes[usize::from(reg.0)] & 31);
        if own == 0 { mask & mask.wrapping_neg() } else { own }
    }
}

pub(crate) struct View<'a> {
    registers: &'a Registers,
    uniform: &'a Uniform,
    constants: &'a ConstantBank,
}

impl<'a> View<'a> {
    pub(super) fn new(
        registers: &'a Registers,
        uniform: &'a Uniform,
        constants: &'a ConstantBank,
    ) -> View<'a> {
        View { registers, uniform, constants }
    }

    pub(crate) fn pred(&self, source: PredSource) -> u32 {
        let mask = match source.pred {
            Pred::Thread(number) => self.registers.preds.get(usize::from(number)).copied().unwrap_or(!0),
            Pred::Uniform(number) if self.uniform.preds >> (number & 7) & 1 != 0 => !0,
            Pred::Uniform(_) => 0,
        };
        if source.negate { !mask } else { mask }
    }

    pub(crate) fn const_offset(&self, address: ConstAddress, lane: usize) -> u32 {
        let index = match address.index {
            ConstIndex::None => 0,
            ConstIndex::Reg(reg) => self.registers.row(reg)[lane],
            ConstIndex::Uniform(reg) => self.uniform.get(reg),
        };
        ConstantBank::place(address.bank, index.wrapping_add(address.offset))
    }

    /// Reads a 32-bit operand in lanes 0 to `COUNT - 1`, before its modifiers.
    pub(crate) fn words<const COUNT: usize>(&self, source: &Source) -> [u32; COUNT] {
        match source.value {
            Value::Reg(reg) => {
                let row = self.registers.row(reg);
                std::array::from_fn(|lane| row[lane])
            }
            Value::Uniform(reg) => [self.uniform.get(reg); COUNT],
            Value::Imm(value) => [value as u32; COUNT],
            Value::Const(address) => match address.index {
                ConstIndex::Reg(_) => {
                    std::array::from_fn(|lane| self.constants.word(self.const_offset(address, lane)))
                }
                ConstIndex::None | ConstIndex::Uniform(_) => {
                    [self.constants.word(self.const_offset(address, 0)); COUNT]
                }
            },
        }
    }

    /// Same as [`View::words`], for all lanes.
    pub(crate) fn row(&self, source: &Source) -> Row {
        self.words(source)
    }

    /// Same as [`View::words`], for a 64-bit operand.
    pub(crate) fn pairs<const COUNT: usize>(&self, source: &Source) -> [u64; COUNT] {
        match source.value {
            Value::Reg(reg) => {
                let (low, high) = (self.registers.row(reg), self.registers.row(reg.plus(1)));
                std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
            }
            Value::Uniform(reg) => [self.uniform.pair(reg); COUNT],
            Value::Imm(value) => [value as u64; COUNT],
            Value::Const(address) => match address.index {
                ConstIndex::Reg(_) => {
                    std::array::from_fn(|lane| self.constants.pair(self.const_offset(address, lane)))
                }
                ConstIndex::None | ConstIndex::Uniform(_) => {
                    [self.constants.pair(self.const_offset(address, 0)); COUNT]
                }
            },
        }
    }

    pub(crate) fn uniform(&self) -> &Uniform {
        self.uniform
    }

    pub(crate) fn reg(&self, reg: Reg) -> &Row {
        self.registers.row(reg)
    }
}
