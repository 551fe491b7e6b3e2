//! Object files and CUDA C as kernels. The tools on PATH are scripts that record their arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernel_text").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Writes an executable that saves its arguments to `NAME.called`, one per line, and then runs `then`.
fn tool(folder: &Path, name: &str, then: &str) {
    let path = folder.join(name);
    let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.called\"\n{then}\n");
    fs::write(&path, text).expect("the tool is written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be started");
}

fn atoms(folder: &Path, path: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atoms"));
    let output =
        command.current_dir(folder).env("PATH", path).args(arguments).output().expect("atoms starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Returns the start of an ELF file for the machine with this number.
fn object(machine: u16) -> Vec<u8> {
    let mut bytes = b"\x7fELF".to_vec();
    bytes.resize(18, 0);
    bytes.extend(machine.to_le_bytes());
    bytes
}

const LISTING: &str = "printf '.target sm_80\\n.section .text.k,\"ax\"\\nEXIT ;\\n'";

#[test]
fn without_the_tools_the_message_says_what_to_run() {
    let here = folder("absent");
    fs::write(here.join("k.cubin"), object(190)).unwrap();
    fs::write(here.join("host.o"), object(62)).unwrap();
    fs::write(here.join("k.cu"), "__global__ void k() {}\n").unwrap();
    fs::write(here.join("noise"), [0xff, 0xfe, 0]).unwrap();
    for (arguments, parts) in [
        (
            ["run", "k.cubin"],
            ["needs nvdisasm, which is not on PATH", "nvdisasm -hex -g k.cubin > k.cubin.sass"],
        ),
        (
            ["run", "k.cu"],
            ["needs nvcc, which is not on PATH", "nvcc -arch=sm_90 -lineinfo -cubin -o kernel.cubin k.cu"],
        ),
        (
            ["lower", "k.cu"],
            ["needs nvcc, which is not on PATH", "nvcc -arch=sm_90 -lineinfo -ptx -o kernel.ptx k.cu"],
        ),
        (["lower", "k.cubin"], ["contains machine code", "atoms run k.cubin"]),
        (["run", "host.o"], ["object file, but not of a GPU", "cuobjdump -xelf all host.o"]),
        (["run", "noise"], ["neither text nor an object file", "cubin"]),
    ] {
        let (status, out, error) = atoms(&here, "", &arguments);
        assert_eq!((status, out.as_str()), (Some(2), ""), "{arguments:?}: {error}");
        assert!(parts.iter().all(|part| error.contains(part)), "{arguments:?}: {error}");
    }
}

#[test]
fn tools_are_called_without_a_shell_and_never_from_the_working_folder() {
    let here = folder("present");
    let tools = folder("tools");
    tool(&tools, "nvdisasm", LISTING);
    tool(
        &tools,
        "nvcc",
        "while [ \"$1\" != -o ]; do shift; done; printf '\\177ELF34567890123456\\276\\000' > \"$2\"",
    );
    let name = "-k $(touch x); 'q'.cubin";
    fs::write(here.join(name), object(190)).unwrap();
    let path = format!(":.:{}:{}", here.display(), tools.display());
    // These tools in the working folder must not run, although PATH names the folder in several ways.
    tool(&here, "nvdisasm", "exit 1");
    tool(&here, "nvcc", "exit 1");
    let (status, out, error) = atoms(&here, &path, &["run", &format!("./{name}")]);
    assert_eq!(status, Some(0), "{error}");
    assert!(out.contains("kernel = \"k\""), "{out}");
    let called = |tool: &str| fs::read_to_string(tools.join(format!("{tool}.called"))).unwrap();
    assert_eq!(called("nvdisasm"), format!("-hex\n-g\n{}\n", here.join(name).display()));
    assert!(!here.join("x").exists() && !here.join("nvdisasm.called").exists());

    fs::write(here.join("k.cu"), "__global__ void k() {}\n").unwrap();
    let (status, _, error) = atoms(&here, &path, &["run", "k.cu", "--arch", "sm_80"]);
    assert_eq!(status, Some(0), "{error}");
    let arguments = called("nvcc");
    let arguments: Vec<_> = arguments.lines().collect();
    let [arch, "-lineinfo", kind, "-o", output, source] = arguments[..] else { panic!("{arguments:?}") };
    assert_eq!((arch, kind, Path::new(source)), ("-arch=sm_80", "-cubin", here.join("k.cu").as_path()));
    assert_eq!(called("nvdisasm"), format!("-hex\n-g\n{output}\n"));
    assert!(!Path::new(output).parent().unwrap().exists(), "what was made on the way is removed");
}

#[test]
fn what_a_tool_says_is_shown() {
    let here = folder("failing");
    let tools = folder("failing_tools");
    tool(&tools, "nvdisasm", "echo 'cannot decode this' >&2; exit 3");
    fs::write(here.join("k.cubin"), object(190)).unwrap();
    let (status, _, error) = atoms(&here, &tools.display().to_string(), &["run", "k.cubin"]);
    assert_eq!(status, Some(2));
    assert!(error.contains("nvdisasm -hex") && error.contains("exit status: 3"), "{error}");
    assert!(error.contains("cannot decode this"), "{error}");
}
