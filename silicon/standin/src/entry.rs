//! The driver's entry points with their C ABI. Written independently of the binding in `silicon/driver`, so
//! that each checks the other. Source: [CUDA] driver API.
#![allow(non_snake_case, reason = "names are those of the driver")]

use crate::launch::Extent;
use crate::state::{self, DriverState, FOREVER, Log, MEMORY_BYTES};
use crate::status::{
    INVALID_DEVICE, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, Refusal, SUCCESS, Status, UNKNOWN,
};
use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

type Handle = *mut c_void;

/// Layout of `CUlaunchConfig`.
#[repr(C)]
pub(crate) struct LaunchConfig {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: Handle,
    attributes: *const LaunchAttribute,
    count: u32,
}

/// `CUlaunchAttribute`: the attribute number, and 64 bytes for any value.
#[repr(C)]
pub(crate) struct LaunchAttribute {
    id: u32,
    pad: u32,
    value: [u64; 8],
}

const _: () = {
    assert!(size_of::<LaunchConfig>() == 56 && offset_of!(LaunchConfig, stream) == 32);
    assert!(offset_of!(LaunchConfig, attributes) == 40 && offset_of!(LaunchConfig, count) == 48);
    assert!(size_of::<LaunchAttribute>() == 72 && offset_of!(LaunchAttribute, value) == 8);
};

static STATE: LazyLock<Mutex<DriverState>> = LazyLock::new(Mutex::default);

/// Runs a call on the state. Catches panics, because a panic must not unwind into the caller's C stack.
fn answer(call: impl FnOnce(&mut DriverState) -> Result<(), Refusal>) -> Status {
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        call(&mut state).map_or_else(|refusal| state.explain(refusal), |()| SUCCESS)
    }));
    let status = answered.unwrap_or(UNKNOWN);
    if status == FOREVER {
        // Never return, like a call that waits for a kernel that never ends. The state is unlocked, so other
        // threads can continue.
        loop {
            thread::park();
        }
    }
    status
}

/// Stores a result through a pointer of the caller.
///
/// # Safety
/// `to` is null or can be written.
unsafe fn put<T>(to: *mut T, value: T) -> Result<(), Refusal> {
    if to.is_null() {
        return Err(INVALID_VALUE.into());
    }
    // SAFETY: the caller guarantees it.
    unsafe { to.write(value) };
    Ok(())
}

/// Borrows `count` bytes of the caller.
///
/// # Safety
/// `from` is null or points to `count` bytes.
unsafe fn bytes<'a>(from: *const c_void, count: usize) -> Result<&'a [u8], Refusal> {
    if from.is_null() {
        return Err(INVALID_VALUE.into());
    }
    // SAFETY: the caller guarantees it.
    Ok(unsafe { std::slice::from_raw_parts(from.cast(), count) })
}

/// Writes a text and a NUL byte, truncated to `room` bytes.
///
/// # Safety
/// `to` is null or points to `room` writable bytes.
unsafe fn put_text(to: *mut c_char, room: usize, text: &str) {
    let Some(most) = room.checked_sub(1).filter(|_| !to.is_null()) else { return };
    let count = text.len().min(most);
    // SAFETY: there is room for `count` bytes and the NUL byte.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), count);
        to.add(count).write(0);
    }
}

fn device(number: i32) -> Result<(), Refusal> {
    if number == 0 { Ok(()) } else { Err(INVALID_DEVICE.into()) }
}

macro_rules! entries {
    ($( $name:ident($( $argument:ident: $ty:ty ),* $(,)?), |$state:ident| $body:block )*) => {
        $(
            // SAFETY of the body: the caller fulfils the contract of the driver's entry point of this name.
            // Each pointer is null or points to an object of the stated type.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($( $argument: $ty ),*) -> Status {
                answer(|$state| $body)
            }
        )*
    };
}

