//! Memory order and scope of an access or a fence, as its text says.

/// What an access or a fence orders. Source: [PTX] memory consistency model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Semantics {
    /// Nothing: a plain access.
    Weak,
    /// Nothing, but the access is atomic to those of its scope.
    Relaxed,
    /// What comes after stays after.
    Acquire,
    /// What comes before stays before.
    Release,
    /// Both.
    AcqRel,
    /// Both, and all of them are in one order.
    Sc,
}

/// The threads an access or a fence is meant for, from few to many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Those of the CTA.
    Cta,
    /// Those of the cluster.
    Cluster,
    /// Those of the GPU.
    Gpu,
    /// All there are.
    Sys,
}

/// Memory order and scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ordering {
    /// What is ordered.
    pub semantics: Semantics,
    /// For whom.
    pub scope: Scope,
}
