//! Patterns that select signals.

/// A pattern of signal names: names joined by points. `*` matches any characters and `?` one character, but
/// neither matches a point.
///
/// A pattern selects a signal if it matches adjacent names in the signal's path. `probe_*` selects all
/// signals with such a name and all signals in such a scope. `rtl.req_*` selects these in any scope `rtl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalPattern(Vec<String>);

impl SignalPattern {
    /// Parses a pattern. The `\` of an escaped name is optional.
    pub fn new(text: &str) -> Self {
        SignalPattern(text.split('.').map(|part| part.trim_start_matches('\\').to_owned()).collect())
    }

    /// True if the pattern selects the signal with these scopes and this name.
    pub fn matches<'n>(&self, parts: impl Iterator<Item = &'n str> + Clone) -> bool {
        // An escaped name that contains points counts as several names.
        let mut rest = parts.flat_map(|part| part.split('.'));
        loop {
            let mut names = rest.clone();
            if self.0.iter().all(|pattern| names.next().is_some_and(|name| glob(pattern, name))) {
                return true;
            }
            if rest.next().is_none() {
                return false;
            }
        }
    }
}

fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut in_name) = (0, 0);
    // Position of the last `*`, and end of the text that it last matched, for backtracking.
    let mut star = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(b'?') => (at, in_name) = (at + 1, in_name + 1),
            Some(byte) if *byte == name[in_name] => (at, in_name) = (at + 1, in_name + 1),
            Some(_) | None => {
                let Some((star_at, from)) = star else { return false };
                star = Some((star_at, from + 1));
                (at, in_name) = (star_at + 1, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const CASES: &[(&str, &str, bool)] = &[
        // pattern      path                          chosen
        ("clk",         "top.clk",                    true),
        ("clk",         "top.clk2",                   false),
        ("clk*",        "top.clk2",                   true),
        ("rtl",         "top.rtl.a",                  true),
        ("top.rtl",     "top.rtl.sub.a",              true),
        ("rtl.a",       "top.rtl.sub.a",              false),
        ("rtl.*.a",     "top.rtl.sub.a",              true),
        ("r?l.su*",     "top.rtl.sub.a",              true),
        ("*",           "a",                          true),
        ("*_q",         "top.count_q",                true),
        ("*_q_*_q",     "top.a_q_q_b_q",              true),
        ("mem[3]",      "top.mem[3]",                 true),
        ("",            "top.a",                      false),
        ("a.b.c.d",     "b.c.d",                      false),
    ];

    #[test]
    fn patterns_match_adjacent_names() {
        for (pattern, path, chosen) in CASES {
            assert_eq!(SignalPattern::new(pattern).matches(path.split('.')), *chosen, "{pattern} {path}");
        }
        for pattern in ["t.a.b", "t.\\a.b", "b"] {
            assert!(SignalPattern::new(pattern).matches(["t", "a.b"].into_iter()), "{pattern}");
        }
    }
}
