//! The knobs of random stimulus.

pub(crate) mod pace;
pub(crate) mod values;
pub(crate) mod weights;

use atoms_ops::{OPS, Op, Size};

use crate::profile::pace::Pace;
use crate::profile::values::Values;
use crate::profile::weights::{Choice, Knob, ProfileKey, Share, Span, Weights, choices, knobs};

impl Choice for Op {
    const WHAT: &'static str = "operation";

    fn all() -> impl Iterator<Item = Self> {
        OPS.iter().map(|row| row.op)
    }

    fn name(self) -> &'static str {
        Op::name(self)
    }

    fn usual(self) -> u8 {
        1
    }
}

impl Choice for Size {
    const WHAT: &'static str = "size";

    fn all() -> impl Iterator<Item = Self> {
        Size::ALL.into_iter()
    }

    fn name(self) -> &'static str {
        Size::name(self)
    }

    fn usual(self) -> u8 {
        1
    }
}

choices! {
    /// How the lanes of one request spread over memory.
    Spread, "spread" {
        /// All on one word.
        SameWord "same_word" 4;
        /// On one bank, in up to four rows.
        SameBank "same_bank" 4;
        /// On four neighbours.
        FewWords "few_words" 8;
        /// One to four accesses apart.
        Stride "stride" 4;
        /// Across the border of a pair of banks, and of a row.
        PairEdge "pair_edge" 4;
        /// At the end of the allocation.
        PartEdge "part_edge" 4;
        /// Anywhere in the allocation.
        Anywhere "anywhere" 4;
        /// As many lanes to a bank as [`Profile::degree`] says, each in a row of its own.
        Conflict "conflict" 0;
        /// The same, all lanes of a bank on one word.
        Contention "contention" 0;
    }
}

choices! {
    /// Which lanes take part.
    Lanes, "lanes" {
        /// All of them.
        All "all" 8;
        /// About half.
        Some "some" 4;
        /// About one in eight.
        Few "few" 4;
        /// Two.
        Two "two" 0;
        /// One.
        One "one" 0;
        /// None.
        None "none" 0;
    }
}

choices! {
    /// How a request forms its addresses (spec 2.1).
    Form, "address form" {
        /// Register, immediate, uniform register.
        Register "register" 31;
        /// Immediate and uniform register.
        Absolute "absolute" 1;
    }
}

choices! {
    /// Factor on the register (spec 2.2).
    Scale, "scale" {
        /// None.
        One "1" 28;
        /// 4.
        Four "4" 1;
        /// 8.
        Eight "8" 1;
        /// 16.
        Sixteen "16" 1;
        /// A code that counts as none.
        Reserved "reserved" 1;
    }
}

choices! {
    /// The immediate of the address.
    Immediate, "immediate" {
        /// 0.
        Zero "zero" 1;
        /// Up to 63 words.
        Positive "positive" 3;
        /// Down to 63 words below 0.
        Negative "negative" 2;
        /// Any 24 bits.
        Any "any" 2;
    }
}

choices! {
    /// At how many mbarrier objects the lanes of a request meet.
    ObjectSharing, "meeting" {
        /// At one.
        One "one" 6;
        /// At neighbours.
        Few "few" 1;
        /// At one and at what stands in the same banks.
        Rows "rows" 1;
    }
}

choices! {
    /// Which phase a wait asks about (spec 6.5).
    Wait, "wait" {
        /// That which is not complete yet, as far as requests tell.
        Current "current" 4;
        /// The one before.
        Preceding "preceding" 1;
        /// That of the state which the last arrival returned, as compiled code does.
        Returned "returned" 2;
        /// Any.
        MadeUp "made_up" 1;
    }
}

choices! {
    /// Limit of MBAR.TRY_WAIT, in cycles (spec 6.10).
    Limit, "limit" {
        /// What the configuration says.
        Default "default" 16;
        /// 1 to 4.
        Tiny "tiny" 8;
        /// 5 to 63: about as long as a request takes.
        Short "short" 4;
        /// 64 to 999.
        Long "long" 4;
        /// 1024 to 8191; where there are resets, up to 2^32 - 1.
        Longer "longer" 1;
    }
}

