//! Parser of operands. Names in operands are resolved to registers, variables and labels.

use super::ast::{Base, Operand, PtxRegister, RegId, StateSpace, Symbol, Variable};
use super::number::{Number, number};
use super::opcode;
use super::parser::{Parsed, Parser};
use super::scope::{Entry, Flow, Reference, SUGGESTIONS, Site};
use crate::kernel::number::Type;
use crate::nearest::close;
use crate::problem::Problem;
use std::ops::Range;

const OPERANDS: &str = "operands are registers (%r1), numbers (7, 0f3F800000), addresses ([%r1+4]), {%r1, %r2}, %p1|%p2, names and _";

impl<'t> Parser<'t> {
    pub(super) fn operand(&mut self, flow: Flow) -> Parsed<Operand<'t>> {
        self.cursor.trivia();
        match self.cursor.peek() {
            b'[' => self.address(),
            b'{' => {
                self.cursor.bump();
                self.group(b'}').map(Operand::Vector)
            }
            b'(' => {
                self.cursor.bump();
                self.group(b')').map(Operand::List)
            }
            _ => {
                let first = self.scalar(flow)?;
                let (end, line) = (self.cursor.pos(), self.cursor.line());
                if !self.cursor.eat(b'|') {
                    self.cursor.rewind(end, line);
                    return Ok(first);
                }
                self.cursor.trivia();
                let second = self.scalar(flow)?;
                Ok(Operand::Pair(Box::new([first, second])))
            }
        }
    }

    /// Parses operands separated by commas, up to the bracket `close`. The opening bracket has been consumed.
    /// The operands themselves have no brackets.
    fn group(&mut self, close: u8) -> Parsed<Vec<Operand<'t>>> {
        let mut operands = Vec::new();
        self.cursor.trivia();
        if self.cursor.eat(close) {
            return Ok(operands);
        }
        loop {
            self.cursor.trivia();
            operands.push(self.scalar(Flow::Plain)?);
            if self.cursor.eat(close) {
                return Ok(operands);
            }
            if !self.cursor.eat(b',') {
                let close = char::from(close);
                let help = format!("separate by commas and end with {close}");
                return Err(self.expected(&format!("a comma or {close}"), &help));
            }
        }
    }

    /// Parses an operand without brackets and bars. The cursor is on the first character.
    fn scalar(&mut self, flow: Flow) -> Parsed<Operand<'t>> {
        let start = self.cursor.pos();
        match self.cursor.peek() {
            b'0'..=b'9' => number(&mut self.cursor).map(number_operand),
            b'-' | b'+' if self.cursor.ahead(1).is_ascii_digit() => {
                let negative = self.cursor.peek() == b'-';
                self.cursor.bump();
                let value = number(&mut self.cursor)?;
                Ok(number_operand(if negative { value.negated() } else { value }))
            }
            b'!' => {
                self.cursor.bump();
                let start = self.cursor.begin();
                match self.scalar(flow)? {
                    Operand::Register(register) => Ok(Operand::Not(register)),
                    _ => {
                        let range = start..self.cursor.pos();
                        Err(Problem::new(range, "! before an operand that is not a register", "write !%p1"))
                    }
                }
            }
            _ => match self.cursor.word() {
                Some("_") => Ok(Operand::Sink),
                Some(name) => self.named(name, start, flow),
                None => Err(self.expected("an operand", OPERANDS)),
            },
        }
    }

    fn named(&mut self, name: &'t str, start: usize, flow: Flow) -> Parsed<Operand<'t>> {
        let range = start..self.cursor.pos();
        if flow == Flow::Branch && !name.starts_with('%') {
            return Ok(self.label(name, range, None, flow));
        }
        match self.body.find(name) {
            Some(Entry::Register(register)) if self.cursor.peek() != b'.' => Ok(Operand::Register(register)),
            Some(Entry::Register(_)) => self.part_of_register(start),
            Some(Entry::Vector(first, lanes)) => self.part_of_vector(first, lanes),
            Some(Entry::Variable(index)) => {
                let offset = self.offset()?.unwrap_or(0);
                Ok(Operand::Symbol { symbol: Symbol::Local(index), offset })
            }
            None if name.starts_with('%') => self.undeclared_register(name, range),
            None if name == "WARP_SZ" => Ok(Operand::Integer(32)),
            None => {
                let offset = self.offset()?;
                match self.globals.get(name) {
                    Some(symbol) => Ok(Operand::Symbol { symbol: *symbol, offset: offset.unwrap_or(0) }),
                    None => Ok(self.label(name, range, offset, flow)),
                }
            }
        }
    }

    /// Parses part of a register, such as `%r1.b0`, as a name that is not interpreted.
    fn part_of_register(&mut self, start: usize) -> Parsed<Operand<'t>> {
        let dot = self.cursor.pos();
        match self.cursor.dotted() {
            Some("b0" | "b1" | "b2" | "b3" | "h0" | "h1") => Ok(Operand::Name(self.cursor.since(start))),
            Some(part) => {
                let message = format!("part .{part} of a register that is not a vector");
                Err(Problem::new(dot..self.cursor.pos(), message, "declare the register as .reg .v2 or .v4"))
            }
            None => Err(self.expected("a part", "write a part such as .x")),
        }
    }

    fn part_of_vector(&mut self, first: RegId, lanes: u8) -> Parsed<Operand<'t>> {
        let lane = |lane: u8| RegId(first.0 + u32::from(lane));
        if self.cursor.peek() != b'.' {
            return Ok(Operand::Vector((0..lanes).map(|l| Operand::Register(lane(l))).collect()));
        }
        let dot = self.cursor.pos();
        let part = self.cursor.dotted().unwrap_or("");
        let names = [["x", "r"], ["y", "g"], ["z", "b"], ["w", "a"]];
        let found = names.iter().take(lanes.into()).position(|names| names.contains(&part));
        match found {
            Some(index) => Ok(Operand::Register(lane(index as u8))),
            None => {
                let message = format!("a vector of {lanes} has no part .{part}");
                let help = "parts are .x and .y; a vector of four also has .z and .w";
                Err(Problem::new(dot..self.cursor.pos().max(dot + 1), message, help))
            }
        }
    }

    /// Parses a special register. Among loose instructions, any other unknown name declares a register.
    fn undeclared_register(&mut self, name: &'t str, range: Range<usize>) -> Parsed<Operand<'t>> {
        let bare = name.get(1..).unwrap_or("");
        if opcode::special(bare) {
            let start = range.start + 1;
            if self.cursor.peek() == b'.' {
                let dot = self.cursor.pos();
                let part = self.cursor.dotted();
                if !opcode::has_parts(bare) || !matches!(part, Some("x" | "y" | "z" | "w")) {
                    let message = format!("part .{} of `{name}` does not exist", part.unwrap_or(""));
                    let help =
                        "%tid, %ntid, %ctaid, %nctaid and those of clusters have the parts .x, .y and .z";
                    return Err(Problem::new(dot..self.cursor.pos().max(dot + 1), message, help));
                }
            }
            return Ok(Operand::Special(self.cursor.since(start)));
        }
        if self.loose && name.len() > 1 {
            let start = range.start;
            if self.cursor.peek() == b'.' {
                self.cursor.dotted();
            }
            let name = self.cursor.since(start);
            return self.loose_register(name, range).map(Operand::Register);
        }
        if !self.reports(name) {
            return Ok(Operand::Sink);
        }
        let help = match self.body.last_of_family(name) {
            Some(last) => format!("the last declared one is `{last}`"),
            None => {
                let registers =
                    self.body.names(|entry| matches!(entry, Entry::Register(_) | Entry::Vector(..)));
                match close(name, registers.chain(self.body.prefixes())) {
                    Some(near) if self.body.find(near).is_some() => {
                        format!("the nearest declared one is `{near}`")
                    }
                    Some(near) => format!("the nearest declared ones are `{near}0` and following"),
                    None => "declare it first: .reg .b32 %r<8>;".into(),
                }
            }
        };
        self.report(Problem::new(range, format!("register `{name}` is not declared"), help));
        Ok(Operand::Sink)
    }

    fn loose_register(&mut self, name: &'t str, range: Range<usize>) -> Parsed<RegId> {
        if let Some(Entry::Register(register)) = self.body.find(name) {
            return Ok(register);
        }
        let register = RegId(self.body.function.registers.len() as u32);
        if !self.spend(1) {
            return Err(Problem::new(range, "too many registers", "use fewer"));
        }
        self.body.function.registers.push(PtxRegister { name: name.into(), ty: None });
        if let Some(outermost) = self.body.scopes.first_mut() {
            outermost.declare(name, Entry::Register(register));
        }
        Ok(register)
    }

    /// Records a use of a name that may be a label. It is resolved when the block ends.
    fn label(&mut self, name: &'t str, range: Range<usize>, offset: Option<i64>, flow: Flow) -> Operand<'t> {
        let label = self.body.placeholder();
        let instruction = self.body.function.instructions.len() as u32;
        let site = Site::Operand { instruction, label, flow };
        self.body.scope().pending.push(Reference { name, range, offset, site });
        Operand::Label(label)
    }

    /// Declares a variable of loose instructions at its first use: a shared array of unknown size.
    pub(super) fn loose_variable(&mut self, name: &'t str) -> Symbol {
        let index = self.body.function.variables.len() as u32;
        self.body.function.variables.push(Variable {
            name,
            space: StateSpace::Shared,
            ty: Type::B8,
            count: None,
            align: 16,
            initial: Vec::new(),
            external: true,
            line: self.cursor.line(),
        });
        if let Some(outermost) = self.body.scopes.first_mut() {
            outermost.declare(name, Entry::Variable(index));
        }
        Symbol::Local(index)
    }

    /// Parses an address: `[%r1+4]`, `[name+4]`, `[4]` or `[%r1, {%r2, %r3}]`. The cursor is on the `[`.
    fn address(&mut self) -> Parsed<Operand<'t>> {
        self.cursor.bump();
        let start = self.cursor.begin();
        let (base, offset) = match self.cursor.peek() {
            b'0'..=b'9' | b'-' => match self.scalar(Flow::Plain)? {
                Operand::Integer(value) => (Base::None, value.wrapping_add(self.offset()?.unwrap_or(0))),
                _ => {
                    let range = start..self.cursor.pos();
                    let message = "an address is not a float";
                    return Err(Problem::new(range, message, "write [%r1+4], [name+4] or [4]"));
                }
            },
            _ => {
                let Some(name) = self.cursor.word() else {
                    return Err(self.expected("an address", "write [%r1+4], [name+4] or [4]"));
                };
                let base = self.base(name, start)?;
                (base, self.offset()?.unwrap_or(0))
            }
        };
        let address = Operand::Address { base, offset };
        if self.cursor.eat(b']') {
            return Ok(address);
        }
        if self.cursor.eat(b',') {
            self.cursor.trivia();
            let second = match self.cursor.peek() {
                b'{' => {
                    self.cursor.bump();
                    Operand::Vector(self.group(b'}')?)
                }
                _ => self.scalar(Flow::Plain)?,
            };
            if self.cursor.eat(b']') {
                return Ok(Operand::List(vec![address, second]));
            }
        }
        Err(self.expected("+ or ]", "an address is [%r1+4], [name+4] or [4]"))
    }

    fn base(&mut self, name: &'t str, start: usize) -> Parsed<Base> {
        let range = start..self.cursor.pos();
        match self.body.find(name) {
            Some(Entry::Variable(index)) => return Ok(Base::Symbol(Symbol::Local(index))),
            Some(Entry::Register(register)) if self.cursor.peek() != b'.' => {
                return Ok(Base::Register(register));
            }
            None if !name.starts_with('%') => {
                if let Some(symbol) = self.globals.get(name) {
                    return Ok(Base::Symbol(*symbol));
                }
                if self.loose {
                    return Ok(Base::Symbol(self.loose_variable(name)));
                }
                self.undeclared_variable(name, range);
                return Ok(Base::None);
            }
            _ => {}
        }
        match self.named(name, start, Flow::Plain)? {
            Operand::Register(register) => Ok(Base::Register(register)),
            // The problem of this operand has been reported before.
            Operand::Sink => Ok(Base::None),
            _ => {
                let range = start..self.cursor.pos();
                let message = format!("`{}` cannot be an address", self.cursor.since(start));
                Err(Problem::new(range, message, "addresses are [%r1+4], [name+4] and [4]"))
            }
        }
    }

    pub(super) fn undeclared_variable(&mut self, name: &'t str, range: Range<usize>) {
        if !self.reports(name) {
            return;
        }
        let local = self.body.names(|entry| matches!(entry, Entry::Variable(_)));
        let near = close(name, local.chain(self.globals.keys().copied().take(SUGGESTIONS)));
        let help = match near {
            Some(near) => format!("the nearest declared one is `{near}`"),
            None => "declare it first: .shared .align 4 .b8 name[64];".into(),
        };
        self.report(Problem::new(range, format!("variable `{name}` is not declared"), help));
    }

    pub(super) fn predicate(&mut self) -> Parsed<Option<RegId>> {
        let start = self.cursor.begin();
        let help = "a guard is @ or @! and a predicate such as %p1";
        let Some(name) = self.cursor.word() else { return Err(self.expected("a predicate", help)) };
        let range = start..self.cursor.pos();
        if !name.starts_with('%') && self.body.find(name).is_none() {
            if opcode::known(name) {
                return Err(Problem::new(range, format!("expected a predicate, found `{name}`"), help));
            }
            if self.reports(name) {
                let registers = self.body.names(|entry| matches!(entry, Entry::Register(_)));
                let help = close(name, registers)
                    .map_or(help.into(), |near| format!("the nearest declared one is `{near}`"));
                self.report(Problem::new(range, format!("register `{name}` is not declared"), help));
            }
            return Ok(None);
        }
        match self.named(name, start, Flow::Plain)? {
            Operand::Register(register) => {
                let ty = self.body.function.registers.get(register.0 as usize).and_then(|r| r.ty);
                if ty.is_some_and(|ty| ty != Type::Pred) {
                    let message = format!("the guard `{name}` is not a predicate");
                    return Err(Problem::new(range, message, "declare the register as .reg .pred"));
                }
                Ok(Some(register))
            }
            Operand::Sink => Ok(None),
            _ => Err(Problem::new(range, format!("the guard `{name}` is not a predicate"), help)),
        }
    }
}

fn number_operand<'t>(number: Number) -> Operand<'t> {
    match number {
        Number::Integer(value) => Operand::Integer(value as i64),
        Number::Single(bits) => Operand::Single(bits),
        Number::Double(bits) => Operand::Double(bits),
    }
}
