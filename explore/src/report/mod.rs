//! What a sweep came to, as files: tables for programs, plots, and one page that needs nothing else.

mod page;
mod plots;
mod table;

use std::path::Path;

use atoms_cosim::rtl::RtlIdentity;

use crate::sweep::{Impossible, Measured, PlotFile};

pub use plots::{DrawnPlot, PlotRefusal, check_plots, plots};

/// A sweep with its results.
#[derive(Debug)]
pub struct SweepReport<'a> {
    /// The question.
    pub about: &'a str,
    /// The file that states it, as a command takes it.
    pub file: &'a str,
    /// Seed of all workloads.
    pub seed: u64,
    /// The RTL.
    pub rtl: &'a RtlIdentity,
    /// The points, in order.
    pub measured: &'a [Measured],
    /// Points that cannot be.
    pub impossible: &'a [Impossible],
    /// Plots that are asked for.
    pub plots: &'a [PlotFile],
}

/// Names of the files of a report.
pub mod file {
    /// The page.
    pub const PAGE: &str = "report.html";
    /// A row for each point.
    pub const CSV: &str = "points.csv";
    /// Everything.
    pub const JSON: &str = "points.json";
}

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SweepReportError {
    /// A file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The table.
    #[error("points.csv: {0}")]
    Csv(#[from] csv::Error),
    /// A plot that cannot be drawn of these points.
    #[error(transparent)]
    Plot(#[from] PlotRefusal),
}

impl SweepReport<'_> {
    /// Writes page, tables and plots into a folder. Gives the findings.
    ///
    /// # Errors
    /// [`SweepReportError`].
    pub fn write(&self, folder: &Path) -> Result<Vec<String>, SweepReportError> {
        fs_err::create_dir_all(folder)?;
        let plots = plots(self)?;
        for plot in &plots {
            fs_err::write(folder.join(format!("{}.svg", plot.name)), &plot.svg)?;
        }
        fs_err::write(folder.join(file::CSV), table::csv(self)?)?;
        fs_err::write(folder.join(file::JSON), format!("{:#}\n", table::json(self)))?;
        fs_err::write(folder.join(file::PAGE), page::page(self, &plots))?;
        Ok(plots.into_iter().flat_map(|plot| plot.findings).collect())
    }

    /// The command that measures a point again.
    fn command(&self, one: &Measured) -> String {
        let settings: Vec<_> =
            one.point.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let with =
            if settings.is_empty() { String::new() } else { format!(" --with {}", settings.join(",")) };
        let on = if one.certified { "lockstep" } else { "model" };
        let (workload, config, seed) = (&one.point.workload, &one.point.config.name, self.seed);
        format!("atoms explore run {workload}{with} --config {config} --seed {seed} --on {on}")
    }
}
