//! Lowering for sm_80 to sm_89. An mbarrier object is two words, on which plain atomics and ATOMS.ARRIVE
//! operate (spec 6.2.1).

use super::form::{Arrival, Form, Verb};
use crate::lower::LoweringRefusal;
use crate::lower::code::{Base, Code, CodeAddress, Reg, emit};
use crate::lower::operand::{Address, Word};

pub(super) fn write(form: &Form<'_>, used: bool, code: &mut Code<'_>) -> Result<(), LoweringRefusal> {
    let result = form.result.filter(|_| used);
    if form.verb == Verb::PendingCount {
        if let (Some(count), Some(state)) = (form.result, form.state) {
            let (count, state) = (code.register(count), code.pair(state));
            emit!(code, "LOP3.LUT {count}, {}, 0x7fffffff, RZ, 0xc0, !PT", state.high());
            emit!(code, "IADD3 {count}, -{count}, -0x80000000, RZ");
        }
        return Ok(());
    }
    // `mbarrier.inval` needs no machine code.
    let (Some(address), false) = (form.address, form.verb == Verb::Inval) else { return Ok(()) };
    match form.verb {
        Verb::Init => {
            let count = form.amount.unwrap_or(Word::Constant(0));
            let pair = words(count, code);
            let place = code.long_place(address)?;
            let store = if wide(place) { "ST.E.64.STRONG.SM" } else { "STS.64" };
            emit!(code, "{store} [{place}], {pair}");
        }
        Verb::Arrive { drop, how } => {
            let state = result.map(|id| code.pair(id));
            match (how, form.amount) {
                (Arrival::NoComplete, Some(count)) => arrive_some(address, drop, count, state, code)?,
                _ => {
                    let place = code.place(address)?;
                    arrive(place, drop, state, code);
                }
            }
        }
        Verb::Wait { .. } => {
            let place = code.long_place(address.plus(4))?;
            let word = code.scratch(1);
            let load = if wide(place) { "LD.E.STRONG.SM" } else { "LDS" };
            emit!(code, "{load} {word}, [{place}]");
            let Some(complete) = form.result.map(|id| code.frame.predicate(id)) else { return Ok(()) };
            // Compares bit 31 of the second word of the object with the parity, or with the state of the
            // phase that is waited for. A constant parity is part of the look-up table.
            let (asked, table) = match (form.amount, form.state) {
                (Some(Word::Constant(0)), _) => (Reg::RZ, "0xc0"),
                (Some(Word::Constant(_)), _) => (Reg::RZ, "0xc"),
                (Some(parity), _) => (shifted(parity, code), "0x48"),
                (None, Some(state)) => (code.pair(state).high(), "0x48"),
                (None, None) => return Ok(()),
            };
            emit!(code, "LOP3.LUT P{complete}, RZ, {word}, 0x80000000, {asked}, {table}, !PT");
        }
        Verb::CopyArrive { counted } => {
            let place = code.long_place(address)?;
            copy_arrive(place, counted, code);
        }
        Verb::Inval | Verb::PendingCount | Verb::CheckLayout | Verb::ExpectTx | Verb::CompleteTx => {}
    }
    Ok(())
}

/// Emits a shift of a parity to bit 31, the position of the phase bit in an mbarrier object, in a new
/// register.
pub(super) fn shifted(parity: Word, code: &mut Code<'_>) -> Reg {
    let parity = code.word(parity);
    let shifted = code.scratch(1);
    emit!(code, "SHF.L.U32 {shifted}, {parity}, 0x1f, RZ");
    shifted
}

fn wide(place: CodeAddress) -> bool {
    matches!(place.base, Base::Pair(_))
}

/// Emits both words of a new mbarrier object and returns their registers. Each word holds the count as its
/// difference to a power of two.
fn words(count: Word, code: &mut Code<'_>) -> Reg {
    let pair = code.scratch(2);
    match count {
        Word::Constant(count) => {
            code.set(pair, 0x4000_0000_u32.wrapping_sub(count));
            code.set(pair.high(), 0x8000_0000_u32.wrapping_sub(count));
        }
        Word::Register(id) => {
            let count = code.register(id);
            code.subtract_from(pair, 0x4000_0000, count);
            code.subtract_from(pair.high(), i32::MIN, count);
        }
    }
    pair
}

/// Returns the start of an atomic instruction: `ATOMS.op d` or `ATOM.E.op.STRONG.SM PT, d`. The caller
/// appends the address and the operands.
fn atomic(place: CodeAddress, operation: &str, target: Reg) -> String {
    match wide(place) {
        true => format!("ATOM.E.{operation}.STRONG.SM PT, {target}"),
        false => format!("ATOMS.{operation} {target}"),
    }
}

