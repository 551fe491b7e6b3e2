//! Instructions that compute.

use super::unit::{Unit, operand};
use super::{Fail, Mods};
use crate::kernel::alu::{BoolOp, Compare, FloatCompare};
use crate::kernel::compute::{
    BitOp, ComputeInput, ComputeOp, ComputeOutput, FloatOp, FloatTest, IntOp, MinMax, Part,
};
use crate::kernel::number::{PermuteMode, Rounding};
use crate::ptx::{Operand, PtxInstruction, Type};

const fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64)
}

/// Which operands an instruction has after its result, and of which type each is.
type Types<'a> = &'a [Type];

impl<'t> Unit<'_, 't> {
    /// Translates an instruction that computes; `false` if it is none.
    pub(super) fn arithmetic(&mut self, i: &PtxInstruction<'t>) -> Result<bool, Fail> {
        let mut mods = Mods::new(i);
        let m = &mut mods;
        match i.opcode {
            "add" | "sub" | "addc" | "subc" => self.sum(i, m)?,
            "mul" | "mad" | "madc" | "fma" => self.product(i, m)?,
            "mul24" | "mad24" => {
                let part = part(m).ok_or(Fail::Lacking)?;
                let saturate = m.take("sat");
                let ty = m.ty()?;
                let op = if i.opcode == "mul24" { IntOp::Mul24(part) } else { IntOp::Mad24(part) };
                let all = [ty; 3];
                let count = if i.opcode == "mul24" { 2 } else { 3 };
                self.typed(i, m, ComputeOp::Int { op, ty, saturate }, all.get(..count).unwrap_or(&all))?;
            }
            "div" | "min" | "max" | "abs" | "neg" | "rem" | "sad" => self.either(i, m)?,
            "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => {
                let op = match i.opcode {
                    "rcp" => FloatOp::Rcp,
                    "sqrt" => FloatOp::Sqrt,
                    "rsqrt" => FloatOp::Rsqrt,
                    "sin" => FloatOp::Sin,
                    "cos" => FloatOp::Cos,
                    "lg2" => FloatOp::Lg2,
                    "ex2" => FloatOp::Ex2,
                    _ => FloatOp::Tanh,
                };
                self.float(i, m, op, 1)?;
            }
            "copysign" => {
                let ty = m.ty()?;
                self.typed(i, m, plain_float(FloatOp::CopySign, ty), &[ty, ty])?;
            }
            "testp" => {
                let test = match m.next() {
                    Some("finite") => FloatTest::Finite,
                    Some("infinite") => FloatTest::Infinite,
                    Some("normal") => FloatTest::Normal,
                    Some("number") => FloatTest::Number,
                    Some("notanumber") => FloatTest::NotANumber,
                    Some("subnormal") => FloatTest::Subnormal,
                    _ => return Err(Fail::Lacking),
                };
                let ty = m.ty()?;
                self.typed(i, m, ComputeOp::Test { test, ty }, &[ty])?;
            }
            "and" | "or" | "xor" | "not" | "cnot" => {
                let (op, count) = match i.opcode {
                    "and" => (BitOp::And, 2),
                    "or" => (BitOp::Or, 2),
                    "xor" => (BitOp::Xor, 2),
                    "not" => (BitOp::Not, 1),
                    _ => (BitOp::Cnot, 1),
                };
                let ty = m.ty()?;
                let all = [ty; 2];
                self.typed(i, m, ComputeOp::Bits { op, ty }, all.get(..count).unwrap_or(&all))?;
            }
            "popc" | "clz" | "brev" => {
                let ty = m.ty()?;
                let op = match i.opcode {
                    "popc" => IntOp::Popc,
                    "clz" => IntOp::Clz,
                    _ => IntOp::Brev,
                };
                self.int(i, m, op, ty, &[ty])?;
            }
            "bfind" => {
                let shift_amount = m.take("shiftamt");
                let ty = m.ty()?;
                self.int(i, m, IntOp::Bfind { shift_amount }, ty, &[ty])?;
            }
            "bfe" => {
                let ty = m.ty()?;
                self.int(i, m, IntOp::Bfe, ty, &[ty, Type::U32, Type::U32])?;
            }
            "bfi" => {
                let ty = m.ty()?;
                self.int(i, m, IntOp::Bfi, ty, &[ty, ty, Type::U32, Type::U32])?;
            }
            "shl" | "shr" => {
                let ty = m.ty()?;
                let op = if i.opcode == "shl" { IntOp::Shl } else { IntOp::Shr };
                self.int(i, m, op, ty, &[ty, Type::U32])?;
            }
            "shf" => {
                let left = m.take_any(&["l", "r"]).ok_or(Fail::Lacking)? == "l";
                let wrap = m.take_any(&["wrap", "clamp"]).ok_or(Fail::Lacking)? == "wrap";
                let ty = m.ty()?;
                self.typed(i, m, ComputeOp::Funnel { left, wrap }, &[ty; 3])?;
            }
            "fns" => {
                let ty = m.ty()?;
                self.typed(i, m, ComputeOp::FindNth, &[ty, Type::U32, Type::S32])?;
            }
            "bmsk" | "szext" => {
                let wrap = m.take_any(&["wrap", "clamp"]).ok_or(Fail::Lacking)? == "wrap";
                let ty = m.ty()?;
                let op = match i.opcode {
                    "bmsk" => ComputeOp::Mask { wrap },
                    _ => ComputeOp::Extend { signed: ty == Type::S32, wrap },
                };
                self.typed(i, m, op, &[ty, Type::U32])?;
            }
            "dp4a" | "dp2a" => {
                let high = i.opcode == "dp2a" && m.take_any(&["lo", "hi"]).ok_or(Fail::Lacking)? == "hi";
                let (a, b) = (m.ty()?, m.ty()?);
                let signed = [a == Type::S32, b == Type::S32];
                let op = match i.opcode {
                    "dp4a" => ComputeOp::Dot4 { signed },
                    _ => ComputeOp::Dot2 { signed, high },
                };
                self.typed(i, m, op, &[a, b, Type::U32])?;
            }
            "prmt" => {
                let ty = m.ty()?;
                let mode = match m.next() {
                    None => PermuteMode::Index,
                    Some("f4e") => PermuteMode::Forward,
                    Some("b4e") => PermuteMode::Backward,
                    Some("rc8") => PermuteMode::Replicate8,
                    Some("ecl") => PermuteMode::EdgeLeft,
                    Some("ecr") => PermuteMode::EdgeRight,
                    Some("rc16") => PermuteMode::Replicate16,
                    _ => return Err(Fail::Lacking),
                };
                self.typed(i, m, ComputeOp::Permute(mode), &[ty, ty, Type::U32])?;
            }
            "lop3" => self.lop3(i, m)?,
            "selp" => {
                let ty = m.ty()?;
                self.typed(i, m, ComputeOp::Select, &[ty, ty, Type::Pred])?;
            }
            "slct" => {
                let flush = m.take("ftz");
                let (ty, by) = (m.ty()?, m.ty()?);
                self.typed(i, m, ComputeOp::SelectBySign { ty: by, flush }, &[ty, ty, by])?;
            }
            "setp" | "set" => self.compare(i, m)?,
            "cvt" => self.convert(i, m)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Emits `op` with operands of these types.
    fn typed(
        &mut self,
        i: &PtxInstruction<'t>,
        m: &Mods<'_>,
        op: ComputeOp,
        types: Types<'_>,
    ) -> Result<(), Fail> {
        self.carried(i, m, op, types, None, None)
    }

    fn carried(
        &mut self,
        i: &PtxInstruction<'t>,
        m: &Mods<'_>,
        op: ComputeOp,
        types: Types<'_>,
        carry_in: Option<ComputeInput>,
        carry_out: Option<u16>,
    ) -> Result<(), Fail> {
        m.done()?;
        let number = |ty: Type| ty != Type::Pred && !is_float(ty);
        let known = match op {
            ComputeOp::Int { ty, .. } | ComputeOp::Carry { ty, .. } => number(ty),
            ComputeOp::Test { ty, .. } | ComputeOp::Float { ty, .. } => is_float(ty),
            _ => true,
        };
        if !known || types.contains(&Type::B128) {
            return Err(Fail::Lacking);
        }
        if let Some(part) = types.iter().find_map(|ty| ty.integer_part()) {
            let ComputeOp::Int { op, saturate, .. } = op else { return Err(Fail::Lacking) };
            let bytes = part.bits() == 8;
            match (op, saturate) {
                (IntOp::Add, _) | (IntOp::Min | IntOp::Max, false) => {}
                (IntOp::Sub, _) if bytes => {}
                (IntOp::Neg, false) if part == Type::S8 => {}
                _ => return Err(Fail::Lacking),
            }
            // `ptxas` asks for sm_120a or sm_107a, or their families; here the number is enough.
            let first = if bytes || saturate { 120 } else { 90 };
            if self.arch.number() < first && !(first == 120 && self.arch.number() == 107) {
                return Err(Fail::since(&Mods::name(i), first));
            }
        }
        let (dst, second) = self.outputs(operand(i, 0)?)?;
        let mut inputs = [ComputeInput::Imm(0); 4];
        for (at, (input, ty)) in inputs.iter_mut().zip(types).enumerate() {
            *input = self.input(operand(i, at + 1)?, *ty)?;
        }
        if i.operands.len() > types.len() + 1 {
            return Err(Fail::wrong(
                format!("{} operands", i.operands.len()),
                format!("{} has {}", Mods::name(i), types.len() + 1),
            ));
        }
        if let Some(carry) = carry_in {
            inputs[3] = carry;
        }
        self.compute_with(op, dst, carry_out.or(second), &inputs);
        Ok(())
    }

    fn int(
        &mut self,
        i: &PtxInstruction<'t>,
        m: &Mods<'_>,
        op: IntOp,
        ty: Type,
        types: Types<'_>,
    ) -> Result<(), Fail> {
        if is_float(ty) || ty == Type::Pred || ty.bits() > 64 {
            return Err(Fail::Lacking);
        }
        self.typed(i, m, ComputeOp::Int { op, ty, saturate: false }, types)
    }

    /// A float operation with the modifiers that all of them have.
    fn float(
        &mut self,
        i: &PtxInstruction<'t>,
        m: &mut Mods<'_>,
        op: FloatOp,
        operands: usize,
    ) -> Result<(), Fail> {
        let rounding = m.rounding().unwrap_or(Rounding::Nearest);
        let (flush, saturate, relu) = (m.take("ftz"), m.take("sat"), m.take("relu"));
        m.take_any(&["approx", "full"]);
        m.drop_hints();
        let ty = m.ty()?;
        if !is_float(ty) {
            return Err(Fail::Lacking);
        }
        let all = [ty; 3];
        let op = ComputeOp::Float { op, ty, rounding, flush, saturate, relu };
        self.typed(i, m, op, all.get(..operands).unwrap_or(&all))
    }

    fn sum(&mut self, i: &PtxInstruction<'t>, m: &mut Mods<'_>) -> Result<(), Fail> {
        let subtract = i.opcode.starts_with("sub");
        let (takes, gives) = (i.opcode.ends_with('c'), m.take("cc"));
        if i.modifiers.iter().any(|n| Type::from_name(n).is_some_and(is_float)) {
            let op = if subtract { FloatOp::Sub } else { FloatOp::Add };
            return self.float(i, m, op, 2);
        }
        let saturate = m.take("sat");
        let ty = m.ty()?;
        let op = if subtract { IntOp::Sub } else { IntOp::Add };
        if !takes && !gives {
            return self.typed(i, m, ComputeOp::Int { op, ty, saturate }, &[ty, ty]);
        }
        self.with_carry(i, m, op, ty, &[ty, ty], takes, gives)
    }

    #[expect(clippy::too_many_arguments, reason = "each is a part of the instruction")]
    fn with_carry(
        &mut self,
        i: &PtxInstruction<'t>,
        m: &Mods<'_>,
        op: IntOp,
        ty: Type,
        types: Types<'_>,
        takes: bool,
        gives: bool,
    ) -> Result<(), Fail> {
        let carry = self.carry();
        let input = crate::kernel::register::PredSource {
            pred: crate::kernel::register::Pred::Thread(carry),
            negate: false,
        };
        let carry_in = takes.then_some(ComputeInput::Pred(input));
        self.carried(i, m, ComputeOp::Carry { op, ty }, types, carry_in, gives.then_some(carry))
    }

    fn product(&mut self, i: &PtxInstruction<'t>, m: &mut Mods<'_>) -> Result<(), Fail> {
        let adds = i.opcode != "mul";
        if i.opcode == "fma" || i.modifiers.iter().any(|n| Type::from_name(n).is_some_and(is_float)) {
            let op = if adds { FloatOp::Fma } else { FloatOp::Mul };
            return self.float(i, m, op, if adds { 3 } else { 2 });
        }
        let part = part(m).ok_or(Fail::Lacking)?;
        let (saturate, gives) = (m.take("sat"), m.take("cc"));
        let ty = m.ty()?;
        let wide = match (part, ty) {
            (Part::Wide, Type::U16) => Type::U32,
            (Part::Wide, Type::S16) => Type::S32,
            (Part::Wide, Type::U32) => Type::U64,
            (Part::Wide, Type::S32) => Type::S64,
            (Part::Wide, _) => return Err(Fail::Lacking),
            _ => ty,
        };
        let op = if adds { IntOp::Mad(part) } else { IntOp::Mul(part) };
        if i.opcode == "madc" || gives {
            return self.with_carry(i, m, op, ty, &[ty, ty, wide], i.opcode == "madc", gives);
        }
        let types = [ty, ty, wide];
        let count = if adds { 3 } else { 2 };
        self.typed(i, m, ComputeOp::Int { op, ty, saturate }, types.get(..count).unwrap_or(&types))
    }

    /// Instructions that exist for integers and floats.
    fn either(&mut self, i: &PtxInstruction<'t>, m: &mut Mods<'_>) -> Result<(), Fail> {
        let how = MinMax { nan: m.take("NaN"), xor_sign_abs: m.take("xorsign") & m.take("abs") };
        let float = i.modifiers.iter().any(|n| Type::from_name(n).is_some_and(is_float));
        if float {
            let (op, operands) = match i.opcode {
                "div" => (FloatOp::Div, 2),
                "min" => (FloatOp::Min(how), 2),
                "max" => (FloatOp::Max(how), 2),
                "abs" => (FloatOp::Abs, 1),
                "neg" => (FloatOp::Neg, 1),
                _ => return Err(Fail::Lacking),
            };
            return self.float(i, m, op, operands);
        }
        let (saturate, relu) = (m.take("sat"), m.take("relu"));
        let ty = m.ty()?;
        let (op, operands) = match i.opcode {
            "div" => (IntOp::Div, 2),
            "rem" => (IntOp::Rem, 2),
            "min" => (IntOp::Min, 2),
            "max" => (IntOp::Max, 2),
            "sad" => (IntOp::Sad, 3),
            "abs" => (IntOp::Abs, 1),
            _ => (IntOp::Neg, 1),
        };
        let all = [ty; 3];
        if !relu {
            return self.typed(
                i,
                m,
                ComputeOp::Int { op, ty, saturate },
                all.get(..operands).unwrap_or(&all),
            );
        }
        if !matches!(op, IntOp::Min | IntOp::Max) || !matches!(ty, Type::S32 | Type::S16x2 | Type::S8x4) {
            return Err(Fail::Lacking);
        }
        if ty == Type::S32 && self.arch.number() < 90 {
            return Err(Fail::since(&Mods::name(i), 90));
        }
        self.typed(i, m, ComputeOp::Int { op, ty, saturate }, &[ty; 2])?;
        let (dst, _) = self.outputs(operand(i, 0)?)?;
        let ComputeOutput::Word(word) = dst else { return Err(Fail::Lacking) };
        let op = ComputeOp::Int { op: IntOp::Max, ty, saturate };
        self.compute(op, dst, &[ComputeInput::Word(word), ComputeInput::Imm(0)]);
        Ok(())
    }

    fn lop3(&mut self, i: &PtxInstruction<'t>, m: &mut Mods<'_>) -> Result<(), Fail> {
        let combine = match m.take_any(&["or", "and"]) {
            Some("or") => BoolOp::Or,
            _ => BoolOp::And,
        };
        let ty = m.ty()?;
        m.done()?;
        let (dst, second) = self.outputs(operand(i, 0)?)?;
        let mut inputs = [ComputeInput::Imm(0); 4];
        for (at, input) in inputs.iter_mut().take(3).enumerate() {
            *input = self.input(operand(i, at + 1)?, ty)?;
        }
        let Operand::Integer(table) = operand(i, 4)? else {
            return Err(Fail::wrong("a table that is no number", "write one from 0 to 255"));
        };
        if let Some(with) = i.operands.get(5) {
            inputs[3] = self.input(with, Type::Pred)?;
        }
        self.compute_with(ComputeOp::Lop3 { table: *table as u8, combine }, dst, second, &inputs);
        Ok(())
    }

    fn compare(&mut self, i: &PtxInstruction<'t>, m: &mut Mods<'_>) -> Result<(), Fail> {
        let comparison = comparison(m.next().unwrap_or("")).ok_or(Fail::Lacking)?;
        let combine = match m.take_any(&["and", "or", "xor"]) {
            Some("or") => BoolOp::Or,
            Some("xor") => BoolOp::Xor,
            _ => BoolOp::And,
        };
        let flush = m.take("ftz");
        let first = m.ty()?;
        let (result, ty) = match i.opcode {
            "set" => (Some(first), m.ty()?),
            _ => (None, first),
        };
        m.done()?;
        if matches!(ty, Type::B128 | Type::Pred) {
            return Err(Fail::Lacking);
        }
        let unsigned = matches!(i.modifiers.first().copied(), Some("lo" | "ls" | "hi" | "hs"));
        let ty = match ty {
            Type::S16 if unsigned => Type::U16,
            Type::S32 if unsigned => Type::U32,
            Type::S64 if unsigned => Type::U64,
            other => other,
        };
        let (dst, second) = self.outputs(operand(i, 0)?)?;
        let a = self.input(operand(i, 1)?, ty)?;
        let b = self.input(operand(i, 2)?, ty)?;
        // Without a third operand the comparison stands alone.
        let (c, combine) = match i.operands.get(3) {
            Some(with) => (self.input(with, Type::Pred)?, combine),
            None => (ComputeInput::Imm(1), BoolOp::And),
        };
        let op = ComputeOp::Compare { compare: comparison, ty, combine, flush, result };
        self.compute_with(op, dst, second, &[a, b, c]);
        Ok(())
    }

    fn convert(&mut self, i: &PtxInstruction<'t>, m: &mut Mods<'_>) -> Result<(), Fail> {
        let integral = m.take_any(&["rni", "rzi", "rmi", "rpi"]);
        let rounding = match integral {
            Some("rzi") => Some(Rounding::Zero),
            Some("rmi") => Some(Rounding::Down),
            Some("rpi") => Some(Rounding::Up),
            Some(_) => Some(Rounding::Nearest),
            None => m.rounding(),
        };
        let rounding = rounding.unwrap_or(Rounding::Nearest);
        let (flush, saturate, relu) = (m.take("ftz"), m.take("sat"), m.take("relu"));
        let (to, from) = (m.ty()?, m.ty()?);
        if let (Type::F16x2 | Type::Bf16x2, Type::F32) = (to, from) {
            return self.typed(i, m, ComputeOp::Pack { to, rounding, relu }, &[from, from]);
        }
        let packed = |ty: Type| matches!(ty, Type::F16x2 | Type::Bf16x2 | Type::Pred | Type::B128);
        if packed(to) || packed(from) {
            return Err(Fail::Lacking);
        }
        let integral = integral.is_some();
        let op = ComputeOp::Convert { from, to, rounding, integral, flush, saturate, relu };
        self.typed(i, m, op, &[from])
    }

    /// Widens the word that an access narrower than its register has left there.
    pub(super) fn widen(&mut self, ty: Type, reg: crate::kernel::register::Reg) {
        let (from, to) = match ty {
            Type::S8 | Type::S16 | Type::S32 => (Type::S32, Type::S64),
            _ => (Type::U32, Type::U64),
        };
        let op = ComputeOp::Convert {
            from,
            to,
            rounding: Rounding::Nearest,
            integral: false,
            flush: false,
            saturate: false,
            relu: false,
        };
        self.compute(op, ComputeOutput::Pair(reg), &[ComputeInput::Word(reg)]);
    }
}

