//! Kernel around the machine code of a line: prepares objects, loads operands, and stores results.

use std::fmt::Write;

use atoms_isa::Arch;
use atoms_sm::{Element, Launch, Param, ParamKind, RunReport};

use super::barrier::BarrierLayout;
use super::body::{Body, KernelRegister, RegisterRole};
use super::case::{
    Agent, DATA, DATA_WORDS, Late, OTHER_BYTES, PtxAnswer, PtxCase, PtxStart, PtxStep, UNTOUCHED,
};
use super::spelling::{SpelledOperation, Spelling, Yields};

pub const NAME: &str = "line";

pub const SHARED: u32 = 1024;

/// Threads per CTA in the buffers: one warp of agents and one other warp.
const THREADS: u32 = 64;

const WORDS: u32 = 32;

/// First register reserved for the kernel. Lines use lower registers.
const FIRST_OWN: u8 = 20;

#[derive(Clone, Copy)]
pub struct BarrierKernel<'a> {
    pub arch: Arch,
    pub spelling: &'a Spelling,
    pub body: &'a Body,
    pub case: &'a PtxCase,
    /// Code that extracts the pending count from the state of a noComplete arrive.
    pub tail: &'a Tail,
}

#[derive(Clone, Debug)]
pub struct Tail {
    pub lines: Vec<String>,
    /// Register of the state's high word.
    pub state: KernelRegister,
    pub count: KernelRegister,
}

impl Tail {
    /// Extracts the tail of a line that contains an arrive before `pending_count`.
    pub fn of(body: &Body) -> Option<Tail> {
        let arrive = body.lines.iter().position(|line| line.contains("ARRIVE"))?;
        let low = body.state?;
        let state = KernelRegister { number: low.number + 1, ..low };
        Some(Tail { lines: body.lines[arrive + 1..].to_vec(), state, count: body.last? })
    }
}

pub fn layout(arch: Arch) -> BarrierLayout {
    if arch.number() < 90 { BarrierLayout::TwoWords } else { BarrierLayout::Fields }
}

/// Words of a thread's input: the operands of the line, and values that the kernel needs.
enum Input {
    Own,
    Address,
    Count,
    State,
    StateHigh,
    Parity,
    Hint,
    Rank,
    Barrier,
    /// Task of the thread: 0 none, 1 execute the line, 2 arrive late.
    Allocation,
    /// Nanoseconds before a late arrival.
    Delay,
    /// First source word of a bulk copy, aligned to 64 bytes.
    Source = 16,
}

