//! Tables of tests: one test a row, or one test that goes on behind a row that fails.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A test for each row, `NAME` or `NAME(ARGUMENTS)`, which calls `$run` with the row's name and its arguments. After
/// `mod`: a module for them. After `all`: a list of names, of which each must have its row, in the same order.
#[macro_export]
macro_rules! test_each {
    (mod $module:ident: $($rows:tt)*) => {
        mod $module {
            use super::*;

            $crate::test_each! { $($rows)* }
        }
    };
    (all $all:expr => $run:path; $($name:ident $(($($argument:expr),*))?)*) => {
        $crate::test_each! { $run; $($name $(($($argument),*))?)* }

        #[test]
        fn every_row_is_tested() {
            assert_eq!($all, [$(stringify!($name)),*], "names that there are, and those that have a test");
        }
    };
    ($run:path; $($name:ident $(($($argument:expr),*))?)*) => {
        $(
            #[test]
            fn $name() {
                $run(stringify!($name) $($(, $argument)*)?);
            }
        )*
    };
}

/// A test for each named configuration, in a module `$module`, which calls `$run` with its name.
#[macro_export]
macro_rules! test_each_configuration {
    ($module:ident: $run:path) => {
        $crate::test_each! {
            mod $module: all $crate::config_names() => $run;
            default tiny small hold deep short rotating highest merging hashed wide half narrow huge
        }
    };
}

/// Rows of a table, `(VALUE, ...)` each, as structs: `rows! { TYPE { FIELD, ... } ROWS }` names the columns.
#[macro_export]
macro_rules! rows {
    (@one $row:ident { $($field:ident),* } $($value:expr),*) => {
        $row { $($field: $value),* }
    };
    ($row:ident $fields:tt $(($($value:expr),* $(,)?)),* $(,)?) => {
        &[$($crate::rows! { @one $row $fields $($value),* }),*]
    };
}

/// Tests each row, those after one that fails too.
///
/// # Panics
/// With the rules of the rows that fail; what is wrong with each is printed as it fails.
pub fn each_row<R>(rows: impl IntoIterator<Item = R>, rule: impl Fn(&R) -> &str, mut test: impl FnMut(&R)) {
    let mut fails = |row: &R| catch_unwind(AssertUnwindSafe(|| test(row))).is_err();
    let failing: Vec<_> = rows.into_iter().filter(|row| fails(row)).collect();
    assert!(failing.is_empty(), "rows that fail: {:#?}", failing.iter().map(rule).collect::<Vec<_>>());
}
