//! Bugs of synchronization: each is found in the kernel with the bug, and nothing is found in the correct kernel.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const BUGS: &str = include_str!("sync/bugs.txt");

/// Further cases for each rule.
const MORE: [&str; 6] = [
    include_str!("sync/proxies.txt"),
    include_str!("sync/mbarrier.txt"),
    include_str!("sync/clusters.txt"),
    include_str!("sync/order.txt"),
    include_str!("sync/hangs.txt"),
    include_str!("sync/lanes.txt"),
];

const HEAD: &str = "\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<16>;
.reg .b32 %r<64>;
.reg .b64 %rd<32>;
.shared .align 128 .b8 buf[4096];
.shared .align 8 .b64 bar[8];
ld.param.u64 %rd1,[in]; cvta.to.global.u64 %rd1,%rd1;
ld.param.u64 %rd2,[out]; cvta.to.global.u64 %rd2,%rd2;
mov.u32 %r1,%tid.x; mov.u32 %r2,bar; mov.u32 %r3,buf; mov.u32 %r7,%cluster_ctarank;
shr.u32 %r0,%r1,5; and.b32 %r4,%r1,31; shl.b32 %r5,%r1,2; add.u32 %r6,%r3,%r5;
setp.eq.u32 %p0,%r1,0; setp.eq.u32 %p1,%r0,0; setp.eq.u32 %p2,%r4,0; setp.eq.u32 %p3,%r7,0;
";

/// Case of the file, with the options of its second line.
struct Case<'a> {
    title: &'a str,
    block: u32,
    cluster: u32,
    /// Number of CTAs.
    grid: u32,
    /// Value of `--check`.
    checks: String,
    status: i32,
    finds: &'a str,
    body: Vec<&'a str>,
}

impl<'a> Case<'a> {
    fn read(text: &'a str) -> Case<'a> {
        let mut lines = text.trim_end().lines();
        let title = lines.next().expect("a title");
        let (options, finds) = lines.next().and_then(|line| line.split_once(": ")).expect("options: text");
        let mut case = Case {
            title,
            block: 0,
            cluster: 1,
            grid: 0,
            checks: "all".into(),
            status: 0,
            finds,
            body: lines.collect(),
        };
        let words: Vec<_> = options.split_whitespace().collect();
        for pair in words.chunks(2) {
            let number = || pair[1].parse().expect("a number");
            match pair[0] {
                "block" => case.block = number(),
                "cluster" => case.cluster = number(),
                "grid" => case.grid = number(),
                "checks" => case.checks = format!("all,{}", pair[1]),
                "finds" => case.status = number() as i32,
                other => panic!("{title}: {other}: expected block, cluster, grid, checks or finds"),
            }
        }
        case
    }

    fn kernel(&self, broken: bool) -> String {
        let (own, other) = if broken { ("- ", "+ ") } else { ("+ ", "- ") };
        let mut text = HEAD.to_string();
        for (number, line) in self.body.iter().filter(|line| !line.starts_with(other)).enumerate() {
            let line = line.strip_prefix(own).unwrap_or(line);
            let _ = match line.strip_prefix("WAIT ") {
                Some(of) => writeln!(
                    text,
                    "L{number}: mbarrier.try_wait.parity.shared::cta.b64 %p9,{of};\n@!%p9 bra L{number};"
                ),
                None => writeln!(text, "{line}"),
            };
        }
        text + "E:\nret;\n}\n"
    }

    /// Runs the kernel. Returns the exit status, and all text of findings.
    fn run(&self, broken: bool) -> (Option<i32>, String) {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sync");
        std::fs::create_dir_all(&folder).expect("a folder");
        let name = format!("{}{broken}", self.title.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
        let [kernel, launch] = ["ptx", "toml"].map(|ending| folder.join(format!("{name}.{ending}")));
        std::fs::write(&kernel, self.kernel(broken)).expect("writes");
        let buffer = |name, values| format!("[[param]]\nname = '{name}'\ntype = 'u32'\n{values}\n");
        let launched = format!(
            "kernel = 'k'\ngrid = {}\nblock = {}\ncluster = {cluster}\ncycle_budget = 60000\n{}{}",
            self.grid.max(self.cluster),
            self.block,
            buffer("in", "random = { count = 1024, seed = 3 }"),
            buffer("out", "zeros = 1024"),
            cluster = self.cluster,
        );
        std::fs::write(&launch, launched).expect("writes");
        let begun = Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_atoms"))
            .arg("run")
            .arg(&kernel)
            .arg("--launch")
            .arg(&launch)
            .args(["--on", "model", "--check", &self.checks])
            .output()
            .expect("atoms can be started");
        assert!(begun.elapsed() < Duration::from_secs(5), "{}: {:?}", self.title, begun.elapsed());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // A report of a run that did not end is on stdout; other findings are on stderr.
        let ended = output.stdout.windows(6).any(|bytes| bytes == b"passes");
        let report = if ended { String::new() } else { text(&output.stdout) };
        (output.status.code(), report + &text(&output.stderr))
    }
}

fn cases(text: &str) -> Vec<Case<'_>> {
    text.split("\n== ").skip(1).map(Case::read).collect()
}

/// Runs each case with the bug and without it. Returns the cases that are not answered as expected.
fn failures(cases: &[Case<'_>]) -> Vec<String> {
    let mut failures = Vec::new();
    for case in cases {
        let (status, text) = case.run(true);
        if status != Some(case.status) || !text.contains(case.finds) {
            let Case { title, status: expected, finds, .. } = case;
            failures.push(format!("{title}: {status:?}, expected {expected} and `{finds}`\n{text}"));
        }
        let (status, text) = case.run(false);
        if status != Some(0) || !text.is_empty() {
            failures.push(format!("{}, without the bug: {status:?}\n{text}", case.title));
        }
    }
    failures
}

#[test]
fn each_bug_is_found_and_nothing_in_the_correct_kernel() {
    let cases = cases(BUGS);
    for number in 1..=40 {
        let of = |case: &&Case<'_>| case.title.split(' ').next() == Some(&number.to_string());
        assert!(cases.iter().any(|case| of(&case)), "no case for bug {number}");
    }
    let failures = failures(&cases);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
#[ignore = "nightly: 800 kernels"]
fn ten_bugs_of_each_rule_are_found() {
    let failures: Vec<String> = MORE.into_iter().flat_map(|text| failures(&cases(text))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
