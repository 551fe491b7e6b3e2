//! Selection of a part of a wave.

use atoms_wave_view::{Excerpt, SignalPattern, WaveFile};

use crate::args::wave::WaveSelection;
use crate::output::error::{CliError, message};
use crate::wave::{print_notes, whole_or};

pub(super) fn excerpt(file: &WaveFile, chosen: &WaveSelection) -> Result<Excerpt, CliError> {
    let patterns: Vec<_> = chosen.signals.iter().map(|text| SignalPattern::new(text)).collect();
    let is_chosen = |at: &usize| {
        let parts = file.signals()[*at].parts();
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(parts.clone()))
    };
    let signals: Vec<_> = (0..file.signals().len()).filter(is_chosen).collect();
    let path = file.path().display();
    if signals.is_empty() && !patterns.is_empty() {
        return Err(message!(
            "`{path}`: no signal matches `{}`; `atoms wave info {path} --signals` lists all",
            chosen.signals.join(",")
        ));
    }
    let excerpt = file.excerpt(whole_or(file, chosen.window)?, &signals)?;
    print_notes(file, &excerpt.notes);
    if excerpt.window.is_empty() || excerpt.signals.iter().all(|signal| signal.changes.is_empty()) {
        return Err(message!(
            "`{path}`: the window has no values; `atoms wave info {path}` prints the first and last cycle"
        ));
    }
    Ok(excerpt)
}
