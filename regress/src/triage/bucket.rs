//! What failures have in common: the key of a bucket.

use std::fmt;

use atoms_cosim::machine::Stop;
use atoms_cosim::session::Failure;
use atoms_ops::Op;
use atoms_verilated::RtlError;
use serde::{Deserialize, Serialize};

use crate::triage::death::Death;

/// What tells a bucket from the others: kind of failure, what shows it, operation.
///
/// `mismatch probe.wr_data ATOMS.MAX`, `oracle rd ATOMS.ADD`, `promise PipeWritesOnlyWhatItReads`, `stuck`,
/// `crash signal 6`. A *raw* key is that of the failure as it was met, a *final* one that of its smallest
/// case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

/// The kinds of failure: the first word of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// RTL and model differ.
    Mismatch,
    /// The oracle objects.
    Oracle,
    /// An assertion of the RTL failed.
    Promise,
    /// An answer did not come.
    Stuck,
    /// The process died.
    Crash,
    /// A cycle of the RTL never ended.
    Hang,
    /// It took longer than its limit of wall time.
    Timeout,
    /// A buffer of a kernel is not as expected.
    Expectation,
    /// A kernel uses an mbarrier object in a way that is undefined (spec 6.9).
    Undefined,
    /// A kernel cannot go on: a fault, a deadlock, too many cycles.
    Kernel,
    /// The question could not be asked.
    Error,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 11] = [
        Kind::Mismatch,
        Kind::Oracle,
        Kind::Promise,
        Kind::Stuck,
        Kind::Crash,
        Kind::Hang,
        Kind::Timeout,
        Kind::Expectation,
        Kind::Undefined,
        Kind::Kernel,
        Kind::Error,
    ];

    /// First word of its keys.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Mismatch => "mismatch",
            Kind::Oracle => "oracle",
            Kind::Promise => "promise",
            Kind::Stuck => "stuck",
            Kind::Crash => "crash",
            Kind::Hang => "hang",
            Kind::Timeout => "timeout",
            Kind::Expectation => "expectation",
            Kind::Undefined => "undefined",
            Kind::Kernel => "kernel",
            Kind::Error => "error",
        }
    }

    /// Whether a case can show it, and not only the test that met it.
    pub const fn is_of_the_unit(self) -> bool {
        matches!(self, Kind::Mismatch | Kind::Oracle | Kind::Promise | Kind::Stuck)
    }
}

/// Name of an operation in a key: as machine code has it where it has one.
pub fn op_name(code: u8) -> String {
    match Op::from_code(code) {
        None => "illegal".to_string(),
        Some(op @ (Op::Load | Op::Store)) => op.name().to_string(),
        Some(op) if op.is_mbarrier() => op.name().to_string(),
        Some(op) => format!("ATOMS.{op}"),
    }
}

