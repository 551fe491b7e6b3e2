//! Minimized cases, buckets and bundles of failures, with bugs planted in the RTL.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use atoms_cosim::case::recorder::Recorder;
use atoms_cosim::case::trials::Effort;
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::internals::Depth;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_coverage::episode::Episode;
use atoms_host::browser::Browser;
use atoms_ops::Op;
use atoms_regress::checksum::{opened, sealed};
use atoms_regress::triage::bucket::Bucket;
use atoms_regress::triage::bundle::{BundleContext, Original, bundle};
use atoms_regress::triage::minimize::{MinimizedCase, minimize_recorded};
use atoms_regress::triage::replay::Run;
use atoms_regress::triage::repro::{Bundle, Replayed};
use atoms_regress::triage::test_failure::FailedRun;
use atoms_stimulus::Profile;
use atoms_stimulus::configs::NamedConfig;
use atoms_tests::bugs::Bug;
use atoms_tests::draw::Mix;
use atoms_tests::hunt::Hunted;
use atoms_tests::plant::{Patch, plant};
use atoms_tests::{config, generated, root, test_each_bug};
use atoms_verilated::Library;
use serde_json::json;

const REQUESTS: u64 = 3000;

const MAX_IS_MIN: Patch = Patch { file: "atoms_alu.sv", find: "(b[i] > old[i])", replace: "(b[i] < old[i])" };

/// Bug: INC counts one beyond its bound.
const INC_TOO_FAR: Patch =
    Patch { file: "atoms_alu.sv", find: "(old[i] >= b[i])", replace: "(old[i] > b[i])" };

/// Bug: ADD and POPC.INC return a wrong sum.
const ADD_IS_WRONG: Patch =
    Patch { file: "atoms_alu.sv", find: "old[i] + b[i]", replace: "(old[i] + b[i]) ^ word_t'(4)" };

struct Met {
    named: NamedConfig,
    library: Library,
    episode: Episode,
    failed: FailedRun,
}

fn session(library: &Library, named: &NamedConfig) -> Session<Lockstep> {
    let machine = Lockstep::make(library, named).expect("it comes out of reset");
    Session::new(machine, Some(Scoreboard::new(&named.config, &[])))
}

fn meet(library: &Library, named: &NamedConfig, ops: &[Op], seed: u64) -> Option<Met> {
    let (mut session, ()) = session(library, named).listened_by(Recorder::new(&named.config));
    let profile = Profile::of_ops(ops);
    let episode = Episode { config: named.name.clone(), profile, seed, requests: REQUESTS, towards: None };
    let failure = session.run(&mut episode.stimulus(&named.config), u64::MAX, |_| {}).err()?;
    let failed = FailedRun::of_session(failure, session.machine().cycles(), &named.name).expect("a finding");
    let (_, recorder) = session.listened_by(());
    let failed = FailedRun { recorder: Some(Box::new(recorder)), ..failed };
    Some(Met { named: named.clone(), library: library.clone(), episode, failed })
}

fn met_in_small() -> (Met, PathBuf) {
    let named = config("small");
    let library = plant("bundle", &named, &[INC_TOO_FAR]);
    let met = meet(&library, &named, &[], 1).expect("it is met");
    (met, generated("planted").join("bundle"))
}

impl Met {
    fn small(&self) -> Option<MinimizedCase> {
        let mut session = session(&self.library, &self.named);
        let recorder = self.failed.recorder.as_ref().expect("it was given one");
        minimize_recorded(&mut session, recorder, &self.named.name, &self.failed.signature, Effort::default())
    }

    fn bundle(&self, index: u64, rtl: &Path, parent: &Path) -> Bucket {
        let context = BundleContext {
            test: "random/small/0",
            index,
            seed: 1,
            config: &self.named,
            rtl_dir: rtl,
            library: &self.library,
            original: Original::Episode(&self.episode),
            effort: Effort::default(),
            causes: false,
        };
        bundle(&context, &self.failed, parent).expect("the bundle is written")
    }
}

fn replay(bundle: &Bundle, rtl_dir: &Path, wave: Option<&Path>) -> Replayed {
    let session = bundle.session(rtl_dir, Depth::Ports, &mut |_| {}).expect("it builds");
    bundle.replay(session, wave).expect("it is replayed")
}

