//! Driving a built design: cycles, memory, snapshots, stops.

use crate::dummy;

use atoms_model::port::{In, MAX_BANKS, MAX_LANES, Out, Pins, Probe, Shape};
use atoms_verilated::{Cache, Point, PointKind, RtlError, Toolchain, Variant};
use dummy::{BANKS, Bench, LANES, ROWS, cycle, input};

fn stop(
    result: Result<(atoms_model::port::Out, atoms_model::port::Probe), RtlError>,
) -> atoms_verilated::RtlStop {
    match result {
        Err(RtlError::Stopped(stop)) => stop,
        other => panic!("expected the design to stop, got {other:?}"),
    }
}

#[test]
fn every_verilator_builds_and_agrees() {
    let bench = Bench::new("every verilator", "");
    for verilator in dummy::verilators(&bench.env) {
        let tools = Toolchain { verilator, compiler: bench.tools().compiler };
        for variant in [Variant::Fast, Variant::Wave] {
            let spec = bench.spec().variant(variant);
            let library = Cache::new(&bench.env)
                .library(&spec, &tools, &mut |_| {})
                .unwrap_or_else(|error| panic!("{}: {error}", tools.verilator.identity));
            assert_eq!((library.lanes(), library.banks(), library.rows()), (LANES, BANKS, ROWS));
            assert_eq!(library.variant(), variant);
            let mut rtl = library.instantiate().unwrap();
            rtl.reset().unwrap();
            let sent = input(3);
            let (out, probe) = cycle(&mut rtl, &sent).unwrap();
            for lane in 0..32 {
                let expected = if lane < LANES { sent.req_b[lane] } else { 0 };
                assert_eq!(out.rsp_rd[lane], expected, "lane {lane}");
            }
            assert_eq!(out.rsp_pred, 0b11, "bits of lanes that do not exist");
            assert_eq!(out.cl_rsp_rd, sent.cl_b);
            assert_eq!((out.rsp_valid, out.req_ready, out.rsp_tag), (1, 1, 0));
            assert_eq!((probe.queue_count, probe.wr_en), (0, 0));
            assert_eq!((probe.wr_data, probe.win_lane), ([0; 64], [0; 64]));
            assert_eq!(cycle(&mut rtl, &sent).unwrap().1.queue_count, 1, "registers move once a clock");
            assert_eq!(rtl.cycles(), 3);
            assert_eq!(rtl.read_word(0, 3).unwrap(), sent.req_ra[0]);
        }
    }
}

#[test]
fn a_bank_that_is_not_inlined_is_found_too() {
    let bench = Bench::new("not inlined", "");
    let path = bench.dir.path().join("atoms_bank.sv");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\nendmodule", "  /*verilator no_inline_module*/\nendmodule"))
        .unwrap();
    for verilator in dummy::verilators(&bench.env) {
        let tools = Toolchain { verilator, compiler: bench.tools().compiler };
        let library = Cache::new(&bench.env).library(&bench.spec(), &tools, &mut |_| {}).unwrap();
        let mut rtl = library.instantiate().unwrap();
        cycle(&mut rtl, &In { req_tag: 2, ..input(5) }).unwrap();
        assert_eq!(rtl.read_word(2, 5).unwrap(), input(5).req_ra[0]);
    }
}

#[test]
fn bits_above_a_port_do_not_exist() {
    let mut rtl = Bench::new("drive", "").library().instantiate().unwrap();
    let (out, _) = cycle(&mut rtl, &In { rst_n: 0xff, req_tag: 0xff, ..input(0) }).unwrap();
    assert_eq!(out.rsp_tag, 0x3f);
}

#[test]
fn operands_count_only_while_the_request_is_valid() {
    let mut rtl = Bench::new("drive", "").library().instantiate().unwrap();
    let (first, _) = cycle(&mut rtl, &input(1)).unwrap();
    let (second, _) = cycle(&mut rtl, &In { req_valid: 0, req_b: [0; 32], req_mask: 1, ..input(1) }).unwrap();
    assert_eq!(second.rsp_rd, first.rsp_rd);
    assert_eq!(second.rsp_pred, 1, "narrow ports always count");
}

