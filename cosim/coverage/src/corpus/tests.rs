use atoms_ops::Op;
use atoms_stimulus::{Profile, Share};

use super::*;
use crate::{Dimension, Group, Model};

fn group(name: &'static str, dimensions: &[(&'static str, &[&str])]) -> Group {
    let dimension = |(name, values): &(&'static str, &[&str])| Dimension {
        name,
        values: values.iter().map(|value| value.to_string()).collect(),
    };
    Group {
        name,
        reason: "",
        clause: "",
        dimensions: dimensions.iter().map(dimension).collect(),
        reachable: |_, _| true,
        first: 0,
    }
}

/// Model with two groups, of 6 and 4 bins.
fn model() -> Model {
    let mut model = Model::default();
    model.push(group("ports", &[("port", &["warp", "cluster"]), ("degree", &["1", "2", "3-4"])]));
    model.push(group("ends", &[("end", &["a", "b", "c", "d"])]));
    model
}

fn episode(seed: u64, requests: u64) -> Episode {
    Episode { config: "small".into(), profile: Profile::default(), seed, requests, towards: None }
}

fn bins(bins: &[usize]) -> BitVec {
    let mut hit = BitVec::repeat(false, model().bins());
    bins.iter().for_each(|bin| hit.set(*bin, true));
    hit
}

fn corpus(entries: &[(u64, u64, &[usize])]) -> Corpus {
    let mut corpus = Corpus::new(model().bins());
    for (seed, requests, hit) in entries {
        assert!(corpus.add(&episode(*seed, *requests), &bins(hit), "nightly/small/0") > 0, "seed {seed}");
    }
    corpus
}

fn seeds(corpus: &Corpus) -> Vec<u64> {
    corpus.entries().iter().map(|entry| entry.episode.seed).collect()
}

#[test]
fn only_what_hits_something_new_is_added() {
    let mut corpus = corpus(&[(1, 100, &[0, 1]), (2, 100, &[1, 2])]);
    assert_eq!(corpus.add(&episode(3, 1), &bins(&[0, 2]), "x"), 0);
    assert_eq!(corpus.add(&episode(4, 1), &bins(&[0, 9]), "x"), 1);
    assert_eq!(seeds(&corpus), [1, 2, 4]);
    assert_eq!(*corpus.covered(), bins(&[0, 1, 2, 9]));
}

#[test]
fn a_minimised_corpus_covers_what_it_covered() {
    // Episode 3 makes 1 and 2 redundant. Episode 4 covers more, but costs too much to be chosen first.
    let mut corpus = corpus(&[
        (1, 500, &[0, 1]),
        (2, 500, &[2, 3]),
        (4, 9000, &[0, 1, 2, 3, 4]),
        (3, 500, &[0, 1, 2, 3, 5]),
    ]);
    let covered = corpus.covered().clone();
    corpus.minimise();
    assert_eq!(seeds(&corpus), [3, 4]);
    assert_eq!(*corpus.covered(), covered);
    let union = corpus.entries().iter().fold(bins(&[]), |union, entry| union | entry.hit.clone());
    assert_eq!(union, covered);
}

#[test]
fn greedy_choices_that_others_make_needless_go() {
    // The greedy choice takes episode 1 first. Episodes 2 and 3 are needed anyway and make it redundant.
    let mut corpus = corpus(&[(1, 0, &[0, 1, 2, 3]), (2, 30, &[0, 1, 4]), (3, 30, &[2, 3, 5])]);
    corpus.minimise();
    assert_eq!(seeds(&corpus), [2, 3]);
}

#[test]
fn episodes_shrink_to_what_they_are_needed_for() {
    // Request 10 * (n + 1) hits bin n.
    let run = |episode: &Episode| {
        let hit: Vec<_> = (0..10).filter(|bin| 10 * (bin + 1) <= episode.requests as usize).collect();
        // The second seed hits the bins in reverse order.
        Some(bins(&if episode.seed == 2 { hit.iter().map(|bin| 9 - bin).collect() } else { hit }))
    };
    let mut corpus = Corpus::new(model().bins());
    for seed in [1, 2] {
        let long = episode(seed, 70);
        corpus.add(&long, &run(&long).expect("it runs"), "x");
    }
    let covered = corpus.covered().clone();
    let mut runs = 0;
    corpus.shrink(|episode| {
        runs += 1;
        run(episode)
    });
    assert_eq!(*corpus.covered(), covered);
    // The two shortened episodes need 100 requests for all ten bins, instead of 140.
    assert_eq!(corpus.requests(), 100);
    assert!(runs < 20, "{runs} runs");
}

#[test]
fn an_episode_that_cannot_be_run_stays_as_it_is() {
    let mut corpus = corpus(&[(1, 500, &[0, 1])]);
    let before = corpus.clone();
    corpus.shrink(|_| None);
    assert_eq!(corpus, before);
}

#[test]
fn merging_keeps_all_bins() {
    let mut one = corpus(&[(1, 500, &[0, 1])]);
    let other = corpus(&[(2, 500, &[1]), (3, 500, &[7])]);
    assert_eq!(one.merge(&other), 1);
    assert_eq!(seeds(&one), [1, 3]);
}

