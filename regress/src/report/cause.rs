//! Buckets that likely have one cause, and the parameters that tell the configurations in which they fail from
//! those that pass.

use atoms_model::config::{PARAMETERS, Parameter, ParameterKind};
use atoms_stimulus::configs::NamedConfig;

use crate::report::summary::{Bucket, Cause, Separation};
use crate::run::totals::Cell;

/// Parameters named of those that separate equally well.
const MOST: usize = 3;

/// Causes of the failures in `buckets`, in their order. Without at least two configurations there is nothing to
/// compare.
pub(crate) fn causes(buckets: &[Bucket], cells: &[Cell], configs: &[NamedConfig]) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    if configs.len() < 2 {
        return causes;
    }
    // Those seen in most configurations first: others may be parts of them.
    let mut order: Vec<_> = buckets.iter().collect();
    order.sort_by_key(|bucket| std::cmp::Reverse(bucket.configs.len()));
    for bucket in order {
        let cause = cause(bucket, cells, configs);
        let wider = causes.iter_mut().find(|wider| {
            let within = cause.failing.iter().all(|config| wider.failing.contains(config));
            // What separates several configurations exactly, and better than those of the other, is its own cause.
            let apart = cause.failing.len() > 1
                && cause.separations.iter().any(|s| s.fails == s.of && !wider.separations.contains(s));
            wider.kind == cause.kind && within && !apart
        });
        match wider {
            Some(wider) => wider.buckets.push(bucket.key.clone()),
            None => causes.push(cause),
        }
    }
    causes
        .retain(|cause| cause.failing.len() > 1 || cause.buckets.len() > 1 || !cause.separations.is_empty());
    let place = |cause: &Cause| buckets.iter().position(|bucket| cause.buckets.contains(&bucket.key));
    causes.sort_by_key(place);
    causes
}

/// What one bucket says.
fn cause(bucket: &Bucket, cells: &[Cell], configs: &[NamedConfig]) -> Cause {
    let passes = |config: &&NamedConfig| {
        let own =
            cells.iter().filter(|cell| cell.config == config.name && bucket.entries.contains(&cell.entry));
        let (tests, failed) = own.fold((0, 0), |(tests, failed), cell| {
            (tests + cell.totals.tests(), failed + cell.totals.not_passed())
        });
        // A test that failed in another way may have ended before it could fail in this one.
        tests > 0 && failed == 0
    };
    let failing: Vec<_> = configs.iter().filter(|config| bucket.configs.contains(&config.name)).collect();
    let passing: Vec<_> = configs.iter().filter(passes).collect();
    let mut separations: Vec<_> =
        PARAMETERS.iter().filter_map(|p| separation(p, &failing, &passing)).collect();
    // By the share of those that fail; the sort keeps the order of the parameters.
    separations.sort_by(|a, b| (b.fails * a.of).cmp(&(a.fails * b.of)));
    if let Some(best) = separations.first().cloned() {
        separations.retain(|other| other.fails * best.of == best.fails * other.of);
    }
    separations.truncate(MOST);
    let names = |configs: Vec<&NamedConfig>| configs.into_iter().map(|config| config.name.clone()).collect();
    Cause {
        kind: bucket.key.kind,
        buckets: vec![bucket.key.clone()],
        failing: names(failing),
        passing: names(passing),
        separations,
    }
}

/// How a parameter tells those that fail from some that pass: by one value, or as a number from or up to one.
fn separation(
    parameter: &Parameter,
    failing: &[&NamedConfig],
    passing: &[&NamedConfig],
) -> Option<Separation> {
    let value = |config: &NamedConfig| (parameter.get)(&config.config);
    let low = failing.iter().map(|config| value(config)).min()?;
    let high = failing.iter().map(|config| value(config)).max()?;
    let number = matches!(parameter.kind, ParameterKind::Number(..));
    type Holds<'a> = &'a dyn Fn(u32) -> bool;
    let ways: [(bool, Holds, String); 3] = [
        (low == high, &|v| v == low, format!("= {}", parameter.text_of(low))),
        (number && low < high, &|v| v >= low, format!(">= {low}")),
        (number && low < high, &|v| v <= high, format!("<= {high}")),
    ];
    let separations = ways.into_iter().filter(|(applies, ..)| *applies).filter_map(|(_, holds, words)| {
        let mut others: Vec<_> = passing.iter().map(|config| value(config)).filter(|v| !holds(*v)).collect();
        let (fails, passes) = (failing.len() as u64, others.len() as u64);
        let of = fails + passing.len() as u64 - passes;
        others.sort_unstable();
        others.dedup();
        let others: Vec<_> = others.into_iter().map(|v| parameter.text_of(v)).collect();
        // Where most that have the value pass, it says nothing.
        (passes > 0 && 2 * fails > of).then(|| Separation {
            parameter: parameter.name.to_string(),
            fails_where: words,
            fails,
            of,
            passes_where: others.join(", "),
            passes,
        })
    });
    separations.max_by_key(|separation| separation.passes)
}

