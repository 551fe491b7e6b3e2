//! Dialect `nvvm`: one row for each statement of [NVVM] about atomics (spec 8.1 to 8.4). Where statements
//! contradict each other, the row tests the one that `docs/builtins.md` follows.

use atoms_builtin::{
    Builtin, BuiltinOp, BuiltinRefusal, Call, Dialect, Expansion, Hint, ObjectType, PtxTarget, atom_text,
    expand, membar_text, parse,
};

/// Expected result of a row: the PTX lines, joined and without register names, or the number of a diagnostic
/// and part of its message.
enum Want {
    Text(&'static str),
    Refused(Option<u16>, &'static str),
}
use Want::{Refused, Text};

fn run(name: &str, ty: &str, order: &str, scope: &str, target: &str) -> Result<Expansion, BuiltinRefusal> {
    let mut call = Call::new(parse(name)?);
    if !ty.is_empty() {
        call.ty = Some(ty.parse()?);
    }
    call.order = order.parse()?;
    call.scope = scope.parse()?;
    expand(&call, target.parse::<PtxTarget>()?, Dialect::Nvvm)
}

/// Joins the PTX lines, and replaces every register by `R`.
fn shape(expansion: &Expansion) -> String {
    let mut out = String::new();
    for line in &expansion.lines {
        let mut rest = line.as_str();
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            out.push('R');
            let name = &rest[at + 1..];
            rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        }
        out.push_str(rest);
        out.push(' ');
    }
    out.trim_end().replace(' ', "").replace(';', "; ").trim_end().to_owned()
}

#[rustfmt::skip]
const ROWS: &[(&str, &str, &str, &str, &str, &str, Want)] = &[
    // Columns: statement of [NVVM], builtin, type, order, scope, target, expected result. First rows: the
    // `__nv_atomic_*` family, sm_70 and later.
    ("ld.order.scope.type", "__nv_atomic_load_4", "", "acquire", "device", "sm_70", Text("ld.acquire.gpu.b32R,[R];")),
    ("st.order.scope.type", "__nv_atomic_store_4", "", "release", "system", "sm_80", Text("st.release.sys.b32[R],R;")),
    ("atom.add.order.scope.type", "__nv_atomic_fetch_add_4_u", "", "acq_rel", "block", "sm_80", Text("atom.add.acq_rel.cta.u32R,[R],R;")),
    ("atom.cas.order.scope.type", "__nv_atomic_compare_exchange_8", "", "relaxed", "device", "sm_80", Text("atom.cas.relaxed.gpu.b64R,[R],R,R;")),
    ("the generic names take the type of the object", "__nv_atomic_load", "f64", "relaxed", "device", "sm_80", Text("ld.relaxed.gpu.b64R,[R];")),
    // Rows on memory orders.
    ("order 0 is relaxed", "__nv_atomic_fetch_or_4", "", "0", "1", "sm_80", Text("atom.or.relaxed.cta.b32R,[R],R;")),
    ("order 1, consume, is acquire", "__nv_atomic_fetch_or_4", "", "1", "1", "sm_80", Text("atom.or.acquire.cta.b32R,[R],R;")),
    ("order 2 is acquire", "__nv_atomic_fetch_or_4", "", "2", "1", "sm_80", Text("atom.or.acquire.cta.b32R,[R],R;")),
    ("order 3 is release", "__nv_atomic_fetch_or_4", "", "3", "1", "sm_80", Text("atom.or.release.cta.b32R,[R],R;")),
    ("order 4 is acq_rel", "__nv_atomic_fetch_or_4", "", "4", "1", "sm_80", Text("atom.or.acq_rel.cta.b32R,[R],R;")),
    ("order 5 of an operation: fences around acq_rel", "__nv_atomic_fetch_or_4", "", "5", "1", "sm_80", Text("fence.sc.cta; atom.or.acq_rel.cta.b32R,[R],R; fence.sc.cta;")),
    ("order 5 of a load: acquire and a fence after", "__nv_atomic_load_4", "", "5", "3", "sm_80", Text("ld.acquire.gpu.b32R,[R]; fence.sc.gpu;")),
    ("order 5 of a store: a fence before release", "__nv_atomic_store_4", "", "5", "3", "sm_80", Text("fence.sc.gpu; st.release.gpu.b32[R],R;")),
    ("no fence below seq_cst", "__nv_atomic_fetch_or_4", "", "acq_rel", "4", "sm_90", Text("atom.or.acq_rel.sys.b32R,[R],R;")),
    ("the fence has the scope of the access", "__nv_atomic_exchange_8", "", "5", "4", "sm_90", Text("fence.sc.sys; atom.exch.acq_rel.sys.b64R,[R],R; fence.sc.sys;")),
    ("loads refuse release", "__nv_atomic_load_4", "", "3", "3", "sm_80", Refused(Some(3750), "unexpected memory order")),
    ("loads refuse acq_rel", "__nv_atomic_load_4", "", "4", "3", "sm_80", Refused(Some(3750), "unexpected memory order")),
    ("stores refuse consume", "__nv_atomic_store_4", "", "1", "3", "sm_80", Refused(Some(3749), "unexpected memory order")),
    ("stores refuse acquire", "__nv_atomic_store_4", "", "2", "3", "sm_80", Refused(Some(3749), "unexpected memory order")),
    ("stores refuse acq_rel", "__nv_atomic_store_4", "", "4", "3", "sm_80", Refused(Some(3749), "unexpected memory order")),
    ("an order beyond 5", "__nv_atomic_fetch_or_4", "", "6", "3", "sm_80", Refused(Some(3746), "6")),
    ("the order is a constant", "__nv_atomic_fetch_or_4", "", "runtime", "3", "sm_80", Refused(None, "not a constant")),
    // Rows on scopes.
    ("scope 0 is cta", "__nv_atomic_load_4", "", "0", "0", "sm_90", Text("ld.relaxed.cta.b32R,[R];")),
    ("scope 1 is cta", "__nv_atomic_load_4", "", "0", "1", "sm_90", Text("ld.relaxed.cta.b32R,[R];")),
    ("scope 2 is cluster from sm_90", "__nv_atomic_load_4", "", "0", "2", "sm_90", Text("ld.relaxed.cluster.b32R,[R];")),
    ("scope 2 is gpu up to sm_89", "__nv_atomic_load_4", "", "0", "2", "sm_89", Text("ld.relaxed.gpu.b32R,[R];")),
    ("scope 3 is gpu", "__nv_atomic_load_4", "", "0", "3", "sm_90", Text("ld.relaxed.gpu.b32R,[R];")),
    ("scope 4 is sys", "__nv_atomic_load_4", "", "0", "4", "sm_90", Text("ld.relaxed.sys.b32R,[R];")),
    ("a scope beyond 4", "__nv_atomic_load_4", "", "0", "5", "sm_90", Refused(Some(3747), "unexpected atomic operation scope")),
    ("the scope is a constant", "__nv_atomic_load_4", "", "0", "runtime", "sm_90", Refused(None, "not a constant")),
    // Rows on types and widths.
    ("b for and, or, xor", "__nv_atomic_fetch_xor_8", "", "0", "1", "sm_80", Text("atom.xor.relaxed.cta.b64R,[R],R;")),
    ("b for exchange", "__nv_atomic_exchange_4", "", "0", "1", "sm_80", Text("atom.exch.relaxed.cta.b32R,[R],R;")),
    ("u for unsigned max", "__nv_atomic_fetch_max_8_u", "", "0", "1", "sm_80", Text("atom.max.relaxed.cta.u64R,[R],R;")),
    ("s for signed min", "__nv_atomic_fetch_min_4_s", "", "0", "1", "sm_80", Text("atom.min.relaxed.cta.s32R,[R],R;")),
    ("no signed addition", "__nv_atomic_fetch_add_8_s", "", "0", "1", "sm_80", Text("atom.add.relaxed.cta.u64R,[R],R;")),
    ("f for float addition", "__nv_atomic_fetch_add_4_f", "", "0", "1", "sm_80", Text("atom.add.relaxed.cta.f32R,[R],R;")),
    ("f for double addition", "__nv_atomic_fetch_add_8_f", "", "0", "1", "sm_80", Text("atom.add.relaxed.cta.f64R,[R],R;")),
    ("one byte", "__nv_atomic_load_1", "", "0", "1", "sm_80", Text("ld.relaxed.cta.b8R,[R];")),
    ("two bytes", "__nv_atomic_store_2", "", "0", "1", "sm_80", Text("st.relaxed.cta.b16[R],R;")),
    ("sixteen bytes, in pairs", "__nv_atomic_load_16", "", "0", "1", "sm_80", Text("ld.relaxed.cta.b128R,[R]; mov.b128{R,R},R;")),
    ("sixteen bytes compared", "__nv_atomic_compare_exchange_16", "", "0", "1", "sm_90", Text("mov.b128R,{R,R}; mov.b128R,{R,R}; atom.cas.relaxed.cta.b128R,[R],R,R; mov.b128{R,R},R;")),
    ("two bytes compared", "__nv_atomic_compare_exchange_2", "", "0", "1", "sm_80", Text("atom.cas.relaxed.cta.b16R,[R],R,R;")),
    ("three bytes are no width", "__nv_atomic_load_3", "", "0", "1", "sm_80", Refused(Some(3767), "3 bytes")),
    ("thirty-two bytes are no width", "__nv_atomic_store_32", "", "0", "1", "sm_80", Refused(Some(3767), "32 bytes")),
    ("a fetch is of 4 or 8 bytes, not 2", "__nv_atomic_fetch_add_2_u", "", "0", "1", "sm_80", Refused(Some(3748), "4 or 8")),
    ("a fetch is of 4 or 8 bytes, not 16", "__nv_atomic_fetch_add", "u128", "0", "1", "sm_90", Refused(Some(3748), "16 bytes")),
    ("no name for an exchange of 2 bytes", "__nv_atomic_exchange_2", "", "0", "1", "sm_80", Refused(None, "unexpected atomic builtin function")),
    ("no float minimum", "__nv_atomic_fetch_min_4_f", "", "0", "1", "sm_80", Refused(Some(3745), "min")),
    ("no float bits", "__nv_atomic_fetch_and", "f32", "0", "1", "sm_80", Refused(Some(3745), "and")),
    ("half precision from sm_90", "__nv_atomic_load", "f16", "0", "1", "sm_89", Refused(Some(3759), "f16")),
    ("half precision on sm_90", "__nv_atomic_load", "f16", "0", "1", "sm_90", Text("ld.relaxed.cta.b16R,[R];")),
    // Rows on subtraction.
    ("an integer is negated and added", "__nv_atomic_fetch_sub_4_u", "", "0", "1", "sm_80", Text("neg.s32R,R; atom.add.relaxed.cta.u32R,[R],R;")),
    ("a float is negated and added", "__nv_atomic_fetch_sub_8_f", "", "0", "1", "sm_80", Text("neg.f64R,R; atom.add.relaxed.cta.f64R,[R],R;")),
    // Rows on targets before sm_70.
    ("loads are volatile", "__nv_atomic_load_4", "", "2", "3", "sm_69", Text("ld.volatile.b32R,[R];")),
    ("stores are volatile", "__nv_atomic_store_4", "", "0", "3", "sm_60", Text("st.volatile.b32[R],R;")),
    ("operations are volatile", "__nv_atomic_fetch_add_4_u", "", "0", "3", "sm_60", Text("atom.add.volatile.u32R,[R],R;")),
    ("membar before release", "__nv_atomic_store_4", "", "3", "1", "sm_60", Text("membar.cta; st.volatile.b32[R],R;")),
    ("membar around seq_cst, gl for a cluster", "__nv_atomic_fetch_and_4", "", "5", "2", "sm_60", Text("membar.gl; atom.and.volatile.b32R,[R],R; membar.gl;")),
    ("membar.sys", "__nv_atomic_fetch_and_4", "", "4", "4", "sm_60", Text("membar.sys; atom.and.volatile.b32R,[R],R;")),
    ("no 128-bit load", "__nv_atomic_load_16", "", "0", "1", "sm_69", Refused(Some(3764), "128 bits")),
    ("no 128-bit store", "__nv_atomic_store_16", "", "0", "1", "sm_61", Refused(Some(3764), "128 bits")),
    ("no 128-bit exchange", "__nv_atomic_exchange_16", "", "0", "1", "sm_69", Refused(Some(3766), "128 bits")),
    ("no 16-bit store", "__nv_atomic_store_2", "", "0", "1", "sm_69", Refused(Some(3765), "16 bits")),
    // Rows on the fence.
    ("fence 3 is sc", "__nv_atomic_thread_fence", "", "3", "3", "sm_80", Text("fence.sc.gpu;")),
    ("fence 4 is acq_rel", "__nv_atomic_thread_fence", "", "4", "4", "sm_80", Text("fence.acq_rel.sys;")),
    ("fence 5 is sc", "__nv_atomic_thread_fence", "", "5", "0", "sm_80", Text("fence.sc.cta;")),
    ("fence 0", "__nv_atomic_thread_fence", "", "0", "0", "sm_80", Refused(None, "unexpected memory order")),
    ("fence 1", "__nv_atomic_thread_fence", "", "1", "0", "sm_80", Refused(None, "unexpected memory order")),
    ("fence 2", "__nv_atomic_thread_fence", "", "2", "0", "sm_80", Refused(None, "unexpected memory order")),
    ("a fence of a cluster", "__nv_atomic_thread_fence", "", "5", "2", "sm_90", Text("fence.sc.cluster;")),
    ("a fence of a cluster before clusters", "__nv_atomic_thread_fence", "", "5", "2", "sm_89", Text("fence.sc.gpu;")),
    ("a fence before sm_70", "__nv_atomic_thread_fence", "", "5", "1", "sm_69", Text("membar.cta;")),
    ("a device fence before sm_70", "__nv_atomic_thread_fence", "", "4", "3", "sm_60", Text("membar.gl;")),
    ("a system fence before sm_70", "__nv_atomic_thread_fence", "", "4", "4", "sm_60", Text("membar.sys;")),
    ("__threadfence", "__threadfence", "", "5", "3", "sm_80", Text("membar.gl;")),
    // Rows on objects smaller than a word.
    ("a fetch of one byte is a loop", "__nv_atomic_fetch_add", "u8", "acq_rel", "1", "sm_80", Text(
        "fence.acq_rel.cta; and.b64R,R,-4; cvt.u32.u64R,R; and.b32R,R,3; shl.b32R,R,3; mov.b32R,255; shl.b32R,R,R; not.b32R,R; \
         ld.relaxed.cta.b32R,[R]; $L__BB0_1:shr.u32R,R,R; and.b32R,R,255; add.s32R,R,R; and.b32R,R,255; shl.b32R,R,R; and.b32R,R,R; or.b32R,R,R; \
         atom.cas.relaxed.cta.b32R,[R],R,R; setp.ne.b32R,R,R; mov.b32R,R; @Rbra$L__BB0_1; shr.u32R,R,R; and.b32R,R,255; fence.acq_rel.cta;")),
    ("a signed maximum of two bytes keeps the sign", "__nv_atomic_fetch_max", "s16", "0", "1", "sm_80", Text(
        "and.b64R,R,-4; cvt.u32.u64R,R; and.b32R,R,3; shl.b32R,R,3; mov.b32R,65535; shl.b32R,R,R; not.b32R,R; \
         ld.relaxed.cta.b32R,[R]; $L__BB0_1:shr.u32R,R,R; cvt.s32.s16R,R; max.s32R,R,R; and.b32R,R,65535; shl.b32R,R,R; and.b32R,R,R; or.b32R,R,R; \
         atom.cas.relaxed.cta.b32R,[R],R,R; setp.ne.b32R,R,R; mov.b32R,R; @Rbra$L__BB0_1; shr.u32R,R,R; cvt.s32.s16R,R;")),
    ("a byte exchanged is shifted once, before the loop", "__nv_atomic_exchange", "u8", "5", "1", "sm_60", Text(
        "membar.cta; and.b64R,R,-4; cvt.u32.u64R,R; and.b32R,R,3; shl.b32R,R,3; mov.b32R,255; shl.b32R,R,R; not.b32R,R; \
         and.b32R,R,255; shl.b32R,R,R; ld.volatile.b32R,[R]; $L__BB0_1:and.b32R,R,R; or.b32R,R,R; atom.cas.volatile.b32R,[R],R,R; \
         setp.ne.b32R,R,R; mov.b32R,R; @Rbra$L__BB0_1; shr.u32R,R,R; and.b32R,R,255; membar.cta;")),
    ("a byte compared is retried when others changed", "__nv_atomic_compare_exchange", "u8", "5", "1", "sm_80", Text(
        "fence.sc.cta; and.b64R,R,-4; cvt.u32.u64R,R; and.b32R,R,3; shl.b32R,R,3; mov.b32R,255; shl.b32R,R,R; not.b32R,R; \
         and.b32R,R,255; shl.b32R,R,R; and.b32R,R,255; shl.b32R,R,R; ld.relaxed.cta.b32R,[R]; and.b32R,R,R; $L__BB0_1:or.b32R,R,R; or.b32R,R,R; \
         atom.cas.relaxed.cta.b32R,[R],R,R; setp.eq.b32R,R,R; @Rbra$L__BB0_2; and.b32R,R,R; setp.ne.b32R,R,R; mov.b32R,R; @Rbra$L__BB0_1; $L__BB0_2:\
         shr.u32R,R,R; and.b32R,R,255; fence.sc.cta;")),
    // Rows on the `__nvvm_atom_*` family.
    ("no scope is gpu", "__nvvm_atom_add_gen_i", "", "0", "0", "sm_80", Text("atom.add.u32R,[R],R;")),
    ("cta in the name", "__nvvm_atom_cta_add_gen_i", "", "0", "0", "sm_80", Text("atom.cta.add.u32R,[R],R;")),
    ("sys in the name", "__nvvm_atom_sys_cas_gen_ll", "", "0", "0", "sm_80", Text("atom.sys.cas.b64R,[R],R,R;")),
    ("xchg", "__nvvm_atom_xchg_gen_i", "", "0", "0", "sm_80", Text("atom.exch.b32R,[R],R;")),
    ("signed minimum", "__nvvm_atom_min_gen_ll", "", "0", "0", "sm_80", Text("atom.min.s64R,[R],R;")),
    ("unsigned maximum", "__nvvm_atom_cta_max_gen_ui", "", "0", "0", "sm_80", Text("atom.cta.max.u32R,[R],R;")),
    ("inc", "__nvvm_atom_inc_gen_ui", "", "0", "0", "sm_80", Text("atom.inc.u32R,[R],R;")),
    ("dec", "__nvvm_atom_sys_dec_gen_ui", "", "0", "0", "sm_80", Text("atom.sys.dec.u32R,[R],R;")),
    ("bits", "__nvvm_atom_xor_gen_ll", "", "0", "0", "sm_80", Text("atom.xor.b64R,[R],R;")),
    ("float", "__nvvm_atom_add_gen_f", "", "0", "0", "sm_80", Text("atom.add.f32R,[R],R;")),
    ("double", "__nvvm_atom_add_gen_d", "", "0", "0", "sm_80", Text("atom.add.f64R,[R],R;")),
    ("cas of 16 bits", "__nvvm_atom_cas_gen_us", "", "0", "0", "sm_80", Text("atom.cas.b16R,[R],R,R;")),
    ("cas of 128 bits from sm_70", "__nvvm_atom_cas_gen_128", "", "0", "0", "sm_70", Text("mov.b128R,{R,R}; mov.b128R,{R,R}; atom.cas.b128R,[R],R,R; mov.b128{R,R},R;")),
    ("cas of 128 bits before", "__nvvm_atom_cas_gen_128", "", "0", "0", "sm_69", Refused(Some(3766), "b128")),
    ("f16x2 from sm_90", "__nvvm_atom_cta_add_gen_f2", "", "0", "0", "sm_90", Text("atom.cta.add.noftz.f16x2R,[R],R;")),
    ("f16x2 before", "__nvvm_atom_add_gen_f2", "", "0", "0", "sm_89", Refused(Some(852), "f16x2")),
    ("f16x4 from sm_100", "__nvvm_atom_add_gen_f4", "", "0", "0", "sm_100", Text("atom.add.noftz.v4.f16{R,R,R,R},[R],{R,R,R,R};")),
    ("f16x4 before", "__nvvm_atom_add_gen_f4", "", "0", "0", "sm_90", Refused(Some(852), "f16x4")),
    ("a function is its builtin", "atomicMax_block", "unsigned long long", "0", "0", "sm_80", Text("atom.cta.max.u64R,[R],R;")),
    ("a function that subtracts adds", "atomicSub", "int", "0", "0", "sm_80", Text("neg.s32R,R; atom.add.u32R,[R],R;")),
    ("a function without builtin", "atomicAdd", "__half", "0", "0", "sm_80", Refused(Some(852), "atomicAdd")),
];

#[test]
fn every_statement_holds() {
    let mut bad = Vec::new();
    for (statement, name, ty, order, scope, target, want) in ROWS {
        let got = run(name, ty, order, scope, target);
        let failure = match (want, &got) {
            (Text(wanted), Ok(got)) => {
                let (wanted, got) = (wanted.replace(' ', ""), shape(got).replace(' ', ""));
                (wanted != got).then(|| format!("wanted {wanted}\n  got    {got}"))
            }
            (Refused(number, part), Err(refusal)) => {
                let whole = format!("{} {}", refusal.message, refusal.help);
                (refusal.number != *number || !whole.contains(part))
                    .then(|| format!("{refusal}; {}", refusal.help))
            }
            (_, got) => Some(format!("{got:?}")),
        };
        bad.extend(failure.map(|f| format!("{statement}: {name} {ty} for {target}\n  {f}")));
    }
    assert!(bad.is_empty(), "{} of {} rows\n{}", bad.len(), ROWS.len(), bad.join("\n"));
}

/// Identifiers of builtins are in the ranges of [NVVM], and its names have the first and last identifier of a
/// range.
#[test]
fn identifiers_are_those_documented() {
    #[rustfmt::skip]
    const RANGES: &[(u16, u16, &str, &str)] = &[
        (207, 218, "__nvvm_atom_add_gen_i", "__nvvm_atom_sys_add_gen_d"),
        (219, 227, "__nvvm_atom_xchg_gen_i", "__nvvm_atom_sys_xchg_gen_128"),
        (228, 251, "__nvvm_atom_min_gen_i", "__nvvm_atom_sys_max_gen_ull"),
        (252, 257, "__nvvm_atom_inc_gen_ui", "__nvvm_atom_sys_dec_gen_ui"),
        (258, 275, "__nvvm_atom_and_gen_i", "__nvvm_atom_sys_xor_gen_ll"),
        (366, 366, "__nv_atomic_thread_fence", "__nv_atomic_thread_fence"),
        (370, 379, "__nvvm_atom_cas_gen_i", "__nvvm_atom_sys_cas_gen_128"),
        (417, 422, "__nv_atomic_load", "__nv_atomic_load_16"),
        (423, 428, "__nv_atomic_store", "__nv_atomic_store_16"),
        (429, 434, "__nv_atomic_fetch_add_4_u", "__nv_atomic_fetch_add_8_f"),
        (435, 440, "__nv_atomic_fetch_sub_4_u", "__nv_atomic_fetch_sub_8_f"),
        (441, 442, "__nv_atomic_fetch_and_4", "__nv_atomic_fetch_and_8"),
        (443, 444, "__nv_atomic_fetch_or_4", "__nv_atomic_fetch_or_8"),
        (445, 446, "__nv_atomic_fetch_xor_4", "__nv_atomic_fetch_xor_8"),
        (447, 452, "__nv_atomic_fetch_max_4_u", "__nv_atomic_fetch_max_8_f"),
        (453, 458, "__nv_atomic_fetch_min_4_u", "__nv_atomic_fetch_min_8_f"),
        (459, 461, "__nvvm_atom_add_gen_f2", "__nvvm_atom_sys_add_gen_f2"),
        (462, 465, "__nv_atomic_exchange", "__nv_atomic_exchange_16"),
        (466, 468, "__nvvm_atom_add_gen_f4", "__nvvm_atom_sys_add_gen_f4"),
        (469, 473, "__nv_atomic_compare_exchange", "__nv_atomic_compare_exchange_16"),
    ];
    let mut documented = Vec::new();
    for (first, last, at_first, at_last) in RANGES {
        assert_eq!(Builtin::of_id(*first).unwrap().to_string(), *at_first);
        assert_eq!(Builtin::of_id(*last).unwrap().to_string(), *at_last);
        documented.extend(*first..=*last);
    }
    let mut ids: Vec<u16> = Builtin::all().into_iter().filter_map(Builtin::id).collect();
    ids.sort_unstable();
    assert_eq!(ids, documented, "each identifier once, and no other");
    assert_eq!(ids.iter().filter(|id| (207..=275).contains(*id)).count(), 69);
    assert_eq!(ids.iter().filter(|id| (417..=473).contains(*id)).count(), 57);
    // [NVVM] lists names for the subtraction of floats, too.
    assert_eq!(parse("__nv_atomic_fetch_sub_4_f").unwrap().id(), Some(437));
    assert_eq!(parse("__nv_atomic_fetch_sub_8_f").unwrap().id(), Some(440));
}

#[test]
fn names_are_constructed_as_documented() {
    let name = |op, ty| Builtin::sized(op, ty).map(|b| b.to_string());
    let number = |op, ty| Builtin::sized(op, ty).unwrap_err().number;
    assert_eq!(name(BuiltinOp::Add, ObjectType::S32).unwrap(), "__nv_atomic_fetch_add_4_s");
    assert_eq!(name(BuiltinOp::Max, ObjectType::U64).unwrap(), "__nv_atomic_fetch_max_8_u");
    assert_eq!(name(BuiltinOp::Sub, ObjectType::F32).unwrap(), "__nv_atomic_fetch_sub_4_f");
    assert_eq!(
        name(BuiltinOp::Xor, ObjectType::S64).unwrap(),
        "__nv_atomic_fetch_xor_8",
        "no letter for bits"
    );
    assert_eq!(name(BuiltinOp::Load, ObjectType::F64).unwrap(), "__nv_atomic_load_8", "no letter for a load");
    assert_eq!(name(BuiltinOp::CompareExchange, ObjectType::U16).unwrap(), "__nv_atomic_compare_exchange_2");
    assert_eq!(number(BuiltinOp::Add, ObjectType::U16), Some(3748));
    assert_eq!(number(BuiltinOp::And, ObjectType::B128), Some(3748));
    assert_eq!(number(BuiltinOp::Add, ObjectType::F16x2), Some(3745));
    assert_eq!(number(BuiltinOp::Inc, ObjectType::U32), Some(852));
    // Kind numbers of the compiler's front end: the front end constructs the name of the first kind of a
    // pair; the second kind has an explicit name.
    #[rustfmt::skip]
    const KINDS: &[(u16, BuiltinOp)] = &[
        (0x6241, BuiltinOp::CompareExchange), (0x6248, BuiltinOp::Exchange), (0x624f, BuiltinOp::Add), (0x6257, BuiltinOp::Sub),
        (0x625f, BuiltinOp::And), (0x6263, BuiltinOp::Xor), (0x6267, BuiltinOp::Or), (0x626b, BuiltinOp::Max), (0x6273, BuiltinOp::Min),
        (0x627b, BuiltinOp::Load), (0x6280, BuiltinOp::Store),
    ];
    for (kind, op) in KINDS {
        assert_eq!(BuiltinOp::of_frontend_kind(*kind), Some((*op, false)));
        assert_eq!(BuiltinOp::of_frontend_kind(kind + 1), Some((*op, true)));
    }
    assert_eq!(BuiltinOp::of_frontend_kind(0x6286), None, "the fence is no operation");
}

#[test]
fn mismatched_arguments_have_numbers() {
    for (name, number) in [("__nv_atomic_compare_exchange", 3756), ("__nv_atomic_exchange", 3757)] {
        let call = Call {
            ty: Some(ObjectType::U32),
            operand: Some(ObjectType::F32),
            ..Call::new(parse(name).unwrap())
        };
        let refusal = expand(&call, "sm_80".parse().unwrap(), Dialect::Nvvm).unwrap_err();
        assert_eq!(refusal.number, Some(number));
    }
}

#[test]
fn older_targets_warn() {
    let warning = |target| {
        let expansion = run("__nv_atomic_load_4", "", "0", "3", target).unwrap();
        expansion.warnings.first().map(|w| w.number)
    };
    assert_eq!(warning("sm_59"), Some(3766));
    assert_eq!(warning("sm_60"), Some(3762));
    assert_eq!(warning("sm_69"), Some(3762));
    assert_eq!(warning("sm_70"), None);
}

#[test]
fn machine_operands_are_those_documented() {
    #[rustfmt::skip]
    const OPS: &[(u32, &str)] = &[
        (0x00, "exch.b32"), (0x01, "add.u32"), (0x03, "and.b32"), (0x05, "or.b32"), (0x06, "xor.b32"),
        (0x07, "max.s32"), (0x08, "min.s32"), (0x09, "max.u32"), (0x0a, "min.u32"), (0x0b, "add.f32"),
        (0x0c, "inc.u32"), (0x0d, "dec.u32"), (0x0e, "cas.b32"),
    ];
    assert_eq!(OPS.len(), 13);
    for (number, text) in OPS {
        for (scope, infix) in [(0, ""), (1, ".cta"), (2, ".sys")] {
            let word = number << 16 | scope << 4;
            assert_eq!(atom_text(word, 4, Hint::Absent).unwrap(), format!("atom{infix}.{text}"));
            let hinted = format!("atom{infix}.{}", text.replacen('.', ".L2::cache_hint.", 1));
            assert_eq!(atom_text(word, 4, Hint::L2).unwrap(), hinted);
        }
    }
    assert_eq!(atom_text(0x000e_0020, 8, Hint::Absent).unwrap(), "atom.sys.cas.b64");
    for missing in [0x02, 0x04, 0x0f, 0xff] {
        assert!(atom_text(missing << 16, 4, Hint::Absent).is_err(), "{missing:#x}");
    }
    assert!(atom_text(3 << 4, 4, Hint::Absent).is_err(), "no scope 3");
    let barriers: Vec<_> = (0..=5).map(|n| membar_text(n).ok()).collect();
    assert_eq!(
        barriers,
        [Some("membar.gpu"), Some("membar.cta"), Some("membar.sys"), None, Some("fence.sc.cluster"), None]
    );
    assert!(membar_text(3).unwrap_err().message.contains("Bad membar op"));
}
