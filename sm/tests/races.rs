//! Races in whole kernels: none in correct ones, and those planted are found, on the cycle model.

mod modelled;

use atoms_isa::Program;
use atoms_model::{Config, Unit};
use atoms_sm::races::{Finding, Kind, Races, Text};
use atoms_sm::{Launch, SmConfig, run_observed};
use modelled::ModelPort;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels")
}

fn listing(kernel: &str, arch: &str) -> String {
    let path = folder().join(format!("{kernel}.{arch}.sass"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A finding and the two instructions.
type Found = (Finding, [String; 2]);

/// Runs a listing; gives whether it ended and what was found.
fn check(name: &str, text: &str, launch: &Launch) -> (Result<(), String>, Vec<Found>) {
    let program = Program::parse(name, text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let kernel = launch.kernel(&program).unwrap();
    let mut port = ModelPort(Unit::new(Config::default()));
    let mut races = Races::new(kernel, Text::Machine);
    let ended = run_observed(kernel, launch, &mut port, &SmConfig::default(), &mut races);
    let line = |pc: u32| kernel.source[pc as usize].text.clone();
    let found = races.findings().map(|f| (f.clone(), [line(f.first.pc), line(f.second.pc)])).collect();
    (ended.map(drop).map_err(|e| e.to_string()), found)
}

fn launch(kernel: &str) -> Launch {
    Launch::from_file(&folder().join(format!("{kernel}.launch.toml"))).unwrap()
}

#[test]
fn nothing_is_found_in_correct_kernels() {
    let mut kernels = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some((kernel, arch)) = name.strip_suffix(".sass").and_then(|n| n.split_once('.')) else {
            continue;
        };
        let (ended, found) = check(&name, &listing(kernel, arch), &launch(kernel));
        assert_eq!(ended, Ok(()), "{name}");
        assert!(found.is_empty(), "{name}: {found:#?}");
        kernels += 1;
    }
    assert!(kernels > 50, "{kernels} listings");
}

/// What is done to the listing of a correct kernel.
enum Plant {
    /// The nth line with this text becomes a NOP, counted from 0.
    Drop(&'static str, usize),
    /// In all lines with the first text, it becomes the second.
    Put(&'static str, &'static str),
}

fn planted(text: &str, plant: &Plant) -> String {
    let mut changed = 0;
    let mut count = 0;
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            // Branches and calls in comments and sections are none of the code.
            let code = line.trim_start().starts_with("/*");
            match plant {
                Plant::Drop(what, nth) if code && line.contains(what) => {
                    count += 1;
                    if count - 1 != *nth {
                        return line.to_string();
                    }
                    changed += 1;
                    let start = line.find("*/").map_or(0, |at| at + 2);
                    format!("{} NOP ;", &line[..start])
                }
                Plant::Put(what, with) if code && line.contains(what) => {
                    changed += 1;
                    line.replace(what, with)
                }
                _ => line.to_string(),
            }
        })
        .collect();
    assert!(changed > 0, "nothing to plant in");
    lines.join("\n")
}

/// Kernel, architecture, what is planted, and one of the pairs of instructions that must be found.
type Row = (&'static str, &'static str, Plant, (Kind, &'static str, &'static str));

#[test]
fn planted_races_are_found() {
    use Plant::{Drop, Put};
    const TRUE: &str = "ISETP.EQ.AND P0, PT, RZ, RZ, PT";
    #[rustfmt::skip]
    let rows: Vec<Row> = vec![
        // No barrier between clearing and counting, and none between counting and reading.
        ("hist_u32", "sm_80", Drop("BAR.SYNC", 0), (Kind::PlainAndAtomic, "STS", "ATOMS.POPC.INC")),
        ("hist_u32", "sm_90a", Drop("BAR.SYNC", 1), (Kind::PlainAndAtomic, "ATOMS.POPC.INC", "LDS")),
        ("hist_u64", "sm_75", Drop("BAR.SYNC", 0), (Kind::PlainAndAtomic, "STS", "ATOMS.CAST.SPIN")),
        ("accum_f32", "sm_100a", Drop("BAR.SYNC", 1), (Kind::PlainAndAtomic, "LDS", "ATOMS.CAST.SPIN")),
        ("accum_half", "sm_80", Drop("BAR.SYNC", 0), (Kind::PlainAndAtomic, "STS.U16", "ATOM.E.CAS")),
        ("exch64_list", "sm_80", Drop("BAR.SYNC", 1), (Kind::PlainAndAtomic, "LDS.64", "ATOMS.EXCH.64")),
        // Counting without atomics.
        ("hist_u32", "sm_80", Put("ATOMS.POPC.INC.32 RZ, [R2.X4+URZ]", "STS [R2.X4+URZ], R4"), (Kind::Plain, "STS", "STS")),
        // The lock is given back with no fence before.
        ("spin_lock", "sm_75", Drop("MEMBAR.SC.CTA", 1), (Kind::Plain, "STS", "LDS")),
        ("spin_lock", "sm_90a", Drop("MEMBAR.SC.CTA", 1), (Kind::Plain, "STS", "LDS")),
        ("spin_lock_acqrel", "sm_80", Drop("MEMBAR.ALL.CTA", 0), (Kind::Plain, "STS", "LDS")),
        // Without the lock.
        ("spin_lock", "sm_80", Drop("@P2 BRA", 1), (Kind::Plain, "STS", "LDS")),
        // A software object: data is not released, or not waited for.
        ("awbarrier", "sm_80", Drop("MEMBAR.ALL.CTA", 0), (Kind::Plain, "STS", "LDS")),
        ("awbarrier", "sm_80", Drop("@!P2 BRA", 0), (Kind::Plain, "STS", "LDS")),
        ("awbarrier", "sm_90a", Put("SYNCS.PHASECHK.TRANS64 P2, [UR4], R3", "ISETP.EQ.AND P2, PT, RZ, RZ, PT"), (Kind::Plain, "STS", "LDS")),
        ("awbarrier", "sm_90a", Drop("BAR.SYNC", 0), (Kind::PlainAndAtomic, "SYNCS.EXCH", "SYNCS.ARRIVE")),
        // Copies that are not waited for.
        ("cpasync_mbar", "sm_80", Drop("@!P0 BRA `(.L_x_2)", 0), (Kind::Plain, "LDGSTS", "LDS.128")),
        ("cpasync_mbar", "sm_100a", Put("SYNCS.PHASECHK.TRANS64 P0, [UR5], R2", TRUE), (Kind::Plain, "LDGSTS", "LDS.128")),
        ("tma_bulk", "sm_90a", Put("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R8+URZ], R3", TRUE), (Kind::Plain, "UBLKCP", "LDS")),
        ("cluster_mbar", "sm_90a", Put("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR7], R2", TRUE), (Kind::Plain, "STAS", "LDS")),
        ("cluster_mbar", "sm_90a", Drop("UCGABAR_WAIT", 0), (Kind::PlainAndAtomic, "SYNCS.EXCH", "SYNCS.ARRIVE")),
    ];
    for (kernel, arch, plant, (kind, one, other)) in rows {
        let what = match &plant {
            Drop(what, nth) => format!("{kernel} on {arch} without `{what}` {nth}"),
            Put(what, with) => format!("{kernel} on {arch} with `{with}` for `{what}`"),
        };
        // A racy kernel need not end.
        let (_, found) = check(&what, &planted(&listing(kernel, arch), &plant), &launch(kernel));
        let pair = |lines: &[String; 2]| {
            let [first, second] = lines;
            (first.contains(one) && second.contains(other)) || (first.contains(other) && second.contains(one))
        };
        assert!(found.iter().any(|(f, lines)| f.kind == kind && pair(lines)), "{what}: {found:#?}");
    }
}

/// Two CTAs add to one word of global memory, and each of them at another place in its text.
fn two_atomics(first: &str, second: &str) -> Vec<Found> {
    let text = format!(
        "\t.target sm_80\n\t.section .text.both,\"ax\",@progbits\n\
         /*0000*/ S2R R0, SR_CTAID.X ;\n\
         /*0010*/ ISETP.NE.AND P0, PT, R0, RZ, PT ;\n\
         /*0020*/ IMAD.MOV.U32 R2, RZ, RZ, c[0x0][0x160] ;\n\
         /*0030*/ IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x164] ;\n\
         /*0040*/ IMAD.MOV.U32 R4, RZ, RZ, 0x1 ;\n\
         /*0050*/ @P0 {first} ;\n\
         /*0060*/ @!P0 {second} ;\n\
         /*0070*/ EXIT ;\n"
    );
    let launch = "kernel = 'both'\ngrid = 2\nblock = 32\n[[param]]\nname = 'out'\ntype = 'u32'\nzeros = 1\n";
    check("both", &text, &Launch::from_toml("both", launch, &folder()).unwrap()).1
}

#[test]
fn atomics_of_too_narrow_a_scope_are_found() {
    let red = |scope: &str| format!("RED.E.ADD.STRONG.{scope} [R2.64], R4");
    let kinds = |one: &str, other: &str| -> Vec<Kind> {
        two_atomics(one, other).iter().map(|(f, _)| f.kind).collect()
    };
    assert_eq!(kinds(&red("GPU"), &red("GPU")), []);
    assert_eq!(kinds(&red("GPU"), &red("SYS")), []);
    assert_eq!(kinds(&red("GPU"), &red("SM")), [Kind::Scope]);
    assert_eq!(kinds(&red("SM"), &red("SM")), [Kind::Scope]);
    assert_eq!(kinds(&red("GPU"), "STG.E [R2.64], R0"), [Kind::PlainAndAtomic]);
    let (finding, lines) = two_atomics(&red("GPU"), &red("SM")).remove(0);
    assert_eq!((finding.first.cta, finding.second.cta), (0, 1));
    assert!(lines[0].contains("STRONG.SM") && lines[1].contains("STRONG.GPU"), "{lines:?}");
    // Of the 32 lanes that came first, one is kept: they are in order with each other.
    assert_eq!(finding.count, 32);
}
