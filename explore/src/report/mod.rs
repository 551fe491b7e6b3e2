//! Reports: text or JSON of a measurement, and the folder of a sweep with tables, plots and a self-contained
//! page.

mod page;
mod plots;
mod table;
mod trial;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use atoms_cosim::rtl::RtlIdentity;

use crate::sweep::{Impossible, Measured, PlotFile};

pub use plots::{DrawnPlot, PlotRefusal, check_plots, plots};
pub use trial::{ExploreRunResult, TrialReport};

#[derive(Debug)]
pub struct SweepReport<'a> {
    pub about: &'a str,
    pub file: &'a str,
    pub seed: u64,
    pub rtl: &'a RtlIdentity,
    pub measured: &'a [Measured],
    /// Points whose configuration or workload is invalid.
    pub impossible: &'a [Impossible],
    pub plots: &'a [PlotFile],
}

pub mod file {
    pub const PAGE: &str = "report.html";
    pub const CSV: &str = "points.csv";
    pub const JSON: &str = "points.json";
}

#[derive(Debug, thiserror::Error)]
pub enum SweepReportError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("points.csv: {0}")]
    Csv(#[from] csv::Error),
    #[error(transparent)]
    Plot(#[from] PlotRefusal),
    /// The folder contains a file that no sweep wrote.
    #[error("`{}` is not a file of a sweep report: name another folder with --output", .0.display())]
    Foreign(PathBuf),
}

/// Checks that a report overwrites only files of an earlier report. Call it before the sweep, to fail early.
///
/// # Errors
/// [`SweepReportError::Foreign`].
pub fn check_folder(folder: &Path) -> Result<(), SweepReportError> {
    let json = fs_err::read(folder.join(file::JSON)).ok();
    let json = json.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
    if json.is_some_and(|json| json.get("points").is_some() && json.get("impossible").is_some()) {
        return Ok(());
    }
    let written = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        [file::PAGE, file::CSV, file::JSON].contains(&name) || name.ends_with(".svg")
    };
    let mut paths = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    paths.find(written).map_or(Ok(()), |path| Err(SweepReportError::Foreign(path)))
}

impl SweepReport<'_> {
    /// Writes page, tables and plots into a folder. Returns the findings.
    ///
    /// # Errors
    /// [`SweepReportError`].
    pub fn write(&self, folder: &Path) -> Result<Vec<String>, SweepReportError> {
        fs_err::create_dir_all(folder)?;
        let plots = plots(self)?;
        // Write the JSON file first: `check_folder` identifies a report by it.
        fs_err::write(folder.join(file::JSON), format!("{:#}\n", table::json(self)))?;
        for plot in &plots {
            fs_err::write(folder.join(format!("{}.svg", plot.name)), &plot.svg)?;
        }
        fs_err::write(folder.join(file::CSV), table::csv(self)?)?;
        fs_err::write(folder.join(file::PAGE), page::page(self, &plots))?;
        Ok(plots.into_iter().flat_map(|plot| plot.findings).collect())
    }

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
