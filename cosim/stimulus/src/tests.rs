use atoms_model::Config;
use atoms_model::Unit;
use atoms_model::port::{In, Probe};
use atoms_ops::{Fault, Op, Size};
use expect_test::expect_file;

use super::*;
use crate::request::{AllocationWrite, ClusterRequest, WarpRequest};
use crate::unit::ForeignUnit;

#[derive(Default, PartialEq)]
struct Seen {
    cycles: u64,
    warps: Vec<WarpRequest>,
    clusters: Vec<ClusterRequest>,
    allocations: Vec<AllocationWrite>,
    passes: Vec<u8>,
    faults: Vec<u8>,
    woken: u32,
    timed_out: u32,
    phases: u32,
    resets: u64,
    /// Longest time for which a response was held, in cycles.
    longest_hold: u64,
    most_suspended: u32,
    held: u64,
    /// Woken requests within a few cycles of their limit.
    nearly_late: u32,
}

fn small() -> Config {
    Config { num_lanes: 8, num_banks: 8, num_rows: 64, num_waiters: 16, ..Config::default() }
}

fn draw_from(config: Config, profile: &Profile, seed: u64, requests: u64) -> Seen {
    let (mut unit, mut probe) = (Unit::new(config), Probe::default());
    let mut stimulus = RandomStimulus::new(config, profile, seed, requests);
    let (mut i, mut seen) = (In::default(), Seen::default());
    let (mut idle, mut hold) = (0, 0);
    let mut sleeps = [(0, 0); 64];
    while !stimulus.finished() || idle < 2500 {
        stimulus.drive(&mut i);
        let out = *unit.evaluate(&i);
        unit.probe(&mut probe);
        unit.tick(&i);
        let out = &out;
        stimulus.observe(&i, out);
        seen.cycles += 1;
        let holds = out.rsp_valid == 1 && i.rsp_ready == 0;
        seen.held += u64::from(holds);
        hold = if holds { hold + 1 } else { 0 };
        seen.longest_hold = seen.longest_hold.max(hold);
        seen.resets += u64::from(i.rst_n == 0);
        if i.rst_n == 0 {
            complete_handshakes(&mut i, out);
            continue;
        }
        if i.req_valid & out.req_ready == 1 {
            sleeps[usize::from(i.req_tag)] = (seen.cycles, i.req_c[0] as u64);
            seen.warps.push(WarpRequest::sample(&i));
        }
        if i.cl_valid & out.cl_ready == 1 {
            seen.clusters.push(ClusterRequest::sample(&i));
        }
        if i.cta_valid & out.cta_ready == 1 {
            seen.allocations.push(AllocationWrite::sample(&i));
        }
        if out.rsp_valid & i.rsp_ready == 1 {
            seen.passes.push(out.rsp_passes);
            seen.faults.push(out.rsp_fault);
        }
        if out.wake_valid & i.wake_ready == 1 {
            let (taken, limit) = sleeps[usize::from(out.wake_tag)];
            let near = (seen.cycles - taken).abs_diff(limit) < 8;
            seen.nearly_late += u32::from(near && out.wake_pred != 0);
            *(if out.wake_pred == 0 { &mut seen.timed_out } else { &mut seen.woken }) += 1;
        }
        seen.phases += probe.completed.count_ones();
        seen.most_suspended = seen.most_suspended.max(probe.wait_suspended.count_ones());

        idle = if stimulus.finished() { idle + 1 } else { 0 };
        complete_handshakes(&mut i, out);
    }
    seen
}

fn draw(profile: &Profile) -> Seen {
    draw_from(small(), profile, 1, 2000)
}

/// Profile without faults and table writes, so that requests are observed as drawn.
fn clean() -> Profile {
    Profile {
        faults: Faults::none(),
        table: Share::NEVER,
        reset: Share::NEVER,
        barriers: Barriers { volley: Share::NEVER, ..Barriers::default() },
        ..Profile::default()
    }
}

