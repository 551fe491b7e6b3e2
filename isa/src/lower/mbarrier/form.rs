//! Reader of instructions on mbarrier objects, with the checks of the assembler in the assembler's order. An
//! instruction with two errors is therefore refused with the same message as by the assembler [TOOLS].

use crate::lower::operand::{Address, Reader, Word};
use crate::lower::since::Version;
use crate::lower::{LoweringRefusal, Target, illegal, mismatch, refuse, unsupported};
use crate::ptx::{Operand, PtxInstruction, RegId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Init,
    Inval,
    Arrive {
        /// True for `arrive_drop`: the thread also leaves the later phases, which then expect fewer arrivals.
        drop: bool,
        how: Arrival,
    },
    Wait {
        /// True for `try_wait`, which may suspend the thread.
        suspends: bool,
        /// True if the operand that selects the phase is a parity, false if it is a state.
        parity: bool,
    },
    ExpectTx,
    CompleteTx,
    PendingCount,
    CheckLayout,
    CopyArrive {
        /// True if the expected count from `init` includes this arrival.
        counted: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    Plain,
    ExpectTx,
    NoComplete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// `.shared` or `.shared::cta`: the CTA's own shared memory.
    Cta,
    /// `.shared::cluster`: shared memory of any CTA of the cluster.
    Cluster,
    Generic,
}

#[derive(Clone, Debug)]
pub(super) struct Form<'t> {
    pub(super) verb: Verb,
    pub(super) space: Space,
    /// Layout of the mbarrier object: 1 with `.layout::v1`, else 0.
    pub(super) layout: u8,
    pub(super) conditional: bool,
    pub(super) cluster_order: bool,
    /// Register for the result: state, predicate or count. `None` for `_`, or if the instruction has no
    /// result.
    pub(super) result: Option<RegId>,
    /// Predicate `%q` in the result `%p|%q`: true if a failure was reported in the phase. Always false for an
    /// mbarrier object of layout 0.
    pub(super) reported: Option<RegId>,
    pub(super) report: Option<RegId>,
    /// Address of the mbarrier object. `None` if the instruction has no address operand.
    pub(super) address: Option<Address<'t>>,
    pub(super) amount: Option<Word>,
    pub(super) state: Option<RegId>,
    /// Time limit of the wait, in nanoseconds.
    pub(super) hint: Option<Word>,
}

pub(super) fn is_operation(instruction: &PtxInstruction<'_>) -> bool {
    match instruction.opcode {
        "mbarrier" => true,
        "cp" => instruction.modifiers.starts_with(&["async", "mbarrier"]),
        _ => false,
    }
}

#[derive(Default)]
struct Modifiers<'t> {
    sem: Option<&'t str>,
    scope: Option<&'t str>,
    space: Option<&'t str>,
    layout: Option<&'t str>,
    /// Value `phase_type::primary` or `phase_type::conditional`. Here mbarrier objects have only primary
    /// phases.
    phase_type: Option<&'t str>,
    b64: bool,
}

const MOST: i64 = (1 << 20) - 1;

const OPERATIONS: &str = "instructions are mbarrier.init, inval, arrive, arrive_drop, test_wait, try_wait, expect_tx, \
     complete_tx, pending_count and check_layout, and cp.async.mbarrier.arrive";

