//! Writers and viewer layouts.

mod gtkwave;
mod layout;
mod read_back;
