//! Tests of the HTML page in a browser.

use std::path::{Path, PathBuf};

use atoms_host::browser::Browser;
use atoms_regress::coverage::summary::WaivedPlaces;
use atoms_regress::report::summary::{Summary, TrendPoint};
use atoms_regress::run::timing::Timing;
use atoms_regress::triage::signature::{FailureKind, Signature};
use serde_json::{Value, json};

use super::fixture::{self, Regression};

fn write(regression: &Regression, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages").join(name);
    regression.write(&folder);
    folder.join("report.html")
}

/// Checks that a page has no script error, requests no other file, and has no broken links.
fn sound(browser: &mut Browser, page: &Path) {
    let links = browser.evaluate("[...document.links].map(link => link.getAttribute('href'))");
    let links = links.as_array().expect("a list of links").clone();
    assert!(links.len() > 5, "{links:?}");
    for link in links {
        let link = link.as_str().expect("a link has an address");
        if let Some(name) = link.strip_prefix('#') {
            let there = browser.evaluate(&format!("document.getElementById({}) !== null", json!(name)));
            assert_eq!(there, true, "{link} leads nowhere");
        } else {
            let file = page.parent().expect("a file is in a folder").join(link);
            assert!(link.starts_with("./") && file.is_file(), "{link} leads nowhere");
        }
    }
    let doubled = browser.evaluate(
        "(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
         return ids.filter((id, at) => ids.indexOf(id) !== at); })()",
    );
    assert_eq!(doubled, json!([]), "two elements of one name");
    assert_eq!(browser.errors, Vec::<String>::new(), "errors of scripts or on the console");
    let page = format!("file://{}", page.display());
    let others: Vec<_> =
        browser.requests.iter().filter(|url| **url != page && !url.starts_with("data:")).collect();
    assert!(others.is_empty(), "the page is not self-contained: {others:?}");
}

/// Returns left, top, right and bottom of an element, in CSS pixels.
fn bounds(browser: &mut Browser, selector: &str) -> [f64; 4] {
    let bounds = browser.evaluate(&format!(
        "(() => {{ const r = document.querySelector({}).getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; }})()",
        json!(selector)
    ));
    [0, 1, 2, 3].map(|at| bounds[at].as_f64().expect("a number"))
}

#[test]
#[ignore = "nightly: starts a browser"]
fn the_verdict_and_the_failing_bucket_are_seen_without_scrolling() {
    let page = write(&fixture::failing(), "failing");
    let Some(mut browser) = Browser::start("verdict", 1280, 800) else { return };
    browser.open(&page);
    sound(&mut browser, &page);
    for selector in
        [".verdict", "#bucket-1 h3", "#bucket-1 .copy", "#bucket-1 a[href$='report.html']", "#bucket-1 pre"]
    {
        let [left, top, right, bottom] = bounds(&mut browser, selector);
        assert!(
            left >= 0.0 && top >= 0.0 && right <= 1280.0 && bottom <= 800.0,
            "{selector}: {left} {top} {right} {bottom}"
        );
        assert!(right > left && bottom > top, "{selector} has no area");
    }
    let shown = browser.evaluate("document.querySelector('.verdict').textContent");
    assert_eq!(shown, "✗ FAILED");
    let repeat = browser.evaluate("document.querySelector('#bucket-1 .copy').textContent");
    assert_eq!(repeat, fixture::failing().summary.buckets[0].repeat);

    browser.click("#bucket-1 .copy + button");
    let said = browser.evaluate(
        "new Promise(done => setTimeout(() => done(document.querySelector('#bucket-1 .copy + button').textContent), 300))",
    );
    assert_eq!(said, "copied");
}

#[test]
#[ignore = "nightly: starts a browser"]
fn a_page_of_a_passing_regression_is_sound() {
    let page = write(&fixture::passing(), "passing");
    let Some(mut browser) = Browser::start("passing", 1280, 800) else { return };
    browser.open(&page);
    sound(&mut browser, &page);
    assert_eq!(browser.evaluate("document.querySelector('.verdict').textContent"), "✓ PASSED");
    assert_eq!(browser.evaluate("document.querySelectorAll('.bucket').length"), 0);
}

