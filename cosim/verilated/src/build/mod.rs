//! Builds a shared library from SystemVerilog.

pub(crate) mod compile;
pub(crate) mod compiler;
pub(crate) mod runtime;
mod wrapper;

use crate::abi::ABI_VERSION;
use crate::bank_names;
use crate::build::compile::{CAPTURE, CompileUnit, Setup, Speed};
use crate::key::{Key, processor};
use crate::ports::{self, Banks, Widths};
use crate::store::entry::{BuildDir, LIBRARY};
use crate::{BuildError, BuildSpec, Progress, Toolchain, Variant};
use std::panic::resume_unwind;
use std::path::{Component, Path, PathBuf};

const SHIM: &str = include_str!("shim/shim.cpp");
/// Appended to the shim in the wave variant.
const SIGNALS: &str = include_str!("shim/signals.cpp");
const SHIM_FILE: &str = "shim.cpp";

/// Class name that Verilator gives to the model, whatever the top module is called.
const MODEL: &str = "Vatoms";

/// Type of a coverage count in the C++ of older Verilators.
const ATOMIC_COUNT: &str = "std::atomic<uint32_t>";

/// Folder that precedes a file name in messages and in the design's own reports, as in the repository.
const SOURCE_DIR: &str = "rtl";

/// Lines of Verilator's messages that an error contains. The first ones show the cause.
const MESSAGE_LINES: usize = 40;

/// Arguments of every run of Verilator. `ATOMS_PROBE` gives the design its probe ports. Warnings do not end a
/// build: they belong to the lint, and a mutant must run even if the lint would reject it.
#[rustfmt::skip]
const VERILATOR_ARGS: &[&str] = &[
    "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-timing", "--assert",
    // The C++ compiler vectorizes loops that are not unrolled. They also fit the instruction cache.
    "--unroll-count", "4",
    "-DATOMS_PROBE", "-Wno-fatal", "--prefix", MODEL, "--Mdir", "obj",
];

pub(crate) struct Sources {
    /// Listed sources, in compilation order.
    listed: Vec<(PathBuf, String)>,
    headers: Vec<(PathBuf, String)>,
}

impl Sources {
    pub(crate) fn read(spec: &BuildSpec) -> Result<Self, BuildError> {
        check(spec)?;
        let read = |name: &Path| fs_err::read_to_string(spec.rtl_dir.join(name));
        let mut listed = Vec::new();
        for file in &spec.files {
            let generated = spec.generated.iter().find(|(name, _)| Path::new(name) == file);
            let text = match generated {
                Some((_, text)) => text.clone(),
                None => read(file)?,
            };
            listed.push((file.clone(), text));
        }
        let names = headers(&spec.rtl_dir)?;
        let headers = names.into_iter().map(|name| Ok((name.clone(), read(&name)?)));
        let headers = headers.collect::<Result<_, BuildError>>()?;
        Ok(Self { listed, headers })
    }

    fn all(&self) -> impl Iterator<Item = &(PathBuf, String)> {
        self.listed.iter().chain(&self.headers)
    }
}

/// Returns the sorted names of the headers (`*.svh`, `*.vh`) directly in `rtl_dir`.
///
/// # Errors
/// [`BuildError::Source`] if the folder cannot be read.
pub fn headers(rtl_dir: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(rtl_dir)? {
        names.push(PathBuf::from(entry?.file_name()));
    }
    names.retain(|name| name.extension().is_some_and(|extension| extension == "svh" || extension == "vh"));
    names.sort();
    Ok(names)
}

fn check(spec: &BuildSpec) -> Result<(), BuildError> {
    use atoms_model::port::{MAX_BANKS, MAX_LANES};
    let reject = |reason: String| Err(BuildError::Spec(reason));
    for (name, count, most) in [("lanes", spec.lanes, MAX_LANES), ("banks", spec.banks, MAX_BANKS)] {
        if !count.is_power_of_two() || count > most {
            return reject(format!("{count} {name}: expected a power of two up to {most}"));
        }
    }
    if spec.files.is_empty() {
        return reject(format!("no source files listed for top module `{}`", spec.top));
    }
    for file in &spec.files {
        if !file.components().all(|part| matches!(part, Component::Normal(_))) {
            return reject(format!("source `{}`: expected a path inside the RTL folder", file.display()));
        }
    }
    for (name, _) in &spec.generated {
        if !spec.files.iter().any(|file| file == Path::new(name)) {
            return reject(format!(
                "generated file `{name}` replaces no listed file; expected the name of a listed file"
            ));
        }
    }
    Ok(())
}

