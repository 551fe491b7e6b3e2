//! What the tests share: where things are, RTL of any configuration, cases run to their end, and
//! stimulus that shrinks.

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

/// Every named configuration.
pub fn all_configs() -> Vec<NamedConfig> {
    configs::all(&rtl_dir()).expect("rtl/configs.toml is readable")
}

/// Names of all configurations, in the order of `rtl/configs.toml`.
pub fn config_names() -> Vec<String> {
    all_configs().into_iter().map(|named| named.name).collect()
}

/// The configuration called `name`.
pub fn config(name: &str) -> NamedConfig {
    configs::named(&rtl_dir(), name).expect("the test names a configuration that exists")
}

/// RTL of a configuration, built or from the cache.
pub fn rtl_of(config: &NamedConfig) -> Rtl {
    rtl::instance(&rtl_dir(), config, Variant::Fast, &mut |_| {})
        .unwrap_or_else(|error| panic!("the RTL of `{}` does not build: {error}", config.name))
}

/// RTL and model of a configuration.
pub fn lockstep_of(config: &NamedConfig) -> Lockstep {
    Lockstep::new(rtl_of(config), config.config).expect("the RTL comes out of reset")
}

/// RTL and model of a configuration with the oracle listening, after reset and with a memory of zeros.
pub fn judged_lockstep_of(config: &NamedConfig) -> Session<Lockstep> {
    Session::new(lockstep_of(config), Some(Scoreboard::new(&config.config, &[])))
}

/// Root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("")
}

/// A file of the checkout, by its path from the root.
pub fn text_of(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A folder for what tests generate, made if need be.
pub fn generated(name: &str) -> PathBuf {
    let folder = Environment::from_process().target.join(name);
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    folder
}
