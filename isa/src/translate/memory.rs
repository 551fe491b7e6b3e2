//! Translation of loads, stores and atomics.

use super::ordering::ordering;
use super::unit::{FunctionUnit, Home, Output, imm, pair, word};
use super::{Fail, Mods};
use crate::kernel::compute::{ComputeOp, IntOp, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::memory::{
    AddressBase, ConstAccess, GlobalAccess, GlobalAddress, GlobalOp, Grain, LocalAccess, SharedAccess,
    SharedAddress, SharedFill, SharedResult, Space,
};
use crate::kernel::register::{Pred, Reg, UReg};
use crate::kernel::source::{ConstAddress, ConstIndex, Source, Value};
use crate::kernel::special::SpecialRegister;
use crate::ptx::{Base, Operand, PtxInstruction, StateSpace, Symbol, Type};
use atoms_ops::{Op, Size};

/// Byte offsets that an address in shared memory can have: 24 bits, signed.
const SHARED_OFFSETS: std::ops::Range<i64> = -0x80_0000..0x80_0000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Shared,
    Cluster,
    Global,
    Generic,
    Local,
    Param,
}

impl Memory {
    pub(super) fn take(m: &mut Mods<'_, '_>) -> Memory {
        const NAMES: &[&str] = &[
            "shared",
            "shared::cta",
            "shared::cluster",
            "global",
            "const",
            "local",
            "param",
            "param::entry",
            "param::func",
        ];
        match m.take_any(NAMES) {
            Some("shared" | "shared::cta") => Memory::Shared,
            Some("shared::cluster") => Memory::Cluster,
            Some("global" | "const") => Memory::Global,
            Some("local") => Memory::Local,
            Some(_) => Memory::Param,
            None => Memory::Generic,
        }
    }
}

fn size_of(bits: u32, signed: bool) -> Option<Size> {
    Some(match (bits, signed) {
        (8, false) => Size::U8,
        (8, true) => Size::S8,
        (16, false) => Size::U16,
        (16, true) => Size::S16,
        (32, _) => Size::U32,
        (64, _) => Size::U64,
        (128, _) => Size::B128,
        _ => return None,
    })
}

const fn signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}

struct Data {
    first: Reg,
    /// True if the elements are not in consecutive registers. The data then passes through scratch registers.
    apart: bool,
}