pub(super) fn read<'t>(reader: &Reader<'_, 't>, target: Target) -> Result<Form<'t>, LoweringRefusal> {
    older_features(reader.instruction, target)?;
    newer_names(reader.instruction, target)?;
    let (row, rest) = Row::find(reader.instruction).ok_or_else(|| {
        let PtxInstruction { opcode, modifiers, .. } = reader.instruction;
        LoweringRefusal::new(format!("Unknown instruction '{opcode}.{}'", modifiers.join(".")), OPERATIONS)
    })?;
    let (verb, name) = (row.verb, row.name());
    let modifiers = modifiers(rest, name)?;
    let space = match modifiers.space {
        None => Space::Generic,
        Some("shared::cluster") => Space::Cluster,
        Some(_) => Space::Cta,
    };
    let there = target.needs(&format!("Feature '{name}'"), (row.first, row.version), row.instead());
    // The earlier release of the assembler (12.8, before sm_75) checks the instruction before its operands.
    if target.number < 75 {
        there.clone()?;
    }
    let form = operands(reader, verb, space)
        .ok_or_else(|| LoweringRefusal::mismatch(name, format!("write {}", row.usage)))?;
    there?;
    if matches!(verb, Verb::Arrive { .. }) && form.result.is_none() && space != Space::Cluster {
        // Here the assembler's message does not name a PTX version.
        let message = format!("Result discard mode is not allowed for instruction '{name}'");
        target.needs_version("", (7, 1)).or_else(|older| refuse(message, older.help))?;
    }
    if verb == Verb::CheckLayout && modifiers.layout.is_none() {
        let message = format!(".layout modifier required for instruction '{name}'");
        return refuse(message, "write mbarrier.check_layout.layout::v0 or .layout::v1");
    }
    check_space(row, space, target)?;
    if let Verb::Arrive { how, .. } = verb
        && space == Space::Cluster
    {
        check_cluster(name, how, &form)?;
    }
    check_sem(row, &modifiers, target)?;
    check_reports(reader.instruction, row, &form, &modifiers, target)?;
    check_kinds(row, &modifiers, target)?;
    let counted = matches!(verb, Verb::Arrive { how: Arrival::Plain, .. }) && form.amount.is_some();
    if counted {
        let of = format!("Feature '{name} with count argument and without '.noComplete' modifier'");
        target.needs_version(&of, (7, 8))?;
    }
    if counted && target.number < 90 {
        // The assembler's message has `(null)` instead of a name for this feature.
        let help =
            "before sm_90, write .noComplete with a count; without a count, the instruction is one arrival";
        return unsupported("(null)", 90, help);
    }
    check_values(reader.instruction, row)?;
    check_scope(row, &modifiers, target)?;
    if !modifiers.b64 {
        let message = format!("Instruction '{name}' has no type");
        return refuse(message, "write .b64 as the last modifier");
    }
    let cluster_order = modifiers.scope == Some("cluster") && modifiers.sem != Some("relaxed");
    let layout = u8::from(modifiers.layout == Some("layout::v1"));
    let conditional = modifiers.phase_type == Some("phase_type::conditional");
    Ok(Form { cluster_order, layout, conditional, ..form })
}

/// Checks features that the assembler already checks while it reads a modifier.
pub(super) fn older_features(
    instruction: &PtxInstruction<'_>,
    target: Target,
) -> Result<(), LoweringRefusal> {
    let modifier = instruction.modifiers.iter().find(|m| matches!(**m, "weak" | "mmio"));
    modifier.map_or(Ok(()), |modifier| target.has(&format!(".{modifier}"), "omit the modifier"))
}

/// Refuses modifiers that the assembler does not know. There are two layouts and two types of phases. The
/// earlier release of the assembler (12.8, before sm_75) knows none of them.
fn newer_names(instruction: &PtxInstruction<'_>, target: Target) -> Result<(), LoweringRefusal> {
    const NEWER: [&str; 5] =
        ["layout::v0", "layout::v1", "phase_type::primary", "phase_type::conditional", "check_layout"];
    let newer = |modifier: &&&str| NEWER.contains(modifier);
    let kind = |modifier: &&&str| modifier.starts_with("layout::") || modifier.starts_with("phase_type::");
    let unknown = match target.number {
        ..75 => instruction.modifiers.iter().find(|m| newer(m) || kind(m)),
        _ => instruction.modifiers.iter().find(|m| kind(m) && !newer(m)),
    };
    match unknown {
        None => Ok(()),
        Some(modifier) => refuse(
            format!("Unknown modifier '.{modifier}'"),
            format!("from sm_90 on, the modifiers are .{}", NEWER.join(", .")),
        ),
    }
}

fn modifiers<'t>(rest: &[&'t str], name: &str) -> Result<Modifiers<'t>, LoweringRefusal> {
    let mut modifiers = Modifiers::default();
    for modifier in rest.iter().copied() {
        let place = match modifier {
            "release" | "relaxed" | "acquire" | "acq_rel" | "sc" | "weak" | "volatile" | "mmio" => {
                &mut modifiers.sem
            }
            "cta" | "cluster" | "gpu" | "sys" => &mut modifiers.scope,
            "shared" | "shared::cta" | "shared::cluster" => &mut modifiers.space,
            "layout::v0" | "layout::v1" => &mut modifiers.layout,
            "phase_type::primary" | "phase_type::conditional" => &mut modifiers.phase_type,
            "b64" => {
                modifiers.b64 = true;
                continue;
            }
            _ => return illegal(modifier, name, "omit the modifier"),
        };
        if let Some(other) = place.replace(modifier) {
            let message = format!("Modifiers '.{other}' and '.{modifier}' exclude each other");
            return refuse(message, "leave one of them out");
        }
    }
    Ok(modifiers)
}

