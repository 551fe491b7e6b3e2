//! Measures how often the ranking names the right line, with one planted defect at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use atoms_cosim::campaign::Campaign;
use atoms_stimulus::Profile;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::CauseError;
use super::experiments::Defect;
use super::rank::{CauseSuspect, fails, further_runs, investigate};
use crate::build::{Recording, SchemataRtl, Switch};
use crate::schemata::{MutationOperator, MutationSite, SiteKind};

/// Warp requests within which a planted defect must show.
const REQUESTS: u64 = 300;
/// Seed of the first defect's run. Smaller seeds belong to the further runs, which must differ from the
/// failing run.
const FIRST_SEED: u64 = 1000;

/// A planted defect, and its rank in the list of causes.
#[derive(Clone, Debug)]
pub struct PlantedDefect {
    pub site: MutationSite,
    pub operator: MutationOperator,
    /// Rank of its line in the list, from 1. None if the list does not have the line.
    pub line: Option<usize>,
    /// Rank of its line if the list is sorted by data-flow distance alone, without experiments.
    pub line_by_distance: Option<usize>,
    /// Rank of its module among the modules of the list, from 1.
    pub module: Option<usize>,
    /// First five suspects of the list.
    pub suspects: Vec<CauseSuspect>,
}

#[derive(Clone, Debug, Default)]
pub struct CauseScore {
    /// Defects that random requests detected.
    pub defects: Vec<PlantedDefect>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CauseShare {
    pub hits: usize,
    /// Total number of defects.
    pub of: usize,
}

impl CauseShare {
    fn of<'a>(
        defects: impl IntoIterator<Item = &'a PlantedDefect>,
        place: impl Fn(&PlantedDefect) -> Option<usize>,
        within: usize,
    ) -> CauseShare {
        let mut share = CauseShare { hits: 0, of: 0 };
        for defect in defects {
            share.of += 1;
            share.hits += usize::from(place(defect).is_some_and(|place| place <= within));
        }
        share
    }

    /// Returns the share in per cent. 0 if there are no defects.
    pub fn percent(self) -> f64 {
        100.0 * self.hits as f64 / self.of.max(1) as f64
    }
}

impl fmt::Display for CauseShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:5.1} % ({} of {})", self.percent(), self.hits, self.of)
    }
}

impl CauseScore {
    /// Share of defects whose line is among the first `within` suspects.
    pub fn line(&self, within: usize) -> CauseShare {
        CauseShare::of(&self.defects, |defect| defect.line, within)
    }

    /// Share of defects whose module is among the first `within` modules.
    pub fn module(&self, within: usize) -> CauseShare {
        CauseShare::of(&self.defects, |defect| defect.module, within)
    }

    /// Share like [`Self::line`], with the list sorted by distance alone.
    pub fn line_by_distance(&self, within: usize) -> CauseShare {
        CauseShare::of(&self.defects, |defect| defect.line_by_distance, within)
    }

    /// Share like [`Self::line`], only for defects that no single mutation operator can undo.
    pub fn line_without_inverse(&self, within: usize) -> CauseShare {
        let defects = self.defects.iter().filter(|defect| !defect.operator.has_inverse());
        CauseShare::of(defects, |defect| defect.line, within)
    }
}

