use crate::launch::{Element, Launch, Outcome, ParamKind};
use crate::statistics::Statistics;

#[derive(Clone, Debug)]
pub struct RunReport {
    pub statistics: Statistics,
    /// Buffers in the order of [`Launch::buffers`].
    pub buffers: Vec<Buffer>,
}

#[derive(Clone, Debug)]
pub struct Buffer {
    pub name: String,
    /// Address of the first byte, as the kernel sees it.
    pub address: u64,
    pub element: Element,
    /// Content at the end of the run, little-endian.
    pub bytes: Vec<u8>,
    pub outcome: Outcome,
}

impl RunReport {
    pub(crate) fn new(launch: &Launch, statistics: Statistics, contents: Vec<(u64, Vec<u8>)>) -> RunReport {
        let mut buffers = Vec::new();
        for (param, (address, bytes)) in launch.buffers().zip(contents) {
            if let ParamKind::Buffer { element, expect, .. } = &param.kind {
                let outcome = expect.as_ref().map_or(Outcome::Open, |e| e.judge(*element, &bytes));
                buffers.push(Buffer { name: param.name.clone(), address, element: *element, bytes, outcome });
            }
        }
        RunReport { statistics, buffers }
    }

    pub fn checked(&self) -> bool {
        self.buffers.iter().any(|b| b.outcome != Outcome::Open)
    }

    pub fn as_expected(&self) -> bool {
        self.buffers.iter().all(|b| matches!(b.outcome, Outcome::Open | Outcome::Met { .. }))
    }

    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|b| b.name == name)
    }
}
