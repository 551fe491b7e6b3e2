//! Programs that read clocks: latency and throughput for each contention and number of warps.

use crate::program::{Clock, Contention, ENTRY, LANES, ProgramLaunch, Reading, TestProgram, Times};
use crate::programs::kernel::{barrier, head};

/// Samples per launch. The first one is a warm-up.
const SAMPLES: u32 = 6;

/// Words of shared memory: one row of banks per lane, or two for 64-bit values.
const WORDS: u32 = 2 * 32 * LANES as u32;

/// Size in bytes of a thread's input record: offset, 1 if active, 32-bit operand, and a zero (`%z`).
const RECORD: usize = 16;

/// Dependency between repeated instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeated {
    /// Each instruction depends on the one before.
    Latency,
    /// Each instruction writes its own register.
    Throughput,
}

struct Timed {
    /// Name in reports: `atom.add.u32 latency`.
    name: &'static str,
    repeated: Repeated,
    since: u32,
    /// Width of the chained register `%r`, in bits.
    bits: u32,
    /// PTX text. Uses `%a` (address), `%b` (32-bit operand), `%w` (64-bit operand), `%z` and the chained
    /// register `%r`. `%z` is a zero from the input, so the compiler cannot know its value.
    text: &'static str,
    clauses: &'static [&'static str],
    contentions: Contentions,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Contentions {
    All,
    /// Lanes on one word, and lanes on separate words.
    Words,
    Lane,
    /// All numbers of warps in [`WAYS`], from 1 to 32.
    Warps,
}

use Contentions::{All, Lane, Warps, Words};
use Repeated::{Latency, Throughput};

macro_rules! timed {
    ($($name:literal $repeated:ident $bits:literal sm $since:literal $contentions:ident $clauses:expr, $text:literal;)*) => {
        &[$(Timed {
            name: $name,
            repeated: $repeated,
            since: $since,
            bits: $bits,
            text: $text,
            clauses: &$clauses,
            contentions: $contentions,
        }),*]
    };
}

