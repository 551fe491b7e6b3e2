//! Translation of moves, and of instructions that convert addresses.

use super::special::{Special, special};
use super::unit::{FunctionUnit, Home, Output, imm, pair, word};
use super::{Fail, Mods};
use crate::kernel::compute::{ComputeOp, Path, Window};
use crate::kernel::instruction::Operation;
use crate::kernel::memory::{ConstAccess, Grain};
use crate::kernel::register::Reg;
use crate::kernel::source::{ConstAddress, ConstIndex};
use crate::kernel::special::SpecialRegister;
use crate::ptx::{Operand, PtxInstruction, Type};

impl<'t> FunctionUnit<'_, 't> {
    pub(super) fn moves(&mut self, i: &PtxInstruction<'t>) -> Result<bool, Fail> {
        let m = &mut Mods::new(i);
        match i.opcode {
            "mov" => {
                let ty = m.ty()?;
                m.done()?;
                self.mov(ty, m.operand(0)?, m.operand(1)?)?;
            }
            "cvta" => {
                let to = m.take("to");
                let window = window(m).ok_or(Fail::Unsupported)?;
                let ty = m.ty()?;
                m.done()?;
                let dst = self.value_output(m.operand(0)?)?;
                let a = self.input(m.operand(1)?, ty)?;
                let op = match window {
                    Window::Global | Window::Const => ComputeOp::Move,
                    _ if to => ComputeOp::Extract { shift: 0, bits: 32 },
                    _ => ComputeOp::ToGeneric(window),
                };
                self.compute(op, dst, &[a]);
            }
            "isspacep" => {
                let window = window(m).ok_or(Fail::Unsupported)?;
                m.done()?;
                let dst = self.pred_output(m.operand(0)?)?;
                let a = self.input(m.operand(1)?, Type::U64)?;
                let rank = match (window, self.arch.number()) {
                    (Window::SharedCta, 90..) => word(self.special(SpecialRegister::CgaCtaId)),
                    _ => imm(0),
                };
                self.compute_pred(ComputeOp::InWindow(window), dst, &[a, rank]);
            }
            "mapa" | "getctarank" => {
                m.take("shared::cluster");
                let ty = m.ty()?;
                m.done()?;
                let dst = self.value_output(m.operand(0)?)?;
                let a = self.input(m.operand(1)?, ty)?;
                if i.opcode == "getctarank" {
                    self.compute(ComputeOp::RankOf, dst, &[a]);
                } else {
                    let rank = self.input(m.operand(2)?, Type::U32)?;
                    self.compute(ComputeOp::MapRank, dst, &[a, rank]);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn mov(&mut self, ty: Type, to: &Operand<'t>, from: &Operand<'t>) -> Result<(), Fail> {
        match (to, from) {
            (Operand::Vector(parts), _) => self.unpack(ty, parts, from),
            (_, Operand::Vector(parts)) => self.pack(ty, to, parts),
            _ if ty == Type::B128 => {
                let (Operand::Register(to), Operand::Register(from)) = (to, from) else {
                    return Err(Fail::wrong(
                        "the 128-bit operand is not a register",
                        "write mov.b128 %q1, %q2;",
                    ));
                };
                let (to, from) = (self.reg(*to)?.0, self.reg(*from)?.0);
                for half in [0, 2] {
                    self.move_to(Output::Pair(to.plus(half)), pair(from.plus(half)));
                }
                Ok(())
            }
            _ if ty == Type::Pred => {
                let (dst, a) = (self.pred_output(to)?, self.pred_source(from)?);
                self.pred_logic(0b1111_0000, dst, [a; 2]);
                Ok(())
            }
            (_, Operand::Special(name)) => {
                let dst = self.value_output(to)?;
                match (special(name, self.arch), dst) {
                    (Some(Special::Register(register)), Output::Word(reg)) => self.special_to(reg, register),
                    (Some(Special::Pair(low, high)), Output::Pair(reg)) => {
                        self.special_to(reg, low);
                        self.special_to(reg.plus(1), high);
                    }
                    (Some(Special::Constant(offset)), Output::Word(reg)) => self.constant(reg, offset),
                    _ => return self.plain_move(ty, to, from),
                }
                Ok(())
            }
            (_, Operand::Symbol { symbol, offset }) => {
                let dst = self.value_output(to)?;
                if let Home::Shared(at) = self.home(*symbol)?
                    && let Some(base) = self.shared_base()
                {
                    let at = i64::from(at).wrapping_add(*offset) as u32;
                    self.add32(dst, word(base), at.into());
                    return Ok(());
                }
                self.plain_move(ty, to, from)
            }
            _ => self.plain_move(ty, to, from),
        }
    }

    fn plain_move(&mut self, ty: Type, to: &Operand<'t>, from: &Operand<'t>) -> Result<(), Fail> {
        let dst = self.value_output(to)?;
        let input = self.input(from, ty)?;
        self.move_to(dst, input);
        Ok(())
    }

    /// Translates a move to several registers: `mov.b64 {%r1, %r2}, %rd1`.
    fn unpack(&mut self, ty: Type, parts: &[Operand<'t>], from: &Operand<'t>) -> Result<(), Fail> {
        let bits = part_bits(ty, parts.len())?;
        let low = match from {
            Operand::Register(id) if ty == Type::B128 => {
                let reg = self.reg(*id)?.0;
                for (part, half) in parts.iter().zip([0, 2]) {
                    let dst = self.value_output(part)?;
                    self.move_to(dst, pair(reg.plus(half)));
                }
                return Ok(());
            }
            _ => self.input(from, ty)?,
        };
        for (at, part) in parts.iter().enumerate() {
            let dst = self.value_output(part)?;
            if dst != Output::None {
                let shift = (at as u32 * bits) as u8;
                self.compute(ComputeOp::Extract { shift, bits: bits as u8 }, dst, &[low]);
            }
        }
        Ok(())
    }

    /// Translates a move from several registers: `mov.b64 %rd1, {%r1, %r2}`.
    fn pack(&mut self, ty: Type, to: &Operand<'t>, parts: &[Operand<'t>]) -> Result<(), Fail> {
        let bits = part_bits(ty, parts.len())?;
        if ty == Type::B128 {
            let to = self.output_reg(to)?;
            for (part, half) in parts.iter().zip([0, 2]) {
                let input = self.input(part, Type::B64)?;
                self.move_to(Output::Pair(to.plus(half)), input);
            }
            return Ok(());
        }
        let dst = self.value_output(to)?;
        let mut inputs = Vec::new();
        for part in parts {
            inputs.push(self.input(part, ty)?);
        }
        self.compute(ComputeOp::Concat { bits: bits as u8 }, dst, &inputs);
        Ok(())
    }

    pub(super) fn constant(&mut self, dst: Reg, offset: u32) {
        let address = ConstAddress { bank: 0, index: ConstIndex::None, offset };
        let (path, grain) = (Path::Vector, Grain::Words(1));
        self.emit(Operation::Const(ConstAccess { path, dst: dst.0, grain, address }));
    }
}

fn part_bits(ty: Type, parts: usize) -> Result<u32, Fail> {
    match (ty, parts) {
        (Type::B128, 2) => Ok(64),
        (_, 2 | 4) if ty.bits() <= 64 && ty.bits() / parts as u32 >= 8 => Ok(ty.bits() / parts as u32),
        _ => Err(Fail::wrong(
            format!("{} bits cannot be split into {parts} parts", ty.bits()),
            "a register is split into two or four parts of at least 8 bits",
        )),
    }
}

fn window(m: &mut Mods<'_, '_>) -> Option<Window> {
    let names =
        ["shared", "shared::cta", "shared::cluster", "global", "const", "local", "param", "param::entry"];
    Some(match m.take_any(&names)? {
        "shared" | "shared::cta" => Window::SharedCta,
        "shared::cluster" => Window::SharedCluster,
        "global" => Window::Global,
        "const" => Window::Const,
        "local" => Window::Local,
        _ => Window::Param,
    })
}
