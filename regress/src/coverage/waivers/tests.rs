//! Tests of waiver parsing and of the coverage gate.

use super::*;
use atoms_coverage::{Dimension, Group};
use atoms_verilated::{Coverage, Point, PointKind};

fn model() -> Model {
    let dimension =
        |name, values: &[&str]| Dimension { name, values: values.iter().map(|v| (*v).to_string()).collect() };
    let mut model = Model::default();
    model.push(Group {
        name: "conflict",
        reason: "",
        clause: "4.1",
        dimensions: vec![dimension("op", &["add", "cas"]), dimension("degree", &["1", "2"])],
        reachable: |_, _| true,
        first: 0,
    });
    model.push(Group {
        name: "forwarding",
        reason: "",
        clause: "4.5",
        dimensions: vec![dimension("stage", &["0", "1"])],
        reachable: |config, _| config.forwarding,
        first: 0,
    });
    model
}

const SOURCE: &str = "module atoms_a;
  if (x) y <= z;
  if (w) begin
    default: ;  // never
  end
  if (v) begin
    default: ;
  end
  `ATOMS_COVER(Full, x)
  `ATOMS_COVER(Empty, y)
endmodule
";

fn sources() -> BTreeMap<String, String> {
    BTreeMap::from([("atoms_a.sv".to_string(), SOURCE.to_string())])
}

fn parse(text: &str) -> Result<Waivers, String> {
    Waivers::parse(text, &sources(), &model())
}

