//! Cells that mapping and timing need from a library: a NAND2, inverters and a flip-flop. Yosys reads the Liberty file; the
//! cells are found by their function, not by their names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Cells of a library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellLibrary {
    /// Smallest NAND of two inputs; its area is one gate equivalent.
    pub(crate) nand2: LibraryGate,
    /// Smallest inverter; FO4 is measured with it.
    pub(crate) inverter: LibraryGate,
    /// Largest inverter that is no larger than `nand2`; it drives the inputs of a module.
    pub(crate) driver: LibraryGate,
    /// Smallest flip-flop on the rising edge without set and reset; it stands for the ports of memories.
    pub(crate) flip_flop: LibraryFlipFlop,
}

/// A gate with one output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LibraryGate {
    pub(crate) name: String,
    /// Area in the library's unit.
    pub(crate) area: f64,
    pub(crate) inputs: Vec<String>,
    /// Capacitance of the first input, in the library's unit.
    pub(crate) capacitance: f64,
    pub(crate) output: String,
}

/// A flip-flop; the fields after `area` name its pins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LibraryFlipFlop {
    pub(crate) name: String,
    /// Area in the library's unit.
    pub(crate) area: f64,
    pub(crate) clock: String,
    pub(crate) data: String,
    /// The output that is not inverted.
    pub(crate) output: String,
}

/// Script of Yosys that reads `cells.lib` and writes [`YosysDesign`] to `cells.json`.
pub(crate) const READ_LIBRARY: &str = "read_liberty -ignore_miss_func -ignore_miss_dir -ignore_miss_data_latch \
                                       -ignore_buses cells.lib\nwrite_json cells.json\n";

/// A library as Yosys writes it: a module per cell, made of primitive gates.
#[derive(Deserialize)]
struct YosysDesign {
    modules: BTreeMap<String, YosysModule>,
}

#[derive(Deserialize)]
struct YosysModule {
    attributes: BTreeMap<String, Value>,
    ports: BTreeMap<String, YosysPort>,
    cells: BTreeMap<String, YosysCell>,
    netnames: BTreeMap<String, YosysNet>,
}

#[derive(Deserialize)]
struct YosysPort {
    direction: String,
    bits: Vec<Value>,
}

#[derive(Deserialize)]
struct YosysCell {
    #[serde(rename = "type")]
    kind: String,
    connections: BTreeMap<String, Vec<Value>>,
}

#[derive(Deserialize)]
struct YosysNet {
    attributes: BTreeMap<String, Value>,
}

