//! Lowering for sm_90 and later. An mbarrier object is one 64-bit word with fields, on which SYNCS operates
//! (spec 6.2, 6.8).

use super::form::{Arrival, Form, Space, Verb};
use super::two_words::shifted;
use crate::lower::LoweringRefusal;
use crate::lower::code::{Base, Code, CodeAddress, Lanes, Reg, emit};
use crate::lower::operand::{Address, Start, Word};

pub(super) fn write(form: &Form<'_>, used: bool, code: &mut Code<'_>) -> Result<(), LoweringRefusal> {
    if form.verb == Verb::PendingCount {
        pending_count(form, code);
        return Ok(());
    }
    let Some(address) = form.address else { return Ok(()) };
    let uniform = uniform_form(form, address, code);
    // Compilers emit the move of a constant before the copy of a generic address.
    let constant = match form.amount {
        Some(Word::Constant(value)) if keeps_constant(form) && !uniform => Some(code.constant(value)),
        _ => None,
    };
    match form.verb {
        Verb::Init if code.number < 100 => {
            let count = form.amount.unwrap_or(Word::Constant(0));
            return init_uniform(form, count, code);
        }
        Verb::Init => return init(form, code),
        _ => {}
    }
    let result = form.result.filter(|_| used);
    let lanes = takes_turns(form, result.is_some(), address).then(|| code.all_wait());
    let place = match (form.verb, address.base) {
        // These arrivals need the complete generic address in one register, without an offset [TOOLS].
        (Verb::CopyArrive { .. }, Start::Generic(_)) => {
            let base = code.place(Address { offset: 0, ..address })?;
            code.all_in_register(base.plus(address.offset))
        }
        // If several instructions of the sequence access the mbarrier object, compilers hold the address of a
        // variable in a register [TOOLS].
        (Verb::Arrive { how: Arrival::NoComplete, .. }, Start::Symbol(..))
        | (Verb::Wait { .. }, Start::Symbol(..))
            if form.hint.is_some() || !matches!(form.verb, Verb::Wait { .. }) =>
        {
            let place = code.place(address)?;
            let base = code.address_register(CodeAddress { offset: 0, ..place });
            place.based(Base::Register(base))
        }
        _ => code.place(address)?,
    };
    let amount = match (constant, form.amount) {
        _ if uniform => uniform_amount(form, code),
        (Some(constant), _) => constant.to_string(),
        (None, Some(Word::Register(id))) => code.register(id).to_string(),
        _ => "RZ".into(),
    };
    let (unit, none) = if uniform { ("USYNCS", "URZ") } else { ("SYNCS", "RZ") };
    let address = place.with_uniform();
    match form.verb {
        Verb::Inval => emit!(code, "{unit}.CCTL.IV {address}"),
        Verb::ExpectTx => emit!(code, "{unit}.ARRIVE.TRANS64.RED.A0TR {none}, {address}, {amount}"),
        Verb::CompleteTx => emit!(code, "{unit}.ARRIVE.TRANS64.RED.A0TX {none}, {address}, {amount}"),
        Verb::Arrive { drop, how } => {
            let state = result.map(|id| code.pair(id));
            release(form, code);
            if uniform {
                arrive_uniform(form, drop, state, &address, &amount, code);
            } else {
                let mnemonic = arrive_mnemonic(form, drop, how, state.is_some());
                arrive(form, &mnemonic, state, lanes, &address, &amount, code);
            }
        }
        Verb::CheckLayout => check_layout(form, place, code),
        Verb::Wait { suspends, parity } => wait(form, suspends, parity, place, code),
        Verb::CopyArrive { counted } => copy_arrive(place, counted, lanes, code),
        Verb::Init | Verb::PendingCount => {}
    }
    Ok(())
}

/// True for one arrival per lane without transactions that may complete the phase.
fn is_one(form: &Form<'_>) -> bool {
    matches!(form.verb, Verb::Arrive { how: Arrival::Plain, .. })
        && matches!(form.amount, None | Some(Word::Constant(1)))
}

/// True if the operand is a constant that is moved to a register unchanged.
fn keeps_constant(form: &Form<'_>) -> bool {
    !is_one(form) && !matches!(form.verb, Verb::Init | Verb::CheckLayout | Verb::Wait { .. })
}

