//! Files with findings: `atoms run --sarif` and `--page`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("findings").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Runs a kernel of `cli/tests`, after changes to its text. Returns exit status, SARIF log and page.
fn run(here: &Path, kernel: &str, changes: &[[&str; 2]], options: &[&str]) -> (Option<i32>, Value, String) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let ptx = fs::read_to_string(tests.join(format!("{kernel}.ptx"))).expect("a kernel");
    let change = |text: String, [from, to]: &[&str; 2]| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    fs::write(here.join("k 1.ptx"), changes.iter().fold(ptx, change)).expect("writes");
    let launch = kernel.trim_end_matches("_cycle");
    fs::copy(tests.join(format!("{launch}.toml")), here.join("k.toml")).expect("a launch file");
    let words = ["run", "k 1.ptx", "--launch", "k.toml", "--on", "model", "--sarif", "k.sarif"];
    let output =
        Command::new(env!("CARGO_BIN_EXE_atoms")).current_dir(here).args(words).args(options).output();
    let output = output.expect("atoms starts");
    let read = |name: &str| fs::read_to_string(here.join(name)).unwrap_or_default();
    let sarif = serde_json::from_str(&read("k.sarif")).unwrap_or_else(|_| panic!("{output:?}"));
    (output.status.code(), sarif, read("k.html"))
}

fn line(location: &Value) -> (&str, u64) {
    let place = &location["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().expect("an address");
    (uri, place["region"]["startLine"].as_u64().expect("a line"))
}

const PAGE: [&str; 4] = ["--check", "all", "--page", "k.html"];

#[test]
fn both_accesses_of_a_race_are_shown() {
    let (status, sarif, page) = run(&folder("race"), "cmd/proxy", &[], &PAGE);
    assert_eq!(status, Some(1));
    assert_eq!(sarif["version"], "2.1.0");
    let found = &sarif["runs"][0];
    assert_eq!(found["tool"]["driver"]["rules"][0]["id"], "race/proxy");
    let [result] = found["results"].as_array().expect("results").as_slice() else { panic!("{found}") };
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("race/proxy"), &json!("error")));
    assert_eq!(line(&result["locations"][0]), ("k%201.ptx", 16));
    assert_eq!(line(&result["relatedLocations"][0]), ("k%201.ptx", 20));
    let text = result["message"]["text"].as_str().expect("a message");
    assert!(
        text.starts_with("no proxy fence between a write and a bulk copy")
            && text.contains("put fence.proxy.async")
    );
    let marked: Vec<&str> =
        page.split("<span class=\"here\">").skip(1).filter_map(|part| part.split("</span>").next()).collect();
    let [store, copy] = marked.as_slice() else { panic!("{marked:?}") };
    assert!(
        store.contains("   16      st.shared.u32 [%r4], %r5;")
            && copy.contains("   20      cp.async.bulk.global")
    );
    let timeline = page.split("class=\"timeline\"").nth(1).expect("a timeline");
    let at = |text: &str| timeline.find(text).unwrap_or_else(|| panic!("{text}: {timeline}"));
    assert!(at("plain write: st.shared.u32") < at("bar.sync 0"));
    assert!(at("bar.sync 0") < at("plain read by a copy: cp.async.bulk"));
    assert!(at("cp.async.bulk.global.shared::cta.bulk_group [%rd], [%r2], 256, lane 0") < at("plain read"));
}

#[test]
fn lines_of_cuda_come_first() {
    let here = folder("cuda");
    let changes = [
        ["    st.shared", ".loc 1 2 5\nst.shared"],
        ["    bar.sync", ".loc 1 7 5\nbar.sync"],
        ["DONE:", ".file 1 \"/elsewhere/k.cu\"\nDONE:"],
    ];
    fs::write(here.join("k.cu"), "first\n<second>\nthird\n").expect("writes");
    let (_, sarif, page) = run(&here, "cmd/proxy", &changes, &PAGE);
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(line(&result["locations"][0]), ("file:///elsewhere/k.cu", 2));
    assert_eq!(line(&result["relatedLocations"][0]), ("k%201.ptx", 17));
    assert!(page.contains("<span class=\"here\">    2  &lt;second&gt;\n</span>"), "{page}");
    fs::rename(here.join("k.cu"), here.join("other.cu")).expect("renames");
    let (_, _, page) = run(&here, "cmd/proxy", &changes, &PAGE);
    assert!(page.contains("k.cu:2") && !page.contains("second"), "only files beside the kernel are read");
}

#[test]
fn hangs_and_undefined_uses_are_findings() {
    let (status, sarif, page) = run(&folder("hang"), "cmd/deadlock_cycle", &[], &["--page", "k.html"]);
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((status, &result["ruleId"], &result["level"]), (Some(1), &json!("livelock"), &json!("error")));
    assert!(result["message"]["text"].as_str().is_some_and(|text| text.contains("cycle of waits")));
    assert!(page.contains("cycle of waits") && page.contains("<span class=\"here\">"), "{page}");
    let clean = [["    bar.sync 0;", "    fence.proxy.async.shared::cta;\n    bar.sync 0;"]];
    let (status, sarif, page) = run(&folder("clean"), "cmd/proxy", &clean, &PAGE);
    assert_eq!((status, &sarif["runs"][0]["results"]), (Some(0), &json!([])));
    assert!(page.contains("No finding."));
}

#[test]
fn findings_of_other_orders_are_written() {
    let (status, sarif, _) = run(&folder("orders"), "orders/no_barrier", &[], &["--orders", "50"]);
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!((status, results.len()), (Some(1), 1));
    assert_eq!(results[0]["ruleId"], "wrong-result");
    assert!(results[0]["message"]["text"].as_str().is_some_and(|text| text.contains("out[0]: expected 7")));
}