#[test]
fn memory_is_read_and_written_in_linear_order() {
    let mut rtl = Bench::new("drive", "").library().instantiate().unwrap();
    let words: Vec<u32> = (0..(BANKS * ROWS) as u32).map(|word| word * 3 + 1).collect();
    rtl.write_memory(&words).unwrap();
    assert_eq!(rtl.read_word(1, 2).unwrap(), words[2 * BANKS + 1]);
    rtl.write_word(1, 2, 0xdead_beef).unwrap();
    let read = rtl.read_memory();
    assert_eq!(read[2 * BANKS + 1], 0xdead_beef);
    assert_eq!(read[..9], words[..9]);
    cycle(&mut rtl, &In { rst_n: 1, ..In::default() }).unwrap();
    let (_, next) = cycle(&mut rtl, &In { rst_n: 1, ..In::default() }).unwrap();
    assert_eq!(next.wr_data[..BANKS], words[..BANKS], "seen by the design after the next clock edge");
    rtl.clear_memory();
    assert_eq!(rtl.read_memory(), vec![0; words.len()]);

    assert_eq!(
        rtl.write_word(BANKS, 0, 0),
        Err(RtlError::NoWord { bank: BANKS, row: 0, banks: BANKS, rows: ROWS })
    );
    assert!(matches!(rtl.read_word(0, ROWS), Err(RtlError::NoWord { .. })));
    assert_eq!(rtl.write_memory(&[0]), Err(RtlError::MemoryLength { expected: BANKS * ROWS, found: 1 }));
}

#[test]
fn a_snapshot_replays_the_same_cycles() {
    let library = Bench::new("drive", "").library();
    let mut rtl = library.instantiate().unwrap();
    rtl.reset().unwrap();
    for imm in 0..5 {
        cycle(&mut rtl, &input(imm)).unwrap();
    }
    let snapshot = rtl.save().unwrap();
    let run = |rtl: &mut atoms_verilated::Rtl| {
        let seen: Vec<_> = (5..20).map(|imm| cycle(rtl, &input(imm)).unwrap()).collect();
        (seen, rtl.read_memory(), rtl.cycles())
    };
    let first = run(&mut rtl);
    rtl.restore(&snapshot).unwrap();
    assert_eq!(rtl.cycles(), 6);
    assert_eq!(run(&mut rtl), first, "same model");
    let mut other = library.instantiate().unwrap();
    other.restore(&snapshot).unwrap();
    assert_eq!(run(&mut other), first, "another model");
}

#[test]
fn a_snapshot_of_another_design_is_refused() {
    let mut rtl = Bench::new("drive", "").library().instantiate().unwrap();
    let mut other = Bench::new("another", "").library().instantiate().unwrap();
    let snapshot = other.save().unwrap();
    assert_eq!(rtl.restore(&snapshot), Err(RtlError::Snapshot));
}

