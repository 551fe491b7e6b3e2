//! What an instruction on an object says, and whether an assembler takes it. The order of the checks is the
//! assembler's: where an instruction is wrong twice, it is refused for the same reason [TOOLS].

use super::operand::{Address, Reader, Word};
use super::{illegal, lacking, mismatch};
use crate::arch::Arch;
use crate::lower::Refusal;
use crate::ptx::{Instruction, Operand, RegId};

/// What is done to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Init,
    Inval,
    Arrive {
        /// The arrivals are not expected in the phases to come.
        drop: bool,
        how: Arrival,
    },
    Wait {
        /// `try_wait`, which may sleep.
        suspends: bool,
        /// The phase is named by its parity, not by a state.
        parity: bool,
    },
    ExpectTx,
    CompleteTx,
    PendingCount,
    /// Whether the object has the layout that is named.
    CheckLayout,
    CopyArrive {
        /// The arrival is among those that init was told of.
        counted: bool,
    },
}

/// What an arrival brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    Plain,
    ExpectTx,
    NoComplete,
}

/// The state space of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// `.shared`, `.shared::cta`
    Cta,
    /// `.shared::cluster`
    Cluster,
    /// None is named.
    Generic,
}

/// A legal instruction.
#[derive(Clone, Debug)]
pub(super) struct Form<'t> {
    pub(super) verb: Verb,
    pub(super) space: Space,
    /// The layout that is named: 0 unless it says `.layout::v1`.
    pub(super) layout: u8,
    /// `.phase_type::conditional`
    pub(super) conditional: bool,
    /// Releases or acquires beyond the CTA.
    pub(super) cluster_order: bool,
    /// State, predicate or count; `None` for `_`, or where there is none.
    pub(super) result: Option<RegId>,
    /// `%p|%q`: whether a failure was reported in the phase. Objects of layout 0 have none.
    pub(super) reported: Option<RegId>,
    /// The value behind it, of 8 bits.
    pub(super) report: Option<RegId>,
    /// The object; the CTA's first byte where there is none.
    pub(super) address: Option<Address<'t>>,
    /// Count, transactions, parity.
    pub(super) amount: Option<Word>,
    /// The state asked about.
    pub(super) state: Option<RegId>,
    /// How long to wait, in nanoseconds.
    pub(super) hint: Option<Word>,
}

/// Whether the instruction is `mbarrier.*` or `cp.async.mbarrier.*`.
pub(super) fn is_operation(instruction: &Instruction<'_>) -> bool {
    match instruction.opcode {
        "mbarrier" => true,
        "cp" => instruction.modifiers.starts_with(&["async", "mbarrier"]),
        _ => false,
    }
}

/// Modifiers besides those that say what is done.
#[derive(Default)]
struct Modifiers<'t> {
    sem: Option<&'t str>,
    scope: Option<&'t str>,
    space: Option<&'t str>,
    /// `.layout::v0`, `.layout::v1`
    layout: Option<&'t str>,
    /// `.phase_type::primary`, `.phase_type::conditional`: objects here have no other phases than the primary ones.
    phase_type: Option<&'t str>,
    b64: bool,
}

/// Largest count of arrivals (spec 6.1).
const MOST: i64 = (1 << 20) - 1;

const OPERATIONS: &str = "there are mbarrier.init, inval, arrive, arrive_drop, test_wait, try_wait, expect_tx, \
     complete_tx, pending_count and check_layout, and cp.async.mbarrier.arrive";

