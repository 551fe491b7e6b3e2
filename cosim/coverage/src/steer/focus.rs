//! Derives a stimulus profile that is likely to hit given bins.
//!
//! Each group sets the knobs for its own values in [`Steer::steer`]. Operations and sizes come from the
//! values themselves ([`BinValue::needs`](crate::cross::BinValue::needs)). Other knobs keep their defaults.
//! Faults and table writes are rare unless the bins need them.

use atoms_ops::{Op, Size};
use atoms_stimulus::{
    Faults, Form, Immediate, Lanes, Limit, ObjectSharing, Pace, Paces, Profile, Scale, Share, Span, Spread,
    Values, Wait, Weights,
};
use rand::{Rng, RngExt};

use crate::cross::{Cover, Key};
use crate::groups::values::{Degree, Port, Wanted};
use crate::groups::{self as g, faults, kernels, objects, pipeline, ports, requests, waits};

/// Builder of a profile. Operations and sizes become weights at the end.
pub(super) struct Focus {
    profile: Profile,
    /// Operations that the bins need, and operations that these need to have an effect.
    ops: Vec<Op>,
    support: Vec<Op>,
    sizes: Vec<Size>,
}

/// Operations that create objects and complete their phases.
const PHASES: [Op; 4] = [Op::MbarInit, Op::MbarArrive, Op::MbarArriveCount, Op::MbarCompleteTx];

pub(super) trait Steer: Cover {
    fn steer(f: &mut Focus, key: Self::Key);
}

/// Builds a profile for bins of a group. Each bin is a list of value indices, one for each dimension.
pub(super) fn profile<C: Steer>(bins: &[Vec<usize>], rng: &mut dyn Rng) -> Profile {
    let seldom = Share::new(1.0 / 256.0);
    let faults = Faults { misaligned: seldom, out_of_range: seldom, ..Faults::none() };
    let profile = Profile { faults, table: Share::new(1.0 / 16384.0), ..Profile::default() };
    let mut focus = Focus { profile, ops: Vec::new(), support: Vec::new(), sizes: Vec::new() };
    // The first bin sets the knobs. The others only add operations and sizes, because a profile can have
    // several of these.
    for (at, bin) in bins.iter().enumerate() {
        let key = C::Key::of(bin);
        if at == 0 {
            C::steer(&mut focus, key);
        }
        for needs in key.needs() {
            focus.ops.extend(needs.ops);
            focus.support.extend(needs.support);
            focus.sizes.extend(needs.sizes);
        }
    }
    focus.finish(rng)
}

/// Implements [`Steer`] for groups: a block sets the knobs `p` of the profile in the focus `f` to the values
/// of a bin.
macro_rules! steer {
    ($($($group:path)|+ [$f:ident, $p:ident, $key:pat] $body:block)*) => {
        $($(impl Steer for $group {
            #[allow(unused_variables)] // not every group needs both
            fn steer($f: &mut Focus, $key: Self::Key) {
                let $p = &mut $f.profile;
                $body
            }
        })+)*
    };
}