fn assert_same(a: &FailedRun, b: &FailedRun) {
    let say = |failed: &FailedRun| (failed.signature.to_string(), failed.failure.to_string(), failed.cycle);
    assert_eq!(say(a), say(b));
}

fn name_of(bucket: &Bucket) -> PathBuf {
    let bundle = bucket.bundle.as_deref().expect("a bundle");
    PathBuf::from(Path::new(bundle).file_name().expect("a name"))
}

fn empty(name: &str) -> PathBuf {
    let folder = generated("bundles").join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below it").to_path_buf();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

/// Random runs find the bug, and its failure minimizes to a case of few requests in at most two seconds.
fn leaves_a_small_case(bug: &Bug) {
    let named = bug.on.named();
    let library = bug.planted();
    let mut met_without = None;
    // A failure can depend on an old register value. Another seed must then show the bug.
    for seed in 9..=12 {
        let Some(met) = meet(&library, &named, &[], seed) else { continue };
        let start = Instant::now();
        let Some(small) = met.small() else {
            met_without = Some(met.failed.signature);
            continue;
        };
        let took = start.elapsed();
        let requests = small.case.requests();
        // Two waiters at an object, its init, and the arrival that completes its phase.
        let enough = if bug.on.mix() == Mix::Objects { 4 } else { 3 };
        assert!(
            requests <= enough && took <= Duration::from_secs(2),
            "{requests} requests after {took:?} and {} attempts: {}",
            small.spent.attempts,
            small.failure
        );
        return;
    }
    match met_without {
        Some(signature) => panic!("no case for {signature:?}"),
        None => panic!("no random run meets it"),
    }
}

mod small_cases {
    use super::*;

    test_each_bug! { leaves_a_small_case }
}

/// One bug in the ALU is one bucket for every configuration and seed. Two bugs are two buckets.
#[test]
#[ignore = "nightly: builds RTL with two bugs in two configurations"]
fn a_bug_is_a_bucket() {
    let mut index = 0;
    let (mut raws, mut found) = (Vec::new(), Vec::new());
    let parent = empty("buckets");
    for name in ["small", "tiny"] {
        let named = config(name);
        let library = plant(&format!("max-and-inc-{name}"), &named, &[MAX_IS_MIN, INC_TOO_FAR]);
        let rtl = generated("planted").join(format!("max-and-inc-{name}"));
        for (ops, seed) in
            [(&[Op::Max][..], 1), (&[Op::Max, Op::Load], 2), (&[Op::Inc], 3), (&[], 4), (&[], 5)]
        {
            let met = meet(&library, &named, ops, seed).expect("it is met");
            // As in a regression run, only the first failure of each raw signature is bundled.
            if !raws.contains(&met.failed.signature) {
                let info = met.bundle(index, &rtl, &parent);
                let key = info.key.to_string();
                if !found.contains(&key) {
                    found.push(key);
                }
                raws.push(met.failed.signature);
            }
            index += 1;
        }
    }
    assert_eq!(found, ["mismatch probe.wr_data ATOMS.MAX", "mismatch probe.wr_data ATOMS.INC"]);
    assert_eq!(fs::read_dir(&parent).expect("bundles").count(), 2, "one folder a bucket");
}

/// A bug that fails with every operation has several raw signatures, but one minimized signature.
#[test]
#[ignore = "nightly: builds RTL with a bug of its own"]
fn a_bug_of_any_operation_is_one_bucket() {
    let bug = Bug::named("losers_of_a_bank_are_dropped");
    let (named, library) = (bug.on.named(), bug.planted());
    let mut raws = Vec::new();
    for op in [Op::Add, Op::Min, Op::Xor, Op::Exch, Op::Cas] {
        let met = meet(&library, &named, &[op], 1).unwrap_or_else(|| panic!("{op} does not meet it"));
        let small = met.small().expect("a case");
        assert_eq!(small.signature.to_string(), "mismatch probe.pass_served", "{}", met.failed.signature);
        raws.push(met.failed.signature.to_string());
    }
    raws.sort();
    raws.dedup();
    assert!(raws.len() >= 4, "{raws:?}");
}

#[test]
fn a_bundle_is_the_same_again_and_repeats_its_failure() {
    let (met, rtl) = met_in_small();
    let parents = ["once", "twice"].map(empty);
    let infos = parents.each_ref().map(|parent| met.bundle(7, &rtl, parent));
    assert_eq!(infos[0].text, infos[1].text);
    assert_eq!(infos[0].repeat, format!("atoms repro once/{}", name_of(&infos[0]).display()));
    assert!(infos[0].requests.is_some_and(|requests| requests <= 3), "{:?}", infos[0]);
    let folders = [0, 1].map(|at| parents[at].join(name_of(&infos[at])));
    let contents = folders.each_ref().map(|folder| files(folder));
    let names: Vec<_> = contents[0].keys().collect();
    assert!(contents[0] == contents[1], "other bytes in one of {names:?}");
    for name in [
        "case.json",
        "original.json",
        "bundle.json",
        "wave.vcd",
        "wave.gtkw",
        "wave.html",
        "report.txt",
        "report.html",
        "rtl/atoms_alu.sv",
    ] {
        assert!(contents[0].contains_key(Path::new(name)), "{name} is missing: {names:?}");
    }
    let target = generated("").display().to_string();
    for (name, content) in &contents[0] {
        let text = String::from_utf8_lossy(content);
        assert!(
            !text.contains(target.trim_end_matches('/')),
            "{} names a folder of this machine",
            name.display()
        );
    }
    let text = String::from_utf8_lossy(&contents[0][Path::new("report.txt")]).into_owned();
    for part in ["mismatch probe.wr_data ATOMS.INC", "random/small/0", "(spec", "ATOMS.INC.u32", "<- here"] {
        assert!(text.contains(part), "the report does not say `{part}`:\n{text}");
    }
    // The save file opens at the first difference, with both sides and the difference on top.
    let layout = String::from_utf8_lossy(&contents[0][Path::new("wave.gtkw")]).into_owned();
    let (cycle, place) = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("mismatch at cycle ")?.split_once(": "))
        .expect("the report says where");
    let bank = place.strip_prefix("bank ").and_then(|rest| rest.split(',').next()).expect("in a bank");
    let first = ["rtl", "model", "diff"].map(|side| format!("atoms.{side}.probe_wr_data.bank0{bank}"));
    let shown: Vec<_> = layout.lines().filter(|line| line.starts_with(['-', '+', 'a'])).collect();
    assert_eq!(shown[..2], ["atoms.clk", &format!("-first difference: {place}")], "{layout}");
    for (line, signal) in shown[2..5].iter().zip(&first) {
        let (alias, path) = line.split_once(' ').expect("under a name of its own");
        assert!(path.starts_with(signal.as_str()), "{path} is not {signal}");
        assert!(alias[2..].starts_with(signal.split('.').nth(1).expect("a side")), "{alias} names no side");
    }
    assert!(layout.contains(&format!("*-5.0 {cycle}0 ")), "no marker at cycle {cycle}: {layout}");
    for group in ["-request concerned, tag 0", "txn/tag/tag00", "in/req_ra/lane00", &format!("-bank {bank}")]
    {
        assert!(layout.contains(group), "no {group}: {layout}");
    }
    let page = String::from_utf8_lossy(&contents[0][Path::new("report.html")]).into_owned();
    let outside = ["http:", "https:", "<script"].iter().any(|word| page.contains(word));
    assert!(!outside, "the page is not self-contained");
    assert!(page.contains("<a href=\"wave.html\">"), "the page does not lead to the wave");

    let read = Bundle::read(&folders[0]).expect("it reads back");
    assert!(read.rtl_is_its_own);
    let wave = generated("bundles").join("again.vcd");
    let again = replay(&read, &read.rtl_dir(), Some(&wave));
    assert!(again.same, "{:?}", again.found);
    assert_eq!(fs::read(&wave).expect("a wave"), contents[0][Path::new("wave.vcd")]);
    let mended = replay(&read, &rtl_dir(), None);
    assert!(mended.found.is_none(), "{:?}", mended.found);
}

