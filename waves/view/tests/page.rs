//! Tests the page of a wave in a browser, with keys and mouse.

use std::path::{Path, PathBuf};

use atoms_host::browser::{Browser, Held};
use atoms_wave_view::{Excerpt, ExcerptSignal, ValueKind, WavePage, WaveValue};
use atoms_wave_write::{Fold, ViewGroup, WaveView};
use serde_json::{Value, json};

use crate::NAMES;

const PERIOD: u64 = 10;
/// First cycle in which the sides of the fixture differ.
const FAILS: u64 = 42;

fn bits(value: u64, width: u32) -> WaveValue {
    WaveValue::Bits(format!("{value:0width$b}", width = width as usize))
}

fn text(text: &str) -> WaveValue {
    WaveValue::Text(text.to_owned())
}

fn signal(path: &str, kind: ValueKind, changes: impl IntoIterator<Item = (u64, WaveValue)>) -> ExcerptSignal {
    let mut scopes: Vec<_> = path.split('.').map(str::to_owned).collect();
    let name = scopes.pop().expect("a path has a name");
    let changes = changes.into_iter().map(|(cycle, value)| (cycle * PERIOD, value)).collect();
    ExcerptSignal { scopes, name, kind, changes }
}

/// Sixty cycles of a unit whose sides differ in cycles 42 to 44 and in cycle 50.
fn fixture() -> Excerpt {
    let word = |wrong: u64| {
        let values = [(0, 7), (40, 8), (42, 8 + wrong), (45, 12), (50, 12 + wrong), (51, 13)];
        values.map(|(cycle, value)| (cycle, bits(value, 32)))
    };
    let flag = [(0, 0), (42, 1), (45, 0), (50, 1), (51, 0)].map(|(cycle, value)| (cycle, bits(value, 1)));
    let half = |cycle: u64| [(cycle * PERIOD, bits(1, 1)), (cycle * PERIOD + PERIOD / 2, bits(0, 1))];
    let clock = ExcerptSignal {
        changes: (0..60).flat_map(half).collect(),
        ..signal("atoms.clk", ValueKind::Bits(1), [])
    };
    let valid = |path| signal(path, ValueKind::Bits(1), (0..60).map(|cycle| (cycle, bits(cycle / 3 % 2, 1))));
    let tag = [
        (0, "-"),
        (38, "#12_ADD.u32_queued,_lanes_f_@40"),
        (41, "#12_MBAR.EXPECT_TX.u64_pass_1_of_1,_lanes_f_@40"),
        (43, "#12_ADD.u32_answered,_lanes_f_@40,_cta_0_warp_1_pc_16_line_3:_atom.shared"),
        (44, "-"),
    ];
    let issue = [(0, "-"), (41, "#12.1/1_lanes_f"), (42, "-")];
    let lines = [(0, 0), (43, 3)].map(|(cycle, line)| (cycle, bits(line, 32)));
    let texts =
        |texts: &[(u64, &str)]| texts.iter().map(|(at, words)| (*at, text(words))).collect::<Vec<_>>();
    Excerpt {
        window: 0..60 * PERIOD,
        unit: "1 ns".into(),
        period: Some(PERIOD),
        signals: vec![
            clock,
            valid("atoms.in.valid"),
            signal("atoms.rtl.bank.word", ValueKind::Bits(32), word(1)),
            valid("atoms.rtl.ready"),
            signal("atoms.model.bank.word", ValueKind::Bits(32), word(0)),
            valid("atoms.model.ready"),
            signal("atoms.diff.any", ValueKind::Bits(1), flag.clone()),
            signal("atoms.diff.bank.word", ValueKind::Bits(1), flag),
            signal("atoms.diff.ready", ValueKind::Bits(1), [(0, bits(0, 1))]),
            signal("atoms.txn.issue.text", ValueKind::Text, texts(&issue)),
            signal("atoms.txn.issue.request", ValueKind::Bits(32), [(41, bits(12, 32))]),
            signal("atoms.txn.tag.tag05.text", ValueKind::Text, texts(&tag)),
            signal("atoms.txn.tag.tag05.request", ValueKind::Bits(32), [(38, bits(12, 32))]),
            signal("atoms.txn.tag.tag05.line", ValueKind::Bits(32), lines),
        ],
        ..Excerpt::default()
    }
}

