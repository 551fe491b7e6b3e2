//! Reports of deadlocks and livelocks: objects, cycle of waits, hints.

use atoms_isa::Program;
use atoms_model::{Config, Unit};
use atoms_sm::{DeadlockReport, HintCause, KernelError, Launch, RunError, SmConfig, WaitObject, run};
use std::path::Path;

/// Kernel in which thread 0 initializes `full` and `empty` with the counts. `body` follows a block barrier. %r1
/// is the thread, %r2 the warp, %p0 is true for thread 0, %p4 for warp 4.
fn kernel([full, empty]: [u32; 2], body: &str) -> String {
    format!(
        ".version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in)
{{
.reg .pred %p<8>;
.reg .b32 %r<32>;
.reg .b64 %rd<32>;
.shared .align 128 .b8 data[1024];
.shared .align 8 .b64 full;
.shared .align 8 .b64 empty;
ld.param.u64 %rd1, [in];
cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r1, %tid.x;
shr.u32 %r2, %r1, 5;
mov.u32 %r3, data;
setp.eq.u32 %p0, %r1, 0;
setp.eq.u32 %p4, %r2, 4;
@!%p0 bra READY;
mbarrier.init.shared::cta.b64 [full], {full};
mbarrier.init.shared::cta.b64 [empty], {empty};
READY:
bar.sync 0;
{body}
ret;
}}
"
    )
}

/// Waits for a phase of an object. `label` is unique in the kernel.
fn wait(label: &str, object: &str, parity: &str) -> String {
    format!(
        "{label}:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [{object}], {parity};\n@!%p1 bra {label};\n"
    )
}

/// Arrive of thread 0 that expects bytes, and a copy of 1024 bytes.
fn copy(expect: &str) -> String {
    format!(
        "@!%p0 bra COPIED;\n{expect}\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 1024, [full];\nCOPIED:\n"
    )
}

fn report(text: &str, head: &str) -> (Box<DeadlockReport>, String) {
    let program = Program::from_ptx("k.ptx", text, None).unwrap_or_else(|e| panic!("{text}{e}"));
    let launch = format!(
        "kernel = \"k\"\n{head}\ncycle_budget = 200000\n[[param]]\nname = \"in\"\ntype = \"u32\"\nrandom = {{ count = 256, seed = 3 }}\n"
    );
    let launch = Launch::from_toml("k.toml", &launch, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
    let mut unit = Unit::new(Config::default());
    match run(&program.kernels[0], &launch, &mut unit, &SmConfig::default()) {
        Err(RunError::Kernel(error)) => {
            let message = error.to_string();
            let KernelError::Deadlock { report, .. } = *error else { panic!("{message}") };
            (report, message)
        }
        other => panic!("{text}: {other:?}"),
    }
}

/// Checks that the report of a kernel has these parts, in this order.
#[track_caller]
fn says(text: &str, head: &str, parts: &[&str]) -> Box<DeadlockReport> {
    let (report, message) = report(text, head);
    let mut rest = message.as_str();
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            panic!("`{part}` is not in its place in:\n{message}")
        };
        rest = after;
    }
    for line in message.lines().skip(1).filter(|line| !line.contains('`')) {
        assert!(line.len() <= 90, "{line}");
    }
    report
}

#[test]
fn bytes_expected_without_an_arrive() {
    let expect = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 1024;";
    let body = copy(expect) + &wait("W", "full", "0");
    let report = says(
        &kernel([1, 1], &body),
        "grid = 1\nblock = 1024",
        &[
            "CTA 0 mbarrier full (0x00000800): warps 0-31 wait for parity 0",
            "phase parity 0, 1 of 1 arrivals pending, 0 bytes outstanding",
            "no thread can still arrive",
            "hint for mbarrier full: expect_tx without arrive",
            "1024 bytes were expected",
        ],
    );
    assert_eq!(report.blocked.len(), 1);
    assert_eq!(report.blocked[0].waiters.len(), 32);
    assert!(report.waits.is_empty());
}

/// Planted bugs: expected bytes differ from the copied ones.
#[test]
fn bytes_expected_differ_from_bytes_copied() {
    for (expected, outstanding) in [(1040, "16 bytes outstanding"), (1008, "-16 bytes outstanding")] {
        let expect = format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {expected};");
        let bytes = format!("{expected} bytes were expected, but 1024 were delivered");
        says(
            &kernel([1, 1], &(copy(&expect) + &wait("W", "full", "0"))),
            "grid = 1\nblock = 64",
            &[
                "mbarrier full (0x00000800): warps 0-1 wait for parity 0",
                "0 of 1 arrivals pending",
                outstanding,
                "hint for mbarrier full:",
                &bytes,
            ],
        );
    }
}

