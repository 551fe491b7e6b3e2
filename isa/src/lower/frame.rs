//! Register and memory allocation for lowered code.

use crate::ptx::{Function, RegId, Symbol};
use std::collections::HashMap;

/// Allocation of machine registers to PTX registers and scratch values, and of addresses to variables.
///
/// Register numbers have no upper limit. Nothing is ever spilled.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    registers: HashMap<RegId, u16>,
    predicates: HashMap<RegId, u16>,
    next_register: u16,
    next_predicate: u16,
    /// Scratch registers created so far. Each entry has the number of words, the number of the first
    /// register, and true if it is in use.
    scratch: Vec<(u8, u16, bool)>,
    scratch_predicates: Vec<(u16, bool)>,
    next_uniform: u8,
    next_uniform_predicate: u8,
    next_barrier: u8,
    next_label: u32,
    shared: HashMap<Symbol, u32>,
    global: HashMap<Symbol, u64>,
}

impl Frame {
    pub fn new() -> Frame {
        Frame::default()
    }

    /// Starts the next instruction sequence, which may reuse the scratch registers of earlier sequences.
    pub fn begin(&mut self) {
        self.scratch.iter_mut().for_each(|(.., used)| *used = false);
        self.scratch_predicates.iter_mut().for_each(|(_, used)| *used = false);
        self.next_uniform = 4;
        self.next_uniform_predicate = 0;
        self.next_barrier = 0;
    }

    /// Returns the machine register that holds a PTX register. For several `words` (1, 2 or 4), returns the
    /// first, whose number is a multiple of `words`. The first call for a PTX register fixes its number of
    /// words.
    pub fn register(&mut self, id: RegId, words: u8) -> u16 {
        if let Some(register) = self.registers.get(&id) {
            return *register;
        }
        let register = self.fresh(words);
        self.registers.insert(id, register);
        register
    }

    /// Allocates consecutive machine registers to PTX registers of `words` words each. Does nothing if one of
    /// the PTX registers has been allocated before.
    pub fn register_group(&mut self, ids: &[RegId], words: u8) {
        if ids.iter().any(|id| self.registers.contains_key(id)) {
            return;
        }
        let all = (ids.len() * usize::from(words)).next_power_of_two().min(4) as u8;
        let first = self.fresh(all);
        for (at, id) in ids.iter().enumerate() {
            self.registers.insert(*id, first.saturating_add(at as u16 * u16::from(words)));
        }
    }

    pub fn predicate(&mut self, id: RegId) -> u16 {
        *self.predicates.entry(id).or_insert_with(|| {
            self.next_predicate += 1;
            self.next_predicate - 1
        })
    }

    /// Returns the first of `words` (1, 2 or 4) scratch registers for this sequence. Its number is a multiple
    /// of `words`.
    pub fn scratch(&mut self, words: u8) -> u16 {
        if let Some((_, register, used)) = self.scratch.iter_mut().find(|(w, _, used)| *w == words && !used) {
            *used = true;
            return *register;
        }
        let register = self.fresh(words);
        self.scratch.push((words, register, true));
        register
    }

    pub fn scratch_predicate(&mut self) -> u16 {
        if let Some((predicate, used)) = self.scratch_predicates.iter_mut().find(|(_, used)| !used) {
            *used = true;
            return *predicate;
        }
        let predicate = self.next_predicate;
        self.next_predicate += 1;
        self.scratch_predicates.push((predicate, true));
        predicate
    }

    pub fn uniform(&mut self, words: u8) -> u8 {
        let register = self.next_uniform.next_multiple_of(words.max(1));
        self.next_uniform = register + words;
        register
    }

    pub fn uniform_predicate(&mut self) -> u8 {
        self.next_uniform_predicate += 1;
        self.next_uniform_predicate - 1
    }

    /// Returns an unused convergence barrier for this sequence: first `B0`, then `B1` and so on.
    pub fn barrier(&mut self) -> u8 {
        self.next_barrier += 1;
        self.next_barrier - 1
    }

    pub fn label(&mut self) -> String {
        self.next_label += 1;
        format!("L{}", self.next_label - 1)
    }

    /// Sets the byte offset of a shared variable in the CTA's shared memory.
    pub fn place(&mut self, symbol: Symbol, address: u32) {
        self.shared.insert(symbol, address);
    }

    /// Returns the byte offset of a shared variable in the CTA's shared memory. `None` for other symbols.
    pub fn shared_address(&self, symbol: Symbol) -> Option<u32> {
        self.shared.get(&symbol).copied()
    }

    pub fn place_global(&mut self, symbol: Symbol, address: u64) {
        self.global.insert(symbol, address);
    }

    pub fn global_address(&self, symbol: Symbol) -> Option<u64> {
        self.global.get(&symbol).copied()
    }

    /// Returns the name of the machine register or predicate that holds a PTX register. If several registers
    /// hold it, returns the name of the first.
    pub fn name_of(&self, id: RegId) -> Option<String> {
        let register = self.registers.get(&id).map(|n| format!("R{n}"));
        register.or_else(|| self.predicates.get(&id).map(|n| format!("P{n}")))
    }

    pub fn registers(&self) -> u16 {
        self.next_register
    }

    pub fn predicates(&self) -> u16 {
        self.next_predicate
    }

    pub fn place_registers(&mut self, function: &Function<'_>) {
        for (index, register) in function.registers.iter().enumerate() {
            let id = RegId(index as u32);
            match register.ty.map(crate::ptx::Type::words) {
                None => {}
                Some(0) => {
                    self.predicate(id);
                }
                Some(words) => {
                    self.register(id, words);
                }
            }
        }
    }

    fn fresh(&mut self, words: u8) -> u16 {
        let words = u16::from(words.max(1));
        let register = self.next_register.checked_next_multiple_of(words).unwrap_or(u16::MAX);
        self.next_register = register.saturating_add(words);
        register
    }
}
