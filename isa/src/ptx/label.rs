//! Labels: their definitions, and the resolution of names that refer to them.

use super::ast::{Function, Label, LabelId, Operand, Symbol};
use super::parser::{Parsed, Parser};
use super::scope::{Entry, Flow, Found, Reference, SUGGESTIONS, Site, Target};
use crate::nearest::close;
use crate::problem::Problem;
use std::cmp::Reverse;
use std::collections::HashMap;
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
            let help = "labels must differ within a block; put { } around one of them";
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

    /// Ends an inner block. References in the block to its own labels are resolved. The remaining ones are
    /// passed to the outer block.
    pub(super) fn close(&mut self) {
        let Some(scope) = self.body.scopes.pop() else { return };
        let mut left = self.resolve(&scope.labels, scope.pending);
        self.body.scope().pending.append(&mut left);
    }

    /// Resolves references that name one of `labels`. Returns the references that name another label.
    fn resolve(
        &mut self,
        labels: &HashMap<&'t str, Target>,
        mut pending: Vec<Reference<'t>>,
    ) -> Vec<Reference<'t>> {
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
                let message = format!("`{}` is not the label of an instruction", reference.name);
                self.report(Problem::new(reference.range.clone(), message, "name labels of instructions"));
            }
        }
    }

    /// Ends the function body. A reference to an unknown label is reported as a problem, except among loose
    /// instructions, where the name becomes a variable.
    pub(super) fn finish(&mut self) -> Function<'t> {
        let scope = self.body.scope();
        let (labels, pending) = (std::mem::take(&mut scope.labels), std::mem::take(&mut scope.pending));
        for reference in self.resolve(&labels, pending) {
            self.unresolved(&reference);
        }
        let mut body = std::mem::take(&mut self.body);
        // Placeholder labels have descending numbers, in order of first use. Descending order of numbers is
        // therefore the order of the instructions.
        body.found.sort_unstable_by_key(|(_, label, _)| Reverse(label.0));
        let mut instructions: Vec<u32> = body.found.iter().map(|(instruction, ..)| *instruction).collect();
        instructions.dedup();
        for instruction in instructions {
            if let Some(instruction) = body.function.instructions.get_mut(instruction as usize) {
                patch(&mut instruction.operands, &mut body.found);
            }
        }
        body.function
    }

    fn unresolved(&mut self, reference: &Reference<'t>) {
        let Reference { name, range, offset, site } = reference;
        match *site {
            Site::Operand { instruction, label, flow: flow @ (Flow::Plain | Flow::Call) } if self.loose => {
                let operand = if flow == Flow::Call {
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
            Site::Operand { flow: Flow::Plain | Flow::Call, .. } if offset.is_some() => {
                self.undeclared_variable(name, range.clone());
            }
            site => {
                if !self.reports(name) {
                    return;
                }
                let (what, help) = match site {
                    Site::Operand { flow: Flow::Call, .. } => {
                        ("function", "declare the function before the call: .func name;")
                    }
                    Site::Operand { flow: Flow::Plain, .. } => {
                        ("name", "declare a register, a variable or a label of this name")
                    }
                    _ => ("label", "write the label NAME: before an instruction"),
                };
                let near = {
                    let labels = self.body.function.labels.iter().map(|l| l.name).take(SUGGESTIONS);
                    let globals = self.globals.keys().copied().take(SUGGESTIONS);
                    match what {
                        "label" => close(name, labels),
                        "function" => close(name, globals),
                        _ => close(name, labels.chain(globals).chain(self.body.names(|_| true))),
                    }
                };
                let help = match near {
                    Some(near) if near == *name => {
                        "the label with this name is inside a block: put the label and its use in the same block".into()
                    }
                    Some(near) => format!("the nearest declared one is `{near}`"),
                    None => help.into(),
                };
                self.report(Problem::new(range.clone(), format!("{what} `{name}` is not declared"), help));
            }
        }
    }
}

fn patch<'t>(operands: &mut [Operand<'t>], found: &mut [Found<'t>]) {
    for operand in operands {
        match operand {
            Operand::Label(label) => {
                let place = found.binary_search_by_key(&Reverse(label.0), |(_, label, _)| Reverse(label.0));
                if let Some((.., known)) = place.ok().and_then(|place| found.get_mut(place)) {
                    *operand = std::mem::replace(known, Operand::Sink);
                }
            }
            Operand::Vector(inner) | Operand::List(inner) => patch(inner, found),
            Operand::Pair(inner) => patch(inner.as_mut_slice(), found),
            _ => {}
        }
    }
}
