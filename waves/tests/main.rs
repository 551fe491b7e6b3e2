//! Waves: writers, reader, comparison, search and export.

mod damaged;
mod diff;
mod export;
mod gtkwave;
mod layout;
mod page;
mod query;
mod read_back;
mod reader;
mod show;

/// Names of the scopes and signals of the waves in these tests.
const NAMES: atoms_waves::WaveNames = atoms_waves::WaveNames {
    transactions: "txn",
    label: "text",
    kind: "kind",
    request: "request",
    line: "line",
    counters: &["tx"],
    signed: &["tx"],
    sides: ["rtl", "model"],
    difference: "diff",
};