const TIMED: &[Timed] = timed! {
    "ld.u32 latency" Latency 32 sm 70 All ["3.5", "4.3"], "ld.shared.u32 %r, [%r]";
    "ld.u32 throughput" Throughput 32 sm 70 All ["3.5", "4.3"], "ld.volatile.shared.u32 %r, [%a]";
    "ld.u64 throughput" Throughput 64 sm 70 Words ["4.4"], "ld.volatile.shared.u64 %r, [%a]";
    "atom.add.u32 latency" Latency 32 sm 70 All ["4.3"], "atom.shared.add.u32 %r, [%a], %r";
    "atom.add.u32 throughput" Throughput 32 sm 70 All ["4.3"], "atom.shared.add.u32 %r, [%a], %b";
    "red.add.u32 throughput" Throughput 32 sm 70 All ["4.3"], "red.shared.add.u32 [%a], %b";
    "atom.add.u32 of 1 throughput" Throughput 32 sm 70 All ["3"], "atom.shared.add.u32 %r, [%a], 1";
    "red.add.u32 of 1 throughput" Throughput 32 sm 70 All ["3"], "red.shared.add.u32 [%a], 1";
    "red.min.u32 throughput" Throughput 32 sm 70 Words ["4.3"], "red.shared.min.u32 [%a], %b";
    "red.xor.b32 throughput" Throughput 32 sm 70 Words ["4.3"], "red.shared.xor.b32 [%a], %b";
    "atom.exch.b32 latency" Latency 32 sm 70 All ["4.3"], "atom.shared.exch.b32 %r, [%a], %r";
    "atom.exch.b32 throughput" Throughput 32 sm 70 All ["4.3"], "atom.shared.exch.b32 %r, [%a], %b";
    "atom.inc.u32 latency" Latency 32 sm 70 Words ["4.3"], "atom.shared.inc.u32 %r, [%a], %r";
    "atom.inc.u32 throughput" Throughput 32 sm 70 Words ["4.3"], "atom.shared.inc.u32 %r, [%a], %b";
    "atom.cas.b32 latency" Latency 32 sm 70 All ["4.3"], "atom.shared.cas.b32 %r, [%a], %r, %r";
    "atom.cas.b32 throughput" Throughput 32 sm 70 All ["4.3"], "atom.shared.cas.b32 %r, [%a], %b, %b";
    "atom.cas.b64 latency" Latency 64 sm 70 Words ["4.4"], "atom.shared.cas.b64 %r, [%a], %r, %r";
    "atom.exch.b64 throughput" Throughput 64 sm 70 Words ["4.4"], "atom.shared.exch.b64 %r, [%a], %w";
    "atom.add.f32 latency" Latency 32 sm 70 All ["5.2"], "atom.shared.add.f32 %r, [%a], %r";
    "red.add.f32 throughput" Throughput 32 sm 70 All ["5.2"], "red.shared.add.f32 [%a], %b";
    "atom.add.f64 latency" Latency 64 sm 70 All ["5.1", "5.2"], "atom.shared.add.f64 %r, [%a], %r";
    "atom.add.u64 latency" Latency 64 sm 70 All ["5.1", "5.2"], "atom.shared.add.u64 %r, [%a], %r";
    "atom.add.f16x2 latency" Latency 32 sm 70 All ["5.2"], "atom.shared.add.noftz.f16x2 %r, [%a], %r";
    "atom.acquire latency" Latency 32 sm 70 Words ["7.4"], "atom.acquire.cta.shared.add.u32 %r, [%a], %r";
    "atom.release latency" Latency 32 sm 70 Words ["7.4"], "atom.release.cta.shared.add.u32 %r, [%a], %r";
    "atom.acq_rel latency" Latency 32 sm 70 Words ["7.4"], "atom.acq_rel.cta.shared.add.u32 %r, [%a], %r";
    "atom.acq_rel.gpu latency" Latency 32 sm 70 Words ["7.4"], "atom.acq_rel.gpu.shared.add.u32 %r, [%a], %r";
    "atom.add.u32 latency by warps" Latency 32 sm 70 Warps ["4.6"], "atom.shared.add.u32 %r, [%a], %r";
    "atom.cas.b32 latency by warps" Latency 32 sm 70 Warps ["4.6"], "atom.shared.cas.b32 %r, [%a], %r, %r";
    "atom.add.f32 latency by warps" Latency 32 sm 70 Warps ["4.6"], "atom.shared.add.f32 %r, [%a], %r";
    "red.add.u32 throughput by warps" Throughput 32 sm 70 Warps ["4.6"], "red.shared.add.u32 [%a], %b";
    "mbarrier.arrive latency" Latency 64 sm 80 Lane ["6.3"],
        "mbarrier.arrive.shared.b64 %r, [%a]; cvt.u32.u64 %n, %r; and.b32 %n, %n, %z; add.u32 %a, %a, %n";
    "mbarrier.arrive throughput" Throughput 64 sm 80 Words ["6.3"], "mbarrier.arrive.shared.b64 %r, [%a]";
    "mbarrier.arrive and test_wait latency" Latency 64 sm 80 Lane ["6.3"],
        "mbarrier.arrive.shared.b64 %r, [%a]; mbarrier.test_wait.shared.b64 %q, [%a], %r; selp.u32 %n, %z, 0, %q; add.u32 %a, %a, %n";
    "mbarrier.test_wait latency" Latency 64 sm 80 Lane ["6.3"],
        "mbarrier.test_wait.parity.shared.b64 %q, [%a], %z; selp.u32 %n, %z, 0, %q; add.u32 %a, %a, %n";
    "mbarrier.try_wait of a complete phase latency" Latency 64 sm 90 Lane ["6.3"],
        "mbarrier.try_wait.parity.shared.b64 %q, [%a], 1; selp.u32 %n, %z, 0, %q; add.u32 %a, %a, %n";
    "mbarrier.try_wait of a pending phase latency" Latency 64 sm 90 Lane ["6.10"],
        "mbarrier.try_wait.parity.shared.b64 %q, [%a], %z; selp.u32 %n, %z, 0, %q; add.u32 %a, %a, %n";
};

