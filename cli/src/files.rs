//! Checks before a run that no output of a command overwrites an input or another output.

use std::fs::{self, Metadata};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::output::error::{CliError, message};

#[derive(Debug, Default)]
pub(crate) struct Files {
    inputs: Vec<Named>,
    outputs: Vec<Named>,
}

#[derive(Debug)]
struct Named {
    /// Name of the file in messages: `the launch file`, `--record`.
    what: String,
    path: PathBuf,
    place: OutputPlace,
}

/// Target of a path. Equal for all paths to one file, by any spelling or link.
#[derive(Debug, PartialEq, Eq)]
enum OutputPlace {
    /// Existing file. Device and number are equal for all symbolic and hard links to it.
    File {
        device: u64,
        number: u64,
        path: PathBuf,
    },
    Folder(PathBuf),
    New(PathBuf),
    /// Device or pipe, which has no content to overwrite.
    Stream,
}

impl Files {
    pub(crate) fn reads(&mut self, what: impl Into<String>, path: &Path) -> &mut Self {
        self.inputs.push(Named::new(what, path));
        self
    }

    pub(crate) fn writes(&mut self, what: impl Into<String>, path: &Path) -> &mut Self {
        self.outputs.push(Named::new(what, path));
        self
    }

    /// Adds a wave and its GTKWave save file as outputs.
    pub(crate) fn writes_wave(&mut self, what: &str, path: &Path) -> &mut Self {
        self.writes(what, path)
            .writes(format!("the GTKWave save file of {what}"), &path.with_extension("gtkw"))
    }

    /// Checks that no output overwrites another file.
    ///
    /// # Errors
    /// Names the first output that would overwrite a file, and that file.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        let stdout = Named::stdout();
        let outputs: Vec<_> = self.outputs.iter().chain(&stdout).collect();
        for (at, output) in outputs.iter().enumerate() {
            let overwritten = self.inputs.iter().find(|input| output.overwrites(input));
            let overwritten =
                overwritten.or_else(|| outputs[..at].iter().find(|o| output.overwrites(o)).copied());
            if let Some(Named { what, path, .. }) = overwritten {
                return Err(message!(
                    "{} `{}` would overwrite {what} `{}`; choose another path",
                    output.what,
                    output.path.display(),
                    path.display()
                ));
            }
        }
        Ok(())
    }
}

impl Named {
    fn new(what: impl Into<String>, path: &Path) -> Named {
        Named { what: what.into(), path: path.to_path_buf(), place: OutputPlace::of(path) }
    }

    fn stdout() -> Option<Named> {
        let file = fs::File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
        let metadata = file.metadata().ok().filter(Metadata::is_file)?;
        let path = PathBuf::from("/dev/stdout");
        Some(Named { what: "stdout".into(), place: OutputPlace::file(&metadata, path.clone()), path })
    }

    fn overwrites(&self, other: &Named) -> bool {
        match (&self.place, &other.place) {
            (OutputPlace::Stream, _) | (_, OutputPlace::Stream) => false,
            (OutputPlace::Folder(inner), OutputPlace::Folder(outer)) => {
                inner.starts_with(outer) || outer.starts_with(inner)
            }
            (OutputPlace::File { device, number, path }, OutputPlace::Folder(folder)) => {
                path.starts_with(folder) || holds(folder, (*device, *number))
            }
            (OutputPlace::New(path), OutputPlace::Folder(folder))
            | (OutputPlace::Folder(folder), OutputPlace::File { path, .. } | OutputPlace::New(path)) => {
                path.starts_with(folder)
            }
            (
                OutputPlace::File { device, number, .. },
                OutputPlace::File { device: other_device, number: other, .. },
            ) => (device, number) == (other_device, other),
            (one, other) => one == other,
        }
    }
}

/// True if a file below the folder has this device and number, possibly as a hard link with another name.
fn holds(folder: &Path, file: (u64, u64)) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => holds(&entry.path(), file),
        Ok(metadata) => (metadata.dev(), metadata.ino()) == file,
        Err(_) => false,
    })
}

impl OutputPlace {
    fn of(path: &Path) -> OutputPlace {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => OutputPlace::file(&metadata, whole(path)),
            Ok(metadata) if metadata.is_dir() => OutputPlace::Folder(whole(path)),
            Ok(_) => OutputPlace::Stream,
            Err(_) => OutputPlace::New(whole(&target(path))),
        }
    }

    fn file(metadata: &Metadata, path: PathBuf) -> OutputPlace {
        OutputPlace::File { device: metadata.dev(), number: metadata.ino(), path }
    }
}

/// Follows symbolic links, also to a target that does not exist.
fn target(path: &Path) -> PathBuf {
    // Limit of Linux for symbolic links in a path.
    const MOST_LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    path
}

/// Returns the absolute path without links. The end of the path need not exist.
fn whole(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => whole(parent).join(name),
        _ => absolute,
    }
}
