//! Lockstep and inside signals, on the model and on built RTL.

mod inside;
mod lockstep;
mod ports_page;