#[test]
#[ignore = "nightly: starts a browser"]
fn a_group_opens_into_its_cross_and_the_cross_into_bins() {
    let regression = fixture::failing();
    let page = write(&regression, "drill");
    let Some(mut browser) = Browser::start("drill", 1280, 800) else { return };
    browser.open(&page);
    let name = "mbarrier_step";
    let group =
        regression.summary.coverage.groups.iter().find(|group| group.name == name).expect("it is there");
    let id = browser.evaluate(&format!(
        "[...document.querySelectorAll('details.group')].find(d => d.querySelector('code').textContent === '{name}').id"
    ));
    let id = format!("#{}", id.as_str().expect("it has a name"));
    assert_eq!(browser.evaluate(&format!("document.querySelector('{id} .map') === null")), true);

    browser.click(&format!("{id} > summary"));
    let drawn = browser.evaluate(&format!(
        "new Promise(done => setTimeout(() => done(document.querySelectorAll('{id} .map td').length), 100))"
    ));
    assert_eq!(drawn, 4 * 2, "arrival by phase");

    // After the other dimensions are selected, each cell is one bin.
    let missing = (0..group.counts.len()).find(|at| group.counts[*at] == Some(0)).expect("one is missing");
    let values = [missing / 24, missing / 8 % 3, missing / 2 % 4, missing % 2];
    for filter in [0, 1] {
        browser.evaluate(&format!(
            "{{ const s = document.querySelectorAll('{id} .filters select')[{filter} + 2]; s.value = '{}';
             s.dispatchEvent(new Event('change', {{bubbles: true}})); }}",
            values[filter]
        ));
    }
    let cell =
        format!("{id} .map tbody tr:nth-child({}) td:nth-child({}) button", values[2] + 1, values[3] + 2);
    browser.click(&cell);
    let listed = browser.evaluate(&format!(
        "[...document.querySelectorAll('{id} .bins tbody td')].map(td => td.textContent)"
    ));
    let expected = group.bin_name(missing).expect("it is a bin");
    assert_eq!(listed, json!([expected, "0", "✗ missing"]));

    // Arrow keys move over the cross, and Enter selects the cell.
    browser.evaluate(&format!("document.querySelector({}).focus()", json!(cell)));
    let [toward, code] = if values[3] == 0 { ["ArrowRight", "39"] } else { ["ArrowLeft", "37"] };
    browser.press(toward, code.parse().expect("a number"), "");
    browser.press("Enter", 13, "\r");
    let neighbour = group.bin_name(missing ^ 1).expect("it is a bin");
    let listed = browser.evaluate(&format!("document.querySelector('{id} .bins tbody code').textContent"));
    assert_eq!(listed, json!(neighbour));

    // Exchange rows and columns: waiters as rows, arrivals as columns.
    for (select, dimension) in [(0, 0), (1, 2)] {
        browser.evaluate(&format!(
            "{{ const s = document.querySelectorAll('{id} .filters select')[{select}]; s.value = {dimension};
             s.dispatchEvent(new Event('change', {{bubbles: true}})); }}"
        ));
    }
    let turned = browser
        .evaluate(&format!("[...document.querySelectorAll('{id} .map tbody th')].map(th => th.textContent)"));
    assert_eq!(turned, json!(["none", "one", "several"]));
    let sums = browser
        .evaluate(&format!("[...document.querySelectorAll('{id} .map td')].map(td => td.textContent)"));
    let hit = |waiters: usize, arrival: usize| {
        let bins = (0..group.counts.len()).filter(|at| at / 24 == waiters && at / 2 % 4 == arrival);
        bins.filter(|at| group.counts[*at].is_some_and(|hits| hits > 0)).count()
    };
    let expected_sums: Vec<_> = (0..12).map(|at| format!("{}/6", hit(at / 4, at % 4))).collect();
    assert_eq!(sums, json!(expected_sums));

    // The search finds the same bin by name.
    browser.evaluate(&format!(
        "{{ const s = document.getElementById('search'); s.value = {}; s.dispatchEvent(new Event('input')); }}",
        json!(expected)
    ));
    let found = browser.evaluate(
        "new Promise(done => setTimeout(() => done([...document.querySelectorAll('#found code')].map(c => c.textContent)), 400))",
    );
    assert_eq!(found, json!([expected]));
    sound(&mut browser, &page);
}

