//! Every program of the catalogue on our own core: it runs, and the oracle accepts what it gives.

use atoms_cosim::configs;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::session::Session;
use atoms_silicon::program::Reading;
use atoms_silicon::{catalogue, judge, replay};

fn model() -> Session<ModelMachine> {
    let config = configs::named(&configs::rtl_dir(), "default").unwrap();
    Session::new(ModelMachine::new(config.config), None)
}

/// Bits that are flipped in the output of each launch.
const FLIPS: usize = 8;

/// Runs each `step`th program of the catalogue.
fn programs_run_here_and_the_oracle_accepts_them(step: u64) {
    let mut wrong = Vec::new();
    let (mut rng, mut unseen) = (fastrand::Rng::with_seed(7), Vec::new());
    let (mut accepted, mut same) = (0, 0);
    for program in catalogue::programs(1).into_iter().step_by(step as usize) {
        let outputs = match replay::run(&program, replay::arch(program.since), &mut model()) {
            Ok(outputs) => outputs,
            Err(error) => {
                wrong.push(format!("{}: {error}", program.name));
                continue;
            }
        };
        for (launch, output) in program.launches.iter().zip(&outputs) {
            let Reading::Steps(steps) = &launch.reading else { continue };
            let judgement = judge::judge(steps, program.since, &launch.input, output).unwrap();
            accepted += judgement.accepted;
            if !steps.undefined {
                wrong.extend(judgement.refused.iter().take(2).map(|r| format!("{}: {r:?}", program.name)));
            }
            // Where updates are lost the oracle refuses as it is.
            for _ in 0..if steps.undefined { 0 } else { FLIPS } {
                let (byte, bit) = (rng.usize(..output.len()), rng.u32(..8));
                let mut flipped = output.clone();
                flipped[byte] ^= 1 << bit;
                let refused = judge::judge(steps, program.since, &launch.input, &flipped).unwrap();
                let (_, differences) = judge::compare("p", steps, &launch.input, &flipped, output).unwrap();
                if refused.refused.len() <= judgement.refused.len() && differences.is_empty() {
                    unseen.push(format!("{}, byte {byte}, bit {bit}", program.name));
                }
            }
            let (compared, differences) = judge::compare("p", steps, &launch.input, output, output).unwrap();
            assert!(differences.is_empty(), "{}", program.name);
            same += compared;
        }
    }
    assert!(wrong.is_empty(), "{} programs:\n{}", wrong.len(), wrong.join("\n"));
    // States of arrivals that one order or another explains, on sm_80 and of noComplete.
    let of_objects = unseen.len();
    unseen.retain(|program| {
        !program.starts_with("mbarrier sequence") && !program.starts_with("states of a noComplete")
    });
    // A lane whose operand changes one bit, or none, can have come before or after another one like it: of thousands of
    // flips one or two are such a bit.
    assert!(unseen.len() <= 2, "{} flips that nothing sees:\n{}", unseen.len(), unseen.join("\n"));
    assert!(of_objects < 60, "{of_objects} flips in states that nothing sees");
    let (least_accepted, least_compared) = (10_000 / step, 8_000 / step);
    assert!(accepted > least_accepted && same > least_compared, "{accepted} accepted, {same} compared");
}

#[test]
fn every_fifth_program_runs_here_and_the_oracle_accepts_it() {
    programs_run_here_and_the_oracle_accepts_them(5);
}

#[test]
#[ignore = "nightly: all 15 seconds of programs"]
fn every_program_runs_here_and_the_oracle_accepts_it() {
    programs_run_here_and_the_oracle_accepts_them(1);
}
