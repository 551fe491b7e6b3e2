use atoms_model::Unit;
use atoms_model::config::Config;
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};

use atoms_ops::Op;

use super::*;

/// Pins under control of the test. By default all ready signals are high and all valid signals are low.
struct Pins {
    monitor: Monitor,
    number: u64,
    i: In,
    out: Out,
    probe: Probe,
}

impl Pins {
    fn new() -> Self {
        let i = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() };
        let out = Out { req_ready: 1, cl_ready: 1, cta_ready: 1, ..Out::default() };
        Pins { monitor: Monitor::new(&Config::default()), number: 0, i, out, probe: Probe::default() }
    }

    /// Runs one cycle with the pins that `set` changes. The next cycle starts from the defaults again.
    fn cycle(&mut self, set: impl FnOnce(&mut In, &mut Out, &mut Probe)) -> Cycle<'static> {
        let Pins { mut i, mut out, mut probe, .. } = Pins { monitor: self.monitor.clone(), ..*self };
        set(&mut i, &mut out, &mut probe);
        self.number += 1;
        // Leak the pins: a test may keep cycles for as long as it likes.
        let (i, out, probe) = (Box::leak(i.into()), Box::leak(out.into()), Box::leak(probe.into()));
        self.monitor.cycle(self.number - 1, i, out, probe)
    }

    fn accept(&mut self, op: Op, tag: u8) {
        let request = WarpRequest { op: op as u8, tag, mask: 1, ..WarpRequest::default() };
        let accepted = self.cycle(|i, _, _| request.drive(i)).warp_accepted.expect("it is accepted");
        assert_eq!(*accepted.request, request);
    }

    fn accept_cluster(&mut self, tag: u8) {
        let request = ClusterRequest { tag, ..ClusterRequest::default() };
        let accepted = self.cycle(|i, _, _| request.drive(i)).cluster_accepted.expect("it is accepted");
        assert_eq!(*accepted.request, request);
    }

    /// Returns the number of the request that a response with this tag answers.
    fn response(&mut self, tag: u8) -> Result<u64, Unmatched> {
        let cycle = self.cycle(|_, out, _| (out.rsp_valid, out.rsp_tag) = (1, tag));
        matched(cycle.warp_answer.expect("it is there").appears)
    }

    /// Returns the number of the request that a wake-up with this tag answers.
    fn wake_up(&mut self, tag: u8) -> Result<u64, Unmatched> {
        let cycle = self.cycle(|_, out, _| (out.wake_valid, out.wake_tag) = (1, tag));
        matched(cycle.wake_up.expect("it is there").appears)
    }
}

fn matched(appears: Option<Appearance>) -> Result<u64, Unmatched> {
    appears.expect("it was not there before").request.map(|request| request.number)
}