/// The wave page opens at the cycle of the failure, with the signals of both sides and their difference on
/// top. [`a_bundle_is_the_same_again_and_repeats_its_failure`] checks the same for the save file.
#[test]
#[ignore = "nightly: starts a browser"]
fn the_wave_page_of_a_bundle_opens_at_the_failure() {
    let (met, rtl) = met_in_small();
    let parent = empty("page");
    let folder = parent.join(name_of(&met.bundle(7, &rtl, &parent)));
    let report = fs::read_to_string(folder.join("report.txt")).expect("a report");
    let cycle = report
        .lines()
        .find_map(|line| line.trim().strip_prefix("mismatch at cycle ")?.split_once(": "))
        .expect("the report says where")
        .0;
    let Some(mut browser) = Browser::start("bundle", 1400, 900) else { return };
    browser.open(&folder.join("wave.html"));
    browser.evaluate("started");
    let sides = "[...document.querySelectorAll('.row .name')].slice(0, 4).map(name => name.title.split('.')[1] ?? '')";
    assert_eq!(browser.evaluate(sides), json!(["", "rtl", "model", "diff"]));
    assert_eq!(browser.evaluate("document.getElementById('cycle').value"), cycle);
    assert_eq!(browser.evaluate("document.querySelectorAll('.row.differs').length >= 3"), true);
    assert_eq!(browser.errors, Vec::<String>::new());
}