/// True if the code must loop over groups of lanes with equal operands. This is so if an operand must be
/// uniform, or if the state that a lane gets depends on the number of lanes that arrive before it.
fn takes_turns(form: &Form<'_>, gives_state: bool, address: Address<'_>) -> bool {
    match form.verb {
        Verb::CopyArrive { .. } => !is_fixed(address),
        Verb::Arrive { how: Arrival::NoComplete, .. } => {
            gives_state && matches!(form.amount, Some(Word::Register(_)))
        }
        _ => false,
    }
}

fn release(form: &Form<'_>, code: &mut Code<'_>) {
    if form.cluster_order {
        code.lines.extend(["MEMBAR.ALL.CTA", "MEMBAR.ALL.GPU", "ERRBAR", "CGAERRBAR"].map(String::from));
    }
}

fn arrive_mnemonic(form: &Form<'_>, drop: bool, how: Arrival, gives_state: bool) -> String {
    // An arrival at an object that may belong to another CTA returns no state.
    let remote = if form.result.is_none() && form.space != Space::Cta { ".RED" } else { "" };
    let mask = if how == Arrival::NoComplete && gives_state { ".TMASK" } else { "" };
    let drop = if drop { ".OPTOUT" } else { "" };
    let counts = match how {
        _ if is_one(form) => ".A1T0",
        Arrival::ExpectTx => "",
        Arrival::Plain | Arrival::NoComplete => ".ART0",
    };
    format!("SYNCS.ARRIVE.TRANS64{remote}{mask}{drop}{counts}")
}

fn arrive(
    form: &Form<'_>,
    mnemonic: &str,
    state: Option<Reg>,
    lanes: Option<Lanes>,
    address: &str,
    amount: &str,
    code: &mut Code<'_>,
) {
    let masks = mnemonic.contains(".TMASK");
    if let (Some(low), Some(lanes), Some(Word::Register(id)), true) = (state, lanes, form.amount, masks) {
        let count = code.register(id);
        return masked_by_count(mnemonic, address, count, low, lanes, code);
    }
    let target = state.unwrap_or(Reg::RZ);
    emit!(code, "{mnemonic} {target}, {address}, {amount}");
    if let (Some(low), true) = (state, masks) {
        code.lines.extend(states(low, amount));
    }
}

/// True if compilers use USYNCS, which sm_107 has. Its object must be a variable in the CTA's own memory. The
/// operation invalidates the object, changes its transaction count, or arrives without transactions and may
/// complete the phase.
fn uniform_form(form: &Form<'_>, address: Address<'_>, code: &Code<'_>) -> bool {
    let verb = matches!(
        form.verb,
        Verb::Inval | Verb::ExpectTx | Verb::CompleteTx | Verb::Arrive { how: Arrival::Plain, .. }
    );
    code.number == 107 && is_fixed(address) && form.space == Space::Cta && verb
}

/// Emits the operand of USYNCS in a uniform register: the sum over the lanes. For one arrival per lane,
/// compilers pass the CTA's rank for an unknown reason.
fn uniform_amount(form: &Form<'_>, code: &mut Code<'_>) -> String {
    let amount = code.frame.uniform(1);
    match form.amount {
        _ if is_one(form) => emit!(code, "S2UR UR{amount}, SR_CgaCtaId"),
        None => return "URZ".into(),
        Some(Word::Constant(each)) => {
            let (value, lanes) = (code.frame.uniform(1), code.frame.uniform(1));
            emit!(code, "VOTEU.ANY UR{lanes}, UPT, PT");
            emit!(code, "UMOV UR{value}, {each:#x}");
            emit!(code, "UPOPC UR{lanes}, UR{lanes}");
            emit!(code, "UIMAD UR{amount}, UR{value}, UR{lanes}, URZ");
        }
        Some(Word::Register(id)) => {
            let each = code.register(id);
            emit!(code, "REDUX.SUM UR{amount}, {each}");
        }
    }
    format!("UR{amount}")
}

fn arrive_uniform(
    form: &Form<'_>,
    drop: bool,
    state: Option<Reg>,
    address: &str,
    amount: &str,
    code: &mut Code<'_>,
) {
    let drop = if drop { ".OPTOUT" } else { "" };
    let counts = if is_one(form) { ".ACT0" } else { ".ART0" };
    let pair = state.map(|_| code.frame.uniform(2));
    let target = pair.map_or("URZ".into(), |pair| format!("UR{pair}"));
    emit!(code, "USYNCS.ARRIVE.TRANS64{drop}{counts} {target}, {address}, {amount}");
    if let (Some(low), Some(pair)) = (state, pair) {
        emit!(code, "MOV.64 {low}, UR{pair}");
    }
}

