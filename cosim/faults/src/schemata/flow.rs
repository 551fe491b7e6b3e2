//! Data flow: the lines that a signal depends on, and their distances.

use crate::schemata::insert::SchemataError;
use crate::schemata::parser::parse;
use crate::schemata::syntax::{
    Direction, Expr, Function, Instance, Item, Node, Select, SourceUnit, Stmt, StmtNode,
};
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::ops::Range;

/// Distance of an assignment.
const ASSIGNMENT: u32 = 10;
/// Distance of a port connection or of an assignment that only copies a name.
const CONNECTION: u32 = 2;
/// Additional distance of each condition around an assignment, from the inside out.
const CONDITION: u32 = 5;

/// Data flow of a design. All instances of a module count as one, and so do all elements of an array and all
/// members of a structure. The result can have too many dependencies, never too few.
#[derive(Clone, Debug, Default)]
pub struct DataFlow {
    /// Writes of each signal. The key is `module.signal` or `module.function.variable`.
    writers: HashMap<String, Vec<SignalWrite>>,
}

/// Source file and line number, from 1.
pub type RtlLine = (String, usize);

#[derive(Clone, Debug)]
struct SignalWrite {
    cost: u32,
    /// Lines of the assignment and of the conditions around it, each with its additional distance.
    lines: Vec<(RtlLine, u32)>,
    reads: Vec<String>,
}

impl DataFlow {
    /// Reads `sources`, given as names and texts.
    ///
    /// # Errors
    /// [`SchemataError`] of the first unsupported construct.
    pub fn read(sources: &[(String, String)]) -> Result<DataFlow, SchemataError> {
        let mut files = Vec::new();
        for (file, text) in sources {
            let units = parse(text).map_err(|error| SchemataError { file: file.clone(), error })?;
            files.push((file, text, units));
        }
        let all: Vec<&SourceUnit> = files.iter().flat_map(|(_, _, units)| units).collect();
        let mut flow = DataFlow::default();
        for (file, text, units) in &files {
            for unit in units {
                let mut reader = Reader {
                    file,
                    text,
                    unit,
                    all: &all,
                    function: None,
                    under: Vec::new(),
                    flow: &mut flow,
                };
                for placed in &unit.items {
                    reader.item(&placed.item);
                }
            }
        }
        Ok(flow)
    }

    /// Returns every line that `signal` of `module` depends on, with its distance.
    pub fn distances(&self, module: &str, signal: &str) -> BTreeMap<RtlLine, u32> {
        let mut lines: BTreeMap<RtlLine, u32> = BTreeMap::new();
        let mut known: HashSet<&str> = HashSet::new();
        let start = format!("{module}.{signal}");
        let mut open = BinaryHeap::from([(std::cmp::Reverse(0), start.as_str())]);
        while let Some((std::cmp::Reverse(distance), signal)) = open.pop() {
            if !known.insert(signal) {
                continue;
            }
            for step in self.writers.get(signal).into_iter().flatten() {
                let distance = distance + step.cost;
                for (line, more) in &step.lines {
                    let least = lines.entry(line.clone()).or_insert(u32::MAX);
                    *least = (*least).min(distance + more);
                }
                open.extend(step.reads.iter().map(|read| (std::cmp::Reverse(distance), read.as_str())));
            }
        }
        lines
    }
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    unit: &'a SourceUnit,
    all: &'a [&'a SourceUnit],
    /// Function that is being read, and the names of its local variables.
    function: Option<(&'a Function, HashSet<&'a str>)>,
    under: Vec<&'a Expr>,
    flow: &'a mut DataFlow,
}

