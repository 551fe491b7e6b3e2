//! `atoms wave page`: writes a wave as one HTML file.

use atoms_cosim::trace::NAMES;
use atoms_wave_view::{WaveFile, WavePage};
use atoms_wave_write::WaveView;

use super::save_file;
use super::selection::excerpt;
use crate::args::wave::WavePageArgs;
use crate::files::Files;
use crate::machine::shell;
use crate::output::error::{CliError, Verdict};
use crate::output::outln;
use crate::output::progress::grouped;

pub(crate) fn page(args: &WavePageArgs) -> Result<Verdict, CliError> {
    let mut files = Files::default();
    files.reads("the wave", &args.wave).reads("the save file", &save_file::path(&args.wave));
    args.kernel.iter().for_each(|kernel| _ = files.reads("the kernel", kernel));
    files.writes("--output", &args.output);
    files.check()?;
    let view = match save_file::path(&args.wave).exists() {
        true => save_file::view(&args.wave)?,
        false => WaveView::default(),
    };
    let source = match &args.kernel {
        Some(kernel) => {
            let text = std::fs::read_to_string(kernel).map_err(CliError::reading(kernel))?;
            // File name without path, because the page may be viewed on another machine.
            Some((kernel.file_name().unwrap_or_default().to_string_lossy(), text))
        }
        None => None,
    };
    let source = source.as_ref().map(|(name, text)| (&**name, &**text));
    let wave = WaveFile::open(&args.wave)?;
    let excerpt = excerpt(&wave, &args.selection)?;
    let title = args.wave.file_name().unwrap_or_default().to_string_lossy();
    let page = WavePage { title: &title, excerpt: &excerpt, view: &view, names: &NAMES, source };
    let html = page.html();
    std::fs::write(&args.output, &html).map_err(CliError::writing(&args.output))?;
    let signals = grouped(excerpt.signals.len() as u64);
    outln!("{}: {signals} signals, {} KB", shell(&args.output), grouped(html.len().div_ceil(1000) as u64))?;
    Ok(Verdict::Agree)
}
