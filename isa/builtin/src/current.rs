//! PTX that a current CUDA compiler emits for atomic builtins. Source: \[TOOLS\], spec 8.5.
//!
//! The compiler has two code generators ([`Generation`]). For targets up to sm_90 it turns each builtin into
//! inline assembly. For targets from sm_100 on, a newer code generator emits a native instruction. The two
//! differ in spelling, in the operations that they have as one instruction, and in the calls that they
//! refuse.

mod bfloat;
mod check;
mod cuda;
mod subword;
mod wide;
mod word;

use super::refusal::refuse;
use super::text::{Expansion, InputRole, RegisterType, Writer, put};
use super::{
    Argument, Builtin, BuiltinOp, BuiltinRefusal, Call, CasStrength, MemoryOrder, NameForm, ObjectPlace,
    ObjectType, PtxTarget, ThreadScope, TypeClass,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Generation {
    /// Code generator for targets up to sm_90: writes `atom.add.relaxed.cta.u32`, and holds floats in `.f32`
    /// and `.f64` registers.
    Inline,
    /// Code generator for targets from sm_100 on: writes `atom.relaxed.cta.add.u32`, and holds floats in
    /// `.b32` and `.b64` registers.
    Native,
}

impl Generation {
    const fn of(target: PtxTarget) -> Generation {
        if target.number() >= 100 { Generation::Native } else { Generation::Inline }
    }

    fn plain(self, bits: u32) -> String {
        match self {
            Generation::Inline => format!("u{bits}"),
            Generation::Native => format!("b{bits}"),
        }
    }

    fn compared(self, bits: u32) -> String {
        match self {
            Generation::Inline => format!("s{bits}"),
            Generation::Native => format!("b{bits}"),
        }
    }

    /// Type of the register that holds a value of type `ty` in arithmetic. A value of 16 bytes takes two such
    /// registers.
    fn register(self, ty: ObjectType) -> RegisterType {
        match (self, ty) {
            (Generation::Inline, ObjectType::F32) => RegisterType::F32,
            (Generation::Inline, ObjectType::F64) => RegisterType::F64,
            _ => match ty.bytes() {
                1 | 2 => RegisterType::B16,
                4 => RegisterType::B32,
                _ => RegisterType::B64,
            },
        }
    }
}

fn passed_as(ty: ObjectType) -> &'static str {
    match ty {
        ObjectType::S8 => "s8",
        ObjectType::U8 => "u8",
        ObjectType::S16 => "s16",
        ObjectType::F32 => "f32",
        ObjectType::F64 => "f64",
        _ => match ty.bytes() {
            2 => "u16",
            4 => "u32",
            _ => "u64",
        },
    }
}

struct Nv {
    op: BuiltinOp,
    ty: ObjectType,
    indirect: bool,
    order: MemoryOrder,
    strength: CasStrength,
    scope: &'static str,
    generation: Generation,
}

impl Nv {
    /// Memory-order qualifier of the access instruction. For a sequentially consistent access, `fence` writes
    /// a fence before the instruction.
    fn qualifier(&self) -> &'static str {
        match (self.order, self.op, self.generation) {
            (MemoryOrder::SeqCst, BuiltinOp::Store, Generation::Inline) => MemoryOrder::Relaxed.qualifier(),
            (MemoryOrder::SeqCst, BuiltinOp::Store, Generation::Native) => MemoryOrder::Release.qualifier(),
            (MemoryOrder::SeqCst, ..) => MemoryOrder::Acquire.qualifier(),
            (order, ..) => order.qualifier(),
        }
    }

    fn fence(&self, text: &mut Writer) {
        if self.order == MemoryOrder::SeqCst {
            put!(text, "fence.sc.{};", self.scope);
        }
    }

    /// Writes the fence before a compare-and-swap loop that implements an atomic operation. The accesses in
    /// the loop are relaxed.
    fn fence_before_loop(&self, text: &mut Writer) {
        match self.order {
            MemoryOrder::SeqCst => self.fence(text),
            order if order.releases() => put!(text, "fence.release.{};", self.scope),
            _ => {}
        }
    }

    fn fence_after_loop(&self, text: &mut Writer) {
        if self.order.acquires() {
            put!(text, "fence.acquire.{};", self.scope);
        }
    }

    fn atom(&self, text: &mut Writer, order: &str, suffix: &str, to: &str, operands: &[&str]) {
        let (op, scope) = (self.op.ptx(), self.scope);
        match self.generation {
            Generation::Inline => {
                let (to, operands) = (to, operands.join(","));
                put!(text, "atom.{op}.{order}.{scope}.{suffix} {to},{operands};");
            }
            Generation::Native => {
                let operands = operands.join(", ");
                put!(text, "atom.{order}.{scope}.{op}.{suffix} {to}, {operands};");
            }
        }
    }

    fn loop_cas(&self, text: &mut Writer, suffix: &str, to: &str, operands: &[&str]) {
        put!(text, "atom.relaxed.{}.cas.{suffix} {to}, {};", self.scope, operands.join(", "));
    }
}

pub(super) fn expand(call: &Call, target: PtxTarget) -> Result<Expansion, BuiltinRefusal> {
    if target.number() < 70 {
        let message = format!("the dialect `current` does not support the target {target}");
        return refuse(message, "use sm_70 or later, or the dialect `nvvm`");
    }
    let generation = Generation::of(target);
    if call.place == ObjectPlace::Shared && !matches!(call.builtin, Builtin::Cuda { .. }) {
        let message = format!("`{}` takes a generic address, not a shared array", call.builtin);
        return refuse(message, "use an `atomic*` function of CUDA C++, or a generic address");
    }
    match call.builtin {
        Builtin::Nv { op, form } => {
            let nv = check::nv(call, op, form, call.object_type()?, target)?;
            Ok(match nv.ty.bytes() {
                16 => wide::expand(&nv),
                1 | 2
                    if generation == Generation::Native
                        && !matches!(op, BuiltinOp::Load | BuiltinOp::Store) =>
                {
                    subword::expand(&nv)
                }
                _ => word::expand(&nv),
            })
        }
        Builtin::ThreadFence => {
            let (order, scope) = check::fence(call)?;
            let order = match order {
                MemoryOrder::SeqCst => "sc",
                order if target.number() >= 90 => order.qualifier(),
                _ => MemoryOrder::AcqRel.qualifier(),
            };
            Ok(Expansion::of_line(format!("fence.{order}.{};", scope.qualifier(target))))
        }
        Builtin::CudaFence { reach } => Ok(Expansion::of_line(format!("membar.{};", reach.membar()))),
        Builtin::Cuda { op, reach } => {
            let ty = call.object_type()?;
            check::overload(call.builtin, op, reach, ty, target)?;
            Ok(cuda::expand(op, reach, ty, call.place, target))
        }
        Builtin::Nvvm { op, reach, ty } => {
            call.object_type()?;
            check::older(call.builtin, ty, target)?;
            Ok(cuda::expand(op, reach, ty, call.place, target))
        }
    }
}
