//! Result files of shards.
//!
//! A line of JSON for each record. Before them a line that says whose results they are, after them one
//! that says how many there are and gives a checksum over all that went before, so that a file that was
//! cut short is noticed. Files are written under another name and renamed when they are whole, and a
//! valid file stays when another task of the same shard comes later: of two tasks that run at once, one
//! result is kept.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cut::Shard;
use super::error::{ClusterError, ShardProblem};
use super::manifest::{FORMAT, Manifest, failures_path, result_path};
use super::publish::{Pending, sync_folder, unique};
use crate::checksum::hex;
use crate::run::origin::Origin;

/// Bytes in a line beyond which a file is taken for something else.
const LINE_BYTES: u64 = 1 << 28;

/// What result files are made of: an enumeration with all kinds of records.
pub trait Record: Serialize + DeserializeOwned {
    /// Number of the test whose result this is; none for records of other kinds. Each test of a shard
    /// has one result, in the order of the plan.
    fn result_of(&self) -> Option<u64>;
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    format: u32,
    shard: u32,
    tests: Shard,
    /// Hash of the manifest.
    manifest: String,
    version: String,
    build: String,
    rtl: String,
}

/// The last line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Trailer {
    /// Records between header and trailer.
    records: u64,
    /// SHA-256 of all lines before this one, then of the names of `failures`, each with a line end.
    checksum: String,
    /// Files under `shards/N.failures/`, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failures: Vec<String>,
}

/// Sees that each test of a shard has one result, in order.
#[derive(Debug)]
struct Order {
    next: u64,
    first: u64,
    end: u64,
}

impl Order {
    fn new(shard: Shard) -> Self {
        Order { next: shard.first, first: shard.first, end: shard.end }
    }

    fn take(&mut self, test: u64) -> Result<(), String> {
        if !(self.first..self.end).contains(&test) {
            return Err(format!("a result of test {test}, expected {} to {}", self.first, self.end - 1));
        }
        if test < self.next {
            return Err(format!("the result of test {test} twice"));
        }
        if test > self.next {
            return Err(format!("no result of test {} before that of {test}", self.next));
        }
        self.next += 1;
        Ok(())
    }

    fn finish(&self) -> Result<(), String> {
        match self.next == self.end {
            true => Ok(()),
            false => Err(format!("no result of tests {} to {}", self.next, self.end - 1)),
        }
    }
}

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// It is the result of the shard.
    New,
    /// Another task of the same shard was first; its result stays.
    AlreadyThere,
}

/// Writes the result of one shard.
#[derive(Debug)]
pub struct Writer<R> {
    out: PathBuf,
    manifest: Manifest,
    shard: u32,
    pending: Pending,
    hash: Sha256,
    records: u64,
    order: Order,
    failures: Option<FailureFolder>,
    kind: PhantomData<fn(&R)>,
}

/// A folder that goes away unless it is published.
#[derive(Debug)]
struct FailureFolder(PathBuf);

impl Drop for FailureFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl<R: Record> Writer<R> {
    /// Begins the result of a shard by what runs here. [`verify`] tells beforehand whether there is one.
    ///
    /// # Errors
    /// [`ClusterError::Origin`] when something else made the manifest; [`ClusterError::NoShard`];
    /// [`ClusterError::Write`].
    pub fn new(out: &Path, manifest: &Manifest, here: &Origin, shard: u32) -> Result<Self, ClusterError> {
        manifest.admit(out, here)?;
        let tests = manifest.shard(shard)?;
        let order = Order::new(tests);
        let target = result_path(out, shard);
        let folder = out.join("shards");
        fs::create_dir_all(&folder).map_err(ClusterError::write(folder))?;
        let pending = Pending::new(&target).map_err(ClusterError::write(target))?;
        let mut writer = Writer {
            out: out.to_path_buf(),
            manifest: manifest.clone(),
            shard,
            pending,
            hash: Sha256::new(),
            records: 0,
            order,
            failures: None,
            kind: PhantomData,
        };
        writer.line(&Header {
            format: FORMAT,
            shard,
            tests,
            manifest: manifest.hash(),
            version: here.version.clone(),
            build: here.build.clone(),
            rtl: here.rtl.clone(),
        })?;
        Ok(writer)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`ClusterError::Order`] when it is the result of a test whose turn it is not; [`ClusterError::Write`].
    pub fn write(&mut self, record: &R) -> Result<(), ClusterError> {
        if let Some(test) = record.result_of() {
            let shard = self.shard;
            self.order.take(test).map_err(|problem| ClusterError::Order { shard, problem })?;
        }
        self.records += 1;
        self.line(record)
    }

