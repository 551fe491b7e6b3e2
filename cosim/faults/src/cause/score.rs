//! How often the list names the line: on defects planted one at a time.

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

/// Warp requests in which a defect has to show.
const REQUESTS: u64 = 300;
/// Seed of the first defect's run; those below are of the further runs, which must not be the failing one.
const FIRST_SEED: u64 = 1000;

/// A planted defect, and where the list has it.
#[derive(Clone, Debug)]
pub struct PlantedDefect {
    /// Where it is.
    pub site: MutationSite,
    /// What it alters.
    pub operator: MutationOperator,
    /// Place of its line in the list, from 1.
    pub line: Option<usize>,
    /// Place of its line in the list by distance alone: without any operator, from the data flow.
    pub line_by_distance: Option<usize>,
    /// Place of its module among the modules of the list, from 1.
    pub module: Option<usize>,
    /// The head of the list.
    pub suspects: Vec<CauseSuspect>,
}

/// How often the list is right.
#[derive(Clone, Debug, Default)]
pub struct CauseScore {
    /// Each defect that was detected.
    pub defects: Vec<PlantedDefect>,
}

/// A share of defects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CauseShare {
    /// Defects of which it holds.
    pub hits: usize,
    /// Defects in all.
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

    /// In per cent; 0 of none.
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
    /// The line is among the first `within` of the list.
    pub fn line(&self, within: usize) -> CauseShare {
        CauseShare::of(&self.defects, |defect| defect.line, within)
    }

    /// The module is among the first `within` of the list.
    pub fn module(&self, within: usize) -> CauseShare {
        CauseShare::of(&self.defects, |defect| defect.module, within)
    }

    /// As [`Self::line`], by distance alone.
    pub fn line_by_distance(&self, within: usize) -> CauseShare {
        CauseShare::of(&self.defects, |defect| defect.line_by_distance, within)
    }

    /// As [`Self::line`], of the defects that no single operator mends.
    pub fn line_without_inverse(&self, within: usize) -> CauseShare {
        let defects = self.defects.iter().filter(|defect| !defect.operator.has_inverse());
        CauseShare::of(defects, |defect| defect.line, within)
    }
}

/// Plants `count` defects that random requests detect, drawn by `seed`, and asks for the cause of each. Takes all cores;
/// their number makes no difference. `progress` is told how many are done.
///
/// # Errors
/// [`CauseError`] of the experiments. A defect that is not detected is no error, and does not count.
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
        // In the order drawn, so that the number of threads makes no difference.
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

/// One defect; `None` if it is not detected.
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
        // Registers that a reset keeps made the difference: the case alone is none.
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

/// Numbers of a site's operators that the text offers that was altered `by`. Where nothing was lost, all of them, and the text as it
/// was (0); where a condition is constant now, the other constant; where an operand is gone, the two constants; else none.
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
