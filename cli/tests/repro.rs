//! `atoms repro`: choice of the RTL, and bundles of bugs that end the process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use atoms_cosim::case::trials::Effort;
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::rtl;
use atoms_coverage::episode::Episode;
use atoms_regress::triage::bundle::{BundleContext, Original, bundle};
use atoms_regress::triage::death::Death;
use atoms_regress::triage::test_failure::{FailedRun, TestFailure};
use atoms_stimulus::configs;
use atoms_verilated::{Environment, Variant};

fn repro(args: &[&str]) -> (Output, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_atoms")).arg("repro").args(args).output().expect("atoms starts");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output, text)
}

/// Writes a copy of the RTL whose simulation aborts when it accepts a warp request.
fn aborting() -> PathBuf {
    let folder = Environment::from_process().target.join("planted").join("abort");
    fs::create_dir_all(&folder).expect("a folder");
    let from = rtl_dir();
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

fn crashed(rtl_dir: &Path, name: &str) -> PathBuf {
    let named = configs::named(&atoms_cosim::embedded::rtl_dir(), "tiny").expect("a configuration");
    let library = rtl::library(rtl_dir, &named, Variant::Fast, &mut |_| {}).expect("it builds");
    let episode = Episode {
        config: "tiny".into(),
        profile: atoms_stimulus::Profile::default(),
        seed: 1,
        requests: 20,
        towards: None,
    };
    let context = BundleContext {
        test: "random/tiny/0",
        index: 0,
        seed: 1,
        config: &named,
        rtl_dir,
        library: &library,
        original: Original::Episode(&episode),
        effort: Effort::default(),
        causes: false,
    };
    let died = TestFailure::Died { death: Death::Signal(6), beside_others: false };
    let failed = FailedRun::new(died, "random", 0);
    let parent = Environment::from_process().target.join("bundles").join(name);
    let _ = fs::remove_dir_all(&parent);
    let info = bundle(&context, &failed, &parent).expect("the bundle is written");
    let name = info.bundle.as_deref().and_then(|bundle| Path::new(bundle).file_name()).expect("a bundle");
    parent.join(name)
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

/// RTL equal to that of the checkout runs. Other RTL needs `--trust`. Without it the checkout's RTL runs, the
/// output reports this, and the status is 2.
#[test]
fn altered_rtl_of_a_bundle_needs_trust() {
    let place = crashed(&rtl_dir(), "altered");
    let folder = place.display().to_string();
    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("the same in the bundle and in this checkout") && text.contains("agree"), "{text}");
    let (output, text) = repro(&[&folder, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(
        (&json(&text)["bundle_rtl_ran"], json(&text)["found"].is_null()),
        (&true.into(), true),
        "{text}"
    );

    // Every difference counts. This RTL does not even build.
    let path = place.join("rtl/atoms_unit.sv");
    let source = fs::read_to_string(&path).expect("a source");
    fs::write(&path, format!("{source}\nnot SystemVerilog\n")).expect("writes");
    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("not run    the RTL of the bundle") && text.contains("--trust runs it"), "{text}");
    assert!(text.contains("rtl        that of this checkout") && text.contains("agree"), "{text}");
    let (output, text) = repro(&[&folder, "--json"]);
    assert_eq!((output.status.code(), &json(&text)["bundle_rtl_ran"]), (Some(2), &false.into()), "{text}");
    let (output, text) = repro(&[&folder, "--here"]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("the bundle has different RTL") && !text.contains("not run"), "{text}");
    let (output, text) = repro(&[&folder, "--trust"]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("rtl        that of the bundle") && text.contains("atoms_unit.sv"), "{text}");

    let wave = place.with_file_name("at.vcd").display().to_string();
    let at = ["wave", "at", &folder, "--cycle", "0", "--window", "8", "--output", &wave];
    for (arguments, said) in [
        (&at[..], "not run    the RTL of the bundle"),
        (&[&at[..], &["--json"]].concat()[..], "\"bundle_rtl_ran\":false"),
    ] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_atoms")).args(arguments).output().expect("atoms starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text.contains(said), "{output:?}");
    }
}

#[test]
#[ignore = "nightly: builds RTL with a bug of its own"]
fn a_crash_is_repeated_in_a_process_of_its_own() {
    let folder = crashed(&aborting(), "crash");
    assert!(!folder.join("case.json").exists() && !folder.join("wave.vcd").exists());
    let report = fs::read_to_string(folder.join("report.txt")).expect("a report");
    assert!(report.contains("only the full run shows the failure"), "{report}");
    let folder = folder.display().to_string();

    let (output, text) = repro(&[&folder, "--trust"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("crash signal 6") && text.contains("found      the same"), "{text}");
    let (output, text) = repro(&[&folder, "--trust", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("\"bundle_rtl_ran\":true"), "{text}");
    let signature = serde_json::json!({ "kind": "crash", "what": "signal 6" });
    assert_eq!(json(&text)["found"]["signature"], signature, "{text}");
    // Without `--trust`, the bundle's RTL does not run, so nothing crashes.
    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("--trust runs it") && text.contains("agree"), "{text}");
    nothing_outside_is_read(Path::new(&folder));
    let (output, text) = repro(&[&folder, "--here"]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("the bundle has different RTL") && text.contains("agree"), "{text}");

    let (output, text) = repro(&["no-such-bundle"]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("`no-such-bundle` is not a folder"), "{text}");
    let record = Path::new(&folder).join("bundle.json");
    let whole = fs::read_to_string(&record).expect("a record");
    assert!(whole.contains("\"cycle\": 0"), "{whole}");
    fs::write(&record, whole.replace("\"cycle\": 0", "\"cycle\": 7")).expect("writes");
    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("its checksum does not match"), "{text}");
    fs::write(&record, whole).expect("writes");
    let original = Path::new(&folder).join("original.json");
    let run = fs::read_to_string(&original).expect("a run");
    fs::write(&original, run.replace("\"requests\": 20", "\"requests\": 21")).expect("writes");
    let (_, text) = repro(&[&folder, "--here"]);
    assert!(text.contains("changed    original.json was changed after the failure"), "{text}");
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

/// A replay reads no file outside the bundle.
fn nothing_outside_is_read(bundle: &Path) {
    let place = bundle.with_file_name("changed $(touch substituted)");
    let copy = || {
        let _ = fs::remove_dir_all(&place);
        copy_folder(bundle, &place);
    };
    let folder = place.display().to_string();
    for (name, said) in [
        ("../../../x.sv", "with files outside of the bundle"),
        ("/etc/passwd", "with files outside of the bundle"),
        ("-f", "rtl/-f`"),
        ("+incdir+/etc", "rtl/+incdir+/etc`"),
    ] {
        copy();
        let list = place.join("rtl/atoms.f");
        let text = fs::read_to_string(&list).expect("a list");
        fs::write(&list, format!("{text}{name}\n")).expect("writes");
        let (output, text) = repro(&[&folder]);
        assert_eq!(output.status.code(), Some(2), "{name}: {text}");
        assert!(text.contains(said), "{name}: {text}");
    }
    // A link out of the bundle is refused, also with `--trust`.
    copy();
    let link = place.join("rtl/atoms_alu.sv");
    fs::remove_file(&link).expect("it is there");
    std::os::unix::fs::symlink("/etc/passwd", &link).expect("a link");
    for arguments in [&[folder.as_str()][..], &[&folder, "--trust"], &[&folder, "--here"]] {
        let (output, text) = repro(arguments);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("atoms_alu.sv") && text.contains("a bundle has no links"), "{text}");
    }
    // A file that is too large for memory is refused before reading.
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