#[test]
#[ignore = "nightly: starts a browser"]
fn a_file_of_the_rtl_opens_by_key_and_shows_lines_that_never_ran() {
    let regression = fixture::failing();
    let page = write(&regression, "rtl");
    let Some(mut browser) = Browser::start("rtl", 1280, 800) else { return };
    browser.open(&page);
    let file = browser.evaluate(
        "[...document.querySelectorAll('#rtl details.group')].find(d => d.querySelector('code').textContent === 'atoms_waiters.sv').id",
    );
    let file = format!("#{}", file.as_str().expect("it has a name"));
    browser.evaluate(&format!("document.querySelector({}).focus()", json!(format!("{file} > summary"))));
    browser.press("Enter", 13, "\r");
    assert_eq!(browser.evaluate(&format!("document.querySelector({}).open", json!(&file))), true);
    let shown = browser.evaluate(&format!(
        "document.querySelectorAll({}).length",
        json!(format!("{file} .source .missing"))
    ));
    let rtl = regression.summary.rtl_coverage.expect("it is there");
    let of_file = rtl.files.iter().find(|file| file.name == "atoms_waiters.sv").expect("it is there");
    let missing = of_file.lines.iter().filter(|(_, count)| *count == 0).count();
    assert!(missing > 0);
    assert_eq!(shown, missing);
    let text = browser
        .evaluate(&format!("document.querySelector({}).textContent", json!(format!("{file} .source"))));
    let source = regression.sources.iter().find(|(name, _)| name == "atoms_waiters.sv").expect("it is there");
    for line in source.1.lines() {
        assert!(text.as_str().is_some_and(|text| text.contains(line)), "{line}");
    }
    sound(&mut browser, &page);
}

#[test]
#[ignore = "nightly: starts a browser"]
fn a_narrow_window_needs_no_sideways_scrolling() {
    for (name, regression) in [("narrow-failing", fixture::failing()), ("narrow-passing", fixture::passing())]
    {
        let page = write(&regression, name);
        let Some(mut browser) = Browser::start(name, 400, 800) else { return };
        browser.open(&page);
        browser.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })");
        browser.evaluate("new Promise(done => setTimeout(() => done(0), 200))");
        let wide = browser.evaluate(
            "[document.documentElement.scrollWidth, [...document.querySelectorAll('body *')]
             .filter(e => e.getBoundingClientRect().right > 401 && !e.closest('.scroll, pre, nav, svg')).slice(0, 5).map(e => e.outerHTML.slice(0, 120))]",
        );
        assert_eq!(wide, json!([400, []]));
        sound(&mut browser, &page);
    }
}

#[test]
#[ignore = "nightly: starts a browser"]
fn without_scripts_the_main_content_is_there() {
    let page = write(&fixture::failing(), "scriptless");
    let Some(mut browser) = Browser::start("scriptless", 1280, 800) else { return };
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open(&page);
    let text = browser.evaluate("document.body.innerText");
    let text = text.as_str().expect("a text");
    let summary = fixture::failing().summary;
    for bucket in &summary.buckets {
        assert!(text.contains(&bucket.key.to_string()) && text.contains(&bucket.repeat), "{}", bucket.key);
    }
    for name in ["FAILED", "mbarrier_step", "atoms_waiters.sv", "random", "hashed", "below the coverage gate"]
    {
        assert!(text.contains(name), "{name} is not shown: {text}");
    }
    assert_eq!(
        browser.evaluate("document.querySelector('.search').hidden"),
        true,
        "nothing is offered that needs scripts"
    );
}

