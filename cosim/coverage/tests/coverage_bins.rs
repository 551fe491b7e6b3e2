//! Tests that hand-built runs hit exactly the expected bins. Every group has at least one case.

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::machine::{Machine, ModelMachine};
use atoms_coverage::{Map, Model, Sampler};
use atoms_model::Config;
use atoms_model::mbarrier::MbarObject;
use atoms_model::port::{In, Out};
use atoms_monitor::Listener;
use atoms_monitor::Monitor;
use atoms_ops::{Op, Size};
use atoms_stimulus::complete_handshakes;
use atoms_stimulus::configs;
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, Lane, WarpRequest};

struct Rig {
    machine: ModelMachine,
    sampler: Sampler,
    monitor: Monitor,
    inputs: In,
    tag: u8,
}

impl Rig {
    /// Starts after reset, without any allocation.
    fn bare(name: &str) -> Rig {
        let all = configs::all(&rtl_dir()).expect("rtl/configs.toml");
        let config = all.into_iter().find(|named| named.name == name).expect("a configuration").config;
        let inputs = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() };
        Rig {
            machine: ModelMachine::new(config),
            sampler: Sampler::new(&config),
            monitor: Monitor::new(&config),
            inputs,
            tag: 0,
        }
    }

    /// Allocates all of memory to slot 0, and clears the hits of that.
    fn new(name: &str) -> Rig {
        let mut rig = Rig::bare(name);
        let size = rig.config().bytes() as u32;
        rig.allocate(AllocationWrite { slot: 0, enable: true, base: 0, size, rank: 0 });
        rig.cycles(2);
        rig.sampler.take();
        rig
    }

    fn config(&self) -> Config {
        *self.machine.config()
    }

    fn cycle(&mut self) -> Out {
        self.machine.cycle(&self.inputs).expect("the model does not stop");
        let (number, out, probe) = (self.machine.cycles(), self.machine.out(), self.machine.probe());
        self.sampler.cycle(&self.monitor.cycle(number, &self.inputs, out, probe));
        complete_handshakes(&mut self.inputs, self.machine.out());
        *self.machine.out()
    }

    fn cycles(&mut self, cycles: u32) {
        for _ in 0..cycles {
            self.cycle();
        }
    }

    fn allocate(&mut self, write: AllocationWrite) {
        write.drive(&mut self.inputs);
        while self.inputs.cta_valid == 1 {
            self.cycle();
        }
    }

    fn warp(&mut self, request: &Request) {
        request.0.drive(&mut self.inputs);
        self.inputs.req_tag = self.tag;
        self.tag = (self.tag + 1) % 64;
        while self.inputs.req_valid == 1 {
            self.cycle();
        }
    }

    fn drain(&mut self) {
        self.cycles(40);
    }

    /// Runs warp requests one at a time, and drains the unit after each.
    fn alone(&mut self, requests: &[Request]) {
        for request in requests {
            self.warp(request);
            self.drain();
        }
    }

    /// Waits until a response is valid and holds it for `cycles` cycles. The caller must have made the port
    /// not ready.
    fn hold(&mut self, valid: fn(&Out) -> u8, cycles: u32) {
        while valid(&self.cycle()) == 0 {}
        self.cycles(cycles - 1);
    }

    fn reset(&mut self) {
        self.inputs.rst_n = 0;
        self.cycle();
        self.inputs.rst_n = 1;
    }

    fn cluster(&mut self, op: Op, size: Size, red: bool, addr: u32, b: u128) {
        let (op, size) = (op as u8, size as u8);
        ClusterRequest { op, size, red, tag: 5, slot: 0, addr, b, c: 0 }.drive(&mut self.inputs);
    }
}

#[derive(Clone)]
struct Request(WarpRequest);

fn of(op: Op, size: Size) -> Request {
    Request(WarpRequest { op: op as u8, size: size as u8, ..WarpRequest::default() })
}

/// Creates a request of lane 0 on an object at address 0, with operand `b`.
fn object(op: Op, b: u128) -> Request {
    of(op, Size::U64).lane(0, 0, b)
}

fn init(count: u32) -> Request {
    object(Op::MbarInit, MbarObject::init(count).encode().into())
}

impl Request {
    fn lane(mut self, lane: usize, address: u32, b: u128) -> Self {
        self.0.lanes.resize(self.0.lanes.len().max(lane + 1), Lane::default());
        self.0.lanes[lane] = Lane { ra: address, b, c: 9 };
        self.0.mask |= 1 << lane;
        self
    }

