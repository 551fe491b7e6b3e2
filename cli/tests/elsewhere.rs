//! The binary outside its checkout: which RTL it uses, and where it puts files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use atoms_verilated::Environment;

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a checkout").to_path_buf()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("atoms-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for temporary files");
        Self(folder.canonicalize().expect("it is there"))
    }

    fn make(&self, name: &str) -> PathBuf {
        let folder = self.0.join(name);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    /// Links tools and libraries of this checkout into `store`, so that nothing is built twice.
    fn lend(&self, store: &str) -> PathBuf {
        let store = self.make(store);
        let env = Environment::from_process();
        fs::create_dir_all(env.cache_dir()).expect("a folder");
        symlink(env.cache_dir(), store.join("rtl-cache")).expect("a link");
        symlink(env.toolchain_dir(), store.join("toolchain")).expect("a link");
        store
    }

    /// Copies this checkout's RTL to a checkout in which `default` has another description.
    fn other_checkout(&self) -> PathBuf {
        let rtl = self.make("other/rtl");
        for entry in fs::read_dir(checkout().join("rtl")).expect("the RTL") {
            let path = entry.expect("it can be read").path();
            if path.is_file() {
                fs::copy(&path, rtl.join(path.file_name().expect("a name"))).expect("a copy");
            }
        }
        let configs = rtl.join("configs.toml");
        let text = fs::read_to_string(&configs).expect("it is there");
        let changed = text.replacen("about = \"", "about = \"of another checkout: ", 1);
        assert_ne!(changed, text);
        fs::write(configs, changed).expect("it can be written");
        self.lend("other/target");
        self.0.join("other")
    }

    fn atoms(&self, working: &Path, variables: &[(&str, &Path)], args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atoms"));
        for name in ["ATOMS_RTL", "ATOMS_CACHE", "CARGO_TARGET_DIR", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
        command.env("HOME", self.0.join("home")).envs(variables.iter().copied());
        command.args(args).current_dir(working).output().expect("atoms can be started")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn in_an_empty_folder_the_rtl_inside_the_binary_runs() {
    let folder = Folder::new("empty");
    let working = folder.make("working");
    folder.lend("home/.cache/atoms");
    let atoms = |args: &[&str]| text(&folder.atoms(&working, &[], args));
    assert_eq!(atoms(&["config", "list"]), text(&folder.atoms(&checkout(), &[], &["config", "list"])));
    let report = atoms(&["cosim", "--config", "small", "--requests", "100"]);
    assert!(report.contains("rtl        built in, hash "), "{report}");
    let kernels = checkout().join("tests/kernels");
    let file = |name: &str| kernels.join(name).display().to_string();
    let (kernel, launch) = (file("hist_u32.sm_90a.sass"), file("hist_u32.launch.toml"));
    let report = atoms(&["run", &kernel, "--launch", &launch]);
    assert!(report.contains("rtl        built in, hash "), "{report}");
    let json = atoms(&["cosim", "--config", "small", "--requests", "100", "--json"]);
    assert!(json.contains("\"rtl\":{\"folder\":null,\"hash\":\""), "{json}");
    let error = refusal(&folder.atoms(&working, &[], &["regress", "--smoke"]));
    assert!(error.contains("no plan: name one"), "{error}");
    assert_eq!(fs::read_dir(&working).expect("it is there").count(), 0, "nothing is left in the folder");
}

#[test]
fn the_checkout_around_the_working_folder_is_tested() {
    let folder = Folder::new("around");
    let other = folder.other_checkout();
    let below = folder.make("other/some/folder");
    let list = text(&folder.atoms(&below, &[], &["config", "list"]));
    assert!(list.contains("of another checkout: "), "{list}");
    let line = |variables: &[(&str, &Path)]| {
        let report =
            text(&folder.atoms(&below, variables, &["cosim", "--config", "small", "--requests", "10"]));
        let line = report.lines().find_map(|line| line.strip_prefix("  rtl        "));
        let (place, hash) = line.expect("the report names the RTL").split_once(", hash ").expect("a hash");
        (PathBuf::from(place), hash.to_string())
    };
    let (place, hash) = line(&[]);
    assert_eq!(place, other.join("rtl"));
    let named = checkout().join("rtl");
    let (place, hash_of_named) = line(&[("ATOMS_RTL", &named)]);
    assert_eq!(place, named);
    assert_ne!(hash, hash_of_named);
    assert_eq!(line(&[("ATOMS_RTL", Path::new("../../rtl"))]).1, hash, "as seen from the working folder");
}

#[test]
fn a_bad_configuration_refuses_only_what_uses_it() {
    let folder = Folder::new("bad-table");
    let other = folder.other_checkout();
    let configs = other.join("rtl/configs.toml");
    let text_of = fs::read_to_string(&configs).expect("it is there");
    fs::write(&configs, text_of + "\n[typo]\nnum_lane = 4\n").expect("it can be written");
    let list = text(&folder.atoms(&other, &[], &["config", "list"]));
    let line = list.lines().last().expect("a list");
    assert!(
        line.starts_with("typo ")
            && line.contains(" cannot be used: ")
            && line.contains("no parameter `num_lane`"),
        "{line}"
    );
    let json = text(&folder.atoms(&other, &[], &["config", "list", "--json"]));
    assert!(json.contains("\"name\":\"typo\"") && json.contains("\"error\":"), "{json}");
    text(&folder.atoms(&other, &[], &["config", "show", "all_options"]));
    text(&folder.atoms(&other, &[], &["cosim", "--on", "model", "--requests", "10"]));
    for args in [&["config", "show", "typo"][..], &["cosim", "--config", "typo"], &["rtl", "build"]] {
        let error = refusal(&folder.atoms(&other, &[], args));
        assert!(error.contains("configuration `typo`") && error.contains("num_lane"), "{args:?}: {error}");
    }
    let plan = other.join("plan.toml");
    let entry = |config: &str| {
        format!("[[random]]\nname = \"r\"\nconfigs = [\"{config}\"]\nseries = 1\nrequests = 10\n")
    };
    for (config, refused) in [("small", false), ("typo", true), ("*", true)] {
        fs::write(&plan, entry(config)).expect("it can be written");
        let listed = folder.atoms(&other, &[], &["regress", "plan.toml", "--list"]);
        match refused {
            false => drop(text(&listed)),
            true => assert!(refusal(&listed).contains("configuration `typo`"), "{config}"),
        }
    }
}

#[test]
fn the_cache_is_cleaned() {
    let folder = Folder::new("clean");
    let cache = folder.make("cache");
    let entry = |name: &str, days: u64| {
        let dir = cache.join(name);
        fs::create_dir(&dir).expect("a folder");
        fs::write(dir.join("atoms.so"), [0; 2_000_000]).expect("it can be written");
        fs::write(dir.join("manifest"), "").expect("it can be written");
        let used = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 24 * 60 * 60);
        let manifest = fs::File::options().write(true).open(dir.join("manifest")).expect("it is there");
        manifest.set_modified(used).expect("a time");
    };
    for (name, days) in [("old", 40), ("week", 8), ("new", 0)] {
        entry(name, days);
    }
    fs::create_dir(cache.join(".build-1-0")).expect("a folder");
    let clean = |more: &[&str]| {
        let args = [&["rtl", "clean"], more].concat();
        text(&folder.atoms(&folder.0, &[("ATOMS_CACHE", &cache)], &args))
    };
    assert!(clean(&[]).ends_with("  removed    1 entry, 2.0 MB\n  left       2 entries, 4.0 MB\n"));
    assert!(clean(&["--older", "7"]).contains("removed    1 entry"));
    let held = fs::File::open(cache.join("new/manifest")).expect("it is there");
    held.lock_shared().expect("a lock");
    assert!(clean(&["--all"]).contains("removed    0 entries, 0.0 MB, 1 kept because they are in use"));
    drop(held);
    assert!(clean(&["--all"]).contains("removed    1 entry"));
    assert_eq!(fs::read_dir(&cache).expect("it is there").count(), 0, "the killed build is gone too");
}
