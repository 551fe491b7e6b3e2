//! The report of what every agent waits for when none goes on.

use std::fmt;

use atoms_model::mbarrier::MbarObject;
use atoms_ops::Op;

/// What each agent waits for while none goes on.
#[derive(Clone, Debug)]
pub struct Deadlock {
    /// Cycle of the report.
    pub cycle: u64,
    /// Cycles since an agent went on.
    pub idle_cycles: u64,
    /// The agents that have not finished.
    pub blocked: Vec<BlockedAgent>,
}

/// One agent that does not go on.
#[derive(Clone, Debug)]
pub struct BlockedAgent {
    /// Its role in the pipeline.
    pub agent: String,
    /// Its tag.
    pub tag: u8,
    /// Its CTA slot.
    pub slot: u8,
    /// What it waits for.
    pub awaits: Awaited,
}

/// What an agent waits for.
#[derive(Clone, Debug)]
pub enum Awaited {
    /// The completion of a phase.
    Phase {
        /// The object's role in the pipeline.
        object: String,
        /// Its address as the lane forms it.
        address: u32,
        /// Number of the phase, from 0.
        phase: i64,
        /// Phases completed.
        completed: u32,
        /// The object as it is.
        found: MbarObject,
    },
    /// An answer to a request of this operation, offered or taken.
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
    /// What it would take for the wait to end.
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

/// `1 arrival`, `2 arrivals`.
fn several(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
