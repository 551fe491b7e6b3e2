//! Read-modify-write pipeline: reads the banks, applies the kernel, writes back. Twin of `rtl/atoms_pipe.sv`.
//!
//! One deliberate difference: the model reads memory in the last stage. Every older pass has written by then,
//! so the model always reads the youngest value. The hardware must combine an earlier read with its
//! forwarding registers, or hold passes back. A defect there therefore cannot appear in the model too.

use atoms_ops::{Op, OpClass, Size, for_each_op};

use crate::alu::{AluIn, alu};
use crate::bank::Banks;
use crate::config::Config;
use crate::issue::{Issue, Pass};
use crate::lanes::{FirstWords, accesses, banks};
use crate::mbarrier;
use crate::operands::{BankWork, last_word};
use crate::port::MAX_BANKS;
use crate::registers::SeeRegister;

#[derive(Clone, Debug)]
struct Stage {
    pass: Pass,
    // Boxed, so that issue and pipeline swap a pointer instead of copying the work.
    work: Box<BankWork>,
    first: FirstWords,
}

#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// Word before the operation, per used bank.
    pub(crate) old: [u32; MAX_BANKS],
    /// Banks of accesses whose comparison succeeded.
    pub(crate) hit: u64,
    /// First banks of the mbarrier objects that complete a phase.
    pub(crate) completed: u64,
    pub(crate) write: u64,
    /// Word written, per written bank.
    pub(crate) new: [u32; MAX_BANKS],
}

#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    // A ring, so that no stage is copied: stage s is at index (last + 1 + s) modulo the length.
    ring: Vec<Stage>,
    /// Index of the last stage in the ring.
    last: usize,
    valid: u16,
    /// Mask with one bit per stage.
    stages: u16,
    effect: Effect,
}

impl Pipe {
    pub(crate) fn new(config: &Config) -> Self {
        let stage = Stage { pass: Pass::NONE, work: Box::new(BankWork::NONE), first: FirstWords::NONE };
        Pipe {
            ring: vec![stage; config.rmw_latency as usize + 1],
            last: config.rmw_latency as usize,
            valid: 0,
            stages: (2 << config.rmw_latency) - 1,
            effect: Effect { old: [0; MAX_BANKS], hit: 0, completed: 0, write: 0, new: [0; MAX_BANKS] },
        }
    }

    fn stage(&self, number: usize) -> &Stage {
        let at = self.last + 1 + number;
        &self.ring[if at < self.ring.len() { at } else { at - self.ring.len() }]
    }

    fn last(&self) -> &Stage {
        &self.ring[self.last]
    }

    /// Stages that hold a pass. Bit 0 reads the banks, the highest bit writes them.
    pub(crate) fn valid(&self) -> u16 {
        self.valid
    }

    /// Pass in the last stage; its `valid` is false if the stage is empty.
    pub(crate) fn pass(&self) -> &Pass {
        &self.last().pass
    }

    pub(crate) fn work(&self) -> &BankWork {
        &self.last().work
    }

    pub(crate) fn first_words(&self) -> &FirstWords {
        &self.last().first
    }

    /// Effect of the last stage, computed by [`Pipe::evaluate`].
    pub(crate) fn effect(&self) -> &Effect {
        &self.effect
    }

    /// True if the pass at issue needs a word that an older pass has yet to write. Always false with
    /// forwarding.
    pub(crate) fn hazard(&self, config: &Config, work: &BankWork) -> bool {
        if config.forwarding {
            return false;
        }
        (0..self.ring.len() - 1).filter(|s| self.valid >> s & 1 != 0).any(|s| {
            let stage = self.stage(s);
            !stage.pass.kind.is_some_and(|(op, _)| op.only_reads())
                && banks(work.valid & stage.work.valid).any(|bank| stage.work.row[bank] == work.row[bank])
        })
    }

    pub(crate) fn evaluate(&mut self, memory: &Banks) {
        let stage = &self.ring[self.last];
        let effect = &mut self.effect;
        effect.write = 0;
        effect.hit = 0;
        effect.completed = 0;
        let Some((op, size)) = stage.pass.kind else { return };
        if !stage.pass.valid || stage.work.valid == 0 {
            return;
        }
        for_each_op!(op => kernel(size, &stage.work, memory, effect));
    }

