//! What the RTL of a bundle may hold to be run without being trusted.
//!
//! RTL becomes C++ that runs with the rights of the user, and a bundle may come from anywhere. What is allowed
//! is listed, not what is refused: the constructs of this checkout's RTL, of which none reaches beyond the
//! simulation. The reader is deliberately narrower than the language: what it does not know is refused.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::triage::error::BundleError;
use crate::triage::layout::file;

/// System tasks and functions that may be called: those of this checkout's RTL.
pub const SYSTEM_NAMES: [&str; 5] = ["bits", "clog2", "countones", "error", "signed"];

/// Compiler directives that may stand in it.
pub const DIRECTIVES: [&str; 6] = ["define", "else", "endif", "ifdef", "ifndef", "include"];

/// Comments that Verilator obeys and that may stand in it.
pub const METACOMMENTS: [&str; 5] =
    ["coverage_block_off", "coverage_off", "coverage_on", "no_inline_task", "public_flat_rw"];

/// Words of the language that may not stand in it: they bring in what lies outside of the RTL, or programs.
const KEYWORDS: [&str; 9] =
    ["bind", "chandle", "checker", "class", "covergroup", "export", "extern", "primitive", "program"];

/// First words of comments that tools obey.
const TOOLS: [&str; 6] = ["verilator", "synopsys", "synthesis", "cadence", "pragma", "ambit"];

/// Bytes of a source beyond which it is not read.
const MOST_BYTES: u64 = 4 << 20;

/// Refusals of a file that are named.
const MOST_REFUSALS: usize = 20;

/// Something that is not run unless the bundle is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRefusal {
    /// The file, as seen from the bundle.
    pub file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What was found.
    pub what: String,
}

impl fmt::Display for SourceRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names come from the bundle: nothing in them may steer the terminal.
        let name = self.file.display().to_string();
        write!(f, "{}", name.escape_debug())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.what)
    }
}

/// What is not plain in the RTL of the bundle in `folder`; nothing if it may run without being trusted.
///
/// # Errors
/// [`BundleError::NotWhole`] for a file that cannot be read.
pub fn refusals(folder: &Path) -> Result<Vec<SourceRefusal>, BundleError> {
    let rtl = folder.join(file::RTL);
    let mut found = Vec::new();
    let whole = |name: &str, what: &str| SourceRefusal {
        file: Path::new(file::RTL).join(name),
        line: 0,
        what: what.to_string(),
    };
    let list = read(&rtl.join(LIST))?;
    let mut names = BTreeSet::new();
    for (at, line) in list.lines().enumerate() {
        let name = line.split("//").next().unwrap_or_default().trim();
        if name.is_empty() {
            continue;
        }
        if is_plain_name(name, &["sv"]) {
            names.insert(name.to_string());
        } else {
            let what = format!("`{}` is not the name of a source beside it", name.escape_debug());
            found.push(SourceRefusal { line: at + 1, ..whole(LIST, &what) });
        }
    }
    for entry in fs::read_dir(&rtl).map_err(BundleError::NotWhole)? {
        let name = PathBuf::from(entry.map_err(BundleError::NotWhole)?.file_name());
        if name.extension().is_some_and(|extension| extension == "svh" || extension == "vh") {
            match name.to_str().filter(|name| is_plain_name(name, &["svh", "vh"])) {
                Some(name) => drop(names.insert(name.to_string())),
                None => found.push(whole(&name.to_string_lossy(), "its name is not plain")),
            }
        }
    }
    let mut sources = Vec::new();
    for name in &names {
        sources.push((name, read(&rtl.join(name))?));
    }
    let macros = sources.iter().flat_map(|(_, text)| defined(text)).collect();
    for (name, text) in &sources {
        let mut reader = Reader::new(text.as_bytes(), &names, &macros);
        reader.read();
        found.extend(
            reader.refused.into_iter().map(|(line, what)| SourceRefusal { line, ..whole(name, &what) }),
        );
    }
    Ok(found)
}

const LIST: &str = "atoms.f";

fn read(path: &Path) -> Result<String, BundleError> {
    let about = fs::symlink_metadata(path).map_err(BundleError::NotWhole)?;
    if !about.is_file() || about.len() > MOST_BYTES {
        let reason = "a source is a file of at most 4 MiB".to_string();
        return Err(BundleError::Foreign(path.to_path_buf(), reason));
    }
    fs::read_to_string(path).map_err(BundleError::NotWhole)
}

fn is_plain_name(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| is_word(stem) && extensions.contains(&extension))
}

