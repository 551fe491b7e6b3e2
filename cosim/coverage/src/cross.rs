//! Groups as types. A group is a tuple of dimensions, and the values of a dimension are a type too. A sampler
//! therefore cannot put a value into the wrong dimension, and bin numbers are computed from constants.

use atoms_model::Config;
use atoms_ops::{Op, Size};

use super::model::{Dimension, Group};

pub trait BinValue: Copy {
    const COUNT: usize;

    fn index(self) -> usize;

    /// Returns the value with this index, which must be below [`BinValue::COUNT`].
    fn of(index: usize) -> Self;

    fn name(index: usize) -> String;

    /// Operations and sizes needed to hit a bin with this value.
    fn needs(self) -> Needs {
        Needs::default()
    }
}

impl<A: BinValue, B: BinValue> BinValue for (A, B) {
    const COUNT: usize = A::COUNT * B::COUNT;

    #[inline(always)]
    fn index(self) -> usize {
        self.0.index() * B::COUNT + self.1.index()
    }

    fn of(index: usize) -> Self {
        (A::of(index / B::COUNT), B::of(index % B::COUNT))
    }

    fn name(index: usize) -> String {
        format!("{}, {}", A::name(index / B::COUNT), B::name(index % B::COUNT))
    }
}

/// Operations and sizes that requests need to hit a bin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    pub ops: &'static [Op],
    /// Operations that `ops` need first to have an effect.
    pub support: &'static [Op],
    pub sizes: &'static [Size],
}

/// One value for each dimension of a group. The bin number changes slowest with the first dimension.
pub trait Key: Copy {
    const LEN: usize;

    fn at(self) -> usize;

    /// Returns the combination with these indices, one for each dimension.
    fn of(values: &[usize]) -> Self;

    fn needs(self) -> Vec<Needs>;

    fn dimensions(names: &[&'static str]) -> Vec<Dimension>;
}

macro_rules! key {
    ($($value:ident $at:tt),*) => {
        impl<$($value: BinValue),*> Key for ($($value,)*) {
            const LEN: usize = 1 $(* $value::COUNT)*;

            #[inline(always)]
            fn at(self) -> usize {
                let at = 0;
                $(let at = at * $value::COUNT + self.$at.index();)*
                at
            }

            fn of(values: &[usize]) -> Self {
                ($($value::of(values.get($at).copied().unwrap_or(0)),)*)
            }

            fn needs(self) -> Vec<Needs> {
                vec![$(self.$at.needs()),*]
            }

            fn dimensions(names: &[&'static str]) -> Vec<Dimension> {
                vec![$(Dimension {
                    name: names.get($at).copied().unwrap_or(""),
                    values: (0..$value::COUNT).map($value::name).collect(),
                }),*]
            }
        }
    };
}
key!(A 0);
key!(A 0, B 1);
key!(A 0, B 1, C 2);
key!(A 0, B 1, C 2, D 3);

pub trait Cover {
    type Key: Key;
    const NAME: &'static str;
    /// Names of the dimensions. The bin number changes slowest with the first dimension.
    const DIMENSIONS: &'static [&'static str];
    /// Reason to cross these dimensions, in one sentence. Printed in `docs/coverage.md`.
    const REASON: &'static str;
    const CLAUSE: &'static str;

    fn reachable(config: &Config, key: Self::Key) -> bool;

    fn group() -> Group {
        Group {
            name: Self::NAME,
            reason: Self::REASON,
            clause: Self::CLAUSE,
            dimensions: Self::Key::dimensions(Self::DIMENSIONS),
            reachable: |config, values| Self::reachable(config, Self::Key::of(values)),
            first: 0,
        }
    }
}

/// A coverage group with its position in the bin numbering.
pub trait Numbered: Cover {
    const FIRST: usize;
}

pub const fn len<C: Cover>() -> usize {
    <C::Key as Key>::LEN
}

/// Defines a dimension as an enumeration: each value with its name.
macro_rules! values {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $value:ident = $text:literal,)* }
        $(needs |$this:ident| $needs:expr)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$vdoc])* #[doc = $text] $value,)* }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$value),*];
        }

        impl $crate::cross::BinValue for $name {
            const COUNT: usize = $name::ALL.len();

            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }

            fn of(index: usize) -> Self {
                $name::ALL[index]
            }

            fn name(index: usize) -> String {
                [$($text),*][index].to_string()
            }

            $(fn needs(self) -> $crate::cross::Needs {
                let $this = self;
                $needs
            })?
        }
    };
}
pub(crate) use values;

