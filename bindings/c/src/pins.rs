//! Functions of the cycle-accurate model, of random stimulus and of functional coverage.
//!
//! All use the pins of `atoms_model::port`. The header has structs with the layout of `In` and `Out`, except that
//! their alignment is that of 32 bits. So pins are copied bytes, up to the last field.

use std::ffi::c_char;

use atoms_model::port::{Field, In, Out};
use atoms_pins::{PinCoverage, PinModel, PinStimulus};

use crate::border::{ATOMS_IO, ATOMS_OK, CallError, Handle, create, free, string, with};

/// A cycle-accurate model of the unit.
#[derive(Debug)]
pub struct AtomsModel(());

impl Handle for AtomsModel {
    type Object = PinModel;
    const NAME: &'static str = "model";
}

/// Random requests at the pins of a unit.
#[derive(Debug)]
pub struct AtomsStimulus(());

impl Handle for AtomsStimulus {
    type Object = PinStimulus;
    const NAME: &'static str = "stimulus";
}

/// Creates a model of the unit in its reset state, with memory of zeros. `abi_version` and `config` are those of
/// `atoms_scoreboard_new`.
///
/// Returns null if it fails; `atoms_error(NULL)` has the reason.
///
/// # Safety
/// `config` is null or a string that ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_model_new(abi_version: u32, config: *const c_char) -> *mut AtomsModel {
    // SAFETY: the caller passes null or a string that ends with 0.
    unsafe { create(abi_version, config, |config| Ok(PinModel::new(config.config))) }
}

/// Frees a model. Later calls with this handle return `ATOMS_BAD_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_model_free(handle: *mut AtomsModel) -> i32 {
    free(handle, |_| Ok(()))
}

/// Runs one cycle with the inputs `in`. Writes the outputs before the clock edge to `out`. A cycle with `rst_n` 0 resets
/// the model; memory keeps its content.
///
/// # Safety
/// `in` is null or points to an `atoms_in_t`, `out` is null or points to an `atoms_out_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_model_step(handle: *mut AtomsModel, r#in: *const In, out: *mut Out) -> i32 {
    with(handle, |model| {
        // SAFETY: the caller passes null or pointers to such structs.
        unsafe {
            write(out, "out", Out::FIELDS, || model.step(&read(r#in, "in", In::FIELDS)?).map_err(wrong))
        }
    })
}

/// Writes the outputs of a cycle with the inputs `in` to `out`, without a clock edge. Of the outputs, only `cta_ready`
/// depends on the inputs.
///
/// # Safety
/// `in` is null or points to an `atoms_in_t`, `out` is null or points to an `atoms_out_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_model_evaluate(
    handle: *mut AtomsModel,
    r#in: *const In,
    out: *mut Out,
) -> i32 {
    with(handle, |model| {
        // SAFETY: the caller passes null or pointers to such structs.
        unsafe {
            write(out, "out", Out::FIELDS, || model.evaluate(&read(r#in, "in", In::FIELDS)?).map_err(wrong))
        }
    })
}

/// Returns a word of the model's memory, or a negative status. Its index is the physical byte address / 4.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_model_word(handle: *const AtomsModel, word: u32) -> i64 {
    let mut value = 0;
    let status = with(handle, |model| {
        value = model.word(word).map_err(wrong)?.into();
        Ok(())
    });
    if status == ATOMS_OK { value } else { status.into() }
}

/// Sets a word of the model's memory.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_model_set_word(handle: *mut AtomsModel, word: u32, value: u32) -> i32 {
    with(handle, |model| model.set_word(word, value).map_err(wrong))
}

/// Creates random stimulus of `requests` warp requests, and of requests at the other ports meanwhile. Equal arguments and
/// outputs give equal requests. `profile` is the name of a profile (docs/profiles.md), or the content of its file.
/// `abi_version` and `config` are those of `atoms_scoreboard_new`.
///
/// Returns null if it fails; `atoms_error(NULL)` has the reason.
///
/// # Safety
/// `config` and `profile` are null or strings that end with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_stimulus_new(
    abi_version: u32,
    config: *const c_char,
    profile: *const c_char,
    seed: u64,
    requests: u64,
) -> *mut AtomsStimulus {
    // SAFETY: the caller passes null or strings that end with 0.
    unsafe {
        create(abi_version, config, |config| {
            PinStimulus::new(&config, string(profile, "profile")?, seed, requests).map_err(wrong)
        })
    }
}

/// Frees stimulus. Later calls with this handle return `ATOMS_BAD_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_stimulus_free(handle: *mut AtomsStimulus) -> i32 {
    free(handle, |_| Ok(()))
}

