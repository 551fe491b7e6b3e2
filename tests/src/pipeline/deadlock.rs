//! Deadlock report: the event that each agent waits for.

use std::fmt;

use atoms_model::mbarrier::MbarObject;
use atoms_ops::Op;

#[derive(Clone, Debug)]
pub struct Deadlock {
    pub cycle: u64,
    /// Cycles since the last progress of any agent.
    pub idle_cycles: u64,
    pub blocked: Vec<BlockedAgent>,
}

#[derive(Clone, Debug)]
pub struct BlockedAgent {
    pub agent: String,
    pub tag: u8,
    pub slot: u8,
    pub awaits: Awaited,
}

#[derive(Clone, Debug)]
pub enum Awaited {
    Phase {
        object: String,
        address: u32,
        /// Number of the phase, counted from 0.
        phase: i64,
        completed: u32,
        found: MbarObject,
    },
    /// Answer to a request of this operation. The unit may not have accepted the request yet.
    Answer(Op),
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no agent has gone on for {} cycles, in cycle {}:", self.idle_cycles, self.cycle)?;
        for agent in &self.blocked {
            write!(f, "\n  {agent}")?;
        }
        Ok(())
    }
}

impl fmt::Display for BlockedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, tag {}, slot {}, waits for ", self.agent, self.tag, self.slot)?;
        match &self.awaits {
            Awaited::Answer(op) => write!(f, "an answer to {op}"),
            Awaited::Phase { object, address, phase, found, .. } => {
                write!(f, "phase {phase} of {object} at {address:#010x}: {found}; {}", self.awaits.missing())
            }
        }
    }
}

impl Awaited {
    pub fn missing(&self) -> String {
        let Awaited::Phase { phase, completed, found, .. } = self else {
            return "answer missing".to_string();
        };
        let behind = phase - i64::from(*completed);
        if behind < 0 {
            return "it is complete, wake-up missing".to_string();
        }
        let mut missing = Vec::new();
        if behind > 0 {
            missing.push(several(behind as u32, "phase") + " before it missing");
        }
        let pending = found.pending;
        if pending > found.expected {
            missing.push(format!("{} too many", several((1 << 20) - pending, "arrival")));
        } else if pending > 0 {
            missing.push(several(pending, "arrival") + " missing");
        }
        if found.tx < 0 {
            missing.push(several(found.tx.unsigned_abs(), "byte") + " too many");
        } else if found.tx > 0 {
            missing.push(several(found.tx.unsigned_abs(), "byte") + " missing");
        }
        if missing.is_empty() { "nothing missing".to_string() } else { missing.join(", ") }
    }
}

/// Formats a count with its noun: `1 arrival`, `2 arrivals`.
fn several(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