fn share_of<T>(items: &[T], is: impl Fn(&T) -> bool) -> f64 {
    assert!(items.len() > 100, "{} are too few", items.len());
    items.iter().filter(|item| is(item)).count() as f64 / items.len() as f64
}

#[track_caller]
fn about(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.05, "{found} is not about {expected}");
}

#[test]
fn the_same_seed_draws_the_same() {
    let one = draw(&Profile::default());
    assert!(one == draw(&Profile::default()));
    assert!(one != draw_from(small(), &Profile::default(), 2, 2000));
    assert_eq!(one.warps.len(), 2000);
    let more = draw_from(small(), &Profile::default(), 1, 8000);
    assert!(more.phases > 200 && more.woken > 5, "{} and {}", more.phases, more.woken);
    assert!(one.phases > 50 && one.clusters.len() > 100, "{} and {}", one.phases, one.clusters.len());
}

/// Shrinking an episode relies on a shorter run being a prefix of a longer one.
#[test]
fn fewer_requests_are_the_first_of_more() {
    let long = draw(&Profile::default());
    let short = draw_from(small(), &Profile::default(), 1, 300);
    assert!(short.warps[..] == long.warps[..300]);
}

#[test]
fn operations_and_sizes_are_drawn_by_weight() {
    let ops = Weights::of(|op| match op {
        Op::Load => 3,
        Op::Cas => 1,
        _ => 0,
    });
    let sizes = Weights::only(&[Size::U64, Size::U8]);
    let seen = draw(&Profile { ops, sizes, ..clean() });
    about(share_of(&seen.warps, |r| r.op == Op::Load as u8), 0.75);
    about(share_of(&seen.warps, |r| r.op == Op::Cas as u8), 0.25);
    about(share_of(&seen.clusters, |r| r.op == Op::Load as u8), 0.75);
    // CAS has no byte size.
    assert!(seen.warps.iter().all(|r| r.size == Size::U64 as u8 || r.op == Op::Load as u8));
    about(share_of(&seen.warps, |r| r.size == Size::U8 as u8), 0.375);
    // If an operation has none of the listed sizes, all its sizes are drawn.
    let add = Profile { ops: Weights::only(&[Op::Add]), sizes: Weights::only(&[Size::U8]), ..clean() };
    about(share_of(&draw(&add).warps, |r| r.size == Size::S32 as u8), 0.5);
}

/// An operation may only be replaced by another listed operation.
#[test]
fn only_listed_operations_are_drawn() {
    for ops in [
        [Op::MbarCompleteTx, Op::MbarExpectTx, Op::Load],
        [Op::MbarTryWait, Op::MbarArriveDrop, Op::MbarInit],
    ] {
        let seen = draw(&Profile { ops: Weights::only(&ops), ..clean() });
        let codes = seen.warps.iter().map(|r| r.op).chain(seen.clusters.iter().map(|r| r.op));
        let other: Vec<_> = codes.filter(|code| !ops.iter().any(|op| *op as u8 == *code)).collect();
        assert!(other.is_empty(), "{other:?}");
    }
}

#[test]
fn lanes_conflict_as_asked() {
    let profile = |spread, degree| Profile {
        ops: Weights::only(&[Op::Add]),
        spread: Weights::only(&[spread]),
        degree: Span::new(degree, degree),
        lanes: Weights::only(&[Lanes::All]),
        scale: Weights::only(&[Scale::One]),
        form: Weights::only(&[Form::Register]),
        odd_parts: Share::NEVER,
        ..clean()
    };
    for spread in [Spread::Conflict, Spread::Contention] {
        for degree in [1, 2, 4, 8] {
            let seen = draw(&profile(spread, degree));
            assert!(seen.passes.iter().all(|passes| u32::from(*passes) == degree), "{spread:?} {degree}");
        }
    }
    let passes = |spread| draw(&profile(spread, 1)).passes;
    assert!(passes(Spread::SameWord).iter().all(|passes| *passes == 8));
    assert!(passes(Spread::SameBank).iter().all(|passes| *passes == 8));
    assert!(share_of(&passes(Spread::Anywhere), |passes| *passes == 8) < 0.05);
    assert!(share_of(&passes(Spread::FewWords), |passes| (2..8).contains(passes)) > 0.8);
}

