//! Labels: where they stand, and who names them.

use super::ast::{Function, Label, LabelId, Operand, Symbol};
use super::body::SUGGESTIONS;
use super::parser::{Parsed, Parser};
use super::scope::{Entry, Reference, Scope, Site, Target};
use crate::nearest::close;
use crate::problem::Problem;
use std::ops::Range;

impl<'t> Parser<'t> {
    pub(super) fn label_here(&mut self, name: &'t str, range: Range<usize>) -> Parsed<()> {
        let mut look = self.cursor.clone();
        look.trivia();
        let target = match look.dotted() {
            Some("branchtargets") => {
                self.cursor = look;
                Target::Table(self.branch_targets()?)
            }
            Some("callprototype" | "calltargets") => {
                self.cursor = look;
                while !matches!(self.cursor.peek(), b';' | b'{' | b'}') && !self.cursor.at_end() {
                    self.cursor.bump_char();
                    self.cursor.trivia();
                }
                self.semicolon()?;
                Target::Other
            }
            _ => {
                let id = LabelId(self.body.function.labels.len() as u32);
                let at = self.body.function.instructions.len() as u32;
                self.body.function.labels.push(Label { name, at });
                Target::Label(id)
            }
        };
        if self.body.scope().labels.insert(name, target).is_some() {
            let help = "labels differ within a block; put { } around one of them";
            return Err(Problem::new(range, format!("a second label `{name}`"), help));
        }
        Ok(())
    }

    fn branch_targets(&mut self) -> Parsed<u32> {
        let table = self.body.function.branch_targets.len() as u32;
        self.body.function.branch_targets.push(Vec::new());
        let mut count = 0;
        loop {
            let (name, range) = self.declared_name()?;
            let site = Site::Table { table, entry: count };
            self.body.scope().pending.push(Reference { name, range, offset: None, site });
            count += 1;
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.semicolon()?;
        if let Some(targets) = self.body.function.branch_targets.get_mut(table as usize) {
            targets.resize(count as usize, LabelId(u32::MAX));
        }
        Ok(table)
    }

    /// Ends a block inside another: labels of the block get their numbers, others are looked for outside.
    pub(super) fn close(&mut self) {
        let Some(scope) = self.body.scopes.pop() else { return };
        let mut left = self.resolve(scope);
        self.body.scope().pending.append(&mut left);
    }

    /// Finds the labels of a block; gives those that are not in it.
    fn resolve(&mut self, scope: Scope<'t>) -> Vec<Reference<'t>> {
        let Scope { labels, mut pending, .. } = scope;
        pending.retain(|reference| match (labels.get(reference.name), reference.offset) {
            (Some(target), None) => {
                self.settle(reference, *target);
                false
            }
            _ => true,
        });
        pending
    }

    fn settle(&mut self, reference: &Reference<'t>, target: Target) {
        match (reference.site, target) {
            (Site::Operand { instruction, label, .. }, target) => {
                let operand = match target {
                    Target::Label(id) => Operand::Label(id),
                    Target::Table(table) => Operand::Targets(table),
                    Target::Other => Operand::Name(reference.name),
                };
                self.body.found.push((instruction, label, operand));
            }
            (Site::Table { table, entry }, Target::Label(id)) => {
                let targets = self.body.function.branch_targets.get_mut(table as usize);
                if let Some(target) = targets.and_then(|t| t.get_mut(entry as usize)) {
                    *target = id;
                }
            }
            (Site::Table { .. }, _) => {
                let message = format!("`{}` is no label of an instruction", reference.name);
                self.report(Problem::new(
                    reference.range.clone(),
                    message,
                    "name labels before instructions",
                ));
            }
        }
    }

    /// Ends the body: labels that are not found are reported, or in a loose text are variables.
    pub(super) fn finish(&mut self) -> Function<'t> {
        let outermost = std::mem::take(self.body.scope());
        let names: Vec<&'t str> = outermost.labels.keys().copied().take(SUGGESTIONS).collect();
        for reference in self.resolve(outermost) {
            self.unresolved(&reference, &names);
        }
        let mut body = std::mem::take(&mut self.body);
        for (instruction, label, operand) in body.found {
            let operands = body.function.instructions.get_mut(instruction as usize).map(|i| &mut i.operands);
            if let Some(place) = operands.and_then(|o| find_label(o, label)) {
                *place = operand;
            }
        }
        body.function
    }

    fn unresolved(&mut self, reference: &Reference<'t>, labels: &[&'t str]) {
        let Reference { name, range, offset, site } = reference;
        match *site {
            Site::Operand { instruction, label, branch: false, call } if self.loose => {
                let operand = if call {
                    Operand::Name(name)
                } else {
                    let known = self.body.find(name);
                    let symbol = match known {
                        Some(Entry::Variable(index)) => Symbol::Local(index),
                        _ => self.loose_variable(name),
                    };
                    Operand::Symbol { symbol, offset: offset.unwrap_or(0) }
                };
                self.body.found.push((instruction, label, operand));
            }
            Site::Operand { branch: false, .. } if offset.is_some() => {
                self.undeclared_variable(name, range.clone());
            }
            site => {
                if !self.reports(name) {
                    return;
                }
                let (what, help) = match site {
                    Site::Operand { call: true, .. } => ("function", "declare it before: .func name;"),
                    Site::Operand { branch: false, .. } => {
                        ("name", "declare a register, a variable or a label of this name")
                    }
                    _ => ("label", "put NAME: before an instruction"),
                };
                let globals = self.globals.keys().copied().take(SUGGESTIONS);
                let near = match what {
                    "label" => close(name, labels.iter().copied()),
                    "function" => close(name, globals),
                    _ => close(name, labels.iter().copied().chain(globals)),
                };
                let help = near.map_or(help.into(), |near| format!("the nearest one declared is `{near}`"));
                self.report(Problem::new(range.clone(), format!("{what} `{name}` is not declared"), help));
            }
        }
    }
}

/// The operand that is this label, also inside vectors and lists.
fn find_label<'a, 't>(operands: &'a mut [Operand<'t>], wanted: LabelId) -> Option<&'a mut Operand<'t>> {
    operands.iter_mut().find_map(|operand| match operand {
        Operand::Label(label) if *label == wanted => Some(operand),
        Operand::Vector(inner) | Operand::List(inner) => find_label(inner, wanted),
        Operand::Pair(inner) => find_label(inner.as_mut_slice(), wanted),
        _ => None,
    })
}
