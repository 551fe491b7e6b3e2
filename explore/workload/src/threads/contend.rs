//! Contention: lanes repeatedly access the same word or the same bank.

use std::ops::BitXor;

use atoms_model::mbarrier::MbarObject;
use atoms_ops::{Op, Size};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::draw::generators;
use crate::parameter::{named_values, parameters};
use crate::program::{
    Answer, Next, Placement, Remaining, SetUp, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError,
};

named_values! {
    Meeting {
        Word "word";
        Bank "bank";
    }
}

named_values! {
    Operation {
        Add "add";
        /// ADD without a result.
        Reduce "add.red";
        PopcInc "popc.inc";
        Min "min";
        /// MIN without a result.
        MinReduce "min.red";
        Xor "xor";
        /// XOR without a result.
        XorReduce "xor.red";
        Exch "exch";
        /// CAS that stores: it replaces 0 with 0.
        Cas "cas";
        /// CAS that never stores.
        CasMiss "cas.miss";
        Load "lds";
        /// Arrival at an mbarrier object that expects [`ARRIVALS`] arrivals.
        Arrive "mbar.arrive";
        /// Test of the phase before the first one. This phase is complete.
        TestWait "mbar.test_wait";
    }
}

impl Operation {
    fn size(self) -> Size {
        if matches!(self, Operation::Arrive | Operation::TestWait) { Size::U64 } else { Size::U32 }
    }

    /// Neutral element: the expected value of a word without any operand.
    fn of_none(self) -> u32 {
        if matches!(self, Operation::Min | Operation::MinReduce) { u32::MAX } else { 0 }
    }

    /// Returns the words that are not zero at the start, with their addresses.
    fn at_first(self, address: u32) -> Vec<(u32, u32)> {
        match self {
            // Start with the maximum, so that a minimum of the operands can be found.
            Operation::Min | Operation::MinReduce => vec![(address, u32::MAX)],
            Operation::Arrive | Operation::TestWait => halves(address, MbarObject::init(ARRIVALS).encode()),
            _ => Vec::new(),
        }
    }
}

/// Splits 64 bits into two words with addresses.
fn halves(address: u32, value: u64) -> Vec<(u32, u32)> {
    vec![(address, value as u32), (address + 4, (value >> 32) as u32)]
}

/// Arrivals that an mbarrier object expects per phase: the maximum.
const ARRIVALS: u32 = (1 << 20) - 1;

parameters! {
    /// Parameters of contenders.
    Contend {
        /// Shared resource: word: one word or mbarrier object; bank: one bank, with a word per thread.
        at: Meeting = Meeting::Word, ();
        /// Number of neighbouring threads that contend for one resource; 0: all threads.
        contention: u32 = 1, 0..=2048;
        /// Operation: cas stores, cas.miss does not; add.red, min.red and xor.red have no result.
        op: Operation = Operation::Add, ();
    }
    no_effect |_| {
        "compute" if true => "choose a workload whose requests depend on answers";
    }
}