#[test]
#[ignore = "nightly: starts a browser"]
fn any_text_stays_text() {
    let mut regression = fixture::failing();
    let hostile = "</script><script>window.pwned = 1</script><!-- <img src=x onerror='window.pwned = 1'> \" ' & \u{2028} \u{0}";
    let summary = &mut regression.summary;
    for bucket in &mut summary.buckets {
        for text in [&mut bucket.text, &mut bucket.repeat, &mut bucket.first_name] {
            *text = hostile.into();
        }
        bucket.key = Signature::new(FailureKind::Assertion, hostile);
        bucket.bundle = Some("failures/a \"b\" <c>?#%".into());
        bucket.configs = vec![hostile.into()];
    }
    for group in &mut summary.coverage.groups {
        for text in [&mut group.name, &mut group.reason, &mut group.clause] {
            *text = hostile.into();
        }
        for (name, values) in &mut group.dimensions {
            *name = hostile.into();
            values.iter_mut().for_each(|value| *value = format!("{hostile}{value}"));
        }
        group.waivers.iter_mut().for_each(|waiver| waiver.reason = hostile.into());
    }
    for text in [&mut summary.plan, &mut summary.profile, &mut summary.rtl, &mut summary.version] {
        *text = hostile.into();
    }
    regression.timing.slowest[0].0 = hostile.into();
    regression.timing.executor = hostile.into();
    let page = write(&regression, "hostile");
    let Some(mut browser) = Browser::start("hostile", 1280, 800) else { return };
    browser.open(&page);
    browser.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })");
    let drawn = browser.evaluate(
        "new Promise(done => setTimeout(() => { document.querySelectorAll('.map button').forEach((b, at) => at % 40 || b.click());
         done(document.querySelectorAll('.bins').length); }, 300))",
    );
    assert!(drawn.as_u64().is_some_and(|drawn| drawn > 0), "{drawn}");
    assert_eq!(browser.evaluate("typeof window.pwned"), "undefined");
    assert_eq!(browser.evaluate("document.querySelectorAll('img').length"), 0);
    let shown = browser.evaluate("document.querySelector('#bucket-1 h3 code').textContent");
    // A signature joins the lines of a message.
    let words: Vec<_> = hostile.split_whitespace().collect();
    assert_eq!(shown, Value::from(format!("assertion {}", words.join(" ").replace('\0', "\u{fffd}"))));
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
#[ignore = "nightly: starts a browser"]
fn summaries_that_contradict_themselves_are_shown_all_the_same() {
    let mut odd = fixture::failing();
    let summary = &mut odd.summary;
    summary.complete = false;
    summary.cells.clear();
    summary.coverage.bins = 3;
    for (at, group) in summary.coverage.groups.iter_mut().enumerate() {
        match at {
            0 => group.counts.truncate(7),
            1 => group.dimensions.clear(),
            2 => group.dimensions[0].1.clear(),
            3 => (group.hit, group.waived, group.bins) = (u64::MAX / 4, u64::MAX / 4, 1),
            _ => group.waivers.push(WaivedPlaces { reason: "beyond".into(), places: vec![u32::MAX] }),
        }
    }
    for file in summary.rtl_coverage.iter_mut().flat_map(|rtl| &mut rtl.files) {
        file.lines.push((u32::MAX, 0));
        file.lines.push((0, u64::MAX));
    }
    (odd.timing.wall_s, odd.timing.busy_s, odd.timing.jobs) = (f64::NAN, f64::INFINITY, 0);
    odd.timing.slowest = vec![("a".into(), f64::NEG_INFINITY), ("b".into(), f64::NAN)];
    let empty = Regression {
        summary: Summary::default(),
        timing: Timing::default(),
        history: vec![
            TrendPoint::default(),
            TrendPoint { plan: " ".into(), started: u64::MAX, ..TrendPoint::default() },
        ],
        sources: Vec::new(),
        results: Vec::new(),
    };
    for (name, regression) in [("odd", odd), ("empty", empty)] {
        let page = write(&regression, name);
        let Some(mut browser) = Browser::start(name, 1280, 800) else { return };
        browser.open(&page);
        browser.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })");
        browser.evaluate(
            "new Promise(done => setTimeout(() => { document.querySelectorAll('#coverage button').forEach((b, at) => at % 20 || b.click()); done(0); }, 200))",
        );
        sound(&mut browser, &page);
    }
}

#[test]
#[ignore = "nightly: starts a browser"]
fn ten_thousand_bins_stay_below_a_megabyte() {
    let mut large = fixture::large();
    let page = write(&large, "large");
    let with_sources = std::fs::metadata(&page).expect("it was written").len();
    large.sources.clear();
    let page = write(&large, "large-without-sources");
    let size = std::fs::metadata(&page).expect("it was written").len();
    println!("{} bins: {size} bytes, {with_sources} with the RTL's text", large.summary.coverage.bins);
    assert!(with_sources < 1_000_000, "{size}, {with_sources} with the RTL's text");
    let Some(mut browser) = Browser::start("large", 1280, 800) else { return };
    browser.open(&page);
    sound(&mut browser, &page);
}
