//! Writes the sources of survivors, and lints them with Verilator.

use std::path::{Path, PathBuf};

use atoms_cosim::parallel::in_parallel;
use atoms_cosim::rtl;
use atoms_stimulus::configs;
use fs_err as fs;

use crate::mutate::{Explained, Fate, Kill, KillCheck, Mutant, MutateError};

/// Lint waivers, relative to the RTL folder.
const WAIVERS: &str = "lint/verilator.vlt";

/// Copies the RTL in `rtl_dir` to `folder`, with `mutant` applied.
///
/// # Errors
/// [`MutateError`].
pub fn altered_folder(rtl_dir: &Path, mutant: &Mutant, folder: &Path) -> Result<(), MutateError> {
    let files = rtl::sources(rtl_dir)?;
    for file in files.iter().map(PathBuf::as_path).chain([Path::new(WAIVERS)]) {
        let to = folder.join(file);
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        match file == Path::new(&mutant.site.file) {
            true => fs::write(to, mutant.altered_source(&fs::read_to_string(rtl_dir.join(file))?))?,
            false => drop(fs::copy(rtl_dir.join(file), to)?),
        }
    }
    Ok(())
}

/// Writes the RTL of each survivor into a folder below `folder`, with the mutant's key in `mutant.txt`.
///
/// # Errors
/// [`MutateError`].
pub fn write_survivors(
    rtl_dir: &Path,
    mutants: &[Mutant],
    fates: &[Fate],
    folder: &Path,
) -> Result<(), MutateError> {
    for (mutant, _) in mutants.iter().zip(fates).filter(|(_, fate)| fate.kill.is_none()) {
        let to = folder.join(format!("{:04}", mutant.number));
        altered_folder(rtl_dir, mutant, &to)?;
        fs::write(to.join("mutant.txt"), format!("{mutant}\n"))?;
    }
    Ok(())
}

/// Lints the unexplained survivors, in folders below `scratch`. A survivor with a lint message counts as
/// killed.
///
/// # Errors
/// [`MutateError`].
pub fn lint_survivors(
    rtl_dir: &Path,
    mutants: &[Mutant],
    fates: &mut [Fate],
    explained: &Explained,
    scratch: &Path,
    threads: usize,
) -> Result<(), MutateError> {
    let is_open = |at: &usize| fates[*at].kill.is_none() && explained.of(&mutants[*at].to_string()).is_none();
    let wanted: Vec<usize> = (0..mutants.len()).filter(is_open).collect();
    let config = configs::named(rtl_dir, "default")?;
    let folders = (0..threads.max(1)).map(|thread| scratch.join(thread.to_string()));
    let messages = in_parallel(folders, wanted.len(), |folder, number| -> Result<_, MutateError> {
        altered_folder(rtl_dir, &mutants[wanted[number]], folder)?;
        let said = rtl::lint(folder, &config, &mut |_| {})?;
        let first = said.lines().find(|line| line.starts_with('%'));
        Ok(first.map(|first| first.replace(&format!("{}/", folder.display()), "")))
    })?;
    for (at, by) in wanted.into_iter().zip(messages).filter_map(|(at, by)| Some((at, by?))) {
        fates[at].kills += 1;
        fates[at].kill =
            Some(Kill { stage: None, episode: 0, check: KillCheck::Lint, by, requests: 0, cycle: 0 });
    }
    Ok(())
}
