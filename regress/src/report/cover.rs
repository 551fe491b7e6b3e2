//! Merged coverage of several runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use atoms_cosim::unit_folder::prepare;
use atoms_model::Config;
use bitvec::vec::BitVec;

use crate::coverage::rtl::RtlMap;
use crate::coverage::waivers::Waivers;
use crate::report::figures::counted;
use crate::report::summarize::{coverage, rtl_coverage};
use crate::report::summary::{FORMAT, Summary};
use crate::run::session::{RunRequest, SessionError};
use crate::run::state::RegressionState;
use crate::run::store;
use atoms_coverage::{CoverageFile, Model};

#[derive(Debug)]
pub struct Covered {
    /// Merged summary; `plan` joins the plan names of all runs.
    pub summary: Summary,
    pub rtl: RtlMap,
}

/// Merges the coverage of the runs in these output folders, including interrupted runs, and of files of testbenches
/// ([`CoverageFile`]). The runs may differ in plan and seed, but must use this program and this RTL, or that of another
/// unit. If any run has a gate, the gate is checked again with the waivers of all runs.
///
/// # Errors
/// [`SessionError`].
pub fn cover(runs: &[PathBuf], rtl_dir: &Path) -> Result<Covered, SessionError> {
    let model = Model::standard();
    let mut state = RegressionState::new(0, model.bins(), &[], &[]);
    let mut summary = Summary { format: FORMAT, complete: true, ..Summary::default() };
    let (mut plans, mut configs): (Vec<String>, Vec<Config>) = (Vec::new(), Vec::new());
    let (mut waivers, mut gate) = (Waivers::default(), false);
    let mut waiver_files = Vec::new();
    let (mut places, mut seeds, mut rtls) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut reachable = BitVec::repeat(false, model.bins());
    for run in runs {
        if !places.insert(run.canonicalize().unwrap_or_else(|_| run.clone())) {
            return Err(SessionError::Twice(run.clone()));
        }
        if run.is_file() {
            let file = CoverageFile::read(run, &model)?;
            state.hits.merge(&file.map());
            reachable |= file.reachable();
            plans.push(file.config);
            continue;
        }
        let rtl_dir = &match store::header(run)?.unit {
            Some(unit) => prepare(&unit, rtl_dir)?.0,
            None => rtl_dir.to_path_buf(),
        };
        let (tests, header) = RunRequest::again(run, rtl_dir.clone())?;
        rtls.insert(header.origin.rtl.clone());
        let checkpoint = store::checkpoint(run)?;
        state.hits.merge(&checkpoint.state.hits);
        state.rtl.merge(&checkpoint.state.rtl);
        summary.totals += checkpoint.state.totals;
        summary.complete &= checkpoint.complete;
        plans.push(format!("{} {}", tests.plan, tests.profile));
        configs.extend(tests.configs.iter().map(|named| named.config));
        for named in &tests.configs {
            reachable |= model.reachable_by(&named.config, named.unit.as_deref());
        }
        gate |= tests.settings.gate;
        seeds.insert(header.seed);
        if let Some(path) = tests.waivers(&header.plan).filter(|path| !waiver_files.contains(path)) {
            waivers.list.extend(Waivers::read(&path, rtl_dir, &model)?.list);
            waiver_files.push(path);
        }
        (summary.version, summary.rtl) = (header.origin.version, header.origin.rtl);
    }
    plans.dedup();
    summary.plan = plans.join(" + ");
    summary.profile = counted(runs.len() as u64, "run");
    // Without a common seed, report 0.
    summary.seed = seeds.first().copied().filter(|_| seeds.len() == 1).unwrap_or_default();
    // Lines of different RTL cannot be merged.
    let rtl = (!state.rtl.is_empty() && rtls.len() == 1).then_some(&state.rtl);
    let gate = gate.then(|| waivers.gate(&model, &state.hits, &configs, rtl));
    summary.rtl_coverage = rtl.map(|_| rtl_coverage(&state, &waivers));
    summary.coverage = coverage(&model, &reachable, &state, &waivers, gate);
    Ok(Covered { summary, rtl: state.rtl })
}
