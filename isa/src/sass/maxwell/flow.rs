//! Rewrite of branches, calls and reconvergence of sm_50 to sm_62.
//!
//! SSY, PBK and PCNT push a token with a target address. SYNC, BRK and CONT send threads to the target of the
//! innermost token that SSY, PBK or PCNT pushed, and these threads reconverge there. Compilers nest tokens,
//! so the tokens at an instruction are the same on all paths to it. The rewrite replaces each token by a
//! convergence barrier, whose number is the nesting depth.

use super::step::{PT, condition, predicate, r};
use crate::kernel::register::{BarrierRegister, PredSource};
use crate::sass::listing::Statement;
use crate::sass::operand::{self, Number, OperandKind as Op};
use std::collections::{BTreeMap, HashMap, HashSet};

const BARRIERS: usize = 16;

/// First register that holds a return address. Each function has its own pair of registers.
const RETURNS: usize = 400;

/// Jump table of a BRX instruction. Each entry has the index of the target statement, and the register values
/// that select it.
struct Table {
    register: Op<'static>,
    targets: Vec<(usize, Vec<i64>)>,
}

fn targets(statements: &[Statement<'_>], labels: &HashMap<&str, u32>) -> Vec<Option<usize>> {
    let offsets: BTreeMap<u64, usize> =
        statements.iter().enumerate().filter_map(|(at, s)| Some((s.offset?, at))).collect();
    let target = |statement: &Statement<'_>| {
        if !matches!(statement.name, "BRA" | "SSY" | "PBK" | "PCNT" | "CAL") {
            return None;
        }
        match statement.operands.last()?.kind {
            Op::Label(label) => labels.get(label).map(|index| *index as usize),
            // If the address is that of a scheduling word, the target is the next instruction.
            Op::Number(Number::Hex(address)) => {
                offsets.range(u64::try_from(address).ok()?..).next().map(|(_, at)| *at)
            }
            _ => None,
        }
    };
    statements.iter().map(target).collect()
}

/// Returns the jump table of each BRX that names its targets, by index of the BRX statement.
///
/// The value in the register is: offset of the target, minus the constant in the text, minus the offset of
/// the instruction after the BRX.
fn tables(statements: &[Statement<'_>], labels: &HashMap<&str, u32>) -> HashMap<usize, Table> {
    let offset = |at: usize| i64::try_from(statements.get(at)?.offset?).ok();
    let table = |at: usize, statement: &Statement<'_>| {
        let (register, constant) = statement.operands.first()?.kind.try_as_name()?.split_once(' ')?;
        let part = |text| operand::parse(text, statement.limits).ok();
        let register = Op::Reg(part(register)?.try_as_reg()?);
        let base = offset(at)? + 8 + part(constant.trim())?.try_as_number()?.integer()?;
        let names = statement.text.split_once("\"BRANCH_TARGETS ")?.1.split_once('"')?.0;
        let target = |name: &str| {
            let target = *labels.get(name)? as usize;
            let place = offset(target)?;
            // A scheduling word is before the first of each three instructions. A branch to the scheduling
            // word has the same target.
            let control = (place % 32 == 8).then_some(place - 8);
            Some((target, [Some(place), control].into_iter().flatten().map(|place| place - base).collect()))
        };
        Some(Table { register, targets: names.split(',').map(target).collect::<Option<_>>()? })
    };
    let brx = statements.iter().enumerate().filter(|(_, statement)| statement.name == "BRX");
    brx.filter_map(|(at, statement)| Some((at, table(at, statement)?))).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Token<'t> {
    pushed_by: &'t str,
    place: usize,
}

#[derive(Clone)]
struct Known<'t> {
    /// Index of the first statement of the function; 0 for the kernel.
    function: usize,
    tokens: Vec<Token<'t>>,
}

/// Additional code that the rewrite places after the original code.
pub(super) struct Behind<'t> {
    pub(super) code: Vec<Statement<'t>>,
    pub(super) places: Vec<u32>,
    first: usize,
    /// Position of the code that reconverges threads, by barrier number and index of the target statement.
    reconvergence_points: HashMap<(usize, usize), usize>,
}

impl<'t> Behind<'t> {
    pub(super) fn new(first: usize) -> Self {
        Behind { code: Vec::new(), places: Vec::new(), first, reconvergence_points: HashMap::new() }
    }

