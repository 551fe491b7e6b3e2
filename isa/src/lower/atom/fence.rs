//! Fences before and after an atomic that its memory order (`.sem`) and its scope require (spec 7.4).

use super::form::Form;
use crate::kernel::order::Scope;
use crate::lower::code::{Code, emit};

impl Form {
    /// Scope of the fences in machine code. PTX cluster scope becomes GPU scope.
    fn fence_scope(&self) -> &'static str {
        match self.scope {
            Scope::Cta => "CTA",
            Scope::Cluster | Scope::Gpu => "GPU",
            Scope::Sys => "SYS",
        }
    }
}

impl Code<'_> {
    /// Emits the fence before an atomic with release order. `guard` is empty or a guard such as `@P0 `.
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

    pub(super) fn after(&mut self, form: &Form, guard: &str) {
        if form.sem.acquires() && form.scope != Scope::Cta {
            emit!(self, "{guard}CCTL.IVALL");
        }
    }

    /// Emits the fence after an atomic with acquire order on the CTA's own shared memory. Before sm_90, no
    /// fence is needed.
    pub(super) fn after_shared(&mut self, form: &Form, guard: &str) {
        if self.number >= 90 {
            self.after(form, guard);
        }
    }

    pub(super) fn strength(&self, form: &Form) -> &'static str {
        match form.scope {
            Scope::Cta if self.number < 80 => ".STRONG.CTA",
            Scope::Cta => ".STRONG.SM",
            Scope::Cluster | Scope::Gpu => ".STRONG.GPU",
            Scope::Sys => ".STRONG.SYS",
        }
    }
}
