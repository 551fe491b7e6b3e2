//! What a viewer shows first: groups of signals by name, and a point in time.

/// Groups of signals in the order in which a viewer shows them.
///
/// Signals have full names, scopes and name joined by points, without a range of bits: a view goes with a
/// file, by whatever program it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaveView {
    /// The groups, the first on top.
    pub groups: Vec<ViewGroup>,
    /// Time that the cursor stands at, in the units of the file.
    pub marker: Option<u64>,
}

impl WaveView {
    /// Commands by which Surfer shows the same: the open groups behind dividers, and the cursor. A line is a command;
    /// names of dividers have no spaces.
    pub fn surfer_commands(&self) -> String {
        let mut commands = String::new();
        for group in self.groups.iter().filter(|group| group.fold == Fold::Open) {
            if !group.title.is_empty() {
                let title = group.title.split_whitespace().collect::<Vec<_>>().join("_");
                commands.push_str(&format!("divider_add {title}\n"));
            }
            commands.extend(group.signals.iter().map(|signal| format!("variable_add {signal}\n")));
        }
        commands.extend(self.marker.map(|time| format!("cursor_set {time}\n")));
        commands
    }
}

/// A group of a [`WaveView`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewGroup {
    /// What stands above it.
    pub title: String,
    /// Full names of its signals.
    pub signals: Vec<String>,
    /// Whether it is open at first.
    pub fold: Fold,
}

/// Whether a group shows its signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// It does.
    Open,
    /// Once it is opened.
    Closed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surfer_gets_what_is_open() {
        let group = |title: &str, signals: &[&str], fold| ViewGroup {
            title: title.to_owned(),
            signals: signals.iter().map(|signal| (*signal).to_owned()).collect(),
            fold,
        };
        let groups = vec![
            group("", &["top.clk"], Fold::Open),
            group("first difference: wr_en", &["top.rtl.wr_en", "top.model.wr_en"], Fold::Open),
            group("rest", &["top.rest"], Fold::Closed),
        ];
        let commands = WaveView { groups, marker: Some(60) }.surfer_commands();
        let expected = "variable_add top.clk\ndivider_add first_difference:_wr_en\nvariable_add top.rtl.wr_en\n\
                        variable_add top.model.wr_en\ncursor_set 60\n";
        assert_eq!(commands, expected);
    }
}
