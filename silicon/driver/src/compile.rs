//! PTX to machine code, by the driver's own compiler.

use crate::abi::{
    Handle, JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES, JIT_INFO_LOG, JIT_INFO_LOG_BYTES, JIT_INPUT_PTX, Status,
};
use crate::code;
use crate::retained::Retained;
use crate::{DriverCode, DriverError, DriverVersion};
use std::ffi::c_void;
use std::ptr;

/// Bytes of each of the two logs; the driver cuts off what is more.
const LOG_BYTES: usize = 64 * 1024;

/// Machine code as the driver made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin {
    bytes: Vec<u8>,
    log: String,
}

/// Why PTX did not become machine code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The `.version` of the module is newer than the driver: update the driver, or write an older one.
    #[error("the driver (CUDA {driver}) is too old for the `.version` of this PTX{}", log_text(log))]
    TooNew {
        /// Version of the driver.
        driver: DriverVersion,
        /// What the compiler said.
        log: String,
    },
    /// The `.target` of the module is for other GPUs.
    #[error("the `.target` of this PTX is not for this GPU{}", log_text(log))]
    OtherGpu {
        /// What the compiler said.
        log: String,
    },
    /// The compiler refuses the text.
    #[error("the driver's compiler refuses this PTX{}", log_text(log))]
    Refused {
        /// What the compiler said.
        log: String,
    },
    /// The driver comes without its compiler, or it was turned off.
    #[error(
        "the driver cannot compile PTX: {code}; install all of the driver, and unset CUDA_DISABLE_PTX_JIT"
    )]
    NoCompiler {
        /// The answer.
        code: DriverCode,
    },
    /// The text has a byte at which the driver would take it to end.
    #[error("byte {at} of the PTX is NUL; a module is plain text")]
    Nul {
        /// Index of the byte.
        at: usize,
    },
    /// Anything else.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

fn log_text(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!(":\n{}", log.trim_end()) }
}

impl CompileError {
    /// What the compiler said; empty where it was not asked.
    pub fn log(&self) -> &str {
        match self {
            CompileError::TooNew { log, .. }
            | CompileError::OtherGpu { log }
            | CompileError::Refused { log } => log,
            CompileError::NoCompiler { .. } | CompileError::Nul { .. } | CompileError::Driver(_) => "",
        }
    }
}

impl Cubin {
    /// The machine code, an ELF file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the compiler had to say; mostly nothing.
    pub fn log(&self) -> &str {
        &self.log
    }

    pub(crate) fn compile(context: &Retained, ptx: &str) -> Result<Cubin, CompileError> {
        if let Some(at) = ptx.bytes().position(|byte| byte == 0) {
            return Err(CompileError::Nul { at });
        }
        let mut text = [ptx.as_bytes(), &[0]].concat();
        let mut linker = Linker::new(context)?;
        let outcome = linker.add(&mut text).and_then(|()| linker.complete());
        let driver = context.device.driver();
        outcome.map_err(|(call, status)| match status {
            code::UNSUPPORTED_PTX_VERSION => {
                CompileError::TooNew { driver: driver.version(), log: linker.errors() }
            }
            code::NO_BINARY_FOR_GPU => CompileError::OtherGpu { log: linker.errors() },
            code::INVALID_PTX => CompileError::Refused { log: linker.errors() },
            code::JIT_COMPILER_NOT_FOUND | code::JIT_COMPILATION_DISABLED => {
                CompileError::NoCompiler { code: driver.api().code(status) }
            }
            other => match context.check(call, other) {
                // Whatever else it is called: with something in the log it is about the text.
                Err(DriverError::Call { .. }) if !linker.errors().is_empty() => {
                    CompileError::Refused { log: linker.errors() }
                }
                Err(error) => error.into(),
                Ok(()) => unreachable!("only refusals come here"),
            },
        })
    }
}

/// A link state, and what it writes to while it lives.
struct Linker<'c> {
    context: &'c Retained,
    state: Handle,
    info: Box<[u8]>,
    errors: Box<[u8]>,
    /// The driver keeps both lists, and writes sizes into the second.
    _options: Box<[u32]>,
    _values: Box<[*mut c_void]>,
}

type Refused = (&'static str, Status);

impl<'c> Linker<'c> {
    fn new(context: &'c Retained) -> Result<Linker<'c>, DriverError> {
        let api = context.enter()?;
        let (mut info, mut errors) =
            (vec![0; LOG_BYTES].into_boxed_slice(), vec![0; LOG_BYTES].into_boxed_slice());
        let mut options: Box<[u32]> =
            Box::new([JIT_INFO_LOG, JIT_INFO_LOG_BYTES, JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES]);
        // The end of each log stays zero, whatever the driver makes of the size.
        let bytes = ptr::without_provenance_mut(LOG_BYTES - 1);
        let mut values: Box<[*mut c_void]> =
            Box::new([info.as_mut_ptr().cast(), bytes, errors.as_mut_ptr().cast(), bytes]);
        let (names, contents) = (options.as_mut_ptr(), values.as_mut_ptr());
        let count = options.len() as u32;
        // SAFETY: names and contents are lists of `count` elements, logs of the size given; all live as long as the state.
        let make = |state| unsafe { (api.link_create)(count, names, contents, state) };
        let state = context.handle("cuLinkCreate_v2", make)?;
        Ok(Linker { context, state, info, errors, _options: options, _values: values })
    }

    /// Compiles a text that ends with a zero byte.
    fn add(&mut self, text: &mut [u8]) -> Result<(), Refused> {
        let api = self.context.device.driver().api();
        let name = c"module.ptx".as_ptr();
        // SAFETY: the text is as long as said, the name ends with a zero byte, and there are no options.
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
        // SAFETY: the image has so many bytes, and lives as long as the state.
        let image = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), bytes) };
        Ok(Cubin { bytes: image.to_vec(), log: text(&self.info) })
    }

    fn errors(&self) -> String {
        text(&self.errors)
    }
}

impl Drop for Linker<'_> {
    fn drop(&mut self) {
        // SAFETY: made once, destroyed once; the image was copied.
        unsafe { (self.context.device.driver().api().link_destroy)(self.state) };
    }
}

/// The text before the first zero byte.
fn text(log: &[u8]) -> String {
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).into_owned()
}
