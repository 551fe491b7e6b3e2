//! Requests inside the unit, and the passes of the pipeline.

use atoms_model::Config;
use atoms_model::port::{In, MAX_BANKS, MAX_LANES};
use atoms_ops::{OPS, Op, Operands, Size};

use super::moment::Moment;
use crate::coverage::groups::values::{Kind, Port, Wanted, Width};

/// Operation and size by their codes, where they are an instruction: the operation table, laid out to be
/// looked up once a request.
static INSTRUCTIONS: [[Option<(Op, Size)>; 16]; 32] = {
    let mut all = [[None; 16]; 32];
    let mut row = 0;
    while row < OPS.len() {
        let mut at = 0;
        while at < OPS[row].sizes.len() {
            let size = OPS[row].sizes[at];
            all[OPS[row].op as usize][size as usize] = Some((OPS[row].op, size));
            at += 1;
        }
        row += 1;
    }
    all
};

/// A request from the cycle in which it is taken to that of its answer.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) port: Port,
    pub(super) op_code: u8,
    pub(super) size_code: u8,
    /// Operation and size, if that is an instruction at this port.
    pub(super) kind: Option<(Op, Size)>,
    pub(super) red: bool,
    pub(super) absolute: bool,
    pub(super) scale: u8,
    pub(super) tag: u8,
    pub(super) slot: u8,
    pub(super) mask: u32,
    pub(super) imm: u32,
    pub(super) ur: u32,
    pub(super) ra: [u32; MAX_LANES],
    pub(super) b: [u128; MAX_LANES],
    pub(super) c: [u128; MAX_LANES],
    // What follows is found at issue.
    pub(super) bank: [u8; MAX_LANES],
    pub(super) row: [u16; MAX_LANES],
    pub(super) byte: [u8; MAX_LANES],
    /// Lanes by group of banks.
    pub(super) groups: [u32; MAX_BANKS],
    /// Groups that have lanes.
    pub(super) taken: u64,
    pub(super) crowd: Crowd,
    /// No pass of it has left issue yet.
    pub(super) fresh: bool,
    /// Phases that it completed so far.
    pub(super) completions: u32,
}

/// How crowded the lanes of a request are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crowd {
    /// Lanes of the fullest group of banks.
    pub(super) degree: u32,
    /// Addresses in the group with most.
    pub(super) addresses: u32,
    /// Lanes at the address with most.
    pub(super) same: u32,
    /// Addresses in all.
    pub(super) objects: u32,
}

impl Flight {
    pub(super) const EMPTY: Flight = Flight {
        port: Port::Warp,
        op_code: 0,
        size_code: 0,
        kind: None,
        red: false,
        absolute: false,
        scale: 0,
        tag: 0,
        slot: 0,
        mask: 0,
        imm: 0,
        ur: 0,
        ra: [0; MAX_LANES],
        b: [0; MAX_LANES],
        c: [0; MAX_LANES],
        bank: [0; MAX_LANES],
        row: [0; MAX_LANES],
        byte: [0; MAX_LANES],
        groups: [0; MAX_BANKS],
        taken: 0,
        crowd: Crowd { degree: 0, addresses: 0, same: 0, objects: 0 },
        fresh: true,
        completions: 0,
    };

    /// The request on the warp port.
    pub(super) fn take_warp(&mut self, config: &Config, i: &In) {
        self.port = Port::Warp;
        self.op_code = i.req_op & 31;
        self.size_code = i.req_size & 15;
        self.red = i.req_red == 1;
        self.absolute = i.req_absolute == 1;
        self.scale = i.req_scale;
        self.tag = i.req_tag & 63;
        self.slot = i.req_slot & 15;
        self.mask = i.req_mask & config.lane_mask();
        self.imm = i.req_imm;
        self.ur = i.req_ur;
        self.ra = i.req_ra;
        self.classify();
        // What no operation reads need not be kept.
        match self.kind.map_or(Operands::None, |(op, _)| op.row().operands) {
            Operands::None => {}
            Operands::B => self.b = i.req_b,
            Operands::BC => {
                self.b = i.req_b;
                self.c = i.req_c;
            }
        }
    }