/// Reads an instruction and judges it.
pub(super) fn read<'t>(reader: &Reader<'_, 't>, arch: Arch) -> Result<Form<'t>, Refusal> {
    older_features(reader.instruction, arch)?;
    newer_names(reader.instruction, arch)?;
    let (verb, rest) = verb(reader.instruction)?;
    let name = verb.name();
    let modifiers = modifiers(rest, name)?;
    let space = match modifiers.space {
        None => Space::Generic,
        Some("shared::cluster") => Space::Cluster,
        Some(_) => Space::Cta,
    };
    let there = match arch.number() < verb.first() {
        true => Err(lacking(name, verb.first(), verb.instead())),
        false => Ok(()),
    };
    // The earlier release looks for the instruction before its operands.
    if arch.number() < 75 {
        there.clone()?;
    }
    let form =
        operands(reader, verb, space).ok_or_else(|| mismatch(name, format!("write {}", verb.usage())))?;
    there?;
    if verb == Verb::CheckLayout && modifiers.layout.is_none() {
        return Err(Refusal {
            message: format!(".layout modifier required for instruction '{name}'"),
            help: "write mbarrier.check_layout.layout::v0 or .layout::v1".into(),
        });
    }
    check_space(verb, space, arch)?;
    if let Verb::Arrive { how, .. } = verb
        && space == Space::Cluster
    {
        check_cluster(verb, how, &form)?;
    }
    check_sem(verb, &modifiers, arch)?;
    check_reports(reader.instruction, &form, &modifiers, arch)?;
    check_kinds(verb, &modifiers, arch)?;
    let counted = matches!(verb, Verb::Arrive { how: Arrival::Plain, .. }) && form.amount.is_some();
    if counted && arch.number() < 90 {
        // The assembler has no name for it.
        let help = "a count needs .noComplete before sm_90; without one, one arrival is meant";
        return Err(lacking("(null)", 90, help));
    }
    check_values(reader.instruction, verb)?;
    check_scope(verb, &modifiers, arch)?;
    if !modifiers.b64 {
        let message = format!("Instruction '{name}' has no type");
        return Err(Refusal { message, help: "end it in .b64".into() });
    }
    let cluster_order = modifiers.scope == Some("cluster") && modifiers.sem != Some("relaxed");
    let layout = u8::from(modifiers.layout == Some("layout::v1"));
    let conditional = modifiers.phase_type == Some("phase_type::conditional");
    Ok(Form { cluster_order, layout, conditional, ..form })
}

/// What is done, and the modifiers after it.
fn verb<'a, 't>(instruction: &'a Instruction<'t>) -> Result<(Verb, &'a [&'t str]), Refusal> {
    let mut rest = instruction.modifiers.as_slice();
    if instruction.opcode == "cp" {
        rest = rest.get(2..).unwrap_or(&[]);
    }
    let unknown = || Refusal {
        message: format!("Unknown instruction '{}.{}'", instruction.opcode, instruction.modifiers.join(".")),
        help: OPERATIONS.into(),
    };
    let (first, mut rest) = rest.split_first().ok_or_else(unknown)?;
    let mut next = |modifier: &str| {
        let there = rest.first() == Some(&modifier);
        rest = &rest[usize::from(there)..];
        there
    };
    let verb = match (instruction.opcode, *first) {
        ("cp", "arrive") => Verb::CopyArrive { counted: next("noinc") },
        ("cp", _) => return Err(unknown()),
        (_, "init") => Verb::Init,
        (_, "inval") => Verb::Inval,
        (_, "arrive" | "arrive_drop") => {
            let how = match () {
                () if next("expect_tx") => Arrival::ExpectTx,
                () if next("noComplete") => Arrival::NoComplete,
                () => Arrival::Plain,
            };
            Verb::Arrive { drop: *first == "arrive_drop", how }
        }
        (_, "test_wait" | "try_wait") => {
            Verb::Wait { suspends: *first == "try_wait", parity: next("parity") }
        }
        (_, "expect_tx") => Verb::ExpectTx,
        (_, "complete_tx") => Verb::CompleteTx,
        (_, "pending_count") => Verb::PendingCount,
        (_, "check_layout") => Verb::CheckLayout,
        _ => return Err(unknown()),
    };
    Ok((verb, rest))
}

/// What is looked at where a modifier is read.
pub(super) fn older_features(instruction: &Instruction<'_>, arch: Arch) -> Result<(), Refusal> {
    let modifier = instruction.modifiers.iter().find(|m| matches!(**m, "weak" | "mmio"));
    match modifier {
        Some(modifier) if arch.number() < 70 => Err(lacking(&format!(".{modifier}"), 70, "leave it out")),
        _ => Ok(()),
    }
}

/// Refuses names that an assembler does not know: there are two layouts and two types of phases, and the earlier
/// release, for architectures before sm_75, has neither.
fn newer_names(instruction: &Instruction<'_>, arch: Arch) -> Result<(), Refusal> {
    const NEWER: [&str; 5] =
        ["layout::v0", "layout::v1", "phase_type::primary", "phase_type::conditional", "check_layout"];
    let newer = |modifier: &&&str| NEWER.contains(modifier);
    let kind = |modifier: &&&str| modifier.starts_with("layout::") || modifier.starts_with("phase_type::");
    let unknown = match arch.number() {
        ..75 => instruction.modifiers.iter().find(|m| newer(m) || kind(m)),
        _ => instruction.modifiers.iter().find(|m| kind(m) && !newer(m)),
    };
    match unknown {
        None => Ok(()),
        Some(modifier) => Err(Refusal {
            message: format!("Unknown modifier '.{modifier}'"),
            help: format!("from sm_90 on there are .{}", NEWER.join(", .")),
        }),
    }
}

