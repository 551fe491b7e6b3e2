//! Printing of command errors.

use std::process::ExitCode;

use miette::Diagnostic;

use crate::output::error::{CliError, Verdict};
use crate::output::{self, note};

pub(crate) fn report(error: &CliError) -> ExitCode {
    match error {
        CliError::Listing(listing) => show_listing(listing),
        CliError::ClosedPipe => {}
        CliError::Message(text, cause) => {
            note!("atoms: {text}");
            // The text of some errors already contains the cause.
            if let Some(cause) = cause.as_ref().filter(|cause| !text.contains(cause.trim())) {
                note!("  because: {cause}");
            }
        }
    }
    Verdict::NotAsked.into()
}

/// Problems of a listing under one headline. The headline does not repeat the problems.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.headline())]
struct Headed<'e>(&'e atoms_isa::TextError);

impl Diagnostic for Headed<'_> {
    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.0.source_code()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        self.0.related()
    }
}

fn show_listing(listing: &atoms_isa::TextError) {
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
    let mut text = String::new();
    match handler.render_report(&mut text, &Headed(listing)) {
        Ok(()) => output::diagnostic(format_args!("{text}")),
        Err(_) => note!("atoms: {listing}"),
    }
}
