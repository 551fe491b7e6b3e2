//! Memory order and scope that an access or a fence states.

/// Memory order of an access or a fence. Source: \[PTX\] memory consistency model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Semantics {
    Weak,
    /// The access orders no other access, but is atomic for the threads of its scope.
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    /// Sequentially consistent: acquire and release; in addition, all such operations have one total order.
    Sc,
    /// `.acquire.sync_restrict::shared::cluster`: orders only accesses to shared memory of the cluster.
    AcquireShared,
    /// `.release.sync_restrict::shared::cta`: orders only accesses to shared memory of the thread's own CTA.
    ReleaseShared,
    /// Acquire half of a one-way proxy fence (`fence.proxy.async::generic`), restricted like `AcquireShared`.
    /// Later accesses of the async proxy follow accesses of the generic proxy before a release half.
    AcquireProxy,
    /// Release half of a one-way proxy fence, restricted like `ReleaseShared`.
    ReleaseProxy,
}

impl Semantics {
    pub const fn acquires(self) -> bool {
        use Semantics::{AcqRel, Acquire, AcquireProxy, AcquireShared, Sc};
        matches!(self, Acquire | AcqRel | Sc | AcquireShared | AcquireProxy)
    }

    pub const fn releases(self) -> bool {
        use Semantics::{AcqRel, Release, ReleaseProxy, ReleaseShared, Sc};
        matches!(self, Release | AcqRel | Sc | ReleaseShared | ReleaseProxy)
    }
}

/// Group of threads for which the memory order holds, from the smallest to the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ordering {
    pub semantics: Semantics,
    pub scope: Scope,
}

/// Returns the memory order that a machine instruction states by its name and modifiers. Loads, stores and
/// atomics have `.STRONG` and a scope, or `.WEAK`. Fences have `.SC` or `.ALL` and a scope. `None` if the
/// instruction states no order.
///
/// Scope `.SM` (the threads of one SM) becomes CTA scope, because such code is compiled from PTX with CTA
/// scope (`data/lowering_sample.json`). Scope `.VC`, which is in fences of unoptimized code, becomes GPU
/// scope (project choice).
pub(crate) fn of(name: &str, modifiers: &[&str]) -> Option<Ordering> {
    let has = |modifier: &str| modifiers.contains(&modifier);
    let scope = modifiers.iter().find_map(|modifier| match *modifier {
        "CTA" | "SM" => Some(Scope::Cta),
        "GPU" | "VC" => Some(Scope::Gpu),
        "SYS" => Some(Scope::Sys),
        _ => None,
    });
    let semantics = match name {
        "LD" | "LDG" | "ST" | "STG" | "ATOM" | "ATOMG" | "RED" | "REDG" | "LDGSTS"
            if has("STRONG") || has("MMIO") =>
        {
            Semantics::Relaxed
        }
        // A load, store or copy without `.STRONG` is a weak access. In older text such as `LDG.E.SYS`, the
        // scope does not state an order.
        "LD" | "LDG" | "ST" | "STG" | "LDGSTS" => {
            return Some(Ordering { semantics: Semantics::Weak, scope: Scope::Cta });
        }
        "MEMBAR" if has("SC") => Semantics::Sc,
        "MEMBAR" => Semantics::AcqRel,
        // `CCTL.IVALL` invalidates all lines of the L1 cache, so later loads see earlier writes of other SMs.
        "CCTL" if has("IVALL") => Semantics::Acquire,
        _ => return None,
    };
    Some(Ordering { semantics, scope: scope.unwrap_or(Scope::Gpu) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_machine_code() {
        use Scope::{Cta, Gpu, Sys};
        use Semantics::{AcqRel, Acquire, Relaxed, Sc, Weak};
        for (mnemonic, expected) in [
            ("LDG.E", Some((Weak, Cta))),
            ("LDG.E.SYS", Some((Weak, Cta))),
            ("LDG.E.WEAK", Some((Weak, Cta))),
            ("LDG.E.64.STRONG.GPU", Some((Relaxed, Gpu))),
            ("ST.E.STRONG.SM", Some((Relaxed, Cta))),
            ("ATOM.E.CAS.STRONG.CTA", Some((Relaxed, Cta))),
            ("RED.E.ADD.STRONG.SYS", Some((Relaxed, Sys))),
            ("MEMBAR.SC.CTA", Some((Sc, Cta))),
            ("MEMBAR.ALL.GPU", Some((AcqRel, Gpu))),
            ("MEMBAR.SC.VC", Some((Sc, Gpu))),
            ("ATOMS.ADD", None),
            ("LDS", None),
            ("CCTL.IVALL", Some((Acquire, Gpu))),
            ("ERRBAR", None),
            ("SYNCS.ARRIVE.TRANS64.A1T0", None),
        ] {
            let parts: Vec<_> = mnemonic.split('.').collect();
            let found = of(parts[0], &parts[1..]).map(|o| (o.semantics, o.scope));
            assert_eq!(found, expected, "{mnemonic}");
        }
    }
}
