//! Verilator's runtime, compiled once and shared by all libraries of a cache.

use crate::compile::{CAPTURE, Setup, Speed, Unit};
use crate::entry::{self, BuildDir, Entry};
use crate::key::{Key, processor};
use crate::{BuildError, Progress, Toolchain, Variant};
use std::path::{Path, PathBuf};

fn sources(variant: Variant) -> &'static [&'static str] {
    match variant {
        // Coverage needs nothing of the runtime: the shim keeps the points itself.
        Variant::Fast | Variant::Cov | Variant::CovToggle => {
            &["verilated.cpp", "verilated_threads.cpp", "verilated_save.cpp"]
        }
        Variant::Wave => {
            &["verilated.cpp", "verilated_threads.cpp", "verilated_save.cpp", "verilated_vcd_c.cpp"]
        }
    }
}

/// The runtime's objects.
pub(crate) struct Runtime {
    pub(crate) objects: Vec<PathBuf>,
    /// Keeps them until they are linked.
    _entry: Entry,
}

/// The runtime, from the cache at `root` or newly compiled.
pub(crate) fn objects(
    root: &Path,
    tools: &Toolchain,
    variant: Variant,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Runtime, BuildError> {
    // What counts coverage is generated code, so that the runtime is that of `Fast`.
    let variant = if variant.has_coverage() { Variant::Fast } else { variant };
    let include = &tools.verilator.include;
    let mut key = Key::new("runtime")
        .with(&tools.verilator.identity)
        .with(&tools.compiler.identity)
        .with(processor())
        .with(CAPTURE)
        .with_all(Setup::flags(&tools.compiler, variant));
    for name in sources(variant) {
        key = key.with(fs_err::read(include.join(name))?);
    }
    let units_in = |dir: &Path| -> Vec<Unit> {
        sources(variant).iter().map(|name| Unit::new(include.join(name), Speed::Fast, dir)).collect()
    };
    let make = |shop: &BuildDir, progress: &mut dyn FnMut(&Progress)| {
        let prepared = shop.folder("runtime")?;
        let capture = shop.write("capture.h", CAPTURE)?;
        let setup = Setup { tools, variant, includes: Vec::new(), capture, group: shop.group() };
        setup.compile("runtime", &units_in(&prepared), progress)?;
        Ok::<_, BuildError>(prepared)
    };
    // Only the steps of its compilation are news: what is found and built is part of a library.
    let mut steps = |step: &Progress| {
        if let Progress::Compiling { .. } | Progress::Waiting { .. } = step {
            progress(step);
        }
    };
    let entry = entry::entry(root, &format!("runtime-{}", key.finish()), &mut steps, make)?;
    Ok(Runtime { objects: units_in(&entry.dir).into_iter().map(|unit| unit.object).collect(), _entry: entry })
}
