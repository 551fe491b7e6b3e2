//! Expectations for buffers, element by element, and the size of a CTA's shared memory.

use crate::functional;

use atoms_isa::Program;
use atoms_sm::{Launch, Outcome, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::path::Path;

/// Runs a kernel that does nothing, so that the buffer keeps its values 1, 2, 3, 4.
fn outcome(kind: &str, expect: &str) -> Result<Outcome, String> {
    let text = format!(
        "kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"{kind}\"\nvalues = [1, 2, 3, 4]\n\
         expect = {expect}\n"
    );
    let launch = Launch::from_toml("launch", &text, Path::new("")).map_err(|error| error.to_string())?;
    let program = Program::parse("k.sass", ".target sm_80\n.section .text.k,\"ax\"\nEXIT ;\n").unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let kernel = launch.kernel(&program).unwrap();
    let mut report = run(kernel, &launch, &mut port, &SmConfig::default()).unwrap();
    assert!(port.clean());
    Ok(report.buffers.remove(0).outcome)
}

#[test]
fn elements_left_open() {
    for kind in ["u32", "bf16"] {
        for (expect, compared) in [
            ("{ values = [1, 2, 3, 4] }", 4),
            ("{ values = [1, 9, 3, 9], open = [3, 1] }", 2),
            ("{ values = [1, \"open\", 3, \"open\"] }", 2),
            ("{ values = [\"open\", 9, 3], open = [1] }", 1),
            ("{ formula = \"i + (i % 2 == 0 ? 1 : 5)\", open = \"i % 2\" }", 2),
            ("{ formula = \"i == 3 ? 9 : i + 1\", open = \"a[i] > 3\" }", 3),
            ("{ copy_of = \"a\", xor = 1, open = [0, 1, 2, 3] }", 0),
        ] {
            assert_eq!(outcome(kind, expect), Ok(Outcome::Met { compared }), "{kind} {expect}");
        }
        let found = outcome(kind, "{ values = [9, 9, 9, 4], open = [0] }").unwrap();
        let Outcome::Differs { index: 1, differing: 2, compared: 3, .. } = found else { panic!("{found:?}") };
    }
}

#[test]
fn what_cannot_be_left_open() {
    for (expect, parts) in [
        ("{ values = [1], open = [4] }", ["element 4", "the buffer has 4 elements"]),
        ("{ values = [1], open = \"i +\" }", ["a.expect.open", "formula"]),
        ("{ values = [1], order = \"any\", open = [0] }", ["cannot be combined", "`open` need `order"]),
        ("{ values = [\"open\"], order = \"set\" }", ["in any order", "`open`"]),
        ("{ values = [\"closed\"] }", ["value \"closed\"", "a u32 is a number"]),
    ] {
        let error = outcome("u32", expect).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{expect}: {error}");
    }
}

/// Last byte that a CTA may read if neither kernel nor launch state the size of shared memory.
#[test]
fn the_shared_memory_of_a_cluster_is_shared_out() {
    let text = |offset: u32| {
        format!(
            ".target sm_90\n.section .text.k,\"ax\"\nS2R R2, SR_CgaCtaId ;\nMOV R0, {offset:#x} ;\n\
             LEA R0, R2, R0, 0x18 ;\nLDS.U8 R1, [R0] ;\nEXIT ;\n"
        )
    };
    let rows = 1024;
    let shape = Shape { rows, slots: 8, ..Shape::default() };
    for (cluster, bytes) in [(1, 0xc400), (2, 0xc400), (4, rows * 128 / 4), (8, rows * 128 / 8)] {
        let launch = format!("kernel = \"k\"\ngrid = {cluster}\nblock = 32\ncluster = {cluster}\n");
        let launch = Launch::from_toml("launch", &launch, Path::new("")).unwrap();
        for (offset, inside) in [(bytes - 1, true), (bytes, false)] {
            let program = Program::parse("k.sass", &text(offset)).unwrap();
            let mut port = FunctionalPort::new(shape);
            let outcome = run(launch.kernel(&program).unwrap(), &launch, &mut port, &SmConfig::default());
            assert_eq!(outcome.is_ok(), inside, "cluster of {cluster}, offset {offset:#x}: {outcome:?}");
        }
    }
}
