//! The committed package of parameters is up to date.

use atoms_model::Config;
use expect_test::expect_file;

#[test]
fn the_committed_package_is_that_of_default() {
    expect_file!["../../rtl/atoms_cfg_pkg.sv"].assert_eq(&Config::default().rtl_package());
}
