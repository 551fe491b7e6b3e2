//! Parser of declarations: variables, parameters and registers.

use super::ast::{Initial, PtxRegister, RegId, StateSpace, Variable};
use super::number::{Number, number};
use super::parser::{Parsed, Parser, twice};
use super::scope::Entry;
use crate::kernel::number::Type;
use crate::nearest::nearest;
use crate::problem::Problem;
use std::ops::Range;
use strum::VariantArray;

const DIMENSIONS: usize = 16;

const LANES: [&str; 4] = ["x", "y", "z", "w"];

/// Type part of a declaration, which is between the state space and the names.
struct Kind {
    ty: Type,
    /// Number of lanes: 2 for `.v2`, 4 for `.v4`, else 1.
    lanes: u8,
    align: Option<u32>,
}

/// Words that are legal in the type part of a declaration but are not types.
const NO_TYPES: [&str; 5] = ["align", "v2", "v4", "ptr", "attribute"];

impl<'t> Parser<'t> {
    /// Parses the rest of a declaration of variables, after the state space, to the semicolon.
    pub(super) fn variables_of(
        &mut self,
        space: &str,
        external: bool,
    ) -> Parsed<Vec<(Variable<'t>, Range<usize>)>> {
        let space = space.parse().unwrap_or(StateSpace::Global);
        let kind = self.kind()?;
        let mut variables = Vec::new();
        loop {
            variables.push(self.variable(space, &kind, external)?);
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.semicolon()?;
        Ok(variables)
    }

    pub(super) fn parameter(&mut self) -> Parsed<(Variable<'t>, Range<usize>)> {
        let kind = self.kind()?;
        self.variable(StateSpace::Param, &kind, false)
    }

    fn kind(&mut self) -> Parsed<Kind> {
        let mut ty = None;
        let (mut lanes, mut align, mut pointee) = (1, None, false);
        loop {
            let start = self.cursor.begin();
            let Some(name) = self.cursor.dotted() else { break };
            match name {
                "v2" => lanes = 2,
                "v4" => lanes = 4,
                "ptr" => pointee = true,
                "align" => {
                    let said = self.alignment()?;
                    // An alignment after `.ptr` is that of the memory to which the parameter points, so it is
                    // ignored.
                    align = if pointee { align } else { Some(said) };
                }
                "attribute" => self.attribute()?,
                _ if pointee && name.parse::<StateSpace>().is_ok() => {}
                "texref" | "samplerref" | "surfref" => {
                    let message = format!("variables of type .{name} are not supported");
                    let help = "remove the variable, and the kernels that use textures or surfaces";
                    return Err(Problem::new(start..self.cursor.pos(), message, help));
                }
                _ => match Type::from_name(name) {
                    Some(found) => ty = Some(found),
                    None => {
                        let types = Type::VARIANTS
                            .iter()
                            .filter(|ty| ty.integer_part().is_none() && **ty != Type::F32x2);
                        let types = types.map(|ty| ty.name());
                        let near = nearest(name, types.chain(NO_TYPES)).unwrap_or("");
                        let help = format!(
                            "types are .b8 to .b128, .u8, .s32, .f32, .pred, ...; the nearest is .{near}"
                        );
                        let message = format!("unknown type .{name}");
                        return Err(Problem::new(start..self.cursor.pos(), message, help));
                    }
                },
            }
        }
        let ty = ty.ok_or_else(|| self.expected("a type", "write a type such as .b32 before the name"))?;
        Ok(Kind { ty, lanes, align })
    }

    /// Parses the list after `.attribute`, such as `(.managed, .unified(1, 2))`.
    pub(super) fn attribute(&mut self) -> Parsed<()> {
        let help = "write .attribute(.managed)";
        self.need(b'(', help)?;
        loop {
            self.cursor.trivia();
            if self.cursor.dotted().is_none() {
                return Err(self.expected("an attribute", help));
            }
            if self.cursor.eat(b'(') {
                loop {
                    self.cursor.trivia();
                    if self.cursor.digits().is_none() {
                        return Err(self.expected("a number", "write .attribute(.unified(1, 2))"));
                    }
                    if !self.cursor.eat(b',') {
                        break;
                    }
                }
                self.need(b')', "write .attribute(.unified(1, 2))")?;
            }
            if self.cursor.eat(b')') {
                return Ok(());
            }
            if !self.cursor.eat(b',') {
                return Err(self.expected("a comma or )", help));
            }
        }
    }

    fn alignment(&mut self) -> Parsed<u32> {
        let (value, range) = self.small_number()?;
        if value.is_power_of_two() {
            return Ok(value);
        }
        Err(Problem::new(
            range,
            format!("an alignment of {value} bytes is illegal"),
            "an alignment is a power of two",
        ))
    }

    pub(super) fn small_number(&mut self) -> Parsed<(u32, Range<usize>)> {
        let start = self.cursor.begin();
        if !self.cursor.peek().is_ascii_digit() {
            return Err(self.expected("a number", "write a number such as 16"));
        }
        let value = number(&mut self.cursor)?;
        let range = start..self.cursor.pos();
        match value {
            Number::Integer(value) if u32::try_from(value).is_ok() => Ok((value as u32, range)),
            _ => {
                let message =
                    format!("expected a number of at most 32 bits, found `{}`", self.cursor.since(start));
                Err(Problem::new(range, message, "write a number such as 16"))
            }
        }
    }

    pub(super) fn declared_name(&mut self) -> Parsed<(&'t str, Range<usize>)> {
        let start = self.cursor.begin();
        match self.cursor.word() {
            Some(name) => Ok((name, start..self.cursor.pos())),
            None => Err(self.expected("a name", "a name starts with a letter, _, $ or %")),
        }
    }

    fn variable(
        &mut self,
        space: StateSpace,
        kind: &Kind,
        external: bool,
    ) -> Parsed<(Variable<'t>, Range<usize>)> {
        let (name, range) = self.declared_name()?;
        let line = self.cursor.line();
        let mut sizes: Vec<Option<u64>> = Vec::new();
        while self.cursor.eat(b'[') {
            if sizes.len() == DIMENSIONS {
                let help = format!("an array has at most {DIMENSIONS}");
                return Err(Problem::new(range, format!("`{name}` has too many dimensions"), help));
            }
            sizes.push(self.dimension(sizes.is_empty())?);
        }
        // A variable of vector type is stored as an array of its elements.
        if kind.lanes > 1 {
            sizes.push(Some(kind.lanes.into()));
        }
        let row = sizes.iter().skip(1).fold(1_u64, |n, size| n.saturating_mul(size.unwrap_or(1)));
        let count = match sizes.first() {
            None => Some(1),
            Some(size) => size.map(|size| size.saturating_mul(row)),
        };
        let mut initial = Vec::new();
        if self.cursor.eat(b'=') {
            let rows: Vec<u64> = sizes.iter().skip(1).map(|size| size.unwrap_or(1)).collect();
            self.initial(kind.ty, &rows, &mut initial, 0)?;
        }
        let count = match count {
            None if !initial.is_empty() => Some((initial.len() as u64).next_multiple_of(row.max(1))),
            count => count,
        };
        if let Some(count) = count.filter(|count| (initial.len() as u64) > *count) {
            let message = format!("`{name}` has {count} elements, but {} initial values", initial.len());
            return Err(Problem::new(range, message, "remove some values, or declare a larger array"));
        }
        if count.is_none() && !external && space != StateSpace::Param {
            let help =
                "state the number of elements, or declare it .extern, so that the launch sets its size";
            return Err(Problem::new(range, format!("`{name}` has no size"), help));
        }
        let natural = kind.ty.bits().div_ceil(8) * u32::from(kind.lanes);
        let align = kind.align.unwrap_or(natural);
        Ok((Variable { name, space, ty: kind.ty, count, align, initial, external, line }, range))
    }

    /// Parses the rest of an array dimension, after the `[`: `16]`. The first dimension of an array may also
    /// be empty: `]`.
    fn dimension(&mut self, first: bool) -> Parsed<Option<u64>> {
        if first && self.cursor.eat(b']') {
            return Ok(None);
        }
        let start = self.cursor.begin();
        if !self.cursor.peek().is_ascii_digit() {
            return Err(self.expected("a number of elements", "write a size such as [16]"));
        }
        let Number::Integer(size) = number(&mut self.cursor)? else {
            let range = start..self.cursor.pos();
            return Err(Problem::new(
                range,
                "the number of elements is not an integer",
                "write a size such as [16]",
            ));
        };
        self.need(b']', "close it with ]")?;
        Ok(Some(size))
    }

    /// Parses one initial value, or several in braces. `rows` are the dimensions of the array without the
    /// first. A nested pair of braces fills one row.
    fn initial(&mut self, ty: Type, rows: &[u64], values: &mut Vec<Initial<'t>>, depth: usize) -> Parsed<()> {
        if !self.cursor.eat(b'{') {
            let value = self.initial_value(ty)?;
            return self.keep(value, values);
        }
        let open = self.cursor.pos() - 1;
        if depth > rows.len() {
            let help =
                "write one pair of braces around all values, and in an array of arrays one around each row";
            return Err(Problem::new(open..open + 1, "braces of initial values are nested too deeply", help));
        }
        while !self.cursor.eat(b'}') {
            if self.cursor.peek() == b'{' {
                let first = values.len() as u64;
                let row = rows.iter().skip(depth).fold(1_u64, |n, size| n.saturating_mul(*size));
                self.initial(ty, rows, values, depth + 1)?;
                let end = first.saturating_add(row);
                let missing = end.saturating_sub(values.len() as u64);
                if missing > self.left_to_spend() {
                    let message = "too many elements without an initial value before later rows";
                    let help = "write the rows in full, or omit zeros at the end of the array";
                    return Err(Problem::new(open..open + 1, message, help));
                }
                for _ in 0..missing {
                    self.keep(Initial::Bits(0), values)?;
                }
            } else {
                let value = self.initial_value(ty)?;
                self.keep(value, values)?;
            }
            if !self.cursor.eat(b',') {
                if self.cursor.eat(b'}') {
                    break;
                }
                return Err(self.expected("a comma or }", "separate initial values by commas and end with }"));
            }
        }
        Ok(())
    }

    fn keep(&mut self, value: Initial<'t>, values: &mut Vec<Initial<'t>>) -> Parsed<()> {
        if self.spend(1) {
            values.push(value);
            return Ok(());
        }
        let at = self.cursor.pos();
        Err(Problem::new(
            at..at,
            "too many initial values for a text of this length",
            "omit zeros at the end of the array",
        ))
    }

    fn initial_value(&mut self, ty: Type) -> Parsed<Initial<'t>> {
        let start = self.cursor.begin();
        let negative = self.cursor.eat(b'-');
        self.cursor.trivia();
        if self.cursor.peek().is_ascii_digit() {
            let value = number(&mut self.cursor)?;
            let value = if negative { value.negated() } else { value };
            return self.bits(ty, value, start..self.cursor.pos()).map(Initial::Bits);
        }
        let help = "initial values are numbers, names of variables, NAME+4 and generic(NAME)+4";
        let Some(mut symbol) = self.cursor.word().filter(|_| !negative) else {
            return Err(self.expected("an initial value", help));
        };
        let generic = symbol == "generic" && self.cursor.eat(b'(');
        if generic {
            self.cursor.trivia();
            symbol = self.cursor.word().ok_or_else(|| self.expected("a name", "write generic(NAME)"))?;
            self.need(b')', "write generic(NAME)")?;
        }
        let range = start..self.cursor.pos();
        let offset = self.offset()?.unwrap_or(0);
        if ty.bits() < 32 {
            let message = format!("an address does not fit in an element of {} bits", ty.bits());
            return Err(Problem::new(start..self.cursor.pos(), message, "declare it as .u64, or .u32"));
        }
        self.addresses.push((symbol, range));
        Ok(Initial::Address { symbol, offset, generic })
    }

