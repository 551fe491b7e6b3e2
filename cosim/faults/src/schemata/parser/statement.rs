//! Parses statements of processes and functions.

use super::{Parsed, Parser};
use crate::schemata::lexer::Kind;
use crate::schemata::syntax::{Expr, Node, Stmt, StmtNode};

const DECLARING: [&str; 12] = [
    "automatic",
    "static",
    "var",
    "logic",
    "bit",
    "int",
    "integer",
    "byte",
    "localparam",
    "typedef",
    "import",
    "genvar",
];

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.start();
        let node = self.statement_node()?;
        Ok(Stmt { span: self.span_from(start), node })
    }

    fn statement_node(&mut self) -> Parsed<StmtNode> {
        if matches!(self.peek(), "unique" | "unique0" | "priority") {
            self.at += 1;
        }
        match self.peek() {
            ";" => {
                self.at += 1;
                return Ok(StmtNode::Other);
            }
            "begin" => return self.block(),
            "if" => {
                self.at += 1;
                let condition = self.in_parentheses()?;
                let then = Box::new(self.statement()?);
                let otherwise = if self.take("else") { Some(Box::new(self.statement()?)) } else { None };
                return Ok(StmtNode::If(condition, then, otherwise));
            }
            "case" | "casez" => return self.case(),
            "for" => {
                self.at += 1;
                self.skip_brackets()?;
                return Ok(StmtNode::For(Box::new(self.statement()?)));
            }
            "assert" | "assume" | "cover" | "return" => {
                self.skip_statement()?;
                return Ok(StmtNode::Other);
            }
            _ => {}
        }
        if self.declares() {
            self.skip_statement()?;
            return Ok(StmtNode::Other);
        }
        let target = self.target()?;
        let sign = self.peek().to_owned();
        let node = match sign.as_str() {
            "=" | "<=" | "+=" | "-=" | "&=" | "|=" | "^=" => {
                self.at += 1;
                StmtNode::Assign { target, sign, value: self.expression()? }
            }
            ";" if matches!(target.node, Node::Call(..)) => StmtNode::Call(target),
            _ => return Err(self.unexpected("an assignment or a call")),
        };
        self.expect(";")?;
        Ok(node)
    }

    pub(super) fn target(&mut self) -> Parsed<Expr> {
        self.postfix()
    }

    pub(super) fn in_parentheses(&mut self) -> Parsed<Expr> {
        self.expect("(")?;
        let inner = self.expression()?;
        self.expect(")")?;
        Ok(inner)
    }

    /// True if a declaration begins here, with a keyword or with a type and a name.
    pub(super) fn declares(&self) -> bool {
        if DECLARING.contains(&self.peek()) {
            return true;
        }
        let word = |ahead| self.kind_at(ahead) == Some(Kind::Word);
        word(0)
            && (word(1) || self.peek_at(1) == "::" && word(2) && word(3) || self.dimensions_before_a_name())
    }

    /// True at a type with packed dimensions, such as `word_t [3:0] name`.
    fn dimensions_before_a_name(&self) -> bool {
        let mut ahead = 1;
        while self.peek_at(ahead) == "[" {
            while !matches!(self.peek_at(ahead), "]" | "") {
                ahead += 1;
            }
            ahead += 1;
        }
        ahead > 1 && self.kind_at(ahead) == Some(Kind::Word)
    }

    fn block(&mut self) -> Parsed<StmtNode> {
        self.expect("begin")?;
        self.skip_label()?;
        let mut found = Vec::new();
        while !self.take("end") {
            found.push(self.statement()?);
        }
        self.skip_label()?;
        Ok(StmtNode::Block(found))
    }

    fn case(&mut self) -> Parsed<StmtNode> {
        self.at += 1;
        let subject = self.in_parentheses()?;
        let mut arms = Vec::new();
        while !self.take("endcase") {
            let mut labels = Vec::new();
            if self.take("default") {
                self.take(":");
            } else {
                labels.push(self.expression()?);
                while self.take(",") {
                    labels.push(self.expression()?);
                }
                self.expect(":")?;
            }
            arms.push((labels, self.statement()?));
        }
        Ok(StmtNode::Case(subject, arms))
    }
}