/// Sorts the modifiers; their order is not looked at.
fn modifiers<'t>(rest: &[&'t str], name: &str) -> Result<Modifiers<'t>, Refusal> {
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
            _ => return Err(illegal(&format!(".{modifier}"), name, "leave it out")),
        };
        if let Some(other) = place.replace(modifier) {
            return Err(Refusal {
                message: format!("Modifiers '.{other}' and '.{modifier}' exclude each other"),
                help: "leave one of them out".into(),
            });
        }
    }
    Ok(modifiers)
}

impl Verb {
    /// Name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Verb::Init => "mbarrier.init",
            Verb::Inval => "mbarrier.inval",
            Verb::Arrive { drop: false, how: Arrival::ExpectTx } => "mbarrier.arrive.expect_tx",
            Verb::Arrive { drop: true, how: Arrival::ExpectTx } => "mbarrier.arrive_drop.expect_tx",
            Verb::Arrive { drop: false, .. } => "mbarrier.arrive",
            Verb::Arrive { drop: true, .. } => "mbarrier.arrive_drop",
            Verb::Wait { suspends: false, parity: false } => "mbarrier.test_wait",
            Verb::Wait { suspends: false, parity: true } => "mbarrier.test_wait.parity",
            Verb::Wait { suspends: true, parity: false } => "mbarrier.try_wait",
            Verb::Wait { suspends: true, parity: true } => "mbarrier.try_wait.parity",
            Verb::ExpectTx => "mbarrier.expect_tx",
            Verb::CompleteTx => "mbarrier.complete_tx",
            Verb::PendingCount => "mbarrier.pending_count",
            Verb::CheckLayout => "mbarrier.check_layout",
            Verb::CopyArrive { .. } => "cp.async.mbarrier.arrive",
        }
    }

    /// Number of the first architecture that has it.
    fn first(self) -> u16 {
        match self {
            Verb::Arrive { how: Arrival::ExpectTx, .. }
            | Verb::Wait { suspends: true, .. }
            | Verb::ExpectTx
            | Verb::CompleteTx
            | Verb::CheckLayout => 90,
            _ => 80,
        }
    }

    /// What to do where it is not there.
    fn instead(self) -> &'static str {
        match self {
            Verb::Wait { .. } if self.first() == 90 => "before sm_90, ask with mbarrier.test_wait in a loop",
            Verb::CheckLayout => "before sm_90 objects have one layout",
            _ if self.first() == 90 => "objects count transactions from sm_90 on",
            _ => "there are no mbarrier objects before sm_80; bar.sync is on every architecture",
        }
    }

    /// The operands it takes.
    fn usage(self) -> &'static str {
        match self {
            Verb::Init => "[address], count",
            Verb::Inval | Verb::CopyArrive { .. } => "[address]",
            Verb::Arrive { how: Arrival::Plain, .. } => "state, [address] or state, [address], count",
            Verb::Arrive { how: Arrival::NoComplete, .. } => {
                "state, [address], count: .noComplete needs a count"
            }
            Verb::Arrive { how: Arrival::ExpectTx, .. } => "state, [address], transactions",
            Verb::Wait { suspends: false, parity: false } => "predicate, [address], state",
            Verb::Wait { suspends: false, parity: true } => "predicate, [address], parity",
            Verb::Wait { suspends: true, parity: false } => "predicate, [address], state, nanoseconds",
            Verb::Wait { suspends: true, parity: true } => "predicate, [address], parity, nanoseconds",
            Verb::ExpectTx | Verb::CompleteTx => "[address], transactions",
            Verb::PendingCount => "count, state",
            Verb::CheckLayout => "predicate, [address]",
        }
    }

    /// Orderings it can have, besides the one it has unasked.
    fn orderings(self) -> &'static [&'static str] {
        match self {
            Verb::Arrive { .. } => &["release", "relaxed"],
            Verb::Wait { .. } => &["acquire", "relaxed"],
            Verb::ExpectTx | Verb::CompleteTx => &["relaxed"],
            Verb::Init | Verb::Inval | Verb::PendingCount | Verb::CheckLayout | Verb::CopyArrive { .. } => {
                &[]
            }
        }
    }

    /// Whether the object may be another CTA's (spec 6.7).
    fn reaches_cluster(self) -> bool {
        matches!(self, Verb::Arrive { .. } | Verb::ExpectTx | Verb::CompleteTx)
    }
}

