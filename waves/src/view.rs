//! What a viewer shows first: groups of signals by name, and a point in time.

/// Groups of signals in the order in which a viewer shows them.
///
/// Signals have full names, scopes and name joined by points, without a range of bits: a view goes with a
/// file, by whatever program it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaveView {
    /// The groups, the first on top.
    pub groups: Vec<ViewGroup>,
    /// Time that the cursor stands at, in the units of the file.
    pub marker: Option<u64>,
}

/// A group of a [`WaveView`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewGroup {
    /// What stands above it.
    pub title: String,
    /// Full names of its signals.
    pub signals: Vec<String>,
    /// Whether it is open at first.
    pub fold: Fold,
}

/// Whether a group shows its signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// It does.
    Open,
    /// Once it is opened.
    Closed,
}
