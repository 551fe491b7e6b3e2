//! Translation of PTX compute instructions.

use super::unit::{FunctionUnit, Output, imm, word};
use super::{Fail, Mods};
use crate::kernel::compute::{
    BoolOp, ComparePart, ComputeOp, FloatCompare, FloatOp, IntOp, MinMax, MinMaxOf, ProductPart,
};
use crate::kernel::number::{ByteFloat, DotPieces, FloatMode, FloatType, PermuteMode, Rounding};
use crate::kernel::register::{Pred, PredSource};
use crate::ptx::{Operand, PtxInstruction, Type};

impl<'t> FunctionUnit<'_, 't> {
    pub(super) fn arithmetic(&mut self, i: &PtxInstruction<'t>) -> Result<bool, Fail> {
        let m = &mut Mods::new(i);
        match i.opcode {
            "add" | "sub" | "addc" | "subc" => self.sum(m)?,
            "mul" | "mad" | "madc" | "fma" => self.product(m)?,
            "mul24" | "mad24" => {
                let part = part(m).ok_or(Fail::Unsupported)?;
                let saturate = m.take("sat");
                let ty = m.ty()?;
                let (op, count) =
                    if i.opcode == "mul24" { (IntOp::Mul24(part), 2) } else { (IntOp::Mad24(part), 3) };
                self.typed(m, ComputeOp::Int { op, ty, saturate, relu: false }, &[ty; 3][..count])?;
            }
            "div" | "min" | "max" | "abs" | "neg" | "rem" | "sad" => self.either(m)?,
            "rcp" => self.float(m, FloatOp::Rcp, 1)?,
            "sqrt" => self.float(m, FloatOp::Sqrt, 1)?,
            "rsqrt" => self.float(m, FloatOp::Rsqrt, 1)?,
            "sin" => self.float(m, FloatOp::Sin, 1)?,
            "cos" => self.float(m, FloatOp::Cos, 1)?,
            "lg2" => self.float(m, FloatOp::Lg2, 1)?,
            "ex2" => self.float(m, FloatOp::Ex2, 1)?,
            "tanh" => self.float(m, FloatOp::Tanh, 1)?,
            "copysign" => {
                let ty = m.ty()?;
                let float = ty.as_float().ok_or(Fail::Unsupported)?;
                self.typed(m, ComputeOp::float(FloatOp::CopySign, float, FloatMode::PLAIN), &[ty, ty])?;
            }
            "testp" => {
                let test = m.next_as()?;
                let ty = m.ty()?;
                let float = ty.as_float().ok_or(Fail::Unsupported)?;
                self.typed(m, ComputeOp::Test { test, ty: float }, &[ty])?;
            }
            "and" => self.bitwise(m, 0b1100_0000, 2)?,
            "or" => self.bitwise(m, 0b1111_1100, 2)?,
            "xor" => self.bitwise(m, 0b0011_1100, 2)?,
            "not" => self.bitwise(m, 0b0000_1111, 1)?,
            "cnot" => self.int(m, IntOp::Cnot, &[])?,
            "popc" => self.int(m, IntOp::Popc, &[])?,
            "clz" => self.int(m, IntOp::Clz, &[])?,
            "brev" => self.int(m, IntOp::Brev, &[])?,
            "bfind" => {
                let shift_amount = m.take("shiftamt");
                self.int(m, IntOp::Bfind { shift_amount }, &[])?;
            }
            "bfe" => self.int(m, IntOp::Bfe, &[Type::U32, Type::U32])?,
            "bfi" => {
                let ty = m.ty()?;
                self.int_of(m, IntOp::Bfi, ty, &[ty, ty, Type::U32, Type::U32])?;
            }
            "shl" => self.int(m, IntOp::Shl, &[Type::U32])?,
            "shr" => self.int(m, IntOp::Shr, &[Type::U32])?,
            "shf" => {
                let left = m.either(["l", "r"])?;
                let wrap = m.either(["wrap", "clamp"])?;
                let ty = m.ty()?;
                let op = ComputeOp::Funnel { left, ty: Type::U32, high: left, wrap };
                self.typed(m, op, &[ty; 3])?;
            }
            "fns" => {
                let ty = m.ty()?;
                self.typed(m, ComputeOp::FindNth, &[ty, Type::U32, Type::S32])?;
            }
            "bmsk" | "szext" => {
                let wrap = m.either(["wrap", "clamp"])?;
                let ty = m.ty()?;
                let op = match i.opcode {
                    "bmsk" => ComputeOp::Mask { wrap },
                    _ => ComputeOp::Extend { signed: ty == Type::S32, wrap },
                };
                self.typed(m, op, &[ty, Type::U32])?;
            }
            "dp4a" | "dp2a" => {
                let high = i.opcode == "dp2a" && !m.either(["lo", "hi"])?;
                let (a, b) = (m.ty()?, m.ty()?);
                let signed = [a == Type::S32, b == Type::S32];
                let pieces = match (i.opcode, high) {
                    ("dp4a", _) => DotPieces::Bytes,
                    (_, false) => DotPieces::HalvesLow,
                    (_, true) => DotPieces::HalvesHigh,
                };
                self.typed(m, ComputeOp::Dot { pieces, signed }, &[a, b, Type::U32])?;
            }
            "vabsdiff2" | "vabsdiff4" => {
                let (to, a, b) = (m.ty()?, m.ty()?, m.ty()?);
                let parts = match (i.opcode, a) {
                    ("vabsdiff2", Type::U32) => Type::U16x2,
                    ("vabsdiff2", Type::S32) => Type::S16x2,
                    (_, Type::U32) => Type::U8x4,
                    (_, Type::S32) => Type::S8x4,
                    _ => return Err(Fail::Unsupported),
                };
                if a != b || !matches!(to, Type::U32 | Type::S32) {
                    return Err(Fail::Unsupported);
                }
                let op = if m.take("add") { IntOp::SadParts } else { IntOp::AbsDiff };
                self.typed(m, ComputeOp::int(op, parts), &[Type::U32; 3])?;
            }
            "prmt" => {
                let ty = m.ty()?;
                let mode = if m.done().is_ok() { PermuteMode::Index } else { m.next_as()? };
                self.typed(m, ComputeOp::Permute(mode), &[ty, ty, Type::U32])?;
            }
            "lop3" => self.lop3(m)?,
            "selp" => {
                let ty = m.ty()?;
                self.typed(m, ComputeOp::Select { ty: Type::B64, flush: false }, &[ty, ty, Type::Pred])?;
            }
            "slct" => {
                let flush = m.take("ftz");
                let (ty, by) = (m.ty()?, m.ty()?);
                self.typed(m, ComputeOp::SelectBySign { ty: by, flush }, &[ty, ty, by])?;
            }
            "setp" | "set" => self.compare(m)?,
            "cvt" => self.convert(m)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn typed(&mut self, m: &Mods<'_, 't>, op: ComputeOp, types: &[Type]) -> Result<(), Fail> {
        self.with_pred(m, op, types, PredSource::FALSE, None)
    }

    /// Emits `op` with operands of the given types, one of which is a predicate, and with a predicate result.
    fn with_pred(
        &mut self,
        m: &Mods<'_, 't>,
        op: ComputeOp,
        types: &[Type],
        mut p: PredSource,
        pred_dst: Option<Pred>,
    ) -> Result<(), Fail> {
        m.done()?;
        let known = match op {
            ComputeOp::Int { ty, .. } => ty != Type::Pred && !ty.float(),
            _ => true,
        };
        if !known || types.contains(&Type::B128) {
            return Err(Fail::Unsupported);
        }
        if let Some(part) = types.iter().find_map(|ty| ty.integer_part()) {
            let ComputeOp::Int { op, saturate, .. } = op else { return Err(Fail::Unsupported) };
            let bytes = part.bits() == 8;
            match (op, saturate) {
                (IntOp::Add, _) | (IntOp::MinMax, false) => {}
                (IntOp::Sub, _) if bytes => {}
                (IntOp::Neg, false) if part == Type::S8 => {}
                _ => return Err(Fail::Unsupported),
            }
            // `ptxas` requires the targets sm_120a or sm_107a, or their families (`sm_120f`). Here the
            // architecture number is enough.
            let first = if bytes || saturate { 120 } else { 90 };
            if self.arch.number() < first && !(first == 120 && self.arch.number() == 107) {
                return Err(Fail::since(&m.name(), first));
            }
        }
        let (dst, second) = self.outputs(m.operand(0)?)?;
        let test = matches!(op, ComputeOp::Test { .. });
        if !test {
            dst.value()?;
        }
        let mut sources = [imm(0); 4];
        for (at, (source, ty)) in sources.iter_mut().zip(types).enumerate() {
            let operand = m.operand(at + 1)?;
            match ty {
                Type::Pred => p = self.pred_source(operand)?,
                ty => *source = self.input(operand, *ty)?,
            }
        }
        if m.instruction.operands.len() > types.len() + 1 {
            let message = format!("too many operands: {}", m.instruction.operands.len());
            return Err(Fail::wrong(message, format!("{} has {} operands", m.name(), types.len() + 1)));
        }
        if matches!(op, ComputeOp::Permute(_) | ComputeOp::Funnel { .. }) {
            // In the machine operand order, the selector or the shift amount is the second operand.
            sources.swap(1, 2);
        }
        let first = if test { dst.pred() } else { pred_dst.unwrap_or(second) };
        self.compute_with(op, dst, [first, Pred::PT], &sources, p);
        Ok(())
    }

    /// Emits an integer operation. The first operand has the type of the instruction, the next ones have the
    /// types `others`.
    fn int(&mut self, m: &mut Mods<'_, 't>, op: IntOp, others: &[Type]) -> Result<(), Fail> {
        let ty = m.ty()?;
        let types = [&[ty], others].concat();
        self.int_of(m, op, ty, &types)
    }

    fn int_of(&mut self, m: &Mods<'_, 't>, op: IntOp, ty: Type, types: &[Type]) -> Result<(), Fail> {
        if ty.float() || ty == Type::Pred || ty.bits() > 64 {
            return Err(Fail::Unsupported);
        }
        self.typed(m, ComputeOp::int(op, ty), types)
    }

    fn bitwise(&mut self, m: &mut Mods<'_, 't>, table: u8, count: usize) -> Result<(), Fail> {
        let ty = m.ty()?;
        if ty != Type::Pred {
            return self.typed(m, ComputeOp::Lop3 { table, ty, combine: BoolOp::And }, &[ty; 2][..count]);
        }
        m.done()?;
        let dst = self.pred_output(m.operand(0)?)?;
        let a = self.pred_source(m.operand(1)?)?;
        let b = if count > 1 { self.pred_source(m.operand(2)?)? } else { PredSource::FALSE };
        self.pred_logic(table, dst, [a, b]);
        Ok(())
    }

    fn float(&mut self, m: &mut Mods<'_, 't>, op: FloatOp, operands: usize) -> Result<(), Fail> {
        let round = m.known();
        let mode = mode(m, round);
        m.take_any(&["approx", "full"]);
        m.drop_hints();
        let ty = if m.take("f32x2") { Type::F32x2 } else { m.ty()? };
        let float = ty.as_float().ok_or(Fail::Unsupported)?;
        if ty == Type::F32x2 {
            let known = matches!(op, FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Fma);
            if !known || m.instruction.opcode == "mad" || mode.saturate || mode.relu {
                return Err(Fail::Unsupported);
            }
            self.since(m, 100)?;
        }
        let p = if m.instruction.opcode == "min" { PredSource::TRUE } else { PredSource::FALSE };
        self.with_pred(m, ComputeOp::float(op, float, mode), &[ty; 3][..operands], p, None)
    }

    fn since(&self, m: &Mods<'_, 't>, number: u16) -> Result<(), Fail> {
        if self.arch.number() < number { Err(Fail::since(&m.name(), number)) } else { Ok(()) }
    }

    fn sum(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let subtract = m.instruction.opcode.starts_with("sub");
        let (takes, gives) = (m.instruction.opcode.ends_with('c'), m.take("cc"));
        if names_float(m.instruction) {
            let op = if subtract { FloatOp::Sub } else { FloatOp::Add };
            return self.float(m, op, 2);
        }
        let saturate = m.take("sat");
        let ty = m.ty()?;
        if !takes && !gives {
            let op = if subtract { IntOp::Sub } else { IntOp::Add };
            return self.typed(m, ComputeOp::Int { op, ty, saturate, relu: false }, &[ty, ty]);
        }
        let op = if subtract { IntOp::SubBorrow } else { IntOp::Add3 };
        self.with_carry(m, ComputeOp::int(op, ty), &[ty, ty], [takes, gives])
    }

    fn with_carry(
        &mut self,
        m: &Mods<'_, 't>,
        op: ComputeOp,
        types: &[Type],
        [takes, gives]: [bool; 2],
    ) -> Result<(), Fail> {
        let pred = Pred::Thread(self.carry());
        let carry_in = if takes { PredSource { pred, negate: false } } else { PredSource::FALSE };
        self.with_pred(m, op, types, carry_in, gives.then_some(pred))
    }

    fn product(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let adds = m.instruction.opcode != "mul";
        let count = if adds { 3 } else { 2 };
        if m.instruction.opcode == "fma" || names_float(m.instruction) {
            let op = if adds { FloatOp::Fma } else { FloatOp::Mul };
            return self.float(m, op, count);
        }
        let part = part(m).ok_or(Fail::Unsupported)?;
        let (saturate, gives) = (m.take("sat"), m.take("cc"));
        let ty = m.ty()?;
        let wide = match (part, ty) {
            (ProductPart::Wide, Type::U16) => Type::U32,
            (ProductPart::Wide, Type::S16) => Type::S32,
            (ProductPart::Wide, Type::U32) => Type::U64,
            (ProductPart::Wide, Type::S32) => Type::S64,
            (ProductPart::Wide, _) => return Err(Fail::Unsupported),
            _ => ty,
        };
        let op = if adds { IntOp::Mad(part) } else { IntOp::Mul(part) };
        let types = [ty, ty, wide];
        if m.instruction.opcode == "madc" || gives {
            return self.with_carry(
                m,
                ComputeOp::int(op, ty),
                &types,
                [m.instruction.opcode == "madc", gives],
            );
        }
        self.typed(m, ComputeOp::Int { op, ty, saturate, relu: false }, &types[..count])
    }

    fn either(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let (nan, absolute, xor_sign) = (m.take("NaN"), m.take("abs"), m.take("xorsign"));
        let three = m.instruction.operands.len() == 4;
        if names_float(m.instruction) {
            let (op, operands) = match m.instruction.opcode {
                "div" => (FloatOp::Div, 2),
                "min" | "max" if three && m.has("f32") && !xor_sign => {
                    self.since(m, 100)?;
                    let of = if absolute { MinMaxOf::ThreeMagnitudes } else { MinMaxOf::Three };
                    (FloatOp::MinMax(MinMax { nan, of }), 3)
                }
                "min" | "max" if absolute != xor_sign => {
                    let message = "with two operands, `.abs` and `.xorsign` must be used together";
                    return Err(Fail::wrong(message, "write .xorsign.abs, or neither"));
                }
                "min" | "max" => {
                    if xor_sign {
                        self.since(m, 86)?;
                    }
                    let of = if absolute { MinMaxOf::TwoMagnitudes } else { MinMaxOf::Two };
                    (FloatOp::MinMax(MinMax { nan, of }), 2)
                }
                "abs" => (FloatOp::Abs, 1),
                "neg" => (FloatOp::Neg, 1),
                _ => return Err(Fail::Unsupported),
            };
            return self.float(m, op, operands);
        }
        if nan || absolute || xor_sign {
            return Err(Fail::Unsupported);
        }
        let (saturate, relu) = (m.take("sat"), m.take("relu"));
        let ty = m.ty()?;
        let (op, operands) = match m.instruction.opcode {
            "div" => (IntOp::Div, 2),
            "rem" => (IntOp::Rem, 2),
            "min" | "max" => (IntOp::MinMax, 2),
            "sad" => (IntOp::Sad, 3),
            "abs" => (IntOp::Abs, 1),
            _ => (IntOp::Neg, 1),
        };
        let p = if m.instruction.opcode == "min" { PredSource::TRUE } else { PredSource::FALSE };
        let computed = ComputeOp::Int { op, ty, saturate, relu: false };
        if relu {
            if op != IntOp::MinMax || !matches!(ty, Type::S32 | Type::S16x2 | Type::S8x4) {
                return Err(Fail::Unsupported);
            }
            if ty == Type::S32 {
                self.since(m, 90)?;
            }
        }
        self.with_pred(m, computed, &[ty; 3][..operands], p, None)?;
        if relu {
            let (dst, _) = self.outputs(m.operand(0)?)?;
            let Output::Word(reg) = dst else { return Err(Fail::Unsupported) };
            self.compute(computed, dst, &[word(reg), imm(0)]);
        }
        Ok(())
    }

    fn lop3(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let combine = match m.take_any(&["or", "and"]) {
            Some("or") => BoolOp::Or,
            _ => BoolOp::And,
        };
        let ty = m.ty()?;
        m.done()?;
        let (dst, second) = self.outputs(m.operand(0)?)?;
        let mut sources = [imm(0); 3];
        for (at, source) in sources.iter_mut().enumerate() {
            *source = self.input(m.operand(at + 1)?, ty)?;
        }
        let Operand::Integer(table) = m.operand(4)? else {
            return Err(Fail::wrong("the look-up table is not a number", "write a number from 0 to 255"));
        };
        let p = m.instruction.operands.get(5).map_or(Ok(PredSource::FALSE), |with| self.pred_source(with))?;
        let op = ComputeOp::Lop3 { table: *table as u8, ty: Type::B32, combine };
        self.compute_with(op, dst, [second, Pred::PT], &sources, p);
        Ok(())
    }

    fn compare(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        // Names with capitals, such as `T` (always true), exist only in machine code.
        let compare = m.next().filter(|name| name.len() > 1 && *name == name.to_ascii_lowercase());
        let compare = match compare.unwrap_or("") {
            "lo" => "lt",
            "ls" => "le",
            "hi" => "gt",
            "hs" => "ge",
            other => other,
        };
        let compare: FloatCompare = compare.parse().map_err(|_| Fail::Unsupported)?;
        let combine = m.known().unwrap_or(BoolOp::And);
        let flush = m.take("ftz");
        let first = m.ty()?;
        let (result, ty) = match m.instruction.opcode {
            "set" => (Some(first), m.ty()?),
            _ => (None, first),
        };
        m.done()?;
        if matches!(ty, Type::B128 | Type::Pred) {
            return Err(Fail::Unsupported);
        }
        let unsigned = matches!(m.instruction.modifiers.first().copied(), Some("lo" | "ls" | "hi" | "hs"));
        let ty = match ty {
            Type::S16 if unsigned => Type::U16,
            Type::S32 if unsigned => Type::U32,
            Type::S64 if unsigned => Type::U64,
            other => other,
        };
        let (dst, second) = self.outputs(m.operand(0)?)?;
        let a = self.input(m.operand(1)?, ty)?;
        let b = self.input(m.operand(2)?, ty)?;
        // Without a third source operand, the comparison is not combined with a predicate.
        let (p, combine) = match m.instruction.operands.get(3) {
            Some(with) => (self.pred_source(with)?, combine),
            None => (PredSource::TRUE, BoolOp::And),
        };
        let op = ComputeOp::Compare { compare, ty, combine, flush, result, part: ComparePart::Whole };
        self.compute_with(op, dst, [dst.pred(), second], &[a, b], p);
        Ok(())
    }

    /// Translates `cvt.pack.sat.u8.s32.b32`. The types `.u16` and `.s16` have no third source operand.
    fn pack_integers(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let op = m.next().filter(|name| *name == "sat").and_then(|_| m.next()).and_then(ComputeOp::pack_int);
        let Some(op @ ComputeOp::PackInt { bits, .. }) = op else { return Err(Fail::Unsupported) };
        let with_third = bits < 16;
        if m.next() != Some("s32") || m.next() != with_third.then_some("b32") {
            return Err(Fail::Unsupported);
        }
        self.since(m, if bits < 8 { 75 } else { 72 })?;
        self.typed(m, op, &[Type::S32, Type::S32, Type::B32][..if with_third { 3 } else { 2 }])
    }

    /// Translates `cvt.rn.satfinite.e4m3x2.f32 d, a, b`, `cvt.rn.satfinite.e4m3x2.f16x2 d, a` and
    /// `cvt.rn.f16x2.e4m3x2 d, a`.
    fn convert_bytes(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let format = |name: &str| name.strip_suffix("x2").and_then(|name| name.parse::<ByteFloat>().ok());
        if !m.take("rn") {
            return Err(Fail::Unsupported);
        }
        let (finite, relu) = (m.take("satfinite"), m.take("relu"));
        let (to, from) = (m.next().unwrap_or(""), m.next().unwrap_or(""));
        self.since(m, 89)?;
        match (format(to), format(from), Type::from_name(from)) {
            (Some(to), None, Some(Type::F32)) if finite => {
                let op = ComputeOp::PackBytes { to, from: FloatType::F32, relu };
                self.typed(m, op, &[Type::F32; 2])
            }
            (Some(to), None, Some(Type::F16x2)) if finite => {
                let op = ComputeOp::PackBytes { to, from: FloatType::F16x2, relu };
                self.typed(m, op, &[Type::F16x2])
            }
            (None, Some(from), None) if !finite && to == "f16x2" => {
                self.typed(m, ComputeOp::UnpackBytes { from, relu }, &[Type::B16])
            }
            _ => Err(Fail::Unsupported),
        }
    }

    fn convert(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        if m.take("pack") {
            return self.pack_integers(m);
        }
        if m.has("e4m3x2") || m.has("e5m2x2") {
            return self.convert_bytes(m);
        }
        let integral = m.take_any(&["rni", "rzi", "rmi", "rpi"]);
        let round = match integral {
            Some("rzi") => Some(Rounding::Zero),
            Some("rmi") => Some(Rounding::Down),
            Some("rpi") => Some(Rounding::Up),
            Some(_) => Some(Rounding::Nearest),
            None => m.known(),
        };
        let mode = mode(m, round);
        let (to, from) = (m.ty()?, m.ty()?);
        if let (Some(half), Type::F32) = (to.as_float().and_then(FloatType::half), from) {
            let mode = FloatMode { flush: false, saturate: false, ..mode };
            return self.typed(m, ComputeOp::Pack { half, mode }, &[from, from]);
        }
        let packed = |ty: Type| matches!(ty, Type::F16x2 | Type::Bf16x2 | Type::Pred | Type::B128);
        if packed(to) || packed(from) {
            return Err(Fail::Unsupported);
        }
        // Source: [PTX] cvt, result of a conversion of NaN to an integer.
        let nan_to_zero = from != Type::F64 && to.bits() < 64;
        let op = ComputeOp::Convert { from, to, mode, integral: integral.is_some(), nan_to_zero };
        self.typed(m, op, &[from])
    }

    /// Extends the loaded value to the full width of the register, if the register is wider than the access.
    pub(super) fn widen(&mut self, ty: Type, reg: crate::kernel::register::Reg) {
        let (from, to) = match ty {
            Type::S8 | Type::S16 | Type::S32 => (Type::S32, Type::S64),
            _ => (Type::U32, Type::U64),
        };
        let (mode, integral, nan_to_zero) = (FloatMode::PLAIN, false, false);
        let op = ComputeOp::Convert { from, to, mode, integral, nan_to_zero };
        self.compute(op, Output::Pair(reg), &[word(reg)]);
    }
}

fn names_float(i: &PtxInstruction<'_>) -> bool {
    let float = |name: &str| name == "f32x2" || Type::from_name(name).is_some_and(Type::float);
    i.modifiers.iter().any(|name| float(name))
}

fn mode(m: &mut Mods<'_, '_>, round: Option<Rounding>) -> FloatMode {
    let round = round.unwrap_or(Rounding::Nearest);
    FloatMode { round, flush: m.take("ftz"), saturate: m.take("sat"), relu: m.take("relu") }
}

fn part(m: &mut Mods<'_, '_>) -> Option<ProductPart> {
    Some(match m.take_any(&["lo", "hi", "wide"])? {
        "lo" => ProductPart::Low,
        "hi" => ProductPart::High,
        _ => ProductPart::Wide,
    })
}
