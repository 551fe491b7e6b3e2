//! What a profile must look like for some bins to be hit.
//!
//! One table: by group and dimension where both matter, by the name of a value where that says all (an
//! operation, a size, a port). Knobs that a bin says nothing about stay as they are by default, but for
//! faults and table writes, which come seldom while something else is aimed at.

use atoms_cosim::stimulus::{
    Faults, Form, Immediate, Lanes, Limit, Meet, Pace, Paces, Profile, Scale, Share, Span, Spread, Values,
    Wait, Weights,
};
use atoms_ops::{OPS, Op, Size};
use rand::{Rng, RngExt};

use crate::coverage::Group;

/// A profile in the making.
struct Focus {
    profile: Profile,
    /// Operations aimed at, and those without which these do nothing.
    ops: Vec<Op>,
    support: Vec<Op>,
    sizes: Vec<Size>,
}

/// What brings objects about and their phases to an end.
const PHASES: [Op; 4] = [Op::MbarInit, Op::MbarArrive, Op::MbarArriveCount, Op::MbarCompleteTx];

/// A profile for bins of a group, each given by an index for each dimension.
pub(super) fn profile(group: &Group, bins: &[Vec<usize>], rng: &mut impl Rng) -> Profile {
    let seldom = Share::new(1.0 / 256.0);
    let faults = Faults { misaligned: seldom, out_of_range: seldom, ..Faults::none() };
    let profile = Profile { faults, table: Share::new(1.0 / 16384.0), ..Profile::default() };
    let mut focus = Focus { profile, ops: Vec::new(), support: Vec::new(), sizes: Vec::new() };
    focus.group(group.name);
    // The first is aimed at; of the others those dimensions count of which a profile can have several.
    for (at, bin) in bins.iter().enumerate() {
        for (dimension, value) in group.dimensions.iter().zip(bin) {
            let Some(value) = dimension.values.get(*value) else { continue };
            let named = focus.instruction(value);
            if at == 0 && !named {
                focus.value(group.name, dimension.name, value);
            }
        }
    }
    focus.finish(rng)
}

impl Focus {
    /// Operations and sizes, kinds of operations and widths.
    fn instruction(&mut self, value: &str) -> bool {
        let ops = |wanted: fn(Op) -> bool| OPS.iter().map(|row| row.op).filter(move |op| wanted(*op));
        if let Some(op) = Op::from_name(value) {
            self.ops.push(op);
        } else if let Some(size) = Size::from_name(value) {
            self.sizes.push(size);
        } else {
            match value {
                "load" => self.ops.push(Op::Load),
                "store" => self.ops.push(Op::Store),
                "update" => self.ops.extend(ops(|op| op <= Op::Exch || op == Op::PopcInc)),
                "compare" => self.ops.extend([Op::Cas, Op::Cast]),
                "spin" => self.ops.push(Op::CastSpin),
                "object" => self.ops.extend(PHASES),
                "look" => self.ops.extend([Op::MbarTestWait, Op::MbarTryWait, Op::MbarInval]),
                "part of a word" => {
                    self.sizes.extend([Size::U8, Size::U16, Size::S8, Size::S16]);
                    self.support.extend([Op::Load, Op::Store]);
                }
                "word" => self.sizes.extend([Size::U32, Size::S32]),
                "pair" => self.sizes.push(Size::U64),
                "quad" => {
                    self.sizes.push(Size::B128);
                    self.support.extend([Op::Load, Op::Store, Op::Exch, Op::Cas]);
                }
                _ => return false,
            }
        }
        true
    }