#[test]
fn lanes_take_part_as_asked() {
    let lanes = |lanes| {
        let seen =
            draw(&Profile { ops: Weights::only(&[Op::Load]), lanes: Weights::only(&[lanes]), ..clean() });
        seen.warps.iter().map(|r| r.mask.count_ones()).collect::<Vec<_>>()
    };
    assert!(lanes(Lanes::All).iter().all(|lanes| *lanes == 8));
    assert!(lanes(Lanes::Two).iter().all(|lanes| *lanes == 2));
    assert!(lanes(Lanes::One).iter().all(|lanes| *lanes == 1));
    assert!(lanes(Lanes::None).iter().all(|lanes| *lanes == 0));
    let mean = |lanes: Vec<u32>| f64::from(lanes.iter().sum::<u32>()) / lanes.len() as f64;
    assert!((3.5..4.5).contains(&mean(lanes(Lanes::Some))));
    assert!((0.7..1.3).contains(&mean(lanes(Lanes::Few))));
}

#[test]
fn faults_come_in_their_share() {
    let fault = |faults: Faults| {
        let seen = draw(&Profile {
            faults,
            ops: Weights::only(&[Op::Add]),
            scale: Weights::only(&[Scale::One]),
            lanes: Weights::only(&[Lanes::All]),
            ..clean()
        });
        move |fault: Fault| share_of(&seen.faults, |found| *found == fault as u8)
    };
    let half = Share::new(0.5);
    assert_eq!(fault(Faults::none())(Fault::None), 1.0);
    about(fault(Faults { misaligned: half, ..Faults::none() })(Fault::Misaligned), 0.5);
    about(fault(Faults { out_of_range: half, ..Faults::none() })(Fault::OutOfRange), 0.5);
    about(fault(Faults { rank: half, ..Faults::none() })(Fault::OutOfRange), 0.5);
    // Some random codes are legal instructions.
    assert!(fault(Faults { illegal: half, ..Faults::none() })(Fault::Illegal) > 0.3);
    assert!(fault(Faults { slot: half, ..Faults::none() })(Fault::OutOfRange) > 0.3);
    about(fault(Faults { wild: half, ..Faults::none() })(Fault::None), 0.5);
}

#[test]
fn ports_keep_their_pace() {
    let seen = |pace| draw(&Profile { pace, cluster: Share::new(0.5), ..clean() });
    let free = seen(Paces::free());
    assert_eq!(free.held, 0);
    let pressed = seen(Paces::pressed());
    assert!(pressed.held > pressed.cycles / 4, "{} of {} cycles", pressed.held, pressed.cycles);
    let heavy = |paces: &mut Paces| paces.request = Weights::only(&[Pace::Heavy]);
    let mut paces = Paces::free();
    heavy(&mut paces);
    let slow = seen(paces);
    assert!(slow.cycles > 2000 * 12 && slow.clusters.len() > 2 * slow.warps.len());
    let never = Paces { response: Weights::only(&[Pace::Held]), ..Paces::free() };
    assert!(seen(never).faults.len() > 1900, "answers are taken in the end");
}

#[test]
fn cluster_and_table_come_in_their_share() {
    let with = |cluster, table| draw(&Profile { cluster, table, pace: Paces::free(), ..clean() });
    let none = with(Share::NEVER, Share::NEVER);
    assert_eq!((none.clusters.len(), none.allocations.len()), (0, 4));
    assert!(with(Share::new(0.5), Share::NEVER).clusters.len() > 1000);
    assert!(with(Share::NEVER, Share::new(0.05)).allocations.len() > 200);
}

