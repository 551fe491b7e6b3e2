//! The committed header and the types of the DPI package are those of the source.

use std::fmt::Write;

use atoms_model::port::{Field, In, MAX_LANES, Out, Shape};
use expect_test::expect_file;

/// The structs of the pins: name, purpose, fields.
const PINS: [(&str, &str, &[Field]); 2] = [
    ("atoms_in_t", "Inputs of the unit in one cycle", In::FIELDS),
    ("atoms_out_t", "Outputs of the unit in one cycle, before the clock edge", Out::FIELDS),
];

/// Bits of an element, and the number of elements of an array.
fn size(field: &Field) -> (usize, Option<usize>) {
    match field.shape {
        Shape::Scalar(bits) => (bits as usize, None),
        Shape::LaneMask => (MAX_LANES, None),
        Shape::PerLane(bits) => (bits as usize, Some(MAX_LANES)),
        Shape::BankMask | Shape::PerBank(_) => panic!("{} has bits of banks", field.name),
    }
}

/// Checks that the structs have no padding between fields, which the header and the package do not name.
#[test]
fn the_pins_have_no_gaps() {
    for (name, _, fields) in PINS {
        let mut end = 0;
        for field in fields {
            assert_eq!(field.offset, end, "{name}.{}", field.name);
            end += field.element_bytes * size(field).1.unwrap_or(1);
        }
        assert!(fields.last().is_some_and(|last| size(last).1.is_none()), "{name} ends with an array");
    }
}

fn c_structs() -> String {
    let mut text = String::new();
    for (name, purpose, fields) in PINS {
        writeln!(text, "\n/*\n {purpose} (docs/ports.md). Elements of lanes that do not exist are 0.\n */")
            .unwrap();
        writeln!(text, "typedef struct {name} {{").unwrap();
        for field in fields {
            let (bits, lanes) = size(field);
            let (kind, words) = match field.element_bytes {
                16 => ("uint32_t", "[4]".to_owned()),
                bytes => (["uint8_t", "uint16_t", "uint32_t"][bytes.ilog2() as usize], String::new()),
            };
            let lanes = lanes.map(|lanes| format!("[{lanes}]")).unwrap_or_default();
            let plural = if bits == 1 { "" } else { "s" };
            let narrow = if bits == 8 * field.element_bytes {
                String::new()
            } else {
                format!(" /* {bits} bit{plural} */")
            };
            writeln!(text, "  {kind} {}{lanes}{words};{narrow}", field.name).unwrap();
        }
        writeln!(text, "}} {name};").unwrap();
    }
    text
}

/// Packed structs whose bytes are those of the structs in C: the first field of C is the last one here.
fn packed_structs() -> String {
    let mut text = String::new();
    for (name, purpose, fields) in PINS {
        writeln!(text, "  /// {purpose} (docs/ports.md). Elements of lanes that do not exist are 0.")
            .unwrap();
        writeln!(text, "  typedef struct packed {{").unwrap();
        for field in fields.iter().rev() {
            let (bits, lanes) = size(field);
            match 8 * field.element_bytes - bits {
                0 => text += "    ",
                1 => write!(text, "    bit pad_{}; ", field.name).unwrap(),
                pad => write!(text, "    bit [{}:0] pad_{}; ", pad - 1, field.name).unwrap(),
            }
            let lanes = lanes.map(|lanes| format!("[{}:0]", lanes - 1)).unwrap_or_default();
            let bits = if bits == 1 { String::new() } else { format!("[{}:0]", bits - 1) };
            let range =
                if lanes.is_empty() && bits.is_empty() { String::new() } else { format!(" {lanes}{bits}") };
            writeln!(text, "bit{range} {};", field.name).unwrap();
        }
        writeln!(text, "  }} {name};\n").unwrap();
    }
    text
}

#[test]
fn the_header_is_that_of_the_source() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let mut config = cbindgen::Config::from_file(format!("{folder}/cbindgen.toml")).expect("a configuration");
    config.after_includes = Some(c_structs());
    let mut bindings = cbindgen::Builder::new().with_config(config);
    for file in ["border", "registry", "calls", "pins"] {
        bindings = bindings.with_src(format!("{folder}/src/{file}.rs"));
    }
    let mut text = Vec::new();
    bindings.generate().expect("the sources are parsed").write(&mut text);
    expect_file!["../include/atoms.h"].assert_eq(&String::from_utf8(text).expect("text"));
}

#[test]
fn the_pins_of_the_package_are_those_of_the_model() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../sv/atoms_dpi_pkg.sv");
    let package = std::fs::read_to_string(path).expect("the package");
    let (begin, end) = (
        "  // Generated from the ports of the model by `cargo regenerate`.\n",
        "  // End of generated text.\n",
    );
    let (before, rest) = package.split_once(begin).expect("the begin of the generated text");
    let (_, after) = rest.split_once(end).expect("the end of the generated text");
    expect_file![path].assert_eq(&format!("{before}{begin}{}{end}{after}", packed_structs()));
}
