//! `atoms bench --waves`: speed of writing, comparing and repeating waves.

use std::path::Path;
use std::time::Instant;

use atoms_cosim::campaign::Campaign;
use atoms_cosim::internals::Depth;
use atoms_ops::Op;
use atoms_regress::triage::rerun::Rerun;
use atoms_run::bench::{BenchValue, WaveBench};
use atoms_stimulus::Profile;
use atoms_stimulus::configs::NamedConfig;

use super::{Subject, measure};
use crate::args::BenchArgs;
use crate::machine;
use crate::output::error::{CliError, Verdict};

/// Cycle in the centre of the wave that `atoms wave at` writes, and length of that wave in cycles.
const CYCLE: u64 = 1_000_000;
const WINDOW: u64 = 64;

pub(super) fn of_waves(
    args: &BenchArgs,
    config: &NamedConfig,
    mix: &[Op],
    dir: &Path,
) -> Result<Verdict, CliError> {
    let mut files = machine::files();
    for name in WaveBench::files().chain(["at.vcd", "wave.gtkw", "internals.gtkw", "at.gtkw"]) {
        files.writes("a wave", &dir.join(name));
    }
    files.check()?;
    let fast = machine::library(config, Depth::Ports)?;
    let inside = machine::library(config, Depth::Internals)?;
    let mut bench = WaveBench::new([&fast, &inside], config.config, mix, dir)?;
    let rerun = Rerun::Random(Box::new(Campaign {
        config: config.clone(),
        profile: Profile::default(),
        seed: 1,
        requests: CYCLE,
        until: u64::MAX,
    }));
    // Same work as `atoms wave at` for a late cycle. The first call is not timed: it fills the cache of
    // snapshots.
    let look = || {
        let start = Instant::now();
        let window = CYCLE - WINDOW / 2..CYCLE + WINDOW / 2;
        rerun.excerpt(&fast, window, &dir.join("at.vcd"), None, &mut |_| {})?;
        Ok::<_, CliError>(start.elapsed().as_secs_f64())
    };
    look()?;
    let about = "elapsed time, files complete".to_owned();
    let subject = Subject { kind: "waves", config, about, ratios: WaveBench::RATIOS };
    measure(args, &subject, |limit| {
        let mut round = bench.round(limit)?;
        round.push(BenchValue { what: "cycle 1,000,000 looked at again", unit: "s", value: look()? });
        Ok(round)
    })
}
