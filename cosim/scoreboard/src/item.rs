//! Requests that a port accepted and that are not judged in every possible order.

use std::collections::VecDeque;

use atoms_oracle::{Allocation, Response, SerialRequest};

use crate::verdict::{PortName, RequestName};

/// A request, its answer, and the words that it wrote.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) name: RequestName,
    pub(crate) request: SerialRequest,
    /// True if the request gets a response. False for a posted request without a fault (spec 4.7).
    pub(crate) owes: bool,
    pub(crate) answer: Option<Answer>,
    /// Words written: (index, final value). `None` if they were not observed.
    pub(crate) written: Option<Vec<(u32, u32)>>,
    /// True for an MBAR.TRY_WAIT known to be suspended. Its wake-up is judged instead of a response.
    pub(crate) suspended: bool,
}

/// Response of a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) cycle: u64,
    pub(crate) response: Response,
    /// Number of passes that the response states, if it states one.
    pub(crate) passes: Option<u32>,
}

impl Item {
    /// True if an answer is missing that is needed to judge the request.
    pub(crate) fn is_open(&self) -> bool {
        !self.suspended && !self.is_resolved()
    }

    /// True if enough is known to judge the request.
    pub(crate) fn is_resolved(&self) -> bool {
        self.answer.is_some() || !self.owes
    }
}

/// Requests of one port, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Items {
    first: u64,
    items: VecDeque<Item>,
}

impl Items {
    /// Number of the next request.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.items.len() as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn push(&mut self, item: Item) {
        self.items.push_back(item);
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Item> {
        self.items.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Item> {
        self.items.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Items from `number` on.
    pub(crate) fn from(&self, number: u64) -> impl Iterator<Item = &Item> {
        self.items.iter().skip(usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX))
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Item> {
        self.items.iter_mut()
    }

    /// Forgets the items before `number`. Returns the number of those that were not suspended.
    pub(crate) fn forget(&mut self, number: u64) -> u64 {
        let mut executed = 0;
        while self.first < number
            && let Some(item) = self.items.pop_front()
        {
            self.first += 1;
            executed += u64::from(!item.suspended);
        }
        executed
    }

    /// Forgets all items. Numbers continue.
    pub(crate) fn clear(&mut self) {
        self.first = self.end();
        self.items.clear();
    }
}

/// The queues of both ports.
#[derive(Debug, Default)]
pub(crate) struct BothPorts {
    warp: Items,
    cluster: Items,
}

impl BothPorts {
    pub(crate) fn of(&self, port: PortName) -> &Items {
        match port {
            PortName::Warp => &self.warp,
            PortName::Cluster => &self.cluster,
        }
    }

    pub(crate) fn of_mut(&mut self, port: PortName) -> &mut Items {
        match port {
            PortName::Warp => &mut self.warp,
            PortName::Cluster => &mut self.cluster,
        }
    }
}

/// Event that waits for its turn to be judged.
#[derive(Debug)]
pub(crate) enum Pending {
    /// A request that may be suspended was accepted.
    Accept {
        number: u64,
        request: Box<SerialRequest>,
    },
    /// A request has executed.
    Done {
        port: PortName,
        number: u64,
    },
    Table {
        slot: u8,
        allocation: Option<Allocation>,
    },
    TableResult {
        slot: u8,
        refused: bool,
    },
    Suspended {
        number: u64,
    },
    Wake {
        number: u64,
        pred: u32,
    },
    Quiet {
        from: u64,
    },
    Words(Vec<(u32, u32)>),
    End,
    Final(Vec<(u32, u32)>),
    Reset {
        dropped: Vec<SerialRequest>,
        written: Vec<(u32, u32)>,
    },
}