/// Without a minimized case, the bundle replays the whole run.
#[test]
fn a_failure_that_needs_its_history_is_repeated_with_it() {
    let (mut met, rtl) = met_in_small();
    met.failed.recorder = None;
    let parent = empty("history");
    let info = met.bundle(0, &rtl, &parent);
    assert_eq!((info.requests, &info.key, info.bundle.is_some()), (None, &met.failed.signature, true));
    let folder = parent.join(name_of(&info));
    let text = fs::read_to_string(folder.join("report.txt")).expect("a report");
    assert!(text.contains("could not be minimized"), "{text}");
    let read = Bundle::read(&folder).expect("it reads back");
    assert_eq!(read.record.cycle, met.failed.cycle);
    assert_eq!((&read.case, &read.run), (&None, &Run::Episode { episode: Box::new(met.episode.clone()) }));
    let again = replay(&read, &read.rtl_dir(), None);
    assert_same(&again.found.expect("it fails"), &met.failed);
    assert!(replay(&read, &rtl_dir(), None).found.is_none());
}

/// The bundle of a kernel failure has a minimized case and the files of the kernel.
#[test]
#[ignore = "nightly: builds RTL with a bug of its own"]
fn a_kernel_leaves_a_case() {
    let named = config("default");
    let library = plant("kernel-bundle", &named, &[ADD_IS_WRONG]);
    let rtl = generated("planted").join("kernel-bundle");
    let folder = root().join("tests/kernels");
    let run = Run::Kernel {
        listing: "uniform_counter.sm_80.sass".into(),
        launch: "uniform_counter.launch.toml".into(),
        arch: None,
    };
    let (mut session, ()) = session(&library, &named).listened_by(Recorder::new(&named.config));
    let failed = run.replay(&mut session, &named, &folder, u64::MAX).expect("it runs").expect("it fails");
    let (_, recorder) = session.listened_by(());
    let mut failed = FailedRun { recorder: Some(Box::new(recorder)), ..failed };
    let parent = empty("kernel");
    let context = BundleContext {
        test: "kernels/default/uniform_counter",
        index: 0,
        seed: 1,
        config: &named,
        rtl_dir: &rtl,
        library: &library,
        original: Original::Kernel {
            listing: &folder.join("uniform_counter.sm_80.sass"),
            launch: &folder.join("uniform_counter.launch.toml"),
            arch: None,
        },
        effort: Effort::default(),
        causes: false,
    };
    let start = Instant::now();
    let info = bundle(&context, &failed, &parent).expect("the bundle is written");
    println!("{info:?} in {:?}", start.elapsed());
    assert!(info.requests.is_some_and(|requests| requests <= 3), "{info:?}");
    assert!(info.key.to_string().starts_with("mismatch probe.wr_data ATOMS."), "{info:?}");
    // Without a recorder, the bundle has no case and replays the kernel from its files.
    failed.recorder = None;
    let info = bundle(&context, &failed, &empty("kernel-alone")).expect("the bundle is written");
    let read =
        Bundle::read(&generated("bundles").join("kernel-alone").join(name_of(&info))).expect("it reads back");
    let again = replay(&read, &read.rtl_dir(), None);
    assert_same(&again.found.expect("it fails"), &failed);
}

