//! The pages in `docs/studies` state the findings of their sweeps, and their plots are up to date.

use std::path::{Path, PathBuf};

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::rtl::RtlIdentity;
use atoms_explore::cost::{CostError, CostQuestion, UnitCost, estimate};
use atoms_explore::report::SweepReport;
use atoms_explore::sweep::{Certify, PointStore, SweepFile, SweepRun, sweep};
use atoms_stimulus::configs::NamedConfig;

fn studies() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("studies")
}

fn fitted(config: &NamedConfig) -> Result<UnitCost, CostError> {
    let rtl_dir = rtl_dir();
    estimate(&CostQuestion::whole(&rtl_dir, config))
}

fn marks(svg: &str) -> Vec<&str> {
    svg.split("<title>").skip(1).filter_map(|rest| rest.split("</title>").next()).collect()
}

/// Runs only the model, whose cycles equal the RTL's. The command on a study's page certifies it.
#[test]
fn pages_say_what_their_sweeps_find() {
    let rtl_dir = rtl_dir();
    let rtl = RtlIdentity::of(&rtl_dir).expect("the RTL of the checkout");
    let mut seen = 0;
    for entry in std::fs::read_dir(studies()).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        seen += 1;
        let name = path.file_stem().expect("a name").to_str().expect("UTF-8");
        let plan = SweepFile::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("studies").join(name);
        let store = PointStore::new(&out.join("store")).expect("the program can be read");
        let run = SweepRun {
            seed: plan.seed,
            rtl_dir: &rtl_dir,
            certify: Certify::None,
            cost: Some(&fitted),
            jobs: 2,
            store: &store,
            interrupt: None,
        };
        let points = plan.points(&path, &rtl_dir).unwrap_or_else(|error| panic!("{error}"));
        let measured = sweep(&run, points.points, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
        let report = SweepReport {
            about: &plan.about,
            file: name,
            seed: plan.seed,
            rtl: &rtl,
            measured: &measured,
            impossible: &points.impossible,
            plots: &plan.plots(),
        };
        let findings = report.write(&out).expect("it is written");
        let page = std::fs::read_to_string(path.with_extension("md")).expect("a page");
        let plain =
            |text: &str| text.split_whitespace().filter(|word| *word != ">").collect::<Vec<_>>().join(" ");
        assert!(
            page.contains(&format!("cargo atoms explore sweep docs/studies/{name}.toml")),
            "{name}: no command"
        );
        for finding in &findings {
            assert!(plain(&page).contains(&plain(finding)), "{name}: the page does not say: {finding}");
        }
        let pictures = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let pictures: Vec<_> = pictures.filter(|link| link.ends_with(".svg")).collect();
        assert!(!pictures.is_empty(), "{name}: no picture");
        for link in pictures {
            let read =
                |path: PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
            let plot =
                link.strip_prefix(&format!("{name}-")).unwrap_or_else(|| panic!("{link}: of another study"));
            let (shown, now) = (read(studies().join(link)), read(out.join(plot)));
            assert_eq!(marks(&shown), marks(&now), "{link} is old: make it again by the command of the page");
        }
    }
    assert_eq!(seen, 4, "studies");
}
