//! Runs the PTX of builtins in a small interpreter, and compares the result with the operation that the
//! language specifies. Also tests properties that all calls have.

use crate::interpreter;

use atoms_builtin::{
    Argument, Builtin, BuiltinOp, Call, CasStrength, Dialect, Expansion, InputRole, MemoryOrder, NameForm,
    NumberedOperand, ObjectPlace, ObjectType, PtxTarget, ThreadScope, TypeClass, expand, parse,
};
use atoms_isa::ptx::{Module, snippet};
use interpreter::{MEMORY, Thread, combine, mask, signed};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};

const VALUE: u64 = 0x40;
const EXPECTED: u64 = 0x50;
const RESULT: u64 = 0x60;

/// Returns the new value that the language specifies for the builtin and an old value. It is derived from the
/// builtin, not from PTX, and so independent of the interpreter's [`combine`].
fn language(op: BuiltinOp, ty: ObjectType, old: u128, value: u128, compare: u128) -> u128 {
    let letter = ty.class().letter();
    match op {
        BuiltinOp::CompareExchange => {
            if old == compare {
                value
            } else {
                old
            }
        }
        BuiltinOp::Exchange | BuiltinOp::Store => value,
        BuiltinOp::Load => old,
        BuiltinOp::Sub => combine("sub", letter, ty.bits(), old, value),
        op => combine(op.ptx(), letter, ty.bits(), old, value),
    }
}

/// Returns the value as it is in a register: sign-extended to at least 32 bits.
fn in_register(ty: ObjectType, value: u128) -> u128 {
    if ty.is_subword() && ty.class() == TypeClass::Signed {
        return signed(value, ty.bits()) as u128 & mask(32);
    }
    value
}

struct Case {
    call: Call,
    ty: ObjectType,
    target: PtxTarget,
    dialect: Dialect,
    memory: [u8; 128],
    offset: u64,
    value: u128,
    compare: u128,
}

/// Runs the PTX of a call, and checks memory and result. Returns false if the call is refused.
fn check(case: &Case) -> bool {
    let Ok(expansion) = expand(&case.call, case.target, case.dialect) else { return false };
    let bytes = case.ty.bytes();
    let mut thread = Thread::new(case.memory);
    let old = thread.read(MEMORY + case.offset, bytes);
    thread.write(MEMORY + VALUE, bytes, case.value);
    thread.write(MEMORY + EXPECTED, bytes, case.compare);
    let before = thread.memory;
    enter(&mut thread, &expansion, case);
    thread.run(&expansion.lines);

    let op = case.call.builtin.op().unwrap();
    let new = language(op, case.ty, old, case.value, case.compare);
    let mut wanted = Thread::new(before);
    wanted.write(MEMORY + case.offset, bytes, new);
    let roles: Vec<InputRole> = expansion.inputs.iter().map(|i| i.role).collect();
    if roles.contains(&InputRole::ExpectedAddress) {
        wanted.write(MEMORY + EXPECTED, bytes, old);
    }
    if roles.contains(&InputRole::ResultAddress) {
        wanted.write(MEMORY + RESULT, bytes, old);
    }
    let context = format!("{:?}\n{expansion}", case.call);
    assert_eq!(thread.memory, wanted.memory, "{context}");
    let result = expansion.result.iter().rev().fold(0, |whole, r| whole << 64 | thread.get(r));
    if roles.contains(&InputRole::ExpectedAddress) {
        assert_eq!(result, u128::from(old == case.compare), "{context}");
    } else if !expansion.result.is_empty() {
        // For a single instruction, the dialect `nvvm` does not specify the upper bits of the result.
        let bare =
            case.dialect == Dialect::Nvvm && matches!(op, BuiltinOp::Load | BuiltinOp::CompareExchange);
        let (got, wanted) = (result, in_register(case.ty, old));
        let seen = if bare { mask(case.ty.bits()) } else { u128::MAX };
        assert_eq!(got & seen, wanted & seen, "{context}");
    } else {
        assert!(op == BuiltinOp::Store || roles.contains(&InputRole::ResultAddress), "no result\n{context}");
    }
    true
}

