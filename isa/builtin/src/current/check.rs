//! Error messages with which the current CUDA compiler refuses a call, in its wording. Source: [TOOLS].

use super::*;
use crate::NameScope;

const LOGICAL: &str =
    "For a logical atomic operation, the first argument cannot be any floating-point types.";
const MIN_MAX: &str = "atomic operations min and max are not supported on any floating-point types.";
const FETCH_SIZE: &str = "atomic operations and, or, xor, add, sub, min and max are valid only on objects of size 4, or 8 for sm_90 and below.";
const FETCH_TYPE: &str = "first argument must be a pointer to integer, unscoped enum or float type";
const FETCH_SIGNED: &str = "atomic operations add and sub are not valid on signed integer of size 8.";
const FETCH_WIDE: &str = "128-bit wide atomics (add, sub, min, max) only supported for sm_100 and above";
const INTEGRAL: &str =
    "non-generic nv atomic load, store, cas and exchange are valid only on integral types.";
const EXCHANGE_SIZE: &str = "atomic exchange is valid only on objects of size 4, 8 or 16 bytes.";
const CAS_SIZE: &str = "atomic CAS is valid only on objects of size 2, 4, 8 or 16 bytes.";
const WIDE: &str =
    "128-bit atomic exchange or compare-and-exchange is supported on architecture sm_90 or above.";
const LOAD_ORDER: &str = "atomic load's memory order cannot be release or acq_rel.";
const STORE_ORDER: &str = "atomic store's memory order cannot be consume, acquire or acq_rel.";
const FAILURE_ORDER: &str = "failure order cannot be release or acq_rel.";
const FENCE_ORDER: &str = "fence's memory order cannot be relaxed.";

fn order(argument: Argument<MemoryOrder>) -> Result<MemoryOrder, BuiltinRefusal> {
    argument.literal(
        |_| BuiltinRefusal::new("invalid memory order value for atomic operations.", "an order from 0 to 5"),
        "atomic operation's memory order argument is not an integer literal.",
        "a literal from 0 to 5",
    )
}

fn scope(argument: Argument<ThreadScope>) -> Result<ThreadScope, BuiltinRefusal> {
    argument.literal(
        |_| BuiltinRefusal::new("invalid thread scope value for atomic operations.", "a scope from 0 to 4"),
        "atomic operation's scope argument is not an integer literal.",
        "a literal from 0 to 4",
    )
}

/// Checks a call of an `__nv_atomic_*` builtin. The compiler's order of checks decides which error it
/// reports: type, operands, width, target.
pub(super) fn nv(
    call: &Call,
    op: BuiltinOp,
    form: NameForm,
    ty: ObjectType,
    target: PtxTarget,
) -> Result<Nv, BuiltinRefusal> {
    let generation = Generation::of(target);
    let indirect = form == NameForm::Generic && !op.is_fetch();
    if op.is_fetch() {
        fetch_type(op, ty, generation)?;
    } else if !indirect && !ty.is_integer() {
        return refuse(INTEGRAL, "an integer type, or the builtin without `_n`");
    }
    let cas_width = || match ty.bytes() {
        1 if generation == Generation::Inline => refuse(CAS_SIZE, "2 bytes or more, or sm_100 or later"),
        _ => Ok(()),
    };
    if op == BuiltinOp::CompareExchange && !indirect {
        cas_width()?;
    }
    let (mut memory_order, scope) = (order(call.order)?, scope(call.scope)?);
    match op {
        BuiltinOp::Load if matches!(memory_order, MemoryOrder::Release | MemoryOrder::AcqRel) => {
            return refuse(LOAD_ORDER, "relaxed, consume, acquire or seq_cst");
        }
        BuiltinOp::Store
            if !matches!(memory_order, MemoryOrder::Relaxed | MemoryOrder::Release | MemoryOrder::SeqCst) =>
        {
            return refuse(STORE_ORDER, "relaxed, release or seq_cst");
        }
        BuiltinOp::CompareExchange => {
            let failure = order(call.failure)?;
            if matches!(failure, MemoryOrder::Release | MemoryOrder::AcqRel) {
                return refuse(FAILURE_ORDER, "relaxed, consume, acquire or seq_cst on failure");
            }
            cas_width()?;
            memory_order = memory_order.join(failure);
        }
        BuiltinOp::Exchange if ty.is_subword() && generation == Generation::Inline => {
            return refuse(EXCHANGE_SIZE, "4 bytes or more, or sm_100 or later");
        }
        _ => {}
    }
    if ty.bytes() == 16
        && target.number() < 90
        && matches!(op, BuiltinOp::Exchange | BuiltinOp::CompareExchange)
    {
        return refuse(WIDE, "sm_90 or later");
    }
    Ok(Nv {
        op,
        ty,
        indirect,
        order: memory_order,
        strength: call.strength,
        scope: scope.qualifier(target),
        generation,
    })
}

