//! The command line as a user sees it: stdout, stderr and exit status, against the files in `cmd/`.
//!
//! `TRYCMD=overwrite cargo test -p atoms-cli --test command_line` writes them anew; read the
//! difference before committing it.

#[test]
fn commands_print_what_they_should() {
    // What the first build of the RTL says on its way is not what is tested here.
    for name in ["default", "small", "tiny"] {
        let built = std::process::Command::new(env!("CARGO_BIN_EXE_atoms"))
            .args(["rtl", "build", "--config", name])
            .output()
            .expect("atoms can be started");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }
    trycmd::TestCases::new().default_bin_path(env!("CARGO_BIN_EXE_atoms")).case("tests/cmd/*.trycmd");
}
