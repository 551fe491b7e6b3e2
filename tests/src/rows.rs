//! Table-driven tests: one test per row, or one test that continues after a failing row.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Generates one test per row, `NAME` or `NAME(ARGUMENTS)`. The test calls `$run` with the name and the
/// arguments.
///
/// - `mod NAME:` in front puts the tests into a module.
/// - `all LIST =>` adds a test that `LIST` contains exactly these names in this order.
/// - An attribute of a row applies to its test, and an attribute of the module applies to all its tests:
///   `#[ignore = "nightly: REASON"]`.
#[macro_export]
macro_rules! test_each {
    (@tests $of_all:tt all $all:expr => $run:path; $($(#[$own:meta])* $name:ident $(($($argument:expr),*))?)*) => {
        $crate::test_each! { @tests $of_all $run; $($(#[$own])* $name $(($($argument),*))?)* }

        #[test]
        fn every_row_is_tested() {
            assert_eq!($all, [$(stringify!($name)),*], "names that there are, and those that have a test");
        }
    };
    (@tests $of_all:tt $run:path; $($(#[$own:meta])* $name:ident $(($($argument:expr),*))?)*) => {
        $($crate::test_each! { @test $of_all $(#[$own])* $run; $name $(($($argument),*))? })*
    };
    (@test { $(#[$of_all:meta])* } $(#[$own:meta])* $run:path; $name:ident $(($($argument:expr),*))?) => {
        #[test]
        $(#[$of_all])*
        $(#[$own])*
        fn $name() {
            $run(stringify!($name) $($(, $argument)*)?);
        }
    };
    ($(#[$of_all:meta])* mod $module:ident: $($rows:tt)*) => {
        mod $module {
            use super::*;

            $crate::test_each! { @tests { $(#[$of_all])* } $($rows)* }
        }
    };
    ($(#[$of_all:meta])* all $($rows:tt)*) => {
        $crate::test_each! { @tests { $(#[$of_all])* } all $($rows)* }
    };
    ($($rows:tt)*) => {
        $crate::test_each! { @tests {} $($rows)* }
    };
}

/// Generates one test per named configuration in module `$module`. The test calls `$run` with the name. Four
/// configurations reach every option of the unit, so the tests of the others are nightly.
#[macro_export]
macro_rules! test_each_configuration {
    ($module:ident: $run:path) => {
        $crate::test_each! {
            mod $module: all $crate::config_names() => $run;
            default tiny small
            #[ignore = "nightly: another configuration"]
            hold
            #[ignore = "nightly: another configuration"]
            deep
            #[ignore = "nightly: another configuration"]
            short
            #[ignore = "nightly: another configuration"]
            rotating
            #[ignore = "nightly: another configuration"]
            highest
            #[ignore = "nightly: another configuration"]
            merging
            #[ignore = "nightly: another configuration"]
            hashed
            #[ignore = "nightly: another configuration"]
            wide
            all_options
            #[ignore = "nightly: another configuration"]
            narrow
            #[ignore = "nightly: another configuration"]
            huge
        }
    };
}

/// Converts rows `(VALUE, ...)` to structs. `rows! { TYPE { FIELD, ... } ROWS }` names the columns.
#[macro_export]
macro_rules! rows {
    (@one $row:ident { $($field:ident),* } $($value:expr),*) => {
        $row { $($field: $value),* }
    };
    ($row:ident $fields:tt $(($($value:expr),* $(,)?)),* $(,)?) => {
        &[$($crate::rows! { @one $row $fields $($value),* }),*]
    };
}

/// Tests each row, and continues after a failing row.
///
/// # Panics
/// Names the rules of all failing rows. The output above shows the reason for each.
pub fn each_row<R>(rows: impl IntoIterator<Item = R>, rule: impl Fn(&R) -> &str, mut test: impl FnMut(&R)) {
    let mut fails = |row: &R| catch_unwind(AssertUnwindSafe(|| test(row))).is_err();
    let failing: Vec<_> = rows.into_iter().filter(|row| fails(row)).collect();
    assert!(failing.is_empty(), "rows that fail: {:#?}", failing.iter().map(rule).collect::<Vec<_>>());
}
