//! What `.sem` and `.scope` add around an atomic (spec 7.4).

use super::form::Form;
use crate::kernel::order::Scope;
use crate::lower::code::{Code, emit};

impl Form {
    /// The scope of fences: a cluster's is that of the GPU.
    fn fence_scope(&self) -> &'static str {
        match self.scope {
            Scope::Cta => "CTA",
            Scope::Cluster | Scope::Gpu => "GPU",
            Scope::Sys => "SYS",
        }
    }
}

impl Code<'_> {
    /// What a release puts before the atomic. `guard` is empty, or `@P0 `.
    pub(super) fn before(&mut self, form: &Form, guard: &str) {
        if !form.sem.releases() {
            return;
        }
        emit!(self, "{guard}MEMBAR.ALL.{}", form.fence_scope());
        if form.scope != Scope::Cta {
            emit!(self, "{guard}ERRBAR");
            if self.number >= 90 {
                emit!(self, "{guard}CGAERRBAR");
            }
        }
    }

    /// What an acquire puts after the atomic.
    pub(super) fn after(&mut self, form: &Form, guard: &str) {
        if form.sem.acquires() && form.scope != Scope::Cta {
            emit!(self, "{guard}CCTL.IVALL");
        }
    }

    /// The same after an atomic on the CTA's own shared memory: before sm_90 nothing.
    pub(super) fn after_shared(&mut self, form: &Form, guard: &str) {
        if self.number >= 90 {
            self.after(form, guard);
        }
    }

    /// How strong an atomic on a generic or global address is.
    pub(super) fn strength(&self, form: &Form) -> &'static str {
        match form.scope {
            Scope::Cta if self.number < 80 => ".STRONG.CTA",
            Scope::Cta => ".STRONG.SM",
            Scope::Cluster | Scope::Gpu => ".STRONG.GPU",
            Scope::Sys => ".STRONG.SYS",
        }
    }
}
