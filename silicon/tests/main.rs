//! Tests of the capture kit: programs, captures and their documentation page.

mod assembler;
mod catalogue;
mod hostile;
mod page;
