//! The cache: hits, damage, several builders at once.

use crate::dummy;

use atoms_model::port::In;
use atoms_verilated::{BuildError, Cache, Compiler, Environment};
use dummy::{Bench, cycle, input, script};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn built(steps: &[String]) -> bool {
    steps.iter().any(|step| step.starts_with("built"))
}

fn is_loaded(library: &Path) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
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
    let left = private(&bench);
    assert!(left.is_empty(), "private folders are gone: {left:?}");
}

fn private(bench: &Bench) -> Vec<String> {
    let names = fs::read_dir(bench.env.cache_dir()).into_iter().flatten();
    names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.'))
        .collect()
}

#[test]
fn a_library_without_models_is_unloaded() {
    // The first library of a process stays loaded: the C++ runtime, never unloaded, uses its symbols.
    let first = Bench::new("unload-first", "");
    drop(first.build(&first.spec()).0.instantiate().unwrap());
    // Use another cache: parallel tests load the library of the shared one.
    let bench = Bench::new("copied", "").with_own_built_cache();
    let (library, _) = bench.build(&bench.spec());
    let path = library.path().to_path_buf();
    let mut rtl = library.instantiate().unwrap();
    drop(library);
    // Formatting a message creates the runtime's thread-local objects.
    cycle(&mut rtl, &In { req_op: dummy::PRINT, ..input(5) }).unwrap();
    assert!(is_loaded(&path), "a model keeps its library");
    drop(rtl);
    // Other systems may keep the library loaded; nothing depends on unloading.
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        assert!(!is_loaded(&path), "nothing keeps it afterwards");
    }
}

#[test]
fn a_damaged_entry_is_found_and_rebuilt() {
    let bench = Bench::new("copied", "").with_own_built_cache();
    let (library, _) = bench.build(&bench.spec());
    let path = library.path().to_path_buf();
    let mut rtl = library.instantiate().unwrap();
    let mut content = fs::read(&path).unwrap();
    let middle = content.len() / 2;
    content[middle] ^= 0x10;
    // Create a new file, since the old one is still mapped.
    fs::remove_file(&path).unwrap();
    fs::write(&path, content).unwrap();
    let (library, steps) = bench.build(&bench.spec());
    assert!(steps[0].starts_with("discarded damaged"), "{steps:?}");
    assert!(steps[0].ends_with("atoms.so has another content"), "{steps:?}");
    assert!(built(&steps));
    cycle(&mut library.instantiate().unwrap(), &input(0)).unwrap();
    cycle(&mut rtl, &input(0)).unwrap();
    assert_eq!(private(&bench), [""; 0]);
}

