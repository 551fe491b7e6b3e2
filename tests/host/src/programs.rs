//! Programs that some tests need and a machine may lack: found, installed, or the test is skipped.
//!
//! A script of `.ci/` finds each, and installs it where it may; there is no second list of names here.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::root;

/// Programs with a script of `.ci/` that installs them.
///
/// `SCRIPT --find` prints where they are, or fails; `SCRIPT` alone installs them first if need be. Either
/// explains a failure on stderr, and is bounded in time.
#[derive(Clone, Copy, Debug)]
pub struct Programs {
    /// What they are, for people.
    pub what: &'static str,
    /// The script, from the root of the checkout.
    pub script: &'static str,
}

/// A Chromium that runs without a display; [`Programs::find`] gives its path.
pub const BROWSER: Programs = Programs { what: "a Chromium", script: ".ci/browser" };

/// Slurm and munge; [`Programs::find`] gives a `PATH` on which all of their programs are.
pub const SLURM: Programs = Programs { what: "Slurm", script: ".ci/slurm" };

/// OpenSTA, and the cells of Debian; [`Programs::find`] gives its path.
pub const CELLS: Programs = Programs { what: "OpenSTA and cells of osu018", script: ".ci/cells" };

/// GTKWave, a display without a screen, and a program that takes pictures of it; [`Programs::find`] gives a `PATH` on which
/// they are.
pub const GTKWAVE: Programs = Programs { what: "GTKWave and Xvfb", script: ".ci/gtkwave" };

impl Programs {
    /// What the script prints of programs that are there, or were installed now: one test process installs,
    /// the others wait for it, and a failed attempt is not repeated in the same target folder.
    ///
    /// `None` when the calling test is to be skipped, which was then said on stderr.
    ///
    /// # Panics
    /// Instead of skipping, when `CI` is set.
    pub fn find(&self) -> Option<String> {
        let missing = match install(&root().join(self.script), &memory()) {
            Ok(answer) => return Some(answer),
            Err(missing) => missing,
        };
        let Programs { what, script } = self;
        let test = std::thread::current().name().unwrap_or("a test").to_string();
        let text = format!("{test}: needs {what}; install it with `{script}` as root: {missing}");
        assert!(
            std::env::var_os("CI").is_none(),
            "{text}; with CI set in the environment nothing is skipped"
        );
        // The handle, not `eprintln!`, which the test harness shows for failed tests only.
        let _ = std::io::stderr().write_all(format!("skipped {text}\n").as_bytes());
        None
    }
}

/// The folder in which attempts are remembered, and of what programs leave: beside the folder of the running test
/// binary.
pub(crate) fn memory() -> PathBuf {
    let program = std::env::current_exe().expect("Linux tells a process its program");
    program.ancestors().nth(2).expect("cargo puts tests two folders deep").join("programs")
}

/// What `script` prints once it has found its programs, or why it has not.
fn install(script: &Path, memory: &Path) -> Result<String, String> {
    let find = || answer(Command::new(script).arg("--find"));
    if let Ok(found) = find() {
        return Ok(found);
    }
    let name = script.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cannot = |error: std::io::Error| format!("{}: {error}", memory.display());
    fs::create_dir_all(memory).map_err(cannot)?;
    let lock = File::create(memory.join(format!("{name}.lock"))).map_err(cannot)?;
    lock.lock().map_err(cannot)?;
    let failed = memory.join(format!("{name}.failed"));
    if let Ok(before) = fs::read_to_string(&failed) {
        // They may have been installed since.
        return find().map_err(|_| before);
    }
    answer(&mut Command::new(script)).inspect_err(|reason| {
        let _ = fs::write(&failed, reason);
    })
}

/// What a command prints, without the end of the line, or the last line of what it says of its failure.
fn answer(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_string());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.trim_end().lines().next_back().unwrap_or("it says nothing").to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A script that appends its arguments to `calls` beside it, and what it printed.
    fn script(folder: &Path, body: &str) -> PathBuf {
        let script = folder.join("script");
        let text = format!("#!/bin/sh\ncd {}\necho \"call $*\" >> calls\n{body}\n", folder.display());
        // By a process of its own: one that another test starts meanwhile would keep it open, and busy.
        let write = "printf %s \"$1\" > \"$0\" && chmod +x \"$0\"";
        let written = Command::new("sh").args(["-c", write]).arg(&script).arg(text).status();
        assert!(written.expect("sh starts").success());
        script
    }

    fn calls(folder: &Path) -> Vec<String> {
        let text = fs::read_to_string(folder.join("calls")).unwrap_or_default();
        text.lines().map(|line| line.trim_end().to_string()).collect()
    }

    #[test]
    fn what_is_there_is_found_without_an_installation() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = script(folder.path(), "echo /usr/bin/it");
        assert_eq!(install(&script, &folder.path().join("memory")), Ok("/usr/bin/it".into()));
        assert_eq!(calls(folder.path()), ["call --find"]);
    }

    #[test]
    fn one_process_installs_and_the_others_wait_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let body = "if [ \"$1\" != --find ]; then sleep 0.2; touch there; fi; [ -e there ] && echo found";
        let (script, memory) = (script(folder.path(), body), folder.path().join("memory"));
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| install(&script, &memory))).collect();
            for thread in threads {
                assert_eq!(thread.join().expect("no panic"), Ok("found".into()));
            }
        });
        // A process that waited asks for an installation too, which finds that nothing is left to do.
        assert!(!memory.join("script.failed").exists());
    }

    #[test]
    fn a_failed_attempt_is_not_repeated_but_a_later_installation_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let body = "[ -e there ] && echo found && exit; echo 'first line\nno network' >&2; exit 1";
        let (script, memory) = (script(folder.path(), body), folder.path().join("memory"));
        for _ in 0..3 {
            assert_eq!(install(&script, &memory), Err("no network".into()));
        }
        let attempts = calls(folder.path()).iter().filter(|call| *call == "call").count();
        assert_eq!(attempts, 1, "{:?}", calls(folder.path()));
        fs::write(folder.path().join("there"), "").expect("it can be written");
        assert_eq!(install(&script, &memory), Ok("found".into()));
    }

    #[test]
    fn a_script_that_cannot_be_run_is_a_missing_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = install(&folder.path().join("nothing"), folder.path()).expect_err("there is none");
        assert!(error.contains("nothing: No such file"), "{error}");
    }

    #[test]
    fn the_scripts_are_there() {
        for programs in [BROWSER, CELLS, GTKWAVE, SLURM] {
            let script = root().join(programs.script);
            let mode = fs::metadata(&script).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o111, 0o111, "{} can be run", script.display());
        }
    }
}
