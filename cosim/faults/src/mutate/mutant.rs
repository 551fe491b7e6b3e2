use std::collections::HashMap;
use std::fmt;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::build::{SchemataRtl, Switch};
use crate::mutate::MutateError;
use crate::schemata::{MutationOperator, MutationSite, SiteKind, structure};

/// The RTL with one site mutated.
///
/// [`Display`](fmt::Display) gives its key: file, expression, operator and text of the line. The key has no
/// line number, so that explanations and scores stay valid when lines move.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub number: usize,
    /// Switch of the mutant. None if the mutant needs its own build.
    pub switch: Option<Switch>,
    pub site: MutationSite,
    pub operator: MutationOperator,
    /// Line of the site as written, trimmed.
    pub source: String,
    /// Number among the mutants with the same key text, from 1.
    pub nth: usize,
}

/// Writes the key as in a list of explained mutants: ``atoms_spin.sv: `en_i` always true, in: if (en_i)
/// begin``.
impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MutationSite { file, text, .. } = &self.site;
        write!(f, "{file}: `{text}` {}, in: {}", self.operator, self.source)?;
        if self.nth > 1 { write!(f, " #{}", self.nth) } else { Ok(()) }
    }
}

impl Mutant {
    /// Applies the mutant to `text`, the unmodified source.
    pub fn altered_source(&self, text: &str) -> String {
        self.site.altered_source(text, self.operator)
    }

    pub fn diff(&self, text: &str) -> String {
        let altered = self.altered_source(text);
        let (old, new): (Vec<&str>, Vec<&str>) = (text.lines().collect(), altered.lines().collect());
        let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let behind =
            old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
        let lines = |sign: char, lines: &[&str]| {
            lines[same..lines.len() - behind]
                .iter()
                .map(|line| format!("{sign} {}\n", line.trim()))
                .collect::<String>()
        };
        lines('-', &old) + &lines('+', &new)
    }
}

/// True for a value that is a single constant. Its inversion is skipped, because the constant's own site
/// already inverts it.
fn is_constant(site: &MutationSite) -> bool {
    site.kind == SiteKind::Value && matches!(site.text.as_str(), "'0" | "'1" | "1'b0" | "1'b1")
}

/// Generated parameter package. A mutant of it would only be another configuration.
const PARAMETERS: &str = "atoms_cfg_pkg.sv";

/// Lists every mutant of `schemata`: first those with a switch, in source order, then those that need their
/// own build.
///
/// # Errors
/// [`MutateError::Structure`].
pub fn mutants(schemata: &SchemataRtl) -> Result<Vec<Mutant>, MutateError> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut found: Vec<Mutant> = Vec::new();
    let mut add = |site: &MutationSite, operator, switch| {
        let (number, source) = (found.len(), schemata.line(&site.file, site.line));
        let mut mutant = Mutant { number, switch, site: site.clone(), operator, source, nth: 1 };
        let nth = seen.entry(mutant.to_string()).or_default();
        *nth += 1;
        mutant.nth = *nth;
        found.push(mutant);
    };
    for (number, site) in schemata.sites.iter().enumerate().filter(|(_, site)| !is_constant(site)) {
        for (value, operator) in site.operators() {
            add(site, operator, Some(Switch::always(number, value)));
        }
    }
    for site in structure(schemata.sources())?.iter().filter(|site| site.file != PARAMETERS) {
        for (_, operator) in site.operators() {
            add(site, operator, None);
        }
    }
    Ok(found)
}

/// Draws `count` elements by `seed`, and keeps their order.
pub fn sample<M: Clone>(all: &[M], count: usize, seed: u64) -> Vec<M> {
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    places.truncate(count);
    places.sort_unstable();
    places.into_iter().map(|place| all[place].clone()).collect()
}