pub fn programs() -> Vec<TestProgram> {
    let mut programs: Vec<TestProgram> = Vec::new();
    for timed in TIMED {
        programs.extend(OPERATIONS.map(|operations| timed.program(operations)));
    }
    programs.extend(TRY_WAITS.map(|(hint, text)| try_wait_limit(hint, text)));
    programs.extend(OPERATIONS.map(remote));
    programs
}

/// Numbers of lanes that compete, and numbers of warps that execute the same operations.
pub(crate) const WAYS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Operations between two clock readings, one program for each. Time per operation is the difference of the
/// two times, divided by the difference of the two counts. This cancels the cost of the clock readings.
pub const OPERATIONS: [u32; 2] = [24, 72];

impl Timed {
    fn program(&self, operations: u32) -> TestProgram {
        let shape = self.shape(operations);
        let launches = self.launches().into_iter();
        let launches =
            launches.map(|(contention, warps)| self.launch(&shape, contention, [warps, operations]));
        shape.program(
            format!("{}, {operations} operations", self.name),
            format!("how long does {} take", self.name),
            self.clauses,
            self.since,
            launches.collect(),
        )
    }

    fn launches(&self) -> Vec<(Contention, u32)> {
        let by = |contention: fn(u32) -> Contention| WAYS.map(|n| (contention(n), 1)).to_vec();
        match self.contentions {
            Contentions::Lane => vec![(Contention::OneWord(1), 1)],
            Contentions::Words => {
                [by(Contention::Apart), by(Contention::OneWord), by(Contention::PerWord)].concat()
            }
            Contentions::All => [
                by(Contention::Apart),
                by(Contention::OneWord),
                by(Contention::OneBank),
                by(Contention::PerWord),
                by(Contention::PerBank),
            ]
            .concat(),
            Contentions::Warps => {
                let of = |contention| WAYS.map(|warps| (contention, warps)).to_vec();
                [of(Contention::OneWord(1)), of(Contention::OneWord(32)), of(Contention::Apart(32))].concat()
            }
        }
    }

    fn launch(&self, shape: &Shape, contention: Contention, counts: [u32; 2]) -> ProgramLaunch {
        let (lanes, mut offsets) = contention.addresses();
        if self.bits == 64 {
            offsets = offsets.map(|offset| 2 * offset);
        }
        shape.launch(self.name, contention, counts, |thread| {
            let lane = thread % LANES;
            [offsets[lane], u32::from((lane as u32) < lanes), lane as u32 + 3]
        })
    }

    fn shape(&self, operations: u32) -> Shape {
        let set_up: &[&str] = match self.name {
            name if name.starts_with("ld.u32 latency") => &["st.shared.u32 [%a], %a;", "mov.u32 %r, %a;"],
            name if name.starts_with("mbarrier.") => {
                &["mbarrier.init.shared.b64 [%a], 1048575;", "mov.u64 %r, 0;"]
            }
            _ => &["mov.b64 %wide, 0;", "cvt.u{bits}.u64 %r, %wide;"],
        };
        let bits = self.bits;
        let set_up = set_up.iter().map(|line| line.replace("{bits}", &bits.to_string())).collect();
        let each = |n: u32| match self.repeated {
            Repeated::Latency => self.text.to_string(),
            Repeated::Throughput => self.text.replace("%r", &format!("%r{n}")),
        };
        let mut registers = format!(".reg .b{bits} %r, %acc");
        if self.repeated == Repeated::Throughput {
            registers.extend((0..operations).map(|n| format!(", %r{n}")));
        }
        let body: Vec<String> = (0..operations).map(each).collect();
        let results: Vec<String> = match self.repeated {
            Repeated::Latency => vec![format!("mov.b{bits} %acc, %r")],
            Repeated::Throughput if self.text.contains("%r") => {
                (0..operations).map(|n| format!("xor.b{bits} %acc, %acc, %r{n}")).collect()
            }
            Repeated::Throughput => Vec::new(),
        };
        Shape { registers, set_up, body, results, bits, clock: Clock::Cycles, cluster: 1 }
    }
}

