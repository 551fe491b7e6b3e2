//! Expansion to the PTX that \[NVVM\] documents (dialect `nvvm`). Source: \[NVVM\], spec 8. Where \[NVVM\]
//! contradicts itself, `docs/builtins.md` states which statement is followed.

mod subword;

use super::refusal::{diagnose, refuse};
use super::text::{Expansion, InputRole, RegisterType, Writer, put};
use super::{
    Builtin, BuiltinOp, BuiltinRefusal, Call, MemoryOrder, NameForm, NameScope, ObjectPlace, ObjectType,
    PtxTarget, ThreadScope, TypeClass,
};

struct Nv {
    op: BuiltinOp,
    ty: ObjectType,
    order: MemoryOrder,
    scope: ThreadScope,
    target: PtxTarget,
}

impl Nv {
    /// True for targets before sm_70, whose PTX has neither memory orders nor scopes: accesses are
    /// `volatile`, fences are `membar`.
    const fn is_volatile(&self) -> bool {
        self.target.number() < 70
    }

    /// Memory-order qualifier of the access instruction. A sequentially consistent access has fences around
    /// it in addition.
    fn qualifier(&self) -> &'static str {
        match (self.order, self.op) {
            (MemoryOrder::SeqCst, BuiltinOp::Load) => MemoryOrder::Acquire.qualifier(),
            (MemoryOrder::SeqCst, BuiltinOp::Store) => MemoryOrder::Release.qualifier(),
            (MemoryOrder::SeqCst, _) => MemoryOrder::AcqRel.qualifier(),
            (order, _) => order.qualifier(),
        }
    }

    fn words(&self, order: &str) -> String {
        if self.is_volatile() {
            return "volatile".into();
        }
        format!("{order}.{}", self.scope.qualifier(self.target))
    }

    fn suffix(&self) -> String {
        let letter = match (self.op, self.ty.class()) {
            // PTX has no signed atomic addition. In two's complement, the unsigned one gives the same bits.
            (BuiltinOp::Add | BuiltinOp::Sub, TypeClass::Signed) => TypeClass::Unsigned.letter(),
            (BuiltinOp::Add | BuiltinOp::Sub | BuiltinOp::Min | BuiltinOp::Max, class) => class.letter(),
            _ => TypeClass::Bits.letter(),
        };
        format!("{letter}{}", self.ty.bits())
    }

    /// Type of the operand registers. It depends only on the width, except for the 16-bit compare-and-swap.
    fn register(&self) -> RegisterType {
        match (self.op, self.ty.bytes()) {
            (BuiltinOp::CompareExchange, 2) => RegisterType::B16,
            (_, 1 | 2 | 4) => RegisterType::B32,
            _ => RegisterType::B64,
        }
    }

    fn fence(&self, text: &mut Writer, order: &str) {
        if self.is_volatile() {
            put!(text, "membar.{};", membar_scope(self.scope));
        } else {
            put!(text, "fence.{order}.{};", self.scope.qualifier(self.target));
        }
    }

    fn fence_before(&self, text: &mut Writer) {
        let needed = match self.is_volatile() {
            true => self.order.releases(),
            false => self.order == MemoryOrder::SeqCst && self.op != BuiltinOp::Load,
        };
        if needed {
            self.fence(text, "sc");
        }
    }

    fn fence_after(&self, text: &mut Writer) {
        if self.order == MemoryOrder::SeqCst && self.op != BuiltinOp::Store {
            self.fence(text, "sc");
        }
    }
}

const fn membar_scope(scope: ThreadScope) -> &'static str {
    match scope {
        ThreadScope::Thread | ThreadScope::Block => "cta",
        ThreadScope::Cluster | ThreadScope::Device => "gl",
        ThreadScope::System => "sys",
    }
}

pub(super) fn expand(call: &Call, target: PtxTarget) -> Result<Expansion, BuiltinRefusal> {
    if call.place == ObjectPlace::Shared {
        let message = "the dialect `nvvm` supports only generic addresses";
        return refuse(message, "use a generic address, or the dialect `current`");
    }
    match call.builtin {
        Builtin::Nvvm { op, reach, ty } => {
            call.object_type()?;
            older(op, reach, ty, target)
        }
        Builtin::Nv { op, form } => newer(&checked(call, op, form, target)?),
        Builtin::ThreadFence => thread_fence(call, target),
        Builtin::Cuda { op, reach } => function(call, op, reach, target),
        Builtin::CudaFence { reach } => Ok(Expansion::of_line(format!("membar.{};", reach.membar()))),
    }
}

