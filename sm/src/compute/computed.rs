//! Results of an instruction in one lane.

/// Register result and predicate results of one lane.
pub(super) struct Computed {
    pub(super) value: u64,
    pub(super) preds: [bool; 2],
}

impl Computed {
    /// A value, and no predicates.
    pub(super) fn value(value: u64) -> Computed {
        Computed { value, preds: [false; 2] }
    }

    /// A value and the first predicate.
    pub(super) fn with(value: u64, pred: bool) -> Computed {
        Computed { value, preds: [pred, false] }
    }
}
