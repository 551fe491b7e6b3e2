//! Compares bins hit with and without steering, with the same seeds, on the model alone. Then shrinks the
//! corpus of the episodes that hit them. `CONFIGS` is a comma-separated list or `all`; a bin counts as hit if
//! it is hit in any of these configurations.
//!
//! `cargo run --release -p atoms-coverage --example steering -- [CONFIGS [EPISODES [REQUESTS [SEED
//! [FILE]]]]]`

#![allow(clippy::print_stdout)] // stand-alone program that prints for people

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::session::Session;
use atoms_coverage::corpus::Corpus;
use atoms_coverage::episode::Episode;
use atoms_coverage::steer::Steering;
use atoms_coverage::{Map, Model, Sampler};
use atoms_stimulus::Profile;
use atoms_stimulus::configs::{self, NamedConfig};

/// Cycle limit: an episode that has not ended by then is an error.
const LIMIT: u64 = 10_000_000;

type Failure = Box<dyn std::error::Error>;

fn run(configs: &[NamedConfig], episode: &Episode) -> Result<Map, Failure> {
    let named = configs.iter().find(|named| named.name == episode.config);
    let config = named.ok_or("no such configuration")?.config;
    let (mut session, ()) = Session::new(ModelMachine::new(config), None).listened_by(Sampler::new(&config));
    let tally = session.run(&mut episode.stimulus(&config), LIMIT, |_| {})?;
    if tally.cycles == LIMIT {
        return Err(
            format!("an episode did not end in {LIMIT} cycles: {}", serde_json::to_string(episode)?).into()
        );
    }
    Ok(session.listener().take())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let names = arguments.first().map_or("default", String::as_str);
    let number = |at: usize, or: u64| arguments.get(at).map_or(Ok(or), |text| text.parse::<u64>());
    let (episodes, requests, seed) = (number(1, 200)?, number(2, 500)?, number(3, 1)?);
    let all = configs::all(&rtl_dir())?;
    let wanted = |named: &&NamedConfig| names == "all" || names.split(',').any(|name| name == named.name);
    let model = Model::standard();
    let mut maps = [Map::new(model.bins()), Map::new(model.bins())];
    let mut corpus = Corpus::new(model.bins());
    let mut can = Map::new(model.bins()).hit().clone();
    let mut impossible = Vec::new();
    println!("{:>12} {:>9} {:>9} {:>9} {:>9}", "", "requests", "unsteered", "steered", "of");
    for named in all.iter().filter(wanted) {
        let mut steering = Steering::new(&model, &named.config);
        can |= steering.reachable();
        for number in 0..episodes {
            let seed = seed << 32 | number;
            let plain = (Profile::default(), None);
            let steered = steering.next(&model, maps[1].hit(), seed);
            for (map, (profile, towards)) in maps.iter_mut().zip([plain, steered]) {
                let episode = Episode { config: named.name.clone(), profile, seed, requests, towards };
                let hit = run(&all, &episode)?;
                let beyond = hit.iter().filter(|(bin, _)| !steering.reachable()[*bin]);
                impossible.extend(beyond.map(|(bin, _)| (bin, named.name.clone())));
                corpus.add(&episode, hit.hit(), "example");
                map.merge(&hit);
            }
            if (number + 1).is_power_of_two() || number + 1 == episodes {
                let [plain, steered] = maps.each_ref().map(|map| (map.hit().clone() & &can).count_ones());
                let requests = (number + 1) * requests;
                println!("{:>12} {requests:>9} {plain:>9} {steered:>9} {:>9}", named.name, can.count_ones());
            }
        }
    }
    let entries = corpus.entries().len();
    corpus.shrink(|episode| Some(run(&all, episode).ok()?.hit().clone()));
    let (text, kept) = (corpus.write(&model), corpus.entries().len());
    println!(
        "corpus: {entries} episodes; {kept} after shrinking, with {} requests, {} bytes",
        corpus.requests(),
        text.len()
    );
    if let Some(file) = arguments.get(4) {
        std::fs::write(file, text)?;
    }
    let name = |bin| model.locate(bin).map_or_else(String::new, |(group, at)| group.bin_name(at));
    println!("bins not hit by steered episodes:");
    for bin in (can & !maps[1].hit().clone()).iter_ones() {
        println!("  {}", name(bin));
    }
    impossible.sort();
    impossible.dedup();
    for (bin, config) in impossible {
        println!("hit, although unreachable in configuration {config}: {}", name(bin));
    }
    Ok(())
}
