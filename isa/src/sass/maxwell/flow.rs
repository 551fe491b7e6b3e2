//! Branches, tokens and calls.
//!
//! SSY, PBK and PCNT push a token with a place; SYNC, BRK and CONT take threads to the place of the innermost token
//! of their kind, where those that the token was made for meet. Compilers nest them, so that the tokens that an
//! instruction finds do not depend on the way to it: each is a convergence barrier, numbered by its depth.

use super::Code;
use crate::sass::listing::Statement;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Convergence barriers that there are.
const BARRIERS: usize = 16;

/// The first register of return addresses; a function has a pair.
const RETURNS: usize = 400;

/// For each statement the index of the one that it branches to, pushes or calls, if it is of that kind.
pub(super) fn targets(
    code: &[Code<'_>],
    statements: &[Statement<'_>],
    labels: &HashMap<&str, u32>,
) -> Vec<Option<usize>> {
    let offsets: BTreeMap<u64, usize> =
        statements.iter().enumerate().filter_map(|(at, s)| Some((s.offset?, at))).collect();
    let target = |code: &Code<'_>| {
        if !matches!(code.name, "BRA" | "SSY" | "PBK" | "PCNT" | "CAL") {
            return None;
        }
        let operand = code.operands.last()?;
        if let Some(label) = operand.strip_prefix("`(").and_then(|label| label.strip_suffix(')')) {
            return labels.get(label).map(|index| *index as usize);
        }
        // The address of a word that controls scheduling stands for what follows it.
        let address = u64::from_str_radix(operand.strip_prefix("0x")?, 16).ok()?;
        offsets.range(address..).next().map(|(_, at)| *at)
    };
    code.iter().map(target).collect()
}

/// Where a BRX goes.
pub(super) struct Table {
    register: String,
    /// A statement, and the values of the register with which it is the next.
    targets: Vec<(usize, Vec<i64>)>,
}

/// The table of each BRX that names its targets, by index of the statement.
///
/// The register holds the offset of the target, less the constant beside it and the offset of what follows the BRX.
pub(super) fn tables(
    code: &[Code<'_>],
    statements: &[Statement<'_>],
    labels: &HashMap<&str, u32>,
) -> HashMap<usize, Table> {
    let offset = |at: usize| i64::try_from(statements.get(at)?.offset?).ok();
    let number = |text: &str| {
        let (minus, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let value = i64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?;
        Some(if minus { -value } else { value })
    };
    let table = |at: usize| {
        let (register, constant) = code[at].operands.first()?.split_once(' ')?;
        let base = offset(at)? + 8 + number(constant.trim())?;
        let names = statements[at].text.split_once("\"BRANCH_TARGETS ")?.1.split_once('"')?.0;
        let target = |name: &str| {
            let target = *labels.get(name)? as usize;
            let place = offset(target)?;
            // The word that controls scheduling stands before the first of three instructions.
            let control = (place % 32 == 8).then_some(place - 8);
            Some((target, [Some(place), control].into_iter().flatten().map(|place| place - base).collect()))
        };
        let targets = names.split(',').map(target).collect::<Option<_>>()?;
        Some(Table { register: register.to_string(), targets })
    };
    let brx = code.iter().enumerate().filter(|(_, code)| code.name == "BRX");
    brx.filter_map(|(at, _)| Some((at, table(at)?))).collect()
}

/// A token, by the statement that pushed it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Token {
    kind: &'static str,
    place: usize,
}

/// What is known on the way to a statement.
#[derive(Clone)]
struct Known {
    /// First statement of the function; 0 is the kernel.
    function: usize,
    tokens: Vec<Token>,
}

/// Code that stands out of the way, with the statement that each line comes from.
#[derive(Default)]
pub(super) struct Behind {
    pub(super) lines: Vec<(usize, String)>,
    /// Barriers and places that there is code for.
    meetings: HashSet<(usize, usize)>,
}

impl Behind {
    fn put(&mut self, at: usize, line: impl Into<String>) {
        self.lines.push((at, line.into()));
    }

    /// The label of the code in which threads meet before they go on at `place`: the same for all of them.
    fn meeting(&mut self, at: usize, barrier: usize, place: usize) -> String {
        let label = format!(".W{barrier}_{place}");
        if self.meetings.insert((barrier, place)) {
            self.put(at, format!("{label}:"));
            self.put(at, format!("BSYNC B{barrier}"));
            self.put(at, format!("BRA `(.M{place})"));
        }
        label
    }
}

pub(super) struct Flow {
    known: Vec<Option<Known>>,
    targets: Vec<Option<usize>>,
    tables: HashMap<usize, Table>,
    /// Barriers in use where a function is called, by its first statement.
    base: BTreeMap<usize, usize>,
}

/// The name of what pushes a token.
fn pushes(name: &str) -> &'static str {
    match name {
        "SSY" => "SSY",
        "PBK" => "PBK",
        _ => "PCNT",
    }
}

/// What pops a token, and what had pushed it.
fn pops(name: &str) -> Option<&'static str> {
    match name {
        "SYNC" => Some("SSY"),
        "BRK" => Some("PBK"),
        "CONT" => Some("PCNT"),
        _ => None,
    }
}

impl Flow {
    pub(super) fn of(code: &[Code<'_>], targets: Vec<Option<usize>>, tables: HashMap<usize, Table>) -> Flow {
        let mut flow = Flow { known: vec![None; code.len()], targets, tables, base: BTreeMap::new() };
        // Caller and function, and how many tokens there are at most where it is called.
        let mut calls: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut work = vec![(0, Known { function: 0, tokens: Vec::new() })];
        flow.base.insert(0, 0);
        while let Some((at, known)) = work.pop() {
            let Some(place) = flow.known.get_mut(at).filter(|place| place.is_none()) else { continue };
            *place = Some(known.clone());
            let (code, target) = (&code[at], flow.targets[at]);
            let mut next = known.clone();
            let always = code.guard.is_empty() && (code.name != "BRA" || code.operands.len() == 1);
            let mut goes_on =
                !(always && matches!(code.name, "BRA" | "BRX" | "EXIT" | "RET" | "SYNC" | "BRK" | "CONT"));
            let table = flow.tables.get(&at).into_iter().flat_map(|table| &table.targets);
            work.extend(table.map(|(place, _)| (*place, known.clone())));
            match (code.name, target) {
                ("SSY" | "PBK" | "PCNT", Some(place)) => {
                    let kind = pushes(code.name);
                    // Deeper ones have no barrier anyway.
                    if next.tokens.len() <= BARRIERS {
                        next.tokens.push(Token { kind, place });
                    }
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
            if let Some(kind) = pops(code.name) {
                match known.tokens.iter().rposition(|token| token.kind == kind) {
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
        // A function uses barriers behind those of all its callers; one that calls itself comes to no end.
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

    /// The later code of an instruction that directs threads; `None` if it is none, and nothing in it if it is not
    /// known. What stands out of the way goes `behind` everything.
    pub(super) fn lines(
        &self,
        at: usize,
        code: &Code<'_>,
        behind: &mut Behind,
    ) -> Option<Option<Vec<String>>> {
        let directs = matches!(
            code.name,
            "SSY" | "PBK" | "PCNT" | "SYNC" | "BRK" | "CONT" | "BRA" | "BRX" | "CAL" | "RET"
        );
        if !directs {
            return None;
        }
        let Some(known) = &self.known[at] else { return Some(Some(vec!["NOP".into()])) };
        Some(self.directed(at, code, known, behind))
    }

    fn directed(
        &self,
        at: usize,
        code: &Code<'_>,
        known: &Known,
        behind: &mut Behind,
    ) -> Option<Vec<String>> {
        let g = &code.guard;
        let base = *self.base.get(&known.function)?;
        let barrier = |depth: usize| (base + depth < BARRIERS).then(|| base + depth);
        if let Some(kind) = pops(code.name) {
            let depth = known.tokens.iter().rposition(|token| token.kind == kind)?;
            let mut lines = Vec::new();
            for inner in depth + 1..known.tokens.len() {
                lines.push(format!("BREAK B{}", barrier(inner)?));
            }
            let meeting = behind.meeting(at, barrier(depth)?, known.tokens[depth].place);
            if g.is_empty() || lines.is_empty() {
                lines.push(format!("{g}BRA `({meeting})"));
                return Some(lines);
            }
            behind.put(at, format!(".S{at}:"));
            lines.push(format!("BRA `({meeting})"));
            lines.into_iter().for_each(|line| behind.put(at, line));
            return Some(vec![format!("{g}BRA `(.S{at})")]);
        }
        if code.name == "RET" {
            let address = match known.function {
                0 => return Some(vec![format!("{g}EXIT")]),
                function => self.returns(function)?,
            };
            return Some(vec![format!("{g}RET.ABS.NODEC R{address} 0x0")]);
        }
        if code.name == "BRX" {
            let Table { register, targets } = self.tables.get(&at)?;
            let guard = g.trim().strip_prefix('@').unwrap_or("PT");
            // What the table does not have is the last of it (chosen).
            let (last, others) = targets.split_last()?;
            let mut lines = Vec::new();
            for (place, value) in
                others.iter().flat_map(|(place, values)| values.iter().map(move |v| (place, v)))
            {
                lines.push(format!("ISETP.EQ.AND P20, PT, {register}, {:#x}, {guard}", *value as u32));
                lines.push(format!("@P20 BRA `(.M{place})"));
            }
            lines.push(format!("{g}BRA `(.M{})", last.0));
            return Some(lines);
        }
        let target = self.targets[at]?;
        match code.name {
            "BRA" if code.operands.len() == 1 => Some(vec![format!("{g}BRA `(.M{target})")]),
            "BRA" => {
                let condition = super::step::condition(&code.operands[0])?;
                let guard = g.trim().strip_prefix('@').unwrap_or("PT").to_string();
                Some(vec![
                    format!("PSETP.AND.AND P21, PT, {condition}, {guard}, PT"),
                    format!("@P21 BRA `(.M{target})"),
                ])
            }
            "CAL" => {
                let address = self.returns(target)?;
                Some(vec![format!("{g}LEPC R{address}, `(.M{})", at + 1), format!("{g}BRA `(.M{target})")])
            }
            _ => Some(vec![format!("BSSY B{}, `(.M{target})", barrier(known.tokens.len())?)]),
        }
    }

    /// The register that holds where a function returns to.
    fn returns(&self, function: usize) -> Option<usize> {
        let number = self.base.keys().position(|key| *key == function)?;
        (self.base[&function] < BARRIERS).then_some(RETURNS + 2 * number)
    }
}

/// Whether a function calls another, directly or not.
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
