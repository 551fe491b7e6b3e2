//! Parser of directives outside functions, and helpers that all parts of the parser use.

use super::ast::{Function, Module, Symbol, Variable};
use super::lex::Cursor;
use super::scope::Body;
use crate::arch::Arch;
use crate::nearest::nearest;
use crate::problem::{MOST_PROBLEMS, Problem, TextError};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

pub(super) type Parsed<T> = Result<T, Problem>;

/// Number of registers and initial values together that any text may declare. A longer text may declare more,
/// in proportion to its length. Without a limit, `.reg .b32 %r<4000000000>;` would allocate too much memory.
const ALLOWED: u64 = 100_000;

pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) problems: Vec<Problem>,
    pub(super) variables: Vec<Variable<'t>>,
    pub(super) functions: Vec<Function<'t>>,
    files: BTreeMap<u32, Arc<str>>,
    pub(super) globals: HashMap<&'t str, Symbol>,
    pub(super) body: Body<'t>,
    /// Names whose address is the initial value of a variable. They may be declared later in the text.
    pub(super) addresses: Vec<(&'t str, Range<usize>)>,
    /// True for loose instructions, which need no declarations: see [`super::snippet`].
    pub(super) loose: bool,
    budget: u64,
    version: Option<(u16, u16)>,
    target: Option<Arch>,
    /// True after a `.target` directive, even one that names no architecture.
    targeted: bool,
}

const OUTSIDE: &[&str] = &[
    "version",
    "target",
    "address_size",
    "visible",
    "extern",
    "weak",
    "common",
    "entry",
    "func",
    "global",
    "const",
    "shared",
    "local",
    "file",
    "section",
    "pragma",
    "loc",
];

/// Last minor version of each major version of PTX, from major version 1 on. For the newest major version, it
/// is the version that the compilers of `tests/kernels` write.
const LAST_MINOR: &[u16] = &[4, 3, 2, 3, 0, 5, 8, 8, 5];

pub const NEWEST: (u16, u16) = (LAST_MINOR.len() as u16, LAST_MINOR[LAST_MINOR.len() - 1]);