    /// What a group is about.
    fn group(&mut self, group: &str) {
        let p = &mut self.profile;
        match group {
            "decode" => p.faults.illegal = Share::new(0.9),
            "lanes" | "lane_alone" | "object_lanes" | "objects" => {
                p.barriers.spoil = Share::ALWAYS;
                p.barriers.finish = Share::NEVER;
                p.barriers.settle = Share::NEVER;
            }
            "crossbar" | "wide_access" | "hash" | "sub_word" => {
                p.spread = Weights::only(&[Spread::Anywhere, Spread::Conflict]);
            }
            "store_overlay" => {
                self.ops.push(Op::Store);
                p.spread = Weights::only(&[Spread::SameWord, Spread::FewWords, Spread::Stride]);
            }
            "favour" => {
                self.ops.push(Op::CastSpin);
                p.spread = Weights::only(&[Spread::SameBank, Spread::Conflict, Spread::Contention]);
            }
            "winner" | "rotation" => {
                p.spread = Weights::only(&[Spread::SameBank, Spread::Conflict, Spread::Contention]);
            }
            "slot" => p.slots = Span::new(16, 16),
            "tag" | "tag_reuse" => p.tag_again = Share::new(0.5),
            "values" | "arithmetic" | "compare" | "compare_words" | "spin" => {
                p.values = Weights::of(|values| match values {
                    Values::Corners | Values::Seen => 3,
                    Values::Uniform => 2,
                    Values::Few | Values::Mixed => 1,
                    _ => 0,
                });
                p.spread = Weights::only(&[
                    Spread::SameWord,
                    Spread::FewWords,
                    Spread::Stride,
                    Spread::Conflict,
                    Spread::Contention,
                ]);
                p.repeat = Share::new(0.75);
                p.lanes = Weights::only(&[Lanes::All, Lanes::Some, Lanes::Few, Lanes::One]);
                if group == "compare_words" || group == "spin" {
                    self.support.extend([Op::Load, Op::Exch]);
                } else {
                    self.support.extend([Op::Store, Op::Exch]);
                }
            }
            "fault_mix" => {
                (p.faults.misaligned, p.faults.out_of_range) = (Share::new(0.4), Share::new(0.4));
                p.faults.wild = Share::new(0.1);
            }
            "bystander" => {
                (p.faults.misaligned, p.faults.out_of_range) = (Share::new(0.3), Share::new(0.3));
                p.lanes = Weights::only(&[Lanes::Few, Lanes::Some]);
            }
            "misalignment" => p.faults.misaligned = Share::new(0.5),
            "part_edge" => {
                p.spread = Weights::only(&[Spread::PartEdge]);
                p.odd_parts = Share::new(0.25);
            }
            "cluster_illegal" => p.cluster = Share::new(0.75),
            "neighbours" | "forward" | "forward_width" | "hazard" => {
                p.repeat = Share::new(0.8);
                p.spread = Weights::only(&[Spread::SameWord, Spread::FewWords]);
                p.pace = Paces { request: Weights::only(&[Pace::Free, Pace::Some]), ..Paces::free() };
                p.values = Weights::only(&[Values::Few, Values::Seen, Values::Uniform]);
                p.cluster = Share::new(0.1);
                p.barriers.objects = Span::new(1, 2);
            }
            "stall" | "stall_fill" => p.pace = Paces::pressed(),
            "turns" => (p.pace, p.cluster) = (Paces::free(), Share::new(0.5)),
            "back_pressure" => {
                p.pace = Paces::pressed();
                p.cluster = Share::new(0.5);
                self.sleepers();
            }
            "cluster_responses" => {
                p.pace = Paces::pressed();
                p.cluster = Share::new(0.75);
                p.faults.out_of_range = Share::new(0.1);
            }
            "queue" => p.cluster = Share::new(0.5),
            "hold" => {
                (p.pace.hold, p.cluster) = (Share::new(0.25), Share::new(0.5));
                self.sleepers();
            }
            "reset" => {
                (p.reset, p.cluster) = (Share::new(1.0 / 256.0), Share::new(0.25));
                self.sleepers();
            }
            "offset" => {
                p.spread = Weights::only(&[Spread::Anywhere, Spread::PartEdge]);
                (p.table, p.odd_parts) = (Share::new(1.0 / 256.0), Share::new(0.75));
                (p.slots, p.uneven_parts) = (Span::new(1, 8), Share::new(0.5));
            }
            "cta_write" | "cta_part" | "allocation" => {
                p.table = Share::new(1.0 / 32.0);
                p.slots = Span::new(1, 16);
            }
            "cta_back_to_back" => p.table = Share::new(0.75),
            "cta_wait" | "cta_asleep" => {
                p.table = Share::new(1.0 / 24.0);
                p.slots = Span::new(2, 16);
                self.sleepers();
            }
            "completion" | "near_completion" => {
                p.barriers.finish = Share::new(0.75);
                p.barriers.counts = Span::new(1, 4);
                self.support.push(Op::MbarExpectTx);
                self.support.extend(PHASES);
            }
            "completions" | "merged_completions" => {
                p.barriers.counts = Span::new(1, 2);
                p.barriers.jointly = Share::new(0.5);
                p.barriers.overflow = Share::new(0.25);
                p.barriers.finish = Share::new(0.2);
                p.barriers.spoil = Share::ALWAYS;
                p.barriers.revive = Share::new(0.5);
                p.barriers.meet = Weights::only(&[Meet::One, Meet::Few]);
                p.lanes = Weights::only(&[Lanes::All, Lanes::Two, Lanes::Few]);
                self.support.extend(PHASES);
            }
            "pending_before" | "expected_after_drop" | "tx_after" | "count" => {
                p.barriers.counts = Span::new(1, 4);
                p.barriers.overflow = Share::new(0.5);
                p.barriers.revive = Share::new(0.4);
                p.barriers.spoil = Share::new(0.5);
                if group == "pending_before" {
                    p.barriers.most = Share::new(0.4);
                }
                if group == "tx_after" {
                    p.barriers.settle = Share::new(0.1);
                }
                self.support.extend([Op::MbarInit, Op::MbarArrive, Op::MbarExpectTx]);
            }
            "phase" => {
                p.barriers.finish = Share::new(0.6);
                p.barriers.objects = Span::new(1, 2);
                self.ops.extend([Op::MbarArrive, Op::MbarArriveCount, Op::MbarInit, Op::MbarTestWait]);
            }
            "layout" => {
                p.barriers.strange = Share::new(0.75);
                p.barriers.revive = Share::new(0.1);
                self.support.push(Op::MbarInit);
            }
            "sm80" => {
                p.barriers.spoil = Share::NEVER;
                p.barriers.counts = Span::new(1, 8);
                self.ops.extend([Op::MbarArriveSm80, Op::MbarArriveSm80, Op::MbarInit]);
            }
            "live_object" => {
                p.repeat = Share::new(0.75);
                p.barriers.revive = Share::new(0.5);
                self.support.extend([Op::MbarInit, Op::MbarArrive]);
            }
            "wait" => {
                p.barriers.uniform = Share::new(0.4);
                p.barriers.meet = Weights::only(&[Meet::One, Meet::Few]);
                p.lanes = Weights::only(&[Lanes::All, Lanes::Two, Lanes::One]);
                p.red = Share::new(0.05);
                self.support.extend(PHASES);
            }
            "not_asleep" | "fell_asleep" | "woken" | "wait_limit" | "time_out" | "limit_race"
            | "limit_race_place" | "wake_port" | "wake_order" => {
                self.sleepers();
            }
            _ => {}
        }
    }

