//! Starts and releases CTAs. The CTAs of a cluster start together. A CTA stays until nothing needs its
//! allocation.

use super::cta::{Barrier, Cta, Stage};
use super::{Core, Geometry, too_large};
use crate::error::KernelError;
use crate::launch::Launch;
use crate::warp::Warp;
use atoms_isa::Arch;

/// First architecture with clusters (spec 1.4).
const FIRST_CLUSTERS: u16 = 90;

/// Checks that all CTAs that must be resident together fit: those of a cluster, or of a cooperative grid.
pub(super) fn check_together(
    arch: Arch,
    launch: &Launch,
    geometry: Geometry,
    rows: u32,
    warps: u32,
    max_warps: u32,
) -> Result<(), KernelError> {
    let size = launch.cluster_ctas();
    if size > 1 && arch.number() < FIRST_CLUSTERS {
        return Err(too_large(
            format!("a cluster of {size} CTAs on {arch}, which has no clusters"),
            "remove `cluster` from the launch, or use a listing for sm_90 or later".into(),
        ));
    }
    let (together, kind, key) = if launch.cooperative {
        (launch.ctas(), "cooperative grid", "grid")
    } else {
        (size, "cluster", "cluster")
    };
    let limits = [
        ("CTA slots", u64::from(together), geometry.slots),
        ("warps", u64::from(together) * u64::from(warps), max_warps),
        ("rows of shared memory", u64::from(together) * u64::from(rows), geometry.rows),
    ];
    for (what, needed, there) in limits {
        if together > 1 && needed > there.into() {
            return Err(too_large(
                format!(
                    "a {kind} of {together} CTAs needs {needed} {what} at the same time, but there are \
                     only {there}"
                ),
                format!("lower `{key}`, `block` or `shared` of the launch, or use a larger configuration"),
            ));
        }
    }
    Ok(())
}

impl Core<'_> {
    /// Starts clusters while slots, rows and warps are free. All CTAs of a cluster start together.
    pub(super) fn start_clusters(&mut self) {
        let needed = self.launch.threads().div_ceil(32) as usize;
        let size = self.launch.cluster_ctas();
        let (bytes, rows) = self.allocation;
        while self.next_cluster < self.launch.ctas() / size {
            let all_needed = needed * size as usize;
            if self.free_warps().take(all_needed).count() < all_needed || self.table.room(rows) < size {
                return;
            }
            let (next, all) = (self.next_cluster, self.launch.ctas() / size);
            let cluster = self.priorities.as_mut().map_or(next, |priorities| priorities.cluster(next, all));
            for rank in 0..size {
                let Some(slot) = self.table.allocate(rows, bytes, rank) else { return };
                let (index, number) = self.launch.cta_of(cluster, rank);
                let cta = Cta {
                    number,
                    index,
                    warps: self.free_warps().take(needed).collect(),
                    barriers: [Barrier::default(); 16],
                    state: Stage::Starting { granted: false },
                    cluster,
                    rank,
                };
                self.ctas[slot] = Some(cta);
            }
            self.next_cluster += 1;
        }
    }

    fn free_warps(&self) -> impl Iterator<Item = usize> {
        let taken = |slot: &usize| self.ctas.iter().flatten().any(|c| c.warps.contains(slot));
        (0..self.warps.len()).filter(move |slot| !taken(slot))
    }

    /// Handles a granted allocation. Starts the warps of the cluster if it was the last one missing.
    pub(super) fn granted(&mut self, slot: usize) {
        let Some(cta) = self.ctas[slot].as_mut() else { return };
        cta.state = Stage::Starting { granted: true };
        let cluster = cta.cluster;
        let waits = |c: &&Cta| c.cluster == cluster && c.state == Stage::Starting { granted: false };
        if self.ctas.iter().flatten().find(waits).is_none() {
            let mine = |slot: &usize| self.ctas[*slot].as_ref().is_some_and(|c| c.cluster == cluster);
            let slots: Vec<usize> = (0..self.ctas.len()).filter(mine).collect();
            slots.into_iter().for_each(|slot| self.start_warps(slot));
        }
    }

    /// Releases the allocation of each ended CTA, once nothing in flight needs it.
    pub(super) fn release_ended(&mut self) {
        for (slot, cta) in self.ctas.iter_mut().enumerate() {
            let Some(cta) = cta.as_mut().filter(|c| c.state == Stage::Ending) else { continue };
            if self.copies.uses(slot) || self.cluster_port.uses(slot) {
                continue;
            }
            cta.state = Stage::Released;
            for warp in &cta.warps {
                self.warps[*warp] = None;
            }
            self.table.release(slot);
        }
    }

    fn start_warps(&mut self, slot: usize) {
        let Some(cta) = self.ctas[slot].as_mut() else { return };
        cta.state = Stage::Running;
        let threads = self.launch.threads();
        for (number, warp_slot) in cta.warps.iter().enumerate() {
            let left = threads - 32 * number as u32;
            let mask = if left >= 32 { !0 } else { (1 << left) - 1 };
            self.warps[*warp_slot] = Some(Box::new(Warp::new(self.kernel, slot, number as u32, mask)));
            if let Some(priorities) = &mut self.priorities {
                priorities.start(*warp_slot, cta.number, number as u32);
            }
        }
        self.tell_start(slot);
    }
}
