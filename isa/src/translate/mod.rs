//! Translation of a PTX module to kernels that the core executes like those of a listing.
//!
//! Atomics on shared memory and operations on mbarrier objects are lowered to machine code
//! ([`crate::lower`]). Loads, stores, control flow and warp operations become operations of machine code.
//! Compute instructions keep their PTX types ([`crate::Compute`]). Calls are inlined ([`inline`]), and
//! reconvergence points are added ([`flow`]).

mod arith;
mod control;
mod copies;
mod each;
mod flow;
mod inline;
mod layout;
mod memory;
mod mods;
mod moves;
mod ordering;
mod special;
mod unit;
mod write;

pub use each::{Lowered, lowered};

use crate::arch::Arch;
use crate::kernel::program::{Program, UnreadKernel};
use crate::problem::{Problem, TextError};
use crate::ptx::{Function, Module, is_module};
use mods::Mods;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fail {
    Unsupported,
    Wrong(String, String),
}

impl Fail {
    fn wrong(message: impl Into<String>, help: impl Into<String>) -> Fail {
        Fail::Wrong(message.into(), help.into())
    }

    fn since(what: &str, number: u16) -> Fail {
        Fail::wrong(format!("{what} requires sm_{number} or later"), format!("use --arch sm_{number}"))
    }
}

impl Program {
    /// Reads the text of kernels, either PTX or a listing. The text is PTX if the name ends in `.ptx` or the
    /// text begins like a PTX module. `arch` is the architecture for which PTX is translated. `name` is the
    /// name of the text in messages.
    ///
    /// # Errors
    /// As [`Program::from_ptx`] and [`Program::parse`].
    pub fn read(name: &str, text: &str, arch: Option<Arch>) -> Result<Program, TextError> {
        let called = name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("ptx"));
        if called || is_module(text) {
            Program::from_ptx(name, text, arch)
        } else {
            Program::parse(name, text)
        }
    }

    /// Parses a PTX module and translates its kernels for `arch`, or without `arch` for the architecture of
    /// its `.target`. If that is too early for translation, [`Arch::FIRST_OF_PTX`] is used instead, as
    /// drivers do for later GPUs. `name` is the name of the text in messages.
    ///
    /// # Errors
    /// Every problem with line and column, or an `arch` that is too early. Instructions that are not
    /// supported are not errors: see [`crate::Operation::Unsupported`].
    pub fn from_ptx(name: &str, text: &str, arch: Option<Arch>) -> Result<Program, TextError> {
        let module = Module::parse(name, text)?;
        let forward_of = Some(module.target).filter(|target| arch.is_none() && target.early());
        let own = if forward_of.is_some() { Arch::FIRST_OF_PTX } else { module.target };
        let program = translate(name, text, &module, arch.unwrap_or(own))?;
        Ok(Program { forward_of, ..program })
    }
}

fn translate(name: &str, text: &str, module: &Module<'_>, arch: Arch) -> Result<Program, TextError> {
    let mut problems = Vec::new();
    let (mut kernels, mut unread) = (Vec::new(), Vec::new());
    if arch.early() {
        let help = format!(
            "omit the architecture to translate for {}, as drivers do for later GPUs, or choose a later one",
            Arch::FIRST_OF_PTX
        );
        problems.push(Problem::new(0..0, format!("PTX cannot be translated for {arch}"), help));
    }
    let entries: Vec<&Function<'_>> = module.functions.iter().filter(|f| f.entry && f.defined).collect();
    if entries.is_empty() {
        let help = "a kernel starts with a line such as .visible .entry name(.param .u64 a)";
        problems.push(Problem::new(0..0, "no kernel in this module", help));
    }
    let layout = layout::module_variables(module);
    for function in entries.iter().filter(|_| !arch.early()) {
        match write::kernel(module, function, arch, &layout) {
            Ok(kernel) => kernels.push(kernel),
            Err(found) => {
                let found = found.into_iter().map(|(line, message, help)| {
                    let start = (line.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize).min(text.len());
                    Problem::new(start..(start + line.len()).min(text.len()), message, help)
                });
                unread.push((function.name, found.collect::<Vec<_>>()));
            }
        }
    }
    if kernels.is_empty() {
        problems.extend(unread.drain(..).flat_map(|(_, found)| found));
    }
    if !problems.is_empty() {
        return Err(TextError::new(name, text, problems));
    }
    let unread = unread.into_iter().map(|(kernel, found)| UnreadKernel {
        name: kernel.into(),
        error: TextError::new(name, text, found),
    });
    Ok(Program { arch, forward_of: None, kernels, unread: unread.collect() })
}
