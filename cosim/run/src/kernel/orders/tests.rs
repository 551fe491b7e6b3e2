//! Planted bugs that pass in the default order are found in others. The kernels are in `cli/tests/orders/`.

use std::path::PathBuf;

use atoms_isa::Program;
use atoms_sm::races::RaceChecks;
use atoms_sm::{Launch, Schedule};
use atoms_stimulus::configs::{self, NamedConfig};

use super::{
    Explorer, OrderFinding, OrderKey, OrderKeyError, OrdersError, OrdersFound, OrdersRequest, explore,
    fingerprint, without,
};
use crate::kernel::finding::KernelFault;
use crate::kernel::{Checks, KernelJob};
use crate::setup::{Implementation, Setup};

struct Case {
    text: String,
    program: Program,
    launch: Launch,
    config: NamedConfig,
}

impl Case {
    fn new(name: &str) -> Case {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../cli/tests/orders");
        let text = std::fs::read_to_string(folder.join(format!("{name}.ptx"))).expect("a kernel");
        let program = Program::from_ptx(name, &text, None).expect("PTX");
        let launch = Launch::from_file(&folder.join(format!("{name}.toml"))).expect("a launch file");
        Case { text, program, launch, config: configs::embedded("default").expect("a configuration") }
    }

    fn setup(&self) -> Setup<'_> {
        Setup { oracle: false, ..Setup::new(&self.config, Implementation::Model) }
    }

    fn fingerprint(&self) -> u32 {
        fingerprint(&self.text, &self.program.kernels[0], &self.launch, &self.config)
    }

    fn explore(&self, checks: Checks, orders: u64, workers: usize) -> Result<OrdersFound<'_>, OrdersError> {
        let request = OrdersRequest { orders, seed: 1, workers, fingerprint: self.fingerprint() };
        let setup = self.setup();
        explore(self.job(&setup, checks), &request, &|| {})
    }

    fn job<'s, 'k>(&'k self, setup: &'s Setup<'k>, checks: Checks) -> KernelJob<'s, 'k> {
        KernelJob { setup, kernel: &self.program.kernels[0], launch: &self.launch, checks, schedule: None }
    }
}

const RESULTS: Checks = Checks { undefined: false, races: RaceChecks::NONE };

/// Kernel, and the finding that some of its orders have and the default order has not.
const KERNELS: [(&str, Option<KernelFault>); 8] = [
    ("no_barrier", Some(KernelFault::WrongResult)),
    ("early_read", Some(KernelFault::WrongResult)),
    ("ignored_wait", Some(KernelFault::WrongResult)),
    ("late_flag", Some(KernelFault::Deadlock)),
    ("two_locks", Some(KernelFault::Livelock)),
    ("unflipped", Some(KernelFault::Livelock)),
    ("reversed_ctas", Some(KernelFault::Livelock)),
    ("counted_wait", Some(KernelFault::Endless)),
];

#[test]
fn planted_bugs_are_found_and_their_orders_are_minimal() {
    for (name, fault) in KERNELS {
        let case = Case::new(name);
        let found =
            case.explore(RESULTS, if fault == Some(KernelFault::Endless) { 4 } else { 100 }, 1).expect(name);
        let faults: Vec<_> = found.findings.iter().map(|finding| finding.finding.fault).collect();
        assert_eq!(faults, Vec::from_iter(fault), "{name}");
        let finding = &found.findings[0];
        let key = finding.key.as_ref().expect("the default order has no finding");
        let setup = case.setup();
        let explorer = Explorer(case.job(&setup, RESULTS));
        let OrderFinding { finding, .. } = finding;
        let shows = |schedule: &Schedule| {
            let mut found = explorer.run(Some(schedule)).expect("a run").found;
            found.remove(&finding.place()).map(|finding| finding.what())
        };
        assert_eq!(shows(&key.schedule), Some(finding.what()), "{name}: {key}");
        for less in (3..).map_while(|at| without(&key.schedule, at)) {
            assert_eq!(shows(&less), None, "{name}: {key} needs more than {less}");
        }
    }
}

