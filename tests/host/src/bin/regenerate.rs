//! Rewrites all generated files in the repository. With `--check`, only reports files that differ.
//!
//! Each file has a test ([`TESTS`]) that compares it with its source. With `UPDATE_EXPECT=1` the test writes the file.

#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

use atoms_host::generated::TESTS;
use atoms_host::root;

fn main() -> Result<ExitCode, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let update = match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => "1",
        ["--check"] => "0",
        other => return Err(format!("`{}`: expected nothing or `--check`", other.join(" "))),
    };
    let mut up_to_date = true;
    for test in TESTS {
        let status = Command::new(env!("CARGO"))
            .args(["test", "--quiet", "--manifest-path"])
            .arg(root().join(test.folder).join("Cargo.toml"))
            .args(test.target)
            .args(["--", "--include-ignored", "--exact", test.name])
            .env("UPDATE_EXPECT", update)
            .status();
        up_to_date &= status.map_err(|e| format!("cannot start `{}`: {e}", env!("CARGO")))?.success();
    }
    Ok(if up_to_date { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
