//! Matches answers of the warp port to requests, by the tag and the order of acceptance.

use std::collections::VecDeque;

use atoms_ops::Op;
use atoms_stimulus::request::WarpRequest;

use crate::{InFlight, Unmatched};

/// Fields of a warp request that decide which answer belongs to it.
pub trait WarpEntry {
    /// Number of the request, in order of acceptance.
    fn number(&self) -> u64;
    /// Tag of the request.
    fn tag(&self) -> u8;
    /// Operation code of the request.
    fn op(&self) -> u8;

    /// True for an MBAR.TRY_WAIT, the only operation that can be suspended.
    fn waits(&self) -> bool {
        self.op() == Op::MbarTryWait as u8
    }
}

impl WarpEntry for InFlight<WarpRequest> {
    fn number(&self) -> u64 {
        self.number
    }

    fn tag(&self) -> u8 {
        self.request.tag
    }

    fn op(&self) -> u8 {
        self.request.op
    }
}

/// Warp requests without an answer.
#[derive(Clone, Debug)]
pub struct WarpQueue<T> {
    /// Requests without an answer, oldest first. Requests that a younger one overtook are in `overtaken`.
    warps: VecDeque<T>,
    overtaken: Vec<T>,
}

impl<T> Default for WarpQueue<T> {
    fn default() -> Self {
        WarpQueue { warps: VecDeque::new(), overtaken: Vec::new() }
    }
}

impl<T: WarpEntry> WarpQueue<T> {
    /// Adds a request that the port accepted.
    pub fn accept(&mut self, request: T) {
        self.warps.push_back(request);
    }

    /// Requests without an answer that are not known to be suspended, oldest first.
    pub fn waiting(&self) -> &VecDeque<T> {
        &self.warps
    }

    /// Requests known to be suspended, because a younger request of the port has its answer.
    pub fn suspended(&self) -> &[T] {
        &self.overtaken
    }

    /// Removes all requests. Returns the suspended ones first, the rest oldest first.
    pub fn drain(&mut self) -> Vec<T> {
        self.overtaken.drain(..).chain(self.warps.drain(..)).collect()
    }

    /// Removes the request that a response with this tag answers. All older requests are suspended.
    ///
    /// # Errors
    /// No single request matches.
    pub fn answered(&mut self, tag: u8) -> Result<T, Unmatched> {
        let older = |waiting: &&T| waiting.waits() && waiting.tag() != tag;
        let overtaken = self.warps.iter().take_while(older).count();
        let answered = self.warps.get(overtaken).ok_or(Unmatched::NoRequest)?;
        if answered.tag() != tag {
            return Err(Unmatched::OtherTag(answered.tag()));
        }
        if answered.waits() {
            // If this wait is suspended, the response may belong to a younger request with the same tag.
            let mut younger = self.warps.iter().skip(overtaken + 1);
            let next = younger.find(|waiting| !waiting.waits() || waiting.tag() == tag);
            if next.is_some_and(|waiting| waiting.tag() == tag) {
                return Err(Unmatched::Ambiguous);
            }
        }
        self.overtaken.extend(self.warps.drain(..overtaken));
        self.warps.pop_front().ok_or(Unmatched::NoRequest)
    }

    /// Removes the request that a wake-up with this tag answers: a request known to be suspended, or a wait at
    /// the head of the queue that only waits precede.
    ///
    /// # Errors
    /// No single request matches.
    pub fn woken(&mut self, tag: u8) -> Result<T, Unmatched> {
        let fits = |waiting: &T| waiting.tag() == tag;
        let overtaken = self.overtaken.iter().position(fits);
        let mut head = self.warps.iter().take_while(|waiting| waiting.waits());
        let waiting = head.position(fits);
        if overtaken.is_some() && waiting.is_some()
            || self.overtaken.iter().filter(|waiting| fits(waiting)).count() > 1
            || head.any(fits)
        {
            return Err(Unmatched::Ambiguous);
        }
        if let Some(place) = waiting {
            self.overtaken.extend(self.warps.drain(..place));
            return self.warps.pop_front().ok_or(Unmatched::NoRequest);
        }
        Ok(self.overtaken.swap_remove(overtaken.ok_or(Unmatched::NoRequest)?))
    }

    /// Removes the oldest request with this tag, for an answer that matches no request for certain.
    pub fn oldest_with(&mut self, tag: u8) -> Option<T> {
        let suspended = self.overtaken.iter().enumerate().filter(|(_, waiting)| waiting.tag() == tag);
        if let Some((place, _)) = suspended.min_by_key(|(_, waiting)| waiting.number()) {
            return Some(self.overtaken.swap_remove(place));
        }
        let place = self.warps.iter().position(|waiting| waiting.tag() == tag)?;
        self.warps.remove(place)
    }
}