const TARGET_OPTIONS: &[&str] = &["texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"];

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, loose: bool) -> Parser<'t> {
        Parser {
            cursor: Cursor::new(text),
            problems: Vec::new(),
            variables: Vec::new(),
            functions: Vec::new(),
            files: BTreeMap::new(),
            globals: HashMap::new(),
            body: Body::default(),
            addresses: Vec::new(),
            loose,
            budget: ALLOWED + text.len() as u64,
            version: None,
            target: None,
            targeted: false,
        }
    }

    pub(super) fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(super) fn full(&self) -> bool {
        self.problems.len() >= MOST_PROBLEMS
    }

    /// True if the text or the maximum number of problems has been reached.
    pub(super) fn done(&self) -> bool {
        self.cursor.at_end() || self.full()
    }

    /// True if an undeclared name must be reported. A name is reported only at its first use, and only below
    /// the maximum number of problems.
    pub(super) fn reports(&mut self, name: &'t str) -> bool {
        !self.full() && self.body.reported.insert(name)
    }

    /// Takes `count` registers or initial values from the number that the text may still declare. Returns
    /// false if fewer are left.
    pub(super) fn spend(&mut self, count: u64) -> bool {
        let left = self.budget.checked_sub(count);
        self.budget = left.unwrap_or(self.budget);
        left.is_some()
    }

    pub(super) fn left_to_spend(&self) -> u64 {
        self.budget
    }

    pub(super) fn module(mut self, name: &str, text: &'t str) -> Result<Module<'t>, TextError> {
        loop {
            self.cursor.trivia();
            if self.done() {
                break;
            }
            let (start, line) = (self.cursor.pos(), self.cursor.line());
            if let Err(problem) = self.outside() {
                self.report(problem);
                self.skip_item(start, line);
            }
        }
        for (symbol, range) in std::mem::take(&mut self.addresses) {
            if !self.globals.contains_key(symbol) {
                self.undeclared_variable(symbol, range);
            }
        }
        self.headers();
        let open = self.cursor.take_open();
        self.problems.extend(open);
        match (self.version, self.target) {
            (Some(version), Some(target)) if self.problems.is_empty() => {
                let Parser { variables, functions, files, .. } = self;
                Ok(Module { variables, files, ..Module::new(version, target, functions) })
            }
            _ => Err(TextError::new(name, text, self.problems)),
        }
    }

    pub(super) fn snippet(mut self, text: &'t str) -> Result<Function<'t>, TextError> {
        let function =
            Function { name: "snippet", entry: true, defined: true, line: 1, ..Function::default() };
        self.body = Body::new(function, 0..0);
        while !self.done() {
            self.statements();
            if !self.done() {
                // The statement is a directive that is legal only outside functions.
                let (range, found) = self.cursor.found();
                let help = "write only instructions, or a complete module that begins with .version";
                self.report(Problem::new(range, format!("{found} among loose instructions"), help));
                break;
            }
        }
        let function = self.finish();
        let open = self.cursor.take_open();
        self.problems.extend(open);
        if self.problems.is_empty() {
            Ok(function)
        } else {
            Err(TextError::new("snippet", text, self.problems))
        }
    }

    fn headers(&mut self) {
        if self.version.is_none() && self.problems.is_empty() {
            let help = "begin with a line such as .version 8.0";
            self.report(Problem::new(0..0, "the text does not state its PTX version", help));
        }
        if self.target.is_none() && self.problems.is_empty() {
            let help = "add a line such as .target sm_90 after .version";
            self.report(Problem::new(0..0, "the text does not state its architecture", help));
        }
    }

    fn outside(&mut self) -> Parsed<()> {
        let start = self.cursor.pos();
        match self.cursor.peek() {
            b'.' => {}
            b';' => {
                self.cursor.bump();
                return Ok(());
            }
            b'@' if self.cursor.ahead(1) == b'@' => {
                self.cursor.skip_line();
                return Ok(());
            }
            b'}' => {
                self.not_open();
                return Ok(());
            }
            _ => {
                let (range, found) = self.cursor.found();
                let help =
                    "outside functions, write directives: .version, .target, .visible .entry, .global, ...";
                return Err(Problem::new(range, format!("{found} outside a function"), help));
            }
        }
        let name = self.directive_name()?;
        match name {
            "version" => self.version_directive(),
            "target" => self.target_directive(start),
            "address_size" => self.address_size(),
            "visible" | "extern" | "weak" | "common" => {
                let start = self.cursor.begin();
                let inner = self.directive_name()?;
                self.declaration(inner, start, name == "extern")
            }
            "b8" | "b16" | "b32" | "b64" | "u8" | "u16" | "u32" | "u64" | "s8" | "s16" | "s32" | "s64" => {
                // This line is data of a debug section without braces.
                self.cursor.skip_line();
                Ok(())
            }
            _ => self.declaration(name, start, false),
        }
    }

    fn declaration(&mut self, name: &'t str, start: usize, external: bool) -> Parsed<()> {
        match name {
            "entry" => self.function(true),
            "func" => self.function(false),
            "global" | "const" | "shared" | "local" => {
                let declared = self.variables_of(name, external)?;
                declared.into_iter().try_for_each(|(v, range)| self.declare_outside(v, range))
            }
            _ if self.ignored(name)? => Ok(()),
            _ => Err(unsupported(name, start..self.cursor.pos(), OUTSIDE)),
        }
    }

    pub(super) fn directive_name(&mut self) -> Parsed<&'t str> {
        if let Some(name) = self.cursor.dotted() {
            return Ok(name);
        }
        let (range, found) = self.cursor.found();
        Err(Problem::new(
            range,
            format!("expected a directive, found {found}"),
            "write a directive such as .global",
        ))
    }

    /// Reads a directive that has no effect on execution. Returns false for any other directive.
    pub(super) fn ignored(&mut self, name: &str) -> Parsed<bool> {
        match name {
            "loc" | "file" => self.position(),
            "section" => {
                while !matches!(self.cursor.peek(), b'{' | b'\n') && !self.cursor.at_end() {
                    self.cursor.bump_char();
                }
                let (end, line) = (self.cursor.pos(), self.cursor.line());
                self.cursor.trivia();
                if self.cursor.peek() != b'{' {
                    self.cursor.rewind(end, line);
                    return Ok(true);
                }
                let open = self.cursor.pos();
                if !self.cursor.skip_block() {
                    return Err(unclosed(open..open + 1));
                }
            }
            "pragma" => {
                loop {
                    self.cursor.trivia();
                    if self.cursor.peek() != b'"' {
                        return Err(self.expected("a string", "write .pragma \"nounroll\";"));
                    }
                    self.cursor.string();
                    if !self.cursor.eat(b',') {
                        break;
                    }
                }
                self.semicolon()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a source position: `.loc 1 2 3, function_name NAME, inlined_at 1 2 3` or `.file 1 "name", 4, 5`.
    /// Neither ends in a semicolon.
    fn position(&mut self) {
        let (mut numbers, mut name) = (Vec::new(), None);
        loop {
            self.cursor.trivia();
            match self.cursor.peek() {
                b'"' => name = Some(self.cursor.string()),
                b'0'..=b'9' => numbers.extend(self.cursor.digits().and_then(|text| text.parse::<u32>().ok())),
                b',' => {
                    self.cursor.bump();
                    self.cursor.trivia();
                    if let Some("function_name") = self.cursor.word() {
                        self.cursor.trivia();
                        self.cursor.word();
                        if self.cursor.eat(b'+') {
                            self.cursor.trivia();
                            self.cursor.digits();
                        }
                    }
                }
                _ => break,
            }
        }
        match (name, numbers.as_slice()) {
            (Some(name), [file, ..]) => _ = self.files.insert(*file, name.into()),
            (None, [file, line, ..]) => self.body.position = Some((*file, *line)),
            _ => {}
        }
    }

    fn version_directive(&mut self) -> Parsed<()> {
        let start = self.cursor.begin();
        let major = self.cursor.digits();
        let minor = self.cursor.dotted();
        let number = |text: Option<&str>| text.and_then(|t| t.parse::<u16>().ok());
        match (number(major), number(minor)) {
            (Some(major), Some(minor)) => {
                let newest = LAST_MINOR.get(usize::from(major).wrapping_sub(1));
                if newest.is_none_or(|newest| minor > *newest) {
                    let range = start..self.cursor.pos();
                    let message = format!("PTX version {major}.{minor} is not known");
                    let newest = LAST_MINOR.len();
                    let help = format!("the known versions go up to {newest}.{}", LAST_MINOR[newest - 1]);
                    self.report(Problem::new(range, message, help));
                }
                self.version = Some((major, minor));
            }
            _ => {
                let range = start..self.cursor.pos().max(start);
                return Err(Problem::new(range, "expected a version number", "write .version 8.0"));
            }
        }
        Ok(())
    }

    fn target_directive(&mut self, start: usize) -> Parsed<()> {
        if std::mem::replace(&mut self.targeted, true) {
            let message = "a second .target";
            self.report(Problem::new(
                start..self.cursor.pos(),
                message,
                "a module has one .target; split the file",
            ));
        }
        loop {
            let start = self.cursor.begin();
            let Some(name) = self.cursor.word() else {
                return Err(self.expected("an architecture", "write .target sm_90"));
            };
            match Arch::of_target(name) {
                Some(arch) => self.target = Some(self.target.unwrap_or(arch)),
                None if TARGET_OPTIONS.contains(&name) => {}
                None => {
                    let message = format!("architecture `{name}` is not supported");
                    let help =
                        "supported names are sm_20 to sm_129, with or without a letter, such as sm_90a";
                    self.report(Problem::new(start..self.cursor.pos(), message, help));
                }
            }
            if !self.cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    fn address_size(&mut self) -> Parsed<()> {
        let start = self.cursor.begin();
        match self.cursor.digits() {
            Some("64") => Ok(()),
            found => {
                let message = format!("addresses of {} bits are not supported", found.unwrap_or("no"));
                let help = "compile for 64-bit addresses: .address_size 64";
                Err(Problem::new(start..self.cursor.pos(), message, help))
            }
        }
    }

    /// Adds a variable to the module. A definition replaces an earlier declaration.
    fn declare_outside(&mut self, variable: Variable<'t>, range: Range<usize>) -> Parsed<()> {
        match self.globals.get(variable.name) {
            None => {
                self.globals.insert(variable.name, Symbol::Module(self.variables.len() as u32));
                self.variables.push(variable);
            }
            Some(Symbol::Module(index)) => match self.variables.get_mut(*index as usize) {
                Some(earlier) if earlier.external => *earlier = variable,
                Some(_) if variable.external => {}
                _ => return Err(twice(variable.name, range)),
            },
            Some(_) => return Err(twice(variable.name, range)),
        }
        Ok(())
    }

    /// Skips the directive at `start` after a problem in it. Resumes after the directive and its block, or at
    /// the next line that starts with a directive.
    fn skip_item(&mut self, start: usize, line: u32) {
        self.cursor.rewind(start, line);
        while !self.cursor.at_end() {
            match self.cursor.peek() {
                b';' => return self.cursor.bump(),
                b'{' => {
                    let open = self.cursor.pos();
                    let reported = |p: &Problem| p.span.offset() == open;
                    if !self.cursor.skip_block() && !self.problems.iter().any(reported) {
                        self.report(unclosed(open..open + 1));
                    }
                    // A semicolon follows the braces of initial values, but not those of a function body.
                    self.cursor.eat(b';');
                    return;
                }
                b'}' if self.cursor.pos() > start => return,
                b'"' => drop(self.cursor.string()),
                b'.' if self.cursor.pos() > start && self.cursor.starts_line() => {
                    let mut look = self.cursor.clone();
                    if look.dotted().is_some_and(|name| OUTSIDE.contains(&name)) {
                        return;
                    }
                    self.cursor.bump();
                }
                _ => self.cursor.bump_char(),
            }
            self.cursor.trivia();
        }
    }

    pub(super) fn not_open(&mut self) {
        let start = self.cursor.pos();
        self.cursor.bump();
        let help = "remove it, or open a block with { before it";
        self.report(Problem::new(start..start + 1, "a } without a matching {", help));
    }

    pub(super) fn expected(&self, what: &str, help: &str) -> Problem {
        let (range, found) = self.cursor.found();
        Problem::new(range, format!("expected {what}, found {found}"), help)
    }

    pub(super) fn need(&mut self, byte: u8, help: &str) -> Parsed<()> {
        if self.cursor.eat(byte) { Ok(()) } else { Err(self.expected(&char::from(byte).to_string(), help)) }
    }

    pub(super) fn semicolon(&mut self) -> Parsed<()> {
        if self.cursor.eat(b';') {
            Ok(())
        } else {
            Err(self.expected("a semicolon", "end the statement with ;"))
        }
    }
}

pub(super) fn twice(name: &str, range: Range<usize>) -> Problem {
    Problem::new(
        range,
        format!("a second declaration of `{name}`"),
        "names must differ within a block, and outside functions",
    )
}

pub(super) fn unclosed(range: Range<usize>) -> Problem {
    Problem::new(range, "{ has no matching }", "end the block with }")
}

pub(super) fn unsupported(name: &str, range: Range<usize>, known: &[&str]) -> Problem {
    let near = nearest(name, known.iter().copied()).unwrap_or("");
    let help = format!("the nearest supported one is .{near}");
    Problem::new(range, format!("directive .{name} is not supported"), help)
}