/// Planted bugs: counts of objects and barriers.
#[test]
fn counts_that_threads_cannot_reach() {
    let arrive = "mbarrier.arrive.shared::cta.b64 _, [full];\n";
    says(
        &kernel([129, 1], &(arrive.to_string() + &wait("W", "full", "0"))),
        "grid = 1\nblock = 128",
        &[
            "warps 0-3 wait",
            "1 of 129 arrivals pending",
            "arrived: warps 0-3",
            "no thread can still arrive",
            "hint for mbarrier full:\n    the count is 129, but only 128 can arrive",
        ],
    );
    // The threads would arrive again in the next iteration.
    let body = format!("AGAIN:\n{arrive}{}bra AGAIN;", wait("W", "full", "0"));
    says(
        &kernel([129, 1], &body),
        "grid = 1\nblock = 128",
        &[
            "1 of 129 arrivals pending",
            "only warps 0-3 can still arrive",
            "cycle of waits:",
            "warps 0-3 wait for an arrive on mbarrier full that only warps 0-3 make",
            "behind this wait",
            "hint for mbarrier full:\n    the count is 129, but only 128 can arrive",
        ],
    );
    // Thread 0 drops out of the phase, which has 129 arrivals, and of later ones.
    let body = format!(
        "@%p0 mbarrier.arrive_drop.shared::cta.b64 _, [full];\n@!%p0 {arrive}{}",
        wait("W", "full", "0")
    );
    says(
        &kernel([129, 1], &body),
        "grid = 1\nblock = 128",
        &[
            "1 of 128 arrivals pending",
            "hint for mbarrier full:\n    the count is 129, but only 128 can arrive",
        ],
    );
    says(
        &kernel([1, 1], "bar.sync 1, 96;"),
        "grid = 1\nblock = 128",
        &[
            "CTA 0 block barrier 1: warp 0 waits",
            "32 of 96 threads have arrived",
            "no thread can still arrive: warps 1-3 have ended",
            "`bar.sync 1, 96`",
            "hint for block barrier 1:\n    128 threads have arrived since the start, no multiple of the count 96",
        ],
    );
    says(
        &kernel([1, 1], "bar.sync 1, 128;"),
        "grid = 1\nblock = 96",
        &[
            "CTA 0 block barrier 1: warps 0-2 wait",
            "96 of 128 threads have arrived",
            "no thread can still arrive",
            "hint for block barrier 1:\n    the count is 128, but only 96 can arrive",
        ],
    );
}

/// Planted bugs: more arrivals than the count, so that the pending count wraps. The count is not too large.
#[test]
fn more_arrivals_than_the_count() {
    for arrive in
        ["mbarrier.arrive.shared::cta.b64 _, [full], 2;", "mbarrier.arrive.shared::cta.b64 _, [full], 200;"]
    {
        let body = format!("@%p0 {arrive}\n{}", wait("W", "full", "0"));
        let report = says(&kernel([1, 1], &body), "grid = 1\nblock = 64", &["of 1 arrivals pending"]);
        assert!(report.hints.is_empty(), "{:?}", report.hints);
    }
}

/// Planted bug: `.noinc` is missing, so that the arrivals do not count.
#[test]
fn arrivals_of_copies_that_do_not_count() {
    let copy = "cp.async.ca.shared.global [%r3], [%rd1], 4;\ncp.async.mbarrier.arrive.shared.b64 [full];\n";
    let own = "mbarrier.arrive.shared::cta.b64 _, [full];\n";
    let kernels = [
        (32, copy.to_string(), "the count is 32, but only 0 can arrive", true),
        (33, format!("{copy}@%p0 {own}"), "the count is 33, but only 1 can arrive", true),
        // Each thread also arrives itself: `.noinc` would be wrong.
        (33, format!("{copy}{own}"), "the count is 33, but only 32 can arrive", false),
    ];
    for (count, body, hint, lacks_noinc) in kernels {
        let body = body + &wait("W", "full", "0");
        let report =
            says(&kernel([count, 1], &body), "grid = 1\nblock = 32", &["hint for mbarrier full:", hint]);
        let cause = report.hints[0].cause;
        assert_eq!(matches!(cause, HintCause::NetZeroArrive { .. }), lacks_noinc, "{cause:?}");
    }
}