fn fetch_type(op: BuiltinOp, ty: ObjectType, generation: Generation) -> Result<(), BuiltinRefusal> {
    match ty.class() {
        TypeClass::Bits | TypeClass::Half => refuse(FETCH_TYPE, "an integer, float or double"),
        TypeClass::Float if op.is_bitwise() => refuse(LOGICAL, "an integer type"),
        TypeClass::Float | TypeClass::Signed | TypeClass::Unsigned if generation == Generation::Native => {
            Ok(())
        }
        TypeClass::Float if matches!(op, BuiltinOp::Min | BuiltinOp::Max) => {
            refuse(MIN_MAX, "an integer, or sm_100 or later")
        }
        _ if ty.bytes() == 16 => refuse(FETCH_WIDE, "sm_100 or later"),
        _ if ty.is_subword() => refuse(FETCH_SIZE, "4 or 8 bytes, or sm_100 or later"),
        TypeClass::Signed if ty.bytes() == 8 && matches!(op, BuiltinOp::Add | BuiltinOp::Sub) => {
            refuse(FETCH_SIGNED, "an unsigned integer, or sm_100 or later")
        }
        _ => Ok(()),
    }
}

pub(super) fn fence(call: &Call) -> Result<(MemoryOrder, ThreadScope), BuiltinRefusal> {
    match (order(call.order)?, scope(call.scope)?) {
        (MemoryOrder::Relaxed, _) => refuse(FENCE_ORDER, "any other order"),
        operands => Ok(operands),
    }
}

pub(super) fn overload(
    builtin: Builtin,
    op: BuiltinOp,
    reach: NameScope,
    ty: ObjectType,
    target: PtxTarget,
) -> Result<(), BuiltinRefusal> {
    let half = matches!(ty, ObjectType::F16 | ObjectType::F16x2 | ObjectType::Bf16 | ObjectType::Bf16x2)
        && reach == NameScope::Device;
    let wide = ty == ObjectType::B128 && target.number() >= 90;
    let integer = matches!(ty, ObjectType::S32 | ObjectType::U32 | ObjectType::S64 | ObjectType::U64);
    let word = matches!(ty, ObjectType::S32 | ObjectType::U32);
    let (found, help) = match op {
        BuiltinOp::Add => (
            word || matches!(ty, ObjectType::U64 | ObjectType::F32 | ObjectType::F64) || half,
            "int, unsigned, unsigned long long, float, double; without a scope also __half, __half2, \
             __nv_bfloat16 and __nv_bfloat162",
        ),
        BuiltinOp::Sub => (word, "int or unsigned"),
        BuiltinOp::Exchange => (
            word || matches!(ty, ObjectType::U64 | ObjectType::F32) || wide,
            "int, unsigned, unsigned long long, float; from sm_90 also 16 bytes",
        ),
        BuiltinOp::CompareExchange => (
            word || ty == ObjectType::U64 || (ty == ObjectType::U16 && reach == NameScope::Device) || wide,
            "int, unsigned, unsigned long long; without a scope also unsigned short; from sm_90 also 16 bytes",
        ),
        BuiltinOp::And | BuiltinOp::Or | BuiltinOp::Xor | BuiltinOp::Min | BuiltinOp::Max => {
            (integer, "int, unsigned, long long or unsigned long long")
        }
        BuiltinOp::Inc | BuiltinOp::Dec => (ty == ObjectType::U32, "unsigned"),
        BuiltinOp::Load | BuiltinOp::Store => (false, "a builtin `__nv_atomic_load` or `__nv_atomic_store`"),
    };
    match (found, op) {
        (true, _) => Ok(()),
        // `atomicInc` and `atomicDec` are the only functions without overloads, so their message differs.
        (false, BuiltinOp::Inc | BuiltinOp::Dec) => refuse(
            format!(
                "argument of type \"{} *\" is incompatible with parameter of type \"unsigned int *\"",
                ty.cuda_name()
            ),
            help,
        ),
        (false, _) => refuse(
            format!("no instance of overloaded function \"{builtin}\" matches the argument list"),
            help,
        ),
    }
}

pub(super) fn older(builtin: Builtin, ty: ObjectType, target: PtxTarget) -> Result<(), BuiltinRefusal> {
    match ty {
        ObjectType::F16x2 | ObjectType::F16x4 => refuse(
            format!("`{builtin}` on `{ty}` is not supported in the dialect `current`"),
            "use `atomicAdd` on `__half2`, or the dialect `nvvm`",
        ),
        ObjectType::B128 if target.number() < 90 => refuse(WIDE, "sm_90 or later"),
        _ => Ok(()),
    }
}