entries! {
    cuInit(flags: u32), |state| {
        if flags == 0 { state.start() } else { Err(INVALID_VALUE.into()) }
    }
    cuDriverGetVersion(version: *mut i32), |_state| {
        // SAFETY: see the macro; the same holds for all entry points below.
        unsafe { put(version, state::environment()?.driver_version()) }
    }
    cuGetErrorName(status: Status, text: *mut *const c_char), |state| {
        let (name, _) = state.text(status).ok_or(INVALID_VALUE)?;
        unsafe { put(text, name.as_ptr()) }
    }
    cuGetErrorString(status: Status, text: *mut *const c_char), |state| {
        let (_, meaning) = state.text(status).ok_or(INVALID_VALUE)?;
        unsafe { put(text, meaning.as_ptr()) }
    }
    cuDeviceGetCount(count: *mut i32), |state| {
        state.settings()?;
        unsafe { put(count, 1) }
    }
    cuDeviceGet(number: *mut i32, ordinal: i32), |state| {
        state.settings()?;
        device(ordinal)?;
        unsafe { put(number, 0) }
    }
    cuDeviceGetName(name: *mut c_char, room: i32, number: i32), |state| {
        let text = state.settings()?.name();
        device(number)?;
        unsafe { put_text(name, usize::try_from(room).unwrap_or(0), text) };
        Ok(())
    }
    cuDeviceGetAttribute(value: *mut i32, attribute: i32, number: i32), |state| {
        let settings = state.settings()?;
        device(number)?;
        let (major, minor) = settings.capability;
        let found = match attribute {
            // Clock rates in kHz. The core clock matches a cycle of 556 ps. The memory clock has no meaning,
            // because memory takes no time.
            13 | 36 => 1_800_000,
            16 => 1,
            17 => 0,
            20 => settings.compute_mode,
            75 => major as i32,
            76 => minor as i32,
            120 => i32::from(settings.capability >= (9, 0)),
            _ => return Err(INVALID_VALUE.into()),
        };
        unsafe { put(value, found) }
    }
    cuDevicePrimaryCtxRetain(context: *mut Handle, number: i32), |state| {
        device(number)?;
        unsafe { put(context, ptr::without_provenance_mut(state.retain()?)) }
    }
    cuDevicePrimaryCtxRelease_v2(number: i32), |state| {
        device(number)?;
        state.release()
    }
    cuCtxSetCurrent(context: Handle), |state| {
        state.set_current(context.addr())
    }
    cuLinkCreate_v2(count: u32, options: *const u32, values: *const *mut c_void, link: *mut Handle), |state| {
        let mut log = Log::default();
        for index in 0..count as usize {
            let (option, value) = unsafe { (options.add(index).read(), values.add(index).read()) };
            match option {
                5 => log.0 = value.expose_provenance(),
                6 => log.1 = value.addr(),
                // The log of a successful compilation stays empty.
                _ => {}
            }
        }
        unsafe { put(link, ptr::without_provenance_mut(state.link(log)?)) }
    }
    cuLinkAddData_v2(
        link: Handle,
        kind: u32,
        data: *const c_void,
        count: usize,
        _name: *const c_char,
        _options: u32,
        _names: *const u32,
        _values: *const *mut c_void,
    ), |state| {
        if kind != 1 {
            return Err(Refusal::new(NOT_SUPPORTED, "the stand-in links only PTX"));
        }
        let text = unsafe { bytes(data, count) }?;
        let text = std::str::from_utf8(text.strip_suffix(&[0]).unwrap_or(text)).map_err(|_| INVALID_VALUE)?;
        state.add(link.addr(), text).map_err(|((log, room), refusal)| {
            unsafe { put_text(ptr::with_exposed_provenance_mut(log), room, &refusal.reason) };
            // The reason is in the log, so only the status is returned.
            refusal.status.into()
        })
    }
    cuLinkComplete(link: Handle, image: *mut *const c_void, count: *mut usize), |state| {
        let (start, length) = state.complete(link.addr())?;
        unsafe {
            put(image, start.cast())?;
            put(count, length)
        }
    }
    cuLinkDestroy(link: Handle), |state| {
        state.unlink(link.addr())
    }
    cuModuleLoadData(module: *mut Handle, image: *const c_void), |state| {
        if image.is_null() {
            return Err(INVALID_VALUE.into());
        }
        let image = unsafe { CStr::from_ptr(image.cast()) };
        unsafe { put(module, ptr::without_provenance_mut(state.load(image.to_bytes())?)) }
    }
    cuModuleUnload(module: Handle), |state| {
        state.unload(module.addr())
    }
    cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char), |state| {
        if name.is_null() {
            return Err(INVALID_VALUE.into());
        }
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        unsafe { put(function, ptr::without_provenance_mut(state.function(module.addr(), name)?)) }
    }
    cuModuleGetLoadingMode(mode: *mut u32), |_state| {
        unsafe { put(mode, 1) }
    }
    cuFuncSetAttribute(function: Handle, attribute: i32, value: i32), |state| {
        state.set_function(function.addr(), attribute, value)
    }
    cuMemAlloc_v2(address: *mut u64, count: usize), |state| {
        unsafe { put(address, state.allocate(count)?) }
    }
    cuMemFree_v2(address: u64), |state| {
        state.free(address)
    }
    cuMemcpyHtoD_v2(to: u64, from: *const c_void, count: usize), |state| {
        state.write(to, unsafe { bytes(from, count) }?)
    }
    cuMemcpyDtoH_v2(to: *mut c_void, from: u64, count: usize), |state| {
        if to.is_null() {
            return Err(INVALID_VALUE.into());
        }
        // The caller's buffer may be uninitialized, so read into a separate buffer first.
        let mut content = Vec::new();
        content.try_reserve_exact(count).map_err(|_| OUT_OF_MEMORY)?;
        content.resize(count, 0);
        state.read(from, &mut content)?;
        unsafe { ptr::copy_nonoverlapping(content.as_ptr(), to.cast(), count) };
        Ok(())
    }
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize), |state| {
        unsafe {
            put(free, state.free_memory()?)?;
            put(total, MEMORY_BYTES)
        }
    }
    cuLaunchKernel(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_bytes: u32,
        _stream: Handle,
        params: *const *const c_void,
        extra: *const *const c_void,
    ), |state| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let extent = Extent { grid, block, cluster: [1; 3], shared_bytes, any_cluster: false };
        let arguments = unsafe { arguments(state, function, params, extra) }?;
        state.launch(function.addr(), extent, &arguments)
    }
    cuLaunchKernelEx(
        config: *const LaunchConfig,
        function: Handle,
        params: *const *const c_void,
        extra: *const *const c_void,
    ), |state| {
        let Some(config) = (unsafe { config.as_ref() }) else { return Err(INVALID_VALUE.into()) };
        let LaunchConfig { grid, block, shared_bytes, .. } = *config;
        let mut extent = Extent { grid, block, cluster: [1; 3], shared_bytes, any_cluster: false };
        for index in 0..config.count as usize {
            let attribute = unsafe { &*config.attributes.add(index) };
            match attribute.id {
                0 => {}
                4 => {
                    let [xy, z, ..] = attribute.value;
                    extent.cluster = [xy as u32, (xy >> 32) as u32, z as u32];
                }
                id => return Err(Refusal::new(NOT_SUPPORTED, format!("launch attribute {id}"))),
            }
        }
        let arguments = unsafe { arguments(state, function, params, extra) }?;
        state.launch(function.addr(), extent, &arguments)
    }
    cuStreamQuery(_stream: Handle), |state| {
        state.query()
    }
}

