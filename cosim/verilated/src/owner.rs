//! Checks the owners of files: libraries and tools are code, and none is used that another user could have
//! written.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Returns the reason why a user other than this one and root could have written `path`, if any.
pub(crate) fn objection(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    let us = rustix::process::geteuid().as_raw();
    if meta.uid() != us && meta.uid() != 0 {
        return Some(format!("it belongs to {}, but this process runs as {}", user(meta.uid()), user(us)));
    }
    let mode = meta.mode() & 0o777;
    // The user's own group may write: with a umask of 002, the group usually has no other member.
    let of_group = mode & 0o020 != 0 && meta.gid() != rustix::process::getegid().as_raw();
    (mode & 0o002 != 0 || of_group).then(|| format!("other users may write to it (mode {mode:o})"))
}

/// Returns `uid 1000 (name)`, or only `uid 1000` if `/etc/passwd` does not have the user.
fn user(uid: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid.to_string()).then_some(name)
    });
    name.map_or(format!("uid {uid}"), |name| format!("uid {uid} ({name})"))
}
