//! Memory order and scope of an access or a fence, as its text says.

/// Order that an access or a fence imposes. Source: \[PTX\] memory consistency model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Semantics {
    /// Nothing: a plain access.
    Weak,
    /// Nothing, but the access is atomic to those of its scope.
    Relaxed,
    /// What comes after stays after.
    Acquire,
    /// What comes before stays before.
    Release,
    /// Both.
    AcqRel,
    /// Both, and all of them are in one order.
    Sc,
}

impl Semantics {
    /// True if what comes after must not move before.
    pub const fn acquires(self) -> bool {
        matches!(self, Semantics::Acquire | Semantics::AcqRel | Semantics::Sc)
    }

    /// True if what comes before must not move after.
    pub const fn releases(self) -> bool {
        matches!(self, Semantics::Release | Semantics::AcqRel | Semantics::Sc)
    }
}

/// The threads an access or a fence is meant for, from few to many.
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

/// Memory order that name and modifiers of machine code state: of loads, stores and atomics `.STRONG` and a scope, or
/// `.WEAK`; of a fence `.SC` or `.ALL` and a scope. `None` where they state nothing.
///
/// `.SM` is the threads of one SM: those of the CTA, which is the scope that code with it was compiled from
/// (`data/lowering_sample.json`). `.VC`, which fences of unoptimized code name, is taken for the GPU (chosen).
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
        // A plain access: a scope that older text names with it (`LDG.E.SYS`) is not one of order.
        "LD" | "LDG" | "ST" | "STG" | "LDGSTS" => {
            return Some(Ordering { semantics: Semantics::Weak, scope: Scope::Cta });
        }
        "MEMBAR" if has("SC") => Semantics::Sc,
        "MEMBAR" => Semantics::AcqRel,
        // Old lines are dropped from the first-level cache: what others of the GPU wrote is seen from here on.
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