/// Bytes may also be delivered without a copy.
#[test]
fn bytes_delivered_by_complete_tx() {
    let body = format!(
        "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 64;\n\
         @%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [full], 48;\n{}",
        wait("W", "full", "0")
    );
    says(
        &kernel([1, 1], &body),
        "grid = 1\nblock = 32",
        &["hint for mbarrier full:", "64 bytes were expected, but 48 were delivered"],
    );
}

/// Planted bug: the consumer waits for parity 0 in every iteration.
#[test]
fn parity_that_does_not_flip() {
    let body = format!(
        "mov.u32 %r5, 0;\nsetp.ne.u32 %p3, %r2, 0;\n@%p3 bra CONSUMER;\n\
         PRODUCER:\nand.b32 %r6, %r5, 1;\nxor.b32 %r6, %r6, 1;\n{}\
         mbarrier.arrive.shared::cta.b64 _, [full];\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 4;\n\
         @%p2 bra PRODUCER;\nbra DONE;\n\
         CONSUMER:\n{}mbarrier.arrive.shared::cta.b64 _, [empty];\nadd.u32 %r5, %r5, 1;\n\
         setp.lt.u32 %p2, %r5, 5;\n@%p2 bra CONSUMER;\nDONE:",
        wait("WE", "empty", "%r6"),
        wait("WF", "full", "0"),
    );
    says(
        &kernel([32, 32], &body),
        "grid = 1\nblock = 64",
        &[
            "mbarrier full (0x00000800): warp 1 waits for parity 0",
            "hint for mbarrier full: parity off by one phase",
        ],
    );
}

/// Planted bug: each of two warps waits before it arrives.
#[test]
fn warps_that_wait_for_each_other() {
    let body = format!(
        "setp.ne.u32 %p3, %r2, 0;\n@%p3 bra OTHER;\n{}mbarrier.arrive.shared::cta.b64 _, [empty];\nbra DONE;\n\
         OTHER:\n{}mbarrier.arrive.shared::cta.b64 _, [full];\nDONE:",
        wait("WF", "full", "0"),
        wait("WE", "empty", "0"),
    );
    let report = says(
        &kernel([32, 32], &body),
        "grid = 1\nblock = 64",
        &[
            "mbarrier full (0x00000800): warp 0 waits for parity 0",
            "warp 1 can still arrive",
            "mbarrier empty (0x00000808): warp 1 waits for parity 0",
            "warp 0 can still arrive",
            "cycle of waits:",
            "warp 0 waits for an arrive on mbarrier full that warp 1 makes\n      behind the wait for mbarrier ",
            "warp 1 waits for an arrive on mbarrier empty that warp 0 makes\n      behind the wait for mbarrier ",
        ],
    );
    assert_eq!(report.waits.len(), 2);
    let causes: Vec<_> = report.hints.iter().map(|hint| hint.cause).collect();
    assert_eq!(causes, [HintCause::FirstPhase; 2]);
}

/// One warp arrives only behind a barrier of the whole CTA.
#[test]
fn an_arrive_behind_a_block_barrier() {
    let body = format!(
        "@%p4 bra LAST;\n{}bar.sync 0;\nbra DONE;\nLAST:\nbar.sync 0;\n\
         mbarrier.arrive.shared::cta.b64 _, [full];\nDONE:",
        wait("W", "full", "0"),
    );
    let report = says(
        &kernel([32, 1], &body),
        "grid = 1\nblock = 160",
        &[
            "mbarrier full (0x00000800): warps 0-3 wait for parity 0",
            "32 of 32 arrivals pending",
            "warp 4 can still arrive",
            "block barrier 0: warp 4 waits",
            "32 of 160 threads have arrived",
            "warps 0-3 can still arrive",
            "cycle of waits:",
            "warps 0-3 wait for an arrive on mbarrier full that warp 4 makes\n      behind `bar.sync 0` in line 31",
            "warp 4 waits at block barrier 0 for warps 0-3",
        ],
    );
    assert!(matches!(report.blocked[0].object, WaitObject::Mbarrier { pending: 32, .. }));
    assert!(report.hints.is_empty());
}

/// Every CTA waits, so that the report names all of them in one line.
#[test]
fn ctas_with_equal_waits() {
    let (report, message) = report(&kernel([1, 1], &wait("W", "full", "0")), "grid = 3\nblock = 64");
    assert_eq!(report.blocked.len(), 3);
    assert!(
        message.contains("CTAs 0-2 mbarrier full (0x00000800): warps 0-1 wait for parity 0"),
        "{message}"
    );
}
