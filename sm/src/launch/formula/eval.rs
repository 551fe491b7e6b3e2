use super::FormulaError;
use super::operator::{Fold, Function};
use super::tree::{Node, Part};
use super::value::Value;

/// Limit for evaluated nodes per formula: several seconds of work.
const MOST_WORK: u64 = 100_000_000;

/// Local variables, and the number of nodes evaluated so far.
pub(super) struct Work {
    locals: Vec<i128>,
    done: u64,
}

type Outcome = Result<Value, FormulaError>;

impl Work {
    pub(super) fn new(locals: usize) -> Work {
        Work { locals: vec![0; locals.max(1)], done: 0 }
    }

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
            let message = format!("the formula needs more than {MOST_WORK} steps");
            return Err(wrong(node, message, "use `histogram_of` or `sum_of`, which need fewer steps"));
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
                        let help = format!("the buffer has {count} elements, counted from 0");
                        Err(wrong(node, format!("index {at} is outside the buffer"), help))
                    }
                }
            }
            Part::Choice(parts) => {
                let [condition, then, other] = parts.as_ref();
                let chosen = if self.value(condition)?.holds() { then } else { other };
                self.value(chosen)
            }
            Part::Call(function, arguments) => self.call(node, *function, arguments),
            Part::Fold(fold, local, parts) => self.fold(node, fold, *local, parts),
        }
    }

    fn int(&mut self, node: &Node<'_>) -> Result<i128, FormulaError> {
        match self.value(node)? {
            Value::Int(value) => Ok(value),
            Value::Float(value) => {
                let help = "convert it: `s64(x)` rounds towards zero";
                Err(wrong(node, format!("{value} is not an integer"), help))
            }
        }
    }

    fn call(&mut self, node: &Node<'_>, function: Function, arguments: &[Node<'_>]) -> Outcome {
        let mut result = None;
        for argument in arguments {
            let value = self.value(argument)?;
            let computed = match (function, result) {
                (Function::OfAll(op), Some(before)) => op(before, value),
                (Function::OfAll(_), None) => Ok(value),
                (Function::Of(op), _) => op(value),
                (Function::As(element), _) => Ok(Value::of(element, value.store(element))),
            };
            result = Some(computed.map_err(|(message, help)| wrong(node, message, help))?);
        }
        // The parser guarantees at least one argument.
        Ok(result.unwrap_or(Value::Int(0)))
    }

    fn fold(&mut self, node: &Node<'_>, fold: &Fold, local: usize, parts: &[Node<'_>; 3]) -> Outcome {
        let Fold(_, start, step) = fold;
        let [first, end, body] = parts;
        let (first, end) = (self.int(first)?, self.int(end)?);
        let mut result = start.map(Value::Int);
        let mut at = first;
        while at < end {
            if let Some(variable) = self.locals.get_mut(local) {
                *variable = at;
            }
            let value = self.value(body)?;
            let stepped = result.map_or(Ok(value), |before| step(before, value));
            result = Some(stepped.map_err(|(message, help)| wrong(node, message, help))?);
            at += 1;
        }
        result.ok_or_else(|| wrong(node, "the minimum or maximum of no values", "the range is empty"))
    }
}

fn wrong(node: &Node<'_>, message: impl Into<String>, help: impl Into<String>) -> FormulaError {
    FormulaError::new(node.range.clone(), message, help)
}
