//! What the tests share: where things are, and RTL of any configuration.

#![forbid(unsafe_code)]

use atoms_cosim::configs::{self, NamedConfig};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::rtl;
use atoms_verilated::{Rtl, Variant};

/// Every named configuration.
pub fn all_configs() -> Vec<NamedConfig> {
    configs::all(&configs::rtl_dir()).expect("rtl/configs.toml is readable")
}

/// The configuration called `name`.
pub fn config(name: &str) -> NamedConfig {
    configs::named(&configs::rtl_dir(), name).expect("the test names a configuration that exists")
}

/// RTL of a configuration, built or from the cache.
pub fn rtl_of(config: &NamedConfig) -> Rtl {
    rtl::instance(&configs::rtl_dir(), config, Variant::Fast, &mut |_| {}).expect("the RTL builds")
}

/// RTL and model of a configuration.
pub fn lockstep_of(config: &NamedConfig) -> Lockstep {
    Lockstep::new(rtl_of(config), config.config).expect("the RTL comes out of reset")
}