    /// Requests that sleep and are woken.
    fn sleepers(&mut self) {
        self.ops.extend([Op::MbarTryWait, Op::MbarTryWait, Op::MbarTryWait]);
        self.ops.extend(PHASES);
        let b = &mut self.profile.barriers;
        (b.fill, b.race, b.revive) = (Share::new(0.25), Share::new(0.25), Share::new(0.75));
        b.most = Share::NEVER;
        b.counts = Span::new(1, 8);
        b.wait = Weights::of(|wait| match wait {
            Wait::Current => 8,
            _ => 1,
        });
    }

    /// What one value of a dimension asks for.
    fn value(&mut self, group: &str, dimension: &str, value: &str) {
        let p = &mut self.profile;
        match (group, dimension, value) {
            (_, "port", "cluster") | (_, "ports", "cluster, cluster") => {
                p.cluster = Share::new(0.75);
                p.pace.request = Weights::only(&[Pace::Heavy, Pace::Some]);
                p.pace.cluster = Weights::only(&[Pace::Free, Pace::Some]);
            }
            (_, "port", _) | (_, "ports", "warp, warp") => p.cluster = p.cluster.min(Share::new(0.02)),
            (_, "ports", _) => p.cluster = Share::new(0.4),
            (_, "result", "no result") => p.red = Share::ALWAYS,
            (_, "result", _) => p.red = Share::NEVER,
            ("lanes", "lanes", "none") => p.lanes = Weights::only(&[Lanes::None]),
            ("lanes", "lanes", "one") | ("lane_alone", ..) | ("compare", "lanes", "one lane") => {
                p.lanes = Weights::only(&[Lanes::One]);
            }
            ("lanes", "lanes", "some") => p.lanes = Weights::only(&[Lanes::Some, Lanes::Two]),
            ("lanes", "lanes", _) | ("crossbar" | "winner" | "rotation", ..) => {
                p.lanes = Weights::only(&[Lanes::All]);
            }
            ("merging", "addresses", _) => {
                p.lanes = Weights::only(&[Lanes::All, Lanes::Few, Lanes::Two, Lanes::Some]);
                p.spread =
                    Weights::only(&[Spread::SameBank, Spread::FewWords, Spread::SameWord, Spread::Conflict]);
                p.degree = Span::new(1, 4);
            }
            (_, "lanes_at_one_group" | "addresses_in_one_group" | "lanes_at_one_address", _) => {
                let Some(degree) = degree(value) else { return };
                p.degree = degree;
                p.lanes = Weights::only(&[Lanes::All]);
                p.spread = match dimension {
                    "lanes_at_one_group" => Weights::only(&[Spread::Conflict, Spread::Contention]),
                    "addresses_in_one_group" => Weights::only(&[Spread::Conflict]),
                    _ => Weights::only(&[Spread::Contention]),
                };
            }
            ("address", "form", "absolute") => p.form = Weights::only(&[Form::Absolute]),
            ("address", "form", _) => p.form = Weights::only(&[Form::Register]),
            ("address", "scale", _) => {
                let scale = match value {
                    "1" => Scale::One,
                    "4" => Scale::Four,
                    "8" => Scale::Eight,
                    "16" => Scale::Sixteen,
                    _ => Scale::Reserved,
                };
                p.scale = Weights::only(&[scale]);
            }
            ("address", "uniform", "none") => p.uniform_register = Share::NEVER,
            ("address", "uniform", _) => {
                p.uniform_register = Share::ALWAYS;
                p.odd_parts = Share::ALWAYS;
            }
            ("address", "immediate", _) => {
                let kinds: &[_] = match value {
                    "0" | "0, sum wraps" => &[Immediate::Zero],
                    "positive" | "positive, sum wraps" => &[Immediate::Positive, Immediate::Any],
                    _ => &[Immediate::Negative, Immediate::Any],
                };
                p.immediate = Weights::only(kinds);
            }
            ("tag_reuse", "names_also", "nothing near") => p.tag_again = Share::NEVER,
            ("sub_word", "highest_bit", _) => {
                p.values = Weights::only(&[Values::Any, Values::Corners]);
                self.support.push(Op::Store);
            }
            ("compare", "lanes", "several, each on its own bank") => {
                (p.degree, p.spread) = (Span::new(1, 1), Weights::only(&[Spread::Conflict, Spread::Stride]));
                p.values = Weights::only(&[Values::Uniform, Values::Few, Values::Mixed]);
            }
            ("compare", "lanes", "some on one bank") => {
                (p.degree, p.spread) = (Span::new(2, 32), Weights::only(&[Spread::Conflict]));
                p.values = Weights::only(&[Values::Uniform, Values::Few, Values::Mixed]);
            }
            ("compare", "lanes", "some at one address") => {
                (p.degree, p.spread) =
                    (Span::new(2, 32), Weights::only(&[Spread::Contention, Spread::SameWord]));
            }
            ("favour", "favoured_lane", "does not ask") => p.lanes = Weights::only(&[Lanes::Two, Lanes::Few]),
            ("spin", "losers", _) => {
                p.lanes = Weights::only(&[Lanes::All, Lanes::Two, Lanes::One, Lanes::Few]);
                p.spread = match value {
                    "no losers" => Weights::only(&[Spread::Stride, Spread::SameWord]),
                    "at the winner's address" => Weights::only(&[Spread::SameWord, Spread::Contention]),
                    "at other addresses" => Weights::only(&[Spread::Conflict]),
                    _ => Weights::only(&[Spread::SameBank, Spread::FewWords]),
                };
            }
            ("fault", "fault", "illegal instruction") => p.faults.illegal = Share::new(0.75),
            ("fault", "fault", "misaligned address") => p.faults.misaligned = Share::new(0.75),
            ("fault", "fault", _) => p.faults.out_of_range = Share::new(0.75),
            ("fault", "lane", "a lane between" | "last lane") => {
                p.lanes = Weights::only(&[Lanes::One, Lanes::Two])
            }
            ("fault_mix", "lanes_that_err", "the lane alone takes part") => {
                (p.lanes, p.faults.wild) = (Weights::only(&[Lanes::One]), Share::NEVER);
            }
            ("out_of_range", "address", "no part") => p.faults.slot = Share::new(0.5),
            ("out_of_range", "address", "other rank") => p.faults.rank = Share::new(0.5),
            ("out_of_range", "address", _) => {
                p.faults.out_of_range = Share::new(0.5);
                (p.odd_parts, p.table) = (Share::new(0.75), Share::new(1.0 / 256.0));
            }
            ("neighbours", "words", "same bank, other rows") => {
                p.spread = Weights::only(&[Spread::SameBank]);
                p.barriers.meet = Weights::only(&[Meet::Rows]);
            }
            ("neighbours", "words", "other banks") => {
                (p.repeat, p.spread) = (Share::NEVER, Weights::only(&[Spread::SameWord]));
                p.barriers.objects = Span::new(4, 8);
            }
            ("stall_fill", "behind", "nothing else") => p.pace.request = Weights::only(&[Pace::Heavy]),
            ("queue", "requests", "0" | "1") => {
                p.pace.request = Weights::only(&[Pace::Some, Pace::Heavy]);
                p.pace.cluster = Weights::only(&[Pace::Some, Pace::Heavy]);
            }
            ("queue", "requests", _) => p.pace = Paces::pressed(),
            ("object_lanes", _, "1") => p.lanes = Weights::only(&[Lanes::One]),
            ("object_lanes", _, "2") => p.lanes = Weights::only(&[Lanes::Two]),
            ("object_lanes", _, "all of the warp") => p.lanes = Weights::only(&[Lanes::All]),
            ("objects", _, "1") => p.barriers.meet = Weights::only(&[Meet::One]),
            ("objects", _, "2 on one pair of banks") => {
                (p.barriers.meet, p.lanes) = (Weights::only(&[Meet::Rows]), Weights::only(&[Lanes::Two]));
            }
            ("objects", _, "2 on different pairs of banks") => {
                (p.barriers.meet, p.lanes) = (Weights::only(&[Meet::Few]), Weights::only(&[Lanes::Two]));
            }
            ("objects", ..) => p.barriers.meet = Weights::only(&[Meet::Few]),
            ("pending_before", "pending", "2^20 - 1") => {
                (p.barriers.most, p.barriers.objects) = (Share::new(0.9), Span::new(1, 16));
                self.support.extend([Op::MbarInit; 3]);
            }
            ("live_object", "word", "no object") => {
                p.barriers.revive = Share::new(0.05);
                self.support.push(Op::MbarInval);
            }
            ("wait", "asked_by", "state") => p.barriers.wait = Weights::only(&[Wait::Returned]),
            ("wait", "asking", "one lane") => p.lanes = Weights::only(&[Lanes::One]),
            ("not_asleep", _, "table full") | ("fell_asleep" | "wake_order" | "wake_port", ..) => {
                (p.barriers.fill, p.barriers.race) = (Share::new(0.75), Share::NEVER);
                p.pace = Paces::free();
                if dimension == "others_ready" || value == "held" {
                    p.pace.wake = Weights::only(&[Pace::Held, Pace::Some]);
                }
            }
            ("not_asleep", ..) => {
                (p.barriers.fill, p.barriers.race) = (Share::NEVER, Share::NEVER);
                p.barriers.uniform = Share::new(0.3);
                p.barriers.meet = Weights::only(&[Meet::One, Meet::Few, Meet::Rows]);
                p.barriers.wait = Weights::only(&[Wait::Current, Wait::Preceding, Wait::MadeUp]);
            }
            ("woken", "asleep", "in its first cycle") | ("limit_race", ..) => {
                (p.barriers.race, p.barriers.fill) = (Share::new(0.6), Share::new(0.1));
                p.pace = Paces::free();
                if value == "of the configuration" {
                    p.barriers.patience = Share::ALWAYS;
                }
            }
            ("woken", ..) => (p.barriers.fill, p.pace) = (Share::new(0.6), Paces::free()),
            ("limit_race_place", ..) => {
                (p.barriers.volley, p.barriers.race) = (Share::new(0.5), Share::NEVER);
            }
            ("time_out" | "wait_limit", "limit", "of the configuration") => {
                p.barriers.limit = Weights::only(&[Limit::Default]);
                p.barriers.fill = Share::new(1.0 / 256.0);
            }
            ("time_out" | "wait_limit", "cycles", "1000-65535" | "65536 and more") => {
                p.barriers.limit = p.barriers.limit.with(Limit::Longer, 255);
                (p.barriers.race, p.barriers.fill) = (Share::NEVER, Share::NEVER);
                if group == "wait_limit" && p.reset == Share::NEVER {
                    p.reset = Share::new(1.0 / 16384.0);
                }
            }
            ("time_out" | "wait_limit", "cycles", "17-999") => {
                p.barriers.limit = p.barriers.limit.with(Limit::Short, 36).with(Limit::Long, 36);
            }
            ("time_out" | "wait_limit", "cycles", _) => {
                p.barriers.limit = p.barriers.limit.with(Limit::Tiny, 36)
            }
            _ => {}
        }
    }

