//! Values of formulas.

use super::FormulaError;
use super::tree::{Binary, Fold, Function, Node, Part, Unary, Value};

/// Parts looked at before a formula is given up: some seconds of work.
const MOST_WORK: u64 = 100_000_000;

/// Variables, and how much has been done.
pub(super) struct Work {
    locals: Vec<i128>,
    done: u64,
}

type Outcome = Result<Value, FormulaError>;

impl Work {
    pub(super) fn new(locals: usize) -> Work {
        Work { locals: vec![0; locals.max(1)], done: 0 }
    }

    /// The value for element `index`.
    pub(super) fn element(&mut self, root: &Node<'_>, index: usize) -> Outcome {
        if let Some(local) = self.locals.first_mut() {
            *local = index as i128;
        }
        self.value(root).map_err(|mut error| {
            error.message = format!("element {index}: {}", error.message);
            error
        })
    }

    fn value(&mut self, node: &Node<'_>) -> Outcome {
        self.done += 1;
        if self.done > MOST_WORK {
            let message = format!("more than {MOST_WORK} steps");
            return Err(wrong(node, message, "`histogram_of` and `sum_of` do their work in one pass"));
        }
        match &node.part {
            Part::Constant(value) => Ok(*value),
            Part::Local(number) => Ok(Value::Int(self.locals.get(*number).copied().unwrap_or(0))),
            Part::Element(element, bytes, index) => {
                let count = bytes.len() / element.bytes();
                let at = self.int(index)?;
                match usize::try_from(at).ok().filter(|at| *at < count) {
                    Some(at) => Ok(Value::of(*element, element.read(bytes, at))),
                    None => {
                        let help = format!("the buffer has {count} elements, from 0 on");
                        Err(wrong(node, format!("index {at} is outside"), help))
                    }
                }
            }
            Part::Unary(op, operand) => {
                let value = self.value(operand)?;
                match (op, value) {
                    (Unary::Not, value) => Ok(Value::truth(!value.holds())),
                    (Unary::Negate, Value::Float(value)) => Ok(Value::Float(-value)),
                    (Unary::Negate, Value::Int(value)) => exact(node, value.checked_neg()),
                    (Unary::Invert, Value::Int(value)) => Ok(Value::Int(!value)),
                    (Unary::Invert, Value::Float(_)) => Err(no_bits(node)),
                }
            }
            Part::Binary(Binary::And, one, other) => {
                Ok(Value::truth(self.value(one)?.holds() && self.value(other)?.holds()))
            }
            Part::Binary(Binary::Or, one, other) => {
                Ok(Value::truth(self.value(one)?.holds() || self.value(other)?.holds()))
            }
            Part::Binary(op, one, other) => {
                let (one, other) = (self.value(one)?, self.value(other)?);
                binary(node, *op, one, other)
            }
            Part::Choice(parts) => {
                let [condition, then, other] = parts.as_ref();
                let chosen = if self.value(condition)?.holds() { then } else { other };
                self.value(chosen)
            }
            Part::Call(function, arguments) => self.call(node, *function, arguments),
            Part::Fold(fold, local, parts) => self.fold(node, *fold, *local, parts),
        }
    }

    fn int(&mut self, node: &Node<'_>) -> Result<i128, FormulaError> {
        match self.value(node)? {
            Value::Int(value) => Ok(value),
            Value::Float(value) => {
                let help = "make it one: `s64(x)` cuts off towards zero";
                Err(wrong(node, format!("{value} is not an integer"), help))
            }
        }
    }

    fn call(&mut self, node: &Node<'_>, function: Function, arguments: &[Node<'_>]) -> Outcome {
        let mut result = None;
        for argument in arguments {
            let value = self.value(argument)?;
            result = Some(match (function, result, value) {
                (Function::Min, Some(least), value) => lesser(least, value),
                (Function::Max, Some(most), value) => greater(most, value),
                (Function::Min | Function::Max, None, value) => value,
                (Function::Abs, _, Value::Float(value)) => Value::Float(value.abs()),
                (Function::Abs, _, Value::Int(value)) => exact(node, value.checked_abs())?,
                (Function::Popcount, _, Value::Int(value)) if value >= 0 => {
                    Value::Int(i128::from(value.count_ones()))
                }
                (Function::Popcount, ..) => {
                    let help = "say of how many bits: `popcount(u32(x))`";
                    return Err(wrong(node, "popcount of a negative number or a float", help));
                }
                (Function::As(element), _, value) => Value::of(element, value.store(element)),
            });
        }
        // A call has at least one argument.
        Ok(result.unwrap_or(Value::Int(0)))
    }

    fn fold(&mut self, node: &Node<'_>, fold: Fold, local: usize, parts: &[Node<'_>; 3]) -> Outcome {
        let [first, end, body] = parts;
        let (first, end) = (self.int(first)?, self.int(end)?);
        let mut result = match fold {
            Fold::Sum | Fold::Xor | Fold::Count | Fold::Any => Some(Value::Int(0)),
            Fold::All => Some(Value::Int(1)),
            Fold::Min | Fold::Max => None,
        };
        let mut at = first;
        while at < end {
            if let Some(variable) = self.locals.get_mut(local) {
                *variable = at;
            }
            let value = self.value(body)?;
            result = Some(match (fold, result) {
                (Fold::Sum, Some(sum)) => binary(node, Binary::Add, sum, value)?,
                (Fold::Xor, Some(sum)) => binary(node, Binary::BitXor, sum, value)?,
                (Fold::Count, Some(Value::Int(count))) => Value::Int(count + i128::from(value.holds())),
                (Fold::Any, Some(any)) => Value::truth(any.holds() || value.holds()),
                (Fold::All, Some(all)) => Value::truth(all.holds() && value.holds()),
                (Fold::Min, Some(least)) => lesser(least, value),
                (Fold::Max, Some(most)) => greater(most, value),
                (_, _) => value,
            });
            at += 1;
        }
        result.ok_or_else(|| wrong(node, "the least or greatest of nothing", "the range is empty"))
    }
}

