//! Parser and decoder of machine code listings as `nvdisasm` and `cuobjdump -sass` print them.

mod bank;
mod data_section;
mod decode;
mod link;
mod listing;
mod maxwell;
mod operand;
mod reader;

pub use decode::{MNEMONICS, MnemonicRow, NAMED_MNEMONICS};
pub(crate) use reader::assemble;
