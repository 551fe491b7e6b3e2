//! Parser of function bodies: blocks, labels, instructions.

use super::ast::{Operand, PtxGuard, PtxInstruction};
use super::opcode::{OPCODES, known};
use super::parser::{Parsed, Parser, twice, unclosed, unsupported};
use super::scope::{Entry, Flow, Scope};
use crate::nearest::nearest;
use crate::problem::Problem;

const DEPTH: usize = 32;

const INSIDE: &[&str] = &[
    "reg",
    "shared",
    "local",
    "param",
    "global",
    "const",
    "extern",
    "loc",
    "file",
    "section",
    "pragma",
    "branchtargets",
    "calltargets",
    "callprototype",
];

impl<'t> Parser<'t> {
    /// Parses statements up to the `}` that ends the function. Loose instructions have no such brace; they
    /// end at the end of the text.
    pub(super) fn statements(&mut self) {
        loop {
            self.cursor.trivia();
            if self.done() {
                let ended = self.cursor.at_end() && !self.cursor.is_open();
                self.close_all(ended);
                return;
            }
            let (start, line) = (self.cursor.pos(), self.cursor.line());
            match self.cursor.peek() {
                b'{' => {
                    self.cursor.bump();
                    if self.body.scopes.len() > DEPTH {
                        let message = format!("more than {DEPTH} nested blocks");
                        self.report(Problem::new(start..start + 1, message, "nest fewer blocks"));
                        self.cursor.rewind(start, line);
                        self.cursor.skip_block();
                        continue;
                    }
                    self.body.scopes.push(Scope::new(start..start + 1));
                }
                b'}' => {
                    if self.body.scopes.len() > 1 {
                        self.cursor.bump();
                        self.close();
                    } else if self.loose {
                        self.not_open();
                    } else {
                        self.cursor.bump();
                        return;
                    }
                }
                b';' => self.cursor.bump(),
                _ => match self.statement(start, line) {
                    Ok(true) => {}
                    // This directive is legal only outside functions, so the `}` before it is missing.
                    Ok(false) => {
                        self.close_all(true);
                        return self.cursor.rewind(start, line);
                    }
                    Err(problem) => {
                        self.report(problem);
                        self.recover(start, line);
                    }
                },
            }
        }
    }

    /// Closes all open blocks. If `lacks` is true, reports that a `}` is missing.
    fn close_all(&mut self, lacks: bool) {
        if lacks && (!self.loose || self.body.scopes.len() > 1) {
            let open = self.body.scope().open.clone();
            self.report(unclosed(open));
        }
        while self.body.scopes.len() > 1 {
            self.close();
        }
    }

    /// Skips the statement at `start` after a problem in it. Resumes after its semicolon, or at a brace that
    /// opens or closes a block.
    fn recover(&mut self, start: usize, line: u32) {
        let reached = (self.cursor.pos(), self.cursor.line());
        self.cursor.rewind(start, line);
        let mut block = None;
        let mut depth = 0_usize;
        loop {
            // A semicolon is missing, so the parser took two statements for one. Resume at the second one.
            if self.cursor.pos() >= reached.0 && reached.1 > line && depth == 0 && self.cursor.pos() > start {
                return;
            }
            match self.cursor.peek() {
                0 if self.cursor.at_end() => return,
                b';' => {
                    match block {
                        Some((pos, line)) if depth > 0 => self.cursor.rewind(pos, line),
                        _ => self.cursor.bump(),
                    }
                    return;
                }
                b'{' => {
                    // A brace before the problem belongs to a vector operand. This brace is after the
                    // problem, so it opens a block.
                    if depth == 0 && self.cursor.pos() >= reached.0 {
                        block = Some((self.cursor.pos(), self.cursor.line()));
                    }
                    depth += 1;
                    self.cursor.bump();
                }
                b'}' if depth == 0 && self.cursor.pos() > start => return,
                b'}' => {
                    depth = depth.saturating_sub(1);
                    self.cursor.bump();
                }
                b'"' => drop(self.cursor.string()),
                _ => self.cursor.bump_char(),
            }
            self.cursor.trivia();
        }
    }

