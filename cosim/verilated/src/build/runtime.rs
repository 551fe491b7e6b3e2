//! Verilator's runtime, compiled once and shared by all libraries of a cache.

use crate::build::compile::{CAPTURE, CompileUnit, Setup, Speed};
use crate::key::{Key, processor};
use crate::store::entry::{self, BuildDir, Entry};
use crate::{BuildError, Progress, Toolchain, Variant};
use std::path::{Path, PathBuf};

/// Sources that are compiled unchanged from Verilator's folder.
const SOURCES: [&str; 3] = ["verilated.cpp", "verilated_threads.cpp", "verilated_save.cpp"];

/// Header for the files of [`own`] and, in the wave variant, for the shim.
pub(crate) const RECORDS: &str = include_str!("shim/records.h");

/// Returns name and text of our own files for the runtime. Coverage needs none: the shim keeps the points.
pub(crate) fn own(variant: Variant) -> Vec<(&'static str, String)> {
    match variant {
        Variant::Fast | Variant::Cov | Variant::CovToggle => Vec::new(),
        Variant::Wave => vec![
            ("text.cpp", include_str!("shim/text.cpp").to_owned()),
            ("records.cpp", format!("{RECORDS}\n{}", include_str!("shim/records.cpp"))),
        ],
    }
}

pub(crate) struct Runtime {
    pub(crate) objects: Vec<PathBuf>,
    /// Keeps the objects in the cache until they are linked.
    _entry: Entry,
}

pub(crate) fn objects(root: &Path, tools: &Toolchain, variant: Variant) -> Result<Runtime, BuildError> {
    // Only generated code counts coverage, so the runtime is that of `Fast`.
    let variant = if variant.has_coverage() { Variant::Fast } else { variant };
    let include = &tools.verilator.include;
    let mut key = Key::new("runtime")
        .with(&tools.verilator.identity)
        .with(&tools.compiler.identity)
        .with(processor())
        .with(CAPTURE)
        .with_all(tools.compiler.flags(variant))
        .with(tools.compiler.level(Speed::Fast));
    for name in SOURCES {
        key = key.with(fs_err::read(include.join(name))?);
    }
    let own = own(variant);
    key = key.with_all(own.iter().map(|(_, text)| text));
    let units_in = |dir: &Path| -> Vec<CompileUnit> {
        let sources = SOURCES.map(|name| include.join(name)).into_iter();
        let sources = sources.chain(own.iter().map(|(name, _)| dir.join(name)));
        sources.map(|source| CompileUnit::new(source, Speed::Fast, dir)).collect()
    };
    let make = |shop: &BuildDir, progress: &mut dyn FnMut(&Progress)| {
        let prepared = shop.folder("runtime")?;
        for (name, text) in &own {
            shop.write(&format!("runtime/{name}"), text)?;
        }
        let capture = shop.write("capture.h", CAPTURE)?;
        let setup = Setup { tools, variant, includes: Vec::new(), capture, group: shop.group() };
        setup.compile(&units_in(&prepared), progress)?;
        Ok::<_, BuildError>(prepared)
    };
    let entry = entry::entry(root, &format!("runtime-{}", key.finish()), &mut |_| {}, make)?;
    Ok(Runtime { objects: units_in(&entry.dir).into_iter().map(|unit| unit.object).collect(), _entry: entry })
}
