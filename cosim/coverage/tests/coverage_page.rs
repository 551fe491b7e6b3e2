//! Tests that `docs/coverage.md` lists the current groups.

use expect_test::expect_file;
use std::fmt::Write;
use std::path::PathBuf;

use atoms_cosim::embedded::rtl_dir;
use atoms_coverage::{Group, Model};
use atoms_ops::Op;
use atoms_stimulus::configs::{self, NamedConfig};

const BEGIN: &str = "<!-- begin: groups of bins -->\n";
const END: &str = "<!-- end: groups of bins -->\n";

/// Formats the values of a dimension that occur in some bin. Long runs of numbers are abbreviated.
fn values(group: &Group, dimension: usize, bins: &[usize]) -> String {
    let of = &group.dimensions[dimension].values;
    let used: Vec<_> = (0..of.len())
        .filter(|value| bins.iter().any(|bin| group.values(*bin)[dimension] == *value))
        .collect();
    let numbers: Vec<_> = used.iter().filter_map(|value| of[*value].parse::<u32>().ok()).collect();
    if let ([first, .., last], true) = (numbers.as_slice(), numbers.len() == used.len() && used.len() > 4)
        && (last - first) as usize + 1 == used.len()
    {
        return format!("{first} to {last}");
    }
    let names: Vec<_> = used.iter().map(|value| of[*value].as_str()).collect();
    let all: Vec<_> = Op::ALL.iter().map(ToString::to_string).collect();
    if names == all { "all operations".to_owned() } else { names.join("; ") }
}

fn groups(model: &Model, configs: &[NamedConfig]) -> String {
    let reached = |group: &Group, configs: &[NamedConfig]| {
        let reachable = |at: &usize| configs.iter().any(|c| (group.reachable)(&c.config, &group.values(*at)));
        (0..group.len()).filter(reachable).collect::<Vec<_>>()
    };
    let default = &configs[..1];
    let mut text = String::new();
    let mut totals = (0, 0);
    for group in &model.groups {
        let bins = reached(group, configs);
        let in_default = reached(group, default).len();
        totals = (totals.0 + bins.len(), totals.1 + in_default);
        let (name, reason, clause) = (group.name, group.reason, group.clause);
        let of_default =
            if in_default == bins.len() { String::new() } else { format!(", {in_default} in `default`") };
        let of = format_args!("{} bins{of_default}", bins.len());
        let _ = write!(text, "### `{name}`\n\n{reason} (spec {clause}; {of})\n\n");
        for (at, dimension) in group.dimensions.iter().enumerate() {
            let _ = writeln!(text, "- `{}`: {}", dimension.name, values(group, at, &bins));
        }
        text.push('\n');
    }
    format!(
        "{} bins in {} groups; {} of them can be hit in `default`.\n\n{text}",
        totals.0,
        model.groups.len(),
        totals.1
    )
}

#[test]
fn the_page_lists_the_groups() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/coverage.md");
    let page = std::fs::read_to_string(&path).expect("docs/coverage.md can be read");
    let (before, rest) = page.split_once(BEGIN).expect("docs/coverage.md has the marker of the groups");
    let (_, after) = rest.split_once(END).expect("docs/coverage.md has the marker behind the groups");
    let configs = configs::all(&rtl_dir()).expect("rtl/configs.toml");
    let expected = format!("{before}{BEGIN}{}{END}{after}", groups(&Model::standard(), &configs));
    expect_file![&path].assert_eq(&expected);
}
