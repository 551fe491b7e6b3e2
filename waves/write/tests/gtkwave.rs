//! GTKWave opens a wave at its marker; checked on a screenshot.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use atoms_host::processes::Tree;
use atoms_host::programs::GTKWAVE;
use atoms_wave_write::{Definition, Layout, SignalKind};

/// A small screen. If the marker is visible here, it is visible on larger screens.
const SCREEN: (usize, usize) = (1024, 768);

/// RGB colour of the marker.
const MARKER: [u8; 3] = [255, 128, 128];

fn marker_columns(display: &str) -> Vec<usize> {
    let mut command = Command::new("import");
    command.args(["-display", display, "-window", "root", "-depth", "8", "rgb:-"]);
    let picture = command.output().expect("import runs").stdout;
    let (width, height) = SCREEN;
    if picture.len() != 3 * width * height {
        return Vec::new();
    }
    let is_marker = |x: usize, y: &usize| picture[3 * (y * width + x)..][..3] == MARKER;
    let column = |x: &usize| (0..height).filter(|y| is_marker(*x, y)).count() > height / 2;
    (0..width).filter(column).collect()
}

#[test]
#[ignore = "nightly: starts GTKWave"]
fn a_wave_opens_at_its_marker() {
    let Some(path) = GTKWAVE.find() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let wave = folder.path().join("run.vcd");
    let mut definition = Definition::new("top");
    let word = definition
        .scope("side", |d| d.scope("a_scope_with_a_long_name", |d| d.signal("word", SignalKind::Bits(32))));
    let mut trace = definition.create(&wave).expect("the wave is created");
    for cycle in 0..2000 {
        trace.set(word, cycle);
        trace.tick().expect("a cycle is written");
    }
    trace.finish().expect("the wave is completed");
    let layout = Layout::new().group("all", [word]).marker(1500);
    let save_file = layout.write(&definition, &wave).expect("the save file is written");

    let mut server = Command::new("Xvfb");
    server.args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"]);
    server.arg(format!("{}x{}x24", SCREEN.0, SCREEN.1)).env("PATH", &path);
    server.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Tree::start(server);
    let mut number = String::new();
    let output = server.stdout.take().expect("it is piped");
    BufReader::new(output).read_line(&mut number).expect("Xvfb says its display");
    let display = format!(":{}", number.trim());
    let mut viewer = Command::new("gtkwave");
    viewer.arg(&wave).arg(save_file).env("DISPLAY", &display).env("HOME", folder.path()).env("PATH", &path);
    let _viewer = Tree::start({
        viewer.stdout(Stdio::null()).stderr(Stdio::null());
        viewer
    });
    let began = Instant::now();
    let mut columns = Vec::new();
    while columns.is_empty() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(500));
        columns = marker_columns(&display);
    }
    assert_eq!(columns.len(), 1, "the marker is in view once");
}
