//! Samples the reuse of tags.

use super::hits::Hits;
use crate::groups::requests::{Reuse, TagReuse};
use crate::groups::values::Port;

/// Tags of requests in flight, and of the last response, at each port.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    inside: [[u8; 64]; 2],
    last: [Option<u8>; 2],
}

impl Default for Tags {
    fn default() -> Self {
        Tags { inside: [[0; 64]; 2], last: [None; 2] }
    }
}

impl Tags {
    pub(super) fn enter(&mut self, hits: &mut Hits, port: Port, tag: u8) {
        let tag = tag & 63;
        let (here, there) = (port as usize, 1 - port as usize);
        let reuse = match (self.last[here] == Some(tag), self.inside[there][usize::from(tag)] != 0) {
            (false, false) => Reuse::Fresh,
            (true, false) => Reuse::Again,
            (false, true) => Reuse::Other,
            (true, true) => Reuse::Both,
        };
        hits.hit(TagReuse, (port, reuse));
        let inside = &mut self.inside[here][usize::from(tag)];
        *inside = inside.saturating_add(1);
    }

    pub(super) fn leave(&mut self, port: Port, tag: u8) {
        let tag = tag & 63;
        self.last[port as usize] = Some(tag);
        let inside = &mut self.inside[port as usize][usize::from(tag)];
        *inside = inside.saturating_sub(1);
    }
}
