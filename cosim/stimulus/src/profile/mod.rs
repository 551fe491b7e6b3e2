//! Knobs of random stimulus.

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
    /// Distribution of the lanes of one request over memory.
    Spread, "spread" {
        /// All lanes on one word.
        SameWord "same_word" 4;
        /// All lanes on one bank, in up to four rows.
        SameBank "same_bank" 4;
        /// Lanes on four neighbouring accesses.
        FewWords "few_words" 8;
        /// Lanes with a distance of one to four accesses.
        Stride "stride" 4;
        /// Lanes on two neighbouring accesses, in two neighbouring rows. If an access is one word, the two
        /// accesses are in different pairs of banks.
        PairEdge "pair_edge" 4;
        /// Lanes at the beginning or end of the allocation.
        PartEdge "part_edge" 4;
        /// Lanes anywhere in the allocation.
        Anywhere "anywhere" 4;
        /// [`Profile::degree`] lanes on each bank, each in its own row.
        Conflict "conflict" 0;
        /// [`Profile::degree`] lanes on each bank, all on one word.
        Contention "contention" 0;
    }
}

choices! {
    /// Number of active lanes.
    Lanes, "lanes" {
        /// All lanes of the configuration.
        All "all" 8;
        /// About half of the lanes.
        Some "some" 4;
        /// About one lane in eight.
        Few "few" 4;
        /// Two lanes of the configuration.
        Two "two" 0;
        /// One lane of the configuration.
        One "one" 0;
        /// No lane at all.
        None "none" 0;
    }
}

choices! {
    /// Form of the addresses of a request (spec 2.1).
    Form, "address form" {
        /// Register plus immediate plus uniform register.
        Register "register" 31;
        /// Immediate plus uniform register.
        Absolute "absolute" 1;
    }
}

choices! {
    /// Scale factor of the register (spec 2.2).
    Scale, "scale" {
        /// No scaling: factor 1.
        One "1" 28;
        /// Scale factor of 4.
        Four "4" 1;
        /// Scale factor of 8.
        Eight "8" 1;
        /// Scale factor of 16.
        Sixteen "16" 1;
        /// Reserved scale code, which means factor 1.
        Reserved "reserved" 1;
    }
}

choices! {
    /// Immediate of the address.
    Immediate, "immediate" {
        /// An immediate of 0.
        Zero "zero" 1;
        /// A positive offset of up to 63 words.
        Positive "positive" 3;
        /// A negative offset of up to 63 words.
        Negative "negative" 2;
        /// An immediate of any 24 bits.
        Any "any" 2;
    }
}

choices! {
    /// Number and location of the mbarrier objects that the lanes of a request access.
    ObjectSharing, "meeting" {
        /// One mbarrier object for all lanes.
        One "one" 6;
        /// Up to four neighbouring mbarrier objects.
        Few "few" 1;
        /// mbarrier objects in the same banks, in up to four rows.
        Rows "rows" 1;
    }
}

choices! {
    /// Phase that a wait asks about (spec 6.5).
    Wait, "wait" {
        /// Ask about the incomplete phase, as far as the stimulus can tell from its requests.
        Current "current" 4;
        /// Ask about the phase before the incomplete one.
        Preceding "preceding" 1;
        /// Ask about the phase of the state that the last arrival returned, as compiled code does.
        Returned "returned" 2;
        /// Ask with any 32 bits as state or parity.
        MadeUp "made_up" 1;
    }
}

choices! {
    /// Limit of MBAR.TRY_WAIT, in cycles (spec 6.10).
    Limit, "limit" {
        /// Limit 0, which selects the limit of the configuration.
        Default "default" 16;
        /// A limit of 1 to 4.
        Tiny "tiny" 8;
        /// A limit of 5 to 63, about as long as a request takes.
        Short "short" 4;
        /// A limit of 64 to 999.
        Long "long" 4;
        /// A limit of 1024 to 8191, or up to 2^32 - 1 if the profile has resets.
        Longer "longer" 1;
    }
}

