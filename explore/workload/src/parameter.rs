//! Parameters of workloads. One table per workload provides help, documentation, sweeps and parsing.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkloadParameterKind {
    /// A whole number between two bounds, both included.
    Whole(u32, u32),
    /// A real number between two bounds, both included.
    Real(f64, f64),
    Choice(&'static [&'static str]),
}

impl WorkloadParameterKind {
    /// Returns the permitted values as part of a message.
    pub(crate) fn expected(self) -> String {
        match self {
            WorkloadParameterKind::Whole(low, high) => format!("a whole number from {low} to {high}"),
            WorkloadParameterKind::Real(low, high) => format!("a number from {low} to {high}"),
            WorkloadParameterKind::Choice(names) => format!("one of {}", names.join(", ")),
        }
    }
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
    /// Value for [`WorkloadParameterKind::Whole`].
    Whole(u32),
    /// Value for [`WorkloadParameterKind::Real`].
    Real(f64),
    /// Value for [`WorkloadParameterKind::Choice`].
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
    pub about: &'static str,
    pub kind: WorkloadParameterKind,
    pub default: WorkloadValue,
}

pub(crate) trait Setting: Copy {
    /// Type of the range in the declaration.
    type Range;

    fn kind(range: &Self::Range) -> WorkloadParameterKind;
    fn value(self) -> WorkloadValue;
    /// Parses a text; `None` if the value is malformed or out of range.
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

pub(crate) trait ParameterSet {
    fn parameters(&self) -> &'static [WorkloadParameter];

    /// Returns the values, in the order of the table.
    fn values(&self) -> Vec<WorkloadValue>;

    /// Sets parameter `name` from a text. Returns `None` for an unknown name, `Some(false)` for an invalid
    /// value.
    fn set(&mut self, name: &str, text: &str) -> Option<bool>;

    /// Returns the change that gives parameter `name` an effect; `None` if the parameter has an effect
    /// already.
    fn needs(&self, name: &str) -> Option<&'static str>;
}

/// Declares a struct of parameters and their table. A row has description, name, type, default and range. A
/// row of `no_effect` has a parameter, the condition under which it has no effect, and the change that gives
/// it an effect.
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

/// Declares an enum with named values, as the type of a parameter. The range of such a parameter is `()`.
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
