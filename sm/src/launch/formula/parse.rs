//! Parser: from tokens to a tree with resolved names.

use super::lex::{Kind, Token, tokens};
use super::operator::{BINARY, FOLDS, FUNCTIONS, Fold, Function, invert, negate};
use super::tree::{Formula, Node, Part};
use super::value::Value;
use super::{FormulaError, Names};
use crate::launch::element::Element;
use atoms_isa::nearest;
use std::ops::Range;

/// Limit for the nesting depth. Deeper formulas are mistakes, and would exhaust the stack.
const DEEPEST: usize = 100;

pub(super) fn parse<'a>(text: &str, names: &Names<'a>) -> Result<Formula<'a>, FormulaError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, names, locals: vec!["i".into()], most: 1, depth: 0 };
    let root = parser.choice()?;
    let next = parser.peek();
    if next.kind != Kind::End {
        let message = format!("{} after the end of the formula", show(next.kind));
        return Err(FormulaError::new(next.range.clone(), message, "an operator is missing, or a bracket"));
    }
    Ok(Formula { root, locals: parser.most })
}

struct Parser<'t, 'n, 'a> {
    tokens: &'t [Token<'t>],
    at: usize,
    names: &'n Names<'a>,
    locals: Vec<String>,
    most: usize,
    depth: usize,
}

fn show(kind: Kind<'_>) -> String {
    match kind {
        Kind::Int(value) => format!("`{value}`"),
        Kind::Float(value) => format!("`{value}`"),
        Kind::Name(name) => format!("`{name}`"),
        Kind::Mark(mark) => format!("`{mark}`"),
        Kind::End => "the end".into(),
    }
}

/// Help for an unknown name: the most similar known one.
fn instead<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    format!("the nearest is `{}`", nearest(name, known).unwrap_or_default())
}

