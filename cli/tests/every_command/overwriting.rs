//! Outputs that would overwrite an input or each other are refused before anything runs.

use std::fs;
use std::os::unix::fs::symlink;

use super::{atoms, commands, folder, words};

/// Output of a command to a file or folder that the user names, with arguments that allow the output.
struct Output {
    command: &'static str,
    option: &'static str,
    /// Text before the path in the same argument, such as `out=`.
    prefix: &'static str,
    arguments: &'static [&'static str],
    /// Files that the command reads with these arguments.
    inputs: &'static [&'static str],
}

const RUN: &[&str] = &["kernel.ptx", "--launch", "launch.toml", "--on", "model"];
const RUN_INPUTS: &[&str] = &["kernel.ptx", "launch.toml", "values.bin", "expected.bin", "rtl"];
const COSIM: &[&str] = &["--on", "model", "--requests", "100", "--profile", "profile.toml"];
const WAVE: &[&str] = &["wave.vcd"];
const CASE: &[&str] = &["--case", "case.json"];

#[rustfmt::skip]
const OUTPUTS: &[Output] = &[
    Output { command: "run",     option: "--trace",  prefix: "",     arguments: RUN,   inputs: RUN_INPUTS },
    Output { command: "run",     option: "--record", prefix: "",     arguments: RUN,   inputs: RUN_INPUTS },
    Output { command: "run",     option: "--dump",   prefix: "out=", arguments: RUN,   inputs: RUN_INPUTS },
    Output { command: "run",     option: "--page",   prefix: "",     arguments: RUN,   inputs: RUN_INPUTS },
    Output { command: "run",     option: "--sarif",  prefix: "",     arguments: RUN,   inputs: RUN_INPUTS },
    Output { command: "cosim",   option: "--trace",  prefix: "",     arguments: COSIM, inputs: &["profile.toml", "rtl"] },
    Output { command: "cosim",   option: "--record", prefix: "",     arguments: COSIM, inputs: &["profile.toml", "rtl"] },
    Output { command: "cosim",   option: "--trace",  prefix: "",     arguments: CASE,  inputs: &["case.json", "rtl"] },
    Output { command: "cosim",   option: "--record", prefix: "",     arguments: CASE,  inputs: &["case.json", "rtl"] },
    Output { command: "check",   option: "--trace",  prefix: "",     arguments: &["accepted.jsonl"], inputs: &["accepted.jsonl", "rtl"] },
    Output { command: "rtl package", option: "--output", prefix: "", arguments: &["tiny", "--prefix", "left_"], inputs: &["rtl"] },
    Output { command: "repro",   option: "--trace",  prefix: "",     arguments: &["bundle"], inputs: &["bundle", "rtl"] },
    Output { command: "wave at", option: "--output", prefix: "",     arguments: &["case.json", "--cycle", "4"], inputs: &["case.json", "rtl"] },
    Output { command: "wave at", option: "--output", prefix: "",     arguments: &["--cycle", "4", "--profile", "profile.toml"], inputs: &["profile.toml", "rtl"] },
    Output { command: "cover",   option: "--lcov",   prefix: "",     arguments: &["done"], inputs: &["done", "rtl"] },
    Output { command: "cover",   option: "--yaml",   prefix: "",     arguments: &["done"], inputs: &["done", "rtl"] },
    Output { command: "mutate",  option: "--survivors", prefix: "",  arguments: &["--stages", "1"], inputs: &["rtl"] },
    Output { command: "wave show", option: "--svg",      prefix: "", arguments: WAVE, inputs: &["wave.vcd"] },
    Output { command: "wave show", option: "--wavedrom", prefix: "", arguments: WAVE, inputs: &["wave.vcd"] },
    Output { command: "wave page",   option: "--output",   prefix: "", arguments: WAVE, inputs: WAVE },
    Output { command: "wave export", option: "--perfetto", prefix: "", arguments: WAVE, inputs: WAVE },
    Output { command: "wave export", option: "--konata",   prefix: "", arguments: WAVE, inputs: WAVE },
    Output { command: "wave export", option: "--surfer",   prefix: "", arguments: WAVE, inputs: WAVE },
    Output { command: "explore calibrate", option: "--output", prefix: "", arguments: &["measured.csv"], inputs: &["measured.csv", "rtl"] },
    Output { command: "explore sweep", option: "--output", prefix: "", arguments: &["run/sweep.toml"], inputs: &["run", "rtl"] },
    Output { command: "regress", option: "--output",    prefix: "",     arguments: &["run/plan.toml", "--force"], inputs: &["run", "rtl"] },
];

