pub(super) struct Computed {
    pub(super) value: u64,
    pub(super) preds: [bool; 2],
}

impl Computed {
    pub(super) fn value(value: u64) -> Computed {
        Computed { value, preds: [false; 2] }
    }

    /// Value and first predicate; the second predicate is false.
    pub(super) fn with(value: u64, pred: bool) -> Computed {
        Computed { value, preds: [pred, false] }
    }
}