knobs! {
    /// What random stimulus draws, and how often. By default what a search for defects wants: everything,
    /// with conflicts, faults, and back-pressure on every port.
    Profile {
        /// Operations.
        ops: Weights<Op> = Weights::default();
        /// Sizes, of those the operation has; all of them where it has none of these.
        sizes: Weights<Size> = Weights::default();
        /// How lanes spread over memory.
        spread: Weights<Spread> = Weights::default();
        /// Lanes to a bank, where the spread asks for it.
        degree: Span = Span::new(1, 32);
        /// Lanes that take part.
        lanes: Weights<Lanes> = Weights::default();
        /// Address forms.
        form: Weights<Form> = Weights::default();
        /// Factors on the register.
        scale: Weights<Scale> = Weights::default();
        /// Immediates.
        immediate: Weights<Immediate> = Weights::default();
        /// Requests whose uniform register is not zero.
        uniform_register: Share = Share::new(0.5);
        /// Operands of operations on plain memory.
        values: Weights<Values> = Weights::default();
        /// Requests without a result.
        red: Share = Share::new(0.25);
        /// Requests of the operation that came before.
        burst: Share = Share::NEVER;
        /// Requests at the place that was accessed before: distances of hazards and forwarding.
        repeat: Share = Share::new(0.2);
        /// Requests with the tag that was answered last, or that is under way at the other port.
        tag_again: Share = Share::new(1.0 / 16.0);
        /// CTA slots with allocations, side by side; as many as there are, if fewer.
        slots: Span = Span::new(4, 4);
        /// Allocations that end within a row, and allocations of a rank above 0, up to 255.
        odd_parts: Share = Share::new(0.5);
        /// Layouts of the CTA table in which one slot has almost all of memory.
        uneven_parts: Share = Share::new(0.25);
        /// Cycles in which a reset of 1 to 3 cycles begins, whatever is inside.
        reset: Share = Share::new(1.0 / 8192.0);
        /// Cycles with a write of the CTA table: an allocation taken away, moved, or refused.
        table: Share = Share::new(1.0 / 2048.0);
        /// Share of these writes whose allocation touches the allocation of another slot, or overlaps it by one row.
        touching_parts: Share = Share::new(0.25);
        /// Cycles in which a cluster request is offered, if none is.
        cluster: Share = Share::new(0.125);
        /// How ports behave.
        pace: Paces = Paces::default();
        /// Runs that consist of retry loops of several warps around CAST.SPIN, and of nothing else.
        retry_loops: Share = Share::NEVER;
        /// What is wrong with requests.
        faults: Faults = Faults::default();
        /// mbarrier objects, and what happens at them.
        barriers: Barriers = Barriers::default();
    }
}

knobs! {
    /// How ports behave, for stretches of 16 to 255 cycles.
    Paces {
        /// Warp requests.
        request: Weights<Pace> = Weights::default();
        /// Warp responses.
        response: Weights<Pace> = Weights::default();
        /// Cluster requests, on top of [`Profile::cluster`].
        cluster: Weights<Pace> = Weights::default();
        /// Cluster responses.
        cluster_response: Weights<Pace> = Weights::default();
        /// Wake-ups.
        wake: Weights<Pace> = Weights::default();
        /// Stretches in which one of the ports that take answers is held for 100 to 799 cycles.
        hold: Share = Share::new(1.0 / 128.0);
    }
}

knobs! {
    /// Shares of requests with something wrong: in one lane mostly, in all of them now and then.
    Faults {
        /// Operation and size of any code (spec 3.3).
        illegal: Share = Share::new(1.0 / 64.0);
        /// Of these, those that keep their operation: only the size is of any code.
        size_only: Share = Share::new(0.5);
        /// A CTA slot of any number, mostly one without an allocation.
        slot: Share = Share::new(1.0 / 64.0);
        /// An address that is no multiple of the access size (spec 2.4).
        misaligned: Share = Share::new(1.0 / 48.0);
        /// An address at the end of the allocation or far behind it (spec 2.4).
        out_of_range: Share = Share::new(1.0 / 48.0);
        /// An address of another rank (spec 1.4).
        rank: Share = Share::new(1.0 / 96.0);
        /// Any addresses.
        wild: Share = Share::new(1.0 / 96.0);
    }
}