fn variant_args(variant: Variant) -> &'static [&'static str] {
    match variant {
        Variant::Fast => &["--savable"],
        // Trace structs by their fields, so that registers have the names of the model. Trace arrays with up
        // to one element per bank, of any width, but no memories.
        Variant::Wave => &[
            "--savable",
            "--trace",
            "--trace-structs",
            "--trace-max-array",
            "64",
            "--trace-max-width",
            "131072",
        ],
        // Verilator refuses `--savable` together with coverage.
        Variant::Cov => &["--coverage-line", "--coverage-user", "-DATOMS_COVERAGE"],
        Variant::CovToggle => {
            &["--coverage-line", "--coverage-user", "--coverage-toggle", "-DATOMS_COVERAGE"]
        }
    }
}

pub(crate) fn key(spec: &BuildSpec, sources: &Sources, tools: &Toolchain) -> String {
    let mut key = Key::new("library")
        .with(ABI_VERSION.to_le_bytes())
        .with(&tools.verilator.identity)
        .with(&tools.compiler.identity)
        .with(processor())
        .with(&spec.top)
        .with_all(VERILATOR_ARGS)
        .with_all(variant_args(spec.variant))
        .with_all(&spec.verilator_args)
        .with_all(tools.compiler.flags(spec.variant))
        .with_all([Speed::Fast, setup_speed(spec)].map(|speed| tools.compiler.level(speed)))
        .with_all(tools.compiler.link_flags())
        .with(CAPTURE)
        .with(shim(spec.variant))
        .with_all(runtime::own(spec.variant).into_iter().map(|(_, text)| text))
        .with(ports::header(MODEL, widths(spec), &Banks { includes: &[], memories: &[] }, true));
    if let Some(module) = &spec.wrapped {
        key = key.with("wrapped").with(module);
    }
    for (name, text) in sources.all() {
        key = key.with(name.as_os_str().as_encoded_bytes()).with(text);
    }
    key.finish()
}

fn shim(variant: Variant) -> String {
    match variant {
        Variant::Wave => format!("{}\n{SHIM}\n{SIGNALS}", runtime::RECORDS),
        Variant::Fast | Variant::Cov | Variant::CovToggle => SHIM.to_owned(),
    }
}

/// Returns the speed of the code for construction, the first evaluation, saving and restoring.
fn setup_speed(spec: &BuildSpec) -> Speed {
    if spec.restored_often { Speed::Often } else { Speed::Slow }
}

fn widths(spec: &BuildSpec) -> Widths {
    Widths { lanes: spec.lanes, banks: spec.banks }
}

/// Builds the library. Returns the folder in `shop` that becomes its cache entry.
pub(crate) fn build(
    spec: &BuildSpec,
    sources: &Sources,
    tools: &Toolchain,
    cache: &Path,
    shop: &BuildDir,
    progress: &mut dyn FnMut(&Progress),
) -> Result<PathBuf, BuildError> {
    progress(&Progress::Verilating(spec.top.clone(), spec.variant));
    for (name, text) in sources.all() {
        shop.write(&format!("{SOURCE_DIR}/{}", name.display()), text)?;
    }
    // Verilator keeps one core busy. Compile the runtime on another core meanwhile.
    let (warnings, runtime) = std::thread::scope(|scope| {
        let runtime = scope.spawn(|| runtime::objects(cache, tools, spec.variant));
        let warnings = verilate(spec, sources, tools, shop);
        (warnings, runtime.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let (warnings, runtime) = (warnings?, runtime?);
    if !warnings.is_empty() {
        progress(&Progress::Warnings(warnings));
    }
    let generated = shop.folder("obj")?;
    if spec.variant.has_coverage() {
        count_without_locks(&generated)?;
    }
    let units = translation_units(spec, shop, &generated)?;
    let setup = Setup {
        tools,
        variant: spec.variant,
        includes: vec![generated, shop.dir().to_path_buf()],
        capture: shop.dir().join("capture.h"),
        group: shop.group(),
    };
    setup.compile(&units, progress).map_err(port_mismatch)?;
    let mut objects = runtime.objects.clone();
    objects.extend(units.into_iter().map(|unit| unit.object));
    progress(&Progress::Linking);
    let entry = shop.folder("entry")?;
    setup.link(&objects, &entry.join(LIBRARY))?;
    Ok(entry)
}

/// Replaces the atomic coverage counts. Older Verilators use them even if no threads share the model, which
/// costs four fifths of the speed. No threads share a model here, so `AtomsCount` (capture.h) only adds.
fn count_without_locks(generated: &Path) -> std::io::Result<()> {
    for entry in fs_err::read_dir(generated)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "cpp" || extension == "h") {
            let text = fs_err::read_to_string(&path)?;
            if text.contains(ATOMIC_COUNT) {
                fs_err::write(&path, text.replace(ATOMIC_COUNT, "AtomsCount"))?;
            }
        }
    }
    Ok(())
}

fn verilate(
    spec: &BuildSpec,
    sources: &Sources,
    tools: &Toolchain,
    shop: &BuildDir,
) -> Result<String, BuildError> {
    let mut command = tools.verilator.command();
    command.current_dir(shop.dir()).args(VERILATOR_ARGS).args(variant_args(spec.variant));
    command.args(&spec.verilator_args).args(["--top-module", &spec.top]).arg(format!("-I{SOURCE_DIR}"));
    command.args(sources.listed.iter().map(|(name, _)| Path::new(SOURCE_DIR).join(name)));
    let output = shop
        .group()
        .run(&mut command)
        .map_err(|source| BuildError::Start(tools.verilator.program.clone(), source))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if let Some(module) = &spec.wrapped {
        wrapper::check(&said, &spec.top, module)?;
    }
    let said = said.lines().take(MESSAGE_LINES).collect::<Vec<_>>().join("\n");
    match output.status.success() {
        true => Ok(said),
        false if said.is_empty() => Err(BuildError::Verilate(output.status.to_string())),
        false => Err(BuildError::Verilate(said)),
    }
}

fn translation_units(
    spec: &BuildSpec,
    shop: &BuildDir,
    generated: &Path,
) -> Result<Vec<CompileUnit>, BuildError> {
    let headers = bank_names::headers(generated)?;
    let model = headers.iter().find(|header| header.name == format!("{MODEL}.h"));
    let differences = ports::differences(model.map_or("", |header| &header.text), widths(spec));
    if !differences.is_empty() {
        return Err(BuildError::Ports(differences));
    }
    let names = bank_names::find(&headers, MODEL, spec.banks)
        .map_err(|bank| BuildError::NoMemory(bank, spec.top.clone()))?;
    let banks = Banks { includes: &names.includes, memories: &names.memories };
    let mut sized = Vec::new();
    let mut missing = ports::phases(MODEL).map(|(gives, phase)| format!("{gives} {phase}(")).to_vec();
    for entry in fs_err::read_dir(generated)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "cpp") {
            let text = fs_err::read_to_string(entry.path())?;
            missing.retain(|phase| !text.contains(phase));
            sized.push((text.len() as u64, entry.file_name().to_string_lossy().into_owned()));
        }
    }
    shop.write("atoms_ports.h", ports::header(MODEL, widths(spec), &banks, missing.is_empty()))?;
    shop.write("capture.h", CAPTURE)?;
    shop.write(SHIM_FILE, shim(spec.variant))?;
    let mut units = Vec::new();
    for (name, speed, sources) in compile::gather(sized, SHIM_FILE, setup_speed(spec)) {
        let text: String = sources.iter().map(|source| format!("#include \"{source}\"\n")).collect();
        units.push(CompileUnit::new(shop.write(&name, text)?, speed, shop.dir()));
    }
    Ok(units)
}

