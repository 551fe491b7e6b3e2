//! The documented dialect. Source: \[NVVM\], spec 8; where it contradicts itself, `docs/builtins.md`.

mod subword;

use super::text::{Expansion, RegisterType, Role, Writer, put};
use super::{Argument, Builtin, Call, Class, Form, Op, Order, Place, Reach, Refusal, Scope, Target, Type};

/// A checked call of the newer family.
struct Nv {
    op: Op,
    ty: Type,
    order: Order,
    scope: Scope,
    target: Target,
}

impl Nv {
    /// Before sm_70 there are neither orders nor scopes: accesses are volatile, fences are `membar`.
    const fn is_volatile(&self) -> bool {
        self.target.number() < 70
    }

    /// The order on the access itself: what is sequentially consistent has fences around it.
    fn qualifier(&self) -> &'static str {
        match (self.order, self.op) {
            (Order::SeqCst, Op::Load) => Order::Acquire.qualifier(),
            (Order::SeqCst, Op::Store) => Order::Release.qualifier(),
            (Order::SeqCst, _) => Order::AcqRel.qualifier(),
            (order, _) => order.qualifier(),
        }
    }

    /// The words between the operation and the type.
    fn words(&self, order: &str) -> String {
        if self.is_volatile() {
            return "volatile".into();
        }
        format!("{order}.{}", self.scope.qualifier(self.target))
    }

    /// Letter and width on the access.
    fn suffix(&self) -> String {
        let letter = match (self.op, self.ty.class()) {
            // There is no signed addition: two's complement needs none.
            (Op::Add | Op::Sub, Class::Signed) => Class::Unsigned.letter(),
            (Op::Add | Op::Sub | Op::Min | Op::Max, class) => class.letter(),
            _ => Class::Bits.letter(),
        };
        format!("{letter}{}", self.ty.bits())
    }

    /// The register class of the operands: by width only.
    fn register(&self) -> RegisterType {
        match (self.op, self.ty.bytes()) {
            (Op::CompareExchange, 2) => RegisterType::B16,
            (_, 1 | 2 | 4) => RegisterType::B32,
            _ => RegisterType::B64,
        }
    }

    /// A fence of the scope of the access.
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
            false => self.order == Order::SeqCst && self.op != Op::Load,
        };
        if needed {
            self.fence(text, "sc");
        }
    }

    fn fence_after(&self, text: &mut Writer) {
        if self.order == Order::SeqCst && self.op != Op::Store {
            self.fence(text, "sc");
        }
    }
}

const fn membar_scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Thread | Scope::Block => "cta",
        Scope::Cluster | Scope::Device => "gl",
        Scope::System => "sys",
    }
}

pub(super) fn expand(call: &Call, target: Target) -> Result<Expansion, Refusal> {
    if call.place == Place::Shared {
        return Err(Refusal::new("the documented dialect has generic addresses only")
            .help("a generic address, or the dialect `current`"));
    }
    match call.builtin {
        Builtin::Nvvm { op, reach, ty } => {
            call.object_type()?;
            older(op, reach, ty, target)
        }
        Builtin::Nv { op, form } => newer(&checked(call, op, form, target)?),
        Builtin::ThreadFence => thread_fence(call, target),
        Builtin::Cuda { op, reach } => function(call, op, reach, target),
        Builtin::CudaFence { reach } => {
            let mut text = Writer::default();
            put!(text, "membar.{};", reach.membar());
            Ok(text.finish(&[]))
        }
    }
}