fn wrong(node: &Node<'_>, message: impl Into<String>, help: impl Into<String>) -> FormulaError {
    FormulaError::new(node.range.clone(), message, help)
}

fn no_bits(node: &Node<'_>) -> FormulaError {
    wrong(node, "a float has no bits to work on", "make it an integer: `u32(x)` cuts off towards zero")
}

fn exact(node: &Node<'_>, value: Option<i128>) -> Outcome {
    value.map(Value::Int).ok_or_else(|| {
        wrong(node, "more than 127 bits", "wrap what is inside: `u32(x)` keeps the low 32 bits")
    })
}

fn lesser(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.min(b)),
        (a, b) => Value::Float(a.float().min(b.float())),
    }
}

fn greater(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.max(b)),
        (a, b) => Value::Float(a.float().max(b.float())),
    }
}

fn binary(node: &Node<'_>, op: Binary, one: Value, other: Value) -> Outcome {
    let (Value::Int(a), Value::Int(b)) = (one, other) else {
        return floats(node, op, one.float(), other.float());
    };
    if matches!(op, Binary::Div | Binary::Rem) && b == 0 {
        return Err(wrong(node, "division by zero", "guard it: `n == 0 ? 0 : x / n`"));
    }
    let distance = || {
        let there = u32::try_from(b).ok().filter(|b| *b < 127);
        there.ok_or_else(|| wrong(node, format!("a shift by {b}"), "shifts are by 0 to 126"))
    };
    match op {
        Binary::Add => exact(node, a.checked_add(b)),
        Binary::Sub => exact(node, a.checked_sub(b)),
        Binary::Mul => exact(node, a.checked_mul(b)),
        Binary::Div => exact(node, a.checked_div(b)),
        Binary::Rem => exact(node, a.checked_rem(b)),
        Binary::Shl => {
            let factor = 1_i128 << distance()?;
            exact(node, a.checked_mul(factor))
        }
        Binary::Shr => Ok(Value::Int(a >> distance()?)),
        Binary::BitAnd => Ok(Value::Int(a & b)),
        Binary::BitOr => Ok(Value::Int(a | b)),
        Binary::BitXor => Ok(Value::Int(a ^ b)),
        Binary::Eq => Ok(Value::truth(a == b)),
        Binary::Ne => Ok(Value::truth(a != b)),
        Binary::Lt => Ok(Value::truth(a < b)),
        Binary::Le => Ok(Value::truth(a <= b)),
        Binary::Gt => Ok(Value::truth(a > b)),
        Binary::Ge => Ok(Value::truth(a >= b)),
        Binary::And => Ok(Value::truth(a != 0 && b != 0)),
        Binary::Or => Ok(Value::truth(a != 0 || b != 0)),
    }
}

fn floats(node: &Node<'_>, op: Binary, a: f64, b: f64) -> Outcome {
    match op {
        Binary::Add => Ok(Value::Float(a + b)),
        Binary::Sub => Ok(Value::Float(a - b)),
        Binary::Mul => Ok(Value::Float(a * b)),
        Binary::Div => Ok(Value::Float(a / b)),
        Binary::Rem => Ok(Value::Float(a % b)),
        Binary::Eq => Ok(Value::truth(a == b)),
        Binary::Ne => Ok(Value::truth(a != b)),
        Binary::Lt => Ok(Value::truth(a < b)),
        Binary::Le => Ok(Value::truth(a <= b)),
        Binary::Gt => Ok(Value::truth(a > b)),
        Binary::Ge => Ok(Value::truth(a >= b)),
        Binary::And => Ok(Value::truth(a != 0.0 && b != 0.0)),
        Binary::Or => Ok(Value::truth(a != 0.0 || b != 0.0)),
        Binary::Shl | Binary::Shr | Binary::BitAnd | Binary::BitOr | Binary::BitXor => Err(no_bits(node)),
    }
}
