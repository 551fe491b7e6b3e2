//! Puts mutation operators into sources, each behind a switch.

use crate::schemata::SyntaxError;
use crate::schemata::operator::{MutationSite, SiteKind, SourceRange, table};
use crate::schemata::parser::{opaque_names, parse};
use crate::schemata::syntax::{Expr, Item, Node, Select, Stmt, StmtNode};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const PACKAGE: &str = "atoms_schemata_pkg";
/// Its array of switches, one of four bits for each site.
const CHOICE: &str = "atoms_schemata_pkg::choice";

/// Keeps functions apart in the simulator, where they may not read a switch; the design with schemata does not inline.
const NO_INLINE: &str = "/*verilator no_inline_task*/";

/// A source that cannot take switches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {error}")]
pub struct SchemataError {
    pub file: String,
    pub error: SyntaxError,
}

/// How switches get their values: a process of the top module, over expressions of its ports.
///
/// One switch can have another value for a while: cycle 0 is the one behind the clock edge at which a switch was
/// set last.
#[derive(Clone, Copy, Debug)]
pub struct SwitchProcess<'a> {
    /// The module that is to have the process.
    pub top: &'a str,
    pub clock: &'a str,
    /// Whether a switch is set at this clock edge.
    pub set: &'a str,
    /// Once this holds at a clock edge, no switch is set any more, whatever stands at the ports.
    pub close: &'a str,
    /// Which one: 16 bits.
    pub site: &'a str,
    /// To what: 4 bits.
    pub value: &'a str,
    /// What it is set to for a while: 4 bits.
    pub meanwhile: &'a str,
    /// Cycle in which that begins: 12 bits.
    pub from: &'a str,
    /// Last cycle of it: 12 bits.
    pub to: &'a str,
}

/// Sources with operators put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schemata {
    /// Name and text of each source, in the order given.
    pub texts: Vec<(String, String)>,
    /// What can be altered; a site's number is its place here.
    pub sites: Vec<MutationSite>,
}

impl SwitchProcess<'_> {
    /// Puts switches into `sources`, names and texts in the order in which they are read.
    ///
    /// # Errors
    /// [`SchemataError`] of the first construct that is not understood.
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

    /// Puts replacements into `sources`: each is a file, bytes of it that are an expression, and the expression in its place,
    /// which switch number `n` puts there for replacement `n`. Those of one file are of the same bytes or lie apart.
    ///
    /// # Errors
    /// [`SchemataError`] of the first construct that is not understood.
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

    /// The process that sets switches, on one line.
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

/// Inserts the package of the switches before the first text.
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

/// The text of `span` with `edits` carried out, which lie in it and apart from each other.
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

/// The line of a byte of `text`, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count()
}

pub(crate) fn one_line(code: &str) -> String {
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name that says what type `target` has: that of the variable or of the member.
fn last_name(target: &Expr) -> &str {
    match &target.node {
        Node::Name(name) | Node::Member(_, name) => name,
        Node::Select(of, _) => last_name(of),
        _ => "",
    }
}

/// What an expression is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A value of some width.
    Value,
    /// Whether it is zero or not.
    Truth,
}

struct Inserter<'a> {
    file: &'a str,
    text: &'a str,
    module: String,
    /// Names of what is not made of bits: enumerations and unpacked arrays.
    opaque: &'a BTreeSet<String>,
    sites: &'a mut Vec<MutationSite>,
    /// Finished changes of the text.
    edits: Vec<(Range<usize>, String)>,
}

impl Inserter<'_> {
    /// A new site, written at `span` and with its line at `at`; gives its switch.
    fn site(&mut self, kind: SiteKind, span: &Range<usize>, at: usize) -> String {
        self.site_of(kind, SourceRange::of(span), at)
    }

    /// As [`Self::site`], of something with operands.
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

    /// Puts switches into an expression that stands for itself.
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

    /// An assignment whose value can be kept from changing and, where it is made of bits, be inverted.
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

    /// `value`, with a switch that inverts it where `target` is made of bits.
    fn turned(&mut self, span: &Range<usize>, target: &Expr, value: String) -> String {
        if self.opaque.contains(last_name(target)) || self.text[span.clone()].starts_with("'{") {
            return value;
        }
        let switch = self.site(SiteKind::Value, span, span.start);
        format!("(({value}) ^ ({switch}[0] ? '1 : '0))")
    }

    /// Puts a switch before a statement. Where it always runs and is no register, it is left alone: without it there
    /// would be no value at all.
    fn droppable(&mut self, statement: &Stmt, can: bool) {
        if can {
            let Range { start, end } = statement.span;
            let switch = self.site(SiteKind::Statement, &statement.span, start);
            self.edits.push((start..start, format!("begin if ({switch} == 4'd0) ")));
            self.edits.push((end..end, " end".to_owned()));
        }
    }

    /// The expression with switches in its operands, and a switch of its own where it can be altered.
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
                // Its operand has a switch that negates.
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

    /// The text of `span` with switches in its operands.
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

    /// `plain` as a condition: negated by 1, true by 2, false by 3.
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

    /// An operator with a switch; `Err` with switches in its operands alone, where there is no operator of the kind.
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
            // 1 lets the first operand through alone, 2 the second, both together the other operator.
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

/// Whether a statement runs whenever its process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Always,
    Sometimes,
}
