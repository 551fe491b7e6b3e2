//! Declarations of a trace: signals in scopes.

use crate::comparison::ANY;
use crate::{Comparison, Deferred, WaveError, WaveTrace};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// A number of this many bits, at least 1.
    Bits(u32),
    /// A text, such as the name of a value.
    Text,
    /// Event that triggers in single cycles and has no value.
    Event,
}

/// A signal of a [`Definition`]; invalid for any other definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signal(pub(crate) u32);

#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) kind: SignalKind,
    /// Names of the enclosing scopes, the outermost first.
    pub(crate) scopes: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Signal(Signal),
    Alias(String, Signal),
    Scope(Scope),
}

#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) name: String,
    pub(crate) items: Vec<Item>,
}

/// Signals of a trace. Declare all signals first, then [`create`](Self::create) any number of traces.
#[derive(Clone, Debug)]
pub struct Definition {
    pub(crate) signals: Vec<Declared>,
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) clock: Signal,
    /// Open scopes from the outermost to the current one.
    open: Vec<Scope>,
}

impl Definition {
    /// Creates a definition with the outermost scope `top` and the clock `clk`, which the trace drives.
    pub fn new(top: &str) -> Self {
        let mut new =
            Self { signals: Vec::new(), comparisons: Vec::new(), clock: Signal(0), open: vec![scope(top)] };
        new.clock = new.signal("clk", SignalKind::Bits(1));
        new
    }

    /// Runs `body` inside a scope `name`. An existing scope of that name is extended.
    pub fn scope<R>(&mut self, name: &str, body: impl FnOnce(&mut Self) -> R) -> R {
        let name = identifier(name);
        let items = &mut self.innermost().items;
        let again = items.iter().position(|item| matches!(item, Item::Scope(scope) if scope.name == name));
        let scope = match again.map(|at| items.remove(at)) {
            Some(Item::Scope(scope)) => scope,
            _ => scope(&name),
        };
        self.open.push(scope);
        let result = body(self);
        if let Some(scope) = self.open.pop() {
            let items = &mut self.innermost().items;
            let at = again.unwrap_or(items.len());
            items.insert(at, Item::Scope(scope));
        }
        result
    }

    /// Declares a signal in the current scope. White space in `name` becomes `_`. Name an array element
    /// `name[3]`.
    ///
    /// # Panics
    /// When the width is 0.
    pub fn signal(&mut self, name: &str, kind: SignalKind) -> Signal {
        assert!(kind != SignalKind::Bits(0), "signal `{name}` has no bits");
        let signal = Signal(self.signals.len() as u32);
        let scopes = self.open.iter().map(|scope| scope.name.clone()).collect();
        self.signals.push(Declared { name: identifier(name), kind, scopes });
        self.innermost().items.push(Item::Signal(signal));
        signal
    }

    pub fn alias(&mut self, name: &str, signal: Signal) {
        let alias = Item::Alias(identifier(name), signal);
        self.innermost().items.push(alias);
    }

    /// Compares two sides: declares a flag per pair, a flag for any pair, and two counters in a scope `name`.
    /// The trace sets them.
    ///
    /// A flag has the name of the left signal, in the left signal's scopes from the third level on. So the
    /// flag of `top.rtl.pass.lane` is `top.diff.pass.lane`.
    ///
    /// # Panics
    /// When the kinds of a pair differ, or are events.
    pub fn compare(&mut self, name: &str, pairs: &[[Signal; 2]]) -> Comparison {
        let comparison = self.scope(name, |this| {
            let any = this.signal(ANY, SignalKind::Bits(1));
            let pairs_differing = this.signal("pairs_differing", SignalKind::Bits(16));
            let cycles_differing = this.signal("cycles_differing", SignalKind::Bits(32));
            let flags = pairs.iter().map(|pair| this.flag(pair)).collect();
            Comparison { pairs: pairs.to_vec(), flags, any, pairs_differing, cycles_differing }
        });
        self.comparisons.push(comparison.clone());
        comparison
    }

