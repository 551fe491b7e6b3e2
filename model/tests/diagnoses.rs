//! Every mbarrier use that PTX leaves undefined is diagnosed, and no other use is (spec 6.9).

use atoms_model::config::WinnerPolicy;
use atoms_model::diagnosis::{KEPT, OBJECT_INIT, OBJECT_LOAD};
use atoms_model::mbarrier::{MAX_COUNT, MbarObject};
use atoms_model::port::{In, MAX_LANES};
use atoms_model::{Config, Unit};
use atoms_ops::{Op, Size};

const INIT_1: u64 = 0x7fff_f800_001f_fffe;
const SM80_INIT_2: u64 = 0x7fff_fffe_3fff_fffe;

fn init(count: u32) -> u128 {
    u128::from(MbarObject::init(count).encode())
}

/// A watched unit. Slot 0 owns all of memory except the last row, which slot 1 owns.
struct Bench {
    unit: Unit,
    inputs: Box<In>,
}

/// Response to a request; zero if the request is still suspended.
#[derive(Default)]
struct Answer {
    rd: [u128; MAX_LANES],
    pred: u32,
}

impl Answer {
    /// High word of the state returned to `lane`.
    fn state(&self, lane: usize) -> u128 {
        self.rd[lane] >> 32
    }
}

impl Bench {
    fn new() -> Self {
        Bench::with(Config::default())
    }

    fn with(config: Config) -> Self {
        let mut unit = Unit::new(config);
        unit.watch();
        let inputs = Box::new(In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() });
        let mut bench = Bench { unit, inputs };
        bench.give_allocation(0, 0, config.num_rows - 1);
        bench.give_allocation(1, config.num_rows - 1, 1);
        bench
    }

    fn give_allocation(&mut self, slot: u8, base: u32, rows: u32) {
        self.inputs.cta_valid = 1;
        self.inputs.cta_enable = 1;
        self.inputs.cta_slot = slot;
        self.inputs.cta_base = base as u16;
        self.inputs.cta_size = rows * self.unit.config().row_bytes();
        self.clock();
        self.inputs.cta_valid = 0;
    }

    fn clock(&mut self) {
        self.unit.evaluate(&self.inputs);
        self.unit.tick(&self.inputs);
    }

    /// Runs a request of the lanes in `mask` until its response, or until it is suspended.
    fn warp(
        &mut self,
        op: Op,
        size: Size,
        mask: u32,
        address: impl Fn(u32) -> u32,
        b: impl Fn(u32) -> u128,
    ) -> Answer {
        for lane in 0..32u32 {
            self.inputs.req_ra[lane as usize] = address(lane);
            self.inputs.req_b[lane as usize] = b(lane);
        }
        self.inputs.req_valid = 1;
        self.inputs.req_op = op as u8;
        self.inputs.req_size = size as u8;
        self.inputs.req_mask = mask;
        self.inputs.req_tag = 5;
        for _ in 0..100 {
            let out = *self.unit.evaluate(&self.inputs);
            let taken = out.req_ready == 1;
            self.unit.tick(&self.inputs);
            if taken {
                self.inputs.req_valid = 0;
            }
            if out.rsp_valid == 1 {
                return Answer { rd: out.rsp_rd, pred: out.rsp_pred };
            }
        }
        assert_eq!(op, Op::MbarTryWait, "only a try_wait sleeps");
        Answer::default()
    }

    /// Runs an operation of lane 0 at address 0x40.
    fn mbar(&mut self, op: Op, b: u128) -> Answer {
        self.warp(op, Size::U64, 1, |_| 0x40, |_| b)
    }

    /// A bench with an object at 0x40.
    fn object(count: u32) -> Self {
        let mut bench = Bench::new();
        bench.mbar(Op::MbarInit, init(count));
        bench
    }

    fn cluster(&mut self, op: Op, size: Size, address: u32, b: u128) {
        self.inputs.cl_valid = 1;
        self.inputs.cl_op = op as u8;
        self.inputs.cl_size = size as u8;
        self.inputs.cl_red = 1;
        self.inputs.cl_tag = 9;
        self.inputs.cl_addr = address;
        self.inputs.cl_b = b;
        self.clock();
        self.inputs.cl_valid = 0;
        for _ in 0..10 {
            self.clock();
        }
    }

    /// All diagnoses so far, without cycle numbers.
    fn named(&self) -> Vec<String> {
        let watch = self.unit.watched().expect("the unit is watched");
        assert_eq!(watch.total(), watch.diagnoses().len() as u64);
        watch.diagnoses().iter().map(|d| without_cycles(&d.to_string())).collect()
    }

    #[track_caller]
    fn names(&self, expected: &[&str]) {
        let named = self.named();
        assert_eq!(named, expected, "\n{}", named.join("\n"));
    }
}

