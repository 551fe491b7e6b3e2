//! Differential test of instruction forms: PTX and compiled machine code run with the same inputs and must
//! store the same bits. `tests/kernels/forms` holds the sources, their listings, and the script that rebuilds
//! the listings.

mod coverage;

use crate::functional;

use atoms_isa::{Arch, Program};
use atoms_sm::{Buffer, Launch, ParamKind, RunReport, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::collections::BTreeMap;
use std::path::PathBuf;

const SETS: usize = 48;

/// Values of further scalar parameters, after the eight words of a set.
const MORE: &[u8] = &[0x17, 0xf2, 0x86, 0xa0, 0x35, 0x91, 0x7a, 0xc3];

const SHOWN: usize = 24;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels/forms")
}

fn files(suffix: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(suffix)).collect();
    names.sort();
    names
}

fn program(file: &str, arch: Option<Arch>) -> Result<Program, String> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    Program::read(file, &text, arch).map_err(|e| format!("{file}: {:?}", miette::Report::new(e)))
}

fn report(program: &Program, launch: &Launch, file: &str) -> Result<RunReport, String> {
    let kernel = launch.kernel(program).map_err(|e| format!("{file}: {e}"))?;
    let mut port = FunctionalPort::new(Shape::default());
    run(kernel, launch, &mut port, &SmConfig::default()).map_err(|e| format!("{file}: {e}"))
}

/// Lists each word that differs, with the first differing threads and the statement that stores the word.
fn differences(ptx: &Buffer, code: &Buffer, threads: usize, source: &str) -> Option<String> {
    let (element, bytes) = (ptx.element, ptx.element.bytes());
    let words = (ptx.bytes.len() / bytes / threads).max(1);
    let mut by_word: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let pairs = ptx.bytes.chunks(bytes).zip(code.bytes.chunks(bytes)).enumerate();
    for (i, _) in pairs.filter(|(_, (a, b))| a != b) {
        by_word.entry(i % words).or_default().push(i);
    }
    let text = std::fs::read_to_string(folder().join(format!("{source}.ptx"))).unwrap();
    let shown = by_word.iter().take(SHOWN).map(|(word, at)| {
        let [a, b] = [ptx, code].map(|buffer| element.read(&buffer.bytes, at[0]));
        let (name, thread, count) = (&ptx.name, at[0] / words, at.len());
        let place = format!("[%o+{}]", word * bytes);
        let statement = text.lines().find(|line| name == "out" && line.contains(&place)).unwrap_or("");
        let statement: String = statement.chars().take(100).collect();
        format!(
            "\n  {name} word {word}, {count} threads, first thread {thread}: PTX {a:#x}, listing {b:#x}  {statement}"
        )
    });
    (!by_word.is_empty()).then(|| format!("{} words differ:{}", by_word.len(), shown.collect::<String>()))
}

/// Launches of a source: one, or one per set of scalar parameters. The sets are words of `in.bin`.
fn launches(launch: Launch) -> Vec<Launch> {
    if !launch.params.iter().any(|param| matches!(param.kind, ParamKind::Scalar { .. })) {
        return vec![launch];
    }
    let input = std::fs::read(folder().join("in.bin")).unwrap();
    let sets = input.chunks_exact(32).take(SETS).map(|words| {
        let mut launch = launch.clone();
        let mut words = words.iter().chain(MORE).copied();
        for param in &mut launch.params {
            if let ParamKind::Scalar { element, bits } = &mut param.kind {
                *bits = (0..element.bytes()).map(|i| u64::from(words.next().unwrap()) << (8 * i)).sum();
            }
        }
        launch
    });
    sets.collect()
}

/// Compares a source with one of its listings. The error describes the first launch that differs.
fn compare(source: &str, listing: &str, launches: &[Launch]) -> Result<(), String> {
    let arch = listing.strip_prefix(source).unwrap().trim_start_matches('.').split('-').next().unwrap();
    let arch = Arch::from_name(arch).unwrap_or_else(|| panic!("{listing}: no such architecture"));
    let (ptx, code) = (program(&format!("{source}.ptx"), Some(arch))?, program(listing, None)?);
    for (set, launch) in launches.iter().enumerate() {
        let (a, b) = (report(&ptx, launch, source)?, report(&code, launch, listing)?);
        let threads = (a.statistics.ctas * u64::from(launch.threads())) as usize;
        for (a, b) in a.buffers.iter().zip(&b.buffers) {
            if let Some(differing) = differences(a, b, threads, source) {
                let which =
                    if launches.len() > 1 { format!(", scalar parameters {set}") } else { String::new() };
                return Err(format!("{listing}{which}: {differing}"));
            }
        }
    }
    Ok(())
}

#[test]
fn ptx_and_machine_code_agree() {
    let listings = files(".sass");
    let (mut compared, mut failures) = (0, Vec::new());
    for file in files(".launch.toml") {
        let source = file.strip_suffix(".launch.toml").unwrap();
        let launches = launches(Launch::from_file(&folder().join(&file)).unwrap());
        let of_source: Vec<_> = listings.iter().filter(|l| l.split('.').next() == Some(source)).collect();
        assert!(!of_source.is_empty(), "{source} has no listing");
        compared += of_source.len();
        failures.extend(of_source.iter().filter_map(|listing| compare(source, listing, &launches).err()));
    }
    assert_eq!(compared, listings.len(), "some listings have no launch file");
    assert!(
        failures.is_empty(),
        "{} listings differ from their PTX:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
