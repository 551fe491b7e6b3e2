//! Runs the C++ compiler.

use crate::group::{self, ToolGroup};
use crate::install::last_lines;
use crate::{BuildError, Progress, Toolchain, Variant};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Header that precedes every translation unit.
pub(crate) const CAPTURE: &str = include_str!("shim/capture.h");

/// Size of generated C++, in bytes, from which the code that runs in every cycle is split into two
/// translation units. For less code, reading the headers twice takes longer than compiling one unit.
const TWO_UNITS: u64 = 600_000;

/// Size of generated C++, in bytes, that takes as long to compile as the shim.
const SHIM_BYTES: u64 = 200_000;

const COMPLAINT_LINES: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speed {
    /// Code that runs in every cycle.
    Fast,
    /// Code that runs before each of many short runs.
    Often,
    Slow,
}

#[derive(Clone, Debug)]
pub(crate) struct CompileUnit {
    pub(crate) source: PathBuf,
    pub(crate) speed: Speed,
    pub(crate) object: PathBuf,
}

/// Groups generated sources, given as length and name, into few translation units. For each unit, Verilator's
/// headers alone cost as much as a small design. `shim` is compiled with the sources. `setup` is the speed of
/// the code that sets up a model. Returns name, speed and sources of each unit, the largest unit first.
pub(crate) fn gather(
    mut sources: Vec<(u64, String)>,
    shim: &str,
    setup: Speed,
) -> Vec<(String, Speed, Vec<String>)> {
    sources.push((SHIM_BYTES, shim.to_owned()));
    sources.sort_by(|a, b| b.cmp(a));
    let (slow, fast): (Vec<_>, Vec<_>) =
        sources.into_iter().partition(|(_, name)| name.contains("__Slow") || name.contains("__Syms"));
    let units = if fast.iter().map(|(length, _)| length).sum::<u64>() < TWO_UNITS { 1 } else { 2 };
    let mut bins = vec![(0, Vec::new()); units];
    for (length, name) in fast {
        if let Some(bin) = bins.iter_mut().min_by_key(|bin| bin.0) {
            bin.0 += length;
            bin.1.push(name);
        }
    }
    let slow = slow.into_iter().map(|(_, name)| name).collect();
    let fast = bins.into_iter().enumerate().map(|(at, bin)| (format!("fast{at}.cpp"), Speed::Fast, bin.1));
    fast.chain([("slow.cpp".to_owned(), setup, slow)]).filter(|unit| !unit.2.is_empty()).collect()
}

impl CompileUnit {
    pub(crate) fn new(source: PathBuf, speed: Speed, dir: &Path) -> Self {
        let object = dir.join(source.file_name().unwrap_or_default()).with_extension("o");
        CompileUnit { source, speed, object }
    }

    fn name(&self) -> String {
        self.source.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

pub(crate) struct Setup<'a> {
    pub(crate) tools: &'a Toolchain,
    pub(crate) variant: Variant,
    pub(crate) includes: Vec<PathBuf>,
    pub(crate) capture: PathBuf,
    pub(crate) group: &'a ToolGroup,
}

impl Setup<'_> {
    fn command(&self, unit: &CompileUnit) -> Command {
        let compiler = &self.tools.compiler;
        let mut command = Command::new(&compiler.program);
        command.args(compiler.flags(self.variant)).arg(compiler.level(unit.speed));
        for dir in &self.includes {
            command.arg("-I").arg(dir);
        }
        let runtime = &self.tools.verilator.include;
        command.arg("-isystem").arg(runtime).arg("-isystem").arg(runtime.join("vltstd"));
        command.arg("-include").arg(&self.capture);
        command.arg("-c").arg(&unit.source).arg("-o").arg(&unit.object);
        command
    }

    /// Compiles `units` on all cores, in order.
    pub(crate) fn compile(
        &self,
        units: &[CompileUnit],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), BuildError> {
        let total = units.len();
        progress(&Progress::Compiling { done: 0, total });
        let next = AtomicUsize::new(0);
        let (sender, results) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..group::cores().min(total) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if sender.send(self.run(&mut self.command(unit), &unit.name())).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for done in 1..=total {
                match results.recv() {
                    Ok(Ok(())) => progress(&Progress::Compiling { done, total }),
                    // Start no further units. Running compilers end before the scope does.
                    Ok(Err(error)) => {
                        next.store(total, Ordering::Relaxed);
                        return Err(error);
                    }
                    Err(mpsc::RecvError) => break,
                }
            }
            Ok(())
        })
    }

    pub(crate) fn link(&self, objects: &[PathBuf], library: &Path) -> Result<(), BuildError> {
        let mut command = Command::new(&self.tools.compiler.program);
        command.arg("-shared").args(objects).args(self.tools.compiler.link_flags());
        command.arg("-o").arg(library);
        self.run(&mut command, &library.file_name().unwrap_or_default().to_string_lossy())
    }

    fn run(&self, command: &mut Command, file: &str) -> Result<(), BuildError> {
        let output = self
            .group
            .run(command)
            .map_err(|source| BuildError::Start(command.get_program().into(), source))?;
        if output.status.success() {
            return Ok(());
        }
        let said = last_lines(&String::from_utf8_lossy(&output.stderr), COMPLAINT_LINES);
        let output = if said.is_empty() { output.status.to_string() } else { said };
        Err(BuildError::Compile(file.to_owned(), output))
    }
}
