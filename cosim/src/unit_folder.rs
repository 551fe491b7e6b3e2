//! RTL folder of a unit that is not this project's: its sources, and `atoms_unit` as a wrapper around it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use atoms_stimulus::configs::{self, ConfigsError, NamedConfig};
use atoms_stimulus::unit::{ForeignUnit, UNIT_FILE, UnitError};
use atoms_verilated::{Environment, hash, headers};

use crate::embedded::put;
use crate::rtl::{LIST, PACKAGE, TOP};

/// Packages that a unit may import.
const PACKAGES: [&str; 3] = [PACKAGE, "atoms_op_pkg.sv", "atoms_pkg.sv"];

/// File with the macros of a unit.
const DEFINES: &str = "atoms_defines.sv";

/// Reason why the folder of a unit cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum UnitFolderError {
    /// The declaration cannot be used.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The configuration of the declaration is unknown.
    #[error("`{path}`: {1}", path = .0.display())]
    Config(PathBuf, #[source] ConfigsError),
    /// A source cannot be used. Has the problem and what would work.
    #[error("`{path}`: {1}", path = .0.display())]
    Source(PathBuf, String),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The folder of this project's RTL cannot be read.
    #[error(transparent)]
    Rtl(#[from] atoms_verilated::BuildError),
}

/// Writes the RTL folder of the unit that `file` declares, below the cache. `rtl_dir` is the folder of this
/// project's RTL. Returns the folder and the name of the only configuration in it.
///
/// # Errors
/// [`UnitFolderError`].
pub fn prepare(file: &Path, rtl_dir: &Path) -> Result<(PathBuf, String), UnitFolderError> {
    let unit = ForeignUnit::read(file)?;
    let config = configs::named(rtl_dir, &unit.config)
        .map_err(|error| UnitFolderError::Config(file.to_path_buf(), error))?;
    let path = std::path::absolute(file)?;
    let key = hash([path.as_os_str().as_encoded_bytes()]);
    let name = format!("{}-{}", unit.name, &key[..12]);
    let folder = Environment::from_process().cache_dir().join("units").join(name);
    let mut files = unit_files(file, &unit)?;
    for name in PACKAGES.iter().map(PathBuf::from).chain(headers(rtl_dir)?) {
        let text = fs_err::read_to_string(rtl_dir.join(&name))?;
        files.entry(name.display().to_string()).or_insert(text);
    }
    files.insert(PACKAGE.into(), config.config.rtl_package());
    let defines = unit.defines.iter().fold(String::new(), |mut text, define| {
        let (name, value) = define.split_once('=').unwrap_or((define, ""));
        let _ = writeln!(text, "`define {name} {value}");
        text
    });
    files.insert(DEFINES.into(), defines);
    files.insert(format!("{TOP}.sv"), wrapper(rtl_dir, &unit.module)?);
    let listed = std::iter::once(DEFINES).chain(PACKAGES).map(str::to_string);
    let listed =
        listed.chain(unit.sources.iter().map(|source| file_name(source))).chain([format!("{TOP}.sv")]);
    files.insert(LIST.into(), listed.map(|name| name + "\n").collect());
    files.insert("configs.toml".into(), table(&unit, &config));
    let declaration = fs_err::read_to_string(file)?;
    files.insert(UNIT_FILE.into(), format!("file = {:?}\n{declaration}", path.display().to_string()));
    files.iter().try_for_each(|(name, text)| put(&folder.join(name), text))?;
    Ok((folder, unit.name))
}

/// Sources of the unit, and headers beside its declaration, by file name.
fn unit_files(file: &Path, unit: &ForeignUnit) -> Result<BTreeMap<String, String>, UnitFolderError> {
    let beside = file.parent().unwrap_or(Path::new(""));
    let mut files = BTreeMap::new();
    let headers = headers(if beside == Path::new("") { Path::new(".") } else { beside })?;
    for source in unit.sources.iter().chain(&headers) {
        let path = beside.join(source);
        let name = file_name(source);
        let reserved = PACKAGES.contains(&name.as_str()) || name == format!("{TOP}.sv") || name == DEFINES;
        if reserved || files.contains_key(&name) {
            let problem = format!("another file is called `{name}`; rename this one");
            return Err(UnitFolderError::Source(path, problem));
        }
        files.insert(name, fs_err::read_to_string(path)?);
    }
    Ok(files)
}

fn file_name(source: &Path) -> String {
    source.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Text of a module `atoms_unit` that connects the ports of `module`. Its probe is 0, and its banks are empty.
fn wrapper(rtl_dir: &Path, module: &str) -> Result<String, UnitFolderError> {
    const END: &str = "\n);\n";
    let path = rtl_dir.join(format!("{TOP}.sv"));
    let text = fs_err::read_to_string(&path)?;
    let Some((ports, _)) = text.split_once(END) else {
        return Err(UnitFolderError::Source(
            path,
            "expected a list of ports that ends with `);`".to_string(),
        ));
    };
    let lines =
        ports.lines().map(str::trim).filter(|line| line.starts_with("input ") || line.starts_with("output "));
    let names = lines.filter_map(|line| line.trim_end_matches(',').split_whitespace().next_back());
    let (probes, names): (Vec<_>, Vec<_>) = names.partition(|name| name.starts_with("probe_"));
    // Not `.*`, which ignores a port that the module lacks.
    let pins: Vec<_> = names.iter().map(|name| format!("    .{name}({name})")).collect();
    let mut text = format!("{ports}{END}  {module} u_unit (\n{}\n  );\n\n", pins.join(",\n"));
    for probe in probes {
        let _ = writeln!(text, "  assign {probe} = '0;");
    }
    text += "\n  for (genvar b = 0; b < NumBanks; b++) begin : g_bank\n    atoms_no_bank u_bank ();\n  end\n";
    text += "endmodule\n\n/// Memory that a harness finds in each bank. The unit has its own.\nmodule atoms_no_bank\n";
    text += "  import atoms_cfg_pkg::*;\n  import atoms_pkg::*;\n();\n";
    text += "  word_t mem_q [NumRows] /*verilator public_flat_rw*/;\nendmodule\n";
    Ok(text)
}

/// Text of `configs.toml` with the configuration of the unit.
fn table(unit: &ForeignUnit, config: &NamedConfig) -> String {
    let about = format!("unit `{}` with the size of `{}`", unit.name, config.name);
    let mut text = format!("[{}]\nabout = {about:?}\n", unit.name);
    for (name, value) in configs::parameters(&config.config) {
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}