fn failure() -> WaveView {
    let group = |title: &str, signals: &[&str], fold| ViewGroup {
        title: title.to_owned(),
        signals: signals.iter().map(|path| format!("atoms.{path}")).collect(),
        fold,
    };
    WaveView {
        groups: vec![
            group("first difference", &["rtl.bank.word", "model.bank.word", "diff.bank.word"], Fold::Open),
            group("its request", &["txn.tag.tag05.text", "txn.issue.text", "in.valid"], Fold::Open),
            group("the rest", &["rtl.ready", "model.ready"], Fold::Closed),
        ],
        marker: Some(FAILS * PERIOD),
    }
}

const KERNEL: &str = ".version 8.0\n.entry sum()\natom.shared.add.u32 %r1, [%r2], 1;\nret;";

fn write(name: &str, excerpt: &Excerpt, view: &WaveView) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).expect("a folder");
    let page = folder.join(format!("{name}.html"));
    let source = Some(("kernels/sum.ptx", KERNEL));
    let html = WavePage { title: "a & b <c>", excerpt, view, names: &NAMES, source }.html();
    std::fs::write(&page, html).expect("it can be written");
    page
}

fn open(name: &str, excerpt: &Excerpt, view: &WaveView) -> Option<Browser> {
    let page = write(name, excerpt, view);
    let mut browser = Browser::start(name, 1400, 900)?;
    browser.open(&page);
    browser.evaluate("started");
    assert_sound(&browser, &page);
    Some(browser)
}

/// Asserts that there are no script errors and no requests except the page itself.
fn assert_sound(browser: &Browser, page: &Path) {
    assert_eq!(browser.errors, Vec::<String>::new(), "errors of scripts or on the console");
    let page = format!("file://{}", page.display());
    let others: Vec<_> = browser
        .requests
        .iter()
        .filter(|url| **url != page && !url.starts_with("data:") && !url.starts_with("blob:"))
        .collect();
    assert!(others.is_empty(), "the page is not self-contained: {others:?}");
}

fn settle(browser: &mut Browser) {
    browser
        .evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
}

fn rows(browser: &mut Browser) -> Vec<[String; 2]> {
    settle(browser);
    let rows = browser.evaluate(
        "[...document.querySelectorAll('.row')].map(row => [...row.children].map(cell => cell.textContent))",
    );
    serde_json::from_value(rows).expect("two texts each")
}

fn first(browser: &mut Browser, count: usize) -> Vec<String> {
    rows(browser)
        .iter()
        .take(count)
        .map(|row| row.iter().filter(|cell| !cell.is_empty()).cloned().collect::<Vec<_>>().join(" "))
        .collect()
}

fn cycle(browser: &mut Browser) -> Value {
    settle(browser);
    browser.evaluate("Number(document.getElementById('cycle').value)")
}