struct Row {
    spelled: &'static str,
    verb: Verb,
    first: u16,
    version: Version,
    usage: &'static str,
    orderings: &'static [&'static str],
}

const fn arrive(drop: bool, how: Arrival) -> Verb {
    Verb::Arrive { drop, how }
}

const fn wait(suspends: bool, parity: bool) -> Verb {
    Verb::Wait { suspends, parity }
}

const RELEASE: &[&str] = &["release", "relaxed"];
const ACQUIRE: &[&str] = &["acquire", "relaxed"];
const RELAXED: &[&str] = &["relaxed"];
const ARRIVE: &str = "state, [address] or state, [address], count";
const ARRIVE_TX: &str = "state, [address], transactions";
const ARRIVE_SOME: &str = "state, [address], count: .noComplete needs a count";

/// All instructions on mbarrier objects. The first matching row counts, so a longer spelling is before the
/// shorter one that it begins with.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { spelled: "mbarrier.init", verb: Verb::Init, first: 80, version: (7, 0), usage: "[address], count", orderings: &[] },
    Row { spelled: "mbarrier.inval", verb: Verb::Inval, first: 80, version: (7, 0), usage: "[address]", orderings: &[] },
    Row { spelled: "mbarrier.arrive.expect_tx", verb: arrive(false, Arrival::ExpectTx), first: 90, version: (8, 0), usage: ARRIVE_TX, orderings: RELEASE },
    Row { spelled: "mbarrier.arrive.noComplete", verb: arrive(false, Arrival::NoComplete), first: 80, version: (7, 0), usage: ARRIVE_SOME, orderings: RELEASE },
    Row { spelled: "mbarrier.arrive", verb: arrive(false, Arrival::Plain), first: 80, version: (7, 0), usage: ARRIVE, orderings: RELEASE },
    Row { spelled: "mbarrier.arrive_drop.expect_tx", verb: arrive(true, Arrival::ExpectTx), first: 90, version: (8, 0), usage: ARRIVE_TX, orderings: RELEASE },
    Row { spelled: "mbarrier.arrive_drop.noComplete", verb: arrive(true, Arrival::NoComplete), first: 80, version: (7, 0), usage: ARRIVE_SOME, orderings: RELEASE },
    Row { spelled: "mbarrier.arrive_drop", verb: arrive(true, Arrival::Plain), first: 80, version: (7, 0), usage: ARRIVE, orderings: RELEASE },
    Row { spelled: "mbarrier.test_wait.parity", verb: wait(false, true), first: 80, version: (7, 1), usage: "predicate, [address], parity", orderings: ACQUIRE },
    Row { spelled: "mbarrier.test_wait", verb: wait(false, false), first: 80, version: (7, 0), usage: "predicate, [address], state", orderings: ACQUIRE },
    Row { spelled: "mbarrier.try_wait.parity", verb: wait(true, true), first: 90, version: (7, 8), usage: "predicate, [address], parity, nanoseconds", orderings: ACQUIRE },
    Row { spelled: "mbarrier.try_wait", verb: wait(true, false), first: 90, version: (7, 8), usage: "predicate, [address], state, nanoseconds", orderings: ACQUIRE },
    Row { spelled: "mbarrier.expect_tx", verb: Verb::ExpectTx, first: 90, version: (8, 0), usage: "[address], transactions", orderings: RELAXED },
    Row { spelled: "mbarrier.complete_tx", verb: Verb::CompleteTx, first: 90, version: (8, 0), usage: "[address], transactions", orderings: RELAXED },
    Row { spelled: "mbarrier.pending_count", verb: Verb::PendingCount, first: 80, version: (7, 0), usage: "count, state", orderings: &[] },
    Row { spelled: "mbarrier.check_layout", verb: Verb::CheckLayout, first: 90, version: (9, 3), usage: "predicate, [address]", orderings: &[] },
    Row { spelled: "cp.async.mbarrier.arrive.noinc", verb: Verb::CopyArrive { counted: true }, first: 80, version: (7, 0), usage: "[address]", orderings: &[] },
    Row { spelled: "cp.async.mbarrier.arrive", verb: Verb::CopyArrive { counted: false }, first: 80, version: (7, 0), usage: "[address]", orderings: &[] },
];

