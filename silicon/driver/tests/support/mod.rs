//! Tests in processes of their own, with the stand-in as the driver.

use atoms_cuda::{DeviceContext, Driver, LoadedKernel};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Set in the process of one test, to its name.
const ALONE: &str = "ATOMS_TEST_ALONE";

/// What a test alone may take.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs the rest of this test in a process of its own, with these variables: the stand-in reads its environment once, and
/// a lost context is lost to the whole process.
#[track_caller]
pub(crate) fn alone(variables: &[(&str, &str)], rest: impl FnOnce()) {
    let name = thread::current().name().expect("a test's thread has its name").to_string();
    if std::env::var(ALONE).is_ok_and(|alone| alone == name) {
        // A call that never returns fails the test.
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

/// The stand-in, started.
pub(crate) fn driver() -> Driver {
    Driver::open(Some(&atoms_standin::library())).unwrap_or_else(|error| panic!("{error}"))
}

/// A context on its device.
pub(crate) fn context() -> DeviceContext {
    let devices = driver().devices().unwrap();
    assert_eq!(devices.len(), 1);
    devices[0].context().unwrap_or_else(|error| panic!("{error}"))
}

/// The one kernel of a module, `k`.
pub(crate) fn kernel(context: &DeviceContext, ptx: &str) -> LoadedKernel {
    let cubin = context.compile(ptx).unwrap_or_else(|error| panic!("{error}"));
    context.load(&cubin).unwrap().kernel("k").unwrap()
}

/// A module with the kernel `k`.
pub(crate) fn module(target: &str, params: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k({params})\n{{\n{body}\nret;\n}}\n"
    )
}

/// Words of memory.
pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}