#[test]
fn what_the_loader_says_is_in_the_error() {
    let bench = Bench::new("loader", "").with_own_cache();
    let mut spec = bench.spec();
    // This compiler writes some text in place of the linked library.
    let compiler = bench.dir.path().join("c++");
    script(
        &compiler,
        "for last; do :; done\ncase \"$1\" in -shared) echo text > \"$last\";; *) exec g++ \"$@\";; esac",
    );
    let mut bench = bench;
    bench.env.cxx = Some(compiler.into());
    spec = spec.verilator_arg("-DLOADER");
    let error = Cache::new(&bench.env).library(&spec, &bench.tools(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("dlopen failed: ") && error.contains("too short"), "{error}");
}

/// Without a clang, uses a script that claims to be clang and rejects options unknown to clang.
#[test]
#[ignore = "nightly: builds with a second compiler"]
fn clang_builds_what_can_be_loaded() {
    let mut bench = Bench::new("clang", "").with_own_cache();
    let spec = bench.spec().verilator_arg("-DCLANG");
    let compiler = match bench.env.which(Path::new("clang++")) {
        Some(clang) => clang,
        None => {
            let stand_in = bench.dir.path().join("clang++");
            let body = "[ \"$1\" = --version ] && echo clang version 14.0.6 && exit\n\
                        case \" $* \" in *' -fno-gnu-unique '*) echo \"clang: error: unknown argument\" >&2; exit 1;; esac\n\
                        case \" $* \" in *' -shared '*' -latomic '*);; *' -shared '*) exit 1;; esac\nexec g++ \"$@\"";
            script(&stand_in, body);
            stand_in
        }
    };
    bench.env.cxx = Some(compiler.into());
    let library = Cache::new(&bench.env).library(&spec, &bench.tools(), &mut |_| {}).unwrap();
    cycle(&mut library.instantiate().unwrap(), &input(0)).unwrap();
}

#[test]
fn clang_is_taken_where_it_builds() {
    let bench = Bench::new("proof", "").with_own_cache();
    let bin = bench.dir.path().join("bin");
    let file = |name: &str| bench.dir.path().join(name);
    let (calls, missing) = (file("calls"), file("missing"));
    script(
        &bin.join("clang++"),
        &format!(
            "echo call >> {}\n[ \"$1\" = --version ] && echo clang version 14.0.6 && exit\n\
             [ -e {} ] && echo \"fatal error: 'atomic' file not found\" >&2 && exit 1\nexec g++ \"$@\"",
            calls.display(),
            missing.display()
        ),
    );
    let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&bench.env.path))).unwrap();
    let env = Environment { cxx: None, path, ..bench.env.clone() };
    let found = || Compiler::find(&env).unwrap().identity;
    let called = || fs::read_to_string(&calls).unwrap().lines().count();
    fs::write(&missing, "").unwrap();
    assert!(!found().contains("clang"), "without headers");
    fs::remove_file(&missing).unwrap();
    assert_eq!(found(), "clang version 14.0.6", "headers were installed");
    let before = called();
    assert_eq!((found().as_str(), called()), ("clang version 14.0.6", before), "it is known to build");
    let named = Environment { cxx: Some("g++".into()), ..env.clone() };
    assert!(!Compiler::find(&named).unwrap().identity.contains("clang"));
}

/// The process that other tests start. It is no test by itself.
#[test]
fn child_process() {
    let Some(dir) = std::env::var_os("ATOMS_TEST_CHILD").map(PathBuf::from) else { return };
    let mut bench = Bench::new("unused", "");
    bench.env = Environment::from_process();
    let mut spec = bench.spec();
    spec.rtl_dir = dir.clone();
    let (library, steps) = bench.build(&spec);
    cycle(&mut library.instantiate().unwrap(), &input(0)).unwrap();
    if built(&steps) {
        fs::write(dir.join(format!("built-{}", std::process::id())), "").unwrap();
    }
}

fn child(bench: &Bench, working: &Path, variables: &[(&str, &Path)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "cache::child_process"])
        .env("ATOMS_TEST_CHILD", bench.dir.path())
        .current_dir(working);
    command.envs(variables.iter().copied()).stdout(Stdio::null()).spawn().unwrap()
}

fn builds(bench: &Bench) -> usize {
    let names = fs::read_dir(bench.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("built-")).count()
}

