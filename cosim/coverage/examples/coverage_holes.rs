//! Lists coverage holes of random stimulus. Runs the model alone in some configurations, and prints reachable
//! bins without a hit and unreachable bins with hits.
//!
//! `cargo run --release -p atoms-coverage --example coverage_holes -- REQUESTS[/EPISODE] [CONFIG ...]`

#![allow(clippy::print_stdout, clippy::print_stderr)] // stand-alone program that prints for people

use std::collections::BTreeMap;

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::session::Session;
use atoms_coverage::{Map, Model, Sampler};
use atoms_ops::OPS;
use atoms_stimulus::configs;
use atoms_stimulus::{Profile, RandomStimulus};

/// Default number of warp requests in one run from reset.
const EPISODE: u64 = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let requests = arguments.next().ok_or("how many requests?")?;
    let (requests, episode) = match requests.split_once('/') {
        Some((requests, episode)) => (requests.parse::<u64>()?, episode.parse::<u64>()?.max(1)),
        None => (requests.parse()?, EPISODE),
    };
    let names: Vec<_> = arguments.collect();
    let model = Model::standard();
    let mut all = Map::new(model.bins());
    let mut reachable = vec![false; model.bins()];
    let objects: Vec<_> = OPS.iter().map(|row| row.op).filter(|op| op.is_mbarrier()).collect();
    let chosen = configs::all(&rtl_dir())?;
    for named in chosen.into_iter().filter(|named| names.is_empty() || names.contains(&named.name)) {
        let mut map = Map::new(model.bins());
        for seed in 0..requests.div_ceil(episode) {
            let session = Session::new(ModelMachine::new(named.config), None);
            let (mut session, ()) = session.listened_by(Sampler::new(&named.config));
            let ops: &[_] = if seed % 3 == 0 { &objects } else { &[] };
            let mut stimulus = RandomStimulus::new(named.config, &Profile::of_ops(ops), seed, episode);
            session.run(&mut stimulus, u64::MAX, |_| {})?;
            map.merge(&session.listener().take());
        }
        let mut bins = 0;
        for (at, reachable) in reachable.iter_mut().enumerate() {
            let Some((group, number)) = model.locate(at) else { continue };
            let can = (group.reachable)(&named.config, &group.values(number));
            *reachable |= can;
            bins += usize::from(can);
            if !can && map.hits(at) > 0 {
                println!("IMPOSSIBLE {} {} x{}", named.name, group.bin_name(number), map.hits(at));
            }
        }
        eprintln!("{}: {} bins hit, {bins} reachable", named.name, map.iter().count());
        all.merge(&map);
    }
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (at, reachable) in reachable.iter().enumerate() {
        let Some((group, number)) = model.locate(at) else { continue };
        if !reachable {
            continue;
        }
        let (bins, hit) = groups.entry(group.name).or_default();
        *bins += 1;
        if all.hits(at) > 0 {
            *hit += 1;
        } else {
            println!("missing {}", group.bin_name(number));
        }
    }
    let mut total = (0, 0);
    for (name, (bins, hit)) in groups {
        eprintln!("{name:24} {hit:5} of {bins:5}");
        total = (total.0 + bins, total.1 + hit);
    }
    eprintln!("{:24} {:5} of {:5}", "all", total.1, total.0);
    Ok(())
}