impl Row {
    fn find<'a, 't>(instruction: &'a PtxInstruction<'t>) -> Option<(&'static Row, &'a [&'t str])> {
        ROWS.iter().find_map(|row| {
            let (mut words, mut modifiers) = (row.spelled.split('.'), instruction.modifiers.iter());
            let spelled = words.next() == Some(instruction.opcode)
                && words.all(|word| modifiers.next().is_some_and(|modifier| *modifier == word));
            spelled.then_some((row, modifiers.as_slice()))
        })
    }

    fn name(&self) -> &'static str {
        self.spelled.trim_end_matches(".noComplete").trim_end_matches(".noinc")
    }

    /// Help for an architecture or a PTX version that does not have the instruction.
    fn instead(&self) -> &'static str {
        match self.verb {
            Verb::Wait { suspends: true, .. } => "before sm_90, use mbarrier.test_wait in a loop",
            Verb::CheckLayout => "before sm_90, mbarrier objects have only one layout",
            _ if self.first == 90 => "mbarrier objects count transactions from sm_90 on",
            _ => "mbarrier objects exist from sm_80 on; bar.sync exists on every architecture",
        }
    }

    /// True if the mbarrier object may belong to another CTA of the cluster (spec 6.7).
    fn reaches_cluster(&self) -> bool {
        matches!(self.verb, Verb::Arrive { .. } | Verb::ExpectTx | Verb::CompleteTx)
    }
}

fn operands<'t>(reader: &Reader<'_, 't>, verb: Verb, space: Space) -> Option<Form<'t>> {
    let operands = reader.instruction.operands.as_slice();
    let object = |operand: &Operand<'_>| reader.address(operand, space == Space::Generic);
    let mut form = Form {
        verb,
        space,
        layout: 0,
        conditional: false,
        cluster_order: false,
        result: None,
        reported: None,
        report: None,
        address: None,
        amount: None,
        state: None,
        hint: None,
    };
    match (verb, operands) {
        (Verb::Init | Verb::ExpectTx | Verb::CompleteTx, [address, amount]) => {
            form.address = Some(object(address)?);
            form.amount = Some(reader.word(amount)?);
        }
        (Verb::Inval | Verb::CopyArrive { .. }, [address]) => form.address = Some(object(address)?),
        (Verb::Arrive { how, .. }, [state, address, amount @ ..]) => {
            form.result = match state {
                Operand::Sink => None,
                state => Some(reader.register(state, 64)?),
            };
            form.address = Some(object(address)?);
            form.amount = match amount {
                [] if how == Arrival::Plain => None,
                [amount] => Some(reader.word(amount)?),
                _ => return None,
            };
        }
        (Verb::Wait { suspends, parity }, [complete, rest @ ..]) => {
            let complete = match complete {
                Operand::Pair(pair) => {
                    let [complete, reported] = pair.as_ref();
                    if *reported != Operand::Sink {
                        form.reported = Some(reader.register(reported, 1)?);
                    }
                    complete
                }
                complete => complete,
            };
            form.result = Some(reader.register(complete, 1)?);
            let rest = match rest {
                [report, rest @ ..] if !matches!(report, Operand::Address { .. }) => {
                    if *report != Operand::Sink {
                        form.report = Some(reader.register(report, 8)?);
                    }
                    rest
                }
                rest => rest,
            };
            let [address, phase, hint @ ..] = rest else { return None };
            form.address = Some(object(address)?);
            match parity {
                true => form.amount = Some(reader.word(phase)?),
                false => form.state = Some(reader.register(phase, 64)?),
            }
            form.hint = match hint {
                [] => None,
                [hint] if suspends => Some(reader.word(hint)?),
                _ => return None,
            };
        }
        (Verb::CheckLayout, [found, address]) => {
            form.result = Some(reader.register(found, 1)?);
            form.address = Some(object(address)?);
        }
        (Verb::PendingCount, [count, state]) => {
            form.result = Some(reader.register(count, 32)?);
            form.state = Some(reader.register(state, 64)?);
        }
        _ => return None,
    }
    Some(form)
}

