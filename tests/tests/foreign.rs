//! RTL of other units, checked by the oracle at its ports: the units of `tests/units`, and this project's unit
//! declared as another one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use atoms_cosim::campaign::{Campaign, SmallCase};
use atoms_cosim::case::Case;
use atoms_cosim::case::trials::{Effort, run_case};
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Failure;
use atoms_cosim::rtl;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::{Session, Tally};
use atoms_cosim::unit_folder::prepare;
use atoms_ops::{Op, Size};
use atoms_stimulus::Profile;
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_stimulus::request::{Lane, WarpRequest};
use atoms_tests::{bench, config, generated, root, test_each, text_of};
use atoms_verilated::{Library, Variant};

/// Bounds of `atoms cosim` on the work of minimizing.
const EFFORT: Effort = Effort { cycles: 5_000_000, time: std::time::Duration::from_secs(60) };

type Finding = (Failure, Option<SmallCase>);

struct Built {
    named: NamedConfig,
    library: Library,
}

impl Built {
    fn of(declaration: &Path) -> Self {
        // Two tests of one unit must not write its folder at the same time.
        static FOLDERS: Mutex<()> = Mutex::new(());
        let (folder, name) = {
            let _one = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
            prepare(declaration, &rtl_dir()).unwrap_or_else(|error| panic!("{error}"))
        };
        let named = configs::named(&folder, &name).expect("the folder has its configuration");
        let library = rtl::library(&folder, &named, Variant::Fast, &mut |_| {});
        Built { named, library: library.unwrap_or_else(|error| panic!("{name} does not build: {error}")) }
    }

    /// Builds a unit of `tests/units` with a planted bug, or with none if `bug` is 0.
    fn unit(name: &str, bug: u32) -> Self {
        let path = format!("tests/units/{name}/unit.toml");
        if bug == 0 {
            return Self::of(&root().join(path));
        }
        let source = format!("{name}_unit.sv");
        let at = root().join("tests/units").join(name).join(&source).display().to_string();
        let text = format!("defines = [\"BUG={bug}\"]\n{}", text_of(&path).replace(&source, &at));
        Self::of(&declaration(&folder(&format!("{name}-{bug}")), &text))
    }

    fn session(&self) -> Session<Lockstep> {
        let rtl = self.library.instantiate().expect("a built library can be loaded");
        let machine = Lockstep::of(rtl, &self.named).expect("it comes out of reset");
        Session::new(machine, Some(Scoreboard::of(&self.named.config, self.named.unit.as_deref())))
    }

    /// Returns the small case of a bug that random runs find.
    fn small_case(&self) -> SmallCase {
        let small = (1..=4).find_map(|seed| self.random("default", seed, 20_000).err()?.1);
        small.expect("a seed finds the bug, with a small case")
    }

    /// Runs random requests. A failure comes with its small case, if there is one.
    fn random(&self, profile: &str, seed: u64, requests: u64) -> Result<Tally, Box<Finding>> {
        let profile = Profile::named(profile).expect("a profile");
        let campaign = Campaign { config: self.named.clone(), profile, seed, requests, until: u64::MAX };
        match campaign.run(self.session(), |_| {}) {
            Ok((_, tally)) => Ok(tally),
            Err(mut failed) => {
                assert!(failed.failure.is_finding(), "{}", failed.failure);
                let small = failed.small_case(Some(campaign.scoreboard()), EFFORT).ok();
                Err(Box::new((failed.failure, small)))
            }
        }
    }
}

/// Random runs find the bug. The message of its failure starts with `said`.
fn is_found_by_handshakes(_: &str, bug: u32, most: usize, said: &str) {
    let SmallCase { case, failure, .. } = Built::unit("rmw", bug).small_case();
    let text = failure.to_string().replace(char::is_numeric, "");
    assert!(text.contains(said), "{failure}");
    assert!(case.requests() <= most, "{case:#?}");
}

test_each! {
    mod a_broken_handshake_is_found: is_found_by_handshakes;
    a_response_changes(3, 1, "`rsp_pred_o` changed from ")
    a_response_is_withdrawn(4, 1, "`rsp_valid_o` fell, although the driver had not taken the answer")
    a_port_accepts_nothing(5, 2, "no progress: `req_ready_o` was  for  cycles, although no request was inside")
}

