//! Writes machine code: constants, addresses, and the loops that make an operand uniform.

use super::operand::{Address, Start, Word};
use crate::arch::Arch;
use crate::lower::decimal::{decimal, half};
use crate::lower::offset::{hex, near, plus, split};
use crate::lower::{Frame, Refusal};
use crate::ptx::RegId;

/// Code being written for one architecture.
pub(super) struct Code<'f> {
    pub(super) arch: Arch,
    pub(super) frame: &'f mut Frame,
    lines: Vec<String>,
}

/// Where an address is, in terms of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) base: Base,
    offset: i32,
}

/// What an address of the machine starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Register(u16),
    /// A generic address.
    Pair(u16),
    Uniform(u8),
    Nothing,
}

/// Predicates of a loop that takes lanes together whose operands are equal.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    /// Lanes that have not had their turn.
    pub(super) waiting: u16,
    /// Lanes whose turn it is not.
    pub(super) others: u16,
}

impl<'f> Code<'f> {
    pub(super) fn new(arch: Arch, frame: &'f mut Frame) -> Code<'f> {
        Code { arch, frame, lines: Vec::new() }
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines
    }

    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// A label here.
    pub(super) fn label(&mut self, label: &str) {
        self.lines.push(format!("{label}:"));
    }

    fn before(&self, number: u16) -> bool {
        self.arch.number() < number
    }

    /// A new register that holds a constant; RZ for 0.
    ///
    /// Compilers use the half-precision unit where both halves of the constant are numbers, and leave the
    /// integer unit to others.
    pub(super) fn constant(&mut self, value: u32) -> String {
        if value == 0 {
            return "RZ".into();
        }
        let register = self.frame.scratch(1);
        self.set(register, value);
        format!("R{register}")
    }

    /// Puts a constant in a register.
    pub(super) fn set(&mut self, register: u16, value: u32) {
        let finite = |bits: u32| bits & 0x7c00 != 0x7c00;
        let mnemonic = match self.arch.number() {
            ..=87 => "HFMA2.MMA",
            88..=89 => "MOV",
            90..=99 => "HFMA2.MMA",
            _ => "HFMA2",
        };
        if mnemonic == "MOV" || !finite(value >> 16) || !finite(value) {
            self.line(format!("MOV R{register}, {value:#x}"));
        } else {
            let (high, low) = (decimal(half(value >> 16)), decimal(half(value)));
            self.line(format!("{mnemonic} R{register}, -RZ, RZ, {high}, {low}"));
        }
    }

    /// The operand's register, or a new one that holds it.
    pub(super) fn word(&mut self, word: Word) -> String {
        match word {
            Word::Register(id) => format!("R{}", self.frame.register(id, 1)),
            Word::Constant(value) => self.constant(value),
        }
    }

    /// Number of the first of two registers that hold a PTX register of 64 bits.
    pub(super) fn pair(&mut self, id: RegId) -> u16 {
        self.frame.register(id, 2)
    }

    /// `target = source + value`, in 32 bits.
    pub(super) fn add(&mut self, target: u16, source: &str, value: i32) {
        let value = hex(value);
        let line = match self.arch.number() {
            ..=99 => format!("IADD3 R{target}, {source}, {value}, RZ"),
            100..=106 => format!("IADD3 R{target}, PT, PT, {source}, {value}, RZ"),
            _ => format!("IADD R{target}, {source}, {value}"),
        };
        self.line(line);
    }

    /// `target = value - source`, in 32 bits.
    pub(super) fn subtract_from(&mut self, target: u16, value: i32, source: &str) {
        self.add(target, &format!("-{source}"), value);
    }

    /// Where an address is. Generic addresses stay so before sm_90; from there on their low word is that of
    /// the shared window.
    pub(super) fn place(&mut self, address: Address<'_>) -> Result<Place, Refusal> {
        let Address { base, offset } = address;
        match base {
            Start::Register(id) => {
                let register = self.frame.register(id, 1);
                Ok(self.near(register, offset))
            }
            Start::Generic(id) if self.before(90) => {
                let pair = self.pair(id);
                Ok(self.near_pair(pair, offset))
            }
            Start::Generic(id) => {
                let low = self.pair(id);
                let copy = self.frame.scratch(1);
                self.line(format!("MOV R{copy}, R{low}"));
                Ok(self.near(copy, offset))
            }
            Start::Symbol(symbol, name) => {
                let at = self.frame.shared_address(symbol).ok_or_else(|| {
                    Refusal::new(
                        format!("Address of '{name}' is not in state space '.shared'"),
                        "objects live in shared memory: declare it .shared",
                    )
                })?;
                Ok(self.fixed(at, offset))
            }
            Start::Nothing => Ok(self.fixed(0, offset)),
        }
    }

    /// The same for a load or a store, whose offset from a generic address may have more than 24 bits [TOOLS].
    pub(super) fn long_place(&mut self, address: Address<'_>) -> Result<Place, Refusal> {
        match address.base {
            Start::Generic(id) if self.before(90) => {
                Ok(Place { base: Base::Pair(self.pair(id)), offset: address.offset })
            }
            _ => self.place(address),
        }
    }

    /// The second word of an object.
    pub(super) fn second_word(&mut self, first: Place) -> Place {
        let offset = first.offset.wrapping_add(4);
        match first.base {
            Base::Register(register) => self.near(register, offset),
            Base::Pair(pair) => self.near_pair(pair, offset),
            Base::Uniform(_) | Base::Nothing => Place { offset, ..first },
        }
    }

    /// An address in the CTA's part that is known. From sm_90 on it is made of the CTA's rank (spec 1.4).
    fn fixed(&mut self, at: u32, offset: i32) -> Place {
        if self.before(90) {
            return Place { base: Base::Nothing, offset: (at as i32).wrapping_add(offset) };
        }
        let (rank, base) = (self.frame.uniform(1), self.frame.uniform(1));
        let (at, offset) = match near(offset.into()) {
            true => (at as i32, offset),
            false => ((at as i32).wrapping_add(offset), 0),
        };
        self.line(format!("S2UR UR{rank}, SR_CgaCtaId"));
        self.line(format!("UMOV UR{base}, {at:#x}"));
        self.line(format!("ULEA UR{base}, UR{rank}, UR{base}, 0x18"));
        Place { base: Base::Uniform(base), offset }
    }

    fn near(&mut self, register: u16, offset: i32) -> Place {
        let (far, offset) = split(offset);
        if far == 0 {
            return Place { base: Base::Register(register), offset };
        }
        let sum = self.frame.scratch(1);
        self.add(sum, &format!("R{register}"), far);
        Place { base: Base::Register(sum), offset }
    }

    fn near_pair(&mut self, pair: u16, offset: i32) -> Place {
        let (far, offset) = split(offset);
        Place { base: Base::Pair(self.add_wide(pair, far)), offset }
    }

    /// A pair of registers that holds a global address.
    pub(super) fn global(&mut self, address: Address<'_>) -> Result<u16, Refusal> {
        match address.base {
            Start::Generic(id) => {
                let pair = self.pair(id);
                Ok(self.add_wide(pair, address.offset))
            }
            Start::Symbol(symbol, name) => {
                let at = self.frame.global_address(symbol).ok_or_else(|| {
                    Refusal::new(
                        format!("Address of '{name}' is not in state space '.global'"),
                        "copies come from global memory: declare it .global",
                    )
                })?;
                Ok(self.wide_constant(at.wrapping_add_signed(address.offset.into())))
            }
            Start::Register(_) | Start::Nothing => Ok(self.wide_constant(address.offset as u32 as u64)),
        }
    }

    fn wide_constant(&mut self, value: u64) -> u16 {
        let pair = self.frame.scratch(2);
        for (at, word) in [(pair, value as u32), (pair + 1, (value >> 32) as u32)] {
            self.line(format!("MOV R{at}, {word:#x}"));
        }
        pair
    }

    /// A pair of registers that holds the sum of a pair and a constant.
    fn add_wide(&mut self, pair: u16, far: i32) -> u16 {
        if far == 0 {
            return pair;
        }
        let (sum, carry) = (self.frame.scratch(2), self.frame.scratch_predicate());
        let sign = hex(far >> 31);
        self.line(format!("IADD3 R{sum}, P{carry}, R{pair}, {}, RZ", hex(far)));
        self.line(format!("IADD3.X R{}, R{}, {sign}, RZ, P{carry}, !PT", sum + 1, pair + 1));
        sum
    }

    /// The same place with nothing beside its register.
    pub(super) fn all_in_register(&mut self, place: Place) -> Place {
        Place { base: Base::Register(self.address_register(place)), offset: 0 }
    }

    /// A register that holds the address.
    pub(super) fn address_register(&mut self, place: Place) -> u16 {
        let Place { base, offset } = place;
        let register = match base {
            Base::Register(register) | Base::Pair(register) if offset == 0 => return register,
            Base::Register(register) | Base::Pair(register) => format!("R{register}"),
            Base::Uniform(uniform) => format!("UR{uniform}"),
            Base::Nothing => "RZ".into(),
        };
        let sum = self.frame.scratch(1);
        if register.starts_with('U') {
            self.line(format!("MOV R{sum}, {register}"));
            if offset != 0 {
                self.add(sum, &format!("R{sum}"), offset);
            }
        } else {
            self.add(sum, &register, offset);
        }
        sum
    }

    /// Look-up tables of PLOP3: true, second or not first, not first. The second number is for the other half
    /// of the table, which nothing reads.
    fn tables(&self) -> [&'static str; 3] {
        match self.before(100) {
            true => ["0x80, 0x0", "0xa2, 0x0", "0x8, 0x0"],
            false => ["0x80, 0x8", "0xf2, 0x2f", "0x8, 0x80"],
        }
    }

    /// Starts a loop over lanes: all are waiting.
    pub(super) fn all_wait(&mut self) -> Lanes {
        let lanes = Lanes { waiting: self.frame.scratch_predicate(), others: self.frame.scratch_predicate() };
        self.all_wait_again(lanes);
        lanes
    }

    /// The same, for another loop of the sequence.
    pub(super) fn all_wait_again(&mut self, lanes: Lanes) {
        let [always, ..] = self.tables();
        self.line(format!("PLOP3.LUT P{}, PT, PT, PT, PT, {always}", lanes.waiting));
    }

    /// Head of a loop from sm_90 on: lanes whose registers hold what those of the first waiting lane hold
    /// have their turn; `also` are carried out for all that wait. Gives the loop's label.
    pub(super) fn take_equals(
        &mut self,
        lanes: Lanes,
        registers: &[(String, u16)],
        also: &[String],
    ) -> String {
        let Lanes { waiting, others } = lanes;
        let [always, not_waiting, _] = self.tables();
        let label = self.frame.label();
        self.label(&label);
        for (at, (uniform, register)) in registers.iter().enumerate() {
            let or = if at == 0 { "" } else { ".OR" };
            self.line(format!("PLOP3.LUT P{others}, PT, P{others}, P{waiting}, PT, {not_waiting}"));
            self.line(format!("@P{waiting} R2UR{or} P{others}, {uniform}, R{register}"));
        }
        also.iter().for_each(|line| self.line(format!("@P{waiting} {line}")));
        self.line(format!("@P{waiting} PLOP3.LUT P{waiting}, PT, P{others}, PT, PT, {always}"));
        label
    }

    /// Foot of that loop.
    pub(super) fn next_equals(&mut self, lanes: Lanes, label: &str) {
        self.line(format!("@P{} BRA.U.ANY `({label})", lanes.waiting));
    }

    /// A loop in which one lane after the other has its turn, from sm_90 on: `head` for that lane, `body` once.
    pub(super) fn one_by_one(&mut self, lanes: Lanes, head: &[String], body: &str) {
        let Lanes { waiting, others: turn } = lanes;
        let [.., done] = self.tables();
        let label = self.frame.label();
        self.label(&label);
        self.line(format!("@P{waiting} ELECT P{turn}, URZ, PT"));
        head.iter().for_each(|line| self.line(format!("@P{turn} {line}")));
        self.line(format!("@P{turn} PLOP3.LUT P{waiting}, PT, P{turn}, PT, PT, {done}"));
        self.line(format!("PLOP3.LUT P{turn}, PT, PT, PT, PT, {done}"));
        self.line(body);
        self.next_equals(lanes, &label);
    }
}

impl Place {
    /// As loads, stores and most atomics name it: `[R2+0x4]`.
    pub(super) fn plain(self) -> String {
        match (self.base, self.offset) {
            (Base::Nothing, 0) => "[RZ]".into(),
            (Base::Nothing, offset) => format!("[{}]", hex(offset)),
            (base, offset) => format!("[{}{}]", base.name(""), plus(offset)),
        }
    }

    /// As instructions name it that always have a uniform register: `[R2+URZ+0x8]`.
    pub(super) fn with_uniform(self) -> String {
        let base = match self.base {
            Base::Register(_) | Base::Pair(_) => format!("{}+URZ", self.base.name(".64")),
            Base::Uniform(_) => self.base.name(""),
            Base::Nothing => "URZ".into(),
        };
        format!("[{base}{}]", plus(self.offset))
    }

    /// What stands beside the start.
    pub(super) fn offset(self) -> i32 {
        self.offset
    }

    /// So many bytes further on.
    pub(super) fn plus(self, bytes: i32) -> Place {
        Place { offset: self.offset.wrapping_add(bytes), ..self }
    }

    /// The same from another start.
    pub(super) fn based(self, base: Base) -> Place {
        Place { base, ..self }
    }
}

impl Base {
    fn name(self, pair: &str) -> String {
        match self {
            Base::Register(register) => format!("R{register}"),
            Base::Pair(register) => format!("R{register}{pair}"),
            Base::Uniform(uniform) => format!("UR{uniform}"),
            Base::Nothing => "RZ".into(),
        }
    }
}