#[test]
fn places_and_operations_come_again() {
    let again = |repeat, burst| {
        let ops = Weights::only(&[Op::Add, Op::Load]);
        let spread = Weights::only(&[Spread::SameWord]);
        let (form, scale) = (Weights::only(&[Form::Absolute]), Weights::only(&[Scale::One]));
        let sizes = Weights::only(&[Size::U32]);
        let profile = Profile {
            ops,
            spread,
            repeat,
            burst,
            form,
            scale,
            sizes,
            uniform_register: Share::NEVER,
            ..clean()
        };
        let seen = draw(&profile).warps;
        let pairs: Vec<_> = seen.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        let place = share_of(&pairs, |(a, b)| (a.slot, a.imm) == (b.slot, b.imm));
        (place, share_of(&pairs, |(a, b)| a.op == b.op))
    };
    let (place, op) = again(Share::NEVER, Share::NEVER);
    about(place, 0.0);
    about(op, 0.5);
    let (place, op) = again(Share::new(0.75), Share::new(0.75));
    about(place, 0.75);
    about(op, 0.875);
}

#[test]
fn operands_are_of_their_kind() {
    let operands = |values| {
        let profile = Profile {
            ops: Weights::only(&[Op::Exch]),
            sizes: Weights::only(&[Size::U32]),
            values: Weights::only(&[values]),
            ..clean()
        };
        draw(&profile).warps.iter().flat_map(|r| r.lanes.clone()).map(|lane| lane.b).collect::<Vec<_>>()
    };
    assert!(operands(Values::Few).iter().all(|b| *b < 3));
    assert!(operands(Values::Counts).iter().all(|b| *b < 64));
    assert!(operands(Values::Uniform).iter().all(|b| *b < 3));
    assert!(share_of(&operands(Values::Any), |b| *b > 1 << 16) > 0.9);
    let corners = operands(Values::Corners);
    assert!(
        corners.contains(&0x8000_0000) && corners.iter().all(|b| *b < 4 || (*b + 2) as u32 & 0x7fff_ffff < 4)
    );
    assert!(operands(Values::Floats).contains(&0x7fc0_0000));
    // Comparisons must match values in memory.
    let hits = |values| {
        let profile = Profile {
            ops: Weights::only(&[Op::Cas]),
            values: Weights::only(&[values]),
            repeat: Share::new(0.9),
            spread: Weights::only(&[Spread::SameWord]),
            ..clean()
        };
        let mut unit = Unit::new(small());
        let mut stimulus = RandomStimulus::new(small(), &profile, 1, 1000);
        let (mut i, mut hits) = (In::default(), 0);
        while !stimulus.finished() {
            stimulus.drive(&mut i);
            let out = *unit.evaluate(&i);
            unit.tick(&i);
            stimulus.observe(&i, &out);
            hits += u32::from(out.rsp_valid & i.rsp_ready == 1 && out.rsp_pred != 0);
            complete_handshakes(&mut i, &out);
        }
        hits
    };
    let (seen, any) = (hits(Values::Seen), hits(Values::Any));
    assert!(seen > 25 && any < 5, "{seen} and {any} hits");
}

#[test]
fn addresses_take_their_form() {
    let form = |profile: Profile| {
        draw(&Profile { ops: Weights::only(&[Op::Load]), odd_parts: Share::NEVER, ..profile })
    };
    let absolute = form(Profile { form: Weights::only(&[Form::Absolute]), ..clean() });
    assert!(absolute.warps.iter().all(|r| r.absolute) && absolute.faults.iter().all(|fault| *fault == 0));
    for (scale, code) in [(Scale::Four, 2), (Scale::Sixteen, 4)] {
        let scaled = form(Profile { scale: Weights::only(&[scale]), ..clean() });
        assert!(scaled.warps.iter().all(|r| r.scale == code));
        assert!(share_of(&scaled.faults, |fault| *fault == 0) > 0.85, "scaled addresses are reached");
    }
    let plain = form(Profile {
        uniform_register: Share::NEVER,
        immediate: Weights::only(&[Immediate::Zero]),
        form: Weights::only(&[Form::Register]),
        ..clean()
    });
    assert!(plain.warps.iter().all(|r| r.ur == 0 && r.imm == 0));
    let slots = |span| form(Profile { slots: span, ..clean() }).warps.iter().map(|r| r.slot).max();
    assert_eq!((slots(Span::new(1, 1)), slots(Span::new(16, 16))), (Some(0), Some(15)));
}

