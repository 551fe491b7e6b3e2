use crate::launch::{self, Ending, Extent};
use crate::ptx;
use crate::settings::Settings;
use crate::status::{
    self, DEVICE_UNAVAILABLE, ILLEGAL_ADDRESS, INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE, NOT_FOUND,
    NOT_INITIALIZED, NOT_READY, NOT_SUPPORTED, OUT_OF_MEMORY, Refusal, Status,
};
use atoms_isa::Program;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

pub(crate) const CONTEXT: usize = 1;

/// Size of the device memory, in bytes.
pub(crate) const MEMORY_BYTES: usize = 1 << 30;

/// Address of the first allocation, and alignment of all allocations.
const FIRST_ADDRESS: u64 = 0x7f_0000_0000;
const ALIGNMENT: u64 = 512;

/// Value of bytes that were never written. Not zero, to expose reads of uninitialized memory.
const UNWRITTEN: u8 = 0xa5;

/// Internal status: the call must wait for a kernel that never ends.
pub(crate) const FOREVER: Status = Status::MAX;

thread_local! {
    /// True if the context is current on this thread.
    static CURRENT: Cell<bool> = const { Cell::new(false) };
}

/// Address and size of the caller's log buffer of a link.
pub(crate) type Log = (usize, usize);

#[derive(Default)]
pub(crate) struct Link {
    pub(crate) log: Log,
    pub(crate) image: Vec<u8>,
}

#[derive(Clone)]
struct Function {
    module: usize,
    program: Arc<Program>,
    kernel: usize,
    any_cluster: bool,
}

#[derive(Default)]
enum Running {
    #[default]
    Nothing,
    /// Runs until `end`, and at least until the first poll. Then ends with the error `fault`.
    Until {
        end: Instant,
        asked: bool,
        fault: Option<Status>,
    },
    Forever,
}

#[derive(Default)]
pub(crate) struct DriverState {
    settings: Option<Settings>,
    retained: u32,
    /// Error for every call after a fault.
    lost: Option<Status>,
    running: Running,
    memory: BTreeMap<u64, Vec<u8>>,
    links: BTreeMap<usize, Link>,
    modules: BTreeMap<usize, Arc<Program>>,
    functions: BTreeMap<usize, Function>,
    handles: usize,
    launches: u64,
    reads: u64,
    /// Reasons of refusals, which replace the text of their status.
    reasons: BTreeMap<Status, &'static CStr>,
}

impl DriverState {
    pub(crate) fn start(&mut self) -> Result<(), Refusal> {
        if self.settings.is_none() {
            let settings = environment()?;
            if let Some(status) = settings.init {
                return Err(status.into());
            }
            self.settings = Some(settings);
        }
        Ok(())
    }

    pub(crate) fn settings(&self) -> Result<&Settings, Refusal> {
        self.settings.as_ref().ok_or(NOT_INITIALIZED.into())
    }

    /// Stores the reason of a refusal, and returns its status.
    pub(crate) fn explain(&mut self, refusal: Refusal) -> Status {
        if let Ok(text) = CString::new(refusal.reason).map_err(drop)
            && !text.is_empty()
        {
            // Leak the text: callers keep the pointer, and no call returns it.
            self.reasons.insert(refusal.status, Box::leak(text.into_boxed_c_str()));
        }
        refusal.status
    }

    pub(crate) fn text(&self, status: Status) -> Option<(&'static CStr, &'static CStr)> {
        let (name, text) = status::known(status)?;
        Some((name, self.reasons.get(&status).copied().unwrap_or(text)))
    }

    pub(crate) fn retain(&mut self) -> Result<usize, Refusal> {
        if self.settings()?.compute_mode != 0 {
            return Err(DEVICE_UNAVAILABLE.into());
        }
        self.unfaulted()?;
        self.retained += 1;
        Ok(CONTEXT)
    }

    pub(crate) fn release(&mut self) -> Result<(), Refusal> {
        self.settings()?;
        self.wait()?;
        self.retained = self.retained.checked_sub(1).ok_or(INVALID_CONTEXT)?;
        if self.retained == 0 {
            self.memory.clear();
            self.links.clear();
            self.modules.clear();
            self.functions.clear();
        }
        Ok(())
    }

    pub(crate) fn set_current(&mut self, context: usize) -> Result<(), Refusal> {
        self.unfaulted()?;
        match context {
            0 => CURRENT.set(false),
            CONTEXT if self.retained > 0 => CURRENT.set(true),
            _ => return Err(INVALID_CONTEXT.into()),
        }
        Ok(())
    }