steer! {
    requests::Operation [f, p, (_, _, result, port)] {
        wanted(p, result);
        through(p, port);
    }
    requests::Decode [f, p, _] { p.faults.illegal = Share::new(0.9); }
    requests::Lanes [f, p, (_, lanes)] {
        keep_objects(p);
        p.lanes = match lanes {
            requests::Population::None => Weights::only(&[Lanes::None]),
            requests::Population::One => Weights::only(&[Lanes::One]),
            requests::Population::Some => Weights::only(&[Lanes::Some, Lanes::Two]),
            requests::Population::All => Weights::only(&[Lanes::All]),
        };
    }
    requests::LaneAlone [f, p, _] {
        keep_objects(p);
        p.lanes = Weights::only(&[Lanes::One]);
    }
    requests::Conflict [f, p, (_, _, lanes)] {
        crowd(p, lanes, &[Spread::Conflict, Spread::Contention]);
    }
    requests::Addresses [f, p, (_, addresses)] { crowd(p, addresses, &[Spread::Conflict]); }
    requests::SameAddress [f, p, (_, result, lanes)] {
        wanted(p, result);
        crowd(p, lanes, &[Spread::Contention]);
    }
    requests::Merging [f, p, (_, result, _, _)] {
        wanted(p, result);
        p.lanes = Weights::only(&[Lanes::All, Lanes::Few, Lanes::Two, Lanes::Some]);
        p.spread = Weights::only(&[Spread::SameBank, Spread::FewWords, Spread::SameWord, Spread::Conflict]);
        p.degree = Span::new(1, 4);
    }
    requests::Crossbar [f, p, _] {
        p.spread = Weights::only(&[Spread::Anywhere, Spread::Conflict]);
        p.lanes = Weights::only(&[Lanes::All]);
    }
    requests::WideAccess | requests::Hash [f, p, _] {
        p.spread = Weights::only(&[Spread::Anywhere, Spread::Conflict]);
    }
    requests::SubWord [f, p, _] {
        p.spread = Weights::only(&[Spread::Anywhere, Spread::Conflict]);
        p.values = Weights::only(&[Values::Any, Values::Corners]);
        f.support.push(Op::Store);
    }
    requests::StoreOverlay [f, p, _] {
        p.spread = Weights::only(&[Spread::SameWord, Spread::FewWords, Spread::Stride]);
        f.ops.push(Op::Store);
    }
    requests::Winner | requests::Rotation [f, p, _] {
        p.spread = Weights::only(&[Spread::SameBank, Spread::Conflict, Spread::Contention]);
        p.lanes = Weights::only(&[Lanes::All]);
    }
    requests::Address [f, p, (form, scale, uniform, immediate)] {
        p.form = match form {
            requests::Form::Absolute => Weights::only(&[Form::Absolute]),
            requests::Form::Register => Weights::only(&[Form::Register]),
        };
        p.scale = Weights::only(&[match scale {
            requests::Scale::One => Scale::One,
            requests::Scale::Four => Scale::Four,
            requests::Scale::Eight => Scale::Eight,
            requests::Scale::Sixteen => Scale::Sixteen,
            requests::Scale::Reserved => Scale::Reserved,
        }]);
        match uniform {
            requests::Uniform::Zero => p.uniform_register = Share::NEVER,
            requests::Uniform::Other => (p.uniform_register, p.odd_parts) = (Share::ALWAYS, Share::ALWAYS),
        }
        p.immediate = match immediate {
            requests::Immediate::Zero | requests::Immediate::ZeroWraps => Weights::only(&[Immediate::Zero]),
            requests::Immediate::Positive | requests::Immediate::PositiveWraps => {
                Weights::only(&[Immediate::Positive, Immediate::Any])
            }
            requests::Immediate::Negative | requests::Immediate::NegativeWraps => {
                Weights::only(&[Immediate::Negative, Immediate::Any])
            }
        };
    }
    requests::Offset [f, p, (port, _, _)] {
        p.spread = Weights::only(&[Spread::Anywhere, Spread::PartEdge]);
        (p.table, p.odd_parts) = (Share::new(1.0 / 256.0), Share::new(0.75));
        (p.slots, p.uneven_parts) = (Span::new(1, 8), Share::new(0.5));
        through(p, port);
    }
    requests::Slot [f, p, (port, _)] {
        p.slots = Span::new(16, 16);
        through(p, port);
    }
    requests::Tags [f, p, (port, _)] {
        p.tag_again = Share::new(0.5);
        through(p, port);
    }
    requests::TagReuse [f, p, (port, reuse)] {
        p.tag_again = if reuse == requests::Reuse::Fresh { Share::NEVER } else { Share::new(0.5) };
        through(p, port);
    }

    kernels::Values | kernels::Arithmetic [f, p, _] {
        values(p);
        f.support.extend([Op::Store, Op::Exch]);
    }
    kernels::Compare [f, p, (_, _, _, lanes)] {
        values(p);
        f.support.extend([Op::Store, Op::Exch]);
        let differ = Weights::only(&[Values::Uniform, Values::Few, Values::Mixed]);
        match lanes {
            kernels::Meeting::Alone => p.lanes = Weights::only(&[Lanes::One]),
            kernels::Meeting::Apart => {
                (p.degree, p.spread) = (Span::new(1, 1), Weights::only(&[Spread::Conflict, Spread::Stride]));
                p.values = differ;
            }
            kernels::Meeting::Bank => {
                (p.degree, p.spread) = (Span::new(2, 32), Weights::only(&[Spread::Conflict]));
                p.values = differ;
            }
            kernels::Meeting::Address => {
                p.degree = Span::new(2, 32);
                p.spread = Weights::only(&[Spread::Contention, Spread::SameWord]);
            }
        }
    }
    kernels::DistinctWords [f, p, (_, _, value, port)] {
        compare_distinct_words(p);
        through(p, port);
        if value == kernels::Moved::Word {
            wanted(p, Wanted::Result);
        }
        f.support.extend([Op::Load, Op::Exch]);
    }
    kernels::StoredWords [f, p, _] {
        compare_distinct_words(p);
        f.support.extend([Op::Load, Op::Exch]);
    }
    kernels::CompareWords [f, p, _] {
        values(p);
        f.support.extend([Op::Load, Op::Exch]);
    }
    kernels::Spin [f, p, (_, losers, _)] {
        values(p);
        f.support.extend([Op::Load, Op::Exch]);
        p.lanes = Weights::only(&[Lanes::All, Lanes::Two, Lanes::One, Lanes::Few]);
        p.spread = Weights::only(match losers {
            kernels::Losers::None => &[Spread::Stride, Spread::SameWord],
            kernels::Losers::Same => &[Spread::SameWord, Spread::Contention],
            kernels::Losers::Other => &[Spread::Conflict],
            kernels::Losers::Both => &[Spread::SameBank, Spread::FewWords],
        });
    }
    kernels::SpinPriority [f, p, (_, _, lane)] {
        p.spread = Weights::only(&[Spread::SameBank, Spread::Conflict, Spread::Contention]);
        if lane == kernels::PriorityLane::Away {
            p.lanes = Weights::only(&[Lanes::Two, Lanes::Few]);
        }
        f.ops.push(Op::CastSpin);
    }

    faults::FaultLane [f, p, (_, fault, lane)] {
        let share = match fault {
            faults::Why::Illegal => &mut p.faults.illegal,
            faults::Why::Misaligned => &mut p.faults.misaligned,
            faults::Why::OutOfRange => &mut p.faults.out_of_range,
        };
        *share = Share::new(0.75);
        if lane != faults::Named::First {
            p.lanes = Weights::only(&[Lanes::One, Lanes::Two]);
        }
    }
    faults::FaultMix [f, p, (_, erring)] {
        (p.faults.misaligned, p.faults.out_of_range) = (Share::new(0.4), Share::new(0.4));
        p.faults.wild = Share::new(0.1);
        if erring == faults::Erring::Alone {
            (p.lanes, p.faults.wild) = (Weights::only(&[Lanes::One]), Share::NEVER);
        }
    }
    faults::Misalignment [f, p, _] { p.faults.misaligned = Share::new(0.5); }
    faults::OutOfRange [f, p, (_, port, address)] {
        through(p, port);
        match address {
            faults::Outside::NoPart => p.faults.slot = Share::new(0.5),
            faults::Outside::Rank => p.faults.rank = Share::new(0.5),
            faults::Outside::Straddles | faults::Outside::Behind | faults::Outside::Far => {
                p.faults.out_of_range = Share::new(0.5);
                (p.odd_parts, p.table) = (Share::new(0.75), Share::new(1.0 / 256.0));
            }
        }
    }
    faults::PartEdge [f, p, (_, port, _)] {
        p.spread = Weights::only(&[Spread::PartEdge]);
        p.odd_parts = Share::new(0.25);
        through(p, port);
    }
    faults::Bystander [f, p, _] {
        (p.faults.misaligned, p.faults.out_of_range) = (Share::new(0.3), Share::new(0.3));
        p.lanes = Weights::only(&[Lanes::Few, Lanes::Some]);
    }
    faults::ClusterIllegal [f, p, (_, result)] {
        p.cluster = Share::new(0.75);
        wanted(p, result);
    }

    pipeline::Neighbours [f, p, (_, _, words, ports)] {
        meet_in_pipeline(p);
        match words {
            pipeline::Relation::Word => {}
            pipeline::Relation::Bank => {
                p.spread = Weights::only(&[Spread::SameBank]);
                p.barriers.meet = Weights::only(&[ObjectSharing::Rows]);
            }
            pipeline::Relation::Apart => {
                (p.repeat, p.spread) = (Share::NEVER, Weights::only(&[Spread::SameWord]));
                p.barriers.objects = Span::new(4, 8);
            }
        }
        match ports {
            (earlier, later) if earlier == later => through(p, earlier),
            _ => p.cluster = Share::new(0.4),
        }
    }
    pipeline::Forward | pipeline::ForwardWidth | pipeline::Hazard [f, p, _] { meet_in_pipeline(p); }
    pipeline::Stall [f, p, _] { p.pace = Paces::pressed(); }
    pipeline::StallFill [f, p, (behind,)] {
        p.pace = Paces::pressed();
        if behind == pipeline::Behind::Empty {
            p.pace.request = Weights::only(&[Pace::Heavy]);
        }
    }
    pipeline::Turns [f, p, _] { (p.pace, p.cluster) = (Paces::free(), Share::new(0.5)); }

    ports::BackPressure [f, p, _] {
        p.pace = Paces::pressed();
        p.cluster = Share::new(0.5);
        f.waiters();
    }
    ports::ClusterResponses [f, p, _] {
        p.pace = Paces::pressed();
        p.cluster = Share::new(0.75);
        p.faults.out_of_range = Share::new(0.1);
    }
    ports::Hold [f, p, _] {
        (p.pace.hold, p.cluster) = (Share::new(0.25), Share::new(0.02));
        f.waiters();
    }
    ports::Queue [f, p, (port, level, _)] {
        p.cluster = Share::new(0.5);
        through(p, port);
        if level.0 < 2 {
            p.pace.request = Weights::only(&[Pace::Some, Pace::Heavy]);
            p.pace.cluster = Weights::only(&[Pace::Some, Pace::Heavy]);
        } else {
            p.pace = Paces::pressed();
        }
    }
    ports::ResetInside [f, p, _] {
        (p.reset, p.cluster) = (Share::new(1.0 / 256.0), Share::new(0.25));
        f.waiters();
    }
    ports::CtaWrite | ports::CtaPart | ports::AllocationSize [f, p, _] {
        p.table = Share::new(1.0 / 32.0);
        p.slots = Span::new(1, 16);
    }
    ports::CtaNeighbour [f, p, _] {
        (p.table, p.touching_parts, p.odd_parts) = (Share::new(0.25), Share::new(0.75), Share::ALWAYS);
        p.slots = Span::new(2, 16);
    }
    ports::CtaBackToBack [f, p, _] { p.table = Share::new(0.75); }
    ports::CtaWait | ports::CtaSuspended [f, p, _] {
        p.table = Share::new(1.0 / 24.0);
        p.slots = Span::new(2, 16);
        f.waiters();
    }

    objects::ObjectLanes [f, p, (_, lanes)] {
        keep_objects(p);
        match lanes {
            objects::AtOne::One => p.lanes = Weights::only(&[Lanes::One]),
            objects::AtOne::Two => p.lanes = Weights::only(&[Lanes::Two]),
            objects::AtOne::Some => {}
            objects::AtOne::All => p.lanes = Weights::only(&[Lanes::All]),
        }
    }
    objects::Objects [f, p, (_, named)] {
        keep_objects(p);
        p.barriers.meet = match named {
            objects::Named::One => Weights::only(&[ObjectSharing::One]),
            objects::Named::OnePair => Weights::only(&[ObjectSharing::Rows]),
            objects::Named::TwoPairs | objects::Named::More => Weights::only(&[ObjectSharing::Few]),
        };
        if matches!(named, objects::Named::OnePair | objects::Named::TwoPairs) {
            p.lanes = Weights::only(&[Lanes::Two]);
        }
    }
    objects::Completion [f, p, (_, port, _)] {
        through(p, port);
        f.complete();
    }
    objects::NearCompletion [f, p, _] { f.complete(); }
    objects::Completions | objects::MergedCompletions [f, p, _] {
        p.barriers.counts = Span::new(1, 2);
        p.barriers.jointly = Share::new(0.5);
        p.barriers.overflow = Share::new(0.25);
        p.barriers.finish = Share::new(0.2);
        p.barriers.spoil = Share::ALWAYS;
        p.barriers.revive = Share::new(0.5);
        p.barriers.meet = Weights::only(&[ObjectSharing::One, ObjectSharing::Few]);
        p.lanes = Weights::only(&[Lanes::All, Lanes::Two, Lanes::Few]);
        f.support.extend(PHASES);
    }
    objects::PendingBefore [f, p, (_, pending)] {
        p.barriers.most = Share::new(0.4);
        if pending == objects::Pending::Most {
            (p.barriers.most, p.barriers.objects) = (Share::new(0.9), Span::new(1, 16));
            f.support.extend([Op::MbarInit; 3]);
        }
        f.counts();
    }
    objects::ExpectedAfter | objects::Counts [f, p, _] { f.counts(); }
    objects::TxAfter [f, p, _] {
        p.barriers.settle = Share::new(0.1);
        f.counts();
    }
    objects::Phase [f, p, _] {
        p.barriers.finish = Share::new(0.6);
        p.barriers.objects = Span::new(1, 2);
        f.ops.extend([Op::MbarArrive, Op::MbarArriveCount, Op::MbarInit, Op::MbarTestWait]);
    }
    objects::Layout [f, p, _] {
        p.barriers.strange = Share::new(0.75);
        p.barriers.revive = Share::new(0.1);
        f.support.push(Op::MbarInit);
    }
    objects::Sm80 [f, p, _] {
        p.barriers.spoil = Share::NEVER;
        p.barriers.counts = Span::new(1, 8);
        f.ops.extend([Op::MbarArriveSm80, Op::MbarArriveSm80, Op::MbarInit]);
    }
    objects::LiveObject [f, p, (_, live)] {
        p.repeat = Share::new(0.75);
        p.barriers.revive = Share::new(0.5);
        f.support.extend([Op::MbarInit, Op::MbarArrive]);
        if live == objects::Live::Word {
            p.barriers.revive = Share::new(0.05);
            f.support.push(Op::MbarInval);
        }
    }

    waits::Wait [f, p, (_, by, _, asking)] {
        p.barriers.uniform = Share::new(0.4);
        p.barriers.meet = Weights::only(&[ObjectSharing::One, ObjectSharing::Few]);
        p.lanes = Weights::only(&[Lanes::All, Lanes::Two, Lanes::One]);
        p.red = Share::new(0.05);
        f.support.extend(PHASES);
        if by == waits::By::State {
            p.barriers.wait = Weights::only(&[Wait::Returned]);
        }
        if asking == waits::Asking::One {
            p.lanes = Weights::only(&[Lanes::One]);
        }
    }
    waits::NotSuspended [f, _p, (because,)] {
        f.waiters();
        let p = &mut f.profile;
        if because == waits::AtOnce::Full {
            fill_waiters(p);
        } else {
            (p.barriers.fill, p.barriers.race) = (Share::NEVER, Share::NEVER);
            p.barriers.uniform = Share::new(0.3);
            p.barriers.meet = Weights::only(&[ObjectSharing::One, ObjectSharing::Few, ObjectSharing::Rows]);
            p.barriers.wait = Weights::only(&[Wait::Current, Wait::Preceding, Wait::MadeUp]);
        }
    }
    waits::Suspends | waits::WakeOrder [f, _p, _] {
        f.waiters();
        fill_waiters(&mut f.profile);
    }
    waits::WakePort [f, _p, _] {
        f.waiters();
        let p = &mut f.profile;
        fill_waiters(p);
        p.pace.wake = Weights::only(&[Pace::Held, Pace::Some]);
    }
    waits::WokenBy [f, _p, (port, when, _)] {
        f.waiters();
        let p = &mut f.profile;
        through(p, port);
        if when == waits::When::First {
            p.barriers.race = Share::new(0.6);
        }
        (p.barriers.fill, p.pace) = (Share::new(0.6), Paces::free());
    }
    waits::LimitRace [f, _p, (limit, port, _)] {
        f.waiters();
        let p = &mut f.profile;
        through(p, port);
        (p.barriers.race, p.barriers.fill) = (Share::new(0.6), Share::new(0.1));
        p.pace = Paces::free();
        if limit == waits::LimitOf::Configuration {
            p.barriers.default_limit = Share::ALWAYS;
        }
    }
    waits::LimitRacePlace [f, _p, _] {
        f.waiters();
        let b = &mut f.profile.barriers;
        (b.volley, b.race) = (Share::new(0.5), Share::NEVER);
    }
    waits::TimeOut | waits::WaitLimit [f, _p, (limit, cycles)] {
        f.waiters();
        limits(&mut f.profile, limit, cycles);
    }
}

