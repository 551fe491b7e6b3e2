//! What a line of PTX says: the operation, how it names the object, and its operands.

/// Operations on objects: the rows of spec 6.3, and the asynchronous ones that complete transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpelledOperation {
    /// `mbarrier.init`
    Init,
    /// `mbarrier.inval`
    Inval,
    /// `mbarrier.expect_tx`
    ExpectTx,
    /// `mbarrier.complete_tx`
    CompleteTx,
    /// `mbarrier.arrive`
    Arrive,
    /// `mbarrier.arrive.expect_tx`
    ArriveExpectTx,
    /// `mbarrier.arrive.noComplete`
    ArriveNoComplete,
    /// `mbarrier.arrive_drop`
    ArriveDrop,
    /// `mbarrier.arrive_drop.expect_tx`
    ArriveDropExpectTx,
    /// `mbarrier.arrive_drop.noComplete`
    ArriveDropNoComplete,
    /// `mbarrier.test_wait`
    TestWait,
    /// `mbarrier.try_wait`
    TryWait,
    /// `mbarrier.pending_count`, of the state of an arrive before it
    PendingCount,
    /// `mbarrier.check_layout`: of layout 0, which objects here have, or 1
    CheckLayout(u8),
    /// `cp.async.mbarrier.arrive`
    CopyArrive,
    /// `cp.async.mbarrier.arrive.noinc`
    CopyArriveNoinc,
    /// `cp.async.bulk`
    BulkCopy,
    /// `st.async.v2.u32`
    StoreAsync,
    /// `red.async`
    ReduceAsync(SpelledReduction),
}

/// What `red.async` does to the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpelledReduction {
    /// `.add.u32`, `.add.s32`
    Add,
    /// `.add.u64`
    AddWide,
    /// `.dec.u32`
    Dec,
}

/// The rows of spec 6.3.
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
    /// It works on data, and completes transactions at the object.
    pub fn asynchronous(self) -> bool {
        matches!(
            self,
            SpelledOperation::BulkCopy | SpelledOperation::StoreAsync | SpelledOperation::ReduceAsync(_)
        )
    }

    /// It arrives and must not complete the phase.
    pub fn no_complete(self) -> bool {
        matches!(self, SpelledOperation::ArriveNoComplete | SpelledOperation::ArriveDropNoComplete)
    }

    /// It asks whether a phase is complete.
    pub fn waits(self) -> bool {
        matches!(self, SpelledOperation::TestWait | SpelledOperation::TryWait)
    }
}

/// Where a line's result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// Nowhere.
    Nothing,
    /// `%st`: a state.
    State,
    /// `%p1`: whether a phase is complete, or the layout is that asked about; `%p2` and `%rep`: nothing is reported.
    Predicate,
    /// `%r1`: the pending count of a state.
    Count,
}

/// The state space that the object's address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpelledSpace {
    /// `.shared`, `.shared::cta`
    Own,
    /// `.shared::cluster`
    Cluster,
    /// None: a generic address.
    Generic,
}

/// An operand besides the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpelledOperand {
    /// There is none.
    None,
    /// A number.
    Given(u32),
    /// `%c`, `%s`, `%par` or `%h`.
    KernelRegister,
}

/// A line of PTX on an object.
#[derive(Clone, Debug)]
pub struct Spelling {
    /// What is done.
    pub operation: SpelledOperation,
    /// Where the result goes.
    pub yields: Yields,
    /// State space of the address.
    pub space: SpelledSpace,
    /// The address is that of a variable, not a register's.
    pub symbol: bool,
    /// Bytes added to it.
    pub offset: u32,
    /// `mapa` makes an address in another CTA of it first.
    pub mapped: bool,
    /// Count, state or parity.
    pub operand: SpelledOperand,
    /// The wait names a phase by its parity, not by a state.
    pub parity: bool,
    /// How long to wait, in nanoseconds.
    pub hint: SpelledOperand,
    /// Registers that the line reads, by name.
    pub operands: Vec<String>,
}

impl Spelling {
    /// Reads a line.
    ///
    /// # Errors
    /// What is not understood.
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

    /// The line's address is generic.
    pub fn generic(&self) -> bool {
        self.space == SpelledSpace::Generic
    }

    /// The object may be another CTA's (spec 6.7).
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

/// Operands between commas outside of brackets.
fn operands(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = text.split(|c| {
        depth += i32::from(matches!(c, '[' | '{')) - i32::from(matches!(c, ']' | '}'));
        c == ',' && depth == 0
    });
    parts.map(str::trim).collect()
}

/// Names of registers, `%` included.
fn registers(text: &str) -> Vec<&str> {
    let starts = text.match_indices('%').map(|(at, _)| &text[at..]);
    let end = |rest: &str| rest[1..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(rest.len(), |n| n + 1);
    starts.map(|rest| &rest[..end(rest)]).collect()
}

/// Base and offset of `[base]`, `[base+16]`, `[base+-8]`.
fn address(text: &str) -> Option<(&str, u32)> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    match inner.split_once('+') {
        None => Some((inner, 0)),
        Some((base, offset)) => Some((base, offset.parse::<i64>().ok()? as u32)),
    }
}
