//! Loads and stores through the warp port, to set and read the memory of a unit that is not this project's.

use atoms_model::Config;
use atoms_model::port::{In, Out, Probe};
use atoms_ops::{Op, Size};
use atoms_oracle::Geometry;
use atoms_scoreboard::header_of;
use atoms_stimulus::complete_handshakes;
use atoms_stimulus::request::{AllocationWrite, Lane, WarpRequest};
use atoms_stimulus::unit::ForeignUnit;
use atoms_verilated::Rtl;

use crate::machine::Failure;

/// Cycles after which an access is stuck.
const LIMIT: u64 = 20_000;

/// Operations that return a word and leave it unchanged if both operands are 0.
const READS: [Op; 7] = [Op::Load, Op::Or, Op::Xor, Op::Add, Op::Max, Op::Cas, Op::Cast];

/// Operations that replace a word of 0 by operand B, or by C if B is 0 (CAS).
const WRITES: [Op; 8] = [Op::Store, Op::Exch, Op::Or, Op::Xor, Op::Add, Op::Max, Op::Cas, Op::Cast];

/// Sizes of accesses, the largest first.
const SIZES: [Size; 3] = [Size::B128, Size::U64, Size::U32];

/// Access to the memory of a unit through its ports, while no request is inside.
pub(crate) struct PortMemory<'a> {
    pub(crate) rtl: &'a mut Rtl,
    pub(crate) config: &'a Config,
    pub(crate) unit: &'a ForeignUnit,
}

impl PortMemory<'_> {
    /// Writes the words that are not 0 to a memory of zeros, word `row * num_banks + bank`. Returns false if no
    /// operation of the unit can do so.
    pub(crate) fn write(&mut self, words: &[u32]) -> Result<bool, Failure> {
        let Some((op, size)) = self.access(&WRITES) else { return Ok(false) };
        let linear = self.linear(words);
        self.map(true)?;
        let each = size.bytes() as usize / 4;
        let accesses: Vec<_> = (0u32..).zip(linear.chunks(each)).collect();
        let filled: Vec<_> =
            accesses.iter().filter(|(_, words)| words.iter().any(|word| *word != 0)).collect();
        for lanes in filled.chunks(self.config.num_lanes as usize) {
            let lane = |(at, words): &&(u32, &[u32])| {
                let value = words.iter().rev().fold(0, |value, word| value << 32 | u128::from(*word));
                let (b, c) = if matches!(op, Op::Cas | Op::Cast) { (0, value) } else { (value, 0) };
                Lane { ra: at * size.bytes(), b, c }
            };
            self.request(op, size, lanes.iter().map(lane).collect())?;
        }
        self.map(false)?;
        Ok(true)
    }

    /// Reads all words, word `row * num_banks + bank`. `None` if no operation of the unit can do so.
    pub(crate) fn read(&mut self) -> Result<Option<Vec<u32>>, Failure> {
        let Some((op, size)) = self.access(&READS) else { return Ok(None) };
        self.map(true)?;
        let each = size.bytes() / 4;
        let mut linear = Vec::new();
        let accesses: Vec<_> = (0..(self.config.bytes() / 4) as u32 / each).collect();
        for lanes in accesses.chunks(self.config.num_lanes as usize) {
            let lane = |at: &u32| Lane { ra: at * size.bytes(), ..Lane::default() };
            let out = self.request(op, size, lanes.iter().map(lane).collect())?;
            for rd in &out.rsp_rd[..lanes.len()] {
                linear.extend((0..each).map(|word| (rd >> (32 * word)) as u32));
            }
        }
        self.map(false)?;
        let geometry = self.geometry();
        let place = |at: u32| geometry.word(at / geometry.banks, at % geometry.banks) as usize;
        Ok(Some((0..linear.len() as u32).map(|at| linear[place(at)]).collect()))
    }

    /// Chooses the first operation that the unit has, and its largest size.
    fn access(&self, ops: &[Op]) -> Option<(Op, Size)> {
        let all = ops.iter().flat_map(|op| SIZES.map(|size| (*op, size)));
        all.into_iter().find(|(op, size)| self.unit.has(*op, *size))
    }

    fn geometry(&self) -> Geometry {
        header_of(self.config).geometry
    }

    /// Words in the order of their addresses.
    fn linear(&self, words: &[u32]) -> Vec<u32> {
        let geometry = self.geometry();
        let mut linear = vec![0; words.len()];
        for (at, word) in (0..).zip(words) {
            linear[geometry.word(at / geometry.banks, at % geometry.banks) as usize] = *word;
        }
        linear
    }

    /// Removes all allocations. With `enable`, then gives slot 0 all of memory.
    fn map(&mut self, enable: bool) -> Result<(), Failure> {
        let slots = if self.unit.ports.table { self.config.num_cta_slots as u8 } else { 0 };
        let removed = (0..slots).map(|slot| AllocationWrite { slot, ..AllocationWrite::default() });
        let whole =
            AllocationWrite { enable: true, size: self.config.bytes() as u32, ..AllocationWrite::default() };
        for write in removed.chain(enable.then_some(whole)) {
            let mut i = In { rst_n: 1, ..In::default() };
            write.drive(&mut i);
            self.run(&mut i, |i, _| i.cta_valid == 0)?;
        }
        Ok(())
    }

    /// Executes one request. Returns the outputs of the cycle with its response.
    fn request(&mut self, op: Op, size: Size, lanes: Vec<Lane>) -> Result<Out, Failure> {
        let mask = u32::MAX >> (32 - lanes.len() as u32);
        let request = WarpRequest { op: op as u8, size: size as u8, mask, lanes, ..WarpRequest::default() };
        let mut i = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() };
        request.drive(&mut i);
        self.run(&mut i, |_, out| out.rsp_valid == 1)
    }

    /// Runs until `done` is true. Returns the outputs of the last cycle.
    fn run(&mut self, i: &mut In, done: impl Fn(&In, &Out) -> bool) -> Result<Out, Failure> {
        let (mut out, mut probe) = (Out::default(), Probe::default());
        for _ in 0..LIMIT {
            self.rtl.cycle(i, &mut out, &mut probe)?;
            complete_handshakes(i, &out);
            if done(i, &out) {
                return Ok(out);
            }
        }
        let (cycles, cycle) = (LIMIT, self.rtl.cycles());
        Err(match (i.req_valid, i.cta_valid) {
            (1, _) => Failure::Refused { ready: "req_ready_o", cycles, cycle },
            (_, 1) => Failure::Refused { ready: "cta_ready_o", cycles, cycle },
            _ => Failure::Stuck { waiting: 1, cycles, cycle },
        })
    }
}
