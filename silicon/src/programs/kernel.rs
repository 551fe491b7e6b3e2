//! Generates the PTX of programs that execute steps.

use std::fmt::Write;

use crate::instruction::{LaneResult, Meaning, TestInstruction};
use crate::program::{ENTRY, LANES, ProgramStep, Spread, Steps};

pub struct Spelled {
    pub instruction: &'static TestInstruction,
    /// Qualifiers such as `.relaxed.cta`; may be empty.
    pub order: &'static str,
    pub state_of: Option<usize>,
}

impl Spelled {
    pub fn plain(instruction: &'static TestInstruction) -> Spelled {
        Spelled { instruction, order: "", state_of: None }
    }

    pub fn step(&self) -> ProgramStep {
        let TestInstruction { name, meaning, answer, .. } = *self.instruction;
        ProgramStep { instruction: name.into(), meaning, answer, state_of: self.state_of }
    }
}

/// Writes a module for this architecture up to the body of the kernel, for clusters of `ctas` CTAs. Uses the
/// oldest PTX version that has all needed features, so that old drivers accept the module.
pub(crate) fn head(since: u32, b128: bool, ctas: u32) -> String {
    let version = match since {
        _ if b128 => "8.3",
        ..=79 => "6.4",
        80..=89 => "7.1",
        90..=99 => "8.0",
        _ => "8.6",
    };
    let mut text = format!(
        ".version {version}\n.target sm_{since}\n.address_size 64\n\n.visible .entry {ENTRY}(\n\t.param .u64 \
         {ENTRY}_param_0,\n\t.param .u64 {ENTRY}_param_1\n)\n"
    );
    if ctas > 1 {
        let _ = writeln!(text, ".reqnctapercluster {ctas}, 1, 1");
    }
    text
}

/// Returns the PTX lines of a barrier for all threads of a CTA, or of a cluster of `ctas` CTAs. The warp
/// reconverges first: lanes that `try_wait` suspends diverge from their warp, and on an H200 the other lanes
/// pass a `bar.sync` without them.
pub(crate) fn barrier(ctas: u32) -> &'static [&'static str] {
    match ctas {
        1 => &["bar.warp.sync 0xffffffff;", "bar.sync 0;"],
        _ => {
            &["bar.warp.sync 0xffffffff;", "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"]
        }
    }
}

pub fn of_steps(steps: &Steps, spelled: &[Spelled], since: u32) -> String {
    let b128 = spelled.iter().any(|s| s.instruction.bits == 128);
    let mut text = head(since, b128, steps.spread.ctas());
    let threads = LANES as u32 * steps.spread.warps();
    let kernel = Kernel { text: &mut text, steps, threads };
    kernel.write(spelled);
    text
}

struct Kernel<'a> {
    text: &'a mut String,
    steps: &'a Steps,
    threads: u32,
}

