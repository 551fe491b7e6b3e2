//! The cache: hits, damage, several builders at once.

mod dummy;

use atoms_verilated::{BuildError, Cache};
use dummy::{Bench, cycle, input};
use std::path::{Path, PathBuf};
use std::process::Command;

fn built(steps: &[String]) -> bool {
    steps.iter().any(|step| step.starts_with("built"))
}

fn is_loaded(library: &Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.contains(library.canonicalize().unwrap().to_str().unwrap())
}

#[test]
fn the_same_design_is_built_once() {
    let bench = Bench::new("once", "").with_own_cache();
    let (first, steps) = bench.build(&bench.spec());
    assert!(built(&steps), "{steps:?}");
    assert_eq!(steps[0], "verilating atoms_unit (fast)");
    let (second, steps) = bench.build(&bench.spec());
    assert_eq!(steps, [format!("rtl library {} is in the cache", &first.key()[..12])]);
    assert_eq!(first.key(), second.key());
    let left: Vec<String> = std::fs::read_dir(bench.env.cache_dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(left.is_empty(), "private folders are gone: {left:?}");
}

#[test]
fn a_damaged_entry_is_found_and_rebuilt() {
    // A cache of its own: the tests beside this one load the same library.
    let bench = Bench::new("damage", "").with_own_cache();
    let (library, _) = bench.build(&bench.spec());
    let path = library.path().to_path_buf();
    let rtl = library.instantiate().unwrap();
    drop(library);
    assert!(is_loaded(&path), "a model keeps its library");
    drop(rtl);
    assert!(!is_loaded(&path), "nothing keeps it afterwards");
    let mut content = std::fs::read(&path).unwrap();
    let middle = content.len() / 2;
    content[middle] ^= 0x10;
    std::fs::write(&path, content).unwrap();
    let (library, steps) = bench.build(&bench.spec());
    assert!(steps[0].starts_with("discarded damaged"), "{steps:?}");
    assert!(steps[0].ends_with("atoms.so has another content"), "{steps:?}");
    assert!(built(&steps));
    cycle(&mut library.instantiate().unwrap(), &input(0)).unwrap();
}

/// Not a test of its own: the process that `processes_build_at_the_same_time` starts.
#[test]
fn child_process() {
    let Some(dir) = std::env::var_os("ATOMS_TEST_CHILD").map(PathBuf::from) else { return };
    let mut bench = Bench::new("unused", "");
    bench.env.cache = Some(dir.join("cache"));
    let mut spec = bench.spec();
    spec.rtl_dir = dir;
    let (library, _) = bench.build(&spec);
    cycle(&mut library.instantiate().unwrap(), &input(0)).unwrap();
}

#[test]
fn processes_build_at_the_same_time() {
    let bench = Bench::new("processes", "").with_own_cache();
    let children: Vec<_> = (0..2)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "child_process"])
                .env("ATOMS_TEST_CHILD", bench.dir.path())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let (_, steps) = bench.build(&bench.spec());
    assert!(!built(&steps), "{steps:?}");
}

#[test]
fn threads_build_once() {
    let bench = Bench::new("threads", "");
    let spec = bench.spec();
    let fresh = spec.clone().verilator_arg(&format!("-DRUN_{}", std::process::id()));
    let builds: usize = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| usize::from(built(&bench.build(&fresh).1)))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(builds, 1);
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let mut bench = Bench::new("unwritable", "");
    let file = bench.dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    bench.env.cache = Some(file.join("cache"));
    let error = Cache::new(&bench.env).library(&bench.spec(), &bench.tools(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, BuildError::Cache { .. }), "{error}");
    assert!(error.to_string().contains("ATOMS_CACHE"), "{error}");
}