/// The older family: `atom[.scope].op.type`.
fn older(op: Op, reach: Reach, ty: Type, target: Target) -> Result<Expansion, Refusal> {
    let needs = match ty {
        Type::F16x2 => 90,
        Type::F16x4 => 100,
        Type::B128 => 70,
        _ => 0,
    };
    if target.number() < needs {
        let number = if ty == Type::B128 { 3766 } else { 852 };
        return Err(Refusal::numbered(number, format!("no atomic `{}` on `{ty}` for {target}", op.ptx()))
            .help(format!("sm_{needs} or later")));
    }
    let mut text = Writer::default();
    let object = text.address(Role::Object);
    let (scope, ptx) = (reach.qualifier(), op.ptx());
    match ty {
        Type::F16x2 => {
            let value = text.input(Role::Value, RegisterType::B32, "u32");
            let result = text.register(RegisterType::B32);
            put!(text, "atom{scope}.{ptx}.noftz.f16x2 {result}, [{object}], {value};");
            Ok(text.finish(&[&result]))
        }
        Type::F16x4 => {
            let values = [(); 4].map(|()| text.input(Role::Value, RegisterType::B16, "u16")).join(", ");
            let results = [(); 4].map(|()| text.register(RegisterType::B16));
            let names = results.join(", ");
            put!(text, "atom{scope}.{ptx}.noftz.v4.f16 {{{names}}}, [{object}], {{{values}}};");
            Ok(text.finish(&results.each_ref().map(String::as_str)))
        }
        Type::B128 => Ok(wide_access(text, op, &object, &format!("atom{scope}.{ptx}.b128"))),
        _ => {
            let letter = match (op, ty.class()) {
                (Op::Add, Class::Float) => 'f',
                (Op::Add | Op::Sub | Op::Inc | Op::Dec, _) => 'u',
                (Op::Min | Op::Max, class) => class.letter(),
                _ => 'b',
            };
            let register = match ty.bytes() {
                2 => RegisterType::B16,
                4 => RegisterType::B32,
                _ => RegisterType::B64,
            };
            let passed = bits_as(ty);
            let compare = (op == Op::CompareExchange).then(|| text.input(Role::Compare, register, passed));
            let mut value = text.input(Role::Value, register, passed);
            if op == Op::Sub {
                let negated = text.register(register);
                put!(text, "neg.s{} {negated}, {value};", ty.bits());
                value = negated;
            }
            let result = text.register(register);
            let compare = compare.map(|c| format!("{c}, ")).unwrap_or_default();
            put!(text, "atom{scope}.{ptx}.{letter}{} {result}, [{object}], {compare}{value};", ty.bits());
            Ok(text.finish(&[&result]))
        }
    }
}

/// The PTX type that a value is passed as, in registers without a type.
fn bits_as(ty: Type) -> &'static str {
    match ty {
        Type::S8 => "s8",
        Type::U8 => "u8",
        Type::S16 => "s16",
        _ => match ty.bytes() {
            2 => "u16",
            4 => "b32",
            _ => "b64",
        },
    }
}

/// A function of CUDA C++: the older builtin of its operation and type.
fn function(call: &Call, op: Op, reach: Reach, target: Target) -> Result<Expansion, Refusal> {
    let ty = call.object_type()?;
    let behind = match (op, ty) {
        (Op::Add | Op::Sub | Op::Exchange | Op::And | Op::Or | Op::Xor, Type::U32) => Type::S32,
        (Op::Add | Op::Exchange | Op::And | Op::Or | Op::Xor, Type::U64) => Type::S64,
        (Op::CompareExchange, Type::U32) => Type::S32,
        (Op::CompareExchange, Type::U64) => Type::S64,
        (Op::Exchange, Type::F32) => Type::S32,
        (_, ty) => ty,
    };
    // A subtraction is an addition; on 64 bits there is no function for one.
    let named = if op == Op::Sub && ty.bytes() == 4 { Op::Add } else { op };
    if (Builtin::Nvvm { op: named, reach, ty: behind }).id().is_none() || (op == Op::Sub && !ty.is_integer())
    {
        return Err(Refusal::numbered(852, format!("no builtin stands behind `{}` on `{ty}`", call.builtin))
            .help("another type, or the dialect `current`"));
    }
    older(op, reach, behind, target)
}