/// Returns the packed parameters of a launch, from a buffer in `extra` or from the pointers in `params`.
///
/// # Safety
/// `extra` is null or a list in the driver's format. `params` is null or has a pointer to each parameter.
unsafe fn arguments(
    state: &DriverState,
    function: Handle,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result<Vec<u8>, Refusal> {
    if !extra.is_null() {
        let (mut buffer, mut count) = (ptr::null(), ptr::null());
        // SAFETY: in the list a pointer follows each number, and a 0 ends the list.
        unsafe {
            let mut at = extra;
            while !(*at).is_null() {
                match (*at).addr() {
                    1 => buffer = *at.add(1),
                    2 => count = *at.add(1),
                    _ => return Err(INVALID_VALUE.into()),
                }
                at = at.add(2);
            }
        }
        // SAFETY: the size is valid, and the buffer has that size.
        return unsafe {
            let count = count.cast::<usize>().as_ref().ok_or(INVALID_VALUE)?;
            bytes(buffer, *count).map(<[u8]>::to_vec)
        };
    }
    let mut packed = Vec::new();
    for (index, (offset, count)) in state.parameters(function.addr())?.into_iter().enumerate() {
        if params.is_null() {
            return Err(Refusal::new(
                INVALID_VALUE,
                "the launch passes no parameters, but the kernel declares some",
            ));
        }
        packed.resize(offset, 0);
        // SAFETY: the list has one pointer per parameter, to as many bytes as the parameter has.
        packed.extend(unsafe { bytes(params.add(index).read(), count) }?);
    }
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_end_here() {
        assert_eq!(answer(|_| panic!("as a test")), UNKNOWN);
        assert_eq!(answer(|_| Ok(())), SUCCESS);
    }

    /// Passes parameters as a list of pointers, which the binding never does.
    #[test]
    fn parameters_one_by_one() {
        const PTX: &CStr = c".version 8.0
            .target sm_90
            .address_size 64
            .visible .entry k(.param .u8 a, .param .u64 out, .param .u32 b)
            {
                .reg .b32 %r<4>;
                .reg .b64 %rd<2>;
                ld.param.u8 %r1, [a];
                ld.param.u64 %rd1, [out];
                ld.param.u32 %r2, [b];
                add.u32 %r3, %r1, %r2;
                st.global.u32 [%rd1], %r3;
                ret;
            }";
        let ok = |status| assert_eq!(status, SUCCESS);
        let (mut context, mut link, mut module, mut function) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut image, mut count, mut out, mut sum) = (ptr::null(), 0, 0_u64, 0_u32);
        let (a, b) = (7_u8, 0x100_u32);
        let text = PTX.to_bytes_with_nul();
        let none = ptr::null();
        // SAFETY: every pointer is null where allowed, or points to an object that the entry point may
        // access.
        unsafe {
            ok(cuInit(0));
            ok(cuDevicePrimaryCtxRetain(&raw mut context, 0));
            ok(cuCtxSetCurrent(context));
            ok(cuLinkCreate_v2(0, ptr::null(), ptr::null(), &raw mut link));
            ok(cuLinkAddData_v2(
                link,
                1,
                text.as_ptr().cast(),
                text.len(),
                ptr::null(),
                0,
                ptr::null(),
                ptr::null(),
            ));
            ok(cuLinkComplete(link, &raw mut image, &raw mut count));
            ok(cuModuleLoadData(&raw mut module, image));
            ok(cuModuleGetFunction(&raw mut function, module, c"k".as_ptr()));
            ok(cuMemAlloc_v2(&raw mut out, 4));
            let params: [*const c_void; 3] =
                [(&raw const a).cast(), (&raw const out).cast(), (&raw const b).cast()];
            ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, ptr::null_mut(), params.as_ptr(), none));
            ok(cuMemcpyDtoH_v2((&raw mut sum).cast(), out, 4));
        }
        assert_eq!(sum, 0x107);
    }
}