    /// Parses one statement. Returns false for a directive that is legal only outside functions.
    fn statement(&mut self, start: usize, line: u32) -> Parsed<bool> {
        let mut guard = None;
        let mut guarded = false;
        match self.cursor.peek() {
            b'.' => return self.directive(start),
            b'@' => {
                if self.cursor.ahead(1) == b'@' {
                    self.cursor.skip_line();
                    return Ok(true);
                }
                self.cursor.bump();
                let negate = self.cursor.eat(b'!');
                guard = self.predicate()?.map(|register| PtxGuard { register, negate });
                guarded = true;
                self.cursor.trivia();
            }
            _ => {}
        }
        let word = self.cursor.pos();
        let Some(opcode) = self.cursor.word() else {
            let help = "statements are instructions, labels NAME:, directives and blocks";
            return Err(self.expected("an instruction", help));
        };
        if self.cursor.peek() != b'.' {
            let (end, end_line) = (self.cursor.pos(), self.cursor.line());
            if !guarded && self.cursor.eat(b':') {
                self.label_here(opcode, word..end)?;
                return Ok(true);
            }
            self.cursor.rewind(end, end_line);
        }
        self.instruction(guard, opcode, word, start, line)?;
        Ok(true)
    }

    fn instruction(
        &mut self,
        guard: Option<PtxGuard>,
        opcode: &'t str,
        word: usize,
        start: usize,
        line: u32,
    ) -> Parsed<()> {
        if !known(opcode) {
            let near = nearest(opcode, OPCODES.iter().copied()).unwrap_or("");
            let message = format!("unknown opcode `{opcode}`");
            let help = format!("the nearest known one is `{near}`");
            return Err(Problem::new(word..word + opcode.len(), message, help));
        }
        let flow = match opcode {
            "bra" => Flow::Branch,
            "call" => Flow::Call,
            _ => Flow::Plain,
        };
        let mut modifiers = Vec::new();
        let mut end;
        loop {
            end = self.cursor.pos();
            self.cursor.trivia();
            if self.cursor.peek() != b'.' {
                break;
            }
            match self.cursor.dotted() {
                Some(modifier) => modifiers.push(modifier),
                None => {
                    self.cursor.bump();
                    return Err(self.expected("a modifier", "write a word after the dot, or remove it"));
                }
            }
        }
        let mut operands = Vec::new();
        if self.cursor.peek() != b';' {
            loop {
                if operands.is_empty() && self.loose && self.cursor.at_end() {
                    break;
                }
                operands.push(self.operand(flow)?);
                end = self.cursor.pos();
                self.cursor.trivia();
                // A modifier may follow the address: `ld.global [%rd1].unified`.
                while self.cursor.peek() == b'.' && matches!(operands.last(), Some(Operand::Address { .. })) {
                    let Some(modifier) = self.cursor.dotted() else { break };
                    modifiers.push(modifier);
                    end = self.cursor.pos();
                    self.cursor.trivia();
                }
                if self.cursor.peek() != b',' {
                    break;
                }
                self.cursor.bump();
            }
        }
        if self.cursor.peek() == b';' {
            self.cursor.bump();
        } else if !(self.loose && self.cursor.at_end()) {
            return Err(self.missing_semicolon(end));
        }
        let (text, position) = (self.cursor.slice(start..end), self.body.position);
        let instructions = &mut self.body.function.instructions;
        instructions.push(PtxInstruction { guard, opcode, modifiers, operands, text, line, position });
        Ok(())
    }

    fn missing_semicolon(&mut self, end: usize) -> Problem {
        let (_, found) = self.cursor.found();
        let message = format!("expected a comma or a semicolon, found {found}");
        Problem::new(end..end, message, "end the instruction with ; or separate operands by commas")
    }

    fn directive(&mut self, start: usize) -> Parsed<bool> {
        let mut name = self.directive_name()?;
        let mut range = start..self.cursor.pos();
        let mut external = false;
        while matches!(name, "extern" | "visible" | "weak" | "common") {
            external |= name == "extern";
            let start = self.cursor.begin();
            name = self.directive_name()?;
            range = start..self.cursor.pos();
        }
        match name {
            "reg" => self.registers()?,
            "shared" | "local" | "param" | "global" | "const" => {
                for (variable, range) in self.variables_of(name, external)? {
                    let index = self.body.function.variables.len() as u32;
                    if !self.body.scope().declare(variable.name, Entry::Variable(index)) {
                        return Err(twice(variable.name, range));
                    }
                    self.body.function.variables.push(variable);
                }
            }
            "entry" | "func" | "version" | "target" | "address_size" => return Ok(false),
            _ if self.ignored(name)? => {}
            _ => return Err(unsupported(name, range, INSIDE)),
        }
        Ok(true)
    }
}