knobs! {
    /// mbarrier objects, and what happens at them.
    Barriers {
        /// Objects in an allocation, one after the other from its beginning, up to 16. With many, few are ever
        /// complete while a request waits.
        objects: Span = Span::new(3, 3);
        /// At how many of them a request's lanes meet.
        meet: Weights<ObjectSharing> = Weights::default();
        /// Requests whose lanes all have the same operand.
        uniform: Share = Share::new(0.75);
        /// Counts that objects are made with.
        counts: Span = Span::new(1, 64);
        /// Objects made with a count at the upper end of what there is (spec 6.1).
        most: Share = Share::new(1.0 / 16.0);
        /// Operands at the ends of the fields, so that these overflow.
        overflow: Share = Share::new(1.0 / 12.0);
        /// Phases that waits ask about.
        wait: Weights<Wait> = Weights::default();
        /// Limits of MBAR.TRY_WAIT.
        limit: Weights<Limit> = Weights::default();
        /// Arrivals that bring exactly what the phase still waits for.
        finish: Share = Share::new(0.125);
        /// Arrivals that complete phases of several objects with a lane for each, where they can.
        jointly: Share = Share::new(1.0 / 16.0);
        /// Requests at an object with transactions outstanding that complete all of them.
        settle: Share = Share::new(0.5);
        /// Requests at a word that is no sound object which make it one.
        revive: Share = Share::new(0.25);
        /// New objects with bits set that are 0 at rest, or in their second phase.
        strange: Share = Share::new(1.0 / 32.0);
        /// MBAR.TRY_WAITs alone with what completes the phase, so that completion and limit, or completion
        /// and its suspension meet.
        race: Share = Share::new(0.125);
        /// Of these, those that meet the limit of the configuration.
        default_limit: Share = Share::new(1.0 / 64.0);
        /// MBAR.TRY_WAITs with which a row of them begins that fills the table of waiters; then all are woken.
        fill: Share = Share::new(1.0 / 128.0);
        /// MBAR.TRY_WAITs that a volley takes the place of: all places of the table of waiters are filled with limits
        /// that pass in one cycle, and a phase that all of them wait for is completed in that cycle, in the one
        /// before or in the one after.
        volley: Share = Share::new(1.0 / 16.0);
        /// Operations kept that spoil an object for long: the layout of sm_80 on one of sm_90, dropping with
        /// many lanes.
        spoil: Share = Share::new(1.0 / 16.0);
    }
}

/// No profile has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no profile `{name}`; there are {}", Profile::NAMES.join(", "))]
pub struct UnknownProfile {
    /// The name asked for.
    pub name: String,
}

impl Profile {
    /// Profiles with names.
    pub const NAMES: [&str; 8] =
        ["default", "busy", "objects", "hazards", "faults", "pressure", "resets", "retry_loops"];

    /// The profile with this name.
    ///
    /// # Errors
    /// [`UnknownProfile`] with those there are.
    pub fn named(name: &str) -> Result<Profile, UnknownProfile> {
        Ok(match name {
            "default" => Profile::default(),
            "busy" => Profile::busy(),
            "objects" => {
                Profile { ops: Weights::of(|op: Op| u8::from(op.is_mbarrier())), ..Profile::default() }
            }
            "hazards" => Profile::hazards(),
            "faults" => Profile { faults: Faults::many(), ..Profile::default() },
            "pressure" => Profile { pace: Paces::pressed(), ..Profile::default() },
            "resets" => {
                Profile { table: Share::new(0.5), reset: Share::new(1.0 / 16.0), ..Profile::default() }
            }
            "retry_loops" => Profile { retry_loops: Share::ALWAYS, ..Profile::default() },
            _ => return Err(UnknownProfile { name: name.to_string() }),
        })
    }