    fn put(&mut self, code: impl IntoIterator<Item = Statement<'t>>) -> usize {
        self.places.push(self.code.len() as u32);
        self.code.extend(code);
        self.first + self.places.len() - 1
    }

    /// Returns the position of the code in which threads reconverge before statement `to`. All threads of a
    /// token use the same code.
    fn reconvergence_point(&mut self, statement: &Statement<'t>, barrier: usize, to: usize) -> usize {
        if let Some(place) = self.reconvergence_points.get(&(barrier, to)) {
            return *place;
        }
        let sync = always(statement, "BSYNC", &[register(barrier)]);
        let place = self.put([sync, always(statement, "BRA", &[Op::Place(to)])]);
        self.reconvergence_points.insert((barrier, to), place);
        place
    }
}

fn register(barrier: usize) -> Op<'static> {
    Op::Barrier(BarrierRegister(barrier as u8))
}

fn always<'t>(statement: &Statement<'t>, mnemonic: &'t str, operands: &[Op<'t>]) -> Statement<'t> {
    statement.replaced(PredSource::TRUE, &[mnemonic], operands)
}

pub(super) fn directs(name: &str) -> bool {
    matches!(name, "SSY" | "PBK" | "PCNT" | "SYNC" | "BRK" | "CONT" | "BRA" | "BRX" | "CAL" | "RET")
}

/// Returns the name of the instruction that pushes the tokens that `name` pops.
fn pops(name: &str) -> Option<&'static str> {
    match name {
        "SYNC" => Some("SSY"),
        "BRK" => Some("PBK"),
        "CONT" => Some("PCNT"),
        _ => None,
    }
}

pub(super) struct Flow<'t> {
    known: Vec<Option<Known<'t>>>,
    targets: Vec<Option<usize>>,
    tables: HashMap<usize, Table>,
    /// Number of convergence barriers that callers of a function may use, by index of the function's first
    /// statement.
    base: BTreeMap<usize, usize>,
}

