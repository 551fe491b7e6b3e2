//! Batch scripts.

use std::path::Path;

use super::super::error::ClusterError;
use super::Options;
use crate::report::command::quote;
use crate::whole_file::write_whole;

/// The script of a shard, in the output folder.
pub(super) const SHARD: &str = "slurm/shard.sh";

/// The script that merges, in the output folder.
pub(super) const MERGE: &str = "slurm/merge.sh";

/// A path for a shell.
fn quote_path(path: &Path) -> Result<String, ClusterError> {
    let text = path.to_str().ok_or_else(|| {
        let name = path.display();
        ClusterError::Slurm(format!("`{name}` is not UTF-8: choose a folder whose name is"))
    })?;
    Ok(quote(text))
}

/// Writes both scripts.
pub(super) fn write(out: &Path, options: &Options) -> Result<(), ClusterError> {
    let (program, folder) = (quote_path(&options.program)?, quote_path(&options.folder)?);
    let place = quote_path(out)?;
    // `exec`: signals of Slurm reach the program, and its status is that of the task.
    let shard = format!(
        r#"#!/bin/sh
# One shard of a regression, as a task of an array job: the number of the shard is the argument of this
# script plus the number of the task. By hand: sbatch --array=3 --requeue shard.sh 0
set -u
shard=$((${{1:?}} + ${{SLURM_ARRAY_TASK_ID:?}}))
echo "shard $shard on $(uname -n), job ${{SLURM_JOB_ID:-none}}, restarts ${{SLURM_RESTART_COUNT:-0}}"
cd {folder} || exit 2
exec {program} regress shard {place} "$shard"
"#
    );
    let merge = format!(
        r#"#!/bin/sh
# Merges the shards of a regression, or says which are missing. By hand: sh merge.sh
set -u
cd {folder} || exit 2
exec {program} regress merge {place}
"#
    );
    for (name, text) in [(SHARD, shard), (MERGE, merge)] {
        write_whole(&out.join(name), text)?;
    }
    Ok(())
}