#[test]
fn what_is_written_is_read() {
    let mut corpus = corpus(&[(1, 500, &[0, 1, 2, 4, 6]), (2, 20, &[2, 5, 9])]);
    let steered = Episode {
        profile: Profile { cluster: Share::new(0.5), ..Profile::of_ops(&[Op::Add, Op::CastSpin]) },
        towards: Some("ends".into()),
        ..episode(3, 7)
    };
    corpus.add(&steered, &bins(&[7]), "nightly/small/3");
    let text = corpus.write(&model());
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"format":1,"#,
            r#""groups":["#,
            r#"{"name":"ports","dimensions":[["port",["warp","cluster"]],["degree",["1","2","3-4"]]]},"#,
            r#"{"name":"ends","dimensions":[["end",["a","b","c","d"]]]}"#,
            r#"],"#,
            r#""entries":["#,
            r#"{"episode":{"config":"small","seed":1,"requests":500},"found_by":"nightly/small/0","bins":{"ends":"0","ports":"0-2 4"}},"#,
            r#"{"episode":{"config":"small","seed":2,"requests":20},"found_by":"nightly/small/0","bins":{"ends":"3","ports":"5"}},"#,
            r#"{"episode":{"config":"small","profile":{"ops":["ADD","CAST.SPIN"],"cluster":0.5},"seed":3,"requests":7,"towards":"ends"},"found_by":"nightly/small/3","bins":{"ends":"1"}}"#,
            r#"]}"#,
        ]
    );
    let read = Corpus::read(&text, &model()).expect("it was written");
    assert_eq!((read.unknown_bins, read.dropped), (0, 0));
    assert_eq!(read.corpus.covered(), corpus.covered());
    assert_eq!(read.corpus.entries()[2], corpus.entries()[2]);
    // A bin is saved only at the first episode that hits it.
    assert_eq!(read.corpus.entries()[1].hit, bins(&[5, 9]));
    assert_eq!(read.corpus.write(&model()), text);
    let empty = Corpus::new(model().bins());
    assert_eq!(Corpus::read(&empty.write(&model()), &model()).expect("it was written").corpus, empty);
}

/// Bins are found by name after dimensions are reordered and values are added or removed.
#[test]
fn a_corpus_survives_changes_of_the_model() {
    let text = corpus(&[(1, 500, &[0, 5, 7]), (2, 20, &[2, 8]), (3, 20, &[9])]).write(&model());
    let mut later = Model::default();
    later.push(group("ends", &[("end", &["d", "b"])]));
    later.push(group("ports", &[("degree", &["0", "1", "2", "3-4"]), ("port", &["warp", "cluster"])]));
    let read = Corpus::read(&text, &later).expect("it was written");
    let names: Vec<_> = read
        .corpus
        .entries()
        .iter()
        .map(|entry| {
            let name = |bin| later.locate(bin).map(|(group, at)| group.bin_name(at)).expect("it is a bin");
            entry.hit.iter_ones().map(name).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(
        names,
        [vec!["ends[b]", "ports[1, warp]", "ports[3-4, cluster]"], vec!["ports[3-4, warp]"], vec!["ends[d]"]]
    );
    assert_eq!((read.unknown_bins, read.dropped), (1, 0));

    let mut other = Model::default();
    other.push(group("ends", &[("end", &["a", "b", "c"])]));
    let read = Corpus::read(&text, &other).expect("it was written");
    assert_eq!((read.unknown_bins, read.dropped), (4, 1));
    assert_eq!(seeds(&read.corpus), [1, 2]);
}

#[test]
fn bad_files_are_named() {
    let good = corpus(&[(1, 500, &[0, 5])]).write(&model());
    let message = |text: &str| Corpus::read(text, &model()).expect_err("it is bad").to_string();
    let half = &good[..good.len() - 30];
    let line = half.lines().count();
    assert_eq!(
        message(half),
        format!(
            "the corpus file is truncated in line {line}: restore it, or delete it; the next run then builds a new one"
        )
    );
    assert_eq!(
        message(&good.replace("\"format\":1", "\"format\":7")),
        "the corpus has format 7, but this version of ATOMS reads format 1"
    );
    let spans = |spans: &str| message(&good.replace("\"0 5\"", spans));
    let wrong = |spans: &str| {
        format!(
            "episode 0 of the corpus, group `ports`: `{spans}` is not a list of bins below 6, such as `0-5 7`"
        )
    };
    for bad in ["0 6", "5-0", "0-x", "3 3", "0-99999999999999999999"] {
        assert_eq!(spans(&format!("\"{bad}\"")), wrong(bad));
    }
    assert_eq!(
        message(&good.replace("\"name\":\"ports\"", "\"name\":\"sport\"")),
        "episode 0 of the corpus has bins of group `ports`, which the file does not list"
    );
    let knob = message(&good.replace("\"seed\"", "\"profile\":{\"ops\":[\"ADDD\"]},\"seed\""));
    assert!(knob.starts_with("not a corpus: no operation `ADDD`; there are ADD, MIN,"), "{knob}");
    assert!(message("[]").starts_with("not a corpus: "));
    assert!(message("").starts_with("the corpus file is truncated"));
}
