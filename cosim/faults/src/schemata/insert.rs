//! Inserts mutants into RTL sources, each with a switch that activates the mutant.

use crate::schemata::SyntaxError;
use crate::schemata::operator::{MutationSite, SiteKind, SourceRange, table};
use crate::schemata::parser::{opaque_names, parse};
use crate::schemata::syntax::{Expr, Item, Node, Select, Stmt, StmtNode};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const PACKAGE: &str = "atoms_schemata_pkg";
/// Array of switches in the package, 4 bits for each site.
const CHOICE: &str = "atoms_schemata_pkg::choice";

/// Verilator comment in the RTL that keeps a function from being inlined. Such a function may not read a
/// switch, so the comment is removed.
const NO_INLINE: &str = "/*verilator no_inline_task*/";

/// A source that cannot be mutated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {error}")]
pub struct SchemataError {
    pub file: String,
    pub error: SyntaxError,
}

/// Process that sets the switches. The process is in the top module, and its inputs are expressions over the
/// ports.
///
/// One switch can have another value in a window of cycles. Cycle 0 is the cycle after the clock edge that
/// set the last switch.
#[derive(Clone, Copy, Debug)]
pub struct SwitchProcess<'a> {
    pub top: &'a str,
    pub clock: &'a str,
    /// Condition: if it holds at a clock edge, this edge sets a switch.
    pub set: &'a str,
    /// Condition: after a clock edge at which it holds, no more switches are set.
    pub close: &'a str,
    /// Number of the mutation site whose switch is set, 16 bits.
    pub site: &'a str,
    /// Value of the switch, 4 bits.
    pub value: &'a str,
    /// Value of the switch inside the window of cycles, 4 bits.
    pub meanwhile: &'a str,
    /// First cycle of the window, 12 bits. The window is the cycles in which the switch has the value
    /// `meanwhile`.
    pub from: &'a str,
    /// Last cycle of the window, 12 bits.
    pub to: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schemata {
    /// Name and mutated text of each source, in the order given.
    pub texts: Vec<(String, String)>,
    /// A site's number is its index here.
    pub sites: Vec<MutationSite>,
}