/// Runs stimulus with the operations of a producer-consumer pipeline.
fn phases(barriers: Barriers) -> Seen {
    let ops = [
        Op::MbarInit,
        Op::MbarArrive,
        Op::MbarArriveCount,
        Op::MbarTryWait,
        Op::MbarExpectTx,
        Op::MbarCompleteTx,
    ];
    draw(&Profile {
        ops: Weights::only(&ops),
        barriers,
        pace: Paces::free(),
        cluster: Share::NEVER,
        ..clean()
    })
}

#[test]
fn the_table_of_waiters_is_filled() {
    let fill =
        |fill| phases(Barriers { fill, race: Share::NEVER, volley: Share::NEVER, ..Barriers::default() });
    let filled = fill(Share::new(0.25));
    assert_eq!(filled.most_suspended, 16);
    assert!(filled.woken > 200, "{}", filled.woken);
    let never = fill(Share::NEVER).woken;
    assert!(filled.woken > 3 * never, "{} woken, {never} without", filled.woken);
}

#[test]
fn phases_are_completed_on_purpose() {
    let finish = |share| {
        phases(Barriers {
            finish: share,
            fill: Share::NEVER,
            race: Share::NEVER,
            volley: Share::NEVER,
            counts: Span::new(8, 64),
            ..Barriers::default()
        })
        .phases
    };
    let (never, often) = (finish(Share::NEVER), finish(Share::new(0.9)));
    assert!(often > 2 * never, "{never} phases, then {often}");
}

#[test]
fn completions_and_limits_meet() {
    let race =
        |race| phases(Barriers { race, fill: Share::NEVER, volley: Share::NEVER, ..Barriers::default() });
    let (never, often) = (race(Share::NEVER), race(Share::new(0.9)));
    let meet = [never, often].map(|seen| (seen.nearly_late, seen.timed_out, seen.woken));
    assert!(meet[1].0 >= 8 && meet[1].0 > 4 * meet[0].0 && meet[1].1 > 50 && meet[1].2 > 50, "{meet:?}");
}

/// A volley fills the table. Most of its waits are woken in time or only just too late.
#[test]
fn volleys_fill_the_table() {
    let volley =
        |volley| phases(Barriers { volley, race: Share::NEVER, fill: Share::NEVER, ..Barriers::default() });
    let (never, often) = (volley(Share::NEVER), volley(Share::new(0.25)));
    assert_eq!(often.most_suspended, 16);
    assert!(
        often.nearly_late > 10 * (never.nearly_late + 1),
        "{} and {}",
        often.nearly_late,
        never.nearly_late
    );
    assert!(often.timed_out > never.timed_out + 50, "{} and {}", often.timed_out, never.timed_out);
}

#[test]
fn ranks_limits_and_parts_of_all_sizes() {
    let seen = draw_from(small(), &Profile { table: Share::new(1.0 / 64.0), ..clean() }, 1, 4000);
    for bits in 0..8 {
        let of_so_many = seen
            .allocations
            .iter()
            .any(|allocation| allocation.enable && allocation.rank.checked_ilog2() == Some(bits));
        assert!(of_so_many, "a rank of {} bits", bits + 1);
    }
    let all = small().bytes() as u32;
    assert!(
        seen.allocations.iter().any(|allocation| allocation.size > all * 3 / 4),
        "one slot has almost all of memory"
    );
    let limits = Barriers { limit: Weights::only(&[Limit::Longer]), ..clean().barriers };
    let ops = Weights::only(&[Op::MbarTryWait, Op::MbarInit]);
    let limits = |reset| {
        let profile = Profile { ops: ops.clone(), barriers: limits.clone(), reset, ..clean() };
        let waits = (1..=8).flat_map(|seed| draw_from(small(), &profile, seed, 1000).warps);
        let waits = waits.filter(|r| r.op == Op::MbarTryWait as u8);
        waits.filter_map(|r| Some(r.lanes.first()?.c as u32)).collect::<Vec<_>>()
    };
    let bounded = limits(Share::NEVER);
    assert!(share_of(&bounded, |limit| (1024..8192).contains(limit)) > 0.85, "others are of races");
    assert!(bounded.iter().all(|limit| *limit < 8192), "nothing ends what a reset does not end");
    assert!(share_of(&limits(Share::new(1.0 / 4096.0)), |limit| *limit >= 1 << 16) > 0.5);
}

