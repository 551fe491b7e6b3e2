//! Tests of plans: expansion into tests, and error messages.

use std::fs;
use std::path::{Path, PathBuf};

use atoms_cosim::embedded::rtl_dir;
use atoms_coverage::Model;
use atoms_coverage::corpus::Corpus;
use atoms_coverage::episode::Episode;
use atoms_regress::plan::{Job, Plan, PlanChoice, Tests};
use atoms_stimulus::Profile as Stimulus;
use bitvec::vec::BitVec;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("atoms-plan-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a scratch folder");
        Scratch(dir)
    }

    fn file(&self, name: &str, text: &str) -> &Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
        self
    }

    fn tests(&self, plan: &str, profile: Option<&str>) -> Result<Tests, String> {
        self.tests_in(plan, profile, &[])
    }

    /// Expands a plan with overriding configurations.
    fn tests_in(&self, plan: &str, profile: Option<&str>, configs: &[&str]) -> Result<Tests, String> {
        self.file("plan.toml", plan);
        let path = self.0.join("plan.toml");
        let (read, _) = Plan::read(&path).map_err(|error| self.words(&error))?;
        let configs = configs.iter().map(|name| name.to_string()).collect();
        let choice = PlanChoice { profile: profile.map(str::to_string), configs, ..PlanChoice::default() };
        Tests::of(&path, &read, &choice, &rtl_dir(), &Model::standard()).map_err(|error| self.words(&error))
    }

    /// Formats an error without the path of the folder.
    fn words(&self, error: &dyn std::error::Error) -> String {
        error.to_string().replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const TWO: &str = r#"
seed = 7
[profile.quick]
tags = ["quick"]
[profile.long]
requests = 1_000
[stimulus.waits]
[[random]]
name = "a"
tags = ["quick"]
configs = ["tiny", "small"]
series = 2
requests = 50
episodes = 2
[[random]]
name = "b"
stimulus = "waits"
requests = 10
weight = 3
"#;

fn corpus(config: &str) -> String {
    let model = Model::standard();
    let mut corpus = Corpus::new(model.bins());
    let episode =
        Episode { config: config.into(), profile: Stimulus::default(), seed: 1, requests: 1, towards: None };
    corpus.add(&episode, &BitVec::repeat(true, model.bins()), "by hand");
    corpus.write(&model)
}

fn names(tests: &Tests) -> Vec<String> {
    (0..).map_while(|index| tests.test(index)).map(|test| test.name).collect()
}

fn seed(tests: &Tests, index: u64) -> u64 {
    match tests.test(index).expect("it exists").job {
        Job::Series { seed, .. } => seed,
        job => panic!("a series, not {job:?}"),
    }
}

#[test]
fn a_profile_picks_entries_and_numbers_their_tests() {
    let scratch = Scratch::new("picks");
    let quick = scratch.tests(TWO, Some("quick")).expect("a good plan");
    assert_eq!(names(&quick), ["a/tiny/0", "a/tiny/1", "a/small/0", "a/small/1"]);
    assert_eq!(quick.count(), Some(4));
    assert_eq!(quick.configs.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["tiny", "small"]);
    let long = scratch.tests(TWO, Some("long")).expect("a good plan");
    // The fixed tests use 400 requests in `a` and 10 in `b`. The budget then adds rounds of three tests of
    // `b`.
    assert_eq!(long.count(), Some(5 + 59));
    let names = names(&long);
    assert_eq!(names[4..8], ["b/default/0", "b/default/1", "b/default/2", "b/default/3"]);
    assert_eq!(names.last().map(String::as_str), Some("b/default/59"));
    // A test has the same seed in both profiles, and all seeds differ.
    assert_eq!(seed(&quick, 3), seed(&long, 3));
    let mut seeds: Vec<_> = (0..64).map(|index| seed(&long, index)).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 64);
}

#[test]
fn another_seed_makes_other_stimulus() {
    let scratch = Scratch::new("seed");
    let one = scratch.tests(TWO, Some("quick")).expect("a good plan");
    let other = scratch.tests(&TWO.replace("seed = 7", "seed = 8"), Some("quick")).expect("a good plan");
    assert_ne!(seed(&one, 0), seed(&other, 0));
}

#[test]
fn files_are_found_by_pattern() {
    let scratch = Scratch::new("files");
    let case = r#"{"config": "small", "allocations": [], "warps": []}"#;
    scratch.file("cases/one.json", case).file("cases/two.json", case).file("cases/readme.txt", "");
    scratch.file("k.sm_80.sass", "").file("k.sm_80.ptx", "").file("k.launch.toml", "");
    let plan = "[[directed]]\nname = \"d\"\ncases = [\"cases/*.json\"]\n\
                [[kernels]]\nname = \"k\"\nlaunches = [\"*.launch.toml\"]\nconfigs = [\"default\", \"half\"]\n";
    let tests = scratch.tests(plan, None).expect("a good plan");
    let expected = [
        "d/small/one.json",
        "d/small/two.json",
        "k/default/k.sm_80.sass",
        "k/all_options/k.sm_80.sass",
        "k/default/k.sm_80.ptx",
        "k/all_options/k.sm_80.ptx",
    ];
    assert_eq!(names(&tests), expected);
}

