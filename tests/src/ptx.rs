//! Runs single PTX lines on mbarrier objects: parses the line, generates cases, and builds a kernel.
//!
//! Expected results come from the line and \[PTX\]. Only the registers of operands come from the machine code.

pub mod barrier;
pub mod bench;
pub mod body;
pub mod case;
pub mod compare;
pub mod kernel;
pub mod lowered;
pub mod product;
pub mod spelling;
