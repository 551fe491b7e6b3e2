//! Memory order and scope, taken from modifiers. Source: [PTX] memory consistency model.

use super::Mods;
use crate::kernel::order::{Ordering, Scope, Semantics};

/// Takes the modifiers for memory order and scope of an access. `atomic` is true for an instruction that is
/// at least relaxed even without such modifiers.
pub(super) fn ordering(m: &mut Mods<'_, '_>, atomic: bool) -> Ordering {
    let semantics =
        m.take_any(&["weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio"]);
    if semantics == Some("mmio") {
        m.take("relaxed");
    }
    let scope = scope(m);
    let (semantics, otherwise) = match semantics {
        Some("volatile" | "mmio") => (Semantics::Relaxed, Scope::Sys),
        None | Some("weak") if atomic => (Semantics::Relaxed, Scope::Gpu),
        // A weak access orders nothing for other threads, so the scope has no meaning.
        None | Some("weak") => (Semantics::Weak, Scope::Cta),
        Some(name) => (name.parse().unwrap_or(Semantics::Weak), Scope::Gpu),
    };
    Ordering { semantics, scope: scope.unwrap_or(otherwise) }
}

fn scope(m: &mut Mods<'_, '_>) -> Option<Scope> {
    m.take_any(&["cta", "cluster", "gpu", "sys"])?.parse().ok()
}

/// Fences for accesses to shared memory, by their modifiers. Source: [PTX] membar, fence.
const RESTRICTED: [(&[&str], Semantics); 4] = [
    (&["acquire", "sync_restrict::shared::cluster", "cluster"], Semantics::AcquireShared),
    (&["release", "sync_restrict::shared::cta", "cluster"], Semantics::ReleaseShared),
    (
        &["proxy", "async::generic", "acquire", "sync_restrict::shared::cluster", "cluster"],
        Semantics::AcquireProxy,
    ),
    (
        &["proxy", "async::generic", "release", "sync_restrict::shared::cta", "cluster"],
        Semantics::ReleaseProxy,
    ),
];

/// Takes memory order and scope of a fence such as `membar.cta` or `fence.acq_rel.gpu`. `None` for an unknown
/// restricted fence.
pub(super) fn fence(m: &mut Mods<'_, '_>, membar: bool) -> Option<Ordering> {
    let modifiers = &m.instruction.modifiers;
    if modifiers.iter().any(|name| name.starts_with("sync_restrict") || *name == "async::generic") {
        let (_, semantics) = RESTRICTED.iter().find(|(names, _)| names == modifiers)?;
        return Some(Ordering { semantics: *semantics, scope: Scope::Cluster });
    }
    if membar {
        let scope = match m.take_any(&["cta", "gl", "sys"]) {
            Some("cta") => Scope::Cta,
            Some("gl") => Scope::Gpu,
            _ => Scope::Sys,
        };
        return Some(Ordering { semantics: Semantics::Sc, scope });
    }
    let semantics = m.take_any(&["sc", "acq_rel", "acquire", "release"]);
    let semantics = semantics.and_then(|name| name.parse().ok()).unwrap_or(Semantics::AcqRel);
    let scope = scope(m);
    Some(Ordering { semantics, scope: scope.unwrap_or(Scope::Cta) })
}

/// Takes the memory order of `barrier.cluster.arrive` (default: release) or `barrier.cluster.wait` (default:
/// acquire).
pub(super) fn cluster_barrier(m: &mut Mods<'_, '_>, arrive: bool) -> Ordering {
    let semantics = match m.take_any(&["release", "relaxed", "acquire"]) {
        Some("relaxed") => Semantics::Relaxed,
        _ if arrive => Semantics::Release,
        _ => Semantics::Acquire,
    };
    Ordering { semantics, scope: Scope::Cluster }
}

/// Takes the memory order of an operation on an mbarrier object. The default is release for arrivals and
/// acquire for waits. Initialization and invalidation of the object are not atomic operations.
pub(super) fn barrier_object(m: &mut Mods<'_, '_>) -> Ordering {
    let waits = m.has("test_wait") || m.has("try_wait");
    let makes = m.has("init") || m.has("inval");
    let arrives = m.has("arrive") || m.has("arrive_drop");
    let semantics = match m.take_any(&["release", "relaxed", "acquire"]) {
        Some("release") => Semantics::Release,
        Some("acquire") => Semantics::Acquire,
        None if makes => Semantics::Weak,
        None if waits => Semantics::Acquire,
        None if arrives => Semantics::Release,
        _ => Semantics::Relaxed,
    };
    let scope = scope(m);
    Ordering { semantics, scope: scope.unwrap_or(Scope::Cta) }
}