knobs! {
    /// Choices and frequencies of random stimulus. The default suits a search for defects: all operations,
    /// with conflicts, faults, and back-pressure on every port.
    Profile {
        /// Operations of warp and cluster requests.
        ops: Weights<Op> = Weights::default();
        /// Access sizes to draw from. An operation that has none of these sizes uses all its sizes.
        sizes: Weights<Size> = Weights::default();
        /// Distribution of lanes over memory.
        spread: Weights<Spread> = Weights::default();
        /// Lanes on each bank, for spreads that use it.
        degree: Span = Span::new(1, 32);
        /// Active lanes of a request.
        lanes: Weights<Lanes> = Weights::default();
        /// Forms of the address.
        form: Weights<Form> = Weights::default();
        /// Scale factors of the register.
        scale: Weights<Scale> = Weights::default();
        /// Immediates of the address.
        immediate: Weights<Immediate> = Weights::default();
        /// Requests whose uniform register is not zero.
        uniform_register: Share = Share::new(0.5);
        /// Operands of operations on plain memory.
        values: Weights<Values> = Weights::default();
        /// Requests without a result.
        red: Share = Share::new(0.25);
        /// Requests that repeat the operation of the previous request.
        burst: Share = Share::NEVER;
        /// Requests that access the same addresses as the previous request, to create hazards and forwarding.
        repeat: Share = Share::new(0.2);
        /// Requests with the tag that was answered last, or with one in flight at the other port.
        tag_again: Share = Share::new(1.0 / 16.0);
        /// CTA slots with allocations, side by side, limited to the slots of the configuration.
        slots: Span = Span::new(4, 4);
        /// Allocations that end within a row, and allocations of a rank above 0, up to 255.
        odd_parts: Share = Share::new(0.5);
        /// Layouts of the CTA table in which one slot has almost all of memory.
        uneven_parts: Share = Share::new(0.25);
        /// Cycles in which a reset of 1 to 3 cycles begins, also with requests in flight.
        reset: Share = Share::new(1.0 / 8192.0);
        /// Cycles with a write of the CTA table that removes, moves or gives an allocation, or is refused.
        table: Share = Share::new(1.0 / 2048.0);
        /// Share of these writes whose allocation touches the allocation of another slot, or overlaps it by
        /// one row.
        touching_parts: Share = Share::new(0.25);
        /// Cycles in which a cluster request is offered, if none is pending.
        cluster: Share = Share::new(0.125);
        /// Pace of valid and ready at each port.
        pace: Paces = Paces::default();
        /// Runs that consist only of retry loops of several warps around CAST.SPIN.
        retry_loops: Share = Share::NEVER;
        /// Shares of faulty requests.
        faults: Faults = Faults::default();
        /// mbarrier objects, and operations on them.
        barriers: Barriers = Barriers::default();
    }
}

knobs! {
    /// Pace of valid and ready at each port, drawn again after 16 to 255 cycles.
    Paces {
        /// Valid of warp requests.
        request: Weights<Pace> = Weights::default();
        /// Ready of the port for warp responses.
        response: Weights<Pace> = Weights::default();
        /// Valid of cluster requests, in addition to [`Profile::cluster`].
        cluster: Weights<Pace> = Weights::default();
        /// Ready of the port for cluster responses.
        cluster_response: Weights<Pace> = Weights::default();
        /// Ready of the port for wake-ups.
        wake: Weights<Pace> = Weights::default();
        /// Changes of pace after which one response port is held for 100 to 799 cycles.
        hold: Share = Share::new(1.0 / 128.0);
    }
}

knobs! {
    /// Shares of faulty requests. Mostly one lane is faulty, sometimes all lanes.
    Faults {
        /// Requests with any code as operation and size (spec 3.3).
        illegal: Share = Share::new(1.0 / 64.0);
        /// Share of these requests that keep their operation, so that only the size is any code.
        size_only: Share = Share::new(0.5);
        /// Requests with any number as CTA slot, mostly one without an allocation.
        slot: Share = Share::new(1.0 / 64.0);
        /// Addresses that are not aligned to the access size (spec 2.4).
        misaligned: Share = Share::new(1.0 / 48.0);
        /// Addresses at the end of the allocation or far beyond it (spec 2.4).
        out_of_range: Share = Share::new(1.0 / 48.0);
        /// Addresses of another rank (spec 1.4).
        rank: Share = Share::new(1.0 / 96.0);
        /// Requests with random bits in the address register of every lane.
        wild: Share = Share::new(1.0 / 96.0);
    }
}

