//! Names of folders and files of bundles.

/// Folder of the bundles in the output folder.
pub const FAILURES: &str = "failures";

/// Version of the format of a bundle; raised when a file or a field changes its meaning or goes away.
pub const FORMAT: u32 = 3;

/// Earlier version that is read, too: its signatures are text.
pub const FORMAT_WITH_TEXT: u32 = 2;

/// Names of the files of a bundle.
pub mod file {
    /// [`BundleRecord`](crate::triage::record::BundleRecord).
    pub const RECORD: &str = "bundle.json";
    /// The smallest case, where there is one.
    pub const CASE: &str = "case.json";
    /// What was run: [`crate::triage::replay::Run`].
    pub const ORIGINAL: &str = "original.json";
    /// The lines that are its likeliest causes: a list of [`atoms_faults::cause::CauseSuspect`], the likeliest first.
    pub const CAUSES: &str = "causes.json";
    /// Wave of the case's whole run, or of the last cycles of the original one.
    pub const WAVE: &str = "wave.vcd";
    /// The same as a page.
    pub const WAVE_PAGE: &str = "wave.html";
    /// The report as text.
    pub const TEXT: &str = "report.txt";
    /// The report as a page.
    pub const PAGE: &str = "report.html";
    /// Folder of the RTL.
    pub const RTL: &str = "rtl";
    /// Folder of a kernel's files.
    pub const KERNEL: &str = "kernel";
}
