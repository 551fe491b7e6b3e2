//! Why a call is refused.

use std::fmt;

/// Why there is no PTX for a builtin call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Number of the diagnostic, where \[NVVM\] gives one.
    pub number: Option<u16>,
    /// What is wrong. In the dialect [`super::Dialect::Current`] the words of the compiler.
    pub message: String,
    /// What would work; empty where nothing would.
    pub help: String,
}

impl Refusal {
    pub(super) fn new(message: impl Into<String>) -> Refusal {
        Refusal { number: None, message: message.into(), help: String::new() }
    }

    pub(super) fn numbered(number: u16, message: impl Into<String>) -> Refusal {
        Refusal { number: Some(number), ..Refusal::new(message) }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Refusal {
        Refusal { help: help.into(), ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "{} (diagnostic {number})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Refusal {}

impl miette::Diagnostic for Refusal {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }
}
