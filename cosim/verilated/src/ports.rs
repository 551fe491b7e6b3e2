//! The port list in C++: structs with the layout of the Rust ones, and copies to and from the model's ports.

use crate::abi::ABI_VERSION;
use atoms_model::port::{Field, In, Out, Probe, Shape};
use std::fmt::{self, Write};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Widths {
    pub(crate) lanes: usize,
    pub(crate) banks: usize,
}

struct Group {
    name: &'static str,
    fields: &'static [Field],
    size: usize,
    align: usize,
    prefix: &'static str,
    suffix: &'static str,
}

const GROUPS: [Group; 3] = [
    Group::of::<In>("In", In::FIELDS, "", "_i"),
    Group::of::<Out>("Out", Out::FIELDS, "", "_o"),
    Group::of::<Probe>("Probe", Probe::FIELDS, "probe_", "_o"),
];

/// Clock port. The list does not have it, because the binding drives the clock.
const CLOCK: &str = "clk_i";

impl Group {
    const fn of<T>(
        name: &'static str,
        fields: &'static [Field],
        prefix: &'static str,
        suffix: &'static str,
    ) -> Self {
        Group { name, fields, size: size_of::<T>(), align: align_of::<T>(), prefix, suffix }
    }

    fn port(&self, field: &Field) -> String {
        match field.name {
            "rst_n" => "rst_ni".to_owned(), // active low: its own suffix
            name => format!("{}{name}{}", self.prefix, self.suffix),
        }
    }

    /// Returns the bytes from field `index` to the next field, without padding.
    fn bytes(&self, index: usize) -> usize {
        let field = &self.fields[index];
        let next = self.fields.get(index + 1).map_or(self.size, |next| next.offset);
        (next - field.offset) / field.element_bytes * field.element_bytes
    }
}

impl Widths {
    fn bits(self, field: &Field) -> usize {
        match field.shape {
            Shape::Scalar(bits) => bits as usize,
            Shape::LaneMask => self.lanes,
            Shape::BankMask => self.banks,
            Shape::PerLane(_) => self.lanes * field.element_bytes * 8,
            Shape::PerBank(_) => self.banks * field.element_bytes * 8,
        }
    }
}

/// Returns the number of elements of field `index` in the Rust struct. `None` if the field is not an array.
fn elements(group: &Group, index: usize) -> Option<usize> {
    match group.fields[index].shape {
        Shape::PerLane(_) => Some(atoms_model::port::MAX_LANES),
        Shape::PerBank(_) => Some(atoms_model::port::MAX_BANKS),
        Shape::Scalar(_) | Shape::LaneMask | Shape::BankMask => None,
    }
    .inspect(|count| debug_assert!(count * group.fields[index].element_bytes <= group.bytes(index)))
}

/// Returns the bytes of Verilator's storage for a port: 1, 2, 4 or 8, else whole words of 4 bytes.
fn storage_bytes(bits: usize) -> usize {
    match bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => bits.div_ceil(32) * 4,
    }
}

pub(crate) fn differences(header: &str, widths: Widths) -> String {
    let mut found = declared_ports(header);
    let mut said = String::new();
    let mut expect = |name: String, bits: usize| {
        let line = match found.iter().position(|(port, _)| *port == name) {
            None => format!("  port {name} is missing; expected {bits} bits\n"),
            Some(at) => match found.swap_remove(at).1 {
                width if width == bits => return,
                width => format!("  port {name} has {width} bits; expected {bits}\n"),
            },
        };
        said.push_str(&line);
    };
    expect(CLOCK.to_owned(), 1);
    for group in &GROUPS {
        for field in group.fields {
            expect(group.port(field), widths.bits(field));
        }
    }
    for (name, bits) in found {
        said.push_str(&format!("  port {name} of {bits} bits is not in the port list\n"));
    }
    said
}

