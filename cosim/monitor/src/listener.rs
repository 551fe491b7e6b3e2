//! Interface of everything that observes the cycles of a session.

use crate::Cycle;

/// Observer of the cycles of a session.
pub trait Listener {
    /// Observes one cycle in which the session found no failure.
    fn cycle(&mut self, cycle: &Cycle<'_>);

    /// Observes that the session starts over, from reset.
    fn restart(&mut self) {}
}

/// The empty listener, which ignores every cycle.
impl Listener for () {
    fn cycle(&mut self, _: &Cycle<'_>) {}
}

impl<L: Listener> Listener for Option<L> {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        if let Some(listener) = self {
            listener.cycle(cycle);
        }
    }

    fn restart(&mut self) {
        self.iter_mut().for_each(L::restart);
    }
}

/// A pair of listeners. The first one sees each cycle first.
impl<A: Listener, B: Listener> Listener for (A, B) {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        self.0.cycle(cycle);
        self.1.cycle(cycle);
    }

    fn restart(&mut self) {
        self.0.restart();
        self.1.restart();
    }
}
