//! Parses modules, packages and their items.

use super::{Parsed, Parser};
use crate::schemata::lexer::Kind;
use crate::schemata::syntax::{Direction, Function, Instance, Item, Placed, Port, SourceUnit, StmtNode};

impl Parser<'_> {
    pub(super) fn unit(&mut self) -> Parsed<SourceUnit> {
        let end = match self.peek() {
            "module" => "endmodule",
            "package" => "endpackage",
            _ => return Err(self.unexpected("`module` or `package`")),
        };
        self.at += 1;
        let name = self.name()?;
        while self.peek() == "import" {
            self.skip_statement()?;
        }
        if self.take("#") {
            self.skip_brackets()?;
        }
        let ports = if self.peek() == "(" { self.ports()? } else { Vec::new() };
        self.expect(";")?;
        let body = self.span_from(0).end;
        let mut items = Vec::new();
        while !self.take(end) {
            self.item(&mut items)?;
        }
        self.skip_label()?;
        Ok(SourceUnit { name, ports, items, body })
    }

    /// Parses ports or arguments in parentheses. A port without a direction has that of the port before it.
    fn ports(&mut self) -> Parsed<Vec<Port>> {
        self.expect("(")?;
        let mut found = Vec::new();
        let (mut direction, mut name) = (Direction::In, None);
        loop {
            match self.peek() {
                "input" => (direction, self.at) = (Direction::In, self.at + 1),
                "output" => (direction, self.at) = (Direction::Out, self.at + 1),
                "[" => self.skip_brackets()?,
                "," | ")" => {
                    let last = self.peek() == ")";
                    self.at += 1;
                    if let Some(name) = name.take() {
                        found.push(Port { name, direction });
                    }
                    if last {
                        return Ok(found);
                    }
                }
                "" => return Err(self.unexpected("`)`")),
                word => {
                    // The last word of a port is its name. The words before it are its type.
                    if self.kind_at(0) == Some(Kind::Word) {
                        name = Some(word.to_owned());
                    }
                    self.at += 1;
                }
            }
        }
    }

    /// Parses the next item. Adds none for a declaration, and several for a generate block.
    fn item(&mut self, into: &mut Vec<Placed>) -> Parsed<()> {
        let probe = self.tokens.get(self.at).is_some_and(|token| token.probe);
        let mut place = |item| into.push(Placed { item, probe });
        match self.peek() {
            "assign" => {
                self.at += 1;
                loop {
                    let target = self.target()?;
                    self.expect("=")?;
                    place(Item::Assign { target, value: self.expression()? });
                    if !self.take(",") {
                        break;
                    }
                }
                self.expect(";")
            }
            "always_comb" => {
                self.at += 1;
                place(Item::Comb(self.statement()?));
                Ok(())
            }
            "always_ff" => {
                self.at += 1;
                self.expect("@")?;
                self.skip_brackets()?;
                place(Item::Registers(self.statement()?));
                Ok(())
            }
            "function" => {
                place(Item::Function(self.function()?));
                Ok(())
            }
            "if" | "for" => {
                self.at += 1;
                self.skip_brackets()?;
                self.item(into)?;
                if self.take("else") { self.item(into) } else { Ok(()) }
            }
            "begin" => {
                self.at += 1;
                self.skip_label()?;
                while !self.take("end") {
                    self.item(into)?;
                }
                self.skip_label()
            }
            ";" => {
                self.at += 1;
                Ok(())
            }
            _ if self.instance_begins() => {
                place(Item::Instance(self.instance()?));
                Ok(())
            }
            _ if self.declares() || matches!(self.peek(), "parameter") => self.skip_statement(),
            _ => Err(self.unexpected("an item of a module")),
        }
    }

    /// True at `module name (` or `module #(`.
    fn instance_begins(&self) -> bool {
        let word = |ahead| self.kind_at(ahead) == Some(Kind::Word);
        word(0) && (self.peek_at(1) == "#" || word(1) && self.peek_at(2) == "(")
    }

    fn instance(&mut self) -> Parsed<Instance> {
        let start = self.start();
        let module = self.name()?;
        if self.take("#") {
            self.skip_brackets()?;
        }
        self.name()?;
        self.expect("(")?;
        let mut connections = Vec::new();
        while !self.take(")") {
            self.expect(".")?;
            let port = self.name()?;
            let mut value = None;
            if self.take("(") {
                if self.peek() != ")" {
                    value = Some(self.expression()?);
                }
                self.expect(")")?;
            }
            connections.push((port, value));
            if self.peek() != ")" {
                self.expect(",")?;
            }
        }
        self.expect(";")?;
        Ok(Instance { module, connections, span: self.span_from(start) })
    }

    fn function(&mut self) -> Parsed<Function> {
        self.expect("function")?;
        self.take("automatic");
        // The last word before the arguments is the name.
        let mut name = String::new();
        while self.peek() != "(" {
            match self.peek() {
                "[" => self.skip_brackets()?,
                ";" | "" => return Err(self.unexpected("the arguments of a function")),
                word => {
                    name = word.to_owned();
                    self.at += 1;
                }
            }
        }
        let arguments = self.ports()?;
        self.expect(";")?;
        let mut body = Vec::new();
        while !self.take("endfunction") {
            let statement = self.statement()?;
            if !matches!(statement.node, StmtNode::Other) {
                body.push(statement);
            }
        }
        self.skip_label()?;
        Ok(Function { name, arguments, body })
    }
}