#[test]
fn whatever_stops_the_design_is_an_error_that_says_where() {
    let bench = Bench::new("drive", "");
    #[rustfmt::skip]
    let cases = [
        // code             message ends in
        (dummy::ERROR,    "Assertion failed in TOP.atoms_unit.NoOp31: operation 31"),
        (dummy::PROPERTY, "Assertion failed in TOP.atoms_unit.NoOp27: operation 27"),
        (dummy::FATAL,    "Assertion failed in TOP.atoms_unit: fatal with imm 9"),
        (dummy::STOP,     "$stop"),
        (dummy::FINISH,   "$finish"),
        (dummy::LOUD,     "Assertion failed in TOP.atoms_unit: \\u{1b}[31mred\\u{7}"),
    ];
    for verilator in dummy::verilators(&bench.env) {
        let tools = Toolchain { verilator, compiler: bench.tools().compiler };
        let library = Cache::new(&bench.env).library(&bench.spec(), &tools, &mut |_| {}).unwrap();
        for (code, message) in cases {
            let mut rtl = library.instantiate().unwrap();
            rtl.reset().unwrap();
            cycle(&mut rtl, &input(1)).unwrap();
            let snapshot = rtl.save().unwrap();
            let bad = In { req_op: code, ..input(9) };
            let found = stop(cycle(&mut rtl, &bad));
            assert_eq!((found.cycle, found.file.as_str()), (2, "rtl/atoms_unit.sv"), "{code}");
            assert!(found.line > 0);
            assert_eq!(found.message, message, "{}", tools.verilator.identity);
            assert_eq!(stop(cycle(&mut rtl, &input(1))), found, "stays stopped");
            assert!(rtl.save().is_err());
            rtl.restore(&snapshot).unwrap();
            assert_eq!(cycle(&mut rtl, &input(1)).unwrap().1.queue_count, 1, "runs again");
            assert_eq!(stop(cycle(&mut rtl, &bad)).cycle, 3, "stops again");
        }
    }
}

#[test]
fn a_design_that_does_not_settle_fails_alone() {
    let library = Bench::new("drive", "").library();
    let (mut lost, mut other) = (library.instantiate().unwrap(), library.instantiate().unwrap());
    for rtl in [&mut lost, &mut other] {
        rtl.reset().unwrap();
        cycle(rtl, &input(0)).unwrap();
    }
    let snapshot = lost.save().unwrap();
    let failure = cycle(&mut lost, &In { req_op: dummy::UNSETTLED, ..input(0) }).unwrap_err();
    assert!(matches!(&failure, RtlError::Failed(why) if why.contains("did not converge")), "{failure}");
    assert_eq!(lost.restore(&snapshot), Err(failure), "there is no way back");
    assert_eq!(cycle(&mut other, &input(0)).unwrap().1.queue_count, 1);
}

#[test]
fn what_the_design_prints_is_kept() {
    let mut rtl = Bench::new("drive", "").library().instantiate().unwrap();
    cycle(&mut rtl, &In { req_op: dummy::PRINT, ..input(5) }).unwrap();
    assert_eq!(rtl.take_log(), "imm is 5\n");
    assert_eq!(rtl.take_log(), "");
    for _ in 0..20_000 {
        cycle(&mut rtl, &In { req_op: dummy::PRINT, ..input(5) }).unwrap();
    }
    assert!(rtl.take_log().len() <= 1 << 16);
}

#[test]
fn models_of_several_designs_live_on_one_thread_and_die_in_any_order() {
    let (first, second) = (Bench::new("drive", "").library(), Bench::new("another", "").library());
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let mut models: Vec<_> = [&first, &second, &first, &second]
            .map(|library| Some(library.instantiate().unwrap()))
            .into_iter()
            .collect();
        for steps in 1..4 {
            for model in models.iter_mut().flatten() {
                for _ in 0..steps {
                    cycle(model, &input(1)).unwrap();
                }
            }
        }
        for gone in order {
            models[gone] = None;
            for model in models.iter_mut().flatten() {
                let before = cycle(model, &input(1)).unwrap().1.queue_count;
                assert_eq!(cycle(model, &input(1)).unwrap().1.queue_count, before + 1);
            }
        }
        // Run one more model on a thread whose last context was destroyed.
        cycle(&mut first.instantiate().unwrap(), &input(1)).unwrap();
    }
}