/// Converts a failed static assertion to an error about the ports: only the shim has such assertions.
fn port_mismatch(error: BuildError) -> BuildError {
    match error {
        BuildError::Compile(_, output) if output.contains("static assertion") => BuildError::Ports(output),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compiler, Verilator, Version};
    use std::fs;

    fn tools() -> Toolchain {
        Toolchain {
            verilator: Verilator {
                program: PathBuf::new(),
                root: None,
                include: PathBuf::new(),
                version: Version::MINIMUM,
                identity: "5.006 rev 1".to_owned(),
            },
            compiler: Compiler { program: PathBuf::new(), identity: "g++ 12".to_owned() },
        }
    }

    #[test]
    fn every_input_counts_towards_the_key() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        file("atoms.f", "a.sv\nb.sv\n");
        file("a.sv", "a");
        file("b.sv", "b");
        file("c.svh", "c");
        file("notes.txt", "not a source");
        let spec = BuildSpec::from_list(dir.path(), "atoms.f", "top").unwrap();
        let key =
            |spec: &BuildSpec, tools: &Toolchain| super::key(spec, &Sources::read(spec).unwrap(), tools);
        let mut keys = vec![key(&spec, &tools())];
        file("notes.txt", "changed");
        assert_eq!(key(&spec, &tools()), keys[0]);

        keys.push(key(&spec.clone().lanes(16), &tools()));
        keys.push(key(&spec.clone().banks(16), &tools()));
        keys.push(key(&spec.clone().variant(Variant::Wave), &tools()));
        keys.push(key(&spec.clone().verilator_arg("-DX"), &tools()));
        keys.push(key(&BuildSpec { restored_often: true, ..spec.clone() }, &tools()));
        keys.push(key(&BuildSpec { wrapped: Some("x".to_owned()), ..spec.clone() }, &tools()));
        keys.push(key(&spec.clone().generated("b.sv", "b2"), &tools()));
        keys.push(key(&BuildSpec { top: "other".to_owned(), ..spec.clone() }, &tools()));
        let mut newer = tools();
        newer.verilator.identity = "5.006 rev 2".to_owned();
        keys.push(key(&spec, &newer));
        let mut newer = tools();
        newer.compiler.identity = "g++ 13".to_owned();
        keys.push(key(&spec, &newer));
        file("c.svh", "c2");
        keys.push(key(&spec, &tools()));
        file("a.sv", "a2");
        keys.push(key(&spec, &tools()));
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{at}");
        }
    }
}