impl Key {
    fn new(kind: Kind, words: &[&str]) -> Key {
        let words = words.iter().copied().filter(|word| !word.is_empty());
        // One line, whatever a message had in it.
        let text = std::iter::once(kind.name()).chain(words).collect::<Vec<_>>().join(" ");
        Key(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Key of what a session found; none if it is no finding.
    pub fn of(failure: &Failure) -> Option<Key> {
        let op = |code: Option<u8>| code.map(op_name).unwrap_or_default();
        Some(match failure {
            Failure::Stop(Stop::Mismatch(mismatch)) => {
                let field = mismatch.differences.first().map_or("", |first| first.field.as_str());
                Key::new(Kind::Mismatch, &[field, &op(mismatch.subject.and_then(|subject| subject.op))])
            }
            Failure::Stop(Stop::Rtl(RtlError::Stopped(stop))) => {
                Key::new(Kind::Promise, &[promise(&stop.message)])
            }
            Failure::Oracle(violation) => {
                let (about, code) = violation.about();
                // No verdict, or tags that do not tell requests apart: the question was wrong.
                if matches!(about, "" | "tag") {
                    return None;
                }
                Key::new(Kind::Oracle, &[about, &op(code)])
            }
            Failure::Stuck { .. } => Key::new(Kind::Stuck, &[]),
            Failure::Stop(Stop::Rtl(_))
            | Failure::OutOfTime { .. }
            | Failure::Interrupted { .. }
            | Failure::Trace(_)
            | Failure::NoCheckpoint => return None,
        })
    }

    /// Key of a death of the process, by signal where one ended it.
    pub fn crash(signal: Option<i32>) -> Key {
        match signal {
            Some(signal) => Key::new(Kind::Crash, &["signal", &signal.to_string()]),
            None => Key::new(Kind::Crash, &[]),
        }
    }

    /// Key of a test whose process died this way.
    pub fn death(death: Death) -> Key {
        match death {
            Death::Signal(signal) => Key::crash(Some(signal)),
            Death::Exit(_) => Key::new(Kind::Crash, &["exit"]),
            Death::Hung(_) => Key::new(Kind::Hang, &[]),
        }
    }

    /// Key of a panic of a worker, by what it said.
    pub fn panic(message: &str) -> Key {
        Key::new(Kind::Crash, &["panic", message.lines().next().unwrap_or_default()])
    }

    /// Key of tests that took too long; those of one name, which do the same, belong together.
    pub fn timeout(entry: &str) -> Key {
        Key::new(Kind::Timeout, &[entry])
    }

    /// Key of a buffer that is not as expected, of the kernel in this file.
    pub fn expectation(kernel: &str, buffer: &str) -> Key {
        Key::new(Kind::Expectation, &[kernel, buffer])
    }

    /// Key of an undefined use of an mbarrier object, by its kind (spec 6.9).
    pub fn undefined(kind: &str) -> Key {
        Key::new(Kind::Undefined, &[kind])
    }

    /// Key of a kernel that cannot go on, by what it met: `fault`, `deadlock`, `budget`.
    pub fn kernel(kernel: &str, what: &str) -> Key {
        Key::new(Kind::Kernel, &[kernel, what])
    }

    /// Key of tests of an entry that cannot be run.
    pub fn error(entry: &str) -> Key {
        Key::new(Kind::Error, &[entry])
    }

    /// The same key for any operation: of a failure that shows with whatever operation.
    pub(crate) fn of_any_operation(&self) -> Key {
        let last = self.0.rsplit(' ').next().unwrap_or_default();
        let named = last == "illegal"
            || (0..=u8::MAX).filter(|c| Op::from_code(*c).is_some()).any(|c| op_name(c) == last);
        match self.0.strip_suffix(last) {
            Some(rest) if named && !rest.is_empty() => Key(rest.trim_end().to_string()),
            _ => self.clone(),
        }
    }

    /// Kind of failure; none if the key is not one of ours.
    pub fn kind(&self) -> Option<Kind> {
        let first = self.0.split(' ').next();
        Kind::ALL.into_iter().find(|kind| first == Some(kind.name()))
    }

    /// What shows it, a field or a promise, and the operation, where the key names them.
    pub fn parts(&self) -> (Option<&str>, Option<&str>) {
        let mut words = self.0.splitn(3, ' ').skip(1);
        match self.kind() {
            Some(Kind::Mismatch | Kind::Oracle) => (words.next(), words.next()),
            Some(Kind::Promise) => (words.next(), None),
            _ => (None, None),
        }
    }

    /// Name of a folder for it: letters, digits, dots, underscores and hyphens, at most 64 of them. Different keys
    /// have different ones.
    pub fn slug(&self) -> String {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "._".contains(c) { c.to_ascii_lowercase() } else { '-' }
        };
        let name: String = self.0.chars().map(plain).take(50).collect();
        // FNV-1a: what the letters above leave out still tells keys apart, on every machine alike.
        let hash = self.0.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        format!("{name}-{:08x}", hash >> 32 ^ hash & 0xffff_ffff)
    }

    /// The key as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Name of the assertion in what the RTL printed: `... broken promise: NAME`, else the last part of its
/// hierarchical name.
fn promise(message: &str) -> &str {
    if let Some((_, name)) = message.split_once("broken promise: ") {
        return name.split_whitespace().next().unwrap_or(name).trim_matches('"');
    }
    match message.split_once("Assertion failed in ") {
        Some((_, rest)) => {
            let path = rest.split([':', ' ']).next().unwrap_or(rest);
            path.rsplit('.').next().unwrap_or(path)
        }
        None => message.lines().next().unwrap_or_default(),
    }
}

/// What a test found: enough to file it, and to make a bundle of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Raw key.
    pub key: Key,
    /// In its own words; several lines.
    pub text: String,
    /// Cycle in which it showed, counted from the reset of its run.
    pub cycle: u64,
}

impl Finding {
    /// What a session found in `cycle`, in configuration `config`; none if the question could not be asked.
    pub fn of(failure: &mut Failure, cycle: u64, config: &str) -> Option<Finding> {
        if let Failure::Stop(Stop::Mismatch(mismatch)) = failure {
            mismatch.config = config.to_string();
        }
        Some(Finding { key: Key::of(failure)?, text: failure.to_string(), cycle })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atoms_cosim::mismatch::{Difference, Mismatch, Subject};

    fn mismatch(field: &str, op: Option<u8>) -> Failure {
        let difference =
            Difference { field: field.into(), element: None, rtl: "0".into(), model: "1".into() };
        let subject = Some(Subject { cluster: false, tag: 0, op });
        Stop::Mismatch(Box::new(Mismatch { subject, ..Mismatch::new(3, vec![difference]) })).into()
    }

    fn stopped(message: &str) -> Failure {
        let stop =
            atoms_verilated::Stop { cycle: 1, file: "rtl/a.sv".into(), line: 2, message: message.into() };
        Stop::Rtl(RtlError::Stopped(stop)).into()
    }

    #[test]
    fn keys_say_kind_place_and_operation() {
        let stuck = Failure::Stuck { waiting: 1, cycles: 20_000, cycle: 30_000 };
        let rows = [
            (mismatch("probe.wr_data", Some(Op::Max as u8)), "mismatch probe.wr_data ATOMS.MAX"),
            (mismatch("rsp_rd", Some(Op::Load as u8)), "mismatch rsp_rd LDS"),
            (mismatch("rsp_rd", Some(Op::MbarArrive as u8)), "mismatch rsp_rd MBAR.ARRIVE"),
            (mismatch("rsp_fault", Some(15)), "mismatch rsp_fault illegal"),
            (mismatch("memory", None), "mismatch memory"),
            (stopped("Assertion failed in TOP.atoms_unit.pipe.X: broken promise: X"), "promise X"),
            (stopped("Assertion failed in TOP.atoms_unit.g_y.Y: 'assert' failed."), "promise Y"),
            (stopped("$stop"), "promise $stop"),
            (stuck, "stuck"),
        ];
        for (failure, key) in &rows {
            assert_eq!(Key::of(failure).expect("a finding").as_str(), *key);
        }
        assert_eq!(Key::of(&Failure::NoCheckpoint), None);
        assert_eq!(Key::crash(Some(6)).as_str(), "crash signal 6");
        assert_eq!(Key::panic("index\nout of range").as_str(), "crash panic index");
        assert!(rows.iter().all(|(failure, _)| Key::of(failure).and_then(|key| key.kind()).is_some()));
    }

    #[test]
    fn any_operation_is_no_operation() {
        let key = |text: &str| Key(text.to_string()).of_any_operation().to_string();
        assert_eq!(key("mismatch probe.pass_served ATOMS.CAST.SPIN"), "mismatch probe.pass_served");
        assert_eq!(key("oracle rd MBAR.ARRIVE"), "oracle rd");
        assert_eq!(key("mismatch memory"), "mismatch memory");
        assert_eq!(key("stuck"), "stuck");
    }

    #[test]
    fn folders_of_keys_are_safe_and_different() {
        let keys = [
            "mismatch a ATOMS.ADD",
            "mismatch a-ATOMS.ADD",
            "mismatch a atoms.add",
            "crash panic ../../x/\u{e9}",
        ];
        let slugs: std::collections::BTreeSet<_> =
            keys.iter().map(|key| Key(key.to_string()).slug()).collect();
        assert_eq!(slugs.len(), keys.len());
        for slug in &slugs {
            assert!(slug.len() <= 64 && !slug.starts_with('.'), "{slug}");
            assert!(
                slug.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c)),
                "{slug}"
            );
        }
        let long = Key(format!("crash panic {}", "x".repeat(500)));
        assert!(long.slug().len() <= 64);
    }
}
