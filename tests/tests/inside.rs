//! Internal signals of RTL and model in waves, and the search for the first register that differs.

use std::ops::Range;
use std::path::PathBuf;

use atoms_cosim::campaign::Campaign;
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::internals::Depth;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::rtl;
use atoms_cosim::session::Session;
use atoms_cosim::trace::Trace;
use atoms_regress::triage::error::BundleError;
use atoms_regress::triage::rerun::{Ended, Rerun};
use atoms_stimulus::Profile;
use atoms_tests::plant::{Patch, sources};
use atoms_tests::{config, generated};
use atoms_verilated::{Library, Variant};
use wellen::simple::{Waveform, read};

fn library(config_name: &str, patches: &[Patch], variant: Variant) -> Library {
    let named = config(config_name);
    let rtl_dir = match patches {
        [] => rtl_dir(),
        [patch, ..] => sources(&format!("inside-{}", patch.file), patches),
    };
    rtl::library(&rtl_dir, &named, variant, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

fn lockstep(library: &Library, config_name: &str) -> Lockstep {
    let rtl = library.instantiate().expect("it loads");
    Lockstep::new(rtl, config(config_name).config).expect("it comes out of reset")
}

fn campaign(config_name: &str, requests: u64) -> Campaign {
    let (config, profile) = (config(config_name), Profile::default());
    Campaign { config, profile, seed: 1, requests, until: u64::MAX }
}

/// Path of a wave file. Dropping it removes the file.
struct WavePath(PathBuf);

impl WavePath {
    fn new(name: &str) -> Self {
        WavePath(generated("inside").join(format!("{name}-{}.vcd", std::process::id())))
    }
}

impl Drop for WavePath {
    fn drop(&mut self) {
        let _ = (std::fs::remove_file(&self.0), std::fs::remove_file(self.0.with_extension("gtkw")));
    }
}

fn changes(wave: &mut Waveform, path: &[&str]) -> Vec<(u64, String)> {
    let hierarchy = wave.hierarchy();
    let (scopes, name) = path.split_at(path.len() - 1);
    let variable = hierarchy.lookup_var(scopes, name[0]).unwrap_or_else(|| panic!("no signal {path:?}"));
    let signal = hierarchy[variable].signal_ref();
    wave.load_signals(&[signal]);
    let times = wave.time_table().to_vec();
    let signal = wave.get_signal(signal).expect("the signal is loaded");
    signal.iter_changes().map(|(at, value)| (times[at as usize], value.to_string())).collect()
}

/// Registers and probes have the same time base: a register changes when its probe changes.
#[test]
fn what_is_inside_changes_with_the_ports() {
    let path = WavePath::new("time");
    let rerun = Rerun::Random(Box::new(campaign("small", 1000)));
    let library = library("small", &[], Variant::Wave);
    rerun.excerpt(&library, 500..2500, &path.0, None, &mut |_| {}).expect("it is written");
    let mut wave = read(&path.0).expect("the wave is readable");
    for (probe, register) in
        [("probe_issue_valid", "valid_q"), ("probe_issue_pending", "pending_q"), ("probe_rotate", "rotate_q")]
    {
        let shown = changes(&mut wave, &["atoms", "rtl", probe]);
        assert!(shown.len() > 5, "{probe} hardly changes: {shown:?}");
        for side in ["rtl", "model"] {
            let number = |(time, value): (u64, String)| {
                (time, u64::from_str_radix(&value, 2).unwrap_or_else(|e| panic!("{register}: {value}: {e}")))
            };
            let inside = changes(&mut wave, &["atoms", side, "atoms_unit", "u_issue", register]);
            let (inside, shown): (Vec<_>, Vec<_>) =
                (inside.into_iter().map(number).collect(), shown.clone().into_iter().map(number).collect());
            assert_eq!(inside, shown, "{side} {register}");
        }
    }
    assert_eq!(changes(&mut wave, &["atoms", "diff", "any_inside"]), [(5000, "0".to_string())]);
    let field = ["atoms", "rtl", "atoms_unit", "u_warp_queue", "entry_q[0]", "meta", "mask"];
    assert!(changes(&mut wave, &field).len() > 5, "a field of a queue's entry has a name of its own");
}

/// Writes the wave of a window in a session that runs from reset, and returns its bytes.
fn window_of_all(library: &Library, config_name: &str, window: Range<u64>, path: &WavePath) -> Vec<u8> {
    let mut machine = lockstep(library, config_name);
    if library.variant() == Variant::Wave {
        machine.show_inside(window.clone()).expect("the wave variant");
    }
    let trace = Trace::create(&path.0, &machine, None).expect("the wave is written").within(window.clone());
    let mut session = Session::new(machine, None);
    session.set_trace(Some(trace));
    session.run(&mut campaign(config_name, 2000).stimulus(), u64::MAX, |_| {}).expect("it agrees");
    session.take_trace().expect("still there").finish().expect("the wave is completed");
    std::fs::read(&path.0).expect("a wave")
}

#[test]
fn an_excerpt_is_the_window_of_the_whole_wave() {
    for depth in [Depth::Ports, Depth::Internals] {
        let library = library("small", &[], depth.variant());
        let path = WavePath::new(&format!("window-{depth:?}"));
        let expected = window_of_all(&library, "small", 1000..1064, &path);
        let rerun = Rerun::Random(Box::new(campaign("small", 2000)));
        let excerpt = rerun.excerpt(&library, 1000..1064, &path.0, None, &mut |_| {}).expect("it is written");
        assert_eq!(excerpt.cycles, 1000..1064);
        assert!(matches!(excerpt.ended, Ended::Reached), "{:?}", excerpt.ended);
        assert!(std::fs::read(&path.0).expect("a wave") == expected, "{depth:?}: other bytes");
    }
}

#[test]
fn a_window_outside_of_the_run_is_refused() {
    let library = library("small", &[], Variant::Fast);
    let rerun = Rerun::Random(Box::new(Campaign { until: 50, ..campaign("small", 1000) }));
    let path = WavePath::new("outside");
    let error =
        rerun.excerpt(&library, 100..164, &path.0, None, &mut |_| {}).expect_err("there are 50 cycles");
    assert!(matches!(error, BundleError::Window { cycles: 50, fails: false, .. }), "{error:?}");
    assert!(error.to_string().contains("ends with cycle 49"), "{error}");
    let excerpt =
        rerun.excerpt(&library, 40..100, &path.0, None, &mut |_| {}).expect("some cycles are in it");
    assert_eq!(excerpt.cycles, 40..50, "what there is");
}

/// With snapshots in the cache, the model runs alone up to a snapshot, and the wave has the same bytes. A
/// damaged snapshot is removed, and the run repeated.
#[test]
fn snapshots_shorten_the_way_and_change_nothing() {
    let library = library("tiny", &[], Variant::Wave);
    // A new seed per test run, so that the cache has no snapshot of it.
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
    let rerun = Rerun::Random(Box::new(Campaign { seed, ..campaign("tiny", 80_000) }));
    let path = WavePath::new("snapshots");
    let mut said = Vec::new();
    let mut look = |window: Range<u64>| {
        let start = std::time::Instant::now();
        let mut say = |step: &atoms_verilated::Progress| said.push(step.to_string());
        let excerpt =
            rerun.excerpt(&library, window.clone(), &path.0, None, &mut say).expect("it is written");
        assert_eq!(excerpt.cycles, window);
        (std::fs::read(&path.0).expect("a wave"), start.elapsed())
    };
    let (first, took) = look(200_000..200_050);
    let (again, took_again) = look(200_000..200_050);
    assert!(first == again, "other bytes");
    println!("{took:?}, from a snapshot {took_again:?}");
    let earlier = look(140_000..140_050).0;
    assert!(earlier != first);
    let cache = atoms_verilated::Cache::new(&atoms_verilated::Environment::from_process());
    let mut newest: Vec<_> = std::fs::read_dir(cache.root()).expect("a cache").flatten().collect();
    newest.retain(|entry| entry.file_name().to_string_lossy().starts_with("snapshot-"));
    newest.sort_by_key(|entry| std::cmp::Reverse(entry.metadata().and_then(|data| data.modified()).ok()));
    // The newest snapshots belong to this run, at 65,536, 131,072 and 196,608 cycles.
    for entry in &newest[..3] {
        std::fs::write(entry.path().join("state"), "no state").expect("it can be damaged");
    }
    let (repeated, _) = look(200_000..200_050);
    assert!(repeated == first, "other bytes");
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said.iter().all(|text| text.starts_with("discarded damaged snapshot")), "{said:?}");
}

/// Returns the cycle in which the ports show a bug. Returns None if only the final memory shows it.
fn shown_by_the_ports(library: &Library, campaign: &Campaign) -> Option<u64> {
    let mut session = Session::new(lockstep(library, &campaign.config.name), None);
    let failure = session.run(&mut campaign.stimulus(), u64::MAX, |_| {}).expect_err("it is found");
    assert!(matches!(failure, Failure::Mismatch(_) | Failure::Rtl(_)), "{failure}");
    (!failure.to_string().contains("memory")).then(|| session.machine().cycles())
}

/// The search finds the register where a bug starts, and its cycle, before the ports differ.
#[test]
#[ignore = "nightly: builds RTL with a bug and its signals"]
fn the_first_register_that_differs_is_found() {
    #[rustfmt::skip]
    let bugs = [
        // Bug: the counters of all banks move, not only those of the banks of the pass.
        (Patch { file: "atoms_spin.sv", find: "turn[b] + taken[b]", replace: "turn[b] + 1'b1" },
            "atoms_unit.u_issue.u_spin.turn_q[", "spin"),
        (Patch { file: "atoms_bank.sv", find: "if (we_i) mem_q", replace: "if (we_i && (waddr_i != 16'd3)) mem_q" },
            "atoms_unit.g_bank[", "bank"),
        // Bug: the limit of a wait is one cycle short.
        (Patch { file: "atoms_waiters.sv", find: "left_d[vacant] = limit_i;", replace: "left_d[vacant] = limit_i - 32'd1;" },
            "atoms_unit.u_waiters.left_q[", "waiters"),
    ];
    for (patch, register, module) in bugs {
        let library = library("small", &[patch], Variant::Wave);
        let campaign = campaign("small", 20_000);
        let ports = shown_by_the_ports(&library, &campaign);
        let rerun = Rerun::Random(Box::new(campaign));
        assert!(ports.is_none() || rerun.failure(&library).expect("it runs") == ports, "{}", patch.file);
        let search = rerun.first_register(&library).expect("it is searched");
        let found = search.register.unwrap_or_else(|| panic!("{}: nothing: {:?}", patch.file, search.ended));
        assert!(found.path.starts_with(register), "{}: {found}", patch.file);
        assert!(ports.is_none_or(|ports| found.cycle < ports), "{}: {ports:?}, {found}", patch.file);
        assert_eq!(found.module(), module);
        assert_ne!(found.rtl, found.model);
        // The cycle before the difference agrees, and the wave around it shows both values.
        let path = WavePath::new(module);
        let window = found.cycle.saturating_sub(4)..found.cycle + 4;
        rerun.excerpt(&library, window, &path.0, Some(&found), &mut |_| {}).expect("it is written");
        let layout = std::fs::read_to_string(path.0.with_extension("gtkw")).expect("a layout");
        assert!(layout.contains("first register that differs"), "{layout}");
        let mut wave = read(&path.0).expect("the wave is readable");
        if module != "bank" {
            let any = changes(&mut wave, &["atoms", "diff", "any_inside"]);
            assert_eq!(
                any.iter().find(|(_, value)| value == "1").map(|(time, _)| *time),
                Some(10 * found.cycle)
            );
        }
    }
}

/// Without a bug, the search finds no register and runs to the end.
#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let rerun = Rerun::Random(Box::new(campaign("small", 3000)));
    let search = rerun.first_register(&library("small", &[], Variant::Wave)).expect("it is searched");
    assert_eq!(search.register, None);
    assert!(matches!(search.ended, Ended::Over), "{:?}", search.ended);
    assert!(search.cycles > 10_000, "{}", search.cycles);
}