/// Plants `count` defects that random requests detect, drawn by `seed`, and ranks causes for each. Uses all
/// cores; the number of cores does not change the result. Calls `progress` with the number of finished
/// defects.
///
/// # Errors
/// [`CauseError`] of the experiments. A defect that is not detected is skipped and is no error.
pub fn score(
    schemata: &SchemataRtl,
    seed: u64,
    count: usize,
    mut progress: impl FnMut(usize),
) -> Result<CauseScore, CauseError> {
    let sites = schemata.sites.iter().enumerate().filter(|(_, site)| site.kind != SiteKind::Value);
    let mut candidates: Vec<(Switch, MutationOperator)> = sites
        .flat_map(|(number, site)| {
            site.operators().into_iter().map(move |(value, operator)| (number, value, operator))
        })
        .map(|(number, value, operator)| (Switch::always(number, value), operator))
        .collect();
    candidates.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let further = further_runs(schemata)?;
    let (candidates, further, next) = (&candidates, &further, &AtomicUsize::new(0));
    let (sender, results) = mpsc::channel();
    let mut found: Vec<Result<PlantedDefect, CauseError>> = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..atoms_verilated::cores() {
            let sender = sender.clone();
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((switch, operator)) = candidates.get(at) else { break };
                    if sender.send((at, one(schemata, further, *switch, *operator))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // Process results in the order in which the defects were drawn, so that the number of threads does
        // not change the result.
        let (mut waiting, mut taken) = (BTreeMap::new(), 0);
        for (at, result) in results {
            waiting.insert(at, result);
            while let Some(result) = waiting.remove(&taken) {
                taken += 1;
                if found.len() < count {
                    found.extend(result.transpose());
                    progress(found.len());
                }
            }
            if found.len() >= count {
                next.store(candidates.len(), Ordering::Relaxed);
            }
        }
    });
    Ok(CauseScore { defects: found.into_iter().collect::<Result<_, _>>()? })
}

fn one(
    schemata: &SchemataRtl,
    further: &[Recording],
    switch: Switch,
    operator: MutationOperator,
) -> Result<Option<PlantedDefect>, CauseError> {
    let campaign = Campaign {
        config: schemata.config.clone(),
        profile: Profile::default(),
        seed: FIRST_SEED + switch.site as u64 * 16 + u64::from(switch.value),
        requests: REQUESTS,
        until: u64::MAX,
    };
    let Some(case) = fails(schemata, &campaign, &[switch])? else { return Ok(None) };
    let site = &schemata.sites[switch.site];
    let defect = Defect { switch, offered: offered(site, operator) };
    let suspects = match investigate(schemata, &case, further, Some(&defect), 1) {
        // The failure depended on registers that keep their value in a reset, so the case alone does not
        // fail.
        Err(CauseError::Agrees) => return Ok(None),
        suspects => suspects?,
    };
    let place = |suspects: &[CauseSuspect]| {
        suspects.iter().position(|one| one.line == site.line && one.file == site.file).map(|at| at + 1)
    };
    let mut by_distance = suspects.clone();
    by_distance
        .sort_by(|a, b| a.distance.total_cmp(&b.distance).then((&a.file, a.line).cmp(&(&b.file, b.line))));
    let mut modules: Vec<&str> = Vec::new();
    for suspect in &suspects {
        if !modules.contains(&suspect.module.as_str()) {
            modules.push(&suspect.module);
        }
    }
    Ok(Some(PlantedDefect {
        site: site.clone(),
        operator,
        line: place(&suspects),
        line_by_distance: place(&by_distance),
        module: modules.iter().position(|module| *module == site.module).map(|at| at + 1),
        suspects: suspects.into_iter().take(5).collect(),
    }))
}

/// Returns the operators that still exist in the text after mutation `by`. 0 stands for undoing the mutation.
/// If the mutation loses nothing: all operators and 0. If the condition is now constant: the other constant.
/// If an operand is gone: the two constants. Otherwise none.
fn offered(site: &MutationSite, by: MutationOperator) -> Vec<u8> {
    let all = site.operators();
    let those = |wanted: &[MutationOperator]| {
        all.iter().filter(|(_, operator)| wanted.contains(operator)).map(|(value, _)| *value).collect()
    };
    match by {
        MutationOperator::AlwaysTrue => those(&[MutationOperator::AlwaysFalse]),
        MutationOperator::AlwaysFalse => those(&[MutationOperator::AlwaysTrue]),
        MutationOperator::FirstOnly | MutationOperator::SecondOnly => {
            those(&[MutationOperator::AlwaysTrue, MutationOperator::AlwaysFalse])
        }
        MutationOperator::NotComplemented | MutationOperator::NotShifted | MutationOperator::Dropped => {
            Vec::new()
        }
        MutationOperator::Negated
        | MutationOperator::Operator(_)
        | MutationOperator::OneMore
        | MutationOperator::OneLess
        | MutationOperator::Inverted => [0].into_iter().chain(all.iter().map(|(value, _)| *value)).collect(),
    }
}