impl<'t, 'a> Parser<'t, '_, 'a> {
    fn peek(&self) -> &'t Token<'t> {
        // The last token is the end token.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> &'t Token<'t> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn takes(&mut self, mark: &str) -> bool {
        let there = matches!(self.peek().kind, Kind::Mark(found) if found == mark);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, mark: &str, help: &str) -> Result<(), FormulaError> {
        if self.takes(mark) {
            return Ok(());
        }
        let token = self.peek();
        let message = format!("expected `{mark}`, found {}", show(token.kind));
        Err(FormulaError::new(token.range.clone(), message, help))
    }

    fn node(&self, from: usize, part: Part<'a>) -> Node<'a> {
        Node { part, range: from..self.end().max(from) }
    }

    fn deeper(&mut self) -> Result<(), FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("the formula is nested more than {DEEPEST} levels deep");
            return Err(FormulaError::new(self.peek().range.clone(), message, "write a simpler formula"));
        }
        Ok(())
    }

    /// Parses `a ? b : c`, or an expression of higher precedence.
    fn choice(&mut self) -> Result<Node<'a>, FormulaError> {
        let from = self.peek().range.start;
        self.deeper()?;
        let condition = self.binary(0)?;
        let node = if self.takes("?") {
            let then = self.choice()?;
            self.expect(":", "write a choice as `condition ? one : other`")?;
            let other = self.choice()?;
            self.node(from, Part::Choice(Box::new([condition, then, other])))
        } else {
            condition
        };
        self.depth -= 1;
        Ok(node)
    }

    fn binary(&mut self, least: u8) -> Result<Node<'a>, FormulaError> {
        let from = self.peek().range.start;
        let mut left = self.unary()?;
        loop {
            let Kind::Mark(mark) = self.peek().kind else { return Ok(left) };
            let Some((_, power, op)) = BINARY.iter().find(|(m, power, _)| *m == mark && *power > least)
            else {
                return Ok(left);
            };
            self.at += 1;
            let right = self.binary(*power)?;
            let constant = |value: i128| Node { part: Part::Constant(Value::Int(value)), range: from..from };
            let truth = |node: Node<'a>| {
                let of = Function::Of(|value| Ok(Value::truth(value.holds())));
                Node { range: node.range.clone(), part: Part::Call(of, vec![node]) }
            };
            let part = match (mark, op) {
                (_, Some(op)) => Part::Call(Function::OfAll(*op), vec![left, right]),
                ("&&", None) => Part::Choice(Box::new([left, truth(right), constant(0)])),
                (_, None) => Part::Choice(Box::new([left, constant(1), truth(right)])),
            };
            left = self.node(from, part);
        }
    }

    fn unary(&mut self) -> Result<Node<'a>, FormulaError> {
        let from = self.peek().range.start;
        let op = match self.peek().kind {
            Kind::Mark("-") => Function::Of(negate),
            Kind::Mark("~") => Function::Of(invert),
            Kind::Mark("!") => Function::Of(|value| Ok(Value::truth(!value.holds()))),
            _ => return self.primary(),
        };
        self.at += 1;
        self.deeper()?;
        let operand = self.unary()?;
        self.depth -= 1;
        Ok(self.node(from, Part::Call(op, vec![operand])))
    }

    fn primary(&mut self) -> Result<Node<'a>, FormulaError> {
        let token = self.next();
        let from = token.range.start;
        match token.kind {
            Kind::Int(value) => Ok(self.node(from, Part::Constant(Value::Int(value)))),
            Kind::Float(value) => Ok(self.node(from, Part::Constant(Value::Float(value)))),
            Kind::Mark("(") => {
                let inside = self.choice()?;
                self.expect(")", "the bracket is not closed")?;
                Ok(Node { range: from..inside.range.end + 1, ..inside })
            }
            Kind::Name(name) if self.peek().kind == Kind::Mark("(") => self.call(name, token.range.clone()),
            Kind::Name(name) => self.named(name, token.range.clone()),
            other => {
                let message = format!("expected a value, found {}", show(other));
                let help = "a value is a number, a name, `name[index]`, a call or a formula in brackets";
                Err(FormulaError::new(token.range.clone(), message, help))
            }
        }
    }

    fn named(&mut self, name: &str, range: Range<usize>) -> Result<Node<'a>, FormulaError> {
        if let Some(number) = self.locals.iter().rposition(|local| local == name) {
            return Ok(self.node(range.start, Part::Local(number)));
        }
        if let Some((element, bytes)) = self.names.buffer(name) {
            self.expect("[", "a buffer is read one element at a time: `name[index]`")?;
            let index = self.choice()?;
            self.expect("]", "the index is not closed")?;
            return Ok(self.node(range.start, Part::Element(element, bytes, Box::new(index))));
        }
        if let Some(value) = self.names.scalar(name) {
            return Ok(self.node(range.start, Part::Constant(value)));
        }
        let known = self.names.all().chain(self.locals.iter().map(String::as_str));
        let message = format!("no buffer, scalar or variable `{name}`");
        Err(FormulaError::new(range, message, instead(name, known)))
    }

    fn call(&mut self, name: &str, range: Range<usize>) -> Result<Node<'a>, FormulaError> {
        self.expect("(", "")?;
        if name == "len" {
            return self.length(range);
        }
        if let (Kind::Name(variable), Some(Kind::Name("in"))) =
            (self.peek().kind, self.tokens.get(self.at + 1).map(|t| t.kind))
            && let Some(fold) = FOLDS.iter().find(|fold| fold.0 == name)
        {
            return self.fold(fold, variable, range);
        }
        let function = FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function);
        let Some(function) = function.or(Element::from_name(name).map(Function::As)) else {
            return Err(unknown_function(name, range));
        };
        let mut arguments = vec![self.choice()?];
        while self.takes(",") {
            arguments.push(self.choice()?);
        }
        self.expect(")", "the call is not closed")?;
        if !matches!(function, Function::OfAll(_)) && arguments.len() != 1 {
            let message = format!("`{name}` with {} arguments", arguments.len());
            return Err(FormulaError::new(range.start..self.end(), message, "it takes one argument"));
        }
        Ok(self.node(range.start, Part::Call(function, arguments)))
    }

    fn end(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |t| t.range.end)
    }

    /// Parses `len(buffer)`, after the opening bracket.
    fn length(&mut self, range: Range<usize>) -> Result<Node<'a>, FormulaError> {
        let token = self.next();
        let found = match token.kind {
            Kind::Name(name) => self.names.buffer(name),
            _ => None,
        };
        let Some((element, bytes)) = found else {
            let message = format!("`len` of {}, which is not a buffer", show(token.kind));
            return Err(FormulaError::new(
                token.range.clone(),
                message,
                "write `len(name)` with the name of a buffer",
            ));
        };
        self.expect(")", "the call is not closed")?;
        let count = bytes.len() / element.bytes();
        Ok(self.node(range.start, Part::Constant(Value::Int(count as i128))))
    }

    /// Parses `sum(j in a..b: body)`, from `j` on.
    fn fold(
        &mut self,
        fold: &'static Fold,
        variable: &str,
        range: Range<usize>,
    ) -> Result<Node<'a>, FormulaError> {
        self.at += 2;
        let help = "write `sum(j in 0..n: formula)`";
        let first = self.binary(0)?;
        self.expect("..", help)?;
        let end = self.binary(0)?;
        self.expect(":", help)?;
        self.locals.push(variable.into());
        self.most = self.most.max(self.locals.len());
        let number = self.locals.len() - 1;
        let body = self.choice()?;
        self.locals.pop();
        self.expect(")", help)?;
        Ok(self.node(range.start, Part::Fold(fold, number, Box::new([first, end, body]))))
    }
}

fn unknown_function(name: &str, range: Range<usize>) -> FormulaError {
    let functions = FUNCTIONS.iter().map(|(name, _)| *name);
    let folds = FOLDS.iter().map(|fold| fold.0);
    let types = Element::ALL.iter().map(|(_, name, _)| *name);
    let known = functions.chain(folds).chain(types).chain(["len"]);
    FormulaError::new(range, format!("no function `{name}`"), instead(name, known))
}
