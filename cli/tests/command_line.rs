//! Tests stdout, stderr and exit status of commands against the files in `cmd/`.
//!
//! `TRYCMD=overwrite cargo test -p atoms-cli command_line::` rewrites the files. Read the difference before
//! committing it.

#[test]
fn commands_print_what_they_should() {
    // Builds the RTL first, because the output of the first build is not part of the tests.
    for name in ["default", "small", "tiny", "small,num_banks=8,winner_policy=rotating"] {
        let built = std::process::Command::new(env!("CARGO_BIN_EXE_atoms"))
            .args(["rtl", "build", "--config", name])
            .output()
            .expect("atoms can be started");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }
    trycmd::TestCases::new().default_bin_path(env!("CARGO_BIN_EXE_atoms")).case("tests/cmd/*.trycmd");
}

/// PTX is recognized by its content, for any file name. For a file without extension, `atoms run` reports the
/// same races, and `atoms bench` can measure the kernel.
#[test]
fn ptx_needs_no_ending() {
    let plain = std::env::temp_dir().join(format!("atoms-racy-{}", std::process::id()));
    std::fs::copy("tests/cmd/racy.ptx", &plain).expect("it can be copied");
    let atoms = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_atoms"));
        command.args(args).output().expect("atoms can be started")
    };
    let check = |file: &str| {
        atoms(&["run", file, "--launch", "tests/cmd/racy.toml", "--on", "model", "--check", "scopes"])
    };
    let file = plain.to_str().expect("a plain name");
    let (named, unnamed) = (check("tests/cmd/racy.ptx"), check(file));
    let measured = atoms(&[
        "bench",
        "--kernel",
        file,
        "--launch",
        "tests/cmd/racy.toml",
        "--rounds",
        "1",
        "--seconds",
        "0.001",
    ]);
    std::fs::remove_file(&plain).expect("it is there");
    assert_eq!(named.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&unnamed.stderr), String::from_utf8_lossy(&named.stderr));
    assert!(measured.status.success(), "{}", String::from_utf8_lossy(&measured.stderr));
}

/// Every figure of waves is measured. The files are complete, and the comparison reads them back.
#[test]
#[ignore = "nightly: writes and reads large waves"]
fn waves_are_measured() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_atoms"))
        .args(["bench", "--waves", "--config", "tiny", "--rounds", "1", "--seconds", "0.01", "--json"])
        .output()
        .expect("atoms can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let list = |what: &str| report[what].as_array().expect("a list").clone();
    let mut all: Vec<_> = list("figures").iter().map(|figure| figure["rounds"][0].clone()).collect();
    let ratios = list("ratios");
    assert_eq!((all.len(), ratios.len()), (12, 6), "{report}");
    all.extend(ratios.iter().map(|ratio| ratio["median"].clone()));
    assert!(all.iter().all(|value| value.as_f64().is_some_and(|value| value > 0.0)), "{report}");
}

/// Without the tools, `atoms explore cost` names the tool, its package, and the option that needs no tools.
#[test]
fn cost_without_tools_says_what_to_install() {
    let cost = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_atoms"));
        command.args(["explore", "cost", "--config", "tiny"]).args(arguments).env("PATH", "/nowhere");
        command.env_remove("ATOMS_STA").env_remove("ATOMS_LIBERTY").output().expect("atoms can be started")
    };
    let output = cost(&[]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    for told in ["no OpenSTA found", "apt-get install opensta", "ATOMS_STA", "--fitted"] {
        assert!(text.contains(told), "no `{told}`: {text}");
    }
    let output = cost(&["--fitted", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let modules = value["modules"].as_array().expect("rows");
    assert!(modules.iter().any(|row| row["module"] == "atoms_alu"), "{value}");
    let sum: f64 = modules.iter().filter_map(|row| row["area"].as_f64()).sum();
    assert!(sum > 0.0 && (sum / value["area"].as_f64().expect("a sum") - 1.0).abs() < 1e-9, "{value}");
    assert!(value["path"]["mhz"].as_f64().is_some_and(|mhz| mhz > 0.0), "{value}");
    let text = cost(&["--fitted"]).stdout;
    for line in String::from_utf8_lossy(&text).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Calibration with the capture of the stand-in returns the constants of the unit: 6 cycles per request and 1
/// per pass.
#[test]
fn constants_of_a_capture_are_those_of_what_answered() {
    let atoms = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_atoms")).args(arguments).output();
        let output = output.expect("atoms starts");
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {words}");
        String::from_utf8(output.stdout).expect("it is text")
    };
    let csv = atoms(&["silicon", "profile", "../silicon/captures/standin/capture.jsonl.gz", "--csv"]);
    let file = std::env::temp_dir().join(format!("atoms-measured-{}.csv", std::process::id()));
    std::fs::write(&file, csv).expect("a file");
    let found = atoms(&["explore", "calibrate", file.to_str().expect("a name"), "--json"]);
    std::fs::remove_file(&file).expect("it was written");
    let found: serde_json::Value = serde_json::from_str(&found).expect("it is JSON");
    let constants = found["calibrations"][0]["constants"].as_array().expect("a list");
    let constants: Vec<_> = constants
        .iter()
        .map(|one| (one["constant"].as_str().expect("a name"), one["value"].as_f64().expect("a number")))
        .map(|(name, value)| (name, (1e6 * value).round() / 1e6))
        .collect();
    assert_eq!(constants, [("atom", 6.0), ("pass", 1.0)]);
}

/// Counting the changes of a wave runs in optimized code, although this test binary is not optimized.
#[test]
fn a_wave_is_counted_as_fast_as_it_is_read() {
    let mut text = "$timescale 1 ns $end $var wire 1 ! a $end $enddefinitions $end\n".to_owned();
    for time in 0..1_000_000 {
        text += &format!("#{time}\n{}!\n", time % 2);
    }
    let path = std::env::temp_dir().join(format!("atoms-counted-{}.vcd", std::process::id()));
    std::fs::write(&path, text).expect("it can be written");
    let mut best = [f64::MAX; 2];
    for _ in 0..5 {
        let start = std::time::Instant::now();
        let file = atoms_wave_view::WaveFile::open(&path).expect("a wave");
        assert_eq!(file.count_changes().expect("it is well-formed").0, 1_000_000);
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let start = std::time::Instant::now();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_atoms"));
        let output = command.arg("wave").arg("info").arg(&path).output().expect("atoms can be started");
        best[1] = best[1].min(start.elapsed().as_secs_f64());
        assert!(String::from_utf8_lossy(&output.stdout).contains("changes    1,000,000"));
    }
    std::fs::remove_file(&path).expect("it is there");
    assert!(best[1] < 2.5 * best[0], "counting takes {:.2} s, reading {:.2} s", best[1], best[0]);
}
