//! `atoms wave export`: converts a wave to the timeline formats of other viewers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use atoms_cosim::trace::{NAMES, WaveRequestError, lacks_fields, wave_requests};
use atoms_wave_view::{PipelineRequest, WaveFile, write_konata, write_perfetto};

use super::save_file;
use super::selection::excerpt;
use crate::args::wave::WaveExportArgs;
use crate::files::Files;
use crate::machine::shell;
use crate::output::error::{CliError, Verdict, message};
use crate::output::outln;
use crate::output::progress::grouped;

pub(crate) fn export(args: &WaveExportArgs) -> Result<Verdict, CliError> {
    let (perfetto, konata) = (args.to.perfetto.as_deref(), args.to.konata.as_deref());
    let mut files = Files::default();
    files.reads("the wave", &args.wave);
    perfetto.into_iter().for_each(|path| _ = files.writes("--perfetto", path));
    konata.into_iter().for_each(|path| _ = files.writes("--konata", path));
    if let Some(path) = &args.to.surfer {
        files
            .reads("the GTKWave save file of the wave", &save_file::path(&args.wave))
            .writes("--surfer", path);
    }
    files.check()?;
    let wave = WaveFile::open(&args.wave)?;
    if let Some(path) = &args.to.surfer {
        let commands = save_file::view(&args.wave)?.surfer_commands();
        std::fs::write(path, commands).map_err(CliError::writing(path))?;
        outln!("{}: commands (surfer {} -c {})", shell(path), shell(&args.wave), shell(path))?;
    }
    if perfetto.is_none() && konata.is_none() {
        return Ok(Verdict::Agree);
    }
    let excerpt = excerpt(&wave, &args.selection)?;
    let about = |error: WaveRequestError| message!("`{}`: {error}", args.wave.display());
    if let Some(path) = perfetto {
        if lacks_fields(&excerpt) {
            return Err(about(WaveRequestError::Earlier));
        }
        let slices = write(path, |out| write_perfetto(&excerpt, &NAMES, out))?;
        outln!("{}: {} slices (open it in ui.perfetto.dev)", shell(path), grouped(slices))?;
    }
    if let Some(path) = konata {
        let requests = wave_requests(&excerpt).map_err(about)?;
        let requests: Vec<PipelineRequest> = requests.into_iter().map(PipelineRequest::from).collect();
        let count = requests.len() as u64;
        write(path, |out| write_konata(&excerpt, &NAMES, requests, out))?;
        outln!("{}: {} requests (open it in Konata)", shell(path), grouped(count))?;
    }
    Ok(Verdict::Agree)
}

fn write<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<T>,
) -> Result<T, CliError> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        let count = write(&mut out)?;
        out.flush()?;
        Ok(count)
    });
    written.map_err(CliError::writing(path))
}