impl Contend {
    pub(crate) fn program(&self, set_up: &SetUp<'_>) -> Result<ContendProgram, WorkloadError> {
        let SetUp { threads, units, config, seed, .. } = *set_up;
        let help = "use fewer `warps` or `lanes`, or increase `contention`";
        let groups = threads.objects(self.contention);
        let wide = self.op.size().bytes() / 4;
        let places = config.num_banks / wide;
        let mut placement = Placement::new(config);
        let addresses: Vec<u32> = match self.at {
            Meeting::Word => {
                let base = placement.words(u64::from(groups * wide), "the words", help)?;
                (0..threads.count()).map(|t| base + 4 * wide * threads.object(self.contention, t)).collect()
            }
            Meeting::Bank => {
                // Groups that share a bank are placed in separate rows.
                let size = if self.contention == 0 { threads.count() } else { self.contention };
                let rows = u64::from(size) * u64::from(groups.div_ceil(places));
                placement.words(rows * u64::from(config.num_banks), "the words", help)?;
                let on_bank = |thread: u32| {
                    let group = threads.object(self.contention, thread);
                    let row = group / places * size + thread % size;
                    placement.on_bank(row, group % places * wide)
                };
                (0..threads.count()).map(on_bank).collect()
            }
        };
        let mut words = addresses.clone();
        words.sort_unstable();
        words.dedup();
        let place = |address: &u32| words.partition_point(|word| word < address);
        Ok(ContendProgram {
            op: self.op,
            threads,
            generators: generators(seed, threads.warps),
            remaining: Remaining::new(threads, units),
            places: addresses.iter().map(place).collect(),
            addresses,
            expected: vec![Expected { operands: self.op.of_none(), returned: 0 }; words.len()],
            memory: words.iter().flat_map(|word| self.op.at_first(*word)).collect(),
            words,
            wrong: None,
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    /// Operands combined by the operation; for EXCH, the sum of the operands.
    operands: u32,
    /// Sum of the results of EXCH.
    returned: u32,
}

#[derive(Debug)]
pub(crate) struct ContendProgram {
    op: Operation,
    threads: Threads,
    generators: Vec<Xoshiro256PlusPlus>,
    remaining: Remaining,
    /// `addresses`: address of each thread's word. `places`: index of that word in `words`.
    addresses: Vec<u32>,
    places: Vec<usize>,
    words: Vec<u32>,
    expected: Vec<Expected>,
    memory: Vec<(u32, u32)>,
    wrong: Option<String>,
}

impl ContendProgram {
    /// Drives addresses and operands of a warp, and combines the operands into the expected value of each
    /// word.
    #[inline(always)]
    fn operands(
        &mut self,
        warp: usize,
        port: &mut WarpPort<'_>,
        operand: impl Fn(&mut Xoshiro256PlusPlus) -> u32,
        combine: impl Fn(u32, u32) -> u32,
    ) {
        let (threads, mut rng) = (self.threads.of(warp), self.generators[warp].clone());
        let threads = self.addresses[threads.clone()].iter().zip(&self.places[threads]);
        for (lane, (address, place)) in threads.enumerate() {
            let operand = operand(&mut rng);
            let expected = &mut self.expected[*place].operands;
            *expected = combine(*expected, operand);
            port.lane(lane, *address, operand.into(), 0);
        }
        self.generators[warp] = rng;
    }
}

impl WarpProgram for ContendProgram {
    fn memory(&self) -> &[(u32, u32)] {
        &self.memory
    }

    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let lanes = self.threads.mask();
        match self.op {
            Operation::Add => port.ask(Op::Add, Size::U32, lanes),
            Operation::Reduce => port.post(Op::Add, Size::U32, lanes),
            Operation::PopcInc => port.post(Op::PopcInc, Size::U32, lanes),
            Operation::Min => port.ask(Op::Min, Size::U32, lanes),
            Operation::Xor => port.ask(Op::Xor, Size::U32, lanes),
            Operation::Exch => port.ask(Op::Exch, Size::U32, lanes),
            Operation::Cas | Operation::CasMiss => port.ask(Op::Cas, Size::U32, lanes),
            Operation::MinReduce => port.post(Op::Min, Size::U32, lanes),
            Operation::XorReduce => port.post(Op::Xor, Size::U32, lanes),
            Operation::Load => port.ask(Op::Load, Size::U32, lanes),
            Operation::Arrive => port.ask(Op::MbarArrive, Size::U64, lanes),
            Operation::TestWait => port.ask(Op::MbarTestWait, Size::U64, lanes),
        }
        // Each operation has its own inlined loop without branches: this function dominates the run time.
        match self.op {
            Operation::Add | Operation::Reduce | Operation::Exch => {
                self.operands(warp, port, Xoshiro256PlusPlus::next_u32, u32::wrapping_add);
            }
            Operation::Min | Operation::MinReduce => {
                self.operands(warp, port, Xoshiro256PlusPlus::next_u32, u32::min);
            }
            Operation::Xor | Operation::XorReduce => {
                self.operands(warp, port, Xoshiro256PlusPlus::next_u32, u32::bitxor);
            }
            Operation::PopcInc => self.operands(warp, port, |_| 1, u32::wrapping_add),
            Operation::Arrive => self.operands(warp, port, |_| 0, |count, _| count.wrapping_add(1)),
            // Bit 31 is the parity of the phase to test.
            Operation::TestWait => self.operands(warp, port, |_| 1 << 31, |none, _| none),
            Operation::CasMiss => self.operands(warp, port, |_| 1, |none, _| none),
            Operation::Cas | Operation::Load => self.operands(warp, port, |_| 0, |none, _| none),
        }
    }

    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        let lanes = self.threads.mask();
        if self.op == Operation::Exch {
            for (rd, place) in answer.rd.iter().zip(&self.places[self.threads.of(warp)]) {
                let returned = &mut self.expected[*place].returned;
                *returned = returned.wrapping_add(*rd as u32);
            }
        }
        let stored = match self.op {
            Operation::Cas | Operation::TestWait => Some(lanes),
            Operation::CasMiss => Some(0),
            _ => None,
        };
        if stored.is_some_and(|stored| stored != answer.pred) {
            let found = answer.pred;
            self.wrong.get_or_insert_with(|| {
                format!("lanes {found:#x} of warp {warp} succeeded, expected lanes {lanes:#x} or none")
            });
        }
        counts.units += u64::from(self.threads.lanes);
        self.remaining.next(warp, 0)
    }

    fn waits_for(&self, warp: usize) -> String {
        format!("has {} operations per lane left", self.remaining.of(warp))
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        self.wrong.clone().map_or(Ok(()), Err)?;
        for (address, expected) in self.words.iter().zip(&self.expected) {
            let Expected { operands, returned } = *expected;
            let wanted = match self.op {
                // EXCH moves values: initial value (0) + operands = results + final value.
                Operation::Exch => operands.wrapping_sub(returned).into(),
                Operation::Arrive | Operation::TestWait => arrived(operands).encode(),
                _ => u64::from(operands),
            };
            for (address, wanted) in
                halves(*address, wanted).into_iter().take(self.op.size().bytes() as usize / 4)
            {
                let found = word(address);
                if found != wanted {
                    return Err(format!(
                        "the word at {address:#x} is {found:#x}, expected {wanted:#x} from the operations"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn arrived(count: u32) -> MbarObject {
    let init = MbarObject::init(ARRIVALS);
    MbarObject { phase: count / ARRIVALS % 2 == 1, pending: ARRIVALS - count % ARRIVALS, ..init }
}
