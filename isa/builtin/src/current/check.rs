//! What the current compiler refuses, in its words. Source: [TOOLS].

use super::*;
use crate::Reach;

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

fn refuse<T>(message: &str, help: &str) -> Result<T, Refusal> {
    Err(Refusal::new(message).help(help))
}

fn order(argument: Argument<Order>) -> Result<Order, Refusal> {
    match argument {
        Argument::Literal(order) => Ok(order),
        Argument::OutOfRange(_) => {
            refuse("invalid memory order value for atomic operations.", "an order from 0 to 5")
        }
        Argument::Runtime => refuse(
            "atomic operation's memory order argument is not an integer literal.",
            "a literal from 0 to 5",
        ),
    }
}

fn scope(argument: Argument<Scope>) -> Result<Scope, Refusal> {
    match argument {
        Argument::Literal(scope) => Ok(scope),
        Argument::OutOfRange(_) => {
            refuse("invalid thread scope value for atomic operations.", "a scope from 0 to 4")
        }
        Argument::Runtime => {
            refuse("atomic operation's scope argument is not an integer literal.", "a literal from 0 to 4")
        }
    }
}

/// Checks a call of the newer family, in the order of the compiler: type, operands, width, target.
pub(super) fn nv(call: &Call, op: Op, form: Form, ty: Type, target: Target) -> Result<Nv, Refusal> {
    let generation = Generation::of(target);
    let indirect = form == Form::Generic && !op.is_fetch();
    if op.is_fetch() {
        fetch_type(op, ty, generation)?;
    } else if !indirect && !ty.is_integer() {
        return refuse(INTEGRAL, "an integer type, or the builtin without `_n`");
    }
    let cas_width = || match ty.bytes() {
        1 if generation == Generation::Inline => refuse(CAS_SIZE, "2 bytes or more, or sm_100 or later"),
        _ => Ok(()),
    };
    if op == Op::CompareExchange && !indirect {
        cas_width()?;
    }
    let (mut memory_order, scope) = (order(call.order)?, scope(call.scope)?);
    match op {
        Op::Load if matches!(memory_order, Order::Release | Order::AcqRel) => {
            return refuse(LOAD_ORDER, "relaxed, consume, acquire or seq_cst");
        }
        Op::Store if !matches!(memory_order, Order::Relaxed | Order::Release | Order::SeqCst) => {
            return refuse(STORE_ORDER, "relaxed, release or seq_cst");
        }
        Op::CompareExchange => {
            let failure = order(call.failure)?;
            if matches!(failure, Order::Release | Order::AcqRel) {
                return refuse(FAILURE_ORDER, "relaxed, consume, acquire or seq_cst on failure");
            }
            cas_width()?;
            memory_order = memory_order.join(failure);
        }
        Op::Exchange if ty.is_subword() && generation == Generation::Inline => {
            return refuse(EXCHANGE_SIZE, "4 bytes or more, or sm_100 or later");
        }
        _ => {}
    }
    if ty.bytes() == 16 && target.number() < 90 && matches!(op, Op::Exchange | Op::CompareExchange) {
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

fn fetch_type(op: Op, ty: Type, generation: Generation) -> Result<(), Refusal> {
    match ty.class() {
        Class::Bits | Class::Half => refuse(FETCH_TYPE, "an integer, float or double"),
        Class::Float if op.is_bitwise() => refuse(LOGICAL, "an integer type"),
        Class::Float | Class::Signed | Class::Unsigned if generation == Generation::Native => Ok(()),
        Class::Float if matches!(op, Op::Min | Op::Max) => refuse(MIN_MAX, "an integer, or sm_100 or later"),
        _ if ty.bytes() == 16 => refuse(FETCH_WIDE, "sm_100 or later"),
        _ if ty.is_subword() => refuse(FETCH_SIZE, "4 or 8 bytes, or sm_100 or later"),
        Class::Signed if ty.bytes() == 8 && matches!(op, Op::Add | Op::Sub) => {
            refuse(FETCH_SIGNED, "an unsigned integer, or sm_100 or later")
        }
        _ => Ok(()),
    }
}

/// Checks the operands of a fence.
pub(super) fn fence(call: &Call) -> Result<(Order, Scope), Refusal> {
    match (order(call.order)?, scope(call.scope)?) {
        (Order::Relaxed, _) => refuse(FENCE_ORDER, "any other order"),
        operands => Ok(operands),
    }
}

/// Checks that CUDA C++ has a function for a type.
pub(super) fn overload(
    builtin: Builtin,
    op: Op,
    reach: Reach,
    ty: Type,
    target: Target,
) -> Result<(), Refusal> {
    let half = matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) && reach == Reach::Device;
    let wide = ty == Type::B128 && target.number() >= 90;
    let integer = matches!(ty, Type::S32 | Type::U32 | Type::S64 | Type::U64);
    let word = matches!(ty, Type::S32 | Type::U32);
    let (found, help) = match op {
        Op::Add => (
            word || matches!(ty, Type::U64 | Type::F32 | Type::F64) || half,
            "int, unsigned, unsigned long long, float, double; without a scope also __half, __half2, \
             __nv_bfloat16 and __nv_bfloat162",
        ),
        Op::Sub => (word, "int or unsigned"),
        Op::Exchange => (
            word || matches!(ty, Type::U64 | Type::F32) || wide,
            "int, unsigned, unsigned long long, float; from sm_90 also 16 bytes",
        ),
        Op::CompareExchange => (
            word || ty == Type::U64 || (ty == Type::U16 && reach == Reach::Device) || wide,
            "int, unsigned, unsigned long long; without a scope also unsigned short; from sm_90 also 16 bytes",
        ),
        Op::And | Op::Or | Op::Xor | Op::Min | Op::Max => {
            (integer, "int, unsigned, long long or unsigned long long")
        }
        Op::Inc | Op::Dec => (ty == Type::U32, "unsigned"),
        Op::Load | Op::Store => (false, "a builtin `__nv_atomic_load` or `__nv_atomic_store`"),
    };
    match (found, op) {
        (true, _) => Ok(()),
        // The only ones that are not overloaded.
        (false, Op::Inc | Op::Dec) => Err(Refusal::new(format!(
            "argument of type \"{} *\" is incompatible with parameter of type \"unsigned int *\"",
            ty.cuda_name()
        ))
        .help(help)),
        (false, _) => refuse(
            &format!("no instance of overloaded function \"{builtin}\" matches the argument list"),
            help,
        ),
    }
}

/// Checks what the older family's names need of the target.
pub(super) fn older(builtin: Builtin, ty: Type, target: Target) -> Result<(), Refusal> {
    match ty {
        Type::F16x2 | Type::F16x4 => refuse(
            &format!("`{builtin}` is not reproduced as the current compiler has it"),
            "`atomicAdd` on `__half2`, or the dialect `nvvm`",
        ),
        Type::B128 if target.number() < 90 => refuse(WIDE, "sm_90 or later"),
        _ => Ok(()),
    }
}
