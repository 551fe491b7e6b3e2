//! Programs that some tests need and a machine may lack: found, installed, or the test is skipped.
//!
//! A script in `.ci/` finds and installs each program, so this file lists no program names.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::root;

/// Programs that a script in `.ci/` installs.
///
/// `SCRIPT --find` prints the location of the programs, or fails. `SCRIPT` alone installs them first if
/// needed. Both have a time limit and explain a failure on stderr.
#[derive(Clone, Copy, Debug)]
pub struct Programs {
    pub what: &'static str,
    pub script: &'static str,
}

/// Chromium that runs without a display. [`Programs::find`] returns its path.
pub const BROWSER: Programs = Programs { what: "a Chromium", script: ".ci/browser" };

/// Slurm and munge. [`Programs::find`] returns a `PATH` that contains all their programs.
pub const SLURM: Programs = Programs { what: "Slurm", script: ".ci/slurm" };

/// OpenSTA and Debian's cell library. [`Programs::find`] returns its path.
pub const CELLS: Programs = Programs { what: "OpenSTA and cells of osu018", script: ".ci/cells" };

/// GTKWave, a virtual display and a screenshot program. [`Programs::find`] returns a `PATH`.
pub const GTKWAVE: Programs = Programs { what: "GTKWave and Xvfb", script: ".ci/gtkwave" };

impl Programs {
    /// Finds the programs, or installs them. Returns the output of the script. One test process installs, and
    /// the others wait. A failed attempt is not repeated in the same target folder.
    ///
    /// Returns None if the caller must skip its test. A message on stderr then names the missing program.
    ///
    /// # Panics
    /// `CI` is set and a program is missing. With `CI`, no test is skipped.
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
        // Writes to the handle because the test harness shows `eprintln!` only for failed tests.
        let _ = std::io::stderr().write_all(format!("skipped {text}\n").as_bytes());
        None
    }
}

/// Returns the folder for failed attempts and files of programs, next to the folder of the test binary.
pub(crate) fn memory() -> PathBuf {
    let program = std::env::current_exe().expect("Linux tells a process its program");
    program.ancestors().nth(2).expect("cargo puts tests two folders deep").join("programs")
}

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
        // Another process may have installed the programs since.
        return find().map_err(|_| before);
    }
    answer(&mut Command::new(script)).inspect_err(|reason| {
        let _ = fs::write(&failed, reason);
    })
}

/// Runs a command. Returns its trimmed output, or the last line of stderr if the command fails.
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

    /// Writes a script that appends its arguments to the file `calls` and then runs `body`.
    fn script(folder: &Path, body: &str) -> PathBuf {
        let script = folder.join("script");
        let text = format!("#!/bin/sh\ncd {}\necho \"call $*\" >> calls\n{body}\n", folder.display());
        // A separate process writes the file. Otherwise a process started by another test could inherit the
        // open file, and executing it would fail as busy.
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
        // A process that waited may run the script again, which then finds the programs.
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
