//! Coverage groups for passes and requests that follow each other in the pipeline.

use super::values::{Kind, Port, Width};
use crate::cross::{Needs, table};

table! {
    /// Relation between the words of two successive passes.
    values Relation { Word = "same word", Bank = "same bank, other rows", Apart = "other banks", }
    cover Neighbours "neighbours" (earlier: Kind, later: Kind, words: Relation, ports: (Port, Port))
    "One pipeline serves both ports: for any two successive passes, forwarding and hazard detection must distinguish the same word from another row of the same bank." "4.5, 4.6";
    |_| earlier.comes_from(ports.0) && later.comes_from(ports.1);

    /// Kind of a pass that writes memory: from [`Kind::Store`] to [`Kind::Object`].
    values Writer { Store = "store", Update = "update", Compare = "compare", Spin = "spin", Object = "object", }
    needs |writer| Kind::ALL[writer as usize + Kind::Store as usize].needs();

    /// Pipeline steps between a write and the pass that accesses the same word.
    numbers Distance: 9 from 1;

    cover Forward "forward" (written_by: Writer, met_by: Kind, steps: Distance)
    "A word that is not yet written is forwarded from each pipeline stage, the youngest first. One step later the word comes from memory: at this boundary, a defect reads a stale word." "4.5";
    |config| meets(config, u32::from(steps.0));

    /// Source of the word that a pass reads.
    values Source { Forwarded = "forwarded", Memory = "from memory, just written", }
    cover ForwardWidth "forward_width" (written_as: Width, met_as: Width, word: Source)
    "Forwarding works per bank: a wide access may get one word by forwarding and another from memory, or words from different passes." "4.4, 4.5";
    |config| config.forwarding || word == Source::Memory;

    /// Cycles for which a hazard holds a pass back at issue.
    numbers Held: 8 from 1;
    cover Hazard "hazard" (held: Kind, cycles: Held)
    "Without forwarding, a pass waits exactly until the last word that it needs is written, for every kind of pass that may need one." "4.5";
    |config| !config.forwarding && u32::from(cycles.0) <= config.rmw_latency;

    /// Kind of the pass that a stall holds in the last stage.
    values Stalled {
        Load = "load", Store = "store", Update = "update", Compare = "compare", Spin = "spin", Object = "object",
        Look = "look", Nothing = "fault or no lanes",
    } needs |held| Kind::ALL.get(held as usize).map_or(Needs::default(), |kind| kind.needs());

    ranges Cycles { One = "1" to 1, Few = "2-4" to 4, More = "5-16" to 16, Many = "more" to u32::MAX, }

    cover Stall "stall" (held: Stalled, cycles: Cycles)
    "A warp response that is not taken stalls the pass in the last stage; the pass must be neither lost nor executed twice, however long the stall lasts." "4.6";

    /// Other pipeline stages that hold a pass while the last stage is stalled.
    values Behind { Empty = "nothing else", Some = "some other stages", Full = "every stage and issue", }
    cover StallFill "stall_fill" (behind: Behind)
    "A stalled, full pipeline must keep every stage, and must continue in all stages in the same cycle." "4.6";

    /// Queues that have a request when arbitration selects a port: only the selected one, or both.
    values Contest { Alone = "alone", Both = "both wait", }
    cover Turns "turns" (last: Port, next: Port, queues: Contest)
    "Arbitration alternates between the ports while both have requests; a port alone does not wait." "4.6";
    // A cluster request also waits if there is no room for its response (spec 4.7).
    |_| queues == Contest::Alone || next == Port::Warp || last != next;
}

impl Writer {
    pub fn new(kind: Kind) -> Option<Self> {
        Writer::ALL.get((kind as usize).checked_sub(Kind::Store as usize)?).copied()
    }
}

/// Returns true if a pass can access a word this many steps after its write. The last of these steps is the
/// first that reads memory.
fn meets(config: &atoms_model::Config, distance: u32) -> bool {
    // Without forwarding, a pass is held until the word is written. With forwarding, the first step after the
    // last forwarded one reads memory.
    let first = if config.forwarding { 1 } else { config.rmw_latency + 1 };
    (first..=config.rmw_latency + 1).contains(&distance)
}

impl Stalled {
    pub const fn new(kind: Kind) -> Self {
        Stalled::ALL[kind as usize]
    }
}