fn order(argument: Argument<Order>) -> Result<Order, Refusal> {
    match argument {
        Argument::Literal(order) => Ok(order),
        Argument::OutOfRange(number) => {
            Err(Refusal::numbered(3746, format!("no memory order has number {number}")).help("0 to 5"))
        }
        Argument::Runtime => Err(constant("memory order")),
    }
}

fn scope(argument: Argument<Scope>) -> Result<Scope, Refusal> {
    match argument {
        Argument::Literal(scope) => Ok(scope),
        Argument::OutOfRange(number) => {
            Err(Refusal::numbered(3747, format!("unexpected atomic operation scope: {number}"))
                .help("0 to 4"))
        }
        Argument::Runtime => Err(constant("scope")),
    }
}

fn constant(kind: &str) -> Refusal {
    Refusal::new(format!("the {kind} is no constant")).help("a literal: it becomes part of the instruction")
}

fn checked(call: &Call, op: Op, form: Form, target: Target) -> Result<Nv, Refusal> {
    if matches!(form, Form::Sized { .. }) && call.builtin.id().is_none() {
        // The width has no name; what the name construction says of it is the better message.
        if op.is_fetch() {
            return Err(Refusal::numbered(3748, format!("`{}` is no fetch of 4 or 8 bytes", call.builtin))
                .help("a fetch operation takes objects of 4 or 8 bytes"));
        }
        return Err(Refusal::new(format!("unexpected atomic builtin function `{}`", call.builtin))
            .help("another width, or the builtin without one"));
    }
    let ty = call.object_type()?;
    if ty.class() == Class::Half && target.number() < 90 {
        return Err(
            Refusal::numbered(3759, format!("no atomics on `{ty}` for {target}")).help("sm_90 or later")
        );
    }
    if op.is_fetch() {
        if ty.bytes() == 16 {
            return Err(Refusal::numbered(3748, format!("`{ty}` has 16 bytes"))
                .help("a fetch operation takes objects of 4 or 8 bytes"));
        }
        let arithmetic = match ty.class() {
            Class::Signed | Class::Unsigned => true,
            Class::Float => matches!(op, Op::Add | Op::Sub),
            Class::Bits | Class::Half => false,
        };
        if !arithmetic {
            return Err(Refusal::numbered(3745, format!("no atomic `{}` on `{ty}`", op.ptx()))
                .help("an integer type; additions also take `f32` and `f64`"));
        }
    }
    if let Some(other) = call.operand.filter(|other| *other != ty) {
        let number = match op {
            Op::CompareExchange => Some(3756),
            Op::Exchange => Some(3757),
            _ => None,
        };
        if let Some(number) = number {
            return Err(Refusal::numbered(number, format!("the object is `{ty}`, the argument `{other}`"))
                .help("arguments of the object's type"));
        }
    }
    let (order, scope) = (order(call.order)?, scope(call.scope)?);
    match op {
        Op::Load if matches!(order, Order::Release | Order::AcqRel) => {
            return Err(Refusal::numbered(3750, format!("unexpected memory order: {order} of a load"))
                .help("relaxed, consume, acquire or seq_cst"));
        }
        Op::Store if !matches!(order, Order::Relaxed | Order::Release | Order::SeqCst) => {
            return Err(Refusal::numbered(3749, format!("unexpected memory order: {order} of a store"))
                .help("relaxed, release or seq_cst"));
        }
        _ => {}
    }
    if target.number() < 70 {
        let number = match (op, ty.bytes()) {
            (Op::Load | Op::Store, 16) => Some(3764),
            (_, 16) => Some(3766),
            (Op::Store, 2) => Some(3765),
            _ => None,
        };
        if let Some(number) = number {
            let message = format!("no atomic access of {} bits for {target}: `{}`", ty.bits(), call.builtin);
            return Err(Refusal::numbered(number, message).help("sm_70 or later"));
        }
    }
    Ok(Nv { op, ty, order, scope, target })
}

