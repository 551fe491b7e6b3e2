//! Parser of a PTX line: operation, address and operands.

/// PTX operations on mbarrier objects: the rows of spec 6.3, and asynchronous operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpelledOperation {
    Init,
    Inval,
    ExpectTx,
    CompleteTx,
    Arrive,
    ArriveExpectTx,
    ArriveNoComplete,
    ArriveDrop,
    ArriveDropExpectTx,
    ArriveDropNoComplete,
    TestWait,
    TryWait,
    /// `mbarrier.pending_count` of the state that a preceding arrive returns.
    PendingCount,
    /// `mbarrier.check_layout` for layout 0 or 1. Objects in this project have layout 0.
    CheckLayout(u8),
    /// `cp.async.mbarrier.arrive`: adds an arrival to the phase before arriving.
    CopyArrive,
    /// `cp.async.mbarrier.arrive.noinc`: arrives without adding an arrival.
    CopyArriveNoinc,
    /// `cp.async.bulk`: copies from global memory.
    BulkCopy,
    StoreAsync,
    ReduceAsync(SpelledReduction),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpelledReduction {
    Add,
    AddWide,
    Dec,
}

/// Operations of spec 6.3, in the order of its rows.
pub const ROWS: [SpelledOperation; 15] = [
    SpelledOperation::Init,
    SpelledOperation::Inval,
    SpelledOperation::ExpectTx,
    SpelledOperation::CompleteTx,
    SpelledOperation::Arrive,
    SpelledOperation::ArriveExpectTx,
    SpelledOperation::ArriveNoComplete,
    SpelledOperation::ArriveDrop,
    SpelledOperation::ArriveDropExpectTx,
    SpelledOperation::ArriveDropNoComplete,
    SpelledOperation::TestWait,
    SpelledOperation::TryWait,
    SpelledOperation::PendingCount,
    SpelledOperation::CopyArrive,
    SpelledOperation::CopyArriveNoinc,
];

impl SpelledOperation {
    /// True if the operation accesses data and then completes transactions at the object.
    pub fn asynchronous(self) -> bool {
        matches!(
            self,
            SpelledOperation::BulkCopy | SpelledOperation::StoreAsync | SpelledOperation::ReduceAsync(_)
        )
    }

    pub fn no_complete(self) -> bool {
        matches!(self, SpelledOperation::ArriveNoComplete | SpelledOperation::ArriveDropNoComplete)
    }

