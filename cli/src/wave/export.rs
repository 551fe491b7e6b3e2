//! `atoms wave export`: a wave as a timeline of other viewers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use atoms_waves::{Excerpt, WaveFile, write_konata, write_perfetto};

use super::save_file;
use super::selection::excerpt;
use crate::args::wave::WaveExportArgs;
use crate::error::{CliError, Verdict};
use crate::files::Files;
use crate::machine::shell;
use crate::output::outln;
use crate::progress::grouped;

pub(crate) fn export(args: &WaveExportArgs) -> Result<Verdict, CliError> {
    let (perfetto, konata) = (args.to.perfetto.as_deref(), args.to.konata.as_deref());
    let mut files = Files::default();
    files.reads("the wave", &args.wave);
    perfetto.into_iter().for_each(|path| _ = files.writes("--perfetto", path));
    konata.into_iter().for_each(|path| _ = files.writes("--konata", path));
    if let Some(path) = &args.to.surfer {
        files.reads("the viewer's file of the wave", &save_file::path(&args.wave)).writes("--surfer", path);
    }
    files.check()?;
    let wave = WaveFile::open(&args.wave).map_err(CliError::of)?;
    if let Some(path) = &args.to.surfer {
        let commands = save_file::view(&args.wave)?.surfer_commands();
        std::fs::write(path, commands).map_err(CliError::writing(path))?;
        outln!("{}: commands (surfer {} -c {})", shell(path), shell(&args.wave), shell(path))?;
    }
    if perfetto.is_none() && konata.is_none() {
        return Ok(Verdict::Agree);
    }
    let excerpt = excerpt(&wave, &args.selection)?;
    if let Some(path) = perfetto {
        let slices = write(path, |out| write_perfetto(&excerpt, out))?;
        outln!("{}: {} slices (open it in ui.perfetto.dev)", shell(path), grouped(slices))?;
    }
    if let Some(path) = konata {
        if !has_tracks(&excerpt) {
            return Err(CliError::message(format!(
                "`{}`: no tracks of requests (scope `txn`, signals `tag*`) are among the signals chosen, and Konata shows \
                 nothing else; waves of `atoms cosim` and `atoms run` have them",
                args.wave.display()
            )));
        }
        let requests = write(path, |out| write_konata(&excerpt, out))?;
        outln!("{}: {} requests (open it in Konata)", shell(path), grouped(requests))?;
    }
    Ok(Verdict::Agree)
}

fn has_tracks(excerpt: &Excerpt) -> bool {
    let is_track =
        |scopes: &[String], name: &str| scopes.iter().any(|s| s == "txn") && name.starts_with("tag");
    excerpt.signals.iter().any(|signal| is_track(&signal.scopes, &signal.name))
}

fn write(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<u64>,
) -> Result<u64, CliError> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        let count = write(&mut out)?;
        out.flush()?;
        Ok(count)
    });
    written.map_err(CliError::writing(path))
}
