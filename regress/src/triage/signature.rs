//! Failure signatures, which identify buckets.

use std::fmt;

use atoms_cosim::machine::Failure;
use atoms_ops::Op;
use atoms_verilated::RtlError;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_untagged::UntaggedEnumVisitor;

use crate::checksum::fnv1a;
use crate::triage::death::Death;

/// Failure signature: kind of failure, signal or rule that shows it, and operation.
///
/// Printed as `mismatch probe.wr_data ATOMS.MAX`, `oracle rd ATOMS.ADD`, `assertion PipeWritesOnlyReadBanks`,
/// `stuck`, `crash signal 6`. A *raw* signature is that of the original failure; a *final* one is that of the
/// minimized case.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub struct Signature {
    /// Kind of the failure; the first word when printed.
    pub kind: FailureKind,
    /// First differing signal, subject of the oracle violation, or assertion. For failures outside the unit:
    /// plan entry, kernel and error, signal, or panic message.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
    /// Operation in which the failure shows, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub op: Option<OpName>,
}

/// Kind of a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
#[strum(serialize_all = "lowercase")]
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// Signature that an earlier version stored as text.
    #[default]
    Untyped,
    /// RTL and model differ.
    Mismatch,
    /// The oracle rejects an answer or the memory contents.
    Oracle,
    /// An RTL assertion failed.
    Assertion,
    /// The watchdog expired: an answer is missing, or a port accepts nothing.
    Stuck,
    /// The process of the test died, or its worker panicked.
    Crash,
    /// The RTL did not complete a cycle and was killed.
    Hang,
    /// The test exceeded its wall-time limit.
    Timeout,
    /// A buffer of a kernel differs from the expectation.
    Expectation,
    /// A kernel uses an mbarrier object in an undefined way (spec 6.9).
    Undefined,
    /// A kernel cannot continue: a fault, a deadlock, or too many instructions.
    Kernel,
    /// The test could not run.
    Error,
}

impl FailureKind {
    /// Returns true if a case can show the failure, and not only the original test.
    pub const fn is_dut_failure(self) -> bool {
        matches!(
            self,
            FailureKind::Mismatch | FailureKind::Oracle | FailureKind::Assertion | FailureKind::Stuck
        )
    }
}

/// Operation name in signatures and reports: the SASS mnemonic if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpName(Option<Op>);

impl OpName {
    /// Returns the name of an operation code; invalid codes become `illegal`.
    pub fn of(code: u8) -> OpName {
        OpName(Op::from_code(code))
    }
}

impl fmt::Display for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("illegal"),
            Some(op @ (Op::Load | Op::Store)) => f.write_str(op.name()),
            Some(op) if op.is_mbarrier() => f.write_str(op.name()),
            Some(op) => write!(f, "ATOMS.{op}"),
        }
    }
}

impl Serialize for OpName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OpName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let mut known = Op::ALL.into_iter().map(Some).chain([None]).map(OpName);
        known
            .find(|op| op.to_string() == name)
            .ok_or_else(|| D::Error::custom(format!("`{name}` is not the name of an operation")))
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            kind: FailureKind,
            what: Option<String>,
            op: Option<OpName>,
        }
        UntaggedEnumVisitor::new()
            .string(|text| Ok(Signature::new(FailureKind::Untyped, text)))
            .map(|map| {
                let Fields { kind, what, op } = map.deserialize()?;
                Ok(Signature { kind, what, op })
            })
            .deserialize(deserializer)
    }
}

impl Signature {
    /// Makes a signature without operation. Joins the lines and spaces of `what` into one line.
    pub fn new(kind: FailureKind, what: impl fmt::Display) -> Signature {
        let what = what.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        Signature { kind, what: Some(what).filter(|what| !what.is_empty()), op: None }
    }