impl Kernel<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "\t{line}");
    }

    fn write(mut self, spelled: &[Spelled]) {
        let bytes = 4 * self.steps.words;
        self.text.push_str("{\n");
        for line in [
            ".reg .pred %mine, %first, %inside, %p, %q;",
            ".reg .b32 %thread, %lane, %group, %case, %base, %address, %part, %a, %n, %hint, %count, %word;",
            ".reg .b64 %in, %out, %lanes, %results, %offset, %from, %to, %wide;",
        ] {
            self.line(line);
        }
        for step in 0..spelled.len() {
            if self.keeps_state(step) {
                self.line(&format!(".reg .b64 %state{step};"));
            }
        }
        self.line(&format!(".shared .align 16 .b8 memory[{bytes}];"));
        self.set_up();
        self.fill();
        for (step, spelled) in spelled.iter().enumerate() {
            self.step(step, spelled);
        }
        self.line("ret;");
        self.text.push_str("}\n");
    }

    fn keeps_state(&self, step: usize) -> bool {
        self.steps.steps.iter().any(|later| later.state_of == Some(step))
    }

    fn set_up(&mut self) {
        self.line(&format!("ld.param.u64 %in, [{ENTRY}_param_0];"));
        self.line(&format!("ld.param.u64 %out, [{ENTRY}_param_1];"));
        for line in [
            "cvta.to.global.u64 %in, %in;",
            "cvta.to.global.u64 %out, %out;",
            "mov.u32 %thread, %tid.x;",
            "and.b32 %lane, %thread, 31;",
            "mov.u32 %base, memory;",
        ] {
            self.line(line);
        }
        let (case, own, groups) = match self.steps.spread {
            Spread::Warp => ("mov.u32 %case, %ctaid.x;", "mov.u32 %group, 0;", 1),
            Spread::Warps(n) => ("mov.u32 %case, %ctaid.x;", "shr.u32 %group, %thread, 5;", n),
            Spread::Cluster(n) => ("mov.u32 %case, %clusterid.x;", "mov.u32 %group, %cluster_ctarank;", n),
        };
        self.line(case);
        self.line(own);
        self.line(&format!("rem.u32 %n, %lane, {groups};"));
        self.line("setp.eq.u32 %mine, %n, %group;");
        // Only threads of the first CTA access the shared memory directly, to initialize it and read it back.
        let first = match self.steps.spread {
            Spread::Warp | Spread::Warps(_) => "setp.eq.u32 %first, %lane, %lane;",
            Spread::Cluster(_) => "setp.eq.u32 %first, %group, 0;",
        };
        self.line(first);
        let (input, output) = (self.steps.input_bytes(), self.steps.output_bytes());
        for line in [
            format!("mul.wide.u32 %offset, %case, {input};"),
            "add.s64 %in, %in, %offset;".into(),
            format!("mul.wide.u32 %offset, %case, {output};"),
            "add.s64 %out, %out, %offset;".into(),
        ] {
            self.line(&line);
        }
    }

    /// Emits a loop in which the threads of the first CTA execute `lines` once for each word. `%word` is the
    /// byte offset of the word.
    fn each_word(&mut self, lines: &[&str]) {
        let words = self.steps.words;
        for from in (0..words).step_by(self.threads as usize) {
            self.line(&format!("add.u32 %word, %thread, {from};"));
            self.line(&format!("setp.lt.and.u32 %inside, %word, {words}, %first;"));
            self.line("shl.b32 %word, %word, 2;");
            lines.iter().for_each(|line| self.line(line));
        }
    }

    fn fill(&mut self) {
        self.each_word(&[
            "cvt.u64.u32 %offset, %word;",
            "add.s64 %from, %in, %offset;",
            "@%inside ld.global.u32 %n, [%from];",
            "add.u32 %address, %base, %word;",
            "@%inside st.shared.u32 [%address], %n;",
        ]);
        self.barrier();
    }

    fn barrier(&mut self) {
        barrier(self.steps.spread.ctas()).iter().for_each(|line| self.line(line));
    }

    fn step(&mut self, index: usize, spelled: &Spelled) {
        let step = &self.steps.steps[index];
        let (record, operand, result) = (step.record_bytes(), step.operand_bytes(), step.result_bytes());
        let (records, results) = (self.steps.record(index).start, self.steps.results(index));
        let bits = spelled.instruction.bits;
        self.line("{");
        self.line(&format!(".reg .b{bits} %b, %c;"));
        // An mbarrier state has 64 bits, even if the count operand of the instruction has 32 bits.
        let wide = if spelled.instruction.name.starts_with("mbarrier.") { 64 } else { bits };
        self.line(&format!(".reg .b{wide} %d;"));
        self.line(&format!("mul.wide.u32 %offset, %lane, {record};"));
        self.line("add.s64 %lanes, %in, %offset;");
        self.line(&format!("ld.global.u32 %a, [%lanes+{records}];"));
        self.line(&format!("ld.global.u32 %part, [%lanes+{}];", records + 4));
        let [at_b, at_c] = [records + operand, records + 2 * operand];
        match bits {
            128 => {
                for (register, at) in [("%b", at_b), ("%c", at_c)] {
                    self.line(&format!("ld.global.v2.u64 {{%from, %to}}, [%lanes+{at}];"));
                    self.line(&format!("mov.b128 {register}, {{%from, %to}};"));
                }
                self.line("mov.u64 %from, 0;");
                self.line("mov.b128 %d, {%from, %from};");
            }
            _ => {
                self.line(&format!("ld.global.b{bits} %b, [%lanes+{at_b}];"));
                self.line(&format!("ld.global.b{bits} %c, [%lanes+{at_c}];"));
                self.line(&format!("mov.b{wide} %d, 0;"));
            }
        }
        if bits == 32 {
            self.line("mov.b32 %n, %b;");
            self.line(&format!("ld.global.u32 %hint, [%lanes+{at_c}];"));
        }
        self.line("setp.ne.and.u32 %p, %part, 0, %mine;");
        self.line("setp.ne.u32 %q, %lane, %lane;");
        self.line("mov.u32 %count, 0;");
        self.line("add.u32 %a, %a, %base;");
        let space = match self.steps.spread {
            Spread::Cluster(_) if spelled.instruction.reaches_cluster() => {
                self.line("mapa.shared::cluster.u32 %a, %a, 0;");
                ".shared::cluster"
            }
            Spread::Warp | Spread::Warps(_) | Spread::Cluster(_) => ".shared",
        };
        let state = spelled.state_of.map(|of| format!("%state{of}"));
        let text = spelled.instruction.text(space, spelled.order, state.as_deref());
        self.line(&format!("@%p {text};"));
        if self.keeps_state(index) {
            self.line(&format!("mov.b64 %state{index}, %d;"));
        }
        self.answer(spelled.instruction, wide, result, results.start);
        self.barrier();
        let memory = results.end;
        self.each_word(&[
            "add.u32 %address, %base, %word;",
            "@%inside ld.shared.u32 %n, [%address];",
            "cvt.u64.u32 %offset, %word;",
            "add.s64 %to, %out, %offset;",
            &format!("@%inside st.global.u32 [%to+{memory}], %n;"),
        ]);
        self.barrier();
        self.line("}");
    }

    /// Emits the store of a lane's result. The result is in `%d` (`wide` bits), unless it is a pending count
    /// or a predicate.
    fn answer(&mut self, instruction: &TestInstruction, wide: u32, bytes: usize, at: usize) {
        self.line(&format!("mul.wide.u32 %offset, %lane, {bytes};"));
        self.line("add.s64 %results, %out, %offset;");
        match (instruction.meaning, instruction.answer) {
            (Meaning::PendingCount, _) => {
                self.line("cvt.u64.u32 %wide, %count;");
                self.line(&format!("@%mine st.global.u64 [%results+{at}], %wide;"));
            }
            (_, LaneResult::Predicate) => {
                self.line("selp.u32 %n, 1, 0, %q;");
                self.line("cvt.u64.u32 %wide, %n;");
                self.line(&format!("@%mine st.global.u64 [%results+{at}], %wide;"));
            }
            (_, LaneResult::Register) if wide == 128 => {
                self.line("mov.b128 {%from, %to}, %d;");
                self.line(&format!("@%mine st.global.v2.u64 [%results+{at}], {{%from, %to}};"));
            }
            (_, LaneResult::Register) => {
                let widen = match wide {
                    64 => "mov.b64 %wide, %d;",
                    32 => "cvt.u64.u32 %wide, %d;",
                    _ => "cvt.u64.u16 %wide, %d;",
                };
                self.line(widen);
                self.line(&format!("@%mine st.global.u64 [%results+{at}], %wide;"));
            }
            (_, LaneResult::Nothing) => {}
        }
    }
}