/// Returns code that computes the state of each lane after one arrive instruction of several lanes. The
/// instruction returns the object as it was before, with a mask of the arriving lanes in the low word. Lanes
/// with lower numbers count as arrived earlier.
fn states(low: Reg, count: &str) -> [String; 9] {
    let high = low.high();
    [
        format!("RPCMOV.32 Rpc.HI, {high}"),
        format!("RPCMOV.32 Rpc.LO, {low}"),
        format!("S2R {high}, SR_LTMASK"),
        format!("LOP3.LUT {low}, {low}, {high}, RZ, 0x40, !PT"),
        format!("RPCMOV.32 {high}, Rpc.HI"),
        format!("POPC {low}, {low}"),
        format!("SHF.L.U32 {low}, {low}, 0xb, RZ"),
        format!("IMAD {high}, {low}, {count}, {high}"),
        format!("RPCMOV.32 {low}, Rpc.LO"),
    ]
}

/// Emits arrivals that must not complete the phase, whose counts may differ between lanes. The loop processes
/// lanes with equal counts together, because then the number of earlier arrivals gives the state of each
/// lane. Compilers emit the loop that makes the count uniform twice; the result of the first one is unused.
fn masked_by_count(mnemonic: &str, address: &str, count: Reg, low: Reg, lanes: Lanes, code: &mut Code<'_>) {
    let (copy, unused) = (code.scratch(1), code.frame.uniform(1));
    let copies = match code.number {
        ..=106 => format!("IMAD.MOV.U32 {copy}, RZ, RZ, {count}"),
        _ => format!("MOV {copy}, {count}"),
    };
    let label = code.take_equals(lanes, &[(format!("UR{unused}"), count)], std::slice::from_ref(&copies));
    emit!(code, "@!P{} NOP", lanes.others);
    code.next_equals(lanes, &label);
    code.all_wait_again(lanes);
    let label = code.take_equals(lanes, &[("URZ".into(), count)], &[copies]);
    emit!(code, "@!P{} {mnemonic} {low}, {address}, {copy}", lanes.others);
    for line in states(low, &format!("{copy}")) {
        emit!(code, "@!P{} {line}", lanes.others);
    }
    code.next_equals(lanes, &label);
}

fn wait(form: &Form<'_>, suspends: bool, parity: bool, place: CodeAddress, code: &mut Code<'_>) {
    let Some(complete) = form.result else { return };
    let complete = code.frame.predicate(complete);
    let address = place.with_uniform();
    let uniform = code.number == 107 && matches!(place.base, Base::Uniform(_)) && form.hint.is_none();
    let reported = form.reported.map(|id| code.frame.predicate(id));
    // Only sm_107 has conditional phases and failure reports.
    let kind = match code.number {
        107 if form.conditional => ".CONDITIONAL",
        107 if form.reported.is_some() || form.report.is_some() => ".PRIMARY",
        _ => "",
    };
    let mut guard = format!("@P{complete} ");
    if let (true, Some(Word::Constant(parity))) = (uniform, form.amount) {
        let suffixes = [if suspends { ".TRYWAIT" } else { "" }, kind];
        wait_uniform(suffixes, parity, complete, reported, &address, code);
        guard.clear();
    } else {
        let asked = match (parity, form.amount, form.state) {
            (true, Some(parity), _) => shifted(parity, code),
            (_, _, Some(state)) => code.pair(state).high(),
            _ => Reg::RZ,
        };
        let try_wait = if suspends { ".TRYWAIT" } else { "" };
        let seen = reported.map_or("PT".into(), |seen| format!("P{seen}"));
        let reports = if kind == ".PRIMARY" { format!("{seen}, RZ, ") } else { String::new() };
        let found = format!("P{complete}, {reports}{address}, {asked}");
        emit!(code, "SYNCS.PHASECHK.TRANS64{try_wait}{kind} {found}");
        if let Some(hint) = form.hint {
            let hint = match hint {
                Word::Register(id) => code.register(id).to_string(),
                Word::Constant(0) => Reg::RZ.to_string(),
                Word::Constant(nanoseconds) => format!("{nanoseconds:#x}"),
            };
            emit!(code, "@!P{complete} NANOSLEEP.SYNCS {hint}");
            emit!(code, "@!P{complete} SYNCS.PHASECHK.TRANS64{kind} {found}");
        }
    }
    if let Some(report) = form.report {
        let report = code.register(report);
        emit!(code, "MOV {report}, RZ");
    }
    if let Some(seen) = reported.filter(|_| code.number != 107) {
        emit!(code, "PLOP3.LUT P{seen}, PT, !PT, PT, PT, 0x80, 0x0");
    }
    if form.cluster_order {
        emit!(code, "{guard}CCTL.IVALL");
    }
}

