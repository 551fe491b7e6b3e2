//! `atoms repro`, with the bundle of a bug that ends the process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use atoms_cosim::trials::Effort;
use atoms_cosim::{configs, rtl};
use atoms_coverage::episode::Episode;
use atoms_regress::triage::bundle::{BundleContext, Original, bundle};
use atoms_regress::triage::death::Death;
use atoms_regress::triage::test_failure::{FailedRun, TestFailure};
use atoms_verilated::{Environment, Variant};

fn repro(args: &[&str]) -> (Output, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_atoms")).arg("repro").args(args).output().expect("atoms starts");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output, text)
}

/// A copy of the RTL whose simulation aborts as soon as a warp request is taken.
fn aborting() -> PathBuf {
    let folder = Environment::from_process().target.join("planted").join("abort");
    fs::create_dir_all(&folder).expect("a folder");
    let from = configs::rtl_dir();
    for file in rtl::sources(&from).expect("the sources") {
        fs::copy(from.join(&file), folder.join(&file)).expect("copies");
    }
    let path = folder.join("atoms_unit.sv");
    let text = fs::read_to_string(&path).expect("a source");
    let end = "endmodule : atoms_unit";
    assert_eq!(text.matches(end).count(), 1);
    let abort =
        "  always_ff @(posedge clk_i) if (rst_ni && req_valid_i && req_ready_o) $c(\"std::abort();\");\n";
    fs::write(&path, text.replace(end, &format!("{abort}{end}"))).expect("writes");
    folder
}

#[test]
#[ignore = "nightly: builds RTL with a bug of its own"]
fn a_crash_is_repeated_in_a_process_of_its_own() {
    let rtl_dir = aborting();
    let named = configs::named(&configs::rtl_dir(), "small").expect("a configuration");
    let library = rtl::library(&rtl_dir, &named, Variant::Fast, &mut |_| {}).expect("it builds");
    let episode = Episode {
        config: "small".into(),
        profile: atoms_cosim::stimulus::Profile::default(),
        seed: 1,
        requests: 20,
        towards: None,
    };
    let context = BundleContext {
        test: "random/small/0",
        index: 0,
        seed: 1,
        config: &named,
        rtl_dir: &rtl_dir,
        library: &library,
        original: Original::Episode(&episode),
        effort: Effort::default(),
        causes: false,
    };
    let died = TestFailure::Died { death: Death::Signal(6), beside_others: false };
    let failed = FailedRun::new(died, "random", 0);
    let parent = Environment::from_process().target.join("bundles").join("crash");
    let _ = fs::remove_dir_all(&parent);
    let info = bundle(&context, &failed, &parent).expect("the bundle is written");
    let name = info.bundle.as_deref().and_then(|bundle| Path::new(bundle).file_name()).expect("a bundle");
    let folder = parent.join(name);
    assert!(!folder.join("case.json").exists() && !folder.join("wave.vcd").exists());
    let report = fs::read_to_string(folder.join("report.txt")).expect("a report");
    assert!(report.contains("only the run itself can show it"), "{report}");
    let folder = folder.display().to_string();

    let (output, text) = repro(&[&folder, "--trust"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("crash signal 6") && text.contains("found      the same"), "{text}");
    nothing_is_executed_unasked(Path::new(&folder));
    let (output, text) = repro(&[&folder, "--here"]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("the bundle has another one") && text.contains("agree"), "{text}");

    let (output, text) = repro(&["no-such-bundle"]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("`no-such-bundle` is no folder"), "{text}");
    // A changed digit is seen.
    let record = Path::new(&folder).join("bundle.json");
    let whole = fs::read_to_string(&record).expect("a record");
    assert!(whole.contains("\"cycle\": 0"), "{whole}");
    fs::write(&record, whole.replace("\"cycle\": 0", "\"cycle\": 7")).expect("writes");
    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("its checksum is another"), "{text}");
    fs::write(&record, whole).expect("writes");
    let original = Path::new(&folder).join("original.json");
    let run = fs::read_to_string(&original).expect("a run");
    fs::write(&original, run.replace("\"requests\": 20", "\"requests\": 21")).expect("writes");
    let (_, text) = repro(&[&folder, "--here"]);
    assert!(text.contains("changed    original.json is no longer that of the failure"), "{text}");
    let whole = fs::read_to_string(&record).expect("a record");
    fs::write(&record, &whole[..whole.len() / 2]).expect("writes");
    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("cut short"), "{text}");
    fs::remove_file(&record).expect("removes");
    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("failed to open") && text.contains("bundle.json"), "{text}");
}