impl BarrierKernel<'_> {
    pub fn object(&self, n: usize) -> u32 {
        let first = if self.spelling.symbol { self.spelling.offset } else { 0x40 };
        self.arch.shared_origin() + first + 8 * n as u32
    }

    pub fn data(&self, agent: usize) -> u32 {
        self.arch.shared_origin() + 0x100 + 4 * DATA_WORDS as u32 * agent as u32
    }

    pub fn listing(&self) -> String {
        let mut text = Text(String::new());
        let number = self.arch.number();
        text.raw(&format!(".target sm_{number}"));
        text.raw(&format!(".section .text.{NAME},\"ax\",@progbits"));
        text.line("S2R R20, SR_TID.X");
        text.line("S2R R21, SR_CTAID.X");
        text.line(&format!("LEA R21, R21, R20, {:#x}", THREADS.trailing_zeros()));
        text.line(&format!("SHF.L.U32 R21, R21, {:#x}, RZ", (4 * WORDS).trailing_zeros()));
        for (register, param) in [(22, 0), (24, 8)] {
            let next = register + 1;
            text.line(&format!("LDC.64 R{register}, c[0x0][{:#x}]", self.arch.param_base() + param));
            text.line(&format!("IADD3 R{register}, P6, R{register}, R21, RZ"));
            text.line(&format!("IMAD.X R{next}, RZ, RZ, R{next}, P6"));
        }
        text.line("ISETP.NE.AND P5, PT, R20, RZ, PT");
        text.line("BSSY B1, `(READY)");
        text.line("@P5 BRA `(READY)");
        self.set_up(&mut text);
        text.raw("READY:");
        text.line("BSYNC B1");
        self.meet(&mut text);
        text.input(26, Input::Allocation);
        text.line("ISETP.EQ.AND P5, PT, R26, RZ, PT");
        text.line("@P5 EXIT");
        if self.case.late.is_some() {
            text.line("ISETP.EQ.AND P5, PT, R26, 0x2, PT");
            text.line("@P5 BRA `(LATE)");
        }
        self.body.spare.iter().for_each(|line| text.line(line));
        self.operands(&mut text);
        text.lines(&self.body.lines);
        self.results(&mut text);
        if self.case.ctas > 1 {
            // Threads wait here because others may still access the objects of their CTA.
            self.meet(&mut text);
        }
        text.line("EXIT");
        if self.case.late.is_some() {
            text.raw("LATE:");
            text.input(30, Input::Own);
            text.input(31, Input::Delay);
            text.line("NANOSLEEP R31");
            text.line("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R30+URZ], RZ");
            text.line("EXIT");
        }
        text.0
    }

    fn meet(&self, text: &mut Text) {
        if self.case.ctas > 1 {
            text.line("UCGABAR_ARV");
            text.line("UCGABAR_WAIT");
        } else {
            text.line("BAR.SYNC.DEFER_BLOCKING 0x0");
        }
    }

    /// Emits the code with which thread 0 prepares the objects.
    fn set_up(&self, text: &mut Text) {
        for (n, start) in self.case.objects.iter().enumerate() {
            self.address(text, self.object(n));
            self.start(text, start);
        }
        if self.spelling.operation.asynchronous() {
            for agent in 0..self.case.agents.len() {
                self.address(text, self.data(agent));
                for word in 0..DATA_WORDS {
                    text.line(&format!("MOV R31, {:#x}", DATA.get(word).unwrap_or(&0)));
                    text.line(&format!("STS [R30+{:#x}], R31", 4 * word));
                }
            }
        }
    }

    /// Emits code that sets R30 to the address of an offset in the CTA's allocation.
    fn address(&self, text: &mut Text, offset: u32) {
        if layout(self.arch) == BarrierLayout::TwoWords {
            text.line(&format!("MOV R30, {offset:#x}"));
        } else {
            text.line("S2R R30, SR_CgaCtaId");
            text.line("SHF.L.U32 R30, R30, 0x18, RZ");
            text.line(&format!("IADD3 R30, R30, {offset:#x}, RZ"));
        }
    }

    fn start(&self, text: &mut Text, start: &PtxStart) {
        let layout = layout(self.arch);
        // Memory of an earlier run could already hold the word that init has to write.
        text.pair(34, OTHER_BYTES);
        text.line("STS.64 [R30], R34");
        let Some(count) = start.count else { return };
        let word = PtxStart { count: Some(count), steps: Vec::new() }
            .reached(layout)
            .0
            .map_or(0, |b| b.word(layout));
        text.pair(34, word);
        match self.arch.number() {
            ..=89 => text.line("STS.64 [R30], R34"),
            90..=99 => {
                text.line("R2UR UR20, R30");
                text.line("R2UR UR22, R34");
                text.line("R2UR UR23, R35");
                text.line("SYNCS.EXCH.64 URZ, [UR20], UR22");
            }
            _ => {
                text.line("STS.64 [R30+URZ], R34");
                text.line("SYNCS.CCTL.IVALL");
            }
        }
        for (at, step) in start.steps.iter().enumerate() {
            let so_far = PtxStart { steps: start.steps[..at].to_vec(), ..start.clone() };
            let phase = so_far.reached(layout).0.is_some_and(|barrier| barrier.phase);
            match (layout, *step) {
                (BarrierLayout::TwoWords, PtxStep::Arrive(count)) => {
                    // In the two-word layout, only the last arrival completes a phase.
                    text.line(&format!("MOV R31, {:#x}", count - 1));
                    text.line("ATOMS.ADD RZ, [R30+0x4], R31");
                    text.line("ATOMS.ARRIVE.64 R34, [R30+URZ]");
                }
                (BarrierLayout::TwoWords, PtxStep::Wait) => {}
                (BarrierLayout::TwoWords, PtxStep::ExpectTx(_) | PtxStep::CompleteTx(_)) => {
                    panic!("{}: no transactions there", self.arch)
                }
                (BarrierLayout::Fields, PtxStep::Arrive(count)) => {
                    text.line(&format!("MOV R31, {count:#x}"));
                    text.line("SYNCS.ARRIVE.TRANS64.ART0 R34, [R30+URZ], R31");
                }
                (BarrierLayout::Fields, PtxStep::ExpectTx(count)) => {
                    text.line(&format!("MOV R31, {count:#x}"));
                    text.line("SYNCS.ARRIVE.TRANS64.RED.A0TR RZ, [R30+URZ], R31");
                }
                (BarrierLayout::Fields, PtxStep::CompleteTx(count)) => {
                    text.line(&format!("MOV R31, {count:#x}"));
                    text.line("SYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [R30+URZ], R31");
                }
                (BarrierLayout::Fields, PtxStep::Wait) => {
                    text.line(&format!("MOV R31, {:#x}", u32::from(!phase) << 31));
                    text.line("SYNCS.PHASECHK.TRANS64 P5, [R30+URZ], R31");
                }
            }
        }
    }

    fn operands(&self, text: &mut Text) {
        for (register, role) in &self.body.inputs {
            assert!(
                !register.uniform && register.number < FIRST_OWN,
                "{register}: an input in reach of the line"
            );
            let number = register.number;
            match role {
                RegisterRole::Address => {
                    text.input(number, Input::Address);
                    if layout(self.arch) == BarrierLayout::TwoWords && self.spelling.generic() {
                        // The line adds its offset later, so this value can be below the shared window.
                        text.line(&format!("LDC R27, c[0x0][{:#x}]", self.arch.shared_window_offset()));
                        text.line(&format!("SHF.R.S32.HI R28, RZ, 0x1f, R{number}"));
                        text.line(&format!("IADD3 R{number}, P6, R{number}, R27, RZ"));
                    }
                }
                RegisterRole::AddressHigh if layout(self.arch) == BarrierLayout::TwoWords => {
                    text.line(&format!("LDC R{number}, c[0x0][{:#x}]", self.arch.shared_window_offset() + 4));
                    text.line(&format!("IADD3.X R{number}, R{number}, R28, RZ, P6, !PT"));
                }
                RegisterRole::AddressHigh => text.line(&format!("S2R R{number}, SR_SWINHI")),
                RegisterRole::Source => {
                    text.line(&format!("IADD3 R{number}, R22, {:#x}, RZ", 4 * Input::Source as u32));
                }
                // No carry: a thread's buffer words never cross a multiple of their size.
                RegisterRole::SourceHigh => text.line(&format!("MOV R{number}, R23")),
                RegisterRole::Count if self.spelling.operation.asynchronous() && !self.copies() => {
                    text.input(number, Input::State);
                }
                RegisterRole::Count => text.input(number, Input::Count),
                RegisterRole::State => text.input(number, Input::State),
                RegisterRole::StateHigh => text.input(number, Input::StateHigh),
                RegisterRole::Parity => text.input(number, Input::Parity),
                RegisterRole::Hint => text.input(number, Input::Hint),
                RegisterRole::Rank => text.input(number, Input::Rank),
                RegisterRole::Barrier => text.input(number, Input::Barrier),
            }
        }
    }

    fn copies(&self) -> bool {
        self.spelling.operation == SpelledOperation::BulkCopy
    }

    fn results(&self, text: &mut Text) {
        let Body { state, flag, last, .. } = self.body;
        let missing = || panic!("the line's result is not found: {:?}", self.body);
        match self.spelling.yields {
            Yields::Nothing => {}
            Yields::State => {
                let low = state.unwrap_or_else(missing).number;
                text.output(0, low);
                text.output(1, low + 1);
                if self.spelling.operation.no_complete() {
                    text.line(&format!("MOV R27, R{}", low + 1));
                    text.line(&format!("MOV {}, R27", self.tail.state));
                    text.lines(&self.tail.lines);
                    text.output(3, self.tail.count.number);
                }
            }
            Yields::Predicate => text.output(2, flag.unwrap_or_else(missing).number),
            Yields::Count => text.output(3, last.unwrap_or_else(missing).number),
        }
        if self.spelling.operation == SpelledOperation::Inval {
            // Without an object, a plain store to its place is allowed.
            text.input(30, Input::Own);
            text.pair(34, OTHER_BYTES);
            text.line("STS.64 [R30], R34");
        }
    }

    pub fn launch(&self) -> Launch {
        let words = (self.case.ctas * THREADS * WORDS) as usize;
        let mut inputs = vec![0_u32; words];
        for (at, agent) in self.case.agents.iter().enumerate() {
            let place = index(agent);
            self.inputs(at, agent, &mut inputs[place..place + WORDS as usize]);
        }
        if let Some(late) = self.case.late {
            // A cycle takes 0.556 ns. The limit of try_wait is 1000 cycles.
            let delay = if late == Late::InHint { 1000 } else { 100 };
            let place = index(&Agent { thread: 32, ..Agent::default() });
            inputs[place + Input::Allocation as usize] = 2;
            inputs[place + Input::Own as usize] = self.object(0);
            inputs[place + Input::Delay as usize] = delay;
        }
        let buffer = |name: &str, words: Vec<u32>| Param {
            name: name.into(),
            kind: ParamKind::Buffer {
                element: Element::U32,
                bytes: words.into_iter().flat_map(u32::to_le_bytes).collect(),
                expect: None,
            },
        };
        Launch {
            kernel: NAME.into(),
            grid: [self.case.ctas, 1, 1],
            block: [if self.case.late.is_some() { THREADS } else { 32 }, 1, 1],
            cluster: [self.case.ctas, 1, 1],
            shared: Some(SHARED),
            cycle_budget: Some(20_000),
            params: vec![buffer("inputs", inputs), buffer("out", vec![UNTOUCHED; words])],
            ..Launch::default()
        }
    }

    fn inputs(&self, at: usize, agent: &Agent, words: &mut [u32]) {
        let rank = |cta: u32| if layout(self.arch) == BarrierLayout::TwoWords { 0 } else { cta << 24 };
        let object = rank(agent.target) + self.object(agent.object);
        let data = rank(agent.target) + self.data(at);
        let mut set = |input: Input, word: u32| words[input as usize] = word;
        set(Input::Allocation, 1);
        set(Input::Own, object);
        let named = if self.spelling.operation.asynchronous() { data } else { object };
        // `mapa` replaces the thread's own rank with the target rank.
        let named = if self.spelling.mapped { named - rank(agent.target) + rank(agent.cta) } else { named };
        set(Input::Address, named.wrapping_sub(self.spelling.offset));
        set(Input::Barrier, object);
        set(Input::Rank, agent.target);
        set(Input::Count, agent.amount);
        set(Input::State, agent.state as u32);
        set(Input::StateHigh, (agent.state >> 32) as u32);
        set(Input::Parity, agent.parity);
        set(Input::Hint, agent.hint);
        for (at, word) in words[Input::Source as usize..].iter_mut().enumerate() {
            *word = agent.source(at);
        }
    }

    pub fn answers(&self, report: &RunReport) -> Vec<PtxAnswer> {
        let bytes = &report.buffer("out").expect("the kernel has this buffer").bytes;
        let word = |at: usize| {
            let bytes = bytes[4 * at..4 * at + 4].try_into().expect("four bytes");
            u32::from_le_bytes(bytes)
        };
        let answer = |agent: &Agent| {
            let at = index(agent);
            PtxAnswer { low: word(at), high: word(at + 1), flag: word(at + 2), count: word(at + 3) }
        };
        self.case.agents.iter().map(answer).collect()
    }
}

