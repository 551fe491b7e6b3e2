//! `atoms wave at`: repeats a run up to a cycle and writes the wave around that cycle.

use std::ops::Range;
use std::path::Path;

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::internals::{Depth, RegisterDifference};
use atoms_regress::report::text::plain;
use atoms_regress::triage::repro::Bundle;
use atoms_regress::triage::rerun::{Ended, Rerun, Search, WaveWindow};
use atoms_verilated::{Environment, Library};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::wave::WaveAtArgs;
use crate::cosim;
use crate::machine::{self, shell};
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::{build_step, grouped};
use crate::output::{note, outln, print_json};
use crate::regress::repro::{self, BundleRtl};

pub(crate) fn at(args: &WaveAtArgs) -> Result<Verdict, CliError> {
    let mut files = machine::files();
    if let Some(path) = &args.what {
        files.reads("the bundle or case", path);
    }
    if let Some(path) = cosim::profile_file(&args.random) {
        files.reads("the profile", path);
    }
    if let Some(path) = &args.output {
        files.writes_wave("--output", path);
    }
    files.check()?;
    let rerun = rerun(args)?;
    let rtl = rtl_of_bundle(args, &rerun)?;
    let rtl_dir = rtl.as_ref().map_or_else(rtl_dir, |rtl| rtl.folder.clone());
    let depth = if args.internals || args.first_internal { Depth::Internals } else { Depth::Ports };
    let library = rerun.library(&rtl_dir, depth, &mut build_step)?;
    let run = AtRun { args, rerun: &rerun, library: &library, rtl: rtl.as_ref() };
    let verdict = if args.first_internal { run.first_internal()? } else { run.around_cycle()? };
    Ok(rtl.map_or(verdict, |rtl| rtl.verdict(verdict)))
}

struct AtRun<'a> {
    args: &'a WaveAtArgs,
    rerun: &'a Rerun,
    library: &'a Library,
    rtl: Option<&'a BundleRtl>,
}

fn rerun(args: &WaveAtArgs) -> Result<Rerun, CliError> {
    let Some(path) = &args.what else {
        let config = machine::config(&args.point.name())?;
        return Ok(Rerun::Random(Box::new(cosim::campaign(&args.random, config)?)));
    };
    if path.is_dir() {
        return Ok(Rerun::Bundle(Box::new(Bundle::read(path)?)));
    }
    let case = cosim::case(path)?;
    let config = machine::config(&case.config)?;
    Ok(Rerun::Case { case: Box::new(case), config })
}

/// Chooses the RTL for a bundle. Prints it unless the output is JSON.
fn rtl_of_bundle(args: &WaveAtArgs, rerun: &Rerun) -> Result<Option<BundleRtl>, CliError> {
    let Rerun::Bundle(bundle) = rerun else { return Ok(None) };
    let rtl = BundleRtl::choose(&args.rtl, bundle)?;
    if !args.json {
        outln!("{}", plain(&bundle.record.key.to_string()))?;
        outln!("  replays    {}", repro::what(bundle))?;
        rtl.print(bundle)?;
    }
    Ok(Some(rtl))
}

fn window(cycle: u64, cycles: u64) -> Range<u64> {
    let start = cycle.saturating_sub(cycles / 2);
    start..start.saturating_add(cycles)
}