    /// A folder of this writer alone, which becomes `shards/N.failures/` with the result.
    ///
    /// # Errors
    /// [`ClusterError::Write`].
    pub fn failures(&mut self) -> Result<&Path, ClusterError> {
        if self.failures.is_none() {
            let path = unique(&failures_path(&self.out, self.shard));
            fs::create_dir(&path).map_err(ClusterError::write(&path))?;
            self.failures = Some(FailureFolder(path));
        }
        // It was put there above.
        Ok(self.failures.as_ref().map_or(Path::new(""), |folder| &folder.0))
    }

    /// Ends the result and puts it in its place, unless a valid one is there.
    ///
    /// # Errors
    /// [`ClusterError::Order`] when a test has no result; [`ClusterError::Write`].
    pub fn publish(mut self) -> Result<Published, ClusterError> {
        let shard = self.shard;
        self.order.finish().map_err(|problem| ClusterError::Order { shard, problem })?;
        if verify(&self.out, &self.manifest, shard).is_ok() {
            return Ok(Published::AlreadyThere);
        }
        let failures = self.publish_failures()?;
        for name in &failures {
            self.hash.update(name);
            self.hash.update("\n");
        }
        let trailer = Trailer { records: self.records, checksum: hex(self.hash.finalize_reset()), failures };
        self.line(&trailer)?;
        let target = self.pending.target().to_path_buf();
        match self.pending.publish() {
            Ok(()) => Ok(Published::New),
            // Whoever was first may have merged and tidied up meanwhile.
            Err(_) if verify(&self.out, &self.manifest, shard).is_ok() => Ok(Published::AlreadyThere),
            Err(source) => Err(ClusterError::Write { path: target, source }),
        }
    }

    /// Puts the failures in their place; gives the names of the files.
    fn publish_failures(&mut self) -> Result<Vec<String>, ClusterError> {
        let Some(folder) = self.failures.take() else { return Ok(Vec::new()) };
        let names = sync_tree(&folder.0)?;
        let target = failures_path(&self.out, self.shard);
        if let Err(source) = fs::rename(&folder.0, &target) {
            // Another task was first, which then died, or is about to publish its result. A shard's
            // failures are the same whoever finds them, and a folder in its place is whole.
            let there = sync_tree(&target).unwrap_or_default();
            if !holds_all(&there, &names) {
                return Err(ClusterError::Write { path: target, source });
            }
        }
        sync_folder(&target);
        Ok(names)
    }

    fn line(&mut self, content: &impl Serialize) -> Result<(), ClusterError> {
        let path = self.pending.target().to_path_buf();
        let mut line = serde_json::to_vec(content)
            .map_err(|error| ClusterError::Write { path: path.clone(), source: error.into() })?;
        line.push(b'\n');
        self.hash.update(&line);
        self.pending.write_all(&line).map_err(ClusterError::write(path))
    }
}

fn holds_all(there: &[String], names: &[String]) -> bool {
    let there: BTreeSet<_> = there.iter().collect();
    names.iter().all(|name| there.contains(name))
}

