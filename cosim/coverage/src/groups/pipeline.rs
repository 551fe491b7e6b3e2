//! Groups for passes and requests that follow each other in the pipeline.

use super::values::{Kind, Port, Width};
use crate::cross::{Needs, table};

table! {
    /// Relation between the words of two successive passes.
    values Relation { Word = "same word", Bank = "same bank, other rows", Apart = "other banks", }
    cover Neighbours "neighbours" (earlier: Kind, later: Kind, words: Relation, ports: (Port, Port))
    "One pipeline serves both ports: what follows what, on the same word or only the same bank, is what forwarding and holding back must tell apart." "4.5, 4.6";
    |_| earlier.comes_from(ports.0) && later.comes_from(ports.1);

    /// Kinds from [`Kind::Store`] to [`Kind::Object`], which write memory.
    values Writer { Store = "store", Update = "update", Compare = "compare", Spin = "spin", Object = "object", }
    needs |writer| Kind::ALL[writer as usize + Kind::Store as usize].needs();

    /// Pipeline steps between a write and the pass that accesses the same word.
    numbers Distance: 9 from 1;

    cover Forward "forward" (written_by: Writer, met_by: Kind, steps: Distance)
    "A word on its way is forwarded from every stage, the youngest first; one step later it comes from memory, and that boundary is where a stale word would be read." "4.5";
    |config| meets(config, u32::from(steps.0));

    /// Source of the word that a pass reads.
    values Source { Forwarded = "forwarded", Memory = "from memory, just written", }
    cover ForwardWidth "forward_width" (written_as: Width, met_as: Width, word: Source)
    "Forwarding goes by bank: a wide access may have one of its words on the way and another in memory, or words from different passes." "4.4, 4.5";
    |config| config.forwarding || word == Source::Memory;

    /// Cycles for which a hazard holds a pass back.
    numbers Held: 8 from 1;
    cover Hazard "hazard" (held: Kind, cycles: Held)
    "Without forwarding a pass waits exactly until the last of the words it needs is written, for every kind that may need one." "4.5";
    |config| !config.forwarding && u32::from(cycles.0) <= config.rmw_latency;

    /// Kind of the pass that a stall holds in the last stage.
    values Stalled {
        Load = "load", Store = "store", Update = "update", Compare = "compare", Spin = "spin", Object = "object",
        Look = "look", Nothing = "fault or no lanes",
    } needs |held| Kind::ALL.get(held as usize).map_or(Needs::default(), |kind| kind.needs());

    ranges Cycles { One = "1" to 1, Few = "2-4" to 4, More = "5-16" to 16, Many = "more" to u32::MAX, }

    cover Stall "stall" (held: Stalled, cycles: Cycles)
    "A warp response that is not taken freezes whatever is in the last stage; it must be neither lost nor done twice, however long that lasts." "4.6";

    /// Content of the pipeline behind a stalled last stage.
    values Behind { Empty = "nothing else", Some = "some other stages", Full = "every stage and issue", }
    cover StallFill "stall_fill" (behind: Behind)
    "A full pipeline that stands still has to keep every stage, and to start again in all of them at once." "4.6";

    /// Queues with a waiting request when the port is chosen.
    values Contest { Alone = "alone", Both = "both wait", }
    cover Turns "turns" (last: Port, next: Port, queues: Contest)
    "The ports take turns while both wait, and neither waits for the other when it does not." "4.6";
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
