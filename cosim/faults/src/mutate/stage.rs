//! Stages of runs for mutants. The runs that kill the most mutants for their time come first.

use std::path::Path;

use atoms_coverage::Model;
use atoms_coverage::corpus::Corpus;
use atoms_coverage::episode::Episode;
use atoms_stimulus::Profile;

use crate::mutate::MutateError;

#[derive(Clone, Debug)]
pub struct Stage {
    pub name: String,
    pub episodes: Vec<Episode>,
}

/// Random runs: configuration, profile, warp requests and seed.
const RANDOM: [(&str, &str, u64, u64); 23] = [
    ("default", "default", 300, 1),
    ("tiny", "default", 5_000, 2),
    ("small", "default", 5_000, 3),
    ("all_options", "default", 5_000, 4),
    ("default", "default", 5_000, 5),
    ("all_options", "resets", 5_000, 23),
    ("default", "objects", 5_000, 6),
    ("default", "faults", 5_000, 7),
    ("merging", "default", 5_000, 8),
    ("highest", "default", 5_000, 9),
    ("hashed", "default", 5_000, 10),
    ("rotating", "default", 5_000, 11),
    ("narrow", "default", 5_000, 12),
    ("deep", "default", 5_000, 13),
    ("short", "default", 5_000, 14),
    ("hold", "default", 5_000, 15),
    ("wide", "default", 5_000, 16),
    ("huge", "default", 5_000, 17),
    ("all_options", "objects", 5_000, 18),
    ("narrow", "objects", 5_000, 19),
    ("tiny", "pressure", 5_000, 30),
    ("default", "hazards", 5_000, 21),
    ("default", "pressure", 5_000, 22),
];

/// Returns all stages in order: the random runs, then the episodes of the corpus, if a path is given.
///
/// # Errors
/// [`MutateError::Corpus`].
pub fn stages(corpus: Option<&Path>) -> Result<Vec<Stage>, MutateError> {
    let mut found = Vec::new();
    for (config, profile, requests, seed) in RANDOM {
        let profile = (profile, Profile::named(profile)?);
        let episode =
            Episode { config: config.to_owned(), profile: profile.1, seed, requests, towards: None };
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
