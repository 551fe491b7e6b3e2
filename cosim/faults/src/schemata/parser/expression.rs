//! Parses expressions by precedence climbing.

use super::{Parsed, Parser};
use crate::schemata::lexer::Kind;
use crate::schemata::syntax::{Expr, Node, Operator, Select};

/// Returns the precedence of a binary operator. `inside` counts as a comparison.
fn precedence(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" | "~^" => 4,
        "&" => 5,
        "==" | "!=" | "===" | "!==" | "==?" | "!=?" => 6,
        "<" | "<=" | ">" | ">=" | "inside" => 7,
        "<<" | ">>" | "<<<" | ">>>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        "**" => 11,
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let condition = self.operand(1)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(":")?;
        let otherwise = self.expression()?;
        let node = Node::Choice(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Expr { span: self.span_from(start), node })
    }

    /// Parses operators with a precedence of at least `weakest`.
    fn operand(&mut self, weakest: u8) -> Parsed<Expr> {
        let start = self.start();
        let mut left = self.unary()?;
        while let Some(strength) = precedence(self.peek()).filter(|strength| *strength >= weakest) {
            let (sign, at) = (self.peek().to_owned(), self.start());
            self.at += 1;
            let operator = Operator { span: self.span_from(at), sign };
            let node = if operator.sign == "inside" {
                Node::Inside(Box::new(left), self.list("{", "}")?)
            } else {
                let right = self.operand(strength + 1)?;
                Node::Binary(operator, Box::new(left), Box::new(right))
            };
            left = Expr { span: self.span_from(start), node };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let sign = self.peek();
        if matches!(sign, "!" | "~" | "-" | "+" | "&" | "|" | "^" | "~&" | "~|" | "~^") {
            self.at += 1;
            let value = self.unary()?;
            let node = Node::Unary(sign.to_owned(), Box::new(value));
            return Ok(Expr { span: self.span_from(start), node });
        }
        self.postfix()
    }

    /// Parses a primary with its selects, members and casts. An assignment target has this form.
    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let mut value = self.primary()?;
        loop {
            let node = match self.peek() {
                "[" => self.select(value)?,
                "." => {
                    self.at += 1;
                    Node::Member(Box::new(value), self.name()?)
                }
                "'(" => {
                    self.at += 1;
                    let inner = self.expression()?;
                    self.expect(")")?;
                    Node::Cast(Box::new(inner))
                }
                _ => return Ok(value),
            };
            value = Expr { span: self.span_from(start), node };
        }
    }

    fn select(&mut self, of: Expr) -> Parsed<Node> {
        self.expect("[")?;
        let first = Box::new(self.expression()?);
        let select = match self.peek() {
            "]" => Select::One(first),
            "+:" | "-:" => {
                self.at += 1;
                self.expression()?;
                Select::From(first)
            }
            _ => {
                self.expect(":")?;
                self.expression()?;
                Select::Constant
            }
        };
        self.expect("]")?;
        Ok(Node::Select(Box::new(of), select))
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let node = match (self.kind_at(0), self.peek()) {
            (Some(Kind::Number), _) => self.literal(Node::Number),
            (Some(Kind::Fill), _) => self.literal(Node::Fill),
            (Some(Kind::Text), _) => self.literal(Node::Text),
            (Some(Kind::Word), _) => {
                let mut name = self.name()?;
                while self.take("::") {
                    name = format!("{name}::{}", self.name()?);
                }
                if self.peek() == "(" { Node::Call(name, self.list("(", ")")?) } else { Node::Name(name) }
            }
            (Some(Kind::Sign), "(") => {
                self.at += 1;
                // Leave the parentheses out of the span, so that they stay when the expression is rewritten.
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            (Some(Kind::Sign), "{") => self.concat()?,
            (Some(Kind::Sign), "'{") => self.pattern()?,
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expr { span: self.span_from(start), node })
    }

    fn literal(&mut self, node: Node) -> Node {
        self.at += 1;
        node
    }

    /// Parses a bracketed list of expressions, separated by commas.
    pub(super) fn list(&mut self, open: &str, close: &str) -> Parsed<Vec<Expr>> {
        self.expect(open)?;
        let mut found = Vec::new();
        while !self.take(close) {
            // In an `inside` list, a range counts as its two bounds.
            let range = self.take("[");
            found.push(self.expression()?);
            if range {
                self.expect(":")?;
                found.push(self.expression()?);
                self.expect("]")?;
            }
            if self.peek() != close {
                self.expect(",")?;
            }
        }
        Ok(found)
    }

    fn concat(&mut self) -> Parsed<Node> {
        self.expect("{")?;
        let first = self.expression()?;
        if self.peek() == "{" {
            let repeated = self.list("{", "}")?;
            self.expect("}")?;
            return Ok(Node::Repeat(repeated));
        }
        let mut parts = vec![first];
        while self.take(",") {
            parts.push(self.expression()?);
        }
        self.expect("}")?;
        Ok(Node::Concat(parts))
    }

    fn pattern(&mut self) -> Parsed<Node> {
        self.expect("'{")?;
        let mut found = Vec::new();
        while !self.take("}") {
            let named = self.kind_at(0) == Some(Kind::Word) && self.peek_at(1) == ":";
            let name = if named { Some(self.name()?) } else { None };
            if named {
                self.expect(":")?;
            }
            found.push((name, self.expression()?));
            if self.peek() != "}" {
                self.expect(",")?;
            }
        }
        Ok(Node::Pattern(found))
    }
}
