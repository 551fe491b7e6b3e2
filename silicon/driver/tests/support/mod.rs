//! Runs tests in separate processes, with the stand-in driver.

use atoms_cuda::{DeviceContext, Driver, LoadedKernel};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Environment variable that holds the test's name in the process of one test.
const ALONE: &str = "ATOMS_TEST_ALONE";

const LONGEST: Duration = Duration::from_secs(60);

/// Runs the rest of this test in a separate process with these environment variables. The stand-in reads its
/// environment only once, and a lost context is lost for the whole process.
#[track_caller]
pub(crate) fn alone(variables: &[(&str, &str)], rest: impl FnOnce()) {
    let name = thread::current().name().expect("a test's thread has its name").to_string();
    if std::env::var(ALONE).is_ok_and(|alone| alone == name) {
        // Abort a test whose call never returns.
        thread::spawn(|| {
            thread::sleep(LONGEST);
            std::process::abort();
        });
        return rest();
    }
    let program = std::env::current_exe().expect("a test knows its program");
    let output = Command::new(program)
        .args([&name, "--exact", "--nocapture"])
        .env_remove("ATOMS_STANDIN_CC")
        .env_remove("ATOMS_STANDIN_TROUBLE")
        .envs(variables.iter().copied())
        .env(ALONE, &name)
        .output()
        .expect("the test's program starts");
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && said.contains("1 passed"), "{}\n{said}", output.status);
}

pub(crate) fn driver() -> Driver {
    Driver::open(Some(&atoms_standin::library())).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn context() -> DeviceContext {
    let devices = driver().devices().unwrap();
    assert_eq!(devices.len(), 1);
    devices[0].context().unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn kernel(context: &DeviceContext, ptx: &str) -> LoadedKernel {
    let cubin = context.compile(ptx).unwrap_or_else(|error| panic!("{error}"));
    context.load(&cubin).unwrap().kernel("k").unwrap()
}

pub(crate) fn module(target: &str, params: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k({params})\n{{\n{body}\nret;\n}}\n"
    )
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}