fn problem(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

fn rtl(line_count: u64, full: u64) -> RtlMap {
    let point = |kind, line, name: &str| Point {
        file: "atoms_a.sv".to_string(),
        line,
        column: 1,
        kind,
        module: "atoms_a".to_string(),
        hierarchy: "u_a".to_string(),
        name: name.to_string(),
        lines: vec![line],
    };
    let points = [point(PointKind::Line, 7, "block"), point(PointKind::Cover, 9, "Full")];
    let mut map = RtlMap::default();
    map.add(&Coverage { points: points.into_iter().collect(), counts: vec![line_count, full] });
    map
}

#[test]
fn a_star_stands_for_anything() {
    #[rustfmt::skip]
    let cases = [
        ("a[b, c]", "a[b, c]", true), ("a[b, c]", "a[b, cc]", false), ("a*", "a", true), ("*", "", true),
        ("a[*, c]", "a[b, c]", true), ("a[*, c]", "a[b, d]", false), ("*b*", "abc", true), ("a*a", "a", false),
        ("a*b*c", "axbxc", true), ("a*b*c", "axcxb", false), ("**", "x", true), ("", "x", false), ("é*", "éa", true),
    ];
    for (pattern, name, expected) in cases {
        assert_eq!(matches_glob(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn a_list_without_a_mistake_is_read() {
    let waivers = parse(
        "[[waiver]]\nbin = \"conflict[cas, *]\"\nreason = \"a\"\n\n[[waiver]]\ncover = \"atoms_a.Full[*]\"\n\
         reason = \"b\"\n[[waiver]]\nline = { file = \"atoms_a.sv\", text = \"  if (x) y <= z; // why\" }\nreason = \"c\"",
    )
    .unwrap();
    assert_eq!(waivers.list.iter().map(|waiver| waiver.at).collect::<Vec<_>>(), [1, 5, 8]);
    assert!(waivers.bin("conflict[cas, 2]").is_some() && waivers.bin("conflict[add, 2]").is_none());
    assert!(waivers.item(&RtlItem::Cover("atoms_a.Full[3]".to_string())).is_some());
    assert!(waivers.item(&RtlItem::Cover("atoms_a.Empty".to_string())).is_none());
    let line = |line| RtlItem::Line { file: "atoms_a.sv".to_string(), line };
    assert!(waivers.item(&line(2)).is_some() && waivers.item(&line(3)).is_none());
    assert_eq!(parse("").unwrap(), Waivers::default());
}

#[test]
fn a_mistake_is_named_with_its_place() {
    #[rustfmt::skip]
    let cases = [
        ("bin = \"conflict[cas, 2]\"",                  "waiver on line 1: it has no `reason`"),
        ("bin = \"conflict[cas, 2]\"\nreason = \" \"",  "it has no `reason`"),
        ("reason = \"r\"",                              "expected one of `bin`, `cover` and `line`"),
        ("bin = \"a\"\ncover = \"b\"\nreason = \"r\"",  "expected one of"),
        ("bin = \"conflict[xor, 2]\"\nreason = \"r\"",  "names such as `conflict[add, 1]`"),
        ("bin = \"conflicts[add]\"\nreason = \"r\"",    "the groups are conflict, forwarding"),
        ("cover = \"atoms_a.Ful\"\nreason = \"r\"",     "there are atoms_a.Full, atoms_a.Empty"),
        ("cover = \"atoms_b.Full\"\nreason = \"r\"",    "no module `atoms_b` has cover properties"),
        ("cover = \"Full\"\nreason = \"r\"",            "expected `module.Label`"),
        ("line = { file = \"b.sv\", text = \"x\" }\nreason = \"r\"",              "no file `b.sv` in rtl/; there are `atoms_a.sv`"),
        ("line = { file = \"atoms_a.sv\", text = \"x\" }\nreason = \"r\"",        "no line of rtl/atoms_a.sv is `x`"),
        ("line = { file = \"atoms_a.sv\", text = \" // x\" }\nreason = \"r\"",    "`text` is empty"),
        ("line = { file = \"atoms_a.sv\", text = \"default: ;\" }\nreason = \"r\"", "on lines 4, 7 of rtl/atoms_a.sv: say which with `below`"),
        ("line = { file = \"atoms_a.sv\", text = \"default: ;\", below = \"u\" }\nreason = \"r\"", "no line of rtl/atoms_a.sv is `u`"),
        ("line = { file = \"atoms_a.sv\", text = \"default: ;\", below = \"endmodule\" }\nreason = \"r\"", "no line below line 11"),
        ("bins = \"a\"\nreason = \"r\"",                "unknown field `bins`"),
        ("line = { file = \"a\" }\nreason = \"r\"",     "missing field `text`"),
        ("bin = 3\nreason = \"r\"",                     "invalid type"),
    ];
    for (text, expected) in cases {
        let found = problem(&format!("[[waiver]]\n{text}"));
        assert!(found.contains(expected), "{text}: {found}");
    }
    let one = "[[waiver]]\nbin = \"conflict[cas, 2]\"\nreason = \"r\"\n";
    let twice = problem(&format!("{one}{one}"));
    assert_eq!(twice, "waiver on line 4: bin conflict[cas, 2] is already waived on line 1");
    for cut in 1..one.trim_end().len() {
        assert!(parse(&one[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn a_line_among_equal_ones_is_the_first_below_another() {
    let text = |below| {
        format!(
            "[[waiver]]\nline = {{ file = \"atoms_a.sv\", text = \"default: ;\", below = \"{below}\" }}\nreason = \"r\""
        )
    };
    assert_eq!(parse(&text("if (w) begin")).unwrap().list[0].line, Some(4));
    assert_eq!(parse(&text("if (v) begin")).unwrap().list[0].line, Some(7));
}

#[test]
fn the_gate_wants_every_bin_that_can_be_hit() {
    let (model, config) = (model(), Config::default());
    let held = Config { forwarding: false, ..config };
    let mut map = Map::new(model.bins());
    for bin in 0..3 {
        map.count(bin);
    }
    let none = Waivers::default();
    let gate = none.gate(&model, &map, &[held], None);
    assert_eq!((gate.passed, gate.missing), (false, vec!["conflict[cas, 2]".to_string()]));
    let gate = none.gate(&model, &map, &[held, config], None);
    assert_eq!(gate.missing, ["conflict[cas, 2]", "forwarding[0]", "forwarding[1]"]);

    let waivers = parse(
        "[[waiver]]\nbin = \"conflict[cas, 2]\"\nreason = \"r\"\n[[waiver]]\nbin = \"conflict[add, *]\"\n\
         reason = \"r\"\n[[waiver]]\nbin = \"forwarding[*]\"\nreason = \"r\"",
    )
    .unwrap();
    let gate = waivers.gate(&model, &map, &[held], None);
    assert!(gate.passed, "{gate:?}");
    assert_eq!(gate.stale, ["bin conflict[add, *] (line 4)"], "forwarding is not there to be hit");
    map.count(3);
    let gate = waivers.gate(&model, &map, &[config], None);
    assert_eq!(gate.stale, ["bin conflict[cas, 2] (line 1)", "bin conflict[add, *] (line 4)"]);
    assert!(gate.passed);
}

#[test]
fn the_gate_wants_every_line_and_cover_property() {
    let model = Model::default();
    let gate = |waivers: &Waivers, rtl: &RtlMap| waivers.gate(&model, &Map::new(0), &[], Some(rtl));
    let none = Waivers::default();
    assert_eq!(gate(&none, &rtl(0, 0)).missing, ["rtl/atoms_a.sv:7", "cover atoms_a.Full"]);
    assert!(gate(&none, &rtl(1, 1)).passed);
    let waivers = parse(
        "[[waiver]]\nline = { file = \"atoms_a.sv\", text = \"default: ;\", below = \"if (v) begin\" }\n\
         reason = \"r\"\n[[waiver]]\ncover = \"atoms_a.*\"\nreason = \"r\"",
    )
    .unwrap();
    let (excused, stale) = (gate(&waivers, &rtl(0, 0)), gate(&waivers, &rtl(1, 1)));
    assert_eq!((excused.passed, excused.stale.len()), (true, 0));
    assert_eq!(stale.stale, ["line `default: ;` of rtl/atoms_a.sv (line 1)", "cover atoms_a.* (line 4)"]);
    assert!(waivers.gate(&model, &Map::new(0), &[], None).stale.is_empty(), "nothing was measured");
}

#[test]
fn a_list_that_cannot_be_read_is_named() {
    let missing = Path::new("/nonexistent/coverage-waivers.toml");
    let error = Waivers::read(missing, Path::new("rtl"), &model()).unwrap_err().to_string();
    assert!(error.contains("coverage-waivers.toml"), "{error}");
}
