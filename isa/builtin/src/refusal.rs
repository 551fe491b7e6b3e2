//! Why a call is refused.

/// Why there is no PTX for a builtin call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("{message}{}", .number.map(|number| format!(" (diagnostic {number})")).unwrap_or_default())]
#[diagnostic(help("{help}"))]
pub struct BuiltinRefusal {
    /// Number of the diagnostic, where \[NVVM\] gives one.
    pub number: Option<u16>,
    /// What is wrong. In the dialect [`super::Dialect::Current`] the words of the compiler.
    pub message: String,
    pub help: String,
}

impl BuiltinRefusal {
    /// Formats the refusal in two lines: the message, and the help.
    pub fn explained(&self) -> String {
        let number = self.number.map_or(String::new(), |n| format!("#{n}: "));
        format!("{number}{}\n  help: {}", self.message, self.help)
    }

    pub(super) fn new(message: impl Into<String>, help: impl Into<String>) -> BuiltinRefusal {
        BuiltinRefusal { number: None, message: message.into(), help: help.into() }
    }

    pub(super) fn numbered(
        number: u16,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> BuiltinRefusal {
        BuiltinRefusal { number: Some(number), ..BuiltinRefusal::new(message, help) }
    }
}

/// Refuses, without a number.
pub(super) fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, BuiltinRefusal> {
    Err(BuiltinRefusal::new(message, help))
}

pub(super) fn diagnose<T>(
    number: u16,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Result<T, BuiltinRefusal> {
    Err(BuiltinRefusal::numbered(number, message, help))
}
