//! Excerpts as text, as pictures and as WaveJSON.

use atoms_wave_view::{
    Charset, Excerpt, ExcerptSignal, PictureError, Shades, TextStyle, ValueKind, WaveValue, show_svg,
    show_text, show_wavedrom,
};
use expect_test::expect;

fn signal(name: &str, kind: ValueKind, changes: &[(u64, &str)]) -> ExcerptSignal {
    let value = |text: &str| match kind {
        ValueKind::Bits(width) => WaveValue::Bits("0".repeat(width as usize - text.len()) + text),
        ValueKind::Text => WaveValue::Text(text.to_owned()),
        ValueKind::Real => WaveValue::Real(text.parse().unwrap()),
        ValueKind::Event => WaveValue::Event,
    };
    let changes = changes.iter().map(|(time, text)| (*time, value(text))).collect();
    ExcerptSignal { scopes: vec!["top".to_owned(), "rtl".to_owned()], name: name.to_owned(), kind, changes }
}

fn excerpt() -> Excerpt {
    let clock: Vec<_> = (800..824).map(|half| (half * 5, if half % 2 == 0 { "1" } else { "0" })).collect();
    Excerpt {
        window: 4000..4120,
        unit: "1 ns".to_owned(),
        period: Some(10),
        signals: vec![
            signal("clk", ValueKind::Bits(1), &clock),
            signal("valid", ValueKind::Bits(1), &[(4000, "0"), (4020, "1"), (4050, "0"), (4090, "x")]),
            signal(
                "op",
                ValueKind::Text,
                &[(4000, "-"), (4020, "ADD.u32"), (4050, "-"), (4110, "CAST.SPIN")],
            ),
            signal(
                "data",
                ValueKind::Bits(16),
                &[(4000, "xxxxxxxxxxxxxxxx"), (4030, "1010"), (4070, "1111000011110000")],
            ),
            signal("bus", ValueKind::Bits(1), &[(4000, "z"), (4042, "1"), (4044, "0")]),
            signal("volts", ValueKind::Real, &[(4010, "1.5")]),
            signal("done", ValueKind::Event, &[(4030, ""), (4115, "")]),
        ],
        ..Excerpt::default()
    }
}

fn text(excerpt: &Excerpt, width: usize, charset: Charset) -> String {
    let mut out = String::new();
    show_text(&mut out, excerpt, TextStyle { width, charset, shades: Shades::Plain }).unwrap();
    let widest = out.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= width, "{widest} columns\n{out}");
    out
}