/// Makes sure that all files of a folder are on the disk; gives their names in it, sorted.
fn sync_tree(folder: &Path) -> Result<Vec<String>, ClusterError> {
    let mut names = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).map_err(ClusterError::read(&at))? {
            let path = entry.map_err(ClusterError::read(&at))?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let file = File::open(&path).map_err(ClusterError::read(&path))?;
            file.sync_all().map_err(ClusterError::write(&path))?;
            names.push(path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a shard has a valid result: whole, of this manifest, with the bundles of its failures.
///
/// # Errors
/// [`ClusterError::Shard`] with what is wrong; [`ClusterError::Read`]; [`ClusterError::NoShard`].
pub fn verify(out: &Path, manifest: &Manifest, shard: u32) -> Result<(), ClusterError> {
    open(out, manifest, shard).map(|_| ())
}

/// Reads the records of a shard, one at a time.
#[derive(Debug)]
pub struct Reader<R> {
    lines: BufReader<File>,
    path: PathBuf,
    shard: u32,
    left: u64,
    order: Order,
    kind: PhantomData<fn() -> R>,
}

impl<R: Record> Reader<R> {
    /// Opens the result of a shard, after a look whether it is valid.
    ///
    /// # Errors
    /// As [`verify`].
    pub fn new(out: &Path, manifest: &Manifest, shard: u32) -> Result<Self, ClusterError> {
        let (lines, left) = open(out, manifest, shard)?;
        let order = Order::new(manifest.shard(shard)?);
        Ok(Reader { lines, path: result_path(out, shard), shard, left, order, kind: PhantomData })
    }

    fn read(&mut self) -> Result<Option<R>, ClusterError> {
        if self.left == 0 {
            self.order.finish().map_err(|text| self.bad(ShardProblem::Order(text)))?;
            return Ok(None);
        }
        self.left -= 1;
        let mut line = Vec::new();
        take_line(&mut self.lines, &mut line).map_err(ClusterError::read(&self.path))?;
        let record: R = serde_json::from_slice(&line)
            .map_err(|error| self.bad(ShardProblem::Damaged(error.to_string())))?;
        if let Some(test) = record.result_of() {
            self.order.take(test).map_err(|text| self.bad(ShardProblem::Order(text)))?;
        }
        Ok(Some(record))
    }

    fn bad(&self, problem: ShardProblem) -> ClusterError {
        ClusterError::Shard { shard: self.shard, path: self.path.clone(), problem }
    }
}

impl<R: Record> Iterator for Reader<R> {
    type Item = Result<R, ClusterError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if read.is_err() {
            // Nothing after an error means anything, and `finish` has been asked.
            self.left = 0;
            self.order.next = self.order.end;
        }
        read.transpose()
    }
}

/// A line with its end; nothing at the end of the file.
fn take_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<()> {
    line.clear();
    lines.take(LINE_BYTES).read_until(b'\n', line)?;
    Ok(())
}

/// Verifies a result file and gives it, at its first record, with the number of records.
fn open(out: &Path, manifest: &Manifest, shard: u32) -> Result<(BufReader<File>, u64), ClusterError> {
    let tests = manifest.shard(shard)?;
    let path = result_path(out, shard);
    let bad = |problem| ClusterError::Shard { shard, path: path.clone(), problem };
    let cut = |text: &str| bad(ShardProblem::CutShort(text.to_string()));
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(bad(ShardProblem::Absent)),
        Err(source) => return Err(ClusterError::Read { path, source }),
    };
    let mut lines = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    take_line(&mut lines, &mut line).map_err(ClusterError::read(&path))?;
    if !line.ends_with(b"\n") {
        return Err(cut("it has no whole first line"));
    }
    let header: Header = serde_json::from_slice(&line)
        .map_err(|error| bad(ShardProblem::Damaged(format!("its first line: {error}"))))?;
    check_header(&header, manifest, shard, tests).map_err(&bad)?;
    let start = line.len() as u64;

    // The last line is the one with nothing after it.
    let (mut hash, mut count) = (Sha256::new(), 0_u64);
    let mut last = Vec::new();
    loop {
        std::mem::swap(&mut line, &mut last);
        take_line(&mut lines, &mut line).map_err(ClusterError::read(&path))?;
        if line.is_empty() {
            break;
        }
        hash.update(&last);
        count += 1;
    }
    if count == 0 {
        return Err(cut("there is nothing after its first line"));
    }
    // Without its end, a line may have been a number of more digits.
    let trailer: Trailer = match serde_json::from_slice(&last) {
        Ok(trailer) if last.ends_with(b"\n") => trailer,
        _ => return Err(cut(&format!("it has no last line after {} lines", count))),
    };
    for name in &trailer.failures {
        hash.update(name);
        hash.update("\n");
    }
    let records = count - 1;
    if records != trailer.records {
        let text = format!("{records} records, expected {}", trailer.records);
        return Err(bad(ShardProblem::Damaged(text)));
    }
    if hex(hash.finalize()) != trailer.checksum {
        return Err(bad(ShardProblem::Damaged("its checksum is another".to_string())));
    }
    let failures = failures_path(out, shard);
    if let Some(name) = trailer.failures.into_iter().find(|name| !failures.join(name).is_file()) {
        return Err(bad(ShardProblem::BundleMissing(name)));
    }
    lines.seek(std::io::SeekFrom::Start(start)).map_err(ClusterError::read(&path))?;
    Ok((lines, records))
}

fn check_header(header: &Header, manifest: &Manifest, shard: u32, tests: Shard) -> Result<(), ShardProblem> {
    if header.format != FORMAT {
        let text = format!("format of result files: {}, expected {FORMAT}", header.format);
        return Err(ShardProblem::Foreign(vec![text]));
    }
    let theirs = Origin {
        version: header.version.clone(),
        build: header.build.clone(),
        rtl: header.rtl.clone(),
        // Which differ, only the manifest's hash tells.
        inputs: manifest.origin.inputs.clone(),
    };
    let differences = manifest.origin.differences(&theirs, "manifest", "result");
    if !differences.is_empty() {
        return Err(ShardProblem::Foreign(differences));
    }
    let expected = manifest.hash();
    if header.manifest != expected {
        return Err(ShardProblem::OtherManifest { found: header.manifest.clone(), expected });
    }
    if header.shard != shard {
        return Err(ShardProblem::OtherShard(header.shard));
    }
    if header.tests != tests {
        return Err(ShardProblem::OtherTests(header.tests));
    }
    Ok(())
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