    /// True if the operation tests whether a phase is complete.
    pub fn waits(self) -> bool {
        matches!(self, SpelledOperation::TestWait | SpelledOperation::TryWait)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    Nothing,
    State,
    /// Predicate `%p1`: the phase is complete, or the layout matches. `%p2` and `%rep` must report nothing.
    Predicate,
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpelledSpace {
    /// `.shared` or `.shared::cta`: memory of the own CTA.
    Own,
    Cluster,
    Generic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpelledOperand {
    None,
    Given(u32),
    /// Register `%c`, `%s`, `%par` or `%h`.
    KernelRegister,
}

#[derive(Clone, Debug)]
pub struct Spelling {
    pub operation: SpelledOperation,
    pub yields: Yields,
    pub space: SpelledSpace,
    /// True if the address is a variable, false if the address is a register.
    pub symbol: bool,
    pub offset: u32,
    /// True if `mapa` first maps the address to another CTA.
    pub mapped: bool,
    pub operand: SpelledOperand,
    /// True if the wait names the phase by its parity, false if by a state.
    pub parity: bool,
    /// Limit of the wait in nanoseconds.
    pub hint: SpelledOperand,
    pub operands: Vec<String>,
}

impl Spelling {
    /// # Errors
    /// The line is not in the subset of PTX that these tests use.
    pub fn parse(ptx: &str) -> Result<Spelling, String> {
        let mut statements: Vec<&str> = ptx.split(';').map(str::trim).filter(|s| !s.is_empty()).collect();
        let mapped = statements.first().is_some_and(|s| s.starts_with("mapa."));
        if mapped {
            statements.remove(0);
        }
        let counted = statements.get(1).is_some_and(|s| s.starts_with("mbarrier.pending_count."));
        if statements.len() != 1 + usize::from(counted) {
            return Err(format!("`{ptx}`: {} statements", statements.len()));
        }
        let read =
            registers(ptx).into_iter().filter(|r| !["%st", "%p1", "%p2", "%rep", "%r1", "%r2"].contains(r));
        let read = read.map(String::from).collect();
        let (name, rest) = statements[0].split_once(' ').ok_or_else(|| format!("`{ptx}`: no operands"))?;
        let parts: Vec<&str> = name.split('.').collect();
        let has = |part: &str| parts.contains(&part);
        let operation = if counted { Some(SpelledOperation::PendingCount) } else { operation(name, &parts) };
        let operation = operation.ok_or_else(|| format!("`{ptx}`: no operation here"))?;
        let operands = operands(rest);
        let at =
            operands.iter().position(|o| o.starts_with('[')).ok_or_else(|| format!("`{ptx}`: no address"))?;
        let yields = match operands[..at] {
            _ if counted => Yields::Count,
            [] | ["_"] => Yields::Nothing,
            ["%st"] => Yields::State,
            ["%p1" | "%p1|%p2"] | ["%p1|%p2" | "%p1|_", "%rep"] => Yields::Predicate,
            _ => return Err(format!("`{ptx}`: results")),
        };
        let (base, offset) = address(operands[at]).ok_or_else(|| format!("`{ptx}`: address"))?;
        let space = match base {
            "%ga" => SpelledSpace::Generic,
            "%a" | "%r2" | "sm" if has("shared::cluster") => SpelledSpace::Cluster,
            "%a" | "sm" if has("shared") || has("shared::cta") => SpelledSpace::Own,
            _ => return Err(format!("`{ptx}`: address")),
        };
        let operand = |text: Option<&&str>| match text {
            None => Ok(SpelledOperand::None),
            Some(text) if text.starts_with(['%', '{', '[']) => Ok(SpelledOperand::KernelRegister),
            Some(text) => text.parse().map(SpelledOperand::Given).map_err(|_| format!("`{ptx}`: `{text}`")),
        };
        Ok(Spelling {
            operation,
            yields,
            space,
            symbol: base == "sm",
            offset,
            mapped,
            operand: operand(operands.get(at + 1))?,
            parity: has("parity"),
            hint: if operation == SpelledOperation::TryWait {
                operand(operands.get(at + 2))?
            } else {
                SpelledOperand::None
            },
            operands: read,
        })
    }

    pub fn generic(&self) -> bool {
        self.space == SpelledSpace::Generic
    }

    /// True if the object may belong to another CTA (spec 6.7).
    pub fn reaches_others(&self) -> bool {
        let known = match self.operation {
            SpelledOperation::ExpectTx
            | SpelledOperation::CompleteTx
            | SpelledOperation::Arrive
            | SpelledOperation::ArriveExpectTx
            | SpelledOperation::ArriveDrop
            | SpelledOperation::ArriveDropExpectTx
            | SpelledOperation::StoreAsync
            | SpelledOperation::ReduceAsync(_) => self.yields == Yields::Nothing,
            _ => false,
        };
        known && self.space != SpelledSpace::Own
    }
}

fn operation(name: &str, parts: &[&str]) -> Option<SpelledOperation> {
    use SpelledOperation::*;
    let has = |part: &str| parts.contains(&part);
    Some(match parts {
        ["mbarrier", "init", ..] => Init,
        ["mbarrier", "inval", ..] => Inval,
        ["mbarrier", "check_layout", ..] => CheckLayout(u8::from(has("layout::v1"))),
        ["mbarrier", "expect_tx", ..] => ExpectTx,
        ["mbarrier", "complete_tx", ..] => CompleteTx,
        ["mbarrier", "arrive", "expect_tx", ..] => ArriveExpectTx,
        ["mbarrier", "arrive", "noComplete", ..] => ArriveNoComplete,
        ["mbarrier", "arrive", ..] => Arrive,
        ["mbarrier", "arrive_drop", "expect_tx", ..] => ArriveDropExpectTx,
        ["mbarrier", "arrive_drop", "noComplete", ..] => ArriveDropNoComplete,
        ["mbarrier", "arrive_drop", ..] => ArriveDrop,
        ["mbarrier", "test_wait", ..] => TestWait,
        ["mbarrier", "try_wait", ..] => TryWait,
        ["cp", "async", "mbarrier", "arrive", ..] if has("noinc") => CopyArriveNoinc,
        ["cp", "async", "mbarrier", "arrive", ..] => CopyArrive,
        ["cp", "async", "bulk", ..] => BulkCopy,
        ["st", "async", ..] if name.ends_with(".v2.u32") => StoreAsync,
        ["red", "async", .., "add", "u32" | "s32"] => ReduceAsync(SpelledReduction::Add),
        ["red", "async", .., "add", "u64"] => ReduceAsync(SpelledReduction::AddWide),
        ["red", "async", .., "dec", "u32"] => ReduceAsync(SpelledReduction::Dec),
        _ => return None,
    })
}

/// Splits operands at the commas outside brackets and braces.
fn operands(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = text.split(|c| {
        depth += i32::from(matches!(c, '[' | '{')) - i32::from(matches!(c, ']' | '}'));
        c == ',' && depth == 0
    });
    parts.map(str::trim).collect()
}

/// Returns register names, including `%`.
fn registers(text: &str) -> Vec<&str> {
    let starts = text.match_indices('%').map(|(at, _)| &text[at..]);
    let end = |rest: &str| rest[1..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(rest.len(), |n| n + 1);
    starts.map(|rest| &rest[..end(rest)]).collect()
}

/// Returns base and offset of `[base]`, `[base+16]` or `[base+-8]`.
fn address(text: &str) -> Option<(&str, u32)> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    match inner.split_once('+') {
        None => Some((inner, 0)),
        Some((base, offset)) => Some((base, offset.parse::<i64>().ok()? as u32)),
    }
}