fn enter(thread: &mut Thread, expansion: &Expansion, case: &Case) {
    let mut halves: HashMap<InputRole, u32> = HashMap::new();
    for input in &expansion.inputs {
        let half = halves.entry(input.role).or_default();
        let value = match input.role {
            InputRole::Object => u128::from(MEMORY + case.offset),
            InputRole::ValueAddress => u128::from(MEMORY + VALUE),
            InputRole::ExpectedAddress => u128::from(MEMORY + EXPECTED),
            InputRole::ResultAddress => u128::from(MEMORY + RESULT),
            InputRole::Value => case.value >> (64 * *half),
            InputRole::Compare => case.compare >> (64 * *half),
        };
        *half += 1;
        let bits = input.passed_as[1..].parse().unwrap();
        let passed =
            if input.passed_as.starts_with('s') { signed(value, bits) as u128 } else { value & mask(bits) };
        thread.set(&input.register, passed);
    }
}

fn types() -> Vec<ObjectType> {
    ObjectType::ALL.iter().copied().filter(|ty| ty.class() != TypeClass::Half).collect()
}

/// Generates a value of a type: random bits, bits near the limits of comparisons, or a small float.
fn value(ty: ObjectType) -> BoxedStrategy<u128> {
    let bits = ty.bits();
    match ty {
        ObjectType::F32 => (1u8..100).prop_map(|n| f32::from(n).to_bits().into()).boxed(),
        ObjectType::F64 => (1u8..100).prop_map(|n| f64::from(n).to_bits().into()).boxed(),
        _ => prop_oneof![
            Just(0),
            Just(1),
            Just(mask(bits)),
            Just(1 << (bits - 1)),
            Just((1 << (bits - 1)) - 1),
            any::<u128>().prop_map(move |v| v & mask(bits)),
        ]
        .boxed(),
    }
}

fn any_of<T: NumberedOperand + std::fmt::Debug>() -> impl Strategy<Value = T> {
    proptest::sample::select(T::VARIANTS)
}

