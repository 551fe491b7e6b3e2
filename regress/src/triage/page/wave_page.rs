use std::path::Path;

use atoms_cosim::trace::NAMES;
use atoms_wave_view::{WaveFile, WavePage};
use atoms_wave_write::WaveView;
use fs_err as fs;

use crate::triage::error::BundleError;
use crate::triage::replay::Run;

/// Number of cycles before the failure that the page shows.
const CYCLES_BEFORE: u64 = 2000;

/// Renders the file `wave` as an HTML page that opens with `view`. If a kernel ran, transactions link to
/// lines of its listing.
pub(crate) fn wave_page(wave: &Path, title: &str, view: &WaveView, run: &Run) -> Result<String, BundleError> {
    let file = WaveFile::open(wave)?;
    let period = file.clock()?.map_or(1, |clock| clock.period);
    let from = view.marker.map_or(0, |marker| marker.saturating_sub(CYCLES_BEFORE * period));
    let all: Vec<_> = (0..file.signals().len()).collect();
    let excerpt = file.excerpt(from..u64::MAX, &all)?;
    let source = match run {
        Run::Kernel { listing, .. } => {
            Some((listing.display().to_string(), fs::read_to_string(wave.with_file_name(listing))?))
        }
        Run::Episode { .. } | Run::Case { .. } => None,
    };
    let source = source.as_ref().map(|(name, text)| (&**name, &**text));
    Ok(WavePage { title, excerpt: &excerpt, view, names: &NAMES, source }.html())
}
