//! Compares the writer with the crate `vcd` alone on the same signals and values:
//! `cargo run --release --example wave_speed`.
//!
//! Eight signals of 1.5 kbit in all, new random values in every cycle.

#![allow(clippy::print_stdout)] // a program of its own, for people

use atoms_waves::{Definition, SignalKind};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;
use vcd::{IdCode, TimescaleUnit, Value, Writer};

const WIDTHS: [u32; 8] = [1, 8, 32, 64, 128, 128, 512, 640];
const CYCLES: u64 = 100_000;

fn values(seed: &mut u64, bytes: &mut [u8; 80]) {
    for word in bytes.chunks_exact_mut(8) {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        word.copy_from_slice(&(*seed ^ (*seed >> 29)).to_le_bytes());
    }
}

fn bits(bytes: &[u8; 80], width: u32) -> impl Iterator<Item = Value> {
    (0..width as usize).rev().map(|bit| Value::from(bytes[bit / 8] >> (bit % 8) & 1 == 1))
}

fn ours(path: &std::path::Path) -> Result<f64, Box<dyn std::error::Error>> {
    let mut definition = Definition::new("top");
    let signals = WIDTHS.map(|width| definition.signal(&format!("s{width}"), SignalKind::Bits(width)));
    let start = Instant::now();
    let mut trace = definition.create(path)?;
    let (mut seed, mut bytes) = (1, [0; 80]);
    for _ in 0..CYCLES {
        for signal in signals {
            values(&mut seed, &mut bytes);
            trace.set_bytes(signal, &bytes);
        }
        trace.tick()?;
    }
    trace.finish()?;
    Ok(start.elapsed().as_secs_f64())
}

fn theirs(path: &std::path::Path) -> Result<f64, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let mut writer = Writer::new(BufWriter::with_capacity(1 << 16, File::create(path)?));
    writer.timescale(1, TimescaleUnit::NS)?;
    writer.add_module("top")?;
    let clock = writer.add_wire(1, "clk")?;
    let ids: Vec<IdCode> =
        WIDTHS.iter().map(|width| writer.add_wire(*width, "s")).collect::<Result<_, _>>()?;
    writer.upscope()?;
    writer.enddefinitions()?;
    let (mut seed, mut bytes) = (1, [0; 80]);
    for cycle in 0..CYCLES {
        writer.timestamp(cycle * 10)?;
        writer.change_scalar(clock, Value::V1)?;
        for (id, width) in ids.iter().zip(WIDTHS) {
            values(&mut seed, &mut bytes);
            if width == 1 {
                writer.change_scalar(*id, Value::from(bytes[0] & 1 == 1))?;
            } else {
                writer.change_vector(*id, bits(&bytes, width))?;
            }
        }
        writer.timestamp(cycle * 10 + 5)?;
        writer.change_scalar(clock, Value::V0)?;
    }
    writer.writer().flush()?;
    Ok(start.elapsed().as_secs_f64())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::temp_dir().join(format!("atoms-waves-speed-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    for _ in 0..3 {
        let (ours, theirs) = (ours(&dir.join("ours.vcd"))?, theirs(&dir.join("theirs.vcd"))?);
        println!(
            "trace {:.2} us a cycle, crate vcd {:.2}: {:.1} times as fast",
            ours * 1e6 / CYCLES as f64,
            theirs * 1e6 / CYCLES as f64,
            theirs / ours
        );
    }
    println!(
        "{} and {} bytes",
        dir.join("ours.vcd").metadata()?.len(),
        dir.join("theirs.vcd").metadata()?.len()
    );
    std::fs::remove_dir_all(dir)?;
    Ok(())
}
