//! Finds the cells that mapping and timing need in a Liberty file: a NAND2, inverters and a flip-flop. Yosys
//! reads the file. Cells are found by their function, not by their names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellLibrary {
    /// Smallest NAND of two inputs; its area is one gate equivalent.
    pub(crate) nand2: LibraryCell,
    /// Smallest inverter; FO4 is the delay of this inverter if it drives four copies of itself.
    pub(crate) inverter: LibraryCell,
    /// Largest inverter that is no larger than `nand2`; it drives the inputs of a module.
    pub(crate) driver: LibraryCell,
    /// Smallest flip-flop on the rising edge without set and reset; timing models each port of a memory as
    /// this flip-flop.
    pub(crate) flip_flop: LibraryCell,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LibraryCell {
    pub(crate) name: String,
    /// Area in the library's unit.
    pub(crate) area: f64,
    /// Capacitance of the first input, in the library's unit.
    pub(crate) capacitance: f64,
    /// Pin names of the cell, keyed by pin of the primitive: `A` and `Y` of a gate; `C`, `D` and `Q` of a
    /// flip-flop.
    pub(crate) pins: BTreeMap<String, String>,
}

/// Yosys script that reads `cells.lib` and writes [`YosysDesign`] to `cells.json`. ABC normalizes each
/// function to NANDs.
pub(crate) const READ_LIBRARY: &str = "read_liberty -ignore_miss_func -ignore_miss_dir -ignore_miss_data_latch \
                                       -ignore_buses cells.lib\nabc -g NAND\nopt_clean\nwrite_json cells.json\n";

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
    /// Returns the cell if it equals a single primitive `kind`: the primitive uses all inputs of the cell and
    /// drives an output. A gate must have exactly one output.
    fn as_primitive(&self, name: &str, kind: &str) -> Option<LibraryCell> {
        let pin = |bits: &Vec<Value>| {
            let mut ports = self.ports.iter();
            ports.find(|(_, port)| port.bits == *bits).map(|(pin, _)| pin.clone())
        };
        let pins = |cell: &YosysCell| -> Option<BTreeMap<String, String>> {
            cell.connections.iter().map(|(of, bits)| Some((of.clone(), pin(bits)?))).collect()
        };
        let pins = self.cells.values().filter(|cell| cell.kind == kind).find_map(pins)?;
        let inputs = self.ports.iter().filter(|(_, port)| port.direction == "input").map(|(pin, _)| pin);
        let inputs: Vec<&String> = inputs.collect();
        let outputs = self.ports.len() - inputs.len();
        if inputs.len() + 1 != pins.len() || (outputs > 1 && kind != FLIP_FLOP) {
            return None;
        }
        let capacitance = number(self.netnames.get(*inputs.first()?)?.attributes.get("capacitance")?)?;
        let area = number(self.attributes.get("area")?).filter(|area| *area > 0.0)?;
        Some(LibraryCell { name: name.to_string(), area, capacitance, pins })
    }
}

const FLIP_FLOP: &str = "$_DFF_P_";

