//! The committed texts that are generated from the operation table are up to date.

use expect_test::expect_file;

#[test]
fn the_package_of_the_operations_is_up_to_date() {
    expect_file!["../../rtl/atoms_op_pkg.sv"].assert_eq(&atoms_ops::rtl_package());
}

#[test]
fn the_operation_table_is_up_to_date() {
    let page = expect_file!["../../docs/spec.md"];
    page.assert_eq(
        &atoms_ops::with_spec_table(&page.data()).expect("docs/spec.md has the markers of the table"),
    );
}