#[test]
fn a_terminal_shows_every_kind_of_signal() {
    expect![[r#"
        cycle    ╷400 ╷401 ╷402 ╷403 ╷404 ╷405 ╷406 ╷407 ╷408 ╷409 ╷410 ╷411
        clk      ▔▔╲▁▁╱▔╲▁▁╱▔╲▁▁╱▔╲▁▁╱▔╲▁▁╱▔╲▁▁╱▔╲▁▁╱▔╲▁▁╱▔╲▁▁╱▔╲▁▁╱▔╲▁▁╱▔╲▁▁
        valid    ▁▁▁▁▁▁▁▁▁▁╱▔▔▔▔▔▔▔▔▔▔▔▔▔▔╲▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁░░░░░░░░░░░░░░░
        op       ──────────│ADD.u32       ──────────────────────────────│CAS…
        data     │x             │a                  │f0f0
        bus      ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╱╲▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
        volts         │1.5
        done                    ↑                                         ↑
    "#]]
    .assert_eq(&text(&excerpt(), 80, Charset::Unicode));
    expect![[r#"
        cycle    '400  '402  '404  '406  '408
        clk      ~\_/\_/\_/\_/\_/\_/\_/\_/\_/\_
        valid    ______/~~~~~~~~\___________xxx
        op       ------|ADD.u32 ---------------
        data     |x       |a          |f0f0
        bus      ............/\________________
        volts       |1.5
        done              ^

        cycle    '410
        clk      ~\_/\_
        valid    xxxxxx
        op       ---|C>
        data     |f0f0
        bus      ______
        volts    |1.5
        done         ^
    "#]]
    .assert_eq(&text(&excerpt(), 40, Charset::Ascii));
}

#[test]
fn without_a_clock_times_are_shown() {
    let mut excerpt = excerpt();
    (excerpt.period, excerpt.window) = (None, 4000..4050);
    excerpt.signals.truncate(4);
    expect![[r#"
        1 ns     ╷4000     ╷4010     ╷4020     ╷4030     ╷4040
        clk      ▔▔▔▔▔╲▁▁▁▁╱▔▔▔▔╲▁▁▁▁╱▔▔▔▔╲▁▁▁▁╱▔▔▔▔╲▁▁▁▁╱▔▔▔▔╲▁▁▁▁
        valid    ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁╱▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
        op       ────────────────────│ADD.u32
        data     │x                            │a
    "#]]
    .assert_eq(&text(&excerpt, 60, Charset::Unicode));
}

#[test]
fn colours_are_added_to_the_same_characters() {
    let plain = text(&excerpt(), 80, Charset::Unicode);
    let style = TextStyle { width: 80, charset: Charset::Unicode, shades: Shades::Terminal };
    let mut coloured = String::new();
    show_text(&mut coloured, &excerpt(), style).unwrap();
    let codes = coloured.split("\x1b[").skip(1).count();
    assert!(codes > 10);
    let mut without = String::new();
    for (at, part) in coloured.split("\x1b[").enumerate() {
        without += if at == 0 { part } else { part.split_once('m').unwrap().1 };
    }
    assert_eq!(without, plain);
}

#[test]
fn documents_get_wave_json() {
    let mut out = String::new();
    show_wavedrom(&mut out, &excerpt()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    for lane in json["signal"].as_array().unwrap() {
        let wave = lane["wave"].as_str().unwrap();
        assert_eq!(wave.len(), 12, "{lane}");
        let values = lane["data"].as_array().map_or(0, Vec::len);
        assert_eq!(wave.matches('=').count(), values, "{lane}");
    }
    expect![[r#"
        {
          "signal": [
            {"name":"clk","wave":"p..........."},
            {"name":"valid","wave":"0.1..0...x.."},
            {"name":"op","wave":"z.=..z.....=","data":["ADD.u32","CAST.SPIN"]},
            {"name":"data","wave":"x..=...=....","data":["a","f0f0"]},
            {"name":"bus","wave":"z...0......."},
            {"name":"volts","wave":"x=..........","data":["1.5"]},
            {"name":"done","wave":"000100000001"}
          ],
          "head": { "tick": "400 1" }
        }
    "#]]
    .assert_eq(&out);
}

#[test]
fn a_picture_is_well_formed_and_says_what_it_shows() {
    let mut excerpt = excerpt();
    excerpt.signals[2].changes[1].1 = WaveValue::Text("a<b&c".to_owned());
    let mut out = String::new();
    show_svg(&mut out, &excerpt).unwrap();
    for name in
        ["clk", "valid", ">op<", "a&lt;b&amp;c", ">f0f0<", ">400<", ">1.5<", "prefers-color-scheme:dark"]
    {
        assert!(out.contains(name), "{name} is missing in\n{out}");
    }
    // Every element is closed: only these elements have end tags, and all others are self-closing.
    for element in ["svg", "style", "defs", "pattern", "text"] {
        let opened =
            out.matches(&format!("<{element}>")).count() + out.matches(&format!("<{element} ")).count();
        assert_eq!(opened, out.matches(&format!("</{element}>")).count(), "{element}");
    }
    assert!(!out.contains("NaN") && !out.contains("inf"));
    excerpt.window.end = 4000 + 10_010;
    let error = show_svg(&mut String::new(), &excerpt).unwrap_err();
    assert!(matches!(error, PictureError::TooLarge { cycles: 1001, signals: 7, .. }), "{error}");
}