/// The operands, if they are those that the instruction takes.
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
                    form.report = Some(reader.register(report, 8)?);
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

/// Reports of failures, which waits for the primary phase may ask for.
fn check_reports(
    instruction: &Instruction<'_>,
    form: &Form<'_>,
    modifiers: &Modifiers<'_>,
    arch: Arch,
) -> Result<(), Refusal> {
    let Form { verb, reported, report, .. } = *form;
    // Where two predicates are named, constants are looked at first.
    if report.is_none() && matches!(instruction.operands.first(), Some(Operand::Pair(_))) {
        check_values(instruction, verb)?;
    }
    if modifiers.phase_type == Some("phase_type::primary") {
        return match report {
            Some(_) if arch.number() < 90 => {
                Err(lacking("mbarrier with reportValue argument", 90, "leave the value of the report out"))
            }
            _ => Ok(()),
        };
    }
    let no_parity = modifiers.phase_type.is_some() && !matches!(verb, Verb::Wait { parity: true, .. });
    match (reported, report) {
        (None, None) => Ok(()),
        (None, Some(_)) if no_parity => Ok(()),
        _ => Err(mismatch(verb.name(), "reports go with .phase_type::primary")),
    }
}

/// `.layout` and `.phase_type`
fn check_kinds(verb: Verb, modifiers: &Modifiers<'_>, arch: Arch) -> Result<(), Refusal> {
    if modifiers.phase_type == Some("phase_type::conditional")
        && !matches!(verb, Verb::Wait { parity: true, .. })
    {
        return Err(Refusal {
            message: format!(".parity modifier required for instruction '{}'", verb.name()),
            help: "a conditional phase is waited for by its parity".into(),
        });
    }
    for modifier in [modifiers.layout, modifiers.phase_type].into_iter().flatten() {
        let fits = match verb {
            Verb::Init | Verb::CheckLayout => modifier.starts_with("layout"),
            Verb::Wait { .. } => modifier.starts_with("phase_type"),
            _ => false,
        };
        if arch.number() < 90 {
            return Err(lacking(
                &format!(".{modifier}"),
                90,
                "leave it out: before sm_90 there is no choice",
            ));
        }
        if !fits {
            let help = "layouts go with init and check_layout, types of phases with waits: leave it out";
            return Err(illegal(&format!(".{modifier}"), verb.name(), help));
        }
    }
    Ok(())
}

fn check_space(verb: Verb, space: Space, arch: Arch) -> Result<(), Refusal> {
    let copy = matches!(verb, Verb::CopyArrive { .. });
    match space {
        Space::Cluster if arch.number() < 90 && !copy => {
            Err(lacking(".shared::cluster", 90, "before sm_90 there are no clusters; write .shared"))
        }
        Space::Cluster if !verb.reaches_cluster() => {
            let help = "it works on objects of the own CTA only: write .shared::cta";
            Err(illegal("::cluster", verb.name(), help))
        }
        Space::Cta if verb == Verb::PendingCount => Err(Refusal {
            message: format!("No state space qualifier expected for instruction '{}'", verb.name()),
            help: "it works on a state, not on memory: leave it out".into(),
        }),
        _ => Ok(()),
    }
}