#[test]
fn a_model_moves_between_threads() {
    let library = Bench::new("drive", "").library();
    let mut rtl = library.instantiate().unwrap();
    for _ in 0..4 {
        rtl = std::thread::spawn(move || {
            for _ in 0..100 {
                cycle(&mut rtl, &input(1)).unwrap();
            }
            rtl
        })
        .join()
        .unwrap();
    }
    assert_eq!(rtl.cycles(), 400);
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let library = library.clone();
            std::thread::spawn(move || {
                let mut rtl = library.instantiate().unwrap();
                rtl.reset().unwrap();
                for at in 0..100 {
                    let bad = at == 50 && thread == 2;
                    let sent = In { req_op: if bad { dummy::ERROR } else { 0 }, ..input(1) };
                    if cycle(&mut rtl, &sent).is_err() {
                        return at;
                    }
                }
                100
            })
        })
        .collect();
    let ends: Vec<u32> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(ends, [100, 100, 50, 100], "a stop concerns its own model");
    drop(library);
    cycle(&mut rtl, &input(1)).unwrap();
}

#[test]
fn only_the_wave_variant_writes_waves() {
    let bench = Bench::new("drive", "");
    let path = bench.dir.path().join("trace.vcd");
    assert_eq!(bench.library().instantiate().unwrap().open_trace(&path), Err(RtlError::NoWaves));

    let nowhere = bench.dir.path().join("missing/trace.vcd");
    for verilator in dummy::verilators(&bench.env) {
        let tools = Toolchain { verilator, compiler: bench.tools().compiler };
        let spec = bench.spec().variant(Variant::Wave);
        let library = Cache::new(&bench.env).library(&spec, &tools, &mut |_| {}).unwrap();
        let mut rtl = library.instantiate().unwrap();
        assert_eq!(rtl.open_trace(&nowhere), Err(RtlError::Trace(nowhere.clone())));
        rtl.reset().unwrap();
        for round in 0..2 {
            rtl.open_trace(&path).unwrap();
            for imm in 0..3 {
                cycle(&mut rtl, &input(imm)).unwrap();
            }
            rtl.close_trace().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains("count_q") && text.contains("mem_q"), "{text}");
            let first = 2 * (1 + 3 * round);
            for time in first..first + 6 {
                assert!(text.contains(&format!("\n#{time}\n")), "time {time}");
            }
        }
    }
}

#[test]
fn every_bit_that_is_driven_is_compared() {
    let library = Bench::new("drive", "").library();
    let mut rtl = library.instantiate().unwrap();
    rtl.reset().unwrap();
    let i = input(3);
    let (out, probe) = cycle(&mut library.instantiate().unwrap(), &i).unwrap();
    let at = rtl.cycles();
    let mut expect = |out: &Out, probe: &Probe| rtl.cycle_expecting(&i, out, probe).unwrap();
    let mut bits = 0;
    for (struct_at, fields) in [Out::FIELDS, Probe::FIELDS].into_iter().enumerate() {
        for (at, field) in fields.iter().enumerate() {
            let elements = match field.shape {
                Shape::PerLane(_) => MAX_LANES,
                Shape::PerBank(_) => MAX_BANKS,
                Shape::Scalar(_) | Shape::LaneMask | Shape::BankMask => 1,
            };
            for (element, bit) in
                (0..elements).flat_map(|e| (0..field.element_bytes * 8).map(move |b| (e, b)))
            {
                let (mut other, mut shown) = (out, probe);
                match struct_at {
                    0 => other.set_element(at, element, out.element(at, element) ^ 1 << bit),
                    _ => shown.set_element(at, element, probe.element(at, element) ^ 1 << bit),
                }
                let found = expect(&other, &shown);
                assert_eq!(found.as_deref(), Some(&(out, probe)), "{}[{element}] bit {bit}", field.name);
                bits += 1;
            }
        }
    }
    assert_eq!(expect(&out, &probe), None);
    assert!(bits > 8000, "{bits}");
    assert_eq!(rtl.cycles(), at + 1, "the clock rises where all is as expected, and only there");
}