    /// The profile of a TOML text that sets some of the knobs.
    ///
    /// # Errors
    /// The first line that is no TOML, no knob, or no value of one, with what would be.
    pub fn from_toml(text: &str) -> Result<Profile, toml::de::Error> {
        toml::from_str(text)
    }

    /// Every key of a profile's file, in order, with what is drawn by default.
    pub fn keys() -> Vec<ProfileKey> {
        let mut keys = Vec::new();
        Knob::keys(&Profile::default(), "", "", &mut keys);
        keys
    }

    /// The same with exactly these operations: no other one comes in place of them, not as an illegal request
    /// either. Unchanged if there are none.
    #[must_use]
    pub fn with_ops(self, ops: &[Op]) -> Profile {
        if ops.is_empty() {
            return self;
        }
        let faults = Faults { size_only: Share::ALWAYS, ..self.faults };
        Profile { ops: Weights::only(ops), faults, ..self }
    }

    /// Nothing but these operations; all of them if there are none.
    pub fn of_ops(ops: &[Op]) -> Profile {
        Profile { ops: Weights::only(ops), ..Profile::default() }
    }

    /// To measure speed: legal warp requests on plain memory, offered and answered without a pause.
    pub fn busy() -> Profile {
        Profile {
            ops: Weights::of(|op: Op| u8::from(!op.is_mbarrier())),
            values: Weights::of(|values| u8::from(matches!(values, Values::Few | Values::Mixed))),
            scale: Weights::only(&[Scale::One]),
            tag_again: Share::NEVER,
            repeat: Share::NEVER,
            odd_parts: Share::NEVER,
            uneven_parts: Share::NEVER,
            reset: Share::NEVER,
            table: Share::NEVER,
            cluster: Share::NEVER,
            pace: Paces::free(),
            faults: Faults::none(),
            barriers: Barriers {
                fill: Share::NEVER,
                race: Share::NEVER,
                volley: Share::NEVER,
                limit: Weights::only(&[Limit::Tiny]),
                ..Barriers::default()
            },
            ..Profile::default()
        }
    }

    /// Words accessed again while they are on their way to memory.
    fn hazards() -> Profile {
        Profile {
            spread: Weights::only(&[Spread::SameWord, Spread::FewWords, Spread::SameBank, Spread::PairEdge]),
            values: Weights::only(&[Values::Few, Values::Seen, Values::Mixed]),
            repeat: Share::new(0.75),
            faults: Faults::none(),
            ..Profile::default()
        }
    }
}

impl Paces {
    /// No port ever waits.
    pub fn free() -> Paces {
        let free = || Weights::only(&[Pace::Free]);
        Paces {
            request: free(),
            response: free(),
            cluster: free(),
            cluster_response: free(),
            wake: free(),
            hold: Share::NEVER,
        }
    }

    /// Requests as fast as they are taken, answers taken late.
    pub fn pressed() -> Paces {
        let late = || Weights::only(&[Pace::Some, Pace::Heavy, Pace::Held]);
        let hold = Share::new(1.0 / 32.0);
        Paces { response: late(), cluster_response: late(), wake: late(), hold, ..Paces::free() }
    }
}

impl Faults {
    /// Nothing is wrong.
    pub fn none() -> Faults {
        Faults {
            size_only: Share::new(0.5),
            illegal: Share::NEVER,
            slot: Share::NEVER,
            misaligned: Share::NEVER,
            out_of_range: Share::NEVER,
            rank: Share::NEVER,
            wild: Share::NEVER,
        }
    }

    /// About half of all requests have a fault.
    pub fn many() -> Faults {
        Faults {
            size_only: Share::new(0.5),
            illegal: Share::new(0.125),
            slot: Share::new(0.0625),
            misaligned: Share::new(0.125),
            out_of_range: Share::new(0.125),
            rank: Share::new(0.0625),
            wild: Share::new(0.03125),
        }
    }
}