fn check_sem(verb: Verb, modifiers: &Modifiers<'_>, arch: Arch) -> Result<(), Refusal> {
    let name = verb.name();
    let list = verb.orderings();
    let bare = matches!(verb, Verb::Arrive { how: Arrival::NoComplete, .. });
    match (modifiers.sem, modifiers.scope) {
        (Some("relaxed"), _) if list.contains(&"relaxed") && arch.number() < 90 => Err(Refusal {
            message: format!("Modifier '.relaxed' on '{name}' requires .target sm_90 or higher"),
            help: format!("before sm_90, write .{}", list.first().unwrap_or(&"relaxed")),
        }),
        // [PTX] has .noComplete with .release.cta only.
        (Some("relaxed"), _) if bare => Err(apart(".relaxed", ".noComplete", "write .release.cta")),
        (_, Some(scope @ ("cluster" | "gpu" | "sys"))) if bare => {
            Err(apart(&format!(".{scope}"), ".noComplete", "write .release.cta"))
        }
        // The scope is illegal, once the constants are looked at.
        (Some(_), Some(_)) if list.is_empty() => Ok(()),
        (Some(sem), _) if !list.contains(&sem) => {
            let help = match list {
                [] => "leave it out".into(),
                _ => format!("write .{}", list.join(" or .")),
            };
            Err(illegal(&format!(".{sem}"), name, help))
        }
        (Some(sem), None) => Err(Refusal {
            message: format!("Modifier '.{sem}' requires scope with '{name}' instruction"),
            help: format!("write .{sem}.cta or .{sem}.cluster"),
        }),
        (None, Some(scope)) => Err(match list.first() {
            Some(sem) => Refusal {
                message: format!("Modifier '.{scope}' requires order with '{name}' instruction"),
                help: format!("write .{sem}.{scope}"),
            },
            None => illegal(&format!(".{scope}"), name, "leave it out"),
        }),
        _ => Ok(()),
    }
}

fn check_scope(verb: Verb, modifiers: &Modifiers<'_>, arch: Arch) -> Result<(), Refusal> {
    let sem = modifiers.sem.unwrap_or_default();
    match modifiers.scope {
        Some(scope) if verb.orderings().is_empty() => {
            Err(illegal(&format!(".{scope}"), verb.name(), "leave it out"))
        }
        Some(scope @ ("gpu" | "sys")) => {
            let help = format!("write .{sem}.cta or .{sem}.cluster: objects do not reach further");
            Err(illegal(&format!(".{scope}"), verb.name(), help))
        }
        Some("cluster") if arch.number() < 90 => {
            Err(lacking(".cluster scope", 90, "before sm_90 there are no clusters; write .cta"))
        }
        _ => Ok(()),
    }
}

/// Modifiers that do not go together.
fn apart(one: &str, other: &str, help: &str) -> Refusal {
    Refusal {
        message: format!("Modifier '{one}' cannot be combined with modifier '{other}'"),
        help: help.into(),
    }
}

/// An object of another CTA gives no state.
fn check_cluster(verb: Verb, how: Arrival, form: &Form<'_>) -> Result<(), Refusal> {
    if form.result.is_some() {
        let name = verb.name();
        return Err(Refusal {
            message: format!(
                "Sink '_' is expected as a destination operand for instruction '{name}' with '.shared::cluster'"
            ),
            help: "write _ for the state, or .shared::cta".into(),
        });
    }
    if how == Arrival::NoComplete {
        return Err(apart(".shared::cluster", ".noComplete", "write .shared::cta"));
    }
    Ok(())
}

/// Constants are in range. Assemblers count operands from 0.
fn check_values(instruction: &Instruction<'_>, verb: Verb) -> Result<(), Refusal> {
    let name = verb.name();
    let constant = |at: usize| match instruction.operands.get(at) {
        Some(Operand::Integer(value)) => Some(*value),
        _ => None,
    };
    let at = match verb {
        Verb::Init => 1,
        // [PTX] gives these counts the same range; assemblers refuse zero alone.
        Verb::Arrive { how: Arrival::Plain | Arrival::NoComplete, .. } => {
            return match constant(2) {
                Some(count @ ..=0) => Err(Refusal {
                    message: format!(
                        "Argument 2 of instruction '{name}' : value '{count}' expected to be a non-zero positive"
                    ),
                    help: "an object counts 1 to 2^20 - 1 arrivals".into(),
                }),
                _ => Ok(()),
            };
        }
        Verb::Wait { parity: true, .. } => {
            return match constant(2) {
                Some(value) if !(0..=1).contains(&value) => Err(Refusal {
                    message: format!(
                        "Argument 2 of instruction '{name}': unexpected value '{value}', expected to be 0 or 1"
                    ),
                    help: "name the phase by its parity: 0 the even ones, 1 the odd ones".into(),
                }),
                _ => Ok(()),
            };
        }
        _ => return Ok(()),
    };
    match constant(at) {
        Some(value) if !(1..=MOST).contains(&value) => Err(Refusal {
            message: format!(
                "Argument {at} of instruction '{name}': value '{value}' out of range, expected to be in range \
                 [1..{MOST}]"
            ),
            help: "an object counts 1 to 2^20 - 1 arrivals".into(),
        }),
        _ => Ok(()),
    }
}
