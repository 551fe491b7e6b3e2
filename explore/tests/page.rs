//! `docs/explore.md` lists every workload and parameter.

use expect_test::expect_file;

#[test]
fn the_page_has_every_workload() {
    let page = expect_file!["../../docs/explore.md"];
    let tables = atoms_workload::with_workload_tables(&page.data());
    page.assert_eq(&tables.expect("docs/explore.md has the markers of the tables"));
}