    fn limit(mut self, cycles: u128) -> Self {
        self.0.lanes.iter_mut().for_each(|lane| lane.c = cycles);
        self
    }

    fn without(mut self, lane: usize) -> Self {
        self.0.mask &= !(1 << lane);
        self
    }

    fn red(mut self) -> Self {
        self.0.red = true;
        self
    }

    fn slot(mut self, slot: u8) -> Self {
        self.0.slot = slot;
        self
    }

    fn with(mut self, change: impl FnOnce(&mut WarpRequest)) -> Self {
        change(&mut self.0);
        self
    }
}

/// Formats the bins of a group that were hit.
fn bins(model: &Model, map: &Map, group: &str) -> String {
    let group = model.groups.iter().find(|of| of.name == group).unwrap_or_else(|| panic!("no group {group}"));
    let hit = (0..group.len()).filter(|at| map.hits(group.first + at) > 0);
    let name = |at| group.bin_name(at)[group.name.len()..].trim_matches(['[', ']']).to_string();
    hit.map(name).collect::<Vec<_>>().join("; ")
}

/// Description, configuration, run, and the exact bins expected in each listed group.
type Case = (&'static str, &'static str, fn(&mut Rig), &'static [(&'static str, &'static str)]);

const WORD: Size = Size::U32;

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("four lanes on one bank", "default", |rig| {
        let rows = of(Op::Add, WORD).lane(0, 0, 1).lane(1, 128, 1).lane(2, 256, 1).lane(3, 384, 1);
        rig.alone(&[rows]);
    }, &[
        ("operation", "ADD, u32, result, warp"), ("decode", "0, 2"), ("lanes", "ADD, some"), ("lane_alone", ""),
        ("conflict", "ADD, u32, 3-4"), ("addresses", "ADD, 3-4"), ("same_address", "ADD, result, 1"),
        ("merging", ""), ("crossbar", "0, 0; 1, 0; 2, 0; 3, 0"), ("winner", "lowest first, lowest"),
        ("rotation", ""), ("address", "register, 1, none, 0"), ("slot", "warp, 0"), ("tag", "warp, 0"),
        ("tag_reuse", "warp, nothing near"), ("values", "ADD, u32, 1, 0"), ("arithmetic", "ADD, u32, changed"),
        ("part_edge", "u32, warp, first access of the part"), ("live_object", "ADD, no object"),
        ("forward", ""), ("stall", ""), ("fault", ""), ("neighbours", ""),
    ]),
    ("two lanes on one word", "default", |rig| {
        rig.alone(&[of(Op::Add, WORD).lane(0, 4, 1).lane(1, 4, 1).red()]);
    }, &[
        ("same_address", "ADD, no result, 2"), ("merging", "ADD, no result, one after the other, 1"),
        ("forward", "update, update, 1"), ("forward_width", "word, word, forwarded"),
    ]),
    ("two lanes on one word, merged, and one on another", "merging", |rig| {
        rig.alone(&[of(Op::Add, WORD).lane(0, 4, 1).lane(1, 4, 1).lane(2, 132, 1).red()]);
    }, &[("merging", "ADD, no result, together, 2"), ("forward", ""), ("winner", ""), ("values", "ADD, u32, 1, 0")]),
    ("the highest lane first", "highest", |rig| {
        rig.alone(&[of(Op::Cas, WORD).lane(0, 0, 0).lane(7, 128, 1)]);
    }, &[("winner", "highest first, highest"), ("compare", "CAS, u32, some, some on one bank")]),
    ("the second request starts at lane 1", "rotating", |rig| {
        let three = of(Op::Exch, WORD).lane(0, 0, 0).lane(1, 128, 0).lane(2, 256, 0);
        rig.alone(&[of(Op::Load, WORD).lane(31, 0, 0), three]);
    }, &[("winner", "rotating, between"), ("rotation", "1, at the start"), ("lane_alone", "31"),
        ("conflict", "EXCH, u32, 3-4; LDS, u32, 1")]),
    ("the third row of a swizzled memory", "hashed", |rig| {
        rig.alone(&[of(Op::Xor, Size::S32).lane(2, 3 * 128, 0)]);
    }, &[("hash", "3, word"), ("crossbar", "2, 12"), ("arithmetic", "XOR, s32, unchanged")]),
    ("a comparison that one of four words fails", "default", |rig| {
        rig.alone(&[of(Op::Cas, Size::B128).lane(5, 16, 1 << 40)]);
    }, &[("wide_access", "quad, 4"), ("compare_words", "CAS, b128, one between"),
        ("compare", "CAS, b128, none, one lane"), ("crossbar", "5, 4; 5, 5; 5, 6; 5, 7")]),
    ("four words that differ, compared and stored", "default", |rig| {
        let words = 1 | 2 << 32 | 3 << 64 | 4 << 96;
        let stored = of(Op::Cas, Size::B128).lane(3, 16, words).with(|r| r.lanes[3].c = words << 1);
        rig.alone(&[of(Op::Exch, Size::B128).lane(0, 16, words).red(), stored.clone(), stored]);
    }, &[("distinct_words", "EXCH, b128, operand B, warp; CAS, b128, operand B, warp; CAS, b128, stored operand C, warp; CAS, b128, returned word, warp"),
        ("stored_words", "CAS, b128, 3")]),
    ("two words that differ, through the cluster port", "default", |rig| {
        for (b, c) in [(0, 7 << 32 | 5), (5, 3), (7 << 32 | 5, 1 << 32 | 1)] {
            rig.cluster(Op::Cas, Size::U64, false, 8, b);
            rig.inputs.cl_c = c;
            rig.drain();
        }
    }, &[("distinct_words", "CAS, u64, operand B, cluster; CAS, u64, stored operand C, cluster; CAS, u64, returned word, cluster"),
        ("stored_words", "")]),
    ("bytes of one word", "default", |rig| {
        let bytes = of(Op::Store, Size::U8).lane(0, 4, 0x80).lane(1, 7, 1);
        rig.alone(&[bytes, of(Op::Load, Size::S8).lane(0, 4, 0)]);
    }, &[("sub_word", "LDS, s8, 0, set; STS, u8, 0, set"), ("store_overlay", "u8, beside others in the word"),
        ("values", "STS, u8, smallest negative, 0"), ("addresses", "LDS, 1; STS, 1")]),
    ("an immediate with its highest bit set", "default", |rig| {
        rig.alone(&[of(Op::Load, WORD).lane(0, 4, 0).with(|r| r.imm = 0xff_fffc)]);
    }, &[("address", "register, 1, none, highest bit set")]),
    ("an absolute address that wraps", "default", |rig| {
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0).with(|r| (r.absolute, r.imm, r.ur) = (true, 0x10, 0xffff_fff0))]);
    }, &[("address", "absolute, 1, uniform register, positive, sum wraps")]),
    ("a scaled register that wraps with the immediate", "default", |rig| {
        rig.alone(&[of(Op::Load, WORD).lane(0, 0x0fff_ffff, 0).with(|r| (r.scale, r.imm) = (4, 0x14))]);
    }, &[("address", "register, 16, none, positive, sum wraps")]),
    ("a tag used again, in another slot", "default", |rig| {
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0).slot(3)]);
        rig.tag = 0;
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0)]);
    }, &[("tag", "warp, 0"), ("tag_reuse", "warp, nothing near; warp, the request answered last"),
        ("slot", "warp, 0"), ("out_of_range", "u32, warp, no part")]),
    ("a sum that carries", "default", |rig| {
        rig.alone(&[of(Op::Exch, WORD).lane(0, 0, u32::MAX.into()), of(Op::Add, WORD).lane(0, 0, 1)]);
    }, &[("values", "ADD, u32, 1, all ones; EXCH, u32, all ones, 0"),
        ("arithmetic", "ADD, u32, carry; EXCH, u32, changed")]),
    ("counters at their bounds", "default", |rig| {
        rig.alone(&[of(Op::Dec, WORD).lane(0, 0, 7), of(Op::Inc, WORD).lane(0, 0, 7), of(Op::Inc, WORD).lane(1, 4, 7)]);
    }, &[("arithmetic", "INC, u32, changed; INC, u32, at the bound; DEC, u32, from 0")]),
    ("a signed minimum", "default", |rig| {
        rig.alone(&[of(Op::Min, Size::S32).lane(0, 0, 0x8000_0000)]);
    }, &[("values", "MIN, s32, smallest negative, 0")]),
    ("CAST.SPIN with losers at both kinds of address", "default", |rig| {
        rig.alone(&[of(Op::CastSpin, WORD).lane(0, 0, 0).lane(1, 0, 0).lane(2, 128, 0)]);
    }, &[("spin", "u32, both, stored"), ("compare", "CAST.SPIN, u32, some, some at one address"),
        ("favour", "lowest first, goes from lane to lane, first by the policy too"), ("winner", "")]),
    ("a selected lane that fails beside one that would store", "default", |rig| {
        // Lane 1 has priority in the second request and does not ask. Lane 2 has priority in the third.
        let spin = || of(Op::CastSpin, WORD).lane(0, 0, 7).lane(2, 128, 0);
        rig.alone(&[of(Op::CastSpin, WORD).lane(0, 0, 7), spin(), spin()]);
    }, &[("spin", "u32, no losers, failed; u32, at other addresses, stored; u32, at other addresses, failed while a loser would match"),
        ("favour", "lowest first, goes from lane to lane, behind another by the policy; lowest first, goes from lane to lane, does not ask")]),
    ("a CAST.SPIN of 64 bits whose high word alone differs", "default", |rig| {
        rig.alone(&[of(Op::CastSpin, Size::U64).lane(0, 0, 1).lane(1, 0, 1 << 32).lane(2, 256, 1)]);
    }, &[("spin", "u64, both, failed")]),
    ("a held lane", "highest", |rig| {
        // 32 requests step the counter, then 32 hold lane 0. The same repeats with lane 1.
        for _ in 0..33 {
            rig.alone(&[of(Op::CastSpin, WORD).lane(0, 0, 0)]);
        }
        rig.alone(&[of(Op::CastSpin, WORD).lane(0, 0, 0).lane(1, 0, 0)]);
    }, &[("favour", "highest first, holds one lane, behind another by the policy")]),
    ("a misaligned lane among good ones", "default", |rig| {
        rig.alone(&[of(Op::Add, WORD).lane(0, 0, 1).lane(5, 0x16, 1)]);
    }, &[("fault", "ADD, misaligned address, a lane between"), ("fault_mix", "misaligned, one of several lanes"),
        ("misalignment", "u32, 2"), ("out_of_range", ""), ("operation", ""), ("decode", "0, 2")]),
    ("the first access behind the end", "default", |rig| {
        let end = rig.config().bytes() as u32;
        rig.alone(&[of(Op::Add, WORD).lane(0, end, 1), of(Op::Add, WORD).lane(31, end - 4, 1)]);
    }, &[("fault", "ADD, address out of range, lane 0"), ("fault_mix", "out of range, the lane alone takes part"),
        ("out_of_range", "u32, warp, first behind the end"), ("part_edge", "u32, warp, ends with the part")]),
    ("a bad address of a lane that takes no part", "default", |rig| {
        rig.alone(&[of(Op::Add, WORD).lane(0, 2, 1).lane(1, 4, 1).without(0)]);
    }, &[("bystander", "misaligned"), ("fault", "")]),
    ("an operation that the cluster does not know", "default", |rig| {
        rig.cluster(Op::MbarInit, Size::U64, true, 0, 0);
        rig.drain();
    }, &[("cluster_illegal", "MBAR.INIT, no result"), ("cluster_responses", "a posted cluster request that faults, none stands untaken"),
        ("offset", ""), ("operation", ""), ("fault", ""), ("tag", "cluster, 5")]),
    ("two requests on one word", "default", |rig| {
        rig.warp(&of(Op::Add, WORD).lane(0, 0, 1));
        rig.warp(&of(Op::Store, Size::U64).lane(0, 0, 1));
        rig.drain();
    }, &[("neighbours", "update, store, same word, warp, warp"), ("forward", "update, store, 1"),
        ("forward_width", "word, pair, forwarded")]),
    ("two requests on one bank, the second through the cluster port", "default", |rig| {
        rig.warp(&of(Op::Add, WORD).lane(0, 0, 1));
        rig.cluster(Op::Load, WORD, false, 128, 0);
        rig.drain();
    }, &[("neighbours", "update, load, same bank, other rows, warp, cluster"), ("forward", "")]),
    ("two lanes on one word, the second held back", "hold", |rig| {
        rig.alone(&[of(Op::Add, WORD).lane(0, 4, 1).lane(1, 4, 1)]);
    }, &[("hazard", "update, 3"), ("forward", "update, update, 4"),
        ("forward_width", "word, word, from memory, just written")]),
    ("an answer that is not taken for three cycles", "default", |rig| {
        rig.inputs.rsp_ready = 0;
        rig.warp(&of(Op::Add, WORD).lane(0, 0, 1));
        rig.warp(&of(Op::Load, WORD).lane(0, 0, 1));
        while rig.machine.probe().stall == 0 {
            rig.cycle();
        }
        rig.cycles(2);
        rig.inputs.rsp_ready = 1;
        rig.drain();
    }, &[("stall", "load, 2-4"), ("stall_fill", "nothing else"), ("hold", "response, 1-15"),
        ("back_pressure", "idle, idle, idle, none suspended; taken, idle, idle, none suspended; held, idle, idle, none suspended")]),
    ("ports in turn", "default", |rig| {
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0)]);
        rig.cluster(Op::Load, WORD, false, 0, 0);
        rig.warp(&of(Op::Load, WORD).lane(0, 0, 0));
        rig.drain();
    }, &[("turns", "warp, cluster, both wait; cluster, warp, alone")]),
    ("one request through its queue", "default", |rig| {
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0)]);
    }, &[("queue", "warp, 0, rests; warp, 0, one comes; warp, 1, one goes; cluster, 0, rests")]),
    ("a part in another's way, right behind", "default", |rig| {
        let allocation = AllocationWrite { slot: 1, enable: true, base: 0, size: 130, rank: 3 };
        rig.allocate(AllocationWrite { slot: 0, enable: false, ..allocation });
        rig.allocate(allocation);
        rig.allocate(AllocationWrite { slot: 2, ..allocation });
        rig.cycles(2);
    }, &[("cta_write", "given a part, had none, at once; taken away, had a part, at once; refused: another slot's rows, had none, at once"),
        ("cta_part", "rows and some bytes, 1-15"), ("allocation", "up to 1 KiB"),
        ("cta_back_to_back", "taken, taken; taken, refused")]),
    ("parts beside each other, and in each other's last rows", "default", |rig| {
        for (slot, base, size) in [(0, 2, 128 + 4), (1, 4, 128), (2, 3, 3), (2, 1, 126), (3, 0, 128 + 2)] {
            rig.allocate(AllocationWrite { slot, enable: true, base, size, rank: 0 });
        }
        rig.cycles(2);
    }, &[("cta_neighbour", "0, its last row is the first of a part; 1, begins in the last row of a part; 1, begins in the row behind a part; 31, its last row is in front of a part")]),
    ("parts with two rows in common, and behind the end", "default", |rig| {
        for (slot, base, size) in [(0, 2, 256), (1, 3, 256), (1, 2, 256), (1, 1, 1024)] {
            rig.allocate(AllocationWrite { slot, enable: true, base, size, rank: 0 });
        }
        rig.cycles(2);
    }, &[("cta_neighbour", "32, begins in the last row of a part")]),
    ("a write that waits for a request", "default", |rig| {
        rig.warp(&of(Op::Load, WORD).lane(0, 0, 0));
        rig.allocate(AllocationWrite { slot: 0, enable: true, base: 1, size: 128, rank: 0 });
        rig.drain();
    }, &[("cta_wait", "requests on their way"), ("cta_suspended", ""),
        ("cta_write", "given a part, had a part, after waiting"), ("cta_part", "one row, 0"), ("allocation", "up to 1 KiB")]),
    ("the second of two arrivals", "default", |rig| {
        rig.alone(&[init(2), of(Op::MbarArrive, Size::U64).lane(0, 0, 0).lane(1, 0, 0)]);
    }, &[("completion", "MBAR.ARRIVE, warp, even to odd"),
        ("near_completion", "MBAR.ARRIVE, pending above 0, tx-count 0"), ("completions", "MBAR.ARRIVE, 1"),
        ("pending_before", "MBAR.ARRIVE, 1; MBAR.ARRIVE, 2"), ("object_lanes", "MBAR.INIT, 1; MBAR.ARRIVE, 2"),
        ("objects", "MBAR.INIT, 1; MBAR.ARRIVE, 1"), ("phase", "even to odd, first"),
        ("layout", "MBAR.INIT, at rest; MBAR.ARRIVE, at rest"), ("merged_completions", ""),
        ("live_object", "MBAR.INIT, no object; MBAR.ARRIVE, a live object"), ("wide_access", "pair, 0")]),
    ("merged arrivals through two phases", "merging", |rig| {
        rig.alone(&[init(1), of(Op::MbarArrive, Size::U64).lane(0, 0, 0).lane(1, 0, 0)]);
    }, &[("merged_completions", "2"), ("merging", "MBAR.ARRIVE, result, together, 1"), ("completions", "MBAR.ARRIVE, 1")]),
    ("two objects on one pair of banks", "default", |rig| {
        rig.alone(&[of(Op::MbarInval, Size::U64).lane(0, 8, 0).lane(1, 136, 0)]);
    }, &[("objects", "MBAR.INVAL, 2 on one pair of banks"), ("object_lanes", "MBAR.INVAL, 1"), ("completion", "")]),
    ("a drop, transactions, and a count", "default", |rig| {
        rig.alone(&[init(3), object(Op::MbarArriveDropCount, 2), object(Op::MbarExpectTx, 16), object(Op::MbarCompleteTx, 17)]);
        rig.cluster(Op::MbarArrive, Size::U64, true, 0, 0);
        rig.drain();
    }, &[("expected_after_drop", "MBAR.ARRIVE_DROP_COUNT, 1"), ("count", "MBAR.ARRIVE_DROP_COUNT, fewer than pending"),
        ("tx_after", "MBAR.EXPECT_TX, positive; MBAR.COMPLETE_TX, -1"),
        ("near_completion", "MBAR.ARRIVE, pending 0, tx-count below 0; MBAR.ARRIVE_DROP_COUNT, pending above 0, tx-count 0"),
        ("slot", "warp, 0; cluster, 0")]),
    ("an object of sm_80", "default", |rig| {
        rig.alone(&[object(Op::MbarInit, 0x7fff_ffff_3fff_ffff), object(Op::MbarArriveSm80, 0)]);
    }, &[("sm80", "1, even to odd"), ("completion", "MBAR.ARRIVE.SM80, warp, even to odd")]),
    ("a sleep and its wake-up", "default", |rig| {
        rig.alone(&[init(1), object(Op::MbarTryWait, 0).limit(0)]);
        rig.allocate(AllocationWrite { slot: 4, enable: false, ..AllocationWrite::default() });
        rig.alone(&[object(Op::MbarArrive, 0)]);
    }, &[("suspends", "0, alone"), ("woken", "warp, later, alone"), ("wake_port", "taken at once, 0"),
        ("wake_order", "the same place"), ("wait_limit", "of the configuration, 1000-65535"), ("limit_race_place", ""), ("wait", ""), ("not_suspended", ""), ("time_out", ""), ("limit_race", ""),
        ("cta_suspended", "of another slot is taken"), ("operation", "MBAR.INIT, u64, result, warp; MBAR.ARRIVE, u64, result, warp; MBAR.TRY_WAIT, u64, result, warp")]),
    ("the preceding phase", "default", |rig| {
        rig.alone(&[init(1), object(Op::MbarTestWait, 0x8000_0001), object(Op::MbarTryWait, 0x8000_0000), object(Op::MbarTestWait, 0)]);
    }, &[("wait", "MBAR.TEST_WAIT, parity, no lane, one lane; MBAR.TEST_WAIT, state, all lanes, one lane; MBAR.TRY_WAIT, parity, all lanes, one lane"),
        ("not_suspended", "complete for all lanes")]),
    ("limit and completion in one cycle", "default", |rig| {
        rig.alone(&[init(1)]);
        rig.warp(&object(Op::MbarTryWait, 0).limit(1));
        rig.warp(&object(Op::MbarArrive, 0));
        rig.drain();
    }, &[("limit_race", "of the request, warp, in the last cycle"), ("limit_race_place", "0, in the last cycle"),
        ("wait_limit", "of the request, 1"), ("woken", "warp, in its first cycle, alone"), ("time_out", "")]),
    ("completion a cycle before the limit", "default", |rig| {
        rig.alone(&[init(1)]);
        rig.warp(&object(Op::MbarTryWait, 0).limit(2));
        rig.warp(&object(Op::MbarArrive, 0));
        rig.drain();
    }, &[("limit_race", "of the request, warp, the cycle before"), ("limit_race_place", "0, the cycle before"),
        ("wait_limit", "of the request, 2-4"), ("time_out", "")]),
    ("completion a cycle after the limit", "default", |rig| {
        rig.alone(&[init(1)]);
        rig.warp(&object(Op::MbarTryWait, 0).limit(1));
        rig.cycle();
        rig.warp(&object(Op::MbarArrive, 0));
        rig.drain();
    }, &[("limit_race", "of the request, warp, the cycle after"), ("limit_race_place", "0, the cycle after"),
        ("wait_limit", "of the request, 1"), ("time_out", "of the request, 1"), ("woken", "")]),
    ("limit and completion in one cycle, behind another waiter", "default", |rig| {
        rig.alone(&[init(1), object(Op::MbarTryWait, 0).limit(100)]);
        rig.warp(&object(Op::MbarTryWait, 0).limit(1));
        rig.warp(&object(Op::MbarArrive, 0));
        rig.drain();
    }, &[("limit_race_place", "1, in the last cycle"), ("limit_race", "of the request, warp, in the last cycle"),
        ("wait_limit", "of the request, 1; of the request, 17-999"), ("time_out", ""),
        ("suspends", "0, alone; 1, others too")]),
    ("limits on both sides of a class boundary, and of 17 bits", "default", |rig| {
        let waits = [16, 17, 1 << 16].map(|limit| object(Op::MbarTryWait, 0).limit(limit));
        rig.alone(&[init(1)]);
        rig.alone(&waits);
        rig.alone(&[object(Op::MbarArrive, 0)]);
    }, &[("wait_limit", "of the request, 5-16; of the request, 17-999; of the request, 65536 and more"),
        ("time_out", "of the request, 5-16; of the request, 17-999"), ("woken", "warp, later, alone"), ("limit_race_place", "")]),
    ("offsets of several lengths, beside two ranks", "default", |rig| {
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0).lane(1, 0x80, 0)]);
        rig.cluster(Op::Load, WORD, false, 0, 0);
        rig.drain();
        rig.allocate(AllocationWrite { slot: 0, enable: true, base: 0, size: 1 << 10, rank: 16 });
        rig.alone(&[of(Op::Load, Size::U8).lane(0, 0x1000_03ff, 0)]);
        rig.cluster(Op::Load, WORD, false, 4, 0);
        rig.drain();
    }, &[("offset", "warp, 0, 8; warp, 16-255, 10; cluster, 0, 0; cluster, 16-255, 3"), ("fault", "")]),
    ("allocations on both sides of a class boundary", "default", |rig| {
        let write = AllocationWrite { slot: 0, enable: true, base: 0, size: 1 << 10, rank: 0 };
        rig.allocate(write);
        rig.allocate(AllocationWrite { size: (1 << 10) + 1, ..write });
        rig.allocate(AllocationWrite { size: (48 << 10) + 1, ..write });
        rig.cycles(2);
    }, &[("allocation", "up to 1 KiB; up to 48 KiB"), ("cta_back_to_back", "taken, taken; taken, refused"),
        ("cta_write", "given a part, had a part, at once; refused: behind the end of memory, had a part, at once")]),
    ("allocations up to the whole window", "huge", |rig| {
        for size in [1 << 20, (1 << 20) + 1, (1 << 24) - 1, 1 << 24] {
            rig.allocate(AllocationWrite { slot: 0, enable: true, base: 0, size, rank: 255 });
        }
        rig.cycles(2);
    }, &[("allocation", "up to 1 MiB; below 16 MiB; 16 MiB"),
        ("cta_part", "whole rows, 16-255; rows and some bytes, 16-255; all of memory, 16-255")]),
    ("passes while every cluster response is taken", "default", |rig| {
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0)]);
        // Posted; posted but misaligned; CAS, never posted because it returns whether it stored; with a
        // result.
        for (op, red, addr) in [(Op::Add, true, 0), (Op::Add, true, 2), (Op::Cas, true, 0), (Op::Load, false, 0)] {
            rig.cluster(op, WORD, red, addr, 0);
            rig.drain();
        }
    }, &[("cluster_responses", "a warp pass, none stands untaken; a posted cluster request, none stands untaken; \
            a posted cluster request that faults, none stands untaken; a cluster request that owes a response, none stands untaken"),
        ("hold", ""), ("back_pressure", "idle, idle, idle, none suspended; idle, taken, idle, none suspended; taken, idle, idle, none suspended")]),
    ("passes while cluster responses are held, up to the last room", "default", |rig| {
        rig.inputs.cl_rsp_ready = 0;
        rig.cluster(Op::Load, WORD, false, 0, 0);
        rig.drain();
        // A warp request, a posted request, and a posted request that faults. The fault response queues
        // behind the first response.
        let posted = |rig: &mut Rig, addr| {
            rig.cluster(Op::Add, WORD, true, addr, 1);
            rig.drain();
        };
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0)]);
        posted(rig, 0);
        posted(rig, 2);
        // There is room for `rmw_latency` + 4 responses. The last of these requests takes the last room.
        for _ in 2..rig.config().rmw_latency + 4 {
            rig.cluster(Op::Load, WORD, false, 0, 0);
            rig.drain();
        }
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0)]);
        posted(rig, 0);
        // This request waits in its queue for room, and takes the room of the first response that leaves.
        posted(rig, 2);
        rig.inputs.cl_rsp_ready = 1;
        rig.cycle();
        rig.inputs.cl_rsp_ready = 0;
        rig.drain();
        rig.inputs.cl_rsp_ready = 1;
        rig.drain();
    }, &[("cluster_responses", "a warp pass, one stands untaken; a warp pass, no room is left; \
            a posted cluster request, one stands untaken; a posted cluster request, no room is left; \
            a posted cluster request that faults, one stands untaken; a posted cluster request that faults, no room is left; \
            a cluster request that owes a response, none stands untaken; a cluster request that owes a response, one stands untaken; \
            a cluster request that owes a response, no room is left"),
        ("hold", "cluster response, 16-99; cluster response, 100 and more"), ("stall", "")]),
    ("answers held on both sides of the class boundaries", "default", |rig| {
        rig.alone(&[init(1)]);
        for cycles in [15, 16] {
            rig.inputs.rsp_ready = 0;
            rig.warp(&of(Op::Load, WORD).lane(0, 8, 0));
            rig.hold(|out| out.rsp_valid, cycles);
            rig.inputs.rsp_ready = 1;
            rig.drain();
        }
        for cycles in [99, 100] {
            rig.inputs.cl_rsp_ready = 0;
            rig.cluster(Op::Load, WORD, false, 8, 0);
            rig.hold(|out| out.cl_rsp_valid, cycles);
            rig.inputs.cl_rsp_ready = 1;
            rig.drain();
        }
        rig.inputs.wake_ready = 0;
        rig.warp(&object(Op::MbarTryWait, 0).limit(1));
        rig.hold(|out| out.wake_valid, 1);
        rig.inputs.wake_ready = 1;
        rig.drain();
    }, &[("hold", "response, 1-15; response, 16-99; cluster response, 16-99; cluster response, 100 and more; wake-up, 1-15"),
        ("stall", ""), ("wake_port", "held, 0")]),
    ("a reset of a request in its queue, and a second of nothing", "default", |rig| {
        rig.warp(&of(Op::Load, WORD).lane(0, 0, 0));
        rig.reset();
        rig.reset();
        rig.drain();
    }, &[("reset", "nothing; requests in a queue"), ("operation", ""), ("back_pressure", "idle, idle, idle, none suspended")]),
    ("a reset of a request at issue", "default", |rig| {
        rig.warp(&of(Op::Load, WORD).lane(0, 0, 0));
        rig.cycle();
        rig.reset();
        rig.drain();
    }, &[("reset", "a request at issue"), ("back_pressure", "idle, idle, idle, none suspended")]),
    ("a reset of a pass before its last stage", "default", |rig| {
        rig.warp(&of(Op::Store, WORD).lane(0, 0, 1));
        rig.cycles(2);
        rig.reset();
        rig.drain();
    }, &[("reset", "passes on their way"), ("back_pressure", "idle, idle, idle, none suspended")]),
    ("a reset of a pass that is about to write, after which the slot has no allocation", "default", |rig| {
        rig.warp(&of(Op::Store, WORD).lane(0, 0, 1));
        rig.cycles(2 + rig.config().rmw_latency);
        rig.reset();
        rig.alone(&[of(Op::Load, WORD).lane(0, 0, 0)]);
    }, &[("reset", "passes on their way; a pass about to write"), ("out_of_range", "u32, warp, no part")]),
    ("a reset of a waiter", "default", |rig| {
        rig.alone(&[init(1), object(Op::MbarTryWait, 0).limit(0)]);
        rig.reset();
        rig.drain();
    }, &[("reset", "waiters"), ("wake_port", ""), ("time_out", "")]),
    ("a reset of an answer and a wake-up that are not taken", "default", |rig| {
        rig.alone(&[init(1)]);
        (rig.inputs.rsp_ready, rig.inputs.wake_ready) = (0, 0);
        rig.alone(&[object(Op::MbarTryWait, 0).limit(1), of(Op::Load, WORD).lane(0, 8, 0)]);
        rig.reset();
        rig.drain();
    }, &[("reset", "an answer not taken; a wake-up not taken"), ("hold", "")]),
];

#[test]
fn hand_built_runs_hit_exactly_their_bins() {
    let model = Model::standard();
    let mut wrong = Vec::new();
    for (name, config, run, expected) in CASES {
        let mut rig = Rig::new(config);
        run(&mut rig);
        let map = rig.sampler.take();
        for (group, expected) in *expected {
            let found = bins(&model, &map, group);
            if found != *expected {
                wrong.push(format!("{name}: {group}\n  found    {found}\n  expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Without a case, wrong sampling of a group would go unnoticed.
#[test]
fn every_group_has_a_case() {
    let named = |group: &str| {
        let mut expected = CASES.iter().flat_map(|(.., expected)| *expected);
        expected.any(|(of, bins)| *of == group && !bins.is_empty())
    };
    let model = Model::standard();
    let without: Vec<_> = model.groups.iter().map(|group| group.name).filter(|group| !named(group)).collect();
    assert!(without.is_empty(), "groups without a case: {without:?}");
}
