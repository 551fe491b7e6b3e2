//! Lines of PTX on mbarrier objects, made to run: what a line says, what it asks of the object, and a
//! kernel around the machine code that it becomes.
//!
//! What is expected comes from the line and from \[PTX\] alone; the machine code only says in which
//! registers its operands belong.

pub mod barrier;
pub mod bench;
pub mod body;
pub mod case;
pub mod compare;
pub mod kernel;
pub mod lowered;
pub mod product;
pub mod spelling;
