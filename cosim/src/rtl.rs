//! RTL sources, their hash, and libraries built from them for a configuration.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::unit::UNIT_FILE;
use atoms_verilated::{
    BuildError, BuildSpec, Cache, Environment, Library, Progress, Rtl, Toolchain, ToolchainError, Variant,
    hash, headers, install_verilator,
};

use crate::embedded;

pub(crate) const LIST: &str = "atoms.f";
/// Name of the top module, which has the ports.
pub const TOP: &str = "atoms_unit";
pub(crate) const PACKAGE: &str = "atoms_cfg_pkg.sv";

/// One step in building libraries. [`Display`](fmt::Display) gives one line without a line break.
#[derive(Clone, Debug)]
pub struct BuildStep {
    /// Name of the configuration of the library.
    pub config: String,
    /// Number of the library, from 1.
    pub number: usize,
    /// Number of libraries to build.
    pub total: usize,
    /// Current step of the build.
    pub step: Progress,
}

impl fmt::Display for BuildStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { config, number, total, step } = self;
        write!(f, "{config} ({number} of {total}): {step}")
    }
}

/// Folder and hash of the RTL, for reports. [`Display`](fmt::Display): `/work/rtl, hash 0123456789ab`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct RtlIdentity {
    /// Folder of the RTL. `None` for the RTL that the program carries.
    pub folder: Option<PathBuf>,
    /// Result of [`rtl_hash`] for this RTL.
    pub hash: String,
}

impl RtlIdentity {
    /// Returns the identity of the RTL in `rtl_dir`.
    ///
    /// # Errors
    /// Same as [`rtl_hash`].
    pub fn of(rtl_dir: &Path) -> Result<Self, BuildError> {
        let folder = (!is_carried(rtl_dir)).then(|| rtl_dir.to_path_buf());
        Ok(Self { folder, hash: rtl_hash(rtl_dir)? })
    }
}

fn is_carried(rtl_dir: &Path) -> bool {
    embedded::folder().is_some_and(|folder| folder == rtl_dir)
}

/// Returns the location of the RTL for a report: `rtl_dir`, or `built in` for RTL in the program.
pub fn place(rtl_dir: &Path) -> String {
    if is_carried(rtl_dir) { "built in".to_string() } else { rtl_dir.display().to_string() }
}

impl fmt::Display for RtlIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.folder.as_deref().map_or_else(|| "built in".to_string(), place);
        // Twelve digits are enough to tell versions apart.
        write!(f, "{place}, hash {}", self.hash.get(..12).unwrap_or(&self.hash))
    }
}

/// Longest part of a configuration's name in a file name, in bytes.
const LONGEST_STEM: usize = 100;

/// Returns the stem of file names for a configuration: its name. A long name is cut and gets a hash.
pub fn file_stem(config: &NamedConfig) -> String {
    match config.name.get(..LONGEST_STEM) {
        Some(beginning) if beginning != config.name => format!("{beginning}-{:.12}", hash([&config.name])),
        _ => config.name.clone(),
    }
}

/// Returns the sorted paths, relative to `rtl_dir`, of the files of the RTL: the list, the sources in the
/// list, the headers, and `configs.toml`.
///
/// # Errors
/// [`BuildError::Source`] if the list or the folder cannot be read.
pub fn sources(rtl_dir: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut files = BuildSpec::from_list(rtl_dir, LIST, TOP)?.files;
    files.extend(headers(rtl_dir)?);
    files.extend([LIST, "configs.toml"].map(PathBuf::from));
    files.extend(rtl_dir.join(UNIT_FILE).exists().then(|| UNIT_FILE.into()));
    files.sort();
    files.dedup();
    Ok(files)
}

