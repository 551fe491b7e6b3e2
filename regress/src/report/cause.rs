//! Groups buckets that likely have one cause, by the configurations in which they fail. Finds the parameters
//! that separate failing from passing configurations.

use atoms_model::config::{PARAMETERS, Parameter, ParameterKind};
use atoms_stimulus::configs::NamedConfig;

use crate::report::summary::{Bucket, Cause, Separation};
use crate::run::totals::Cell;

/// Maximum number of parameters shown if several separate failing from passing configurations equally well.
const MOST: usize = 3;

/// Groups `buckets` by likely cause, in their order. Returns nothing for fewer than two configurations, since
/// there is nothing to compare.
pub(crate) fn causes(buckets: &[Bucket], cells: &[Cell], configs: &[NamedConfig]) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    if configs.len() < 2 {
        return causes;
    }
    // Start with the buckets that fail in most configurations: buckets that fail in some of these
    // configurations may have the same cause.
    let mut order: Vec<_> = buckets.iter().collect();
    order.sort_by_key(|bucket| std::cmp::Reverse(bucket.configs.len()));
    for bucket in order {
        let cause = cause(bucket, cells, configs);
        let wider = causes.iter_mut().find(|wider| {
            let within = cause.failing.iter().all(|config| wider.failing.contains(config));
            // Keep a separate cause if a parameter exactly predicts its failing configurations, and does not
            // predict those of the cause that fails in more configurations.
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

fn cause(bucket: &Bucket, cells: &[Cell], configs: &[NamedConfig]) -> Cause {
    let passes = |config: &&NamedConfig| {
        let own =
            cells.iter().filter(|cell| cell.config == config.name && bucket.entries.contains(&cell.entry));
        let (tests, failed) = own.fold((0, 0), |(tests, failed), cell| {
            (tests + cell.totals.tests(), failed + cell.totals.not_passed())
        });
        // Ignore configurations with other failures: such a test may have ended before this failure could
        // occur.
        tests > 0 && failed == 0
    };
    let failing: Vec<_> = configs.iter().filter(|config| bucket.configs.contains(&config.name)).collect();
    let passing: Vec<_> = configs.iter().filter(passes).collect();
    let mut separations: Vec<_> =
        PARAMETERS.iter().filter_map(|p| separation(p, &failing, &passing)).collect();
    // Sort by the share of failing configurations. The sort is stable, so that ties keep parameter order.
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

/// Finds the condition on a parameter that holds in all failing configurations and in as few passing ones as
/// possible. The condition is equality, or an upper or lower bound for a number.
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
        // Skip conditions under which half of the configurations or more pass.
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

    /// Makes a bucket that fails in the configurations selected by `fails`, and the cells of its entry.
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
        // One configuration with this value happened to pass.
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
        // One defect affects all configurations, another only those with forwarding. Two causes must be
        // reported, although each `forwarding` configuration shows both.
        assert_eq!(found(vec![planted(Mismatch, "b", |_| true), wide()]).len(), 2);
    }
}