#[test]
fn a_request_is_accepted_when_both_sides_agree() {
    let mut pins = Pins::new();
    let cycle = pins.cycle(|i, out, _| (i.req_valid, i.cl_valid, out.req_ready, out.cl_ready) = (1, 1, 0, 0));
    assert!(cycle.driven().warp && cycle.driven().cluster);
    assert!(cycle.warp_accepted.is_none() && cycle.cluster_accepted.is_none());
    let cycle = pins.cycle(|i, _, _| (i.req_valid, i.req_tag, i.cl_valid, i.cl_tag) = (1, 5, 1, 6));
    let (warp, cluster) = (cycle.warp_accepted.expect("a request"), cycle.cluster_accepted.expect("another"));
    assert_eq!((warp.number, warp.taken_at, warp.request.tag), (0, 1, 5));
    assert_eq!(
        (cluster.number, cluster.taken_at, cluster.request.tag),
        (0, 1, 6),
        "ports count for themselves"
    );
    pins.accept(Op::Add, 7);
    assert_eq!(pins.monitor.warps().iter().map(|request| request.number).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn an_answer_appears_once_and_is_inside_until_it_is_taken() {
    let mut pins = Pins::new();
    pins.accept(Op::Add, 1);
    pins.accept(Op::Add, 2);
    for held in 0..3 {
        let cycle =
            pins.cycle(|i, out, _| (i.rsp_ready, out.rsp_valid, out.rsp_tag, out.rsp_passes) = (0, 1, 1, 9));
        let answer = cycle.warp_answer.expect("it stands there");
        assert_eq!((answer.taken, answer.passes, answer.appears.is_some()), (false, 9, held == 0));
        if let Some(appears) = answer.appears {
            assert_eq!(appears.oldest_unanswered, Some(1), "the second request");
        }
        assert_eq!(pins.monitor.inside(), 2);
    }
    let cycle = pins.cycle(|_, out, _| (out.rsp_valid, out.rsp_tag) = (1, 1));
    assert!(cycle.warp_answer.is_some_and(|answer| answer.taken && answer.appears.is_none()));
    assert_eq!(pins.monitor.inside(), 1);
    assert_eq!(pins.response(2), Ok(1), "it appears in the very next cycle");
    assert_eq!((pins.monitor.inside(), pins.monitor.all_done()), (0, true));
    assert_eq!(pins.response(2), Err(Unmatched::NoRequest));
}

#[test]
fn responses_come_in_order_but_for_those_of_suspended_requests() {
    let mut pins = Pins::new();
    pins.accept(Op::MbarTryWait, 1);
    pins.accept(Op::Add, 2);
    pins.accept(Op::MbarTryWait, 3);
    pins.accept(Op::Add, 4);
    assert_eq!(pins.response(4), Err(Unmatched::OtherTag(2)), "only a wait can be overtaken");
    let mut pins = Pins::new();
    pins.accept(Op::MbarTryWait, 1);
    pins.accept(Op::Add, 2);
    pins.accept(Op::MbarTryWait, 3);
    pins.accept(Op::Add, 4);
    assert_eq!(pins.response(2), Ok(1));
    assert_eq!(pins.response(3), Ok(2), "a wait is answered at once where its phase is complete");
    assert_eq!(pins.wake_up(3), Err(Unmatched::NoRequest));
    assert_eq!(pins.wake_up(1), Ok(0));
    assert_eq!(pins.response(4), Ok(3));
    assert!(pins.monitor.all_done());
}

#[test]
fn a_wake_up_held_at_its_port_appears_once() {
    let mut pins = Pins::new();
    pins.accept(Op::MbarTryWait, 1);
    let cycle = pins.cycle(|i, out, probe| {
        (i.wake_ready, out.wake_valid, out.wake_tag, out.wake_pred, probe.wait_suspended) =
            (0, 1, 1, 3, 0b100);
    });
    assert_eq!(cycle.suspended(), 1);
    let wake_up = cycle.wake_up.expect("it is there");
    assert_eq!((wake_up.taken, wake_up.pred, wake_up.appears.is_some()), (false, 3, true));
    let cycle = pins.cycle(|_, out, _| (out.wake_valid, out.wake_tag) = (1, 1));
    assert!(cycle.wake_up.is_some_and(|wake_up| wake_up.taken && wake_up.appears.is_none()));
    assert_eq!(pins.monitor.inside(), 0);
}

#[test]
fn waits_that_share_a_tag_are_told_apart_only_where_the_order_does() {
    let mut pins = Pins::new();
    pins.accept(Op::MbarTryWait, 1);
    pins.accept(Op::MbarTryWait, 1);
    assert_eq!(pins.wake_up(1), Err(Unmatched::Ambiguous));
    assert_eq!(
        pins.monitor.warps().iter().map(|request| request.number).collect::<Vec<_>>(),
        [1],
        "the oldest"
    );
    pins.accept(Op::Add, 1);
    assert_eq!(pins.response(1), Err(Unmatched::Ambiguous));
    let mut pins = Pins::new();
    pins.accept(Op::MbarTryWait, 1);
    pins.accept(Op::Add, 2);
    pins.accept(Op::Add, 1);
    assert_eq!(pins.response(1), Ok(0), "the request between them has no answer yet");
}

#[test]
fn a_cluster_request_is_inside_until_it_is_done_or_its_response_is_taken() {
    let mut pins = Pins::new();
    pins.accept_cluster(1);
    pins.accept_cluster(2);
    pins.accept_cluster(3);
    for (tag, owes) in [(1, 1), (2, 0), (3, 1)] {
        let done = pins.cycle(|_, _, probe| (probe.cl_done, probe.cl_owes) = (1, owes)).cluster_done;
        let done = done.expect("it is carried out");
        assert_eq!((done.request.map(|request| request.request.tag), done.owes), (Some(tag), owes == 1));
        assert_eq!(done.oldest_unanswered, (tag < 3).then_some(u64::from(tag)));
    }
    let tags: Vec<_> = pins.monitor.clusters().iter().map(|request| request.request.tag).collect();
    assert_eq!((tags, pins.monitor.all_done()), (vec![1, 3], true), "a posted request is gone");
    for (ready, appears, inside) in [(0, true, 2), (1, false, 1), (1, true, 0)] {
        let cycle = pins.cycle(|i, out, _| (i.cl_rsp_ready, out.cl_rsp_valid) = (ready, 1));
        let answer = cycle.cluster_answer.expect("it is there");
        assert_eq!((answer.taken, answer.appears), (ready == 1, appears));
        assert_eq!(pins.monitor.inside(), inside);
    }
    let done = pins.cycle(|_, _, probe| probe.cl_done = 1).cluster_done;
    assert!(done.is_some_and(|done| done.request.is_none()), "nothing was inside");
}

#[test]
fn a_reset_drops_what_is_inside_and_numbers_go_on() {
    let mut pins = Pins::new();
    pins.accept(Op::MbarTryWait, 1);
    pins.accept(Op::Add, 2);
    pins.accept(Op::Add, 3);
    pins.accept_cluster(4);
    pins.accept_cluster(5);
    pins.cycle(|_, _, probe| (probe.cl_done, probe.cl_owes) = (1, 1));
    // The answer to the second request appears in the reset cycle. Nothing is taken or written in that cycle.
    let cycle = pins.cycle(|i, out, probe| {
        (i.rst_n, i.req_valid, i.cl_valid, i.cta_valid) = (0, 1, 1, 1);
        (out.rsp_valid, out.rsp_tag) = (1, 2);
        (probe.wr_en, probe.cl_done, probe.completed, probe.wait_suspended) = (1, 1, 1, 1);
        (probe.issue_valid, probe.pass_fire) = (1, 1);
    });
    assert_eq!(matched(cycle.warp_answer.as_ref().and_then(|answer| answer.appears.clone())), Ok(1));
    assert_eq!(cycle.writes().count(), 0);
    assert_eq!((cycle.phases_completed(), cycle.suspended(), cycle.pass_issued), (0, 0, None));
    assert!(cycle.cluster_done.is_none() && cycle.allocation.is_none());
    assert!(cycle.warp_accepted.is_none() && cycle.cluster_accepted.is_none());
    let dropped = cycle.reset.expect("a reset");
    assert_eq!(dropped.warps.iter().map(|request| request.number).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(dropped.clusters.iter().map(|request| request.number).collect::<Vec<_>>(), [1]);
    assert_eq!((dropped.answers, pins.monitor.inside()), (1, 0));
    pins.accept(Op::Add, 2);
    let issued = pins.cycle(|_, out, probe| {
        (out.rsp_valid, out.rsp_tag) = (1, 2);
        (probe.issue_valid, probe.pass_fire, probe.pass_last) = (1, 1, 1);
    });
    assert_eq!(matched(issued.warp_answer.and_then(|answer| answer.appears)), Ok(3));
    assert_eq!(issued.pass_issued.map(|pass| pass.number), Some(3));
}

#[test]
fn an_allocation_is_settled_in_the_next_cycle() {
    let mut pins = Pins::new();
    let write = AllocationWrite { slot: 3, enable: true, base: 2, size: 64, rank: 1 };
    let refused = pins.cycle(|i, out, _| {
        write.drive(i);
        out.cta_ready = 0;
    });
    assert!(refused.driven().allocation && refused.allocation.is_none());
    for reject in [0, 1] {
        let accepted = pins.cycle(|i, _, _| write.drive(i));
        assert_eq!((accepted.allocation, accepted.allocation_settled), (Some(write), None));
        let settled = pins.cycle(|_, out, _| out.cta_reject = reject).allocation_settled;
        assert_eq!(settled, Some(AllocationSettled { slot: 3, rejected: reject == 1 }));
    }
    assert_eq!(pins.cycle(|_, _, _| {}).allocation_settled, None);
}

#[test]
fn words_written_and_phases_completed_are_told() {
    let mut pins = Pins::new();
    let cycle = pins.cycle(|_, _, probe| {
        (probe.wr_en, probe.completed) = (1 << 63 | 1, 0b101);
        (probe.wr_row[0], probe.wr_data[0]) = (4, 7);
        (probe.wr_row[63], probe.wr_data[63]) = (5, 8);
    });
    let written = [BankWrite { row: 4, bank: 0, value: 7 }, BankWrite { row: 5, bank: 63, value: 8 }];
    assert_eq!(cycle.writes().collect::<Vec<_>>(), written);
    assert_eq!(cycle.phases_completed(), 2);
}

#[test]
fn the_pipeline_is_shown() {
    let mut pins = Pins::new();
    let cycle = pins.cycle(|_, _, probe| {
        (probe.issue_valid, probe.issue_cluster, probe.issue_op, probe.issue_tag) = (1, 1, 4, 9);
        (probe.hazard, probe.pipe_valid) = (1, 0b101);
    });
    let at_issue = Some(AtIssue { cluster: true, number: 0, arrives: true, pending: 0, op: 4, tag: 9 });
    assert_eq!(cycle.pipeline(), Pipeline { at_issue, held_back: true, stages: 0b101, stalled: false });
    assert_eq!(cycle.pass_issued, None, "it is held back");
    let cycle = pins.cycle(|_, _, probe| probe.stall = 1);
    assert_eq!(cycle.pipeline(), Pipeline { at_issue: None, held_back: false, stages: 0, stalled: true });
}

/// Checks that ports and probe agree about each request, in random runs with resets.
#[test]
fn every_request_is_answered_or_dropped_under_its_number() {
    for profile in ["default", "pressure", "objects"] {
        let config = Config::default();
        let (mut unit, mut probe) = (Unit::new(config), Probe::default());
        let profile = Profile::named(profile).expect("it exists");
        let mut stimulus = RandomStimulus::new(config, &profile, 5, 1500);
        let (mut monitor, mut i) = (Monitor::new(&config), In::default());
        let (mut accepted, mut answered, mut dropped, mut passes) = ([0; 2], [0; 2], [0; 2], 0);
        // Warp request whose answer must appear in the next cycle.
        let mut due = None;
        for number in 0.. {
            stimulus.drive(&mut i);
            // Reset every 3000 cycles, with requests inside.
            i.rst_n = u8::from(number % 3000 != 2999);
            let out = *unit.evaluate(&i);
            unit.probe(&mut probe);
            unit.tick(&i);
            let cycle = monitor.cycle(number, &i, &out, &probe);
            let warp =
                cycle.warp_answer.as_ref().and_then(|answer| Some((answer.appears.clone()?, answer.tag)));
            let wake_up =
                cycle.wake_up.as_ref().and_then(|answer| Some((answer.appears.clone()?, answer.tag)));
            for (appears, tag) in warp.into_iter().chain(wake_up) {
                assert_eq!(appears.request.expect("it is known").request.tag, tag);
                answered[0] += 1;
            }
            let appears = cycle.warp_answer.as_ref().and_then(|answer| answer.appears.as_ref());
            assert_eq!(appears.and_then(|appears| Some(appears.request.as_ref().ok()?.number)), due.take());
            let last = cycle.last_stage.filter(|last| last.done && last.pass.last);
            let cluster = last.filter(|done| done.pass.cluster).map(|done| (done.pass.number, done.owes));
            let carried_out =
                cycle.cluster_done.as_ref().and_then(|done| Some((done.request.as_ref()?.number, done.owes)));
            assert_eq!(cluster, carried_out, "cycle {number}");
            if let Some(done) = last.filter(|done| !done.pass.cluster && !done.suspends) {
                due = Some(done.pass.number);
            }
            if let Some(request) = cycle.cluster_done.as_ref() {
                assert!(request.request.is_some(), "one was inside");
                answered[1] += 1;
            }
            if let Some(pass) = cycle.pass_issued {
                passes += 1;
                // A request must still be inside when one of its passes is issued.
                let tag = match pass.cluster {
                    false => monitor.warps().iter().find(|r| r.number == pass.number).map(|r| r.request.tag),
                    true => {
                        monitor.clusters().iter().find(|r| r.number == pass.number).map(|r| r.request.tag)
                    }
                };
                assert_eq!(tag, Some(probe.issue_tag), "cycle {number}: {pass:?}");
            }
            if let Some(reset) = &cycle.reset {
                dropped[0] += reset.warps.len();
                dropped[1] += reset.clusters.len();
            }
            accepted[0] += usize::from(cycle.warp_accepted.is_some());
            accepted[1] += usize::from(cycle.cluster_accepted.is_some());
            stimulus.observe(&i, &out);
            complete_handshakes(&mut i, &out);
            if stimulus.finished() && monitor.inside() == 0 && i.req_valid | i.cl_valid == 0 {
                break;
            }
        }
        for port in 0..2 {
            assert_eq!(accepted[port], answered[port] + dropped[port], "port {port}");
        }
        assert!(dropped[0] > 0 && passes > answered[0], "{dropped:?} dropped, {passes} passes");
    }
}
