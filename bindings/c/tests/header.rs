//! The committed header is that of the source.

use expect_test::expect_file;

#[test]
fn the_header_is_that_of_the_source() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let config = cbindgen::Config::from_file(format!("{folder}/cbindgen.toml")).expect("a configuration");
    let bindings = cbindgen::Builder::new().with_src(format!("{folder}/src/border.rs"));
    let bindings =
        bindings.with_src(format!("{folder}/src/registry.rs")).with_src(format!("{folder}/src/calls.rs"));
    let bindings = bindings.with_config(config).generate().expect("the sources are parsed");
    let mut text = Vec::new();
    bindings.write(&mut text);
    expect_file!["../include/atoms.h"].assert_eq(&String::from_utf8(text).expect("text"));
}