fn plain_float(op: FloatOp, ty: Type) -> ComputeOp {
    ComputeOp::Float { op, ty, rounding: Rounding::Nearest, flush: false, saturate: false, relu: false }
}

fn part(m: &mut Mods<'_>) -> Option<Part> {
    Some(match m.take_any(&["lo", "hi", "wide"])? {
        "lo" => Part::Low,
        "hi" => Part::High,
        _ => Part::Wide,
    })
}

/// The comparison with this name.
fn comparison(name: &str) -> Option<FloatCompare> {
    let ordered = |compare| FloatCompare { compare, unordered: false };
    let unordered = |compare| FloatCompare { compare, unordered: true };
    Some(match name {
        "eq" => ordered(Compare::Eq),
        "ne" => ordered(Compare::Ne),
        "lt" | "lo" => ordered(Compare::Lt),
        "le" | "ls" => ordered(Compare::Le),
        "gt" | "hi" => ordered(Compare::Gt),
        "ge" | "hs" => ordered(Compare::Ge),
        "equ" => unordered(Compare::Eq),
        "neu" => unordered(Compare::Ne),
        "ltu" => unordered(Compare::Lt),
        "leu" => unordered(Compare::Le),
        "gtu" => unordered(Compare::Gt),
        "geu" => unordered(Compare::Ge),
        "num" => ordered(Compare::True),
        "nan" => unordered(Compare::False),
        _ => return None,
    })
}
