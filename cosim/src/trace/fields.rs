//! Fields of transactions: the signals of each track.

use atoms_wave_write::SignalKind::{Bits, Text};
use atoms_wave_write::{Definition, Signal};

/// Declares structs of signals, and defines the signals in the current scope.
macro_rules! signals {
    ($($(#[$doc:meta])* struct $name:ident { $($field:ident: $kind:expr,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub(super) struct $name {
                $(pub(super) $field: Signal,)*
            }

            impl $name {
                pub(super) fn define(d: &mut Definition) -> Self {
                    $name { $($field: d.signal(stringify!($field), $kind),)* }
                }
            }
        )*
    };
}

signals! {
    struct IssueFields { text: Text, kind: Text, request: Bits(64), pass: Bits(8), passes: Bits(8), }
}
signals! {
    struct StallFields { text: Text, reason: Text, held_request: Bits(64), }
}
signals! {
    struct AnswerFields { text: Text, kind: Text, request: Bits(64), }
}
signals! {
    /// The oldest cluster request inside.
    struct ClusterFields {
        text: Text,
        request: Bits(64),
        op: Text,
        size: Text,
        red: Bits(1),
        tag: Bits(8),
        slot: Bits(8),
        address: Bits(32),
    }

    /// The requests of a tag. The text names all of them; the fields are those of the oldest one.
    struct TagFields { text: Text, request: Bits(64), line: Bits(32), }
}
signals! {
    struct ObjectFields {
        text: Text,
        row: Bits(16),
        bank: Bits(8),
        phase: Bits(1),
        pending: Bits(20),
        expected: Bits(20),
        tx: Bits(21),
    }

    struct RequestFields {
        kind: Text,
        request: Bits(64),
        pass: Bits(8),
        passes: Bits(8),
        op: Text,
        size: Text,
        red: Bits(1),
        tag: Bits(8),
        slot: Bits(8),
        lanes: Bits(32),
        address: Bits(32),
        cta: Bits(32),
        warp: Bits(32),
        pc: Bits(32),
        line: Bits(32),
        instruction: Text,
    }
}
signals! {
    /// Response to a request of a recorded trace.
    struct ResponseFields { fault: Bits(2), fault_lane: Bits(8), fault_addr: Bits(32), pred: Bits(32), }

    /// Allocation of a CTA slot in a recorded trace.
    struct SlotFields { text: Text, base_row: Bits(32), size_bytes: Bits(32), rank: Bits(8), }

    /// Rejection by the oracle. A field without a value is unknown (`x`).
    struct VerdictFields {
        text: Text,
        request: Bits(64),
        clause: Text,
        lanes: Bits(32),
        address: Bits(32),
        expected: Bits(128),
        got: Bits(128),
    }
}