impl SwitchProcess<'_> {
    /// Inserts all mutants into `sources`, given as names and texts in compile order.
    ///
    /// # Errors
    /// [`SchemataError`] of the first unsupported construct.
    pub fn apply(&self, sources: &[(String, String)]) -> Result<Schemata, SchemataError> {
        let mut schemata = Schemata { texts: Vec::new(), sites: Vec::new() };
        let opaque = opaque_names(sources)?;
        for (file, text) in sources {
            let units = parse(text).map_err(|error| SchemataError { file: file.clone(), error })?;
            let mut inserter = Inserter {
                file,
                text,
                module: String::new(),
                opaque: &opaque,
                sites: &mut schemata.sites,
                edits: Vec::new(),
            };
            for unit in &units {
                inserter.module.clone_from(&unit.name);
                for placed in unit.items.iter().filter(|placed| !placed.probe) {
                    inserter.item(&placed.item);
                }
                if unit.name == self.top {
                    inserter.edits.push((unit.body..unit.body, self.setting()));
                }
            }
            let edits = std::mem::take(&mut inserter.edits);
            let changed = splice(text, 0..text.len(), edits);
            schemata.texts.push((file.clone(), changed.replace(NO_INLINE, "")));
        }
        insert_package(&mut schemata.texts, schemata.sites.len());
        Ok(schemata)
    }

    /// Inserts replacements into `sources`. Each is a file, the byte range of an expression in it, and the
    /// new expression. Switch `n` selects replacement `n`. Ranges in one file must be equal or disjoint.
    ///
    /// # Errors
    /// [`SchemataError`] of the first unsupported construct.
    pub fn replace(
        &self,
        sources: &[(String, String)],
        replacements: &[(String, Range<usize>, String)],
    ) -> Result<Vec<(String, String)>, SchemataError> {
        let mut texts = Vec::new();
        for (file, text) in sources {
            let mut edits: BTreeMap<(usize, usize), String> = BTreeMap::new();
            for (number, (_, span, with)) in
                replacements.iter().enumerate().filter(|(_, (of, ..))| of == file)
            {
                let own = || format!("({})", &text[span.clone()]);
                let other = edits.entry((span.start, span.end)).or_insert_with(own);
                *other = format!("({CHOICE}[{number}][0] ? ({with}) : {other})");
            }
            let mut edits: Vec<_> = edits.into_iter().map(|((start, end), new)| (start..end, new)).collect();
            let units = parse(text).map_err(|error| SchemataError { file: file.clone(), error })?;
            let top = units.iter().find(|unit| unit.name == self.top);
            edits.extend(top.map(|unit| (unit.body..unit.body, self.setting())));
            texts.push((file.clone(), splice(text, 0..text.len(), edits).replace(NO_INLINE, "")));
        }
        insert_package(&mut texts, replacements.len());
        Ok(texts)
    }

    /// Returns the process that sets switches. It is one line of text, so that line numbers do not change.
    fn setting(&self) -> String {
        let SwitchProcess { clock, set, close, site, value, meanwhile, from, to, .. } = self;
        let p = PACKAGE;
        format!(
            " always_ff @(posedge {clock}) begin \
             {p}::now <= {p}::now + 32'd1; \
             if ({close}) {p}::closed <= 1'b1; \
             if (({set}) && !{p}::closed) begin \
             {p}::now <= '0; {p}::site <= {site}; {p}::value <= {value}; {p}::meanwhile <= {meanwhile}; \
             {p}::from <= {from}; {p}::last <= {to}; \
             {CHOICE}[{site}] <= (({from}) == 12'd0) ? {meanwhile} : {value}; \
             end else if ({p}::now + 32'd1 == 32'({p}::from)) {CHOICE}[{p}::site] <= {p}::meanwhile; \
             else if ({p}::now == 32'({p}::last)) {CHOICE}[{p}::site] <= {p}::value; end"
        )
    }
}

fn insert_package(texts: &mut [(String, String)], switches: usize) {
    let package = format!(
        "package {PACKAGE}; logic [3:0] choice [{}]; logic closed = 1'b0; logic [31:0] now; \
         logic [15:0] site; \
         logic [3:0] value, meanwhile; logic [11:0] from, last; endpackage ",
        switches.max(1)
    );
    if let Some((_, first)) = texts.first_mut() {
        first.insert_str(0, &package);
    }
}

/// Returns the text of `span` with `edits` applied. The edits must lie in `span` and must not overlap.
fn splice(text: &str, span: Range<usize>, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut result, mut at) = (String::new(), span.start);
    for (range, new) in edits {
        result.push_str(&text[at..range.start]);
        result.push_str(&new);
        at = range.end;
    }
    result.push_str(&text[at..span.end]);
    result
}

pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count()
}