/// Checks the operands for failure reports, which only waits for a primary phase may have.
fn check_reports(
    instruction: &PtxInstruction<'_>,
    row: &Row,
    form: &Form<'_>,
    modifiers: &Modifiers<'_>,
    target: Target,
) -> Result<(), LoweringRefusal> {
    let Form { verb, reported, report, .. } = *form;
    // For an instruction with two result predicates, the assembler checks constants before reports.
    if report.is_none() && matches!(instruction.operands.first(), Some(Operand::Pair(_))) {
        check_values(instruction, row)?;
    }
    if modifiers.phase_type == Some("phase_type::primary") {
        let feature = "Feature 'mbarrier with reportValue argument'";
        return match report {
            Some(_) => target.needs(feature, (90, (9, 3)), "omit the operand for the value of the report"),
            None => Ok(()),
        };
    }
    let no_parity = modifiers.phase_type.is_some() && !matches!(verb, Verb::Wait { parity: true, .. });
    match (reported, report) {
        (None, None) => Ok(()),
        (None, Some(_)) if no_parity => Ok(()),
        _ => mismatch(row.name(), "use failure reports only with .phase_type::primary"),
    }
}

fn check_kinds(row: &Row, modifiers: &Modifiers<'_>, target: Target) -> Result<(), LoweringRefusal> {
    if modifiers.phase_type == Some("phase_type::conditional")
        && !matches!(row.verb, Verb::Wait { parity: true, .. })
    {
        let message = format!(".parity modifier required for instruction '{}'", row.name());
        return refuse(message, "use .parity to wait for a conditional phase");
    }
    for modifier in [modifiers.layout, modifiers.phase_type].into_iter().flatten() {
        let fits = match row.verb {
            Verb::Init | Verb::CheckLayout => modifier.starts_with("layout"),
            Verb::Wait { .. } => modifier.starts_with("phase_type"),
            _ => false,
        };
        let help = "omit the modifier: before sm_90 there is only one layout and one type of phases";
        target.needs(&format!("Feature '.{modifier}'"), (90, (9, 3)), help)?;
        if !fits {
            let help = "omit the modifier: layouts are for init and check_layout, phase types for waits";
            return illegal(modifier, row.name(), help);
        }
    }
    Ok(())
}

fn check_space(row: &Row, space: Space, target: Target) -> Result<(), LoweringRefusal> {
    if space == Space::Cluster && !matches!(row.verb, Verb::CopyArrive { .. }) {
        let help = "clusters exist from sm_90 on; write .shared";
        target.needs("Feature '.shared::cluster'", (90, (8, 0)), help)?;
    }
    match space {
        Space::Cluster if !row.reaches_cluster() => {
            let help = "the instruction works only on objects of its own CTA: write .shared::cta";
            refuse(format!("Illegal modifier '::cluster' for instruction '{}'", row.name()), help)
        }
        Space::Cta if row.verb == Verb::PendingCount => refuse(
            format!("No state space qualifier expected for instruction '{}'", row.name()),
            "omit the state space: the instruction works on a state, not on memory",
        ),
        _ => Ok(()),
    }
}

