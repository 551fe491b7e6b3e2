//! Global memory, constant banks, and addresses in shared memory.

mod constant;
mod global;
mod reserved;
mod shared_place;

pub(crate) use constant::ConstantBank;
pub(crate) use global::{
    GlobalMemory, LOCAL_WINDOW_HIGH, PARAM_WINDOW_HIGH, SHARED_WINDOW_HIGH, generic, in_window, to_generic,
};
pub(crate) use reserved::ReservedShared;
pub(crate) use shared_place::SharedPlace;