fn older(
    op: BuiltinOp,
    reach: NameScope,
    ty: ObjectType,
    target: PtxTarget,
) -> Result<Expansion, BuiltinRefusal> {
    let needs = match ty {
        ObjectType::F16x2 => 90,
        ObjectType::F16x4 => 100,
        ObjectType::B128 => 70,
        _ => 0,
    };
    if target.number() < needs {
        let number = if ty == ObjectType::B128 { 3766 } else { 852 };
        let message = format!("the atomic `{}` does not support the type `{ty}` on {target}", op.ptx());
        return diagnose(number, message, format!("sm_{needs} or later"));
    }
    let mut text = Writer::default();
    let object = text.address(InputRole::Object);
    let (scope, ptx) = (reach.qualifier(), op.ptx());
    match ty {
        ObjectType::F16x2 => {
            let value = text.input(InputRole::Value, RegisterType::B32, "u32");
            let result = text.register(RegisterType::B32);
            put!(text, "atom{scope}.{ptx}.noftz.f16x2 {result}, [{object}], {value};");
            Ok(text.finish(&[&result]))
        }
        ObjectType::F16x4 => {
            let values = [(); 4].map(|()| text.input(InputRole::Value, RegisterType::B16, "u16")).join(", ");
            let results = [(); 4].map(|()| text.register(RegisterType::B16));
            let names = results.join(", ");
            put!(text, "atom{scope}.{ptx}.noftz.v4.f16 {{{names}}}, [{object}], {{{values}}};");
            Ok(text.finish(&results.each_ref().map(String::as_str)))
        }
        ObjectType::B128 => Ok(wide_access(text, op, &object, &format!("atom{scope}.{ptx}.b128"))),
        _ => {
            let suffix = op.older_suffix(ty);
            let register = match ty.bytes() {
                2 => RegisterType::B16,
                4 => RegisterType::B32,
                _ => RegisterType::B64,
            };
            let passed = bits_as(ty);
            let compare =
                (op == BuiltinOp::CompareExchange).then(|| text.input(InputRole::Compare, register, passed));
            let mut value = text.input(InputRole::Value, register, passed);
            if op == BuiltinOp::Sub {
                let negated = text.register(register);
                put!(text, "neg.s{} {negated}, {value};", ty.bits());
                value = negated;
            }
            let result = text.register(register);
            let compare = compare.map(|c| format!("{c}, ")).unwrap_or_default();
            put!(text, "atom{scope}.{ptx}.{suffix} {result}, [{object}], {compare}{value};");
            Ok(text.finish(&[&result]))
        }
    }
}

/// PTX type of the kernel parameter that passes an argument of type `ty`. From 4 bytes on it is an untyped
/// `.b32` or `.b64`, also for floats.
fn bits_as(ty: ObjectType) -> &'static str {
    match ty {
        ObjectType::S8 => "s8",
        ObjectType::U8 => "u8",
        ObjectType::S16 => "s16",
        _ => match ty.bytes() {
            2 => "u16",
            4 => "b32",
            _ => "b64",
        },
    }
}

/// Expands an `atomic*` function of CUDA C++ as the `__nvvm_atom_*` builtin with its operation and type.
fn function(
    call: &Call,
    op: BuiltinOp,
    reach: NameScope,
    target: PtxTarget,
) -> Result<Expansion, BuiltinRefusal> {
    let ty = call.object_type()?;
    let behind = match (op, ty) {
        (
            BuiltinOp::Add
            | BuiltinOp::Sub
            | BuiltinOp::Exchange
            | BuiltinOp::And
            | BuiltinOp::Or
            | BuiltinOp::Xor,
            ObjectType::U32,
        ) => ObjectType::S32,
        (
            BuiltinOp::Add | BuiltinOp::Exchange | BuiltinOp::And | BuiltinOp::Or | BuiltinOp::Xor,
            ObjectType::U64,
        ) => ObjectType::S64,
        (BuiltinOp::CompareExchange, ObjectType::U32) => ObjectType::S32,
        (BuiltinOp::CompareExchange, ObjectType::U64) => ObjectType::S64,
        (BuiltinOp::Exchange, ObjectType::F32) => ObjectType::S32,
        (_, ty) => ty,
    };
    // A 32-bit subtraction is the addition of the negated operand, so the builtin is that of the addition.
    // For 64-bit types, CUDA C++ has no subtraction function.
    let named = if op == BuiltinOp::Sub && ty.bytes() == 4 { BuiltinOp::Add } else { op };
    if (Builtin::Nvvm { op: named, reach, ty: behind }).id().is_none()
        || (op == BuiltinOp::Sub && !ty.is_integer())
    {
        let message = format!("no builtin implements `{}` on `{ty}`", call.builtin);
        return diagnose(852, message, "use another type, or the dialect `current`");
    }
    older(op, reach, behind, target)
}

