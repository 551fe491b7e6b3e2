//! Help, completions and manual pages, which are generated from the command definitions.

use std::process::{Command, Stdio};

use clap::ValueEnum as _;

use super::{atoms, commands, folder, words};

fn names() -> Vec<(String, Vec<String>)> {
    let shown = commands()
        .into_iter()
        .filter(|(name, _)| !["regress shard", "regress worker"].contains(&name.as_str()));
    let options = |definition: &clap::Command| {
        let shown = definition.get_arguments().filter(|arg| !arg.is_hide_set());
        shown.filter_map(|arg| arg.get_long().map(|long| format!("--{long}"))).collect()
    };
    shown.map(|(name, definition)| (name, options(&definition))).collect()
}

fn text(command: &str, arguments: &[&str]) -> String {
    let output = atoms(command, arguments).output().expect("atoms starts");
    assert_eq!(output.status.code(), Some(0), "{command} {arguments:?}: {}", words(&output));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn completions_know_every_command() {
    for shell in clap_complete::Shell::value_variants() {
        let name = shell.to_string();
        let completions = text("completions", &[&name]);
        for (command, _) in names() {
            for word in command.split_whitespace() {
                assert!(completions.contains(word), "{name}: no {word} of {command}");
            }
        }
        if *shell == clap_complete::Shell::Bash {
            let path = folder().join("atoms.bash");
            std::fs::write(&path, &completions).expect("written");
            let bash =
                Command::new("bash").arg("-n").arg(&path).stdin(Stdio::null()).output().expect("bash starts");
            assert!(bash.status.success() && bash.stderr.is_empty(), "{}", words(&bash));
            for (command, options) in names() {
                for option in options {
                    assert!(completions.contains(&option), "no {option} of {command}");
                }
            }
        }
    }
    let output = atoms("completions", &["csh"]).output().expect("atoms starts");
    assert!(output.status.code() == Some(2) && words(&output).contains("bash"), "{}", words(&output));
}

#[test]
fn manual_pages_know_every_command_and_option() {
    let page = text("man", &[]);
    assert!(page.contains(".TH atoms 1") && page.contains("130"), "{page}");
    text("man", &["pages/man1"]);
    for (command, options) in names() {
        let file = ["atoms"].into_iter().chain(command.split_whitespace()).collect::<Vec<_>>().join("-");
        let path = folder().join("pages/man1").join(format!("{file}.1"));
        let page =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for option in options {
            let option = option.replace('-', "\\-");
            assert!(page.contains(&option), "{command}: no {option}: {page}");
        }
    }
}

#[test]
fn help_says_what_is_asked_of_it() {
    let help = text("", &["--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("0 no mismatch, 1 mismatch or failure, 2 could not run, 130 interrupted"),
        "{help}"
    );
    assert_eq!(text("", &["--version"]).trim(), format!("atoms {}", env!("CARGO_PKG_VERSION")));
    let cosim = text("cosim", &["--help"]);
    for key in atoms_stimulus::Profile::keys() {
        let (_, name) = key.name.rsplit_once('.').unwrap_or(("", &key.name));
        assert!(cosim.split([' ', ',', '.', '\n']).any(|word| word == name), "no {}: {cosim}", key.name);
    }
    for (command, _) in commands() {
        let text = text(&command, &["--help"]);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
    }
}
