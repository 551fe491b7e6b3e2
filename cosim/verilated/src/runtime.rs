//! Verilator's runtime, compiled once and shared by all libraries of a cache.

use crate::build::CAPTURE;
use crate::cache::Workshop;
use crate::compile::{Setup, Speed, Unit};
use crate::key::{Key, processor};
use crate::manifest::{self, State};
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

/// The object files of the runtime, from the cache at `root` or newly compiled.
pub(crate) fn objects(
    root: &Path,
    tools: &Toolchain,
    variant: Variant,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Vec<PathBuf>, BuildError> {
    // What counts coverage is generated code, so that the runtime is that of `Fast`.
    let variant = if variant.has_coverage() { Variant::Fast } else { variant };
    let include = &tools.verilator.include;
    let mut key = Key::new("runtime")
        .with(&tools.verilator.identity)
        .with(&tools.compiler.identity)
        .with(processor())
        .with(CAPTURE)
        .with_all(Setup::flags(variant));
    for name in sources(variant) {
        let path = include.join(name);
        let text = std::fs::read(&path).map_err(|source| BuildError::Source { path, source })?;
        key = key.with(text);
    }
    let dir = root.join(format!("runtime-{}", key.finish()));
    let cache = |source| BuildError::Cache { path: dir.clone(), source };
    if let State::Damaged(_) = manifest::inspect(&dir) {
        manifest::discard(&dir).map_err(cache)?;
    }
    let units: Vec<Unit> =
        sources(variant).iter().map(|name| Unit::new(include.join(name), Speed::Fast, &dir)).collect();
    if manifest::inspect(&dir) != State::Whole {
        let shop = Workshop::open(root)?;
        let prepared = shop.folder("runtime")?;
        let capture = shop.write("capture.h", CAPTURE)?;
        let setup = Setup { tools, variant, includes: Vec::new(), capture };
        let fresh: Vec<Unit> =
            units.iter().map(|unit| Unit::new(unit.source.clone(), Speed::Fast, &prepared)).collect();
        setup.compile("runtime", &fresh, progress)?;
        manifest::seal(&prepared).and_then(|()| manifest::install(&prepared, &dir)).map_err(cache)?;
    }
    Ok(units.into_iter().map(|unit| unit.object).collect())
}