/// Options that name an input file or folder.
const READ: &[(&str, &str)] = &[
    ("run", "launch"),
    ("cosim", "profile"),
    ("cosim", "case"),
    ("cosim", "unit"),
    ("regress", "unit"),
    ("explore run", "launch"),
    ("explore run", "gpu"),
    ("mutate", "corpus"),
    ("mutate", "explained"),
    ("bench", "kernel"),
    ("bench", "launch"),
    ("bench", "compare"),
    ("explore cost", "liberty"),
    ("explore cost", "source"),
    ("explore cost", "table"),
    ("wave page", "kernel"),
    ("wave at", "profile"),
    ("wave cause", "case"),
    ("wave cause", "profile"),
];

/// Hidden options that only `atoms` itself passes to its processes, with folders that `atoms` created.
const INNER: &[(&str, &str)] = &[("repro", "in-this-process")];

#[test]
fn every_option_with_a_file_is_known() {
    for (name, definition) in commands() {
        for option in definition.get_arguments() {
            let values = option.get_value_names().unwrap_or_default().concat();
            let Some(long) =
                option.get_long().filter(|_| values.contains("FILE") || values.contains("FOLDER"))
            else {
                continue;
            };
            if INNER.contains(&(name.as_str(), long)) {
                assert!(option.is_hide_set(), "{name} --{long} is not for people");
                continue;
            }
            let written = OUTPUTS.iter().any(|o| o.command == name && o.option == format!("--{long}"));
            let read = READ.contains(&(name.as_str(), long));
            assert!(written != read, "{name} --{long}: is it read or written? give it a row");
        }
    }
}

fn place(name: &str) -> std::path::PathBuf {
    let place = folder().join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(place.join("run")).expect("a folder");
    fs::create_dir_all(place.join("rtl")).expect("a folder");
    for entry in fs::read_dir(atoms_cosim::embedded::rtl_dir()).expect("the RTL").flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), place.join("rtl").join(entry.file_name())).expect("a copy");
        }
    }
    fs::copy(folder().join("racy.ptx"), place.join("kernel.ptx")).expect("a copy");
    let launch = "kernel = \"racy\"\ngrid = 2\nblock = 64\nshared = 4\n[[param]]\nname = \"out\"\ntype = \"u32\"\n\
                  file = \"values.bin\"\nexpect = { file = \"expected.bin\" }\n";
    fs::write(place.join("launch.toml"), launch).expect("written");
    fs::write(place.join("values.bin"), [0; 4]).expect("written");
    fs::write(place.join("expected.bin"), [128, 0, 0, 0]).expect("written");
    for name in ["accepted.jsonl", "first_wave.vcd"] {
        fs::copy(folder().join(name), place.join(name)).expect("a copy");
    }
    fs::write(place.join("profile.toml"), "repeat = 0.5\n").expect("written");
    let case =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("tests/vectors/first_wave.json");
    fs::copy(case, place.join("case.json")).expect("a copy");
    fs::copy(folder().join("plan.toml"), place.join("run/plan.toml")).expect("a copy");
    fs::copy(folder().join("sweep.toml"), place.join("run/sweep.toml")).expect("a copy");
    fs::copy(folder().join("first_wave.vcd"), place.join("wave.vcd")).expect("a copy");
    fs::write(place.join("cells.toml"), "").expect("written");
    fs::write(place.join("measured.csv"), "workload,metric,value\n").expect("written");
    fs::write(place.join("wave.gtkw"), "@28\natoms.clk\n").expect("written");
    for name in ["bundle", "done"] {
        symlink(folder().join(name), place.join(name)).expect("a link");
    }
    place
}

