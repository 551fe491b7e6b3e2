//! Recorded traces and kernels as workloads.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_explore::measure::{
    Behind, Judging, Measurement, Trial, TrialError, TrialLimits, estimate, measure,
};
use atoms_isa::Program;
use atoms_sm::Launch;
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_stimulus::{Faults, Profile, RandomStimulus, Share};
use atoms_workload::{Gaps, KernelUnit, KernelWorkload, Replay, Workload};

fn config(name: &str) -> NamedConfig {
    configs::named(&rtl_dir(), name).expect("a configuration of this name")
}

fn measured(config: &str, workload: &Workload) -> Result<Measurement, TrialError> {
    let limits = TrialLimits { cycles: 1_000_000, ..TrialLimits::default() };
    let config = self::config(config);
    let trial = Trial { config: &config, workload, seed: 1, limits };
    let found = measure(&trial, Behind::Model, Judging::Yes, ()).0;
    if let (Ok(found), Ok(estimated)) = (&found, estimate(&trial)) {
        assert_eq!(Measurement { judged: 0, ..*found }, estimated);
    }
    found
}

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no other thread").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn recording(config: &NamedConfig) -> (String, u64) {
    let profile = Profile {
        reset: Share::NEVER,
        table: Share::NEVER,
        faults: Faults { slot: Share::NEVER, ..Faults::default() },
        ..Profile::default()
    };
    let text = Text::default();
    let mut scoreboard = Scoreboard::new(&config.config, &[]);
    scoreboard.record(Box::new(text.clone())).expect("it can be written");
    let mut session = Session::new(ModelMachine::new(config.config), Some(scoreboard));
    let mut stimulus = RandomStimulus::new(config.config, &profile, 4, 2000);
    let tally = session.run(&mut stimulus, u64::MAX, |_| {}).expect("the model is right");
    session.finish_recording().expect("it can be written");
    let text = String::from_utf8(text.0.lock().expect("no other thread").clone()).expect("text");
    (text, tally.cycles)
}

fn trace(text: &str, gaps: Gaps) -> Workload {
    let replay = Replay::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    Workload::Trace { name: "trace".into(), hash: String::new(), replay: replay.into(), gaps }
}

#[test]
fn a_recording_is_offered_again() {
    for name in ["default", "small", "all_options"] {
        let config = config(name);
        let (text, cycles) = recording(&config);
        let replay = Replay::read(text.as_bytes()).expect("a trace");
        assert!(replay.has_gaps(), "our own recordings say when requests were accepted");
        let [dense, open] = [Gaps::None, Gaps::Recorded].map(|gaps| {
            measured(name, &trace(&text, gaps)).unwrap_or_else(|error| panic!("{name}: {error}"))
        });
        for found in [dense, open] {
            assert_eq!(found.requests, replay.requests(), "{name}");
            assert!(found.judged >= 2000, "{name}: {found:?}");
        }
        // The replay is faster than the recording: it takes answers immediately, and it offers a CTA table
        // write when the recording accepted it.
        assert!(dense.cycles < cycles && dense.cycles < open.cycles, "{name}: {dense:?}, {open:?}, {cycles}");
        assert!(open.cycles.abs_diff(cycles) < cycles / 10, "{name}: {open:?}, {cycles}");
    }
}

