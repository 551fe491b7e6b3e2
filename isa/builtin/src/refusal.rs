//! Why a call is refused.

use std::fmt;

/// Why there is no PTX for a builtin call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltinRefusal {
    /// Number of the diagnostic, where \[NVVM\] gives one.
    pub number: Option<u16>,
    /// What is wrong. In the dialect [`super::Dialect::Current`] the words of the compiler.
    pub message: String,
    /// What would work; empty where nothing would.
    pub help: String,
}

impl BuiltinRefusal {
    pub(super) fn new(message: impl Into<String>) -> BuiltinRefusal {
        BuiltinRefusal { number: None, message: message.into(), help: String::new() }
    }

    pub(super) fn numbered(number: u16, message: impl Into<String>) -> BuiltinRefusal {
        BuiltinRefusal { number: Some(number), ..BuiltinRefusal::new(message) }
    }

    pub(super) fn help(self, help: impl Into<String>) -> BuiltinRefusal {
        BuiltinRefusal { help: help.into(), ..self }
    }
}

impl fmt::Display for BuiltinRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "{} (diagnostic {number})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for BuiltinRefusal {}

impl miette::Diagnostic for BuiltinRefusal {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }
}