#[test]
fn answers_are_held_for_long() {
    let pace = Paces { hold: Share::new(0.25), ..Paces::free() };
    assert!(draw(&Profile { pace, ..clean() }).longest_hold > 400);
    assert_eq!(draw(&Profile { pace: Paces::free(), ..clean() }).longest_hold, 0);
}

/// Requests continue after a reset. Waits with very long limits do not keep a run from ending.
#[test]
fn resets_come_while_requests_are_inside() {
    let seen = draw(&Profile { reset: Share::new(1.0 / 1024.0), ..clean() });
    assert!(seen.resets > 10, "{} cycles of reset", seen.resets);
    assert_eq!(seen.warps.len(), 2000);
    let answers = seen.faults.len() + (seen.woken + seen.timed_out) as usize;
    assert!((1900..2000).contains(&answers), "{answers} answers: a few were dropped");
    assert!(share_of(&seen.faults, |fault| *fault == 0) > 0.9, "allocations are given again");
}

#[test]
fn waits_ask_about_the_phase_they_are_told() {
    let suspended = |wait| {
        let barriers = Barriers {
            wait: Weights::only(&[wait]),
            fill: Share::NEVER,
            race: Share::NEVER,
            volley: Share::NEVER,
            ..Barriers::default()
        };
        let seen = phases(barriers);
        seen.woken + seen.timed_out
    };
    let (current, preceding) = (suspended(Wait::Current), suspended(Wait::Preceding));
    assert!(current > 3 * preceding, "{current} sleep at the current phase, {preceding} at the one before");
}

#[test]
fn profiles_are_read_as_written() {
    for name in Profile::NAMES {
        let profile = Profile::named(name).expect("it has this name");
        let json = serde_json::to_string(&profile).expect("plain data");
        assert_eq!(serde_json::from_str::<Profile>(&json).expect("it was written"), profile, "{json}");
        let toml = toml::to_string(&profile).expect("plain data");
        assert_eq!(Profile::from_toml(&toml).expect("it was written"), profile, "{toml}");
    }
    assert_eq!(serde_json::to_string(&Profile::default()).expect("plain data"), "{}");
    let profile =
        Profile { cluster: Share::new(0.5), degree: Span::new(2, 4), ..Profile::of_ops(&[Op::Add]) };
    let json = r#"{"ops":["ADD"],"degree":[2,4],"cluster":0.5}"#;
    assert_eq!(serde_json::to_string(&profile).expect("plain data"), json);
    let text = "ops = { add = 3, CAS = 1 }\nfaults.misaligned = 0.5\nbarriers.limit = [\"tiny\"]";
    let profile = Profile::from_toml(text).expect("it is one");
    assert_eq!(
        (profile.ops.weight(Op::Add), profile.ops.weight(Op::Cas), profile.ops.weight(Op::Load)),
        (3, 1, 0)
    );
    assert_eq!(profile.faults.slot, Faults::default().slot);
}

