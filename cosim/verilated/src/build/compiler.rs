//! Finds the C++ compiler and selects its flags.

use crate::build::compile::Speed;
use crate::key::{Key, processor};
use crate::store::entry::{self, BuildDir};
use crate::{BuildError, Environment, ToolchainError, Variant, install};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Debug)]
pub struct Compiler {
    pub program: PathBuf,
    /// First line of the output of `--version`. Part of every cache key.
    pub identity: String,
}

/// Test program that needs the same headers and libraries as a library: those of C++ and of atomics.
const PROOF: &str = "\
#include <atomic>
#include <string>
#include <thread>
struct Pair { long a, b; };
std::atomic<Pair> pair;
extern \"C\" long proof() {
    std::thread{[] { pair.store({1, 2}); }}.join();
    return pair.load().a + std::to_string(pair.load().b).size();
}
";

const FLAGS: &[&str] = &[
    "-std=c++17",
    "-march=native",
    "-fPIC",
    "-faligned-new",
    "-fno-plt",
    "-fvisibility=hidden",
    #[cfg(target_arch = "x86_64")]
    "-fcf-protection=none",
    "-w",
    "-DVERILATOR=1",
    "-DVM_SC=0",
    "-DVM_TRACE_FST=0",
    "-DVM_TRACE_SAIF=0",
];

/// Name of the file with the compiler's identity, in the entry of a compiler that works.
const IDENTITY: &str = "identity";

impl Compiler {
    pub(crate) fn is_clang(&self) -> bool {
        self.identity.contains("clang")
    }

    /// Returns the optimization level. For code that runs in every cycle: the faster of `-O2` and `-O3`.
    pub(crate) fn level(&self, speed: Speed) -> &'static str {
        match speed {
            Speed::Fast if self.is_clang() => "-O2",
            Speed::Fast => "-O3",
            Speed::Often => "-O1",
            Speed::Slow => "-O0",
        }
    }

    /// Returns the flags that determine the output, except for the [level](Self::level). Part of a cache key.
    pub(crate) fn flags(&self, variant: Variant) -> Vec<&'static str> {
        let mut flags = FLAGS.to_vec();
        if !self.is_clang() {
            // Separates the globals of loaded libraries, and allows unloading. clang makes no such symbols.
            flags.push("-fno-gnu-unique");
        }
        flags.extend(match variant {
            Variant::Fast | Variant::Cov | Variant::CovToggle => ["-DVM_TRACE=0", "-DVM_TRACE_VCD=0"],
            Variant::Wave => ["-DVM_TRACE=1", "-DVM_TRACE_VCD=1"],
        });
        // The numbers are those of `abi::variant`.
        flags.extend(match variant {
            Variant::Fast => ["-DVM_COVERAGE=0", "-DATOMS_VARIANT=0"],
            Variant::Wave => ["-DVM_COVERAGE=0", "-DATOMS_VARIANT=1"],
            Variant::Cov => ["-DVM_COVERAGE=1", "-DATOMS_VARIANT=2"],
            Variant::CovToggle => ["-DVM_COVERAGE=1", "-DATOMS_VARIANT=3"],
        });
        flags
    }

    pub fn link_flags(&self) -> Vec<&'static str> {
        let mut flags = vec!["-fPIC", "-Wl,-Bsymbolic", "-Wl,--strip-debug", "-pthread"];
        if self.is_clang() {
            // For atomics, clang calls g++'s library where g++ uses instructions.
            flags.push("-latomic");
        }
        flags
    }

    /// Finds the C++ compiler: `CXX`; else `clang++` if it builds, since its code is faster; else `g++`.
    ///
    /// # Errors
    /// [`ToolchainError::CompilerMissing`] or [`ToolchainError::CompilerUnusable`].
    pub fn find(env: &Environment) -> Result<Self, ToolchainError> {
        match &env.cxx {
            Some(name) => Self::named(env, Path::new(name)),
            None => match Self::proven(env, Path::new("clang++")) {
                Some(compiler) => Ok(compiler),
                None => Self::named(env, Path::new("g++")),
            },
        }
    }

    fn named(env: &Environment, name: &Path) -> Result<Self, ToolchainError> {
        let missing = || ToolchainError::CompilerMissing(name.display().to_string());
        let program = env.which(name).ok_or_else(missing)?;
        match answer(Command::new(&program).arg("--version")) {
            Ok(said) => {
                Ok(Self { program, identity: said.lines().next().unwrap_or_default().trim().to_owned() })
            }
            Err(reason) => Err(ToolchainError::CompilerUnusable(program, reason)),
        }
    }

    /// Returns the compiler called `name` if it builds: a clang without the headers of g++ is common. The
    /// cache keeps only a success, since missing parts may be installed later.
    fn proven(env: &Environment, name: &Path) -> Option<Self> {
        let program = env.which(name)?;
        let file = std::fs::metadata(&program).ok()?;
        let key = Key::new("compiler")
            .with(program.as_os_str().as_encoded_bytes())
            .with(format!("{} {:?}", file.len(), file.modified().ok()?))
            .with(processor())
            .with(PROOF);
        let make = |shop: &BuildDir, _: &mut dyn FnMut(&crate::Progress)| {
            let compiler = Self::named(env, &program).map_err(|error| BuildError::Spec(error.to_string()))?;
            let source = shop.write("proof.cpp", PROOF)?;
            let mut command = Command::new(&compiler.program);
            command.args(compiler.flags(Variant::Fast)).arg("-shared").arg(source);
            command.args(compiler.link_flags()).arg("-o").arg(shop.dir().join("proof.so"));
            answer(&mut command).map_err(|said| BuildError::Compile("proof.cpp".to_owned(), said))?;
            let entry = shop.folder("entry")?;
            shop.write(&format!("entry/{IDENTITY}"), &compiler.identity)?;
            Ok::<_, BuildError>(entry)
        };
        let name = format!("compiler-{}", key.finish());
        let entry = entry::entry(&env.cache_dir(), &name, &mut |_| {}, make).ok()?;
        let identity = std::fs::read_to_string(entry.dir.join(IDENTITY)).ok()?;
        Some(Self { program, identity })
    }
}

pub(crate) fn answer(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}; {}", output.status, install::last_lines(&said, 5)).trim_end_matches("; ").to_owned())
}
