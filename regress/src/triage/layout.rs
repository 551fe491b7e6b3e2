pub const FAILURES: &str = "failures";

/// Version of the bundle format; raise it when a file or field changes its meaning or is removed.
pub const FORMAT: u32 = 3;

/// Earlier version that can still be read; its signatures are text.
pub const FORMAT_WITH_TEXT: u32 = 2;

pub mod file {
    /// Record of the bundle: [`BundleRecord`](crate::triage::record::BundleRecord).
    pub const RECORD: &str = "bundle.json";
    pub const CASE: &str = "case.json";
    /// Failed run as a [`crate::triage::replay::Run`].
    pub const ORIGINAL: &str = "original.json";
    /// List of [`atoms_faults::cause::CauseSuspect`], likeliest first.
    pub const CAUSES: &str = "causes.json";
    /// Wave of the minimized case, or of the last cycles of the original run.
    pub const WAVE: &str = "wave.vcd";
    pub const WAVE_PAGE: &str = "wave.html";
    pub const TEXT: &str = "report.txt";
    pub const PAGE: &str = "report.html";
    /// Folder with a copy of the RTL sources.
    pub const RTL: &str = "rtl";
    /// Folder with the files of a kernel: listing, launch file and the files that it names.
    pub const KERNEL: &str = "kernel";
}
