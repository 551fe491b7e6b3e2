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

/// Whoever reads the output may stop, as `head` does: no backtrace, and the exit status of SIGPIPE.
#[test]
fn a_reader_that_stops_is_no_failure() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_atoms"))
        .args(["cosim", "--on", "model", "--requests", "20000"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("atoms can be started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(128 + 13));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
