//! Files with the findings of a kernel: SARIF for other tools, a page for browsers.

mod page;
mod sarif;
mod timeline;

use std::path::{Path, PathBuf};

use super::finding::KernelFinding;

pub use page::page;
pub use sarif::sarif;
pub use timeline::Timelines;

/// File of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelFile<'a> {
    pub path: &'a Path,
    /// PTX or machine code: the content of the file, or made of it by a compiler or disassembler.
    pub text: &'a str,
}

impl KernelFile<'_> {
    /// True if `text` is the content of the file, so that its line numbers are those of the file.
    fn is_text(&self) -> bool {
        std::fs::read(self.path).is_ok_and(|bytes| bytes == self.text.as_bytes())
    }

    /// Path of a source file that line information names, if it is in the folder of the kernel. Other files
    /// are not read, because the line information may come from someone else.
    fn source(&self, file: &str) -> Option<PathBuf> {
        let name = file.rsplit(['/', '\\']).next()?;
        Some(self.path.with_file_name(name)).filter(|path| path.is_file())
    }
}
