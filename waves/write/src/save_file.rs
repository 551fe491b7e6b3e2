//! Parses GTKWave's save files as views.

use crate::layout::flags;
use crate::{Fold, ViewGroup, WaveView};

const OUTSIDE: &str = "signals";

impl WaveView {
    /// Parses a save file: groups in order, and the marker. Nested groups become separate groups. Colours,
    /// searches and other properties are ignored.
    pub fn of_save_file(text: &str) -> WaveView {
        let mut view = WaveView::default();
        // Indices of the open groups in the view.
        let mut open: Vec<usize> = Vec::new();
        let mut kind = 0;
        for line in text.lines() {
            match line.split_at_checked(1) {
                Some(("@", digits)) => kind = u32::from_str_radix(digits, 16).unwrap_or(0),
                Some(("*", rest)) => {
                    view.marker = rest.split_whitespace().nth(1).and_then(|m| m.parse().ok())
                }
                Some(("-", title)) if kind & flags::BEGIN != 0 => {
                    let fold = if kind & flags::CLOSED != 0 { Fold::Closed } else { Fold::Open };
                    open.push(view.groups.len());
                    view.groups.push(ViewGroup { title: title.to_owned(), signals: Vec::new(), fold });
                }
                Some(("-", _)) if kind & flags::END != 0 => _ = open.pop(),
                // Comments, window properties, and combined or translated signals.
                Some(("-" | "[" | "#" | "?" | "^" | "<" | ">" | "~", _)) | None => {}
                Some(("+", named)) => {
                    // `NAME} PATH`: an alias in braces, then the signal.
                    let path = named.rsplit_once("} ").map_or(named, |(_, path)| path);
                    view.add(open.last().copied(), path);
                }
                Some(_) => view.add(open.last().copied(), line),
            }
        }
        view.groups.retain(|group| !group.signals.is_empty());
        view
    }

    fn add(&mut self, group: Option<usize>, path: &str) {
        let path = path.split('[').next().unwrap_or(path).trim().to_owned();
        if let Some(group) = group {
            return self.groups[group].signals.push(path);
        }
        match self.groups.last_mut().filter(|last| last.title == OUTSIDE) {
            Some(last) => last.signals.push(path),
            None => {
                let title = OUTSIDE.to_owned();
                self.groups.push(ViewGroup { title, signals: vec![path], fold: Fold::Open });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_file_of_gtkwave_is_read() {
        let text = "[*] a comment\n[timestart] 0\n*-5.0 4120 -1\n@28\ntop.clk\n@800200\n-first\n@22\n#{bus} top.a top.b\n\
                    +{x/y} top.x.y[31:0]\n@c00200\n-inside\n@820\ntop.txn.issue\n@1400200\n-inside\n@28\ntop.z\n\
                    @1000200\n-first\n@200\n-a blank\n";
        let view = WaveView::of_save_file(text);
        let groups: Vec<_> =
            view.groups.iter().map(|g| (&g.title[..], g.signals.join(" "), g.fold)).collect();
        assert_eq!(view.marker, Some(4120));
        assert_eq!(
            groups,
            [
                (OUTSIDE, "top.clk".into(), Fold::Open),
                ("first", "top.x.y top.z".into(), Fold::Open),
                ("inside", "top.txn.issue".into(), Fold::Closed),
            ]
        );
    }

    #[test]
    fn what_is_no_save_file_is_an_empty_view() {
        for text in ["", "*", "@zz\n-\n*a b", "\u{fc}"] {
            let view = WaveView::of_save_file(text);
            assert!(view.marker.is_none() && view.groups.len() <= 1, "{view:?}");
        }
    }
}