/// Returns the order and the scope of a call. Both must be literals, because they become part of the
/// instruction.
fn operands(call: &Call) -> Result<(MemoryOrder, ThreadScope), BuiltinRefusal> {
    const LITERAL: &str = "use a literal: the value becomes part of the instruction";
    let order = |number| {
        BuiltinRefusal::numbered(
            3746,
            format!("unknown memory order number {number}"),
            "memory orders are 0 to 5",
        )
    };
    let scope = |number| {
        BuiltinRefusal::numbered(
            3747,
            format!("unexpected atomic operation scope: {number}"),
            "scopes are 0 to 4",
        )
    };
    let order = call.order.literal(order, "the memory order is not a constant", LITERAL)?;
    Ok((order, call.scope.literal(scope, "the scope is not a constant", LITERAL)?))
}

fn checked(call: &Call, op: BuiltinOp, form: NameForm, target: PtxTarget) -> Result<Nv, BuiltinRefusal> {
    if matches!(form, NameForm::Sized { .. }) && call.builtin.id().is_none() {
        // \[NVVM\] has no builtin with this width in its name. For a fetch operation, the message of the name
        // construction is more precise.
        if op.is_fetch() {
            let message = format!("`{}` is a fetch operation, but not of 4 or 8 bytes", call.builtin);
            return diagnose(3748, message, "a fetch operation supports objects of 4 or 8 bytes");
        }
        let message = format!("unexpected atomic builtin function `{}`", call.builtin);
        return refuse(message, "use another width, or the builtin without a width in its name");
    }
    let ty = call.object_type()?;
    if ty.class() == TypeClass::Half && target.number() < 90 {
        return diagnose(3759, format!("{target} does not support atomics on `{ty}`"), "sm_90 or later");
    }
    if op.is_fetch() {
        if ty.bytes() == 16 {
            let message = format!("a fetch operation on `{ty}`, which has 16 bytes");
            return diagnose(3748, message, "a fetch operation supports objects of 4 or 8 bytes");
        }
        let arithmetic = match ty.class() {
            TypeClass::Signed | TypeClass::Unsigned => true,
            TypeClass::Float => matches!(op, BuiltinOp::Add | BuiltinOp::Sub),
            TypeClass::Bits | TypeClass::Half => false,
        };
        if !arithmetic {
            let message = format!("the atomic `{}` does not support the type `{ty}`", op.ptx());
            return diagnose(3745, message, "use an integer type; additions also support `f32` and `f64`");
        }
    }
    if let Some(other) = call.operand.filter(|other| *other != ty) {
        let number = match op {
            BuiltinOp::CompareExchange => Some(3756),
            BuiltinOp::Exchange => Some(3757),
            _ => None,
        };
        if let Some(number) = number {
            let message = format!("the object has the type `{ty}`, but the argument has the type `{other}`");
            return diagnose(number, message, "use arguments of the type of the object");
        }
    }
    let (order, scope) = operands(call)?;
    match op {
        BuiltinOp::Load if matches!(order, MemoryOrder::Release | MemoryOrder::AcqRel) => {
            let message = format!("unexpected memory order: {order} of a load");
            return diagnose(3750, message, "relaxed, consume, acquire or seq_cst");
        }
        BuiltinOp::Store
            if !matches!(order, MemoryOrder::Relaxed | MemoryOrder::Release | MemoryOrder::SeqCst) =>
        {
            let message = format!("unexpected memory order: {order} of a store");
            return diagnose(3749, message, "relaxed, release or seq_cst");
        }
        _ => {}
    }
    if target.number() < 70 {
        let number = match (op, ty.bytes()) {
            (BuiltinOp::Load | BuiltinOp::Store, 16) => Some(3764),
            (_, 16) => Some(3766),
            (BuiltinOp::Store, 2) => Some(3765),
            _ => None,
        };
        if let Some(number) = number {
            let message = format!(
                "{target} does not support the atomic access of {} bits in `{}`",
                ty.bits(),
                call.builtin
            );
            return diagnose(number, message, "sm_70 or later");
        }
    }
    Ok(Nv { op, ty, order, scope, target })
}

