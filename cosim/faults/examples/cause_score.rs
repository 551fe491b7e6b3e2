//! Measures how often `atoms wave cause` names the line of a planted defect.
//!
//! `cargo run --release -p atoms-faults --example cause_score -- [DEFECTS [SEED [CONFIG]]]`

#![allow(clippy::print_stdout)] // stand-alone program that prints for people

use atoms_cosim::embedded::rtl_dir;
use atoms_faults::build::SchemataRtl;
use atoms_faults::cause;
use atoms_stimulus::configs;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize, default: &str| args.get(at).map_or(default, String::as_str).to_string();
    let (count, seed, config) =
        (argument(0, "200").parse()?, argument(1, "1").parse()?, argument(2, "small"));
    let schemata = SchemataRtl::build(&rtl_dir(), &configs::named(&rtl_dir(), &config)?, &mut |_| {})?;
    let score = cause::score(&schemata, seed, count, |_| {})?;
    println!("{} defects in configuration {config}, seed {seed}", score.defects.len());
    for (what, share) in [
        ("line of the defect listed first", score.line(1)),
        ("line of the defect in the first 3", score.line(3)),
        ("module of the defect in the first 3", score.module(3)),
        ("defects that no operator undoes: line first", score.line_without_inverse(1)),
        ("defects that no operator undoes: line in the first 3", score.line_without_inverse(3)),
        ("ranked by distance only: line first", score.line_by_distance(1)),
        ("ranked by distance only: line in the first 3", score.line_by_distance(3)),
    ] {
        println!("  {what:<52}{share}");
    }
    Ok(())
}