/// Returns an empty folder for a declaration.
fn folder(name: &str) -> PathBuf {
    let folder = generated("units").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn declaration(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("unit.toml");
    fs::write(&file, text).expect("it is written");
    file
}

fn is_accepted(name: &str) {
    let built = Built::unit(name, 0);
    for profile in ["default", "faults", "pressure", "resets"] {
        let tally = built.random(profile, 1, 500).unwrap_or_else(|found| panic!("{profile}: {found:#?}"));
        let Tally { requests, dropped, judged, resets, faults, .. } = tally;
        assert!(requests + dropped >= 500 && judged >= 300, "{profile}: {tally:?}");
        // `rmw` declares no faults. Then neither wrong addresses nor resets are sent.
        assert_eq!(faults > 0, name == "serial", "{profile}: {tally:?}");
        assert!(profile != "resets" || (resets > 0) == (name == "serial"), "{tally:?}");
    }
}

test_each! { mod a_unit_without_a_bug_is_accepted: is_accepted; serial rmw }

/// Random runs find the bug. Its failure minimizes to at most `most` requests, one of them `op`, that break this
/// clause.
fn is_found(_: &str, bug: (&str, u32), most: usize, op: Option<Op>, broken: (&str, &str)) {
    let SmallCase { case, failure, .. } = Built::unit(bug.0, bug.1).small_case();
    let Failure::Oracle(violation) = &failure else { panic!("not the oracle: {failure}") };
    assert_eq!((violation.clause(), violation.about().0), (Some(broken.0), Some(broken.1)), "{failure}");
    assert!(case.requests() <= most, "{case:#?}");
    let mut ops = case.warps.iter().map(|warp| warp.op).chain(case.clusters.iter().map(|request| request.op));
    assert!(op.is_none_or(|op| ops.any(|code| code == op as u8)), "{op:?}: {case:#?}");
}

test_each! {
    mod a_bug_is_found: is_found;
    a_lost_update(("serial", 1), 3, None, ("spec 4.6", "memory"))
    the_highest_faulting_lane(("serial", 5), 3, None, ("spec 2.4", "fault"))
    cas_as_exchange(("rmw", 2), 3, Some(Op::Cas), ("spec 3", "pred"))
    #[ignore = "nightly: another bug of a kind"]
    min_as_signed(("serial", 2), 4, Some(Op::Min), ("spec 4.6", "memory"))
    #[ignore = "nightly: another bug of a kind"]
    cas_of_the_low_word(("serial", 3), 4, Some(Op::Cas), ("spec 3", "pred"))
    #[ignore = "nightly: another bug of a kind"]
    an_inverted_predicate(("serial", 4), 4, Some(Op::Cas), ("spec 3", "pred"))
    #[ignore = "nightly: another bug of a kind"]
    the_tag_before(("serial", 6), 4, None, ("spec 4.6", "answer"))
    #[ignore = "nightly: another bug of a kind"]
    a_lost_cluster_request(("serial", 7), 4, None, ("spec 4.6", "answer"))
    #[ignore = "nightly: another bug of a kind"]
    inc_wraps_late(("serial", 8), 4, Some(Op::Inc), ("spec 4.6", "memory"))
    #[ignore = "nightly: another bug of a kind"]
    the_row_of_another_slot(("serial", 9), 4, None, ("spec 4.6", "memory"))
    #[ignore = "nightly: another bug of a kind"]
    results_of_inactive_lanes(("serial", 10), 4, None, ("spec 2.6", "rd"))
    #[ignore = "nightly: another bug of a kind"]
    a_failed_cas_stores(("rmw", 1), 4, Some(Op::Cas), ("spec 4.6", "memory"))
}

/// A case that the declaration does not allow says nothing about the unit.
#[test]
fn an_undeclared_request_is_an_error() {
    let built = Built::unit("rmw", 0);
    let mut session = built.session();
    let lane = |ra| vec![Lane { ra, ..Lane::default() }];
    let add = WarpRequest {
        op: Op::Add as u8,
        size: Size::U32 as u8,
        mask: 1,
        lanes: lane(64),
        ..WarpRequest::default()
    };
    let faults = Some("it has a wrong address, and faults are not declared");
    let rows = [
        (add.clone(), None),
        (WarpRequest { op: Op::Xor as u8, ..add.clone() }, Some("XOR with u32 is not declared")),
        (WarpRequest { op: 31, ..add.clone() }, Some("operation 31 with u32 is not declared")),
        (WarpRequest { size: Size::S32 as u8, ..add.clone() }, Some("ADD with s32 is not declared")),
        (WarpRequest { lanes: lane(65), ..add.clone() }, faults),
        (WarpRequest { lanes: lane(1 << 23), ..add.clone() }, faults),
        (WarpRequest { slot: 1, ..add }, faults),
    ];
    for (request, said) in rows {
        session.restart_machine().expect("it starts again");
        let allocations = vec![bench::whole(&built.named.config)];
        let case = Case { config: "rmw".into(), allocations, warps: vec![request], ..Case::default() };
        match (run_case(&mut session, &case), said) {
            (Ok(tally), None) => assert_eq!(tally.judged, 1),
            (Err(failure), Some(said)) => {
                let text = failure.to_string();
                assert_eq!(text, format!("the unit does not support a request of this run: {said}"));
                assert!(!failure.is_finding(), "{text}");
            }
            (outcome, _) => panic!("{said:?}: {outcome:?}"),
        }
    }
}

#[test]
fn a_bad_declaration_is_refused() {
    let folder = folder("bad");
    for name in ["one.sv", "more/one.sv", "atoms_pkg.sv"] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "").expect("writes");
    }
    let good = "name = \"other\"\nmodule = \"other\"\nsources = [\"one.sv\"]\nconfig = \"small\"\n\
                operations = [\"ADD\", \"CAS\"]\nsizes = [\"u32\"]\n";
    prepare(&declaration(&folder, good), &rtl_dir()).expect("it is good");
    let sources = |list: &str| good.replace("\"one.sv\"", list);
    let rows = [
        (good.replace("CAS", "CASS"), "no operation `CASS`; there are ADD, MIN, MAX"),
        (good.replace("u32", "u33"), "no size `u33`; there are "),
        (good.replace("\"u32\"", ""), "nothing to draw: give some size a weight above 0"),
        (good.replace("u32", "u8"), "`sizes` has none of ADD; add one of u32, s32"),
        (good.replace("module", "modul"), "unknown field `modul`, expected one of `name`, `module`"),
        (good.replace("module = \"other\"\n", ""), "missing field `module`"),
        (
            format!("{good}[ports]\nclusters = true\n"),
            "unknown field `clusters`, expected `cluster` or `table`",
        ),
        (good.replace("name = \"other\"", "name = \"a b\""), "`name`: expected letters, digits"),
        (good.replace("small", "smal"), "no configuration `smal`; there are default, "),
        (sources(""), "`sources` is empty; list the SystemVerilog files of the unit"),
        (sources("\"two.sv\""), "two.sv`: No such file or directory"),
        (sources("\"one.sv\", \"more/one.sv\""), "another file is called `one.sv`; rename this one"),
        (sources("\"atoms_pkg.sv\""), "another file is called `atoms_pkg.sv`; rename this one"),
    ];
    for (text, said) in rows {
        let error = prepare(&declaration(&folder, &text), &rtl_dir()).expect_err(&text).to_string();
        assert!(error.contains(said) && error.contains(&folder.display().to_string()), "{said}: {error}");
    }
}

