//! RTL, configuration and setup of a command, from its arguments.

use std::path::Path;
use std::sync::OnceLock;

use atoms_cosim::embedded::{rtl_dir, set_rtl_dir};
use atoms_cosim::internals::Depth;
use atoms_cosim::rtl::{self, RtlIdentity};
use atoms_cosim::unit_folder::prepare;
use atoms_run::{Implementation, RunFiles, Setup};
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_verilated::Library;

use crate::args::{MachineArgs, On};
use crate::files::Files;
use crate::output::error::{CliError, message};
use crate::output::interrupt;
use crate::output::note;
use crate::output::progress::build_step;

pub(crate) fn files() -> Files {
    let mut files = Files::default();
    files.reads("the RTL", &rtl_dir());
    files
}

pub(crate) fn config(name: &str) -> Result<NamedConfig, CliError> {
    Ok(configs::named(&rtl_dir(), name)?)
}

/// Makes the RTL of another unit that of this process. Returns the name of its configuration.
pub(crate) fn use_unit(file: &Path) -> Result<String, CliError> {
    let (folder, name) = prepare(file, &rtl_dir())?;
    set_rtl_dir(folder);
    Ok(name)
}

/// Loads or builds the RTL of a configuration, for waves of this depth.
pub(crate) fn library(config: &NamedConfig, depth: Depth) -> Result<Library, CliError> {
    let dir = rtl_dir();
    // Hash before the build, because a file that changes in between must not count as the version that was
    // built.
    let identity = RtlIdentity::of(&dir)?;
    let library = rtl::library(&dir, config, depth.variant(), &mut build_step)
        .map_err(|error| CliError::about(&config.name, error))?;
    USED.get_or_init(|| identity);
    Ok(library)
}

static USED: OnceLock<RtlIdentity> = OnceLock::new();

/// Returns the RTL that this process ran, for a report. None if it ran no RTL.
pub(crate) fn rtl_used() -> Option<&'static RtlIdentity> {
    USED.get()
}

pub(crate) fn setup<'a>(
    config: &'a NamedConfig,
    args: &'a MachineArgs,
    oracle: bool,
) -> Result<Setup<'a>, CliError> {
    if args.internals && args.on == On::Model {
        return Err(message!(
            "--internals: --on model has no RTL, whose signals name the registers; use --on lockstep or --on rtl"
        ));
    }
    Ok(Setup {
        config,
        implementation: match args.on {
            On::Lockstep => Implementation::Lockstep(library(config, args.depth())?),
            On::Model => Implementation::Model,
            On::Rtl => Implementation::Rtl(library(config, args.depth())?),
        },
        parallel: args.on == On::Lockstep && args.threads() > 1,
        oracle,
        trace: args.trace.as_deref(),
        window: args.window.clone(),
        internals: args.internals,
        record: args.record.as_deref(),
        usage: args.report,
        interrupt: Some(interrupt::seen()),
    })
}

pub(crate) fn outputs(args: &MachineArgs, files: &mut Files) {
    if let Some(path) = &args.trace {
        files.writes_wave("--trace", path);
    }
    if let Some(path) = &args.record {
        files.writes("--record", path);
    }
}

pub(crate) fn lines(files: &RunFiles, cycles: u64) -> Vec<String> {
    let mut lines: Vec<_> = rtl_used().map(|rtl| format!("rtl        {rtl}")).into_iter().collect();
    if let Some((path, shown)) = &files.wave {
        if *shown == 0 {
            note!("atoms: the wave is empty: the run had {cycles} cycles, all of them outside of --window");
        }
        let wave = shell(path);
        lines.push(format!("wave       {wave} (gtkwave {wave} {})", shell(&path.with_extension("gtkw"))));
    }
    if let Some(path) = &files.recording {
        lines.push(format!("recording  {} (atoms check {})", path.display(), path.display()));
    }
    lines
}

/// Quotes a path for a shell, relative to the current folder if the path is below it.
pub(crate) fn shell(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let text = path.strip_prefix(&here).unwrap_or(path).display().to_string();
    atoms_regress::report::command::path(Path::new(&text))
}
