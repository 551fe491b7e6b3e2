//! `speed [UNITS [WORKLOAD]]`: prints model cycles per second of processor time, end to end. Runs each
//! generated workload with its default parameters, or only WORKLOAD.

use std::io::Write as _;

use atoms_cosim::embedded::rtl_dir;
use atoms_explore::measure::{Trial, TrialLimits, estimate};
use atoms_run::bench::processor_time;
use atoms_stimulus::configs;
use atoms_workload::{GENERATED, Generated, Workload};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = configs::named(&rtl_dir(), "default")?;
    let (units, only) = (std::env::args().nth(1), std::env::args().nth(2));
    for kind in GENERATED.iter().filter(|kind| only.as_deref().is_none_or(|only| only == kind.name)) {
        let mut generated = Generated::named(kind.name)?;
        if kind.name == "hash-insert" {
            generated.set("keys", "4000")?;
        }
        generated.set("units", units.as_deref().unwrap_or("2000"))?;
        let workload = Workload::Generated(generated);
        let trial = Trial { config: &config, workload: &workload, seed: 1, limits: TrialLimits::default() };
        let start = processor_time();
        let measured = estimate(&trial)?;
        let seconds = (processor_time() - start).as_secs_f64();
        writeln!(
            std::io::stdout(),
            "{:12} {:9} cycles, {:5.2} cycles a request, {:6.2} million cycles/s",
            kind.name,
            measured.cycles,
            measured.cycles as f64 / measured.requests as f64,
            measured.cycles as f64 / seconds / 1e6
        )?;
    }
    Ok(())
}
