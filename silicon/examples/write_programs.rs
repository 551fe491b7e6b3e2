//! Writes the PTX of every program to a folder: `cargo run -p atoms-silicon --example write_programs --
//! FOLDER`.

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/silicon".into());
    std::fs::create_dir_all(&folder)?;
    for (number, program) in atoms_silicon::catalogue::programs(1).iter().enumerate() {
        let name: String =
            program.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        std::fs::write(format!("{folder}/{number:04}_{name}.sm_{}.ptx", program.since), &program.ptx)?;
    }
    Ok(())
}
