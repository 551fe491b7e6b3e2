//! Builds the program that executes drawn cases.

use crate::program::{ProgramLaunch, Reading, Spread, Steps, TestProgram};
use crate::programs::draw;
use crate::programs::kernel::{self, Spelled};

pub(crate) struct Asked<'a> {
    pub(crate) name: &'a str,
    pub(crate) asks: String,
    pub(crate) undefined: bool,
}

pub(crate) fn of_cases(
    Asked { name, asks, undefined }: Asked<'_>,
    clauses: &[&str],
    since: u32,
    spread: Spread,
    spelled: &[Spelled],
    cases: &[draw::DrawnCase],
) -> TestProgram {
    let steps = Steps {
        words: draw::WORDS,
        cases: cases.len() as u32,
        spread,
        steps: spelled.iter().map(Spelled::step).collect(),
        undefined,
    };
    let mut input = Vec::new();
    cases.iter().for_each(|case| case.pack(&steps.steps, &mut input));
    debug_assert_eq!(input.len(), cases.len() * steps.input_bytes(), "as the kernel reads it");
    let launch = ProgramLaunch {
        ctas: steps.cases * spread.ctas(),
        threads: 32 * spread.warps(),
        cluster: spread.ctas(),
        input,
        output_bytes: steps.cases * steps.output_bytes() as u32,
        reading: Reading::Steps(steps.clone()),
    };
    TestProgram {
        name: name.into(),
        asks,
        clauses: clauses.iter().map(ToString::to_string).collect(),
        since,
        ptx: kernel::of_steps(&steps, spelled, since),
        launches: vec![launch],
    }
}
