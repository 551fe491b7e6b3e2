//! Types of knobs: weights of named choices, shares, and spans of numbers.

use std::fmt;
use std::marker::PhantomData;

use rand::{Rng, RngExt};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

/// Named choices of which random stimulus draws one.
pub trait Choice: Copy + Eq + fmt::Debug + 'static {
    /// Noun for messages, such as `operation`.
    const WHAT: &'static str;

    /// Returns all choices in a fixed order.
    fn all() -> impl Iterator<Item = Self>;

    /// Name of the choice, as in plans and episodes.
    fn name(self) -> &'static str;

    /// Default weight of the choice.
    fn usual(self) -> u8;
}

/// Weights of choices. A choice is drawn in proportion to its weight, and at least one weight is above zero.
///
/// In a file, weights are a table `{ ADD = 3, CAS = 1 }`, or a list of names with weight 1 each. A choice
/// that is not named is not drawn.
///
/// Stored as a list to draw from, in which each choice occurs as often as its weight.
#[derive(Clone, PartialEq, Eq)]
pub struct Weights<T>(Vec<T>);

impl<T: Choice> Default for Weights<T> {
    fn default() -> Self {
        Weights::of(|choice: T| choice.usual())
    }
}

impl<T: Choice> fmt::Debug for Weights<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(choice, weight)| (choice.name(), weight))).finish()
    }
}

impl<T: Choice> Weights<T> {
    /// Sets weights by a function. Falls back to the default weights if the function always returns zero.
    pub fn of(weight: impl Fn(T) -> u8) -> Self {
        let all = |choice: T| std::iter::repeat_n(choice, weight(choice).into());
        let table: Vec<_> = T::all().flat_map(all).collect();
        if table.is_empty() { Weights::of(T::usual) } else { Weights(table) }
    }

    /// Draws only these choices, with equal weights. Falls back to the default weights if there are none.
    pub fn only(choices: &[T]) -> Self {
        Weights::of(|choice| u8::from(choices.contains(&choice)))
    }

    /// Returns the weight of a choice. 0 if the choice is never drawn.
    pub fn weight(&self, choice: T) -> u8 {
        self.0.iter().filter(|other| **other == choice).count() as u8
    }

    pub(crate) fn draws(&self, choice: T) -> bool {
        self.0.contains(&choice)
    }

    /// Returns the same weights with that of one choice changed.
    pub fn with(&self, choice: T, weight: u8) -> Self {
        Weights::of(|other| if other == choice { weight } else { self.weight(other) })
    }

    /// Returns the choices with a weight above zero, with their weights.
    pub fn iter(&self) -> impl Iterator<Item = (T, u8)> + '_ {
        self.0.chunk_by(T::eq).map(|alike| (alike[0], alike.len() as u8))
    }

    /// Draws a choice. A single choice with weight 1 uses no random number.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut impl Rng) -> T {
        if self.0.len() == 1 { self.0[0] } else { self.0[rng.random_range(0..self.0.len())] }
    }
}

impl<T: Choice> Serialize for Weights<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.iter().all(|(_, weight)| weight == 1) {
            return serializer.collect_seq(self.iter().map(|(choice, _)| choice.name()));
        }
        let mut map = serializer.serialize_map(Some(self.iter().count()))?;
        for (choice, weight) in self.iter() {
            map.serialize_entry(choice.name(), &weight)?;
        }
        map.end()
    }
}

impl<'de, T: Choice> Deserialize<'de> for Weights<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WeightsVisitor(PhantomData))
    }
}

struct WeightsVisitor<T>(PhantomData<T>);

impl<T: Choice> WeightsVisitor<T> {
    fn named<E: de::Error>(name: &str) -> Result<T, E> {
        T::all().find(|choice| choice.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known: Vec<_> = T::all().map(Choice::name).collect();
            E::custom(format!("no {} `{name}`; there are {}", T::WHAT, known.join(", ")))
        })
    }

    fn gather<E: de::Error>(named: Vec<(T, u8)>) -> Result<Weights<T>, E> {
        for (at, (choice, _)) in named.iter().enumerate() {
            if named[..at].iter().any(|(earlier, _)| earlier == choice) {
                return Err(E::custom(format!("{} `{}` is listed twice", T::WHAT, choice.name())));
            }
        }
        if named.iter().all(|(_, weight)| *weight == 0) {
            return Err(E::custom(format!("nothing to draw: give some {} a weight above 0", T::WHAT)));
        }
        let weight =
            |choice| named.iter().find(|(other, _)| *other == choice).map_or(0, |(_, weight)| *weight);
        Ok(Weights::of(weight))
    }
}

