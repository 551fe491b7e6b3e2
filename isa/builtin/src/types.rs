//! The types of the objects that atomic builtins work on.

use super::Refusal;
use super::excerpt::excerpt;
use atoms_isa::nearest;
use std::fmt;
use std::str::FromStr;

/// How the bits of an object are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// No arithmetic: exchange, compare-and-swap, bitwise.
    Bits,
    /// Unsigned integer.
    Unsigned,
    /// Signed integer.
    Signed,
    /// IEEE binary32 or binary64.
    Float,
    /// 16-bit floats: half and bfloat16, alone or packed.
    Half,
}

impl Class {
    /// The letter before the width in a PTX type.
    pub const fn letter(self) -> char {
        match self {
            Class::Bits => 'b',
            Class::Unsigned => 'u',
            Class::Signed => 's',
            Class::Float | Class::Half => 'f',
        }
    }
}

macro_rules! types {
    ($($variant:ident $name:literal $cuda:literal $bytes:literal $class:ident;)*) => {
        /// Type of an atomic object.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // the names are those of PTX
        pub enum Type { $($variant,)* }

        impl Type {
            /// Every type, in the order of the table in `docs/builtins.md`.
            pub const ALL: &[Type] = &[$(Type::$variant,)*];

            /// Short name: letter of the class and width in bits.
            pub const fn name(self) -> &'static str {
                match self { $(Type::$variant => $name,)* }
            }

            /// Name in CUDA C++; of a 16-byte object, a name for one.
            pub const fn cuda_name(self) -> &'static str {
                match self { $(Type::$variant => $cuda,)* }
            }

            /// Size in bytes.
            pub const fn bytes(self) -> u32 {
                match self { $(Type::$variant => $bytes,)* }
            }

            /// How its bits are read.
            pub const fn class(self) -> Class {
                match self { $(Type::$variant => Class::$class,)* }
            }
        }
    };
}

types! {
    S8 "s8" "signed char" 1 Signed;
    U8 "u8" "unsigned char" 1 Unsigned;
    S16 "s16" "short" 2 Signed;
    U16 "u16" "unsigned short" 2 Unsigned;
    S32 "s32" "int" 4 Signed;
    U32 "u32" "unsigned" 4 Unsigned;
    S64 "s64" "long long" 8 Signed;
    U64 "u64" "unsigned long long" 8 Unsigned;
    S128 "s128" "__int128" 16 Signed;
    U128 "u128" "unsigned __int128" 16 Unsigned;
    F32 "f32" "float" 4 Float;
    F64 "f64" "double" 8 Float;
    F16 "f16" "__half" 2 Half;
    F16x2 "f16x2" "__half2" 4 Half;
    F16x4 "f16x4" "half4" 8 Half;
    Bf16 "bf16" "__nv_bfloat16" 2 Half;
    Bf16x2 "bf16x2" "__nv_bfloat162" 4 Half;
    B128 "b128" "U128" 16 Bits;
}

impl Type {
    /// Width in bits.
    pub const fn bits(self) -> u32 {
        8 * self.bytes()
    }

    /// Whether it is an integer of the language.
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), Class::Unsigned | Class::Signed)
    }

    /// Whether it is smaller than the 32-bit words that atomics work on.
    pub const fn is_subword(self) -> bool {
        self.bytes() < 4
    }

    /// The unsigned integer of a width in bytes.
    pub const fn unsigned(bytes: u32) -> Option<Type> {
        Some(match bytes {
            1 => Type::U8,
            2 => Type::U16,
            4 => Type::U32,
            8 => Type::U64,
            16 => Type::U128,
            _ => return None,
        })
    }

    /// The type of a class and a width in bytes, as name suffixes give them.
    pub const fn of(class: Class, bytes: u32) -> Option<Type> {
        Some(match (class, bytes) {
            (Class::Unsigned | Class::Bits, _) => return Type::unsigned(bytes),
            (Class::Signed, 1) => Type::S8,
            (Class::Signed, 2) => Type::S16,
            (Class::Signed, 4) => Type::S32,
            (Class::Signed, 8) => Type::S64,
            (Class::Signed, 16) => Type::S128,
            (Class::Float, 4) => Type::F32,
            (Class::Float, 8) => Type::F64,
            (Class::Half, 2) => Type::F16,
            _ => return None,
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Type {
    type Err = Refusal;

    /// Reads a short name (`u32`, `b128`) or a name of CUDA C++ (`unsigned long long`, `__half`).
    fn from_str(text: &str) -> Result<Type, Refusal> {
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let other = match plain.as_str() {
            "unsigned int" => "unsigned",
            "char" => "signed char",
            "half" => "f16",
            "half2" => "f16x2",
            "bfloat16" => "bf16",
            "bfloat162" => "bf16x2",
            same => same,
        };
        let found = Type::ALL.iter().find(|t| t.name() == other || t.cuda_name() == other);
        found.copied().ok_or_else(|| {
            let names = Type::ALL.iter().flat_map(|t| [t.name(), t.cuda_name()]);
            Refusal::new(format!("unknown type `{}`", excerpt(text)))
                .help(format!("the nearest known one is `{}`", nearest(&plain, names).unwrap_or_default()))
        })
    }
}