    /// Fails unless a usable context is current.
    fn context(&self) -> Result<&Settings, Refusal> {
        let settings = self.settings()?;
        self.unfaulted()?;
        if self.retained > 0 && CURRENT.get() { Ok(settings) } else { Err(INVALID_CONTEXT.into()) }
    }

    fn unfaulted(&self) -> Result<(), Refusal> {
        self.lost.map_or(Ok(()), |status| Err(status.into()))
    }

    /// Fails unless a usable context is current. Then waits until the last launched kernel has ended.
    fn settle(&mut self) -> Result<(), Refusal> {
        self.context()?;
        self.wait()
    }

    fn wait(&mut self) -> Result<(), Refusal> {
        match self.running {
            Running::Nothing => Ok(()),
            Running::Until { end, .. } => {
                thread::sleep(end.saturating_duration_since(Instant::now()));
                self.end()
            }
            Running::Forever => Err(FOREVER.into()),
        }
    }

    fn end(&mut self) -> Result<(), Refusal> {
        if let Running::Until { fault, .. } = std::mem::take(&mut self.running) {
            self.lost = fault;
        }
        self.unfaulted()
    }

    /// Succeeds if the last launched kernel has ended. The first poll after a launch always says that it is
    /// running.
    pub(crate) fn query(&mut self) -> Result<(), Refusal> {
        self.context()?;
        match &mut self.running {
            Running::Nothing => Ok(()),
            Running::Until { end, asked, .. } => {
                let ended = *asked && Instant::now() >= *end;
                *asked = true;
                if ended { self.end() } else { Err(NOT_READY.into()) }
            }
            Running::Forever => Err(NOT_READY.into()),
        }
    }

    fn handle(&mut self) -> usize {
        self.handles += 1;
        CONTEXT + self.handles
    }

    pub(crate) fn link(&mut self, log: Log) -> Result<usize, Refusal> {
        self.context()?;
        let handle = self.handle();
        self.links.insert(handle, Link { log, image: Vec::new() });
        Ok(handle)
    }

    /// Compiles a text for a link. The error holds the log buffer for the message.
    pub(crate) fn add(&mut self, link: usize, text: &str) -> Result<(), (Log, Refusal)> {
        let settings = self.context().map_err(|refusal| (Log::default(), refusal))?;
        let image = ptx::compile(text, settings);
        let link = self.links.get_mut(&link).ok_or((Log::default(), INVALID_HANDLE.into()))?;
        link.image = image.map_err(|refusal| (link.log, refusal))?;
        Ok(())
    }

    /// Address and size of the image of a link. The address stays valid while the link exists.
    pub(crate) fn complete(&self, link: usize) -> Result<(*const u8, usize), Refusal> {
        self.context()?;
        let image = &self.links.get(&link).ok_or(INVALID_HANDLE)?.image;
        if image.is_empty() { Err(INVALID_VALUE.into()) } else { Ok((image.as_ptr(), image.len())) }
    }

    pub(crate) fn unlink(&mut self, link: usize) -> Result<(), Refusal> {
        self.links.remove(&link).map(drop).ok_or(INVALID_HANDLE.into())
    }

    pub(crate) fn load(&mut self, image: &[u8]) -> Result<usize, Refusal> {
        let program = ptx::load(image, self.context()?)?;
        let handle = self.handle();
        self.modules.insert(handle, Arc::new(program));
        Ok(handle)
    }

    pub(crate) fn unload(&mut self, module: usize) -> Result<(), Refusal> {
        self.settle()?;
        self.functions.retain(|_, function| function.module != module);
        self.modules.remove(&module).map(drop).ok_or(INVALID_HANDLE.into())
    }

    pub(crate) fn function(&mut self, module: usize, name: &[u8]) -> Result<usize, Refusal> {
        self.context()?;
        let program = self.modules.get(&module).ok_or(INVALID_HANDLE)?.clone();
        let kernel =
            program.kernels.iter().position(|kernel| kernel.name.as_bytes() == name).ok_or(NOT_FOUND)?;
        let handle = self.handle();
        self.functions.insert(handle, Function { module, program, kernel, any_cluster: false });
        Ok(handle)
    }

    pub(crate) fn set_function(
        &mut self,
        function: usize,
        attribute: i32,
        value: i32,
    ) -> Result<(), Refusal> {
        let most = launch::shared_bytes(self.context()?);
        let function = self.functions.get_mut(&function).ok_or(INVALID_HANDLE)?;
        match attribute {
            8 if u32::try_from(value).is_ok_and(|bytes| bytes <= most) => Ok(()),
            8 => Err(Refusal::new(
                INVALID_VALUE,
                format!("{value} bytes of dynamic shared memory; a CTA has at most {most}"),
            )),
            14 => {
                function.any_cluster = value != 0;
                Ok(())
            }
            _ => Err(NOT_SUPPORTED.into()),
        }
    }