fn index(agent: &Agent) -> usize {
    ((agent.cta * THREADS + agent.thread) * WORDS) as usize
}

struct Text(String);

impl Text {
    fn raw(&mut self, line: &str) {
        writeln!(self.0, "{line}").expect("a string takes all");
    }

    fn line(&mut self, line: &str) {
        self.raw(&format!("        {line} ;"));
    }

    /// Appends the code of a line. Labels in that code are written `L0:` and `L0`.
    fn lines(&mut self, lines: &[String]) {
        for line in lines {
            if line.ends_with(':') {
                self.raw(line);
                continue;
            }
            let (rest, last) = line.rsplit_once(' ').unwrap_or((line, ""));
            let label = last
                .strip_prefix('L')
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            let text = if label { format!("{rest} `({last})") } else { line.clone() };
            self.line(&text);
        }
    }

    fn pair(&mut self, register: u8, value: u64) {
        self.line(&format!("MOV R{register}, {:#x}", value as u32));
        self.line(&format!("MOV R{}, {:#x}", register + 1, value >> 32));
    }

    fn input(&mut self, register: u8, input: Input) {
        self.line(&format!("LDG.E R{register}, [R22.64+{:#x}]", 4 * input as u32));
    }

    fn output(&mut self, word: u32, register: u8) {
        self.line(&format!("STG.E [R24.64+{:#x}], R{register}", 4 * word));
    }
}