    fn flag(&mut self, [left, right]: &[Signal; 2]) -> Signal {
        let Declared { name, kind, scopes } = self.declared(*left).clone();
        assert!(
            kind == self.declared(*right).kind && kind != SignalKind::Event,
            "`{}` and `{}` cannot be compared",
            self.path(*left),
            self.path(*right)
        );
        self.within(scopes.get(2..).unwrap_or_default(), |this| this.signal(&name, SignalKind::Bits(1)))
    }

    /// Runs `body` inside nested `scopes`; see [`Definition::scope`].
    pub fn within<R>(&mut self, scopes: &[String], body: impl FnOnce(&mut Self) -> R) -> R {
        // A trait object, since the recursion would otherwise create ever new types.
        let mut result = None;
        let mut body = Some(body);
        self.within_dyn(scopes, &mut |this| result = body.take().map(|body| body(this)));
        result.expect("the innermost scope runs the body once")
    }

    fn within_dyn(&mut self, scopes: &[String], body: &mut dyn FnMut(&mut Self)) {
        match scopes {
            [] => body(self),
            [outer, inner @ ..] => self.scope(outer, |this| this.within_dyn(inner, body)),
        }
    }

    /// Returns the full name: scopes and name, joined by points.
    pub fn path(&self, signal: Signal) -> String {
        let declared = self.declared(signal);
        format!("{}.{}", declared.scopes.join("."), declared.name)
    }

    /// Creates a trace in a new file. Creates missing folders.
    ///
    /// # Errors
    /// [`WaveError::WaveTrace`].
    pub fn create(&self, path: impl AsRef<Path>) -> Result<WaveTrace, WaveError> {
        self.create_with(path, ())
    }

    /// Like [`Self::create`], with values that `deferred` computes on the writer thread.
    ///
    /// # Errors
    /// [`WaveError::WaveTrace`].
    pub fn create_with<D: Deferred>(
        &self,
        path: impl AsRef<Path>,
        deferred: D,
    ) -> Result<WaveTrace<D::Cycle>, WaveError> {
        WaveTrace::create(self, path.as_ref(), deferred)
    }

    pub(crate) fn declared(&self, signal: Signal) -> &Declared {
        &self.signals[signal.0 as usize]
    }

    pub(crate) fn top(&self) -> &Scope {
        &self.open[0]
    }

    fn innermost(&mut self) -> &mut Scope {
        let last = self.open.len() - 1;
        &mut self.open[last]
    }
}

fn scope(name: &str) -> Scope {
    Scope { name: identifier(name), items: Vec::new() }
}

/// Replaces white space by `_`, since white space separates words in a VCD file.
pub(crate) fn identifier(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stand_where_the_left_signals_do() {
        let mut definition = Definition::new("top");
        let side = |d: &mut Definition, name: &str| {
            d.scope(name, |d| {
                let plain = d.signal("valid", SignalKind::Bits(1));
                [plain, d.scope("bank", |d| d.signal("row", SignalKind::Bits(9)))]
            })
        };
        let (left, right) = (side(&mut definition, "rtl"), side(&mut definition, "model"));
        let diff = definition.compare("diff", &[[left[0], right[0]], [left[1], right[1]]]);
        let paths: Vec<String> = diff.flags.iter().map(|flag| definition.path(*flag)).collect();
        assert_eq!(paths, ["top.diff.valid", "top.diff.bank.row"]);
        assert_eq!(definition.path(diff.any), "top.diff.any");
        assert_eq!(definition.path(right[1]), "top.model.bank.row");
    }

    #[test]
    #[should_panic = "`top.a` and `top.b` cannot be compared"]
    fn unlike_kinds_are_not_compared() {
        let mut definition = Definition::new("top");
        let (a, b) = (definition.signal("a", SignalKind::Bits(1)), definition.signal("b", SignalKind::Text));
        definition.compare("diff", &[[a, b]]);
    }

    #[test]
    fn a_scope_is_continued_where_it_stands() {
        let mut definition = Definition::new("top");
        for name in ["a", "b", "a"] {
            definition.scope(name, |d| d.signal("x y", SignalKind::Event));
        }
        let names: Vec<&str> = definition
            .top()
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Scope(scope) => Some(scope.name.as_str()),
                Item::Signal(_) | Item::Alias(..) => None,
            })
            .collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(definition.path(Signal(3)), "top.a.x_y");
    }
}
