//! Machine code text: listings as `nvdisasm` and `cuobjdump -sass` print them, decoded to kernels.

mod bank;
mod data_section;
mod decode;
mod listing;
mod maxwell;
mod mnemonic;
mod operand;
mod reader;

pub use mnemonic::{MNEMONICS, MnemonicRow, Support};
pub(crate) use reader::assemble;
