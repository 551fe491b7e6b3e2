//! Builds the RTL and measures how fast it runs: `cargo run --release --example rtl_speed [fast|wave|cov|cov-toggle]`.
//!
//! Half of the requests add to random words, half to consecutive ones; the response is taken at
//! once.

#![allow(clippy::print_stdout)] // a program of its own, for people

use atoms_model::port::{In, Out, Probe};
use atoms_verilated::{BuildSpec, Cache, Environment, Toolchain, Variant};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let variant = match std::env::args().nth(1).as_deref() {
        Some("wave") => Variant::Wave,
        Some("cov") => Variant::Cov,
        Some("cov-toggle") => Variant::CovToggle,
        _ => Variant::Fast,
    };
    let env = Environment::from_process();
    let tools = Toolchain::find(&env)?;
    println!("{} at {}", tools.verilator.identity, tools.verilator.program.display());
    let rtl_dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rtl");
    let spec = BuildSpec::from_list(rtl_dir, "atoms.f", "atoms_unit")?.variant(variant);
    let start = Instant::now();
    let library = Cache::new(&env).library(&spec, &tools, &mut |step| {
        println!("{:6.2} s  {step}", start.elapsed().as_secs_f64());
    })?;
    println!(
        "{:6.2} s  loaded, {} x {} words",
        start.elapsed().as_secs_f64(),
        library.banks(),
        library.rows()
    );

    let mut rtl = library.instantiate()?;
    let (mut out, mut probe) = (Out::default(), Probe::default());
    rtl.reset()?;
    let mut input = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, ..In::default() };
    input.cta_valid = 1;
    input.cta_enable = 1;
    input.cta_size = (library.words() * 4) as u32;
    rtl.cycle(&input, &mut out, &mut probe)?;
    input.cta_valid = 0;

    const CYCLES: u32 = 400_000;
    let mut seed = 1_u32;
    let mut answered = 0_u32;
    input.req_size = 2;
    input.req_mask = !0;
    input.req_b = [1; 32];
    input.req_valid = 1;
    let start = Instant::now();
    for _ in 0..CYCLES {
        rtl.cycle(&input, &mut out, &mut probe)?;
        answered += u32::from(out.rsp_valid);
        if out.req_ready == 1 {
            let scattered = seed & 0x100 != 0;
            for (lane, ra) in input.req_ra.iter_mut().enumerate() {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *ra = if scattered { (seed >> 8) % 12_288 * 4 } else { lane as u32 * 4 };
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:.2} Mcycle/s, {:.3} M requests/s, {:.2} cycles a request",
        f64::from(CYCLES) / seconds / 1e6,
        f64::from(answered) / seconds / 1e6,
        f64::from(CYCLES) / f64::from(answered)
    );

    let start = Instant::now();
    let snapshot = rtl.save()?;
    let saved = start.elapsed();
    let start = Instant::now();
    rtl.restore(&snapshot)?;
    println!("save {saved:?}, restore {:?}, {snapshot:?}", start.elapsed());
    let start = Instant::now();
    let words = rtl.read_memory();
    println!(
        "read_memory {:?}, sum {}",
        start.elapsed(),
        words.iter().map(|&word| u64::from(word)).sum::<u64>()
    );
    Ok(())
}
