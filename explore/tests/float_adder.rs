//! The float adder of `docs/studies/float-adder.md` gives the same sums as the host processor.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use atoms_verilated::{Environment, Toolchain};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const HARNESS: &str = r#"
#include "Vfloat_adder.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
double sc_time_stamp() { return 0; }
int main() {
  Vfloat_adder adder;
  uint32_t pair[2];
  while (std::fread(pair, sizeof pair, 1, stdin) == 1) {
    adder.a_i = pair[0];
    adder.b_i = pair[1];
    adder.eval();
    uint32_t sum = adder.sum_o;
    std::fwrite(&sum, sizeof sum, 1, stdout);
  }
}
"#;

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn adder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("float_adder");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    std::fs::write(folder.join("main.cpp"), HARNESS).expect("a file can be written");
    let env = Environment::from_process();
    let Toolchain { verilator, compiler } =
        atoms_cosim::rtl::toolchain(&env, &mut |_| ()).expect("a toolchain");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("studies/float_adder.sv");
    let mut translate = Command::new(&verilator.program);
    if let Some(root) = &verilator.root {
        translate.env("VERILATOR_ROOT", root);
    }
    run(translate.args(["--cc", "-Wall", "--Mdir"]).arg(&folder).arg(&source));
    let mut generated: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "cpp"))
        .collect();
    generated.extend(["verilated.cpp", "verilated_threads.cpp"].map(|name| verilator.include.join(name)));
    let program = folder.join("adder");
    let mut compile = Command::new(&compiler.program);
    compile.args(["-std=c++20", "-O0", "-I"]).arg(&verilator.include).arg("-I");
    run(compile
        .arg(verilator.include.join("vltstd"))
        .arg("-I")
        .arg(&folder)
        .args(&generated)
        .args(compiler.link_flags())
        .arg("-o")
        .arg(&program));
    program
}

/// Operands for every path: random words, numbers of similar exponents, and edge cases.
fn pairs() -> Vec<(u32, u32)> {
    const EDGES: [u32; 14] = [
        0,
        1,
        2,
        0x007f_ffff,
        0x0080_0000,
        0x0080_0001,
        0x00ff_ffff,
        0x3f80_0000,
        0x3f80_0001,
        0x7f7f_ffff,
        0x7f7f_fffe,
        0x7f80_0000,
        0x7f80_0001,
        0x7fc0_0000,
    ];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut pairs = Vec::new();
    for a in EDGES {
        for b in EDGES {
            pairs.extend([0, 1 << 31].map(|sign| (a, b ^ sign)));
            pairs.extend([0, 1 << 31].map(|sign| (a ^ 1 << 31, b ^ sign)));
        }
    }
    for _ in 0..400_000 {
        let (a, b): (u32, u32) = (rng.random(), rng.random());
        let distance = rng.random_range(0..30_u32) << 23;
        let near = (a & 0xff80_0000).wrapping_sub(distance) & 0xff80_0000 | b & 0x007f_ffff;
        let edge = EDGES[rng.random_range(0..EDGES.len())];
        pairs.extend([(a, b), (a, near), (near, a ^ 1 << 31), (a & 0x80ff_ffff, b & 0x80ff_ffff), (edge, b)]);
    }
    pairs
}

#[test]
#[ignore = "nightly: builds the adder of a study"]
fn it_adds_as_the_processor_does() {
    let pairs = pairs();
    let mut child =
        Command::new(adder()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let bytes: Vec<u8> =
        pairs.iter().flat_map(|(a, b)| [a.to_ne_bytes(), b.to_ne_bytes()].concat()).collect();
    let mut stdin = child.stdin.take().expect("a pipe");
    let feeder = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().expect("it ends");
    feeder.join().expect("it ends").expect("it reads everything");
    let sums: Vec<u32> = output
        .stdout
        .chunks_exact(4)
        .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    assert_eq!(sums.len(), pairs.len());
    for ((a, b), found) in pairs.into_iter().zip(sums) {
        let sum = f32::from_bits(a) + f32::from_bits(b);
        let expected = if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() };
        assert_eq!(
            found, expected,
            "{a:#010x} + {b:#010x}: {found:#010x}, and the processor has {expected:#010x}"
        );
    }
}