impl<'t> Flow<'t> {
    pub(super) fn of(statements: &[Statement<'t>], labels: &HashMap<&str, u32>) -> Self {
        let mut flow = Flow {
            known: vec![None; statements.len()],
            targets: targets(statements, labels),
            tables: tables(statements, labels),
            base: BTreeMap::from([(0, 0)]),
        };
        // Maximum number of tokens at the calls of a function, by caller and called function.
        let mut calls: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut work = vec![(0, Known { function: 0, tokens: Vec::new() })];
        while let Some((at, known)) = work.pop() {
            let Some(place) = flow.known.get_mut(at).filter(|place| place.is_none()) else { continue };
            *place = Some(known.clone());
            let Statement { name, guard, operands, .. } = &statements[at];
            let mut next = known.clone();
            let always = *guard == PredSource::TRUE && (*name != "BRA" || operands.len() == 1);
            let mut goes_on =
                !(always && matches!(*name, "BRA" | "BRX" | "EXIT" | "RET" | "SYNC" | "BRK" | "CONT"));
            let table = flow.tables.get(&at).into_iter().flat_map(|table| &table.targets);
            work.extend(table.map(|(place, _)| (*place, known.clone())));
            match (*name, flow.targets[at]) {
                // Deeper tokens are not tracked, because there is no convergence barrier for them.
                ("SSY" | "PBK" | "PCNT", Some(place)) if next.tokens.len() <= BARRIERS => {
                    next.tokens.push(Token { pushed_by: name, place });
                }
                ("BRA", Some(place)) => work.push((place, known.clone())),
                ("CAL", Some(place)) => {
                    let depth = calls.entry((known.function, place)).or_default();
                    *depth = known.tokens.len().max(*depth);
                    flow.base.insert(place, 0);
                    work.push((place, Known { function: place, tokens: Vec::new() }));
                }
                _ => {}
            }
            if let Some(pushed_by) = pops(name) {
                match known.tokens.iter().rposition(|token| token.pushed_by == pushed_by) {
                    Some(depth) => {
                        let tokens = known.tokens[..depth].to_vec();
                        work.push((known.tokens[depth].place, Known { function: known.function, tokens }));
                    }
                    None => goes_on = true,
                }
            }
            if goes_on {
                work.push((at + 1, next));
            }
        }
        // A function uses barriers above those of all its callers. For recursive functions, the limit on the
        // number of iterations ends this loop.
        for _ in 0..BARRIERS {
            for ((caller, place), depth) in &calls {
                let base = flow.base.get(caller).copied().unwrap_or(0) + depth;
                if let Some(own) = flow.base.get_mut(place) {
                    *own = (*own).max(base).min(BARRIERS);
                }
            }
        }
        if calls.keys().any(|(caller, place)| reaches(&calls, *place, *caller)) {
            flow.base.values_mut().for_each(|base| *base = BARRIERS);
        }
        flow
    }

    pub(super) fn lines(
        &self,
        at: usize,
        statement: &Statement<'t>,
        behind: &mut Behind<'t>,
    ) -> Option<Vec<Statement<'t>>> {
        // The statement is unreachable.
        let Some(known) = &self.known[at] else { return Some(vec![always(statement, "NOP", &[])]) };
        let guard = statement.guard;
        let guarded = |mnemonic, operands: &[Op<'t>]| statement.replaced(guard, &[mnemonic], operands);
        let branch_if =
            |pred: PredSource, place: usize| statement.replaced(pred, &["BRA"], &[Op::Place(place)]);
        let base = *self.base.get(&known.function)?;
        let barrier = |depth: usize| (base + depth < BARRIERS).then(|| base + depth);
        if let Some(pushed_by) = pops(statement.name) {
            let depth = known.tokens.iter().rposition(|token| token.pushed_by == pushed_by)?;
            let inner: Option<Vec<_>> = (depth + 1..known.tokens.len()).map(barrier).collect();
            let mut lines: Vec<_> =
                inner?.into_iter().map(|inner| always(statement, "BREAK", &[register(inner)])).collect();
            let reconvergence_point =
                behind.reconvergence_point(statement, barrier(depth)?, known.tokens[depth].place);
            if guard == PredSource::TRUE || lines.is_empty() {
                lines.push(branch_if(guard, reconvergence_point));
                return Some(lines);
            }
            lines.push(branch_if(PredSource::TRUE, reconvergence_point));
            return Some(vec![branch_if(guard, behind.put(lines))]);
        }
        let target = self.targets[at];
        Some(match statement.name {
            "RET" if known.function == 0 => vec![guarded("EXIT", &[])],
            "RET" => vec![guarded("RET.ABS.NODEC", &[self.returns(known.function)?])],
            "BRX" => {
                let Table { register, targets } = self.tables.get(&at)?;
                // A register value that is not in the table selects the last target (project choice).
                let (last, others) = targets.split_last()?;
                let mut lines = Vec::new();
                for (place, values) in others {
                    for value in values {
                        let value = Op::from(i64::from(*value as u32));
                        let operands = [Op::Pred(predicate(20)), PT, *register, value, Op::Pred(guard)];
                        lines.push(always(statement, "ISETP.EQ.AND", &operands));
                        lines.push(branch_if(predicate(20), *place));
                    }
                }
                lines.push(branch_if(guard, last.0));
                lines
            }
            "BRA" => match &statement.operands[..] {
                [_] => vec![branch_if(guard, target?)],
                [first, ..] => {
                    let p21 = predicate(21);
                    let operands = [Op::Pred(p21), PT, condition(first.kind)?, Op::Pred(guard), PT];
                    vec![always(statement, "PSETP.AND.AND", &operands), branch_if(p21, target?)]
                }
                [] => return None,
            },
            "CAL" => {
                let target = target?;
                let next = [self.returns(target)?, Op::Place(at + 1)];
                vec![guarded("LEPC", &next), branch_if(guard, target)]
            }
            _ => {
                let operands = [register(barrier(known.tokens.len())?), Op::Place(target?)];
                vec![always(statement, "BSSY", &operands)]
            }
        })
    }

    fn returns(&self, function: usize) -> Option<Op<'t>> {
        let number = self.base.keys().position(|key| *key == function)?;
        (self.base[&function] < BARRIERS).then(|| r((RETURNS + 2 * number) as u16))
    }
}

fn reaches(calls: &BTreeMap<(usize, usize), usize>, from: usize, to: usize) -> bool {
    let mut seen = HashSet::from([from]);
    let mut work = vec![from];
    while let Some(function) = work.pop() {
        if function == to {
            return true;
        }
        let called = calls.range((function, 0)..=(function, usize::MAX));
        work.extend(called.map(|((_, place), _)| *place).filter(|place| seen.insert(*place)));
    }
    false
}