fn arrive(place: CodeAddress, drop: bool, state: Option<Reg>, code: &mut Code<'_>) {
    emit!(code, "MEMBAR.ALL.CTA");
    let address = place.with_uniform();
    if drop {
        emit!(code, "{}, {address}", atomic(place, "POPC.INC.32", Reg::RZ));
    }
    let target = state.unwrap_or(Reg::RZ);
    emit!(code, "{}, {address}", atomic(place, "ARRIVE.64", target));
}

/// Emits arrivals that must not complete the phase: an addition to the counts of the mbarrier object. Both
/// registers of the returned state hold the earlier second word of the object.
fn arrive_some(
    address: Address<'_>,
    drop: bool,
    count: Word,
    state: Option<Reg>,
    code: &mut Code<'_>,
) -> Result<(), LoweringRefusal> {
    let count = code.word(count);
    let first = if drop { Some(code.place(address)?) } else { None };
    let second = match first {
        Some(first) => code.second_word(first),
        None => code.place(address.plus(4))?,
    };
    emit!(code, "MEMBAR.ALL.CTA");
    if let Some(first) = first {
        emit!(code, "{}, [{first}], {count}", atomic(first, "ADD", Reg::RZ));
    }
    let target = state.unwrap_or(Reg::RZ);
    emit!(code, "{}, [{second}], {count}", atomic(second, "ADD", target));
    if let Some(low) = state {
        emit!(code, "MOV {}, {low}", low.high());
    }
    Ok(())
}

/// Emits an arrival that is executed when the thread's asynchronous copies are complete. If `counted` is
/// false, the highest active lane first adds the arrivals of all active lanes to the pending count of its own
/// mbarrier object. Compilers do not handle lanes with different objects correctly.
fn copy_arrive(place: CodeAddress, counted: bool, code: &mut Code<'_>) {
    let (again, end) = (code.frame.label(), code.frame.label());
    let barrier = code.frame.barrier();
    let uniform = matches!(place.base, Base::Nothing | Base::Uniform(_));
    let lanes = (!counted).then(|| {
        let lanes = code.scratch(1);
        emit!(code, "VOTE.ALL {lanes}, PT, PT");
        lanes
    });
    if !uniform {
        emit!(code, "BSSY B{barrier}, `({end})");
    }
    let count = lanes.map(|lanes| {
        let [lane, highest, count] = [(); 3].map(|()| code.scratch(1));
        let highest_lane = code.frame.scratch_predicate();
        emit!(code, "S2R {lane}, SR_LANEID");
        emit!(code, "FLO.U32 {highest}, {lanes}");
        emit!(code, "POPC {count}, {lanes}");
        emit!(code, "ISETP.EQ.U32.AND P{highest_lane}, PT, {highest}, {lane}, PT");
        emit!(code, "IMAD.MOV {count}, RZ, RZ, -{count}");
        (highest_lane, count)
    });
    let waiting = (count.is_none() && !uniform).then(|| code.all_wait());
    let place = match place.base {
        Base::Pair(low) => {
            let shared = code.scratch(1);
            emit!(code, "IADD3 {shared}, {low}, -c[0x0][{:#x}], RZ", code.arch.shared_window_offset());
            code.all_in_register(place.based(Base::Register(shared)))
        }
        _ => place,
    };
    if let Some((highest_lane, count)) = count {
        let second = code.second_word(place);
        emit!(code, "@P{highest_lane} ATOMS.ADD.S32 RZ, [{second}], {count}");
    }
    let Base::Register(register) = place.base else {
        emit!(code, "ARRIVES.LDGSTSBAR.64 {}", place.with_uniform());
        return;
    };
    let lanes = waiting.unwrap_or_else(|| code.all_wait());
    let shared = code.frame.uniform(1);
    code.label(&again);
    emit!(code, "@P{} R2UR P{}, UR{shared}, {register}", lanes.waiting, lanes.others);
    let object = place.based(Base::Uniform(shared)).with_uniform();
    emit!(code, "@!P{} ARRIVES.LDGSTSBAR.64 {object}", lanes.others);
    emit!(code, "@P{0} PLOP3.LUT P{0}, PT, P{1}, PT, PT, 0x80, 0x0", lanes.waiting, lanes.others);
    emit!(code, "@P{} BRA `({again})", lanes.others);
    emit!(code, "BSYNC B{barrier}");
    code.label(&end);
}
