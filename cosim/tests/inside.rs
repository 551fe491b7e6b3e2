//! The registers of RTL and model, by the same names, held against each other in every cycle.
//!
//! Here because defects in the model are put to it by the thousand (`docs/mutation.md`), so it builds nothing but what
//! it runs; `tests/tests/inside.rs` has the waves, and the search for the first register that differs.

use atoms_cosim::campaign::Campaign;
use atoms_cosim::configs::{self, NamedConfig};
use atoms_cosim::internals::Looking;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::rtl;
use atoms_cosim::session::Session;
use atoms_cosim::stimulus::Profile;
use atoms_model::registers::WITHOUT_COUNTERPART;
use atoms_verilated::Variant;

/// A configuration that is quick to build and shows memory inside, and the largest one.
const CONFIGS: [&str; 2] = ["small", "default"];

fn config(name: &str) -> NamedConfig {
    configs::named(&configs::rtl_dir(), name).expect("rtl/configs.toml has it")
}

fn lockstep(name: &str) -> Lockstep {
    let named = config(name);
    let rtl = rtl::instance(&configs::rtl_dir(), &named, Variant::Wave, &mut |_| {})
        .unwrap_or_else(|error| panic!("the RTL of `{name}` does not build: {error}"));
    Lockstep::new(rtl, named.config).expect("the RTL comes out of reset")
}

/// Whether a signal of the RTL is one of the registers that the model does without.
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

/// Every register of the RTL is a register of the model, or is listed with a reason; and none is both.
#[test]
fn registers_have_counterparts_or_a_reason() {
    let mut used = vec![false; WITHOUT_COUNTERPART.len()];
    for name in CONFIGS {
        let mut machine = lockstep(name);
        machine.look_inside(Looking::Show(0..0)).expect("the wave variant");
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
        machine.look_inside(Looking::Compare { from: 0, every: 1 }).expect("the wave variant");
        let mut session = Session::new(machine, None);
        let (config, profile) = (config(name), Profile::default());
        let campaign = Campaign { config, profile, seed: 1, requests: u64::MAX / 2, until: u64::MAX };
        let mut stimulus = campaign.stimulus();
        session.run(&mut stimulus, cycles, |_| {}).unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let agreed = session.machine().internals().and_then(|(_, internals)| internals.agreed());
        assert_eq!(agreed, Some(cycles - 1), "{name}");
    }
}