/// Bundles of an earlier version have signatures as text. They replay, and their buckets are recognized.
#[test]
fn a_bundle_with_signatures_as_text_is_replayed() {
    let (met, rtl) = met_in_small();
    let parent = empty("text");
    let folder = parent.join(name_of(&met.bundle(0, &rtl, &parent)));
    let path = folder.join("bundle.json");
    let record = Bundle::read(&folder).expect("it reads").record;
    let text = fs::read(&path).expect("a record");
    let mut value: serde_json::Value =
        serde_json::from_slice(&opened(&text).expect("it is sealed")).expect("JSON");
    value["format"] = json!(2);
    (value["key"], value["raw"]) = (json!(record.key.to_string()), json!(record.raw.to_string()));
    let save = |value: &serde_json::Value| {
        let text = serde_json::to_string_pretty(value).expect("it serializes") + "\n";
        fs::write(&path, sealed(text.into_bytes())).expect("writes");
        Bundle::read(&folder).expect("it reads")
    };
    let read = save(&value);
    assert_eq!(read.record.key.to_string(), record.key.to_string());
    assert!(replay(&read, &read.rtl_dir(), None).same, "the bucket is recognized");
    value["key"] = json!("mismatch memory");
    assert!(!replay(&save(&value), &folder.join("rtl"), None).same, "another bucket is told apart");
}

#[test]
fn what_is_no_bundle_is_refused() {
    let (met, rtl) = met_in_small();
    let parent = empty("broken");
    let folder = parent.join(name_of(&met.bundle(0, &rtl, &parent)));
    let good = fs::read_to_string(folder.join("bundle.json")).expect("a record");
    let error = |what: &str| match Bundle::read(&folder) {
        Ok(_) => panic!("{what}: it reads"),
        Err(error) => error.to_string(),
    };
    // Record with a valid checksum, as another program could write it.
    let forged = |from: &str, to: &str| {
        let text = String::from_utf8(opened(good.as_bytes()).expect("it is sealed")).expect("text");
        String::from_utf8(sealed(text.replace(from, to).into_bytes())).expect("text")
    };
    let rows = [
        ("cut short", good[..good.len() / 2].to_string(), "cut short"),
        (
            "of another format",
            good.replace("\"format\": 3", "\"format\": 99"),
            "has format 99, this version reads 2 and 3",
        ),
        (
            "a changed digit",
            good.replace("\"num_lanes\": 4", "\"num_lanes\": 2"),
            "its checksum does not match",
        ),
        ("no JSON", "wave".to_string(), "does not belong to a bundle"),
        ("other JSON", "{}".to_string(), "it has no `format`"),
        ("a key of no bucket", forged("\"kind\": \"mismatch", "\"kind\": \"miss"), "unknown variant `miss`"),
        ("lanes out of range", forged("\"num_lanes\": 4", "\"num_lanes\": 3"), "num_lanes is 3"),
        ("an unknown parameter", forged("\"num_lanes\"", "\"lanes\""), "no parameter `lanes`"),
    ];
    for (what, text, said) in rows {
        assert_ne!(text, good, "{what}");
        fs::write(folder.join("bundle.json"), text).expect("writes");
        let error = error(what);
        assert!(error.contains(said), "{what}: {error}");
    }
    fs::write(folder.join("bundle.json"), &good).expect("writes");
    for name in ["case.json", "original.json", "rtl/atoms_alu.sv"] {
        let path = folder.join(name);
        let text = fs::read(&path).expect("a file");
        fs::remove_file(&path).expect("removes");
        let error = error(name);
        let said = ["annot read", "the bundle is incomplete", "failed to open file"];
        let unread = said.iter().any(|said| error.contains(said));
        assert!(unread && error.contains(name), "{name}: {error}");
        fs::write(&path, text).expect("writes");
    }
    fs::write(folder.join("rtl/atoms_alu.sv"), "// nothing").expect("writes");
    assert!(!Bundle::read(&folder).expect("it reads").rtl_is_its_own);
    assert!(
        Bundle::read(&parent.join("none")).is_err_and(|error| error.to_string().contains("is not a folder"))
    );
}