/// Time hints of `try_wait`, with their PTX operand.
const TRY_WAITS: [(&str, &str); 4] = [
    ("no hint", ""),
    ("a hint of 1 us", ", 1000"),
    ("a hint of 100 us", ", 100000"),
    ("a hint of 10 ms", ", 10000000"),
];

/// Measures the time limit of a `try_wait` on a phase that does not complete.
fn try_wait_limit(hint: &str, operand: &str) -> TestProgram {
    let shape = Shape {
        registers: ".reg .b64 %r, %acc".into(),
        set_up: vec!["mbarrier.init.shared.b64 [%a], 1;".into(), "mov.u64 %r, 0;".into()],
        body: vec![
            format!("mbarrier.try_wait.parity.shared.b64 %q, [%a], %z{operand}"),
            "selp.u32 %n, %z, 0, %q".into(),
            "cvt.u64.u32 %r, %n".into(),
        ],
        results: vec!["mov.b64 %acc, %r".into()],
        bits: 64,
        clock: Clock::Nanoseconds,
        cluster: 1,
    };
    let of = format!("mbarrier.try_wait with {hint}");
    let launch = shape.launch(&of, Contention::OneWord(1), [1, 1], |thread| [0, u32::from(thread == 0), 0]);
    shape.program(
        format!("limit of {of}"),
        format!("after which time does {of} time out"),
        &["6.10"],
        90,
        vec![launch],
    )
}

/// Measures the latency of the shared memory of another CTA of the cluster.
fn remote(operations: u32) -> TestProgram {
    let name = "atom.shared::cluster.add.u32 latency";
    let shape = Shape {
        registers: ".reg .b32 %r, %acc".into(),
        set_up: vec!["mapa.shared::cluster.u32 %a, %a, 1;".into(), "mov.u32 %r, 0;".into()],
        body: vec!["atom.shared::cluster.add.u32 %r, [%a], %r".into(); operations as usize],
        results: vec!["mov.b32 %acc, %r".into()],
        bits: 32,
        clock: Clock::Cycles,
        cluster: 2,
    };
    let launches =
        [Contention::OneWord(1), Contention::OneWord(32), Contention::Apart(32)].map(|contention| {
            let (lanes, offsets) = contention.addresses();
            shape.launch(name, contention, [1, operations], |thread| {
                [offsets[thread % LANES], u32::from((thread as u32) < lanes), 3]
            })
        });
    let asks = format!("how long does {name} take");
    shape.program(format!("{name}, {operations} operations"), asks, &["7.5"], 90, launches.to_vec())
}

/// Parts of a timing kernel around the clock readings.
struct Shape {
    registers: String,
    set_up: Vec<String>,
    body: Vec<String>,
    results: Vec<String>,
    /// Width of `%acc`, in bits.
    bits: u32,
    clock: Clock,
    cluster: u32,
}

impl Shape {
    /// Builds a launch of some warps and operations from one input record per thread: offset, 1 if active,
    /// operand.
    fn launch(
        &self,
        of: &str,
        contention: Contention,
        [warps, operations]: [u32; 2],
        record: impl Fn(usize) -> [u32; 3],
    ) -> ProgramLaunch {
        let threads = LANES * warps as usize;
        let words = (0..threads).flat_map(|thread| {
            let [offset, active, operand] = record(thread);
            [offset, active, operand, 0]
        });
        let input: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        debug_assert_eq!(input.len(), RECORD * threads, "a record each");
        let (of, clock) = (of.into(), self.clock);
        ProgramLaunch {
            ctas: self.cluster,
            threads: threads as u32,
            cluster: self.cluster,
            input,
            output_bytes: 8 * SAMPLES * warps,
            reading: Reading::Times(Times { of, contention, warps, operations, samples: SAMPLES, clock }),
        }
    }

    fn program(
        &self,
        name: String,
        asks: String,
        clauses: &[&str],
        since: u32,
        launches: Vec<ProgramLaunch>,
    ) -> TestProgram {
        let mut ptx = head(since, false, self.cluster);
        self.write(&mut ptx);
        let clauses = clauses.iter().map(ToString::to_string).collect();
        TestProgram { name, asks, clauses, since, ptx, launches }
    }