fn through(p: &mut Profile, port: Port) {
    match port {
        Port::Warp => p.cluster = p.cluster.min(Share::new(0.02)),
        Port::Cluster => {
            p.cluster = Share::new(0.75);
            p.pace.request = Weights::only(&[Pace::Heavy, Pace::Some]);
            p.pace.cluster = Weights::only(&[Pace::Free, Pace::Some]);
        }
    }
}

fn wanted(p: &mut Profile, result: Wanted) {
    p.red = if result == Wanted::None { Share::ALWAYS } else { Share::NEVER };
}

/// Makes a number of lanes in this range conflict, in one of the given ways.
fn crowd(p: &mut Profile, degree: Degree, spread: &[Spread]) {
    p.degree = Span::new(degree.least(), degree.most());
    p.lanes = Weights::only(&[Lanes::All]);
    p.spread = Weights::only(spread);
}

/// Compares words that all differ with values that an earlier load has seen. Most requests have one lane.
fn compare_distinct_words(p: &mut Profile) {
    p.values = Weights::only(&[Values::Seen, Values::Mixed]);
    p.lanes = Weights::of(|lanes| match lanes {
        Lanes::One => 3,
        Lanes::All => 1,
        _ => 0,
    });
    p.spread = Weights::only(&[Spread::SameWord]);
    p.repeat = Share::new(0.9);
}

