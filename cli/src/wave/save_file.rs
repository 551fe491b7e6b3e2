//! GTKWave save file next to a wave: signals to show first, and the marker.

use std::path::{Path, PathBuf};

use atoms_wave_view::WaveFile;
use atoms_wave_write::{Fold, WaveView};

use crate::output::error::CliError;

#[derive(Debug, Default, PartialEq)]
pub(super) struct SaveFile {
    /// Indices of the signals in the wave file, in display order, without those of folded groups.
    pub(super) signals: Vec<usize>,
    /// Time of the marker in time units.
    pub(super) marker: Option<u64>,
}

pub(super) fn path(wave: &Path) -> PathBuf {
    wave.with_extension("gtkw")
}

pub(super) fn view(wave: &Path) -> Result<WaveView, CliError> {
    let path = path(wave);
    let text = std::fs::read(&path).map_err(CliError::reading(&path))?;
    Ok(WaveView::of_save_file(&String::from_utf8_lossy(&text)))
}

impl SaveFile {
    /// Reads the save file next to a wave. Returns the default without one, and skips unknown signals.
    pub(super) fn beside(file: &WaveFile) -> Self {
        view(file.path()).map_or_else(|_| Self::default(), |view| Self::of(view, file))
    }

    fn of(view: WaveView, file: &WaveFile) -> Self {
        let open = view.groups.iter().filter(|group| group.fold == Fold::Open);
        let mut signals = Vec::new();
        for signal in open.flat_map(|group| &group.signals).filter_map(|path| file.lookup(path).ok()) {
            if !signals.contains(&signal) {
                signals.push(signal);
            }
        }
        SaveFile { signals, marker: view.marker }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atoms_wave_write::{Definition, Layout, SignalKind};

    #[test]
    fn our_save_files_are_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let wave = folder.path().join("a.vcd");
        let mut definition = Definition::new("top");
        let word = definition.signal("word", SignalKind::Bits(32));
        let rtl = definition.scope("rtl", |d| d.scope("sub", |d| d.signal("op", SignalKind::Text)));
        let hidden = definition.signal("hidden", SignalKind::Bits(1));
        definition.create(&wave).expect("a wave").finish().expect("written");
        let layout = Layout::new().group("one", [word, rtl]).folded("rest", [hidden]).marker(41);
        layout.write(&definition, &wave).expect("written");
        let file = WaveFile::open(&wave).expect("a wave");
        let found = SaveFile::beside(&file);
        let paths: Vec<_> = found.signals.iter().map(|signal| file.signals()[*signal].path()).collect();
        assert_eq!(
            (paths, found.marker),
            (vec!["top.clk".into(), "top.word".into(), "top.rtl.sub.op".into()], Some(410))
        );
        assert_eq!(
            SaveFile::of(WaveView::of_save_file("no save file\n@zz\n-x\n*\n"), &file),
            SaveFile::default()
        );
    }
}