impl<'de, T: Choice> Visitor<'de> for WeightsVisitor<T> {
    type Value = Weights<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table with a weight for each {}, or a list of names", T::WHAT)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Self::Value, A::Error> {
        let mut named = Vec::new();
        while let Some(name) = names.next_element::<String>()? {
            named.push((Self::named(&name)?, 1));
        }
        Self::gather(named)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut named = Vec::new();
        while let Some((name, weight)) = entries.next_entry::<String, i64>()? {
            let weight = u8::try_from(weight)
                .map_err(|_| de::Error::custom(format!("weight {weight} of `{name}`: expected 0 to 255")))?;
            named.push((Self::named(&name)?, weight));
        }
        Self::gather(named)
    }
}

/// Probability of an event, from 0 (never) to 1 (always).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share {
    share: f64,
    /// Probability as an integer, times 2^32.
    chance: u64,
}

impl Share {
    /// Probability 0: the event never happens.
    pub const NEVER: Share = Share::new(0.0);
    /// Probability 1: the event always happens.
    pub const ALWAYS: Share = Share::new(1.0);

    /// Creates a probability. Clamps `share` to 0 to 1.
    pub const fn new(share: f64) -> Share {
        let share = if share > 1.0 {
            1.0
        } else if share > 0.0 {
            share
        } else {
            0.0
        };
        Share { share, chance: (share * 4_294_967_296.0) as u64 }
    }

    /// Returns the probability, from 0 to 1.
    pub fn get(self) -> f64 {
        self.share
    }

    /// Returns the smaller of two probabilities.
    #[must_use]
    pub fn min(self, other: Share) -> Share {
        if self.share < other.share { self } else { other }
    }

    /// Draws the event. A probability of 0 uses no random number.
    #[inline]
    pub(crate) fn happens(self, rng: &mut impl Rng) -> bool {
        self.chance != 0 && u64::from(rng.random::<u32>()) < self.chance
    }
}

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(share: f64) -> Result<Self, String> {
        if (0.0..=1.0).contains(&share) {
            Ok(Share::new(share))
        } else {
            Err(format!("{share}: expected a share from 0 to 1"))
        }
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> f64 {
        share.share
    }
}

/// Range of numbers, with both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[u32; 2]", into = "[u32; 2]")]
pub struct Span {
    first: u32,
    last: u32,
}

impl Span {
    /// Creates the range from `first` to `last`. Contains only `first` if `last` is smaller.
    pub const fn new(first: u32, last: u32) -> Span {
        Span { first, last: if last < first { first } else { last } }
    }

    /// Returns the smallest and the largest number.
    pub fn ends(self) -> (u32, u32) {
        (self.first, self.last)
    }

    #[inline]
    pub(crate) fn draw(self, rng: &mut impl Rng) -> u32 {
        if self.first == self.last { self.first } else { rng.random_range(self.first..=self.last) }
    }
}

impl TryFrom<[u32; 2]> for Span {
    type Error = String;

    fn try_from([first, last]: [u32; 2]) -> Result<Self, String> {
        if first <= last {
            Ok(Span { first, last })
        } else {
            Err(format!("[{first}, {last}]: expected the smaller number first"))
        }
    }
}

impl From<Span> for [u32; 2] {
    fn from(span: Span) -> [u32; 2] {
        [span.first, span.last]
    }
}

