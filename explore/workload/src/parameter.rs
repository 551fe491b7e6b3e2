//! Parameters of workloads: one table for each, from which help, documentation, sweeps and the reader of settings are
//! derived.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Serialize;

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkloadParameterKind {
    /// A whole number from the first to the second.
    Whole(u32, u32),
    /// A number from the first to the second.
    Real(f64, f64),
    /// One of these names.
    Choice(&'static [&'static str]),
}

impl fmt::Display for WorkloadParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkloadParameterKind::Whole(low, high) => write!(f, "{low} to {high}"),
            WorkloadParameterKind::Real(low, high) => write!(f, "{low} to {high}, a number"),
            WorkloadParameterKind::Choice(names) => f.write_str(&names.join(", ")),
        }
    }
}

/// Value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum WorkloadValue {
    /// Of [`WorkloadParameterKind::Whole`].
    Whole(u32),
    /// Of [`WorkloadParameterKind::Real`].
    Real(f64),
    /// Of [`WorkloadParameterKind::Choice`].
    Choice(&'static str),
}

impl fmt::Display for WorkloadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkloadValue::Whole(value) => value.fmt(f),
            WorkloadValue::Real(value) => value.fmt(f),
            WorkloadValue::Choice(name) => f.write_str(name),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkloadParameter {
    /// Name, as in `--with NAME=VALUE`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What it may be.
    pub kind: WorkloadParameterKind,
    /// What it is where nothing is said.
    pub default: WorkloadValue,
}

/// Type of a parameter's field, as [`parameters`] declares it.
pub(crate) trait Setting: Copy {
    /// What the declaration says of its values.
    type Range;

    fn kind(range: &Self::Range) -> WorkloadParameterKind;
    fn value(self) -> WorkloadValue;
    /// The value that a text names, if it is one of `range`.
    fn read(text: &str, range: &Self::Range) -> Option<Self>;
}

impl Setting for u32 {
    type Range = RangeInclusive<u32>;

    fn kind(range: &Self::Range) -> WorkloadParameterKind {
        WorkloadParameterKind::Whole(*range.start(), *range.end())
    }

    fn value(self) -> WorkloadValue {
        WorkloadValue::Whole(self)
    }

    fn read(text: &str, range: &Self::Range) -> Option<Self> {
        text.parse().ok().filter(|value| range.contains(value))
    }
}

impl Setting for f64 {
    type Range = RangeInclusive<f64>;

    fn kind(range: &Self::Range) -> WorkloadParameterKind {
        WorkloadParameterKind::Real(*range.start(), *range.end())
    }

    fn value(self) -> WorkloadValue {
        WorkloadValue::Real(self)
    }

    fn read(text: &str, range: &Self::Range) -> Option<Self> {
        text.parse().ok().filter(|value| range.contains(value))
    }
}

/// The parameters of something: a struct whose fields are declared by [`parameters`].
pub(crate) trait ParameterSet {
    fn parameters(&self) -> &'static [WorkloadParameter];

    /// The values, in the order of the table.
    fn values(&self) -> Vec<WorkloadValue>;

    /// Sets the parameter called `name` from a text; `None` if there is none, `Some(false)` if it cannot be this.
    fn set(&mut self, name: &str, text: &str) -> Option<bool>;

    /// Gives the change that lets parameter `name` have an effect; `None` if it has one already.
    fn needs(&self, name: &str) -> Option<&'static str>;
}

/// Makes a struct of parameters and their table. A row has the description, type, default and range of a field. A row of
/// `no_effect` has a parameter, the condition under which it has no effect, and the change that gives it one.
macro_rules! parameters {
    (
        $(#[$meta:meta])* $type:ident { $( #[doc = $about:literal] $field:ident: $of:ty = $default:expr, $range:expr; )* }
        $( no_effect |$own:pat_param| { $( $name:literal if $idle:expr => $change:literal; )* } )?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct $type { $( pub(crate) $field: $of, )* }

        impl Default for $type {
            fn default() -> Self {
                $type { $( $field: $default, )* }
            }
        }

        impl $crate::parameter::ParameterSet for $type {
            fn parameters(&self) -> &'static [$crate::parameter::WorkloadParameter] {
                use $crate::parameter::{Setting, WorkloadParameter};
                static TABLE: std::sync::LazyLock<Vec<WorkloadParameter>> = std::sync::LazyLock::new(|| vec![$(
                    WorkloadParameter {
                        name: stringify!($field),
                        about: $about.trim_ascii(),
                        kind: <$of>::kind(&$range),
                        default: <$of as Setting>::value($default),
                    },
                )*]);
                &TABLE
            }

            fn values(&self) -> Vec<$crate::parameter::WorkloadValue> {
                use $crate::parameter::Setting;
                vec![$( self.$field.value(), )*]
            }

            fn set(&mut self, name: &str, text: &str) -> Option<bool> {
                use $crate::parameter::Setting;
                match name {
                    $( stringify!($field) => {
                        let value = <$of>::read(text, &$range);
                        self.$field = value.unwrap_or(self.$field);
                        Some(value.is_some())
                    } )*
                    _ => None,
                }
            }

            fn needs(&self, _name: &str) -> Option<&'static str> {
                $(
                    let $own = self;
                    $( if _name == $name && $idle { return Some($change); } )*
                )?
                None
            }
        }
    };
}

/// An enum whose values have names, as a parameter's type; its range is `()`.
macro_rules! named_values {
    ($(#[$meta:meta])* $type:ident { $( $(#[$doc:meta])* $value:ident $name:literal; )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $type { $( $(#[$doc])* $value, )* }

        impl $crate::parameter::Setting for $type {
            type Range = ();

            fn kind((): &()) -> $crate::parameter::WorkloadParameterKind {
                $crate::parameter::WorkloadParameterKind::Choice(&[$($name),*])
            }

            fn value(self) -> $crate::parameter::WorkloadValue {
                $crate::parameter::WorkloadValue::Choice(match self { $( $type::$value => $name, )* })
            }

            fn read(text: &str, (): &()) -> Option<Self> {
                match text { $( $name => Some($type::$value), )* _ => None }
            }
        }
    };
}

pub(crate) use {named_values, parameters};