fn wait_uniform(
    suffixes: [&str; 2],
    parity: u32,
    complete: u16,
    reported: Option<u16>,
    address: &str,
    code: &mut Code<'_>,
) {
    let (asked, found) = (code.frame.uniform(1), code.frame.uniform_predicate());
    let seen = reported.map(|predicate| (predicate, code.frame.uniform_predicate()));
    let suffixes = suffixes.concat();
    let source = match parity {
        0 => "URZ".into(),
        _ => {
            emit!(code, "UMOV UR{asked}, {parity:#x}");
            format!("UR{asked}")
        }
    };
    emit!(code, "USHF.L.U32 UR{asked}, {source}, 0x1f, URZ");
    let number = seen.map_or("UPT".into(), |(_, seen)| format!("UP{seen}"));
    let reports = if suffixes.ends_with(".PRIMARY") { format!("{number}, URZ, ") } else { String::new() };
    emit!(code, "USYNCS.PHASECHK.TRANS64{suffixes} UP{found}, {reports}{address}, UR{asked}");
    for (predicate, found) in seen.into_iter().chain([(complete, found)]) {
        emit!(code, "PLOP3.LUT P{predicate}, PT, PT, PT, UP{found}, 0x80, 0x8");
    }
}

/// Emits a test of bit 0 of the mbarrier object, which is its layout (spec 6.2).
fn check_layout(form: &Form<'_>, place: CodeAddress, code: &mut Code<'_>) {
    let Some(found) = form.result else { return };
    let (found, word) = (code.frame.predicate(found), code.scratch(2));
    emit!(code, "SYNCS.LD.64 {word}, {}", place.with_uniform());
    let table = if form.layout == 0 { "0xc" } else { "0xc0" };
    emit!(code, "LOP3.LUT P{found}, RZ, {word}, 0x1, RZ, {table}, !PT");
    if matches!(place.base, Base::Uniform(_)) && code.number >= 100 {
        let uniform = code.frame.uniform_predicate();
        emit!(code, "VOTEU.ANY UP{uniform}, P{found}");
        emit!(code, "PLOP3.LUT P{found}, PT, PT, PT, UP{uniform}, 0x80, 0x8");
    }
}

/// Returns code that computes the initial value of an mbarrier object from its count, in the register pair
/// `low` and `low + 1`. `prefix` is `U` for uniform registers, else empty.
fn word_of_count(form: &Form<'_>, low: u16, prefix: &str) -> Vec<String> {
    let high = low + 1;
    let mut lines = vec![
        format!("{prefix}SHF.L.U32 {prefix}R{high}, {prefix}R{low}, 0xb, {prefix}RZ"),
        format!("{prefix}SHF.L.U32 {prefix}R{low}, {prefix}R{low}, 0x1, {prefix}RZ"),
    ];
    if form.layout == 1 {
        lines.push(format!(
            "{prefix}LOP3.LUT {prefix}R{low}, {prefix}R{low}, 0x1, {prefix}RZ, 0xfe, !{prefix}PT"
        ));
    }
    lines
}

fn is_fixed(address: Address<'_>) -> bool {
    matches!(address.base, Start::Symbol(..) | Start::Nothing)
}

/// Emits the initialization of an mbarrier object. From sm_100 on, code stores the object with STS and then
/// makes SYNCS read it again.
fn init(form: &Form<'_>, code: &mut Code<'_>) -> Result<(), LoweringRefusal> {
    let (Some(address), Some(count)) = (form.address, form.amount) else { return Ok(()) };
    if let (true, Word::Constant(_)) = (is_fixed(address), count) {
        return init_uniform(form, count, code);
    }
    let pair = code.scratch(2);
    let place = match count {
        Word::Constant(count) => {
            code.set(pair, count);
            code.subtract_from(pair, 0x10_0000, pair);
            None
        }
        Word::Register(id) => {
            let place = code.place(address)?;
            let count = code.register(id);
            code.subtract_from(pair, 0x10_0000, count);
            Some(place)
        }
    };
    code.lines.extend(word_of_count(form, pair.0, ""));
    let place = match place {
        Some(place) => place,
        None => code.place(address)?,
    };
    emit!(code, "STS.64 {}, {pair}", place.with_uniform());
    emit!(code, "FENCE.VIEW.ASYNC.S");
    emit!(code, "SYNCS.CCTL.IVALL");
    Ok(())
}

