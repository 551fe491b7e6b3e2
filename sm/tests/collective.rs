//! Collective instructions of a warp, compared with their definition in PTX. Masks differ between lanes,
//! lanes arrive from different places at different times, and some lanes have ended.

use crate::functional;

use atoms_isa::Program;
use atoms_sm::{CoreEvent, Launch, Observer, SmConfig, run, run_observed};
use functional::{FunctionalPort, Shape};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::Path;

const LANES: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    All,
    Any,
    Uni,
    Ballot,
    Redux(Redux),
    Shuffle(Shuffle),
    MatchAny { wide: bool },
    MatchAll { wide: bool },
    Elect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Redux {
    Add,
    MinU,
    MinS,
    MaxU,
    MaxS,
    And,
    Or,
    Xor,
    /// Minimum or maximum of binary32, optionally of absolute values (`abs`), optionally with NaN results
    /// (`nan`).
    Float {
        max: bool,
        abs: bool,
        nan: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shuffle {
    Idx,
    Up,
    Down,
    Bfly,
}

const OPS: &[Op] = &[
    Op::All,
    Op::Any,
    Op::Uni,
    Op::Ballot,
    Op::Redux(Redux::Add),
    Op::Redux(Redux::MinU),
    Op::Redux(Redux::MinS),
    Op::Redux(Redux::MaxU),
    Op::Redux(Redux::MaxS),
    Op::Redux(Redux::And),
    Op::Redux(Redux::Or),
    Op::Redux(Redux::Xor),
    Op::Redux(Redux::Float { max: false, abs: false, nan: false }),
    Op::Redux(Redux::Float { max: false, abs: false, nan: true }),
    Op::Redux(Redux::Float { max: false, abs: true, nan: false }),
    Op::Redux(Redux::Float { max: false, abs: true, nan: true }),
    Op::Redux(Redux::Float { max: true, abs: false, nan: false }),
    Op::Redux(Redux::Float { max: true, abs: false, nan: true }),
    Op::Redux(Redux::Float { max: true, abs: true, nan: false }),
    Op::Redux(Redux::Float { max: true, abs: true, nan: true }),
    Op::Shuffle(Shuffle::Idx),
    Op::Shuffle(Shuffle::Up),
    Op::Shuffle(Shuffle::Down),
    Op::Shuffle(Shuffle::Bfly),
    Op::MatchAny { wide: false },
    Op::MatchAny { wide: true },
    Op::MatchAll { wide: false },
    Op::MatchAll { wide: true },
    Op::Elect,
];

/// Warp whose lanes execute a collective operation in groups.
#[derive(Clone, Debug)]
struct Case {
    op: Op,
    threads: usize,
    /// Per lane: group, which is also the mask of its lanes; place from which the lane arrives; iterations of
    /// a delay loop; operands.
    group: [u8; LANES],
    place: [u8; LANES],
    delay: [u8; LANES],
    value: [u32; LANES],
    high: [u32; LANES],
    by: [u8; LANES],
    control: [u32; LANES],
    /// Lanes whose predicate is true (`holds`), and lanes that end before the instruction (`ends`).
    holds: u32,
    ends: u32,
}

impl Case {
    fn mask(&self, lane: usize) -> u32 {
        (0..LANES).filter(|l| self.group[*l] == self.group[lane]).fold(0, |m, l| m | 1 << l)
    }

    fn comes(&self, lane: usize) -> bool {
        lane < self.threads && self.ends >> lane & 1 == 0
    }

    /// Threads in the mask of the lane that have not ended.
    fn members(&self, lane: usize) -> Vec<usize> {
        (0..LANES).filter(|l| self.mask(lane) >> l & 1 != 0 && self.comes(*l)).collect()
    }
}

fn case() -> impl Strategy<Value = Case> {
    let word = || prop_oneof![Just(0_u32), Just(1), Just(i32::MAX as u32), Just(1 << 31), any::<u32>()];
    // Clamp and segment values that compilers use, and random values.
    let control = prop_oneof![
        Just([0x1f_u32; LANES]),
        Just([0; LANES]),
        Just([0x181f; LANES]),
        Just([0x1c1f; LANES]),
        Just([0x1800; LANES]),
        prop::array::uniform32(0_u32..0x2000),
    ];
    let ends =
        prop_oneof![Just(0_u32), any::<u32>().prop_flat_map(|a| any::<u32>().prop_map(move |b| a & b))];
    let lanes = (
        prop_oneof![Just(LANES), 1..=LANES],
        prop_oneof![Just([0_u8; LANES]), prop::array::uniform32(0_u8..4)],
        prop_oneof![Just([0_u8; LANES]), prop::array::uniform32(0_u8..2)],
        prop_oneof![Just([0_u8; LANES]), prop::array::uniform32(0_u8..6)],
    );
    let brings = (
        prop_oneof![prop::array::uniform32(word()), word().prop_map(|w| [w; LANES])],
        prop_oneof![prop::array::uniform32(0_u32..2), Just([7; LANES])],
        prop_oneof![prop::array::uniform32(0_u8..32), (0_u8..32).prop_map(|by| [by; LANES])],
        control,
        prop_oneof![Just(0_u32), Just(u32::MAX), any::<u32>()],
        ends,
    );
    (prop::sample::select(OPS), lanes, brings).prop_map(|(op, lanes, brings)| {
        let ((threads, group, place, delay), (value, high, by, control, holds, ends)) = (lanes, brings);
        Case { op, threads, group, place, delay, value, high, by, control, holds, ends }
    })
}

/// Result of a lane according to PTX. `None` if PTX leaves the value or the predicate open.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    value: Option<u32>,
    pred: Option<bool>,
}

/// Source: [PTX] vote.sync, redux.sync, shfl.sync, match.sync, elect.sync.
fn expected(case: &Case, lane: usize) -> Expected {
    let members = case.members(lane);
    let mask = |lanes: &[usize]| lanes.iter().fold(0_u32, |m, l| m | 1 << l);
    let pred = |l: &usize| case.holds >> l & 1 != 0;
    let value = |value: u32| Expected { value: Some(value), pred: None };
    let verdict = |holds: bool| Expected { value: None, pred: Some(holds) };
    let same = |wide: bool| {
        let key = |l: usize| (case.value[l], if wide { case.high[l] } else { 0 });
        members.iter().copied().filter(|l| key(*l) == key(lane)).collect::<Vec<_>>()
    };
    match case.op {
        Op::All => verdict(members.iter().all(pred)),
        Op::Any => verdict(members.iter().any(pred)),
        Op::Uni => verdict(members.iter().all(pred) || !members.iter().any(pred)),
        Op::Ballot => value(mask(&members.iter().copied().filter(pred).collect::<Vec<_>>())),
        Op::Redux(op) => {
            let values = members.iter().map(|l| case.value[*l]);
            let signed = members.iter().map(|l| case.value[*l] as i32);
            value(match op {
                Redux::Add => values.fold(0, u32::wrapping_add),
                Redux::MinU => values.min().unwrap(),
                Redux::MaxU => values.max().unwrap(),
                Redux::MinS => signed.min().unwrap() as u32,
                Redux::MaxS => signed.max().unwrap() as u32,
                Redux::And => values.fold(u32::MAX, |a, b| a & b),
                Redux::Or => values.fold(0, |a, b| a | b),
                Redux::Xor => values.fold(0, |a, b| a ^ b),
                Redux::Float { max, abs, nan } => {
                    let floats =
                        values.map(|v| if abs { f32::from_bits(v).abs() } else { f32::from_bits(v) });
                    let (nans, numbers): (Vec<f32>, Vec<f32>) = floats.partition(|v| v.is_nan());
                    // -0 is less than +0.
                    let key = |v: &f32| (*v, v.is_sign_positive());
                    let mut sorted = numbers;
                    sorted.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
                    match if max { sorted.last() } else { sorted.first() } {
                        Some(number) if !nan || nans.is_empty() => number.to_bits(),
                        _ => 0x7fff_ffff,
                    }
                }
            })
        }
        Op::Shuffle(_) => {
            let (from, in_range) = source(case, lane);
            let value = members.contains(&from).then(|| case.value[from]);
            Expected { value, pred: Some(in_range) }
        }
        Op::MatchAny { wide } => value(mask(&same(wide))),
        Op::MatchAll { wide } => {
            let all = same(wide).len() == members.len();
            Expected { value: Some(if all { mask(&members) } else { 0 }), pred: Some(all) }
        }
        // PTX leaves open which lane is elected; `check` verifies the rest.
        Op::Elect => Expected { value: None, pred: None },
    }
}

/// Source lane of a shuffle, and its predicate.
fn source(case: &Case, lane: usize) -> (usize, bool) {
    let Op::Shuffle(mode) = case.op else { return (lane, true) };
    let lane = lane as i32;
    let b = i32::from(case.by[lane as usize]);
    let control = case.control[lane as usize] as i32;
    let (c, segment) = (control & 0x1f, control >> 8 & 0x1f);
    let max_lane = (lane & segment) | (c & !segment);
    let min_lane = lane & segment;
    let (j, holds) = match mode {
        Shuffle::Up => (lane - b, lane - b >= max_lane),
        Shuffle::Down => (lane + b, lane + b <= max_lane),
        Shuffle::Bfly => (lane ^ b, lane ^ b <= max_lane),
        Shuffle::Idx => {
            let j = min_lane | (b & !segment);
            (j, j <= max_lane)
        }
    };
    (if holds { j } else { lane } as usize, holds)
}

/// Collects the lanes that read an inactive lane.
#[derive(Default)]
struct Foreign(u32);

impl Observer for Foreign {
    fn observe(&mut self, _: u64, event: &CoreEvent<'_>) {
        if let CoreEvent::ForeignLane(_, mask) = event {
            self.0 |= mask;
        }
    }
}

struct Outcome {
    values: Vec<u32>,
    preds: Vec<u32>,
    foreign: u32,
}

/// Runs a kernel. Its parameters are a buffer with the words of the case, 12 per lane, and a buffer for the
/// results.
fn outcome(text: &str, case: &Case) -> Outcome {
    let program =
        Program::read("k", text, None).unwrap_or_else(|e| panic!("{text}\n{:?}", miette::Report::new(e)));
    let mut words = String::new();
    for lane in 0..LANES {
        let bit = |mask: u32| mask >> lane & 1;
        let Case { place, delay, value, high, by, control, holds, ends, .. } = case;
        write!(
            words,
            "{}, {}, {}, {}, {}, {}, {}, {}, {}, 0, 0, 0, ",
            case.mask(lane),
            place[lane],
            delay[lane],
            value[lane],
            high[lane],
            by[lane],
            control[lane],
            bit(*holds),
            bit(*ends)
        )
        .unwrap();
    }
    let launch = format!(
        "kernel = \"k\"\ngrid = 1\nblock = {}\nshared = 256\ncycle_budget = 20000\n\
         [[param]]\nname = \"in\"\ntype = \"u32\"\nvalues = [{words}]\n\
         [[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 64\n",
        case.threads
    );
    let launch = Launch::from_toml("launch", &launch, Path::new("")).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let mut foreign = Foreign::default();
    let config = SmConfig::default();
    let report = run_observed(&program.kernels[0], &launch, &mut port, &config, &mut foreign)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(port.clean());
    let out = report.buffer("out").unwrap();
    let words: Vec<u32> = (0..64).map(|i| out.element.read(&out.bytes, i) as u32).collect();
    Outcome { values: words[..LANES].to_vec(), preds: words[LANES..].to_vec(), foreign: foreign.0 }
}

fn check(case: &Case, outcome: &Outcome) -> Result<(), TestCaseError> {
    for lane in (0..LANES).filter(|lane| case.comes(*lane)) {
        let Expected { value, pred } = expected(case, lane);
        if let Some(value) = value {
            prop_assert_eq!(outcome.values[lane], value, "lane {}: {:x?}", lane, case);
        }
        if let Some(pred) = pred {
            prop_assert_eq!(outcome.preds[lane], u32::from(pred), "predicate of lane {}: {:x?}", lane, case);
        }
        let foreign = !case.members(lane).contains(&source(case, lane).0);
        prop_assert_eq!(outcome.foreign >> lane & 1 != 0, foreign, "lane {} is named: {:x?}", lane, case);
        if case.op == Op::Elect {
            let members = case.members(lane);
            let leaders: Vec<_> = members.iter().filter(|l| outcome.preds[**l] != 0).collect();
            prop_assert_eq!(leaders.len(), 1, "{:x?}", case);
            prop_assert_eq!(outcome.values[lane] as usize, *leaders[0], "lane {}: {:x?}", lane, case);
        }
    }
    Ok(())
}

/// PTX kernel with the instruction at two places, each with its own registers.
fn ptx(case: &Case) -> String {
    let mut text = String::from(
        ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n\
         .reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n.reg .pred %p<16>;\n\
         ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r0, %tid.x;\n\
         mad.wide.u32 %rd3, %r0, 48, %rd1;\nmad.wide.u32 %rd4, %r0, 4, %rd2;\n\
         ld.global.u32 %r1, [%rd3];\nld.global.u32 %r2, [%rd3+4];\nld.global.u32 %r3, [%rd3+8];\n\
         ld.global.u32 %r4, [%rd3+12];\nld.global.u32 %r5, [%rd3+16];\nld.global.u32 %r6, [%rd3+20];\n\
         ld.global.u32 %r7, [%rd3+24];\nld.global.u32 %r8, [%rd3+28];\nld.global.u32 %r9, [%rd3+32];\n\
         setp.ne.u32 %p1, %r8, 0;\n\
         LOOP:\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra READY;\nsub.u32 %r3, %r3, 1;\nbra LOOP;\nREADY:\n\
         setp.ne.u32 %p3, %r9, 0;\n@%p3 exit;\n\
         setp.ne.u32 %p4, %r2, 0;\n@%p4 bra OTHER;\n",
    );
    // The other place uses other registers for its operands.
    let [here, there] = [["%r4", "%r5", "%r10", "%p5", "%p1"], ["%r14", "%r15", "%r11", "%p6", "%p7"]];
    let results = |text: &mut String, [.., dst, pred, _]: [&str; 5]| {
        write!(text, "mov.u32 %r20, {dst};\nselp.u32 %r21, 1, 0, {pred};\n").unwrap();
    };
    text += "mov.u32 %r10, 0;\nsetp.ne.u32 %p5, %r10, 0;\n";
    text += &ptx_op(case.op, here);
    results(&mut text, here);
    text += "bra DONE;\nOTHER:\nmov.u32 %r14, %r4;\nmov.u32 %r15, %r5;\nmov.u32 %r11, 0;\n\
             setp.ne.u32 %p6, %r11, 0;\nsetp.ne.u32 %p7, %r8, 0;\n";
    text += &ptx_op(case.op, there);
    results(&mut text, there);
    text + "DONE:\nst.global.u32 [%rd4], %r20;\nst.global.u32 [%rd4+128], %r21;\nret;\n}\n"
}

fn ptx_op(op: Op, [low, high, dst, pred, holds]: [&str; 5]) -> String {
    let pair = format!("mov.b64 %rd5, {{{low}, {high}}};\n");
    match op {
        Op::All => format!("vote.sync.all.pred {pred}, {holds}, %r1;\n"),
        Op::Any => format!("vote.sync.any.pred {pred}, {holds}, %r1;\n"),
        Op::Uni => format!("vote.sync.uni.pred {pred}, {holds}, %r1;\n"),
        Op::Ballot => format!("vote.sync.ballot.b32 {dst}, {holds}, %r1;\n"),
        Op::Redux(op) => {
            let op = match op {
                Redux::Add => "add.u32",
                Redux::MinU => "min.u32",
                Redux::MinS => "min.s32",
                Redux::MaxU => "max.u32",
                Redux::MaxS => "max.s32",
                Redux::And => "and.b32",
                Redux::Or => "or.b32",
                Redux::Xor => "xor.b32",
                Redux::Float { max, abs, nan } => {
                    let [op, abs, nan] = [
                        ["min", "max"][usize::from(max)],
                        ["", ".abs"][usize::from(abs)],
                        ["", ".NaN"][usize::from(nan)],
                    ];
                    return format!("redux.sync.{op}{abs}{nan}.f32 {dst}, {low}, %r1;\n");
                }
            };
            format!("redux.sync.{op} {dst}, {low}, %r1;\n")
        }
        Op::Shuffle(mode) => {
            let mode = format!("{mode:?}").to_lowercase();
            format!("shfl.sync.{mode}.b32 {dst}|{pred}, {low}, %r6, %r7, %r1;\n")
        }
        Op::MatchAny { wide: false } => format!("match.any.sync.b32 {dst}, {low}, %r1;\n"),
        Op::MatchAny { wide: true } => format!("{pair}match.any.sync.b64 {dst}, %rd5, %r1;\n"),
        Op::MatchAll { wide: false } => format!("match.all.sync.b32 {dst}|{pred}, {low}, %r1;\n"),
        Op::MatchAll { wide: true } => format!("{pair}match.all.sync.b64 {dst}|{pred}, %rd5, %r1;\n"),
        Op::Elect => format!("elect.sync {dst}|{pred}, %r1;\n"),
    }
}

/// Way in which machine code synchronizes the lanes of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sync {
    /// WARPSYNC at one place, possibly together with other lanes. The code masks the results of the others.
    Plain,
    /// WARPSYNC.ALL at one place: all lanes that have not ended, for any mask.
    All,
    /// At one place, only the lanes of one mask together.
    Exclusive,
    /// From two places, in a collective region.
    Collective,
}