#[test]
fn the_wave_variant_shows_what_is_inside() {
    let bench = Bench::new("drive", "");
    let mut fast = bench.library().instantiate().unwrap();
    assert_eq!(fast.signals().map(<[_]>::len), Err(RtlError::NoWaves));
    for verilator in dummy::verilators(&bench.env) {
        let tools = Toolchain { verilator, compiler: bench.tools().compiler };
        let spec = bench.spec().variant(Variant::Wave);
        let library = Cache::new(&bench.env).library(&spec, &tools, &mut |_| {}).unwrap();
        let mut rtl = library.instantiate().unwrap();
        let signals = rtl.signals().unwrap().to_vec();
        let place = |path: &str| {
            let at = signals.iter().position(|signal| signal.path() == path);
            let at = at.unwrap_or_else(|| panic!("no {path} in {signals:?}"));
            signals[at].same_as.unwrap_or(at)
        };
        let count = place("atoms_unit.count_q");
        let word = place("atoms_unit.g_bank[0].u_bank.mem_q[3]");
        let imm = place("atoms_unit.req_imm_i");
        let [swapped, wide] = ["atoms_unit.swapped", "atoms_unit.cl_b_i"].map(place);
        let mut values = vec![None; signals.len()];
        let mut look = |rtl: &mut atoms_verilated::Rtl, number: u32, sent: &In| {
            let (mut out, mut probe) = Default::default();
            rtl.cycle_inside(sent, &mut out, &mut probe).unwrap();
            rtl.changes().iter().for_each(|change| values[change.signal] = Some(change.value));
            let [low, high] = [1, 0].map(|lane| u128::from(sent.req_ra[lane]));
            let expected = [probe.queue_count.into(), sent.req_imm.into(), high << 32 | low, sent.cl_b];
            assert_eq!([count, imm, swapped, wide].map(|at| values[at]), expected.map(Some), "{number}");
            values[word]
        };
        rtl.reset().unwrap();
        let written = Some(u128::from(input(3).req_ra[0]));
        let words = [1, 3, 4].map(|imm| look(&mut rtl, imm, &input(imm)));
        assert_eq!(words, [Some(0), Some(0), written], "registers are those before the edge");
        let snapshot = rtl.save().unwrap();
        // The next read also reports changes of cycles without a read.
        cycle(&mut rtl, &input(3)).unwrap();
        rtl.write_word(0, 3, 5).unwrap();
        cycle(&mut rtl, &input(6)).unwrap();
        look(&mut rtl, 7, &input(7));
        rtl.restore(&snapshot).unwrap();
        assert_eq!(look(&mut rtl, 8, &input(8)), written);
        assert_eq!(
            rtl.changes().len(),
            rtl.signals().unwrap().iter().filter(|s| s.same_as.is_none()).count()
        );
        let bad = In { req_op: dummy::ERROR, ..input(9) };
        let (mut out, mut probe) = Default::default();
        assert!(rtl.cycle_inside(&bad, &mut out, &mut probe).is_err());
        assert!(
            rtl.changes().iter().any(|change| change.signal == imm && change.value == 9),
            "also in the cycle that stops it"
        );
    }
}

#[test]
fn models_come_and_go_without_leaving_memory_behind() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap();
        status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let library = Bench::new("drive", "").library();
    let rounds = |count| {
        for _ in 0..count {
            let mut rtl = library.instantiate().unwrap();
            cycle(&mut rtl, &input(1)).unwrap();
            let snapshot = rtl.save().unwrap();
            rtl.restore(&snapshot).unwrap();
        }
    };
    rounds(200);
    let before = resident();
    rounds(2000);
    // Other tests run in parallel. Leaking one snapshot per round would take 500 MB.
    assert!(resident() < before + 100_000_000);
}