    /// Returns the signature of a session failure; `None` if the failure is not a finding about the unit.
    pub fn of(failure: &Failure) -> Option<Signature> {
        Some(match failure {
            Failure::Mismatch(mismatch) => Signature {
                kind: FailureKind::Mismatch,
                what: mismatch.differences.first().map(|first| first.signal.to_string()),
                op: mismatch.subject.and_then(|subject| subject.op).map(OpName::of),
            },
            Failure::Rtl(RtlError::Stopped(stop)) => Signature::new(FailureKind::Assertion, stop.assertion()),
            Failure::Oracle(violation) => {
                let (about, code) = violation.about();
                Signature { op: code.map(OpName::of), ..Signature::new(FailureKind::Oracle, about?) }
            }
            Failure::Stuck { .. } => Signature::new(FailureKind::Stuck, ""),
            Failure::Refused { ready, .. } => Signature::new(FailureKind::Stuck, ready),
            Failure::Rtl(_)
            | Failure::Register(_)
            | Failure::FollowerDiverged(_)
            | Failure::OutOfTime { .. }
            | Failure::Interrupted { .. }
            | Failure::Trace(_)
            | Failure::CannotWrite
            | Failure::Undeclared(_)
            | Failure::NoCheckpoint => return None,
        })
    }

    pub fn of_death(death: Death) -> Signature {
        match death {
            Death::Hung(_) => Signature::new(FailureKind::Hang, ""),
            Death::Signal(signal) => Signature::new(FailureKind::Crash, format!("signal {signal}")),
            Death::Exit(_) => Signature::new(FailureKind::Crash, "exit"),
        }
    }

    /// Returns the signal, answer field or assertion that shows a failure of the unit; `None` for other
    /// kinds.
    pub fn what(&self) -> Option<&str> {
        self.what.as_deref().filter(|_| self.kind.is_dut_failure())
    }

    /// Returns true if a failure with this signature belongs to the bucket that was saved with `key`.
    pub fn is_of(&self, key: &Signature) -> bool {
        match key.kind {
            FailureKind::Untyped => self.to_string() == key.to_string(),
            _ => self == key,
        }
    }

    pub(crate) fn of_any_operation(&self) -> Signature {
        Signature { op: None, ..self.clone() }
    }