fn sass(case: &Case, sync: Sync) -> String {
    let mut text = String::from(
        ".target sm_100a\n.section .text.k,\"ax\",@progbits\n\
         S2R R0, SR_TID.X ;\nLDC.64 R20, c[0x0][0x380] ;\nLDC.64 R22, c[0x0][0x388] ;\n\
         IMAD.WIDE.U32 R20, R0, 0x30, R20 ;\nIMAD.WIDE.U32 R22, R0, 0x4, R22 ;\n",
    );
    for (word, reg) in (1..=9).enumerate() {
        writeln!(text, "LDG.E R{reg}, [R20.64+{:#x}] ;", 4 * word).unwrap();
    }
    text += "MOV R10, RZ ;\nISETP.NE.U32.AND P0, PT, R8, RZ, PT ;\nISETP.NE.U32.AND P1, PT, RZ, RZ, PT ;\n\
             BSSY B0, `(.L_x_9) ;\n\
             .L_x_0:\nISETP.EQ.U32.AND P2, PT, R3, RZ, PT ;\n@P2 BRA `(.L_x_1) ;\nIADD3 R3, R3, -0x1, RZ ;\n\
             BRA `(.L_x_0) ;\n.L_x_1:\nISETP.NE.U32.AND P3, PT, R9, RZ, PT ;\n@P3 EXIT ;\n";
    let op = sass_op(case.op);
    match sync {
        Sync::Plain => write!(text, "WARPSYNC R1 ;\nVOTE.ANY R12, PT, PT ;\nLOP3.LUT R12, R12, R1, RZ, 0xc0, !PT ;\n{op}"),
        Sync::All => write!(text, "WARPSYNC.ALL ;\n{op}"),
        Sync::Exclusive => write!(text, "WARPSYNC.EXCLUSIVE R1 ;\n{op}"),
        Sync::Collective => write!(
            text,
            "ISETP.NE.U32.AND P4, PT, R2, RZ, PT ;\n@P4 BRA `(.L_x_3) ;\n\
             WARPSYNC.COLLECTIVE R1, `(.L_x_2) ;\n{op}ENDCOLLECTIVE ;\n.L_x_2:\nIADD3 R10, R10, 0x1, RZ ;\n\
             IADD3 R10, R10, -0x1, RZ ;\nBRA `(.L_x_8) ;\n\
             .L_x_3:\nWARPSYNC.COLLECTIVE R1, `(.L_x_4) ;\n{op}ENDCOLLECTIVE ;\n.L_x_4:\nIADD3 R10, R10, 0x2, RZ ;\n\
             IADD3 R10, R10, -0x2, RZ ;\n.L_x_8:\n"
        ),
    }
    .unwrap();
    text + "BSYNC B0 ;\n.L_x_9:\nSEL R11, RZ, 0x1, !P1 ;\nSTG.E [R22.64], R10 ;\nSTG.E [R22.64+0x80], R11 ;\nEXIT ;\n"
}

