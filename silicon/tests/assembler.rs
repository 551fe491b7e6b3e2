//! The vendor's assembler, if installed, accepts every program. The driver contains the same compiler.

use std::path::PathBuf;
use std::process::Command;

use atoms_silicon::catalogue;

fn assembler() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("ptxas")).find(|file| file.is_file())
}

#[test]
fn the_vendors_assembler_takes_every_program() {
    let Some(assembler) = assembler() else {
        println!("skipped: no ptxas on PATH (pip install nvidia-cuda-nvcc brings one)");
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut refused = Vec::new();
    for (number, program) in catalogue::programs(1).iter().enumerate() {
        let file = folder.join(format!("program{number}.ptx"));
        std::fs::write(&file, &program.ptx).unwrap();
        // Newer releases no longer support the oldest targets, so the test uses at least sm_75.
        let arch = format!("-arch=sm_{}", program.since.max(75));
        let output =
            Command::new(&assembler).arg(arch).arg(&file).args(["-o", "/dev/null"]).output().unwrap();
        if !output.status.success() {
            refused.push(format!("{}: {}", program.name, String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
