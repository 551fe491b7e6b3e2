//! Image format of the stand-in: a marker followed by the PTX.

use crate::settings::Settings;
use crate::status::{INVALID_IMAGE, INVALID_PTX, NO_BINARY_FOR_GPU, Refusal, UNSUPPORTED_PTX_VERSION};
use atoms_isa::ptx::Module;
use atoms_isa::{Arch, Program};

const MARKER: &[u8] = b"ATOMS stand-in image\n";

/// Newest PTX version of CUDA 10.1.
const OLD_DRIVER_PTX: (u16, u16) = (6, 4);

/// Compiles a module to an image that ends with a NUL byte. The refusal contains the error of the module.
pub(crate) fn compile(text: &str, settings: &Settings) -> Result<Vec<u8>, Refusal> {
    if let Some(status) = settings.link {
        return Err(status.into());
    }
    program(text, settings)?;
    Ok([MARKER, text.as_bytes(), &[0]].concat())
}

pub(crate) fn load(image: &[u8], settings: &Settings) -> Result<Program, Refusal> {
    let text = image.strip_prefix(MARKER).and_then(|text| std::str::from_utf8(text).ok());
    program(text.ok_or(INVALID_IMAGE)?, settings)
}

fn program(text: &str, settings: &Settings) -> Result<Program, Refusal> {
    let refused = |error: &dyn std::fmt::Display| Refusal::new(INVALID_PTX, error.to_string());
    let name = "module.ptx";
    let Module { version, target, .. } = Module::parse(name, text).map_err(|error| refused(&error))?;
    if settings.old_driver && version > OLD_DRIVER_PTX {
        let ((major, minor), (most, least)) = (version, OLD_DRIVER_PTX);
        let reason = format!("PTX {major}.{minor}; this driver takes PTX {most}.{least} and older");
        return Err(Refusal::new(UNSUPPORTED_PTX_VERSION, reason));
    }
    let arch = suited(target, settings.arch).ok_or_else(|| {
        Refusal::new(NO_BINARY_FOR_GPU, format!(".target {target}; this GPU is {}", settings.arch))
    })?;
    let program = Program::from_ptx(name, text, Some(arch)).map_err(|error| refused(&error))?;
    let unread: String = program.unread.iter().map(|unread| format!("{}\n", unread.error)).collect();
    let lacking: String = program
        .kernels
        .iter()
        .flat_map(|kernel| kernel.unsupported().map(|index| &kernel.source[index]))
        .map(|source| format!("line {}: `{}` is not known to the stand-in\n", source.line, source.text))
        .collect();
    if unread.is_empty() && lacking.is_empty() { Ok(program) } else { Err(refused(&(unread + &lacking))) }
}

/// Architecture to compile code for `target` on `device`: that of the device, or `target` with its letter if
/// both have the same number. `None` if code for `target` does not run on `device`. Source: [PTX] .target.
fn suited(target: Arch, device: Arch) -> Option<Arch> {
    let name = target.to_string();
    let (target_number, number) = (target.number(), device.number());
    let fits = match name.chars().last() {
        Some('a') => target_number == number,
        Some('f') => target_number / 10 == number / 10 && target_number <= number,
        _ => target_number <= number,
    };
    fits.then_some(if target_number == number { target } else { device })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const TARGETS: &[(&str, &str, Option<&str>)] = &[
        // target    device    code
        ("sm_75",   "sm_90",  Some("sm_90")),
        ("sm_90",   "sm_90",  Some("sm_90")),
        ("sm_90a",  "sm_90",  Some("sm_90a")),
        ("sm_90a",  "sm_100", None),
        ("sm_100f", "sm_103", Some("sm_103")),
        ("sm_100f", "sm_120", None),
        ("sm_90",   "sm_80",  None),
    ];

    #[test]
    fn targets_fit_devices() {
        let arch = |name: &str| Arch::from_name(name).unwrap();
        for (target, device, code) in TARGETS {
            assert_eq!(suited(arch(target), arch(device)), code.map(arch), "{target} on {device}");
        }
    }
}