fn sass_op(op: Op) -> String {
    let uniform = |text: &str| format!("{text} UR4, R4 ;\nMOV R10, UR4 ;\n");
    match op {
        Op::All => "VOTE.ALL P1, P0 ;\n".into(),
        Op::Any => "VOTE.ANY P1, P0 ;\n".into(),
        Op::Uni => "VOTE.EQ P1, P0 ;\n".into(),
        Op::Ballot => "VOTE.ANY R10, PT, P0 ;\n".into(),
        Op::Redux(op) => uniform(&match op {
            Redux::Add => "REDUX.SUM".into(),
            Redux::MinU => "CREDUX.MIN".into(),
            Redux::MinS => "CREDUX.MIN.S32".into(),
            Redux::MaxU => "REDUX.MAX".into(),
            Redux::MaxS => "REDUX.MAX.S32".into(),
            Redux::And => "REDUX".into(),
            Redux::Or => "REDUX.OR".into(),
            Redux::Xor => "REDUX.XOR".into(),
            Redux::Float { max, abs, nan } => format!(
                "CREDUX.{}{}.F32{}",
                ["MIN", "MAX"][usize::from(max)],
                ["", "ABS"][usize::from(abs)],
                ["", ".NAN"][usize::from(nan)]
            ),
        }),
        Op::Shuffle(mode) => {
            format!("SHFL.{} P1, R10, R4, R6, R7 ;\n", format!("{mode:?}").to_uppercase())
        }
        Op::MatchAny { wide: false } => "MATCH.ANY R10, R4 ;\n".into(),
        Op::MatchAny { wide: true } => "MATCH.ANY.U64 R10, R4 ;\n".into(),
        Op::MatchAll { wide: false } => "MATCH.ALL P1, R10, R4 ;\n".into(),
        Op::MatchAll { wide: true } => "MATCH.ALL.U64 P1, R10, R4 ;\n".into(),
        Op::Elect => "ELECT P1, UR4, PT ;\nMOV R10, UR4 ;\n".into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each `.sync` instruction of PTX gives the lanes of each mask the results of the PTX definition.
    #[test]
    fn of_ptx(case in case()) {
        check(&case, &outcome(&ptx(&case), &case))?;
    }

    /// The compiled machine code gives the same results if groups execute separately.
    #[test]
    fn of_machine_code(case in case(), collective: bool) {
        let sync = if collective { Sync::Collective } else { Sync::Exclusive };
        check(&case, &outcome(&sass(&case, sync), &case))?;
    }

    /// Forms with one result per warp: votes, and the value of the lowest lane with a mask of the lanes that
    /// differ.
    #[test]
    fn of_machine_code_for_the_warp(case in case(), collective: bool) {
        let sync = if collective { Sync::Collective } else { Sync::Exclusive };
        for (op, mode) in [(Op::All, "ALL"), (Op::Any, "ANY"), (Op::Uni, "EQ")] {
            let case = Case { op, ..case.clone() };
            let (vote, sel) = (format!("VOTE.{mode} P1, P0 ;"), "PLOP3.LUT P1, PT, PT, PT, UP1, 0x80, 0x8 ;");
            let text = sass(&case, sync).replace(&vote, &format!("VOTEU.{mode} UP1, P0 ;\n{sel}"));
            check(&case, &outcome(&text, &case))?;
        }
        let case = Case { op: Op::Ballot, ..case };
        let text = sass(&case, sync).replace("VOTE.ANY R10, PT, P0 ;", "VOTEU.ANY UR4, UPT, P0 ;\nMOV R10, UR4 ;");
        check(&case, &outcome(&text, &case))?;
        let text = sass(&case, sync).replace("VOTE.ANY R10, PT, P0 ;", "R2UR P1, UR4, R4 ;\nMOV R10, UR4 ;");
        let outcome = outcome(&text, &case);
        for lane in (0..LANES).filter(|lane| case.comes(*lane)) {
            let taken = case.value[case.members(lane)[0]];
            prop_assert_eq!(outcome.values[lane], taken, "lane {}: {:x?}", lane, case);
            prop_assert_eq!(outcome.preds[lane] != 0, case.value[lane] != taken, "lane {}: {:x?}", lane, case);
        }
    }

    /// WARPSYNC.ALL has one mask: every lane that has not ended.
    #[test]
    fn of_machine_code_with_all_lanes(case in case()) {
        let case = Case { group: [0; LANES], ..case };
        check(&case, &outcome(&sass(&case, Sync::All), &case))?;
    }

    /// After WARPSYNC, a lane runs together with all lanes of its mask, and perhaps with others.
    #[test]
    fn of_machine_code_among_others(mut case in case(), ballot: bool, all: bool) {
        case.op = if ballot { Op::Ballot } else { Op::MatchAny { wide: false } };
        let sync = if all { Sync::All } else { Sync::Plain };
        let text = sass(&case, sync).replace("BSYNC", "LOP3.LUT R10, R10, R1, RZ, 0xc0, !PT ;\nBSYNC");
        check(&case, &outcome(&text, &case))?;
    }

    /// `bar.warp.sync`: lanes of a mask see each other's earlier stores.
    #[test]
    fn bar_warp_sync(case in case()) {
        let text = ptx(&Case { op: Op::Elect, ..case.clone() });
        let shared = "shl.b32 %r24, %r0, 2;\nmov.u32 %r25, cells;\nadd.u32 %r24, %r24, %r25;\nst.volatile.shared.u32 [%r24], %r4;\n\
                      bar.warp.sync %r1;\n\
                      shl.b32 %r26, %r6, 2;\nadd.u32 %r26, %r26, %r25;\n";
        let read = |dst: &str| format!("{shared}ld.volatile.shared.u32 {dst}, [%r26];\nsetp.ne.u32 %p5, {dst}, {dst};\n");
        let text = text
            .replace("elect.sync %r10|%p5, %r1;\n", &read("%r10"))
            .replace("elect.sync %r11|%p6, %r1;\n", &read("%r11"))
            .replace(".reg .b32 %r<32>;", ".reg .b32 %r<32>;\n.shared .align 4 .b32 cells[32];");
        let outcome = outcome(&text, &case);
        for lane in (0..LANES).filter(|lane| case.comes(*lane)) {
            let from = usize::from(case.by[lane]);
            if case.members(lane).contains(&from) {
                prop_assert_eq!(outcome.values[lane], case.value[from], "lane {}: {:x?}", lane, case);
            }
        }
    }

    /// WARPSYNC.ALL from two places: every lane sees the earlier stores of all lanes.
    #[test]
    fn warpsync_all(case in case()) {
        let case = Case { op: Op::Elect, group: [0; LANES], ..case };
        let text = sass(&case, Sync::All).replace(
            "WARPSYNC.ALL ;\nELECT P1, UR4, PT ;\nMOV R10, UR4 ;",
            "SHF.L.U32 R12, R0, 0x2, RZ ;\nSHF.L.U32 R13, R6, 0x2, RZ ;\nSTS [R12+0x400], R4 ;\n\
             ISETP.NE.U32.AND P4, PT, R2, RZ, PT ;\n@P4 BRA `(.L_x_3) ;\n\
             WARPSYNC.ALL ;\nLDS R10, [R13+0x400] ;\nBRA `(.L_x_8) ;\n\
             .L_x_3:\nWARPSYNC.ALL ;\nLDS R10, [R13+0x400] ;\n.L_x_8:",
        );
        let outcome = outcome(&text, &case);
        for lane in (0..LANES).filter(|lane| case.comes(*lane)) {
            let from = usize::from(case.by[lane]);
            if case.comes(from) {
                prop_assert_eq!(outcome.values[lane], case.value[from], "lane {}: {:x?}", lane, case);
            }
        }
    }

    /// `activemask` contains the lane itself, and only running lanes.
    #[test]
    fn activemask(case in case()) {
        let text = ptx(&Case { op: Op::Ballot, ..case.clone() });
        let text = text
            .replace("vote.sync.ballot.b32 %r10, %p1, %r1;", "activemask.b32 %r10;")
            .replace("vote.sync.ballot.b32 %r11, %p7, %r1;", "activemask.b32 %r11;");
        let outcome = outcome(&text, &case);
        let running = (0..LANES).filter(|l| case.comes(*l)).fold(0_u32, |m, l| m | 1 << l);
        for lane in (0..LANES).filter(|lane| case.comes(*lane)) {
            let mask = outcome.values[lane];
            prop_assert!(mask >> lane & 1 != 0 && mask & !running == 0, "lane {lane}, {mask:x}: {case:x?}");
        }
    }
}

/// Runs a PTX body in 32 threads, and returns %r9 of each. %r0 is the number of the thread.
fn ninth(body: &str) -> Result<Vec<u32>, String> {
    let text = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b32 %r<16>;\n.reg .b64 %rd<4>;\n.reg .pred %p<8>;\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\n\
         mov.u32 %r9, 0;\nmad.wide.u32 %rd2, %r0, 4, %rd1;\n{body}\nst.global.u32 [%rd2], %r9;\nret;\n}}\n"
    );
    run_words(&text)
}