#[cfg(test)]
mod tests {
    use atoms_cosim::embedded::rtl_dir;

    use super::*;
    use crate::run::result::{Status, Work};
    use crate::run::totals::Totals;
    use crate::triage::signature::FailureKind::{self, Mismatch, Oracle};
    use crate::triage::signature::Signature;
    use atoms_stimulus::configs;

    /// A bucket with this kind and signal, in the configurations for which `fails` holds, and the cells of its entry.
    fn planted(kind: FailureKind, what: &str, fails: impl Fn(&NamedConfig) -> bool) -> (Bucket, Vec<Cell>) {
        let key = Signature::new(kind, what);
        let entry = key.to_string();
        let (entries, mut cells) = ([entry.clone()].into(), Vec::new());
        let mut bucket = Bucket { key, entries, ..Bucket::default() };
        for config in configs::all(&rtl_dir()).expect("configurations") {
            let failed = fails(&config);
            let mut totals = Totals::default();
            totals.add(if failed { Status::Failed } else { Status::Passed }, Work::default());
            if failed {
                bucket.configs.push(config.name.clone());
            }
            cells.push(Cell { entry: entry.clone(), config: config.name, totals });
        }
        (bucket, cells)
    }

    fn found(planted: Vec<(Bucket, Vec<Cell>)>) -> Vec<Cause> {
        let all = configs::all(&rtl_dir()).expect("configurations");
        let (buckets, cells): (Vec<_>, Vec<_>) = planted.into_iter().unzip();
        causes(&buckets, &cells.concat(), &all)
    }

    #[test]
    fn the_parameter_that_separates_is_named() {
        let all = configs::all(&rtl_dir()).expect("configurations").len();
        let forwarding = planted(Mismatch, "a", |c| c.config.forwarding);
        let n = forwarding.0.configs.len();
        let causes = found(vec![forwarding]);
        assert_eq!(
            causes[0].text(),
            format!("fails where forwarding = true ({n} of {n}), passes where false ({0} of {0})", all - n)
        );
        let causes = found(vec![planted(Mismatch, "a", |c| c.config.merge_red)]);
        assert!(causes[0].text().starts_with("fails where merge_red = true"), "{}", causes[0].text());
        let causes = found(vec![planted(Mismatch, "a", |_| true)]);
        assert_eq!(causes[0].text(), format!("fails in each of {all} configurations that ran it"));
        // A value that fails seldom enough to be missed once.
        let causes = found(vec![planted(Mismatch, "a", |c| c.config.forwarding && c.name != "deep")]);
        let expected = format!("fails where forwarding = true ({} of {n})", n - 1);
        assert!(causes[0].text().starts_with(&expected), "{}", causes[0].text());
    }

    #[test]
    fn buckets_of_one_kind_and_place_have_one_cause() {
        let wide = || planted(Mismatch, "a", |c| c.config.forwarding);
        let part = planted(Mismatch, "b", |c| c.name == "deep");
        let causes = found(vec![part, wide()]);
        assert_eq!(causes.len(), 1);
        assert_eq!(causes[0].buckets, ["a", "b"].map(|what| Signature::new(Mismatch, what)));
        let other_kind = planted(Oracle, "b", |c| c.name == "deep");
        assert_eq!(found(vec![wide(), other_kind]).len(), 2);
        // One defect everywhere, one in forwarding: two causes, although each configuration of the one has the other.
        assert_eq!(found(vec![planted(Mismatch, "b", |_| true), wide()]).len(), 2);
    }
}