/// Defines an enum of choices with names and default weights.
macro_rules! choices {
    ($(#[$doc:meta])* $type:ident, $what:literal {
        $( $(#[$choice_doc:meta])* $choice:ident $name:literal $usual:literal; )*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $( $(#[$choice_doc])* $choice, )* }

        impl $crate::profile::weights::Choice for $type {
            const WHAT: &'static str = $what;

            fn all() -> impl Iterator<Item = Self> {
                [$( $type::$choice, )*].into_iter()
            }

            fn name(self) -> &'static str {
                match self { $( $type::$choice => $name, )* }
            }

            fn usual(self) -> u8 {
                match self { $( $type::$choice => $usual, )* }
            }
        }
    };
}

/// One key of a profile's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileKey {
    /// Key name; `faults.rank` for a key inside a table.
    pub name: String,
    /// Allowed values, in words.
    pub values: String,
    /// Default value, as text.
    pub usual: String,
    /// Description, taken from the documentation of the knob.
    pub about: String,
}

/// Value of a profile key: a single value, or a table of further keys.
pub(crate) trait Knob {
    /// Adds the keys of this value, whose own key is `name`.
    fn keys(&self, name: &str, about: &str, keys: &mut Vec<ProfileKey>);
}

fn key(name: &str, values: String, usual: String, about: &str) -> ProfileKey {
    // The text comes from doc comments, so remove the marks of links.
    let about = about.trim().replace(['[', ']'], "").replace("Profile::", "");
    ProfileKey { name: name.to_string(), values, usual, about }
}

impl<T: Choice> Knob for Weights<T> {
    fn keys(&self, name: &str, about: &str, keys: &mut Vec<ProfileKey>) {
        let names: Vec<_> = T::all().map(|choice| format!("`{}`", choice.name())).collect();
        let alike = self.iter().all(|(_, weight)| weight == 1) && self.0.len() == names.len();
        let each = || self.iter().map(|(choice, weight)| format!("{} {weight}", choice.name()));
        let usual = if alike { "each 1".into() } else { each().collect::<Vec<_>>().join(", ") };
        keys.push(key(name, format!("weights of {}", names.join(", ")), usual, about));
    }
}

impl Knob for Share {
    fn keys(&self, name: &str, about: &str, keys: &mut Vec<ProfileKey>) {
        keys.push(key(name, "share from 0 to 1".into(), format!("{:.4}", self.share), about));
    }
}

impl Knob for Span {
    fn keys(&self, name: &str, about: &str, keys: &mut Vec<ProfileKey>) {
        keys.push(key(name, "[least, most]".into(), format!("[{}, {}]", self.first, self.last), about));
    }
}

/// Deserializes one of these names. The error message suggests the nearest name.
pub(crate) struct KnobName(pub(crate) &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KnobName {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KnobName {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", self.0.join(", "))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let KnobName(known) = self;
        let found = known.iter().find(|known| **known == name).copied();
        found.ok_or_else(|| {
            let distance = |known: &&&str| strsim::levenshtein(&name.to_lowercase(), known);
            let nearest = known.iter().min_by_key(distance).copied().unwrap_or_default();
            E::custom(format!("unknown field `{name}`; the nearest is `{nearest}` of {}", known.join(", ")))
        })
    }
}

/// Defines a struct of knobs with defaults. Serialization leaves out knobs with their default value.
macro_rules! knobs {
    ($(#[$doc:meta])* $type:ident { $( $(#[doc = $knob_doc:literal])* $knob:ident: $of:ty = $default:expr; )* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $type { $( $(#[doc = $knob_doc])* pub $knob: $of, )* }

        impl $crate::profile::weights::Knob for $type {
            fn keys(&self, name: &str, _: &str, keys: &mut Vec<$crate::profile::weights::ProfileKey>) {
                $(
                    let inside = [name, stringify!($knob)].join(if name.is_empty() { "" } else { "." });
                    self.$knob.keys(&inside, concat!($($knob_doc),*), keys);
                )*
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a table of keys")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$type, A::Error> {
                        const NAMES: &[&str] = &[$( stringify!($knob), )*];
                        let mut knobs = $type::default();
                        while let Some(name) = map.next_key_seed($crate::profile::weights::KnobName(NAMES))? {
                            match name {
                                $( stringify!($knob) => knobs.$knob = map.next_value()?, )*
                                _ => unreachable!("a name of another struct"),
                            }
                        }
                        Ok(knobs)
                    }
                }

                deserializer.deserialize_map(Visitor)
            }
        }

        impl Default for $type {
            fn default() -> Self {
                $type { $( $knob: $default, )* }
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let usual = $type::default();
                let mut map = serializer.serialize_map(None)?;
                $( if self.$knob != usual.$knob {
                    map.serialize_entry(stringify!($knob), &self.$knob)?;
                } )*
                map.end()
            }
        }
    };
}

pub(crate) use {choices, knobs};
