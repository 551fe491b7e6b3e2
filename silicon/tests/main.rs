//! The capture kit: programs, captures and their page.

mod assembler;
mod catalogue;
mod hostile;
mod page;
