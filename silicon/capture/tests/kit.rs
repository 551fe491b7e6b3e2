//! Tests of the capture kit with the stand-in driver: complete runs, faults, hangs and damaged files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::session::Session;
use atoms_silicon::capture::{Capture, CaptureError, Code, ProgramOutcome};
use atoms_silicon::catalogue;
use atoms_silicon::report::{self, CaptureReport};
use atoms_silicon::supervise::budget;
use atoms_silicon::supervise::supervisor::Supervisor;
use atoms_stimulus::configs;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn kit(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atoms-capture"));
    command
        .current_dir(folder)
        .arg("--driver")
        .arg(atoms_standin::library())
        .args(arguments)
        .env_remove("ATOMS_STANDIN_CC")
        .env_remove("ATOMS_STANDIN_TROUBLE")
        .envs(variables.iter().copied());
    command
}

fn run(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    kit(folder, variables, arguments).output().unwrap()
}

#[track_caller]
fn ended(output: &Output, code: i32) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    assert_eq!(output.status.code(), Some(code), "{text}");
    text
}

fn read(path: &Path) -> Capture {
    Capture::read(fs::File::open(path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn replayed(capture: &Capture) -> CaptureReport {
    let config = configs::named(&rtl_dir(), "default").unwrap();
    let port = || Ok::<_, std::convert::Infallible>(Session::new(ModelMachine::new(config.config), None));
    let mut report = report::judge(capture);
    report.replayed = report::replay(capture, port, |_| {}).ok();
    report
}

/// Filters that select a few programs of each kind.
const FEW: &[&str] = &[
    "--only",
    "order of lanes",
    "--only",
    "sequence 0 of sm_90",
    "--only",
    "ld.u64 throughput",
    "--only",
    "try_wait with",
];

#[test]
#[ignore = "nightly: the model runs the same programs in the quick tier"]
fn every_program_answers_and_the_replay_agrees() {
    let folder = folder("whole");
    let text = ended(&run(&folder, &[], &["--out", "whole.jsonl"]), 0);
    assert!(text.contains("0 skipped, 0 failed, 0 timed out"), "{text}");
    let capture = read(&folder.join("whole.jsonl"));
    assert_eq!(capture.records.len(), catalogue::programs(1).len());
    assert_eq!(capture.end.as_ref().map(|end| end.stopped.clone()), Some(None));
    let report = replayed(&capture);
    assert!(report.agrees(), "{:?} {:?}", report.oracle.findings, report.replayed);
    let compared = report.replayed.as_ref().map_or(0, |r| r.compared);
    assert!(report.oracle.accepted > 10_000 && compared > 8_000, "{} {compared}", report.oracle.accepted);
    assert!(report.answers.len() >= 14, "every question: {:?}", report.answers.len());
    assert!(report.answers.iter().all(|a| !a.answer.is_empty()), "{:?}", report.answers);
    assert!(
        report.timings.len() > 500 && report.fits.len() > 60,
        "{} {}",
        report.timings.len(),
        report.fits.len()
    );
    // The model needs one pass for each lane of a bank.
    let add = report.fits.iter().find(|f| f.of == "atom.add.u32 latency" && f.on == "one bank").unwrap();
    assert!((add.per_lane - 1.0).abs() < 0.01 && add.residual < 0.1, "{add:?}");
    let size = fs::metadata(folder.join("whole.jsonl")).unwrap().len();
    assert!(size < 8 << 20, "{size} bytes are to be carried and committed");
}

#[test]
fn older_and_newer_gpus_skip_by_name_what_is_not_for_them() {
    for (cc, skips) in [("7.5", true), ("8.6", true), ("10.0", false), ("12.0", false)] {
        let folder = folder(&format!("cc{cc}"));
        let output = run(&folder, &[("ATOMS_STANDIN_CC", cc)], &[FEW, &["--out", "c.jsonl"]].concat());
        let text = ended(&output, 0);
        let capture = read(&folder.join("c.jsonl"));
        let skipped = capture.records.iter().filter_map(|r| match &r.outcome {
            ProgramOutcome::Skipped(why) => Some((r, why)),
            _ => None,
        });
        let skipped: Vec<_> = skipped.collect();
        assert_eq!(!skipped.is_empty(), skips, "{cc}: {text}");
        for (record, why) in skipped {
            let named = format!("the program needs sm_{} or later", record.program.since);
            assert!(why.starts_with(&named), "{}: {why}", record.program.name);
        }
        assert!(replayed(&capture).agrees(), "{cc}");
    }
}

#[test]
fn a_flipped_bit_is_refused_with_its_clause() {
    let folder = folder("flip");
    let only = ["--only", "red.add.u32 by a warp", "--out", "f.jsonl"];
    ended(&run(&folder, &[("ATOMS_STANDIN_TROUBLE", "flip=1")], &only), 0);
    let report = replayed(&read(&folder.join("f.jsonl")));
    assert!(!report.agrees());
    let finding = report.oracle.findings.first().expect("the oracle refuses it");
    assert!(finding.refusal.clause.starts_with("spec "), "{finding:?}");
    assert_eq!(report.replayed.map(|r| r.different), Some(1), "our own run differs as well");
}

#[test]
fn a_hang_and_a_fault_cost_their_program_alone() {
    for (trouble, outcome) in [("hang=2", "still running after 1 s"), ("fault=2", "failed")] {
        let folder = folder(trouble);
        let arguments = ["--only", "limit of mbarrier.try_wait", "--launch-seconds", "1", "--out", "t.jsonl"];
        let text = ended(&run(&folder, &[("ATOMS_STANDIN_TROUBLE", trouble)], &arguments), 1);
        assert!(text.contains(outcome), "{text}");
        let capture = read(&folder.join("t.jsonl"));
        // The stand-in counts launches per process. The second program of each process fails: programs 2 and
        // 4.
        let answered = |n: usize| matches!(capture.records[n].outcome, ProgramOutcome::Outputs(_));
        assert_eq!((0..4).map(answered).collect::<Vec<_>>(), [true, false, true, false], "{text}");
        assert!(capture.end.is_some());
    }
}

#[test]
fn a_gpu_that_is_lost_again_and_again_ends_the_run() {
    let folder = folder("lost");
    let arguments = ["--only", "limit of mbarrier.try_wait", "--out", "l.jsonl"];
    let text = ended(&run(&folder, &[("ATOMS_STANDIN_TROUBLE", "fault=1")], &arguments), 2);
    assert!(text.contains("stopped early: 3 programs in a row left the GPU unusable"), "{text}");
    assert_eq!(read(&folder.join("l.jsonl")).records.len(), 3);
}

#[test]
fn what_keeps_a_gpu_from_being_used_is_said_and_no_file_is_left() {
    for (trouble, said) in
        [("no-device", "GPU"), ("exclusive", "not available"), ("prohibited", "not available")]
    {
        let folder = folder(trouble);
        let text = ended(&run(&folder, &[("ATOMS_STANDIN_TROUBLE", trouble)], &["--out", "n.jsonl"]), 2);
        assert!(text.contains(said), "{trouble}: {text}");
        assert!(!folder.join("n.jsonl").exists(), "{trouble}");
    }
    let folder = folder("no driver");
    let mut command = Command::new(env!("CARGO_BIN_EXE_atoms-capture"));
    let output = command.current_dir(&folder).args(["--driver", "no/such/libcuda.so.1"]).output().unwrap();
    assert!(ended(&output, 2).contains("no/such/libcuda.so.1"));
    let text = ended(&run(&folder, &[], &["--device", "3"]), 2);
    assert!(text.contains("there is no device 3; the driver has one, device 0"), "{text}");
}

#[test]
fn an_old_driver_and_little_memory_fail_program_by_program() {
    for (trouble, said) in [("old-driver", "too old for the `.version`"), ("out-of-memory", "out of memory")]
    {
        let folder = folder(trouble);
        let arguments = ["--only", "limit of mbarrier.try_wait", "--out", "o.jsonl"];
        let text = ended(&run(&folder, &[("ATOMS_STANDIN_TROUBLE", trouble)], &arguments), 2);
        assert!(text.contains(said), "{text}");
        assert!(read(&folder.join("o.jsonl")).end.is_some());
    }
    let old = folder_of_old_gpu();
    let names = read(&old.join("g.jsonl")).records;
    assert!(
        names.iter().all(
            |r| matches!(&r.outcome, ProgramOutcome::Skipped(why) if why.ends_with("this GPU is sm_52"))
        )
    );
    // The kit reports the GPU and does not change its MIG mode.
    let folder = folder("mig");
    let only = ["--only", "order of lanes", "--out", "m.jsonl"];
    let text = ended(&run(&folder, &[("ATOMS_STANDIN_TROUBLE", "mig")], &only), 0);
    assert!(text.contains("MIG instance"), "{text}");
    assert!(read(&folder.join("m.jsonl")).header.device.mig);
}

/// Runs the kit on a GPU that is too old for every selected program.
fn folder_of_old_gpu() -> PathBuf {
    let folder = folder("old-gpu");
    let arguments = ["--only", "limit of mbarrier.try_wait", "--out", "g.jsonl"];
    let text = ended(&run(&folder, &[("ATOMS_STANDIN_TROUBLE", "old-gpu")], &arguments), 2);
    assert!(text.contains("0 of 4 programs answered, 4 skipped"), "{text}");
    folder
}

#[test]
fn a_run_takes_no_longer_than_it_may() {
    let folder = folder("time");
    let slow = [("ATOMS_STANDIN_TROUBLE", "slow=2000")];
    let command = || {
        let mut command = kit(&folder, &slow, &["--worker", "2026-01-01T00:00:00Z"]);
        command.args(["--only", "limit of mbarrier.try_wait"]);
        command
    };
    let programs: Vec<_> = catalogue::programs(1)
        .into_iter()
        .filter(|p| p.name.contains("limit of mbarrier.try_wait"))
        .collect();
    let (started, limit) = (Instant::now(), Duration::from_secs(3));
    let supervisor = Supervisor::start(command, Duration::from_secs(20)).unwrap();
    let mut file = Vec::new();
    let (end, tally) = supervisor.capture(&programs, limit, &mut file, |_| {}).unwrap();
    assert!(started.elapsed() < limit + Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(end.stopped.as_deref(), Some("the time limit of 3 s was reached"));
    assert!(
        tally.answered >= 1 && end.records == tally.answered,
        "{tally:?}: the one under way has no record"
    );
    assert_eq!(Capture::read(&file[..]).unwrap().end, Some(end));
}

#[test]
fn a_run_that_is_cut_off_leaves_what_it_has() {
    let folder = folder("cut");
    let slow = [("ATOMS_STANDIN_TROUBLE", "slow=300")];
    let mut child = kit(&folder, &slow, &["--out", "c.jsonl"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let file = folder.join("c.jsonl");
    let started = Instant::now();
    let lines = || fs::read_to_string(&file).map_or(0, |text| text.lines().count());
    while lines() < 4 {
        assert!(started.elapsed() < Duration::from_secs(120), "it writes as it goes");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let capture = read(&file);
    assert!(capture.records.len() >= 2 && capture.end.is_none(), "{} records", capture.records.len());
    assert!(replayed(&capture).agrees());
    // Cut the file in the middle of a line.
    let bytes = fs::read(&file).unwrap();
    let cut = Capture::read(&bytes[..bytes.len() - bytes.len() / 5]).unwrap();
    assert!(!cut.records.is_empty() && cut.end.is_none());
}

#[test]
fn a_file_is_not_overwritten_and_a_damaged_one_is_named() {
    let folder = folder("damaged");
    let only = ["--only", "order of lanes", "--out", "d.jsonl"];
    ended(&run(&folder, &[], &only), 0);
    let text = ended(&run(&folder, &[], &only), 2);
    assert!(text.contains("d.jsonl") && text.contains("--out"), "{text}");
    let whole = fs::read(folder.join("d.jsonl")).unwrap();
    let error = |bytes: &[u8]| Capture::read(bytes).unwrap_err();

    let mut flipped = whole.clone();
    let second = flipped.iter().position(|b| *b == b'\n').unwrap() + 1;
    // Change one letter in the second line.
    flipped[second + 200] ^= 1;
    assert!(matches!(error(&flipped), CaptureError::Damaged { line: 2, .. }), "{}", error(&flipped));
    let twice = [whole.clone(), whole.clone()].concat();
    assert!(matches!(error(&twice), CaptureError::Damaged { line: 5, .. }), "{}", error(&twice));
    let newer =
        String::from_utf8(whole.clone()).unwrap().replacen("\"atoms_capture\":1", "\"atoms_capture\":2", 1);
    assert!(matches!(error(newer.as_bytes()), CaptureError::Newer { found: 2 }));
    for other in [&b""[..], b"{}\n", b"{\"atoms_trace\":1}\n", b"\x7fELF\n"] {
        assert!(matches!(error(other), CaptureError::NoCapture), "{}", error(other));
    }
}

#[test]
fn a_dry_run_lists_every_program_and_keeps_to_the_time() {
    let output = Command::new(env!("CARGO_BIN_EXE_atoms-capture")).arg("--dry-run").output().unwrap();
    let text = ended(&output, 0);
    let programs = catalogue::programs(1);
    for program in &programs {
        assert!(text.contains(&program.name) && text.contains(&program.asks), "{}", program.name);
    }
    let seconds = budget::seconds(&programs);
    assert!(seconds <= 15 * 60, "{seconds} s, and a run is to take 15 minutes at most");
    let text = ended(
        &Command::new(env!("CARGO_BIN_EXE_atoms-capture")).args(["--only", "no such"]).output().unwrap(),
        2,
    );
    assert!(text.contains("--dry-run lists the names"), "{text}");
}

#[test]
fn the_machine_code_is_kept_as_text_where_a_disassembler_is_at_hand() {
    let folder = folder("disassembler");
    let only = ["--only", "order of lanes"];
    let code = |out: &str, path: &Path| {
        let mut command = kit(&folder, &[], &[&only[..], &["--out", out]].concat());
        ended(&command.env("PATH", path).output().unwrap(), 0);
        read(&folder.join(out)).records[0].code.clone()
    };
    assert!(
        matches!(code("without.jsonl", Path::new("/nowhere")), Some(Code::Cubin(bytes)) if !bytes.is_empty())
    );
    let bin = folder.join("bin");
    fs::create_dir(&bin).unwrap();
    let tool = bin.join("nvdisasm");
    // The fake tool prints its first argument and the first line of the file.
    fs::write(&tool, "#!/bin/sh\nread -r line < \"$2\"; echo \"$1 $line\"\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(code("with.jsonl", &bin), Some(Code::Sass(text)) if text.starts_with("-c ")));
    // If the disassembler fails, as an old one does for new code, the kit stores the ELF file.
    fs::write(&tool, "#!/bin/sh\nexit 1\n").unwrap();
    assert!(matches!(code("failing.jsonl", &bin), Some(Code::Cubin(_))));
}