#[test]
fn the_cov_variants_count_and_otherwise_behave_like_fast() {
    let extra = "
  always_ff @(posedge clk_i) begin
    if (req_imm_i == 24'd7) cov_q <= 1'b1;
    if (rst_ni) Seven: cover (req_imm_i == 24'd7);
  end
  logic cov_q;
  for (genvar g = 0; g < 2; g++) begin : g_turn
    always_ff @(posedge clk_i) Turn: cover (req_imm_i == 24'(g));
  end
";
    let bench = Bench::new("covered", extra);
    for verilator in dummy::verilators(&bench.env) {
        let tools = Toolchain { verilator, compiler: bench.tools().compiler };
        let build = |variant| {
            let library = Cache::new(&bench.env).library(&bench.spec().variant(variant), &tools, &mut |_| {});
            library.unwrap_or_else(|error| panic!("{}: {error}", tools.verilator.identity))
        };
        let mut fast = build(Variant::Fast).instantiate().unwrap();
        assert_eq!(fast.coverage(), Err(RtlError::NoCoverage));
        assert_eq!(fast.zero_coverage(), Err(RtlError::NoCoverage));
        let snapshot = fast.save().unwrap();
        let run = |rtl: &mut atoms_verilated::Rtl| {
            rtl.reset().unwrap();
            let seen: Vec<_> = (0..9).map(|imm| cycle(rtl, &input(imm)).unwrap()).collect();
            (seen, rtl.read_word(0, 3).unwrap())
        };
        let expected = run(&mut fast);
        for variant in [Variant::Cov, Variant::CovToggle] {
            let library = build(variant);
            assert_eq!(library.variant(), variant);
            let mut rtl = library.instantiate().unwrap();
            let count = |rtl: &atoms_verilated::Rtl, name: &str, hierarchy: &str| {
                let coverage = rtl.coverage().unwrap();
                let is = |point: &Point| point.name == name && point.hierarchy.ends_with(hierarchy);
                let found: Vec<u64> =
                    coverage.iter().filter(|(point, _)| is(point)).map(|(_, count)| count).collect();
                assert_eq!(found.len(), 1, "{name} in {hierarchy}: {:?}", coverage.points);
                found[0]
            };
            assert_eq!(run(&mut rtl), expected, "{variant}");
            assert_eq!(count(&rtl, "Seven", "atoms_unit"), 1);
            assert_eq!(count(&rtl, "Turn", "g_turn[1]"), 1, "turns of a generate loop stay apart");
            assert_eq!(count(&rtl, "Turn", "g_turn[0]"), 2, "and cycles in reset count");
            cycle(&mut rtl, &input(7)).unwrap();
            assert_eq!(count(&rtl, "Seven", "atoms_unit"), 2);
            let coverage = rtl.coverage().unwrap();
            let line = coverage
                .iter()
                .find(|(point, _)| point.kind == PointKind::Line && point.name == "if")
                .unwrap();
            assert_eq!((line.0.file.as_str(), line.0.module.as_str()), ("atoms_unit.sv", "atoms_unit"));
            assert!(!line.0.lines.is_empty());
            let toggles = coverage.points.iter().any(|point| point.kind == PointKind::Toggle);
            assert_eq!(toggles, variant == Variant::CovToggle);

            rtl.renew().unwrap();
            assert_eq!(rtl.cycles(), 0);
            assert_eq!(rtl.coverage().unwrap(), coverage, "a new model goes on counting");
            rtl.zero_coverage().unwrap();
            assert!(rtl.coverage().unwrap().counts.iter().all(|count| *count == 0));
            assert_eq!(run(&mut rtl), expected, "{variant}, renewed");
            assert_eq!(count(&rtl, "Seven", "atoms_unit"), 1);
            assert_eq!(library.instantiate().unwrap().coverage().unwrap().counts.iter().sum::<u64>(), 0);

            assert_eq!(rtl.save().map(|_| ()), Err(RtlError::NoSnapshots));
            assert_eq!(rtl.restore(&snapshot), Err(RtlError::NoSnapshots));
            let bad = In { req_op: dummy::ERROR, ..input(9) };
            stop(cycle(&mut rtl, &bad));
            assert_eq!(count(&rtl, "Seven", "atoms_unit"), 1, "a model that has stopped can be read");
            rtl.renew().unwrap();
            cycle(&mut rtl, &input(1)).unwrap();
        }
    }
}