    /// The request on the cluster port.
    pub(super) fn take_cluster(&mut self, i: &In) {
        self.port = Port::Cluster;
        self.op_code = i.cl_op & 31;
        self.size_code = i.cl_size & 15;
        self.red = i.cl_red == 1;
        self.absolute = true;
        self.scale = 0;
        self.tag = i.cl_tag & 63;
        self.slot = i.cl_slot & 15;
        self.mask = 1;
        self.imm = i.cl_addr;
        self.ur = 0;
        self.classify();
        self.b[0] = i.cl_b;
        self.c[0] = i.cl_c;
    }

    fn classify(&mut self) {
        self.fresh = true;
        self.completions = 0;
        let known = INSTRUCTIONS[usize::from(self.op_code & 31)][usize::from(self.size_code & 15)];
        self.kind = known.filter(|(op, _)| self.port == Port::Warp || op.cluster_legal(self.red));
    }

    pub(super) fn wanted(&self) -> Wanted {
        if self.red { Wanted::None } else { Wanted::Result }
    }
}

/// Requests of one port in order: taken, then at issue, then answered. A ring that is never full,
/// since the unit holds fewer.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    ring: Vec<Flight>,
    /// Requests taken, and of them those that came to issue.
    taken: u64,
    pub(super) issued: u64,
}

impl Flights {
    /// For a port behind which `inside` requests find room.
    pub(super) fn new(inside: u32) -> Self {
        Flights { ring: vec![Flight::EMPTY; inside.next_power_of_two() as usize], taken: 0, issued: 0 }
    }

    pub(super) fn clear(&mut self) {
        (self.taken, self.issued) = (0, 0);
    }

    /// The place of a request that is taken now.
    pub(super) fn next(&mut self) -> &mut Flight {
        self.taken += 1;
        self.get_mut(self.taken - 1)
    }

    /// The request with this number.
    #[inline(always)]
    pub(super) fn get(&self, number: u64) -> &Flight {
        &self.ring[number as usize & (self.ring.len() - 1)]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, number: u64) -> &mut Flight {
        let mask = self.ring.len() - 1;
        &mut self.ring[number as usize & mask]
    }
}

/// A pass, as it left issue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    pub(super) valid: bool,
    pub(super) port: Port,
    pub(super) number: u64,
    pub(super) banks: u64,
    pub(super) served: u32,
    pub(super) last: bool,
    pub(super) lane: [u8; MAX_BANKS],
}

impl Pass {
    pub(super) const NONE: Pass = Pass {
        valid: false,
        port: Port::Warp,
        number: 0,
        banks: 0,
        served: 0,
        last: false,
        lane: [0; MAX_BANKS],
    };

    /// The pass at issue, which leaves in this cycle.
    pub(super) fn of(port: Port, number: u64, m: &Moment) -> Self {
        Pass {
            valid: true,
            port,
            number,
            banks: m.win_valid,
            served: m.pass_served,
            last: m.pass_last == 1,
            lane: m.win_lane,
        }
    }

    /// Lane that works on a bank.
    #[inline(always)]
    pub(super) fn lane(&self, bank: usize) -> usize {
        usize::from(self.lane[bank & (MAX_BANKS - 1)]) & (MAX_LANES - 1)
    }
}

/// Banks of one access, less one.
#[inline(always)]
pub(super) fn more_banks(size: Size) -> usize {
    match Width::new(size) {
        Width::Sub | Width::Word => 0,
        Width::Pair => 1,
        Width::Quad => 3,
    }
}

/// What of the pipeline a request uses; nothing if it is no instruction.
pub(super) fn kind_of(flight: &Flight) -> Option<Kind> {
    flight.kind.map(|(op, _)| Kind::new(op))
}

/// Calls `each` with every bit that is set, lowest first.
#[inline(always)]
pub(super) fn bits(mut set: u64, mut each: impl FnMut(usize)) {
    while set != 0 {
        each(set.trailing_zeros() as usize);
        set &= set - 1;
    }
}