/// Removes cycle numbers, which depend on the depth of the pipeline.
fn without_cycles(text: &str) -> String {
    let mut allocations = text.split("cycle ");
    let mut out = allocations.next().unwrap_or_default().to_string();
    for allocation in allocations {
        out += "cycle N";
        out += allocation.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out
}

#[test]
fn a_word_that_nobody_made_an_object_is_none() {
    let mut bench = Bench::new();
    bench.mbar(Op::MbarArrive, 0);
    bench.names(&["\
MBAR.ARRIVE on a word that is not a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found word 0x0000000000000000, which was not written by an init; init it first, and let every thread wait until that is done"]);
}

#[test]
fn an_object_ends_with_inval() {
    let mut bench = Bench::object(1);
    bench.mbar(Op::MbarInval, 0);
    bench.mbar(Op::MbarArrive, 0);
    bench.mbar(Op::MbarInval, 0);
    bench.names(&[
        "\
MBAR.ARRIVE on a word that is not a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found object invalidated in cycle N; init it first, and let every thread wait until that is done",
        "\
MBAR.INVAL on a word that is not a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found object invalidated in cycle N; inval a live object, and only once",
    ]);
}

#[test]
fn an_object_ends_with_its_allocation() {
    let mut bench = Bench::object(1);
    bench.give_allocation(0, 0, 8);
    // Memory still holds the word of the init.
    bench.mbar(Op::MbarArrive, 0);
    bench.names(&["\
MBAR.ARRIVE on a word that is not a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found object of an earlier CTA, removed in cycle N; init it first, and let every thread wait until that is done"]);
}

/// A wait that times out has not seen the phase complete.
#[test]
fn a_sleep_that_ran_out_is_no_wait() {
    let mut bench = Bench::object(1);
    bench.mbar(Op::MbarTryWait, 0);
    for _ in 0..Config::default().try_wait_limit {
        bench.clock();
    }
    bench.mbar(Op::MbarArrive, 0);
    bench.names(&[]);
    bench.mbar(Op::MbarArrive, 0);
    assert_eq!(bench.named().len(), 1, "{:?}", bench.named());
    assert!(
        bench.named()[0].starts_with("MBAR.ARRIVE in a phase, but no wait saw the previous phase complete")
    );
}

/// Largest legal count, an expect_tx before a wait, and a state that no arrival returned.
#[test]
fn limits_of_steps() {
    let mut bench = Bench::object(MAX_COUNT);
    bench.mbar(Op::MbarArriveCount, MAX_COUNT.into());
    bench.mbar(Op::MbarExpectTx, 16);
    bench.names(&[]);
    let mut bench = Bench::object(2);
    bench.inputs.req_red = 1;
    bench.mbar(Op::MbarArrive, 0);
    bench.inputs.req_red = 0;
    bench.mbar(Op::MbarTestWait, init(2) >> 32);
    assert_eq!(bench.named().len(), 1, "{:?}", bench.named());
    assert!(bench.named()[0].starts_with("MBAR.TEST_WAIT tests the state"));
}

/// The wake-up of a suspended wait counts as a wait, even if another wait was suspended first at another
/// object.
#[test]
fn the_second_suspended_wait_is_woken() {
    let mut bench = Bench::object(1);
    bench.warp(Op::MbarInit, Size::U64, 1, |_| 0x48, |_| init(1));
    bench.mbar(Op::MbarTryWait, 0);
    bench.warp(Op::MbarTryWait, Size::U64, 1, |_| 0x48, |_| 0);
    for _ in 0..2 {
        bench.warp(Op::MbarArrive, Size::U64, 1, |_| 0x48, |_| 0);
    }
    bench.names(&[]);
}

/// The first request of the next CTA may be a plain store that makes an object where an old one was.
#[test]
fn the_next_cta_makes_its_own_object() {
    let mut bench = Bench::object(1);
    bench.give_allocation(0, 0, 8);
    bench.warp(Op::Store, Size::U64, 1, |_| 0x40, |_| init(1));
    bench.mbar(Op::MbarArrive, 0);
    bench.names(&[]);
}

#[test]
fn a_part_taken_away_leaves_other_slots_alone() {
    let mut bench = Bench::object(1);
    bench.give_allocation(1, bench.unit.config().num_rows - 1, 1);
    bench.mbar(Op::MbarArrive, 0);
    bench.names(&[]);
}

#[test]
fn an_object_ends_with_reset() {
    let mut bench = Bench::object(1);
    bench.inputs.rst_n = 0;
    bench.clock();
    bench.inputs.rst_n = 1;
    bench.give_allocation(0, 0, 8);
    bench.mbar(Op::MbarArrive, 0);
    assert_eq!(bench.named().len(), 1);
}

/// A reset drops the requests in flight. The cycles of the reset are counted.
#[test]
fn a_reset_forgets_what_is_inside() {
    let mut bench = Bench::new();
    bench.inputs.req_valid = 1;
    bench.inputs.req_op = Op::Load as u8;
    bench.inputs.req_size = Size::U64 as u8;
    bench.inputs.req_mask = 1;
    bench.inputs.req_b[0] = OBJECT_LOAD;
    bench.clock();
    bench.inputs.rst_n = 0;
    for _ in 0..3 {
        bench.clock();
    }
    bench.inputs.rst_n = 1;
    bench.inputs.req_valid = 0;
    bench.give_allocation(0, 0, 8);
    bench.mbar(Op::MbarArrive, 0);
    // Two table writes, the load, three cycles of reset and a table write come first.
    assert_eq!(bench.unit.watched().expect("the unit is watched").diagnoses()[0].taken, 7);
    // If the reset kept the load, the watch would take the arrive for the load, and the next load for the
    // arrive.
    bench.warp(Op::Load, Size::U64, 1, |_| 0x80, |_| 0);
    assert_eq!(bench.named().len(), 1, "{:?}", bench.named());
}

/// One object, and a read of every word: only reads of the object's words are diagnosed, at the right
/// address.
#[test]
fn two_words_of_memory_are_an_object() {
    for bank_hash in [false, true] {
        let config = Config { bank_hash, num_rows: 64, ..Config::default() };
        let mut bench = Bench::with(config);
        bench.inputs.cta_rank = 3;
        bench.give_allocation(0, 2, 60);
        let object = 0x0300_0000 + 55 * config.row_bytes() + 0x28;
        bench.warp(Op::MbarInit, Size::U64, 1, |_| object, |_| init(1));
        for row in 0..60 {
            let word = |lane| 0x0300_0000 + row * config.row_bytes() + 4 * lane;
            bench.warp(Op::Load, Size::U32, u32::MAX, word, |_| 0);
        }
        let watch = bench.unit.watched().expect("the unit is watched");
        let named: Vec<_> = watch.diagnoses().iter().map(|d| (d.lane, d.address)).collect();
        assert_eq!(named, [(10, object), (11, object + 4)], "bank_hash {bank_hash}");
    }
}

/// A store of half an object makes no object, for any resulting word.
#[test]
fn half_an_init_is_a_plain_store() {
    let mut bench = Bench::object(1);
    bench.warp(Op::Store, Size::U32, 1, |_| 0x40, |_| u128::from(INIT_1 as u32));
    assert_eq!(bench.named().len(), 1);
    assert!(
        bench.named()[0].starts_with("STS.u32 touches the low word of a live mbarrier object"),
        "{:?}",
        bench.named()
    );
}

/// One request overwrites both halves of an object; the object ends once.
#[test]
fn two_lanes_overwrite_one_object() {
    let mut bench = Bench::object(1);
    bench.warp(Op::Store, Size::U32, 0b11, |lane| 0x40 + 4 * lane, |_| 7);
    bench.mbar(Op::MbarArrive, 0);
    let named = bench.named();
    assert_eq!(named.len(), 3, "{named:?}");
    assert!(named[2].contains("found object overwritten in cycle N, now 0x0000000700000007"), "{named:?}");
}

/// A diagnosed load of an object reports the word found. A word of init's form counts as an object of a
/// harness.
#[test]
fn a_load_of_what_nobody_made_an_object() {
    let mut bench = Bench::new();
    bench.warp(Op::Store, Size::U64, 1, |_| 0x40, |_| 0x0123_4567_89ab_cdef);
    bench.warp(Op::Store, Size::U64, 1, |_| 0x48, |_| init(1));
    bench.warp(Op::Load, Size::U64, 1, |_| 0x48, |_| OBJECT_LOAD);
    bench.names(&[]);
    bench.warp(Op::Load, Size::U64, 1, |_| 0x40, |_| OBJECT_LOAD);
    assert_eq!(bench.named().len(), 1);
    assert!(
        bench.named()[0].contains("found word 0x0123456789abcdef, which was not written by an init"),
        "{:?}",
        bench.named()
    );
}

/// Counts of two-word objects are at most 2^20 - 1.
#[test]
fn counts_of_two_words_have_a_limit() {
    for (pending, named) in [(MAX_COUNT, 0), (MAX_COUNT + 1, 1), (MAX_COUNT + 2, 1)] {
        let mut bench = Bench::new();
        let word = u64::from(0x8000_0000 - pending) << 32 | u64::from((1 << 30) - MAX_COUNT);
        bench.warp(Op::Store, Size::U64, 1, |_| 0x80, |_| word.into());
        bench.warp(Op::MbarArriveSm80, Size::U64, 1, |_| 0x80, |_| 0);
        assert_eq!(bench.named().len(), named, "{pending}: {:?}", bench.named());
    }
}

#[test]
fn init_twice() {
    let mut bench = Bench::object(4);
    bench.mbar(Op::MbarArrive, 0);
    bench.mbar(Op::MbarInit, init(4));
    bench.names(&["\
MBAR.INIT over a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 3 of 4 arrivals pending, tx-count 0; let one thread init, once; inval before the next init"]);
}

#[test]
fn init_by_every_lane() {
    let mut bench = Bench::new();
    bench.warp(Op::MbarInit, Size::U64, 0b111, |_| 0x40, |_| init(4));
    let named = bench.named();
    assert_eq!(named.len(), 2);
    assert!(named[0].starts_with("MBAR.INIT over a live mbarrier object: lane 1 at"), "{}", named[0]);
    assert!(named[1].starts_with("MBAR.INIT over a live mbarrier object: lane 2 at"), "{}", named[1]);
}

/// A store of an init word makes an object as MBAR.INIT does. A second such store is diagnosed, even if it is
/// the next request, unless the object or its allocation has ended.
#[test]
fn init_twice_by_stores() {
    let store = |bench: &mut Bench, at: u32| bench.warp(Op::Store, Size::U64, 1, |_| at, |_| init(3));
    let mut bench = Bench::new();
    store(&mut bench, 0x40);
    store(&mut bench, 0x48);
    bench.mbar(Op::MbarInval, 0);
    store(&mut bench, 0x40);
    bench.give_allocation(0, 0, 8);
    store(&mut bench, 0x48);
    bench.names(&[]);
    store(&mut bench, 0x48);
    bench.warp(Op::Store, Size::B128, 1, |_| 0x40, |_| init(1) << 64 | init(2));
    let named = bench.named();
    assert_eq!(named.len(), 2, "{named:?}");
    assert!(named[0].starts_with("STS.u64 of an init word over a live mbarrier object"), "{}", named[0]);
    assert!(named[1].starts_with("STS.b128 of an init word over a live mbarrier object"), "{}", named[1]);
}

/// A store of a two-word object is an init only with the mark. The operations of correct code are not
/// diagnosed.
#[test]
fn init_twice_of_two_words() {
    let store = |bench: &mut Bench, at: u32, c: u128| {
        bench.inputs.req_c[0] = c;
        bench.warp(Op::Store, Size::U64, 1, |_| at, |_| SM80_INIT_2.into());
        bench.inputs.req_c[0] = 0;
    };
    let mut bench = Bench::new();
    store(&mut bench, 0x40, OBJECT_INIT);
    store(&mut bench, 0x48, OBJECT_INIT);
    bench.warp(Op::MbarArriveSm80, Size::U64, 1, |_| 0x40, |_| 0);
    bench.warp(Op::Load, Size::U64, 1, |_| 0x40, |_| 0);
    store(&mut bench, 0x40, 0);
    store(&mut bench, 0x40, OBJECT_INIT);
    bench.give_allocation(0, 0, 8);
    store(&mut bench, 0x40, OBJECT_INIT);
    bench.names(&[]);
    store(&mut bench, 0x40, OBJECT_INIT);
    let named = bench.named();
    assert_eq!(named.len(), 1, "{named:?}");
    assert!(named[0].starts_with("STS.u64 of an init word over a live mbarrier object"), "{}", named[0]);
}

#[test]
fn init_by_a_store_over_a_live_object() {
    let mut bench = Bench::object(4);
    bench.warp(Op::Store, Size::U64, 1, |_| 0x40, |_| init(2));
    bench.mbar(Op::MbarArriveCount, 2);
    bench.names(&["\
STS.u64 of an init word over a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; let one thread init, once; inval before the next init"]);
}

#[test]
fn plain_reads_of_a_live_object() {
    let mut bench = Bench::object(4);
    bench.warp(Op::Load, Size::U64, 1, |_| 0x40, |_| 0);
    bench.warp(Op::Load, Size::U8, 2, |_| 0x46, |_| 0);
    bench.warp(Op::Cas, Size::U32, 4, |_| 0x40, |_| 0);
    bench.warp(Op::Load, Size::B128, 8, |_| 0x40, |_| 0);
    bench.mbar(Op::MbarArriveCount, 4);
    bench.names(&[
        "\
LDS.u64 touches a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; inval the object before its bytes are used for other data",
        "\
LDS.u8 touches the high word of a live mbarrier object: lane 1 at 0x00000046, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; inval the object before its bytes are used for other data",
        "\
CAS.u32 touches the low word of a live mbarrier object: lane 2 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; inval the object before its bytes are used for other data",
        "\
LDS.b128 touches a live mbarrier object: lane 3 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; inval the object before its bytes are used for other data",
    ]);
}

/// SYNCS.LD reads a whole object. The load is diagnosed if no object exists there.
#[test]
fn loads_of_objects() {
    let mut bench = Bench::object(1);
    let load = |bench: &mut Bench, at: u32| bench.warp(Op::Load, Size::U64, 1, |_| at, |_| OBJECT_LOAD);
    assert_eq!(load(&mut bench, 0x40).rd[0], u128::from(INIT_1));
    bench.names(&[]);
    load(&mut bench, 0x48);
    bench.mbar(Op::MbarInval, 0);
    load(&mut bench, 0x40);
    bench.names(&[
        "\
LDS on a word that is not a live mbarrier object: lane 0 at 0x00000048, tag 5, slot 0, cycle N (spec 6.9)
  found word 0x0000000000000000, which was not written by an init; init it first, and let every thread wait until that is done",
        "\
LDS on a word that is not a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found object invalidated in cycle N; init it first, and let every thread wait until that is done",
    ]);
}

#[test]
fn a_plain_write_ends_a_live_object() {
    let mut bench = Bench::object(4);
    // Every lane of the overwriting request is diagnosed, in each pass.
    bench.warp(Op::Add, Size::U32, 0b101, |_| 0x44, |_| 1);
    bench.warp(Op::Store, Size::U32, 1, |_| 0x40, |_| 1);
    bench.mbar(Op::MbarArrive, 0);
    bench.names(&[
        "\
ADD.u32 touches the high word of a live mbarrier object: lane 0 at 0x00000044, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; inval the object before its bytes are used for other data",
        "\
ADD.u32 touches the high word of a live mbarrier object: lane 2 at 0x00000044, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count -2048; inval the object before its bytes are used for other data",
        "\
MBAR.ARRIVE on a word that is not a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found word 0x7fffe00200000001, which was not written by an init; init it first, and let every thread wait until that is done",
    ]);
}

#[test]
fn an_overwritten_object_used_again() {
    let mut bench = Bench::object(4);
    bench.warp(Op::Store, Size::U32, 1, |_| 0x40, |_| 1);
    bench.mbar(Op::MbarArrive, 0);
    assert_eq!(
        bench.named()[1],
        "\
MBAR.ARRIVE on a word that is not a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found object overwritten in cycle N, now 0x7fffe00000000001; the object's bytes are also used for other data; use separate bytes"
    );
}

#[test]
fn a_wide_store_covers_the_second_object() {
    let mut bench = Bench::new();
    bench.warp(Op::MbarInit, Size::U64, 1, |_| 0x48, |_| init(4));
    bench.warp(Op::Store, Size::B128, 1, |_| 0x40, |_| 0);
    bench.names(&["\
STS.b128 touches a live mbarrier object: lane 0 at 0x00000048, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; inval the object before its bytes are used for other data"]);
}

#[test]
fn words_that_init_does_not_make() {
    #[rustfmt::skip]
    let rows: [(u128, &str); 8] = [
        (0,                                "0x0000000000000000: a count of 0, or beyond 1048575"),
        (0x8000_0000_0020_0000,            "0x8000000000200000: a count of 0, or beyond 1048575"),
        (0xffff_f800_ffff_fffe,            "0xfffff800fffffffe: a count of 0, or beyond 1048575"),
        (u128::from(INIT_1) | 1,           "0x7ffff800001fffff: bit 0 set, an unknown layout"),
        (u128::from(INIT_1) | 1 << 42,     "0x7ffffc00001ffffe: the lock set"),
        (u128::from(INIT_1) | 1 << 63,     "0xfffff800001ffffe: phase parity 1"),
        (u128::from(INIT_1) | 1 << 21,     "0x7ffff800003ffffe: tx-count -1"),
        (u128::from(INIT_1) & !(1 << 43),  "0x7ffff000001ffffe: 1 arrivals expected, but 2 pending"),
    ];
    for (word, fault) in rows {
        let mut bench = Bench::new();
        bench.mbar(Op::MbarInit, word);
        let named = bench.named();
        assert_eq!(named.len(), 1, "{word:#x}");
        assert!(named[0].starts_with(&format!("MBAR.INIT writes {fault}: lane 0 at")), "{}", named[0]);
    }
    let mut bench = Bench::new();
    bench.mbar(Op::MbarInit, 0);
    bench.names(&["\
MBAR.INIT writes 0x0000000000000000: a count of 0, or beyond 1048575: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.1, 6.3, 6.9)
  found word 0x0000000000000000; init of n writes (2^20-n) << 1 below and (2^20-n) << 11 above, n from 1 to 1048575"]);
}

#[test]
fn counts_out_of_range() {
    let mut bench = Bench::object(4);
    bench.mbar(Op::MbarArriveCount, 0);
    bench.mbar(Op::MbarArriveDropCount, 1 << 20);
    bench.names(&[
        "\
MBAR.ARRIVE_COUNT with a count of 0: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.1, 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; counts go from 1 to 1048575",
        "\
MBAR.ARRIVE_DROP_COUNT with a count of 1048576: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.1, 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; counts go from 1 to 1048575",
    ]);
}

#[test]
fn transactions_out_of_range() {
    let mut bench = Bench::object(4);
    bench.mbar(Op::MbarExpectTx, 1 << 20);
    bench.names(&["\
MBAR.EXPECT_TX of 1048576 transactions: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.1, 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 0; one operation counts up to 1048575 transactions; split larger copies"]);

    let mut bench = Bench::object(4);
    bench.mbar(Op::MbarExpectTx, u128::from(MAX_COUNT));
    bench.mbar(Op::MbarArriveExpectTx, 2);
    bench.names(&["\
MBAR.ARRIVE.EXPECT_TX of 2 transactions takes the tx-count to 1048577: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.1, 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count 1048575; expect exactly the transactions that complete; the unit wraps the tx-count"]);

    let mut bench = Bench::object(4);
    bench.mbar(Op::MbarCompleteTx, u128::from(MAX_COUNT));
    bench.mbar(Op::MbarCompleteTx, 1);
    bench.names(&["\
MBAR.COMPLETE_TX of 1 transactions takes the tx-count to -1048576: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.1, 6.9)
  found phase parity 0, 4 of 4 arrivals pending, tx-count -1048575; expect exactly the transactions that complete; the unit wraps the tx-count"]);
}

#[test]
fn drops_beyond_expected() {
    let mut bench = Bench::object(2);
    bench.mbar(Op::MbarArriveDropCount, 3);
    bench.names(&["\
MBAR.ARRIVE_DROP_COUNT drops 3 of 2 expected arrivals: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.1, 6.9)
  found phase parity 0, 2 of 2 arrivals pending, tx-count 0; let each thread drop at most once; the unit wraps the expected count"]);
}

#[test]
fn arrivals_beyond_pending() {
    // The pending transaction keeps the phase from completing.
    let mut bench = Bench::object(1);
    bench.mbar(Op::MbarArriveExpectTx, 16);
    bench.mbar(Op::MbarArrive, 0);
    bench.names(&["\
MBAR.ARRIVE arrives once with 0 arrivals pending: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 0 of 1 arrivals pending, tx-count 16; init with all arrivals of a phase, and wait between two phases; the unit wraps the pending count"]);

    let mut bench = Bench::object(2);
    bench.mbar(Op::MbarArriveCount, 3);
    assert!(
        bench.named()[0].starts_with("MBAR.ARRIVE_COUNT arrives 3 times with 2 arrivals pending: lane 0")
    );
}

#[test]
fn a_no_complete_that_completes() {
    let mut bench = Bench::object(2);
    bench.mbar(Op::MbarArriveNoComplete, 2);
    bench.names(&["\
MBAR.ARRIVE.NO_COMPLETE completes the phase: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.3, 6.9)
  found phase parity 0, 2 of 2 arrivals pending, tx-count 0; make the last arrival of a phase with an arrive without noComplete"]);
}

#[test]
fn lanes_of_one_request_that_arrive_across_phases() {
    let mut bench = Bench::object(2);
    bench.warp(Op::MbarArrive, Size::U64, 0b0111, |_| 0x40, |_| 0);
    bench.names(&["\
MBAR.ARRIVE after another lane of the same request completed the phase: lane 2 at 0x00000040, tag 5, slot 0, cycle N (spec 6.6, 6.9)
  found phase parity 1, 2 of 2 arrivals pending, tx-count 0; init with as many arrivals as one request brings; on an H200 such a launch fails (docs/silicon.md)"]);
    // Exactly the pending arrivals, in one request and in two.
    let mut bench = Bench::object(2);
    bench.warp(Op::MbarArrive, Size::U64, 0b0011, |_| 0x40, |_| 0);
    bench.mbar(Op::MbarTestWait, 0);
    bench.warp(Op::MbarArriveCount, Size::U64, 0b0001, |_| 0x40, |_| 1);
    bench.warp(Op::MbarArriveCount, Size::U64, 0b0010, |_| 0x40, |_| 1);
    bench.names(&[]);
}

#[test]
fn stale_phases_and_foreign_states() {
    let mut bench = Bench::object(1);
    let mut states = Vec::new();
    for phase in 0..3u32 {
        let state = bench.mbar(Op::MbarArrive, 0).state(0);
        assert_eq!(bench.mbar(Op::MbarTestWait, state).pred, 1, "phase {phase} is complete");
        states.push(state);
    }
    bench.names(&[]);
    // In phase 3, the state of phase 0 equals that of phase 2, the previous phase. The state of phase 1 is
    // stale.
    bench.mbar(Op::MbarTestWait, states[0]);
    bench.names(&[]);
    bench.mbar(Op::MbarTestWait, states[1]);
    bench.mbar(Op::MbarTryWait, 0x7fff_f000);
    bench.names(&[
        "\
MBAR.TEST_WAIT tests the state 0xfffff800, which is 2 phases old: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.5, 6.9)
  found phase parity 1, 1 of 1 arrivals pending, tx-count 0; a wait can test only the current and the previous phase; wait in every phase",
        "\
MBAR.TRY_WAIT tests the state 0x7ffff000, which the object never returned: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.5, 6.9)
  found phase parity 1, 1 of 1 arrivals pending, tx-count 0; pass the state of an arrive on this object, or parity << 31",
    ]);
}

#[test]
fn lanes_that_join_in_a_wait_ask_for_themselves() {
    let mut bench = Bench::object(2);
    let state = bench.mbar(Op::MbarArrive, 0).state(0);
    bench.warp(Op::MbarTestWait, Size::U64, 0b1111, |_| 0x40, |lane| if lane == 2 { 7 } else { state });
    let named = bench.named();
    assert_eq!(named.len(), 1);
    assert!(named[0].starts_with(
        "MBAR.TEST_WAIT tests the state 0x00000007, which the object never returned: lane 2 at"
    ));
}

#[test]
fn an_arrive_without_a_wait_is_named_once_a_phase() {
    let mut bench = Bench::object(2);
    bench.warp(Op::MbarArrive, Size::U64, 0b0011, |_| 0x40, |_| 0);
    bench.warp(Op::MbarArrive, Size::U64, 0b1100, |_| 0x40, |_| 0);
    bench.names(&["\
MBAR.ARRIVE in a phase, but no wait saw the previous phase complete: lane 2 at 0x00000040, tag 5, slot 0, cycle N ([PTX] 9.7.13.15.4)
  found phase parity 1, 2 of 2 arrivals pending, tx-count 0; let at least one wait see a phase complete before any thread arrives in the next phase"]);
}

#[test]
fn two_words_of_sm_80() {
    let mut bench = Bench::new();
    let store = |bench: &mut Bench, word: u64| {
        bench.warp(Op::Store, Size::U64, 1, |_| 0x40, |_| u128::from(word));
    };
    bench.mbar(Op::MbarArriveSm80, 0);
    store(&mut bench, SM80_INIT_2);
    // All threads drop, so no arrival is expected any more.
    for _ in 0..2 {
        bench.warp(Op::PopcInc, Size::U32, 1, |_| 0x40, |_| 0);
        bench.mbar(Op::MbarArriveSm80, 0);
    }
    bench.mbar(Op::MbarArriveSm80, 0);
    store(&mut bench, 0x7fff_fffe_4000_0001);
    bench.mbar(Op::MbarArriveSm80, 0);
    bench.names(&[
        "\
MBAR.ARRIVE.SM80 on a word that is not a live mbarrier object: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found word 0x0000000000000000, which was not written by an init; init it first, and let every thread wait until that is done",
        "\
MBAR.ARRIVE.SM80 arrives once with 0 arrivals pending: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 1, 0 of 0 arrivals pending, two words; init with all arrivals of a phase, and wait between two phases; the unit wraps the pending count",
        "\
MBAR.ARRIVE.SM80 on two words that are not the result of an init and arrivals: lane 0 at 0x00000040, tag 5, slot 0, cycle N (spec 6.1, 6.2.1, 6.9)
  found phase parity 0, 2 of -1 arrivals pending, two words; init of n stores 2^30 - n below and 2^31 - n above, n from 1 to 1048575",
    ]);
}

#[test]
fn requests_of_the_cluster_are_named_too() {
    let mut bench = Bench::object(1);
    bench.cluster(Op::MbarArriveExpectTx, Size::U64, 0x40, 16);
    bench.cluster(Op::MbarArrive, Size::U64, 0x40, 0);
    bench.cluster(Op::Store, Size::U32, 0x44, 0);
    bench.cluster(Op::MbarArrive, Size::U64, 0x48, 0);
    bench.names(&[
        "\
MBAR.ARRIVE arrives once with 0 arrivals pending: cluster request at 0x00000040, tag 9, slot 0, cycle N (spec 6.9)
  found phase parity 0, 0 of 1 arrivals pending, tx-count 16; init with all arrivals of a phase, and wait between two phases; the unit wraps the pending count",
        "\
STS.u32 touches the high word of a live mbarrier object: cluster request at 0x00000044, tag 9, slot 0, cycle N (spec 6.9)
  found phase parity 0, 1048575 of 1 arrivals pending, tx-count 16; inval the object before its bytes are used for other data",
        "\
MBAR.ARRIVE on a word that is not a live mbarrier object: cluster request at 0x00000048, tag 9, slot 0, cycle N (spec 6.9)
  found word 0x0000000000000000, which was not written by an init; init it first, and let every thread wait until that is done",
    ]);
}

/// The diagnoses of each lane are the same whether simultaneous arrivals take one pass or several.
#[test]
fn merged_arrivals_are_judged_one_by_one() {
    let run = |merge_arrive, transactions: u128| {
        let mut bench = Bench::with(Config { merge_arrive, ..Config::default() });
        bench.mbar(Op::MbarInit, init(2));
        bench.mbar(Op::MbarExpectTx, transactions);
        let states = bench.warp(Op::MbarArrive, Size::U64, 0b1101_0001, |_| 0x40, |_| 0);
        if transactions > 0 {
            // In every case, each lane got a state of this object.
            bench.warp(
                Op::MbarTestWait,
                Size::U64,
                0b1101_0001,
                |_| 0x40,
                |lane| states.state(lane as usize),
            );
        }
        bench.named()
    };
    assert_eq!(run(true, 16), run(false, 16));
    assert_eq!(
        run(true, 16),
        ["\
MBAR.ARRIVE arrives once with 0 arrivals pending: lane 6 at 0x00000040, tag 5, slot 0, cycle N (spec 6.9)
  found phase parity 0, 0 of 2 arrivals pending, tx-count 16; init with all arrivals of a phase, and wait between two phases; the unit wraps the pending count"]
    );
    // Four arrivals, of which two fall in a second phase.
    let named = run(true, 0);
    assert_eq!(named, run(false, 0));
    let starts: Vec<_> = named.iter().map(|text| &text[..text.find(',').unwrap_or(0)]).collect();
    assert_eq!(
        starts,
        [
            "MBAR.ARRIVE after another lane of the same request completed the phase: lane 6 at 0x00000040",
            "MBAR.ARRIVE after another lane of the same request completed the phase: lane 7 at 0x00000040",
        ]
    );
}

/// Correct PTX programs with every operation cause no diagnosis, with and without merging and bank hash.
#[test]
fn right_programs_are_not_named() {
    for (merge_arrive, bank_hash) in [(false, false), (true, false), (false, true), (true, true)] {
        let config = Config { merge_arrive, bank_hash, ..Config::default() };
        let mut bench = Bench::with(config);
        // The row must be large enough for the hash to change the bank.
        let at = |_| 0x1248;
        let all = u32::MAX;

        // Three phases of all lanes, with waits by state and by parity, suspended and not.
        bench.warp(Op::MbarInit, Size::U64, 1, at, |_| init(32));
        let states = bench.warp(Op::MbarArrive, Size::U64, all, at, |_| 0);
        let state = |lane: u32| states.state(lane as usize);
        assert_eq!(bench.warp(Op::MbarTestWait, Size::U64, all, at, state).pred, all);
        bench.warp(Op::MbarArriveNoComplete, Size::U64, all >> 1, at, |_| 1);
        bench.warp(Op::MbarTryWait, Size::U64, all >> 1, at, |_| 1 << 31);
        bench.warp(Op::MbarArrive, Size::U64, 1 << 31, at, |_| 0);
        // All threads have waited for the phase.
        bench.warp(Op::MbarArriveDrop, Size::U64, all >> 16 << 16, at, |_| 0);
        bench.warp(Op::MbarArriveDropNoComplete, Size::U64, 1, at, |_| 4);
        bench.warp(Op::MbarArriveDropCount, Size::U64, 1, at, |_| 12);
        assert_eq!(bench.warp(Op::MbarTestWait, Size::U64, all, at, |_| 0).pred, all);
        // No arrival is left.
        bench.warp(Op::MbarInval, Size::U64, 1, at, |_| 0);

        // The bytes are used as data, and then for an object again, made by a store.
        bench.warp(Op::Store, Size::U32, all, |lane| 0x1200 + 4 * lane, |_| 7);
        bench.warp(Op::Add, Size::U32, all, |lane| 0x1200 + 4 * lane, |_| 7);
        bench.warp(Op::Store, Size::B128, 1, |_| 0x1240, |_| init(1) << 64 | init(2));
        bench.warp(Op::Load, Size::U64, all, at, |_| 0);
        bench.warp(Op::MbarArriveExpectTx, Size::U64, 1, at, |_| 64);
        bench.cluster(Op::MbarCompleteTx, Size::U64, 0x1248, 16);
        bench.cluster(Op::MbarExpectTx, Size::U64, 0x1248, 16);
        bench.cluster(Op::MbarCompleteTx, Size::U64, 0x1248, 64);
        assert_eq!(bench.warp(Op::MbarTestWait, Size::U64, 1, at, |_| 0).pred, 1);
        bench.warp(Op::MbarArriveDropExpectTx, Size::U64, 1, at, |_| 0);
        assert_eq!(bench.warp(Op::MbarTestWait, Size::U64, 1, at, |_| 1 << 31).pred, 1);
        bench.warp(Op::MbarInval, Size::U64, 1, at, |_| 0);
        // The other half of the wide store is an object too; its neighbours are plain words.
        bench.warp(Op::MbarArriveCount, Size::U64, 1, |_| 0x1240, |_| 2);
        bench.warp(Op::Load, Size::U32, 0b11, |lane| 0x123c + 12 * lane, |_| 0);

        // An object of two words (sm_80).
        bench.warp(Op::Store, Size::U64, 1, |_| 0x80, |_| u128::from(SM80_INIT_2));
        for _ in 0..3 {
            bench.warp(Op::MbarArriveSm80, Size::U64, 0b11, |_| 0x80, |_| 0);
            bench.warp(Op::Load, Size::U32, all, |_| 0x84, |_| 0);
        }
        bench.names(&[]);
    }
}

#[test]
fn memory_that_a_harness_loads_may_hold_objects() {
    let mut bench = Bench::new();
    bench.unit.memory_mut()[16] = INIT_1 as u32;
    bench.unit.memory_mut()[17] = (INIT_1 >> 32) as u32;
    bench.mbar(Op::MbarArrive, 0);
    bench.names(&[]);
}

#[test]
fn diagnoses_beyond_those_kept_are_counted() {
    let mut bench = Bench::new();
    for _ in 0..40 {
        bench.warp(Op::MbarArrive, Size::U64, u32::MAX, |lane| 8 * lane, |_| 0);
    }
    let watch = bench.unit.watched().expect("the unit is watched");
    assert_eq!(watch.diagnoses().len(), KEPT);
    assert_eq!(watch.counts().collect::<Vec<_>>(), [("no live object", 1280)]);
    assert_eq!(watch.total(), 1280);
}

/// A diagnosis has two cycles: when the port accepted the request, and when the operation was performed.
#[test]
fn a_diagnosis_tells_its_request() {
    let mut bench = Bench::new();
    for _ in 0..10 {
        bench.clock();
    }
    bench.mbar(Op::MbarArrive, 0);
    let watch = bench.unit.watched().expect("the unit is watched");
    let found = watch.diagnoses()[0];
    // Two table writes and ten idle cycles; then port, queue, issue and the pipeline.
    let latency = u64::from(Config::default().rmw_latency);
    assert_eq!((found.taken, found.cycle), (12, 12 + 3 + latency));
    let mut bench = Bench::new();
    for _ in 0..10 {
        bench.clock();
    }
    bench.cluster(Op::MbarArrive, Size::U64, 0x40, 0);
    let watch = bench.unit.watched().expect("the unit is watched");
    assert_eq!((watch.diagnoses()[0].taken, watch.diagnoses()[0].cycle), (12, 12 + 3 + latency));
}

/// The inputs of the CTA table end no object without `cta_valid`.
#[test]
fn a_table_write_that_is_none() {
    let mut bench = Bench::object(1);
    bench.inputs.cta_slot = 0;
    bench.clock();
    bench.mbar(Op::MbarArrive, 0);
    bench.names(&[]);
}

#[test]
fn a_unit_that_is_no_longer_watched_names_nothing() {
    let mut bench = Bench::new();
    bench.unit.unwatch();
    assert!(bench.unit.watched().is_none());
}

/// A watched unit behaves like an unwatched one, for correct and incorrect requests.
#[test]
fn watching_changes_nothing() {
    let small = Config { num_lanes: 4, num_banks: 8, num_rows: 16, num_cta_slots: 2, ..Config::default() };
    let configs = [
        Config { num_rows: 16, ..Config::default() },
        Config { merge_arrive: true, merge_red: true, bank_hash: true, num_rows: 16, ..Config::default() },
        Config { winner_policy: WinnerPolicy::Rotating, forwarding: false, ..small },
        Config { num_waiters: 1, try_wait_limit: 20, bank_hash: true, rmw_latency: 8, ..small },
    ];
    let mut seed = 1u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for config in configs {
        let (mut watched, mut other) = (Unit::new(config), Unit::new(config));
        watched.watch();
        let mut i = Box::new(In::default());
        for cycle in 0..30_000 {
            i.rst_n = u8::from(random(5000) != 0);
            i.rsp_ready = u8::from(random(4) != 0);
            i.cl_rsp_ready = u8::from(random(4) != 0);
            i.wake_ready = u8::from(random(4) != 0);
            // Write the table only while the slot is quiet.
            let quiet = cycle % 256 < 64;
            i.cta_valid = u8::from(quiet && random(8) == 0);
            i.cta_enable = u8::from(random(4) != 0);
            i.cta_slot = random(3) as u8;
            i.cta_base = 4 * u16::from(i.cta_slot);
            i.cta_size = 3 * config.row_bytes();
            i.req_valid = u8::from(!quiet && random(3) != 0);
            i.req_absolute = u8::from(random(20) == 0);
            i.req_op = random(32) as u8;
            i.req_size = if i.req_op >= 16 { Size::U64 as u8 } else { random(11) as u8 };
            i.req_red = random(2) as u8;
            i.req_mask = random(1 << 32) as u32 & random(1 << 32) as u32 & config.lane_mask();
            i.req_slot = random(3) as u8;
            let align = random(2) as u32 * 4 + 4;
            for lane in 0..MAX_LANES {
                i.req_ra[lane] = random(6) as u32 * align + 4 * config.num_banks * random(2) as u32;
                i.req_b[lane] = match random(3) {
                    0 => init(random(3) as u32),
                    1 => u128::from(random(4)),
                    _ => u128::from(random(1 << 31)) << 1,
                };
                i.req_c[lane] = u128::from(random(3));
            }
            i.cl_valid = u8::from(!quiet && random(8) == 0);
            i.cl_op = random(32) as u8;
            i.cl_size = random(11) as u8;
            i.cl_red = random(2) as u8;
            i.cl_slot = random(3) as u8;
            i.cl_addr = random(12) as u32 * 4;
            i.cl_b = init(1);
            assert_eq!(watched.evaluate(&i), other.evaluate(&i), "cycle {cycle}");
            watched.tick(&i);
            other.tick(&i);
        }
        assert_eq!(watched.memory(), other.memory());
        let watch = watched.watched().expect("the unit is watched");
        assert!(watch.counts().count() >= 8, "{:?}", watch.counts().collect::<Vec<_>>());
        for diagnosis in watch.diagnoses() {
            assert_eq!(diagnosis.to_string().lines().count(), 2);
        }
    }
}
