//! Reads the text of a kernel. A listing and PTX are read directly. An object file and CUDA C need the
//! vendor's tools.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use atoms_isa::Arch;

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot start `{}`", tool.display())]
    Start { tool: PathBuf, source: io::Error },
    /// The file is of a kind that cannot be read here. The message names a way to read it.
    #[error("{0}")]
    Unreadable(String),
}

impl SourceError {
    fn reading(path: &Path) -> impl FnOnce(io::Error) -> SourceError + '_ {
        |source| SourceError::Read { path: path.to_path_buf(), source }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Text that can run: CUDA C is compiled, an object is disassembled.
    Code,
    Ptx,
}

/// Default architecture for CUDA C.
const USUAL: &str = "sm_90";

/// Creates a [`SourceError::Unreadable`] with a message as in `format!`.
macro_rules! unreadable {
    ($($text:tt)*) => { SourceError::Unreadable(format!($($text)*)) };
}

/// ELF magic, position of the machine field, and the machine number of NVIDIA GPUs.
const ELF: &[u8] = b"\x7fELF";
const MACHINE: std::ops::Range<usize> = 18..20;
const GPU: [u8; 2] = 190_u16.to_le_bytes();

/// Reads `path`. `arch` is the architecture for CUDA C.
///
/// # Errors
/// [`SourceError`] if the file cannot be read, or if the tool it needs is absent or fails.
pub fn read(path: &Path, arch: Option<Arch>, wanted: Wanted) -> Result<String, SourceError> {
    let bytes = fs::read(path).map_err(SourceError::reading(path))?;
    if bytes.starts_with(ELF) {
        return object(path, &bytes, wanted);
    }
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("cu")) {
        return source(path, arch, wanted);
    }
    String::from_utf8(bytes).map_err(|_| {
        unreadable!(
            "`{}` is neither text nor an object file of a GPU; expected a kernel as listing, PTX, cubin or CUDA C",
            path.display()
        )
    })
}

fn object(path: &Path, bytes: &[u8], wanted: Wanted) -> Result<String, SourceError> {
    let file = path.display();
    if bytes.get(MACHINE) != Some(&GPU) {
        return Err(unreadable!(
            "`{file}` is an object file, but not of a GPU; `cuobjdump -xelf all {file}` extracts cubins from it, which can run"
        ));
    }
    if wanted == Wanted::Ptx {
        return Err(unreadable!(
            "`{file}` contains machine code, which needs no lowering; `atoms run {file}` runs it"
        ));
    }
    let Some(tool) = tool("nvdisasm") else {
        return Err(unreadable!(
            "`{file}` is an object file, and reading it needs nvdisasm, which is not on PATH; on a machine with nvdisasm, run \
             `nvdisasm -hex -g {file} > {file}.sass`, and use {file}.sass"
        ));
    };
    run(&tool, &["-hex".into(), "-g".into(), whole(path)?])
}

fn source(path: &Path, arch: Option<Arch>, wanted: Wanted) -> Result<String, SourceError> {
    let file = path.display();
    let arch = arch.map_or(USUAL.to_string(), |arch| arch.to_string());
    let (kind, output) =
        if wanted == Wanted::Ptx { ("-ptx", "kernel.ptx") } else { ("-cubin", "kernel.cubin") };
    let Some(tool) = tool("nvcc") else {
        return Err(unreadable!(
            "`{file}` is CUDA C, and compiling it needs nvcc, which is not on PATH; on a machine with nvcc, run \
             `nvcc -arch={arch} -lineinfo {kind} -o {output} {file}`, and use {output}"
        ));
    };
    // The folder is private to this user and is removed when dropped.
    let temporary = std::env::temp_dir();
    let folder = tempfile::Builder::new().prefix("atoms-").tempdir();
    let folder = folder.map_err(|source| SourceError::Write { path: temporary, source })?;
    let output = folder.path().join(output);
    let arch = format!("-arch={arch}");
    let arguments =
        [arch.into(), "-lineinfo".into(), kind.into(), "-o".into(), output.clone().into(), whole(path)?];
    run(&tool, &arguments)?;
    let bytes = fs::read(&output).map_err(SourceError::reading(&output))?;
    if wanted == Wanted::Code {
        object(&output, &bytes, wanted)
    } else {
        Ok(String::from_utf8_lossy(&bytes).into())
    }
}

/// Makes a path absolute, so that no tool takes it for an option.
fn whole(path: &Path) -> Result<OsString, SourceError> {
    std::path::absolute(path).map(PathBuf::into_os_string).map_err(SourceError::reading(path))
}

/// Finds an executable in the absolute folders of PATH, except the working folder.
fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let here = std::env::current_dir().and_then(fs::canonicalize).ok();
    let elsewhere = |folder: &PathBuf| folder.is_absolute() && fs::canonicalize(folder).ok() != here;
    let executable = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).filter(elsewhere).map(|folder| folder.join(name)).find(executable)
}

fn run(tool: &Path, arguments: &[OsString]) -> Result<String, SourceError> {
    let output = Command::new(tool).args(arguments).output();
    let output = output.map_err(|source| SourceError::Start { tool: tool.to_path_buf(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into());
    }
    let line: Vec<_> = arguments.iter().map(|argument| OsStr::to_string_lossy(argument)).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    Err(unreadable!(
        "`{} {}` failed ({}){}{}",
        tool.display(),
        line.join(" "),
        output.status,
        if said.trim().is_empty() { "" } else { ":\n" },
        said.trim_end()
    ))
}