fn case() -> impl Strategy<Value = Case> {
    let calls: Vec<(Builtin, ObjectType)> = Builtin::all()
        .into_iter()
        .filter(|b| b.op().is_some())
        .flat_map(|b| types().into_iter().map(move |ty| (b, ty)))
        .filter(|(b, ty)| b.object_type().is_none_or(|fixed| fixed == *ty))
        .collect();
    let targets = proptest::sample::select(vec!["sm_60", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]);
    let dialects = proptest::sample::select(vec![Dialect::Nvvm, Dialect::Current]);
    proptest::sample::select(calls).prop_flat_map(move |(builtin, ty)| {
        (
            (any_of::<MemoryOrder>(), any_of::<MemoryOrder>(), any_of::<ThreadScope>(), any::<bool>()),
            (targets.clone(), dialects.clone()),
            (value(ty), value(ty), value(ty), any::<bool>()),
            (any::<[u8; 32]>(), 0u64..4),
        )
            .prop_map(move |(operands, (target, dialect), values, (noise, place))| {
                let (order, failure, scope, weak) = operands;
                let (old, value, compare, equal) = values;
                let offset = place * u64::from(ty.bytes());
                let mut memory = [0; 128];
                memory[..32].copy_from_slice(&noise);
                memory[32..64].copy_from_slice(&noise);
                let at = offset as usize;
                memory[at..at + ty.bytes() as usize]
                    .copy_from_slice(&old.to_le_bytes()[..ty.bytes() as usize]);
                Case {
                    call: Call {
                        ty: Some(ty),
                        order: order.into(),
                        failure: failure.into(),
                        scope: scope.into(),
                        strength: if weak { CasStrength::Weak } else { CasStrength::Strong },
                        ..Call::new(builtin)
                    },
                    ty,
                    target: target.parse().unwrap(),
                    dialect,
                    memory,
                    offset,
                    value,
                    compare: if equal { old } else { compare },
                }
            })
    })
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} {} {} offset {} value {:#x} compare {:#x}",
            self.call, self.target, self.dialect, self.offset, self.value, self.compare
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    /// The PTX changes memory and returns a value as the language specifies. All other bytes of memory stay
    /// unchanged.
    #[test]
    fn the_text_does_what_the_builtin_says(case in case()) {
        check(&case);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_are_read_or_refused(name in ".{0,80}", dotted in "(__nv_atomic_|__nvvm_atom_|atomic)[a-z_]{0,24}[0-9]{0,24}(_[usfn])?") {
        for text in [name, dotted] {
            if let Err(refusal) = parse(&text) {
                prop_assert!(!refusal.help.is_empty() && refusal.message.len() < 400, "{refusal:?}");
            }
            let _ = (text.parse::<ObjectType>(), text.parse::<MemoryOrder>(), text.parse::<ThreadScope>(), text.parse::<PtxTarget>());
            let _ = (text.parse::<Argument<MemoryOrder>>(), text.parse::<Dialect>());
        }
    }
}

/// Every call expands or is refused. An expansion lists each register that it uses once.
#[test]
fn every_call_expands_or_is_refused() {
    let mut builtins = Builtin::all();
    for op in BuiltinOp::NV.iter().copied() {
        for bytes in [0, 1, 16, u32::MAX] {
            for class in
                [TypeClass::Bits, TypeClass::Unsigned, TypeClass::Signed, TypeClass::Float, TypeClass::Half]
            {
                builtins.push(Builtin::Nv { op, form: NameForm::Sized { bytes, class } });
            }
        }
    }
    let (mut expanded, mut refused, mut ran) = (0, 0, 0);
    let failures = [MemoryOrder::Relaxed, MemoryOrder::Consume, MemoryOrder::Release];
    let targets = ["sm_50", "sm_60", "sm_75", "sm_80", "sm_90a", "sm_121"];
    for builtin in builtins {
        for ty in ObjectType::ALL.iter().copied() {
            for (order, failure) in MemoryOrder::ALL.iter().flat_map(|o| failures.map(|f| (*o, f))) {
                for target in targets {
                    for dialect in [Dialect::Nvvm, Dialect::Current] {
                        let call = Call {
                            ty: Some(ty),
                            order: order.into(),
                            failure: failure.into(),
                            place: if failure == MemoryOrder::Consume {
                                ObjectPlace::Shared
                            } else {
                                ObjectPlace::Generic
                            },
                            ..Call::new(builtin)
                        };
                        let target: PtxTarget = target.parse().unwrap();
                        match expand(&call, target, dialect) {
                            Ok(expansion) => {
                                expanded += 1;
                                names_its_registers(&expansion);
                            }
                            Err(refusal) => {
                                refused += 1;
                                assert!(!refusal.message.is_empty() && !refusal.help.is_empty(), "{call:?}");
                            }
                        }
                        let known = ty.class() != TypeClass::Half
                            && builtin.op().is_some()
                            && builtin.object_type().is_none_or(|fixed| fixed == ty);
                        if known && call.place == ObjectPlace::Generic && failure == MemoryOrder::Relaxed {
                            let memory = [0x5a; 128];
                            let (value, compare) = (3, 0x5a & mask(ty.bits()));
                            if ty.class() != TypeClass::Float {
                                let case =
                                    Case { call, ty, target, dialect, memory, offset: 0, value, compare };
                                ran += usize::from(check(&case));
                            }
                        }
                    }
                }
            }
        }
    }
    println!("{expanded} expanded, {refused} refused, {ran} run");
    assert!(expanded > 50_000 && refused > 50_000 && ran > 5_000, "{expanded} {refused} {ran}");
}

/// The parser of `atoms_isa` accepts all PTX that builtins expand to, as loose instructions and as a module.
#[test]
fn what_is_emitted_is_read() {
    let mut texts = BTreeMap::new();
    for (builtin, ty) in
        Builtin::all().into_iter().flat_map(|b| ObjectType::ALL.iter().map(move |ty| (b, *ty)))
    {
        for (order, strength) in
            [(MemoryOrder::Relaxed, CasStrength::Strong), (MemoryOrder::SeqCst, CasStrength::Weak)]
        {
            for arch in ["sm_60", "sm_75", "sm_80", "sm_90", "sm_100"] {
                for (dialect, place) in [
                    (Dialect::Nvvm, ObjectPlace::Generic),
                    (Dialect::Current, ObjectPlace::Generic),
                    (Dialect::Current, ObjectPlace::Shared),
                ] {
                    let call =
                        Call { ty: Some(ty), order: order.into(), strength, place, ..Call::new(builtin) };
                    let target = arch.parse().unwrap();
                    if let Ok(expansion) = expand(&call, target, dialect) {
                        texts.insert((arch, expansion.to_string()), expansion.module("f", target));
                    }
                }
            }
        }
    }
    assert!(texts.len() > 1000, "{}", texts.len());
    for ((_, lines), module) in &texts {
        snippet(lines).unwrap_or_else(|e| panic!("{e}\n{lines}"));
        let read = Module::parse("builtin", module).unwrap_or_else(|e| panic!("{e}\n{module}"));
        assert_eq!(read.functions.len(), 1, "{module}");
    }
}

fn names_its_registers(expansion: &Expansion) {
    let names: Vec<&str> = expansion.registers.iter().map(|r| r.name.as_str()).collect();
    for (i, name) in names.iter().enumerate() {
        assert!(!names[..i].contains(name), "`{name}` twice\n{expansion}");
    }
    for line in &expansion.lines {
        for word in line.split(|c: char| !(c.is_ascii_alphanumeric() || "%_$.".contains(c))) {
            if word.starts_with('%') && !["%tid.x", "%tmp"].contains(&word) {
                assert!(names.contains(&word), "`{word}` has no type\n{expansion}");
            }
        }
    }
    for register in expansion.inputs.iter().map(|i| &i.register).chain(&expansion.result) {
        assert!(names.contains(&register.as_str()), "`{register}`\n{expansion}");
    }
}

/// Each name parses to its builtin. The message for a misspelled name suggests the intended name.
#[test]
fn names_are_read_as_they_are_written() {
    for builtin in Builtin::all() {
        assert_eq!(parse(&builtin.to_string()), Ok(builtin));
    }
    for ty in ObjectType::ALL {
        assert_eq!((ty.name().parse(), ty.cuda_name().parse()), (Ok(*ty), Ok(*ty)));
    }
    for (i, order) in MemoryOrder::ALL.iter().enumerate() {
        assert_eq!((order.to_string().parse(), i.to_string().parse()), (Ok(*order), Ok(*order)));
    }
    for (name, scope) in [
        ("cta", ThreadScope::Block),
        ("gpu", ThreadScope::Device),
        ("sys", ThreadScope::System),
        ("2", ThreadScope::Cluster),
    ] {
        assert_eq!(name.parse(), Ok(scope));
    }
    for (slip, meant) in [
        ("__nv_atomic_fetch_ad_4_u", "__nv_atomic_fetch_add_4_u"),
        ("__nvvm_atom_cta_cas_gen_us", "__nvvm_atom_cta_cas_gen_i"),
        ("atomicadd", "atomicAdd"),
        ("atomicExchange", "atomicExch"),
        ("__nv_atomic_threadfence", "__nv_atomic_thread_fence"),
    ] {
        let help = parse(slip).unwrap_err().help;
        assert!(help.contains(&format!("`{meant}")), "{slip}: {help}");
    }
    for (name, bad) in [
        ("order", "relaxd".parse::<MemoryOrder>().unwrap_err()),
        ("order", "6".parse::<MemoryOrder>().unwrap_err()),
    ] {
        assert!(bad.message.contains(name) && !bad.help.is_empty(), "{bad:?}");
    }
    for bad in ["sm_49", "sm_130", "sm_", "sm_90x", "90", "sm_90aa", "sm_+90", ""] {
        assert!(bad.parse::<PtxTarget>().is_err(), "{bad}");
    }
}