impl<'a> Reader<'a> {
    fn item(&mut self, item: &'a Item) {
        match item {
            Item::Assign { target, value } => self.write(target, value),
            Item::Comb(body) | Item::Registers(body) => self.statement(body),
            Item::Function(function) => {
                let mut own: HashSet<&str> =
                    function.arguments.iter().map(|port| port.name.as_str()).collect();
                own.insert(&function.name);
                for statement in &function.body {
                    written(statement, &mut own);
                }
                self.function = Some((function, own));
                for statement in &function.body {
                    self.statement(statement);
                }
                self.function = None;
            }
            Item::Instance(instance) => self.instance(instance),
        }
    }

    /// Returns the full name of `name`, local to the current function or to the module.
    fn key(&self, name: &str) -> String {
        match &self.function {
            Some((function, own)) if own.contains(name) => {
                format!("{}.{}.{name}", self.unit.name, function.name)
            }
            _ => format!("{}.{name}", self.unit.name),
        }
    }

    /// Finds the function `name`, first in the current unit, then in all units.
    fn callee(&self, name: &str) -> Option<(&'a SourceUnit, &'a Function)> {
        let name = name.rsplit("::").next().unwrap_or(name);
        let in_unit = |unit: &'a SourceUnit| {
            unit.items.iter().find_map(|placed| match &placed.item {
                Item::Function(function) if function.name == name => Some((unit, function)),
                Item::Function(_)
                | Item::Assign { .. }
                | Item::Comb(_)
                | Item::Registers(_)
                | Item::Instance(_) => None,
            })
        };
        in_unit(self.unit).or_else(|| self.all.iter().find_map(|unit| in_unit(unit)))
    }

    fn lines(&self, span: &Range<usize>) -> impl Iterator<Item = RtlLine> + use<'a> {
        let line = |at: usize| 1 + self.text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        let file = self.file;
        (line(span.start)..=line(span.end)).map(move |line| (file.to_owned(), line))
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.node {
            StmtNode::Block(statements) => {
                for statement in statements {
                    self.statement(statement);
                }
            }
            StmtNode::If(condition, then, otherwise) => {
                self.under.push(condition);
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
                self.under.pop();
            }
            StmtNode::Case(subject, arms) => {
                self.under.push(subject);
                for (_, arm) in arms {
                    self.statement(arm);
                }
                self.under.pop();
            }
            StmtNode::For(body) => self.statement(body),
            StmtNode::Assign { target, value, .. } => self.write(target, value),
            StmtNode::Call(call) => {
                let Node::Call(name, arguments) = &call.node else { return };
                let Some((unit, function)) = self.callee(name) else { return };
                self.reads(call);
                for (port, argument) in function.arguments.iter().zip(arguments) {
                    if let (Direction::Out, Some(target)) = (port.direction, base(argument)) {
                        let read = format!("{}.{}.{}", unit.name, function.name, port.name);
                        self.step(self.key(target), CONNECTION, &call.span, vec![read]);
                    }
                }
            }
            StmtNode::Other => {}
        }
    }

    fn write(&mut self, target: &'a Expr, value: &'a Expr) {
        let mut reads = self.reads(value);
        // The index decides which element is written, so it counts as read.
        if let Node::Select(_, Select::One(index) | Select::From(index)) = &target.node {
            reads.extend(self.reads(index));
        }
        let cost = if matches!(value.node, Node::Name(_)) { CONNECTION } else { ASSIGNMENT };
        let targets: Vec<&Expr> = match &target.node {
            Node::Concat(parts) => parts.iter().collect(),
            _ => vec![target],
        };
        for name in targets.into_iter().filter_map(base) {
            self.step(self.key(name), cost, &(target.span.start..value.span.end), reads.clone());
        }
    }

    fn step(&mut self, signal: String, cost: u32, span: &Range<usize>, mut reads: Vec<String>) {
        let mut lines: Vec<(RtlLine, u32)> = self.lines(span).map(|line| (line, 0)).collect();
        for (outwards, condition) in self.under.clone().into_iter().rev().enumerate() {
            reads.extend(self.reads(condition));
            let more = CONDITION * (1 + outwards as u32);
            lines.extend(self.lines(&condition.span).map(|line| (line, more)));
        }
        self.flow.writers.entry(signal).or_default().push(SignalWrite { cost, lines, reads });
    }

    /// Returns the signals that an expression reads, including those read by functions that it calls.
    fn reads(&mut self, expr: &'a Expr) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match &expr.node {
                Node::Number | Node::Fill | Node::Text => {}
                Node::Name(name) => found.push(self.key(name)),
                Node::Member(of, _)
                | Node::Cast(of)
                | Node::Unary(_, of)
                | Node::Select(of, Select::Constant) => {
                    open.push(of);
                }
                Node::Select(of, Select::One(index) | Select::From(index)) => open.extend([&**of, index]),
                Node::Binary(_, first, second) => open.extend([&**first, second]),
                Node::Choice(condition, then, otherwise) => open.extend([&**condition, then, otherwise]),
                Node::Concat(parts) | Node::Repeat(parts) => open.extend(parts),
                Node::Pattern(parts) => open.extend(parts.iter().map(|(_, part)| part)),
                Node::Inside(value, list) => {
                    open.push(value);
                    open.extend(list);
                }
                Node::Call(name, arguments) => match self.callee(name) {
                    None => open.extend(arguments),
                    Some((unit, function)) => {
                        let inside = |name: &str| format!("{}.{}.{name}", unit.name, function.name);
                        found.push(inside(&function.name));
                        for (port, argument) in function.arguments.iter().zip(arguments) {
                            if port.direction == Direction::In {
                                let reads = self.reads(argument);
                                self.step_alone(inside(&port.name), &expr.span, reads);
                            }
                        }
                    }
                },
            }
        }
        found
    }

    /// Records a call's argument. The conditions around the call do not change the argument's value.
    fn step_alone(&mut self, signal: String, span: &Range<usize>, reads: Vec<String>) {
        let lines = self.lines(span).map(|line| (line, 0)).collect();
        self.flow.writers.entry(signal).or_default().push(SignalWrite { cost: CONNECTION, lines, reads });
    }

    fn instance(&mut self, instance: &'a Instance) {
        let Some(module) = self.all.iter().find(|unit| unit.name == instance.module) else { return };
        for (port, value) in &instance.connections {
            let Some(declared) = module.ports.iter().find(|declared| declared.name == *port) else {
                continue;
            };
            let inside = format!("{}.{port}", module.name);
            let span =
                value.as_ref().map_or(instance.span.start..instance.span.start, |value| value.span.clone());
            match declared.direction {
                Direction::In => {
                    let reads = match value {
                        Some(value) => self.reads(value),
                        None => vec![self.key(port)],
                    };
                    self.step(inside, CONNECTION, &span, reads);
                }
                Direction::Out => {
                    let target = value.as_ref().map_or(Some(port.as_str()), base);
                    if let Some(target) = target {
                        self.step(self.key(target), CONNECTION, &span, vec![inside]);
                    }
                }
            }
        }
    }
}

fn base(target: &Expr) -> Option<&str> {
    match &target.node {
        Node::Name(name) => Some(name),
        Node::Member(of, _) | Node::Select(of, _) | Node::Cast(of) => base(of),
        _ => None,
    }
}

/// Collects every variable that a function's statement writes. All are local, because functions write no
/// others.
fn written<'a>(statement: &'a Stmt, own: &mut HashSet<&'a str>) {
    match &statement.node {
        StmtNode::Block(statements) => statements.iter().for_each(|statement| written(statement, own)),
        StmtNode::If(_, then, otherwise) => {
            written(then, own);
            if let Some(otherwise) = otherwise {
                written(otherwise, own);
            }
        }
        StmtNode::Case(_, arms) => arms.iter().for_each(|(_, arm)| written(arm, own)),
        StmtNode::For(body) => written(body, own),
        StmtNode::Assign { target, .. } => own.extend(base(target)),
        StmtNode::Call(_) | StmtNode::Other => {}
    }
}