#[test]
fn what_cannot_be_replayed_is_said_with_its_line() {
    const HEADER: &str = r#"{"atoms_trace":1,"lanes":32,"banks":32,"rows":64}"#;
    const ALLOCATION: &str = r#"{"allocation":{"slot":0,"base_row":0,"size_bytes":4096}}"#;
    const LOAD: &str = r#"{"request":{"op":"LDS","size":"u32","mask":1},"response":{}}"#;
    #[rustfmt::skip]
    let cases = [
        (Gaps::Recorded, "default", vec![ALLOCATION, LOAD], "line 3 of the trace: the request has no cycle `accepted`; replay the trace without gaps"),
        (Gaps::None, "default", vec![ALLOCATION, LOAD, r#"{"init":[[0,1]]}"#], "line 4 of the trace: memory that is set from outside after the first request cannot be replayed"),
        (Gaps::None, "default", vec![ALLOCATION, r#"{"reset":[]}"#], "line 3 of the trace: a reset cannot be replayed: which requests it dropped depends on the unit"),
        (Gaps::None, "small",   vec![ALLOCATION, LOAD], "the trace has warps of 32 lanes, but the unit has 4 lanes"),
        (Gaps::None, "default", vec![r#"{"allocation":{"slot":16,"base_row":0,"size_bytes":4}}"#], "line 2 of the trace: the CTA slot is above 15, the highest slot of any unit"),
        (Gaps::None, "default", vec![r#"{"allocation":{"slot":0,"base_row":383,"size_bytes":132}}"#], "line 2 of the trace: the allocation ends at byte 49156, but the unit has 49152 bytes"),
        (Gaps::None, "wide",    vec![r#"{"allocation":{"slot":0,"base_row":2,"size_bytes":132}}"#], "the trace was recorded with 32 banks, but the unit has 64: all allocations must start at row 0"),
        (Gaps::None, "default", vec![ALLOCATION, r#"{"request":{"op":"LDS","size":"u32","mask":1},"response":{"fault":"misaligned address"}}"#], "a request ended with `none` at 0x0, in cycle 8, and with `misaligned address` in the recording"),
    ];
    for (gaps, config, lines, message) in cases {
        let text = format!("{HEADER}\n{}\n", lines.join("\n"));
        let said = match Replay::read(text.as_bytes()) {
            Err(error) => error.to_string(),
            Ok(replay) => {
                let replay = replay.into();
                let workload = Workload::Trace { name: "t".into(), hash: String::new(), replay, gaps };
                measured(config, &workload).expect_err(message).to_string()
            }
        };
        assert_eq!(said, message);
    }
    let replay = |lines: &[&str]| {
        measured("default", &trace(&format!("{HEADER}\n{}\n", lines.join("\n")), Gaps::None))
    };
    let found = replay(&[ALLOCATION, r#"{"init":[[0,7]]}"#, LOAD, LOAD]);
    assert_eq!(found.expect("it is whole").units, 2, "memory may be set before the first request");
}

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("tests").join("kernels")
}

fn kernel(listing: &str, launch: &str, unit: KernelUnit) -> Workload {
    let text = std::fs::read_to_string(kernels().join(listing)).expect("a listing");
    let launch = Launch::from_file(&kernels().join(launch)).expect("a launch file");
    let program = Program::read(listing, &text, launch.arch).expect("it can be read");
    let kernel = launch.kernel(&program).expect("it is there").clone();
    Workload::Kernel(Box::new(KernelWorkload::new(kernel, launch, unit, [&text, ""])))
}

#[test]
fn a_kernel_says_its_units_of_work() {
    let run = |unit: &str| {
        let unit = if unit.is_empty() { KernelUnit::Request } else { unit.parse().expect("units") };
        measured("default", &kernel("hist_u32.sm_90a.sass", "hist_u32.launch.toml", unit))
            .expect("it is right")
    };
    let found = run("");
    assert!(found.checked && found.requests == 189 && found.units == 189, "{found:?}");
    assert_eq!(run("5000").units, 5000);
    assert_eq!(run("3/thread").units, 3 * 512);
    let spins =
        measured("default", &kernel("accum_f32.sm_90a.sass", "accum_f32.launch.toml", KernelUnit::Request));
    let spins = spins.expect("it is right");
    assert!(
        spins.retries > 0 && spins.retries_per_success().is_some_and(|retries| retries > 0.0),
        "{spins:?}"
    );
    for text in ["", "0", "x", "3/warp", "-1", "0/thread"] {
        let error = text.parse::<KernelUnit>().expect_err(text);
        assert!(error.contains("such as 5000"), "{error}");
    }
}

/// Lanes of one warp that block each other, on an architecture that runs them in lockstep.
#[test]
fn a_kernel_that_hangs_is_a_finding() {
    let program = "../../cli/tests/cmd/lane_lock.sm_52.sass";
    let error = measured("default", &kernel(program, "lane_lock.launch.toml", KernelUnit::Request));
    let error = error.expect_err("no lane can go on");
    assert!(error.is_finding() && error.to_string().contains("every thread waits"), "{error}");
}

#[test]
fn a_kernel_with_another_result_is_an_error_of_the_point() {
    let Workload::Kernel(mut workload) =
        kernel("hist_u32.sm_90a.sass", "hist_u32.launch.toml", KernelUnit::Request)
    else {
        unreachable!("it is a kernel")
    };
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("cli").join("tests/cmd/wrong_expectation.toml");
    workload.launch = Launch::from_file(&path).expect("a launch file");
    let error = measured("default", &Workload::Kernel(workload)).expect_err("another is expected");
    assert!(matches!(&error, TrialError::Wrong(why) if why.contains("buffer ")), "{error}");
}