knobs! {
    /// mbarrier objects, and operations on them.
    Barriers {
        /// Objects in an allocation, from its beginning, at most 16. With many objects, few phases complete
        /// while a request waits.
        objects: Span = Span::new(3, 3);
        /// Objects that the lanes of one request access.
        meet: Weights<ObjectSharing> = Weights::default();
        /// Requests whose lanes all have the same operand.
        uniform: Share = Share::new(0.75);
        /// Arrival counts of new objects.
        counts: Span = Span::new(1, 64);
        /// New objects with a count at the upper end of the range (spec 6.1).
        most: Share = Share::new(1.0 / 16.0);
        /// Operands at the limits of the count fields, so that these overflow.
        overflow: Share = Share::new(1.0 / 12.0);
        /// Phases that waits ask about.
        wait: Weights<Wait> = Weights::default();
        /// Limits of MBAR.TRY_WAIT requests.
        limit: Weights<Limit> = Weights::default();
        /// Arrivals with exactly the pending count of the phase.
        finish: Share = Share::new(0.125);
        /// Arrivals that complete phases of several objects, one lane each, where possible.
        jointly: Share = Share::new(1.0 / 16.0);
        /// Requests at an object with outstanding transactions that complete all of them.
        settle: Share = Share::new(0.5);
        /// Requests at a word without a usable object that create one.
        revive: Share = Share::new(0.25);
        /// New objects with the lock or version bit set, or in their second phase.
        strange: Share = Share::new(1.0 / 32.0);
        /// MBAR.TRY_WAITs with a completion timed close to their limit or to their suspension.
        race: Share = Share::new(0.125);
        /// Share of these waits that use the limit of the configuration.
        default_limit: Share = Share::new(1.0 / 64.0);
        /// MBAR.TRY_WAITs that start filling the waiter table; then all waiters are woken.
        fill: Share = Share::new(1.0 / 128.0);
        /// MBAR.TRY_WAITs replaced by a volley: waits fill all entries of the waiter table, and their time
        /// limits end in the same cycle. The phase completes in that cycle, one before, or one after.
        volley: Share = Share::new(1.0 / 16.0);
        /// Operations kept although they make an object unusable for long, such as an sm_80 arrival on an
        /// sm_90 object or a drop with many lanes.
        spoil: Share = Share::new(1.0 / 16.0);
    }
}

/// Error for a name that no profile has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no profile `{name}`; there are {}", Profile::NAMES.join(", "))]
pub struct UnknownProfile {
    /// Name that no profile has.
    pub name: String,
}

impl Profile {
    /// Names of all profiles, as [`Profile::named`] accepts them.
    pub const NAMES: [&str; 8] =
        ["default", "busy", "objects", "hazards", "faults", "pressure", "resets", "retry_loops"];

    /// Returns the profile with this name.
    ///
    /// # Errors
    /// [`UnknownProfile`], whose message lists all names.
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

    /// Reads a profile from TOML. Knobs that the text does not set keep their defaults.
    ///
    /// # Errors
    /// The first line that is not TOML, names no knob, or has a bad value. The message says what is allowed.
    pub fn from_toml(text: &str) -> Result<Profile, toml::de::Error> {
        toml::from_str(text)
    }

    /// Lists every key of a profile's file, in order, with its default.
    pub fn keys() -> Vec<ProfileKey> {
        let mut keys = Vec::new();
        Knob::keys(&Profile::default(), "", "", &mut keys);
        keys
    }

    /// Restricts the profile to exactly these operations. No other operation replaces them, not even as an
    /// illegal request. Returns the profile unchanged if `ops` is empty.
    #[must_use]
    pub fn with_ops(self, ops: &[Op]) -> Profile {
        if ops.is_empty() {
            return self;
        }
        let faults = Faults { size_only: Share::ALWAYS, ..self.faults };
        Profile { ops: Weights::only(ops), faults, ..self }
    }

    /// Returns the default profile with these operations only, or with all if `ops` is empty.
    pub fn of_ops(ops: &[Op]) -> Profile {
        Profile { ops: Weights::only(ops), ..Profile::default() }
    }

    /// Profile to measure speed: legal warp requests on plain memory, without pauses at the ports.
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

    /// Accesses the same words again while earlier writes are in the pipeline.
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
    /// Keeps valid and ready high in every cycle.
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

    /// Offers requests without pauses and accepts responses late.
    pub fn pressed() -> Paces {
        let late = || Weights::only(&[Pace::Some, Pace::Heavy, Pace::Held]);
        let hold = Share::new(1.0 / 32.0);
        Paces { response: late(), cluster_response: late(), wake: late(), hold, ..Paces::free() }
    }
}

impl Faults {
    /// Draws no faulty requests.
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

    /// Makes about half of all requests faulty.
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