/// Letters, digits and `_`, not beginning with a digit.
fn is_word(text: &str) -> bool {
    text.bytes().all(is_word_byte) && text.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A name that no directive and no word of the language has.
fn is_own(name: &str) -> bool {
    is_word(name) && name.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Names of macros that a text defines.
fn defined(text: &str) -> Vec<String> {
    let after = text.split("`define").skip(1);
    let name = |rest: &str| {
        rest.trim_start().bytes().take_while(|byte| is_word_byte(*byte)).map(char::from).collect()
    };
    after.map(name).filter(|name: &String| is_own(name)).collect()
}

/// What was read last.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    None,
    Word(String),
    System(String),
    Directive(String),
    Other(u8),
}

/// Reads one source.
struct Reader<'a> {
    text: &'a [u8],
    names: &'a BTreeSet<String>,
    macros: &'a BTreeSet<String>,
    at: usize,
    line: usize,
    last: Token,
    before: Token,
    /// Formal arguments of the macro whose definition is being read.
    definition: Option<Vec<String>>,
    refused: Vec<(usize, String)>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a [u8], names: &'a BTreeSet<String>, macros: &'a BTreeSet<String>) -> Self {
        Reader {
            text,
            names,
            macros,
            at: 0,
            line: 1,
            last: Token::None,
            before: Token::None,
            definition: None,
            refused: Vec::new(),
        }
    }

    fn refuse(&mut self, what: impl Into<String>) {
        self.refused.push((self.line, what.into()));
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or_default()
    }

    fn push(&mut self, token: Token) {
        self.before = std::mem::replace(&mut self.last, token);
    }

    fn word(&mut self) -> String {
        let begin = self.at;
        while is_word_byte(self.peek(0)) {
            self.at += 1;
        }
        self.text[begin..self.at].iter().copied().map(char::from).collect()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(0), b' ' | b'\t') {
            self.at += 1;
        }
    }

    fn read(&mut self) {
        while self.at < self.text.len() && self.refused.len() < MOST_REFUSALS {
            self.token();
        }
    }

    fn token(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (b' ' | b'\t', _) => self.at += 1,
            (b'\n', _) => {
                self.definition = None;
                self.line += 1;
                self.at += 1;
            }
            (b'\\', b'\n') if self.definition.is_some() => {
                self.line += 1;
                self.at += 2;
            }
            (b'\\', _) => {
                self.refuse("an escaped name, or a line that goes on");
                self.at += 1;
            }
            (b'/', b'/') => self.line_comment(),
            (b'/', b'*') => self.block_comment(),
            (b'"', _) => self.string(),
            (b'`', _) => self.tick(),
            (b'$', _) => {
                self.at += 1;
                let name = self.word();
                if !SYSTEM_NAMES.contains(&name.as_str()) {
                    self.refuse(format!("`${name}`"));
                }
                self.push(Token::System(name));
            }
            (b'(', b'*') if self.peek(2) != b')' => {
                self.refuse("an attribute");
                self.at += 2;
            }
            (byte, _) if is_word_byte(byte) => self.plain_word(),
            (byte @ 0x21..=0x7e, _) => {
                self.at += 1;
                self.push(Token::Other(byte));
            }
            (byte, _) => {
                self.refuse(format!("the byte {byte:#04x}"));
                self.at += 1;
            }
        }
    }

    fn plain_word(&mut self) {
        let word = self.word();
        if self.peek(0) == b'$' {
            self.refuse(format!("`{word}$`"));
        }
        if KEYWORDS.contains(&word.as_str()) {
            self.refuse(format!("`{word}`"));
        }
        if word == "import" && !self.names_a_package() {
            self.refuse("`import` of something else than a package");
        }
        self.push(Token::Word(word));
    }

    /// Whether `NAME::` comes next.
    fn names_a_package(&self) -> bool {
        let rest = self.text[self.at..].iter().copied().skip_while(u8::is_ascii_whitespace);
        let mut rest = rest.skip_while(|byte| is_word_byte(*byte));
        (rest.next(), rest.next()) == (Some(b':'), Some(b':'))
    }

    fn line_comment(&mut self) {
        let rest = &self.text[self.at + 2..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.comment(&rest[..length]);
        if rest[..length].ends_with(b"\\") {
            self.refuse("a comment that ends with `\\`");
        }
        self.at += 2 + length;
    }

    fn block_comment(&mut self) {
        let rest = &self.text[self.at + 2..];
        let Some(length) = rest.windows(2).position(|end| end == b"*/") else {
            self.refuse("a comment without an end");
            self.at = self.text.len();
            return;
        };
        self.comment(&rest[..length]);
        let lines = rest[..length].iter().filter(|byte| **byte == b'\n').count();
        if lines > 0 && self.definition.is_some() {
            self.refuse("a comment of several lines in a macro");
        }
        self.line += lines;
        self.at += 2 + length + 2;
    }

    fn comment(&mut self, text: &[u8]) {
        if let Some(byte) = text.iter().find(|byte| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t'))
        {
            self.refuse(format!("the byte {byte:#04x} in a comment"));
        }
        let text = String::from_utf8_lossy(text);
        for directive in ["`else", "`elsif", "`endif"] {
            if text.contains(directive) {
                self.refuse(format!("{directive} in a comment"));
            }
        }
        let mut words =
            text.trim_start_matches(|c: char| c.is_whitespace() || "/*".contains(c)).split_whitespace();
        let first = words.next().unwrap_or_default().to_ascii_lowercase();
        let Some(tool) = TOOLS.into_iter().find(|tool| first.starts_with(tool)) else { return };
        let rest: Vec<_> = words.collect();
        let known = first == "verilator" && matches!(rest[..], [one] if METACOMMENTS.contains(&one));
        // A sentence that begins with the name of a tool is none that Verilator obeys, but it may be read as one.
        if !known {
            self.refuse(format!("a comment to the tool {tool}: `{}`", rest.join(" ").escape_debug()));
        }
    }

    fn string(&mut self) {
        let rest = &self.text[self.at + 1..];
        let Some(length) = rest.iter().position(|byte| matches!(byte, b'"' | b'\n')) else {
            self.refuse("a text without an end");
            self.at = self.text.len();
            return;
        };
        let text = String::from_utf8_lossy(&rest[..length]).into_owned();
        let plain = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e) && !matches!(byte, b'\\' | b'`'));
        let closed = rest.get(length) == Some(&b'"');
        let shown = text.escape_debug();
        if self.last == Token::Directive("include".to_string()) {
            if !self.names.contains(&text) {
                self.refuse(format!("`include \"{shown}\"`, which is no source of the bundle"));
            }
        } else if self.last != Token::Other(b'(') || self.before != Token::System("error".to_string()) {
            self.refuse(format!("the text \"{shown}\""));
        }
        if !plain || !closed {
            self.refuse("a text that is not plain");
        }
        self.at += 1 + length + usize::from(closed);
        self.push(Token::Other(b'"'));
    }

    fn tick(&mut self) {
        match self.peek(1) {
            b'`' => self.paste(),
            b'"' => self.stringify(),
            byte if is_word_byte(byte) => {
                self.at += 1;
                let name = self.word();
                self.directive(name);
            }
            byte => {
                self.refuse(format!("a backtick before `{}`", char::from(byte).escape_debug()));
                self.at += 1;
            }
        }
    }

    /// Two names made one. The result must be no word of the language, whatever the arguments of the macro.
    fn paste(&mut self) {
        let joined =
            self.at > 0 && is_word_byte(self.text[self.at - 1]) && matches!(self.last, Token::Word(_));
        self.at += 2;
        let right = self.word();
        let formals = self.definition.clone().unwrap_or_default();
        if !joined || !is_own(&right) || formals.contains(&right) {
            self.refuse("names that a macro puts together");
        }
        self.push(Token::Word(right));
    }

    /// A name made a text, which only a message may be.
    fn stringify(&mut self) {
        self.at += 2;
        let name = self.word();
        let closed = (self.peek(0), self.peek(1)) == (b'`', b'"');
        if !closed || name.is_empty() || self.definition.is_none() || self.last != Token::Other(b',') {
            self.refuse("a text that a macro puts together");
        }
        self.at += if closed { 2 } else { 0 };
        self.push(Token::Other(b'"'));
    }

    fn directive(&mut self, name: String) {
        if !DIRECTIVES.contains(&name.as_str()) {
            if !self.macros.contains(&name) {
                self.refuse(format!("the directive `{name}`"));
            }
            return self.push(Token::Directive(name));
        }
        if self.definition.is_some() {
            self.refuse(format!("the directive `{name}` in a macro"));
        }
        self.push(Token::Directive(name.clone()));
        self.blanks();
        match name.as_str() {
            "include" if self.peek(0) != b'"' => self.refuse("an `include` of what is no text"),
            "ifdef" | "ifndef" => {
                let word = self.word();
                if !is_own(&word) {
                    self.refuse(format!("the directive `{name}` of `{word}`"));
                }
            }
            "define" => self.define(),
            _ => {}
        }
    }

    fn define(&mut self) {
        let name = self.word();
        if !is_own(&name) {
            self.refuse(format!("a macro `{name}`: a name has a capital letter in it"));
        }
        let mut formals = Vec::new();
        if self.peek(0) == b'(' {
            loop {
                self.at += 1;
                self.blanks();
                formals.push(self.word());
                self.blanks();
                if self.peek(0) != b',' {
                    break;
                }
            }
            if self.peek(0) != b')' || formals.iter().any(String::is_empty) {
                self.refuse("arguments of a macro that are no names");
            } else {
                self.at += 1;
            }
        }
        self.definition = Some(formals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Vec<(usize, String)> {
        let names = ["atoms_assert.svh".to_string()].into();
        let macros = defined(text).into_iter().collect();
        let mut reader = Reader::new(text.as_bytes(), &names, &macros);
        reader.read();
        reader.refused
    }

    /// Each construct is refused in its line, wherever and however it is written.
    #[test]
    fn what_reaches_beyond_the_simulation_is_refused() {
        #[rustfmt::skip]
        let rows: &[(&str, usize)] = &[
            ("module m;\n  initial $c(\"system(\\\"touch x\\\");\");\nendmodule", 2),
            ("module m;\n  wire x = $c32(\"1\");\nendmodule", 2),
            ("initial $system(\"touch x\");", 1),
            ("import \"DPI-C\" function int system(input string s);", 1),
            ("import\n \"DPI-C\" function int system(input string s);", 1),
            ("export \"DPI-C\" function f;", 1),
            ("extern function void f();", 1),
            ("initial f = $fopen(\"x\", \"w\");", 1),
            ("initial $fwrite(1, \"x\");", 1),
            ("initial $readmemh(\"x\", m);", 1),
            ("initial $writememh(\"x\", m);", 1),
            ("initial $dumpfile(\"x\");", 1),
            ("initial $value$plusargs(\"x=%s\", s);", 1),
            ("initial $display(\"x\");", 1),
            ("initial $finish;", 1),
            ("assign q = a[$];", 1),
            ("`include \"/etc/passwd\"", 1),
            ("`include \"../x.svh\"", 1),
            ("`include <atoms_assert.svh>", 1),
            ("`define ATOMS x\n`include `ATOMS", 2),
            ("`define ATOMS_C $c\ninitial `ATOMS_C (\"x\");", 1),
            ("`define ATOMS_C(A) $``A\ninitial `ATOMS_C(c)(\"x\");", 1),
            ("`define ATOMS_C(A, B) A``B\n`ATOMS_C(imp, ort) x", 1),
            ("`define ATOMS_C(Sys) a``Sys\n", 1),
            ("`define ATOMS_C(A) `A\n`ATOMS_C(include) x", 1),
            ("`define ATOMS_C `inc``lude\n", 1),
            ("`define ATOMS_C(A) import `\"A`\" function int system();\n", 1),
            ("`define ATOMS_C(A) \\\n  /``*verilator systemc_header*``/\n", 2),
            ("`define ATOMS_C \\\n`define ATOMS_D $c\n", 2),
            ("`define systemc_header x\n`systemc_header", 1),
            ("`systemc_header\n#include <x>\n`verilog", 1),
            ("`verilator_config\n", 1),
            ("`pragma protect\n", 1),
            ("`line 1 \"x\" 0\n", 1),
            ("/*verilator systemc_header*/", 1),
            ("/* verilator public */", 1),
            ("// verilator public", 1),
            ("//verilator lint_off WIDTH", 1),
            ("/*Verilator no_inline_task x*/", 1),
            ("// synopsys translate_off", 1),
            ("(* keep *) logic x;", 1),
            ("logic \\a;$c(b) ;", 1),
            ("// a \\\n$c(\"x\");", 1),
            ("`ifdef ATOMS\n/* `endif\n$c */", 2),
            ("// a\r$c(\"x\");", 1),
            ("logic x\u{c};", 1),
            ("string s = \"x\";", 1),
            ("initial $error(\"a\\\"b\");", 1),
            ("initial $error(\"a", 1),
            ("/* no end", 1),
            ("bind m n n();", 1),
            ("logic a$b;", 1),
        ];
        for (text, line) in rows {
            let found = refused(text);
            assert!(found.first().is_some_and(|(at, _)| at == line), "{text:?}: {found:?}");
        }
    }

    /// The RTL of this checkout is plain, and what is allowed is what it uses.
    #[test]
    fn the_rtl_of_this_checkout_is_plain() {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("");
        assert_eq!(refusals(&checkout).expect("the RTL can be read"), []);
        let mut all = String::new();
        for entry in fs::read_dir(checkout.join("rtl")).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|extension| extension == "sv" || extension == "svh") {
                all += &fs::read_to_string(path).expect("a source");
            }
        }
        let names = SYSTEM_NAMES.map(|name| format!("${name}"));
        let directives = DIRECTIVES.map(|name| format!("`{name}"));
        let comments = METACOMMENTS.map(|name| format!("verilator {name}"));
        for used in names.iter().chain(&directives).chain(&comments) {
            assert!(all.contains(used), "`{used}` is allowed and not used");
        }
    }
}
