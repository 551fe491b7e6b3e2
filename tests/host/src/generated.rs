//! Generated files in the repository. A test compares each one with its source.

/// Test that compares generated files with the committed ones, or rewrites them if `UPDATE_EXPECT` is 1.
#[derive(Clone, Copy, Debug)]
pub struct GeneratedBy {
    /// Paths relative to the root of the checkout.
    pub files: &'static [&'static str],
    pub folder: &'static str,
    pub target: &'static [&'static str],
    pub name: &'static str,
}

/// All such tests. A test in `tests/host/tests` finds missing entries.
#[rustfmt::skip]
pub const TESTS: &[GeneratedBy] = &[
    GeneratedBy { files: &["rtl/atoms_cfg_pkg.sv"], folder: "model", target: &["--test", "integration"], name: "package::the_committed_package_is_that_of_default" },
    GeneratedBy { files: &["rtl/atoms_op_pkg.sv"], folder: "ops", target: &["--test", "generated"], name: "the_package_of_the_operations_is_up_to_date" },
    GeneratedBy { files: &["cosim/stimulus/data/configs.toml"], folder: "cosim/stimulus", target: &["--lib"], name: "configs::tests::the_embedded_configurations_are_those_of_the_rtl" },
    GeneratedBy { files: &["docs/spec.md"], folder: "ops", target: &["--test", "generated"], name: "the_operation_table_is_up_to_date" },
    GeneratedBy { files: &["docs/sass.md"], folder: "isa", target: &["--test", "integration"], name: "table::the_page_is_up_to_date" },
    GeneratedBy { files: &["docs/builtins.md"], folder: "isa/builtin", target: &["--test", "integration"], name: "page::the_page_is_up_to_date" },
    GeneratedBy { files: &["docs/profiles.md"], folder: "cosim/stimulus", target: &["--lib"], name: "tests::the_page_has_every_key" },
    GeneratedBy { files: &["docs/reports.md"], folder: "cosim", target: &["--lib"], name: "usage::stack::tests::the_page_has_every_class" },
    GeneratedBy { files: &["docs/ports.md"], folder: "cosim", target: &["--test", "integration"], name: "ports_page::the_page_has_every_port" },
    GeneratedBy { files: &["docs/images/ports_cta.svg", "docs/images/ports_cta.json", "docs/images/ports_warp.svg", "docs/images/ports_warp.json", "docs/images/ports_cluster.svg", "docs/images/ports_cluster.json", "docs/images/ports_wait.svg", "docs/images/ports_wait.json"], folder: "cosim", target: &["--test", "integration"], name: "ports_page::the_pictures_show_the_cases" },
    GeneratedBy { files: &["docs/coverage.md"], folder: "cosim/coverage", target: &["--test", "integration"], name: "coverage_page::the_page_lists_the_groups" },
    GeneratedBy { files: &["docs/explore.md"], folder: "explore", target: &["--test", "integration"], name: "page::the_page_has_every_workload" },
    GeneratedBy { files: &["docs/calibration.md"], folder: "explore", target: &["--test", "integration"], name: "calibration::the_page_has_the_residuals" },
    GeneratedBy { files: &["docs/schema/*"], folder: "cli", target: &["--lib"], name: "schema::the_schemas_are_those_of_the_types" },
    GeneratedBy { files: &["regress/tests/report/failing.txt"], folder: "regress", target: &["--test", "integration"], name: "report::text::a_failing_regression_reads_like_this" },
    GeneratedBy { files: &["regress/tests/report/passing.txt"], folder: "regress", target: &["--test", "integration"], name: "report::text::a_passing_regression_reads_like_this" },
    GeneratedBy { files: &["docs/silicon.md"], folder: "silicon", target: &["--test", "integration"], name: "page::the_page_has_every_clause_that_is_asked_about" },
    GeneratedBy { files: &["docs/verification.md"], folder: "tests", target: &["--test", "integration"], name: "verification::the_page_has_what_stands_behind_each_clause" },
    GeneratedBy { files: &["waves/first_wave.vcd"], folder: "tests", target: &["--test", "integration"], name: "waves::the_committed_wave_is_the_one_the_readme_makes" },
    GeneratedBy { files: &["bindings/c/include/atoms.h"], folder: "bindings/c", target: &["--test", "integration"], name: "header::the_header_is_that_of_the_source" },
    GeneratedBy { files: &["bindings/sv/atoms_dpi_pkg.sv"], folder: "bindings/c", target: &["--test", "integration"], name: "header::the_pins_of_the_package_are_those_of_the_model" },
    GeneratedBy { files: &["silicon/captures/standin/findings.json"], folder: "tests", target: &["--test", "integration"], name: "silicon::what_the_stand_in_says_of_us_is_what_is_known" },
];
