//! Tests mutants: keys, the list of survivors, and that a switch and a mutated text have the same effect.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use atoms_cosim::embedded::rtl_dir;
use atoms_coverage::episode::Episode;
use atoms_faults::build::{Recording, SchemataBuildError, SchemataRtl};
use atoms_faults::mutate::{
    EvaluationSettings, Explained, Explanation, Fate, JudgedBy, KillCheck, Mutant, MutationReport, Stage,
    altered_folder, evaluate, evaluate_built, evaluate_planted, mutants, sample, schemata,
};
use atoms_stimulus::Profile;

fn tiny() -> SchemataRtl {
    schemata(&rtl_dir(), "tiny", &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("atoms-mutate-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn every(schemata: &SchemataRtl) -> Vec<Mutant> {
    mutants(schemata).unwrap_or_else(|error| panic!("{error}"))
}

fn named(all: &[Mutant], key: &str) -> Mutant {
    let found = all.iter().find(|mutant| mutant.to_string().starts_with(key));
    found.unwrap_or_else(|| panic!("no mutant is `{key}`: choose another one")).clone()
}

fn episode(requests: u64) -> Episode {
    let profile = Profile::default();
    Episode { config: "tiny".to_owned(), profile, seed: 3, requests, towards: None }
}

#[test]
fn keys_are_unique_and_the_list_has_no_other() {
    let all = every(&tiny());
    let keys: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(keys.len(), all.len());
    assert!(keys.len() >= 2000, "{} mutants", keys.len());
    let list = rtl_dir().join("formal/mutants.toml");
    let explained = Explained::read(&list).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(explained.stale(keys.iter().map(String::as_str)), Vec::<&str>::new());
}

/// Each planted defect must fit the current RTL and name a clause of the specification.
#[test]
fn planted_defects_fit_the_rtl_and_name_a_clause() {
    let rtl = rtl_dir();
    let list = Explained::read(&rtl.join("formal/common.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert!(list.defects.len() >= 60, "{} defects", list.defects.len());
    let spec = fs::read_to_string(rtl.join("../docs/spec.md")).expect("the specification");
    let mut seen = BTreeSet::new();
    for defect in &list.defects {
        let source = fs::read_to_string(rtl.join(&defect.file)).expect("a source");
        let place = defect.place(&source).unwrap_or_else(|error| panic!("{error}"));
        assert!(source[place] == defect.text && defect.text != defect.with, "{}", defect.about);
        assert!(seen.insert(&defect.about), "twice: {}", defect.about);
        let heads = [format!("**{}** ", defect.clause), format!("## {}. ", defect.clause)];
        assert!(heads.iter().any(|head| spec.contains(head)), "no clause {}", defect.clause);
    }
    let first = &list.defects[0];
    let gone = first.place("module atoms_unit;").expect_err("it does not fit").to_string();
    assert!(gone.contains("0 times: expected once"), "{gone}");
}

#[test]
fn a_sample_is_of_its_seed_and_in_order() {
    let all = every(&tiny());
    let numbers = |seed| sample(&all, 50, seed).iter().map(|one| one.number).collect::<Vec<_>>();
    assert_eq!(numbers(1), numbers(1));
    assert_ne!(numbers(1), numbers(2));
    assert!(numbers(1).is_sorted() && numbers(1).len() == 50);
    assert_eq!(sample(&all, usize::MAX, 1).len(), all.len());
}

/// A switch must have the same effect as the text that `--survivors` writes, because lint and solver read
/// that text.
#[test]
#[ignore = "nightly: three builds with all mutants"]
fn a_switch_and_an_altered_text_do_the_same() {
    let rtl = rtl_dir();
    let schemata = tiny();
    let all = every(&schemata);
    let config = &schemata.config.config;
    let run = Recording::of_stimulus(config, &mut episode(500).stimulus(config)).expect("the model runs");
    for key in [
        "atoms_alu.sv: `$signed(b[i]) > $signed(old[i])` with `<` as its operator",
        "atoms_waiters.sv: `left_q[p] == 32'd1` negated",
        "atoms_waiters.sv: `left_q[p] - 32'd1` one smaller",
    ] {
        let mutant = named(&all, key);
        let folder = folder("texts");
        altered_folder(&rtl, &mutant, &folder).unwrap_or_else(|error| panic!("{error}"));
        let altered = SchemataRtl::build(&folder, &schemata.config, &mut |_| {}).expect("the text builds");
        let by_text = altered.bench().expect("a model").reply(&[], &run).expect("a reply");
        let by_switch =
            schemata.bench().expect("a model").reply(mutant.switch.as_slice(), &run).expect("a reply");
        assert_eq!(by_text, by_switch, "{key}");
        assert!(by_text.cycle().is_some(), "{key} changes nothing");
        fs::remove_dir_all(folder).expect("removed");
    }
}

/// One mutant is a defect and is killed. The other is equivalent and survives. The report shows both.
#[test]
fn a_defect_is_killed_and_what_is_none_survives() {
    let rtl = rtl_dir();
    let schemata = tiny();
    let all = every(&schemata);
    let killed = "atoms_alu.sv: `$signed(b[i]) > $signed(old[i])` with `<` as its operator";
    let survives = "atoms_alu.sv: `$signed(b[i]) < $signed(old[i])` with `<=` as its operator";
    let chosen = [named(&all, killed), named(&all, survives)];
    let stages = [Stage { name: "short".to_owned(), episodes: vec![episode(500), episode(300)] }];
    let how = EvaluationSettings {
        rtl_dir: &rtl,
        judge: JudgedBy::Model,
        stages: &stages,
        threads: 1,
        every_stage: false,
    };
    let (fates, tallies) =
        evaluate(how, &chosen, &mut |_| {}, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((tallies[0].before, tallies[0].killed), (2, 1));
    let kill = fates[0].kill.as_ref().expect("it is killed");
    assert!(matches!(kill.check, KillCheck::Output | KillCheck::Probe) && kill.requests > 0, "{kill:?}");
    assert!(fates[1].kill.is_none());
    let keys: Vec<String> = all.iter().map(ToString::to_string).collect();
    let report = |list: &str, fates: &[Fate]| {
        let folder = folder("list");
        let path = folder.join("list.toml");
        fs::write(&path, list).expect("written");
        let explained = Explained::read(&path).unwrap_or_else(|error| panic!("{error}"));
        fs::remove_dir_all(folder).expect("removed");
        let source = |file: &str| schemata.source(file).unwrap_or_default();
        MutationReport::new(&chosen, fates, tallies.clone(), &explained, source, &keys)
    };
    let quoted = |mutant: &Mutant| format!("{:?}", mutant.to_string());
    let proved = format!("[[proved]]\nscope = \"all\"\nmutants = [{}]\n", quoted(&chosen[1]));
    let nothing = report("", &fates);
    assert_eq!((nothing.score(), nothing.is_as_listed()), (50.0, false));
    let whole = report(&proved, &fates);
    assert_eq!((whole.score(), whole.is_as_listed()), (100.0, true));
    assert_eq!(whole.mutants[1].explanation, Some(Explanation::Proved("all".to_owned())));
    let wrong = report(&proved.replace(&quoted(&chosen[1]), &quoted(&chosen[0])), &fates);
    assert!(!wrong.is_as_listed() && wrong.to_string().contains("explained mutants, but killed"), "{wrong}");
    let stale = report("[open]\nmutants = [\"atoms_alu.sv: gone\"]\n", &fates);
    assert!(stale.to_string().contains("mutants, but no such mutant exists: atoms_alu.sv: gone"), "{stale}");
}

/// A mutant without a switch needs a build. A shortened loop is killed, and text that the tools reject is a
/// build error.
#[test]
#[ignore = "nightly: a build of a mutant"]
fn what_is_elaborated_is_altered_by_a_build() {
    let rtl = rtl_dir();
    let schemata = tiny();
    let chosen = [named(&every(&schemata), "atoms_alu.sv: `NumBanks` one smaller, in: for")];
    assert_eq!(chosen[0].switch, None);
    let stages = [Stage { name: "short".to_owned(), episodes: vec![episode(500)] }];
    let how = EvaluationSettings {
        rtl_dir: &rtl,
        judge: JudgedBy::Model,
        stages: &stages,
        threads: 1,
        every_stage: false,
    };
    let (fates, tallies) =
        evaluate_built(how, &chosen, &mut |_| {}, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((tallies.len(), tallies[0].before, tallies[0].killed), (1, 1, 1));
    let check = fates[0].kill.as_ref().map(|kill| kill.check);
    assert!(matches!(check, Some(KillCheck::Output | KillCheck::Probe)), "{fates:?}");
    let no_rtl =
        schemata.bench_with(&rtl, "atoms_alu.sv", "module atoms_alu;").expect_err("it ends too soon");
    assert!(matches!(no_rtl, SchemataBuildError::Build(_)), "{no_rtl}");
}

/// The oracle alone notices a wrong word, and a unit that never answers.
#[test]
fn the_oracle_judges_without_the_model() {
    let rtl = rtl_dir();
    let all = every(&tiny());
    let chosen = [
        named(&all, "atoms_alu.sv: `$signed(b[i]) > $signed(old[i])` with `<` as its operator"),
        named(&all, "atoms_collect.sv: `rsp_valid_q` inverted, in: assign rsp_valid_o"),
        named(&all, "atoms_alu.sv: `$signed(b[i]) < $signed(old[i])` with `<=` as its operator"),
    ];
    let stages = [Stage { name: "short".to_owned(), episodes: vec![episode(500)] }];
    let how = EvaluationSettings {
        rtl_dir: &rtl,
        judge: JudgedBy::Oracle,
        stages: &stages,
        threads: 1,
        every_stage: false,
    };
    let (fates, _) =
        evaluate(how, &chosen, &mut |_| {}, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let checks: Vec<_> = fates.iter().map(|fate| fate.kill.as_ref().map(|kill| kill.check)).collect();
    assert_eq!(checks, [Some(KillCheck::Oracle), Some(KillCheck::Oracle), None]);
}

/// The oracle alone notices planted defects, including a wait that overflows 16 bits, and reports nothing
/// without a defect.
#[test]
#[ignore = "nightly: builds of defects"]
fn planted_defects_are_noticed_by_the_oracle() {
    let rtl = rtl_dir();
    let list = Explained::read(&rtl.join("formal/common.toml")).unwrap_or_else(|error| panic!("{error}"));
    let named = |about: &str| {
        let found = list.defects.iter().find(|defect| defect.about == about);
        found.unwrap_or_else(|| panic!("no defect `{about}`: choose another one")).clone()
    };
    let mut none = named("a limit is at most 65,535");
    none.with.clone_from(&none.text);
    let chosen = [named("a limit ends one cycle late"), named("a limit is at most 65,535"), none];
    let stages = [Stage { name: "short".to_owned(), episodes: vec![episode(500)] }];
    let how = EvaluationSettings {
        rtl_dir: &rtl,
        judge: JudgedBy::Oracle,
        stages: &stages,
        threads: 1,
        every_stage: false,
    };
    let (fates, _) =
        evaluate_planted(how, &chosen, &mut |_| {}, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let checks: Vec<_> = fates.iter().map(|fate| fate.kill.as_ref().map(|kill| kill.check)).collect();
    assert_eq!(checks, [Some(KillCheck::Oracle), Some(KillCheck::Oracle), None]);
}

#[test]
fn a_list_that_says_two_things_is_refused() {
    let folder = folder("twice");
    let path = folder.join("list.toml");
    for (text, says) in [
        ("[open]\nmutants = [\"a\", \"a\"]\n", "explains `a` twice"),
        ("[[argued]]\nmutants = [\"a\"]\n", "missing field `reason`"),
        ("[closed]\n", "unknown field `closed`"),
    ] {
        fs::write(&path, text).expect("written");
        let error = Explained::read(&path).expect_err("refused").to_string();
        assert!(error.contains(says) && error.contains("list.toml"), "{error}");
    }
    fs::remove_dir_all(folder).expect("removed");
}