impl AtRun<'_> {
    fn around_cycle(&self) -> Result<Verdict, CliError> {
        let cycle = match self.args.cycle {
            Some(cycle) => cycle,
            None => self
                .rerun
                .failure(self.library)?
                .ok_or_else(|| message!("the run does not fail; choose the cycle to show with --cycle N"))?,
        };
        let excerpt = self.excerpt(cycle, None)?;
        self.print(&excerpt, None)?;
        Ok(verdict(&excerpt.ended))
    }

    fn first_internal(&self) -> Result<Verdict, CliError> {
        let Search { register, cycles, ended } = self.rerun.first_register(self.library)?;
        let Some(register) = register else {
            if self.args.json {
                let (register, found) = ((), FoundFailure::of(&ended));
                let bundle_rtl_ran = self.rtl.map(|rtl| rtl.is_of_bundle);
                print_json(&NoRegisterResult { register, cycles, found, bundle_rtl_ran })?;
                return Ok(verdict(&ended));
            }
            outln!("no register differs in {} cycles", grouped(cycles))?;
            if let Ended::Failed(failed) = &ended {
                // The failure starts in combinational logic, so no register differs.
                self.print(&self.excerpt(failed.cycle, None)?, None)?;
            }
            return Ok(verdict(&ended));
        };
        self.print(&self.excerpt(register.cycle, Some(&register))?, Some(&register))?;
        Ok(Verdict::Disagree)
    }

    fn excerpt(&self, cycle: u64, register: Option<&RegisterDifference>) -> Result<WaveWindow, CliError> {
        if let Some(failed) = self.rerun.failed_at().filter(|failed| *failed < cycle) {
            return Err(message!(
                "--cycle {cycle}: the run stops at its failure in cycle {failed}; choose a cycle up to {failed}"
            ));
        }
        let default = || Environment::from_process().target.join("waves").join(format!("at-{cycle}.vcd"));
        let path = self.args.output.clone().unwrap_or_else(default);
        let window = window(cycle, self.args.window);
        Ok(self.rerun.excerpt(self.library, window, &path, register, &mut |step| note!("rtl: {step}"))?)
    }

    fn print(&self, excerpt: &WaveWindow, register: Option<&RegisterDifference>) -> Result<(), CliError> {
        if self.args.json {
            return print_json(&WaveAtResult::of(excerpt, register, self.rtl));
        }
        if let Some(register) = register {
            outln!("{register}")?;
        }
        let Range { start, end } = excerpt.cycles;
        let wave = shell(&excerpt.path);
        let layout = shell(&excerpt.path.with_extension("gtkw"));
        outln!("  wave       {wave}, cycles {start} to {} (gtkwave {wave} {layout})", end - 1)?;
        print_ended(&excerpt.ended)
    }
}

fn print_ended(ended: &Ended) -> Result<(), CliError> {
    let Ended::Failed(failed) = ended else { return Ok(()) };
    outln!("  found      in cycle {}", failed.cycle)?;
    failed.failure.to_string().lines().try_for_each(|line| outln!("  {}", plain(line)))
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct WaveAtResult<'w> {
    wave: &'w Path,
    /// First cycle of the wave, and the cycle after its last one.
    cycles: (u64, u64),
    found: Option<FoundFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    register: Option<RegisterResult<'w>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle_rtl_ran: Option<bool>,
}

impl<'w> WaveAtResult<'w> {
    fn of(
        excerpt: &'w WaveWindow,
        register: Option<&'w RegisterDifference>,
        rtl: Option<&BundleRtl>,
    ) -> Self {
        let register = register.map(|register| RegisterResult {
            cycle: register.cycle,
            path: &register.path,
            rtl: format!("{:#x}", register.rtl),
            model: format!("{:#x}", register.model),
            module: register.module(),
            others: register.others,
        });
        WaveAtResult {
            wave: &excerpt.path,
            cycles: (excerpt.cycles.start, excerpt.cycles.end),
            found: FoundFailure::of(&excerpt.ended),
            register,
            bundle_rtl_ran: rtl.map(|rtl| rtl.is_of_bundle),
        }
    }
}

/// Result if no register differs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NoRegisterResult {
    register: (),
    cycles: u64,
    found: Option<FoundFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle_rtl_ran: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
struct RegisterResult<'w> {
    cycle: u64,
    path: &'w str,
    rtl: String,
    model: String,
    module: &'w str,
    others: usize,
}

#[derive(Serialize, JsonSchema)]
struct FoundFailure {
    cycle: u64,
    report: String,
}

impl FoundFailure {
    fn of(ended: &Ended) -> Option<Self> {
        match ended {
            Ended::Failed(failed) => {
                Some(FoundFailure { cycle: failed.cycle, report: failed.failure.to_string() })
            }
            Ended::Reached | Ended::Over => None,
        }
    }
}

fn verdict(ended: &Ended) -> Verdict {
    match ended {
        Ended::Failed(_) => Verdict::Disagree,
        Ended::Reached | Ended::Over => Verdict::Agree,
    }
}
