//! PTX of real kernels.

use atoms_isa::ptx::Module;
use std::path::PathBuf;

#[test]
fn every_module_is_read() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    let mut n = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "ptx") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let module = Module::parse(&path.display().to_string(), &text).unwrap_or_else(|e| panic!("{e}"));
        n += 1;
        println!(
            "{} {} {}",
            path.display(),
            module.functions[0].name,
            module.functions[0].instructions.len()
        );
    }
    assert!(n > 50);
}
#[test]
fn samples() {
    let text = include_str!("../../tests/vectors/lowering_sample.json");
    let rows: serde_json::Value = serde_json::from_str(text).unwrap();
    let mut bad = 0;
    for row in rows.as_array().unwrap() {
        let ptx = row["ptx"].as_str().unwrap();
        if let Err(e) = atoms_isa::ptx::snippet(ptx) {
            bad += 1;
            println!("{ptx}: {e}");
        }
    }
    let text = include_str!("../../tests/vectors/nvvm_sample.json");
    let rows: serde_json::Value = serde_json::from_str(text).unwrap();
    for row in rows.as_array().unwrap() {
        let Some(ptx) = row["ptx"].as_array() else { continue };
        let ptx: Vec<_> = ptx.iter().map(|l| l.as_str().unwrap()).collect();
        let ptx = ptx.join("\n");
        if let Err(e) = atoms_isa::ptx::snippet(&ptx) {
            bad += 1;
            println!("{ptx}: {e}");
        }
    }
    assert_eq!(bad, 0);
}