    /// Clock edge, only if the pipeline moves: writes the words of `effect` and advances every stage. `enter`
    /// is issue if its pass enters the pipeline.
    pub(crate) fn tick(&mut self, memory: &mut Banks, enter: Option<&mut Issue>) {
        let length = self.ring.len();
        let stage = &mut self.ring[self.last];
        for bank in banks(self.effect.write) {
            memory.write(bank, stage.work.row[bank], self.effect.new[bank]);
        }
        self.effect.write = 0;
        // The ring entry of the pass that left becomes stage 0.
        self.last = if self.last == 0 { length - 1 } else { self.last - 1 };
        self.valid = self.valid << 1 & self.stages;
        match enter {
            Some(issue) => {
                stage.pass = *issue.pass();
                stage.first = issue.bank_addrs().first;
                issue.exchange_work(&mut stage.work);
                self.valid |= 1;
            }
            None => stage.pass.valid = false,
        }
    }

    /// Shows the one register that the RTL has too; see
    /// [`WITHOUT_COUNTERPART`](crate::registers::WITHOUT_COUNTERPART).
    pub(crate) fn registers(&self, see: &mut impl SeeRegister) {
        let Pipe { ring: _, last: _, valid, stages: _, effect: _ } = self;
        see.see(format_args!("u_pipe.valid_q"), Some((*valid).into()));
    }

    pub(crate) fn reset(&mut self) {
        for stage in &mut self.ring {
            stage.pass = Pass::NONE;
        }
        self.valid = 0;
        self.effect.write = 0;
        self.effect.completed = 0;
    }
}

/// Calls the kernel for the class of the operation.
#[inline(always)] // `op` is a constant in each copy: the class is selected once, not per bank
fn kernel(op: Op, size: Size, work: &BankWork, memory: &Banks, effect: &mut Effect) {
    match op.row().class {
        OpClass::Update | OpClass::Load | OpClass::Store => one_word(op, size.signed(), work, memory, effect),
        OpClass::Compare => compare_and_store(size, work, memory, effect),
        OpClass::Barrier => objects(op, work, memory, effect),
    }
}

#[inline(always)] // for the same reason as `kernel`
fn one_word(op: Op, signed: bool, work: &BankWork, memory: &Banks, effect: &mut Effect) {
    for bank in banks(work.valid) {
        let old = memory.read(bank, work.row[bank]);
        effect.old[bank] = old;
        if let Some(new) = alu(op, AluIn { signed, old, b: work.b[bank], c: work.c[bank], hit: false }) {
            effect.new[bank] = new;
            effect.write |= 1 << bank;
        }
    }
}

fn objects(op: Op, work: &BankWork, memory: &Banks, effect: &mut Effect) {
    for low in accesses(work.valid, 2) {
        let high = low | 1;
        effect.old[low] = memory.read(low, work.row[low]);
        effect.old[high] = memory.read(high, work.row[high]);
        let pair = |words: &[u32; MAX_BANKS]| u64::from(words[high]) << 32 | u64::from(words[low]);
        let step = mbarrier::step(op, pair(&effect.old), pair(&work.b));
        if let Some(new) = step.new {
            effect.new[low] = new as u32;
            effect.new[high] = (new >> 32) as u32;
            effect.write |= 3 << low;
            effect.completed |= u64::from(step.completed) << low;
        }
    }
}

fn compare_and_store(size: Size, work: &BankWork, memory: &Banks, effect: &mut Effect) {
    let words = last_word(size) + 1;
    let access = (1u64 << words) - 1;
    for first in accesses(work.valid, words) {
        let mut hit = true;
        for bank in first..first + words {
            effect.old[bank] = memory.read(bank, work.row[bank]);
            hit &= effect.old[bank] == work.b[bank];
        }
        if hit {
            effect.hit |= access << first;
            effect.write |= access << first;
            effect.new[first..first + words].copy_from_slice(&work.c[first..first + words]);
        }
    }
}