/// Writes the inputs of the next cycle to `in`, given the outputs of the cycle before. The first call ignores `out`, which
/// may be null then.
///
/// # Safety
/// `out` is null or points to an `atoms_out_t`, `in` is null or points to an `atoms_in_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_stimulus_step(
    handle: *mut AtomsStimulus,
    out: *const Out,
    r#in: *mut In,
) -> i32 {
    with(handle, |stimulus| {
        // SAFETY: the caller passes null or pointers to such structs.
        unsafe {
            let out = if out.is_null() { None } else { Some(read(out, "out", Out::FIELDS)?) };
            write(r#in, "in", In::FIELDS, || stimulus.step(out.as_ref()).map_err(wrong))
        }
    })
}

/// Returns 1 if all requests have been offered, 0 if not, or a negative status. The last request may not be accepted yet,
/// and requests may be in flight: step on until they are answered.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_stimulus_finished(handle: *const AtomsStimulus) -> i32 {
    let mut finished = false;
    let status = with(handle, |stimulus| {
        finished = stimulus.finished();
        Ok(())
    });
    if status == ATOMS_OK { finished.into() } else { status }
}

/// Functional coverage at the pins of a unit.
#[derive(Debug)]
pub struct AtomsCoverage(());

impl Handle for AtomsCoverage {
    type Object = PinCoverage;
    const NAME: &'static str = "coverage";
}

/// Creates functional coverage without hits, of a unit after reset: the groups that its ports show. `abi_version` and
/// `config` are those of `atoms_scoreboard_new`.
///
/// Returns null if it fails; `atoms_error(NULL)` has the reason.
///
/// # Safety
/// `config` is null or a string that ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_coverage_new(abi_version: u32, config: *const c_char) -> *mut AtomsCoverage {
    // SAFETY: the caller passes null or a string that ends with 0.
    unsafe { create(abi_version, config, |config| Ok(PinCoverage::new(&config))) }
}

/// Frees coverage. Later calls with this handle return `ATOMS_BAD_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_coverage_free(handle: *mut AtomsCoverage) -> i32 {
    free(handle, |_| Ok(()))
}

/// Samples the pins of the next cycle, as they are before the clock edge. Call it in every cycle.
///
/// # Safety
/// `in` is null or points to an `atoms_in_t`, `out` is null or points to an `atoms_out_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_coverage_sample(
    handle: *mut AtomsCoverage,
    r#in: *const In,
    out: *const Out,
) -> i32 {
    with(handle, |coverage| {
        // SAFETY: the caller passes null or pointers to such structs.
        let pins = unsafe { (read(r#in, "in", In::FIELDS)?, read(out, "out", Out::FIELDS)?) };
        coverage.sample(&pins.0, &pins.1).map_err(wrong)
    })
}

/// Writes how many bins of a group are hit, and how many the unit can hit, to `hit` and `bins`. `group` is null or empty
/// for all groups.
///
/// # Safety
/// `group` is null or a string that ends with 0. `hit` and `bins` are null or point to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_coverage_count(
    handle: *mut AtomsCoverage,
    group: *const c_char,
    hit: *mut u32,
    bins: *mut u32,
) -> i32 {
    with(handle, |coverage| {
        // SAFETY: the caller passes null or a string that ends with 0.
        let group = if group.is_null() { None } else { Some(unsafe { string(group, "group") }?) };
        let found = coverage.count(group.filter(|group| !group.is_empty())).map_err(wrong)?;
        for (to, name, number) in [(hit, "hit", found.0), (bins, "bins", found.1)] {
            if to.is_null() {
                return Err(CallError::null(name));
            }
            // SAFETY: not null, and the caller passes a number. It may be unaligned.
            unsafe { to.write_unaligned(number as u32) };
        }
        Ok(())
    })
}

/// Writes the hits to a file that `atoms cover` merges.
///
/// # Safety
/// `path` is null or a string that ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_coverage_write(handle: *mut AtomsCoverage, path: *const c_char) -> i32 {
    with(handle, |coverage| {
        // SAFETY: the caller passes null or a string that ends with 0.
        let path = unsafe { string(path, "path") }?;
        coverage.write(path.as_ref()).map_err(|error| CallError::new(ATOMS_IO, error.to_string()))
    })
}

fn wrong(text: String) -> CallError {
    CallError::argument(text)
}

/// Bytes of a struct of the header, without padding at its end.
fn bytes(fields: &[Field]) -> usize {
    fields.last().map_or(0, |last| last.offset + last.element_bytes)
}

/// Copies pins of the caller.
///
/// # Safety
/// `from` is null or points to the struct with these fields.
unsafe fn read<P: Default>(from: *const P, name: &str, fields: &[Field]) -> Result<P, CallError> {
    if from.is_null() {
        return Err(CallError::null(name));
    }
    let mut pins = P::default();
    // SAFETY: the caller's struct has these bytes, and integers can have any.
    unsafe { (&raw mut pins).cast::<u8>().copy_from_nonoverlapping(from.cast(), bytes(fields)) };
    Ok(pins)
}

/// Makes pins and copies them to the caller. Makes none for a null pointer.
///
/// # Safety
/// `to` is null or points to the struct with these fields.
unsafe fn write<'a, P: 'a>(
    to: *mut P,
    name: &str,
    fields: &[Field],
    make: impl FnOnce() -> Result<&'a P, CallError>,
) -> Result<(), CallError> {
    if to.is_null() {
        return Err(CallError::null(name));
    }
    let pins = make()?;
    // SAFETY: the caller's struct has these bytes.
    unsafe { to.cast::<u8>().copy_from_nonoverlapping((&raw const *pins).cast(), bytes(fields)) };
    Ok(())
}
