//! Pointers to buffers. A launch file writes them as `"&name"`, or `"&name[3]"` for an element.

use super::number::Number;
use super::{RawParam, unnamed};
use crate::launch::element::Element;
use crate::launch::error::LaunchError;
use crate::launch::param::buffer_address;
use std::collections::HashMap;

/// For each buffer name: address, and size of an element in bytes.
pub(super) struct Pointers {
    buffers: HashMap<String, (u64, u64)>,
}

impl Pointers {
    pub(super) fn new(params: &[RawParam]) -> Pointers {
        let mut pointers = Pointers { buffers: HashMap::new() };
        params.iter().enumerate().for_each(|(index, raw)| pointers.add(raw, unnamed(index)));
        pointers
    }

    fn add(&mut self, raw: &RawParam, unnamed: String) {
        let name = raw.name.clone().unwrap_or(unnamed);
        if let Some(fields) = &raw.fields {
            let each = fields.iter().enumerate();
            each.for_each(|(index, field)| self.add(field, format!("{name}.{index}")));
        } else if raw.value.is_none() && raw.array.is_none() {
            let element = raw.element.as_deref().and_then(Element::from_name);
            let address = buffer_address(self.buffers.len());
            self.buffers.insert(name, (address, element.map_or(1, |e| e.bytes() as u64)));
        }
    }

    /// Replaces the pointers in the values and expectations of `raw` by addresses.
    pub(super) fn resolve(&self, raw: &mut RawParam, unnamed: &str) -> Result<(), LaunchError> {
        let name = raw.name.clone().unwrap_or_else(|| unnamed.into());
        let own =
            [raw.values.as_mut(), raw.array.as_mut(), raw.expect.as_mut().and_then(|e| e.values.as_mut())];
        let numbers = own.into_iter().flatten().flatten().chain(raw.value.as_mut());
        for number in numbers {
            let Number::Text(text) = &*number else { continue };
            let Some(pointer) = text.strip_prefix('&') else { continue };
            let address = self.address(pointer).ok_or_else(|| {
                let mut known: Vec<_> = self.buffers.keys().map(String::as_str).collect();
                known.sort_unstable();
                let help = format!("write \"&NAME\" or \"&NAME[3]\"; the buffers are {}", known.join(", "));
                LaunchError::value(&name, format!("`{text}` is not the name of a buffer"), help)
            })?;
            *number = Number::Integer(address.into());
        }
        let fields = raw.fields.iter_mut().flatten().enumerate();
        for (index, field) in fields {
            self.resolve(field, &format!("{name}.{index}"))?;
        }
        Ok(())
    }

    fn address(&self, pointer: &str) -> Option<u64> {
        if let Some((address, _)) = self.buffers.get(pointer) {
            return Some(*address);
        }
        let (name, index) = pointer.strip_suffix(']')?.rsplit_once('[')?;
        let (address, bytes) = self.buffers.get(name)?;
        Some(address + bytes * u64::from(index.parse::<u32>().ok()?))
    }
}
