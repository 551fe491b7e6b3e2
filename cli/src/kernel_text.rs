//! The text of a kernel: a listing or PTX as it is; of an object file or CUDA C what the vendor's tools make of
//! it, where they are installed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use atoms_isa::Arch;

use crate::output::error::{CliError, message};

/// What is wanted of CUDA C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Text that runs: of an object, its listing.
    Code,
    Ptx,
}

/// The architecture that CUDA C is compiled for where none is named.
const USUAL: &str = "sm_90";

/// First bytes of an object file, where it says what machine it is for, and the number of the GPU.
const ELF: &[u8] = b"\x7fELF";
const MACHINE: std::ops::Range<usize> = 18..20;
const GPU: [u8; 2] = 190_u16.to_le_bytes();

/// Reads `path`; `arch` is what CUDA C is compiled for.
///
/// # Errors
/// The file cannot be read; or it is an object or CUDA C, and the tool that reads it is absent or fails.
pub(crate) fn read(path: &Path, arch: Option<Arch>, wanted: Wanted) -> Result<String, CliError> {
    let bytes = fs::read(path).map_err(CliError::reading(path))?;
    if bytes.starts_with(ELF) {
        return object(path, &bytes, wanted);
    }
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("cu")) {
        return source(path, arch, wanted);
    }
    String::from_utf8(bytes).map_err(|_| {
        message!(
            "`{}` is neither text nor an object file of a GPU; a kernel is a listing, PTX, a cubin or CUDA C",
            path.display()
        )
    })
}

fn object(path: &Path, bytes: &[u8], wanted: Wanted) -> Result<String, CliError> {
    let file = path.display();
    if bytes.get(MACHINE) != Some(&GPU) {
        return Err(message!(
            "`{file}` is an object file of another machine than a GPU; `cuobjdump -xelf all {file}` takes the cubins out of it"
        ));
    }
    if wanted == Wanted::Ptx {
        return Err(message!(
            "`{file}` holds machine code, which is lowered already; `atoms run {file}` runs it"
        ));
    }
    let Some(tool) = tool("nvdisasm") else {
        return Err(message!(
            "`{file}` is an object file, and there is no nvdisasm on PATH to read it; run `nvdisasm -hex {file} > {file}.sass` \
             where there is one, and give that"
        ));
    };
    run(&tool, &["-hex".into(), whole(path)?])
}

fn source(path: &Path, arch: Option<Arch>, wanted: Wanted) -> Result<String, CliError> {
    let file = path.display();
    let arch = arch.map_or(USUAL.to_string(), |arch| arch.to_string());
    let (kind, output) =
        if wanted == Wanted::Ptx { ("-ptx", "kernel.ptx") } else { ("-cubin", "kernel.cubin") };
    let Some(tool) = tool("nvcc") else {
        return Err(message!(
            "`{file}` is CUDA C, and there is no nvcc on PATH to compile it; run `nvcc -arch={arch} {kind} -o {output} {file}` \
             where there is one, and give that"
        ));
    };
    // No other user can read it; it is removed at the end.
    let temporary = std::env::temp_dir();
    let folder =
        tempfile::Builder::new().prefix("atoms-").tempdir().map_err(CliError::writing(&temporary))?;
    let output = folder.path().join(output);
    let arguments =
        [format!("-arch={arch}").into(), kind.into(), "-o".into(), output.clone().into(), whole(path)?];
    run(&tool, &arguments)?;
    let bytes = fs::read(&output).map_err(CliError::reading(&output))?;
    if wanted == Wanted::Code {
        object(&output, &bytes, wanted)
    } else {
        Ok(String::from_utf8_lossy(&bytes).into())
    }
}

/// A path from the root, which no tool takes for an option.
fn whole(path: &Path) -> Result<OsString, CliError> {
    std::path::absolute(path).map(PathBuf::into_os_string).map_err(CliError::reading(path))
}

/// An executable of this name in a folder that PATH names from the root and that is not the working folder.
fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let here = std::env::current_dir().and_then(fs::canonicalize).ok();
    let elsewhere = |folder: &PathBuf| folder.is_absolute() && fs::canonicalize(folder).ok() != here;
    let executable = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).filter(elsewhere).map(|folder| folder.join(name)).find(executable)
}

fn run(tool: &Path, arguments: &[OsString]) -> Result<String, CliError> {
    let output = Command::new(tool).args(arguments).output();
    let output =
        output.map_err(|error| CliError::caused(format!("cannot start `{}`", tool.display()), &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into());
    }
    let line: Vec<_> = arguments.iter().map(|argument| OsStr::to_string_lossy(argument)).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    Err(message!(
        "`{} {}` failed ({}){}{}",
        tool.display(),
        line.join(" "),
        output.status,
        if said.trim().is_empty() { "" } else { ":\n" },
        said.trim_end()
    ))
}