/// `docs/profiles.md` has every key. `cargo regenerate` updates its table.
#[test]
fn the_page_has_every_key() {
    let row = |key: &ProfileKey| {
        let ProfileKey { name, values, usual, about } = key;
        format!("| `{name}` | {values} | {usual} | {about} |\n")
    };
    let table: String = Profile::keys().iter().map(row).collect();
    let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/profiles.md"));
    let page = std::fs::read_to_string(path).expect("the page is there");
    let head = "| key | values | by default | what it says |\n|---|---|---|---|\n";
    let (before, _) = page.split_once(head).expect("a table");
    let expected = format!("{before}{head}{table}");
    expect_file![path].assert_eq(&expected);
    for key in Profile::keys().iter().filter(|key| key.usual.starts_with('[')) {
        assert!(Profile::from_toml(&format!("{} = {}", key.name, key.usual)).is_ok(), "{key:?}");
    }
}

#[test]
fn bad_profiles_are_named() {
    let message = |text: &str| Profile::from_toml(text).expect_err("it is bad").message().to_string();
    assert!(message("opps = []").starts_with("unknown field `opps`; the nearest is `ops` of ops, sizes, "));
    assert!(message("ops = [\"ADDD\"]").starts_with("no operation `ADDD`; there are ADD, MIN, MAX"));
    assert_eq!(message("ops = []"), "nothing to draw: give some operation a weight above 0");
    assert_eq!(message("ops = { ADD = 0 }"), "nothing to draw: give some operation a weight above 0");
    assert_eq!(message("ops = { ADD = 256 }"), "weight 256 of `ADD`: expected 0 to 255");
    assert_eq!(message("lanes = [\"all\", \"all\"]"), "lanes `all` is listed twice");
    assert_eq!(message("cluster = 1.5"), "1.5: expected a share from 0 to 1");
    assert_eq!(message("cluster = nan"), "NaN: expected a share from 0 to 1");
    assert_eq!(message("degree = [3, 2]"), "[3, 2]: expected the smaller number first");
    let error = Profile::from_toml("slots = [1, 2]\nfaults.ranks = 0.5").expect_err("it is bad").to_string();
    assert!(error.contains("line 2") && error.contains("the nearest is `rank` of illegal, "), "{error}");
    let error = Profile::named("calm").expect_err("it is none").to_string();
    assert_eq!(
        error,
        "no profile `calm`; there are default, busy, objects, hazards, faults, pressure, resets, retry_loops"
    );
}

/// Requests that a unit does not declare are never sent: not by any profile, nor by faults, resets or layouts.
#[test]
fn undeclared_requests_are_never_drawn() {
    for name in ["rmw", "serial"] {
        let file = format!("{}/../../tests/units/{name}/unit.toml", env!("CARGO_MANIFEST_DIR"));
        let unit = ForeignUnit::read(file.as_ref()).expect("it is a declaration");
        let config = configs::embedded(&unit.config).expect("it is listed").config;
        for (profile, seed) in
            Profile::NAMES.iter().flat_map(|profile| (1..=4).map(move |seed| (profile, seed)))
        {
            let of = format!("{name}, {profile}, seed {seed}");
            let limited = unit.limit(&Profile::named(profile).expect("it has this name"));
            let seen = draw_from(config, &limited, seed, 1000);
            let warps = seen.warps.iter().map(|request| (request.op, request.size));
            let clusters = seen.clusters.iter().map(|request| (request.op, request.size));
            for (op, size) in warps.chain(clusters) {
                let known = Op::from_code(op).zip(Size::from_code(size));
                assert!(known.is_some_and(|(op, size)| unit.has(op, size)), "{of}: {op} with {size}");
            }
            let has_faults = seen.faults.iter().any(|fault| *fault != Fault::None as u8);
            assert!(unit.rules.faults || !has_faults, "{of} faults");
            assert!(unit.rules.faults || seen.resets == 0, "{of} resets");
            assert_eq!(unit.ports.cluster && *profile != "busy", !seen.clusters.is_empty(), "{of}");
            assert!(
                unit.ports.table || seen.allocations.iter().all(|write| write.slot == 0 && write.base == 0),
                "{of}"
            );
        }
    }
}