fn check_sem(row: &Row, modifiers: &Modifiers<'_>, target: Target) -> Result<(), LoweringRefusal> {
    let name = row.name();
    let list = row.orderings;
    let bare = matches!(row.verb, Verb::Arrive { how: Arrival::NoComplete, .. });
    // `.relaxed` of transaction instructions is as old as the instructions, so only lists with two orders are
    // checked.
    if let (Some(sem), [first, _]) = (modifiers.sem.filter(|sem| list.contains(sem)), list) {
        let since = if sem == "relaxed" { (90, (8, 6)) } else { (0, (8, 0)) };
        let help = format!("before sm_90, write .{first}");
        target.needs(&format!("Modifier '.{sem}' on '{name}'"), since, &help)?;
    }
    match (modifiers.sem, modifiers.scope) {
        // [PTX] allows `.noComplete` only together with `.release.cta`.
        (Some("relaxed"), _) if bare => apart(".relaxed", ".noComplete", "write .release.cta"),
        (_, Some(scope @ ("cluster" | "gpu" | "sys"))) if bare => {
            apart(&format!(".{scope}"), ".noComplete", "write .release.cta")
        }
        // The scope is illegal, but the assembler checks constants first; `check_scope` refuses the scope
        // later.
        (Some(_), Some(_)) if list.is_empty() => Ok(()),
        (Some(sem), _) if !list.contains(&sem) => {
            let help = match list {
                [] => "omit the modifier".into(),
                _ => format!("write .{}", list.join(" or .")),
            };
            illegal(sem, name, help)
        }
        (Some(sem), None) => refuse(
            format!("Modifier '.{sem}' requires scope with '{name}' instruction"),
            format!("write .{sem}.cta or .{sem}.cluster"),
        ),
        (None, Some(scope)) => match list.first() {
            Some(sem) => refuse(
                format!("Modifier '.{scope}' requires order with '{name}' instruction"),
                format!("write .{sem}.{scope}"),
            ),
            None => illegal(scope, name, "omit the modifier"),
        },
        _ => Ok(()),
    }
}

fn check_scope(row: &Row, modifiers: &Modifiers<'_>, target: Target) -> Result<(), LoweringRefusal> {
    let sem = modifiers.sem.unwrap_or_default();
    match modifiers.scope {
        Some(scope) if row.orderings.is_empty() => illegal(scope, row.name(), "omit the modifier"),
        Some(scope @ ("gpu" | "sys")) => {
            let help =
                format!("write .{sem}.cta or .{sem}.cluster: no larger scope is legal for mbarrier objects");
            illegal(scope, row.name(), help)
        }
        Some("cluster") => target.has(".cluster scope", "clusters exist from sm_90 on; write .cta"),
        _ => Ok(()),
    }
}

fn apart(one: &str, other: &str, help: &str) -> Result<(), LoweringRefusal> {
    refuse(format!("Modifier '{one}' cannot be combined with modifier '{other}'"), help)
}

/// Refuses a result of an arrival at an object that may belong to another CTA, because it returns no state.
fn check_cluster(name: &str, how: Arrival, form: &Form<'_>) -> Result<(), LoweringRefusal> {
    if form.result.is_some() {
        return refuse(
            format!(
                "Sink '_' is expected as a destination operand for instruction '{name}' with '.shared::cluster'"
            ),
            "write _ for the state, or .shared::cta",
        );
    }
    if how == Arrival::NoComplete {
        return apart(".shared::cluster", ".noComplete", "write .shared::cta");
    }
    Ok(())
}

/// Checks the ranges of constant operands. The messages number operands from 0, as the assembler does.
fn check_values(instruction: &PtxInstruction<'_>, row: &Row) -> Result<(), LoweringRefusal> {
    let name = row.name();
    let constant = |at: usize| match instruction.operands.get(at) {
        Some(Operand::Integer(value)) => Some(*value),
        _ => None,
    };
    const COUNTS: &str = "the count of an mbarrier object is 1 to 2^20 - 1 arrivals";
    match (row.verb, constant(if row.verb == Verb::Init { 1 } else { 2 })) {
        (Verb::Init, Some(value)) if !(1..=MOST).contains(&value) => refuse(
            format!(
                "Argument 1 of instruction '{name}': value '{value}' out of range, expected to be in range \
                 [1..{MOST}]"
            ),
            COUNTS,
        ),
        // [PTX] states the same upper limit for these counts, but the assembler refuses only counts below 1.
        (Verb::Arrive { how: Arrival::Plain | Arrival::NoComplete, .. }, Some(count @ ..=0)) => refuse(
            format!(
                "Argument 2 of instruction '{name}' : value '{count}' expected to be a non-zero positive"
            ),
            COUNTS,
        ),
        (Verb::Wait { parity: true, .. }, Some(value)) if !(0..=1).contains(&value) => refuse(
            format!("Argument 2 of instruction '{name}': unexpected value '{value}', expected to be 0 or 1"),
            "write the parity of the phase: 0 for even phases, 1 for odd phases",
        ),
        _ => Ok(()),
    }
}