/// The RTL of a bundle is not run, and nothing outside of the bundle is read, unless that is asked for: each way to
/// more than simulation is named, with its file and line, and the checkout's RTL is run in its place.
fn nothing_is_executed_unasked(bundle: &Path) {
    let place = bundle.with_file_name("changed $(touch substituted)");
    let marker = place.with_file_name("executed");
    let _ = fs::remove_file(&marker);
    let copy = || {
        let _ = fs::remove_dir_all(&place);
        copy_folder(bundle, &place);
        // What the crash is about is such a way itself.
        let unit = place.join("rtl/atoms_unit.sv");
        let text = fs::read_to_string(&unit).expect("a source");
        let lines = text.lines().filter(|line| !line.contains("$c("));
        fs::write(&unit, lines.map(|line| format!("{line}\n")).collect::<String>()).expect("writes");
    };
    let folder = place.display().to_string();
    let touch = format!("touch {}", marker.display());
    let rows = [
        ("atoms_alu.sv", format!("module a; initial $c(\"system(\\\"{touch}\\\");\"); endmodule"), "`$c`"),
        ("atoms_alu.sv", format!("module a; initial $system(\"{touch}\"); endmodule"), "`$system`"),
        (
            "atoms_alu.sv",
            format!(
                "import \"DPI-C\" function int system(input string s);\nmodule a; int x = system(\"{touch}\"); endmodule"
            ),
            "`import` of something else than a package",
        ),
        (
            "atoms_alu.sv",
            format!("module a; int f = $fopen(\"{}\", \"w\"); endmodule", marker.display()),
            "`$fopen`",
        ),
        (
            "atoms_alu.sv",
            format!("module a; initial $dumpfile(\"{}\"); endmodule", marker.display()),
            "`$dumpfile`",
        ),
        (
            "atoms_alu.sv",
            format!("`systemc_header\nstatic int x = system(\"{touch}\");\n`verilog"),
            "the directive `systemc_header`",
        ),
        ("atoms_alu.sv", "`include \"/etc/passwd\"".to_string(), "`include \"/etc/passwd\""),
        ("atoms_assert.svh", format!("`define ATOMS_X(A) $``A(\"system(\\\"{touch}\\\");\")"), "`$`"),
        ("atoms_alu.sv", "/*verilator public*/".to_string(), "a comment to the tool verilator: `public`"),
        ("atoms.f", "../../../x.sv".to_string(), "`../../../x.sv` is not the name of a source"),
        ("atoms.f", "-f".to_string(), "`-f` is not the name of a source"),
        ("atoms.f", "+incdir+/etc".to_string(), "`+incdir+/etc` is not the name of a source"),
        ("atoms.f", "/etc/passwd".to_string(), "`/etc/passwd` is not the name of a source"),
    ];
    for (file, addition, expected) in rows {
        copy();
        let path = place.join("rtl").join(file);
        let text = fs::read_to_string(&path).expect("a source");
        let line = text.lines().count() + 1;
        fs::write(&path, format!("{text}{addition}\n")).expect("writes");
        let (output, text) = repro(&[&folder]);
        assert_eq!(output.status.code(), Some(0), "{addition}: {text}");
        assert!(text.contains(&format!("rtl/{file}:{line}: {expected}")), "{addition}: {text}");
        assert!(text.contains("--trust runs it") && text.contains("in its place"), "{addition}: {text}");
        assert!(!marker.exists(), "{addition}");
    }
    // What leads out of a bundle is refused, trusted or not.
    copy();
    let link = place.join("rtl/atoms_alu.sv");
    fs::remove_file(&link).expect("it is there");
    std::os::unix::fs::symlink("/etc/passwd", &link).expect("a link");
    for arguments in [&[folder.as_str()][..], &[&folder, "--trust"], &[&folder, "--here"]] {
        let (output, text) = repro(arguments);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("atoms_alu.sv") && text.contains("a bundle has no links"), "{text}");
    }
    // A file that would not fit into memory is refused, not read.
    for name in ["original.json", "kernel/in.bin"] {
        copy();
        let path = place.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let file =
            fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path).expect("a file");
        file.set_len(5 << 30).expect("a sparse file");
        let (output, text) = repro(&[&folder]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(name) && text.contains("MiB, the most that such a file"), "{text}");
    }
    copy();
    let kernel = |listing: &str| {
        format!("{{\"kind\": \"kernel\", \"listing\": \"{listing}\", \"launch\": \"x.toml\"}}")
    };
    for listing in ["/etc/passwd", "../../x.sass"] {
        fs::write(place.join("original.json"), kernel(listing)).expect("writes");
        let (output, text) = repro(&[&folder, "--here"]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(&format!("it names `{listing}`, which lies outside of the bundle")), "{text}");
    }
    let here = std::env::current_dir().expect("a folder");
    assert!(!here.join("substituted").exists() && !place.with_file_name("substituted").exists());
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let place = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_folder(&path, &place);
        } else {
            fs::copy(&path, &place).expect("a copy");
        }
    }
}
