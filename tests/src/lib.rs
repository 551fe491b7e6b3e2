//! Shared code of the tests: paths, RTL of any configuration, runs of cases, and random stimulus.

#![forbid(unsafe_code)]

pub mod bench;
pub mod bugs;
pub mod draw;
pub mod hunt;
pub mod pipeline;
pub mod plant;
pub mod ptx;
pub mod regression;
pub mod rows;
pub mod slurm;

use std::path::{Path, PathBuf};

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::rtl;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_verilated::{Environment, Rtl, Variant};

pub fn all_configs() -> Vec<NamedConfig> {
    configs::all(&rtl_dir()).expect("rtl/configs.toml is readable")
}

pub fn config_names() -> Vec<String> {
    all_configs().into_iter().map(|named| named.name).collect()
}

pub fn config(name: &str) -> NamedConfig {
    configs::named(&rtl_dir(), name).expect("the test names a configuration that exists")
}

pub fn rtl_of(config: &NamedConfig) -> Rtl {
    rtl::instance(&rtl_dir(), config, Variant::Fast, &mut |_| {})
        .unwrap_or_else(|error| panic!("the RTL of `{}` does not build: {error}", config.name))
}

pub fn lockstep_of(config: &NamedConfig) -> Lockstep {
    Lockstep::new(rtl_of(config), config.config).expect("the RTL comes out of reset")
}

/// Creates a lockstep session with an oracle. The machine is after reset and its memory is zero.
pub fn judged_lockstep_of(config: &NamedConfig) -> Session<Lockstep> {
    Session::new(lockstep_of(config), Some(Scoreboard::new(&config.config, &[])))
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("")
}

pub fn text_of(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn generated(name: &str) -> PathBuf {
    let folder = Environment::from_process().target.join(name);
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    folder
}
