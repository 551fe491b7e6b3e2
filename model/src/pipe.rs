//! Read-modify-write pipeline: reads the banks, applies the kernel, writes back. Twin of
//! `rtl/atoms_pipe.sv`.
//!
//! One shortcut on purpose: the word a pass works on is read from memory in its last stage. By
//! then every older pass has written, so this is the youngest value there is, which the hardware
//! must put together from an earlier read and its forwarding registers, or keep clean by holding
//! passes back. A defect there cannot be mirrored by accident.

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

/// One stage: a pass, its bank work, and where its lanes' words are.
#[derive(Clone, Debug)]
struct Stage {
    pass: Pass,
    // Boxed, so that it changes hands with issue instead of being copied.
    work: Box<BankWork>,
    first: FirstWords,
}

/// What the last stage does this cycle.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// Words before the operation, per bank the pass works on.
    pub(crate) old: [u32; MAX_BANKS],
    /// Banks whose word belongs to an access whose comparison held.
    pub(crate) hit: u64,
    /// First banks of the mbarrier objects that complete a phase.
    pub(crate) completed: u64,
    /// Banks written.
    pub(crate) write: u64,
    /// Word written, per bank written.
    pub(crate) new: [u32; MAX_BANKS],
}

/// Registers of the pipeline, and what its last stage does with them.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    // A ring, so that stages need not be copied: stage s is at (last + 1 + s) modulo its length.
    ring: Vec<Stage>,
    /// Place of the last stage.
    last: usize,
    valid: u16,
    /// A bit for each stage.
    stages: u16,
    effect: Effect,
}

impl Pipe {
    /// Empty.
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

    /// Stages that hold a pass; bit 0 reads the banks, the highest one writes them.
    pub(crate) fn valid(&self) -> u16 {
        self.valid
    }

    /// The pass in the last stage; not valid when there is none.
    pub(crate) fn pass(&self) -> &Pass {
        &self.last().pass
    }

    /// What the pass in the last stage brought to its banks.
    pub(crate) fn work(&self) -> &BankWork {
        &self.last().work
    }

    /// Bank and byte of the first word of every lane of the pass in the last stage.
    pub(crate) fn first_words(&self) -> &FirstWords {
        &self.last().first
    }

    /// What the last stage does; see [`Pipe::evaluate`].
    pub(crate) fn effect(&self) -> &Effect {
        &self.effect
    }

    /// Without forwarding: the pass at issue needs a word that is yet to be written.
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

    /// Finds out what the pass in the last stage does to `memory`.
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

    /// Clock edge while the pipeline moves: writes what was evaluated, and moves every stage on.
    /// `enter` is issue, if its pass comes.
    pub(crate) fn tick(&mut self, memory: &mut Banks, enter: Option<&mut Issue>) {
        let length = self.ring.len();
        let stage = &mut self.ring[self.last];
        for bank in banks(self.effect.write) {
            memory.write(bank, stage.work.row[bank], self.effect.new[bank]);
        }
        self.effect.write = 0;
        // The place of the pass that left becomes stage 0.
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

    /// The register that it shares with the hardware; see
    /// [`WITHOUT_COUNTERPART`](crate::registers::WITHOUT_COUNTERPART).
    pub(crate) fn registers(&self, see: &mut impl SeeRegister) {
        let Pipe { ring: _, last: _, valid, stages: _, effect: _ } = self;
        see.see(format_args!("u_pipe.valid_q"), Some((*valid).into()));
    }

    /// Reset: no pass.
    pub(crate) fn reset(&mut self) {
        for stage in &mut self.ring {
            stage.pass = Pass::NONE;
        }
        self.valid = 0;
        self.effect.write = 0;
        self.effect.completed = 0;
    }
}

/// The kernel that the operation's class needs.
#[inline(always)] // once per operation, with the operation a constant: the choice is made once and not per bank
fn kernel(op: Op, size: Size, work: &BankWork, memory: &Banks, effect: &mut Effect) {
    match op.row().class {
        OpClass::Update | OpClass::Load | OpClass::Store => one_word(op, size.signed(), work, memory, effect),
        OpClass::Compare => compare_and_store(size, work, memory, effect),
        OpClass::Barrier => objects(op, work, memory, effect),
    }
}

#[inline(always)] // as `kernel`
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

/// mbarrier objects, on pairs of banks.
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