impl YosysModule {
    fn pins<'m>(&'m self, direction: &'m str) -> impl Iterator<Item = (&'m String, &'m Value)> {
        let pins = self.ports.iter().filter(move |(_, port)| port.direction == direction);
        pins.filter_map(|(name, port)| Some((name, port.bits.first()?)))
    }

    fn area(&self) -> Option<f64> {
        number(self.attributes.get("area")?).filter(|area| *area > 0.0)
    }

    /// Gives the pin of this direction that a connection of a primitive leads to.
    fn pin(&self, direction: &str, cell: &YosysCell, connection: &str) -> Option<String> {
        let bit = cell.connections.get(connection)?.first()?;
        self.pins(direction).find(|(_, pin)| *pin == bit).map(|(name, _)| name.clone())
    }

    /// Evaluates a bit for the given bits of the inputs; `None` if it depends on more than combinational gates.
    fn evaluate(&self, bit: &Value, inputs: &[(&Value, bool)]) -> Option<bool> {
        if let Some((_, value)) = inputs.iter().find(|(input, _)| *input == bit) {
            return Some(*value);
        }
        let drives = |cell: &&YosysCell| cell.connections.get("Y").and_then(|bits| bits.first()) == Some(bit);
        let cell = self.cells.values().find(drives)?;
        let operand = |name| self.evaluate(cell.connections.get(name)?.first()?, inputs);
        match cell.kind.as_str() {
            "$_BUF_" => operand("A"),
            "$_NOT_" => Some(!operand("A")?),
            "$_AND_" => Some(operand("A")? & operand("B")?),
            "$_OR_" => Some(operand("A")? | operand("B")?),
            "$_XOR_" => Some(operand("A")? ^ operand("B")?),
            _ => None,
        }
    }

    /// Gives the cell as a gate of one output and at most two inputs, with its truth table: bit `i` is the output if input
    /// `k` is bit `k` of `i`.
    fn gate(&self, name: &str) -> Option<(LibraryGate, u8)> {
        let (inputs, outputs): (Vec<_>, Vec<_>) =
            (self.pins("input").collect(), self.pins("output").collect());
        let ([(first, _)] | [(first, _), _], [(output, bit)]) = (&inputs[..], &outputs[..]) else {
            return None;
        };
        let mut table = 0;
        for row in 0..1u8 << inputs.len() {
            let values = inputs.iter().enumerate().map(|(at, (_, bit))| (*bit, row >> at & 1 == 1));
            table |= u8::from(self.evaluate(bit, &values.collect::<Vec<_>>())?) << row;
        }
        let capacitance = number(self.netnames.get(*first)?.attributes.get("capacitance")?)?;
        let inputs = inputs.into_iter().map(|(name, _)| name.clone()).collect();
        let (name, output) = (name.to_string(), (*output).clone());
        Some((LibraryGate { name, area: self.area()?, inputs, capacitance, output }, table))
    }

    fn flip_flop(&self, name: &str) -> Option<LibraryFlipFlop> {
        let pins = |cell: &YosysCell| {
            Some((
                self.pin("input", cell, "C")?,
                self.pin("input", cell, "D")?,
                self.pin("output", cell, "Q")?,
            ))
        };
        let cells = self.cells.values().filter(|cell| cell.kind == "$_DFF_P_");
        let (clock, data, output) =
            cells.filter_map(pins).next().filter(|_| self.pins("input").count() == 2)?;
        Some(LibraryFlipFlop { name: name.to_string(), area: self.area()?, clock, data, output })
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_str()?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

impl CellLibrary {
    /// Finds the cells in the output of [`READ_LIBRARY`].
    ///
    /// # Errors
    /// What cannot be read, or which cell is missing.
    pub(crate) fn from_yosys(json: &str) -> Result<Self, String> {
        let design: YosysDesign = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let gates: Vec<_> = design.modules.iter().filter_map(|(name, cell)| cell.gate(name)).collect();
        let by_area = |a: &&LibraryGate, b: &&LibraryGate| a.area.total_cmp(&b.area);
        let alike = |inputs, table| {
            let same = move |(gate, of): &&(LibraryGate, u8)| gate.inputs.len() == inputs && *of == table;
            gates.iter().filter(same).map(|(gate, _)| gate)
        };
        let nand2 = alike(2, 0b0111).min_by(by_area).ok_or("it has no NAND of two inputs")?;
        let inverter = alike(1, 0b01).min_by(by_area).ok_or("it has no inverter")?;
        let driver = alike(1, 0b01).filter(|gate| gate.area <= nand2.area);
        let driver = driver.max_by(|a, b| a.capacitance.total_cmp(&b.capacitance)).unwrap_or(inverter);
        let flip_flops = design.modules.iter().filter_map(|(name, cell)| cell.flip_flop(name));
        let flip_flop = flip_flops.min_by(|a, b| a.area.total_cmp(&b.area));
        Ok(Self {
            nand2: nand2.clone(),
            inverter: inverter.clone(),
            driver: driver.clone(),
            flip_flop: flip_flop.ok_or("it has no flip-flop on the rising edge without set and reset")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(area: u32, inputs: &[&str], capacitance: f64, cells: Value) -> Value {
        let mut ports = serde_json::Map::new();
        let mut nets = serde_json::Map::new();
        for (at, name) in inputs.iter().enumerate() {
            ports.insert((*name).into(), serde_json::json!({ "direction": "input", "bits": [at + 2] }));
            let attributes =
                serde_json::json!({ "attributes": { "capacitance": format!("{capacitance} ") } });
            nets.insert((*name).into(), attributes);
        }
        ports.insert("Y".into(), serde_json::json!({ "direction": "output", "bits": [9] }));
        let area = area.to_string();
        serde_json::json!({ "attributes": { "area": area }, "ports": ports, "cells": cells, "netnames": nets })
    }

    fn not(from: u32, to: u32) -> Value {
        serde_json::json!({ "type": "$_NOT_", "connections": { "A": [from], "Y": [to] } })
    }

    fn two(kind: &str, a: u32, b: u32, to: u32) -> Value {
        serde_json::json!({ "type": kind, "connections": { "A": [a], "B": [b], "Y": [to] } })
    }

    fn register(kind: &str) -> Value {
        serde_json::json!({ "type": kind, "connections": { "C": [2], "D": [3], "Q": [9] } })
    }

    fn library() -> Value {
        let cells = |cells: &[Value]| -> Value {
            cells.iter().enumerate().map(|(at, cell)| (format!("g{at}"), cell.clone())).collect()
        };
        serde_json::json!({ "modules": {
            "BIGINV": gate(40, &["A"], 0.04, cells(&[not(2, 9)])),
            "INV": gate(16, &["A"], 0.009, cells(&[not(2, 9)])),
            "INV2": gate(20, &["A"], 0.02, cells(&[not(2, 9)])),
            "BUF": gate(8, &["A"], 0.01, cells(&[not(2, 5), not(5, 9)])),
            "NOR": gate(12, &["A", "B"], 0.01, cells(&[two("$_OR_", 2, 3, 5), not(5, 9)])),
            "ND": gate(24, &["A", "B"], 0.01, cells(&[two("$_AND_", 2, 3, 5), not(5, 9)])),
            "ND2": gate(32, &["A", "B"], 0.01, cells(&[not(2, 5), not(3, 6), two("$_OR_", 5, 6, 9)])),
            "DFFR": gate(90, &["CK", "D", "R"], 0.01, cells(&[register("$_DFF_PP0_")])),
            "DFFN": gate(92, &["CK", "D"], 0.01, cells(&[register("$_DFF_N_")])),
            // The second register has the inverted state, as Yosys makes it.
            "DFF": gate(96, &["CK", "D"], 0.01, cells(&[not(3, 5), two("$_DFF_P_", 2, 5, 6), register("$_DFF_P_")])),
        } })
    }

    #[test]
    fn cells_are_found_by_function() {
        let found = CellLibrary::from_yosys(&library().to_string()).expect("it is a library");
        assert_eq!((found.nand2.name.as_str(), found.nand2.area), ("ND", 24.0));
        assert_eq!((found.inverter.name.as_str(), found.inverter.capacitance), ("INV", 0.009));
        assert_eq!(found.driver.name, "INV2", "BIGINV is larger than a NAND2");
        let [name, clock, data, output] = ["DFF", "CK", "D", "Y"].map(String::from);
        assert_eq!(found.flip_flop, LibraryFlipFlop { name, area: 96.0, clock, data, output });
    }

    #[test]
    fn what_a_library_lacks_is_named() {
        let without = |names: &[&str]| {
            let mut library = library();
            let modules = library["modules"].as_object_mut().expect("modules");
            modules.retain(|name, _| !names.contains(&name.as_str()));
            CellLibrary::from_yosys(&library.to_string()).expect_err("a cell is missing")
        };
        assert_eq!(without(&["ND", "ND2"]), "it has no NAND of two inputs");
        assert_eq!(without(&["INV", "INV2", "BIGINV"]), "it has no inverter");
        assert_eq!(without(&["DFF"]), "it has no flip-flop on the rising edge without set and reset");
        assert!(CellLibrary::from_yosys("").is_err());
    }
}
