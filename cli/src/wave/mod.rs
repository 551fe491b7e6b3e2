//! `atoms wave`: what waves show.

mod info;

use crate::args::wave::WaveCommand;
use crate::error::{CliError, Verdict};

pub(crate) fn wave(command: &WaveCommand) -> Result<Verdict, CliError> {
    match command {
        WaveCommand::Info(args) => info::info(args),
    }
}
