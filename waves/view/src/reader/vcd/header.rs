//! Reads the declarations of a VCD.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::body::{Position, VcdBody};
use super::codes::Codes;
use super::words::Words;
use super::{extended, problem};
use crate::ValueKind;
use crate::reader::error::shown;
use crate::reader::{FileSignal, Header, TimeUnit, WaveNoteKind, WaveReadFault};

const WIDEST: u32 = 1 << 24;
const DEEPEST: usize = 1000;

pub(in crate::reader) fn open(path: &Path) -> Result<(Header, VcdBody), WaveReadFault> {
    let file = File::open(path).map_err(WaveReadFault::Io)?;
    let mut declarations = Declarations {
        words: Words::new(file, 0, 1),
        header: Header::default(),
        codes: Codes::default(),
        factor: 1,
        scopes: vec![Arc::from([])],
    };
    declarations.read()?;
    let Declarations { words, mut header, codes, factor, .. } = declarations;
    header.slots = codes.len() as u32;
    let kinds = header.signals.iter().map(|signal| (signal.slot, signal.kind));
    let start = Position { bytes: words.bytes(), line: words.line(), now: 0 };
    let body = VcdBody::new(start, factor, codes, kinds);
    Ok((header, body))
}

struct Declarations<R> {
    words: Words<R>,
    header: Header,
    codes: Codes,
    /// Factor from times in the file to time units.
    factor: u64,
    /// Paths of the open scopes, the empty path first.
    scopes: Vec<Arc<[String]>>,
}

impl<R: Read> Declarations<R> {
    fn read(&mut self) -> Result<(), WaveReadFault> {
        loop {
            let begins = self.words.line();
            let command = match self.word()? {
                Some(word) => word,
                None => return Err(problem(begins, "the file ends before $enddefinitions")),
            };
            let line = self.words.line();
            if !command.starts_with('$') {
                let found = shown(command.as_bytes());
                return Err(problem(line, format!("expected a declaration, such as $var, found {found}")));
            }
            let words = self.rest_of(&command, line)?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match command.as_str() {
                "$enddefinitions" => return Ok(()),
                "$timescale" => {
                    let text = words.concat();
                    let known = TimeUnit::parse(&text).map(|unit| (unit, 1));
                    let Some((unit, factor)) = known.or_else(|| TimeUnit::parse_any(&text)) else {
                        let found = shown(text.as_bytes());
                        let expected = "expected 1, 10 or 100 of s, ms, us, ns, ps, fs";
                        return Err(problem(line, format!("$timescale {found}: {expected}")));
                    };
                    if known.is_none() {
                        self.header.notes.add(WaveNoteKind::Timescale, line);
                    }
                    (self.header.unit, self.factor) = (Some(unit), factor);
                }
                "$version" => self.header.version = words.join(" "),
                "$scope" => self.scope(&words, line)?,
                "$upscope" => {
                    if self.scopes.len() == 1 {
                        return Err(problem(line, "$upscope without an open $scope"));
                    }
                    self.scopes.pop();
                }
                "$var" => self.signal(&words, line)?,
                "$dumpports" => return Err(extended(line)),
                "$dumpvars" | "$dumpall" | "$dumpon" | "$dumpoff" => {
                    return Err(problem(line, format!("{command} before $enddefinitions")));
                }
                // `$date`, `$comment`, and commands of other programs.
                _ => {}
            }
        }
    }

    fn scope(&mut self, words: &[&str], line: u64) -> Result<(), WaveReadFault> {
        // `$scope module NAME $end`; some writers omit the name of `begin` blocks.
        let name = match words {
            [_, name, ..] => name,
            [kind] => kind,
            [] => return Err(problem(line, "a $scope without a name")),
        };
        if self.scopes.len() > DEEPEST {
            return Err(problem(line, format!("scopes are nested more than {DEEPEST} deep")));
        }
        let name = name.strip_prefix('\\').filter(|name| !name.is_empty()).unwrap_or(name).to_owned();
        let outer = self.scopes.last().map_or(&[][..], |outer| outer);
        self.scopes.push(outer.iter().cloned().chain([name]).collect());
        Ok(())
    }

    fn signal(&mut self, words: &[&str], line: u64) -> Result<(), WaveReadFault> {
        let [kind, width, code, name @ ..] = words else {
            return Err(problem(line, "expected $var TYPE WIDTH CODE NAME $end"));
        };
        if name.is_empty() {
            return Err(problem(line, "a $var without a name: expected $var TYPE WIDTH CODE NAME $end"));
        }
        // In extended VCD, a port of several bits has a range instead of a width.
        if *kind == "port" && width.starts_with('[') {
            return Err(extended(line));
        }
        let width: u32 = width.parse().ok().filter(|width| *width <= WIDEST).ok_or_else(|| {
            let found = shown(width.as_bytes());
            problem(line, format!("a $var of {found} bits: expected a number, at most {WIDEST}"))
        })?;
        let kind = match *kind {
            "real" | "realtime" | "real_parameter" | "shortreal" => ValueKind::Real,
            "string" => ValueKind::Text,
            "event" => ValueKind::Event,
            _ => ValueKind::Bits(width.max(1)),
        };
        let slot = self.codes.insert(code.as_bytes());
        let scopes = Arc::clone(self.scopes.last().unwrap_or(&Arc::from([])));
        self.header.signals.push(FileSignal::new(scopes, name, kind, slot));
        Ok(())
    }

    /// Reads the remaining words of a declaration, up to `$end`.
    fn rest_of(&mut self, command: &str, line: u64) -> Result<Vec<String>, WaveReadFault> {
        let mut words = Vec::new();
        loop {
            match self.word()? {
                Some(end) if end == "$end" => return Ok(words),
                Some(word) => words.push(word),
                None => return Err(problem(line, format!("the file ends in {command}, before its $end"))),
            }
        }
    }

    fn word(&mut self) -> Result<Option<String>, WaveReadFault> {
        self.words.begin();
        let word = self.words.next()?;
        // Texts may use any encoding, since only people read them. Codes and names are ASCII.
        Ok(word.map(|word| String::from_utf8_lossy(self.words.text(&word)).into_owned()))
    }
}
