//! Border between C and Rust: status codes, messages and verdicts.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::TryLockError;

use atoms_scoreboard::{PortName, PortVerdict};
use atoms_stimulus::configs::{self, NamedConfig};

use crate::registry::{Entry, find, insert, remove};

/// Version of this interface. It changes if a caller that was compiled with an older header can no longer work.
pub const ATOMS_ABI_VERSION: u32 = 1;

/// The event was accepted, or its judgement waits for later events.
pub const ATOMS_OK: i32 = 0;
/// The unit broke a clause of the specification. `atoms_verdict` has the details.
pub const ATOMS_REJECTED: i32 = 1;
/// The event cannot be judged: too many memories or orders are possible, or events came out of order.
pub const ATOMS_UNDECIDED: i32 = 2;
/// An argument is a null pointer, out of range, or does not fit the calls before.
pub const ATOMS_BAD_ARGUMENT: i32 = -1;
/// The handle names no object of this kind: null, freed, or never created.
pub const ATOMS_BAD_HANDLE: i32 = -2;
/// The caller was compiled with the header of another version.
pub const ATOMS_WRONG_ABI: i32 = -3;
/// A file cannot be written.
pub const ATOMS_IO: i32 = -4;
/// Another thread is in a call with this handle. `atoms_error(NULL)` has the message.
pub const ATOMS_BUSY: i32 = -5;
/// A bug in this library. The object of the handle cannot be used any more; free it.
pub const ATOMS_PANIC: i32 = -6;

/// The last rejected event.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AtomsVerdict {
    /// `ATOMS_REJECTED`, or `ATOMS_OK` if nothing was rejected yet.
    pub status: i32,
    /// Port of the request: 0 warp, 1 cluster, -1 if the verdict is about no request.
    pub port: i32,
    /// Number of the request on its port, from 0, in order of acceptance.
    pub number: u64,
    /// Cycle in which the port accepted the request.
    pub accepted: u64,
    /// Cycle of the rejected event.
    pub cycle: u64,
    /// Tag of the request.
    pub tag: u32,
    /// Operation code of the request.
    pub op: u32,
    /// Lanes that are wrong, lane 0 in bit 0; the active lanes if the whole request is wrong.
    pub lanes: u32,
    /// 1 if `address` is valid.
    pub has_address: u32,
    /// Address as the first wrong lane formed it.
    pub address: u32,
    /// 1 if `expected` is valid: the specification allows a single value.
    pub has_expected: u32,
    /// 1 if `got` is valid.
    pub has_got: u32,
    /// Padding; always 0.
    pub reserved: u32,
    /// Expected value of 128 bits, low word first.
    pub expected: [u32; 4],
    /// Value found, 128 bits, low word first.
    pub got: [u32; 4],
    /// Clause of docs/spec.md that is broken, such as `spec 4.5`; empty if undecided.
    pub clause: [c_char; 16],
    /// Part that is wrong: `rd`, `pred`, `fault`, `memory`, `write`, `object`, `order`, `wait`, `answer`, `passes`
    /// or `table`; empty if undecided.
    pub about: [c_char; 16],
}

thread_local! {
    /// Message of the last failed call.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Reason why a call does not return `ATOMS_OK`.
pub(crate) enum CallError {
    /// A rejected or undecided event.
    Verdict(Box<PortVerdict>),
    /// The call itself failed.
    Failed { status: i32, message: String },
}

impl CallError {
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(ATOMS_BAD_ARGUMENT, message)
    }

    /// Says that the pointer `name` is null.
    pub(crate) fn null(name: &str) -> Self {
        Self::argument(format!("`{name}` is null"))
    }

    pub(crate) fn new(status: i32, message: impl Into<String>) -> Self {
        CallError::Failed { status, message: message.into() }
    }

    /// Status code and message of the call.
    fn report(&self) -> (i32, String) {
        match self {
            CallError::Verdict(verdict) => (status(verdict), verdict.to_string()),
            CallError::Failed { status, message } => (*status, message.clone()),
        }
    }
}