pub(crate) fn one_line(code: &str) -> String {
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the variable or member name that determines the type of `target`.
fn last_name(target: &Expr) -> &str {
    match &target.node {
        Node::Name(name) | Node::Member(_, name) => name,
        Node::Select(of, _) => last_name(of),
        _ => "",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A value of any width.
    Value,
    /// A condition: only zero or non-zero matters.
    Truth,
}

struct Inserter<'a> {
    file: &'a str,
    text: &'a str,
    module: String,
    /// Names of enumerations and unpacked arrays, whose bits cannot be inverted.
    opaque: &'a BTreeSet<String>,
    sites: &'a mut Vec<MutationSite>,
    edits: Vec<(Range<usize>, String)>,
}

impl Inserter<'_> {
    /// Adds a site at `span` without operands, on the line of byte `at`. Returns its switch.
    fn site(&mut self, kind: SiteKind, span: &Range<usize>, at: usize) -> String {
        self.site_of(kind, SourceRange::of(span), at)
    }

    /// Works like [`Self::site`], for a site with operands.
    fn site_of(&mut self, kind: SiteKind, place: SourceRange, at: usize) -> String {
        let line = line_of(self.text, at);
        let switch = format!("{CHOICE}[{}]", self.sites.len());
        let text = one_line(&self.text[place.whole.clone()]);
        self.sites.push(MutationSite {
            file: self.file.to_owned(),
            module: self.module.clone(),
            line,
            text,
            kind,
            place,
        });
        switch
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Assign { target, value } => {
                let new = self.expression(value, Role::Value);
                let new = self.turned(&value.span, target, new);
                self.edits.push((value.span.clone(), new));
            }
            Item::Comb(body) => self.statement(body, Reach::Always),
            Item::Registers(body) => self.statement(body, Reach::Always),
            Item::Function(function) => {
                for statement in &function.body {
                    self.statement(statement, Reach::Always);
                }
            }
            Item::Instance(instance) => {
                for (_, value) in &instance.connections {
                    if let Some(value) = value {
                        self.rewrite(value);
                    }
                }
            }
        }
    }

    /// Inserts mutants into an expression that is not a condition.
    fn rewrite(&mut self, value: &Expr) {
        let new = self.expression(value, Role::Value);
        self.edits.push((value.span.clone(), new));
    }

    fn condition(&mut self, value: &Expr) {
        let new = self.expression(value, Role::Truth);
        self.edits.push((value.span.clone(), new));
    }

    fn statement(&mut self, statement: &Stmt, reach: Reach) {
        match &statement.node {
            StmtNode::Block(statements) => {
                for statement in statements {
                    self.statement(statement, reach);
                }
            }
            StmtNode::If(condition, then, otherwise) => {
                self.condition(condition);
                self.statement(then, Reach::Sometimes);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise, Reach::Sometimes);
                }
            }
            StmtNode::Case(subject, arms) => {
                self.rewrite(subject);
                for (_, arm) in arms {
                    self.statement(arm, Reach::Sometimes);
                }
            }
            StmtNode::For(body) => self.statement(body, reach),
            StmtNode::Assign { target, sign, value } => {
                let can = reach == Reach::Sometimes || sign == "<=";
                self.assignment(statement, target, sign, value, can);
            }
            StmtNode::Call(call) => {
                self.droppable(statement, reach == Reach::Sometimes);
                self.rewrite(call);
            }
            StmtNode::Other => {}
        }
    }

    /// Inserts mutants into an assignment. `can` is true if the assignment may be dropped, so that the target
    /// keeps its value.
    fn assignment(&mut self, statement: &Stmt, target: &Expr, sign: &str, value: &Expr, can: bool) {
        let mut new = self.expression(value, Role::Value);
        if matches!(sign, "=" | "<=") && !matches!(value.node, Node::Pattern(_)) {
            if can {
                let switch = self.site(SiteKind::Statement, &statement.span, statement.span.start);
                new = format!("(({switch}[0]) ? {} : ({new}))", &self.text[target.span.clone()]);
            }
            new = self.turned(&value.span, target, new);
        } else {
            self.droppable(statement, can);
        }
        self.edits.push((value.span.clone(), new));
    }

    /// Adds a switch that inverts `value`, unless the type of `target` has no bits to invert.
    fn turned(&mut self, span: &Range<usize>, target: &Expr, value: String) -> String {
        if self.opaque.contains(last_name(target)) || self.text[span.clone()].starts_with("'{") {
            return value;
        }
        let switch = self.site(SiteKind::Value, span, span.start);
        format!("(({value}) ^ ({switch}[0] ? '1 : '0))")
    }

    /// Adds a switch that drops a statement. A combinational statement that always runs has no switch,
    /// because without it the variable would have no value.
    fn droppable(&mut self, statement: &Stmt, can: bool) {
        if can {
            let Range { start, end } = statement.span;
            let switch = self.site(SiteKind::Statement, &statement.span, start);
            self.edits.push((start..start, format!("begin if ({switch} == 4'd0) ")));
            self.edits.push((end..end, " end".to_owned()));
        }
    }

    /// Returns the expression with its own mutants and those of its operands.
    fn expression(&mut self, expr: &Expr, role: Role) -> String {
        let span = &expr.span;
        let plain = match &expr.node {
            Node::Number => return self.number(expr, role),
            Node::Fill => {
                let switch = self.site(SiteKind::Fill, span, span.start);
                let (own, other) =
                    if self.text[span.clone()].ends_with('1') { ("'1", "'0") } else { ("'0", "'1") };
                return format!("({switch}[0] ? {other} : {own})");
            }
            Node::Text | Node::Name(_) => self.text[span.clone()].to_owned(),
            Node::Member(of, _) | Node::Select(of, Select::Constant) | Node::Cast(of) => {
                self.with(span, [(&**of, Role::Value)])
            }
            Node::Select(of, Select::One(index) | Select::From(index)) => {
                self.with(span, [(&**of, Role::Value), (index, Role::Value)])
            }
            Node::Call(name, arguments) => {
                let constant = matches!(name.as_str(), "$clog2" | "$bits");
                let arguments =
                    arguments.iter().filter(|_| !constant).map(|argument| (argument, Role::Value));
                self.with(span, arguments)
            }
            Node::Unary(sign, value) => {
                let inner = if sign == "!" { Role::Truth } else { Role::Value };
                if sign == "~" {
                    let end = span.end;
                    let place = SourceRange { whole: span.clone(), operands: [value.span.clone(), end..end] };
                    let value = self.expression(value, Role::Value);
                    let switch = self.site_of(SiteKind::Complement, place, span.start);
                    return format!("(({value}) ^ (({switch}[0]) ? '0 : '1))");
                }
                let plain = self.with(span, [(&**value, inner)]);
                // The operand already has a switch that negates.
                if sign == "!" {
                    return plain;
                }
                plain
            }
            Node::Binary(operator, first, second) => {
                let own = (operator.sign.as_str(), operator.span.start);
                match self.binary(span, own, first, second) {
                    Ok(altered) => return altered,
                    Err(plain) if matches!(own.0, "==" | "!=") => return self.truth(span, own.1, &plain),
                    Err(plain) => plain,
                }
            }
            Node::Choice(condition, then, otherwise) => {
                let parts = [(&**condition, Role::Truth), (then, Role::Value), (otherwise, Role::Value)];
                self.with(span, parts)
            }
            Node::Concat(parts) | Node::Repeat(parts) => {
                self.with(span, parts.iter().map(|part| (part, Role::Value)))
            }
            Node::Pattern(parts) => {
                let named = |name: &Option<String>| name.as_deref() != Some("default");
                let parts = parts.iter().filter(|(name, _)| named(name)).map(|(_, part)| (part, Role::Value));
                self.with(span, parts)
            }
            Node::Inside(value, _) => {
                let plain = self.with(span, [(&**value, Role::Value)]);
                return self.truth(span, span.start, &plain);
            }
        };
        match role {
            Role::Value => plain,
            Role::Truth => self.truth(span, span.start, &plain),
        }
    }

    /// Returns the text of `span` with mutants in its operands.
    fn with<'e>(
        &mut self,
        span: &Range<usize>,
        operands: impl IntoIterator<Item = (&'e Expr, Role)>,
    ) -> String {
        let mut edits = Vec::new();
        for (operand, role) in operands {
            edits.push((operand.span.clone(), self.expression(operand, role)));
        }
        splice(self.text, span.clone(), edits)
    }

    /// Returns `plain` as a condition with a switch: switch value 1 negates it, 2 makes it true, 3 makes it
    /// false.
    fn truth(&mut self, span: &Range<usize>, at: usize, plain: &str) -> String {
        let switch = self.site(SiteKind::Condition, span, at);
        format!("((({plain}) && !{switch}[1]) ^ ({switch}[0] ^ {switch}[1]))")
    }

    fn number(&mut self, expr: &Expr, role: Role) -> String {
        let text = self.text[expr.span.clone()].to_owned();
        if role == Role::Truth {
            return text;
        }
        if matches!(text.as_str(), "1'b0" | "1'b1") {
            let switch = self.site(SiteKind::Fill, &expr.span, expr.span.start);
            return format!("({text} ^ {switch}[0])");
        }
        let switch = self.site(SiteKind::Number, &expr.span, expr.span.start);
        format!("({text} + {switch}[0] - {switch}[1])")
    }

    /// Mutates a binary operator. If the operator has no mutants, `Err` has the text with mutants in the
    /// operands only.
    fn binary(
        &mut self,
        span: &Range<usize>,
        (sign, at): (&str, usize),
        first: &Expr,
        second: &Expr,
    ) -> Result<String, String> {
        let kind = match sign {
            "&&" => SiteKind::Logic("&&"),
            "||" => SiteKind::Logic("||"),
            "<" => SiteKind::Relation("<"),
            "<=" => SiteKind::Relation("<="),
            ">" => SiteKind::Relation(">"),
            ">=" => SiteKind::Relation(">="),
            "+" => SiteKind::Sum("+"),
            "-" => SiteKind::Sum("-"),
            "&" => SiteKind::Mask("&"),
            "|" => SiteKind::Mask("|"),
            "^" => SiteKind::Difference,
            "<<" | ">>" => SiteKind::Shift,
            _ => return Err(self.with(span, [(first, Role::Value), (second, Role::Value)])),
        };
        let role = if matches!(kind, SiteKind::Logic(_)) { Role::Truth } else { Role::Value };
        let (a, b) = (self.expression(first, role), self.expression(second, role));
        let place = SourceRange { whole: span.clone(), operands: [first.span.clone(), second.span.clone()] };
        let switch = self.site_of(kind, place, at);
        Ok(match kind {
            SiteKind::Logic(_) => {
                let own = table(sign).unwrap_or(0);
                format!("1'((4'd{own} ^ {switch}) >> {{!!({a}), !!({b})}})")
            }
            SiteKind::Relation(_) => {
                let own = table(sign).unwrap_or(0);
                format!("1'((4'd{own} ^ {switch}) >> {{({a}) == ({b}), ({a}) < ({b})}})")
            }
            SiteKind::Sum(_) => {
                let turned = if sign == "+" { "==" } else { "!=" };
                format!(
                    "(({a}) + (({switch} {turned} 4'd1) ? -({b}) : ({b})) + ({switch} == 4'd2) - ({switch} == 4'd3))"
                )
            }
            // Switch value 1 gives the first operand only, 2 the second operand only, 3 the other operator.
            SiteKind::Mask("&") => format!(
                "((({a}) & ({b})) | (({a}) & ({switch}[0] ? '1 : '0)) | (({b}) & ({switch}[1] ? '1 : '0)))"
            ),
            SiteKind::Mask(_) => format!(
                "((({a}) | ({b})) & (({a}) | ({switch}[0] ? '0 : '1)) & (({b}) | ({switch}[1] ? '0 : '1)))"
            ),
            SiteKind::Difference => {
                format!("((({a}) & ({switch}[1] ? '0 : '1)) ^ (({b}) & ({switch}[0] ? '0 : '1)))")
            }
            _ => format!("(({a}) {sign} ({switch}[0] ? 0 : ({b})))"),
        })
    }
}

/// Reach of a statement: `Always` if the statement runs each time its process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Always,
    Sometimes,
}
