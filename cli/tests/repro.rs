//! `atoms repro`, with the bundle of a bug that ends the process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use atoms_cosim::{configs, rtl};
use atoms_regress::episode::Episode;
use atoms_regress::failure::bucket::{Finding, Key};
use atoms_regress::failure::bundle::{BundleContext, Original, bundle};
use atoms_regress::failure::small::Effort;
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
    };
    let text = "the process that ran it ended with signal 6".to_string();
    let finding = Finding { key: Key::crash(Some(6)), text, cycle: 0 };
    let parent = Environment::from_process().target.join("bundles").join("crash");
    let _ = fs::remove_dir_all(&parent);
    let info = bundle(&context, &finding, None, &parent).expect("the bundle is written");
    let folder = parent.join(&info.folder);
    assert!(!folder.join("case.json").exists() && !folder.join("wave.vcd").exists());
    let report = fs::read_to_string(folder.join("report.txt")).expect("a report");
    assert!(report.contains("only the run itself can show it"), "{report}");
    let folder = folder.display().to_string();

    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("crash signal 6") && text.contains("found      the same"), "{text}");
    let (output, text) = repro(&[&folder, "--here"]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("the bundle has another one") && text.contains("agree"), "{text}");

    let (output, text) = repro(&["no-such-bundle"]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("`no-such-bundle` is no folder"), "{text}");
    let record = Path::new(&folder).join("bundle.json");
    let whole = fs::read_to_string(&record).expect("a record");
    fs::write(&record, &whole[..whole.len() / 2]).expect("writes");
    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("cut short"), "{text}");
    fs::remove_file(&record).expect("removes");
    let (output, text) = repro(&[&folder]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("cannot read") && text.contains("bundle.json"), "{text}");
}