/// A point is a configuration like any other, with one canonical name.
#[test]
fn a_plan_names_points() {
    let scratch = Scratch::new("points");
    scratch
        .file("one.json", r#"{"config": "small,rmw_latency=3,num_banks=8", "allocations": [], "warps": []}"#);
    scratch.file("corpus.json", &corpus("small,num_banks=8,rmw_latency=3"));
    let point = "small,num_banks=8,rmw_latency=3";
    let random = |configs: &str| format!("[[random]]\nname = \"r\"\nrequests = 10\nconfigs = [{configs}]\n");
    let plan = random("\"small, rmw_latency = 3\", \"tiny\"")
        + "[[directed]]\nname = \"d\"\ncases = [\"one.json\"]\n[[corpus]]\nname = \"c\"\nfile = \"corpus.json\"\n";
    let tests = scratch.tests(&plan, None).expect("a good plan");
    let of_point = [format!("d/{point}/one.json"), format!("c/{point}/0")];
    let expected = [&of_point[0], &of_point[1], "r/small,rmw_latency=3/0", "r/tiny/0"];
    assert_eq!(names(&tests), expected);
    let configs = tests.configs.iter().map(|config| config.name.as_str());
    assert_eq!(configs.collect::<Vec<_>>(), ["tiny", point, "small,rmw_latency=3"]);
    let twice = random("\"small\", \"small,num_banks=4\"");
    let error = scratch.tests(&twice, None).expect_err("it is `small`");
    assert!(error.contains("names `small,num_banks=4` twice"), "{error}");
    let impossible = random("\"small,num_lanes=8\"");
    let error = scratch.tests(&impossible, None).expect_err("spin_hold is 4");
    assert!(error.contains("random `r`") && error.contains("expected num_lanes, 8, or more"), "{error}");
}

/// Chosen configurations override those of the plan; cases and episodes of other configurations are skipped.
#[test]
fn configurations_are_chosen() {
    let scratch = Scratch::new("chosen");
    scratch.file("one.json", r#"{"config": "tiny", "allocations": [], "warps": []}"#);
    scratch.file("corpus.json", &corpus("small"));
    let files = "[[directed]]\nname = \"d\"\ncases = [\"one.json\"]\n\
                 [[corpus]]\nname = \"c\"\nfile = \"corpus.json\"\n";
    let plan = "[[random]]\nname = \"r\"\nrequests = 10\nconfigs = [\"*\"]\n".to_string() + files;
    let tests = scratch.tests_in(&plan, None, &["tiny,num_rows=4", "tiny"]).expect("a good plan");
    assert_eq!(names(&tests), ["d/tiny/one.json", "r/tiny,num_rows=4/0", "r/tiny/0"]);
    // Skipped episodes do not count as covered.
    assert!(tests.corpus.covered().not_any());
    let tests = scratch.tests_in(&plan, None, &["small"]).expect("a good plan");
    assert_eq!(names(&tests), ["c/small/0", "r/small/0"]);
    assert!(tests.corpus.covered().any());
    for (configs, said) in [
        (&["tiny", "tiny,num_rows=2"][..], "--config: `tiny,num_rows=2` is named twice"),
        (&["tine"], "no configuration `tine`"),
    ] {
        let error = scratch.tests_in(&plan, None, configs).expect_err("a bad choice");
        assert!(error.contains(said), "{error}");
    }
    let error = scratch.tests_in(files, None, &["all_options"]).expect_err("nothing is for it");
    assert!(error.contains("picks no tests"), "{error}");
}

/// Files of equal name in two folders become two tests.
#[test]
fn files_of_one_name_are_told_apart() {
    let scratch = Scratch::new("alike");
    let case = r#"{"config": "small", "allocations": [], "warps": []}"#;
    scratch.file("a/one.json", case).file("b/one.json", case);
    let plan = "[[directed]]\nname = \"d\"\ncases = [\"*/one.json\"]\n";
    assert_eq!(
        names(&scratch.tests(plan, None).expect("a good plan")),
        ["d/small/a/one.json", "d/small/b/one.json"]
    );
}

#[test]
fn a_budget_of_time_alone_goes_on_and_on() {
    let scratch = Scratch::new("wall");
    let plan = TWO.replace("requests = 1_000\n[stim", "wall = \"8h\"\n[stim");
    let tests = scratch.tests(&plan, Some("long")).expect("a good plan");
    assert_eq!(tests.count(), None);
    assert_eq!(tests.test(1_000_000).map(|test| test.name), Some("b/default/999996".to_string()));
}

#[test]
fn bad_plans_are_refused_with_what_would_work() {
    let scratch = Scratch::new("bad");
    scratch.file("x.launch.toml", "");
    scratch.file("tini.json", &corpus("tini"));
    let random = "[[random]]\nname = \"a\"\nrequests = 10\n";
    let rows: &[(String, Option<&str>, &[&str])] = &[
        (TWO.into(), Some("fast"), &["profile `fast`", "`long`, `quick`"]),
        (TWO.into(), None, &["--profile", "`long`, `quick`"]),
        (TWO.replace("\"tiny\"", "\"tine\""), Some("quick"), &["no configuration `tine`", "tiny"]),
        (
            TWO.replace("\"waits\"\n", "\"wait\"\n"),
            Some("long"),
            &["random `b`", "[stimulus.wait]", "`waits`"],
        ),
        (TWO.replace("[\"quick\"]\n[prof", "[\"quik\"]\n[prof"), Some("quick"), &["tag `quik`", "`quick`"]),
        (TWO.replace("requests = 1_000", "requests = 100"), Some("long"), &["100 requests", "410"]),
        (
            TWO.replace("requests = 1_000", "requests = 1_000\ntests = 9"),
            Some("long"),
            &["one of tests, requests"],
        ),
        (TWO.replace("requests = 1_000", "tests = 2"), Some("long"), &["2 tests", "are 5"]),
        (TWO.replace("requests = 1_000", "tests = 0"), Some("long"), &["budget of 0"]),
        (TWO.replace("weight = 3", ""), Some("long"), &["no random entry has a weight"]),
        (TWO.replace("requests = 1_000", "wall = \"8 parsecs\""), Some("long"), &["8 parsecs", "15min"]),
        (TWO.replace("requests = 1_000", "wall = \"0s\""), Some("long"), &["a time of zero"]),
        (TWO.replace("requests = 50", "requests = 0"), Some("quick"), &["random `a`", "at least 1"]),
        (TWO.replace("name = \"b\"", "name = \"a\""), Some("quick"), &["entry `a`", "another entry"]),
        (TWO.replace("name = \"b\"", "name = \"../b\""), Some("quick"), &["`../b`", "letters"]),
        (TWO.replace("series = 2", "serious = 2"), Some("quick"), &["serious", "series"]),
        (format!("{random}series = 0\n"), None, &["never runs"]),
        (format!("{random}episodes = 18446744073709551615\n"), None, &["plan.toml"]),
        (
            "[[directed]]\nname = \"d\"\ncases = [\"no/*.json\"]\n".into(),
            None,
            &["no file matches `no/*.json`"],
        ),
        ("[[kernels]]\nname = \"k\"\nlaunches = [\"plan.toml\"]\n".into(), None, &["KERNEL.launch.toml"]),
        (
            "[[kernels]]\nname = \"k\"\nlaunches = [\"x.launch.toml\"]\n".into(),
            None,
            &["x.launch.toml", "no listing"],
        ),
        ("[[corpus]]\nname = \"c\"\nfile = \"nothing.json\"\n".into(), None, &["corpus `c`", "nothing.json"]),
        (
            "[[corpus]]\nname = \"c\"\nfile = \"tini.json\"\n".into(),
            None,
            &["corpus `c`", "tini.json", "no configuration `tini`"],
        ),
        ("".into(), None, &["picks no tests"]),
        (format!("{random}series = 0\nweight = 1\n"), None, &["picks no tests", "a budget"]),
        (
            format!("{random}series = 9223372036854775807\n"),
            None,
            &["random `a`", "series of 92", "a budget"],
        ),
        (format!("{random}weight = 9223372036854775807\n"), None, &["random `a`", "a weight of 92"]),
        (
            TWO.replace("requests = 50\n", "requests = 4611686018427387903\n"),
            Some("long"),
            &["profile `long`", "exceeds 64 bits"],
        ),
        (format!("{random}configs = [\"tiny\", \"tiny\"]\n"), None, &["random `a`", "`tiny` twice"]),
        (format!("{random}configs = [\"*\", \"tini\"]\n"), None, &["random `a`", "remove the others"]),
        (format!("{random}configs = []\n"), None, &["random `a`", "names none"]),
        (
            "[[directed]]\nname = \"d\"\ncases = []\n".into(),
            None,
            &["directed `d`", "`cases` names no files"],
        ),
        (format!("{random}stimulus = {{ foo = 1 }}\n"), None, &["unknown field `foo`", "line 4"]),
        (format!("{random}stimulus = 3\n"), None, &["a name, or a table"]),
        (format!("[profile.p]\ntags = [\"x\"]\n{random}"), None, &["tag `x`", "nor any other"]),
        ("seed = ".into(), None, &["plan `plan.toml`", "line 1"]),
    ];
    for (plan, profile, words) in rows {
        let error = scratch.tests(plan, *profile).expect_err("a bad plan");
        for word in *words {
            assert!(error.contains(word), "`{word}` is missing in: {error}\nplan: {plan}");
        }
    }
}

#[test]
fn a_plan_that_is_not_there_is_named() {
    let error = Plan::read(Path::new("no/such/plan.toml")).expect_err("there is none");
    assert!(error.to_string().contains("no/such/plan.toml"), "{error}");
}