/// Defines a dimension of number ranges, each with its largest number. The last range also takes all larger
/// numbers.
macro_rules! ranges {
    ($(#[$doc:meta])* $name:ident { $($value:ident = $text:literal to $most:expr,)* }) => {
        $crate::cross::values! { $(#[$doc])* $name { $($value = $text,)* } }

        impl $name {
            const MOST: [u32; $name::ALL.len()] = [$($most),*];

            #[inline(always)]
            pub fn new(number: u32) -> Self {
                let range = Self::MOST.iter().position(|most| number <= *most);
                Self::ALL[range.unwrap_or(Self::ALL.len() - 1)]
            }
        }
    };
}
pub(crate) use ranges;

/// Defines a dimension of consecutive numbers, starting at `$first`.
macro_rules! numbers {
    ($(#[$doc:meta])* $name:ident: $count:literal from $first:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u8);

        impl $crate::cross::BinValue for $name {
            const COUNT: usize = $count;

            #[inline(always)]
            fn index(self) -> usize {
                usize::from(self.0.wrapping_sub($first)).min($count - 1)
            }

            fn of(index: usize) -> Self {
                $name(index as u8 + $first)
            }

            fn name(index: usize) -> String {
                (index + $first).to_string()
            }
        }
    };
}
pub(crate) use numbers;

/// Defines a dimension of operations, named as in the operation table.
macro_rules! operations {
    ($(#[$doc:meta])* $name:ident { $($op:ident)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub atoms_ops::Op);

        impl $name {
            const ALL: &'static [atoms_ops::Op] = &[$(atoms_ops::Op::$op),*];
            const INDEX: [u8; 32] = {
                let mut index = [u8::MAX; 32];
                let mut at = 0;
                while at < Self::ALL.len() {
                    index[Self::ALL[at] as usize] = at as u8;
                    at += 1;
                }
                index
            };

            #[inline(always)]
            pub fn new(op: atoms_ops::Op) -> Option<Self> {
                (Self::INDEX[op as usize & 31] != u8::MAX).then_some($name(op))
            }
        }

        impl $crate::cross::BinValue for $name {
            const COUNT: usize = Self::ALL.len();

            #[inline(always)]
            fn index(self) -> usize {
                usize::from(Self::INDEX[self.0 as usize & 31]).min(Self::COUNT - 1)
            }

            fn of(index: usize) -> Self {
                $name(Self::ALL[index])
            }

            fn name(index: usize) -> String {
                Self::ALL[index].name().to_string()
            }

            fn needs(self) -> $crate::cross::Needs {
                let ops = std::slice::from_ref(&Self::ALL[self.index()]);
                $crate::cross::Needs { ops, ..Default::default() }
            }
        }
    };
}
pub(crate) use operations;

/// Defines a group: name, dimensions, reason, clause, and the bins that a configuration can hit.
macro_rules! cover {
    ($name:ident $text:literal ($($dimension:ident: $value:ty),*)
        $reason:literal $clause:literal; |$config:pat_param| $reachable:expr) => {
        #[doc = $reason]
        pub struct $name;

        impl $crate::cross::Cover for $name {
            type Key = ($($value,)*);
            const NAME: &'static str = $text;
            const DIMENSIONS: &'static [&'static str] = &[$(stringify!($dimension)),*];
            const REASON: &'static str = $reason;
            const CLAUSE: &'static str = $clause;

            #[allow(unused_variables)] // not every dimension limits the reachable bins
            fn reachable($config: &atoms_model::Config, ($($dimension,)*): Self::Key) -> bool {
                $reachable
            }
        }
    };
}
pub(crate) use cover;

/// Defines the dimensions and groups of a file with the macros above. A group without a condition is fully
/// reachable in every configuration.
macro_rules! table {
    () => {};
    ($(#[$doc:meta])* values $name:ident $values:tt needs |$this:ident| $needs:expr; $($rest:tt)*) => {
        $crate::cross::values! { $(#[$doc])* $name $values needs |$this| $needs }
        $crate::cross::table! { $($rest)* }
    };
    ($(#[$doc:meta])* values $name:ident $values:tt $($rest:tt)*) => {
        $crate::cross::values! { $(#[$doc])* $name $values }
        $crate::cross::table! { $($rest)* }
    };
    ($(#[$doc:meta])* ranges $name:ident $ranges:tt $($rest:tt)*) => {
        $crate::cross::ranges! { $(#[$doc])* $name $ranges }
        $crate::cross::table! { $($rest)* }
    };
    ($(#[$doc:meta])* numbers $name:ident: $count:literal from $first:literal; $($rest:tt)*) => {
        $crate::cross::numbers! { $(#[$doc])* $name: $count from $first }
        $crate::cross::table! { $($rest)* }
    };
    ($(#[$doc:meta])* operations $name:ident $ops:tt $($rest:tt)*) => {
        $crate::cross::operations! { $(#[$doc])* $name $ops }
        $crate::cross::table! { $($rest)* }
    };
    (cover $name:ident $text:literal $dimensions:tt $reason:literal $clause:literal;
        |$config:pat_param| $reachable:expr; $($rest:tt)*) => {
        $crate::cross::cover! { $name $text $dimensions $reason $clause; |$config| $reachable }
        $crate::cross::table! { $($rest)* }
    };
    (cover $name:ident $text:literal $dimensions:tt $reason:literal $clause:literal; $($rest:tt)*) => {
        $crate::cross::cover! { $name $text $dimensions $reason $clause; |_| true }
        $crate::cross::table! { $($rest)* }
    };
}
pub(crate) use table;

/// Assigns consecutive bin numbers to all groups, and lists the groups.
macro_rules! groups {
    ($head:ident $($tail:ident)*) => {
        impl $crate::cross::Numbered for $head {
            const FIRST: usize = 0;
        }
        groups!(@after $head; $($tail)*);

        pub(crate) fn all() -> Vec<$crate::model::Group> {
            use $crate::cross::Cover;
            vec![$head::group(), $($tail::group()),*]
        }
    };
    (@after $before:ident; $head:ident $($tail:ident)*) => {
        impl $crate::cross::Numbered for $head {
            const FIRST: usize = <$before as $crate::cross::Numbered>::FIRST
                + $crate::cross::len::<$before>();
        }
        groups!(@after $head; $($tail)*);
    };
    (@after $before:ident;) => {
        pub(crate) const BINS: usize = <$before as $crate::cross::Numbered>::FIRST
            + $crate::cross::len::<$before>();
    };
}
pub(crate) use groups;