fn press(browser: &mut Browser, keys: &[&str]) {
    for key in keys {
        let (code, text) = match *key {
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "ArrowLeft" => (37, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            "Home" => (36, ""),
            "End" => (35, ""),
            key => (u32::from(key.as_bytes()[0].to_ascii_uppercase()), key),
        };
        browser.press(key, code, text);
    }
}

/// Returns the window position at the start of a cycle, `y` pixels below the top of the waves.
fn place(browser: &mut Browser, cycle: f64, y: f64) -> [f64; 2] {
    settle(browser);
    let place = browser.evaluate(&format!(
        "(() => {{ const r = canvas.getBoundingClientRect(); return [r.x + xOf(timeOf({cycle})), r.y + {y}]; }})()"
    ));
    [0, 1].map(|at| place[at].as_f64().expect("a number"))
}

fn visible(browser: &mut Browser) -> [f64; 2] {
    settle(browser);
    let visible = browser.evaluate("[counted(view.from), counted(timeAt(view.width))]");
    [0, 1].map(|at| visible[at].as_f64().expect("a number"))
}

#[test]
#[ignore = "nightly: starts a browser"]
fn a_page_opens_at_the_failure_with_what_differs_on_top() {
    let Some(mut browser) = open("failure", &fixture(), &failure()) else { return };
    assert_eq!(
        first(&mut browser, 9),
        [
            "▾first difference",
            "rtl.bank.word 00000009",
            "model.bank.word 00000008",
            "diff.bank.word 1",
            "▾its request",
            "txn.tag.tag05 #12 MBAR.EXPECT_TX.u64 pass 1 of 1, lanes f @40",
            "txn.issue",
            "in.valid 0",
            "▸the rest 2",
        ]
    );
    assert_eq!(cycle(&mut browser), 42);
    let [from, to] = visible(&mut browser);
    assert!(from < 36.0 && to > 45.0, "{from} to {to}");
    assert_eq!(browser.evaluate("document.getElementById('title').textContent"), "a & b <c>");
    assert_eq!(
        browser.evaluate("document.getElementById('facts').textContent"),
        "cycles 0 to 59, 14 signals"
    );
    assert_eq!(browser.evaluate("document.getElementById('differing').textContent"), "2 differences");
    let red = |browser: &mut Browser, cycle: f64| {
        let [x, y] = place(browser, cycle, 40.0 + 3.5 * 22.0);
        let pixel = browser.evaluate(&format!(
            "(() => {{ const r = canvas.getBoundingClientRect(); const [red, green] = context.getImageData({x} - r.x, {y} - r.y, 1, 1).data; return red - green; }})()"
        ));
        pixel.as_f64().expect("a number") > 8.0
    };
    let reds = [41.5, 42.5, 44.5, 45.5].map(|cycle| red(&mut browser, cycle));
    assert_eq!(reds, [false, true, true, false]);
}

#[test]
#[ignore = "nightly: starts a browser"]
fn keys_move_cursor_and_view() {
    let Some(mut browser) = open("keys", &fixture(), &failure()) else { return };
    press(&mut browser, &["ArrowRight", "ArrowRight", "ArrowRight"]);
    assert_eq!(cycle(&mut browser), 45);
    assert_eq!(
        first(&mut browser, 4)[1..],
        ["rtl.bank.word 0000000c", "model.bank.word 0000000c", "diff.bank.word 0"]
    );
    // Jump between changes of the selected signal, the RTL's word.
    press(&mut browser, &["n"]);
    assert_eq!(cycle(&mut browser), 50);
    press(&mut browser, &["p", "p"]);
    assert_eq!(cycle(&mut browser), 42);
    press(&mut browser, &["d"]);
    assert_eq!(cycle(&mut browser), 50);
    press(&mut browser, &["d"]);
    assert_eq!(cycle(&mut browser), 50, "there is no further difference");
    press(&mut browser, &["m", "D"]);
    assert_eq!(cycle(&mut browser), 42);
    assert_eq!(
        browser.evaluate("document.getElementById('distance').textContent"),
        "420 ns, −8 cycles from the marker (80 ns)"
    );
    press(&mut browser, &["M", "Home"]);
    assert_eq!(cycle(&mut browser), 0);
    assert_eq!(browser.evaluate("document.getElementById('distance').textContent"), "0 ns");
    press(&mut browser, &["End"]);
    assert_eq!(cycle(&mut browser), 59);
    // Zooming keeps the cursor in place.
    press(&mut browser, &["f"]);
    let [from, to] = visible(&mut browser);
    assert!(from <= 0.0 && to >= 60.0, "{from} to {to}");
    let x = |browser: &mut Browser| place(browser, 59.0, 0.0)[0];
    let before = x(&mut browser);
    press(&mut browser, &["+", "+", "+"]);
    let [from, to] = visible(&mut browser);
    assert!((to - from) < 9.0 && from < 59.0, "{from} to {to}");
    assert!((x(&mut browser) - before).abs() < 1.5);
    press(&mut browser, &["-", "-", ","]);
    let [later, _] = visible(&mut browser);
    press(&mut browser, &[","]);
    let [earlier, _] = visible(&mut browser);
    assert!(earlier < later, "{earlier} {later}");
    press(&mut browser, &["g", "1", "7", "Enter", "c"]);
    assert_eq!(cycle(&mut browser), 17);
}

#[test]
#[ignore = "nightly: starts a browser"]
fn rows_are_selected_folded_searched_and_shown_in_another_radix() {
    let Some(mut browser) = open("rows", &fixture(), &failure()) else { return };
    press(&mut browser, &["x"]);
    assert_eq!(first(&mut browser, 2)[1], "rtl.bank.word 9");
    press(&mut browser, &["x", "x"]);
    assert_eq!(first(&mut browser, 2)[1], "rtl.bank.word 00000000000000000000000000001001");
    press(&mut browser, &["x", "ArrowUp", "Enter"]);
    assert_eq!(first(&mut browser, 2), ["▸first difference 3", "▾its request"]);
    browser.click(".row:nth-child(1)");
    assert_eq!(first(&mut browser, 2), ["▾first difference", "rtl.bank.word 00000009"]);
    // All signals in their scopes. Both sides of a pair share a row.
    browser.click(".row:nth-child(10)");
    let all = first(&mut browser, 30);
    assert_eq!(
        all[8..14],
        ["▸the rest 2", "▾all signals", "▾atoms", "▾txn", "▸issue", "▸tag 1"].map(str::to_owned)[..],
        "{all:?}"
    );
    press(&mut browser, &["/"]);
    for letter in "ban wor".chars() {
        press(&mut browser, &[&letter.to_string()]);
    }
    assert_eq!(first(&mut browser, 5), ["atoms.rtl.bank.word 00000009 ≠ 00000008"]);
    press(&mut browser, &["Enter"]);
    settle(&mut browser);
    assert_eq!(
        browser.evaluate("document.querySelector('.row[aria-selected=true] .name').textContent"),
        "▸word"
    );
    let detail = browser.evaluate("document.getElementById('detail').textContent");
    let detail = detail.as_str().expect("a text");
    assert!(
        detail.contains("cycles 42 to 44")
            && detail.contains("rtl hex 00000009")
            && detail.contains("model hex 00000008"),
        "{detail}"
    );
    press(&mut browser, &["Enter"]);
    let all = first(&mut browser, 40);
    let at = all.iter().position(|row| row.starts_with("▾word")).expect("it is open");
    assert_eq!(
        all[at + 1..at + 4],
        ["word rtl 00000009", "word model 00000008", "word difference 1"].map(str::to_owned)[..]
    );
    press(&mut browser, &["?"]);
    assert_eq!(browser.evaluate("document.getElementById('keys').open"), true);
    press(&mut browser, &["Escape"]);
    assert_eq!(browser.evaluate("document.getElementById('keys').open"), false);
}

#[test]
#[ignore = "nightly: starts a browser"]
fn a_transaction_leads_to_the_line_of_its_kernel() {
    let Some(mut browser) = open("kernel", &fixture(), &failure()) else { return };
    browser.click(".row:nth-child(6)");
    settle(&mut browser);
    assert_eq!(browser.evaluate("document.querySelectorAll('#detail a').length"), 0, "no line is known yet");
    press(&mut browser, &["ArrowRight"]);
    settle(&mut browser);
    assert_eq!(browser.evaluate("document.querySelector('#detail a').textContent"), "line 3");
    browser.click("#detail a");
    assert_eq!(
        browser.evaluate("document.querySelector('#source h2').textContent"),
        "kernels/sum.ptx, line 3"
    );
    assert_eq!(
        browser.evaluate("document.querySelector('#source .here').textContent"),
        "atom.shared.add.u32 %r1, [%r2], 1;"
    );
    press(&mut browser, &["Escape"]);
    assert_eq!(browser.evaluate("document.getElementById('source').open"), false);
    press(&mut browser, &["Enter"]);
    assert_eq!(browser.evaluate("document.getElementById('source').open"), true);
}

#[test]
#[ignore = "nightly: starts a browser"]
fn the_mouse_sets_cursor_and_marker_and_moves_the_view() {
    let Some(mut browser) = open("mouse", &fixture(), &failure()) else { return };
    let row = |number: f64| 40.0 + (number + 0.5) * 22.0;
    let at = place(&mut browser, 44.6, row(2.0));
    browser.drag(&[at], Held::Nothing);
    assert_eq!(cycle(&mut browser), 44);
    assert_eq!(
        browser.evaluate("document.querySelector('.row[aria-selected=true] .name').textContent"),
        "model.bank.word"
    );
    let at = place(&mut browser, 40.2, row(2.0));
    browser.drag(&[at], Held::Shift);
    settle(&mut browser);
    assert_eq!(
        browser.evaluate("document.getElementById('distance').textContent"),
        "440 ns, +4 cycles from the marker (40 ns)"
    );
    // Dragging left by three cycles shows later times.
    let [from, _] = visible(&mut browser);
    let (a, b) = (place(&mut browser, 43.0, row(1.0)), place(&mut browser, 40.0, row(1.0)));
    browser.drag(&[a, b], Held::Nothing);
    let [moved, _] = visible(&mut browser);
    assert!((moved - from - 3.0).abs() < 0.1, "{from} {moved}");
    assert_eq!(cycle(&mut browser), 44, "a drag is no click");
    let (a, b) = (place(&mut browser, 41.0, 25.0), place(&mut browser, 46.0, 25.0));
    browser.drag(&[a, b], Held::Nothing);
    let [from, to] = visible(&mut browser);
    assert!((from - 41.0).abs() < 0.1 && (to - 46.0).abs() < 0.1, "{from} to {to}");
    let at = place(&mut browser, 43.0, row(1.0));
    browser.wheel(at, 240, Held::Ctrl);
    let [from, to] = visible(&mut browser);
    assert!((to - from - 10.0).abs() < 0.2 && (from - 39.0).abs() < 0.2, "{from} to {to}");
    browser.wheel(at, 240, Held::Shift);
    let [later, _] = visible(&mut browser);
    assert!(later > from, "{from} {later}");
    // Click at the left end of the overview strip.
    let start = browser
        .evaluate("(() => { const r = canvas.getBoundingClientRect(); return [r.x + 1, r.y + 4]; })()");
    browser.drag(&[[0, 1].map(|at| start[at].as_f64().expect("a number"))], Held::Nothing);
    let [from, _] = visible(&mut browser);
    assert!(from <= 0.0, "{from}");
    browser.click("#after");
    assert_eq!(cycle(&mut browser), 50);
}

#[test]
#[ignore = "nightly: starts a browser"]
fn without_a_view_all_signals_are_shown_from_the_start() {
    let Some(mut browser) = open("plain", &fixture(), &WaveView::default()) else { return };
    assert_eq!(first(&mut browser, 4), ["▾all signals", "▾atoms", "▾txn", "▸issue"]);
    assert_eq!(cycle(&mut browser), 0);
    let Some(mut browser) = open("empty", &Excerpt::default(), &WaveView::default()) else { return };
    press(&mut browser, &["n", "d", "+", "f", "ArrowDown", "ArrowRight", "End", "Enter"]);
    settle(&mut browser);
    assert_eq!(browser.errors, Vec::<String>::new());
}

#[test]
#[ignore = "nightly: starts a browser"]
fn every_value_arrives_in_every_radix() {
    let wide = "1".repeat(3) + &"01".repeat(70);
    let mut excerpt = Excerpt { window: 1000..2000, unit: "10 ps".into(), ..Excerpt::default() };
    let mut add = |name: &str, kind, values: Vec<WaveValue>| {
        // Irregular times, to test a step of one time unit.
        let changes =
            values.into_iter().enumerate().map(|(at, value)| (1000 + (at as u64 * 7) * 13 / 3, value));
        excerpt
            .signals
            .push(ExcerptSignal { changes: changes.collect(), ..signal(&format!("top.{name}"), kind, []) });
    };
    add("word", ValueKind::Bits(8), [0, 5, 255, 128, 0xb5].map(|value| bits(value, 8)).into());
    add(
        "half",
        ValueKind::Bits(8),
        ["xxxxxxxx", "0000x1z1", "zzzz1010"].map(|digits| WaveValue::Bits(digits.into())).into(),
    );
    add("wide", ValueKind::Bits(143), vec![WaveValue::Bits(wide.clone())]);
    add("words", ValueKind::Text, vec![text("IDLE_STATE"), text("</script><b>\u{fc}")]);
    add("real", ValueKind::Real, [0.5, -3e300].map(WaveValue::Real).into());
    add("event", ValueKind::Event, vec![WaveValue::Event; 3]);
    add("never", ValueKind::Bits(4), vec![]);
    let Some(mut browser) = open("values", &excerpt, &WaveView::default()) else { return };
    let shown = browser.evaluate(
        "wave.signals.map(s => [...s.times].map(time => RADIXES.map(radix => text(s, s.at(time), radix)).join(' ')))",
    );
    let wide_hex = "75555555555555555555555555555555555".to_owned() + "5";
    let wide_dec = browser.evaluate(&format!("BigInt('0b{wide}').toString()"));
    let wide_signed = browser.evaluate(&format!("BigInt.asIntN(143, BigInt('0b{wide}')).toString()"));
    let wide = format!(
        "{wide_hex} {} {} {wide}",
        wide_dec.as_str().expect("a text"),
        wide_signed.as_str().expect("a text")
    );
    assert_eq!(
        shown,
        json!([
            [
                "00 0 0 00000000",
                "05 5 5 00000101",
                "ff 255 -1 11111111",
                "80 128 -128 10000000",
                "b5 181 -75 10110101"
            ],
            ["xx x x xxxxxxxx", "0x x x 0000x1z1", "za x x zzzz1010"],
            [wide],
            [
                "IDLE_STATE IDLE_STATE IDLE_STATE IDLE_STATE",
                "</script><b>ü </script><b>ü </script><b>ü </script><b>ü"
            ],
            ["0.5 0.5 0.5 0.5", format!("{0} {0} {0} {0}", -3e300_f64)],
            ["! ! ! !", "! ! ! !", "! ! ! !"],
            [],
        ])
    );
    let times = browser.evaluate("wave.signals[0].times.length && [...wave.signals[0].times].map(time => wave.start + time * wave.step)");
    assert_eq!(times, json!([1000, 1030, 1060, 1091, 1121]));
}

/// 100,000 cycles of 350 signals. The second half is the other side of the first half.
fn large() -> Excerpt {
    const CYCLES: u64 = 100_000;
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut signals = Vec::new();
    for number in 0..50 {
        let mut changes = Vec::new();
        let mut cycle = 0;
        while cycle < CYCLES {
            let request = cycle / 40;
            let words = format!("#{request}_ADD.u32_pass_{},_slot_3_lanes_{:x}", number % 8, random() % 16);
            changes.push((cycle, text(if random() % 3 == 0 { "-" } else { &words })));
            cycle += 1 + random() % 30;
        }
        signals.push(signal(&format!("top.txn.track{number:02}"), ValueKind::Text, changes));
    }
    let mut sides = [Vec::new(), Vec::new()];
    for number in 0..150 {
        let width = [1, 1, 1, 8, 32][number % 5];
        let mask = (1 << width) - 1;
        let every = 1 + number as u64 % 16;
        let mut changes = Vec::new();
        let mut cycle = 0;
        while cycle < CYCLES {
            changes.push((cycle, bits(random() & mask, width)));
            cycle += 1 + random() % every;
        }
        let mut other = changes.clone();
        if number % 10 == 0 {
            let at = other.len() * 3 / 4;
            let WaveValue::Bits(digits) = &mut other[at].1 else { unreachable!() };
            *digits = digits.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect();
        }
        for (side, (name, changes)) in sides.iter_mut().zip([("rtl", changes), ("model", other)]) {
            side.push(signal(&format!("top.{name}.signal{number:03}"), ValueKind::Bits(width), changes));
        }
    }
    signals.extend(sides.into_iter().flatten());
    Excerpt {
        window: 0..CYCLES * PERIOD,
        unit: "1 ns".into(),
        period: Some(PERIOD),
        signals,
        ..Excerpt::default()
    }
}

#[test]
#[ignore = "nightly: starts a browser"]
fn a_hundred_thousand_cycles_of_350_signals_stay_fluid() {
    let excerpt = large();
    assert_eq!(excerpt.signals.len(), 350);
    let changes: usize = excerpt.signals.iter().map(|signal| signal.changes.len()).sum();
    let all = WaveView {
        groups: vec![ViewGroup {
            title: "all".into(),
            signals: excerpt.signals.iter().map(ExcerptSignal::path).collect(),
            fold: Fold::Open,
        }],
        marker: None,
    };
    let begun = std::time::Instant::now();
    let size = std::fs::metadata(write("large", &excerpt, &all)).expect("it was written").len();
    println!(
        "{changes} changes: {size} bytes, {:.2} a change, packed in {:?}",
        size as f64 / changes as f64,
        begun.elapsed()
    );
    assert!(size < changes as u64 * 3, "{size} bytes");
    let Some(mut browser) = open("large", &excerpt, &all) else { return };
    // Measure scripts and drawing: reading back a pixel waits for both.
    let frames = browser.evaluate(
        "(async () => {
           const next = () => new Promise(requestAnimationFrame);
           const frame = async (change) => {
             await next();
             const begun = performance.now();
             change();
             render();
             context.getImageData(5, 5, 1, 1);
             return performance.now() - begun;
           };
           const times = { zoom: [], pan: [], scroll: [], cursor: [] };
           // Tracks first, then numbers.
           for (const top of [0, 51 * ROW, 200 * ROW]) {
             scroller.scrollTop = top;
             fit();
             for (let at = 0; at < 120; at++) times.zoom.push(await frame(() => zoom(at < 60 ? 0.86 : 1.16, 500)));
           }
           look(0, wave.cycle / 12);
           for (let at = 0; at < 120; at++) times.pan.push(await frame(() => look(view.from + 211 * view.perPixel)));
           for (const perPixel of [wave.cycle / 40, wave.cycle, 50 * wave.cycle]) {
             look(view.from, perPixel);
             for (let at = 0; at < 60; at++) times.scroll.push(await frame(() => (scroller.scrollTop = at * 97)));
           }
           for (let at = 0; at < 60; at++) times.cursor.push(await frame(() => byCycles(1)));
           return times;
         })()",
    );
    for (what, times) in frames.as_object().expect("by what is done") {
        let mut times: Vec<f64> = times.as_array().expect("times").iter().filter_map(Value::as_f64).collect();
        times.sort_by(f64::total_cmp);
        let [median, most] = [times.len() / 2, times.len() * 95 / 100].map(|at| times[at]);
        println!(
            "{what}: {median:.1} ms a frame, 95 % below {most:.1} ms, all below {:.1} ms",
            times[times.len() - 1]
        );
        assert!(median < 16.0, "{what}: {median} ms");
    }
}