/// Returns the SHA-256 hash of the RTL in `rtl_dir`, in hexadecimal, over names and texts of its [`sources`].
/// Equal sources have equal hashes, whatever the folder, the machine and the tools.
///
/// # Errors
/// [`BuildError::Source`] with the file that cannot be read.
pub fn rtl_hash(rtl_dir: &Path) -> Result<String, BuildError> {
    let mut texts = Vec::new();
    for file in sources(rtl_dir)? {
        let text = fs_err::read(rtl_dir.join(&file))?;
        texts.extend([file.into_os_string().into_encoded_bytes(), text]);
    }
    Ok(hash(texts))
}

/// Finds Verilator and the C++ compiler of this machine. Without a Verilator, installs a pinned one first
/// ([`Environment::toolchain_dir`]).
///
/// # Errors
/// [`BuildError`] with the missing tool, and how to get it.
pub fn toolchain(env: &Environment, progress: &mut dyn FnMut(&Progress)) -> Result<Toolchain, BuildError> {
    match Toolchain::find(env) {
        Err(ToolchainError::VerilatorMissing) => {
            install_verilator(env, progress)?;
            Ok(Toolchain::find(env)?)
        }
        found => Ok(found?),
    }
}

/// Returns the library of the RTL in `rtl_dir` for `config`, built or taken from the cache. Without a
/// Verilator on this machine, installs a pinned one first.
///
/// # Errors
/// [`BuildError`].
pub fn library(
    rtl_dir: &Path,
    config: &NamedConfig,
    variant: Variant,
    progress: &mut dyn FnMut(&BuildStep),
) -> Result<Library, BuildError> {
    let built = libraries(rtl_dir, std::slice::from_ref(config), variant, progress);
    let mut libraries = built.map_err(|failed| failed.1)?;
    Ok(libraries.remove(0))
}