/// A unit with other ports is not built. Warnings in its own text are no reason.
#[test]
fn other_ports_are_refused() {
    let good = text_of("tests/units/serial/serial_unit.sv");
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    let warned = "  wire [3:0] narrow = req_imm_i;\nendmodule : serial_unit";
    let ports =
        |lines: &str| format!("the ports of module `serial_unit` differ from docs/ports.md:\n{lines}");
    let no_module = |name: &str| {
        let mend = "correct `module` or `sources` in the declaration of the unit";
        format!("no source declares module `{name}`; {mend}")
    };
    let rows = [
        (
            changed("logic [23:0]          req_imm_i", "logic [15:0] req_imm_i")
                .replace("{8{req_imm_i[23]", "{16{req_imm_i[15]")
                .replace("endmodule : serial_unit", warned),
            "serial_unit",
            ports("  port req_imm_i has 16 bits; expected 24\n"),
        ),
        (
            changed("output logic [1:0]           rsp_fault_o", "output logic [2:0] rsp_fault_o"),
            "serial_unit",
            ports("  port rsp_fault_o has 3 bits; expected 2\n"),
        ),
        (
            changed(
                "output logic                 cta_reject_o\n);",
                "input logic more_i);\n  logic cta_reject_o;",
            ),
            "serial_unit",
            ports("  port more_i is not in the port list\n  port cta_reject_o is missing\n"),
        ),
        (good.replace("serial_unit", "parallel_unit"), "serial_unit", no_module("serial_unit")),
        (good.clone(), "serial", no_module("serial")),
    ];
    let folder = folder("ports");
    for (text, module, said) in rows {
        fs::write(folder.join("serial_unit.sv"), text).expect("writes");
        let text = text_of("tests/units/serial/unit.toml").replace("\"serial_unit\"", &format!("{module:?}"));
        let file = declaration(&folder, &text);
        let (prepared, name) = prepare(&file, &rtl_dir()).expect("the declaration is good");
        let named = configs::named(&prepared, &name).expect("the folder has its configuration");
        let built = rtl::library(&prepared, &named, Variant::Fast, &mut |_| {});
        assert_eq!(built.expect_err(&said).to_string(), said);
    }
}

/// This project's unit under other names, with all that a declaration can have.
#[test]
fn the_unit_of_this_project_is_accepted_as_another() {
    let folder = folder("own");
    let named = config("small");
    let files = rtl::prefixed(&rtl_dir(), &named, "own_").expect("the RTL can be read");
    for (name, text) in &files {
        fs::write(folder.join(name), text).expect("writes");
    }
    let sources: Vec<_> = files.iter().map(|(name, _)| name).filter(|name| name.ends_with(".sv")).collect();
    let sizes: Vec<_> = Size::ALL.iter().map(|size| size.name()).collect();
    let ops: Vec<_> = Op::ALL.iter().map(|op| op.name()).collect();
    let (hold, limit) = (named.config.spin_hold, named.config.try_wait_limit);
    let text = format!(
        "name = \"own\"\nmodule = \"own_atoms_unit\"\nconfig = \"small\"\nsources = {sources:?}\n\
         operations = {ops:?}\nsizes = {sizes:?}\n[rules]\nspin_hold = {hold}\ntry_wait_limit = {limit}\n"
    );
    let built = Built::of(&declaration(&folder, &text));
    let tally = built.random("default", 1, 1000).unwrap_or_else(|found| panic!("{found:#?}"));
    assert!(tally.judged >= 1000 && tally.wake_ups > 0 && tally.cluster_requests > 0, "{tally:?}");
}