fn newer(nv: &Nv) -> Result<Expansion, BuiltinRefusal> {
    let mut text = Writer::default();
    if nv.is_volatile() {
        let number = if nv.target.number() < 60 { 3766 } else { 3762 };
        text.warn(number, "memory order and scope need sm_70 or later: a volatile access is used instead");
    }
    let by_instruction = match nv.op {
        BuiltinOp::Load | BuiltinOp::Store => true,
        BuiltinOp::CompareExchange => nv.ty.bytes() != 1,
        _ => !nv.ty.is_subword(),
    };
    Ok(if by_instruction { access(nv, text) } else { subword::expand(nv, text) })
}

/// Expands a builtin to one access instruction, with the fences before and after it.
fn access(nv: &Nv, mut text: Writer) -> Expansion {
    let object = text.address(InputRole::Object);
    let mnemonic = match nv.op {
        BuiltinOp::Load | BuiltinOp::Store => nv.op.ptx().to_owned(),
        op => format!("atom.{}", op.ptx()),
    };
    let mnemonic = format!("{mnemonic}.{}.{}", nv.words(nv.qualifier()), nv.suffix());
    if nv.ty.bytes() == 16 {
        nv.fence_before(&mut text);
        let mut expansion = wide_access(text, nv.op, &object, &mnemonic);
        let mut after = Writer::default();
        nv.fence_after(&mut after);
        expansion.lines.extend(after.finish(&[]).lines);
        return expansion;
    }
    let register = nv.register();
    let passed = bits_as(nv.ty);
    let compare =
        (nv.op == BuiltinOp::CompareExchange).then(|| text.input(InputRole::Compare, register, passed));
    let value = (nv.op != BuiltinOp::Load).then(|| text.input(InputRole::Value, register, passed));
    nv.fence_before(&mut text);
    let value = value.map(|value| {
        if nv.op != BuiltinOp::Sub {
            return value;
        }
        let negated = text.register(register);
        let letter = if nv.ty.class() == TypeClass::Float { 'f' } else { 's' };
        put!(text, "neg.{letter}{} {negated}, {value};", nv.ty.bits());
        negated
    });
    if nv.op == BuiltinOp::Store {
        put!(text, "{mnemonic} [{object}], {};", value.unwrap_or_default());
        return text.finish(&[]);
    }
    let result = text.register(register);
    let operands: String = [compare, value].into_iter().flatten().map(|v| format!(", {v}")).collect();
    put!(text, "{mnemonic} {result}, [{object}]{operands};");
    nv.fence_after(&mut text);
    text.finish(&[&result])
}

/// Expands a builtin to an access of 128 bits. Each 128-bit operand is joined from a pair of 64-bit
/// registers.
fn wide_access(mut text: Writer, op: BuiltinOp, object: &str, mnemonic: &str) -> Expansion {
    let mut given =
        |wanted: bool, role| wanted.then(|| [(); 2].map(|()| text.input(role, RegisterType::B64, "b64")));
    let pairs = [
        given(op == BuiltinOp::CompareExchange, InputRole::Compare),
        given(op != BuiltinOp::Load, InputRole::Value),
    ];
    let mut operands = Vec::new();
    for [low, high] in pairs.into_iter().flatten() {
        let whole = text.register(RegisterType::B128);
        put!(text, "mov.b128 {whole}, {{{low}, {high}}};");
        operands.push(whole);
    }
    let operands: String = operands.iter().map(|v| format!(", {v}")).collect();
    if op == BuiltinOp::Store {
        put!(text, "{mnemonic} [{object}]{operands};");
        return text.finish(&[]);
    }
    let found = text.register(RegisterType::B128);
    put!(text, "{mnemonic} {found}, [{object}]{operands};");
    let [low, high] = [(); 2].map(|()| text.register(RegisterType::B64));
    put!(text, "mov.b128 {{{low}, {high}}}, {found};");
    text.finish(&[&low, &high])
}

fn thread_fence(call: &Call, target: PtxTarget) -> Result<Expansion, BuiltinRefusal> {
    let (order, scope) = operands(call)?;
    if target.number() < 70 {
        return Ok(Expansion::of_line(format!("membar.{};", membar_scope(scope))));
    }
    let order = match order {
        MemoryOrder::Release | MemoryOrder::SeqCst => "sc",
        MemoryOrder::AcqRel => "acq_rel",
        MemoryOrder::Relaxed | MemoryOrder::Consume | MemoryOrder::Acquire => {
            let message = format!("unexpected memory order: {order} of a fence");
            return refuse(message, "release, acq_rel or seq_cst");
        }
    };
    Ok(Expansion::of_line(format!("fence.{order}.{};", scope.qualifier(target))))
}