fn newer(nv: &Nv) -> Result<Expansion, Refusal> {
    let mut text = Writer::default();
    if nv.is_volatile() {
        let number = if nv.target.number() < 60 { 3766 } else { 3762 };
        text.warn(number, "memory order and scope of atomics need sm_70 or later: the access is volatile");
    }
    let by_instruction = match nv.op {
        Op::Load | Op::Store => true,
        Op::CompareExchange => nv.ty.bytes() != 1,
        _ => !nv.ty.is_subword(),
    };
    Ok(if by_instruction { access(nv, text) } else { subword::expand(nv, text) })
}

/// One instruction, between its fences.
fn access(nv: &Nv, mut text: Writer) -> Expansion {
    let object = text.address(Role::Object);
    let mnemonic = match nv.op {
        Op::Load | Op::Store => nv.op.ptx().to_owned(),
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
    let compare = (nv.op == Op::CompareExchange).then(|| text.input(Role::Compare, register, passed));
    let value = (nv.op != Op::Load).then(|| text.input(Role::Value, register, passed));
    nv.fence_before(&mut text);
    let value = value.map(|value| {
        if nv.op != Op::Sub {
            return value;
        }
        let negated = text.register(register);
        let letter = if nv.ty.class() == Class::Float { 'f' } else { 's' };
        put!(text, "neg.{letter}{} {negated}, {value};", nv.ty.bits());
        negated
    });
    if nv.op == Op::Store {
        put!(text, "{mnemonic} [{object}], {};", value.unwrap_or_default());
        return text.finish(&[]);
    }
    let result = text.register(register);
    let operands: String = [compare, value].into_iter().flatten().map(|v| format!(", {v}")).collect();
    put!(text, "{mnemonic} {result}, [{object}]{operands};");
    nv.fence_after(&mut text);
    text.finish(&[&result])
}

/// An access of 128 bits, its operands in pairs of 64-bit registers.
fn wide_access(mut text: Writer, op: Op, object: &str, mnemonic: &str) -> Expansion {
    let mut given =
        |wanted: bool, role| wanted.then(|| [(); 2].map(|()| text.input(role, RegisterType::B64, "b64")));
    let pairs = [given(op == Op::CompareExchange, Role::Compare), given(op != Op::Load, Role::Value)];
    let mut operands = Vec::new();
    for [low, high] in pairs.into_iter().flatten() {
        let whole = text.register(RegisterType::B128);
        put!(text, "mov.b128 {whole}, {{{low}, {high}}};");
        operands.push(whole);
    }
    let operands: String = operands.iter().map(|v| format!(", {v}")).collect();
    if op == Op::Store {
        put!(text, "{mnemonic} [{object}]{operands};");
        return text.finish(&[]);
    }
    let found = text.register(RegisterType::B128);
    put!(text, "{mnemonic} {found}, [{object}]{operands};");
    let [low, high] = [(); 2].map(|()| text.register(RegisterType::B64));
    put!(text, "mov.b128 {{{low}, {high}}}, {found};");
    text.finish(&[&low, &high])
}

fn thread_fence(call: &Call, target: Target) -> Result<Expansion, Refusal> {
    let (order, scope) = (order(call.order)?, scope(call.scope)?);
    let mut text = Writer::default();
    if target.number() < 70 {
        put!(text, "membar.{};", membar_scope(scope));
        return Ok(text.finish(&[]));
    }
    let order = match order {
        Order::Release | Order::SeqCst => "sc",
        Order::AcqRel => "acq_rel",
        Order::Relaxed | Order::Consume | Order::Acquire => {
            return Err(Refusal::new(format!("unexpected memory order: {order} of a fence"))
                .help("release, acq_rel or seq_cst"));
        }
    };
    put!(text, "fence.{order}.{};", scope.qualifier(target));
    Ok(text.finish(&[]))
}