fn content(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.file_type().expect("a type") {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => found.push((entry.path(), fs::read(entry.path()).expect("a file"))),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

#[track_caller]
fn refused(place: &std::path::Path, command: &str, arguments: &[String], told: &[&str]) {
    let before = content(place);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut atoms = atoms(command, &arguments);
    let output = atoms.current_dir(place).env("ATOMS_RTL", place.join("rtl")).output().expect("atoms starts");
    let text = words(&output);
    assert_eq!(output.status.code(), Some(2), "{command} {arguments:?}: {text}");
    for told in told.iter().chain(&[" would overwrite "]) {
        assert!(text.contains(told), "`{told}`: {command} {arguments:?}: {text}");
    }
    assert!(output.stdout.is_empty(), "{command} {arguments:?}: {text}");
    assert!(content(place) == before, "{command} {arguments:?} changed a file");
}

#[test]
fn no_output_overwrites_an_input() {
    let place = place("inputs");
    for Output { command, option, prefix, arguments, inputs } in OUTPUTS {
        for input in *inputs {
            let is_folder = place.join(input).is_dir();
            let mut paths = vec![input.to_string(), format!("./run/../{input}")];
            if is_folder {
                // Paths in the folder: an existing file and a new one.
                let file =
                    fs::read_dir(place.join(input)).expect("a folder").flatten().map(|entry| entry.path());
                let file = file.filter(|path| path.is_file()).min().expect("a file");
                let name = file.file_name().expect("a name").to_string_lossy().into_owned();
                paths = if *option == "--output" { paths } else { Vec::new() };
                paths.push(format!("{input}/{name}"));
                paths.push(format!("{input}/new"));
            } else {
                let _ = fs::remove_file(place.join("soft"));
                let _ = fs::remove_file(place.join("hard"));
                symlink(input, place.join("soft")).expect("a link");
                fs::hard_link(place.join(input), place.join("hard")).expect("a link");
                paths.extend(["soft".to_string(), "hard".to_string()]);
            }
            // An output folder is replaced as a whole, so files in it are not outputs.
            paths.retain(|path| *option != "--output" || path == input || path.starts_with("./"));
            for path in paths {
                let mut line: Vec<_> = arguments.iter().map(ToString::to_string).collect();
                line.extend([option.to_string(), format!("{prefix}{path}")]);
                refused(&place, command, &line, &[option]);
            }
        }
    }
    // The save file of a wave must not overwrite an input of the same name.
    fs::rename(place.join("launch.toml"), place.join("launch.gtkw")).expect("it can be moved");
    let line = ["kernel.ptx", "--launch", "launch.gtkw", "--on", "model", "--trace", "launch.vcd"];
    refused(
        &place,
        "run",
        &line.map(String::from),
        &["the GTKWave save file of --trace `launch.gtkw`", "the launch file"],
    );
}

#[test]
fn no_output_overwrites_another() {
    let place = place("outputs");
    symlink("nothing/yet.bin", place.join("dangling")).expect("a link");
    fs::create_dir(place.join("nothing")).expect("a folder");
    for one in OUTPUTS {
        let others = OUTPUTS.iter().filter(|other| {
            (other.command, other.arguments) == (one.command, one.arguments) && other.option != one.option
        });
        for other in others {
            for (a, b) in [("same.bin", "./run/../same.bin"), ("dangling", "nothing/yet.bin")] {
                let mut line: Vec<_> = one.arguments.iter().map(ToString::to_string).collect();
                line.extend([one.option.to_string(), format!("{}{a}", one.prefix)]);
                line.extend([other.option.to_string(), format!("{}{b}", other.prefix)]);
                refused(&place, one.command, &line, &[one.option, other.option]);
            }
        }
        if one.option == "--trace" {
            let mut line: Vec<_> = one.arguments.iter().map(ToString::to_string).collect();
            line.extend(["--trace".to_string(), "wave.gtkw".to_string()]);
            refused(&place, one.command, &line, &["the GTKWave save file of --trace", "--trace `wave.gtkw`"]);
        }
    }
    let twice = [RUN, &["--dump", "out=a.bin", "--dump", "out=a.bin"]].concat();
    refused(&place, "run", &twice.into_iter().map(String::from).collect::<Vec<_>>(), &["--dump out"]);
    // The files of a possible failure must not be overwritten.
    let target = super::target();
    let wave = target.join("failures/default-7.vcd").display().to_string();
    refused(
        &place,
        "cosim",
        &["--seed", "7", "--record", &wave].map(String::from),
        &["--record", "of a failure"],
    );
}

/// Devices and pipes are allowed several times, because they have no content to lose.
#[test]
fn devices_are_no_files() {
    let place = place("devices");
    let line = [RUN, &["--record", "/dev/null", "--dump", "out=/dev/null"]].concat();
    let output = atoms("run", &line).current_dir(place).output().expect("atoms starts");
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
}