    /// Returns a folder name of at most 64 letters, digits, dots, underscores and hyphens. Different
    /// signatures have different names.
    pub fn slug(&self) -> String {
        let text = self.to_string();
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "._".contains(c) { c.to_ascii_lowercase() } else { '-' }
        };
        let name: String = text.chars().map(plain).take(50).collect();
        // The hash distinguishes signatures that differ only in replaced or truncated characters.
        let hash = fnv1a(0, &text);
        format!("{name}-{:08x}", hash >> 32 ^ hash & 0xffff_ffff)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = (self.kind != FailureKind::Untyped).then(|| self.kind.to_string());
        let words = [kind, self.what.clone(), self.op.map(|op| op.to_string())];
        f.pad(&words.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atoms_cosim::mismatch::{ComparedSignal, Difference, Mismatch, Subject};
    use atoms_model::port::{OutField, ProbeField};

    fn mismatch(signal: ComparedSignal, op: Option<u8>) -> Failure {
        let difference = Difference { signal, element: None, rtl: 0, model: 1 };
        let subject = Some(Subject { cluster: false, tag: 0, op });
        Failure::Mismatch(Box::new(Mismatch { subject, ..Mismatch::new(3, vec![difference]) }))
    }

    fn stopped(message: &str) -> Failure {
        let stop =
            atoms_verilated::RtlStop { cycle: 1, file: "rtl/a.sv".into(), line: 2, message: message.into() };
        Failure::Rtl(RtlError::Stopped(stop))
    }

    #[test]
    fn signatures_say_kind_place_and_operation() {
        let stuck = Failure::Stuck { waiting: 1, cycles: 20_000, cycle: 30_000 };
        let refused = Failure::Refused { ready: "cl_ready_o", cycles: 20_000, cycle: 30_000 };
        let (wr_data, rd) =
            (ComparedSignal::Probe(ProbeField::wr_data), ComparedSignal::Output(OutField::rsp_rd));
        let rows = [
            (mismatch(wr_data, Some(Op::Max as u8)), "mismatch probe.wr_data ATOMS.MAX"),
            (mismatch(rd, Some(Op::Load as u8)), "mismatch rsp_rd LDS"),
            (mismatch(rd, Some(Op::MbarArrive as u8)), "mismatch rsp_rd MBAR.ARRIVE"),
            (mismatch(ComparedSignal::Output(OutField::rsp_fault), Some(15)), "mismatch rsp_fault illegal"),
            (mismatch(ComparedSignal::Memory, None), "mismatch memory"),
            (stopped("Assertion failed in TOP.atoms_unit.pipe.X: assertion failed: X"), "assertion X"),
            (stopped("Assertion failed in TOP.atoms_unit.g_y.Y: 'assert' failed."), "assertion Y"),
            (stopped("$stop"), "assertion $stop"),
            (stuck, "stuck"),
            (refused, "stuck cl_ready_o"),
        ];
        for (failure, text) in &rows {
            let signature = Signature::of(failure).expect("a finding");
            assert_eq!(signature.to_string(), *text);
            let json = serde_json::to_string(&signature).expect("it serializes");
            assert_eq!(serde_json::from_str::<Signature>(&json).expect("it reads back"), signature, "{json}");
            // Earlier versions stored the text.
            let saved: Signature = serde_json::from_value((*text).into()).expect("text is read");
            assert!(signature.is_of(&saved) && saved.to_string() == *text, "{saved:?}");
            assert!(!Signature::new(signature.kind, "other").is_of(&saved), "{saved:?}");
        }
        assert_eq!(Signature::of(&Failure::NoCheckpoint), None);
        assert_eq!(Signature::of_death(Death::Signal(6)).to_string(), "crash signal 6");
        assert_eq!(Signature::of_death(Death::Hung(65)).to_string(), "hang");
    }

    #[test]
    fn json_of_a_signature_has_its_parts() {
        let failure = mismatch(ComparedSignal::Probe(ProbeField::wr_data), Some(Op::Max as u8));
        let signature = Signature::of(&failure).expect("a finding");
        let json = serde_json::to_value(&signature).expect("it serializes");
        let parts = serde_json::json!({ "kind": "mismatch", "what": "probe.wr_data", "op": "ATOMS.MAX" });
        assert_eq!(json, parts);
        for (text, said) in [
            (r#"{ "kind": "miss" }"#, "unknown variant `miss`"),
            (r#"{ "kind": "stuck", "op": "ADD" }"#, "`ADD` is not the name of an operation"),
            (r#"{ "what": "memory" }"#, "missing field `kind`"),
            ("7", "expected"),
        ] {
            let error = serde_json::from_str::<Signature>(text).expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        for op in Op::ALL {
            let json = serde_json::to_string(&OpName(Some(op))).expect("it serializes");
            assert_eq!(serde_json::from_str::<OpName>(&json).expect("it reads back"), OpName(Some(op)));
        }
    }

    #[test]
    fn any_operation_is_no_operation() {
        let any = |signature: Signature| signature.of_any_operation().to_string();
        let of = |kind, what: &str, op| Signature { op, ..Signature::new(kind, what) };
        let spin = Some(OpName(Some(Op::CastSpin)));
        assert_eq!(any(of(FailureKind::Mismatch, "probe.pass_served", spin)), "mismatch probe.pass_served");
        let arrive = Some(OpName(Some(Op::MbarArrive)));
        assert_eq!(any(of(FailureKind::Oracle, "rd", arrive)), "oracle rd");
        assert_eq!(any(of(FailureKind::Mismatch, "memory", None)), "mismatch memory");
        assert_eq!(any(of(FailureKind::Stuck, "", None)), "stuck");
    }

    #[test]
    fn folders_of_signatures_are_safe_and_different() {
        let entries = ["a ATOMS.ADD", "a-ATOMS.ADD", "a atoms.add", "panic ../../x/\u{e9}"];
        let slug = |entry: &str| Signature::new(FailureKind::Timeout, entry).slug();
        let slugs: std::collections::BTreeSet<_> = entries.into_iter().map(slug).collect();
        assert_eq!(slugs.len(), entries.len());
        for slug in &slugs {
            assert!(slug.len() <= 64 && !slug.starts_with('.'), "{slug}");
            assert!(
                slug.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c)),
                "{slug}"
            );
        }
        assert!(slug(&"x".repeat(500)).len() <= 64);
    }
}