/// Returns name and width of each port that the header of a model declares, as in `VL_IN8(&clk_i,0,0);`.
fn declared_ports(header: &str) -> Vec<(&str, usize)> {
    let port = |line: &'_ str| -> Option<(usize, usize, usize)> {
        let line_start = line.len() - line.trim_start().len();
        let text = &line[line_start..];
        if !["VL_IN", "VL_OUT", "VL_INOUT"].iter().any(|kind| text.starts_with(kind)) {
            return None;
        }
        let open = line.find("(&")? + 2;
        let comma = open + line[open..].find(',')?;
        let mut numbers = line[comma + 1..].split([',', ')']);
        let msb: usize = numbers.next()?.trim().parse().ok()?;
        let lsb: usize = numbers.next()?.trim().parse().ok()?;
        Some((open, comma, msb - lsb + 1))
    };
    header.lines().filter_map(|line| port(line).map(|(from, to, bits)| (&line[from..to], bits))).collect()
}

pub(crate) struct Banks<'a> {
    pub(crate) includes: &'a [String],
    /// C++ expression of each bank's memory, for the model `m`.
    pub(crate) memories: &'a [String],
}

/// Returns type and name of functions for an evaluation and its phases. Some Verilators have none.
pub(crate) fn phases(model: &str) -> [(&'static str, String); 3] {
    [("void", ""), ("bool", "_phase__act"), ("bool", "_phase__nba")]
        .map(|(gives, phase)| (gives, format!("{model}___024root___eval{phase}")))
}

/// Returns the text of `atoms_ports.h`. `phases` is true if the model has the functions of [`phases`].
pub(crate) fn header(model: &str, widths: Widths, banks: &Banks<'_>, phases: bool) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_header(&mut text, model, widths, banks, phases);
    text
}

fn write_header(
    out: &mut String,
    model: &str,
    widths: Widths,
    banks: &Banks<'_>,
    phases: bool,
) -> fmt::Result {
    writeln!(out, "// Generated from the port list; see ports.rs of the binding.")?;
    writeln!(out, "#pragma once")?;
    writeln!(out, "#include \"{model}.h\"\n#include \"{model}___024root.h\"")?;
    for include in banks.includes {
        writeln!(out, "#include \"{include}\"")?;
    }
    writeln!(out, "#include <cstddef>\n#include <cstdint>\n#include <cstring>\n")?;
    writeln!(out, "using Model = {model};")?;
    if phases {
        writeln!(out, "#define ATOMS_PHASES 1")?;
        for (ours, (gives, theirs)) in ["evaluate", "act_phase", "nba_phase"].iter().zip(self::phases(model))
        {
            writeln!(out, "{gives} {theirs}({model}___024root*);")?;
            writeln!(out, "inline {gives} {ours}(Model& m) {{ return {theirs}(m.rootp); }}")?;
        }
    }
    writeln!(out, "constexpr uint32_t kAbi = {ABI_VERSION};")?;
    writeln!(out, "constexpr uint32_t kLanes = {};", widths.lanes)?;
    writeln!(out, "constexpr uint32_t kBanks = {};", widths.banks)?;
    for group in &GROUPS {
        write_struct(out, group)?;
    }
    writeln!(
        out,
        "\ninline bool is_zero(const char* bytes, size_t count) {{\n    \
         static const char zeros[sizeof(In)] = {{}};\n    return !std::memcmp(bytes, zeros, count);\n}}"
    )?;
    write_inputs(out, &GROUPS[0], widths)?;
    write_outputs(out, &GROUPS[1], widths, "get_outputs")?;
    write_outputs(out, &GROUPS[2], widths, "get_probe")?;
    write_comparison(out, &GROUPS[1], widths, "drives")?;
    write_comparison(out, &GROUPS[2], widths, "shows")?;
    write_banks(out, banks)
}

fn write_struct(out: &mut String, group: &Group) -> fmt::Result {
    let name = group.name;
    writeln!(out, "\nstruct {name} {{")?;
    for (index, field) in group.fields.iter().enumerate() {
        let ty = match field.element_bytes {
            1 => "uint8_t",
            2 => "uint16_t",
            4 => "uint32_t",
            8 => "uint64_t",
            _ => "unsigned __int128",
        };
        match elements(group, index) {
            Some(count) => writeln!(out, "    {ty} {}[{count}];", field.name)?,
            None => writeln!(out, "    {ty} {};", field.name)?,
        }
    }
    writeln!(out, "}};")?;
    writeln!(out, "static_assert(sizeof({name}) == {}, \"size of {name}\");", group.size)?;
    writeln!(out, "static_assert(alignof({name}) == {}, \"alignment of {name}\");", group.align)?;
    for field in group.fields {
        let (field, offset) = (field.name, field.offset);
        writeln!(out, "static_assert(offsetof({name}, {field}) == {offset}, \"offset of {name}.{field}\");")?;
    }
    Ok(())
}

/// Asserts that the storage of a port has the size of its width and fits the field.
fn write_storage_check(out: &mut String, group: &Group, field: &Field, widths: Widths) -> fmt::Result {
    let (port, bits) = (group.port(field), widths.bits(field));
    let bytes = storage_bytes(bits);
    writeln!(
        out,
        "    static_assert(sizeof(m.{port}) == {bytes}, \"port {port}: expected {bits} bits\");\n    \
         static_assert(sizeof(s.{}) >= {bytes}, \"port {port} is wider than its field\");",
        field.name
    )
}

fn write_inputs(out: &mut String, group: &Group, widths: Widths) -> fmt::Result {
    // Copy wide operands only while the request is valid: otherwise a kilobyte would move for nothing.
    let wide = |field: &&Field| field.name.starts_with("req_") && matches!(field.shape, Shape::PerLane(_));
    writeln!(out, "\ninline void put_inputs(Model& m, const In& s) {{")?;
    // The ports of the model class are references to members of the root.
    writeln!(out, "    auto& root = *m.rootp;")?;
    for field in group.fields.iter().filter(|field| !wide(field)) {
        write_put(out, group, field, widths)?;
    }
    writeln!(out, "    if (!s.req_valid) return;")?;
    for field in group.fields.iter().filter(wide) {
        write_put(out, group, field, widths)?;
    }
    writeln!(out, "}}")
}

fn write_put(out: &mut String, group: &Group, field: &Field, widths: Widths) -> fmt::Result {
    let (port, bits, name) = (group.port(field), widths.bits(field), field.name);
    let bytes = storage_bytes(bits);
    write_storage_check(out, group, field, widths)?;
    // Elements of arrays fill their storage and need no mask.
    if bits > 64 || matches!(field.shape, Shape::PerLane(_) | Shape::PerBank(_)) {
        return writeln!(out, "    std::memcpy(static_cast<void*>(&root.{port}), &s.{name}, {bytes});");
    }
    // Verilated code requires zeros above the width of a port.
    writeln!(out, "    root.{port} = s.{name} & {:#x};", u64::MAX >> (64 - bits))
}

fn write_outputs(out: &mut String, group: &Group, widths: Widths, function: &str) -> fmt::Result {
    writeln!(out, "\ninline void {function}(Model& m, {}& s) {{", group.name)?;
    for field in group.fields {
        let (port, name, bytes) = (group.port(field), field.name, storage_bytes(widths.bits(field)));
        write_storage_check(out, group, field, widths)?;
        writeln!(out, "    std::memcpy(&s.{name}, static_cast<const void*>(&m.{port}), {bytes});")?;
        // Clear the upper lanes and banks, which a smaller configuration does not have.
        writeln!(
            out,
            "    std::memset(reinterpret_cast<char*>(&s.{name}) + {bytes}, 0, sizeof(s.{name}) - {bytes});"
        )?;
    }
    writeln!(out, "}}")
}

/// Writes a comparison with the model's own storage. Copying first would take as long again.
fn write_comparison(out: &mut String, group: &Group, widths: Widths, function: &str) -> fmt::Result {
    writeln!(out, "\ninline bool {function}(const Model& m, const {}& s) {{\n    return true", group.name)?;
    for field in group.fields {
        let (port, name, bytes) = (group.port(field), field.name, storage_bytes(widths.bits(field)));
        writeln!(out, "        && !std::memcmp(&s.{name}, static_cast<const void*>(&m.{port}), {bytes})")?;
        // The upper lanes and banks of a smaller configuration must be 0.
        writeln!(
            out,
            "        && is_zero(reinterpret_cast<const char*>(&s.{name}) + {bytes}, sizeof(s.{name}) - {bytes})"
        )?;
    }
    writeln!(out, "        ;\n}}")
}

fn write_banks(out: &mut String, banks: &Banks<'_>) -> fmt::Result {
    let Some(first) = banks.memories.first() else { return Ok(()) };
    let of_model = |memory: &str| memory.replacen("m.", "std::declval<Model&>().", 1);
    writeln!(out, "\n#include <utility>")?;
    writeln!(out, "constexpr uint32_t kRows = sizeof({}) / sizeof(uint32_t);", of_model(first))?;
    writeln!(out, "\ninline void bind_banks(Model& m, uint32_t* (&bank)[kBanks]) {{")?;
    for (index, memory) in banks.memories.iter().enumerate() {
        writeln!(
            out,
            "    static_assert(sizeof({memory}[0]) == 4, \"bank {index}: expected words of 32 bits\");"
        )?;
        writeln!(
            out,
            "    static_assert(sizeof({memory}) == 4 * kRows, \"bank {index}: expected as many rows as bank 0\");"
        )?;
        writeln!(out, "    bank[{index}] = &{memory}[0];")?;
    }
    writeln!(out, "}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: Widths = Widths { lanes: 4, banks: 4 };

    /// Returns a header as Verilator writes it, with the ports of the list except `leave_out`.
    fn model_header(leave_out: &str) -> String {
        let mut text = String::from("    VL_IN8(&clk_i,0,0);\n");
        for group in &GROUPS {
            for field in group.fields.iter().filter(|field| field.name != leave_out) {
                let bits = WIDTHS.bits(field);
                text += &format!("    VL_IN(&{},{},0);\n", group.port(field), bits - 1);
            }
        }
        text
    }

    #[test]
    fn arrays_have_elements_as_wide_as_the_structs() {
        for group in &GROUPS {
            for field in group.fields {
                if let Shape::PerLane(bits) | Shape::PerBank(bits) = field.shape {
                    assert_eq!(bits as usize, field.element_bytes * 8, "{}.{}", group.name, field.name);
                }
            }
        }
    }

    #[test]
    fn every_field_holds_its_port_in_the_largest_configuration() {
        let widths = Widths { lanes: atoms_model::port::MAX_LANES, banks: atoms_model::port::MAX_BANKS };
        for group in &GROUPS {
            for (index, field) in group.fields.iter().enumerate() {
                let bytes = elements(group, index).unwrap_or(1) * field.element_bytes;
                assert!(storage_bytes(widths.bits(field)) <= bytes, "{}.{}", group.name, field.name);
            }
        }
    }

    #[test]
    fn the_right_ports_give_no_difference() {
        assert_eq!(differences(&model_header(""), WIDTHS), "");
    }

    #[test]
    fn a_missing_a_wrong_and_an_extra_port_are_named() {
        let header = model_header("req_tag").replace("(&req_op_i,4,0)", "(&req_op_i,5,0)")
            + "    VL_OUTW(&surplus_o,127,0,4);\n";
        let said = differences(&header, WIDTHS);
        assert_eq!(
            said,
            "  port req_op_i has 6 bits; expected 5\n  port req_tag_i is missing; expected 6 bits\n  \
             port surplus_o of 128 bits is not in the port list\n"
        );
    }
}
