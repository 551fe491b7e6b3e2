//! Comparison of all memory at the end of a run, and checkpoints of a lockstep pair.

use atoms_cosim::case::{Case, CaseStimulus};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine, RtlMachine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_model::port::{In, Out, Probe};
use atoms_ops::{Op, Size};
use atoms_stimulus::request::{Lane, WarpRequest};
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};
use atoms_tests::bench::whole;
use atoms_tests::bugs::Bug;
use atoms_tests::hunt::Hunted;
use atoms_tests::{config, lockstep_of, rtl_of, test_each};

/// Only the memory comparison finds a bank that loses a write, and names bank and row.
#[test]
fn memory_that_differs_is_found_at_the_end() {
    let named = config("small");
    let library = Bug::named("a_bank_forgets_row_3").planted();
    let pair = Lockstep::make(&library, &named).expect("the RTL comes out of reset");
    let mut session = Session::new(pair, None);
    // Address of bank 2 in row 3.
    let store = WarpRequest {
        op: Op::Store as u8,
        size: Size::U32 as u8,
        mask: 1,
        lanes: vec![Lane { ra: 3 * 16 + 2 * 4, b: 7, c: 0 }],
        ..WarpRequest::default()
    };
    let case = Case { allocations: vec![whole(&named.config)], warps: vec![store], ..Case::default() };
    let failure =
        session.run(&mut CaseStimulus::new(&case), u64::MAX, |_| {}).expect_err("row 3 is forgotten");
    let Failure::Mismatch(mismatch) = failure else { panic!("expected a mismatch: {failure}") };
    let [only] = &mismatch.differences[..] else { panic!("one word differs: {mismatch}") };
    assert_eq!(only.place(), "bank 2, row 3, memory");
    assert_eq!([only.rtl, only.model].map(|value| only.show(value)), ["0x00000000", "0x00000007"]);
}

/// The oracle keeps its own memory image, so it finds a word that changed without a request.
#[test]
fn a_word_that_no_request_wrote_is_found_at_the_end() {
    let named = config("small");
    let machine = RtlMachine::new(rtl_of(&named), named.config).expect("the RTL comes out of reset");
    let mut session = Session::new(machine, Some(Scoreboard::new(&named.config, &[0; 32])));
    let mut stimulus = RandomStimulus::new(named.config, &Profile::default(), 3, 200);
    session.run(&mut stimulus, u64::MAX, |_| {}).expect("the RTL does as it should");
    let mut memory = session.machine_mut().read_memory().expect("it can be read");
    memory[13] ^= 0x100;
    session.machine_mut().load_memory(&memory).expect("it has as many words");
    let Err(Failure::Oracle(violation)) = session.judge_memory() else {
        panic!("word 13 was changed behind the oracle's back");
    };
    let text = violation.to_string();
    assert!(text.starts_with("the oracle rejects the memory at the end: at the end word 13"), "{text}");
}

fn drive(pair: &mut Lockstep, stimulus: &mut RandomStimulus, i: &mut In, cycles: u32) -> Vec<(Out, Probe)> {
    let cycle = |_| {
        stimulus.drive(i);
        pair.cycle(i).unwrap_or_else(|stop| panic!("{stop}"));
        stimulus.observe(i, pair.out());
        complete_handshakes(i, pair.out());
        (*pair.out(), *pair.probe())
    };
    (0..cycles).map(cycle).collect()
}

/// After a restore, the same inputs give the same outputs and probe bits in every cycle, and the same memory.
/// The machine had run on after the checkpoint.
fn replays_bit_for_bit(name: &str) {
    let named = config(name);
    let mut pair = lockstep_of(&named);
    let mut stimulus = RandomStimulus::new(named.config, &Profile::default(), 9, u64::MAX);
    let mut i = In::default();
    drive(&mut pair, &mut stimulus, &mut i, 1000);

    let checkpoint = pair.save().expect("it is running");
    assert_eq!(checkpoint.cycles(), 1000);
    let (mut again, mut i_again) = (stimulus.clone(), i);
    let first = drive(&mut pair, &mut stimulus, &mut i, 1000);
    let memory = pair.read_memory().expect("both sides agree");
    drive(&mut pair, &mut stimulus, &mut i, 500);

    pair.restore(&checkpoint).expect("it is this machine's");
    assert_eq!(pair.cycles(), 1000);
    let second = drive(&mut pair, &mut again, &mut i_again, 1000);
    let differs = first.iter().zip(&second).position(|(a, b)| a != b);
    assert_eq!(differs, None, "{name}: first cycle that differs");
    assert!(pair.read_memory().expect("both sides agree") == memory, "{name}: memory");
    assert!(first.iter().any(|(out, _)| out.rsp_valid == 1), "{name}: something went on");
}

test_each! { mod a_checkpoint: replays_bit_for_bit; default small all_options }

/// A checkpoint belongs to one configuration.
#[test]
fn a_checkpoint_of_another_machine_is_refused() {
    let (mut small, mut tiny) = (lockstep_of(&config("small")), lockstep_of(&config("tiny")));
    let checkpoint = small.save().expect("it is running");
    assert!(matches!(tiny.restore(&checkpoint), Err(Failure::Rtl(_))));
    tiny.read_memory().expect("it is as it was");
}