fn run_words(text: &str) -> Result<Vec<u32>, String> {
    let program =
        Program::read("k", text, None).unwrap_or_else(|e| panic!("{text}\n{:?}", miette::Report::new(e)));
    let launch = "kernel = \"k\"\ngrid = 1\nblock = 32\nshared = 64\ncycle_budget = 5000\n\
                  [[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 32\n";
    let launch = Launch::from_toml("launch", launch, Path::new("")).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let report =
        run(&program.kernels[0], &launch, &mut port, &SmConfig::default()).map_err(|e| e.to_string())?;
    assert!(port.clean());
    let out = report.buffer("out").unwrap();
    Ok((0..32).map(|i| out.element.read(&out.bytes, i) as u32).collect())
}

/// Test cases: rule, body, parts of the message.
#[rustfmt::skip]
const UNDEFINED: &[(&str, &str, &[&str])] = &[
    ("a thread outside its mask",         "vote.sync.ballot.b32 %r9, 1, 3;", &["lane 2 waits with mask 0x00000003", "vote.sync.ballot.b32"]),
    ("masks that overlap",                "setp.lt.u32 %p1, %r0, 16;\nselp.u32 %r1, 0x1ffff, 0xffff8000, %p1;\nredux.sync.add.u32 %r9, %r0, %r1;", &["lanes 0x0000ffff wait with mask 0x0001ffff", "lanes 0xffff0000 with mask 0xffff8000"]),
    ("masks that overlap, from two places", "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra L;\nmatch.any.sync.b32 %r9, %r0, 0xffff0001;\nbra D;\nL: match.any.sync.b32 %r9, %r0, -1;\nD:", &["0xffff0001", "0xffffffff"]),
    ("one mask, other qualifiers",        "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nredux.sync.add.u32 %r9, %r0, -1;\nbra D;\nL: redux.sync.min.u32 %r9, %r0, -1;\nD:", &["lanes 0xaaaaaaaa", "lanes 0x55555555", "the same mask and instruction"]),
    ("one mask, a barrier and a vote",    "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nbar.warp.sync -1;\nbra D;\nL: vote.sync.ballot.b32 %r9, 1, -1;\nD:", &["lanes 0xaaaaaaaa", "lanes 0x55555555", "the same mask and instruction"]),
];

