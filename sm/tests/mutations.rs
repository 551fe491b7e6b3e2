//! Modified kernels end normally or with an error, but never with a panic.

use crate::functional;

use atoms_isa::Program;
use atoms_model::{Config, Unit};
use atoms_sm::{Launch, SmConfig, run};
use functional::{FunctionalPort, Shape};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::LazyLock;

struct Sample {
    name: String,
    lines: Vec<String>,
    launch: Launch,
}

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    let mut samples: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?.strip_suffix(".sass")?.to_string();
            let kernel = name.split('.').next()?;
            let launch = Launch::from_file(&folder.join(format!("{kernel}.launch.toml"))).ok()?;
            let text = std::fs::read_to_string(&path).unwrap();
            Some(Sample { name, lines: text.lines().map(String::from).collect(), launch })
        })
        .collect();
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    samples
});

#[derive(Clone, Debug)]
enum Change {
    Delete,
    Repeat,
    /// Replace the line by a line from elsewhere.
    Move(prop::sample::Index),
    /// Replace one digit of a number or register.
    Digit(prop::sample::Index, char),
    Guard(&'static str),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Delete),
        Just(Change::Repeat),
        any::<prop::sample::Index>().prop_map(Change::Move),
        (any::<prop::sample::Index>(), prop::char::range('0', '9'))
            .prop_map(|(at, to)| Change::Digit(at, to)),
        prop::sample::select(vec!["@P0 ", "@!P1 ", "@UP0 "]).prop_map(Change::Guard),
    ]
}

fn apply(lines: &mut Vec<String>, at: usize, change: &Change) {
    match change {
        Change::Delete => drop(lines.remove(at)),
        Change::Repeat => lines.insert(at, lines[at].clone()),
        Change::Move(from) => {
            let from = from.index(lines.len());
            lines[at] = lines[from].clone();
        }
        Change::Digit(which, to) => {
            let digits: Vec<_> =
                lines[at].char_indices().filter(|(i, c)| *i > 16 && c.is_ascii_digit()).collect();
            if !digits.is_empty() {
                let (i, _) = digits[which.index(digits.len())];
                lines[at].replace_range(i..=i, &to.to_string());
            }
        }
        Change::Guard(guard) => {
            if let Some((offset, rest)) = lines[at].clone().split_once("*/ ") {
                lines[at] = format!("{offset}*/ {guard}{}", rest.trim_start());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_changed_kernel_brings_a_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..5),
        seed in any::<u64>(),
    ) {
        let sample = &SAMPLES[which.index(SAMPLES.len())];
        let mut lines = sample.lines.clone();
        for (at, change) in &changes {
            let at = at.index(lines.len());
            apply(&mut lines, at, change);
        }
        let Ok(program) = Program::parse(&sample.name, &lines.join("\n")) else { return Ok(()) };
        let Ok(kernel) = sample.launch.kernel(&program) else { return Ok(()) };
        let launch = Launch { cycle_budget: Some(2000), ..sample.launch.clone() };
        let mut port = FunctionalPort::new(Shape { seed, ..Shape::default() });
        let config = SmConfig { quiet_cycles: seed % 500, copy_seed: seed, ..SmConfig::default() };
        match run(kernel, &launch, &mut port, &config) {
            Ok(_) => prop_assert!(port.clean()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        let mut port = Unit::new(Config { num_waiters: 2, ..Config::default() });
        if let Err(error) = run(kernel, &launch, &mut port, &config) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