fn number(value: &Value) -> Option<f64> {
    value.as_str()?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

impl CellLibrary {
    /// Finds the cells in the output of [`READ_LIBRARY`].
    ///
    /// # Errors
    /// A message if the output is malformed or a cell is missing.
    pub(crate) fn from_yosys(json: &str) -> Result<Self, String> {
        let design: YosysDesign = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let like = |kind| {
            let cells = design.modules.iter();
            cells.filter_map(move |(name, cell)| cell.as_primitive(name, kind))
        };
        let smallest = |kind| like(kind).min_by(|a, b| a.area.total_cmp(&b.area));
        let nand2 = smallest("$_NAND_").ok_or("it has no NAND of two inputs")?;
        let inverter = smallest("$_NOT_").ok_or("it has no inverter")?;
        let driver = like("$_NOT_").filter(|cell| cell.area <= nand2.area);
        let driver = driver.max_by(|a, b| a.capacitance.total_cmp(&b.capacitance));
        let flip_flop = smallest(FLIP_FLOP);
        let flip_flop = flip_flop.ok_or("it has no flip-flop on the rising edge without set and reset")?;
        Ok(Self { driver: driver.unwrap_or_else(|| inverter.clone()), nand2, inverter, flip_flop })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A primitive with the net of each pin. Input nets of the cell are numbered from 2; net 9 is the output.
    type Primitive = (&'static str, &'static [(&'static str, u32)]);
    const NOT: Primitive = ("$_NOT_", &[("A", 2), ("Y", 9)]);
    const NAND: Primitive = ("$_NAND_", &[("A", 3), ("B", 2), ("Y", 9)]);

    fn cell(area: u32, inputs: &[&str], capacitance: f64, primitives: &[Primitive]) -> Value {
        let pin =
            |name: &str, direction, bit| (name.to_string(), json!({ "direction": direction, "bits": [bit] }));
        let ports = inputs.iter().zip(2..).map(|(name, bit)| pin(name, "input", bit));
        let net = json!({ "attributes": { "capacitance": format!("{capacitance} ") } });
        let primitive = |(at, (kind, pins)): (usize, &Primitive)| {
            let pins = pins.iter().map(|(pin, bit)| (pin.to_string(), json!([bit])));
            (at.to_string(), json!({ "type": kind, "connections": pins.collect::<Value>() }))
        };
        json!({
            "attributes": { "area": area.to_string() },
            "ports": ports.chain([pin("Y", "output", 9)]).collect::<Value>(),
            "cells": primitives.iter().enumerate().map(primitive).collect::<Value>(),
            "netnames": inputs.iter().map(|name| (name.to_string(), net.clone())).collect::<Value>(),
        })
    }

    fn library() -> Value {
        json!({ "modules": {
            "BIGINV": cell(40, &["A"], 0.04, &[NOT]),
            "INV": cell(16, &["A"], 0.009, &[NOT]),
            "INV2": cell(20, &["A"], 0.02, &[NOT]),
            "BUF": cell(8, &["A"], 0.01, &[]),
            "ND3": cell(20, &["A", "B", "C"], 0.01, &[("$_NAND_", &[("A", 4), ("B", 5), ("Y", 9)]), NAND]),
            "NOR": cell(12, &["A", "B"], 0.01, &[("$_NAND_", &[("A", 5), ("B", 6), ("Y", 7)])]),
            "ND": cell(24, &["A", "B"], 0.01, &[NAND]),
            "ND2": cell(32, &["A", "B"], 0.01, &[NAND]),
            "DFFR": cell(90, &["CK", "D", "R"], 0.01, &[("$_DFF_PP0_", &[("C", 2), ("D", 3), ("R", 4), ("Q", 9)])]),
            "DFFN": cell(92, &["CK", "D"], 0.01, &[("$_DFF_N_", &[("C", 2), ("D", 3), ("Q", 9)])]),
            "DFF": cell(96, &["CK", "D"], 0.01, &[("$_DFF_P_", &[("C", 2), ("D", 3), ("Q", 9)])]),
        } })
    }

    #[test]
    fn cells_are_found_by_function() {
        let found = CellLibrary::from_yosys(&library().to_string()).expect("it is a library");
        assert_eq!((found.nand2.name.as_str(), found.nand2.area), ("ND", 24.0));
        assert_eq!((found.inverter.name.as_str(), found.inverter.capacitance), ("INV", 0.009));
        assert_eq!(found.driver.name, "INV2", "BIGINV is larger than a NAND2");
        let pins = [("C", "CK"), ("D", "D"), ("Q", "Y")].map(|(of, pin)| (of.to_string(), pin.to_string()));
        let flip_flop = LibraryCell { name: "DFF".into(), area: 96.0, capacitance: 0.01, pins: pins.into() };
        assert_eq!(found.flip_flop, flip_flop);
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