/// Emits the initialization of an mbarrier object by SYNCS.EXCH with uniform operands. If the operands may
/// differ between lanes, the code loops over groups of lanes with equal operands.
fn init_uniform(form: &Form<'_>, count: Word, code: &mut Code<'_>) -> Result<(), LoweringRefusal> {
    let Some(address) = form.address else { return Ok(()) };
    let word = code.frame.uniform(2);
    let object = code.frame.uniform(1);
    let subtract = match code.number {
        ..=99 => format!("UIADD3 UR{word}, -UR{word}, 0x100000, URZ"),
        _ => format!("UIADD3 UR{word}, UPT, UPT, -UR{word}, 0x100000, URZ"),
    };
    let mut made = vec![subtract];
    made.extend(word_of_count(form, word.into(), "U"));
    let lanes = (!is_fixed(address) || matches!(count, Word::Register(_))).then(|| code.all_wait());
    let generic = matches!(address.base, Start::Generic(_));
    let mut place = None;
    let mut registers = Vec::new();
    match (count, lanes) {
        (Word::Register(id), Some(lanes)) => {
            if generic {
                place = Some(code.place(address)?);
            }
            let count = code.register(id);
            let pair = code.scratch(2);
            let label = code.take_equals(lanes, &[(format!("UR{word}"), count)], &[]);
            code.lines.extend(made);
            emit!(code, "@!P{} IMAD.U32 {pair}, RZ, RZ, UR{word}", lanes.others);
            emit!(code, "@!P{} IMAD.U32 {}, RZ, RZ, UR{}", lanes.others, pair.high(), word + 1);
            code.next_equals(lanes, &label);
            registers.extend([(format!("UR{word}"), pair), (format!("UR{}", word + 1), pair.high())]);
        }
        (Word::Constant(value), _) => {
            emit!(code, "UMOV UR{word}, {value:#x}");
            code.lines.extend(made);
        }
        (Word::Register(_), None) => {}
    }
    let place = match place {
        Some(place) => place,
        None => code.place(address)?,
    };
    if let (Some(lanes), true) = (lanes, !registers.is_empty()) {
        code.all_wait_again(lanes);
    }
    let target = match place.base {
        Base::Register(register) => {
            registers.push((format!("UR{object}"), register));
            place.based(Base::Uniform(object))
        }
        _ => place,
    };
    let label = lanes.map(|lanes| (lanes, code.take_equals(lanes, &registers, &[])));
    emit!(code, "FENCE.VIEW.ASYNC.S");
    let prefix = if code.number == 107 && label.is_none() { "U" } else { "" };
    emit!(code, "{prefix}SYNCS.EXCH.64 URZ, {}, UR{word}", target.with_uniform());
    if let Some((lanes, label)) = label {
        code.next_equals(lanes, &label);
    }
    Ok(())
}

fn pending_count(form: &Form<'_>, code: &mut Code<'_>) {
    let (Some(count), Some(state)) = (form.result, form.state) else { return };
    let (count, state) = (code.register(count), code.pair(state));
    emit!(code, "SHF.R.U32.HI {count}, RZ, 0xb, {}", state.high());
    emit!(code, "LOP3.LUT {count}, {count}, 0xfffff, RZ, 0x40, !PT");
    code.subtract_from(count, 0x10_0000, count);
}

/// Emits an arrival that is executed when the thread's asynchronous copies are complete. If `counted` is
/// false, the expected count of the object does not include this arrival. The code then adds a transaction
/// first, which keeps the phase open until the copies are complete.
fn copy_arrive(place: CodeAddress, counted: bool, lanes: Option<Lanes>, code: &mut Code<'_>) {
    let report = if counted { ".ARVCNT" } else { ".TRANSCNT" };
    let body = |object: &str| {
        let expects = (!counted).then(|| format!("SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ, {object}, RZ"));
        expects.into_iter().chain([format!("ARRIVES.LDGSTSBAR.64{report} {object}")])
    };
    let (Base::Register(register), Some(lanes)) = (place.base, lanes) else {
        body(&place.with_uniform()).for_each(|line| code.lines.push(line));
        return;
    };
    let object = code.frame.uniform(1);
    let label = code.take_equals(lanes, &[(format!("UR{object}"), register)], &[]);
    for line in body(&place.based(Base::Uniform(object)).with_uniform()) {
        emit!(code, "@!P{} {line}", lanes.others);
    }
    code.next_equals(lanes, &label);
}