    fn write(&self, text: &mut String) {
        let clock = match self.clock {
            Clock::Cycles => "%clock64",
            Clock::Nanoseconds => "%globaltimer",
        };
        let mut line = |line: &str| {
            text.push('\t');
            text.push_str(line);
            text.push('\n');
        };
        line("{");
        line(".reg .pred %p, %q, %never, %more, %first;");
        line(".reg .b32 %thread, %warps, %warp, %a, %part, %b, %z, %n, %word, %sample, %rank;");
        line(".reg .b64 %in, %out, %offset, %from, %w, %wide, %start, %end;");
        line(&format!("{};", self.registers));
        line(&format!(".shared .align 16 .b8 memory[{}];", 4 * WORDS));
        line(&format!("ld.param.u64 %in, [{ENTRY}_param_0];"));
        line(&format!("ld.param.u64 %out, [{ENTRY}_param_1];"));
        line("cvta.to.global.u64 %in, %in;");
        line("cvta.to.global.u64 %out, %out;");
        line("mov.u32 %thread, %tid.x;");
        line("mov.u32 %warps, %ntid.x;");
        line("shr.u32 %warp, %thread, 5;");
        line(&format!("mul.wide.u32 %offset, %thread, {RECORD};"));
        line("add.s64 %from, %in, %offset;");
        line("ld.global.v4.u32 {%a, %part, %b, %z}, [%from];");
        line("setp.ne.u32 %p, %part, 0;");
        line("setp.ne.u32 %never, %z, 0;");
        line("cvt.u64.u32 %w, %b;");
        line("mov.u32 %n, memory;");
        line("mov.u32 %word, %thread;");
        line("CLEAR:");
        line("shl.b32 %rank, %word, 2;");
        line("add.u32 %rank, %rank, %n;");
        line("st.shared.u32 [%rank], 0;");
        line("add.u32 %word, %word, %warps;");
        line(&format!("setp.lt.u32 %more, %word, {WORDS};"));
        line("@%more bra CLEAR;");
        line("add.u32 %a, %a, %n;");
        line(&format!("mov.b{} %acc, 0;", self.bits));
        let rank = if self.cluster > 1 { "mov.u32 %rank, %cluster_ctarank;" } else { "mov.u32 %rank, 0;" };
        line(rank);
        line("setp.eq.and.u32 %p, %rank, 0, %p;");
        line("bar.sync 0;");
        self.set_up.iter().for_each(|l| {
            let guard = if l.starts_with("mbarrier.init") || l.starts_with("st.") { "@%p " } else { "" };
            line(&format!("{guard}{l}"));
        });
        line("mov.u32 %sample, 0;");
        line("SAMPLE:");
        barrier(self.cluster).iter().for_each(|l| line(l));
        line(&format!("mov.u64 %start, {clock};"));
        for instruction in self.body.iter().flat_map(|l| l.split("; ")) {
            line(&format!("@%p {instruction};"));
        }
        line(&format!("mov.u64 %end, {clock};"));
        self.results.iter().for_each(|l| line(&format!("{l};")));
        line("sub.s64 %end, %end, %start;");
        // A store under a condition that the compiler cannot prove false keeps the results alive.
        line(&format!("@%never st.global.b{} [%out], %acc;", self.bits));
        line("and.b32 %n, %thread, 31;");
        line("setp.eq.u32 %first, %n, 0;");
        line("setp.eq.and.u32 %first, %rank, 0, %first;");
        line("shr.u32 %n, %warps, 5;");
        line("mad.lo.u32 %n, %n, %sample, %warp;");
        line("mul.wide.u32 %offset, %n, 8;");
        line("add.s64 %from, %out, %offset;");
        line("@%first st.global.u64 [%from], %end;");
        line("add.u32 %sample, %sample, 1;");
        line(&format!("setp.lt.u32 %more, %sample, {SAMPLES};"));
        line("@%more bra SAMPLE;");
        barrier(self.cluster).iter().for_each(|l| line(l));
        line("ret;");
        line("}");
    }
}
