//! Compares the registers of RTL and model with the same names in every cycle.
//!
//! This crate has the test because it builds faster than `tests`, and `.ci/mutants` runs the test for
//! thousands of mutants of the model (`docs/mutation.md`). `tests/tests/inside.rs` has the waves, and the
//! search for the first register that differs.

use std::collections::HashMap;
use std::fmt::Arguments;

use atoms_cosim::campaign::Campaign;
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::internals::RegisterAccess;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Machine, ModelMachine};
use atoms_cosim::rtl;
use atoms_cosim::session::Session;
use atoms_model::Config;
use atoms_model::registers::WITHOUT_COUNTERPART;
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_stimulus::{Profile, RandomStimulus};
use atoms_verilated::Variant;

/// A configuration that is quick to build and shows memory inside, and the largest one.
const CONFIGS: [&str; 2] = ["small", "default"];

fn config(name: &str) -> NamedConfig {
    configs::named(&rtl_dir(), name).expect("rtl/configs.toml has it")
}

fn lockstep(name: &str) -> Lockstep {
    let named = config(name);
    let rtl = rtl::instance(&rtl_dir(), &named, Variant::Wave, &mut |_| {})
        .unwrap_or_else(|error| panic!("the RTL of `{name}` does not build: {error}"));
    Lockstep::new(rtl, named.config).expect("the RTL comes out of reset")
}

/// Returns true if `listed` names this RTL signal as a register without a counterpart in the model.
fn is_listed(path: &str, listed: &(&str, &[&str], &str)) -> bool {
    let (instance, registers, _) = listed;
    let below = path.strip_prefix("atoms_unit.").and_then(|path| path.strip_prefix(instance));
    let names = |path: &str| {
        let bare = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
        path.split('.').map(bare).collect::<Vec<_>>()
    };
    let below = below.map(names).unwrap_or_default();
    !below.is_empty()
        && (registers.is_empty() || registers.iter().any(|name| below.iter().any(|n| n == name)))
}

/// Every register of the RTL is either a register of the model or listed with a reason.
#[test]
fn registers_have_counterparts_or_a_reason() {
    let mut used = vec![false; WITHOUT_COUNTERPART.len()];
    for name in CONFIGS {
        let mut machine = lockstep(name);
        machine.look_inside(RegisterAccess::Show(0..0)).expect("the wave variant");
        let (_, internals) = machine.internals().expect("it looks");
        let mapped: Vec<_> = internals.registers().iter().map(|register| &register.path).collect();
        let is_register =
            |path: &str| path.split('.').any(|n| n.split('[').next().unwrap_or(n).ends_with("_q"));
        let paths = internals.signals().iter().map(|signal| signal.path()).filter(|path| is_register(path));
        for path in paths {
            let mut reasons = WITHOUT_COUNTERPART.iter().map(|listed| is_listed(&path, listed));
            let reason = reasons.position(|is| is);
            reason.into_iter().for_each(|at| used[at] = true);
            let has_one = mapped.contains(&&path);
            assert!(has_one != reason.is_some(), "{name}: {path}: {has_one}, {reason:?}");
        }
    }
    assert!(used.iter().all(|used| *used), "one is listed that the RTL does not have: {used:?}");
}

#[test]
fn registers_agree_in_every_cycle() {
    for (name, cycles) in CONFIGS.into_iter().zip([20_000, 3_000]) {
        let mut machine = lockstep(name);
        machine.look_inside(RegisterAccess::Compare { from: 0, every: 1 }).expect("the wave variant");
        let mut session = Session::new(machine, None);
        let (config, profile) = (config(name), Profile::default());
        let campaign = Campaign { config, profile, seed: 1, requests: u64::MAX / 2, until: u64::MAX };
        let mut stimulus = campaign.stimulus();
        session.run(&mut stimulus, cycles, |_| {}).unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let agreed = session.machine().internals().and_then(|(_, internals)| internals.agreed());
        assert_eq!(agreed, Some(cycles - 1), "{name}");
    }
}

/// Registers of the model by their paths below the unit.
type Registers = HashMap<String, Option<u128>>;

/// Returns true if element `place` of `array` has a valid value, according to the registers that control the
/// array. `None` for arrays without such registers.
fn is_held(registers: &Registers, config: &Config, array: &str, place: u128) -> Option<bool> {
    let value = |path: &str| registers[path].unwrap_or_else(|| panic!("{path} means something at all times"));
    // True if `place` is one of the `count` elements from `first` on, in a ring of `places` elements.
    let within = |first, count, places| (place + places - first) % places < count;
    let queued = |queue: &str, depth| {
        within(value(&format!("{queue}.head_q")), value(&format!("{queue}.count_q")), depth)
    };
    let bit = |set| value(set) >> place & 1 == 1;
    let depth = u128::from(config.queue_depth);
    Some(match array {
        "u_warp_queue.entry_q" => queued("u_warp_queue", depth),
        "u_cluster_queue.entry_q" => queued("u_cluster_queue", 2),
        "u_issue.u_operands.b_q" | "u_issue.u_operands.c_q" => {
            within(value("u_issue.u_operands.next_q"), value("u_warp_queue.count_q"), depth + 1)
                || registers["u_issue.u_operands.work_q"] == Some(place)
        }
        "u_issue.bank_addr_q" => bit("u_issue.pending_q"),
        "u_waiters.left_q" => bit("u_waiters.suspended_q"),
        "u_waiters.waiter_q" => {
            bit("u_waiters.suspended_q") || bit("u_waiters.woken_q") || bit("u_waiters.expired_q")
        }
        _ => return None,
    })
}

/// The model shows a value exactly for the array elements that are valid.
#[test]
fn registers_mean_something_where_others_say_so() {
    for name in CONFIGS {
        let config = config(name).config;
        let mut session = Session::new(ModelMachine::new(config), None);
        let mut stimulus = RandomStimulus::new(config, &Profile::default(), 1, u64::MAX);
        let mut seen: HashMap<String, [bool; 2]> = HashMap::new();
        for cycle in 0..1000 {
            session.step(&mut stimulus).unwrap_or_else(|failure| panic!("{name}: {failure}"));
            let mut registers = Registers::new();
            let mut see = |path: Arguments<'_>, value| registers.extend([(path.to_string(), value)]);
            session.machine().unit().registers(&mut see);
            for (path, value) in &registers {
                let Some((array, rest)) = path.split_once('[') else { continue };
                let place = rest.split(']').next().and_then(|place| place.parse().ok());
                let place = place.unwrap_or_else(|| panic!("{path} names a place"));
                let Some(held) = is_held(&registers, &config, array, place) else { continue };
                assert_eq!(value.is_some(), held, "{name}, cycle {cycle}: {path} holds {value:?}");
                seen.entry(array.to_owned()).or_default()[usize::from(held)] = true;
            }
        }
        assert_eq!(seen.len(), 7, "{name}: {seen:?}");
        assert!(seen.values().all(|seen| *seen == [true; 2]), "{name}: {seen:?}");
    }
}
