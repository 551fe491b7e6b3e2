//! Lists the files of `rtl/` as text, so that an installed binary has RTL outside a checkout.

use std::fmt::Write;
use std::path::Path;

fn main() {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("rtl");
    println!("cargo::rerun-if-changed={}", rtl.display());
    let mut files = Vec::new();
    for folder in ["", "lint"] {
        for entry in rtl.join(folder).read_dir().expect("the RTL of the checkout") {
            let path = entry.expect("the RTL folder can be read").path();
            let ending = path.extension().unwrap_or_default();
            if ["sv", "svh", "f", "toml", "vlt"].iter().any(|one| ending == *one) {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut text = String::from("[\n");
    for path in files {
        let name = path.strip_prefix(&rtl).expect("the path is below the RTL folder");
        writeln!(text, "    ({:?}, include_str!({path:?})),", name).expect("writing to a string cannot fail");
    }
    text += "]\n";
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("rtl_files.rs"), text).expect("the output folder can be written");
}