impl<'t> FunctionUnit<'_, 't> {
    pub(super) fn access(&mut self, i: &PtxInstruction<'t>) -> Result<bool, Fail> {
        let store = match i.opcode {
            "ld" | "ldu" => false,
            "st" => true,
            _ => return Ok(false),
        };
        let m = &mut Mods::new(i);
        if m.take("bulk") {
            return self.fill(m).map(|()| true);
        }
        let order = ordering(m, false);
        let memory = Memory::take(m);
        m.drop_hints();
        let count = match m.take_any(&["v2", "v4", "v8"]) {
            None => 1,
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
        };
        let ty = m.ty()?;
        m.done()?;
        self.ordering = Some(order);
        let (data, address) = if store { (1, 0) } else { (0, 1) };
        let (data, address) = (m.operand(data)?, m.operand(address)?);
        let parts = match data {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        if parts.len() != count {
            let message = format!("{} registers for a vector of {count}", parts.len());
            return Err(Fail::wrong(message, "name as many registers as .v2, .v4 or .v8 states"));
        }
        // One access is at most 128 bits wide; a longer vector needs several.
        let at_once = (128 / ty.bits()).min(count as u32).max(1) as usize;
        for (number, parts) in parts.chunks(at_once).enumerate() {
            let offset = number as i64 * 16;
            self.part(ty, memory, store, parts, address, offset)?;
        }
        Ok(true)
    }

    /// Translates `st.bulk[.weak][.shared::cta] [a], size, 0`. A generic address is used as a shared-memory
    /// address, as in compiled code.
    fn fill(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        m.take("weak");
        m.take_any(&["shared", "shared::cta"]);
        m.done()?;
        if m.instruction.opcode != "st" {
            return Err(Fail::Unsupported);
        }
        if self.arch.number() < 100 {
            return Err(Fail::since(&m.name(), 100));
        }
        if !matches!(m.operand(2)?, Operand::Integer(0)) {
            return Err(Fail::wrong("the value to store is not 0", "st.bulk stores zeros: write 0"));
        }
        let words = match m.operand(1)? {
            Operand::Integer(bytes) if bytes % 8 != 0 => {
                let message = format!("a size of {bytes} bytes is illegal");
                return Err(Fail::wrong(message, "the size is a multiple of 8"));
            }
            size => {
                let (bytes, words) = (self.input(size, Type::U64)?, self.scratch(2));
                let shift = ComputeOp::int(IntOp::Shr, Type::U64);
                self.compute(shift, Output::Pair(words), &[bytes, imm(3)]);
                word(words)
            }
        };
        let address = self.shared_address(m.operand(0)?, 0)?;
        self.emit(Operation::Fill(SharedFill { address, words }));
        Ok(())
    }

    fn part(
        &mut self,
        ty: Type,
        memory: Memory,
        store: bool,
        parts: &[Operand<'t>],
        address: &Operand<'t>,
        offset: i64,
    ) -> Result<(), Fail> {
        let bits = ty.bits() * parts.len() as u32;
        let size = size_of(bits, !store && signed(ty) && parts.len() == 1).ok_or(Fail::Unsupported)?;
        let data = self.data(ty, parts, bits)?;
        if store && data.apart {
            self.put_together(ty, parts, data.first)?;
        }
        self.carry_out(!store, size, memory, data.first, address, offset)?;
        match parts {
            _ if store => {}
            _ if data.apart => self.take_apart(ty, parts, data.first)?,
            [Operand::Register(id)] if bits < 64 && self.reg(*id)?.1 == 2 => {
                let ordering = self.ordering.take();
                self.widen(ty, data.first);
                self.ordering = ordering;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the registers for the data of an access: the registers of the elements if they are
    /// consecutive, else scratch registers.
    fn data(&mut self, ty: Type, parts: &[Operand<'t>], bits: u32) -> Result<Data, Fail> {
        let words = bits.div_ceil(32) as u8;
        let mut first = None;
        let mut apart = parts.len() > 1 && ty.bits() < 32;
        for (at, part) in parts.iter().enumerate() {
            let Operand::Register(id) = part else {
                apart = true;
                continue;
            };
            let (reg, held) = self.reg(*id)?;
            let expected = first.map_or(reg, |f: Reg| f.plus(at as u8 * ty.words()));
            apart |= reg != expected || held < ty.words() || (parts.len() > 1 && held != ty.words());
            first = first.or(Some(reg));
        }
        match first.filter(|_| !apart) {
            Some(first) => Ok(Data { first, apart }),
            None => Ok(Data { first: self.scratch(words), apart: true }),
        }
    }

    fn take_apart(&mut self, ty: Type, parts: &[Operand<'t>], from: Reg) -> Result<(), Fail> {
        let ordering = self.ordering.take();
        for (at, part) in parts.iter().enumerate() {
            let dst = self.value_output(part)?;
            let bit = at as u32 * ty.bits();
            let reg = from.plus((bit / 32) as u8);
            match ty.bits() {
                64 => self.move_to(dst, pair(reg)),
                32 => self.move_to(dst, word(reg)),
                128 => {
                    let to = self.output_reg(part)?;
                    for half in [0, 2] {
                        self.move_to(Output::Pair(to.plus(half)), pair(from.plus(half)));
                    }
                }
                bits => {
                    let op = ComputeOp::Extract { shift: (bit % 32) as u8, bits: bits as u8 };
                    self.compute(op, dst, &[word(reg)]);
                    if let (true, Output::Word(reg)) = (signed(ty), dst) {
                        let op = ComputeOp::Extend { signed: true, wrap: false };
                        self.compute(op, dst, &[word(reg), imm(bits.into())]);
                    }
                }
            }
        }
        self.ordering = ordering;
        Ok(())
    }

    fn put_together(&mut self, ty: Type, parts: &[Operand<'t>], to: Reg) -> Result<(), Fail> {
        let ordering = self.ordering.take();
        let per_word = (32 / ty.bits()).max(1) as usize;
        for (at, group) in parts.chunks(per_word).enumerate() {
            let mut inputs = Vec::new();
            for part in group {
                inputs.push(self.input(part, ty)?);
            }
            let reg = to.plus(at as u8 * ty.words());
            match (ty.bits(), inputs.as_slice()) {
                (64, [input]) => self.move_to(Output::Pair(reg), *input),
                (32, [input]) => self.move_to(Output::Word(reg), *input),
                (bits @ (8 | 16), inputs) => {
                    self.compute(ComputeOp::Concat { bits: bits as u8 }, Output::Word(reg), inputs);
                }
                _ => return Err(Fail::Unsupported),
            }
        }
        self.ordering = ordering;
        Ok(())
    }

    fn carry_out(
        &mut self,
        load: bool,
        size: Size,
        memory: Memory,
        data: Reg,
        address: &Operand<'t>,
        offset: i64,
    ) -> Result<(), Fail> {
        let (dst, rb, rc) = if load { (data, Reg::RZ, Reg::RZ) } else { (Reg::RZ, data, Reg::RZ) };
        let op = if load { Op::Load } else { Op::Store };
        let ordering = self.ordering;
        let memory = self.narrowed(memory, address)?;
        let operation = match memory {
            Memory::Shared => {
                let address = self.shared_address(address, offset)?;
                let result = if load { SharedResult::Reg(dst) } else { SharedResult::None };
                Operation::Shared(SharedAccess { op, size, result, address, rb, rc, object: false })
            }
            Memory::Global | Memory::Generic | Memory::Cluster => {
                let (space, address) = self.global_address(memory, address, offset)?;
                let op = if load { GlobalOp::Load } else { GlobalOp::Store };
                let pred_dst = Pred::PT;
                Operation::Global(GlobalAccess { space, op, size, dst, pred_dst, address, rb, rc })
            }
            Memory::Local => {
                let address = self.local_address(address, offset)?;
                Operation::Local(LocalAccess { op, size, reg: data, address })
            }
            Memory::Param if load => {
                let address = self.param_address(address, offset)?;
                let grain = match size {
                    Size::U8 | Size::S8 | Size::U16 | Size::S16 => Grain::Sub(size),
                    Size::U32 | Size::S32 | Size::U64 | Size::B128 => Grain::Words(size.bytes() as u8 / 4),
                };
                Operation::Const(ConstAccess { path: Path::Vector, dst: dst.0, grain, address })
            }
            Memory::Param => {
                let message = "a kernel parameter cannot be stored to";
                return Err(Fail::wrong(message, "kernel parameters can only be read: use ld.param"));
            }
        };
        self.ordering = ordering.filter(|_| !matches!(memory, Memory::Local | Memory::Param));
        self.emit(operation);
        Ok(())
    }

    /// Returns the memory that an access really uses, which the variable in the address may determine.
    /// Parameters of functions are in private memory, those of the kernel in the constant bank.
    pub(super) fn narrowed(&self, memory: Memory, address: &Operand<'t>) -> Result<Memory, Fail> {
        let Operand::Address { base: Base::Symbol(symbol), .. } = address else { return Ok(memory) };
        Ok(match (memory, self.home(*symbol)?) {
            (Memory::Param, Home::Local(_)) => Memory::Local,
            (Memory::Generic, Home::Shared(_)) => Memory::Shared,
            (Memory::Generic, Home::Global(_)) => Memory::Global,
            (Memory::Generic, Home::Local(_)) => Memory::Local,
            (Memory::Generic, Home::Param(_)) => Memory::Param,
            (memory, home) => {
                let fits = match memory {
                    Memory::Shared | Memory::Cluster => matches!(home, Home::Shared(_)),
                    Memory::Global => matches!(home, Home::Global(_)),
                    Memory::Local => matches!(home, Home::Local(_)),
                    Memory::Param | Memory::Generic => true,
                };
                if !fits {
                    let space = match self.space_of(*symbol) {
                        Some(StateSpace::Shared) => ".shared",
                        Some(StateSpace::Global) => ".global",
                        Some(StateSpace::Const) => ".const",
                        Some(StateSpace::Local) => ".local",
                        Some(StateSpace::Param) | None => ".param",
                    };
                    let message = "the variable is in another state space than the access";
                    return Err(Fail::wrong(message, format!("the variable is in {space}")));
                }
                memory
            }
        })
    }

    pub(super) fn shared_address(&mut self, operand: &Operand<'t>, more: i64) -> Result<SharedAddress, Fail> {
        let (base, offset) = address(operand, more)?;
        let (ra, offset) = match base {
            Base::Register(id) => (self.reg(id)?.0, offset),
            Base::Symbol(symbol) => {
                let at = self.shared_home(symbol)?;
                (self.shared_base().unwrap_or(Reg::RZ), i64::from(at).wrapping_add(offset))
            }
            Base::None => (Reg::RZ, offset),
        };
        Ok(if ra.is_zero() { short(ra, offset) } else { self.beside(ra, offset) })
    }

    fn shared_home(&self, symbol: Symbol) -> Result<u32, Fail> {
        match self.home(symbol)? {
            Home::Shared(at) => Ok(at),
            Home::Global(_) | Home::Local(_) | Home::Param(_) => {
                Err(Fail::wrong("the variable is not in shared memory", "declare the variable .shared"))
            }
        }
    }

    /// Returns the address of register `ra` plus an offset. If the offset does not fit in the address, an
    /// addition is emitted.
    fn beside(&mut self, ra: Reg, offset: i64) -> SharedAddress {
        if SHARED_OFFSETS.contains(&offset) {
            short(ra, offset)
        } else {
            short(self.sum32(word(ra), offset), 0)
        }
    }

    fn sum32(&mut self, a: Source, offset: i64) -> Reg {
        let ordering = self.ordering.take();
        let sum = self.scratch(1);
        self.add32(Output::Word(sum), a, offset as u32 as u64);
        self.ordering = ordering;
        sum
    }

    pub(super) fn global_address(
        &mut self,
        memory: Memory,
        operand: &Operand<'t>,
        more: i64,
    ) -> Result<(Space, GlobalAddress), Fail> {
        let (base, offset) = address(operand, more)?;
        let ordering = self.ordering.take();
        let space = if memory == Memory::Global { Space::Global } else { Space::Generic };
        if memory == Memory::Cluster {
            // A generic address whose high word is that of the shared window selects shared memory.
            let low = match base {
                Base::Register(id) => word(self.reg(id)?.0),
                Base::Symbol(symbol) => match (self.home(symbol)?, self.shared_base()) {
                    (Home::Shared(at), Some(base)) => word(self.sum32(word(base), at.into())),
                    _ => {
                        return Err(Fail::wrong(
                            "the variable is not in shared memory",
                            "declare the variable .shared",
                        ));
                    }
                },
                Base::None => imm(0),
            };
            let pair = self.scratch(2);
            self.add32(Output::Word(pair), low, offset as u32 as u64);
            self.special_to(pair.plus(1), SpecialRegister::SharedWindowHigh);
            self.ordering = ordering;
            return Ok((space, GlobalAddress { base: AddressBase::Pair(pair), ur: None, imm: 0 }));
        }
        let short = i32::try_from(offset).ok();
        let address = match (base, short) {
            (Base::Register(id), imm) => {
                let (reg, words) = self.reg(id)?;
                match (imm, words) {
                    (Some(imm), 1) => GlobalAddress { base: AddressBase::Word(reg), ur: None, imm },
                    (Some(imm), _) => GlobalAddress { base: AddressBase::Pair(reg), ur: None, imm },
                    (None, _) => {
                        let input = if words == 1 { word(reg) } else { pair(reg) };
                        self.sum64(input, offset)
                    }
                }
            }
            (Base::Symbol(symbol), _) => match self.home(symbol)? {
                Home::Global(at) => self.sum64(imm(at), offset),
                _ => {
                    return Err(Fail::wrong(
                        "the variable is in another state space than the access",
                        "the variable is not in global memory",
                    ));
                }
            },
            (Base::None, Some(imm)) => GlobalAddress { base: AddressBase::None, ur: None, imm },
            (Base::None, None) => self.sum64(imm(0), offset),
        };
        self.ordering = ordering;
        Ok((space, address))
    }

    fn sum64(&mut self, a: Source, offset: i64) -> GlobalAddress {
        let pair = self.scratch(2);
        match a.value {
            Value::Imm(at) => self.move_to(Output::Pair(pair), imm(at.wrapping_add(offset) as u64)),
            _ => {
                let op = ComputeOp::int(IntOp::Add, Type::U64);
                self.compute(op, Output::Pair(pair), &[a, imm(offset as u64)]);
            }
        }
        GlobalAddress { base: AddressBase::Pair(pair), ur: None, imm: 0 }
    }

    fn param_address(&mut self, operand: &Operand<'t>, more: i64) -> Result<ConstAddress, Fail> {
        let (base, offset) = address(operand, more)?;
        let (index, offset) = match base {
            Base::Register(id) => (ConstIndex::Reg(self.reg(id)?.0), offset),
            Base::Symbol(symbol) => match self.home(symbol)? {
                Home::Param(at) => (ConstIndex::None, i64::from(at).wrapping_add(offset)),
                _ => {
                    return Err(Fail::wrong(
                        "the variable is not a parameter",
                        "declare the variable .param",
                    ));
                }
            },
            Base::None => (ConstIndex::None, offset),
        };
        Ok(ConstAddress { bank: 0, index, offset: offset as u32 })
    }

    fn local_address(&mut self, operand: &Operand<'t>, more: i64) -> Result<SharedAddress, Fail> {
        let (base, offset) = address(operand, more)?;
        let (ra, offset) = match base {
            Base::Register(id) => (self.reg(id)?.0, offset),
            Base::Symbol(symbol) => match self.home(symbol)? {
                Home::Local(at) => (Reg::RZ, i64::from(at).wrapping_add(offset)),
                _ => {
                    return Err(Fail::wrong(
                        "the variable is not in local memory",
                        "declare the variable .local",
                    ));
                }
            },
            Base::None => (Reg::RZ, offset),
        };
        Ok(self.beside(ra, offset))
    }
}

/// Returns the base of an address operand and its offset plus `more` bytes.
fn address(operand: &Operand<'_>, more: i64) -> Result<(Base, i64), Fail> {
    match operand {
        Operand::Address { base, offset } => Ok((*base, offset.wrapping_add(more))),
        _ => Err(Fail::wrong("the operand is not an address", "write an address in brackets: [%r1+4]")),
    }
}

/// Returns an address with a 24-bit offset: relative to register `ra`, or absolute if `ra` is RZ.
fn short(ra: Reg, offset: i64) -> SharedAddress {
    SharedAddress { ra, scale: 0, ur: UReg::URZ, imm: offset as u32 & 0xff_ffff, absolute: ra.is_zero() }
}
