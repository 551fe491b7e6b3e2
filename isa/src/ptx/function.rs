//! Parser of function headers: parameters, results and directives before the body.

use super::ast::{Function, Symbol, Variable};
use super::parser::{Parsed, Parser, twice, unsupported};
use super::scope::{Body, Entry};
use crate::kernel::program::Directives;
use crate::problem::Problem;
use std::ops::Range;

const HEADER: &[&str] = &[
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "maxnreg",
    "noreturn",
    "explicitcluster",
    "reqnctapercluster",
    "maxclusterrank",
    "blocksareclusters",
    "pragma",
    "abi_preserve",
    "abi_preserve_control",
];

type Parameters<'t> = Vec<(Variable<'t>, Range<usize>)>;

impl<'t> Parser<'t> {
    pub(super) fn function(&mut self, entry: bool) -> Parsed<()> {
        let line = self.cursor.line();
        self.attributes()?;
        let results = if entry { Vec::new() } else { self.parameters()? };
        let (name, range) = self.declared_name()?;
        let params = self.parameters()?;
        let directives = self.header()?;
        let counts = (params.len(), results.len());
        let mut variables = Vec::new();
        let mut body = Body::new(Function::default(), self.cursor.char_range());
        for (variable, range) in params.into_iter().chain(results) {
            let entry = Entry::Variable(variables.len() as u32);
            // `_` is not a name, so several parameters may have it.
            if variable.name != "_" && !body.scope().declare(variable.name, entry) {
                self.report(twice(variable.name, range));
            }
            variables.push(variable);
        }
        self.cursor.trivia();
        let defined = self.cursor.peek() == b'{';
        let function = Function {
            name,
            entry,
            directives,
            variables,
            params: counts.0,
            results: counts.1,
            defined,
            line,
            ..Function::default()
        };
        let index = self.enter(function, range, &mut body)?;
        if !defined {
            return self.semicolon();
        }
        self.cursor.bump();
        self.body = body;
        self.statements();
        let function = self.finish();
        if let Some(place) = self.functions.get_mut(index) {
            *place = function;
        }
        Ok(())
    }

    /// Adds the function to the module before its body is parsed, so the body can call the function itself.
    /// Returns its index. A definition replaces earlier declarations of the function.
    fn enter(&mut self, function: Function<'t>, range: Range<usize>, body: &mut Body<'t>) -> Parsed<usize> {
        let index = match self.globals.get(function.name) {
            None => {
                let index = self.functions.len();
                self.globals.insert(function.name, Symbol::Function(index as u32));
                self.functions.push(Function { name: function.name, ..Function::default() });
                index
            }
            Some(Symbol::Function(index)) => *index as usize,
            Some(_) => return Err(twice(function.name, range)),
        };
        match self.functions.get_mut(index) {
            Some(earlier) if earlier.defined && function.defined => return Err(twice(function.name, range)),
            Some(earlier) if function.defined => {
                earlier.defined = true;
                body.function = function;
            }
            // A declaration after the definition adds nothing.
            Some(earlier) if earlier.defined => {}
            Some(earlier) => *earlier = function,
            None => {}
        }
        Ok(index)
    }

    fn attributes(&mut self) -> Parsed<()> {
        self.cursor.trivia();
        while self.cursor.peek() == b'.' {
            let start = self.cursor.pos();
            match self.directive_name()? {
                "attribute" => self.attribute()?,
                name => return Err(unsupported(name, start..self.cursor.pos(), &["attribute"])),
            }
            self.cursor.trivia();
        }
        Ok(())
    }

    /// Parses an optional parameter list such as `(.param .u64 a, .param .u32 b)`.
    fn parameters(&mut self) -> Parsed<Parameters<'t>> {
        let mut parameters = Vec::new();
        if !self.cursor.eat(b'(') || self.cursor.eat(b')') {
            return Ok(parameters);
        }
        loop {
            let start = self.cursor.begin();
            let help = "write .param .u64 name";
            if self.cursor.peek() != b'.' {
                return Err(self.expected("a parameter", help));
            }
            let name = self.directive_name()?;
            if name != "param" {
                let message = format!("a parameter cannot be in state space .{name}");
                return Err(Problem::new(start..self.cursor.pos(), message, help));
            }
            parameters.push(self.parameter()?);
            if self.cursor.eat(b')') {
                return Ok(parameters);
            }
            if !self.cursor.eat(b',') {
                return Err(self.expected("a comma or )", "separate parameters by commas and end with )"));
            }
        }
    }

    fn header(&mut self) -> Parsed<Directives> {
        let mut directives = Directives::default();
        loop {
            self.cursor.trivia();
            if self.cursor.peek() != b'.' {
                break;
            }
            let start = self.cursor.pos();
            match self.directive_name()? {
                "maxntid" => directives.max_threads = Some(self.extent()?),
                "reqntid" => directives.threads = Some(self.extent()?),
                "reqnctapercluster" => directives.cluster = Some(self.extent()?),
                "minnctapersm"
                | "maxnctapersm"
                | "maxnreg"
                | "maxclusterrank"
                | "abi_preserve"
                | "abi_preserve_control" => {
                    self.small_number()?;
                }
                "noreturn" | "explicitcluster" | "blocksareclusters" => {}
                "pragma" => {
                    self.ignored("pragma")?;
                }
                "attribute" => self.attribute()?,
                name => return Err(unsupported(name, start..self.cursor.pos(), HEADER)),
            }
        }
        Ok(directives)
    }

    /// Parses the sizes of a launch limit: `x`, `x, y` or `x, y, z`. A missing size is 1.
    fn extent(&mut self) -> Parsed<[u32; 3]> {
        let mut extent = [1; 3];
        for (index, size) in extent.iter_mut().enumerate() {
            if index > 0 && !self.cursor.eat(b',') {
                break;
            }
            *size = self.small_number()?.0;
        }
        Ok(extent)
    }
}