#[test]
fn preemptions_and_early_timeouts_are_needed() {
    let key =
        |name| Case::new(name).explore(RESULTS, 100, 1).expect(name).findings[0].key.clone().expect(name);
    assert_eq!(key("two_locks").schedule.preemptions.len(), 1);
    assert_eq!(key("ignored_wait").schedule.timeouts, [1]);
}

#[test]
fn correct_kernels_have_no_finding() {
    for name in ["with_barrier", "ring"] {
        let case = Case::new(name);
        let found = case.explore(Checks { undefined: true, races: RaceChecks::ALL }, 200, 2).expect(name);
        assert!(found.findings.is_empty(), "{name}: {:?}", found.findings);
        assert!(found.orders == 200 && found.distinct > 10, "{name}: {} distinct", found.distinct);
    }
}

#[test]
fn the_report_does_not_depend_on_the_number_of_threads() {
    for name in ["no_barrier", "unflipped"] {
        let case = Case::new(name);
        let report = |workers| {
            let found =
                case.explore(Checks { undefined: true, races: RaceChecks::ALL }, 60, workers).expect(name);
            found.text(|key| key.map_or(String::new(), OrderKey::to_string))
        };
        assert_eq!(report(1), report(2));
    }
}

#[test]
fn a_key_repeats_its_run() {
    let case = Case::new("ignored_wait");
    let found = case.explore(RESULTS, 50, 1).expect("it ends in the default order");
    let key = found.findings[0].key.as_ref().expect("the default order has no finding");
    let read: OrderKey = key.to_string().parse().expect("a key");
    let schedule = read.schedule(case.fingerprint()).expect("the same kernel");
    let text = || {
        let checks = Checks { undefined: true, races: RaceChecks::ALL };
        let setup = case.setup();
        let job = KernelJob { schedule: Some(schedule), ..case.job(&setup, checks) };
        let run = job.run().expect("a run");
        let report = run.outcome.as_ref().expect("the kernel ends");
        format!("{}{:?}{:?}", run.text(report, None), run.races, report.buffers)
    };
    assert_eq!(text(), text());
    assert!(text().contains("32 of 32 elements differ"), "{}", text());
}

#[test]
fn keys_of_other_runs_are_refused() {
    let (case, other) = (Case::new("no_barrier"), Case::new("ring"));
    let key: OrderKey = format!("1-{:08x}-w7-p12", case.fingerprint()).parse().expect("a key");
    assert!(key.schedule(case.fingerprint()).is_ok());
    assert!(matches!(key.schedule(other.fingerprint()), Err(OrderKeyError::Foreign { .. })));
    let longer =
        Case { launch: Launch { dynamic_shared: 4, ..case.launch.clone() }, ..Case::new("no_barrier") };
    assert_ne!(longer.fingerprint(), case.fingerprint());
    let small =
        Case { config: configs::embedded("small").expect("a configuration"), ..Case::new("no_barrier") };
    assert_ne!(small.fingerprint(), case.fingerprint());
    let parse = |text: &str| text.parse::<OrderKey>();
    assert!(matches!(parse("2-00000000-w7"), Err(OrderKeyError::Version(2))));
    assert!(matches!(parse("1-00000000-x7"), Err(OrderKeyError::Schedule(_))));
    for text in ["", "7", "1-w7", "one-00000000-w7", "1-0000000g-w7"] {
        assert!(matches!(parse(text), Err(OrderKeyError::Form(_))), "{text}");
    }
}

#[test]
fn a_kernel_that_fails_in_the_default_order_is_named() {
    let mut case = Case::new("ring");
    case.launch.cycle_budget = Some(50);
    let error = case.explore(RESULTS, 10, 1).expect_err("the kernel cannot end");
    assert!(error.to_string().starts_with("the kernel fails in the default order"), "{error}");
    // The launch limits the default order. Other orders take more cycles.
    case.launch.cycle_budget = Some(3000);
    assert!(case.explore(RESULTS, 10, 1).expect("it ends").findings.is_empty());
}