impl From<Box<PortVerdict>> for CallError {
    fn from(verdict: Box<PortVerdict>) -> Self {
        CallError::Verdict(verdict)
    }
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// Message of the last failed call of this thread. Valid until the next such call. Empty while the thread exits.
pub(crate) fn thread_message() -> *const c_char {
    MESSAGE.try_with(|message| message.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("a bug in libatoms, please report it: {text}")
}

/// Runs a call that needs no handle. A panic ends here.
pub(crate) fn guarded(call: impl FnOnce() -> Result<i32, CallError>) -> i32 {
    let panicked = |panic: Box<dyn Any + Send>| Err(CallError::new(ATOMS_PANIC, text_of(panic.as_ref())));
    let error = match catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(panicked) {
        Ok(status) => return status,
        Err(error) => error,
    };
    let (status, message) = error.report();
    // A thread that exits has no messages any more.
    _ = MESSAGE.try_with(|text| *text.borrow_mut() = c_string(&message));
    status
}

/// Type of the handles of one kind of objects. Only pointers to it exist, and they are never dereferenced.
pub(crate) trait Handle {
    type Object: Send + 'static;
    /// Name of the object in messages.
    const NAME: &'static str;

    /// Notes the rejection that a call returns.
    fn note(_object: &mut Self::Object, _rejection: &PortVerdict) {}
}

/// Creates an object of a configuration. Returns null if it fails.
///
/// # Safety
/// `config` is null or a string that ends with 0.
pub(crate) unsafe fn create<H: Handle>(
    abi_version: u32,
    config: *const c_char,
    make: impl FnOnce(NamedConfig) -> Result<H::Object, CallError>,
) -> *mut H {
    let mut handle = std::ptr::null_mut();
    guarded(|| {
        if abi_version != ATOMS_ABI_VERSION {
            let message = format!(
                "the caller was compiled with version {abi_version} of atoms.h, the library has version {ATOMS_ABI_VERSION}; \
                 compile with the header of this library"
            );
            return Err(CallError::new(ATOMS_WRONG_ABI, message));
        }
        // SAFETY: the caller passes null or a string that ends with 0.
        let name = unsafe { string(config, "config") }?;
        let named = configs::embedded(name).map_err(|error| CallError::argument(error.to_string()))?;
        let full = || CallError::argument("too many handles; free some");
        handle = insert(Box::new(make(named)?)).ok_or_else(full)?.cast();
        Ok(ATOMS_OK)
    });
    handle
}

/// Runs a call on the object of a handle. A panic ends here, and poisons the object.
pub(crate) fn with<H: Handle>(
    handle: *const H,
    call: impl FnOnce(&mut H::Object) -> Result<(), CallError>,
) -> i32 {
    guarded(|| {
        let unknown = || {
            let why = "it is null, was freed, was never created, or is of another kind";
            CallError::new(ATOMS_BAD_HANDLE, format!("the handle names no {}: {why}", H::NAME))
        };
        let entry = find(handle.cast()).ok_or_else(unknown)?;
        let mut entry = entry.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                let busy = "another thread is in a call with this handle; use one handle per thread";
                CallError::new(ATOMS_BUSY, busy)
            }
            TryLockError::Poisoned(_) => {
                CallError::new(ATOMS_PANIC, "an earlier call failed by a bug in libatoms; free this handle")
            }
        })?;
        let Entry { object, message } = &mut *entry;
        let result = match object.downcast_mut() {
            Some(object) => call(object).inspect_err(|error| {
                if let CallError::Verdict(verdict) = error
                    && !verdict.rejection.is_undecided()
                {
                    H::note(object, verdict);
                }
            }),
            None => Err(unknown()),
        };
        if let Err(error) = &result {
            *message = c_string(&error.report().1);
        }
        result.map(|()| ATOMS_OK)
    })
}

/// Runs the last call on the object of a handle, and frees it.
pub(crate) fn free<H: Handle>(
    handle: *const H,
    last: impl FnOnce(&mut H::Object) -> Result<(), CallError>,
) -> i32 {
    match with(handle, last) {
        status @ (ATOMS_BUSY | ATOMS_BAD_HANDLE) => status,
        // An object that cannot be used any more is freed, too.
        ATOMS_PANIC if remove(handle.cast()) => ATOMS_OK,
        status if remove(handle.cast()) => status,
        // Another thread has freed it.
        _ => with(handle, |_| Ok(())),
    }
}

/// Converts a C string.
///
/// # Safety
/// `text` is null or ends with 0.
pub(crate) unsafe fn string<'a>(text: *const c_char, name: &str) -> Result<&'a str, CallError> {
    if text.is_null() {
        return Err(CallError::null(name));
    }
    // SAFETY: not null, and the caller passes a string that ends with 0.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| CallError::argument(format!("`{name}` is not UTF-8")))
}

fn status(verdict: &PortVerdict) -> i32 {
    if verdict.rejection.is_undecided() { ATOMS_UNDECIDED } else { ATOMS_REJECTED }
}

fn words(value: u128) -> [u32; 4] {
    std::array::from_fn(|word| (value >> (32 * word)) as u32)
}

fn text(text: &str) -> [c_char; 16] {
    let bytes = text.as_bytes();
    std::array::from_fn(|at| if at < 15 { bytes.get(at).map_or(0, |byte| *byte as c_char) } else { 0 })
}

impl AtomsVerdict {
    pub(crate) fn of(verdict: Option<&PortVerdict>) -> Self {
        let values =
            verdict.and_then(|verdict| verdict.rejection.wrong_values()).copied().unwrap_or_default();
        let request = verdict.and_then(|verdict| verdict.request);
        let port = |port| match port {
            PortName::Warp => 0,
            PortName::Cluster => 1,
        };
        AtomsVerdict {
            status: verdict.map_or(ATOMS_OK, status),
            port: request.map_or(-1, |request| port(request.port)),
            number: request.map_or(0, |request| request.number),
            accepted: request.map_or(0, |request| request.accepted),
            cycle: verdict.map_or(0, |verdict| verdict.cycle),
            tag: request.map_or(0, |request| request.tag.into()),
            op: request.map_or(0, |request| request.op.into()),
            lanes: verdict.map_or(0, PortVerdict::lanes),
            has_address: values.address.is_some().into(),
            address: values.address.unwrap_or(0),
            has_expected: values.expected.is_some().into(),
            has_got: values.got.is_some().into(),
            reserved: 0,
            expected: words(values.expected.unwrap_or(0)),
            got: words(values.got.unwrap_or(0)),
            clause: text(verdict.map_or("", |verdict| verdict.rejection.clause())),
            about: text(verdict.map_or("", |verdict| verdict.rejection.about())),
        }
    }
}
