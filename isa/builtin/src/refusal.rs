//! Refusals of builtin calls: message, help, and number of the compiler's diagnostic.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("{message}{}", .number.map(|number| format!(" (diagnostic {number})")).unwrap_or_default())]
#[diagnostic(help("{help}"))]
pub struct BuiltinRefusal {
    /// Number of the compiler's diagnostic, if \[NVVM\] states one.
    pub number: Option<u16>,
    /// Error message. In the dialect [`super::Dialect::Current`] this is the compiler's wording.
    pub message: String,
    pub help: String,
}

impl BuiltinRefusal {
    /// Formats the refusal in two lines: the message and the help.
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
