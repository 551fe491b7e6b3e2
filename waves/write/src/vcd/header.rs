//! Writes the declarations of a VCD file.

use std::io;

use vcd::{IdCode, ReferenceIndex, TimescaleUnit, VarType, Writer};

use crate::WRITER;
use crate::definition::{Definition, Item, Scope, SignalKind};

/// Writes the header of `definition` to `out`. Returns the code of each signal, by number.
pub(super) fn write(definition: &Definition, out: &mut Vec<u8>) -> io::Result<Vec<String>> {
    let mut ids = vec![String::new(); definition.signals.len()];
    let mut writer = Writer::new(out);
    writer.version(&(WRITER.to_owned() + env!("CARGO_PKG_VERSION")))?;
    writer.timescale(1, TimescaleUnit::NS)?;
    write_scope(&mut writer, definition, definition.top(), &mut ids)?;
    writer.enddefinitions()?;
    Ok(ids)
}

fn write_scope(
    writer: &mut Writer<&mut Vec<u8>>,
    definition: &Definition,
    scope: &Scope,
    ids: &mut [String],
) -> io::Result<()> {
    writer.add_module(&scope.name)?;
    for item in &scope.items {
        match item {
            Item::Scope(inner) => write_scope(writer, definition, inner, ids)?,
            Item::Signal(signal) => {
                let declared = definition.declared(*signal);
                let (kind, width, index) = form(declared.kind);
                let id: IdCode = writer.add_var(kind, width, &declared.name, index)?;
                ids[signal.0 as usize] = id.to_string();
            }
            Item::Alias(name, signal) => {
                let (kind, width, index) = form(definition.declared(*signal).kind);
                let id = ids[signal.0 as usize].parse().map_err(io::Error::other)?;
                writer.var_def(kind, width, id, name, index)?;
            }
        }
    }
    writer.upscope()
}

fn form(kind: SignalKind) -> (VarType, u32, Option<ReferenceIndex>) {
    match kind {
        SignalKind::Bits(1) => (VarType::Wire, 1, None),
        SignalKind::Bits(width) => (VarType::Wire, width, Some(ReferenceIndex::Range(width as i32 - 1, 0))),
        SignalKind::Text => (VarType::String, 1, None),
        SignalKind::Event => (VarType::Event, 1, None),
    }
}