/// Returns one [`library`] for each of `configs`, in their order. Builds as many at once as there are cores.
///
/// # Errors
/// The first configuration that failed, and its error. Running builds are finished; no other build starts.
pub fn libraries(
    rtl_dir: &Path,
    configs: &[NamedConfig],
    variant: Variant,
    progress: &mut dyn FnMut(&BuildStep),
) -> Result<Vec<Library>, Box<(NamedConfig, BuildError)>> {
    let Some(first) = configs.first() else { return Ok(Vec::new()) };
    let total = configs.len();
    let step = |at: usize, step: &Progress| BuildStep {
        config: configs[at].name.clone(),
        number: at + 1,
        total,
        step: step.clone(),
    };
    let env = Environment::from_process();
    let tools = toolchain(&env, &mut |installing| progress(&step(0, installing)));
    let tools = tools.map_err(|error| Box::new((first.clone(), error)))?;
    let (env, tools, step) = (&env, &tools, &step);
    let next = &AtomicUsize::new(0);
    let (sender, messages) = mpsc::channel();
    std::thread::scope(|scope| {
        let cores = atoms_verilated::cores();
        for _ in 0..cores.min(total) {
            let sender = sender.clone();
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(config) = configs.get(at) else { break };
                    let mut say = |progress: &Progress| drop(sender.send((at, Err(step(at, progress)))));
                    let built = build(rtl_dir, config, variant, env, tools, &mut say);
                    if sender.send((at, Ok(built))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut libraries: Vec<Option<Library>> = vec![None; total];
        let mut failed = None;
        for (at, message) in messages {
            match message {
                Err(step) => progress(&step),
                Ok(Ok(library)) => libraries[at] = Some(library),
                Ok(Err(error)) => {
                    next.store(total, Ordering::Relaxed);
                    failed.get_or_insert_with(|| Box::new((configs[at].clone(), error)));
                }
            }
        }
        // Every build that started has sent its result. Without a failure, every build has started.
        failed.map_or(Ok(libraries.into_iter().flatten().collect()), Err)
    })
}

fn build(
    rtl_dir: &Path,
    config: &NamedConfig,
    variant: Variant,
    env: &Environment,
    tools: &Toolchain,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Library, BuildError> {
    let spec = spec(rtl_dir, config, variant)?;
    Cache::new(env).library(&spec, tools, progress)
}

/// Returns the identities of Verilator and of the C++ compiler, as each tool states them.
///
/// # Errors
/// [`ToolchainError`] when one is missing.
pub fn tools() -> Result<String, ToolchainError> {
    let Toolchain { verilator, compiler } = Toolchain::find(&Environment::from_process())?;
    Ok(format!("{}; {}", verilator.identity, compiler.identity))
}

fn spec(rtl_dir: &Path, config: &NamedConfig, variant: Variant) -> Result<BuildSpec, BuildError> {
    let spec = BuildSpec::from_list(rtl_dir, LIST, TOP)?
        .lanes(config.config.num_lanes as usize)
        .banks(config.config.num_banks as usize)
        .generated(PACKAGE, config.config.rtl_package())
        .variant(variant);
    Ok(BuildSpec { wrapped: config.unit.as_ref().map(|unit| unit.module.clone()), ..spec })
}

/// Returns name and text of each source for `config` in compilation order, with the generated package.
///
/// # Errors
/// [`BuildError::Source`] with the file that cannot be read.
pub fn texts(rtl_dir: &Path, config: &NamedConfig) -> Result<Vec<(String, String)>, BuildError> {
    let spec = spec(rtl_dir, config, Variant::Fast)?;
    let mut found = Vec::new();
    for file in &spec.files {
        let name = file.display().to_string();
        let text = match spec.generated.iter().find(|(generated, _)| *generated == name) {
            Some((_, text)) => text.clone(),
            None => fs_err::read_to_string(rtl_dir.join(file))?,
        };
        found.push((name, text));
    }
    Ok(found)
}

/// Returns the RTL for `config` with `prefix` before the name of each file, package and module, so that units of several
/// configurations fit into one simulation: name and text of each file, with the list for `-f` last.
///
/// # Errors
/// [`BuildError::Source`] with the file that cannot be read.
pub fn prefixed(
    rtl_dir: &Path,
    config: &NamedConfig,
    prefix: &str,
) -> Result<Vec<(String, String)>, BuildError> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let texts = texts(rtl_dir, config)?;
    let lines = texts.iter().flat_map(|(_, text)| text.lines());
    let declared = lines.filter_map(|line| line.strip_prefix("module ").or(line.strip_prefix("package ")));
    let names: BTreeSet<_> = declared.filter_map(|rest| rest.split(|c| !in_word(c)).next()).collect();
    let renamed = |text: &str| {
        let words = text.split_inclusive(|c| !in_word(c));
        let rename = |word: &str| {
            let is_name = names.contains(word.trim_end_matches(|c| !in_word(c)));
            if is_name { format!("{prefix}{word}") } else { word.to_string() }
        };
        words.map(rename).collect::<String>()
    };
    let mut files: Vec<_> =
        texts.iter().map(|(name, text)| (format!("{prefix}{name}"), renamed(text))).collect();
    let list = files.iter().map(|(name, _)| format!("{name}\n")).collect();
    for header in headers(rtl_dir)? {
        files.push((header.display().to_string(), fs_err::read_to_string(rtl_dir.join(header))?));
    }
    files.push((LIST.to_string(), list));
    Ok(files)
}

/// Returns a [`library`] built from other texts than the sources: texts with schemata. The names are those of
/// [`texts`]. [`BuildSpec`] explains `restored_often`.
///
/// # Errors
/// [`BuildError`].
pub fn library_of(
    rtl_dir: &Path,
    config: &NamedConfig,
    texts: &[(String, String)],
    restored_often: bool,
    progress: &mut dyn FnMut(&BuildStep),
) -> Result<Library, BuildError> {
    let env = Environment::from_process();
    let mut step = |step: &Progress| {
        progress(&BuildStep { config: config.name.clone(), number: 1, total: 1, step: step.clone() });
    };
    let tools = toolchain(&env, &mut step)?;
    // Lint is off: schemata widen operands.
    let mut spec =
        spec(rtl_dir, config, Variant::Fast)?.verilator_arg("-Wno-lint").verilator_arg("-DATOMS_WOVEN");
    spec.generated = texts.to_vec();
    spec.restored_often = restored_often;
    Cache::new(&env).library(&spec, &tools, &mut step)
}

/// Creates an instance of [`library`].
///
/// # Errors
/// [`BuildError`].
pub fn instance(
    rtl_dir: &Path,
    config: &NamedConfig,
    variant: Variant,
    progress: &mut dyn FnMut(&BuildStep),
) -> Result<Rtl, BuildError> {
    Ok(library(rtl_dir, config, variant, progress)?.instantiate()?)
}

/// Lints the RTL in `rtl_dir` for `config`, once without and once with coverage. Every warning is on, except
/// those that `lint/verilator.vlt` waives with a reason. Returns Verilator's messages, or an empty text if
/// the RTL is clean.
///
/// # Errors
/// [`BuildError`].
pub fn lint(
    rtl_dir: &Path,
    config: &NamedConfig,
    progress: &mut dyn FnMut(&BuildStep),
) -> Result<String, BuildError> {
    let env = Environment::from_process();
    let tools = toolchain(&env, &mut |step| {
        progress(&BuildStep { config: config.name.clone(), number: 1, total: 1, step: step.clone() });
    })?;
    let spec = BuildSpec::from_list(rtl_dir, LIST, TOP)?;
    let dir = env.store.join("lint").join(file_stem(config));
    let package = dir.join(PACKAGE);
    fs_err::create_dir_all(&dir).map_err(BuildError::Lint)?;
    fs_err::write(&package, config.config.rtl_package()).map_err(BuildError::Lint)?;
    let mut said = String::new();
    // Coverage code inside an expression gives the expression a side effect.
    for counting in [&[][..], &["+define+ATOMS_COVERAGE", "--coverage-line", "--coverage-user"]] {
        let mut command = tools.verilator.command();
        command
            .args(["--lint-only", "-Wall", "--top-module", "atoms_unit", "+define+ATOMS_PROBE"])
            .args(counting);
        command.arg(format!("-I{}", rtl_dir.display())).arg(rtl_dir.join("lint/verilator.vlt"));
        for file in &spec.files {
            let configured = file.as_os_str() == PACKAGE;
            command.arg(if configured { package.clone() } else { rtl_dir.join(file) });
        }
        let output = command.output().map_err(BuildError::Lint)?;
        said.push_str(&String::from_utf8_lossy(&output.stderr));
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_of_what_the_sources_say() {
        let rtl = crate::embedded::rtl_dir();
        let copy = std::env::temp_dir().join(format!("atoms-rtl-hash-{}", std::process::id()));
        std::fs::create_dir_all(&copy).expect("a folder for temporary files");
        let files = sources(&rtl).expect("the RTL of the checkout");
        assert!(files.contains(&"atoms_assert.svh".into()) && files.contains(&"atoms_unit.sv".into()));
        for file in &files {
            std::fs::copy(rtl.join(file), copy.join(file)).expect("copies");
        }
        std::fs::write(copy.join("notes.txt"), "no source").expect("writes");
        let hash = rtl_hash(&rtl).expect("a hash");
        assert_eq!(hash.len(), 64);
        assert_eq!(rtl_hash(&copy).expect("a hash"), hash, "another folder, another file beside them");
        for file in ["atoms_alu.sv", "atoms_assert.svh", "configs.toml", "atoms.f"] {
            let text = std::fs::read_to_string(rtl.join(file)).expect("a source");
            std::fs::write(copy.join(file), text.clone() + "\n").expect("writes");
            assert_ne!(rtl_hash(&copy).expect("a hash"), hash, "{file}");
            std::fs::write(copy.join(file), text).expect("writes");
        }
        std::fs::remove_file(copy.join("atoms_alu.sv")).expect("removes");
        let error = rtl_hash(&copy).expect_err("a source is missing").to_string();
        assert!(error.contains("atoms_alu.sv"), "{error}");
        std::fs::remove_dir_all(&copy).expect("removes");
    }
}
