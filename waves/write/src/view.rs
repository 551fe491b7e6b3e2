//! Views: signals that a viewer shows first, in groups, and a marker.

/// Groups of signals in display order.
///
/// Signals are full names: scopes and name joined by points, without a bit range. So a view fits a file of
/// any program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaveView {
    pub groups: Vec<ViewGroup>,
    /// Time of the cursor, in the units of the file.
    pub marker: Option<u64>,
}

impl WaveView {
    /// Returns commands that make Surfer show the view: open groups below dividers, and the cursor. Each line
    /// is a command; names of dividers contain no spaces.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewGroup {
    pub title: String,
    pub signals: Vec<String>,
    pub fold: Fold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Open,
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
