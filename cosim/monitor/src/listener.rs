//! Observers of cycles.

use crate::Cycle;

/// Observes the cycles of a session.
pub trait Listener {
    /// Sees a cycle that went well.
    fn cycle(&mut self, cycle: &Cycle<'_>);

    /// The session starts over, from reset.
    fn restart(&mut self) {}
}

/// No observer.
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

/// Two observers, of which the first sees a cycle first.
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
