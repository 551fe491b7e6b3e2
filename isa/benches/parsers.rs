//! Measures the throughput of the parsers in MB (10^6 bytes) per second on one core: `cargo bench -p
//! atoms-isa`.
//!
//! Each text is about ten megabytes: copies of real kernels with unique names. The result is the processor
//! time of the best of five runs, including the release of the parsed data. The best run is used because
//! other load only makes runs longer. Both parsers must reach 50 MB/s.

#![allow(clippy::print_stdout)] // a separate program that prints for people

use atoms_isa::Program;
use atoms_isa::ptx::Module;
use std::path::PathBuf;
use std::time::Instant;

const BYTES: usize = 10_000_000;
const RUNS: usize = 5;

fn kernels(extension: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    let mut kernels: Vec<_> = std::fs::read_dir(folder)
        .expect("tests/kernels")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| {
            let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let kernel = file.split('.').next().unwrap_or("").to_string();
            (kernel, std::fs::read_to_string(&path).expect("a text"))
        })
        .collect();
    kernels.sort();
    kernels
}

/// Returns `head` followed by copies of the kernels. `rename` gives the text of a kernel a unique number.
fn repeated(
    head: &str,
    kernels: &[(String, String)],
    rename: impl Fn(&str, &str, usize) -> String,
) -> String {
    let mut text = String::from(head);
    for number in 0.. {
        for (name, kernel) in kernels {
            text += &rename(name, kernel, number * 1000 + text.len() % 1000);
        }
        if text.len() >= BYTES {
            break;
        }
    }
    text
}

/// Keeps only kernels whose modules declare nothing else, so that copies of them do not conflict.
fn lone(mut kernels: Vec<(String, String)>) -> Vec<(String, String)> {
    let lone = |text: &str| {
        Module::parse("kernel", text).is_ok_and(|m| m.variables.is_empty() && m.functions.len() == 1)
    };
    kernels.retain(|(_, text)| lone(text));
    kernels
}

fn of_sm_90(mut kernels: Vec<(String, String)>) -> Vec<(String, String)> {
    kernels.retain(|(_, text)| Program::parse("kernel", text).is_ok_and(|p| p.arch.number() == 90));
    kernels
}

fn modules(kernels: &[(String, String)]) -> String {
    let count = std::cell::Cell::new(0);
    repeated(".version 9.0\n.target sm_100a\n.address_size 64\n", kernels, |name, text, _| {
        count.set(count.get() + 1);
        let body = text.split_once(".address_size 64").map_or("", |(_, body)| body);
        body.replace(&format!(".entry {name}("), &format!(".entry {name}_{}(", count.get()))
    })
}

/// Returns one function in which inline assembly, `.loc` and plain instructions alternate.
fn long_function() -> String {
    let mut text = String::from(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n");
    text += "\t.reg .pred %p<1000>;\n\t.reg .b32 %r<20000>;\n\t.shared .align 16 .b8 s[4096];\n";
    for n in 0_usize.. {
        let (a, b) = (n % 20000, n * 7 % 20000);
        text += &format!("$L__tmp{n}:\n\t.loc 1 {n} 3, function_name $L__info_string0, inlined_at 1 {b} 5\n");
        text += &format!(
            "\tmad.lo.s32 \t%r{a}, %r{b}, 12, %r{a};\n\tatom.shared.add.u32 \t%r{a}, [s+{b}], %r{b};\n"
        );
        text += "\t// begin inline asm\n\t{\n\t.reg .pred P1;\n\tLAB_WAIT:\n";
        text += &format!("\tmbarrier.try_wait.parity.shared::cta.b64 P1, [%r{a}], %r{b};\n");
        text += "\t@P1 bra DONE;\n\tbra LAB_WAIT;\n\tDONE:\n\t}\n\t// end inline asm\n";
        if text.len() >= BYTES {
            break;
        }
    }
    text + "}\n"
}

fn listing(kernels: &[(String, String)], encodings: bool) -> String {
    let count = std::cell::Cell::new(0);
    repeated(".target sm_90a\n", kernels, |name, text, _| {
        count.set(count.get() + 1);
        let section = text.find("\t.section\t.text.").or_else(|| text.find(".section")).unwrap_or(0);
        let body = text
            .get(section..)
            .unwrap_or("")
            .replace(&format!(".text.{name}"), &format!(".text.{name}_{}", count.get()));
        let lines = body.lines().filter(|l| !l.contains(".target"));
        let bare = |l: &str| {
            if encodings { l.to_string() } else { l.split("/* 0x").next().unwrap_or("").trim_end().into() }
        };
        lines.map(|l| bare(l) + "\n").filter(|l| encodings || !l.trim().is_empty()).collect()
    })
}

/// Processor time of this thread in seconds, if the system reports it.
fn processor_time() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    statistics.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}

type Parse = dyn Fn(&str) -> Result<usize, String>;

fn measure(what: &str, text: &str, parse: &Parse) {
    let mut best = f64::INFINITY;
    let mut instructions = 0;
    for _ in 0..RUNS {
        let (start, processor) = (Instant::now(), processor_time());
        match parse(text) {
            Ok(count) => instructions = count,
            Err(error) => {
                println!("{what}: {}", error.lines().take(5).collect::<Vec<_>>().join("\n"));
                return;
            }
        }
        let processor = processor_time().zip(processor).map(|(end, start)| end - start);
        best = best.min(processor.unwrap_or(start.elapsed().as_secs_f64()));
    }
    let (megabytes, millions) = (text.len() as f64 / 1e6, instructions as f64 / 1e6);
    println!("{what:32} {:7.1} MB/s  {:6.2} million instructions/s", megabytes / best, millions / best);
}

fn main() {
    // Argument of `cargo bench -- PTX`: measure only texts that have this word in their names.
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    let measure = |what: &str, text: &dyn Fn() -> String, parse: &Parse| {
        if what.contains(&wanted) {
            measure(what, &text(), parse);
        }
    };
    let ptx = |text: &str| {
        let module = Module::parse("bench.ptx", text).map_err(|e| e.to_string())?;
        Ok(module.functions.iter().map(|f| f.instructions.len()).sum())
    };
    let sass = |text: &str| {
        let program = Program::parse("bench.sass", text).map_err(|e| e.to_string())?;
        Ok(program.kernels.iter().map(|k| k.instructions.len()).sum())
    };
    measure("PTX, kernels of a compiler", &|| modules(&lone(kernels("ptx"))), &ptx);
    measure("PTX, one long function", &long_function, &ptx);
    measure("listing with encodings", &|| listing(&of_sm_90(kernels("sass")), true), &sass);
    measure("listing without encodings", &|| listing(&of_sm_90(kernels("sass")), false), &sass);
}