    /// Parses an optional offset after a name: `+4`, `-4` or `+-4`.
    pub(super) fn offset(&mut self) -> Parsed<Option<i64>> {
        let mut sum = None;
        loop {
            let (end, line) = (self.cursor.pos(), self.cursor.line());
            let negative = if self.cursor.eat(b'+') {
                self.cursor.eat(b'-')
            } else if self.cursor.eat(b'-') {
                true
            } else {
                self.cursor.rewind(end, line);
                return Ok(sum);
            };
            let start = self.cursor.begin();
            if !self.cursor.peek().is_ascii_digit() {
                return Err(self.expected("a number of bytes", "write an offset such as +16 or +-16"));
            }
            let Number::Integer(value) = number(&mut self.cursor)? else {
                let range = start..self.cursor.pos();
                return Err(Problem::new(
                    range,
                    "the offset is not an integer",
                    "write an offset such as +16 or +-16",
                ));
            };
            let value = if negative { (value as i64).wrapping_neg() } else { value as i64 };
            sum = Some(sum.unwrap_or(0_i64).wrapping_add(value));
        }
    }

    fn bits(&self, ty: Type, value: Number, range: Range<usize>) -> Parsed<u64> {
        let width = ty.bits().min(64);
        let bits = match (value, ty) {
            (Number::Integer(value), Type::F32) => (value as i64 as f32).to_bits().into(),
            (Number::Integer(value), Type::F64) => (value as i64 as f64).to_bits(),
            (Number::Integer(value), _) => value,
            (Number::Single(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
            (Number::Single(bits), Type::F32 | Type::B32) => bits.into(),
            (Number::Double(bits), Type::F32) => (f64::from_bits(bits) as f32).to_bits().into(),
            (Number::Double(bits), Type::F64 | Type::B64) => bits,
            _ => {
                let help = "write the bits of the float as an integer such as 0x3c00";
                return Err(Problem::new(
                    range,
                    "a float as initial value of an element that is not a float",
                    help,
                ));
            }
        };
        Ok(bits & (u64::MAX >> (64 - width)))
    }

    /// Parses the rest of a declaration of registers, after `.reg`, to the semicolon.
    pub(super) fn registers(&mut self) -> Parsed<()> {
        let kind = self.kind()?;
        loop {
            let (name, range) = self.declared_name()?;
            if self.cursor.eat(b'<') {
                let (count, _) = self.small_number()?;
                self.need(b'>', "write %r<16>")?;
                self.family(&kind, name, count, range)?;
            } else {
                self.register(&kind, name, range)?;
            }
            if !self.cursor.eat(b',') {
                return self.semicolon();
            }
        }
    }

    fn may_declare(&mut self, name: &str, count: u64, range: &Range<usize>) -> Parsed<RegId> {
        let first = self.body.function.registers.len() as u32;
        if self.spend(count) {
            return Ok(RegId(first));
        }
        let message = format!("{count} registers `{name}` are too many for a text of this length");
        let help = format!("at most {} more can be declared here", self.left_to_spend());
        Err(Problem::new(range.clone(), message, help))
    }

    fn family(&mut self, kind: &Kind, prefix: &'t str, count: u32, range: Range<usize>) -> Parsed<()> {
        if kind.lanes > 1 {
            let help = "declare them one by one: .reg .v2 .f32 a, b;";
            return Err(Problem::new(range, "vector registers cannot be declared by their number", help));
        }
        let first = self.may_declare(prefix, count.into(), &range)?;
        if !self.body.scope().declare_family(prefix, first, count) {
            return Err(twice(&format!("{prefix}<{count}>"), range));
        }
        let mut digits = [0; 10];
        for number in 0..count {
            let name = numbered(prefix, number, &mut digits);
            self.body.function.registers.push(PtxRegister { name: name.into(), ty: Some(kind.ty) });
        }
        Ok(())
    }

    fn register(&mut self, kind: &Kind, name: &'t str, range: Range<usize>) -> Parsed<()> {
        let first = self.may_declare(name, kind.lanes.into(), &range)?;
        let ty = Some(kind.ty);
        let entry = if kind.lanes > 1 { Entry::Vector(first, kind.lanes) } else { Entry::Register(first) };
        if !self.body.scope().declare(name, entry) {
            return Err(twice(name, range));
        }
        let registers = &mut self.body.function.registers;
        if kind.lanes == 1 {
            registers.push(PtxRegister { name: name.into(), ty });
        } else {
            let lanes = LANES.iter().take(kind.lanes.into());
            registers.extend(lanes.map(|lane| PtxRegister { name: format!("{name}.{lane}").into(), ty }));
        }
        Ok(())
    }
}

/// Returns `prefix` followed by `number`. A module has as many registers as instructions, so this function
/// avoids the slower formatting code, and allocates only the memory that is needed.
fn numbered(prefix: &str, number: u32, digits: &mut [u8; 10]) -> String {
    let mut left = number;
    let mut start = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
        start -= 1;
        if left == 0 {
            break;
        }
    }
    let digits = digits.get(start..).unwrap_or_default();
    let mut name = String::with_capacity(prefix.len() + digits.len());
    name.push_str(prefix);
    name.extend(digits.iter().map(|d| char::from(*d)));
    name
}