/// Keeps operations on objects as drawn, without changes that complete phases.
fn keep_objects(p: &mut Profile) {
    p.barriers.spoil = Share::ALWAYS;
    p.barriers.finish = Share::NEVER;
    p.barriers.settle = Share::NEVER;
}

/// Draws values at which operations change behaviour, for words that are accessed repeatedly.
fn values(p: &mut Profile) {
    p.values = Weights::of(|values| match values {
        Values::Corners | Values::Seen => 3,
        Values::Uniform => 2,
        Values::Few | Values::Mixed => 1,
        Values::Counts | Values::Floats | Values::Any => 0,
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
}

fn meet_in_pipeline(p: &mut Profile) {
    p.repeat = Share::new(0.8);
    p.spread = Weights::only(&[Spread::SameWord, Spread::FewWords]);
    p.pace = Paces { request: Weights::only(&[Pace::Free, Pace::Some]), ..Paces::free() };
    p.values = Weights::only(&[Values::Few, Values::Seen, Values::Uniform]);
    p.cluster = Share::new(0.1);
    p.barriers.objects = Span::new(1, 2);
}

fn fill_waiters(p: &mut Profile) {
    (p.barriers.fill, p.barriers.race) = (Share::new(0.75), Share::NEVER);
    p.pace = Paces::free();
}

fn limits(p: &mut Profile, limit: waits::LimitOf, cycles: waits::LimitCycles) {
    let b = &mut p.barriers;
    if limit == waits::LimitOf::Configuration {
        (b.limit, b.fill) = (Weights::only(&[Limit::Default]), Share::new(1.0 / 256.0));
    }
    b.limit = match cycles {
        waits::LimitCycles::Long | waits::LimitCycles::Longer => {
            (b.race, b.fill) = (Share::NEVER, Share::NEVER);
            b.limit.with(Limit::Longer, 255)
        }
        waits::LimitCycles::Many => b.limit.with(Limit::Short, 36).with(Limit::Long, 36),
        waits::LimitCycles::One | waits::LimitCycles::Few | waits::LimitCycles::More => {
            b.limit.with(Limit::Tiny, 36)
        }
    };
}

impl Focus {
    fn waiters(&mut self) {
        self.ops.extend([Op::MbarTryWait, Op::MbarTryWait, Op::MbarTryWait]);
        self.ops.extend(PHASES);
        let b = &mut self.profile.barriers;
        (b.fill, b.race, b.revive) = (Share::new(0.25), Share::new(0.25), Share::new(0.75));
        b.most = Share::NEVER;
        b.counts = Span::new(1, 8);
        b.wait = Weights::of(|wait| if wait == Wait::Current { 8 } else { 1 });
    }

    fn complete(&mut self) {
        self.profile.barriers.finish = Share::new(0.75);
        self.profile.barriers.counts = Span::new(1, 4);
        self.support.push(Op::MbarExpectTx);
        self.support.extend(PHASES);
    }

    fn counts(&mut self) {
        let b = &mut self.profile.barriers;
        (b.counts, b.overflow) = (Span::new(1, 4), Share::new(0.5));
        (b.revive, b.spoil) = (Share::new(0.4), Share::new(0.5));
        self.support.extend([Op::MbarInit, Op::MbarArrive, Op::MbarExpectTx]);
    }

    fn finish(mut self, rng: &mut dyn Rng) -> Profile {
        if !self.ops.is_empty() || !self.support.is_empty() {
            // Operations on objects need an initialized object. One profile in eight has only the required
            // operations.
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
            // Mix in other sizes, so that different sizes access the same words.
            self.profile.sizes = Weights::of(|size| if sizes.contains(&size) { 8 } else { 1 });
            if self.ops.is_empty() && self.support.is_empty() {
                let has = |op: Op| op.row().sizes.iter().any(|size| sizes.contains(size));
                self.profile.ops = Weights::of(|op| if has(op) { 8 } else { 1 });
            }
        }
        self.profile
    }
}

pub(super) type Steered = fn(&[Vec<usize>], &mut dyn Rng) -> Profile;

macro_rules! steered {
    ($($group:ident)*) => {
        /// Profile builder of each group, in the order of the bins.
        pub(super) const STEERED: &[Steered] = &[$(profile::<g::$group>),*];
    };
}
g::every_group!(steered);