    pub(crate) fn allocate(&mut self, bytes: usize) -> Result<u64, Refusal> {
        if self.context()?.out_of_memory || bytes > self.free_bytes() {
            return Err(OUT_OF_MEMORY.into());
        }
        if bytes == 0 {
            return Err(INVALID_VALUE.into());
        }
        // Place the allocation after all others, with a gap between them.
        let end = self.memory.last_key_value().map_or(0, |(start, content)| start + content.len() as u64);
        let address = (end + ALIGNMENT).next_multiple_of(ALIGNMENT).max(FIRST_ADDRESS);
        self.memory.insert(address, vec![UNWRITTEN; bytes]);
        Ok(address)
    }

    pub(crate) fn free(&mut self, address: u64) -> Result<(), Refusal> {
        self.settle()?;
        self.memory.remove(&address).map(drop).ok_or(INVALID_VALUE.into())
    }

    pub(crate) fn free_memory(&self) -> Result<usize, Refusal> {
        self.context()?;
        Ok(self.free_bytes())
    }

    fn free_bytes(&self) -> usize {
        MEMORY_BYTES - self.memory.values().map(Vec::len).sum::<usize>()
    }

    fn span(&mut self, address: u64, bytes: usize) -> Result<&mut [u8], Refusal> {
        self.settle()?;
        let (start, content) = self.memory.range_mut(..=address).next_back().ok_or(INVALID_VALUE)?;
        let first = usize::try_from(address - start).map_err(|_| INVALID_VALUE)?;
        let last = first.checked_add(bytes).ok_or(INVALID_VALUE)?;
        content.get_mut(first..last).ok_or(INVALID_VALUE.into())
    }

    pub(crate) fn write(&mut self, address: u64, content: &[u8]) -> Result<(), Refusal> {
        self.span(address, content.len())?.copy_from_slice(content);
        Ok(())
    }

    pub(crate) fn read(&mut self, address: u64, content: &mut [u8]) -> Result<(), Refusal> {
        content.copy_from_slice(self.span(address, content.len())?);
        self.reads += 1;
        if self.settings()?.flip == Some(self.reads)
            && let Some(byte) = content.get_mut(self.reads as usize % content.len().max(1))
        {
            *byte ^= 1;
        }
        Ok(())
    }

    pub(crate) fn parameters(&self, function: usize) -> Result<Vec<(usize, usize)>, Refusal> {
        let function = self.functions.get(&function).ok_or(INVALID_HANDLE)?;
        let params = function.program.kernels[function.kernel].params.iter().flatten();
        Ok(params.map(|param| (param.offset as usize, param.bytes as usize)).collect())
    }

    pub(crate) fn launch(
        &mut self,
        function: usize,
        mut extent: Extent,
        arguments: &[u8],
    ) -> Result<(), Refusal> {
        self.settle()?;
        let settings = self.settings()?;
        let function = self.functions.get(&function).ok_or(INVALID_HANDLE)?;
        let kernel = &function.program.kernels[function.kernel];
        let expected = launch::parameter_bytes(kernel);
        if arguments.len() != expected {
            let reason = format!("{} bytes of parameters; `{}` has {expected}", arguments.len(), kernel.name);
            return Err(Refusal::new(INVALID_VALUE, reason));
        }
        extent.any_cluster = function.any_cluster;
        let number = self.launches + 1;
        let ending = if settings.hang == Some(number) {
            Ending::Never
        } else if settings.fault == Some(number) {
            Ending::Fault(ILLEGAL_ADDRESS.into())
        } else {
            launch::run(kernel, &extent, arguments, &self.memory, settings)?
        };
        let end = Instant::now() + settings.slow;
        self.launches = number;
        self.running = match ending {
            Ending::Never => Running::Forever,
            Ending::Done(contents) => {
                self.memory.extend(contents);
                Running::Until { end, asked: false, fault: None }
            }
            Ending::Fault(refusal) => {
                Running::Until { end, asked: false, fault: Some(self.explain(refusal)) }
            }
        };
        Ok(())
    }
}

pub(crate) fn environment() -> Result<Settings, Refusal> {
    let variable = |name| std::env::var(name).ok();
    Settings::read(variable("ATOMS_STANDIN_CC").as_deref(), variable("ATOMS_STANDIN_TROUBLE").as_deref())
}
