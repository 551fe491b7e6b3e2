//! Compiles PTX to machine code with the driver's own compiler.

use crate::abi::{Handle, JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES, JIT_INPUT_PTX, Status};
use crate::code;
use crate::retained::Retained;
use crate::{DeviceContext, DriverCode, DriverError};
use std::ffi::c_void;
use std::ptr;

/// Size of the log in bytes. The driver truncates longer logs.
const LOG_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin {
    bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The compiler refuses the text: its `.version` is newer than the driver, its `.target` does not fit the
    /// GPU, or the text is not valid PTX.
    #[error("{why}{}", log_text(log))]
    Refused { why: String, log: String },
    #[error(
        "the driver cannot compile PTX: {code}; install the complete driver, and unset CUDA_DISABLE_PTX_JIT"
    )]
    NoCompiler { code: DriverCode },
    #[error("byte {at} of the PTX is NUL; a PTX module must be plain text")]
    Nul { at: usize },
    #[error(transparent)]
    Driver(#[from] DriverError),
}

fn log_text(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!(":\n{}", log.trim_end()) }
}

impl Cubin {
    /// Returns the machine code as an ELF file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl DeviceContext {
    /// Compiles a PTX module for the device.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn compile(&self, ptx: &str) -> Result<Cubin, CompileError> {
        if let Some(at) = ptx.bytes().position(|byte| byte == 0) {
            return Err(CompileError::Nul { at });
        }
        let context = &self.retained;
        let mut text = [ptx.as_bytes(), &[0]].concat();
        let mut linker = Linker::new(context)?;
        let outcome = linker.add(&mut text).and_then(|()| linker.complete());
        let driver = context.device.driver();
        outcome.map_err(|(call, status)| {
            let refused = |why: &str| CompileError::Refused { why: why.into(), log: linker.errors() };
            match status {
                code::UNSUPPORTED_PTX_VERSION => refused(&format!(
                    "the driver (CUDA {}) is too old for the `.version` of this PTX",
                    driver.version()
                )),
                code::NO_BINARY_FOR_GPU => refused("this GPU cannot run code for the `.target` of this PTX"),
                code::INVALID_PTX => refused(REFUSED),
                code::JIT_COMPILER_NOT_FOUND | code::JIT_COMPILATION_DISABLED => {
                    CompileError::NoCompiler { code: driver.api().code(status) }
                }
                other => match context.check(call, other) {
                    // If the compiler has written a log, any error code means that the PTX is wrong.
                    Err(DriverError::Call { .. }) if !linker.errors().is_empty() => refused(REFUSED),
                    Err(error) => error.into(),
                    Ok(()) => unreachable!("the outcome is an error"),
                },
            }
        })
    }
}

const REFUSED: &str = "the driver's compiler refuses this PTX";

/// Link state, with the buffers that the driver writes while the state exists.
struct Linker<'c> {
    context: &'c Retained,
    state: Handle,
    errors: Box<[u8]>,
    /// The driver keeps pointers to `_options` and `_values`, and writes the size of the log into `_values`.
    _options: Box<[u32]>,
    _values: Box<[*mut c_void]>,
}

type Refused = (&'static str, Status);

impl<'c> Linker<'c> {
    fn new(context: &'c Retained) -> Result<Linker<'c>, DriverError> {
        let api = context.enter()?;
        let mut errors = vec![0; LOG_BYTES].into_boxed_slice();
        let mut options: Box<[u32]> = Box::new([JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES]);
        // The last byte of the log stays zero, for any size that the driver writes.
        let bytes = ptr::without_provenance_mut(LOG_BYTES - 1);
        let mut values: Box<[*mut c_void]> = Box::new([errors.as_mut_ptr().cast(), bytes]);
        let (names, contents) = (options.as_mut_ptr(), values.as_mut_ptr());
        let count = options.len() as u32;
        // SAFETY: the lists of options and of values have `count` elements, and the log has the given size.
        // Both lists and the log live as long as the state.
        let make = |state| unsafe { (api.link_create)(count, names, contents, state) };
        let state = context.handle("cuLinkCreate_v2", make)?;
        Ok(Linker { context, state, errors, _options: options, _values: values })
    }

    fn add(&mut self, text: &mut [u8]) -> Result<(), Refused> {
        let api = self.context.device.driver().api();
        let name = c"module.ptx".as_ptr();
        // SAFETY: the length of the text is correct, the name ends with a NUL byte, and there are no options.
        let status = unsafe {
            (api.link_add)(
                self.state,
                JIT_INPUT_PTX,
                text.as_mut_ptr().cast(),
                text.len(),
                name,
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        if status == code::SUCCESS { Ok(()) } else { Err(("cuLinkAddData_v2", status)) }
    }

    fn complete(&mut self) -> Result<Cubin, Refused> {
        let api = self.context.device.driver().api();
        let (mut image, mut bytes) = (ptr::null_mut(), 0);
        // SAFETY: the call writes a pointer and a size.
        let status = unsafe { (api.link_complete)(self.state, &raw mut image, &raw mut bytes) };
        if status != code::SUCCESS {
            return Err(("cuLinkComplete", status));
        }
        // SAFETY: the image has `bytes` bytes, and lives as long as the state.
        let image = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), bytes) };
        Ok(Cubin { bytes: image.to_vec() })
    }

    /// Returns the compiler's log up to the first NUL byte.
    fn errors(&self) -> String {
        let end = self.errors.iter().position(|byte| *byte == 0).unwrap_or(self.errors.len());
        String::from_utf8_lossy(&self.errors[..end]).into_owned()
    }
}

impl Drop for Linker<'_> {
    fn drop(&mut self) {
        // SAFETY: the state is created once and destroyed once. The image was copied.
        unsafe { (self.context.device.driver().api().link_destroy)(self.state) };
    }
}
