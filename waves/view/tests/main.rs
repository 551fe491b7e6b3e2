//! Reader, comparison, search, pictures, pages and export.

mod damaged;
mod diff;
mod export;
mod page;
mod query;
mod reader;
mod show;

const NAMES: atoms_wave_view::WaveNames = atoms_wave_view::WaveNames {
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
