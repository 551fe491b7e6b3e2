//! Lists of mutants in the oracle and the model that no test detects. Each entry names an existing line.

use atoms_host::root;

const CRATES: [&str; 3] = ["oracle", "oracle/record", "model"];

/// Number of compared characters of a line. A key only contains the start of a long line.
const COMPARED: usize = 60;

#[derive(serde::Deserialize)]
struct MutantList {
    missed: Vec<MissedMutants>,
}

#[derive(serde::Deserialize)]
struct MissedMutants {
    mutants: Vec<String>,
}

/// Returns file and line of a key such as `alu.rs: replace | with ^ in alu, in: old | new #2`.
fn place(key: &str) -> (&str, &str) {
    let (file, rest) = key.split_once(": ").unwrap_or_else(|| panic!("`{key}` names no file"));
    let (_, line) = rest.split_once(", in: ").unwrap_or_else(|| panic!("`{key}` names no line"));
    let numbered = line.rsplit_once(" #").filter(|(_, number)| number.parse::<u32>().is_ok());
    (file, numbered.map_or(line, |(line, _)| line))
}

#[test]
fn listed_mutants_name_lines_that_exist() {
    for folder in CRATES {
        let list = root().join(folder).join("mutants.toml");
        let text = std::fs::read_to_string(&list).unwrap_or_else(|e| panic!("{}: {e}", list.display()));
        let list: MutantList = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", list.display()));
        for key in list.missed.iter().flat_map(|missed| &missed.mutants) {
            let (file, line) = place(key);
            let path = root().join(folder).join("src").join(file);
            let source = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let start: String = line.chars().take(COMPARED).collect();
            let exists = source.lines().any(|line| line.trim().starts_with(&start));
            assert!(
                exists,
                "{folder}/mutants.toml: no line of {file} is `{line}`; `.ci/mutants {folder}` lists it anew"
            );
        }
    }
}
