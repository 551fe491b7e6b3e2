//! Text of the viewer layout. The expected text was checked once by eye in GTKWave.

use atoms_wave_write::{Definition, Layout, SignalKind, WaveError};

#[test]
fn groups_signals_and_marker_are_where_gtkwave_looks_for_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut definition = Definition::new("top");
    let valid = definition.signal("valid", SignalKind::Bits(1));
    let (word, op, done) = definition.scope("unit", |d| {
        (
            d.signal("word", SignalKind::Bits(32)),
            d.signal("op", SignalKind::Text),
            d.signal("done", SignalKind::Event),
        )
    });
    let trace = dir.path().join("run.vcd");
    let path = Layout::new()
        .group("request", [valid, op])
        .folded("unit", [word, done])
        .marker(412)
        .write(&definition, &trace)
        .unwrap();
    assert_eq!(path, dir.path().join("run.gtkw"));
    let text = std::fs::read_to_string(path).unwrap();
    let (head, signals) = text.split_at(text.find("@28\n").unwrap());
    assert!(head.starts_with(&format!("[dumpfile] \"{}\"\n", trace.display())), "{head}");
    assert!(head.contains("\n[timestart] 4080\n") && head.contains(" 4120 -1"), "{head}");
    assert_eq!(
        signals,
        "@28\ntop.clk\n\
         @800200\n-request\n@28\ntop.valid\n@820\ntop.unit.op\n@1000200\n-request\n\
         @c00200\n-unit\n@22\ntop.unit.word[31:0]\n@28\ntop.unit.done\n@1400200\n-unit\n"
    );
}

#[test]
fn differences_are_red_and_elements_keep_the_name_of_their_array() {
    let dir = tempfile::tempdir().unwrap();
    let mut definition = Definition::new("top");
    let side = |d: &mut Definition, name: &str| {
        d.scope(name, |d| d.scope("data", |d| d.signal("bank00", SignalKind::Bits(32))))
    };
    let (rtl, model) = (side(&mut definition, "rtl"), side(&mut definition, "model"));
    let diff = definition.compare("diff", &[[rtl, model]]);
    let trace = dir.path().join("run.vcd");
    let path = Layout::new()
        .group("one side", [rtl])
        .group("all", [rtl, diff.any, diff.flags[0]])
        .write(&definition, &trace)
        .unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("-one side\n@22\n+{data/bank00[31:0]} top.rtl.data.bank00[31:0]\n"), "{text}");
    assert!(
        text.ends_with(
            "-all\n@22\n+{rtl/data/bank00[31:0]} top.rtl.data.bank00[31:0]\n\
             @28\n[color] 1\n+{diff/any} top.diff.any\n\
             @28\n[color] 1\n+{diff/data/bank00} top.diff.data.bank00\n@1000200\n-all\n"
        ),
        "{text}"
    );
}

/// The signal column has room for the longest name and a word after it.
#[test]
fn values_stand_beside_long_names() {
    let dir = tempfile::tempdir().unwrap();
    for (scope, width) in [("short", 320), ("a_scope_with_a_rather_long_name", 432), (&"x".repeat(100), 640)]
    {
        let mut definition = Definition::new("top");
        let word = definition.scope("side", |d| d.scope(scope, |d| d.signal("w", SignalKind::Bits(8))));
        let path =
            Layout::new().group("all", [word]).write(&definition, &dir.path().join("run.vcd")).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("\n[signals_width] {width}\n")), "{text}");
    }
}

#[test]
fn an_error_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let definition = Definition::new("top");
    let error = Layout::new().write(&definition, &dir.path().join("no/run.vcd")).unwrap_err();
    assert!(matches!(error, WaveError::Layout { .. }));
    let path = dir.path().join("no/run.gtkw");
    assert_eq!(error.to_string(), format!("cannot write viewer layout to `{}`", path.display()));
}