#[test]
fn what_ptx_leaves_undefined_is_refused() {
    for (rule, body, parts) in UNDEFINED {
        let error = ninth(body).expect_err(rule);
        parts.iter().for_each(|part| assert!(error.contains(part), "{rule}: {error}"));
    }
    let error = run_words(
        ".target sm_90a\n.section .text.k,\"ax\",@progbits\nS2R R0, SR_TID.X ;\nISETP.LT.U32.AND P0, PT, R0, 0x10, PT ;\n\
         SEL R1, RZ, 0xffff0001, P0 ;\n@P0 MOV R1, 0x1ffff ;\nWARPSYNC.EXCLUSIVE R1 ;\nEXIT ;\n",
    )
    .unwrap_err();
    assert!(error.contains("lanes 0x0000ffff wait with mask 0x0001ffff"), "{error}");
}

/// A thread may wait with one mask while another thread of this mask is still busy with a third mask.
#[test]
fn masks_that_follow_each_other() {
    let body = "mov.u32 %r5, 100;\nadd.u32 %r5, %r5, %r0;\nsetp.gt.u32 %p1, %r0, 2;\n@%p1 bra D;\n\
                setp.eq.u32 %p2, %r0, 0;\n@%p2 bra FIRST;\nredux.sync.add.u32 %r9, %r5, 6;\nsetp.eq.u32 %p3, %r0, 2;\n@%p3 bra D;\n\
                FIRST: redux.sync.add.u32 %r6, %r5, 3;\nmad.lo.u32 %r9, %r6, 1000, %r9;\nD:";
    assert_eq!(ninth(body).unwrap()[..4], [201_000, 201_203, 203, 0]);
}

/// Threads that the guard excludes continue, and are not counted.
#[test]
fn a_guard_keeps_threads_out() {
    let body = "and.b32 %r1, %r0, 3;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 redux.sync.add.u32 %r9, %r0, 0x11111111;\n\
                @!%p1 vote.sync.ballot.b32 %r9, 1, 0xeeeeeeee;";
    let expected: Vec<u32> = (0..32).map(|t| if t % 4 == 0 { 112 } else { 0xeeee_eeee }).collect();
    assert_eq!(ninth(body).unwrap(), expected);
}
