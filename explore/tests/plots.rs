//! Plots: content, errors, and that nothing is drawn outside the page.

use atoms_explore::plot::{Axis, Bar, Chart, HeatMap, Mark, Series, StackedBars};
use proptest::prelude::*;
use roxmltree::{Document, Node};

fn chart() -> Chart {
    let series = |name: &str, slope: f64, open: bool| Series {
        name: name.to_string(),
        joined: true,
        marks: (0..6)
            .map(|at| {
                let x = f64::from(1 << at);
                let title = format!("{name}: {x} contenders");
                Mark { x, y: 900.0 / (1.0 + slope * x), title, link: format!("#point-{at}"), open }
            })
            .collect(),
    };
    Chart {
        title: "CAST.SPIN keeps its rate where a CAS loop loses it".into(),
        subtitle: "f32 accumulation, default, 32 warps, seed 1".into(),
        x: Axis::log2("lanes on one word"),
        y: Axis::linear("additions per 1,000 cycles"),
        series: vec![
            series("CAS loop", 0.9, false),
            series("CAST", 0.5, false),
            series("CAST.SPIN", 0.12, false),
            series("merged with a long name that is wrapped", 0.01, true),
        ],
    }
}

fn stack() -> StackedBars {
    let bar = |name: &str, values: &[f64]| Bar { name: name.into(), values: values.into() };
    StackedBars {
        title: "Where the cycles went".into(),
        subtitle: "histogram of 256 bins, Zipf 1.0".into(),
        parts: ["first passes", "conflict passes", "hazards", "response stalls", "queue empty"]
            .map(String::from)
            .into(),
        bars: vec![
            bar("16 banks", &[200.0, 500.0, 100.0, 10.0, 190.0]),
            bar("32 banks", &[200.0, 250.0, 100.0, 10.0, 440.0]),
            bar("32 banks, hashed", &[200.0, 200.0, 80.0, 0.0, 520.0]),
        ],
    }
}

fn heat_map() -> HeatMap {
    let row = |bank: usize| (0..64).map(|t| ((bank * 7 + t * 3) % 32) as f64 / 32.0).collect();
    HeatMap {
        title: "Banks 0 to 3 do most of the work".into(),
        subtitle: "default, 32 warps".into(),
        x: "cycle".into(),
        columns: (0.0, 65536.0),
        y: "bank".into(),
        value: "share of cycles served".into(),
        rows: (0..32).map(row).collect(),
    }
}