    fn finish(mut self, rng: &mut impl Rng) -> Profile {
        if !self.ops.is_empty() || !self.support.is_empty() {
            // Objects do nothing that were never made; now and then nothing but what is aimed at.
            let alone = rng.random_range(0..8) == 0;
            if !alone && self.ops.iter().any(|op| op.is_mbarrier()) {
                self.support.push(Op::MbarInit);
            }
            let aimed = if self.ops.is_empty() { 1 } else { 4 };
            let count = |list: &[Op], op| list.iter().filter(|other| **other == op).count();
            self.profile.ops = Weights::of(|op| {
                let weight = aimed * count(&self.ops, op) + count(&self.support, op);
                weight.min(255) as u8
            });
            let narrow = self.ops.is_empty() && self.sizes.is_empty();
            if narrow {
                self.profile.ops = Profile::default().ops;
            }
        }
        if !self.sizes.is_empty() {
            let sizes = std::mem::take(&mut self.sizes);
            // Others come now and then: what was written by one is met by another.
            self.profile.sizes = Weights::of(|size| if sizes.contains(&size) { 8 } else { 1 });
            if self.ops.is_empty() && self.support.is_empty() {
                let has = |op: Op| op.row().sizes.iter().any(|size| sizes.contains(size));
                self.profile.ops = Weights::of(|op| if has(op) { 8 } else { 1 });
            }
        }
        self.profile
    }
}

/// `3-4` as a span; `32` as one number.
fn degree(text: &str) -> Option<Span> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(Span::new(first.parse().ok()?, last.parse().ok()?))
}