#[test]
fn processes_share_one_build() {
    let bench = Bench::new("processes", "").with_own_cache();
    let cache = bench.env.cache_dir();
    let children: Vec<_> = (0..3)
        .map(|_| {
            child(&bench, Path::new("/"), &[("ATOMS_CACHE", &cache), ("CARGO_TARGET_DIR", &bench.env.store)])
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(builds(&bench), 1);
    let (_, steps) = bench.build(&bench.spec());
    assert!(!built(&steps), "{steps:?}");
    assert_eq!(private(&bench), [""; 0]);
}

#[test]
fn folders_may_be_relative() {
    let bench = Bench::new("relative", "").with_own_cache();
    let working = bench.dir.path().join("working");
    fs::create_dir_all(working.join("out")).unwrap();
    if let Ok(tools) = bench.env.toolchain_dir().canonicalize() {
        std::os::unix::fs::symlink(tools, working.join("out/toolchain")).unwrap();
    }
    fs::rename(bench.env.cache_dir(), working.join("out/rtl-cache")).unwrap();
    let status = child(&bench, &working, &[("CARGO_TARGET_DIR", Path::new("out"))]).wait().unwrap();
    assert!(status.success());
    assert_eq!(builds(&bench), 1);
}

fn wait_for(what: &str, happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "nightly: kills a build"]
fn a_killed_build_leaves_nothing() {
    let bench = Bench::new("killed", "").with_own_cache();
    let cache = bench.env.cache_dir();
    // This compiler never ends. It has a child, as a compiler driver does.
    let compiler = bench.dir.path().join("c++");
    let pids = bench.dir.path().join("pids");
    let body = format!(
        "[ \"$1\" = --version ] && echo endless && exit\n\
         sleep 1000 & echo $! $$ > {0}.$$; mv {0}.$$ {0}; wait",
        pids.display()
    );
    script(&compiler, &body);
    let variables =
        [("ATOMS_CACHE", cache.as_path()), ("CXX", &compiler), ("CARGO_TARGET_DIR", &bench.env.store)];
    let mut child = child(&bench, Path::new("/"), &variables);
    wait_for("the compiler starts", || pids.exists());
    assert!(private(&bench).iter().any(|name| name.starts_with(".build-")), "{:?}", private(&bench));
    child.kill().unwrap();
    child.wait().unwrap();
    let running = fs::read_to_string(&pids).unwrap();
    // A process that ended may stay as a zombie until its parent collects it.
    let alive = |pid: &str| {
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    wait_for("the compiler and its child end", || !running.split_whitespace().any(alive));
    let folders =
        || private(&bench).iter().any(|name| name.starts_with(".build-") && !name.ends_with(".lock"));
    wait_for("the folder is removed", || !folders());
    // The locks are free. The next build removes their files.
    bench.library();
    assert_eq!(private(&bench), [""; 0]);
}

#[test]
fn what_others_could_have_written_is_not_loaded() {
    let mut bench = Bench::new("copied", "").with_own_built_cache();
    let cache = bench.env.cache_dir();
    let (library, _) = bench.build(&bench.spec());
    let (file, entry) = (library.path().to_path_buf(), library.path().parent().unwrap().to_path_buf());
    drop(library);
    let ask = |bench: &Bench| Cache::new(&bench.env).library(&bench.spec(), &bench.tools(), &mut |_| {});
    for path in [&cache, &entry, &file] {
        let mode = fs::metadata(path).unwrap().permissions();
        fs::set_permissions(path, fs::Permissions::from_mode(mode.mode() | 0o002)).unwrap();
        let error = ask(&bench).unwrap_err().to_string();
        assert!(error.contains("other users may write to it") && error.contains("ATOMS_CACHE"), "{error}");
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        fs::set_permissions(path, mode).unwrap();
        // Only root can change the owner of a file.
        if chown(path, Some(65534), None).is_ok() {
            let error = ask(&bench).unwrap_err();
            assert!(matches!(error, BuildError::Foreign(..)));
            assert!(error.to_string().contains("belongs to uid 65534"), "{error}");
            chown(path, Some(0), None).unwrap();
        }
    }
    ask(&bench).unwrap();
    bench.env.store = bench.dir.path().join("store");
    bench.env.path = bench.dir.path().into();
    bench.env.verilator_root = None;
    fs::create_dir_all(bench.env.toolchain_dir()).unwrap();
    fs::set_permissions(bench.env.toolchain_dir(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = atoms_verilated::Verilator::find(&bench.env).unwrap_err().to_string();
    assert!(error.contains("other users may write to it") && error.contains("VERILATOR_ROOT"), "{error}");
}

#[test]
fn threads_build_once() {
    let bench = Bench::new("threads", "").with_own_cache();
    let fresh = bench.spec();
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
    fs::write(&file, "").unwrap();
    bench.env.cache = Some(file.join("cache"));
    let error = Cache::new(&bench.env).library(&bench.spec(), &bench.tools(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, BuildError::Cache(..)), "{error}");
    assert!(error.to_string().contains("ATOMS_CACHE"), "{error}");
}

#[test]
fn a_size_limit_that_is_none_is_named() {
    let mut bench = Bench::new("limit", "");
    bench.env.cache_mb = Some("2G".into());
    let error = Cache::new(&bench.env).library(&bench.spec(), &bench.tools(), &mut |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ATOMS_CACHE_MB is `2G`; expected the size limit of the cache in MB, such as 2000"
    );
}