fn corners(node: Node<'_, '_>) -> Vec<(f64, f64)> {
    let number = |name: &str| node.attribute(name).and_then(|text| text.parse::<f64>().ok());
    let pair = |x: &str, y: &str| number(x).zip(number(y));
    match node.tag_name().name() {
        "text" => pair("x", "y").into_iter().collect(),
        "rect" => {
            let at = pair("x", "y").unwrap_or_default();
            let (width, height) = pair("width", "height").expect("a rectangle has a size");
            vec![at, (at.0 + width, at.1 + height)]
        }
        "circle" => pair("cx", "cy").into_iter().collect(),
        "polyline" | "polygon" => {
            let points = node.attribute("points").unwrap_or_default();
            let point = |text: &str| {
                let (x, y) = text.split_once(',').expect("two coordinates");
                (x.parse().expect("a number"), y.parse().expect("a number"))
            };
            points.split_whitespace().map(point).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the texts of a plot. Panics if an element lies outside the page.
fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let root = document.root_element();
    let size = |name: &str| root.attribute(name).and_then(|text| text.parse::<f64>().ok()).expect("a size");
    for node in root.descendants() {
        for (x, y) in corners(node) {
            assert!((0.0..=size("width")).contains(&x) && (0.0..=size("height")).contains(&y), "{node:?}");
        }
    }
    let is_text = |node: &Node<'_, '_>| node.tag_name().name() == "text";
    root.descendants()
        .filter(is_text)
        .map(|node| node.text().unwrap_or_default().trim().to_string())
        .collect()
}

#[test]
fn plots_say_what_they_show() {
    let svgs = [
        ("chart", chart().svg().expect("it is drawn")),
        ("stack", stack().svg().expect("it is drawn")),
        ("heat_map", heat_map().svg().expect("it is drawn")),
    ];
    // Keep the plots for visual inspection.
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("plots");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, svg) in &svgs {
        std::fs::write(folder.join(format!("{name}.svg")), svg).expect("writes");
        assert!(svg.contains("prefers-color-scheme:dark"), "{name} has no dark form");
    }
    let [chart_texts, stack_texts, heat_texts] = svgs.each_ref().map(|(_, svg)| texts(svg));
    for wanted in [
        "CAST.SPIN keeps its rate where a CAS loop loses it",
        "f32 accumulation, default, 32 warps, seed 1",
        "lanes on one word",
        "additions per 1,000 cycles",
        "CAS loop",
        "32",
        "hollow marks: the model",
    ] {
        assert!(chart_texts.iter().any(|text| text == wanted), "no `{wanted}` in {chart_texts:?}");
    }
    for wanted in ["first passes", "32 banks, hashed", "52", "100 %"] {
        assert!(stack_texts.iter().any(|text| text == wanted), "no `{wanted}` in {stack_texts:?}");
    }
    for wanted in ["bank", "cycle", "share of cycles served", "65.54 k", "30"] {
        assert!(heat_texts.iter().any(|text| text == wanted), "no `{wanted}` in {heat_texts:?}");
    }
}

#[test]
fn points_lead_to_where_they_come_from() {
    let svg = chart().svg().expect("it is drawn");
    let document = Document::parse(&svg).expect("it is XML");
    let links = document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "a")));
    let links: Vec<_> = links.filter_map(|node| node.attribute("href")).collect();
    assert_eq!(links.len(), 24);
    assert_eq!(links[..2], ["#point-0", "#point-1"]);
    assert!(svg.contains("<title>CAST: 4 contenders</title>"));
    let odd = Mark { x: 1.0, y: 2.0, title: "a < b & \"c\"".into(), ..Mark::default() };
    let series = vec![Series { marks: vec![odd], ..Series::default() }];
    let svg = Chart { series, ..chart() }.svg().expect("it is drawn");
    assert!(Document::parse(&svg).is_ok(), "{svg}");
}

#[test]
fn what_cannot_be_drawn_says_why() {
    let error = |chart: Chart| chart.svg().expect_err("it cannot be drawn").to_string();
    let title = "cannot draw `CAST.SPIN keeps its rate where a CAS loop loses it`: ";
    assert_eq!(error(Chart { series: Vec::new(), ..chart() }), format!("{title}it has no values"));
    let zero = Mark { x: 0.0, y: 1.0, ..Mark::default() };
    let series = vec![Series { marks: vec![zero], ..Series::default() }];
    assert_eq!(
        error(Chart { series, ..chart() }),
        format!("{title}the axis `lanes on one word` cannot show 0")
    );
    let bars = vec![Bar { name: "none".into(), values: vec![0.0, 0.0] }];
    assert!(StackedBars { bars, ..stack() }.svg().is_err());
    assert!(HeatMap { rows: vec![vec![1.0], vec![]], ..heat_map() }.svg().is_err());
    assert!(HeatMap { rows: vec![vec![f64::NAN]], ..heat_map() }.svg().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_outside(values in prop::collection::vec((1e-3f64..1e9, 1e-9f64..1e12), 1..40), count in 1usize..9) {
        let marks: Vec<_> = values.iter().map(|(x, y)| Mark { x: *x, y: *y, ..Mark::default() }).collect();
        let series = |at| Series { name: format!("series {at}"), marks: marks.clone(), joined: at % 2 == 0 };
        let chart = Chart { series: (0..count).map(series).collect(), ..chart() };
        texts(&chart.svg().expect("it is drawn"));
    }
}
