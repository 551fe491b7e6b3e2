//! What mutants are run against, the runs that kill most for their time first.

use std::path::Path;

use atoms_cosim::stimulus::Profile;
use atoms_coverage::Model;
use atoms_coverage::corpus::Corpus;
use atoms_coverage::episode::Episode;

use crate::MutateError;

/// A group of runs that a mutant has to outlive.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name in reports.
    pub name: String,
    /// Its runs.
    pub episodes: Vec<Episode>,
}

/// Random runs: configuration, profile and warp requests.
const RANDOM: [(&str, &str, u64); 22] = [
    ("default", "default", 300),
    ("tiny", "default", 5_000),
    ("small", "default", 5_000),
    ("half", "default", 5_000),
    ("default", "default", 5_000),
    ("default", "objects", 5_000),
    ("default", "faults", 5_000),
    ("merging", "default", 5_000),
    ("highest", "default", 5_000),
    ("hashed", "default", 5_000),
    ("rotating", "default", 5_000),
    ("narrow", "default", 5_000),
    ("deep", "default", 5_000),
    ("short", "default", 5_000),
    ("hold", "default", 5_000),
    ("wide", "default", 5_000),
    ("huge", "default", 5_000),
    ("half", "objects", 5_000),
    ("narrow", "objects", 5_000),
    ("tiny", "objects", 5_000),
    ("default", "hazards", 5_000),
    ("default", "pressure", 5_000),
];

/// Every stage, in order: random runs, then the episodes of the corpus at `corpus`, if there is one.
///
/// # Errors
/// [`MutateError::Corpus`].
pub fn stages(corpus: Option<&Path>) -> Result<Vec<Stage>, MutateError> {
    let mut found = Vec::new();
    for (number, (config, profile, requests)) in RANDOM.into_iter().enumerate() {
        let profile = (profile, Profile::named(profile)?);
        let episode = Episode {
            config: config.to_owned(),
            profile: profile.1,
            seed: 1 + number as u64,
            requests,
            towards: None,
        };
        let name = match profile.0 {
            "default" => format!("{config}, {requests} requests"),
            other => format!("{config}, {requests} of {other}"),
        };
        found.push(Stage { name, episodes: vec![episode] });
    }
    let Some(corpus) = corpus else { return Ok(found) };
    let text = fs_err::read_to_string(corpus)?;
    let read = Corpus::read(&text, &Model::standard())
        .map_err(|error| MutateError::Corpus(corpus.to_path_buf(), error))?;
    let episodes = read.corpus.entries().iter().map(|entry| entry.episode.clone()).collect();
    found.push(Stage { name: "corpus".to_owned(), episodes });
    Ok(found)
}
